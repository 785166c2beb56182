import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from trainyard_trainer.compute.rows import logprobs
from trainyard_trainer.compute.rows.logprobs import score_hidden, score_tokens

ROWS, WIDTH, VOCABULARY = 70, 16, 500


class LargestTensor(TorchDispatchMode):
    """Counts the values of the largest tensor of any operation, and of all tensors that backward passes keep."""

    largest = 0

    def __torch_dispatch__(self, function, _types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        sizes = [leaf.numel() for leaf in tree_leaves(made) if isinstance(leaf, torch.Tensor)]
        self.largest = max(self.largest, *sizes, 0)
        return made


@pytest.fixture
def scored():
    random = torch.Generator().manual_seed(5)
    weight = torch.randn(VOCABULARY, WIDTH, generator=random)
    hidden = torch.randn(ROWS, WIDTH, generator=random, requires_grad=True)
    targets = torch.randint(VOCABULARY, (ROWS,), generator=random)
    return weight, hidden, targets


def test_log_probabilities_and_entropies_are_those_of_a_softmax(scored):
    weight, hidden, targets = scored
    logits = hidden @ weight.T
    found, entropies = score_tokens(logits, targets)
    every = logits.log_softmax(-1)
    torch.testing.assert_close(found, every[torch.arange(ROWS), targets])
    torch.testing.assert_close(entropies, -(every.exp() * every).sum(-1).detach())
    assert not entropies.requires_grad


def test_half_precision_is_scored_in_single_precision(scored):
    weight, hidden, targets = scored
    found, entropies = score_tokens((hidden @ weight.T).bfloat16(), targets)
    assert found.dtype == entropies.dtype == torch.float32
    torch.testing.assert_close(found, (hidden @ weight.T).bfloat16().float().log_softmax(-1)[range(ROWS), targets])


@pytest.mark.parametrize("rows", [1, 7, 69, 70, 1000])
def test_chunks_equal_the_whole_and_all_logits_never_exist_at_once(scored, monkeypatch, rows):
    weight, hidden, targets = scored
    whole, entropies = score_tokens(hidden @ weight.T, targets)
    pushed = torch.linspace(-1, 2, ROWS)
    (wanted,) = torch.autograd.grad(whole, hidden, pushed)
    monkeypatch.setitem(logprobs.CHUNK_VALUES, "cpu", rows * VOCABULARY)
    with LargestTensor() as seen:
        found, found_entropies = score_hidden(lambda some: some @ weight.T, hidden, targets, VOCABULARY)
        (gradient,) = torch.autograd.grad(found, hidden, pushed)
    torch.testing.assert_close(found, whole)
    torch.testing.assert_close(found_entropies, entropies)
    torch.testing.assert_close(gradient, wanted)
    chunk = max(min(rows, ROWS) * VOCABULARY, VOCABULARY * WIDTH)
    assert seen.largest == chunk


def test_no_logits_are_kept_for_the_gradient(scored, monkeypatch):
    weight, hidden, targets = scored
    monkeypatch.setitem(logprobs.CHUNK_VALUES, "cpu", 7 * VOCABULARY)
    held = []

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        held.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        score_hidden(lambda some: some @ weight.T, hidden, targets, VOCABULARY)
    assert max(held, default=0) <= ROWS * WIDTH
