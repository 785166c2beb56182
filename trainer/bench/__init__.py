"""How fast the trainer is, beside other trainers, and beside itself without what makes it fast."""
