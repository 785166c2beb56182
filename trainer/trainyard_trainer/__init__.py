"""The warm trainer: claims a job, trains a LoRA adapter on it, reports, and takes the next."""
