"""``--jobs N``: cases in several processes; the same results in the same order as in one."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from mfmasim.cli.progress import Progress
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    Tasks = Callable[[argparse.Namespace], Sequence[Any]]
    """Gives the tasks of a verb's arguments, the same ones in every process."""

MOST_JOBS = 256

Done = TypeVar("Done")

_work: tuple[Callable[[argparse.Namespace, Any], Any], argparse.Namespace, Sequence[Any]] | None = None
"""Of this process: what is done with a task, the arguments, and the tasks. Cases hold functions of files, which cannot
be sent; a forked process has them, any other one finds them anew."""


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="processes (default: the processors available to this one)"
    )


def in_order(
    args: argparse.Namespace,
    tasks_of: Tasks,
    one: Callable[[argparse.Namespace, Any], Done],
    size: Callable[[Done], int] = lambda done: 0,  # noqa: ARG005
    *,
    alone: bool = False,
) -> Iterator[Done]:
    """The results of all tasks, in the order of the tasks.

    Args:
        args: the verb's arguments, with ``jobs``.
        tasks_of: a module's function that gives the tasks.
        one: a module's function that gives the result of a task.
        size: wave-instructions that a result stands for, for the progress.
        alone: use this process only, as a device needs that belongs to it.

    Raises:
        MfmasimError: the number of processes is out of range, or a process ended unexpectedly.
    """
    from mfmasim.devices.workers import available

    if args.jobs is not None and not 1 <= args.jobs <= MOST_JOBS:
        raise MfmasimError(f"--jobs {args.jobs}: 1 to {MOST_JOBS} processes are expected")
    tasks = tasks_of(args)
    jobs = 1 if alone else min(args.jobs or available(), len(tasks))
    with Progress(len(tasks)) as progress:
        done = (one(args, task) for task in tasks) if jobs < 2 else _spread(jobs, args, tasks_of, tasks, one)
        for result in done:
            progress.step(size(result))
            with progress.hidden():
                yield result


def _spread(
    jobs: int,
    args: argparse.Namespace,
    tasks_of: Tasks,
    tasks: Sequence[Any],
    one: Callable[[argparse.Namespace, Any], Done],
) -> Iterator[Done]:
    from concurrent.futures.process import BrokenProcessPool

    from mfmasim.devices.workers import pool

    global _work  # noqa: PLW0603
    _work = one, args, tasks
    try:
        with pool(jobs, "fork" if sys.platform == "linux" else "spawn", _begin, (tasks_of, one, args)) as executor:
            for future in [executor.submit(_run, number) for number in range(len(tasks))]:
                yield future.result()
    except BrokenProcessPool:
        raise MfmasimError(
            "a process ended unexpectedly, perhaps for lack of memory; --jobs 1 takes the least memory"
        ) from None
    finally:
        _work = None


def _begin(tasks_of: Tasks, one: Callable[[argparse.Namespace, Any], Any], args: argparse.Namespace) -> None:
    """Start of a worker. An interruption reaches it with its owner, which ends it."""
    global _work  # noqa: PLW0603
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _work is None:
        _work = one, args, tasks_of(args)


def _run(number: int) -> Any:
    assert _work is not None
    one, args, tasks = _work
    return one(args, tasks[number])
