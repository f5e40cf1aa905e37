"""Worker processes for Spike, which does not survive being taken down: workers are killed."""

from __future__ import annotations

import multiprocessing
import os
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

#: The two processors that the tests count on.
WORKERS = 2
#: A worker keeps Spike's memory of all its jobs; then a new one takes over.
JOBS_PER_WORKER = 10


class WorkerError(Exception):
    """A worker ended before its jobs were done; says how."""


def _work(function: Callable[[Any], Any], jobs: list[Any], results: Connection) -> None:
    try:
        for job in jobs:
            results.send((True, function(job)))
    except BaseException:
        results.send((False, traceback.format_exc()))
    results.close()
    # Without taking down what the jobs have left behind.
    os._exit(0)


def run_in_workers(
    function: Callable[[Any], Any], jobs: Iterable[Any], workers: int = WORKERS
) -> Iterator[Any]:
    """Results of the function for each job, in any order.

    Raises ``WorkerError`` if a job raises or its process dies.
    """
    context = multiprocessing.get_context("fork")
    waiting = list(jobs)
    size = max(1, min(JOBS_PER_WORKER, -(-len(waiting) // workers)))
    running: dict[Connection, tuple[Any, int]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                batch, waiting = waiting[:size], waiting[size:]
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(function, batch, sender))
                process.start()
                sender.close()
                running[receiver] = process, len(batch)
            for receiver in wait([*running]):
                process, missing = running[receiver]
                try:
                    good, result = receiver.recv()
                except EOFError:
                    del running[receiver]
                    process.join()
                    if missing:
                        raise WorkerError(f"a worker died ({process.exitcode})") from None
                    continue
                if not good:
                    raise WorkerError(result)
                running[receiver] = process, missing - 1
                yield result
    finally:
        for process, _ in running.values():
            process.kill()
            process.join()
