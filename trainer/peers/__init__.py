"""Compares the trainer with other implementations of the same mathematics; see requirements.in."""
