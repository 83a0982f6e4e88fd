"""Where tasks run: a Dask cluster, or MPI ranks. Both are engines of others; here they are opened, filled and read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from mfmasim.cli.executors.order import Answer, Order, work
from mfmasim.errors import MfmasimError
from mfmasim.visible import visible

__all__ = ["FORMS", "Lost", "Running", "SchedulerLostError", "opened"]

FORMS = "dask://HOST:PORT, dask://local?workers=N, mpi"
SECONDS = 15
"""To wait for a scheduler."""
MOST_WORKERS = 256


class SchedulerLostError(MfmasimError):
    """The cluster ended before its tasks did."""

    kind = "device-lost"


@dataclass(frozen=True)
class Lost:
    """A task whose workers ended, each time that it was tried."""

    why: str


@dataclass(frozen=True)
class Running:
    """An open executor."""

    name: str
    start: Callable[[Order, Sequence[int]], Iterator[Answer | Lost]]
    """Runs these tasks; the answers in the same order."""
    workers: Callable[[], int]


@contextmanager
def opened(text: str) -> Iterator[Running]:
    """Open an executor by its address.

    Raises:
        MfmasimError: the address is none, does not answer, or a package is missing.
    """
    local = re.fullmatch(r"dask://local(?:\?workers=(\d+))?", text)
    with ExitStack() as stack:
        if text == "mpi":
            yield stack.enter_context(_mpi())
        elif local:
            yield stack.enter_context(_local(text, local[1]))
        elif re.fullmatch(r"dask://[^/?#\s]+:\d+", text):
            yield stack.enter_context(_dask(text, "tcp" + text.removeprefix("dask")))
        else:
            raise MfmasimError(f"--executor {visible(text)}: one of {FORMS} is expected")


@contextmanager
def _local(text: str, count: str | None) -> Iterator[Running]:
    """Dask's own cluster of processes of this machine; it listens on the loopback address only."""
    distributed = _distributed(text)
    from mfmasim.devices.workers import available

    workers = available() if count is None else int(count)
    if not 1 <= workers <= MOST_WORKERS:
        raise MfmasimError(f"--executor {text}: 1 to {MOST_WORKERS} workers are expected")
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
        ) as cluster,
        _dask(text, cluster.scheduler_address) as running,
    ):
        yield running


@contextmanager
def _dask(text: str, address: str) -> Iterator[Running]:
    distributed = _distributed(text)
    import logging

    for name in ("distributed.client", "distributed.scheduler", "distributed.core", "distributed.batched"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what is lost is said once, here
    try:
        client = distributed.Client(address, timeout=SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise MfmasimError(
            f"--executor {text}: no scheduler answers within {SECONDS} s ({type(error).__name__})"
        ) from None

    def start(order: Order, numbers: Sequence[int]) -> Iterator[Answer | Lost]:
        try:
            client.wait_for_workers(1, timeout=SECONDS)
        except TimeoutError:
            raise MfmasimError(f"--executor {text}: no worker joined the scheduler within {SECONDS} s") from None
        # The order is a task of its own: it travels once to each worker, and again if all workers that have it ended.
        sent = client.submit(_same, order, key=f"mfmasim-{order.digest}", pure=True)
        # In the order in which their results are wanted.
        key = f"mfmasim-{order.digest}-{client.id}"
        futures = [client.submit(work, sent, n, pure=False, key=f"{key}-{n}", priority=-n) for n in numbers]
        try:
            for future in futures:
                try:
                    answer = future.result()
                except distributed.KilledWorker as error:
                    tries, last = error.allowed_failures + 1, error.last_worker.address
                    answer = Lost(f"its worker ended {tries} times, the last one was {last}")
                except Exception as error:
                    if future.status == "error":  # the task's own
                        raise
                    what = f"--executor {text}: the scheduler is lost ({type(error).__name__})"
                    raise SchedulerLostError(what) from None
                yield answer
        finally:
            if client.status == "running":
                client.cancel([*futures, sent], force=True)

    try:
        yield Running(text, start, lambda: len(client.scheduler_info(n_workers=-1)["workers"]))
    finally:
        client.close(timeout=2)


def _same(order: Order) -> Order:
    return order


def _distributed(text: str) -> Any:
    try:
        import distributed
    except ImportError:
        raise MfmasimError(f"--executor {text}: needs Dask; pip install 'mfmasim[cluster]'") from None
    return distributed


@contextmanager
def _mpi() -> Iterator[Running]:
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPIPoolExecutor
    except (ImportError, RuntimeError) as error:  # without an MPI library
        why = str(error).splitlines()[0]
        raise MfmasimError(
            f"--executor mpi: needs mpi4py and an MPI library; pip install mpi4py mpich ({why})"
        ) from None

    with MPIPoolExecutor() as pool:

        def start(order: Order, numbers: Sequence[int]) -> Iterator[Answer | Lost]:
            futures = [pool.submit(work, order, number) for number in numbers]
            try:
                for future in futures:
                    yield future.result()
            finally:
                for future in futures:
                    future.cancel()

        yield Running("mpi", start, lambda: max(1, MPI.COMM_WORLD.Get_size() - 1))
