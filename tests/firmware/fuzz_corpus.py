"""Inputs of the fuzz targets: made here of named frames, or found by fuzzing; in one file a target.

A file of ``fuzz/corpus`` has a line for each input, its name and its bytes in hexadecimal.
"""

from __future__ import annotations

from pathlib import Path

from dhcp_server import SERVER, answer
from host_build import PORT_SOURCES, ROOT, net_sources
from net_frames import (
    ALL_HOSTS,
    PEER,
    QUERY,
    REPORT,
    arp_request,
    ethernet,
    frames_of_every_kind,
    igmp,
    udp,
)
from net_host import ADDRESS, MAC
from net_malformed import MALFORMED

from tierv.sim.host import protocol

FUZZ = Path(__file__).parent / "fuzz"
#: Longer frames say nothing that a rule of their length does not.
LONGEST_FRAME = 700

# fuzz/wire.c
ETHERNET, ARP, IPV4, UDP, ICMP, IGMP, DHCP = range(7)
# fuzz/input.c
FRAME, FRAME_TO_US, TICK, TAKE, SEND, RELEASE, SWITCH, STALL = range(8)
FIX_SUMS, FIX_XID, SUMMED, CHECKED = 0x08, 0x10, 0x20, 0x40
REUSE, COPY, OFFSET_SHIFT = 0x20, 0x40, 3
REPLY, REWRITE = 0x08, 0x10
# fuzz/dhcp.c
SWITCHED, DISPUTED = 1 << 4, 1 << 5


def targets() -> list[str]:
    """The fuzz targets: each is ``fuzz/<name>.c``."""
    return sorted(path.stem for path in FUZZ.glob("*.c") if path.stem != "replay")


def sources(target: str) -> list[Path]:
    """The C files of a target: its own, and the firmware's that it needs."""
    own = FUZZ / f"{target}.c"
    if target != "services":
        return [own, *PORT_SOURCES, *net_sources()]
    apps = ROOT / "firmware" / "apps"
    names = (
        "command",
        "irqtune/request",
        "irqtune/rotation",
        "terminal/control",
        "terminal/command",
    )
    return [own, *(apps / f"{name}.c" for name in names)]


def read(target: str) -> dict[str, bytes]:
    """The committed inputs of a target, by name."""
    lines = (FUZZ / "corpus" / f"{target}.txt").read_text().splitlines()
    return {name: bytes.fromhex(digits) for name, digits in (line.split("\t") for line in lines)}


def write(target: str, inputs: dict[str, bytes]) -> None:
    """Makes these the committed inputs of a target."""
    lines = [f"{name}\t{data.hex()}\n" for name, data in inputs.items()]
    (FUZZ / "corpus" / f"{target}.txt").write_text("".join(lines))


def seeds(target: str) -> dict[str, bytes]:
    """The inputs that are made, by name."""
    return {"wire": _wire, "input": _input, "dhcp": _dhcp, "services": _services}[target]()


def _frames() -> dict[str, bytes]:
    frames = frames_of_every_kind() | {name: frame for name, (frame, _) in MALFORMED.items()}
    return {name: frame for name, frame in frames.items() if len(frame) <= LONGEST_FRAME}


def _dhcp_messages() -> dict[str, bytes]:
    return {f"DHCP {kind}": answer(kind, 1) for kind in ("offer", "ack", "nak")}


def _wire() -> dict[str, bytes]:
    inputs = {"empty": b""}
    for name, frame in _frames().items():
        inputs[f"Ethernet: {name}"] = bytes([ETHERNET]) + frame
        kind, content = frame[12:14], frame[14:]
        if kind == b"\x08\x06":
            inputs[f"ARP: {name}"] = bytes([ARP]) + content
        if kind != b"\x08\0":
            continue
        inputs[f"IPv4: {name}"] = bytes([IPV4]) + content
        parser = {1: ICMP, 2: IGMP, 17: UDP}.get(content[9]) if len(content) > 20 else None
        if parser is not None:
            inputs[f"payload: {name}"] = bytes([parser]) + content[(content[0] & 15) * 4 :]
    for name, frame in _dhcp_messages().items():
        inputs[name] = bytes([DHCP]) + frame[42:]
    return inputs


def _frame(frame: bytes, how: int = 0) -> bytes:
    return bytes([FRAME | how]) + len(frame).to_bytes(2, "little") + frame


