"""Device variables by the address of the host variable that stands for them."""

from __future__ import annotations

from mfmasim.hiprt.calls.copies import copy
from mfmasim.hiprt.linking import place_of
from mfmasim.hiprt.registry import HipFailure, Int, Pointer, Size, serve
from mfmasim.hiprt.runtime import Runtime
from mfmasim.hiprt.words import put_word

INVALID_VALUE, BAD_DIRECTION = 1, 21
TO_SYMBOL, FROM_SYMBOL = (1, 3, 4), (2, 3, 4)
"""hipMemcpyKind that the two directions allow."""


@serve()
def hipGetSymbolAddress(rt: Runtime, out: Pointer, symbol: Pointer) -> None:
    put_word(out, place_of(rt, symbol)[0])


@serve()
def hipGetSymbolSize(rt: Runtime, out: Pointer, symbol: Pointer) -> None:
    put_word(out, place_of(rt, symbol)[1])


def _part(rt: Runtime, symbol: int, size: int, offset: int, device: int | None = None) -> int:
    """The address of a part of a variable."""
    address, whole = place_of(rt, symbol, device)
    if offset + size > whole:
        raise HipFailure(INVALID_VALUE, f"{size} bytes at {offset} of a variable of {whole} bytes")
    return address + offset


@serve()
def hipMemcpyToSymbol(rt: Runtime, symbol: Pointer, source: Pointer, size: Size, offset: Size, kind: Int) -> None:
    rt.wait()
    if kind not in TO_SYMBOL:
        raise HipFailure(BAD_DIRECTION)
    copy(rt, _part(rt, symbol, size, offset), source, size, kind)


@serve()
def hipMemcpyFromSymbol(rt: Runtime, to: Pointer, symbol: Pointer, size: Size, offset: Size, kind: Int) -> None:
    rt.wait()
    if kind not in FROM_SYMBOL:
        raise HipFailure(BAD_DIRECTION)
    copy(rt, to, _part(rt, symbol, size, offset), size, kind)


@serve(capture="memcpy")
def hipMemcpyToSymbolAsync(
    rt: Runtime, symbol: Pointer, source: Pointer, size: Size, offset: Size, kind: Int, stream: Pointer
) -> None:
    if kind not in TO_SYMBOL:
        raise HipFailure(BAD_DIRECTION)
    copy(rt, _part(rt, symbol, size, offset, rt.stream(stream).device), source, size, kind)


@serve(capture="memcpy")
def hipMemcpyFromSymbolAsync(
    rt: Runtime, to: Pointer, symbol: Pointer, size: Size, offset: Size, kind: Int, stream: Pointer
) -> None:
    if kind not in FROM_SYMBOL:
        raise HipFailure(BAD_DIRECTION)
    copy(rt, to, _part(rt, symbol, size, offset, rt.stream(stream).device), size, kind)
