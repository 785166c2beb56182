import pytest
import torch
from vllm.lora.layers import LoRAMapping
from vllm.lora.punica_wrapper.punica_cpu import PunicaWrapperCPU

from trainyard_engine.prompt_logits import skip_foreign_adapters

HIDDEN, RANK, VOCABULARY = 4, 2, 8


@pytest.fixture(autouse=True)
def patched(monkeypatch):
    # Restores the method after the test.
    monkeypatch.setattr(PunicaWrapperCPU, "add_lora_logits", PunicaWrapperCPU.add_lora_logits)
    skip_foreign_adapters()


def add_logits(adapters, rows):
    """The logits of some rows, while tokens of requests with these adapters are sampled."""
    punica = PunicaWrapperCPU(16, 8, device="cpu")
    mapping = LoRAMapping(index_mapping=tuple(adapters), prompt_mapping=tuple(adapters))
    punica.update_metadata(mapping, [1, 2], max_loras=2, vocab_size=VOCABULARY)
    logits = torch.zeros(rows, VOCABULARY)
    adapter_weights = torch.ones(2, 1, RANK, HIDDEN), torch.ones(2, 1, VOCABULARY, RANK)
    punica.add_lora_logits(logits, torch.ones(rows, HIDDEN), *adapter_weights, 1.0)
    return logits


def test_the_prompt_of_one_request_does_not_stop_another():
    assert add_logits([1, 2], rows=5).sum() == 0


def test_sampled_tokens_get_their_adapters():
    assert (add_logits([1, 2], rows=2) == HIDDEN * RANK).all()


def test_the_prompt_of_the_only_request_gets_its_adapter():
    assert (add_logits([1], rows=5) == HIDDEN * RANK).all()
