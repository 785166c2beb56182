// Generated from crds/training-settings/settings.yaml by "npm run gen": do not edit.
import { Type } from 'typebox'
import type { Method } from '../../../crds/methods.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'

/** Settings of RL. Others are accepted, see unknown-settings.ts. */
export const rlConfigSchema = Type.Object(
  {
    advantage_balance: Type.Optional(
      nullable(
        Type.Number({
          description: 'Above 0 it weakens negative advantages, below 0 positive ones. Default: 0.',
          minimum: -1,
          maximum: 1,
        }),
      ),
    ),
    epsilon: Type.Optional(
      nullable(
        Type.Number({
          description: 'How far below 1 the importance ratio is clipped. Default: 1 (0.2 with `ppo`).',
          minimum: 0,
          maximum: 1000000,
        }),
      ),
    ),
    epsilon_high: Type.Optional(
      nullable(
        Type.Number({
          description: 'How far above 1 the importance ratio is clipped. Default: 4 (that of `epsilon` with `ppo`).',
          minimum: 0,
          maximum: 1000000,
        }),
      ),
    ),
    importance_sampling_level: Type.Optional(
      nullable(
        Type.Enum(['token', 'sequence', 'average', 'geometric_average'], {
          description:
            "Whose importance ratio a token has: its own, its sequence's (the exponential of the mean difference of log-probabilities), the average of both, or their geometric average. Default: token.",
        }),
      ),
    ),
    kimi_k2_tau: Type.Optional(
      nullable(
        Type.Number({
          description:
            "This times the difference between a token's new and old log-probability is subtracted from its advantage; nothing when absent.",
          minimum: 0,
          maximum: 1000000,
        }),
      ),
    ),
    modelfamily_k2_tau: Type.Optional(
      nullable(Type.Number({ description: 'Another name of `kimi_k2_tau`.', minimum: 0, maximum: 1000000 })),
    ),
    learning_rate: Type.Optional(
      nullable(Type.Number({ description: 'The learning rate of AdamW. Default: 5e-6.', minimum: 0, maximum: 1 })),
    ),
    loss_fn: Type.Optional(
      nullable(
        Type.Enum(['cispo', 'ppo'], {
          description:
            'The policy loss, CISPO or the clipped loss of PPO. When absent, `ppo` decides. The two must not disagree.',
        }),
      ),
    ),
    mask_prob_ratio: Type.Optional(
      nullable(Type.Boolean({ description: 'Leave out tokens whose ratio would be clipped. Default: false.' })),
    ),
    max_negative_advantage_importance_sampling_weight: Type.Optional(
      nullable(
        Type.Number({
          description:
            'The highest importance ratio of a token, whatever the sign of its advantage; unbounded when absent.',
          minimum: 0,
          maximum: 1000000,
        }),
      ),
    ),
    ppo: Type.Optional(
      nullable(Type.Boolean({ description: 'The clipped PPO loss instead of CISPO. Default: false.' })),
    ),
    precalculate_logprobs: Type.Optional(
      nullable(
        Type.Boolean({
          description:
            'Compute the old log-probabilities with the trainer before the first step, instead of using the sampled ones. Default: false.',
        }),
      ),
    ),
    scale_rewards: Type.Optional(
      nullable(
        Type.Boolean({
          description:
            'Divide advantages by the standard deviation of their group, if `normalize_advantages` is true too. Default: true.',
        }),
      ),
    ),
    normalize_advantages: Type.Optional(
      nullable(
        Type.Boolean({
          description:
            'Another name of `scale_rewards` in newer clients, which send both. Either one that is false decides. Default: true.',
        }),
      ),
    ),
    allow_training_without_logprobs: Type.Optional(
      nullable(
        Type.Boolean({
          description:
            'Train answers that came without log-probabilities too, as if the model itself had just sampled them. Otherwise they are left out. Default: false.',
        }),
      ),
    ),
    mask_truncated: Type.Optional(
      nullable(
        Type.Boolean({
          description:
            'Leave out answers that ended because of their limit of tokens. They are context only, and are counted. Default: false.',
        }),
      ),
    ),
    packed_sequence_length: Type.Optional(
      nullable(
        Type.Integer({
          description:
            'How many tokens a packed sequence of the job has at most. Longer results are left out, and counted. More sequences can make more gradient steps.',
          minimum: 1,
          maximum: 1048576,
        }),
      ),
    ),
    num_trajectories_learning_rate_multiplier_power: Type.Optional(
      nullable(
        Type.Number({
          description:
            'The learning rate of a gradient step is multiplied by its number of answers to this power. Metrics have the rate without it. Default: 0.',
          minimum: -10,
          maximum: 10,
        }),
      ),
    ),
    kl_penalty_coef: Type.Optional(
      nullable(
        Type.Number({
          description:
            'How strongly the model is held near the reference. A token loses this much advantage for each nat by which the model has made it likelier than the reference does, relative to the mean of its step. The metric is `kl_policy_ref`. Without effect when it is negative. Default: 0.',
          minimum: -1000000,
          maximum: 1000000,
        }),
      ),
    ),
    kl_penalty_reference_step: Type.Optional(
      nullable(
        Type.Integer({
          description: "The model's step that is the reference; the base model when absent or 0.",
          minimum: 0,
          maximum: 2147483647,
        }),
      ),
    ),
    kl_penalty_step_lag: Type.Optional(
      nullable(
        Type.Integer({
          description:
            'Makes the reference the step that is this many before the one that the job begins from, the base model if there are not so many. Excludes `kl_penalty_reference_step`.',
          minimum: 1,
          maximum: 2147483647,
        }),
      ),
    ),
    kl_penalty_source: Type.Optional(
      nullable(
        Type.Enum(['current_learner', 'sample'], {
          description:
            "Whose log-probability of a token is compared with the reference's: that of the model in training, or that of the model that sampled it. Default: sample.",
        }),
      ),
    ),
    truncated_importance_sampling: Type.Optional(
      nullable(
        Type.Number({
          description:
            'Weigh each token by the ratio of its probabilities in the trainer and in the sampler, at most by this; no weights when absent or 0. It needs `precalculate_logprobs`.',
          minimum: 0,
          maximum: 1000000,
        }),
      ),
    ),
    logprob_calculation_chunk_size: Type.Optional(
      nullable(
        Type.Integer({
          description:
            'Accepted, without effect: How many rows of log-probabilities the hosted service computes at once.',
          minimum: 1,
          maximum: 2147483647,
        }),
      ),
    ),
    plot_tensors: Type.Optional(
      nullable(
        Type.Boolean({ description: 'Accepted, without effect: Draw pictures of packed sequences. Default: false.' }),
      ),
    ),
    scale_learning_rate_by_reward_std_dev: Type.Optional(
      nullable(
        Type.Boolean({
          description: 'Accepted, without effect: Clients send it, and no trainer of theirs reads it. Default: false.',
        }),
      ),
    ),
  },
  { additionalProperties: Type.Unknown() },
)

