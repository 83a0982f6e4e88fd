"""Streams and events. Work is done when its call returns, so that waiting only tells whether it failed."""

from __future__ import annotations

import ctypes
import time

from mfmasim.hiprt.registry import HipFailure, Int, Pointer, UInt, serve
from mfmasim.hiprt.runtime import STREAMS, Event, Runtime, Stream
from mfmasim.hiprt.words import put_float, put_int, put_word

INVALID_VALUE, INVALID_HANDLE = 1, 400
DISABLE_TIMING = 2
LEAST, GREATEST = 1, -1
"""Priorities that AMD's runtime offers."""


@serve()
def hipStreamCreate(rt: Runtime, out: Pointer) -> None:
    put_word(out, rt.add(Stream(rt.checked(rt.device))))


@serve()
def hipStreamCreateWithFlags(rt: Runtime, out: Pointer, flags: UInt) -> None:
    put_word(out, rt.add(Stream(rt.checked(rt.device), flags)))


@serve()
def hipStreamCreateWithPriority(rt: Runtime, out: Pointer, flags: UInt, priority: Int) -> None:
    put_word(out, rt.add(Stream(rt.checked(rt.device), flags, min(max(priority, GREATEST), LEAST))))


@serve()
def hipDeviceGetStreamPriorityRange(rt: Runtime, least: Pointer, greatest: Pointer) -> None:  # noqa: ARG001
    put_int(least, LEAST)
    put_int(greatest, GREATEST)


@serve()
def hipStreamDestroy(rt: Runtime, stream: Pointer) -> None:
    rt.find(stream, Stream)
    del rt.handles[stream]


@serve("hipStreamQuery")
def hipStreamSynchronize(rt: Runtime, stream: Pointer) -> None:
    rt.wait(rt.stream(stream).device)


@serve()
def hipStreamGetFlags(rt: Runtime, stream: Pointer, out: Pointer) -> None:
    put_int(out, rt.stream(stream).flags)


@serve()
def hipStreamGetPriority(rt: Runtime, stream: Pointer, out: Pointer) -> None:
    put_int(out, rt.stream(stream).priority)


@serve()
def hipStreamGetDevice(rt: Runtime, stream: Pointer, out: Pointer) -> None:
    put_int(out, rt.stream(stream).device)


@serve()
def hipStreamWaitEvent(rt: Runtime, stream: Pointer, event: Pointer, flags: UInt) -> None:  # noqa: ARG001
    rt.stream(stream)
    rt.find(event, Event)


@serve()
def hipStreamAddCallback(rt: Runtime, stream: Pointer, function: Pointer, data: Pointer, flags: UInt) -> None:  # noqa: ARG001
    code = rt.failed.get(rt.stream(stream).device, 0)
    if not function:
        raise HipFailure(INVALID_VALUE)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(function)(stream, code, data)


@serve()
def hipLaunchHostFunc(rt: Runtime, stream: Pointer, function: Pointer, data: Pointer) -> None:
    rt.stream(stream)
    if not function:
        raise HipFailure(INVALID_VALUE)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function)(data)


@serve()
def hipEventCreate(rt: Runtime, out: Pointer) -> None:
    put_word(out, rt.add(Event(rt.checked(rt.device))))


@serve()
def hipEventCreateWithFlags(rt: Runtime, out: Pointer, flags: UInt) -> None:
    put_word(out, rt.add(Event(rt.checked(rt.device), flags)))


@serve()
def hipEventDestroy(rt: Runtime, event: Pointer) -> None:
    rt.find(event, Event)
    del rt.handles[event]


@serve()
def hipEventRecord(rt: Runtime, event: Pointer, stream: Pointer) -> None:
    found = rt.find(event, Event)
    if stream not in STREAMS and rt.stream(stream).device != found.device:
        raise HipFailure(INVALID_HANDLE)
    found.recorded = time.perf_counter_ns()


@serve("hipEventQuery")
def hipEventSynchronize(rt: Runtime, event: Pointer) -> None:
    rt.wait(rt.find(event, Event).device)


@serve()
def hipEventElapsedTime(rt: Runtime, out: Pointer, first: Pointer, last: Pointer) -> None:
    times = []
    for event in (rt.find(first, Event), rt.find(last, Event)):
        if event.recorded is None or event.flags & DISABLE_TIMING:
            raise HipFailure(INVALID_HANDLE)
        times.append(event.recorded)
    put_float(out, (times[1] - times[0]) / 1e6)
