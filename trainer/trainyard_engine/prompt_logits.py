"""Log-probabilities of a prompt, on CPUs.

vLLM computes the logits of a prompt's tokens with the list of adapters for the sampled tokens. With a second request,
the list has another length, which would crash the engine. A list with one adapter fits all tokens of the prompt.
"""

from typing import Any

from torch import Tensor
from vllm.lora.punica_wrapper.punica_cpu import PunicaWrapperCPU


def skip_foreign_adapters() -> None:
    """Leaves out adapters if their list does not fit the logits. Adapters rarely have weights for logits."""
    add_lora_logits = PunicaWrapperCPU.add_lora_logits

    def add_fitting(self: PunicaWrapperCPU, y: Tensor, x: Tensor, *weights: Any, **options: Any) -> None:
        if self.sampler_indices.size(0) in (1, x.view(-1, x.shape[-1]).size(0)):
            add_lora_logits(self, y, x, *weights, **options)

    PunicaWrapperCPU.add_lora_logits = add_fitting
