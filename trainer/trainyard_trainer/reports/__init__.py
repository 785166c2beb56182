"""The status server: claims, leases and reports."""
