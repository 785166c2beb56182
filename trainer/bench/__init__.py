"""Benchmarks of the trainer: beside other trainers, and beside itself without its optimizations."""
