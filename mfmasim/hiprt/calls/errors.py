"""Errors: the last error of a thread, names and descriptions."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING

from mfmasim.hiprt.registry import HipFailure, Int, Pointer, serve
from mfmasim.hiprt.tables.errors import ERRORS
from mfmasim.hiprt.words import put_word

if TYPE_CHECKING:
    from mfmasim.hiprt.runtime import Runtime

INVALID_VALUE = 1


@cache
def text_at(text: str) -> ctypes.Array[ctypes.c_char]:
    """A C string that lives as long as the process."""
    return ctypes.create_string_buffer(text.encode())


def _words(code: int, which: int) -> int:
    return ctypes.addressof(text_at(ERRORS.get(code, ("hipErrorUnknown", "unknown error"))[which]))


@serve("hipExtGetLastError", keeps_error=True)
def hipGetLastError(rt: Runtime) -> int:
    code, rt.error = rt.error, 0
    rt.asked()
    return rt.lost or code


@serve(keeps_error=True)
def hipPeekAtLastError(rt: Runtime) -> int:
    rt.asked()
    return rt.lost or rt.error


@serve(keeps_error=True)
def hipGetErrorName(rt: Runtime, code: Int) -> int:
    return _words(code, 0)


@serve(keeps_error=True)
def hipGetErrorString(rt: Runtime, code: Int) -> int:
    return _words(code, 1)


@serve(keeps_error=True)
def hipDrvGetErrorName(rt: Runtime, code: Int, out: Pointer) -> None:
    if code not in ERRORS:
        raise HipFailure(INVALID_VALUE)
    put_word(out, _words(code, 0))


@serve(keeps_error=True)
def hipDrvGetErrorString(rt: Runtime, code: Int, out: Pointer) -> None:
    if code not in ERRORS:
        raise HipFailure(INVALID_VALUE)
    put_word(out, _words(code, 1))
