"""The ELF header: the machine of the file, and whether its tables are inside the file.

Source: LLVM's AMDGPU usage guide, "ELF Code Object": header.
"""

from __future__ import annotations

from dataclasses import dataclass

from mfmasim.errors import DamagedError, NotCodeObjectError, UnsupportedError

ELF_MAGIC = b"\x7fELF"

_HEADER_BYTES = 64
_PROGRAM_HEADER_BYTES = 56
_SECTION_HEADER_BYTES = 64
_EM_AMDGPU = 224
_OSABI_AMDGPU_HSA = 64
_ET_DYN = 3

# EI_ABIVERSION of the HSA OS ABI -> code object version.
_VERSIONS = {0: 2, 1: 3, 2: 4, 3: 5, 4: 6}


@dataclass(frozen=True)
class Header:
    """Fields of the ELF header."""

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
    """Read the ELF header and check its tables against the file's size.

    Args:
        data: the file.
        name: for the error.

    Raises:
        MfmasimError: the file ends before its tables do, or is not an ELF file.
    """
    if len(data) < _HEADER_BYTES or data[:4] != ELF_MAGIC:
        raise DamagedError(f"{name}: truncated ELF file: {len(data)} bytes, the header alone has {_HEADER_BYTES}")
    elf_class, encoding = data[4], data[5]
    if elf_class not in {1, 2} or encoding not in {1, 2}:
        raise DamagedError(f"{name}: corrupt ELF header: class {elf_class}, data encoding {encoding}")
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
                raise DamagedError(f"{name}: corrupt ELF header: {what} of {size} bytes, not {expected}")
            if offset + count * size > len(data):
                raise DamagedError(
                    f"{name}: truncated ELF file: its {what} end at byte {offset + count * size}, "
                    f"the file has {len(data)}"
                )
    return header


def check_amdgpu(header: Header, name: str) -> int:
    """Refuse files that no AMD GPU loads.

    Returns:
        The code object version: 2 to 6.

    Raises:
        MfmasimError: another machine, a 32-bit, big-endian or unlinked file, another operating system ABI, or a
            unsupported code object version.
    """
    if not header.is_amdgpu:
        raise NotCodeObjectError(f"{name}: an ELF file for {machine_name(header.machine)}, not for an AMD GPU")
    if header.elf_class != 2 or header.big_endian:
        raise DamagedError(f"{name}: corrupt ELF header: an AMD GPU's file is 64-bit little-endian")
    if header.os_abi != _OSABI_AMDGPU_HSA:
        raise UnsupportedError(
            f"{name}: OS ABI {header.os_abi} is not supported; allowed: {_OSABI_AMDGPU_HSA} (amdhsa)"
        )
    version = _VERSIONS.get(header.abi_version)
    if version is None:
        raise UnsupportedError(
            f"{name}: a code object with ABI version {header.abi_version} is not supported; allowed: 0 to "
            f"{max(_VERSIONS)} (versions 2 to {max(_VERSIONS.values())})"
        )
    if header.file_type != _ET_DYN:
        raise NotCodeObjectError(
            f"{name}: an unlinked or static ELF file (e_type {header.file_type}); link it with -shared"
        )
    return version


def machine_name(number: int) -> str:
    """Name of an ``e_machine`` value."""
    from elftools.elf.enums import ENUM_E_MACHINE

    names = [key for key, value in ENUM_E_MACHINE.items() if value == number]
    return str(names[0]).removeprefix("EM_") if names else "an unknown machine"
