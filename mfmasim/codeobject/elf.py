"""What a loader reads from the ELF file: segments, symbols, relocations and the metadata note, with pyelftools.

Source: LLVM's AMDGPU usage guide, "ELF Code Object": sections, note records, symbols, relocation records.
"""

from __future__ import annotations

import io
import struct
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from mfmasim.codeobject.guard import parsing
from mfmasim.codeobject.records import Relocation, Segment, Symbol
from mfmasim.codeobject.relocations import kind_name
from mfmasim.codeobject.version2 import ISA_NOTE, METADATA_NOTE
from mfmasim.errors import DamagedError, NotCodeObjectError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from elftools.elf.elffile import ELFFile

_SYMBOL_BYTES = 24
_NT_AMDGPU_METADATA = 32
_NOTE_HEADER = struct.Struct("<III")
"""Bytes of the name, bytes of the contents, type."""

# The loaded image of one code object: a larger size is treated as damage, and never allocated.
IMAGE_LIMIT = 1 << 30


def open_elf(data: bytes, name: str) -> ELFFile:
    """Parse a file with pyelftools.

    Raises:
        MfmasimError: pyelftools cannot read it.
    """
    from elftools.elf.elffile import ELFFile

    with parsing(name, "ELF file"):
        return ELFFile(io.BytesIO(data))


def read_sections(data: bytes, name: str, wanted: Container[str]) -> list[tuple[str, memoryview]]:
    """Names and contents of sections.

    Args:
        data: an ELF file of any machine.
        name: for the error.
        wanted: names of the sections.

    Raises:
        MfmasimError: the file is damaged, or such a section is not inside it.
    """
    found = []
    with parsing(name, "host ELF file"):
        rows = [(one.name, one.header) for one in open_elf(data, name).iter_sections()]
    for title, header in rows:
        if title in wanted:
            offset, size = int(header["sh_offset"]), int(header["sh_size"])
            if header["sh_type"] == "SHT_NOBITS" or offset + size > len(data):
                raise DamagedError(f"{name}: truncated or corrupt ELF file: section {title} is not inside it")
            found.append((title, memoryview(data)[offset : offset + size]))
    return found


def read_segments(elf: ELFFile, data: bytes, name: str) -> tuple[Segment, ...]:
    """The loaded segments by ascending address.

    Args:
        elf: the parsed file.
        data: its bytes.
        name: the file, for the error.

    Returns:
        Segments, each with the bytes that the file has of it.

    Raises:
        MfmasimError: one lies outside the file, overlaps another, or the image is larger than `IMAGE_LIMIT`.
    """
    segments: list[Segment] = []
    with parsing(name, "program headers"):
        headers = [segment.header for segment in elf.iter_segments(type="PT_LOAD")]
    for header in headers:
        offset, filesz, memsz, vaddr = (int(header[key]) for key in ("p_offset", "p_filesz", "p_memsz", "p_vaddr"))
        if offset + filesz > len(data):
            raise DamagedError(
                f"{name}: truncated ELF file: a segment ends at byte {offset + filesz}, the file has {len(data)}"
            )
        if filesz > memsz or vaddr + memsz > IMAGE_LIMIT:
            raise DamagedError(
                f"{name}: corrupt segment at {vaddr:#x}: {filesz} bytes of file, {memsz} of memory; "
                f"the image may have {IMAGE_LIMIT}"
            )
        if memsz:
            flags = int(header["p_flags"])
            segments.append(
                Segment(
                    vaddr=vaddr,
                    memsize=memsz,
                    data=data[offset : offset + filesz],
                    readable=bool(flags & 4),
                    writable=bool(flags & 2),
                    executable=bool(flags & 1),
                )
            )
    segments.sort(key=lambda one: one.vaddr)
    for before, after in pairwise(segments):
        if before.end > after.vaddr:
            raise DamagedError(f"{name}: corrupt segments: two overlap at {after.vaddr:#x}")
    return tuple(segments)


def read_protected(elf: ELFFile, name: str) -> list[tuple[int, int]]:
    """First address and end of what is read-only once relocations are applied (PT_GNU_RELRO).

    Raises:
        MfmasimError: the program headers are damaged.
    """
    with parsing(name, "program headers"):
        headers = [segment.header for segment in elf.iter_segments(type="PT_GNU_RELRO")]
    return [(int(header["p_vaddr"]), int(header["p_vaddr"]) + int(header["p_memsz"])) for header in headers]


