"""What vLLM adds to its workers, which are processes of their own: changes to the server do not reach them."""

from trainyard_engine.prompt_logits import skip_foreign_adapters

skip_foreign_adapters()


class WorkerExtension:
    """vLLM imports this module for its class."""
