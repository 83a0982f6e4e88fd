"""Copies described by a structure, and fills of rectangles on streams."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from mfmasim.hiprt.calls.copies import copy, fill_rows
from mfmasim.hiprt.registry import HipFailure, Pointer, Size, UInt, serve

if TYPE_CHECKING:
    from mfmasim.hiprt.runtime import Runtime

INVALID_VALUE, BAD_PITCH, NOT_SUPPORTED = 1, 12, 801
HOST, ARRAY = 1, 10
"""hipMemoryType."""
ANY_KIND = 4
"""hipMemcpyDefault."""


class Side(ctypes.Structure):
    """Source or target of hip_Memcpy2D."""

    _fields_ = (
        ("x", ctypes.c_size_t),
        ("y", ctypes.c_size_t),
        ("kind", ctypes.c_int),
        ("host", ctypes.c_size_t),
        ("device", ctypes.c_size_t),
        ("array", ctypes.c_size_t),
        ("pitch", ctypes.c_size_t),
    )


class Copy(ctypes.Structure):
    """hip_Memcpy2D."""

    _fields_ = (("source", Side), ("to", Side), ("width", ctypes.c_size_t), ("height", ctypes.c_size_t))


def _first(side: Side, width: int, height: int) -> tuple[int, int]:
    """Address of the first byte of a side, and its pitch."""
    if side.kind == ARRAY:
        raise HipFailure(NOT_SUPPORTED, "arrays are not supported")
    pitch = side.pitch or width
    if height > 1 and side.x + width > pitch:
        raise HipFailure(BAD_PITCH)
    return (side.host if side.kind == HOST else side.device) + side.y * pitch + side.x, pitch


def _copy(rt: Runtime, params: int) -> None:
    if not params:
        raise HipFailure(INVALID_VALUE)
    given = Copy.from_address(params)
    (source, pitch), (to, to_pitch) = (_first(side, given.width, given.height) for side in (given.source, given.to))
    for row in range(given.height if given.width else 0):
        copy(rt, to + row * to_pitch, source + row * pitch, given.width, ANY_KIND)


@serve("hipDrvMemcpy2DUnaligned")
def hipMemcpyParam2D(rt: Runtime, params: Pointer) -> None:
    rt.wait()
    _copy(rt, params)


@serve(capture="memcpy")
def hipMemcpyParam2DAsync(rt: Runtime, params: Pointer, stream: Pointer) -> None:
    rt.stream(stream)
    _copy(rt, params)


def _fill(rt: Runtime, stream: int, to: int, pitch: int, value: int, size: tuple[int, int, int]) -> None:
    rt.stream(stream)
    width, height, element = size
    fill_rows(rt, to, pitch, value, width, height, element)


@serve(capture="memset")
def hipMemsetD2D8Async(
    rt: Runtime, to: Pointer, pitch: Size, value: UInt, width: Size, height: Size, stream: Pointer
) -> None:
    _fill(rt, stream, to, pitch, value, (width, height, 1))


@serve(capture="memset")
def hipMemsetD2D16Async(
    rt: Runtime, to: Pointer, pitch: Size, value: UInt, width: Size, height: Size, stream: Pointer
) -> None:
    _fill(rt, stream, to, pitch, value, (width, height, 2))


@serve(capture="memset")
def hipMemsetD2D32Async(
    rt: Runtime, to: Pointer, pitch: Size, value: UInt, width: Size, height: Size, stream: Pointer
) -> None:
    _fill(rt, stream, to, pitch, value, (width, height, 4))
