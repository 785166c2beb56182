"""ART's preprocessing of trajectory groups: the tokens of each trained history, and the weight and advantage of its
tokens."""

from dataclasses import dataclass

import torch
from art.preprocessing.pack import PackedTensors, packed_tensors_from_tokenized_results
from art.preprocessing.tokenize import TokenizedResult, tokenize_trajectory_groups
from art.trajectories import Trajectory, TrajectoryGroup
from openai.types.chat.chat_completion import Choice
from transformers import PreTrainedTokenizerBase

PADDING = -1


@dataclass(frozen=True)
class Trained:
    """One history. `weight` and `advantage` are the same for all its trained tokens."""

    ids: list[int]
    trained: list[bool]
    logprobs: list[float]
    weight: float
    advantage: float


def read_groups(groups: list[dict]) -> list[TrajectoryGroup]:
    return [TrajectoryGroup([read_trajectory(item) for item in group["trajectories"]]) for group in groups]


def read_trajectory(item: dict) -> Trajectory:
    """Converts to ART's own data classes, in which Choices are objects and messages are not."""
    additional = [read_history(history) for history in item["additional_histories"]]
    return Trajectory(**item | read_history(item) | {"additional_histories": additional})


def read_history(item: dict) -> dict:
    items = [Choice.model_validate(entry) if "message" in entry else entry for entry in item["messages_and_choices"]]
    return {"messages_and_choices": items, "tools": item["tools"]}


def preprocess(
    groups: list[dict],
    tokenizer: PreTrainedTokenizerBase,
    *,
    scale_rewards: bool = True,
    advantage_balance: float = 0.0,
    allow_training_without_logprobs: bool = False,
) -> list[Trained]:
    """In the order of the payload, with double precision."""
    results = tokenize(groups, tokenizer, scale_rewards, allow_training_without_logprobs)
    if not results:
        return []
    # ART shuffles its sequences. Each one has a single history here, so that the order can be restored.
    order = {tuple(result.token_ids): index for index, result in enumerate(results)}
    assert len(order) == len(results), "two histories of the same tokens cannot be told apart"
    torch.set_default_dtype(torch.float64)
    try:
        packed = pack(results, advantage_balance)
    finally:
        torch.set_default_dtype(torch.float32)
    rows = [unpack_row(packed, row) for row in range(len(results)) if packed["assistant_mask"][row].any()]
    return sorted(rows, key=lambda history: order[tuple(history.ids)])


def tokenize(
    groups: list[dict],
    tokenizer: PreTrainedTokenizerBase,
    scale_rewards: bool = True,
    allow_training_without_logprobs: bool = False,
) -> list[TokenizedResult]:
    """In the order of the payload."""
    return list(
        tokenize_trajectory_groups(
            tokenizer,
            read_groups(groups),
            allow_training_without_logprobs,
            scale_rewards,
            shuffle_group_trajectories=False,
            chat_template_tool_schema_format="vllm_openai",
        )
    )


def pack(results: list[TokenizedResult], advantage_balance: float = 0.0) -> PackedTensors:
    """One history in each row [B, S]. All rows have the length of the longest."""
    for result in results:
        # ART drops histories that are completely within the group's shared prompt. No trained history is.
        result.prompt_length = 0
    length = max(len(result.token_ids) for result in results)
    return packed_tensors_from_tokenized_results(
        results, length, PADDING, truncate_long_results=False, advantage_balance=advantage_balance, pack_results=False
    )


def unpack_row(packed: PackedTensors, row: int) -> Trained:
    ids = [token for token in packed["tokens"][row].tolist() if token != PADDING]
    mask = packed["assistant_mask"][row]
    return Trained(
        ids,
        mask[: len(ids)].tolist(),
        packed["logprobs"][row, : len(ids)].tolist(),
        pop_one(packed["weights"][row][mask]),
        pop_one(packed["advantages"][row][mask]),
    )


def pop_one(values: torch.Tensor) -> float:
    assert torch.isnan(values).all() or (values == values[0]).all()
    return values[0].item()
