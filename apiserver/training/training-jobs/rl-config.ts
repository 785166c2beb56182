<<<<<<< HEAD
import { Type, type Static } from 'typebox'
import { unprocessable } from '../../../lib/http/http-error.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { maxStep } from '../checkpoints/schema.ts'

const optionalNumber = Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 1_000_000 })))
const optionalFlag = Type.Optional(nullable(Type.Boolean()))

/** RL settings, all of which the trainer honours. The bounds are those of the TrainingJob resource; unknown keys may only be null. */
export const rlConfigSchema = Type.Object(
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
    // Beyond what the hosted service takes.
    allow_training_without_logprobs: optionalFlag,
    kl_penalty_coef: optionalNumber,
    kl_penalty_reference_step: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: maxStep }))),
    truncated_importance_sampling: Type.Optional(nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 }))),
  },
  { additionalProperties: Type.Null() },
)

/** Their wire names. */
export const rlSettings: readonly string[] = Object.keys(rlConfigSchema.properties)
=======
import type { Static } from 'typebox'
import { unprocessable } from '../../refusal.ts'
import { rlAliases, type rlConfigSchema } from '../settings/generated.ts'
import { pickGiven } from '../settings/given.ts'
>>>>>>> settings14

export type RlConfig = Static<typeof rlConfigSchema>

/** The settings that were really given, under their wire names. */
export function pickGivenConfig(config: RlConfig | null | undefined): Record<string, unknown> {
  const given = pickGiven(config)
  for (const [alias, name] of Object.entries(rlAliases)) {
    const { [alias]: value } = given
    delete given[alias]
    if (value !== undefined) given[name] ??= value
  }
  return given
}

/** @throws {HttpError} 422 for settings that contradict each other: all that the shape does not tell */
export function requirePossibleConfig(config: RlConfig | null | undefined): void {
  const given = pickGiven(config)
  for (const [alias, name] of Object.entries(rlAliases)) {
    if (given[alias] === undefined || given[name] === undefined || given[alias] === given[name]) continue
    const msg = `Value error, another name of ${name}, which is given with another value`
    throw unprocessable({ loc: ['body', 'experimental_config', alias], msg, type: 'value_error' })
  }
}
