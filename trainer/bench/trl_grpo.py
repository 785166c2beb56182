"""TRL's GRPO loss on the samples of `ours`: GRPOTrainer's `compute_loss` on prepared inputs, without generation.

Backward pass, clipping and AdamW are called one after the other, as its trainer does.
"""

from collections.abc import Callable, Sequence

import torch
from datasets import Dataset  # pyright: ignore[reportMissingImports]
from torch import Tensor
from torch.optim import AdamW
from trl import GRPOConfig, GRPOTrainer  # pyright: ignore[reportMissingImports]

from bench.contestant import Round, time_round
from bench.data import COMPLETIONS, GROUPS, LEARNING_RATE, RL_CONFIG, STEPS, make_samples
from bench.trl_model import describe_training, fill, load_adapted
from trainyard_trainer.compute.model.optimizer import BETAS
from trainyard_trainer.rl.advantages import Sample
from trainyard_trainer.rl.recipe import RL


def prepare() -> Callable[[], Round]:
    model, state = load_adapted()
    config = GRPOConfig(
        **describe_training(RL, LEARNING_RATE),
        per_device_train_batch_size=GROUPS * COMPLETIONS,
        num_generations=COMPLETIONS,
        loss_type="dapo",  # its default: the mean over all tokens of the step
        epsilon=RL_CONFIG.epsilon,
        epsilon_high=RL_CONFIG.epsilon_high,
    )
    prompts = Dataset.from_dict({"prompt": ["-"] * GROUPS * COMPLETIONS})
    trainer = GRPOTrainer(model, lambda completions, **_: [0.0] * len(completions), config, train_dataset=prompts)
    trainer.current_gradient_accumulation_steps = 1
    steps = [make_samples(seed) for seed in range(STEPS)]
    inputs = [build_inputs(samples) for samples in steps]
    trained = [parameter for parameter in trainer.model.parameters() if parameter.requires_grad]
    trainer.model.train()

    def run() -> Round:
        fill(trainer.model, state)
        optimizer = AdamW(trained, LEARNING_RATE, BETAS, weight_decay=RL.weight_decay, fused=True)
        tokens = sum(sample.num_tokens for samples in steps for sample in samples)
        return time_round(tokens, lambda: [step_optimizer(trainer, optimizer, trained, batch) for batch in inputs])

    return run


def step_optimizer(trainer: GRPOTrainer, optimizer: AdamW, trained: list[Tensor], inputs: dict[str, Tensor]) -> float:
    loss = trainer.compute_loss(trainer.model, inputs)
    trainer.accelerator.backward(loss)
    trainer.accelerator.clip_grad_norm_(trained, RL.max_grad_norm)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


def build_inputs(samples: Sequence[Sample]) -> dict[str, Tensor]:
    """The inputs as GRPOTrainer builds them: prompts padded on the left, completions on the right."""
    prompts = [sample.ids[: sample.first_trained] for sample in samples]
    completions = [sample.ids[sample.first_trained :] for sample in samples]
    prompt_ids, prompt_mask = pad(prompts, left=True)
    completion_ids, completion_mask = pad(completions)
    return {
        "prompt_ids": prompt_ids,
        "prompt_mask": prompt_mask.long(),
        "completion_ids": completion_ids,
        "completion_mask": completion_mask.long(),
        "advantages": torch.tensor([sample.advantage for sample in samples]),
        "old_per_token_logps": pad([sample.old_logprobs for sample in samples])[0],
        "num_items_in_batch": completion_mask.sum(),
    }


def pad(rows: Sequence, *, left: bool = False) -> tuple[Tensor, Tensor]:
    tensors = [torch.from_numpy(row) for row in rows]
    side = "left" if left else "right"
    padded = torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_side=side)
    masks = [torch.ones(len(row), dtype=torch.bool) for row in rows]
    return padded, torch.nn.utils.rnn.pad_sequence(masks, batch_first=True, padding_side=side)
