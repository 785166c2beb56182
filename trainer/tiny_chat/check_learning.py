"""Trains a few LoRA adapters of a model with RL, as Trainyard does: `python -m tiny_chat.check_learning MODEL_DIR`.

12 steps of 8 prompts x 8 samples each; prints the mean reward of every step. Fails when a colour reward does not end
above 0.85, or a letter's share does not rise by more than three standard errors.
"""

import argparse
import re
import sys
from collections.abc import Callable
from statistics import fmean, stdev

import torch
from peft import PeftModel

from tiny_chat import words
from trainyard_trainer.compute.adapter import Base, load_base, open_adapter
from trainyard_trainer.compute.optimizer import build_optimizer
from trainyard_trainer.config import LoraSettings, read_lora
from trainyard_trainer.data.payload import Group, History, Trajectory
from trainyard_trainer.job import build_samples
from trainyard_trainer.rl.config import RlConfig
from trainyard_trainer.rl.packing import pack_sequences
from trainyard_trainer.rl.policy import train_sequence

STEPS = 12
SAMPLES = 8
CONFIG = RlConfig(learning_rate=3e-3)
COLOUR_PROMPTS = [
    "What colour is your hat?",
    "Name a colour.",
    "Which color do you like?",
    "What colour should I paint the door?",
    "Pick a color for my kite.",
    "What is your favourite colour?",
    "I bought a new bike. What colour is it?",
    "Tell me a colour, please.",
]
FREE_PROMPTS = [
    "Tell me something about rivers.",
    "What did you do today?",
    "Write a sentence about a fox.",
    "Describe the old harbour.",
    "What do you think of music?",
    "Tell me a story about my grandmother.",
    "Why do people travel?",
    "Say something kind.",
]


def reward_colours(wanted: list[str]) -> Callable[[str], float]:
    def score(text: str) -> float:
        named = {word for word in re.findall(r"[a-z]+", text.lower()) if word in words.COLOURS}
        return float(bool(named) and named <= set(wanted))

    return score


def reward_letter(letter: str) -> Callable[[str], float]:
    def score(text: str) -> float:
        letters = re.findall("[a-z]", text.lower())
        return letters.count(letter) / len(letters) if letters else 0.0

    return score


@torch.no_grad()
def sample_choices(model: PeftModel, base: Base, prompt: str) -> list[dict]:
    """Choices as the gateway gives them, sampled at temperature 1."""
    tokenizer = base.tokenizer
    prompt_ids = tokenizer.apply_chat_template(
        [{"role": "user", "content": prompt}], add_generation_prompt=True, return_tensors="pt", return_dict=False
    )
    out = model.generate(
        input_ids=prompt_ids,
        do_sample=True,
        top_k=0,
        max_new_tokens=48,
        num_return_sequences=SAMPLES,
        return_dict_in_generate=True,
        output_logits=True,
        use_cache=True,
    )
    sampled = out.sequences[:, prompt_ids.shape[1] :]
    logprobs = torch.stack(out.logits, dim=1).log_softmax(-1).gather(2, sampled.unsqueeze(2)).squeeze(2)
    return [describe_choice(base, *row) for row in zip(sampled.tolist(), logprobs.tolist(), strict=True)]


def describe_choice(base: Base, ids: list[int], logprobs: list[float]) -> dict:
    end = base.tokenizer.eos_token_id
    length = ids.index(end) + 1 if end in ids else len(ids)
    return {
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": base.tokenizer.decode(ids[:length], skip_special_tokens=True)},
        "logprobs": {"content": [{"token": "", "logprob": value} for value in logprobs[:length]]},
        "token_ids": ids[:length],
    }


def roll_out(model: PeftModel, base: Base, prompt: str, score: Callable[[str], float]) -> Group:
    user = {"role": "user", "content": prompt}
    choices = sample_choices(model, base, prompt)
    return Group([Trajectory(score(item["message"]["content"]), [History([user, item], None)]) for item in choices])


def learn(
    base: Base, lora: LoraSettings, prompts: list[str], score: Callable[[str], float], show: int
) -> list[list[float]]:
    """The rewards of every step."""
    rewards: list[list[float]] = []
    with open_adapter(base, lora, None) as model:
        optimizer = build_optimizer(model, CONFIG.learning_rate, None)
        torch.manual_seed(0)
        for step in range(STEPS):
            model.eval()
            groups = [roll_out(model, base, prompt, score) for prompt in prompts]
            rewards.append([trajectory.reward for group in groups for trajectory in group.trajectories])
            model.train()
            samples = build_samples(groups, base, CONFIG, 4096)
            for sequence in pack_sequences(samples, 4096, str(step)):
                train_sequence(model, optimizer, sequence, CONFIG, base.device)
            if step in (0, STEPS - 1):
                texts = [group.trajectories[0].histories[0].messages_and_choices[-1] for group in groups[:show]]
                print("    says:", [text["message"]["content"] for text in texts])
    return rewards


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--letters", default="eoz")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    base, lora = load_base("tiny", arguments.model), read_lora({})
    failed = False
    for name, wanted in (("warm", words.WARM), ("cool", words.COOL)):
        rewards = learn(base, lora, COLOUR_PROMPTS, reward_colours(wanted), 4)
        print(name, *(f"{fmean(step):.2f}" for step in rewards), flush=True)
        failed |= fmean(rewards[-1]) < 0.85
    for letter in arguments.letters:
        rewards = learn(base, lora, FREE_PROMPTS, reward_letter(letter), 8)
        error = (sum(stdev(step) ** 2 / len(step) for step in (rewards[0], rewards[-1]))) ** 0.5
        rise = (fmean(rewards[-1]) - fmean(rewards[0])) / error
        print(letter, *(f"{fmean(step):.3f}" for step in rewards), f"rise: {rise:.1f} standard errors", flush=True)
        failed |= rise < 3
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
