"""Entry points of the library by name."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from mfmasim.hiprt.registry import HipFailure, Int, Pointer, Size, Text, serve
from mfmasim.hiprt.tables.names import NAMES
from mfmasim.hiprt.words import put_int, put_word

if TYPE_CHECKING:
    from mfmasim.hiprt.runtime import Runtime

INVALID_VALUE, NOT_FOUND = 1, 500
FOUND, SYMBOL_NOT_FOUND = 0, 1
"""hipDriverProcAddressQueryResult."""
LAYOUT_VERSION = 60_000_000
"""From this version of HIP on some names mean a structure of that version's layout."""
LAYOUTS = {"hipGetDeviceProperties": "hipGetDevicePropertiesR0600", "hipChooseDevice": "hipChooseDeviceR0600"}


def _look_up(rt: Runtime, name: str, out: int, status: int, version: int) -> None:
    if not name or not out:
        raise HipFailure(INVALID_VALUE)
    exported = LAYOUTS.get(name, name) if version >= LAYOUT_VERSION else name
    try:
        place = ctypes.cast(ctypes.CDLL(rt.library)[exported], ctypes.c_void_p).value or 0
    except AttributeError:
        place = 0
    put_word(out, place)
    if status:
        put_int(status, FOUND if place else SYMBOL_NOT_FOUND)
    if not place:
        raise HipFailure(NOT_FOUND if name in NAMES else INVALID_VALUE, f"the library has no {exported}")


@serve()
def hipGetProcAddress(rt: Runtime, name: Text, out: Pointer, version: Int, flags: Size, status: Pointer) -> None:
    _look_up(rt, name, out, status, version)


@serve()
def hipGetDriverEntryPoint(rt: Runtime, name: Text, out: Pointer, flags: Size, status: Pointer) -> None:
    _look_up(rt, name, out, status, LAYOUT_VERSION)
