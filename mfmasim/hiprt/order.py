"""Order between streams, events, graphs and the host: the check ``streams``.

The runtime completes every call before it returns, which is one of the orders that a program allows. The check follows
the guaranteed order, as clocks: for each stream, the work that is complete before a piece of work. Two pieces of work
that access the same bytes without an order are a race if one of them writes, for all values.

Sources: HIP documentation, hipMemcpyAsync (memory that is not pinned is copied synchronously), hipFree and hipHostFree
(implicit hipDeviceSynchronize), "Null stream": it waits for blocking streams, and blocking streams wait for it.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mfmasim.devices.kinds import STREAMS_FREED, STREAMS_HOST, STREAMS_RACE
from mfmasim.hiprt.pages import Pages
from mfmasim.hiprt.work import ATOMIC, READ, STORED, Clock, Key, Work, joined
from mfmasim.machine.state.touched_bytes import Runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mfmasim.hiprt.graphs import Node
    from mfmasim.hiprt.heap import Allocation, Heap
    from mfmasim.hiprt.sites import Sites
    from mfmasim.machine.state.touched_bytes import Touched
    from mfmasim.observe.finding import Kind

NULL, LEGACY, PER_THREAD = 0, 1, 2
NON_BLOCKING = 1
"""hipStreamNonBlocking."""
MOST = 512
"""Pieces of work in flight that are kept; the oldest are dropped."""
OF_STREAM = (
    "hipStreamSynchronize",
    "hipStreamQuery",
    "hipLaunchHostFunc",
    "hipStreamAddCallback",
    "hipMemcpyWithStream",
)
"""Calls after which the host knows that the work of their stream is complete; a host function may tell it."""
OF_DEVICE = ("hipDeviceSynchronize", "hipCtxSynchronize")
OF_ALL = (
    "hipFree", "hipHostFree", "hipFreeHost", "hipHostUnregister", "hipDeviceReset", "hipModuleUnload",
)  # fmt: skip
OF_EVENTS = {"hipEventSynchronize": (0,), "hipEventQuery": (0,), "hipEventElapsedTime": (1, 2)}
"""Indices of arguments that are events, by call."""
BEGINS = (
    "hipStreamCreate", "hipHostMalloc", "hipHostAlloc", "hipMallocHost", "hipMemAllocHost", "hipMallocManaged",
    "programManaged",
)  # fmt: skip
"""Prefixes of calls without which every access is in order: before such a call nothing is followed."""
ALLOCATING, FREEING = ("hipMallocAsync", "hipMallocFromPoolAsync"), "hipFreeAsync"


@dataclass
class Line:
    """A stream."""

    device: int
    blocking: bool
    clock: Clock = field(default_factory=dict)


@dataclass
class Context:
    """A call, or a node of a graph, in execution."""

    name: str
    site: str | int
    key: Key
    stream: str
    start: Clock | None = None
    """For a node, the clock before it; a call begins after the work of its stream."""
    work: Work | None = None


class Served(Protocol):
    """The part of the runtime that the check uses."""

    library: Any
    heap: Heap
    handles: dict[int, Any]
    sites: Sites

    @property
    def device(self) -> int:
        """The current device of this thread."""

    @property
    def twins(self) -> set[int]:
        """Addresses of the copies of registered memory."""

    def found(self, kind: Kind, source: str, text: str) -> None:
        """Print and count a finding.

        Args:
            kind: its kind.
            source: ``file:line`` of the program, or empty.
            text: the message.
        """


class Order:
    """Clocks of streams and of the host, and the work that may still be in flight."""

    def __init__(self, rt: Served) -> None:
        """Begin without work."""
        self._rt = rt
        self._pages = Pages(rt.library)
        self._lines: dict[Key, Line] = {}
        self._host: Clock = {}
        self._numbers: Clock = {}
        self._flying: list[Work] = []
        self._context: Context | None = None
        self._graphs = 0
        self._reported: set[tuple[str, ...]] = set()
        self._follows = False

    # --- calls

    @contextmanager
    def call(self, name: str, stream: int, words: Sequence[Any]) -> Iterator[None]:
        """Follow a call: its accesses are its work, and it may order earlier work.

        Args:
            name: the call.
            stream: handle of its stream; -1 if it has none.
            words: its arguments.
        """
        name = name.removesuffix("_spt") if (own := name.endswith("_spt")) else name
        self._follows = self._follows or own or name.startswith(BEGINS)
        if not self._follows:
            yield
            return
        outer, key = self._context, self._key(stream if stream >= 0 else NULL, own)
        self._visit()
        self._context = context = Context(name, self._rt.sites.here(), key, self._title(key))
        try:
            yield
            self._end(context)
            self._order(context, stream >= 0, words)
        finally:
            self._context = outer
            if outer is None:
                self._pages.protect(self._flying, self._rt.heap.allocations, self._rt.twins)

    def _key(self, stream: int, own: bool) -> Key:
        """The line of work of a stream; `own`: the call's null stream is the thread's."""
        rt = self._rt
        if stream == PER_THREAD or (own and stream == NULL):
            key = ("thread", rt.device, threading.get_ident())
            self._lines.setdefault(key, Line(rt.device, blocking=True))
        elif stream in (NULL, LEGACY):
            key = ("null", rt.device, 0)
            self._lines.setdefault(key, Line(rt.device, blocking=False))
        else:
            key = ("stream", stream, 0)
            if key not in self._lines:
                found = rt.handles.get(stream)
                flags = getattr(found, "flags", 0)
                self._lines[key] = Line(getattr(found, "device", rt.device), blocking=not flags & NON_BLOCKING)
        return key

    def _title(self, key: Key) -> str:
        """The name of a stream, by the order of creation."""
        if key[0] != "stream":
            return "the null stream" if key[0] == "null" else "the thread's stream"
        streams = [one for one in self._lines if one[0] == "stream"]
        return f"stream {streams.index(key) + 1}"

    def _now(self, key: Key) -> Clock:
        """Clock of the work that is complete before the next work of a stream."""
        line = self._lines[key]
        before = [self._host, line.clock]
        null = ("null", line.device, 0)
        if key == null:
            before += [one.clock for one in self._lines.values() if one.blocking and one.device == line.device]
        elif line.blocking and null in self._lines:
            before.append(self._lines[null].clock)
        return joined(before)

    def _order(self, context: Context, streamed: bool, words: Sequence[Any]) -> None:
        """Apply the order that a call establishes, after its work."""
        name, work, rt = context.name, context.work, self._rt
        if work is not None and (not streamed or work.pageable):
            self._join(work.clock)
        if name in OF_STREAM:
            self._join(self._now(context.key))
        elif name in OF_DEVICE or name in OF_ALL:
            lines = [one.clock for one in self._lines.values() if name in OF_ALL or one.device == rt.device]
            self._join(joined(lines))
        elif name in OF_EVENTS:
            self._join(joined(self._event(words[number]) for number in OF_EVENTS[name]))
        elif name in ("hipEventRecord", "hipEventRecordWithFlags"):
            rt.handles[words[0]].clock = self._now(context.key)
        elif name == "hipStreamWaitEvent":
            line = self._lines[context.key]
            line.clock = joined([line.clock, self._event(words[1])])

    def recorded(self, event: Any) -> None:
        """Record an event in the stream of the call that is being served."""
        if self._context is not None:
            self._end(self._context)
            event.clock = self._now(self._context.key)

    def _event(self, handle: int) -> Clock:
        return getattr(self._rt.handles.get(handle), "clock", None) or {}

    def _join(self, clock: Clock) -> None:
        """The host has synchronised with a clock."""
        self._host = joined([self._host, clock])
        self._flying = [work for work in self._flying if self._host.get(work.key, 0) < work.number]

    # --- work

    def _work(self) -> Work | None:
        context = self._context
        if context is None:
            return None
        if context.work is None:
            start = self._now(context.key) if context.start is None else context.start
            context.work = Work(context.name, context.site, context.key, context.stream, start)
        return context.work

    def copies(self, to: int, source: int, size: int) -> None:
        """The call copies bytes.

        Args:
            to: destination, an address for kernels.
            source: source, an address for kernels.
            size: bytes.
        """
        work = self._work()
        if work is not None:
            for kind, address in ((READ, source), (STORED, to)):
                if self._rt.heap.holds(address):
                    work.touch(kind, address, size)
                else:
                    work.pageable = True

    def reads(self, source: int, size: int) -> None:
        """The call reads device memory."""
        work = self._work()
        if work is not None:
            work.touch(READ, source, size)

    def fills(self, to: int, size: int) -> None:
        """The call writes bytes, or begins or ends an allocation."""
        work = self._work()
        if work is not None and self._rt.heap.holds(to):
            work.touch(STORED, to, size)
            work.ends = work.name in (*ALLOCATING, FREEING)

    @property
    def listens(self) -> bool:
        """Whether the check needs the accesses of kernels."""
        return self._context is not None

    def launched(self, kernel: str, base: int, touched: Touched, own: Sequence[Allocation]) -> None:
        """The call has run a kernel.

        Args:
            kernel: its name.
            base: address of the first byte of `touched`.
            touched: its accesses.
            own: addresses of the launch's own memory: arguments, printf's buffer.
        """
        work = self._work()
        if work is None:
            return
        work.name = f"the kernel {kernel}"
        for kind, runs in ((READ, touched.read), (STORED, touched.stored), (ATOMIC, touched.atomic)):
            starts, ends = runs.starts + base, runs.ends + base
            kept = np.ones(len(starts), np.bool_)
            for one in own:
                kept &= (ends <= one.address) | (starts >= one.end)
            work.add(kind, Runs(starts[kept], ends[kept]))

    def _end(self, context: Context) -> None:
        """The work of a call or node is complete: compare it with other work in flight."""
        work = context.work
        if work is None or work.number:
            return
        work.close()
        told: set[str] = set()  # one report for a stream: its last conflicting work
        for other in reversed(self._flying):
            if other.stream not in told and not work.after(other) and self._compare(work, other):
                told.add(other.stream)
        number = self._numbers[work.key] = self._numbers.get(work.key, 0) + 1
        work.number = work.clock[work.key] = number
        if work.key in self._lines:
            self._lines[work.key].clock = work.clock
        self._flying = [*self._flying, work][-MOST:]

    # --- graphs

    def origin(self) -> tuple[str, str | int]:
        """The current call and its place in the program, for a node that it makes."""
        context = self._context
        return (context.name, context.site) if context is not None else ("", "")

    def graph(self, runs: Mapping[Node, Callable[[], object]], former: Clock) -> Clock:
        """Execute a graph, each node after those that it depends on.

        Args:
            runs: functions of the nodes, in an order of execution.
            former: clock of the same graph's previous launch.

        Returns:
            Clock of the completed work.
        """
        outer = self._context
        if outer is None:
            for run in runs.values():
                run()
            return {}
        base = joined([self._now(outer.key) if outer.start is None else outer.start, former])
        clocks: dict[Node, Clock] = {}
        self._graphs += 1
        try:
            for number, (node, run) in enumerate(runs.items()):
                start = joined([base, *(clocks[before] for before in node.after if before in clocks)])
                name, site = node.origin
                key = ("graph", self._graphs, number)
                self._context = context = Context(name, site, key, f"a graph on {outer.stream}", start)
                run()
                self._end(context)
                clocks[node] = context.work.clock if context.work is not None else start
                if node.on_host:
                    self._join(clocks[node])
        finally:
            self._context = outer
        done = joined([base, *clocks.values()])
        if outer.start is None:
            self._lines[outer.key].clock = done
        else:
            outer.start = done
        return done

    # --- findings

    def _named(self, address: int) -> str:
        """The name of a byte."""
        found = self._rt.heap.at(address)
        if found is None:
            freed = [one for one in self._rt.heap.freed if one.address <= address < one.address + one.size]
            return f"byte {address - freed[-1].address} of {freed[-1].name}" if freed else f"byte {address:#x}"
        return f"byte {address - found.address} of {found.name} ({found.size} bytes)"

    def _described(self, work: Work) -> str:
        where = self._rt.sites.text(work.site)
        return f"{work.name}{f' at {where}' if where else ''} ({work.stream})"

    def _compare(self, work: Work, other: Work) -> bool:
        """Report two unordered pieces of work that access the same bytes; returns whether they do."""
        for ours, theirs, address in work.clashes(other):
            freed = work.ends or other.ends
            verbs = ["frees or allocates" if one.ends else how for one, how in ((work, ours), (other, theirs))]
            text = (
                f"{self._described(work)} {verbs[0]} {self._named(address)}, which {self._described(other)} "
                f"{verbs[1]}: nothing orders the two; hipStreamWaitEvent on an event after the one, or a "
                "synchronisation, is missing before the other"
            )
            self._report(STREAMS_FREED if freed else STREAMS_RACE, work, (other.name, str(other.site)), text)
            return True
        return False

    def _visit(self) -> None:
        """Follow the program's own accesses since the last call."""
        for address, place, kind in self._pages.visited():
            for work in self._flying:
                how = work.at(address)
                if how and (how != READ or kind):
                    work.by_host = True
                    verb = ("reads", "writes", "accesses")[kind]
                    where = self._rt.sites.text(place + 1)
                    text = (
                        f"the host {verb} {self._named(address)}{f' at {where}' if where else ''}, which "
                        f"{self._described(work)} {how}: nothing orders the two; hipStreamSynchronize or another "
                        "synchronisation is missing before the access of the host"
                    )
                    self._report(STREAMS_HOST, work, (where,), text)
                    break

    def _report(self, kind: Kind, work: Work, other: tuple[str, ...], text: str) -> None:
        """Report a pair of places once."""
        key = (kind.id, str(work.site), work.name, *other)
        if key not in self._reported:
            self._reported.add(key)
            self._rt.found(kind, self._rt.sites.text(work.site), text)

    def finish(self) -> None:
        """The program ends."""
        self._visit()
