"""The performance monitors and the worst latency, against what the observer saw."""

from __future__ import annotations

import itertools

import cocotb
import encoding as rv
from bench import Bench
from programs import CSR, MSI, bits, finish, place, read, start, waiting_loop, write

A, B, C, COUNT = 6, 7, 8, 9
LOCAL = 10
#: By how much time leaps while a tier is kept from running; then 0 to 3 cycles pass.
LEAPS = (0, 0x1554, 0x0AA8, 0x2AA8, 0x5550, 0x40, 0xAAA0, 0x10000, 1)


def counted(bench: Bench, cleared: int, read_at: int, tier: int = 0) -> range:
    """Cycles of the events between two instructions of a tier, at these addresses, on a counter."""
    retired = {r.pc: r.cycle for r in bench.seen.of(tier)}
    # An event is counted two cycles later.
    return range(retired[cleared] - 2, retired[read_at] - 2)


def awake_cycles(bench: Bench, tier: int, wfi: int) -> set[int]:
    """When the tier does not wait at the address, where it has waited for the first time."""
    waits = [r.cycle for r in bench.seen.of(tier) if r.pc == wfi]
    wakes = [0, *(cycle for cycle, woken in bench.seen.wakes if woken == tier)]
    assert len(wakes) > 6
    awake = set()
    for wake in wakes:
        ends = [cycle for cycle in waits if cycle > wake]
        awake |= set(range(wake, ends[0] + 1 if ends else bench.cycle))
    return awake


@cocotb.test()
async def owned_filled_and_switches_count_what_happened_to_each_tier(dut):
    bench = Bench(dut)
    tiers = range(bench.params.tiers)
    top = tiers[-1]
    names = ("mhpmcounter3", "mhpmcounter4", "mhpmcounter5")
    clears, reads, waits = {}, {}, {}

    def clear(tier: int, code: list[int]) -> list[int]:
        first = place(bench, tier) + 4 * len(code)
        clears.update({(tier, name): first + 4 * n for n, name in enumerate(names)})
        return [*code, *(rv.csr("csrrw", 0, CSR[name], 0) for name in names)]

    def show(tier: int, code: list[int]) -> list[int]:
        first = place(bench, tier) + 4 * len(code)
        reads.update({(tier, name): first + 8 * n for n, name in enumerate(names)})
        show = [(read(name, A), rv.store("sw", A, LOCAL, 4 * n)) for n, name in enumerate(names)]
        return [*code, *itertools.chain(*show)]

    for tier in tiers[1:]:
        prologue = clear(tier, rv.li(LOCAL, bench.params.dmem.base + 16 * tier))
        body = [rv.r_type("div", A, B, B), rv.branch("bne", LOCAL, 0, 8), rv.NOP]
        ahead = waiting_loop(body, lines=1 << tier, prologue=prologue)[:-1]
        waits[tier] = place(bench, tier) + 4 * ahead.index(rv.WFI)
        code = show(tier, ahead)
        back = waits[tier] - place(bench, tier) - 4 * len(code)
        bench.load(place(bench, tier), [*code, rv.jal(0, back)])
    code = []
    for tier in reversed(tiers[1:]):
        code += [*start({tier: place(bench, tier)}), *[rv.NOP] * 60]
    code = clear(0, [*code, *rv.li(LOCAL, bench.params.dmem.base)])
    loop = [*[rv.r_type("mul", A, A, A)] * 6, rv.addi(COUNT, COUNT, -1)]
    code += [*rv.li(COUNT, 150), *loop, rv.branch("bne", COUNT, 0, -4 * len(loop))]
    bench.load(place(bench, 0), [*show(0, code), *finish()])
    await bench.reset()

    def lines() -> None:
        bench.lines = sum(
            1 << tier
            for tier in tiers[1:]
            if 400 < bench.cycle < 1400 and bench.cycle % (70 + 30 * tier) < 3
        )

    bench.each_cycle.append(lines)
    await bench.run()

    issues = {i.cycle: i.tier for i in bench.seen.issues}
    ordered = sorted(issues)
    before = dict(zip(ordered[1:], ordered, strict=False))
    awake = [set(range(bench.cycle))]
    awake += [awake_cycles(bench, tier, waits[tier]) for tier in tiers[1:]]

    def owner(cycle: int) -> int:
        return max(tier for tier in tiers if cycle in awake[tier])

    for tier in tiers:
        happened = (
            lambda cycle, tier=tier: owner(cycle) == tier,
            lambda cycle, tier=tier: issues.get(cycle) == tier < owner(cycle - 1),
            lambda cycle, tier=tier: issues.get(cycle) == tier != issues[before[cycle]],
        )
        for number, (name, event) in enumerate(zip(names, happened, strict=True)):
            window = counted(bench, clears[tier, name], reads[tier, name], tier)
            expected = sum(map(event, window))
            assert expected > 3 or (tier == top and event == happened[1])
            shown = bench.peek(bench.params.dmem.base + 16 * tier + 4 * number)
            assert shown == expected, f"{name} of tier {tier}: {shown}, not {expected}"


