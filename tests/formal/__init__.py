"""Formal proofs of the core: ``PYTHONPATH=tests python -m formal --help``."""
