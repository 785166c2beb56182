"""The base model, the adapters on it, and their files."""
