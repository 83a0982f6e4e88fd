"""``--jobs N`` and ``--executor ADDRESS``: cases in several processes; the same results in the same order as in one."""

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


def add_jobs(parser: argparse.ArgumentParser, *, elsewhere: bool = True) -> None:
    """Add the options; `elsewhere`: those of executors as well."""
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="processes (default: the processors available to this one)"
    )
    if elsewhere:
        parser.add_argument(
            "--executor",
            metavar="ADDRESS",
            help="run the cases on a Dask cluster (dask://HOST:PORT), on a Dask cluster of this machine's processes "
            "(dask://local?workers=4), or on MPI ranks (mpi); a case file is executed there",
        )
        parser.add_argument(
            "--resume", metavar="FILE", help="keep finished cases in this file, and take those that it has from it"
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
        tasks_of: a module's function that gives the tasks.
        one: a module's function that gives the result of a task.
        size: wave-instructions that a result stands for, for the progress.
        alone: use this process only, as a device needs that belongs to it.
        lost: the result of a task whose workers ended, from the reason; without it that is an error in the end.

    Raises:
        MfmasimError: the number of processes is out of range, a process ended unexpectedly, or the executor failed.
    """
    from mfmasim.devices.workers import available

    if args.jobs is not None and not 1 <= args.jobs <= MOST_JOBS:
        raise MfmasimError(f"--jobs {args.jobs}: 1 to {MOST_JOBS} processes are expected")
    executor, resume = getattr(args, "executor", None), getattr(args, "resume", None)
    if executor and (alone or args.jobs is not None):
        other = "a device of this process" if alone else "--jobs"
        raise MfmasimError(f"--executor {executor} and {other} exclude each other")
    tasks = tasks_of(args)
    jobs = 1 if alone else min(args.jobs or available(), len(tasks))
    with Progress(len(tasks)) as progress:
        if executor or resume:
            done = _elsewhere(args, tasks_of, tasks, one, lost, jobs, progress)
        elif jobs < 2:
            done = (one(args, task) for task in tasks)
        else:
            done = _spread(jobs, args, tasks_of, tasks, one, range(len(tasks)))
        for result in done:
            progress.step(size(result))
            with progress.hidden():
                yield result


def _elsewhere(
    args: argparse.Namespace,
    tasks_of: Tasks,
    tasks: Sequence[Any],
    one: Callable[[argparse.Namespace, Any], Done],
    lost: Callable[[argparse.Namespace, Any, str], Done] | None,
    jobs: int,
    progress: Progress,
) -> Iterator[Done]:
    """Results by an executor or, with a file to go on from, by processes."""
    from contextlib import ExitStack

    from mfmasim.cli.executors.clusters import Lost, SchedulerLostError, opened
    from mfmasim.cli.executors.journal import Journal
    from mfmasim.cli.executors.order import order_of

    order = order_of(args, tasks_of, one)
    journal = Journal(args.resume, order.digest) if args.resume else None
    kept = journal.done if journal else {}
    open_numbers = [number for number in range(len(tasks)) if number not in kept]
    failed: list[str] = []

    def computed(stack: ExitStack) -> Iterator[Done | Lost]:
        if not args.executor:
            if jobs < 2:
                yield from (one(args, tasks[number]) for number in open_numbers)
            else:
                yield from _spread(jobs, args, tasks_of, tasks, one, open_numbers)
            return
        running = stack.enter_context(opened(args.executor))
        progress.workers = running.workers
        answers = running.start(order, open_numbers)
        for number, answer in zip(open_numbers, answers, strict=True):
            yield answer if isinstance(answer, Lost) else answer.result(number, order)

    with ExitStack() as stack:
        results = computed(stack) if open_numbers else iter(())
        for number, task in enumerate(tasks):
            if number in kept:
                yield kept[number]
                continue
            try:
                found = next(results)
            except SchedulerLostError as error:
                count = f"{number} of {len(tasks)} cases are finished"
                rest = f"go on with --resume {args.resume}" if journal else "--resume FILE would have kept them"
                raise MfmasimError(f"{error}; {count}; {rest}") from None
            if isinstance(found, Lost):
                if lost is None:
                    failed.append(f"case {number + 1}: {found.why}")
                    continue
                found = lost(args, task, found.why)
            elif journal:
                journal.add(number, found)
            yield found
    if failed:
        raise MfmasimError(f"--executor {args.executor}: {len(failed)} of {len(tasks)} cases were lost; {failed[0]}")


def _spread(
    jobs: int,
    args: argparse.Namespace,
    tasks_of: Tasks,
    tasks: Sequence[Any],
    one: Callable[[argparse.Namespace, Any], Done],
    numbers: Sequence[int],
) -> Iterator[Done]:
    from concurrent.futures.process import BrokenProcessPool

    from mfmasim.devices.workers import pool

    global _work  # noqa: PLW0603
    _work = one, args, tasks
    try:
        with pool(jobs, "fork" if sys.platform == "linux" else "spawn", _begin, (tasks_of, one, args)) as executor:
            for future in [executor.submit(_run, number) for number in numbers]:
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
