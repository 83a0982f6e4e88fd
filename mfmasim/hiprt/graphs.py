"""Graphs: recorded work that is executed at every launch of the graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mfmasim.hiprt.registry import HipFailure

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.hiprt.work import Clock

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
    """Nodes that must be executed before."""
    handle: int = 0
    origin: tuple[str, str | int] = ("", "")
    """The call that made the node, and its place in the program."""

    @property
    def on_host(self) -> bool:
        """Whether it is a function of the program."""
        return self.kind == HOST


@dataclass(eq=False)
class Graph:
    """Nodes with their dependencies."""

    nodes: list[Node] = field(default_factory=list)
    device: int = 0

    def order(self) -> list[Node]:
        """The nodes, each after its dependencies, otherwise in the order of their addition.

        Raises:
            HipFailure: the dependencies are cyclic.
        """
        ordered: list[Node] = []
        left = list(self.nodes)
        while left:
            ready = next((node for node in left if all(before in ordered for before in node.after)), None)
            if ready is None:
                raise HipFailure(INVALID_VALUE, "the dependencies of the graph's nodes are cyclic")
            left.remove(ready)
            ordered.append(ready)
        return ordered


@dataclass(eq=False)
class Executable:
    """An executable graph: its nodes keep the parameters that they had at instantiation."""

    runs: dict[Node, Callable[[], object]]
    device: int = 0
    clock: Clock = field(default_factory=dict)
    """Clock of its last launch's completion, see `mfmasim.hiprt.order`."""

    @classmethod
    def of(cls, graph: Graph) -> Executable:
        """Instantiate a graph."""
        return cls({node: node.run for node in graph.order()}, graph.device)


@dataclass(eq=False)
class Capture:
    """Work that streams record instead of executing it."""

    origin: int
    """The stream that began the capture."""
    mode: int
    graph: Graph
    last: dict[int, list[Node]] = field(default_factory=dict)
    """For every capturing stream, the dependencies of its next node."""
    invalid: bool = False

    def add(self, stream: int, kind: int, run: Callable[[], object], origin: tuple[str, str | int]) -> None:
        """Record work of a stream.

        Args:
            stream: the stream.
            kind: kind of the node, one of `KINDS`.
            run: executes the work.
            origin: see `Node`.
        """
        node = Node(kind, run, list(self.last.get(stream, [])), origin=origin)
        self.graph.nodes.append(node)
        self.last[stream] = [node]
