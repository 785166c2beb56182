"""vLLM's parsers of tool calls and reasoning: the choice for a model, and the handling of invalid calls."""
