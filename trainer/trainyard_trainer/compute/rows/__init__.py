"""Examples as rows of tokens, and what is computed of a row."""
