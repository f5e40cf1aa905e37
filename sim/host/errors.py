"""What can go wrong between host and board."""

from __future__ import annotations


class HostError(Exception):
    """The board does not do what it is asked; the message says why."""


class NoAnswerError(HostError):
    """The board does not answer."""