def read_note(elf: ELFFile, name: str) -> bytes:
    """The metadata note's msgpack bytes.

    Raises:
        MfmasimError: the file has none.
    """
    with parsing(name, "note"):
        for segment in _segments(elf, "PT_NOTE"):
            for note in segment.iter_notes():
                if note["n_type"] == _NT_AMDGPU_METADATA and note["n_name"] == "AMDGPU":
                    return bytes(note["n_descdata"])
    raise NotCodeObjectError(f"{name}: no AMDGPU metadata note: kernels and arguments are unknown")


def read_amd_notes(elf: ELFFile, name: str) -> dict[int, bytes]:
    """Contents of the notes of a version 2 code object by type.

    Raises:
        MfmasimError: they are damaged, or the metadata is missing.
    """
    found: dict[int, bytes] = {}
    with parsing(name, "note"):
        for segment in _segments(elf, "PT_NOTE"):
            data, at = bytes(segment.data()), 0
            while at + _NOTE_HEADER.size <= len(data):
                name_size, size, kind = _NOTE_HEADER.unpack_from(data, at)
                start = at + _NOTE_HEADER.size
                content = start + -(-name_size // 4) * 4
                if content + size > len(data):
                    raise ValueError(f"a note ends at byte {content + size} of {len(data)}")
                if data[start : start + name_size].rstrip(b"\0") == b"AMD":
                    found.setdefault(kind, data[content : content + size])
                at = content + -(-size // 4) * 4
    if METADATA_NOTE not in found or ISA_NOTE not in found:
        raise NotCodeObjectError(
            f"{name}: no AMD notes of metadata and instruction set: kernels and arguments are unknown"
        )
    return found


def _segments(elf: ELFFile, kind: str) -> Iterator[Any]:
    """Program headers of one kind; pyelftools declares its common base class, not what it returns."""
    return iter(elf.iter_segments(type=kind))


def _symbol_table(elf: ELFFile) -> Any:
    """The dynamic symbol table: by its section, or through the dynamic segment of a file without sections."""
    for section in elf.iter_sections(type="SHT_DYNSYM"):
        if section["sh_entsize"] != _SYMBOL_BYTES:
            raise ValueError(f"symbols of {section['sh_entsize']} bytes")
        return section
    return next(_segments(elf, "PT_DYNAMIC"), None)


def read_symbols(elf: ELFFile, name: str) -> dict[str, Symbol]:
    """Defined dynamic symbols by name.

    Raises:
        MfmasimError: the table is damaged or missing.
    """
    symbols: dict[str, Symbol] = {}
    with parsing(name, "symbol table"):
        table = _symbol_table(elf)
        if table is None:
            raise NotCodeObjectError(f"{name}: no dynamic symbol table: not linked for a device")
        for symbol in table.iter_symbols():
            if symbol.name and symbol["st_shndx"] != "SHN_UNDEF":
                symbols[symbol.name] = Symbol(
                    name=symbol.name,
                    address=int(symbol["st_value"]),
                    size=int(symbol["st_size"]),
                    kind=str(symbol["st_info"]["type"]).removeprefix("STT_").lower(),
                )
    return symbols


def read_relocations(elf: ELFFile, name: str) -> tuple[Relocation, ...]:
    """Dynamic relocations with their symbols resolved inside the file.

    Raises:
        MfmasimError: one refers to a symbol that the file does not define.
    """
    found: list[Relocation] = []
    with parsing(name, "relocations"):
        for segment in _segments(elf, "PT_DYNAMIC"):
            for form, table in segment.get_relocation_tables().items():
                if form not in {"RELA", "JMPREL"} or not table.is_RELA():
                    raise UnsupportedError(f"{name}: relocations of form {form} are not supported; allowed: RELA")
                for one in table.iter_relocations():
                    kind = kind_name(int(one["r_info_type"]))
                    value = int(one["r_addend"])
                    if one["r_info_sym"]:
                        symbol = segment.get_symbol(one["r_info_sym"])
                        if symbol["st_shndx"] == "SHN_UNDEF":
                            raise DamagedError(f"{name}: undefined symbol {symbol.name!r} is needed by a {kind}")
                        value += int(symbol["st_value"])
                    if kind != "R_AMDGPU_NONE":
                        found.append(Relocation(address=int(one["r_offset"]), kind=kind, value=value))
    return tuple(found)
