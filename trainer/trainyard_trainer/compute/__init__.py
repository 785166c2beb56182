"""The base model, the adapters on it, and the gradient steps that they take."""
