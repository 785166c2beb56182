"""The base model, its adapters, and their gradient steps."""
