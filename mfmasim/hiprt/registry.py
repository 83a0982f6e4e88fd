"""Supported calls: functions with HIP's names, whose annotations define how arguments are read.

Such a function takes the `Runtime` and the call's arguments as integers, or strings for `Text`. It returns None for
success or an error number, or raises `HipFailure`.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from mfmasim.hiprt.tables.names import NAMES

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
    """A failing call: the error code that it returns, and a message for standard error if the code is not enough."""

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
    """A supported call."""

    function: Callable[..., int | None]
    readers: tuple[Callable[[int], Any], ...]
    keeps_error: bool
    """Whether the call leaves the error of hipGetLastError unchanged."""
    stream: int = -1
    """Index of the argument named ``stream``; -1 if there is none."""
    capture: str = ""
    """The call in a capturing stream: a kind of node (see `mfmasim.hiprt.graphs`), ``done`` if it is executed
    immediately; empty if it cannot be captured."""
    freeze: Callable[..., Callable[[], object]] | None = None
    """Reads the memory that the call will need, and returns a function that executes it; None if its arguments
    suffice."""


CALLS: dict[str, Call] = {}
"""Supported calls by name."""

F = TypeVar("F", bound="Callable[..., int | None]")


def serve(
    *others: str,
    keeps_error: bool = False,
    capture: str = "",
    freeze: Callable[..., Callable[[], object]] | None = None,
) -> Callable[[F], F]:
    """Register a function as the implementation of calls.

    Args:
        others: further names with the same arguments, besides the function's name.
        keeps_error: see `Call`.
        capture: see `Call`.
        freeze: see `Call`.
    """

    def register(function: F) -> F:
        parameters = list(inspect.signature(function).parameters.values())[1:]
        names = [parameter.name for parameter in parameters]
        stream = names.index("stream") if "stream" in names else -1
        readers = tuple(READERS[parameter.annotation] for parameter in parameters)
        call = Call(function, readers, keeps_error, stream, capture, freeze)
        for name in (function.__name__, *others):
            CALLS[name] = call
            if f"{name}_spt" in NAMES:  # the variant differs only in the null stream, which has no effect here
                CALLS[f"{name}_spt"] = call
        return function

    return register
