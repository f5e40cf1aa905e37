"""Sockets for the boards of the host's clients."""

from __future__ import annotations

import socket

from .errors import HostError


def connected(address: str, port: int) -> socket.socket:
    """A UDP socket for a board. Raises ``HostError`` naming the address if no way leads there."""
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        end.connect((address, port))
    except OSError as error:
        end.close()
        raise HostError(f"no way to {address}, UDP port {port}: {error.strerror}") from None
    return end
