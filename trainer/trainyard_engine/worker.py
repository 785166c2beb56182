"""The extension of vLLM's workers. They are separate processes, so that changes in the server do not affect them."""

from typing import Any

from trainyard_engine.applied_layers import find_applied_layers
from trainyard_engine.prompt_logits import skip_foreign_adapters

skip_foreign_adapters()


class WorkerExtension:
    """vLLM makes it a base class of its worker, with which it shares `self`."""

    model_runner: Any

    def list_applied_layers(self, adapter: int) -> tuple[list[str], list[str]]:
        """The applied and the ignored layers of a loaded adapter."""
        found = find_applied_layers(self.model_runner.lora_manager._adapter_manager, adapter)
        return sorted(found.applied), sorted(found.ignored)
