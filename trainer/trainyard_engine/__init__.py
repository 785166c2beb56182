"""The engine: vLLM's own OpenAI server, which finds checkpoints in the artifact store by id."""
