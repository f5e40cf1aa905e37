"""The terminal server compiled for RV32IM: what a character, and a port that waits, cost."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_build import BUILD, ROOT, TESTS, WARNINGS, net_sources, run_compiler, write_headers
from rv32 import Machine
from serial_headers import serial_headers
from test_net_target import FLAGS, TARGET

from tierv.soc.serial.params import SerialParams

PORTS, DEPTH = 16, 256
#: Where memory begins, and behind it registers.
RAM, RAM_BYTES = 0x2000_0000, 0x10_0000
DEVICES = RAM + RAM_BYTES


def build_target(*, driver_sums: bool) -> Path:
    params = SerialParams(
        sys_clk_hz=100_000_000,
        baud=921_600,
        ports=PORTS,
        receive_depth=DEPTH,
        transmit_depth=DEPTH,
    )
    headers = serial_headers(params, first_line=0, mac_line=PORTS)
    headers["csr"] = {
        name: value + DEVICES * name.endswith("_ADDR") for name, value in headers["csr"].items()
    }
    folders = [TESTS, ROOT / "firmware", write_headers("terminal_target", **headers)]
    program = BUILD / f"terminal_target_{int(driver_sums)}.elf"
    own = [ROOT / "firmware" / "apps" / "terminal" / f"{name}.c" for name in ("packer", "levels")]
    link = ["-nostdlib", "-Wl,-e,target_init", "-Wl,--no-warn-rwx-segments"]
    link += [f"-Wl,--defsym=__ram={RAM},--defsym=__ram_size={RAM_BYTES}"]
    link += [f"-Wl,--section-start=.devices={DEVICES:#x},--undefined=target_devices", "-lgcc"]
    run_compiler(
        [
            f"{TARGET}gcc",
            *FLAGS,
            *WARNINGS,
            "-fno-tree-loop-distribute-patterns",
            "-DCONTEXT_POLLED",
            f"-DNET_DRIVER_SUMS={int(driver_sums)}",
            "--specs=picolibc.specs",
            *(f"-I{folder}" for folder in folders),
            TESTS / "terminal_target.c",
            TESTS / "target_memory.c",
            *own,
            *net_sources(),
            *link,
            "-o",
            program,
        ]
    )
    return program


@pytest.fixture(scope="module")
def programs() -> dict[bool, Path]:
    return {sums: build_target(driver_sums=sums) for sums in (False, True)}


def start(programs: dict[bool, Path], *, driver_sums: bool = False) -> Machine:
    machine = Machine(programs[driver_sums])
    machine.call("target_init")
    return machine


def count(machine: Machine, function: str, *arguments: int) -> int:
    before = machine.instructions
    machine.call(function, *arguments)
    return machine.instructions - before


@pytest.mark.parametrize(("driver_sums", "budget"), [(False, 23.5), (True, 22)])
def test_what_three_received_characters_cost(programs, driver_sums, budget):
    machine = start(programs, driver_sums=driver_sums)
    few, many = (count(machine, "target_receive", port, 100 + 120 * port) for port in range(2))
    assert (many - few) / (120 // 3) <= budget


def test_what_three_characters_of_a_datagram_cost(programs):
    machine = start(programs)
    few, many = (count(machine, "target_send", 0, bytes_) for bytes_ in (300, 600))
    assert (many - few) / (300 // 3) <= 17


def test_a_port_that_waits_for_its_client_costs_no_look_at_the_others(programs):
    machine = start(programs)
    assert count(machine, "terminal_protocol") < 10
    machine.call("target_set_peer", 0, 0x0A000063)
    for _ in range(2):
        machine.call("target_receive", 0, 100)
        machine.call("target_close", 0)
        machine.call("terminal_protocol")
    for _ in range(2):
        assert count(machine, "terminal_protocol") < 30 * PORTS
