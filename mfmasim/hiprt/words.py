"""Writing results to, and reading structures from, the caller's memory."""

from __future__ import annotations

import ctypes

from mfmasim.hiprt.registry import HipFailure

__all__ = ["put_float", "put_int", "put_text", "put_word", "words_at"]

INVALID_VALUE = 1


def _at(address: int) -> int:
    if not address:
        raise HipFailure(INVALID_VALUE)
    return address


def put_word(address: int, value: int) -> None:
    """Write 64 bits."""
    ctypes.c_uint64.from_address(_at(address)).value = value


def put_int(address: int, value: int) -> None:
    """Write 32 bits."""
    ctypes.c_uint32.from_address(_at(address)).value = value & 0xFFFFFFFF


def put_float(address: int, value: float) -> None:
    """Write a C float."""
    ctypes.c_float.from_address(_at(address)).value = value


def put_text(address: int, text: str, size: int) -> None:
    """Write a zero-terminated string, truncated to a buffer.

    Args:
        address: address of the buffer.
        text: the string.
        size: bytes of the buffer, including the terminating zero.

    Raises:
        HipFailure: the buffer has no bytes.
    """
    if size < 1:
        raise HipFailure(INVALID_VALUE)
    raw = text.encode()[: size - 1] + b"\0"
    ctypes.memmove(_at(address), raw, len(raw))


def words_at(address: int, count: int) -> list[int]:
    """Read `count` words of 64 bits."""
    return list((ctypes.c_uint64 * count).from_address(_at(address)))
