import { Type, type Static, type TSchema } from 'typebox'
import { modelIdSchema } from '../../accounts/names.ts'
import { compileIssues } from '../../../lib/http/validation/compile.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { settingNames } from '../settings/generated.ts'
import { rlRequestMembers } from '../settings/request.ts'
import { groupOutlineSchema, groupSchema, trajectorySchema } from './group-schema.ts'

// Examples of splits: train, val, test/hard, eval-2026.
const splitPattern = '^[A-Za-z0-9][A-Za-z0-9._/-]*$'

export const splitSchema = Type.String({ pattern: splitPattern, minLength: 1, maxLength: 64 })

function describeJob(group: TSchema) {
  return Type.Object({
    ...rlRequestMembers,
    trajectory_groups: Type.Array(group),
  })
}

function describeLog(group: TSchema) {
  return Type.Object({
    split: splitSchema,
    // Clients repeat the path's model here.
    model_id: Type.Optional(nullable(modelIdSchema)),
    trajectory_groups: Type.Array(group),
  })
}

/** The bodies with trajectories. */
export const bodySchemas = { job: describeJob(groupSchema), log: describeLog(groupSchema) }

export type BodyKind = keyof typeof bodySchemas

/** The members of a valid body, without its groups, which stay in its file. */
export type BodyMembers = {
  [Kind in BodyKind]: Omit<Static<(typeof bodySchemas)[Kind]>, 'trajectory_groups'>
}

const outlines = { job: describeJob(Type.Unknown()), log: describeLog(Type.Unknown()) }

/**
 * Functions that find the issues of a body's parts, each without its nested parts: the body itself, a group, a
 * trajectory.
 */
export const findIssues = {
  job: compileIssues(outlines.job),
  log: compileIssues(outlines.log),
  group: compileIssues(groupOutlineSchema),
  trajectory: compileIssues(trajectorySchema),
}

/**
 * The members of a body that are read, besides its groups. They include the settings, so that misplaced ones are
 * rejected.
 */
export const knownMembers = {
  job: new Set([...Object.keys(outlines.job.properties), ...settingNames.RL]),
  log: new Set(Object.keys(outlines.log.properties)),
}

export const knownGroupMembers = new Set(Object.keys(groupOutlineSchema.properties))
