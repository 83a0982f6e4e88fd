"""Graphs: stream capture, nodes added by explicit calls, launches of both."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

from mfmasim.hiprt.calls.copies import copy, fill_rows
from mfmasim.hiprt.calls.modules import freeze_launch
from mfmasim.hiprt.graphs import CHILD, EMPTY, HOST, KERNEL, MEMCPY, MEMSET, Capture, Executable, Graph, Node
from mfmasim.hiprt.linking import function_of
from mfmasim.hiprt.registry import HipFailure, Int, Pointer, Size, UInt, serve
from mfmasim.hiprt.runtime import STREAMS, Runtime
from mfmasim.hiprt.words import put_int, put_word, words_at

INVALID_VALUE, ILLEGAL_STATE, UNSUPPORTED, INVALIDATED, UNMATCHED, UNJOINED = 1, 401, 900, 901, 903, 904
NONE, ACTIVE, INVALID = 0, 1, 2
"""hipStreamCaptureStatus."""


class Dim3(ctypes.Structure):
    """dim3."""

    _fields_ = (("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32))


class KernelParams(ctypes.Structure):
    """hipKernelNodeParams of hip_runtime_api.h."""

    _fields_ = (
        ("block", Dim3), ("extra", ctypes.c_void_p), ("function", ctypes.c_void_p), ("grid", Dim3),
        ("params", ctypes.c_void_p), ("shared", ctypes.c_uint),
    )  # fmt: skip


class MemsetParams(ctypes.Structure):
    """hipMemsetParams of hip_runtime_api.h."""

    _fields_ = (
        ("to", ctypes.c_void_p), ("size", ctypes.c_uint), ("height", ctypes.c_size_t), ("pitch", ctypes.c_size_t),
        ("value", ctypes.c_uint), ("width", ctypes.c_size_t),
    )  # fmt: skip


# --- capture


@serve(capture="done")
def hipStreamBeginCapture(rt: Runtime, stream: Pointer, mode: Int) -> None:
    if stream in STREAMS:
        raise HipFailure(UNSUPPORTED, "the null stream cannot capture; create a stream")
    device = rt.stream(stream).device
    if mode not in (0, 1, 2):
        raise HipFailure(INVALID_VALUE)
    if stream in rt.captures:
        raise HipFailure(ILLEGAL_STATE)
    rt.captures[stream] = Capture(stream, mode, Graph(device=device))


@serve(capture="done")
def hipStreamEndCapture(rt: Runtime, stream: Pointer, out: Pointer) -> None:
    capture = rt.captures.get(stream)
    put_word(out, 0)
    if capture is None:
        rt.stream(stream)
        raise HipFailure(ILLEGAL_STATE)
    if capture.origin != stream:
        raise HipFailure(UNMATCHED)
    joined = [other for other, one in rt.captures.items() if one is capture]
    for other in joined:
        del rt.captures[other]
    if capture.invalid:
        raise HipFailure(INVALIDATED)
    # Work of another stream on which the first one never waited.
    reached: list[Node] = []
    todo = list(capture.last.get(stream, []))
    while todo:
        node = todo.pop()
        if node not in reached:
            reached.append(node)
            todo += node.after
    if any(node not in reached for node in capture.graph.nodes):
        raise HipFailure(UNJOINED, "the stream that began the capture did not wait for a stream that joined it")
    put_word(out, rt.add(capture.graph))


def _status(rt: Runtime, stream: int) -> int:
    rt.stream(stream)
    capture = rt.captures.get(stream)
    return NONE if capture is None else INVALID if capture.invalid else ACTIVE


@serve(capture="done")
def hipStreamIsCapturing(rt: Runtime, stream: Pointer, out: Pointer) -> None:
    put_int(out, _status(rt, stream))


@serve(capture="done")
def hipStreamGetCaptureInfo(rt: Runtime, stream: Pointer, out: Pointer, number: Pointer) -> None:
    put_int(out, _status(rt, stream))
    if number:
        put_word(number, rt.captures[stream].origin if stream in rt.captures else 0)


@serve()
def hipThreadExchangeStreamCaptureMode(rt: Runtime, mode: Pointer) -> None:
    (given,) = words_at(mode, 1)
    put_int(mode, rt.capture_mode)
    rt.capture_mode = given & 3


# --- graphs by hand


@serve()
def hipGraphCreate(rt: Runtime, out: Pointer, flags: UInt) -> None:
    if flags:
        raise HipFailure(INVALID_VALUE)
    put_word(out, rt.add(Graph(device=rt.checked(rt.device))))


@serve()
def hipGraphDestroy(rt: Runtime, graph: Pointer) -> None:
    for node in rt.find(graph, Graph).nodes:
        rt.handles.pop(node.handle, None)
    del rt.handles[graph]


@serve()
def hipGraphClone(rt: Runtime, out: Pointer, graph: Pointer) -> None:
    found = rt.find(graph, Graph)
    twin = {node: Node(node.kind, node.run, origin=node.origin) for node in found.nodes}
    for node, new in twin.items():
        new.after = [twin[before] for before in node.after]
    put_word(out, rt.add(Graph(list(twin.values()), found.device)))


def _add(rt: Runtime, out: int, graph: int, before: int, count: int, kind: int, run: Callable[[], object]) -> None:
    found = rt.find(graph, Graph)
    after = [rt.find(handle, Node) for handle in words_at(before, count)] if count else []
    if any(node not in found.nodes for node in after):
        raise HipFailure(INVALID_VALUE, "a node depends on a node of another graph")
    node = Node(kind, run, after, origin=rt.order.origin() if rt.order is not None else ("", ""))
    put_word(out, _handle(rt, node))
    found.nodes.append(node)


def _handle(rt: Runtime, node: Node) -> int:
    node.handle = node.handle or rt.add(node)
    return node.handle


def _launch(rt: Runtime, place: int) -> Callable[[], None]:
    if not place:
        raise HipFailure(INVALID_VALUE)
    given = KernelParams.from_address(place)
    found = function_of(rt, given.function or 0)
    grid, block = ((size.x, size.y, size.z) for size in (given.grid, given.block))
    return freeze_launch(rt, found, (*grid, *block), given.shared, given.params or 0, given.extra or 0)


@serve()
def hipGraphAddKernelNode(
    rt: Runtime, out: Pointer, graph: Pointer, before: Pointer, count: Size, params: Pointer
) -> None:
    _add(rt, out, graph, before, count, KERNEL, _launch(rt, params))


@serve()
def hipGraphAddMemcpyNode1D(
    rt: Runtime,
    out: Pointer,
    graph: Pointer,
    before: Pointer,
    count: Size,
    to: Pointer,
    source: Pointer,
    size: Size,
    kind: Int,
) -> None:
    _add(rt, out, graph, before, count, MEMCPY, lambda: copy(rt, to, source, size, kind))


@serve()
def hipGraphAddMemsetNode(
    rt: Runtime, out: Pointer, graph: Pointer, before: Pointer, count: Size, params: Pointer
) -> None:
    if not params:
        raise HipFailure(INVALID_VALUE)
    given = MemsetParams.from_address(params)
    to, size, height, pitch, value, width = (getattr(given, name) for name, *_ in MemsetParams._fields_)
    if size not in (1, 2, 4):
        raise HipFailure(INVALID_VALUE, f"elements of {size} bytes: expected 1, 2 or 4")
    _add(rt, out, graph, before, count, MEMSET, lambda: fill_rows(rt, to or 0, pitch, value, width, height, size))


@serve()
def hipGraphAddHostNode(
    rt: Runtime, out: Pointer, graph: Pointer, before: Pointer, count: Size, params: Pointer
) -> None:
    function, data = words_at(params, 2)
    if not function:
        raise HipFailure(INVALID_VALUE)
    called = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function)
    _add(rt, out, graph, before, count, HOST, lambda: called(data))


@serve()
def hipGraphAddEmptyNode(rt: Runtime, out: Pointer, graph: Pointer, before: Pointer, count: Size) -> None:
    _add(rt, out, graph, before, count, EMPTY, lambda: None)


@serve()
def hipGraphAddChildGraphNode(
    rt: Runtime, out: Pointer, graph: Pointer, before: Pointer, count: Size, child: Pointer
) -> None:
    inner = Executable.of(rt.find(child, Graph))
    _add(rt, out, graph, before, count, CHILD, lambda: _run(rt, inner))


@serve()
def hipGraphAddDependencies(rt: Runtime, graph: Pointer, first: Pointer, then: Pointer, count: Size) -> None:
    known = rt.find(graph, Graph).nodes
    if not count:
        return
    pairs = [
        (rt.find(a, Node), rt.find(b, Node)) for a, b in zip(words_at(first, count), words_at(then, count), strict=True)
    ]
    if any(a not in known or b not in known or a is b for a, b in pairs):
        raise HipFailure(INVALID_VALUE)
    for before, node in pairs:
        node.after.append(before)


def _list(rt: Runtime, nodes: Sequence[Node], out: int, count: int) -> None:
    """Write nodes to the caller's array, as many as fit; without an array only their number."""
    if out:
        (length,) = words_at(count, 1)
        for place, node in enumerate(nodes[:length]):
            put_word(out + 8 * place, _handle(rt, node))
        nodes = nodes[:length]
    put_word(count, len(nodes))


