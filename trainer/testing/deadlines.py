"""Time limits of tests."""

# Only a test that hangs waits this long. A busy machine may take a hundred times as long as a quiet one.
MAX_WAIT_SECONDS = 300
