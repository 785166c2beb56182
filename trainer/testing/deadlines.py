"""How long tests wait for what must happen."""

# Only a test that hangs waits for as long; a busy machine may take a hundred times as long as a quiet one.
MAX_WAIT_SECONDS = 300