@serve()
def hipGraphGetNodes(rt: Runtime, graph: Pointer, out: Pointer, count: Pointer) -> None:
    _list(rt, rt.find(graph, Graph).nodes, out, count)


@serve()
def hipGraphGetRootNodes(rt: Runtime, graph: Pointer, out: Pointer, count: Pointer) -> None:
    _list(rt, [node for node in rt.find(graph, Graph).nodes if not node.after], out, count)


@serve()
def hipGraphNodeGetDependencies(rt: Runtime, node: Pointer, out: Pointer, count: Pointer) -> None:
    _list(rt, rt.find(node, Node).after, out, count)


@serve()
def hipGraphNodeGetType(rt: Runtime, node: Pointer, out: Pointer) -> None:
    put_int(out, rt.find(node, Node).kind)


@serve()
def hipGraphKernelNodeSetParams(rt: Runtime, node: Pointer, params: Pointer) -> None:
    rt.find(node, Node).run = _launch(rt, params)


# --- launches


@serve()
def hipGraphInstantiate(rt: Runtime, out: Pointer, graph: Pointer, wrong: Pointer, log: Pointer, length: Size) -> None:
    for place in (wrong, log if length else 0):
        if place:
            ctypes.memset(place, 0, 1 if place == log else 8)
    put_word(out, rt.add(Executable.of(rt.find(graph, Graph))))


