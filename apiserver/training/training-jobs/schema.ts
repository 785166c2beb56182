import { Type, type Static } from 'typebox'
import { modelIdSchema } from '../../accounts/names.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { jobPhases } from '../../../crds/job-states.ts'
import { methodNames } from '../../../crds/methods.ts'
import { reasons } from '../../../crds/names.ts'
import { orderedPageQuery, totalQuery } from '../../../lib/http/page.ts'
import { nameSchema } from '../../accounts/names.ts'
import { requestedMembers } from '../settings/request.ts'

export const trainingJobIdSchema = Type.Object({ id: Type.String({ format: 'uuid' }) })

const methodSchema = Type.Enum([...methodNames])
const stateSchema = Type.Enum([...jobPhases])
const time = Type.String({ format: 'date-time' })
const optionalTime = nullable(time)
const count = Type.Integer({ minimum: 0 })

/** Query of GET /v1/preview/training-jobs. */
export const jobListQuery = Type.Object({
  ...orderedPageQuery.properties,
  ...totalQuery,
  model_id: Type.Optional(modelIdSchema),
  project: Type.Optional(nameSchema),
  method: Type.Optional(methodSchema),
  state: Type.Optional(
    Type.Array(stateSchema, { minItems: 1, description: 'Matches any of these. Can be a list with commas.' }),
  ),
  created_after: Type.Optional({ ...time, description: 'Created at this time or later.' }),
  created_before: Type.Optional({ ...time, description: 'Created before this time.' }),
})

export type JobListQuery = Static<typeof jobListQuery>

/** A training job as clients see it. */
export const trainingJobSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  model_id: Type.String({ format: 'uuid' }),
  method: methodSchema,
  retry_of: nullable(Type.String({ format: 'uuid', description: 'The ended job that it repeats.' })),
  state: stateSchema,
  attempt: count,
  max_attempts: count,
  step: nullable({ ...count, description: 'The step of its checkpoint; null before it exists.' }),
  progress: Type.Object({ step: count, total_steps: nullable(count) }),
  queue: nullable(
    Type.Object(
      {
        position: Type.Integer({ minimum: 1 }),
        reason: Type.Enum([
          reasons.waitingForTrainer,
          reasons.waitingForPod,
          reasons.waitingForModel,
          reasons.baseModelNotFound,
          reasons.paused,
          reasons.gpuSecondsUsed,
        ]),
        message: Type.String(),
      },
      {
        description:
          'While the job is Queued: its position among the jobs that wait for a trainer, or among the jobs of its ' +
          'model.',
      },
    ),
  ),
  checkpoint: nullable(Type.Object({ id: Type.String({ format: 'uuid' }), step: count })),
  ...requestedMembers,
  failure: nullable(
    Type.Object(
      {
        category: Type.Enum(['User', 'Capacity', 'Internal']),
        code: Type.String(),
        message: Type.String(),
        retryable: Type.Boolean({ description: 'The same job may succeed when it is sent again.' }),
      },
      { description: 'Why the job failed. For an unfinished job: why its last attempt failed.' },
    ),
  ),
  warnings: Type.Array(Type.Object({ code: Type.String(), message: Type.String() }), {
    description: 'Warnings that the state does not show: the job trained on nothing, or on less than its input.',
  }),
  timeline: Type.Object({
    created_at: time,
    queued_at: optionalTime,
    claimed_at: optionalTime,
    started_at: optionalTime,
    trained_at: optionalTime,
    published_at: optionalTime,
    finished_at: optionalTime,
  }),
  created_at: time,
  started_at: optionalTime,
  finished_at: optionalTime,
})

/** A single training job. */
export const trainingJobDetailSchema = Type.Object({
  ...trainingJobSchema.properties,
  loads: Type.Array(
    Type.Object({
      pod: Type.String(),
      at: { ...time, description: 'Since when it is loaded, or when that was last tried.' },
      error: nullable(Type.String({ description: 'Why the engine cannot load it.' })),
    }),
    { description: 'The engine pods that have its checkpoint in memory, or cannot load it.' },
  ),
  waiting: nullable(
    Type.Object(
      {
        reason: Type.String({
          description: 'The deciding cause, as in the resource: also what its pods or the trainers lack.',
        }),
        sentence: Type.String({ description: 'Why it waits and what would let it begin, for people.' }),
        position: nullable(Type.Integer({ minimum: 1 })),
        ahead: nullable({ ...count, description: 'How many jobs are before it.' }),
        estimated_start_at: nullable({
          ...time,
          description:
            'When it probably starts, from the durations of past jobs, if no other job comes before it. Null if too few ' +
            'jobs have succeeded, or if it needs more than time.',
        }),
        holder: nullable(
          Type.Object(
            { job_id: Type.String({ format: 'uuid' }), state: stateSchema },
            { description: 'The first job of the same entity that it waits for.' },
          ),
        ),
      },
      { description: 'While the job is Pending, Queued, Suspending or Suspended.' },
    ),
  ),
})

export const eventSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  type: Type.String(),
  data: Type.Object({}),
  gradient_step: nullable({ ...count, description: 'The number of the gradient step, from 1; null for other events.' }),
  created_at: time,
})

/** Query of GET .../events. */
export const eventListQuery = Type.Object({
  ...orderedPageQuery.properties,
  wait: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 60,
      description: 'The maximum time to wait for an event after `after`, in seconds. Without one the answer is empty.',
    }),
  ),
})

export type EventListQuery = Static<typeof eventListQuery>

/** Query of GET .../logs. */
export const logListQuery = Type.Object({
  ...orderedPageQuery.properties,
  attempt: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'The default is the newest attempt.' }),
  ),
  // An attempt's log is limited, so one page usually contains all of it.
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 1000 }),
})

export type LogListQuery = Static<typeof logListQuery>

/** A line of a job's log as clients see it. */
export const logLineSchema = Type.Object({
  id: Type.String(),
  attempt: count,
  time,
  level: Type.Enum(['info', 'warn', 'error']),
  text: Type.String(),
})
