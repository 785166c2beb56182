"""Reinforcement learning on groups of trajectories."""