@cocotb.test()
async def counters_can_be_set_and_have_forty_bits(dut):
    bench = Bench(dut)
    code = rv.li(LOCAL, bench.params.dmem.base)
    for number in (3, 4, 5):
        name = f"mhpmcounter{number}"
        code += [*write(f"{name}h", 0xFFFF_FFFF), *write(name, 0xFFFF_FF00)]
        code += [read(f"{name}h", A), rv.store("sw", A, LOCAL, 8 * number)]
        code += [read(name, A), rv.store("sw", A, LOCAL, 8 * number + 4)]
    await bench.execute([*code, *finish()])
    for number in (3, 4, 5):
        high = bench.peek(bench.params.dmem.base + 8 * number)
        low = bench.peek(bench.params.dmem.base + 8 * number + 4)
        assert high == 0xFF
        assert 0xFFFF_FF00 <= low < 0xFFFF_FF20
        # Nothing is filled and nothing switches with a single tier.
        assert number == 3 or low == 0xFFFF_FF00


@cocotb.test()
async def every_bit_of_a_counter_can_be_set_and_cleared_without_another_one(dut):
    bench = Bench(dut)
    base = bench.params.dmem.base
    # Of tier 0 alone, mcycle and monitor 3 count a few hundred cycles, the others nothing.
    counting, counted = ("mcycle", "mhpmcounter3"), 0xFFF
    patterns = (0x5A5A_525A, 0xA5A5_A1A5, 0x5A5A_52A5, 0xA5A5_A15A)
    for pattern, wait in itertools.product(patterns, range(2)):
        code = [*rv.li(LOCAL, base), *rv.li(A, pattern), *[rv.NOP] * wait]
        names = [f"mhpmcounter{number}{half}" for number in (3, 4, 5) for half in ("h", "")]
        names += ["mcycleh", "mcycle"]
        for name in names:
            code += write(name, 0)
        for name in names:
            code.append(rv.csr("csrrs", 0, CSR[name], A))
        reads = [read(name, B) for name in names]
        stores = [rv.store("sw", B, LOCAL, 4 * n) for n in range(2 * len(names))]
        code += [word for pair in zip(reads, stores, strict=False) for word in pair]
        code += [rv.NOP] * wait
        for name in names:
            code.append(rv.csr("csrrc", 0, CSR[name], A))
        later = stores[len(names) :]
        code += [word for pair in zip(reads, later, strict=True) for word in pair]
        await bench.execute([*code, *finish()])
        for number, name in enumerate(names):
            forty_bits = name.startswith("mhpm") and name.endswith("h")
            expected = pattern & 0xFF if forty_bits else pattern
            noise = counted if name in counting else 0
            was_set = bench.peek(base + 4 * number)
            was_cleared = bench.peek(base + 4 * (len(names) + number))
            assert was_set & ~noise == expected & ~noise, name
            assert was_cleared & ~noise == 0, name


@cocotb.test()
async def setting_and_clearing_no_bit_costs_a_counter_the_same_whatever_it_holds(dut):
    bench = Bench(dut)
    base = bench.params.dmem.base
    for operation in ("csrrs", "csrrc"):
        code = [*rv.li(LOCAL, base), rv.addi(A, 0, 0)]
        for number in range(16):
            code += [*[rv.NOP] * (number % 5), rv.csr(operation, 0, CSR["mhpmcounter3"], A)]
            code += [read("mcycle", B), read("mhpmcounter3", C), rv.r_type("sub", B, B, C)]
            code.append(rv.store("sw", B, LOCAL, 4 * number))
        await bench.execute([*code, *finish()])
        differences = [bench.peek(base + 4 * number) for number in range(16)]
        assert len({b - a for a, b in itertools.pairwise(differences)}) == 1, differences


