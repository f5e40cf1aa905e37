"""Histograms as cyclictest writes them: its own text is read, and ours too."""

from __future__ import annotations

import statistics

import pytest

from tierv.sim import cyclictest

#: As print_hist() of rt-tests writes it (cyclictest.c), some empty bins left out.
CYCLICTEST = """\
# /dev/cpu_dma_latency set to 0us
# Histogram
000000 000000	000000
000003 000004	000000
000004 000003	000009
# Total: 000000009 000000009
# Min Latencies: 00003 00004
# Avg Latencies: 00005 00004
# Max Latencies: 00011 00004
# Histogram Overflows: 00002 00000
# Histogram Overflow at cycle number:
# Thread 0: 00001 00007
"""


def histogram(latencies: list[int], bins: int = 100) -> cyclictest.Histogram:
    inside = [latency for latency in latencies if latency < bins]
    return cyclictest.from_sums(
        [inside.count(index) for index in range(bins)],
        total=len(latencies),
        minimum=min(latencies),
        maximum=max(latencies),
        sum=sum(latencies),
        squares=sum(latency**2 for latency in latencies),
        overflow=len(latencies) - len(inside),
    )


def test_mean_and_deviation_come_of_the_sums():
    latencies = [5, 5, 6, 7, 250]
    found = histogram(latencies)
    assert found.counts == {5: 2, 6: 1, 7: 1}
    assert (found.total, found.overflow) == (5, 1)
    assert found.mean == pytest.approx(statistics.mean(latencies))
    assert found.deviation == pytest.approx(statistics.pstdev(latencies))


def test_a_deviation_of_0_is_0():
    assert histogram([9] * 1_000_003).deviation == 0


def test_what_is_written_is_read():
    columns = [histogram([5, 6, 6, 300]), histogram([9, 10, 10, 304])]
    text = cyclictest.to_text(columns, "cycles: hardware, software")
    assert "000006 000002 000000" in text
    assert "# Total: 000000004 000000004" in text
    assert "# Histogram Overflows: 00001 00001" in text
    for found, wanted in zip(cyclictest.from_text(text), columns, strict=True):
        assert found.counts == wanted.counts
        assert found.mean == pytest.approx(wanted.mean, abs=5e-4)
        assert found.deviation == pytest.approx(wanted.deviation, abs=5e-4)
        assert (found.total, found.minimum, found.maximum, found.overflow) == (
            wanted.total,
            wanted.minimum,
            wanted.maximum,
            wanted.overflow,
        )


def test_cyclictest_s_own_text_is_read():
    first, second = cyclictest.from_text(CYCLICTEST)
    assert first.counts == {3: 4, 4: 3}
    assert second.counts == {4: 9}
    assert (first.minimum, first.mean, first.maximum, first.overflow) == (3, 5, 11, 2)


def test_a_shift_moves_every_latency():
    assert histogram([5, 6, 6]).shifted(4) == histogram([9, 10, 10]).counts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line '# Total:'"),
        (CYCLICTEST.replace("# Max Latencies: 00011 00004\n", ""), "no line '# Max Latencies:'"),
        (CYCLICTEST.replace("000004 000003\t000009", "000004 000003"), "4 has 1 columns, not 2"),
        (CYCLICTEST.replace("00003 00004", "00003"), "'Min Latencies' has 1 columns, not 2"),
    ],
)
def test_a_text_that_is_no_histogram_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        cyclictest.from_text(text)
