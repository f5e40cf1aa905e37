"""Ending in order when a signal says so."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def left_in_order() -> Iterator[None]:
    """A signal that would end this process ends what is inside, so that all is left as it was.

    The exit status is then 128 and the signal's number.
    """

    def leave(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    # Those that somebody ignores, as nohup does, are ignored on.
    signals = (signal.SIGTERM, signal.SIGHUP)
    usual = [number for number in signals if signal.getsignal(number) is signal.SIG_DFL]
    for number in usual:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in usual:
            signal.signal(number, signal.SIG_DFL)
