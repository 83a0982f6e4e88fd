"""Launches with a configuration structure, and AMD's own: attributes, clusters, sizes in work-items."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence

from mfmasim.hiprt.calls.modules import freeze_launch
from mfmasim.hiprt.launching import Options
from mfmasim.hiprt.linking import function_of
from mfmasim.hiprt.registry import HipFailure, Pointer, Size, UInt, serve
from mfmasim.hiprt.runtime import Event, Function, Runtime

INVALID_VALUE, NOT_SUPPORTED, NOT_CAPTURED = 1, 801, 900
COOPERATIVE, CLUSTER = 2, 4
HINTS = (0, 3, 5, 8, 9, 10, 1024)
"""Attributes (hipLaunchAttributeID) that change no result: synchronisation policy, priority, order of clusters, domains
of memory synchronisation, prefetching."""


class Attribute(ctypes.Structure):
    """hipLaunchAttribute: its number, and the words of its value that are read."""

    _fields_ = (("number", ctypes.c_int), ("padding", ctypes.c_int), ("value", ctypes.c_uint * 16))


class Config(ctypes.Structure):
    """hipLaunchConfig_t."""

    _fields_ = (
        ("sizes", ctypes.c_uint * 6),
        ("shared", ctypes.c_size_t),
        ("stream", ctypes.c_size_t),
        ("attributes", ctypes.POINTER(Attribute)),
        ("count", ctypes.c_uint),
    )


class DriverConfig(ctypes.Structure):
    """HIP_LAUNCH_CONFIG."""

    _fields_ = (
        ("sizes", ctypes.c_uint * 6),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_size_t),
        ("attributes", ctypes.POINTER(Attribute)),
        ("count", ctypes.c_uint),
    )


def _options(rt: Runtime, given: Config | DriverConfig) -> Options:
    """What the attributes of a launch ask for."""
    rt.stream(given.stream)
    if given.stream in rt.captures:
        raise HipFailure(NOT_CAPTURED, "a launch with a configuration structure cannot be captured")
    cluster, cooperative = None, False
    for attribute in given.attributes[: given.count] if given.count else ():
        value = attribute.value
        if attribute.number == CLUSTER:
            cluster = (value[0], value[1], value[2])
        elif attribute.number == COOPERATIVE:
            cooperative = bool(value[0])
        elif attribute.number not in HINTS:
            raise HipFailure(NOT_SUPPORTED, f"launch attribute {attribute.number} is not supported")
    return Options(cluster, cooperative)


@serve()
def hipLaunchKernelExC(rt: Runtime, config: Pointer, function: Pointer, params: Pointer) -> None:
    if not config:
        raise HipFailure(INVALID_VALUE)
    given = Config.from_address(config)
    found = function_of(rt, function, rt.stream(given.stream).device)
    freeze_launch(rt, found, given.sizes, given.shared, params, 0, _options(rt, given))()


@serve()
def hipDrvLaunchKernelEx(rt: Runtime, config: Pointer, function: Pointer, params: Pointer, extra: Pointer) -> None:
    if not config:
        raise HipFailure(INVALID_VALUE)
    given = DriverConfig.from_address(config)
    found = rt.find(function, Function)
    freeze_launch(rt, found, given.sizes, given.shared, params, extra, _options(rt, given))()


def _workgroups(items: Sequence[int], block: Sequence[int]) -> list[int]:
    """Workgroups of a grid that is counted in work-items."""
    if min(block) < 1:
        raise HipFailure(INVALID_VALUE)
    for total, part in zip(items, block, strict=True):
        if total % part:
            raise HipFailure(NOT_SUPPORTED, f"{total} work-items in workgroups of {part}: the last would be smaller")
    return [total // part for total, part in zip(items, block, strict=True)]


@serve()
def hipExtModuleLaunchKernel(
    rt: Runtime,
    function: Pointer,
    items_x: UInt,
    items_y: UInt,
    items_z: UInt,
    block_x: UInt,
    block_y: UInt,
    block_z: UInt,
    shared: Size,
    stream: Pointer,
    params: Pointer,
    extra: Pointer,
    start: Pointer,
    stop: Pointer,
    flags: UInt,
) -> None:
    rt.stream(stream)
    block = (block_x, block_y, block_z)
    sizes = [*_workgroups((items_x, items_y, items_z), block), *block]
    run = freeze_launch(rt, rt.find(function, Function), sizes, shared, params, extra)
    begin, end = (rt.find(event, Event) if event else None for event in (start, stop))
    if begin:
        begin.recorded = time.perf_counter_ns()
    run()
    if end:
        end.recorded = time.perf_counter_ns()
