"""Tasks for an executor in small batches, and their results in the order of completion: each exactly once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from queue import SimpleQueue
from typing import Any

from mfmasim.cli.executors.order import Failed
from mfmasim.clusters import LostTaskError
from mfmasim.errors import MfmasimError

__all__ = ["batches", "completed"]

TOGETHER = 8
"""Tasks of a batch at most: the cost of a message is shared, and a lost worker costs little."""
ROUNDS = 32
"""Batches for each worker at least, so that the last ones end at nearly the same time."""


def batches(numbers: Sequence[int], workers: int) -> Iterator[list[int]]:
    """Cut tasks into batches that become smaller towards the end.

    >>> [len(batch) for batch in batches(range(200), 2)][::20]
    [3, 2, 1, 1, 1, 1, 1, 1, 1]
    """
    start = 0
    while start < len(numbers):
        size = min(TOGETHER, max(1, (len(numbers) - start) // (ROUNDS * max(1, workers))))
        yield list(numbers[start : start + size])
        start += size


def completed(
    submit: Callable[[list[int]], Future[Any]],
    read: Callable[[Any], list[tuple[int, Any]]],
    numbers: Sequence[int],
    workers: int,
) -> Iterator[tuple[int, Any]]:
    """Numbers and results of tasks, or `Failed`, in the order in which they end.

    Tasks whose worker ended are repeated at the end, one at a time, which identifies the cause.

    Args:
        submit: submits a batch to the executor.
        read: returns numbers and results from the executor's answer.
        numbers: the tasks.
        workers: number of workers.

    Raises:
        MfmasimError: a result is missing, belongs to another task, or came twice; or the executor raised an error.
    """
    ended: SimpleQueue[Future[Any]] = SimpleQueue()
    running: dict[Future[Any], list[int]] = {}
    suspects: list[int] = []

    for batch in batches(numbers, workers):
        future = submit(batch)
        if future in running:
            raise MfmasimError(f"the executor gave tasks {batch} and {running[future]} the same result")
        running[future] = batch
        future.add_done_callback(ended.put)
    while running:
        future = ended.get()
        batch = running.pop(future)
        try:
            yield from _answers(future, batch, read)
        except LostTaskError:
            suspects += batch  # the end of a worker also loses its waiting tasks
    for number in sorted(suspects):
        try:
            yield from _answers(submit([number]), [number], read)
        except LostTaskError as error:
            yield number, Failed(error)


def _answers(
    future: Future[Any], batch: list[int], read: Callable[[Any], list[tuple[int, Any]]]
) -> list[tuple[int, Any]]:
    """Numbers and results of a batch."""
    try:
        answers = read(future.result())
    except CancelledError:
        raise MfmasimError(f"the executor lost tasks {batch}") from None
    found = [number for number, _ in answers]
    if found != batch:
        raise MfmasimError(f"the executor answered tasks {batch} with the results of {found}")
    return answers
