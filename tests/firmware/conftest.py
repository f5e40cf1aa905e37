"""Programs built once a session, and a fresh stack for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dhcp_server import Client
from host_build import NET, ROOT, TESTS, build, build_net_driver
from lin_bus import Bus
from lin_host import LinHost, build_lin
from lin_ports import Ports
from net_host import NetHost


@pytest.fixture(scope="session")
def net_program() -> Path:
    """The stack with a text-driven driver and application, under the sanitizers."""
    return build_net_driver("net_driver")


@pytest.fixture(scope="session")
def net_process(net_program: Path) -> Iterator[NetHost]:
    """One process for many tests; where a test ends, the next resets it."""
    host = NetHost(net_program)
    yield host
    host.close()


@pytest.fixture
def net(net_program: Path) -> Iterator[NetHost]:
    """A stack of the test's own. Afterwards counters and packets must add up."""
    host = NetHost(net_program)
    yield host
    host.check()
    host.close()


@pytest.fixture
def client(net: NetHost) -> Client:
    """A DHCP client that is off."""
    return Client(net)


@pytest.fixture(scope="session")
def terminal_program() -> Path:
    """The terminal server's pure parts with a text-driven driver, under the sanitizers."""
    folder = ROOT / "firmware" / "apps" / "terminal"
    parts = [folder / f"{name}.c" for name in ("packer", "levels", "control", "command")]
    own = [TESTS / "terminal_driver.c", TESTS / "text.c"]
    return build("terminal_driver", [*own, *parts, NET / "checksum.c"])


@pytest.fixture(scope="module")
def lin() -> Iterator[LinHost]:
    """A LIN node on the host, for the tests of a module; each begins it anew."""
    host = LinHost(build_lin())
    yield host
    host.close()


@pytest.fixture
def bus(lin: LinHost) -> Bus:
    """A bus with a responder that has no signals yet."""
    lin.init()
    return Bus(lin)


@pytest.fixture
def ports() -> Iterator[Ports]:
    """Serial ports that nobody has made LIN nodes yet. Afterwards no packet may be missing."""
    ports = Ports()
    ports.do("spare", 100)
    yield ports
    assert ports.number("packets") == 0
    ports.close()
