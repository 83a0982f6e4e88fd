"""A GPU behind a process of its own, so that no kernel can end, block or spoil the process that tests it.

The process lives as long as it is healthy. After an error that the context does not survive, after a launch that
exceeds its time, or when it died, the next launch starts another one on the same GPU.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.devices.hip import refuse
from mfmasim.devices.hip_worker import Place, replaced
from mfmasim.errors import MfmasimError
from mfmasim.machine.launch import check_call
from mfmasim.machine.memory import POISON_BYTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.devices.report import Report
    from mfmasim.machine.passing import Arguments
    from mfmasim.program import Kernel

__all__ = ["TIMEOUT", "IsolatedHip", "default_timeout", "seconds_of"]

TIMEOUT = "MFMASIM_TIMEOUT"
"""Variable with the seconds that a launch on a GPU may take, in the place of the default."""
START_SECONDS = 120
"""What opening a GPU may take."""
BASE, PER_WORKGROUP = 60.0, 0.001
"""Default seconds of a launch, and for each workgroup."""
TRANSFER = 30.0
"""Seconds beside the kernel's own: copies, and ending."""
LIMIT = 1e6


def default_timeout(workgroups: int) -> float:
    """Seconds that a launch may take.

    Args:
        workgroups: of its grid.

    Raises:
        MfmasimError: the variable `TIMEOUT` holds no number of seconds.
    """
    text = os.environ.get(TIMEOUT, "")
    return seconds_of(text, f"{TIMEOUT}=") if text else BASE + PER_WORKGROUP * workgroups


def seconds_of(text: str, what: str) -> float:
    """Read a time limit; `what` names it in the error.

    Raises:
        MfmasimError: it is no positive number.
    """
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LIMIT:
        raise MfmasimError(f"{what}{text}: a positive number of seconds is expected, at most {LIMIT:,.0f}")
    return seconds


