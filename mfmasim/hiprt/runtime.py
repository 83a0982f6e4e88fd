"""The state of the simulated runtime, and the entry point of every call."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mfmasim.devices.kinds import LAUNCH_FAILED
from mfmasim.devices.options import chosen_checks, said_of
from mfmasim.errors import MfmasimError
from mfmasim.files import write_text
from mfmasim.hiprt.faults import COUNTS, UNWRITTEN, Faults, parse
from mfmasim.hiprt.graphs import INVALIDATED, KINDS, UNSUPPORTED
from mfmasim.hiprt.heap import HOST, INTERNAL, Heap
from mfmasim.hiprt.order import Order
from mfmasim.hiprt.registry import CALLS, HipFailure
from mfmasim.hiprt.sharing import Sharing
from mfmasim.hiprt.sites import Sites
from mfmasim.hiprt.tables.errors import ERRORS
from mfmasim.hiprt.tables.unserved import reason
from mfmasim.hiprt.written import Written
from mfmasim.observe import Finding, next_command
from mfmasim.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mfmasim.architectures import Arch
    from mfmasim.devices import Report
    from mfmasim.hiprt.graphs import Capture, Node
    from mfmasim.hiprt.heap import Allocation
    from mfmasim.hiprt.registry import Call
    from mfmasim.hiprt.settings import Settings
    from mfmasim.hiprt.work import Clock
    from mfmasim.kernels import Code, Kernel
    from mfmasim.machine.state.memory import Memory, Region
    from mfmasim.observe.finding import Kind

INVALID_VALUE, INVALID_DEVICE, INVALID_HANDLE, NOT_SUPPORTED, NO_DEVICE = 1, 101, 400, 801, 100
NOT_READY, RTC_INTERNAL = 600, 11
MOST_NESTED = 64
"""Host functions within host functions; each takes frames of the stacks of Python and C."""
T = TypeVar("T")
STREAMS = (0, 1, 2)
"""Predefined handles: the null stream, hipStreamLegacy, hipStreamPerThread."""


def say(text: str) -> None:
    """Print one line to standard error."""
    print(f"mfmasim: {visible(' '.join(text.split()))}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Module:
    """A loaded code object."""

    code: Code
    image: int
    """Address of the file's offset 0."""
    device: int
    regions: tuple[Region, ...]


@dataclass(frozen=True)
class Function:
    """A kernel of a module."""

    module: Module
    kernel: Kernel


@dataclass(frozen=True)
class Stream:
    """A stream; its work is complete when the call returns."""

    device: int
    flags: int = 0
    priority: int = 0


@dataclass
class Event:
    """An event."""

    device: int
    flags: int = 0
    recorded: int | None = None
    """Nanoseconds of a steady clock."""
    clock: Clock | None = None
    """Clock of the work that is complete at the event, see `mfmasim.hiprt.order`."""
    captured: tuple[Capture, list[Node]] | None = None
    """Dependencies, if a capturing stream recorded the event."""


@dataclass(frozen=True)
class Registered:
    """Registered memory of the program, and its copy in the heap during a launch."""

    address: int
    size: int
    twin: int
    """Address for kernels."""


@dataclass
class Service:
    """State shared by the launches of one device."""

    pieces: dict[str, Allocation] = field(default_factory=dict)
    """The launches' own memory, by name; it grows with them."""
    memory: tuple[tuple[int, Kernel, tuple[Region, ...]], Memory] | None = None
    """The memory of the last launch, and its key."""


@dataclass(frozen=True)
class Symbol:
    """A kernel or variable that the program knows by an address of its own."""

    image: int
    """Handle of the registration of its device code."""
    name: str
    size: int = 0
    managed: int = 0
    """Address of a managed variable's bytes; 0 for others."""


@dataclass
class Program:
    """The program's registered device code, see `mfmasim.hiprt.calls.programs`."""

    images: dict[int, int] = field(default_factory=dict)
    """Address of the code object or bundle, by handle."""
    kernels: dict[int, Symbol] = field(default_factory=dict)
    """Kernels by the address of their host function."""
    variables: dict[int, Symbol] = field(default_factory=dict)
    """Variables by the address of their host variable."""
    modules: dict[tuple[int, int], Module] = field(default_factory=dict)
    """Loaded modules by handle and device."""


