"""E10, E11 and E12: what they compute, and that short runs find what long ones do."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

from tierv.sim.experiments import contention, goodput, rotation
from tierv.sim.experiments.bench import Bench, Build
from tierv.sim.experiments.experiment import Settings
from tierv.sim.stimulus import LineLevel, UartBytes, UartFormat

CLOCK_HZ = 100_000_000


def settings(length: int) -> Settings:
    return Settings(seed=3, clock_hz=CLOCK_HZ, length=length)


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(CLOCK_HZ)


def test_a_port_waits_for_the_services_that_its_place_allows(bench):
    outcome = contention.Contention().run(bench, settings(3), lambda _: None)
    assert outcome.passed
    lost = {(row["build"], row["order"]): row["lost"] for row in outcome.rows}
    usual = contention.ORDER_NAMES[contention.Order.USUAL]
    # The eighth byte behind the call, in each collision.
    assert {key: count for key, count in lost.items() if count} == {
        (Build.SINGLE, usual): 3,
        (Build.BANKED, usual): 3,
    }
    # With one context the port's line interrupts the service that blocks; a tier finishes it.
    tuned = contention.ORDER_NAMES[contention.Order.TUNED]
    waits = {row["build"]: row["wait max (us)"] for row in outcome.rows if row["order"] == tuned}
    assert waits[Build.SINGLE] < 2
    assert 490 < waits[Build.BANKED] <= 500


def test_a_service_that_should_take_less_than_its_overhead_ends(bench):
    moments = (contention.CALIBRATION, contention.START)
    result = bench.setup(Build.SINGLE, "contention").run(
        cycles=contention.START + 100_000,
        lines=[LineLevel(cycle, raise_mask=contention.ALL_LINES) for cycle in moments],
        limit_is_error=False,
        get=["blocker_services"],
    )
    assert result.results[0] > 1, "the usual blocker_cycles"
    assert np.frombuffer(result.values["blocker_services"], "<u4").tolist() == [2] * 4


def test_a_wait_or_a_loss_out_of_line_fails():
    def holds(order: contention.Order, shortest: float, longest: float, lost: int) -> bool:
        row = {"wait min (us)": shortest, "wait max (us)": longest, "lost": lost}
        return contention._holds(contention._Case(Build.BANKED, order), row)

    order = contention.Order
    assert holds(order.USUAL, 1309.1, 1310.9, 1)
    assert not holds(order.USUAL, 1308.9, 1310.9, 1)
    assert not holds(order.USUAL, 1309.1, 1311.1, 1)
    assert not holds(order.USUAL, 1309.1, 1310.9, 0)
    assert holds(order.TUNED, 0, 500, 0)
    assert not holds(order.TUNED, 0, 500.1, 0)
    assert not holds(order.TUNED, 0, 499, 1)
    assert not holds(order.OWN_TIER, 0, 1.1, 0)


def test_the_definition_of_two_8259s_gives_the_tables_worked_out_by_hand():
    for form, table in rotation.FORMS.items():
        master, *slave = map(int, form.split())
        assert rotation.rotated(master, *(slave or [14])) == table


def test_a_wrong_priority_of_a_form_is_counted():
    table = rotation.rotated(3, 14)
    lines = {4: 15 - table[4], 8: 15 - table[8], 20: 0}
    assert rotation._Answer(table, lines).errors(table) == 0
    assert rotation._Answer(table[::-1], lines).errors(table) == 16
    assert rotation._Answer(table, {**lines, 8: 0}).errors(table) == 1


def test_the_firmware_answers_the_forms_of_the_faq(bench):
    outcome = rotation.Rotation().run(bench, settings(1), lambda _: None)
    assert outcome.passed
    assert {row["irqtune"] for row in outcome.rows} == set(rotation.FORMS)


def test_packets_carry_their_number_and_a_good_checksum():
    packet = goodput._packet(0x0102, random.Random(1))
    assert len(packet) == goodput._PACKET_BYTES
    assert packet[:2] == b"\x01\x02"
    total = int(np.frombuffer(packet, ">u2").sum())
    assert total % 0xFFFF == 0


def test_lock_outs_come_as_often_as_they_should_and_never_overlap():
    case = goodput._Case(Build.BANKED, contention.Order.USUAL, 100)
    lines, items, counts, _ = goodput._stimulus(4, case, settings(20))
    rises = [line.cycle for line in lines if isinstance(line, LineLevel)][1:]
    assert len(rises) == pytest.approx(20 * 100, rel=0.15)
    assert min(np.diff(rises)) >= sum(contention.BLOCKING_US) * goodput._CLOCK_HZ / 1e6
    assert [item.port for item in items] == [1, 2, 3, 4]
    # The line is full: 2,880 bytes a second.
    for item, count in zip(items, counts, strict=True):
        assert len(item.data) == pytest.approx(20 * goodput.LINE_RATE, rel=0.02)
        assert item.data.count(0xC0) == 2 * count


def test_a_port_whose_ring_was_full_receives_the_packets_behind_it(bench):
    form = UartFormat(10_000_000)
    flood, begin = 4_000, contention.START
    end = begin + flood * 10 * round(CLOCK_HZ / form.baud)
    packet = goodput.encode_slip(goodput._packet(7, random.Random(1)))
    for setup in bench.setups("goodput", (Build.BANKED, Build.SINGLE)).values():
        ports = range(setup.simulation.model.params.soc.uarts)
        uart = [UartBytes(1 + port, bytes(flood), begin, form) for port in ports]
        uart += [UartBytes(1 + port, packet, end + 100_000 * (1 + port), form) for port in ports]
        result = setup.run(
            cycles=end + 100_000 * (2 + len(ports)),
            uart=uart,
            lines=[LineLevel(contention.CALIBRATION, raise_mask=contention.ALL_LINES)],
            limit_is_error=False,
            set={"baud": round(form.baud)},
            get=["arrived"],
        )
        table = np.frombuffer(result.values["arrived"], np.uint8).reshape(len(ports), -1)
        assert table[:, 7].all()


@pytest.mark.parametrize(
    ("usual", "tuned", "rate", "passed"),
    [
        ((780, 530, 2), 2_650, 20, True),
        ((690, 530, 2), 2_650, 10, True),
        ((690, 530, 2), 2_499, 10, False),
        # Never as bad as published, and the gain too small.
        ((2_000, 1_500, 800), 2_650, 100, False),
    ],
)
def test_goodput_is_compared_where_the_usual_order_is_as_bad_as_published(
    monkeypatch, bench, usual, tuned, rate, passed
):
    found = dict(zip(goodput._LOCK_OUTS_PER_S, usual, strict=True))

    def measure(_setup, case, _settings):
        is_usual = case.order is contention.Order.USUAL
        return {
            "goodput (bytes/s)": found[case.lock_outs] if is_usual else tuned,
            "of the line (%)": 100,
        }

    monkeypatch.setattr(goodput, "_measure", measure)
    monkeypatch.setattr(bench, "setups", lambda *_: dict.fromkeys(Build))
    outcome = goodput.Goodput().run(bench, settings(1), lambda _: None)
    assert outcome.headline["S lock-outs a second"] == rate
    assert outcome.passed is passed


@pytest.mark.parametrize(("received", "overruns", "right"), [(37, 1, True), (38, 1, False)])
def test_bytes_that_are_missing_are_those_that_the_ports_counted(received, overruns, right):
    waits = np.array([131_000, 131_050] + [0] * 4_094, "<u4").tobytes()
    values = {"waits": waits, "received": received, "overruns": overruns}
    found = SimpleNamespace(results={0: 12, 1: 0}, values=values)
    setup = SimpleNamespace(run=lambda **_: found)
    case = contention._Case(Build.BANKED, contention.Order.USUAL)
    if not right:
        with pytest.raises(ValueError, match="0 bytes are missing, and 1 were counted"):
            contention._measure(setup, case, settings(2))
        return
    row = contention._measure(setup, case, settings(2))
    assert (row["wait min (us)"], row["wait max (us)"], row["lost"]) == (1310, 1310.5, 1)
