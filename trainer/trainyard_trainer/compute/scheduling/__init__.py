"""Which training run uses the device next, and how much of it."""
