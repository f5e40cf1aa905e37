"""A LIN node of the firmware on the host, and the same node by its definition."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from host_build import ROOT, TESTS, Program, build, hex_bytes
from lin_reference import Character, Did, Frame, Node, Tick

from tierv.sim.host.lin import Outcome

SEND, HEADER, STOP, REPORT = 0x100, 0x200, 0x400, 0x800
PUBLISH, SUBSCRIBE = 1, 2
CLASSIC, ONCE = 1, 2
NO_BIT = NO_IDENTIFIER = 0xFF
#: ``lin_result_t``.
OK, NO_SUCH_FRAME, BAD_IDENTIFIER, IN_USE, FULL, BAD_LENGTH, BAD_BIT, BAD_SLOT, NOT_COMMANDER = (
    range(9)
)

#: Serial ports of the board.
UARTS = 4
#: 19,200 bit/s at 100 MHz.
BIT_CYCLES, US_CYCLES = 5208, 100
#: Outcomes that have an identifier.
WITH_IDENTIFIER = set(Outcome) - {Outcome.BAD_HEADER, Outcome.ASLEEP, Outcome.AWAKE}


@dataclass(frozen=True)
class Echo:
    """The byte that was to be sent last comes back, with some bits the other way round."""

    mask: int
    flags: int
    cycle: int


Event = Character | Tick | Echo


def build_lin() -> Path:
    """The program under the sanitizers."""
    lin = sorted((ROOT / "firmware/apps/lin").glob("*.c"))
    pure = [
        path
        for path in lin
        if path.name in {"node.c", "task.c", "commander.c", "diagnostic.c", "host.c"}
    ]
    sources = [TESTS / "lin_driver.c", TESTS / "text.c", *pure]
    return build("lin_driver", sources, defines=[f"UARTS={UARTS}"])


def _text(event: Event) -> str:
    cycle = event.cycle & 0xFFFFFFFF
    if isinstance(event, Tick):
        return f"t{cycle:x}"
    if isinstance(event, Echo):
        return f"e{event.mask:x}.{event.flags:x}.{cycle:x}"
    return f"r{event.byte:x}.{event.flags:x}.{cycle:x}"


def _did(words: list[str]) -> Did:
    actions = int(words[1], 16)
    byte = actions & 0xFF
    did = Did(stop=bool(actions & STOP))
    if actions & SEND:
        did.send = byte
    if actions & HEADER:
        did.header = byte
    if actions & REPORT:
        outcome, identifier, length, _, data = words[2].split(".")
        content = hex_bytes(data)
        assert len(content) == int(length)
        kind = Outcome(int(outcome))
        number = int(identifier, 16) if kind in WITH_IDENTIFIER else None
        did.report = (kind, number, content)
    return did


def comparable(did: Did) -> Did:
    """Without the identifier of an outcome that has none."""
    if did.report is not None and did.report[0] not in WITH_IDENTIFIER:
        did.report = (did.report[0], None, did.report[2])
    return did


class LinHost:
    """The firmware's node. Methods are those of ``firmware/apps/lin/node.h``."""

    def __init__(self, program: Path) -> None:
        self._program = Program(program, end=".")

    def command(self, *words: object) -> list[str]:
        """Runs one command of lin_driver.c."""
        return self._program.command(" ".join(map(str, words)))

    def result(self, *words: object) -> int:
        """The lin_result_t of a command."""
        return int(self.command(*words)[0])

    def init(self, *, commander: bool = False, bit_cycles: int = BIT_CYCLES) -> None:
        """Begins anew."""
        self.command("init", int(commander), bit_cycles, US_CYCLES)

    def add(self, identifier: int, frame: Frame) -> int:
        """Adds a frame."""
        flags = CLASSIC * frame.classic | ONCE * frame.once
        bit = NO_BIT if frame.error_bit is None else frame.error_bit
        direction = PUBLISH if frame.publishes else SUBSCRIBE
        return self.result("add", identifier, direction, frame.length, flags, bit)

    def write(self, identifier: int, data: bytes) -> int:
        """Writes the data of a frame that is published."""
        return self.result("write", identifier, data.hex() or "-")

    def read(self, identifier: int) -> tuple[int, bytes]:
        """How often the frame's data were written, and the latest."""
        result, written, data = self.command("read", identifier)[0].split()
        assert int(result) == OK
        return int(written), hex_bytes(data)

    def feed(self, *events: Event) -> list[Did]:
        """What each event led to."""
        answers = [Did() for _ in events]
        for line in self.command("feed", ",".join(map(_text, events))) if events else []:
            words = line.split()
            answers[int(words[0])] = _did(words)
        return answers

    def counts(self) -> dict[str, int]:
        """Counters that are not 0."""
        names = ["headers", "unanswered", "late", *(outcome.name for outcome in Outcome)]
        values = map(int, self.command("counters")[0].split())
        return {name: value for name, value in zip(names, values, strict=True) if value}

    def diagnose(self, request: bytes) -> tuple[bytes | None, int]:
        """The response to a diagnostic request, and the NAD afterwards."""
        response, nad = self.command("diagnose", request.hex())
        return None if response == "-" else bytes.fromhex(response), int(nad, 16)

    def close(self) -> None:
        """Ends the program; fails if it leaked."""
        self._program.close()


def feed_reference(node: Node, events: list[Event]) -> list[Did]:
    """The same events to the definition."""
    last = 0
    answers = []
    for event in events:
        if isinstance(event, Echo):
            event = Character(event.mask ^ last, event.flags, event.cycle)
        did = node.feed(event)
        if did.send is not None:
            last = did.send
        answers.append(did)
    return answers