@serve()
def hipGraphInstantiateWithFlags(rt: Runtime, out: Pointer, graph: Pointer, flags: Size) -> None:
    put_word(out, rt.add(Executable.of(rt.find(graph, Graph))))


@serve()
def hipGraphExecKernelNodeSetParams(rt: Runtime, graph_exec: Pointer, node: Pointer, params: Pointer) -> None:
    _exchange(rt, graph_exec, node, _launch(rt, params))


@serve()
def hipGraphExecMemcpyNodeSetParams1D(
    rt: Runtime, graph_exec: Pointer, node: Pointer, to: Pointer, source: Pointer, size: Size, kind: Int
) -> None:
    _exchange(rt, graph_exec, node, lambda: copy(rt, to, source, size, kind))


def _exchange(rt: Runtime, graph_exec: int, node: int, run: Callable[[], object]) -> None:
    runs = rt.find(graph_exec, Executable).runs
    found = rt.find(node, Node)
    if found not in runs:
        raise HipFailure(INVALID_VALUE)
    runs[found] = run


def _run(rt: Runtime, graph: Executable) -> None:
    if rt.order is not None:
        graph.clock = rt.order.graph(graph.runs, graph.clock)
        return
    for run in graph.runs.values():
        run()


@serve()
def hipGraphLaunch(rt: Runtime, graph_exec: Pointer, stream: Pointer) -> None:
    rt.stream(stream)
    _run(rt, rt.find(graph_exec, Executable))


@serve(capture="done")
def hipGraphUpload(rt: Runtime, graph_exec: Pointer, stream: Pointer) -> None:
    rt.stream(stream)
    rt.find(graph_exec, Executable)


@serve()
def hipGraphExecDestroy(rt: Runtime, graph_exec: Pointer) -> None:
    rt.find(graph_exec, Executable)
    del rt.handles[graph_exec]
