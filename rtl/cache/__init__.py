"""Caches of external memory, and the port through which they reach it."""
