"""Code objects that consist of code and a kernel descriptor alone, as tinygrad's assembler writes them.

Such a file is an ELF header whose fields are zero but for the section table, with a section ``.text`` and a section
``.rodata`` that holds the descriptor; a loader places them one behind the other. Neither target, name nor arguments
of the kernel are in it. Source: tinygrad, ``runtime/support/elf.py`` (how it loads), ``extra/sqtt/examples`` (files).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from mfmasim.codeobject import descriptor as kernel_descriptor
from mfmasim.errors import DamagedError, NotCodeObjectError, TargetError

if TYPE_CHECKING:
    from mfmasim.architectures import Arch

KERNEL = "kernel"
"""Name that the kernel gets."""
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_HEADER_BYTES, _BASE, _ALIGNMENT = 64, 0x1000, 0x1000
_DYNSYM, _STRTAB, _PROGBITS, _NOTE = 11, 3, 1, 7
_READ_EXECUTE = 5


def is_bare(data: bytes) -> bool:
    """Whether bytes are such a file: a 64-bit ELF file that names no machine and no order of bytes."""
    return len(data) >= _HEADER_BYTES and data[:6] == b"\x7fELF\x02\0" and data[18:20] == b"\0\0"


def complete(data: bytes, arch: Arch | None, name: str) -> bytes:
    """The same code as a code object of version 5.

    Args:
        data: the file.
        arch: the architecture that it is for.
        name: the file, for the error.

    Returns:
        An ELF file with target, symbols and metadata; its kernel is called `KERNEL`, and its arguments are not known.

    Raises:
        MfmasimError: there is no `arch`, or the file has no code and no descriptor.
    """
    if arch is None:
        raise TargetError(f"{name}: an ELF file without a target, such as tinygrad writes: choose one with arch")
    sections = _sections(data, name)
    text, rodata = sections.get(".text", b""), sections.get(".rodata", b"")
    if not text or len(rodata) < kernel_descriptor.DESCRIPTOR_BYTES:
        raise NotCodeObjectError(f"{name}: an ELF file without a target, and without code and a kernel descriptor")
    at = _BASE + len(text)
    head = rodata[: kernel_descriptor.DESCRIPTOR_BYTES]
    found = kernel_descriptor.decode(head, arch, name)
    entry = at + found.kernel_code_entry_byte_offset
    names = f"\0{KERNEL}\0{KERNEL}.kd\0".encode()
    second = len(KERNEL) + 2
    symbols = bytes(_SYMBOL.size) + _SYMBOL.pack(1, 0x12, 0, 1, entry, _BASE + len(text) - entry)
    symbols += _SYMBOL.pack(second, 0x11, 0, 1, at, kernel_descriptor.DESCRIPTOR_BYTES)
    return _file(arch, text + rodata, symbols, names, _note(arch, head, found.wave))


def _sections(data: bytes, name: str) -> dict[str, bytes]:
    """Contents of sections by name."""
    (place,), (count, names) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HH", data, 60)
    try:
        rows = [_SECTION.unpack_from(data, place + number * _SECTION.size) for number in range(count)]
        table = data[rows[names][4] :]
    except (struct.error, IndexError):
        raise DamagedError(f"{name}: truncated ELF file: its section headers, {count} at byte {place}") from None
    found: dict[str, bytes] = {}
    for label, _, _, _, offset, size, *_ in rows:
        title = table[label : label + 64].partition(b"\0")[0].decode("ascii", "replace")
        found[title] = data[offset : offset + size]
        if len(found[title]) != size and title in (".text", ".rodata"):
            raise DamagedError(f"{name}: truncated ELF file: section {title} is not inside it")
    return found


def _note(arch: Arch, head: bytes, wave: int) -> bytes:
    """The metadata note."""
    import msgpack

    group, private, arguments = struct.unpack_from("<III", head)
    kernel = {
        ".name": KERNEL,
        ".symbol": f"{KERNEL}.kd",
        ".args": [],
        ".wavefront_size": wave,
        ".group_segment_fixed_size": group,
        ".private_segment_fixed_size": private,
        ".kernarg_segment_size": arguments,
        ".kernarg_segment_align": 8,
        ".max_flat_workgroup_size": arch.max_workgroup,
    }
    metadata = {
        "amdhsa.version": [1, 2],
        "amdhsa.target": f"amdgcn-amd-amdhsa--{arch.target}",
        "amdhsa.kernels": [kernel],
    }
    packed: bytes = msgpack.packb(metadata)
    return struct.pack("<III8s", 7, len(packed), 32, b"AMDGPU") + packed + bytes(-len(packed) % 4)


def _file(arch: Arch, image: bytes, symbols: bytes, names: bytes, note: bytes) -> bytes:
    """A code object: one segment, the tables of symbols, the note."""
    titles = b"\0.text\0.dynsym\0.dynstr\0.note\0.shstrtab\0"
    parts = [
        (b".text", _PROGBITS, image, 0, 0),
        (b".dynsym", _DYNSYM, symbols, 3, _SYMBOL.size),
        (b".dynstr", _STRTAB, names, 0, 0),
        (b".note", _NOTE, note, 0, 0),
        (b".shstrtab", _STRTAB, titles, 0, 0),
    ]
    body, rows, places = b"", bytes(_SECTION.size), {}
    for title, kind, content, link, size in parts:
        places[title] = _BASE + len(body)
        where = _BASE if title == b".text" else 0
        fields = titles.index(title + b"\0"), kind, 2, where, places[title], len(content), link, 1, 8, size
        rows += _SECTION.pack(*fields)
        body += content + bytes(-len(content) % 8)
    segments = _SEGMENT.pack(1, _READ_EXECUTE, _BASE, _BASE, _BASE, len(image), len(image), _ALIGNMENT)
    segments += _SEGMENT.pack(4, 4, places[b".note"], 0, 0, len(note), len(note), 4)
    flags = arch.generic.elf_machine if arch.generic else arch.elf_machine
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01\x40\x03",
        3,
        224,
        1,
        0,
        _HEADER_BYTES,
        _BASE + len(body),
        flags,
        _HEADER_BYTES,
        _SEGMENT.size,
        2,
        _SECTION.size,
        len(parts) + 1,
        len(parts),
    )
    return (header + segments).ljust(_BASE, b"\0") + body + rows
