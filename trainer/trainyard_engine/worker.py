"""The extension of vLLM's workers. They are separate processes, so that changes in the server do not affect them."""

from typing import Any

from trainyard_engine.applied_layers import find_applied_layers
from trainyard_engine.clean_blocks import keep_blocks_clean
from trainyard_engine.cpu_seeds import keep_seeds
from trainyard_engine.kept_adapters import keep_in_memory
from trainyard_engine.prompt_logits import skip_foreign_adapters

skip_foreign_adapters()
keep_blocks_clean()
keep_seeds()


class WorkerExtension:
    """vLLM makes it a base class of its worker, with which it shares `self`."""

    model_runner: Any

    def list_applied_layers(self, adapter: int) -> tuple[list[str], list[str]]:
        """The applied and the ignored layers of a loaded adapter."""
        found = find_applied_layers(self.model_runner.lora_manager._adapter_manager, adapter)
        return sorted(found.applied), sorted(found.ignored)

    def keep_adapters(self, adapters: list[int]) -> None:
        """Keeps these loaded adapters in memory when others need room, and no others. vLLM's own way to pin an adapter
        would also keep a slot on the device for each."""
        keep_in_memory(self.model_runner.lora_manager._adapter_manager, adapters)
