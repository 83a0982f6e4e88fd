"""Copies and fills. They complete before the call returns, which is one of the orders that a stream allows."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.hiprt.heap import DEVICE
from mfmasim.hiprt.registry import HipFailure, Int, Pointer, Size, UInt, serve

if TYPE_CHECKING:
    from mfmasim.hiprt.runtime import Runtime

INVALID_VALUE, BAD_PITCH, BAD_DIRECTION = 1, 12, 21
DEVICE_TO_DEVICE = 3
DIRECTIONS = {0: "hh", 1: "hd", 2: "dh", 3: "dd", 4: "..", 1024: "dd"}
"""hipMemcpyKind: source and destination, on the host or the device."""


def _side(rt: Runtime, address: int, size: int, wanted: str) -> None:
    """Reject a device address outside every allocation, or a host address if a device address is required."""
    if not address:
        raise HipFailure(INVALID_VALUE)
    address = rt.twin(address)
    if rt.heap.holds(address):
        if rt.heap.at(address, size) is None:
            raise HipFailure(INVALID_VALUE, f"{size} bytes at {address:#x} are not within one allocation")
    elif wanted == "d":
        raise HipFailure(INVALID_VALUE, f"{address:#x} is not a device address")


def copy(rt: Runtime, to: int, source: int, size: int, kind: int) -> None:
    """Copy bytes; `kind` is a hipMemcpyKind."""
    if kind not in DIRECTIONS:
        raise HipFailure(BAD_DIRECTION)
    if size:
        _side(rt, source, size, DIRECTIONS[kind][0])
        _side(rt, to, size, DIRECTIONS[kind][1])
        _carry(rt, to, source, size)
        if rt.order is not None:
            rt.order.copies(rt.twin(to), rt.twin(source), size)
        ctypes.memmove(rt.home(to), rt.home(source), size)


def _carry(rt: Runtime, to: int, source: int, size: int) -> None:
    """Copy the marks of initialised bytes; registered memory has them under its address for kernels."""
    if rt.heap.written is None:
        return
    found, target = rt.heap.at(rt.twin(source)), rt.heap.at(rt.twin(to))
    content = None
    if found is not None and found.kind != DEVICE:
        content = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(rt.home(source)))
    device = target is not None and target.kind == DEVICE
    rt.heap.written.carry(rt.twin(to), rt.twin(source), size, content, device=device)


def fill(rt: Runtime, to: int, value: int, count: int, width: int = 1) -> None:
    """Fill `count` elements of `width` bytes."""
    if not count:
        return
    _side(rt, to, count * width, "d")
    if rt.heap.written is not None:
        rt.heap.written.mark(rt.twin(to), count * width)
    if rt.order is not None:
        rt.order.fills(rt.twin(to), count * width)
    if not value & ((1 << 8 * width) - 1) and rt.heap.holds(rt.home(to)):
        rt.heap.zero(to, count * width)
        return
    place = np.ctypeslib.as_array((ctypes.c_uint8 * (count * width)).from_address(rt.home(to))).reshape(count, width)
    place[:] = np.frombuffer((value & ((1 << 8 * width) - 1)).to_bytes(width, "little"), np.uint8)


def touch(rt: Runtime, address: int, size: int, *, written: bool) -> None:
    """The host reads or writes device memory for a call that is work of a stream."""
    _side(rt, address, size, "d")
    if written and rt.heap.written is not None:
        rt.heap.written.mark(rt.twin(address), size)
    if rt.order is not None:
        (rt.order.fills if written else rt.order.reads)(rt.twin(address), size)


@serve()
def hipMemcpy(rt: Runtime, to: Pointer, source: Pointer, size: Size, kind: Int) -> None:
    rt.wait()
    copy(rt, to, source, size, kind)


@serve(capture="memcpy")
def hipMemcpyAsync(rt: Runtime, to: Pointer, source: Pointer, size: Size, kind: Int, stream: Pointer) -> None:
    rt.stream(stream)
    copy(rt, to, source, size, kind)


@serve()
def hipMemcpyWithStream(rt: Runtime, to: Pointer, source: Pointer, size: Size, kind: Int, stream: Pointer) -> None:
    rt.wait(rt.stream(stream).device)
    copy(rt, to, source, size, kind)


@serve()
def hipMemcpyHtoD(rt: Runtime, to: Pointer, source: Pointer, size: Size) -> None:
    hipMemcpy(rt, to, source, size, 1)


@serve()
def hipMemcpyDtoH(rt: Runtime, to: Pointer, source: Pointer, size: Size) -> None:
    hipMemcpy(rt, to, source, size, 2)


@serve()
def hipMemcpyDtoD(rt: Runtime, to: Pointer, source: Pointer, size: Size) -> None:
    hipMemcpy(rt, to, source, size, 3)


@serve(capture="memcpy")
def hipMemcpyHtoDAsync(rt: Runtime, to: Pointer, source: Pointer, size: Size, stream: Pointer) -> None:
    hipMemcpyAsync(rt, to, source, size, 1, stream)


@serve(capture="memcpy")
def hipMemcpyDtoHAsync(rt: Runtime, to: Pointer, source: Pointer, size: Size, stream: Pointer) -> None:
    hipMemcpyAsync(rt, to, source, size, 2, stream)


@serve(capture="memcpy")
def hipMemcpyDtoDAsync(rt: Runtime, to: Pointer, source: Pointer, size: Size, stream: Pointer) -> None:
    hipMemcpyAsync(rt, to, source, size, 3, stream)


@serve()
def hipMemcpyPeer(rt: Runtime, to: Pointer, to_device: Int, source: Pointer, source_device: Int, size: Size) -> None:
    rt.wait(rt.checked(to_device))
    rt.wait(rt.checked(source_device))
    copy(rt, to, source, size, DEVICE_TO_DEVICE)


@serve(capture="memcpy")
def hipMemcpyPeerAsync(
    rt: Runtime, to: Pointer, to_device: Int, source: Pointer, source_device: Int, size: Size, stream: Pointer
) -> None:
    rt.checked(to_device), rt.checked(source_device), rt.stream(stream)
    copy(rt, to, source, size, DEVICE_TO_DEVICE)


@serve()
def hipMemcpy2D(
    rt: Runtime, to: Pointer, to_pitch: Size, source: Pointer, pitch: Size, width: Size, height: Size, kind: Int
) -> None:
    rt.wait()
    _copy_rows(rt, to, to_pitch, source, pitch, width, height, kind)


def _copy_rows(
    rt: Runtime, to: int, to_pitch: int, source: int, pitch: int, width: int, height: int, kind: int
) -> None:
    if width > min(to_pitch, pitch) and height:
        raise HipFailure(BAD_PITCH)
    for row in range(height):
        copy(rt, to + row * to_pitch, source + row * pitch, width, kind)


@serve()
def hipMemset(rt: Runtime, to: Pointer, value: Int, size: Size) -> None:
    fill(rt, to, value, size)


@serve(capture="memset")
def hipMemsetAsync(rt: Runtime, to: Pointer, value: Int, size: Size, stream: Pointer) -> None:
    rt.stream(stream)
    fill(rt, to, value, size)


@serve()
def hipMemsetD8(rt: Runtime, to: Pointer, value: UInt, count: Size) -> None:
    fill(rt, to, value, count)


@serve()
def hipMemsetD16(rt: Runtime, to: Pointer, value: UInt, count: Size) -> None:
    fill(rt, to, value, count, 2)


@serve()
def hipMemsetD32(rt: Runtime, to: Pointer, value: Int, count: Size) -> None:
    fill(rt, to, value, count, 4)


@serve(capture="memset")
def hipMemsetD8Async(rt: Runtime, to: Pointer, value: UInt, count: Size, stream: Pointer) -> None:
    hipMemsetAsync(rt, to, value, count, stream)


@serve(capture="memset")
def hipMemsetD16Async(rt: Runtime, to: Pointer, value: UInt, count: Size, stream: Pointer) -> None:
    rt.stream(stream)
    fill(rt, to, value, count, 2)


@serve(capture="memset")
def hipMemsetD32Async(rt: Runtime, to: Pointer, value: Int, count: Size, stream: Pointer) -> None:
    rt.stream(stream)
    fill(rt, to, value, count, 4)


@serve()
def hipMemset2D(rt: Runtime, to: Pointer, pitch: Size, value: Int, width: Size, height: Size) -> None:
    fill_rows(rt, to, pitch, value, width, height)


def fill_rows(rt: Runtime, to: int, pitch: int, value: int, width: int, height: int, size: int = 1) -> None:
    """Fill rows of `width` elements of `size` bytes, `pitch` bytes apart."""
    if width * size > pitch and height > 1:
        raise HipFailure(BAD_PITCH)
    for row in range(height):
        fill(rt, to + row * pitch, value, width, size)


@serve(capture="memcpy")
def hipMemcpy2DAsync(
    rt: Runtime,
    to: Pointer,
    to_pitch: Size,
    source: Pointer,
    pitch: Size,
    width: Size,
    height: Size,
    kind: Int,
    stream: Pointer,
) -> None:
    rt.stream(stream)
    _copy_rows(rt, to, to_pitch, source, pitch, width, height, kind)


@serve(capture="memset")
def hipMemset2DAsync(
    rt: Runtime, to: Pointer, pitch: Size, value: Int, width: Size, height: Size, stream: Pointer
) -> None:
    rt.stream(stream)
    fill_rows(rt, to, pitch, value, width, height)


@serve()
def hipMemsetD2D8(rt: Runtime, to: Pointer, pitch: Size, value: UInt, width: Size, height: Size) -> None:
    fill_rows(rt, to, pitch, value, width, height)


@serve()
def hipMemsetD2D16(rt: Runtime, to: Pointer, pitch: Size, value: UInt, width: Size, height: Size) -> None:
    fill_rows(rt, to, pitch, value, width, height, 2)


@serve()
def hipMemsetD2D32(rt: Runtime, to: Pointer, pitch: Size, value: UInt, width: Size, height: Size) -> None:
    fill_rows(rt, to, pitch, value, width, height, 4)


@serve(capture="memset")
def hipStreamWriteValue32(rt: Runtime, stream: Pointer, to: Pointer, value: UInt, flags: UInt) -> None:
    rt.stream(stream)
    fill(rt, to, value, 1, 4)


@serve(capture="memset")
def hipStreamWriteValue64(rt: Runtime, stream: Pointer, to: Pointer, value: Size, flags: UInt) -> None:
    rt.stream(stream)
    fill(rt, to, value, 1, 8)
