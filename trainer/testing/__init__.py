"""Shared parts of tests: servers, stores, models and jobs. Shipped programs import none of it."""
