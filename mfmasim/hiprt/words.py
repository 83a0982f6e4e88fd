"""Writing results to, and reading structures from, the caller's memory."""

from __future__ import annotations

import ctypes
import os

from mfmasim.hiprt.registry import HipFailure

INVALID_VALUE, INVALID_IMAGE = 1, 200
IMAGE_BYTES = 1 << 30
"""Most bytes of a code object or bundle in the program's memory."""
MOST_WORDS = 1 << 20
"""Most entries of a list in the program's memory, such as the nodes that a node of a graph depends on."""
_write = ctypes.CDLL(None).write
_write.argtypes, _write.restype = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t), ctypes.c_ssize_t


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


def put_bytes(address: int, raw: bytes) -> None:
    """Write bytes."""
    ctypes.memmove(_at(address), raw, len(raw))


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
    """Read `count` words of 64 bits.

    Raises:
        HipFailure: more than `MOST_WORDS`, or a null pointer.
    """
    if count > MOST_WORDS:
        raise HipFailure(INVALID_VALUE, f"a list of {count:,} entries at {address:#x}; {MOST_WORDS:,} are read")
    return list((ctypes.c_uint64 * count).from_address(_at(address)))


def bytes_at(address: int, size: int) -> bytes:
    """Read bytes of a code object, whose own headers say how many there are.

    Raises:
        HipFailure: more than `IMAGE_BYTES`, or the program has no such memory.
    """
    if size > IMAGE_BYTES:
        raise HipFailure(INVALID_IMAGE, f"a code object of {size:,} bytes at {address:#x}; {IMAGE_BYTES:,} are read")
    # By a system call, since a header may be wrong: unreadable memory is then an error, not a fault.
    copy = os.memfd_create("code object")
    try:
        written = 0
        while written < size <= (1 << 64) - address and (more := _write(copy, address + written, size - written)) > 0:
            written += more
        found = os.pread(copy, written, 0)
    finally:
        os.close(copy)
    if len(found) < size:
        raise HipFailure(INVALID_IMAGE, f"the code object at {address:#x} claims {size:,} bytes, {len(found):,} exist")
    return found
