"""The calls that are served: functions named as HIP names them, whose annotations say how arguments are read.

A served function takes the `Runtime` and the call's arguments as integers; a `Text` arrives as a string. It returns
nothing for success, a number to be returned as it is, or raises `HipFailure`.
"""

from __future__ import annotations

import ctypes
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from mfmasim.hiprt.tables.names import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CALLS", "Call", "HipFailure", "Int", "Pointer", "Size", "Text", "UInt", "serve"]

Pointer: TypeAlias = int
"""An address, or a handle."""
Size: TypeAlias = int
"""A size_t, or any other unsigned 64-bit integer."""
Int: TypeAlias = int
"""A C int, or an enumeration."""
UInt: TypeAlias = int
"""A C unsigned int."""
Text: TypeAlias = str
"""A zero-terminated string; empty for a null pointer."""


class HipFailure(Exception):  # noqa: N818
    """A call that fails: the error code it returns, and words for standard error where the code says too little."""

    def __init__(self, code: int, why: str = "") -> None:
        """Return `code`; print `why` unless it is empty."""
        super().__init__(code, why)
        self.code = code
        self.why = why


def _text(word: int) -> str:
    return ctypes.string_at(word).decode(errors="replace") if word else ""


READERS: dict[str, Callable[[int], Any]] = {
    "Pointer": int,
    "Size": int,
    "Int": lambda word: (word & 0xFFFFFFFF) - ((word & 0x80000000) << 1),
    "UInt": lambda word: word & 0xFFFFFFFF,
    "Text": _text,
}


@dataclass(frozen=True)
class Call:
    """One served call."""

    function: Callable[..., int | None]
    readers: tuple[Callable[[int], Any], ...]
    keeps_error: bool
    """Whether hipGetLastError tells what it told before, whatever this call returns."""
    stream: int = -1
    """Which argument is a stream, by the name of the parameter; -1 where none is."""
    capture: str = ""
    """What a stream that captures makes of the call: a kind of node (see `mfmasim.hiprt.graphs`), ``done`` where the
    call is done all the same; empty where it cannot be captured."""
    freeze: Callable[..., Callable[[], object]] | None = None
    """Reads what the call will need later, and gives what does it; None where its arguments are all of it."""


CALLS: dict[str, Call] = {}
"""Served calls by name."""

F = TypeVar("F", bound="Callable[..., int | None]")


def serve(
    *others: str,
    keeps_error: bool = False,
    capture: str = "",
    freeze: Callable[..., Callable[[], object]] | None = None,
) -> Callable[[F], F]:
    """Serve calls by a function: its own name, and further names with the same arguments; see `Call`."""

    def register(function: F) -> F:
        parameters = list(inspect.signature(function).parameters.values())[1:]
        names = [parameter.name for parameter in parameters]
        stream = names.index("stream") if "stream" in names else -1
        readers = tuple(READERS[parameter.annotation] for parameter in parameters)
        call = Call(function, readers, keeps_error, stream, capture, freeze)
        for name in (function.__name__, *others):
            CALLS[name] = call
            if f"{name}_spt" in NAMES:  # the same with another null stream, which makes no difference here
                CALLS[f"{name}_spt"] = call
        return function

    return register
