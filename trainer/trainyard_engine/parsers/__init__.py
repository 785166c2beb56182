"""vLLM's parsers of tool calls and reasoning: which of them fits a model, and what becomes of what they cannot read."""
