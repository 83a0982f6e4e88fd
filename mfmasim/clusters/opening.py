"""Opening an executor by its address. Dask and MPI do the work; here they become one `concurrent.futures.Executor`."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

from mfmasim.clusters.identity import identity
from mfmasim.clusters.remote import LostTaskError, Shared, call, keep, packed, sealed, unpacked
from mfmasim.errors import MfmasimError
from mfmasim.visible import visible

__all__ = ["FORMS", "Cluster", "SchedulerLostError", "opened"]

FORMS = "dask://HOST:PORT, dask+tls://HOST:PORT, dask://local?workers=N, mpi"
SECONDS = 15
"""To wait for a scheduler and a worker."""
MOST_WORKERS = 256
TRIES = 4
"""Workers that refuse a task, or lack the memory for it, before it is given up; as Dask's ``allowed-failures``."""


class SchedulerLostError(MfmasimError):
    """The cluster ended before its tasks did."""

    kind = "device-lost"


class Cluster(Executor):
    """An executor on other processes; what all calls have in common travels to each of them once."""

    workers: Callable[[], int]
    """How many there are now."""

    def __init__(self, name: str) -> None:
        """Name it by its address."""
        self.name, self._number, self._identity = name, 0, str(identity())

    def share(self, value: Any, *, data: bool = False) -> Shared:
        """Send a value once to each worker, as data or as a pickle.

        Returns:
            What stands for it among the arguments of `submit` and `ask`.
        """
        content = sealed(value, data=data)
        digest = hashlib.sha256(content).hexdigest()
        self._send(digest, content)
        return Shared(digest)

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Future[Any]:  # type: ignore[override]
        """Call a module's function on a worker; a worker that is another mfmasim refuses it.

        Arguments and result are pickles, so that this executes what the worker, or the scheduler, answers.

        Args:
            function: of a module.
            args: by position; what `share` gave may stand anywhere in them.
        """
        self._number += 1
        number = self._number
        return self._start(number, *packed(function, args), lambda reply: unpacked(reply, number))

    def ask(self, function: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """As `submit`, with arguments and a result that are data.

        Args:
            function: of the package.
            args: by position; what `share` gave may be one of them.
        """
        self._number += 1
        number = self._number
        return self._start(number, *packed(function, args, data=True), lambda reply: unpacked(reply, number, data=True))

    def _send(self, digest: str, data: bytes) -> None:
        raise NotImplementedError

    def _start(self, number: int, task: bytes, needed: set[str], read: Callable[[Any], Any]) -> Future[Any]:
        raise NotImplementedError


@contextmanager
def opened(text: str) -> Iterator[Cluster]:
    """Open an executor by its address; when the block is left, what has not ended is cancelled.

    Raises:
        MfmasimError: the address is none, does not answer, or a package is missing.
    """
    local = re.fullmatch(r"dask://local(?:\?workers=(\d+))?", text)
    with ExitStack() as stack:
        if text == "mpi":
            yield stack.enter_context(_mpi())
        elif local:
            yield stack.enter_context(_local(text, local[1]))
        elif found := re.fullmatch(r"dask(\+tls)?(://[^/?#\s]+:\d+)", text):
            yield stack.enter_context(_dask(text, ("tls" if found[1] else "tcp") + found[2]))
        else:
            raise MfmasimError(f"--executor {visible(text)}: one of {FORMS} is expected")


@contextmanager
def _local(text: str, count: str | None) -> Iterator[Cluster]:
    """Dask's own cluster of processes of this machine; it listens on the loopback address only."""
    distributed = _distributed(text)
    import dask

    from mfmasim.devices.workers import available

    workers = available() if count is None else int(count)
    if not 1 <= workers <= MOST_WORKERS:
        raise MfmasimError(f"--executor {text}: 1 to {MOST_WORKERS} workers are expected")
    with dask.config.set({"distributed.worker.profile.enabled": False}):  # it reads the stack 100 times a second
        try:
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                # Dask's status pages, which it always serves: at a free port, as another cluster may have 8787.
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                silence_logs=50,
            )
        except Exception as error:  # what starts a worker may raise anything
            raise MfmasimError(f"--executor {text}: a worker does not start: {_first_cause(error)}") from error
        with cluster, _dask(text, cluster.scheduler_address) as running:
            yield running


