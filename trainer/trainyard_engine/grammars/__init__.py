"""Grammars of requests: each new one is compiled in a process of its own before the engine sees it."""
