"""Code objects in the program's memory: their length is in untrusted headers."""

from __future__ import annotations

import struct

from mfmasim.hiprt.registry import HipFailure
from mfmasim.hiprt.words import bytes_at

INVALID_VALUE, INVALID_IMAGE = 1, 200
ELF, BUNDLE, COMPRESSED = b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"
NO_BITS = 8
"""SHT_NOBITS: a section without bytes in the file."""
ENTRIES, NAME = 1024, 1 << 16
"""Entries of a bundle, and bytes of an entry's name."""


def image_at(address: int) -> bytes:
    """Read the code object, or bundle of code objects, at an address of the program; its headers give the length.

    Raises:
        HipFailure: the bytes are neither, or claim bytes that do not exist.
    """
    if not address:
        raise HipFailure(INVALID_VALUE)
    start = bytes_at(address, 4)
    if start == ELF:
        length = _elf_length(address)
    elif start == COMPRESSED:  # magic, version, method, then the size: 32 bits, from version 3 on 64
        (version,) = struct.unpack("<H", bytes_at(address + 4, 2))
        layout = "<Q" if version >= 3 else "<I"
        (length,) = struct.unpack(layout, bytes_at(address + 8, struct.calcsize(layout)))
    elif start == BUNDLE[:4] and bytes_at(address, len(BUNDLE)) == BUNDLE:
        length = _bundle_length(address)
    else:
        raise HipFailure(INVALID_IMAGE, f"{address:#x} is not a code object: it begins with {start.hex(' ')}")
    return bytes_at(address, length)


def _elf_length(address: int) -> int:
    header = bytes_at(address, 64)
    (sections,) = struct.unpack_from("<Q", header, 0x28)
    size, count = struct.unpack_from("<HH", header, 0x3A)
    if count and size < 64:
        raise HipFailure(INVALID_IMAGE, f"the code object at {address:#x} has section headers of {size} bytes, not 64")
    table = bytes_at(address + sections, size * count)
    ends = [64, sections + size * count]
    for at in range(0, size * count, max(size, 1)):
        kind, offset, length = struct.unpack_from("<4xI16xQQ", table, at)  # sh_type, sh_offset, sh_size
        ends.append(offset + (0 if kind == NO_BITS else length))
    return int(max(ends))


def _bundle_length(address: int) -> int:
    at = address + len(BUNDLE)
    (count,) = struct.unpack("<Q", bytes_at(at, 8))
    if count > ENTRIES:
        raise HipFailure(
            INVALID_IMAGE, f"the bundle at {address:#x} claims {count} entries; at most {ENTRIES} are read"
        )
    end = 0
    at += 8
    for _ in range(count):
        offset, length, name = struct.unpack("<QQQ", bytes_at(at, 24))
        if name > NAME:
            text = f"the bundle at {address:#x} claims a name of {name} bytes; at most {NAME} are read"
            raise HipFailure(INVALID_IMAGE, text)
        at, end = at + 24 + name, max(end, offset + length)
    return int(max(end, at - address))
