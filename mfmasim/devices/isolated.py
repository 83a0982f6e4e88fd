"""A GPU in a separate process, so that no kernel can end, block or damage the testing process.

The process lives as long as it is healthy. After an error that the context does not survive, after a launch that
exceeds its time, or when it died, the next launch starts another one on the same GPU. Threads may share the device:
one request is under way at a time.
"""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from mfmasim.devices.hip import refuse
from mfmasim.devices.hip_arguments import distinct
from mfmasim.devices.starting import start
from mfmasim.errors import DeviceError, FaultError, MfmasimError, TimeOutError
from mfmasim.machine.launch.limits import check_call
from mfmasim.machine.state.memory import POISON_BYTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mfmasim.devices.report import Report
    from mfmasim.kernels import Kernel
    from mfmasim.machine.launch.argument_passing import Arguments

TIMEOUT = "MFMASIM_TIMEOUT"
"""Variable with the seconds that a launch on a GPU may take, in the place of the default."""
START_SECONDS = 120
"""What opening a GPU may take."""
BASE, PER_WORKGROUP = 60.0, 0.001
"""Default seconds of a launch, and for each workgroup."""
TRANSFER = 30.0
"""Seconds beside the kernel's own: copies, and ending."""
LIMIT = 1e6
ENDING = 5.0
"""Seconds in which a process ends, by itself or killed; one that waits in the driver may never do so."""
FAULTS = frozenset({signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV})
"""Signals by which a process ends when its kernel faults: the runtime aborts, or the process itself faults."""


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
        MfmasimError: the text is no positive number.
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

    def __init__(self, number: int, environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
        # The same mfmasim, whatever others the environment's folders have.
        program = f"import sys; sys.path.insert(0, {package!r}); import mfmasim; sys.path.append(sys.path.pop(0)); "
        program += "from mfmasim.devices.hip_worker import main; main()"
        words = ["-P", "-c", program, str(theirs.fileno()), str(number), str(os.getpid())]
        with ours, theirs:
            self.process = start([sys.executable, *words], theirs.fileno(), environment)
            self.connection = Connection(ours.detach())

    def end(self, *, patient: bool = False) -> int | None:
        """End the process.

        Args:
            patient: let it end by itself first.

        Returns:
            Its exit code; None if it does not end, as in an uninterruptible wait of the driver: then it is given up.
        """
        self.connection.close()
        if patient and (code := self._waited()) is not None:
            return code
        self.process.kill()
        return self._waited()

    def _waited(self) -> int | None:
        try:
            return self.process.wait(ENDING)
        except subprocess.TimeoutExpired:
            return None


class IsolatedHip:
    """Runs kernels on a GPU, as `mfmasim.devices.hip.HipDevice` in another process."""

    def __init__(self, number: int = 0) -> None:
        """Open a GPU by its number.

        Raises:
            MfmasimError: hip-python, the runtime or the GPU is missing; the message says which and how to fix it.
        """
        self.name = f"hip:{number}" if number else "hip"
        self.number = number
        self._environment = dict(os.environ)  # variables select GPUs: later processes must open the same one
        self._unit: Mapping[str, Any] = {}
        self.forget()
        _DEVICES.add(self)
        opened = self._start()
        self.product = str(opened["product"])
        """The device's name, such as ``AMD Instinct MI300X``."""
        self.target = str(opened["target"])
        """The target ID, such as ``gfx942:sramecc+:xnack-``."""
        self.clock_khz = int(opened["clock_khz"])
        """Peak clock of the shader engines, in kHz."""
        self.arch = str(opened["arch"])
        """Name of its architecture, which mfmasim may not support."""
        self.simulated = bool(opened["simulated"])
        """Whether it is a simulated device of `mfmasim.hiprt`."""
        self.restarts = 0
        """Processes that were started after the first."""

    def __repr__(self) -> str:
        """Name, product and target."""
        return f"<device {self.name}: {self.product}, {self.target}>"

    def forget(self) -> None:
        """Begin without a process: the next request starts one. After a fork it belongs to the parent."""
        self._workers: list[_Worker] = []  # the current one, or none
        self._lock = threading.RLock()
        self._asking = ""  # the process for which the thread with the lock waits
        weakref.finalize(self, _finish, self._workers, os.getpid())

    def _start(self) -> dict[str, Any]:
        """Start a process, and wait until it has opened the GPU."""
        worker = _Worker(self.number, self._environment)
        self._workers.append(worker)
        answer = self._answer(worker, START_SECONDS, "opening it", kernel=False)
        if answer[0] != "opened":
            self._end(patient=True)
            raise answer[1]
        opened: dict[str, Any] = answer[1]
        unit = opened["unit"]
        if self._unit and unit != self._unit:
            self._end(patient=True)
            changed = ", ".join(
                f"{name} {unit[name]}, {was} before" for name, was in self._unit.items() if unit[name] != was
            )
            raise DeviceError(f"{self.name} is another GPU now ({changed}): open the device again")
        self._unit = unit
        return opened

    def _end(self, *, patient: bool = False) -> str:
        """End the process; returns a clause for a message."""
        worker = self._workers.pop()
        if worker.end(patient=patient) is None:
            return f"its process {worker.process.pid} does not end even when killed, and was given up"
        return "its process was ended"

    def _answer(self, worker: _Worker, seconds: float, what: str, *, kernel: bool) -> Any:
        """The next answer of the process.

        Raises:
            MfmasimError: it died, or does not answer in time; then it is ended.
        """
        deadline = time.monotonic() + seconds
        try:
            while (left := deadline - time.monotonic()) > 0:
                if worker.connection.poll(min(left, 1.0)):
                    return worker.connection.recv()
        except (EOFError, ConnectionError):
            raise self._died(what, kernel=kernel) from None
        except BaseException:  # an interrupt: the process's work is no longer needed
            self._end()
            raise
        raise TimeOutError(f"{self.name}: {what}: no answer within {seconds:.0f} s; {self._end()}")

    def _died(self, what: str, *, kernel: bool) -> DeviceError:
        """A sentence about the end of the process; only an end that a kernel can cause is called its fault."""
        code = self._workers.pop().end(patient=True)
        if code is None:
            return DeviceError(f"{self.name}: {what}: the connection to the device's process was lost")
        how = f"exit code {code}"
        if code < 0:
            how = signal.Signals(-code).name if -code in {one.value for one in signal.Signals} else f"signal {-code}"
        if kernel and -code in FAULTS:
            return FaultError(
                f"{self.name}: {what} ended the device's process ({how}), as a memory fault on a GPU does"
            )
        killed = ": it was ended from outside, for instance for want of memory" if code == -signal.SIGKILL else ""
        return DeviceError(f"{self.name}: the device's process ended during {what} ({how}){killed}")

    def _ask(self, request: str, content: object, seconds: float, what: str) -> Any:
        """Send a request and return its result; threads wait for each other.

        Raises:
            MfmasimError: the request failed, or ended the process.
        """
        with self._lock:
            if self._asking:
                raise MfmasimError(
                    f"{self.name}: {what} while this thread waits for {self._asking}, as from a signal handler; "
                    "let that end first"
                )
            self._asking = what
            try:
                try:
                    worker = self._sent((request, content))
                except ConnectionError:  # it ended before this request: the next process takes it
                    self._died(what, kernel=False)
                    worker = self._sent((request, content))
                answer = self._answer(worker, seconds, what, kernel=request == "launch")
                if answer[0] == "done":
                    return answer[1]
                if answer[2]:
                    self._end(patient=True)
                raise answer[1]
            finally:
                self._asking = ""

    def _sent(self, message: tuple[str, Any]) -> _Worker:
        """Send a request to the process, which is started if there is none."""
        if not self._workers:
            self._start()
            self.restarts += 1
        worker = self._workers[0]
        try:
            worker.connection.send(message)
        except ConnectionError:
            raise
        except BaseException:  # an interrupt: the process cannot use half a message
            self._end()
            raise
        return worker

    def close(self) -> None:
        """End the process; the next launch opens the GPU anew."""
        with self._lock:
            if self._workers:
                self._end(patient=True)

    reset = close

    def versions(self) -> dict[str, int]:
        """Versions of the driver and of the runtime, as HIP encodes them."""
        found: dict[str, int] = self._ask("versions", (), START_SECONDS, "versions")
        return found

    def details(self, attributes: Mapping[str, int]) -> dict[str, Any]:
        """Attributes that distinguish the device from others of its product; see `HipDevice.details`."""
        found: dict[str, Any] = self._ask("details", (dict(attributes),), START_SECONDS, "details")
        return found

    def launch(
        self,
        kernel: Kernel,
        grid: object,
        block: object,
        args: Arguments,
        shared_bytes: int = 0,
        checks: str | Sequence[str] | None = "all",
        *,
        undefined: Sequence[int | str | NDArray[Any]] = (),
        buffers: Mapping[int, Any] | None = None,
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
            options: arguments for the simulator only (observers, budget, ...); rejected unless empty.

        Returns:
            The report, with the time between two events around the launch. Instructions are not counted.

        Raises:
            MfmasimError: bad arguments; a kernel for another architecture; any error of HIP; the kernel hangs, or ends
                the process that held the GPU. The next launch works on the same GPU.
        """
        del undefined
        refuse(self.name, checks, options)
        sizes = check_call(kernel, grid, block, args, shared_bytes)
        arrays, given = distinct(kernel, args, buffers)
        seconds = default_timeout(math.prod(sizes.grid)) if timeout is None else timeout
        slow = LIMIT if self.simulated and timeout is None and not os.environ.get(TIMEOUT) else seconds + TRANSFER
        content = {
            "code": (kernel.code.sha256, kernel.code.object.data, kernel.code.arch.name),
            "kernel": kernel.name,
            "grid": sizes.grid,
            "block": sizes.block,
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


def _finish(workers: list[_Worker], owner: int) -> None:
    """At the end of the owner the processes end by themselves, so that they can finish their writes."""
    if os.getpid() == owner:
        while workers:
            workers.pop().end(patient=True)


_DEVICES: weakref.WeakSet[IsolatedHip] = weakref.WeakSet()


def _forked() -> None:
    for device in list(_DEVICES):
        device.forget()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forked)