def _first_cause(error: BaseException) -> str:
    """What an error began with, in one line."""
    while (before := error.__cause__ or error.__context__) is not None:
        error = before
    return visible(f"{type(error).__name__}: {' '.join(str(error).split())}")


@contextmanager
def _dask(text: str, address: str) -> Iterator[Cluster]:
    distributed = _distributed(text)
    import logging

    for name in ("client", "scheduler", "core", "batched", "protocol.core"):
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL + 1)  # what is lost is said once, here
    if address.startswith("tls:") and distributed.Security().get_connection_args("client")["ssl_context"] is None:
        raise MfmasimError(f"--executor {text}: Dask's configuration names no TLS certificates (distributed.comm.tls)")
    try:
        _ask_for_scheduler(distributed, address)
        client = distributed.Client(address, timeout=SECONDS, set_as_default=False)
    except Exception as error:  # noqa: BLE001 - whatever answers there may be no scheduler
        raise MfmasimError(
            f"--executor {text}: no scheduler answers within {SECONDS} s ({type(error).__name__})"
        ) from None
    cluster = _Dask(text, client)
    try:
        try:
            client.wait_for_workers(1, timeout=SECONDS)
        except TimeoutError:
            raise MfmasimError(f"--executor {text}: no worker joined the scheduler within {SECONDS} s") from None
        yield cluster
    finally:
        cluster.cancel()
        client.close(timeout=2)


def _ask_for_scheduler(distributed: Any, address: str) -> None:
    """Shake hands and leave: what accepts a connection and says nothing keeps Dask's client waiting for ever.

    Raises:
        Exception: nothing answers as Dask does; `TimeoutError` if it is too late.
    """

    async def shake() -> None:
        known = distributed.Security().get_connection_args("client")
        comm = await asyncio.wait_for(distributed.comm.connect(address, timeout=SECONDS, **known), SECONDS)
        await comm.close()

    with ThreadPoolExecutor(1) as thread:  # this one may have a loop that runs, as a notebook's has
        thread.submit(asyncio.run, shake()).result()


class _Dask(Cluster):
    def __init__(self, name: str, client: Any) -> None:
        super().__init__(name)
        self._client = client
        self._sent: dict[str, Any] = {}
        self._running: set[Any] = set()
        self._refused: set[str] = set()
        self._enter = _entry()
        self.workers = lambda: len(client.scheduler_info(n_workers=-1)["workers"])

    def _send(self, digest: str, data: bytes) -> None:
        # A task of its own: a worker fetches it from another one, and it is made again if all that have it ended.
        # The last one alone is held here; calls hold what they need.
        key = f"mfmasim-{digest}-{self._client.id}"  # another client's would be cancelled with this one's
        self._sent = {digest: self._client.submit(bytes, data, key=key, pure=True)}

    def _start(self, number: int, task: bytes, needed: set[str], read: Callable[[Any], Any]) -> Future[Any]:
        answer: Future[Any] = Future()
        sent = {digest: self._sent[digest] for digest in needed}

        def submit(**where: Any) -> Any:
            future = self._client.submit(
                self._enter, self._identity, number, task, sent, pure=False, priority=-number, **where
            )
            self._running.add(future)
            return future

        async def follow(first: Any) -> None:
            try:
                answer.set_result(read(await self._found(first, submit)))
            except BaseException as error:  # noqa: BLE001 - whatever it is, the future's owner gets it
                answer.set_exception(error)

        self._client.loop.add_callback(follow, submit())
        return answer

    async def _found(self, future: Any, submit: Callable[..., Any]) -> Any:
        """A worker's answer; one that refuses the task, or lacks memory for it, is replaced by another one."""
        for _ in range(TRIES):
            worker, found = await self._outcome(future)
            self._running.discard(future)
            if not isinstance(found, str):
                return found
            if worker:
                self._refused.add(worker)
            known = await self._client.scheduler.identity(n_workers=-1)
            others = [one for one in known["workers"] if one not in self._refused]
            if not others:
                break
            future = submit(workers=others, allow_other_workers=True)
        if not worker:
            raise LostTaskError(found)
        raise MfmasimError(f"--executor {self.name}: worker {worker} {found}")

    async def _outcome(self, future: Any) -> tuple[str, Any]:
        """The worker and its answer; of no worker where its memory was short."""
        import distributed

        try:
            worker, found = await future
        except distributed.KilledWorker as error:
            tries, last = error.allowed_failures + 1, error.last_worker.address
            raise LostTaskError(f"its worker ended {tries} times, the last one was {last}") from None
        except MemoryError:
            return "", f"memory was short {TRIES} times"
        except Exception as error:
            what = f"--executor {self.name}: "
            if future.status == "error":  # the task's own
                raise MfmasimError(f"{what}a worker failed: {type(error).__name__}: {error}") from error
            raise SchedulerLostError(f"{what}the scheduler is lost ({type(error).__name__})") from None
        return worker, found

    def cancel(self) -> None:
        """End all that has not ended."""
        if self._client.status == "running":
            self._client.cancel([*self._running, *self._sent.values()], force=True)


