"""What a job is trained on, read and checked."""