/** Settings of SFT. Others are accepted, see unknown-settings.ts. */
export const sftConfigSchema = Type.Object(
  {
    batch_size: Type.Optional(
      nullable(Type.Integer({ description: 'How many rows a batch has. Default: 2.', minimum: 1, maximum: 100000 })),
    ),
    learning_rate: Type.Optional(
      nullable(
        Type.Unsafe<number | number[]>({
          description:
            'The learning rate of AdamW. A list has a rate for each batch; rates beyond the last batch are ignored. Default: 5e-5.',
          type: ['number', 'array'],
          minimum: 0,
          maximum: 1,
          minItems: 1,
          maxItems: 20000,
          items: { type: 'number', minimum: 0, maximum: 1 },
        }),
      ),
    ),
    assistant_turns: Type.Optional(
      nullable(
        Type.Enum(['all', 'last'], {
          description:
            'Which turns of the assistant are trained: all, or only the last message of each row, which must then be one of the assistant. Default: all.',
        }),
      ),
    ),
    metric_logging: Type.Optional(
      nullable(
        Type.Object(
          {
            enabled: Type.Optional(
              nullable(Type.Boolean({ description: 'Whether rows are written. Default: false.' })),
            ),
            target_training_step: Type.Optional(
              nullable(
                Type.Integer({ description: 'The `training_step` of these rows.', minimum: 0, maximum: 2147483647 }),
              ),
            ),
          },
          { description: 'Whether the metrics of the job become rows of its W&B run, and at which step.' },
        ),
      ),
    ),
  },
  { additionalProperties: Type.Unknown() },
)

export const configSchemas = { RL: rlConfigSchema, SFT: sftConfigSchema } as const

/** The wire names of the settings. */
export const settingNames: Record<Method, readonly string[]> = {
  RL: Object.keys(rlConfigSchema.properties),
  SFT: Object.keys(sftConfigSchema.properties),
}

/** Settings of RL by their other names. */
export const rlAliases = { modelfamily_k2_tau: 'kimi_k2_tau' } as const