class _Worker:
    """One process and the connection to it."""

    def __init__(self, number: int) -> None:
        ours, theirs = socket.socketpair()
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
        program = f"import sys; sys.path.append({package!r}); from mfmasim.devices.hip_worker import main; main()"
        words = ["-P", "-c", program, str(theirs.fileno()), str(number), str(os.getpid())]
        self.process = subprocess.Popen([sys.executable, *words], pass_fds=(theirs.fileno(),))
        theirs.close()
        self.connection = Connection(ours.detach())

    def end(self) -> int | None:
        """End the process at once; its exit code, if it had ended by itself."""
        self.connection.close()
        code = self.process.poll()
        if code is None:
            self.process.kill()
        self.process.wait()
        return code

    def finish(self) -> None:
        """Let the process end by itself."""
        self.connection.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class IsolatedHip:
    """Runs kernels on a GPU, as `mfmasim.devices.hip.HipDevice` in another process."""

    def __init__(self, number: int = 0) -> None:
        """Open a GPU by its number.

        Raises:
            MfmasimError: hip-python, the runtime or the GPU is missing; the message says which and how to fix it.
        """
        self.name = f"hip:{number}" if number else "hip"
        self.number = number
        self._workers: list[_Worker] = []  # the current one, or none
        self._owner = os.getpid()
        self._finalizer = weakref.finalize(self, _finish, self._workers, self._owner)
        self._opened = self._start()
        self.product = str(self._opened["product"])
        """The device's name, such as ``AMD Instinct MI300X``."""
        self.target = str(self._opened["target"])
        """The target ID, such as ``gfx942:sramecc+:xnack-``."""
        self.clock_khz = int(self._opened["clock_khz"])
        """Peak clock of the shader engines, in kHz."""
        self.arch = str(self._opened["arch"])
        """Name of its architecture, which mfmasim may not support."""
        self.simulated = bool(self._opened["simulated"])
        """Whether it is a simulated device of `mfmasim.hiprt`."""
        self.restarts = 0
        """Processes that were started after the first."""

    def __repr__(self) -> str:
        """Name, product and target."""
        return f"<device {self.name}: {self.product}, {self.target}>"

    def _start(self) -> dict[str, Any]:
        """Start a process, and wait until it has opened the GPU."""
        worker = _Worker(self.number)
        self._workers.append(worker)
        answer = self._answer(START_SECONDS, "opening it")
        if answer[0] != "opened":
            self._end()
            raise MfmasimError(str(answer[1]))
        opened: dict[str, Any] = answer[1]
        return opened

    def _end(self) -> int | None:
        return self._workers.pop().end() if self._workers else None

    def _answer(self, seconds: float, what: str) -> Any:
        """The next answer of the process.

        Raises:
            MfmasimError: it died, or does not answer in time; then it is ended.
        """
        connection = self._workers[0].connection
        deadline = time.monotonic() + seconds
        try:
            while (left := deadline - time.monotonic()) > 0:
                if connection.poll(min(left, 1.0)):
                    return connection.recv()
        except (EOFError, ConnectionError):
            raise MfmasimError(self._died(what)) from None
        except BaseException:  # an interrupt: what the process is doing is of no use any more
            self._end()
            raise
        self._end()
        raise MfmasimError(f"{self.name}: {what}: no answer within {seconds:.0f} s; its process was ended")

    def _died(self, what: str) -> str:
        """What is known about the death of the process; it is buried."""
        worker = self._workers.pop()
        worker.connection.close()
        try:
            code = worker.process.wait(5)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            code = worker.process.wait()
        how = f"exit code {code}"
        if code < 0:
            how = signal.Signals(-code).name if -code in {one.value for one in signal.Signals} else f"signal {-code}"
        return f"{self.name}: {what} ended the device's process ({how}), as a memory fault on a GPU does"

    def _ask(self, request: str, content: Any, seconds: float, what: str) -> Any:
        """Send a request and return its result.

        Raises:
            MfmasimError: it failed, or the process did not survive it.
        """
        if os.getpid() != self._owner:  # a fork: the process belongs to the parent
            self._workers, self._owner = [], os.getpid()
            self._finalizer.detach()
            self._finalizer = weakref.finalize(self, _finish, self._workers, self._owner)
        if not self._workers:
            self._start()
            self.restarts += 1
        try:
            self._workers[0].connection.send((request, content))
        except (BrokenPipeError, ConnectionError):
            raise MfmasimError(self._died(what)) from None
        answer = self._answer(seconds, what)
        if answer[0] == "done":
            return answer[1]
        if answer[2]:  # it can still end by itself
            self._workers.pop().finish()
        raise MfmasimError(str(answer[1]))

    def versions(self) -> dict[str, int]:
        """Versions of the driver and of the runtime, as HIP encodes them."""
        found: dict[str, int] = self._ask("versions", (), START_SECONDS, "versions")
        return found

    def details(self, attributes: Mapping[str, int]) -> dict[str, Any]:
        """What distinguishes it from other devices of its product; see `HipDevice.details`."""
        found: dict[str, Any] = self._ask("details", (dict(attributes),), START_SECONDS, "details")
        return found

    def launch(
        self,
        kernel: Kernel,
        grid: Any,
        block: Any,
        args: Arguments,
        shared_bytes: int = 0,
        checks: str | Sequence[str] | None = "all",
        *,
        undefined: Sequence[int | str | NDArray[Any]] = (),
        buffers: Mapping[int, NDArray[Any]] | None = None,
        timeout: float | None = None,
        poison: int = POISON_BYTE,
        **options: Any,
    ) -> Report:
        """Run a kernel to its end.

        Args:
            kernel: such as ``code["gemm"]``, compiled for this GPU's architecture.
            grid: workgroups in x, y, z.
            block: work-items of a workgroup in x, y, z.
            args: as `mfmasim.devices.SimDevice.launch` takes them.
            shared_bytes: dynamic LDS in bytes.
            checks: ``"all"`` examines the guard zones, ``"none"`` does not. The simulator's checks are rejected.
            undefined: accepted as by the simulator, without effect: reads on a GPU are not observable.
            buffers: as `mfmasim.devices.SimDevice.launch` takes them.
            timeout: seconds after which the launch is given up; None follows from the grid, or `TIMEOUT`.
            poison: byte that guard zones hold.
            options: what only the simulator has (observers, budget, ...); rejected unless empty.

        Returns:
            The report, with the time between two events around the launch. Instructions are not counted.

        Raises:
            MfmasimError: bad arguments; a kernel for another architecture; any error of HIP; the kernel hangs, or ends
                the process that held the GPU. The next launch works on the same GPU.
        """
        del undefined
        refuse(self.name, checks, options)
        sizes = check_call(kernel, grid, block, args, shared_bytes)
        arrays, given = _apart((args, None if buffers is None else dict(buffers)))
        workgroups = sizes[0][0] * sizes[0][1] * sizes[0][2]
        seconds = default_timeout(workgroups) if timeout is None else timeout
        slow = LIMIT if self.simulated and timeout is None and not os.environ.get(TIMEOUT) else seconds + TRANSFER
        content = {
            "code": (kernel.code.sha256, kernel.code.object.data, kernel.code.arch.name),
            "kernel": kernel.name,
            "grid": grid,
            "block": block,
            "args": given,
            "arrays": arrays,
            "shared": int(shared_bytes),
            "checks": checks,
            "timeout": seconds,
            "poison": poison,
            "writeable": [bool(array.flags.writeable) for array in arrays],
        }
        report, changed = self._ask("launch", content, slow, kernel.name)
        for array, now in zip(arrays, changed, strict=True):
            if now is not None:
                array[...] = now
        made: Report = report
        made.program = kernel
        return made


def _apart(args: Any) -> tuple[list[NDArray[Any]], Any]:
    """The arrays among arguments, each once, and the arguments with their places.

    Raises:
        MfmasimError: an array is not contiguous.
    """
    arrays: list[NDArray[Any]] = []
    known: dict[int, Place] = {}

    def place(value: Any) -> Any:
        if not isinstance(value, np.ndarray) or not value.ndim:
            return value
        if id(value) not in known:
            if not value.flags.c_contiguous:
                raise MfmasimError(f"an array is not contiguous (strides {value.strides}); pass a contiguous copy")
            known[id(value)] = Place(len(arrays))
            arrays.append(value)
        return known[id(value)]

    return arrays, replaced(args, place)


def _finish(workers: list[_Worker], owner: int) -> None:
    """At the end of the owner the processes end by themselves, so that they can write what they have to."""
    if os.getpid() == owner:
        while workers:
            workers.pop().finish()
