"""What holds code objects: bundles, archives, offload packages, host programs, libraries and object files.

Sources: LLVM's Clang Offload Bundler document; ``llvm/Object/OffloadBinary.h`` (packages); ar(5).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from mfmasim.architectures import arch_of_elf, generic_of_elf
from mfmasim.codeobject import bundle, elf_header
from mfmasim.codeobject import elf as elf_file
from mfmasim.codeobject.bundle import Entry
from mfmasim.errors import DamagedError, NotCodeObjectError, UnsupportedError

ARCHIVE, PACKAGE = b"!<arch>\n", b"\x10\xff\x10\xad"
_MEMBER_HEADER = 60
_PACKAGE_HEADER = struct.Struct("<4sIQQQ")  # magic, version, size, offset and size of the entry
_PACKAGE_ENTRY = struct.Struct("<HHIQQQQ")  # kinds, flags, offset and number of strings, offset and size of the image
_PACKAGE_VERSION = 1
_PAIR = struct.Struct("<QQ")
_MOST_STRINGS = 64
# First bytes of files that are often mistaken for code objects.
_FOREIGN = (
    (b"BC\xc0\xde", "LLVM bitcode, not linked"),
    (b"!<thin>\n", "a thin archive, whose members are other files"),
    (b"MZ", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"\x03\x02\x23\x07", "SPIR-V"),
    (b"\x50\xed\x55\xba", "an NVIDIA fat binary"),
)


def opening(data: bytes | memoryview) -> str:
    """Kind of an unsupported file, by its first bytes."""
    head = bytes(data[:8])
    if not head:
        return "an empty file"
    known = next((what for magic, what in _FOREIGN if head.startswith(magic)), "")
    return "starts with " + head.hex(" ") + (f" ({known})" if known else "")


def entries(data: bytes | memoryview, name: str) -> list[Entry]:
    """The code objects in a file, and what else its containers hold.

    Args:
        data: an ELF file for an AMD GPU, an offload bundle or package, an archive, or an ELF file for another machine.
        name: the file, for the error.

    Returns:
        Entries in the file's order; those for the host included.

    Raises:
        MfmasimError: a container is damaged, holds none, or the file is of another kind.
    """
    data = memoryview(data)
    head = bytes(data[:8])
    if bundle.is_bundle(data):
        return bundle.split(data, name)
    if head.startswith(PACKAGE):
        return list(_package(data, name))
    if head == ARCHIVE:
        found = [entry for member, part in _members(data, name) for entry in _member(part, f"{name}({member})")]
        if not found:
            raise NotCodeObjectError(f"{name}: an archive without code for an AMD GPU")
        return found
    if not head.startswith(elf_header.ELF_MAGIC):
        raise NotCodeObjectError(f"{name}: not a code object: {opening(data)}")
    return _elf(data, name)


def _elf(data: memoryview, name: str) -> list[Entry]:
    """Code objects of an ELF file: itself, or in its sections."""
    header = elf_header.read_header(bytes(data), name)
    if header.is_amdgpu:
        found = generic_of_elf(header.flags & 0xFF) or arch_of_elf(header.flags & 0xFF)
        return [Entry(f"hipv4-amdgcn-amd-amdhsa--{found.name}" if found else "unknown", data)]
    sections = elf_file.read_sections(bytes(data), name, _READERS)
    if not sections:
        machine = elf_header.machine_name(header.machine)
        raise NotCodeObjectError(
            f"{name}: an ELF file for {machine}, not for an AMD GPU, and without a section .hip_fatbin"
        )
    return [entry for section, part in sections for entry in _READERS[section](part, f"{name}: {section}")]


def _member(data: memoryview, name: str) -> list[Entry]:
    """Code objects of a member of an archive: none in one that has only code of the host."""
    if bytes(data[:4]) != elf_header.ELF_MAGIC:
        return entries(data, name) if bundle.is_bundle(data) or bytes(data[:4]) == PACKAGE else []
    if elf_header.read_header(bytes(data), name).is_amdgpu or elf_file.read_sections(bytes(data), name, _READERS):
        return _elf(data, name)
    return []


def _members(data: memoryview, name: str) -> Iterator[tuple[str, memoryview]]:
    """Names and contents of an archive's members, without its tables of symbols and names."""
    at, names = len(ARCHIVE), b""
    while at + _MEMBER_HEADER <= len(data):
        header = bytes(data[at : at + _MEMBER_HEADER])
        size, start = header[48:58].strip(), at + _MEMBER_HEADER
        if header[58:] != b"`\n" or not size.isdigit() or start + int(size) > len(data):
            raise DamagedError(f"{name}: truncated or corrupt archive: the member at byte {at}")
        part, title = data[start : start + int(size)], header[:16].rstrip()
        at = start + int(size) + int(size) % 2
        if title == b"//":
            names = bytes(part)
        elif title not in (b"/", b"/SYM64/"):
            if title[:1] == b"/" and title[1:].isdigit():
                title = names[int(title[1:]) :].partition(b"\n")[0]
            yield title.rstrip(b"/").decode("ascii", "replace"), part


def _package(data: memoryview, name: str) -> Iterator[Entry]:
    """Entries of offload packages, one after another with zero bytes between them."""
    while len(data):
        try:
            magic, version, size, offset, _ = _PACKAGE_HEADER.unpack_from(data)
            *_, strings, count, image, length = _PACKAGE_ENTRY.unpack_from(data, offset)
            pairs = [_PAIR.unpack_from(data, strings + _PAIR.size * n) for n in range(min(count, _MOST_STRINGS))]
        except struct.error:
            size, magic = 0, b""
        if magic != PACKAGE or not _PACKAGE_HEADER.size <= size <= len(data) or image + length > size:
            raise DamagedError(f"{name}: truncated or corrupt offload package")
        if version != _PACKAGE_VERSION:
            raise UnsupportedError(f"{name}: offload package of version {version} is not supported; allowed: 1")
        texts = {_text(data, key): _text(data, value) for key, value in pairs}
        part = data[image : image + length]
        if bundle.is_bundle(part):
            yield from bundle.split(part, name)
        else:
            yield Entry(f"hipv4-{texts.get('triple', '')}--{texts.get('arch', '')}", part)
        data = bundle.skip_zeros(data[size:])


def _text(data: memoryview, at: int) -> str:
    """Text that ends with a zero byte."""
    return bytes(data[at : at + 256]).partition(b"\0")[0].decode("ascii", "replace")


_READERS = {".hip_fatbin": bundle.split, ".llvm.offloading": _package}
"""Sections of ELF files for another machine, and what reads them."""
