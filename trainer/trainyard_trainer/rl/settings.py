"""The settings of RL. Generated from crds/training-settings/settings.yaml by "npm run gen": do not edit."""

from dataclasses import dataclass

from trainyard_trainer.data.setting_checks import (
    SettingCheck,
    check_choice,
    check_flag,
    check_integer,
    check_number,
)

IMPORTANCE_SAMPLING_LEVELS = ("token", "sequence", "average", "geometric_average")
LOSS_FNS = ("cispo", "ppo")
KL_PENALTY_SOURCES = ("current_learner", "sample")
# Other names that clients have for a setting.
ALIASES = {"modelfamily_k2_tau": "kimi_k2_tau"}


@dataclass(frozen=True)
class RlConfig:
    # Above 0 it weakens negative advantages, below 0 positive ones.
    advantage_balance: float = 0.0
    # How far below 1 the importance ratio is clipped.
    epsilon: float = 1.0
    # How far above 1 the importance ratio is clipped.
    epsilon_high: float = 4.0
    # Whose importance ratio a token has: its own, its sequence's (the exponential of the mean difference of
    # log-probabilities), the average of both, or their geometric average.
    importance_sampling_level: str = "token"
    # This times the difference between a token's new and old log-probability is subtracted from its advantage; nothing
    # when absent.
    kimi_k2_tau: float | None = None
    # The learning rate of AdamW.
    learning_rate: float = 5e-6
    # The policy loss, CISPO or the clipped loss of PPO. When absent, `ppo` decides. The two must not disagree.
    loss_fn: str | None = None
    # Leave out tokens whose ratio would be clipped.
    mask_prob_ratio: bool = False
    # The highest importance ratio of a token, whatever the sign of its advantage; unbounded when absent.
    max_negative_advantage_importance_sampling_weight: float | None = None
    # The clipped PPO loss instead of CISPO.
    ppo: bool = False
    # Compute the old log-probabilities with the trainer before the first step, instead of using the sampled ones.
    precalculate_logprobs: bool = False
    # Divide advantages by the standard deviation of their group, if `normalize_advantages` is true too.
    scale_rewards: bool = True
    # Another name of `scale_rewards` in newer clients, which send both. Either one that is false decides.
    normalize_advantages: bool = True
    # Train answers that came without log-probabilities too, as if the model itself had just sampled them. Otherwise
    # they are left out.
    allow_training_without_logprobs: bool = False
    # Leave out answers that ended because of their limit of tokens. They are context only, and are counted.
    mask_truncated: bool = False
    # How many tokens a packed sequence of the job has at most. Longer results are left out, and counted. More sequences
    # can make more gradient steps.
    packed_sequence_length: int | None = None
    # The learning rate of a gradient step is multiplied by its number of answers to this power. Metrics have the rate
    # without it.
    num_trajectories_learning_rate_multiplier_power: float = 0.0
    # How strongly the model is held near the reference. A token loses this much advantage for each nat by which the
    # model has made it likelier than the reference does, relative to the mean of its step. The metric is
    # `kl_policy_ref`. Without effect when it is negative.
    kl_penalty_coef: float = 0.0
    # The model's step that is the reference; the base model when absent or 0.
    kl_penalty_reference_step: int | None = None
    # Makes the reference the step that is this many before the one that the job begins from, the base model if there
    # are not so many. Excludes `kl_penalty_reference_step`.
    kl_penalty_step_lag: int | None = None
    # Whose log-probability of a token is compared with the reference's: that of the model in training, or that of the
    # model that sampled it.
    kl_penalty_source: str = "sample"
    # Weigh each token by the ratio of its probabilities in the trainer and in the sampler, at most by this; no weights
    # when absent or 0. It needs `precalculate_logprobs`.
    truncated_importance_sampling: float | None = None


CHECKS: dict[str, SettingCheck] = {
    "advantage_balance": check_number(-1, 1),
    "epsilon": check_number(0, 1_000_000),
    "epsilon_high": check_number(0, 1_000_000),
    "importance_sampling_level": check_choice(IMPORTANCE_SAMPLING_LEVELS),
    "kimi_k2_tau": check_number(0, 1_000_000),
    "learning_rate": check_number(0, 1),
    "loss_fn": check_choice(LOSS_FNS),
    "mask_prob_ratio": check_flag(),
    "max_negative_advantage_importance_sampling_weight": check_number(0, 1_000_000),
    "ppo": check_flag(),
    "precalculate_logprobs": check_flag(),
    "scale_rewards": check_flag(),
    "normalize_advantages": check_flag(),
    "allow_training_without_logprobs": check_flag(),
    "mask_truncated": check_flag(),
    "packed_sequence_length": check_integer(1, 1_048_576),
    "num_trajectories_learning_rate_multiplier_power": check_number(-10, 10),
    "kl_penalty_coef": check_number(-1_000_000, 1_000_000),
    "kl_penalty_reference_step": check_integer(0, 2_147_483_647),
    "kl_penalty_step_lag": check_integer(1, 2_147_483_647),
    "kl_penalty_source": check_choice(KL_PENALTY_SOURCES),
    "truncated_importance_sampling": check_number(0, 1_000_000),
}
