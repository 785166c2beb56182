"""Log-probabilities of a prompt, on CPUs.

vLLM computes the logits of a prompt's tokens with the list of adapters for the tokens that it samples. Beside a second
request the list has another length, which ended the engine for all. A length of one fits all tokens of the prompt.
"""

from typing import Any

from torch import Tensor
from vllm.lora.punica_wrapper.punica_cpu import PunicaWrapperCPU


def skip_foreign_adapters() -> None:
    """Adds nothing to logits that the list of adapters does not fit. Adapters rarely have weights for logits."""
    add_lora_logits = PunicaWrapperCPU.add_lora_logits

    def add_fitting(self: PunicaWrapperCPU, y: Tensor, x: Tensor, *weights: Any, **options: Any) -> None:
        if self.sampler_indices.size(0) in (1, x.view(-1, x.shape[-1]).size(0)):
            add_lora_logits(self, y, x, *weights, **options)

    PunicaWrapperCPU.add_lora_logits = add_fitting
