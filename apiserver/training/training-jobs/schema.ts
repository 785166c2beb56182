import { Type, type Static } from 'typebox'
import { compileBody } from '../../validation/compile.ts'
import { nullable } from '../../validation/nullable.ts'
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

const text = Type.String()
const optionalTime = nullable(Type.String({ format: 'date-time' }))

export const trainingJobIdSchema = Type.Object({ id: Type.String({ format: 'uuid' }) })

/** A training job as clients see it. */
export const trainingJobSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  model_id: Type.String({ format: 'uuid' }),
  method: Type.Enum(['RL', 'SFT']),
  state: text,
  attempt: Type.Integer(),
  step: nullable(Type.Integer()),
  progress: Type.Object({ step: Type.Integer(), total_steps: nullable(Type.Integer()) }),
  experimental_config: Type.Object({}),
  failure: nullable(Type.Object({ category: text, reason: text, message: text })),
  created_at: Type.String({ format: 'date-time' }),
  started_at: optionalTime,
  finished_at: optionalTime,
})

export const eventSchema = Type.Object({ id: Type.String({ format: 'uuid' }), type: text, data: Type.Object({}) })

/**
 * The settings that were really given, under their wire names: an explicit null counts as absent, because defaults
 * must apply to it.
 */
export function pickGivenConfig(config: RlConfig | null | undefined): Record<string, unknown> {
  const { modelfamily_k2_tau: tau, ...rest } = config ?? {}
  const named = { ...rest, kimi_k2_tau: rest.kimi_k2_tau ?? tau }
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null && value !== undefined))
}
