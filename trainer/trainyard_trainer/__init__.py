"""The warm trainer: claims a job, trains a LoRA adapter, reports, and claims the next one. README.md has the path."""
