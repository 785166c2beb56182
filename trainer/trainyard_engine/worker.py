"""The extension of vLLM's workers. They are separate processes, so that changes in the server do not affect them."""

from trainyard_engine.prompt_logits import skip_foreign_adapters

skip_foreign_adapters()


class WorkerExtension:
    """vLLM imports this module for its class."""
