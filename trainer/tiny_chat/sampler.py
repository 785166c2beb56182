"""Samples from the tiny chat model with a checkpoint's adapter, using only transformers and PEFT."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

MAX_NEW_TOKENS = 48


class Sampler:
    """A separate copy of the base model. It reads adapters as the trainer wrote them. None means no adapter."""

    def __init__(self, model_path: Path):
        self.model = AutoModelForCausalLM.from_pretrained(model_path, dtype=torch.float32).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(model_path, padding_side="left")

    @contextmanager
    def open_adapted(self, checkpoint: Path | None) -> Iterator[Any]:
        if checkpoint is None:
            yield self.model
            return
        adapted = PeftModel.from_pretrained(self.model, str(checkpoint)).eval()
        try:
            yield adapted
        finally:
            adapted.unload()

    def sample_choices(self, checkpoint: Path | None, prompts: list[str], count: int) -> list[list[dict]]:
        """Samples `count` Choices for each prompt at temperature 1, in one batch, in the gateway's form."""
        drawn = {"do_sample": True, "temperature": 1.0, "top_k": 0, "num_return_sequences": count}
        ids_B_T, logprobs_B_T = self.generate(checkpoint, prompts, drawn)
        rows = zip(ids_B_T.tolist(), logprobs_B_T.tolist(), strict=True)
        choices = [self.describe_choice(*row) for row in rows]
        return [choices[index : index + count] for index in range(0, len(choices), count)]

    def give_answers(self, checkpoint: Path | None, prompts: list[str]) -> list[str]:
        """The greedy answer to each prompt."""
        ids_B_T, _ = self.generate(checkpoint, prompts, {"do_sample": False})
        return self.tokenizer.batch_decode(ids_B_T, skip_special_tokens=True)

    @torch.no_grad()
    def generate(self, checkpoint: Path | None, prompts: list[str], how: dict) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the new ids and their log-probabilities from the original logits, each [prompts x sequences, new
        tokens]."""
        inputs = self.tokenizer.apply_chat_template(
            [[{"role": "user", "content": prompt}] for prompt in prompts],
            add_generation_prompt=True,
            padding=True,
            return_tensors="pt",
            return_dict=True,
        )
        settings = GenerationConfig(
            **how,
            max_new_tokens=MAX_NEW_TOKENS,
            eos_token_id=self.tokenizer.eos_token_id,
            pad_token_id=self.tokenizer.pad_token_id,
            return_dict_in_generate=True,
            output_logits=True,
        )
        with self.open_adapted(checkpoint) as model:
            out = model.generate(**inputs, generation_config=settings)
        ids_B_T = out.sequences[:, inputs["input_ids"].shape[1] :]
        logprobs_B_T_V = torch.stack(out.logits, dim=1).log_softmax(-1)
        return ids_B_T, logprobs_B_T_V.gather(2, ids_B_T.unsqueeze(2)).squeeze(2)

    def describe_choice(self, ids: list[int], logprobs: list[float]) -> dict:
        """One row up to its end token. The rest is padding."""
        end = self.tokenizer.eos_token_id
        length = ids.index(end) + 1 if end in ids else len(ids)
        return {
            "finish_reason": "stop" if end in ids else "length",
            "index": 0,
            "message": {"role": "assistant", "content": self.tokenizer.decode(ids[:length], skip_special_tokens=True)},
            "logprobs": {"content": [{"token": "", "logprob": value} for value in logprobs[:length]], "refusal": None},
            "token_ids": ids[:length],
        }

    @torch.no_grad()
    def measure_loss(self, checkpoint: Path | None, dialogues: list[tuple[str, str]]) -> float:
        """The cross entropy of the answers, in nats per token, including end tokens."""
        total, count = 0.0, 0
        with self.open_adapted(checkpoint) as model:
            for question, answer in dialogues:
                chat = [{"role": "user", "content": question}]
                prompt = self.tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=False)
                said = [*self.tokenizer.encode(answer, add_special_tokens=False), self.tokenizer.eos_token_id]
                logits_T_V = model(input_ids=torch.tensor([prompt + said])).logits[0, len(prompt) - 1 : -1]
                total += torch.nn.functional.cross_entropy(logits_T_V, torch.tensor(said), reduction="sum").item()
                count += len(said)
        return total / count
