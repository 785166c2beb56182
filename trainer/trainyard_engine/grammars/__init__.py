"""Grammars of requests. A separate process compiles each new grammar before the engine gets it."""
