"""What trainer and engine of a base model share: where it comes from, and what its adapters are called."""
