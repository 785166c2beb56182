"""Reads and checks the training data of a job."""
