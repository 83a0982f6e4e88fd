"""Three-dimensional memory without arrays: rows of a pitch, layers of rows."""

from __future__ import annotations

import ctypes

from mfmasim.hiprt.calls.copies import copy, fill_rows
from mfmasim.hiprt.calls.memory import PITCH
from mfmasim.hiprt.heap import DEVICE
from mfmasim.hiprt.registry import HipFailure, Int, Pointer, Size, serve
from mfmasim.hiprt.runtime import Runtime
from mfmasim.hiprt.words import put_word

INVALID_VALUE, BAD_PITCH, NOT_SUPPORTED = 1, 12, 801


class Place(ctypes.Structure):
    """hipPos, or hipExtent."""

    _fields_ = (("x", ctypes.c_size_t), ("y", ctypes.c_size_t), ("z", ctypes.c_size_t))


class PitchedPointer(ctypes.Structure):
    """hipPitchedPtr."""

    _fields_ = (
        ("address", ctypes.c_size_t),
        ("pitch", ctypes.c_size_t),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    )


class CopyParams(ctypes.Structure):
    """hipMemcpy3DParms."""

    _fields_ = (
        ("source_array", ctypes.c_void_p),
        ("source_place", Place),
        ("source", PitchedPointer),
        ("to_array", ctypes.c_void_p),
        ("to_place", Place),
        ("to", PitchedPointer),
        ("extent", Place),
        ("kind", ctypes.c_int),
    )


@serve()
def hipMalloc3D(rt: Runtime, out: Pointer, width: Size, height: Size, depth: Size) -> None:
    if not out:
        raise HipFailure(INVALID_VALUE)
    pitch = -(-width // PITCH) * PITCH
    size = pitch * height * depth
    address = rt.heap.allocate(size, DEVICE, rt.checked(rt.device), "hipMalloc3D").address if size else 0
    for number, value in enumerate((address, pitch, width, height)):
        put_word(out + 8 * number, value)


@serve()
def hipMemset3D(
    rt: Runtime, to: Pointer, pitch: Size, row: Size, rows: Size, value: Int, width: Size, height: Size, depth: Size
) -> None:
    if width > row or height > rows:
        raise HipFailure(INVALID_VALUE)
    for layer in range(depth):
        fill_rows(rt, to + layer * pitch * rows, pitch, value, width, height)


@serve(capture="memset")
def hipMemset3DAsync(
    rt: Runtime,
    to: Pointer,
    pitch: Size,
    row: Size,
    rows: Size,
    value: Int,
    width: Size,
    height: Size,
    depth: Size,
    stream: Pointer,
) -> None:
    rt.stream(stream)
    hipMemset3D(rt, to, pitch, row, rows, value, width, height, depth)


@serve()
def hipMemcpy3D(rt: Runtime, params: Pointer) -> None:
    rt.wait()
    _copy(rt, params)


@serve(capture="memcpy")
def hipMemcpy3DAsync(rt: Runtime, params: Pointer, stream: Pointer) -> None:
    rt.stream(stream)
    _copy(rt, params)


def _copy(rt: Runtime, params: int) -> None:
    if not params:
        raise HipFailure(INVALID_VALUE)
    given = CopyParams.from_address(params)
    if given.source_array or given.to_array:
        raise HipFailure(NOT_SUPPORTED, "arrays are not supported")
    size = given.extent
    for pointer, place in ((given.source, given.source_place), (given.to, given.to_place)):
        if place.x + size.x > pointer.pitch and size.y * size.z > 1:
            raise HipFailure(BAD_PITCH)
    for layer in range(size.z):
        for row in range(size.y):
            to, source = (
                pointer.address + place.x + pointer.pitch * (place.y + row + pointer.height * (place.z + layer))
                for pointer, place in ((given.to, given.to_place), (given.source, given.source_place))
            )
            copy(rt, to, source, size.x, given.kind)