def _input() -> dict[str, bytes]:
    inputs = {name: _frame(frame) for name, frame in _frames().items()}
    lease = bytes([SWITCH, 0, TICK, 10])
    for kind in ("offer", "ack"):
        lease += _frame(answer(kind, 0), FIX_XID | FIX_SUMS)
    lease += bytes([TICK, 6])
    inputs["DHCP: lease"] = lease
    inputs["DHCP: renewal"] = lease + bytes([TICK, 255] * 4)
    inputs["DHCP: refusal"] = lease[: 4 + 3 + len(answer("offer", 0))] + _frame(
        answer("nak", 0), FIX_XID | FIX_SUMS
    )
    inputs["DHCP: address in use"] = lease[:-2] + _frame(arp_request(psrc="192.0.2.77"))
    inputs["DHCP: given back"] = lease + bytes([SWITCH, 1, TICK, 2])
    inputs["DHCP: no server"] = bytes([SWITCH, 0, TICK, 200])
    question = _frame(ethernet(0x0800, udp(b"question", dport=4)))
    ask = bytes([SEND, 0, 2, 20, 0])
    known = _frame(arp_request())
    reply = _frame(arp_request(op=2, hwdst=MAC, to=MAC))
    inputs["UDP: answer in the packet"] = known + question + bytes([TAKE, 0, SEND | REUSE, 0, 2])
    for name, how in (("as it came", 0), ("rewritten", REWRITE), ("too long", REWRITE | 0xE0)):
        inputs[f"UDP: reply {name}"] = question + bytes([TAKE, 0, RELEASE | REPLY | how])
    inputs["UDP: reply by the callback"] = _frame(ethernet(0x0800, udp(b"question", dport=8)))
    for offset in range(4):
        how = SEND | COPY | offset << OFFSET_SHIFT
        copies = b"".join(bytes([how, 0, 2, size & 255, size >> 8]) for size in (1, 77, 1473))
        inputs[f"UDP: copied from offset {offset}"] = known + copies
    inputs["UDP: inbox full"] = question * 20 + bytes([TAKE, 0, RELEASE])
    inputs["ARP: waits and is sent"] = ask + reply
    inputs["ARP: waits in vain"] = ask * 3 + bytes([TICK, 5])
    inputs["ARP: ages"] = known + ask + bytes([TICK, 60]) + reply + bytes([TICK, 130])
    inputs["ARP: table full"] = b"".join(bytes([SEND, 0, host, 9, 0]) for host in range(2, 16))
    inputs["ARP: conflict"] = _frame(arp_request(psrc=ADDRESS)) * 3 + bytes([TICK, 20])
    inputs["driver stalled"] = bytes([STALL]) + (known + question) * 5 + bytes([STALL])
    joined = bytes([SWITCH, 3, TICK, 12])
    group = "239.1.2.3"
    inputs["IGMP: joined, asked, left"] = (
        joined + _frame(igmp(QUERY)) + bytes([TICK, 11, SWITCH, 4])
    )
    inputs["IGMP: another reports"] = (
        joined + _frame(igmp(QUERY, group, dst=group)) + _frame(igmp(REPORT, group, dst=group))
    )
    inputs["IGMP: version 1"] = joined + _frame(igmp(QUERY, tenths=0)) + bytes([TICK, 250] * 2)
    inputs["ICMP: flood to a closed port"] = _frame(ethernet(0x0800, udp(b"x", dport=99))) * 12
    inputs["summed by the driver"] = b"".join(
        _frame(frame, SUMMED) for frame in frames_of_every_kind().values()
    )
    inputs["checked by the hardware"] = b"".join(
        _frame(frame, SUMMED | CHECKED) for frame in frames_of_every_kind().values()
    )
    inputs["no address"] = bytes([SWITCH, 2]) + known + _frame(igmp(QUERY, dst=ALL_HOSTS))
    return inputs


def _say(options: bytes, wrong: int = 0, last: int = 77) -> bytes:
    return bytes([0x80 | len(options), wrong, last]) + options


def _dhcp() -> dict[str, bytes]:
    server = bytes([54, 4, *(int(part) for part in SERVER.split("."))])
    times = bytes([51, 4, 0, 0, 0, 200])
    end = b"\xff"
    offer, ack, nak = (bytes([53, 1, kind]) + server + times + end for kind in (2, 5, 6))
    lease = bytes([10]) + _say(offer) + bytes([2]) + _say(ack) + bytes([5])
    brief = bytes([53, 1, 5]) + server + bytes([51, 4, 0, 0, 0, 3]) + end
    subnet = bytes([1, 4, 255, 255, 255, 0, 3, 4, 192, 0, 2, 254])
    return {
        "nobody answers": bytes([127, 127]),
        "lease that ends": lease + bytes([127, 127]),
        "lease that is renewed": lease + bytes([100]) + _say(subnet + ack) + bytes([127]),
        "lease shorter than its probes": bytes([10]) + _say(offer) + _say(brief) + bytes([9]),
        "lease that is over when renewed": lease + bytes([115]) + _say(brief) + bytes([1]),
        "lease that is refused": lease + bytes([100]) + _say(nak) + bytes([10]),
        "lease from another server": lease + bytes([127, 50]) + _say(ack) + bytes([1]),
        "address in use": bytes([10]) + _say(offer) + _say(ack) + _say(b"", DISPUTED),
        "address given up": lease + _say(b"", DISPUTED) * 2 + bytes([20]),
        "given back": lease + _say(b"", SWITCHED, 0) + bytes([3]) + _say(b"", SWITCHED, 1),
        **{
            f"wrong bit {bit}": bytes([10]) + _say(offer, 1 << bit) + _say(ack, 1 << bit)
            for bit in range(4)
        },
        "peer": PEER.encode(),
    }


def _control(port: int, *commands: tuple[int, bytes]) -> bytes:
    content = b"".join(bytes([code, len(value)]) + value for code, value in commands)
    request = bytes([protocol.VERSION, port, 7]) + content
    return bytes([9, 200]) + len(request).to_bytes(2, "little") + request


def _services() -> dict[str, bytes]:
    numbers = (b"", b"\x01", b"\x01\x02", bytes([0, 1, 0xC2, 0]), bytes(6))
    inputs = {
        f"control: command {code}": b"\0" + b"".join(_control(0, (code, v)) for v in numbers)
        for code in (*range(1, 13), *range(100, 125))
    }
    inputs["control: no such port"] = b"\0" + _control(2, (1, b"")) + _control(9, (1, b""))
    inputs["control: value longer than the request"] = b"\0" + _control(0)[:-1] + b"\x01\xff"
    for line in (
        "",
        "help",
        "irqtune",
        "irqtune -n 3 12",
        "irqtune uart0=tier2:15 ethmac=:3",
        "irqtune -o",
        "irqtune --suggest --apply",
        "irqtune " + "a" * 90,
        "number 0x12",
        "number 4294967296",
        "nonsense " * 9,
    ):
        inputs[f"command: {line}"] = b"\x01" + line.encode()
    return inputs