@dataclass
class Counts:
    """Events of the run, for the report."""

    launches: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    remarks: list[Finding] = field(default_factory=list)
    """Findings of severity info of checks that only run when they are named; they do not change the exit code."""
    unserved: Counter[str] = field(default_factory=Counter)


class Runtime:
    """Devices, memory, handles and errors of a process."""

    def __init__(self, settings: Settings, library: str = "") -> None:
        """Start with nothing allocated; `library` is the path of the library that is served."""
        self.settings = settings
        self.library = library
        self.archs: tuple[Arch, ...] = settings.archs
        self.heap = Heap(settings.memory, max(len(self.archs), 1))
        if "uninitialised" in chosen_checks(settings.checks):
            self.heap.written = Written(self.heap.base, len(self.heap.arena))
        self.sharing = Sharing(self.heap)
        self.handles: dict[int, Any] = {}
        self.peers: set[tuple[int, int]] = set()
        self.failed: dict[int, int] = {}
        """Devices with a failed launch, and the error that every synchronisation with them returns."""
        self.hung: set[int] = set()
        """Devices whose work never ends."""
        self.lost = 0
        """The error that every call returns after a device was lost."""
        self.codes: dict[tuple[bytes, str], Code] = {}
        """Code objects by hash and architecture."""
        self.services: dict[int, Service] = {}
        self.captures: dict[int, Capture] = {}
        """Capturing streams, by handle."""
        self.capture_mode = 0
        self.registered: dict[int, Registered] = {}
        """Registered memory of the program, by address."""
        self.pools: dict[int, list[int]] = {}
        """Handles of the default and the current memory pool, by device."""
        self.kernel_heaps: dict[int, int] = {}
        """Addresses of the heaps whose size the program has chosen, by device; see `mfmasim.hiprt.limits`."""
        self.program = Program()
        self.texts: dict[str, Any] = {}
        """Zero-terminated texts to which the program got pointers."""
        self.counts = Counts()
        self.sites = Sites(library)
        self.reported: Callable[[Report, float], None] | None = None
        """Called with the report and the seconds of every launch, if a program's results are recorded."""
        self.order = Order(self) if settings.streams else None
        """Order between streams, if it is followed."""
        self._unasked: list[tuple[str, str | int]] = []
        """Launches by ``<<< >>>`` that failed since the program last asked for errors, and where they stand."""
        self._report = settings.report
        self.unwritten = False
        """Whether the report could not be written."""
        self._faults = Faults(list(settings.faults), shared=True)
        self._local = threading.local()
        self._nested = 0  # calls in progress, of the thread that has the lock
        self._lock = threading.RLock()  # launches of one device share the memory of their arguments
        self._next = 0x1000

    @property
    def device(self) -> int:
        """The calling thread's device."""
        return getattr(self._local, "device", 0)

    @device.setter
    def device(self, number: int) -> None:
        self._local.device = self.checked(number)

    @property
    def error(self) -> int:
        """The calling thread's last error."""
        return getattr(self._local, "error", 0)

    @error.setter
    def error(self, code: int) -> None:
        self._local.error = code

    @property
    def arch(self) -> Arch:
        """Architecture of the calling thread's device."""
        return self.archs[self.device]

    def checked(self, device: int) -> int:
        """A device's number, after a range check."""
        if not 0 <= device < len(self.archs):
            raise HipFailure(INVALID_DEVICE if self.archs else NO_DEVICE)
        return device

    def add(self, thing: object) -> int:
        """Create a handle for an object."""
        self._next += 16
        self.handles[self._next] = thing
        return self._next

    def find(self, handle: int, kind: type[T]) -> T:
        """The object of a handle."""
        found = self.handles.get(handle)
        if not isinstance(found, kind):
            raise HipFailure(INVALID_HANDLE)
        return found

    def stream(self, handle: int) -> Stream:
        """The stream of a handle."""
        return Stream(self.device) if handle in STREAMS else self.find(handle, Stream)

    def modules(self, device: int) -> list[Module]:
        """Modules that are loaded on a device."""
        loaded = [*self.handles.values(), *self.program.modules.values()]
        return [one for one in loaded if isinstance(one, Module) and one.device == device]

    def home(self, address: int) -> int:
        """The host address of the bytes at an address: for registered memory the program's address."""
        for one in self.registered.values():
            if one.twin <= address < one.twin + one.size:
                return one.address + address - one.twin
        return address

    def twin(self, address: int) -> int:
        """The address for kernels of the bytes at an address: for registered memory, that of its copy in the heap."""
        for one in self.registered.values():
            if one.address <= address < one.address + one.size:
                return one.twin + address - one.address
        return address

    def wait(self, device: int | None = None) -> None:
        """Synchronise with a device: its work is complete, but may have failed."""
        device = self.device if device is None else device
        if device in self.hung:
            say("the device does not finish its work: this call waits forever")
            while True:  # an interrupt ends it, as it would not on hardware
                time.sleep(1)
        code = self.failed.get(device, 0)
        if code:
            self._lose(code)  # the context does not survive the fault of a kernel: from now on every call fails
            raise HipFailure(code)

    def ready(self, device: int) -> None:
        """Ask whether a device's work is complete."""
        if device in self.hung:
            raise HipFailure(NOT_READY)
        self.wait(device)

    def before_fork(self) -> None:
        """The program is about to fork: wait until no other thread is in a call."""
        self._lock.acquire()

    def after_fork(self) -> None:
        """The program has forked; this process is the parent."""
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """A child has its own copy of everything, and a report of its own, without what its parent counted."""
        self.counts = Counts()
        self._unasked.clear()
        if self.settings.report:
            self._report = f"{self.settings.report}.{os.getpid()}"
        self._lock.release()

    def answer(self, name: str, arguments: object) -> int:
        """Serve a call.

        Args:
            name: the call.
            arguments: its arguments as words, indexable.

        Returns:
            What the call returns.
        """
        with self._lock:
            self._nested += 1
            try:
                if self._nested > MOST_NESTED:
                    say(f"{name}: called by host functions that are nested {MOST_NESTED} deep; the call has no effect")
                    self.error = NOT_SUPPORTED
                    return NOT_SUPPORTED
                return self._answer(name, arguments)
            finally:
                self._nested -= 1

    def _answer(self, name: str, arguments: Any) -> int:
        self.counts.calls[name] += 1
        call = CALLS.get(name)
        if self.lost and not (call and call.keeps_error):
            return self.lost
        try:
            if call is None:
                self.counts.unserved[name] += 1
                code = RTC_INTERNAL if name.startswith("hiprtc") else NOT_SUPPORTED
                raise HipFailure(code, f"not served by the simulated HIP runtime: {reason(name)}")  # noqa: TRY301
            if not self._fails(name):
                words = [read(arguments[number]) for number, read in enumerate(call.readers)]
                if self.order is None:
                    return self._call(name, call, words)
                with self.order.call(name, words[call.stream] if call.stream >= 0 else -1, words):
                    return self._call(name, call, words)
        except HipFailure as failure:
            if failure.why:
                say(f"{name}: {failure.why}")
            if call is not None and call.capture == "kernel" and self.sites.by_chevrons():
                self._unasked.append((ERRORS.get(failure.code, ("an unknown error",))[0], self.sites.here()))
            if not (call and call.keeps_error):
                self.error = failure.code
            return failure.code
        return 0

    def _call(self, name: str, call: Call, words: list[Any]) -> int:
        """Execute a call, or record it in the capture of its stream."""
        capture = self.captures.get(words[call.stream]) if call.stream >= 0 else None
        if capture is not None and call.capture != "done":
            _capture(self, capture, name, call, words)
            return 0
        return call.function(self, *words) or 0

    def asked(self) -> None:
        """The program asks for the last error."""
        self._unasked.clear()

    @property
    def twins(self) -> set[int]:
        """Addresses of the copies of registered memory."""
        return {one.twin for one in self.registered.values()}

    def found(self, kind: Kind, source: str, text: str) -> None:
        """Print and count a finding of the runtime itself.

        Args:
            kind: its kind.
            source: ``file:line`` of the program, or empty.
            text: the message.
        """
        finding = Finding(kind.check, kind.severity, text, kind.id, source=source)
        self.counts.findings.append(finding)
        say(finding.line())

    def finish(self) -> None:
        """The program ends: errors that it never asked for are findings; write the report."""
        if self.order is not None:
            self.order.finish()
        for why, site in self._unasked:
            text = f"the launch failed with {why}, and the program never asked for the error (hipGetLastError)"
            self.found(LAUNCH_FAILED, self.sites.text(site), text)
        self._unasked.clear()
        if self.counts.launches and (text := said_of(*self.settings.judged)):
            say(text)
        if explain := next_command(self.counts.findings):
            say(explain)
        self.write_report()

    def _fails(self, name: str) -> bool:
        """Whether a fault replaces the call, which then has no effect."""
        fault = self._faults.of(name)
        if fault is None:
            return False
        if fault.when == "abort":
            say(f"{name}: the process aborts (injected)")
            os.abort()
        if fault.when == "hang":
            self.hung.add(self.device)
            return True
        if fault.when == "sync":
            self.failed[self.device] = fault.code
            return True
        if fault.when == "forever":
            self._lose(fault.code)
        raise HipFailure(fault.code)

    def _lose(self, code: int) -> None:
        """Every later call fails, and the device's memory is lost."""
        self.lost = code
        for allocation in self.heap.allocations:
            self.heap.free(allocation.address)
        self.sharing.forget()
        self.services.clear()
        self.handles.clear()
        self.captures.clear()
        self.registered.clear()
        self.program.modules.clear()
        self.pools.clear()
        self.kernel_heaps.clear()

    def inject(self, faults: str) -> None:
        """Replace the faults, see `mfmasim.hiprt.faults`; counts and device errors are reset."""
        self._faults = Faults(parse(faults))
        self.lost = 0
        self.failed.clear()
        self.hung.clear()

    def report(self) -> dict[str, Any]:
        """A summary of the run, for JSON."""
        live = [a for a in self.heap.allocations if a.kind != INTERNAL]
        own = {pools[0] for pools in self.pools.values()}  # a device's default pool is its own
        return {
            "devices": [arch.name for arch in self.archs],
            "launches": self.counts.launches,
            "calls": dict(sorted(self.counts.calls.items())),
            "unserved": dict(sorted(self.counts.unserved.items())),
            "checks": dict(zip(("ran", "not_run"), map(list, self.settings.judged), strict=True)),
            "findings": [finding.record() for finding in self.counts.findings],
            "remarks": [finding.record() for finding in self.counts.remarks],
            "live": [{"name": a.name, "size": a.size, "pinned": a.kind == HOST} for a in live],
            "handles": Counter(type(thing).__name__ for handle, thing in self.handles.items() if handle not in own),
        }

    def write_report(self) -> None:
        """Write the summary to the report file, whole or not at all."""
        if self._report:
            try:
                write_text(Path(self._report), json.dumps(self.report(), indent=1) + "\n")
            except MfmasimError as error:
                self.unwritten = True
                if counts := os.environ.get(COUNTS):
                    with suppress(OSError):
                        Path(f"{counts}{UNWRITTEN}").touch()
                say(str(error))


def _capture(rt: Runtime, capture: Capture, name: str, call: Call, words: Sequence[Any]) -> None:
    """Record a call in a capture.

    Args:
        rt: the runtime.
        capture: the capture of the call's stream.
        name: name of the call, for the error.
        call: the call.
        words: its arguments.

    Raises:
        HipFailure: the call cannot be captured, which invalidates the capture, or the capture is already invalid.
    """
    if capture.invalid:
        raise HipFailure(INVALIDATED)
    if call.capture not in KINDS:
        capture.invalid = True
        raise HipFailure(UNSUPPORTED, f"{name} cannot be captured; the capture of this stream is invalid")
    run = call.freeze(rt, *words) if call.freeze is not None else lambda: call.function(rt, *words)
    origin = rt.order.origin() if rt.order is not None else ("", "")
    capture.add(words[call.stream], KINDS[call.capture], run, origin)
