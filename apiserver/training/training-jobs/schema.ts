import { Type, type Static } from 'typebox'
import { compileBody } from '../../validation/compile.ts'
import { nullable } from '../../validation/nullable.ts'
import { reasons } from '../../../crds/names.ts'
import { orderedPageQuery, pageQuery } from '../list.ts'
import { nameSchema } from '../names.ts'
import { trajectoryGroupSchema } from '../trajectories.ts'

const nonNegative = Type.Number({ minimum: 0, maximum: 1_000_000 })
const optionalNumber = Type.Optional(nullable(nonNegative))
const optionalFlag = Type.Optional(nullable(Type.Boolean()))

/** RL settings. The bounds are those of the TrainingJob resource. Keys that nobody knows may only be null. */
const rlConfigSchema = Type.Object(
  {
    advantage_balance: Type.Optional(nullable(Type.Number({ minimum: -1, maximum: 1 }))),
    epsilon: optionalNumber,
    epsilon_high: optionalNumber,
    importance_sampling_level: Type.Optional(
      nullable(Type.Enum(['token', 'sequence', 'average', 'geometric_average'])),
    ),
    kimi_k2_tau: optionalNumber,
    // What the interface document calls kimi_k2_tau.
    modelfamily_k2_tau: optionalNumber,
    learning_rate: Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 1 }))),
    mask_prob_ratio: optionalFlag,
    max_negative_advantage_importance_sampling_weight: optionalNumber,
    ppo: optionalFlag,
    precalculate_logprobs: optionalFlag,
    scale_rewards: optionalFlag,
  },
  { additionalProperties: Type.Null() },
)

export type RlConfig = Static<typeof rlConfigSchema>

/** POST /v1/preview/training-jobs. */
export const trainingJobCreateSchema = Type.Object({
  model_id: Type.String({ format: 'uuid' }),
  trajectory_groups: Type.Array(trajectoryGroupSchema),
  experimental_config: Type.Optional(nullable(rlConfigSchema)),
})

export const parseTrainingJobCreate = compileBody(trainingJobCreateSchema)

export const trainingJobIdSchema = Type.Object({ id: Type.String({ format: 'uuid' }) })

const methodSchema = Type.Enum(['RL', 'SFT'])
const stateSchema = Type.Enum([
  'Pending',
  'Queued',
  'Starting',
  'Running',
  'Publishing',
  'Succeeded',
  'Failed',
  'Cancelled',
])
const time = Type.String({ format: 'date-time' })
const optionalTime = nullable(time)
const count = Type.Integer({ minimum: 0 })

/** Query of GET /v1/preview/training-jobs. */
export const jobListQuery = Type.Object({
  ...orderedPageQuery.properties,
  model_id: Type.Optional(Type.String({ format: 'uuid' })),
  project: Type.Optional(nameSchema),
  method: Type.Optional(methodSchema),
  state: Type.Optional(Type.Array(stateSchema, { minItems: 1, description: 'Any of these; also as a comma list.' })),
  created_after: Type.Optional({ ...time, description: 'Made then or later.' }),
  created_before: Type.Optional({ ...time, description: 'Made earlier.' }),
})

export type JobListQuery = Static<typeof jobListQuery>

/** A training job as clients see it. */
export const trainingJobSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  model_id: Type.String({ format: 'uuid' }),
  method: methodSchema,
  state: stateSchema,
  attempt: count,
  max_attempts: count,
  step: nullable(count),
  progress: Type.Object({ step: count, total_steps: nullable(count) }),
  queue: nullable(
    Type.Object(
      {
        position: Type.Integer({ minimum: 1 }),
        reason: Type.Enum([reasons.waitingForTrainer, reasons.waitingForModel]),
        message: Type.String(),
      },
      {
        description:
          'While it is Queued: its place among the jobs that wait for a trainer, or in the line of its model.',
      },
    ),
  ),
  checkpoint: nullable(Type.Object({ id: Type.String({ format: 'uuid' }), step: count })),
  training_data_url: nullable(Type.String()),
  config: nullable(Type.Object({}, { description: 'Of SFT.' })),
  experimental_config: nullable(Type.Object({})),
  failure: nullable(
    Type.Object(
      {
        category: Type.Enum(['User', 'Capacity', 'Internal']),
        code: Type.String(),
        message: Type.String(),
        retryable: Type.Boolean({ description: 'The same job may succeed when it is sent again.' }),
      },
      { description: 'Why it failed; of an unfinished job, why its last attempt did.' },
    ),
  ),
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

export const eventSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  type: Type.String(),
  data: Type.Object({}),
})

/** Query of GET .../events. */
export const eventListQuery = Type.Object({
  ...pageQuery.properties,
  wait: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 60,
      description:
        'Seconds: the answer comes as soon as there is an event behind `after`, or empty when they are over.',
    }),
  ),
})

export type EventListQuery = Static<typeof eventListQuery>

/**
 * The settings that were really given, under their wire names: an explicit null counts as absent, because defaults
 * must apply to it.
 */
export function pickGivenConfig(config: RlConfig | null | undefined): Record<string, unknown> {
  const { modelfamily_k2_tau: tau, ...rest } = config ?? {}
  const named = { ...rest, kimi_k2_tau: rest.kimi_k2_tau ?? tau }
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null && value !== undefined))
}
