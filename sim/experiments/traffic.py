"""The traffic of the reference: a second of received packets and of sends."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass

import numpy as np

from ..stimulus import Frame
from .bench import Setup
from .frames import (
    FCS_BYTES,
    HEADER_BYTES,
    PEER_ADDRESS,
    PEER_PORT,
    UDP_HEADERS_BYTES,
    arp_request,
    datagram,
    ipv4_frames,
)

#: What the reference counts in its second: 2,732 interrupts, 8.60 Mbit/s.
PACKETS = 1_080
SENDS = 1_652
CYCLES = 200_000_000
OFFERED_BITS = 8_600_000
#: Sends that the firmware's schedule has room for (``firmware/apps/trace.c``).
MOST_SENDS = 16_384
#: Frame sizes with check sequence, and how often each (the usual "simple IMIX").
_SIZES = (64, 594, 1518)
_SHARES = (7, 4, 1)
#: When the trace begins, and when the peer introduces itself: firmware is ready by then.
_START = 150_000
_INTRODUCTION = 120_000
#: After the last event everything is through by then.
_TAIL = 150_000


@dataclass(frozen=True)
class Traffic:
    """Times in cycles, sizes in bytes of frames with check sequence."""

    packet_cycles: np.ndarray
    packet_bytes: np.ndarray
    send_cycles: np.ndarray
    send_bytes: np.ndarray
    cycles: int

    @property
    def bits(self) -> int:
        """All bits of all frames."""
        return 8 * int(self.packet_bytes.sum() + self.send_bytes.sum())


def make_traffic(seed: int, cycles: int = CYCLES) -> Traffic:
    """Events at random times, of random sizes that add up to the offered load.

    With fewer cycles than the reference there is so much less of everything.
    """
    rng = np.random.default_rng(seed)
    packets, sends = (max(1, round(count * cycles / CYCLES)) for count in (PACKETS, SENDS))
    sizes = rng.choice(_SIZES, packets + sends, p=np.array(_SHARES) / sum(_SHARES))
    return Traffic(
        packet_cycles=np.sort(rng.integers(0, cycles, packets)),
        packet_bytes=_fit(sizes[:packets], packets / (packets + sends), cycles),
        send_cycles=np.sort(rng.integers(0, cycles, sends)),
        send_bytes=_fit(sizes[packets:], sends / (packets + sends), cycles),
        cycles=cycles,
    )


def _fit(sizes: np.ndarray, share: float, cycles: int) -> np.ndarray:
    """Sizes stretched so that they add up to a share of the offered load."""
    wanted = OFFERED_BITS / 8 * share * cycles / CYCLES
    for _ in range(8):
        sizes = np.clip(np.round(sizes * (wanted / sizes.sum())), _SIZES[0], _SIZES[-1])
    return sizes.astype(int)


@dataclass(frozen=True)
class Delivery:
    """What became of the traffic."""

    packets: int
    delivered: int
    sends: int
    sent: int
    cycles: int
    idle_cycles: int

    @property
    def lost(self) -> int:
        """Packets and sends that got nowhere."""
        # What came twice makes up for nothing.
        return max(0, self.packets - self.delivered) + max(0, self.sends - self.sent)

    @property
    def idle_share(self) -> float:
        """Part of the time that the application had nothing to do."""
        return self.idle_cycles / self.cycles


def replay(
    setup: Setup, traffic: Traffic, *, compression: float = 1.0, mii_hz: int | None = None
) -> Delivery:
    """Send the traffic through the firmware ``trace``, ``compression`` times as fast."""
    frames = [Frame(arp_request(), cycle=_INTRODUCTION)]
    times = _START + traffic.packet_cycles / compression
    frames += [
        Frame(datagram(int(size) - FCS_BYTES - HEADER_BYTES), cycle=int(cycle))
        for cycle, size in zip(times, traffic.packet_bytes, strict=True)
    ]
    schedule = b"".join(
        struct.pack("<II", int(cycle), int(size) - FCS_BYTES - UDP_HEADERS_BYTES)
        for cycle, size in zip(traffic.send_cycles / compression, traffic.send_bytes, strict=True)
    )
    run_cycles = int(traffic.cycles / compression) + _TAIL
    address = ipaddress.IPv4Address(PEER_ADDRESS).packed
    result = setup.run(
        cycles=run_cycles + 2 * _START,
        frames=frames,
        mii_hz=mii_hz,
        set={
            "schedule": schedule,
            "scheduled_sends": len(traffic.send_cycles),
            "start_cycle": _START,
            "run_cycles": run_cycles,
            "peer_address": int.from_bytes(address, "little"),
            "peer_port": PEER_PORT,
        },
    )
    delivered, _, _, idle, cycles = (result.results[number] for number in range(5))
    return Delivery(
        packets=len(traffic.packet_cycles),
        delivered=delivered,
        sends=len(traffic.send_cycles),
        sent=len(ipv4_frames(result)),
        cycles=cycles,
        idle_cycles=idle,
    )