def _entry() -> Callable[..., tuple[str, Any]]:
    """What a Dask worker runs. It is no module's, so that it travels as code: also to a worker that has no mfmasim."""

    def enter(expected: str, number: int, task: bytes, needed: dict[str, bytes]) -> tuple[str, Any]:
        from distributed import get_worker

        worker = get_worker()
        try:
            from mfmasim.clusters import remote
        except ImportError as error:
            return worker.address, f"has another mfmasim, or none ({error}); the command has {expected}"
        running = worker.state.tasks[worker.get_current_task()]
        try:
            with remote.stopping(lambda: running.state == "cancelled"):
                return worker.address, remote.call(expected, number, task, needed)
        except remote.Stopped:
            return worker.address, None

    return enter


def _distributed(text: str) -> Any:
    try:
        import distributed
    except ImportError:
        raise MfmasimError(f"--executor {text}: needs Dask; pip install 'mfmasim[cluster]'") from None
    return distributed


@contextmanager
def _mpi() -> Iterator[Cluster]:
    cluster = _Mpi("mpi")
    try:
        yield cluster
    finally:
        cluster.shutdown(cancel_futures=True)


class _Mpi(Cluster):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        try:
            from mpi4py import MPI
            from mpi4py.futures import MPIPoolExecutor
        except (ImportError, RuntimeError) as error:  # without an MPI library
            why = str(error).splitlines()[0]
            raise MfmasimError(
                f"--executor mpi: needs mpi4py and an MPI library; pip install mpi4py mpich ({why})"
            ) from None
        self._new, self._pool = MPIPoolExecutor, MPIPoolExecutor()
        self.workers = lambda: max(1, MPI.COMM_WORLD.Get_size() - 1)

    def _send(self, digest: str, data: bytes) -> None:
        self._pool.shutdown()
        self._pool = self._new(initializer=keep, initargs=(digest, data))  # ranks get it as they start

    def _start(self, number: int, task: bytes, needed: set[str], read: Callable[[Any], Any]) -> Future[Any]:  # noqa: ARG002
        answer: Future[Any] = Future()

        def follow(done: Future[Any]) -> None:
            try:
                answer.set_result(read(done.result()))
            except BaseException as error:  # noqa: BLE001 - whatever it is, the future's owner gets it
                answer.set_exception(error)

        self._pool.submit(call, self._identity, number, task, {}).add_done_callback(follow)
        return answer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the ranks."""
        self._pool.shutdown(wait, cancel_futures=cancel_futures)
