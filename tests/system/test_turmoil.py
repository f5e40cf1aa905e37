"""The services work as ever after whatever users may do has been done at once."""

from __future__ import annotations

import pytest
import soak
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether
from system_builds import OWN_BUILDS, make_dma_system, turns
from terminal_frames import HERE, HERE_MAC, Talk
from turmoil import PEERS, SERIAL_PORTS, USUAL_FORM, Turmoil

from tierv.sim.experiments.frames import ECHO_PORT, FAST_ECHO_PORT
from tierv.sim.firmware import Context
from tierv.sim.host import protocol
from tierv.sim.stimulus import UartBytes

PEER, MAC = next(iter(PEERS.items()))
STEP, QUIET = 50_000, 1_000_000
DOWN = [b"to port %d. " % port * 8 for port in range(SERIAL_PORTS)]
UP = [b"from port %d. " % port * 8 for port in range(SERIAL_PORTS)]
PING_DATA = b"still there?"
PING = bytes(Ether(src=MAC, dst=HERE_MAC) / IP(src=PEER, dst=HERE) / ICMP(id=7, seq=9) / PING_DATA)


def try_services(turmoil: Turmoil) -> None:
    """Each once more."""
    for port in range(SERIAL_PORTS):
        turmoil.cycle += STEP
        turmoil.udp(DOWN[port], protocol.DATA_PORT + port, PEER)
        turmoil.uart.append(UartBytes(1 + port, UP[port], turmoil.cycle, USUAL_FORM))
    turmoil.cycle += QUIET
    for port in (ECHO_PORT, FAST_ECHO_PORT):
        turmoil.udp(b"to UDP port %d" % port, port, PEER)
    turmoil.send(PING)
    turmoil.uart.append(UartBytes(0, b"\x03\rifconfig\r", turmoil.cycle))


def check_after(system, seed: int, cycles: int, tiers: int) -> None:
    turmoil = Turmoil(seed, cycles, tiers)
    begin = turmoil.cycle
    try_services(turmoil)
    account = soak.run(system, sorted(turmoil.frames, key=lambda frame: frame.cycle), turmoil.uart)
    # A bad frame for which there is no room may be counted as both.
    both = account.overruns + account.bad - account.lost
    assert 0 <= both <= min(account.overruns, account.bad)
    soak.check_stack(account)

    said = Talk(account.result)
    late = [each for each in said.datagrams if each.cycle >= begin]
    for port in (ECHO_PORT, FAST_ECHO_PORT):
        assert [each.payload for each in late if each.source == port] == [b"to UDP port %d" % port]
    assert "tierv> ifconfig\r\ninet 192.168.1.50" in account.result.uart(0).decode("latin1")
    assert any(PING_DATA in frame.data for frame in account.result.frames)
    for port in range(SERIAL_PORTS):
        came = [each.payload for each in late if each.source == protocol.DATA_PORT + port]
        assert b"".join(came) == UP[port]
        own = account.result.characters[account.result.characters["port"] == 1 + port]
        assert bytes(own["data"][own["cycle"] >= begin].astype("u1")) == DOWN[port]


@pytest.mark.parametrize("build", turns("tiers", "tiers, DMA", slow=["tiers"]))
def test_services_work_after_turmoil(systems, build):
    check_after(systems(build), seed=1, cycles=1_000_000, tiers=3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 13))
@pytest.mark.parametrize("build", OWN_BUILDS)
def test_they_do_after_more_of_it(systems, build, seed):
    check_after(systems(build), seed, cycles=10_000_000, tiers=3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 23))
def test_lines_move_among_five_tiers_meanwhile(seed):
    system = make_dma_system("tiers5", Context.TIERS)
    check_after(system, seed, cycles=10_000_000, tiers=5)
