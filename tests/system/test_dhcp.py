"""The board gets its address from a DHCP server, keeps it, and has its own if nobody answers."""

from __future__ import annotations

import pytest
from dhcp_lan import DISCOVER, LEASED, REQUEST, SERVER, Lan, ping, pongs
from system_builds import turns

from tierv.sim.firmware import compile_firmware
from tierv.sim.paths import build_root
from tierv.sim.stack_counters import COUNTERS, stack_counters
from tierv.sim.stimulus import Frame
from tierv.soc.params import SocParams

STATIC = SocParams().local_ip
#: A second of the board's network takes so many cycles here.
SECOND = 60_000
#: As the README says, with short times.
DEFINES = ("NETWORK_DHCP=1", f"NETWORK_SECOND_CYCLES={SECOND}", "DHCP_SPREAD_S=1")
LEASE_S = 12


@pytest.fixture(params=turns("tiers", "single", slow=["single"]))
def asking(request, systems):
    """A build, and the firmware that asks from the beginning; ``make -C firmware DEFINES=..``."""
    system = systems(request.param)
    params = system.simulation.model.params.soc

    def build(*more: str):
        folder = build_root() / "firmware" / f"dhcp-{request.param}-{len(more)}"
        return compile_firmware(
            "services",
            params,
            system.simulation.model.include,
            folder,
            defines=[*DEFINES, *more],
        )

    return system.simulation, build


def test_a_lease_is_got_used_and_renewed(asking):
    simulation, build = asking
    program = build()
    lan = Lan(LEASE_S)
    # Before there is a lease, with it, and when it would have ended.
    seconds = (4, 13, 24)
    pings = [
        Frame(ping(LEASED, SERVER, number), cycle=second * SECOND)
        for number, second in enumerate(seconds)
    ]
    result = lan.run(simulation, program, pings, cycles=(seconds[-1] + 1) * SECOND)
    anybody, all_hosts = "0.0.0.0", "255.255.255.255"
    assert lan.messages[:2] == [(DISCOVER, anybody, all_hosts), (REQUEST, anybody, all_hosts)]
    renewals = lan.messages[2:]
    assert renewals
    assert set(renewals) == {(REQUEST, LEASED, SERVER)}
    assert pongs(result) == [(LEASED, 1), (LEASED, 2)]
    counters = stack_counters(program, result)
    assert counters["DHCP_ACKNOWLEDGED"] == 1 + len(renewals)
    assert counters["DHCP_EXPIRED"] == counters["DHCP_FELL_BACK"] == 0


def test_the_static_address_is_taken_when_nobody_answers(asking):
    simulation, build = asking
    program = build("DHCP_TRIES=1")
    peer = SocParams().remote_ip
    early = range(SECOND // 4, 4 * SECOND + 1, SECOND // 4)
    pings = [Frame(ping(STATIC, peer, 0), cycle) for cycle in early]
    pings.append(Frame(ping(STATIC, peer, 1), 12 * SECOND))
    result = simulation.run(
        program, frames=pings, cycles=13 * SECOND, get=[COUNTERS], limit_is_error=False
    )
    assert pongs(result) == [(STATIC, 1)]
    assert stack_counters(program, result)["DHCP_FELL_BACK"] == 1