@cocotb.test()
async def no_event_is_lost_to_instructions_that_name_a_counter(dut):
    bench = Bench(dut)
    base = bench.params.dmem.base
    address = CSR["mhpmcounter4"]
    for kind in (
        [rv.NOP],
        [rv.addi(A, A, address - (1 << 12))],
        [read("mhpmcounter4", A)],
        [read("mhpmcounter4", A), rv.addi(A, A, address - (1 << 12))],
    ):
        body = kind * (400 // len(kind))
        code = [*rv.li(LOCAL, base), *write("mhpmcounter3", 0), read("mcycle", B), *body]
        code += [read("mcycle", C), read("mhpmcounter3", A), rv.r_type("sub", C, C, B)]
        code += [rv.store("sw", A, LOCAL, 0), rv.store("sw", C, LOCAL, 4)]
        await bench.execute([*code, *finish()])
        counted, passed = bench.peek(base), bench.peek(base + 4)
        assert abs(counted - passed) < 10, kind


@cocotb.test()
async def no_switch_is_lost_to_tiers_that_read_counters_on_end(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    access = rv.store("sw", 0, LOCAL, 16)
    count = read("mhpmcounter4", A)
    counter = CSR["mhpmcounter5"]
    # Behind an access of the one, the other has a slot.
    for body in ([access], [access, count]):
        shares = [*rv.li(LOCAL, bench.params.dmem.base), *write("mbusmode", 0b10)]
        bench.load(place(bench, top), [*shares, *body * 150, rv.WFI])
        code = [*rv.li(LOCAL, bench.params.dmem.base), rv.csr("csrrw", 0, counter, 0)]
        clear = place(bench, 0) + 4 * (len(code) - 1)
        code += [*start({top: place(bench, top)}), *[count] * 300, read("mhpmcounter5", A)]
        reads = place(bench, 0) + 4 * (len(code) - 1)
        await bench.execute([*code, rv.store("sw", A, LOCAL, 0), *finish()])

        issued = sorted((i.cycle, i.tier) for i in bench.seen.issues)
        window = counted(bench, clear, reads)
        switches = [
            cycle
            for (_, before), (cycle, tier) in itertools.pairwise(issued)
            if tier == 0 and before != 0 and cycle in window
        ]
        assert len(switches) > 140
        assert bench.peek(bench.params.dmem.base) == len(switches)


def leaping(cycles: int) -> list[int]:
    """Adds to mcycle."""
    code = [*rv.li(C, cycles), read("mcycle", COUNT), rv.r_type("add", C, C, COUNT)]
    return [*code, rv.csr("csrrw", 0, CSR["mcycle"], C), rv.NOP]


def check_latencies(shown: list[int], clears: bool) -> None:
    """What mtierlatency showed, cleared each time or not, is longer by leaps and what passes."""
    delays = [leap + number % 4 for number, leap in enumerate(LEAPS)]
    kept = delays if clears else itertools.accumulate(delays, max)
    assert 0 < shown[0] < 100
    assert shown == [min(shown[0] + delay, 0xFFFF) for delay in kept]


@cocotb.test()
async def mtierlatency_is_the_longest_time_from_wake_to_issue(dut):
    bench = Bench(dut)
    bench.load(place(bench, 2), waiting_loop([rv.addi(A, A, 1)] * 25, lines=1))
    body = [read("mtierlatency", A), rv.store("sw", A, LOCAL, 0), rv.addi(LOCAL, LOCAL, 4)]
    prologue = rv.li(LOCAL, bench.params.dmem.base)
    bench.load(place(bench, 1), waiting_loop(body, lines=2, prologue=prologue))
    code = start({1: place(bench, 1), 2: place(bench, 2)})
    bench.load(place(bench, 0), [*code, rv.addi(A, A, 1), rv.jal(0, -4)])
    await bench.reset()
    await bench.step(150)
    worst = 0
    for count, distance in enumerate((40, 0, 10, 3, 1, 20)):
        wake = len(bench.seen.wakes)
        bench.lines = 1
        for cycle in range(40):
            if cycle == distance:
                bench.lines |= 2
            if cycle == 2:
                bench.lines &= ~1
            await bench.step()
        bench.lines |= 2
        await bench.step(2)
        bench.lines = 0
        await bench.step(20)
        (woken,) = [cycle for cycle, tier in bench.seen.wakes[wake:] if tier == 1][:1]
        for woken, tier in bench.seen.wakes[wake:]:
            if tier == 1:
                issued = min(cycle for cycle in bench.seen.issued(1) if cycle > woken)
                worst = max(worst, issued - woken)
        stored = [bench.peek(bench.params.dmem.base + 4 * n) for n in range(64)]
        # Read by the run itself: the last one that is there.
        assert max(stored) == worst, f"{count}: {stored} {worst}"
    assert worst > 20


@cocotb.test()
async def mtierlatency_of_a_tier_that_a_ceiling_holds_back_has_sixteen_bits_and_is_kept(dut):
    bench = Bench(dut)
    base = bench.params.dmem.base
    for tier, clears in itertools.product(range(1, bench.params.tiers), (False, True)):
        wakes = [rv.WFI, rv.csr("csrrc", 0, CSR["mpost"], A), read("mtierlatency", B)]
        wakes += write("mtierlatency", 0) if clears else []
        wakes += [rv.store("sw", B, LOCAL, 0), rv.addi(LOCAL, LOCAL, 4)]
        enables = [*rv.li(LOCAL, base), *rv.li(A, 1 << tier), *write("mie", MSI)]
        bench.load(place(bench, tier), [*enables, *wakes, rv.jal(0, -4 * len(wakes))])
        code = [*start({tier: place(bench, tier)}), *rv.li(A, 1 << tier), *[rv.NOP] * 30]
        for number, leap in enumerate(LEAPS):
            code += [*write("mceiling", tier), rv.csr("csrrs", 0, CSR["mpost"], A)]
            code += [*leaping(leap), *[rv.NOP] * (number % 4), *write("mceiling", 0)]
            code += [rv.NOP] * 15
        await bench.execute([*code, *finish()])
        shown = [bench.peek(base + 4 * n) for n in range(len(LEAPS))]
        check_latencies(shown, clears)


@cocotb.test()
async def mtierlatency_of_each_tier_is_kept_beside_the_others(dut):
    bench = Bench(dut)
    base = bench.params.dmem.base
    tiers = range(1, bench.params.tiers)
    for tier in tiers:
        code = [*rv.li(LOCAL, base + 16 * tier), *rv.li(A, 1 << tier), *write("mie", MSI)]
        code += [rv.WFI, rv.csr("csrrc", 0, CSR["mpost"], A)]
        for number in range(4):
            code += [*[rv.NOP] * (40 + number), read("mtierlatency", B)]
            code += [rv.store("sw", B, LOCAL, 4 * number)]
        bench.load(place(bench, tier), [*code, rv.WFI, rv.jal(0, -4)])
    for held in (8, 20, 45, 100, 150):
        code = [*start({tier: place(bench, tier) for tier in tiers}), *rv.li(A, bits(*tiers))]
        code += [*[rv.NOP] * 50, *write("mceiling", bench.params.tiers - 1)]
        code += [rv.csr("csrrs", 0, CSR["mpost"], A), *[rv.NOP] * held, *write("mceiling", 0)]
        await bench.execute([*code, *[rv.NOP] * 20, *finish()])
        for tier in tiers:
            shown = [bench.peek(base + 16 * tier + 4 * number) for number in range(4)]
            # The more urgent ones run ahead of it.
            assert held <= shown[0] < held + 250 * (bench.params.tiers - tier), (held, tier, shown)
            assert shown == shown[:1] * 4, (held, tier)


@cocotb.test()
async def mtierlatency_is_right_where_the_lower_bits_of_mcycle_begin_anew(dut):
    bench = Bench(dut)
    for tier in range(1, bench.params.tiers):
        wakes = [*rv.li(A, 1 << tier), *write("mie", MSI), rv.WFI]
        bench.load(place(bench, tier), [*wakes, read("mtierlatency", B), *finish(B)])
        shown = []
        for before in (0x1000, 0x1_FFF0):
            code = [*start({tier: place(bench, tier)}), *rv.li(A, 1 << tier), *[rv.NOP] * 30]
            code += [*write("mceiling", tier), *write("mcycle", before)]
            code += [rv.csr("csrrs", 0, CSR["mpost"], A), *[rv.NOP] * 40, *write("mceiling", 0)]
            shown.append(await bench.execute([*code, rv.jal(0, 0)]))
        assert 40 < shown[0] == shown[1], f"tier {tier}: {shown}"


@cocotb.test()
async def mtierlatency_of_the_least_urgent_tier_has_sixteen_bits_and_is_kept(dut):
    bench = Bench(dut)
    base = bench.params.dmem.base
    top = bench.params.tiers - 1
    ready = [*rv.li(LOCAL, base), *write("mie", MSI)]
    code = [*ready, *rv.li(A, 1), *rv.li(B, 1 << top)]
    for number, leap in enumerate(LEAPS):
        # While it divides, tier 0 comes to its wfi.
        code += [rv.WFI, rv.csr("csrrc", 0, CSR["mpost"], B), rv.r_type("div", C, A, B)]
        code += [rv.r_type("div", C, C, B), rv.csr("csrrs", 0, CSR["mpost"], A), *leaping(leap)]
        code += [rv.NOP] * (8 + number % 4)
    bench.load(place(bench, top), [*code, rv.WFI])
    code = [*start({top: place(bench, top)}), *ready, *rv.li(A, 1), *rv.li(B, 1 << top)]
    for number in range(len(LEAPS)):
        code += [*[rv.NOP] * 8, rv.csr("csrrs", 0, CSR["mpost"], B), rv.WFI]
        code += [rv.csr("csrrc", 0, CSR["mpost"], A), read("mtierlatency", C)]
        code.append(rv.store("sw", C, LOCAL, 4 * number))
    await bench.execute([*code, *finish()])
    shown = [bench.peek(base + 4 * n) for n in range(len(LEAPS))]
    check_latencies(shown, clears=False)
