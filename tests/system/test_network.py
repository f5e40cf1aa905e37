"""A real ping and a real UDP client, from a network namespace of the host, get answers."""

from __future__ import annotations

import subprocess
import sys

from board import TIMEOUT_S, board

BOARD = "192.168.1.50"
PROMPT = b"tierv> "
ECHO_PORT = 7
CLIENT = f"""
import socket
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.settimeout({TIMEOUT_S})
for size in (1, 100, 1472):
    data = bytes(index & 0xFF for index in range(size))
    client.sendto(data, ("{BOARD}", {ECHO_PORT}))
    answer, sender = client.recvfrom(2000)
    assert answer == data and sender == ("{BOARD}", {ECHO_PORT}), (answer, sender)
print("all came back")
"""


def test_ping_and_a_udp_client_get_answers_through_a_tap_device(namespace):
    with board("--network", "tap", prefix=namespace) as running:
        running.wait_for(PROMPT)
        ping = subprocess.run(
            [*namespace, "ping", "-c", "3", "-W", str(TIMEOUT_S), BOARD],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "3 received" in ping.stdout, ping.stdout + ping.stderr
        client = subprocess.run(
            [*namespace, sys.executable, "-c", CLIENT], capture_output=True, text=True, check=False
        )
        assert client.stdout == "all came back\n", client.stderr
        running.type(b"ifconfig\n")
        running.wait_for(b"received")
        assert running.end() == 0
