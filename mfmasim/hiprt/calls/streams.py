"""Streams and events. Work is complete when its call returns, so synchronising only reports errors."""

from __future__ import annotations

import ctypes
import time

from mfmasim.hiprt.registry import HipFailure, Int, Pointer, UInt, serve
from mfmasim.hiprt.runtime import STREAMS, Event, Runtime, Stream
from mfmasim.hiprt.words import put_float, put_int, put_word

INVALID_VALUE, INVALID_HANDLE, CAPTURE_MERGE, CAPTURED_EVENT = 1, 400, 902, 907
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
def hipDeviceGetStreamPriorityRange(rt: Runtime, least: Pointer, greatest: Pointer) -> None:
    put_int(least, LEAST)
    put_int(greatest, GREATEST)


@serve(capture="done")
def hipStreamDestroy(rt: Runtime, stream: Pointer) -> None:
    rt.find(stream, Stream)
    capture = rt.captures.pop(stream, None)
    if capture is not None:
        capture.invalid = True
    del rt.handles[stream]


@serve()
def hipStreamQuery(rt: Runtime, stream: Pointer) -> None:
    rt.ready(rt.stream(stream).device)


@serve()
def hipStreamSynchronize(rt: Runtime, stream: Pointer) -> None:
    rt.wait(rt.stream(stream).device)


@serve(capture="done")
def hipStreamGetFlags(rt: Runtime, stream: Pointer, out: Pointer) -> None:
    put_int(out, rt.stream(stream).flags)


@serve(capture="done")
def hipStreamGetPriority(rt: Runtime, stream: Pointer, out: Pointer) -> None:
    put_int(out, rt.stream(stream).priority)


@serve(capture="done")
def hipStreamGetDevice(rt: Runtime, stream: Pointer, out: Pointer) -> None:
    put_int(out, rt.stream(stream).device)


@serve(capture="done")
def hipStreamWaitEvent(rt: Runtime, stream: Pointer, event: Pointer, flags: UInt) -> None:
    rt.stream(stream)
    found = rt.find(event, Event)
    capture = rt.captures.get(stream)
    if found.captured is None:
        return  # the work before an event outside the capture is complete
    if capture is not None and capture is not found.captured[0]:
        raise HipFailure(CAPTURE_MERGE)
    joined, nodes = found.captured
    rt.captures[stream] = joined
    joined.last[stream] = [*dict.fromkeys([*joined.last.get(stream, []), *nodes])]


@serve()
def hipStreamAddCallback(rt: Runtime, stream: Pointer, function: Pointer, data: Pointer, flags: UInt) -> None:
    code = rt.failed.get(rt.stream(stream).device, 0)
    if not function:
        raise HipFailure(INVALID_VALUE)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(function)(stream, code, data)


@serve(capture="host")
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


@serve(capture="done")
def hipEventRecord(rt: Runtime, event: Pointer, stream: Pointer) -> None:
    found = rt.find(event, Event)
    capture = rt.captures.get(stream)
    if capture is not None:
        found.captured = capture, list(capture.last.get(stream, []))
        return
    found.captured = None
    if stream not in STREAMS and rt.stream(stream).device != found.device:
        raise HipFailure(INVALID_HANDLE)
    found.recorded = time.perf_counter_ns()


@serve(capture="done")
def hipEventRecordWithFlags(rt: Runtime, event: Pointer, stream: Pointer, flags: UInt) -> None:
    hipEventRecord(rt, event, stream)


@serve()
def hipEventSynchronize(rt: Runtime, event: Pointer) -> None:
    found = rt.find(event, Event)
    if found.captured is not None:
        raise HipFailure(CAPTURED_EVENT)
    rt.wait(found.device)


@serve()
def hipEventQuery(rt: Runtime, event: Pointer) -> None:
    found = rt.find(event, Event)
    if found.captured is not None:
        raise HipFailure(CAPTURED_EVENT)
    rt.ready(found.device)


@serve()
def hipEventElapsedTime(rt: Runtime, out: Pointer, first: Pointer, last: Pointer) -> None:
    times = []
    for event in (rt.find(first, Event), rt.find(last, Event)):
        if event.recorded is None or event.flags & DISABLE_TIMING:
            raise HipFailure(INVALID_HANDLE)
        times.append(event.recorded)
    put_float(out, (times[1] - times[0]) / 1e6)


@serve(capture="done")
def hipStreamGetId(rt: Runtime, stream: Pointer, out: Pointer) -> None:
    rt.stream(stream)
    put_word(out, stream)


@serve(capture="done")
def hipGetStreamDeviceId(rt: Runtime, stream: Pointer) -> int:
    return rt.stream(stream).device
