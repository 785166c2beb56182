"""The trainer against other implementations of the same mathematics; see requirements.in."""
