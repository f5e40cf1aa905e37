"""The stack compiled for RV32IM, run by an interpreter that allows no misaligned access.

The instruction budgets are those of the echo path; a core adds its stalls to them.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

import dhcp_server
import pytest
from host_build import BUILD, TESTS, WARNINGS, net_sources, run_compiler
from net_frames import arp_request, ethernet, frames_of_every_kind, icmp_echo, udp
from net_host import config
from net_malformed import MALFORMED
from net_reference import ECHO_PORT, Outcome, classify
from rv32 import Machine, MachineError
from scapy.layers.l2 import ARP, Ether

TARGET = "riscv64-unknown-elf-"
FLAGS = ("-O2", "-march=rv32im", "-misa-spec=2.2", "-mabi=ilp32", "-std=c11", "-ffreestanding")
#: packet_t on a 32-bit machine; see packet.h.
SUM, LENGTH_BYTES, FLAGS_BYTE = 8, 20, 24
FRAME_SUMMED = 1
#: net_verdict_t
FREE, TRANSMIT, KEPT = range(3)


@dataclass(frozen=True)
class Run:
    """What net_input() made of a frame, and the instructions that each step took."""

    verdict: int
    frame: bytes
    fill: int
    input: int


class Target:
    """The firmware in the interpreter, with an echo socket."""

    def __init__(self, elf: Path) -> None:
        self.machine = Machine(elf)
        assert self.machine.call("target_init") == 0
        self.net = self.machine.symbols["target_net"]

    def count(self, function: str, *arguments: int) -> tuple[int, int]:
        """Calls a function: its result and the instructions that it took."""
        before = self.machine.instructions
        result = self.machine.call(function, *arguments)
        return result, self.machine.instructions - before

    def fill(self, frame: bytes) -> tuple[int, int]:
        """A free packet with ``frame`` in it, and the instructions of packet_fill()."""
        packet = self.machine.call("target_take_free")
        assert packet
        slot = self.machine.symbols["target_slot"]
        self.machine.write(slot, frame)
        _, instructions = self.count("packet_fill", packet, slot, len(frame))
        return packet, instructions

    def receive(self, frame: bytes, *, summed: bool) -> Run:
        """One frame through packet_fill() and net_input()."""
        packet, fill = self.fill(frame)
        if not summed:
            self.machine.write(packet + FLAGS_BYTE, b"\0")
        verdict, instructions = self.count("net_input", self.net, packet)
        buffer = int.from_bytes(self.machine.read(packet, 4), "little")
        length = int.from_bytes(self.machine.read(packet + LENGTH_BYTES, 2), "little")
        content = self.machine.read(buffer, min(length, 1536))
        self.machine.call("net_release", self.net, packet)
        return Run(verdict, content, fill, instructions)

    def transmitted(self) -> list[bytes]:
        """The frames that wait for the driver, which takes them."""
        frames = []
        while packet := self.machine.call("target_take_transmit"):
            buffer = int.from_bytes(self.machine.read(packet, 4), "little")
            length = int.from_bytes(self.machine.read(packet + LENGTH_BYTES, 2), "little")
            frames.append(self.machine.read(buffer, length))
            assert self.machine.call("target_give_sent", packet)
        self.machine.call("net_service", self.net, 0)
        return frames

    def tick(self) -> list[bytes]:
        """A second passes; the frames sent."""
        self.machine.call("net_tick", self.net)
        return self.transmitted()


@pytest.fixture(scope="module")
def elf() -> Path:
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / "target.elf"
    link = ("-nostdlib", "-Wl,-e,target_init", "-Wl,--no-warn-rwx-segments", "-lgcc")
    run_compiler(
        [
            f"{TARGET}gcc",
            *FLAGS,
            *WARNINGS,
            "-fno-tree-loop-distribute-patterns",
            TESTS / "target_main.c",
            TESTS / "target_memory.c",
            *net_sources(),
            *link,
            "-o",
            program,
        ]
    )
    return program


@pytest.fixture
def target(elf: Path) -> Target:
    return Target(elf)


def same(run: Run, outcome: Outcome) -> bool:
    if outcome.reply is None or "ICMP_UNREACHABLE_SENT" in outcome.events:
        return run.verdict == FREE
    return run.verdict == TRANSMIT and run.frame == outcome.reply


@pytest.mark.parametrize("name", frames_of_every_kind())
def test_target_answers_as_the_reference_says(target: Target, name: str) -> None:
    frame = frames_of_every_kind()[name]
    if name == "UDP to another port":
        assert target.receive(frame, summed=True).verdict == KEPT
        return
    for summed in (False, True):
        assert same(target.receive(frame, summed=summed), classify(frame))


def test_target_drops_every_malformed_frame(target: Target) -> None:
    for name, (frame, _) in MALFORMED.items():
        if len(frame) <= config("NET_BUFFER_BYTES"):
            for summed in (False, True):
                assert target.receive(frame, summed=summed).verdict == FREE, name


def test_target_gets_an_address_from_a_dhcp_server(target: Target) -> None:
    assert target.machine.call("target_start_dhcp") == 0
    said: list[dhcp_server.Message] = []
    while not said:
        said = dhcp_server.messages(target.tick())
    xid = said[0].bootp.xid
    target.receive(dhcp_server.answer("offer", xid), summed=True)
    (request,) = dhcp_server.messages(target.transmitted())
    assert request.options["requested_addr"] == dhcp_server.LEASED
    target.receive(dhcp_server.answer("ack", xid), summed=False)
    announced = [Ether(frame) for _ in range(8) for frame in target.tick()][-1]
    assert announced[ARP].psrc == dhcp_server.LEASED
    address = target.machine.call("target_address").to_bytes(4, "little")
    assert str(IPv4Address(address)) == dhcp_server.LEASED


@pytest.mark.parametrize(
    ("summed", "sport", "budget"),
    [(True, 40000, 200), (False, 40000, 273), (True, 4711, 200), (False, 4711, 276)],
    ids=[
        "summed while the driver copies",
        "summed by the stack",
        "summed while the driver copies, from a low port",
        "summed by the stack, from a low port",
    ],
)
def test_echo_of_64_bytes_stays_in_its_budget(
    target: Target, summed: bool, sport: int, budget: int
) -> None:
    run = target.receive(ethernet(0x0800, udp(bytes(18), sport=sport)), summed=summed)
    assert len(run.frame) == 60
    assert run.verdict == TRANSMIT
    assert run.input < budget


def test_echo_of_summed_frames_costs_the_same_at_every_length(target: Target) -> None:
    costs = {
        target.receive(ethernet(0x0800, udp(bytes(size))), summed=True).input
        for size in (18, 100, 470, 1472)
    }
    assert len(costs) == 1


def test_summing_costs_little_over_an_instruction_a_byte(target: Target) -> None:
    short, long = (
        target.receive(ethernet(0x0800, udp(bytes(size))), summed=False) for size in (192, 1472)
    )
    assert long.input - short.input < 1.1 * 1280
    assert long.fill - short.fill < 1.4 * 1280


def test_work_loop_adds_little_to_net_input(target: Target) -> None:
    frame = ethernet(0x0800, udp(bytes(18)))
    alone = target.receive(frame, summed=True).input
    added = {}
    for frames in (1, 9):
        for _ in range(frames):
            packet, _ = target.fill(frame)
            assert target.machine.call("target_give_received", packet)
        added[frames] = target.count("net_service", target.net, frames)[1] - frames * alone
        while packet := target.machine.call("target_take_transmit"):
            assert target.machine.call("target_give_sent", packet)
        target.machine.call("net_service", target.net, 0)
    assert added[1] < 100
    assert (added[9] - added[1]) / 8 < 40, "per frame while more frames wait"


def test_interpreter_refuses_misaligned_and_wild_accesses(target: Target) -> None:
    buffer = target.machine.symbols["target_buffers"]
    with pytest.raises(MachineError, match="misaligned load of 2 bytes"):
        target.machine.call("checksum_sum", buffer + 1, 2)
    with pytest.raises(MachineError, match="where nothing is"):
        target.machine.call("checksum_sum", 0x7000_0000, 64)


def test_stack_needs_nothing_but_memory_functions(elf: Path, tmp_path: Path) -> None:
    """Not the C library, nor the multiply and divide helpers of libgcc."""
    needed, defined = set(), set()
    for index, source in enumerate(net_sources()):
        output = tmp_path / f"{index}.o"
        run_compiler([f"{TARGET}gcc", *FLAGS, *WARNINGS, "-c", source, "-o", output])
        listing = subprocess.run(
            [f"{TARGET}nm", output], capture_output=True, text=True, check=True
        ).stdout
        for kind, symbol in re.findall(r"(\w) (\w+)$", listing, re.MULTILINE):
            (needed if kind == "U" else defined).add(symbol)
    assert needed - defined <= {"memcpy", "memset"}


def report(elf: Path) -> str:
    """The figures of the echo path as text."""
    lines = []
    for name, frame in {
        **{f"UDP echo, {n} bytes": ethernet(0x0800, udp(bytes(n))) for n in (0, 18, 470, 1472)},
        "ping, 56 bytes": icmp_echo(bytes(56)),
        "ARP request": arp_request(),
        "UDP, no socket": ethernet(0x0800, udp(bytes(18), dport=ECHO_PORT + 1)),
    }.items():
        runs = [Target(elf).receive(frame, summed=summed) for summed in (True, False)]
        lines.append(
            f"{name:20} fill {runs[0].fill:5}  net_input {runs[0].input:5} summed"
            f" {runs[1].input:5} not summed"
        )
    return "\n".join(lines)
