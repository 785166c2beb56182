"""Tenants share an engine by what it computes for them, and not by their requests."""
