"""Programs with device code of their own: what clang registers before main, and launches by a host function's address.

The calls whose names begin with ``program`` come from ``native/programs.h``.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence

from mfmasim.hiprt.calls.modules import freeze_launch
from mfmasim.hiprt.heap import MANAGED
from mfmasim.hiprt.launching import Options
from mfmasim.hiprt.linking import function_of
from mfmasim.hiprt.registry import Int, Pointer, Size, Text, UInt, serve
from mfmasim.hiprt.runtime import Event, Runtime, Symbol
from mfmasim.hiprt.words import put_word


@serve(keeps_error=True)
def programReady(rt: Runtime) -> None:
    """Do nothing: the library has handed over what was noted."""


@serve(keeps_error=True)
def programRegister(rt: Runtime, handle: Pointer, image: Pointer) -> None:
    rt.program.images[handle] = image


@serve(keeps_error=True)
def programFunction(rt: Runtime, handle: Pointer, host: Pointer, name: Text) -> None:
    rt.program.kernels[host] = Symbol(handle, name)


@serve(keeps_error=True)
def programVariable(rt: Runtime, handle: Pointer, host: Pointer, name: Text, size: Size) -> None:
    rt.program.variables[host] = Symbol(handle, name, size)


@serve(keeps_error=True)
def programManaged(rt: Runtime, handle: Pointer, pointer: Pointer, initial: Pointer, name: Text, size: Size) -> None:
    made = rt.heap.allocate(size, MANAGED, 0, f"managed variable {name}")
    ctypes.memmove(made.address, initial, size)
    put_word(pointer, made.address)
    rt.program.variables[pointer] = Symbol(handle, name, size, made.address)


@serve(keeps_error=True)
def programUnregister(rt: Runtime, handle: Pointer) -> None:
    program = rt.program
    program.images.pop(handle, None)
    for symbols in (program.kernels, program.variables):
        for host in [host for host, symbol in symbols.items() if symbol.image == handle]:
            managed = symbols.pop(host).managed
            if managed and rt.heap.at(managed):
                rt.heap.free(managed)
    for key in [key for key in program.modules if key[0] == handle]:
        rt.heap.free(program.modules.pop(key).image)


def _prepared(rt: Runtime, options: Options, words: Sequence[int]) -> Callable[[], None]:
    """Check a launch by address and read its arguments; a dim3 is two words."""
    host, grid_xy, grid_z, block_xy, block_z, params, shared, stream = words
    sizes = [
        word >> shift & 0xFFFFFFFF
        for xy, z in ((grid_xy, grid_z), (block_xy, block_z))
        for word, shift in ((xy, 0), (xy, 32), (z, 0))
    ]
    function = function_of(rt, host, rt.stream(stream).device)
    return freeze_launch(rt, function, sizes, shared, params, 0, options)


def _freeze(rt: Runtime, *words: int) -> Callable[[], None]:
    return _prepared(rt, Options(), words)


def _freeze_cooperative(rt: Runtime, *words: int) -> Callable[[], None]:
    return _prepared(rt, Options(cooperative=True), words)


@serve(capture="kernel", freeze=_freeze)
def hipLaunchKernel(
    rt: Runtime,
    host: Pointer,
    grid_xy: Size,
    grid_z: Size,
    block_xy: Size,
    block_z: Size,
    params: Pointer,
    shared: Size,
    stream: Pointer,
) -> None:
    _freeze(rt, host, grid_xy, grid_z, block_xy, block_z, params, shared, stream)()


@serve(capture="kernel", freeze=_freeze_cooperative)
def hipLaunchCooperativeKernel(
    rt: Runtime,
    host: Pointer,
    grid_xy: Size,
    grid_z: Size,
    block_xy: Size,
    block_z: Size,
    params: Pointer,
    shared: UInt,
    stream: Pointer,
) -> None:
    _freeze_cooperative(rt, host, grid_xy, grid_z, block_xy, block_z, params, shared, stream)()


@serve()
def hipExtLaunchKernel(
    rt: Runtime,
    host: Pointer,
    grid_xy: Size,
    grid_z: Size,
    block_xy: Size,
    block_z: Size,
    params: Pointer,
    shared: Size,
    stream: Pointer,
    start: Pointer,
    stop: Pointer,
    flags: Int,
) -> None:
    for event in (start, stop):
        if event:
            rt.find(event, Event)
    run = _freeze(rt, host, grid_xy, grid_z, block_xy, block_z, params, shared, stream)
    if start:
        rt.find(start, Event).recorded = time.perf_counter_ns()
    run()
    if stop:
        ended = rt.find(stop, Event)
        ended.recorded = time.perf_counter_ns()
        if rt.order is not None:
            rt.order.recorded(ended)


@serve()
def hipGetFuncBySymbol(rt: Runtime, out: Pointer, host: Pointer) -> None:
    put_word(out, rt.add(function_of(rt, host)))
