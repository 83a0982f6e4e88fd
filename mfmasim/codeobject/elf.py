"""The ELF file as pyelftools reads it, checked before anything trusts a size in it.

Source: LLVM's AMDGPU usage guide, "ELF Code Object": header, e_flags, note records.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from mfmasim.codeobject.guard import parsing
from mfmasim.codeobject.model import Relocation, Segment, Symbol
from mfmasim.codeobject.relocations import kind_name
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from elftools.elf.elffile import ELFFile

__all__ = ["ELF_MAGIC", "Header", "open_elf", "read_header", "read_note", "read_relocations", "read_segments"]
__all__ += ["read_symbols", "target_features"]

ELF_MAGIC = b"\x7fELF"

_HEADER_BYTES = 64
_PROGRAM_HEADER_BYTES = 56
_SECTION_HEADER_BYTES = 64
_SYMBOL_BYTES = 24
_EM_AMDGPU = 224
_OSABI_AMDGPU_HSA = 64
_NT_AMDGPU_METADATA = 32
_ET_DYN = 3

# The loaded image of one code object: a claim beyond this is damage, and is never allocated.
IMAGE_LIMIT = 1 << 30

# EI_ABIVERSION of the HSA OS ABI -> code object version.
_VERSIONS = {0: 2, 1: 3, 2: 4, 3: 5, 4: 6}

# A target feature's two bits in e_flags, by LLVM's name, in the order of a target id.
# Values: 0 not supported by the processor, 1 any, 2 off, 3 on.
_FEATURES = (("sramecc", 10), ("xnack", 8))


@dataclass(frozen=True)
class Header:
    """What the ELF header says."""

    elf_class: int
    """1 is 32 bits, 2 is 64 bits."""
    big_endian: bool
    machine: int
    """``e_machine``."""
    file_type: int
    """``e_type``."""
    os_abi: int
    abi_version: int
    flags: int
    """``e_flags``."""

    @property
    def is_amdgpu(self) -> bool:
        """Whether the file is for an AMD GPU."""
        return self.machine == _EM_AMDGPU


def read_header(data: bytes, name: str) -> Header:
    """Read the ELF header and hold its tables to the file's size.

    Args:
        data: the file.
        name: for the error.

    Raises:
        MfmasimError: the file ends before its own tables do, or is no ELF file.
    """
    if len(data) < _HEADER_BYTES or data[:4] != ELF_MAGIC:
        raise MfmasimError(f"{name}: truncated ELF file: {len(data)} bytes, the header alone has {_HEADER_BYTES}")
    elf_class, encoding = data[4], data[5]
    if elf_class not in {1, 2} or encoding not in {1, 2}:
        raise MfmasimError(f"{name}: corrupt ELF header: class {elf_class}, data encoding {encoding}")
    order = "big" if encoding == 2 else "little"

    def number(at: int, size: int) -> int:
        return int.from_bytes(data[at : at + size], order)  # type: ignore[arg-type]

    header = Header(
        elf_class=elf_class,
        big_endian=encoding == 2,
        machine=number(18, 2),
        file_type=number(16, 2),
        os_abi=data[7],
        abi_version=data[8],
        flags=number(48 if elf_class == 2 else 36, 4),
    )
    if elf_class == 2:
        tables = (
            ("program headers", number(32, 8), number(56, 2), number(54, 2), _PROGRAM_HEADER_BYTES),
            ("section headers", number(40, 8), number(60, 2), number(58, 2), _SECTION_HEADER_BYTES),
        )
        for what, offset, count, size, expected in tables:
            if count and size != expected:
                raise MfmasimError(f"{name}: corrupt ELF header: {what} of {size} bytes, not {expected}")
            if offset + count * size > len(data):
                raise MfmasimError(
                    f"{name}: truncated ELF file: its {what} end at byte {offset + count * size}, "
                    f"the file has {len(data)}"
                )
    return header


def check_amdgpu(header: Header, name: str) -> int:
    """Refuse what no AMD GPU loads.

    Returns:
        The code object version: 4, 5 or 6.

    Raises:
        MfmasimError: another machine, a 32-bit, big-endian or unlinked file, another operating system ABI, or a
            code object version that is not read.
    """
    if not header.is_amdgpu:
        raise MfmasimError(f"{name}: an ELF file for {_machine_name(header.machine)}, not for an AMD GPU")
    if header.elf_class != 2 or header.big_endian:
        raise MfmasimError(f"{name}: corrupt ELF header: an AMD GPU's file is 64-bit little-endian")
    if header.os_abi != _OSABI_AMDGPU_HSA:
        raise MfmasimError(f"{name}: OS ABI {header.os_abi} is not supported; allowed: {_OSABI_AMDGPU_HSA} (amdhsa)")
    version = _VERSIONS.get(header.abi_version)
    if version is None or version < 4:
        told = f"version {version}" if version else f"with ABI version {header.abi_version}"
        raise MfmasimError(f"{name}: code object {told} is not supported; allowed: 4, 5, 6")
    if header.file_type != _ET_DYN:
        raise MfmasimError(
            f"{name}: an unlinked or static ELF file (e_type {header.file_type}); link it with -shared"
        )
    return version


def _machine_name(number: int) -> str:
    from elftools.elf.enums import ENUM_E_MACHINE

    names = [key for key, value in ENUM_E_MACHINE.items() if value == number]
    return str(names[0]).removeprefix("EM_") if names else "an unknown machine"


# Every feature that a target id may name.
FEATURES = tuple(f"{name}{sign}" for name, _ in _FEATURES for sign in "+-")


def target_features(flags: int) -> str:
    """Target features of ``e_flags`` as a target id spells them, such as ``:sramecc+:xnack-``."""
    return "".join(f":{name}{'-+'[value - 2]}" for name, low in _FEATURES if (value := flags >> low & 3) >= 2)


def open_elf(data: bytes, name: str) -> ELFFile:
    """Hand a file to pyelftools.

    Raises:
        MfmasimError: pyelftools cannot read it.
    """
    from elftools.elf.elffile import ELFFile

    with parsing(name, "ELF file"):
        return ELFFile(io.BytesIO(data))


def read_fatbin(data: bytes, name: str) -> memoryview:
    """The offload bundles inside a host program or object file.

    Args:
        data: an ELF file of any machine.
        name: for the error.

    Raises:
        MfmasimError: there is no section ``.hip_fatbin``, or it is not inside the file.
    """
    header = read_header(data, name)
    with parsing(name, "host ELF file"):
        section = open_elf(data, name).get_section_by_name(".hip_fatbin")
    if section is None:
        machine = _machine_name(header.machine)
        raise MfmasimError(
            f"{name}: an ELF file for {machine}, not for an AMD GPU, and without a section .hip_fatbin"
        )
    offset, size = int(section["sh_offset"]), int(section["sh_size"])
    if section["sh_type"] != "SHT_PROGBITS" or offset + size > len(data):
        raise MfmasimError(f"{name}: truncated or corrupt ELF file: section .hip_fatbin is not inside it")
    return memoryview(data)[offset : offset + size]


def read_segments(elf: ELFFile, data: bytes, name: str) -> tuple[Segment, ...]:
    """The loaded segments by ascending address.

    Raises:
        MfmasimError: one lies outside the file, overlaps another, or the image is larger than `IMAGE_LIMIT`.
    """
    segments: list[Segment] = []
    with parsing(name, "program headers"):
        headers = [segment.header for segment in elf.iter_segments(type="PT_LOAD")]
    for header in headers:
        offset, filesz, memsz, vaddr = (int(header[key]) for key in ("p_offset", "p_filesz", "p_memsz", "p_vaddr"))
        if offset + filesz > len(data):
            raise MfmasimError(
                f"{name}: truncated ELF file: a segment ends at byte {offset + filesz}, the file has {len(data)}"
            )
        if filesz > memsz or vaddr + memsz > IMAGE_LIMIT:
            raise MfmasimError(
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
            raise MfmasimError(f"{name}: corrupt segments: two overlap at {after.vaddr:#x}")
    return tuple(segments)


def read_note(elf: ELFFile, name: str) -> bytes:
    """The metadata note's msgpack bytes.

    Raises:
        MfmasimError: there is none.
    """
    with parsing(name, "note"):
        for segment in _segments(elf, "PT_NOTE"):
            for note in segment.iter_notes():
                if note["n_type"] == _NT_AMDGPU_METADATA and note["n_name"] == "AMDGPU":
                    return bytes(note["n_descdata"])
    raise MfmasimError(f"{name}: no AMDGPU metadata note: kernels and arguments are unknown")


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
            raise MfmasimError(f"{name}: no dynamic symbol table: not linked for a device")
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
                    raise MfmasimError(f"{name}: relocations of form {form} are not supported; allowed: RELA")
                for one in table.iter_relocations():
                    kind = kind_name(int(one["r_info_type"]))
                    value = int(one["r_addend"])
                    if one["r_info_sym"]:
                        symbol = segment.get_symbol(one["r_info_sym"])
                        if symbol["st_shndx"] == "SHN_UNDEF":
                            raise MfmasimError(f"{name}: undefined symbol {symbol.name!r} is needed by a {kind}")
                        value += int(symbol["st_value"])
                    if kind != "R_AMDGPU_NONE":
                        found.append(Relocation(address=int(one["r_offset"]), kind=kind, value=value))
    return tuple(found)
