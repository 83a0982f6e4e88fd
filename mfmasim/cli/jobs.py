"""``--jobs N`` and ``--executor ADDRESS``: cases in several processes, with results and order of one process."""

from __future__ import annotations

import signal
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from mfmasim.cli.numbers import whole
from mfmasim.cli.progress import Progress
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Iterator, Sequence

    Tasks = Callable[[argparse.Namespace], Sequence[Any]]
    """Gives the tasks of a verb's arguments, the same ones in every process."""

MOST_JOBS = 256

Done = TypeVar("Done")

_work: tuple[Callable[[argparse.Namespace, Any], Any], argparse.Namespace, Sequence[Any]] | None = None
"""Of this process: what is done with a task, the arguments, and the tasks. Cases hold functions of files, which cannot
be sent; a forked process has them, any other one finds them anew."""


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--jobs",
        type=whole(1, MOST_JOBS),
        metavar="N",
        help="processes (default: the processors available to this one)",
    )
    add_executor(parser, "the cases")
    parser.add_argument(
        "--resume", metavar="FILE", help="keep finished cases in this file, and take those that it has from it"
    )


def add_executor(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option of an executor that runs parts of a command."""
    parser.add_argument(
        "--executor",
        metavar="ADDRESS",
        help=f"run {what} on a Dask cluster (dask://HOST:PORT, dask+tls://HOST:PORT), on a Dask cluster of this "
        "machine's processes (dask://local?workers=4), or on MPI ranks (mpi); what it needs is executed there",
    )


def in_order(
    args: argparse.Namespace,
    tasks_of: Tasks,
    one: Callable[[argparse.Namespace, Any], Done],
    size: Callable[[Done], int] = lambda done: 0,  # noqa: ARG005
    *,
    alone: bool = False,
    lost: Callable[[argparse.Namespace, Any, str], Done] | None = None,
) -> Iterator[Done]:
    """The results of all tasks, in the order of the tasks.

    Args:
        args: the verb's arguments, with ``jobs``.
        tasks_of: a module's function that returns the tasks.
        one: a module's function that returns the result of a task.
        size: wave-instructions of a result, for the progress.
        alone: use this process only, for a device that belongs to it.
        lost: makes the result of a task whose workers ended, from the reason; without it this is an error at the end.

    Raises:
        MfmasimError: a process ended unexpectedly, or the executor failed.
    """
    from mfmasim.cli.executors.journal import Journal
    from mfmasim.cli.executors.order import Failed, order_of
    from mfmasim.clusters import LostTaskError, SchedulerLostError

    executor, resume = getattr(args, "executor", None), getattr(args, "resume", None)
    if executor and (alone or args.jobs is not None):
        other = "a device of this process" if alone else "--jobs"
        raise MfmasimError(f"--executor {executor} and {other} exclude each other")
    tasks = tasks_of(args)
    journal = Journal(resume, order_of(args, tasks_of, one, tasks).digest) if resume else None
    known: dict[int, Any] = dict(journal.done) if journal else {}
    left = [number for number in range(len(tasks)) if number not in known]
    failed: list[str] = []
    with (
        Progress(len(left)) as progress,
        closing(_computed(args, tasks_of, tasks, one, left, progress, alone=alone)) as computed,
    ):
        for number, task in enumerate(tasks):
            try:
                while number not in known:
                    ended, found = next(computed)
                    known[ended] = found
                    progress.step(0 if isinstance(found, Failed) else size(found))
                    if journal and not isinstance(found, Failed):
                        journal.add(ended, found)
            except SchedulerLostError as error:
                done = number + sum(not isinstance(found, Failed) for found in known.values())
                rest = f"go on with --resume {resume}" if journal else "--resume FILE would have kept them"
                raise MfmasimError(f"{error}; {done} of {len(tasks)} cases are finished; {rest}") from None
            found = known.pop(number)
            if isinstance(found, Failed):
                if not isinstance(found.error, LostTaskError):
                    raise found.error
                if lost is None:
                    failed.append(f"case {number + 1}: {found.error}")
                    continue
                found = lost(args, task, str(found.error))
            with progress.hidden():
                yield found
    if failed:
        raise MfmasimError(f"--executor {executor}: {len(failed)} of {len(tasks)} cases were lost; {failed[0]}")


def _computed(
    args: argparse.Namespace,
    tasks_of: Tasks,
    tasks: Sequence[Any],
    one: Callable[[argparse.Namespace, Any], Any],
    numbers: Sequence[int],
    progress: Progress,
    *,
    alone: bool,
) -> Generator[tuple[int, Any]]:
    """Numbers and results of tasks, or `Failed`, as they end: here, in processes, or by an executor."""
    from concurrent.futures.process import BrokenProcessPool

    from mfmasim.cli.executors.batches import completed
    from mfmasim.cli.executors.order import order_of, read, work
    from mfmasim.clusters import opened
    from mfmasim.devices.workers import available, pool

    global _work  # noqa: PLW0603
    jobs = 1 if alone else min(args.jobs or available(), len(numbers))
    if getattr(args, "executor", None) and numbers:
        with opened(args.executor) as cluster:
            progress.workers = cluster.workers
            order = cluster.share(order_of(args, tasks_of, one, tasks), data=True)
            yield from completed(lambda some: cluster.ask(work, order, some), read, numbers, cluster.workers())
    elif jobs < 2:
        yield from ((number, one(args, tasks[number])) for number in numbers)
    else:
        progress.workers = lambda: jobs
        _work = one, args, tasks
        try:
            with pool(jobs, "fork" if sys.platform == "linux" else "spawn", _begin, (tasks_of, one, args)) as processes:
                yield from completed(lambda some: processes.submit(_run, some), list, numbers, jobs)
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


def _run(numbers: Sequence[int]) -> list[tuple[int, Any]]:
    from mfmasim.cli.executors.order import attempts

    assert _work is not None
    return attempts(*_work, numbers)
