"""Graphs: work that is written down and done later, as often as it is launched."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mfmasim.hiprt.registry import HipFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mfmasim.hiprt.registry import Call
    from mfmasim.hiprt.runtime import Runtime

__all__ = ["KERNEL", "Capture", "Executable", "Graph", "Node", "capture_call"]

INVALID_VALUE, UNSUPPORTED, INVALIDATED = 1, 900, 901
KERNEL, MEMCPY, MEMSET, HOST, CHILD, EMPTY = 0, 1, 2, 3, 4, 5
"""hipGraphNodeType."""
KINDS = {"kernel": KERNEL, "memcpy": MEMCPY, "memset": MEMSET, "host": HOST}


@dataclass(eq=False)
class Node:
    """One piece of work."""

    kind: int
    run: Callable[[], object]
    after: list[Node] = field(default_factory=list)
    """What has to be done before."""
    handle: int = 0


@dataclass(eq=False)
class Graph:
    """Pieces of work and what comes before what."""

    nodes: list[Node] = field(default_factory=list)
    device: int = 0

    def order(self) -> list[Node]:
        """The nodes, each after those it depends on, otherwise as they were added.

        Raises:
            HipFailure: they depend on each other in a circle.
        """
        done: list[Node] = []
        left = list(self.nodes)
        while left:
            ready = next((node for node in left if all(before in done for before in node.after)), None)
            if ready is None:
                raise HipFailure(INVALID_VALUE, "the graph's nodes depend on each other in a circle")
            left.remove(ready)
            done.append(ready)
        return done


@dataclass(eq=False)
class Executable:
    """A graph that can be launched: what its nodes do is kept as it was when it was made."""

    runs: dict[Node, Callable[[], object]]
    device: int = 0

    @classmethod
    def of(cls, graph: Graph) -> Executable:
        """Make a graph ready to be launched."""
        return cls({node: node.run for node in graph.order()}, graph.device)


@dataclass(eq=False)
class Capture:
    """What streams write down in place of doing it."""

    origin: int
    """The stream that began."""
    mode: int
    graph: Graph
    last: dict[int, list[Node]] = field(default_factory=dict)
    """For every stream that takes part, what its next work has to wait for."""
    invalid: bool = False

    def add(self, stream: int, kind: int, run: Callable[[], object]) -> None:
        """Write down work of a stream."""
        node = Node(kind, run, list(self.last.get(stream, [])))
        self.graph.nodes.append(node)
        self.last[stream] = [node]


def capture_call(rt: Runtime, capture: Capture, name: str, call: Call, words: Sequence[Any]) -> None:
    """Write a call down in a capture.

    Raises:
        HipFailure: such a call cannot be captured, and invalidates the capture; or one before it did.
    """
    if capture.invalid:
        raise HipFailure(INVALIDATED)
    if call.capture not in KINDS:
        capture.invalid = True
        raise HipFailure(UNSUPPORTED, f"{name} cannot be captured; the capture of this stream is invalid")
    run = call.freeze(rt, *words) if call.freeze is not None else lambda: call.function(rt, *words)
    capture.add(words[call.stream], KINDS[call.capture], run)
