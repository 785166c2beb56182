"""Runs the engine and the trainer of a base model in one container, so that they can share its GPU."""
