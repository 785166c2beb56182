"""From conversations to token ids."""
