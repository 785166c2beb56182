import { Type, type Static } from 'typebox'
import { jsonText, optional, projectIdSchema } from '../schema.ts'

// Some of these are in indexes, whose entries may have about 2,700 bytes.
export const idSchema = Type.String({ minLength: 1, maxLength: 256 })
/** Some clients send an empty id, which means no id. */
export const optionalIdSchema = Type.String({ maxLength: 256 })
const opNameSchema = Type.String({ maxLength: 1024 })
/** A name that is too long is truncated: some clients give up when a call is rejected. */
export const displayNameSchema = Type.String()
const stepSchema = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })
/** A time. calls/read-parts.ts parses it. */
const timeSchema = Type.String({ maxLength: 64 })

const startMembers = {
  project_id: projectIdSchema,
  id: optional(idSchema),
  trace_id: optional(idSchema),
  op_name: opNameSchema,
  display_name: optional(displayNameSchema),
  parent_id: optional(optionalIdSchema),
  thread_id: optional(optionalIdSchema),
  turn_id: optional(optionalIdSchema),
  started_at: timeSchema,
  attributes: jsonText(),
  inputs: jsonText(),
  otel_dump: Type.Optional(jsonText()),
  wb_run_id: optional(optionalIdSchema),
  wb_run_step: optional(stepSchema),
}

const endMembers = {
  project_id: projectIdSchema,
  id: idSchema,
  ended_at: timeSchema,
  output: Type.Optional(jsonText()),
  exception: optional(Type.String()),
  summary: jsonText(),
  wb_run_step_end: optional(stepSchema),
}

export const startSchema = Type.Object(startMembers)
export const endSchema = Type.Object(endMembers)
export const completeCallSchema = Type.Object({ ...startMembers, ...endMembers, trace_id: idSchema })

export type WireStart = Static<typeof startSchema>
export type WireEnd = Static<typeof endSchema>

export const startBodySchema = Type.Object({ start: startSchema })
export const endBodySchema = Type.Object({ end: endSchema })
export const completeBodySchema = Type.Object({ batch: Type.Array(completeCallSchema) })

const startItem = Type.Object({ mode: Type.Literal('start'), req: startBodySchema })
const endItem = Type.Object({ mode: Type.Literal('end'), req: endBodySchema })
// `mode` chooses the schema, so that errors are reported for that schema only.
const itemSchema = Type.Unsafe<Static<typeof startItem> | Static<typeof endItem>>({
  type: 'object',
  required: ['mode', 'req'],
  properties: { mode: { enum: ['start', 'end'] } },
  if: { properties: { mode: { const: 'start' } } },
  // oxlint-disable-next-line unicorn/no-thenable -- JSON Schema's name for it
  then: { properties: { req: startBodySchema } },
  else: { properties: { req: endBodySchema } },
})
export const batchBodySchema = Type.Object({ batch: Type.Array(itemSchema) })

/** Paths of the payloads in a start and in an end. */
export const startTexts = ['attributes', 'inputs', 'otel_dump']
export const endTexts = ['output', 'summary']

export const startedSchema = Type.Object({ id: Type.String(), trace_id: Type.String() })
