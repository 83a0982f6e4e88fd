"""From bytes to a `CodeObject`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mfmasim.architectures import Arch
from mfmasim.architectures import target as find_target
from mfmasim.codeobject import bare, bundle, containers, elf_header, names, version2
from mfmasim.codeobject import descriptor as kernel_descriptor
from mfmasim.codeobject import elf as elf_file
from mfmasim.codeobject import metadata as notes
from mfmasim.codeobject import relocations as relocation
from mfmasim.codeobject.bundle import Entry
from mfmasim.codeobject.model import CodeObject
from mfmasim.codeobject.records import KernelInfo, Segment, Symbol, read_segments
from mfmasim.codeobject.target import FEATURES, read_target
from mfmasim.errors import DamagedError, MfmasimError, NotCodeObjectError, TargetError, UnsupportedError, unknown

FILE_LIMIT = 1 << 31
"""Most bytes of a file: host programs with code for many processors have hundreds of megabytes."""

# The hardware takes a kernel's address in units of 256 bytes (PGM_LO, PGM_HI).
_ENTRY_ALIGNMENT = 256


def load(path: str | Path, arch: str | Arch | None = None, kernel: str | None = None) -> CodeObject:
    """Read a code object from a file.

    Args:
        path: an ``.hsaco`` or ``.co``, or a file that contains such: see `read`.
        arch: architecture to choose where the file holds several.
        kernel: name of a kernel, to choose where the file holds several for one architecture.

    Returns:
        The code object.

    Raises:
        MfmasimError: the file cannot be read; see `read`.
    """
    return read(read_bytes(Path(path)), str(path), arch, kernel)


def read_bytes(path: Path) -> bytes:
    """Bytes of a file.

    Raises:
        MfmasimError: it is no file, too large, or cannot be read.
    """
    try:
        if path.exists() and not path.is_file():  # a device or a pipe may never end
            raise NotCodeObjectError(
                f"{path}: {'a folder' if path.is_dir() else 'not a regular file'}, not a code object"
            )
        if path.stat().st_size > FILE_LIMIT:
            raise UnsupportedError(f"{path}: {path.stat().st_size:,} bytes, more than the {FILE_LIMIT:,} that are read")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise MfmasimError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def read(data: bytes, name: str = "<bytes>", arch: str | Arch | None = None, kernel: str | None = None) -> CodeObject:
    """Read a code object.

    Args:
        data: an ELF file for an AMD GPU; an offload bundle, plain or compressed; an offload package; a host ELF file
            with sections ``.hip_fatbin`` or ``.llvm.offloading``; an archive of any of them; or code and a descriptor
            alone (`mfmasim.codeobject.bare`), which needs an ``arch``.
        name: its name in errors.
        arch: architecture or generic target to choose where there are several, with or without target features
            (``gfx942:xnack-``); where there is one, it has to be this one, or a generic target that this one runs.
            Code for a generic target runs on the first of its processors unless this is another one.
        kernel: name of a kernel, to choose where there are several code objects for one architecture.

    Returns:
        The code object.

    Raises:
        MfmasimError: the bytes are truncated, corrupt, not a code object, of an architecture or version that is not
            supported, or hold several code objects and ``arch`` does not pick one.
    """
    wanted = _wanted(arch)
    data = bytes(data)
    if not data:
        raise NotCodeObjectError(f"{name}: empty file")
    if bare.is_bare(data):
        return _read_elf(bare.complete(data, None if arch is None else find_target(arch), name), name, wanted)
    if data[:4] == elf_header.ELF_MAGIC and elf_header.read_header(data, name).is_amdgpu:
        return _read_elf(data, name, wanted)
    return _pick(containers.entries(data, name), wanted, kernel, name)


def _wanted(arch: str | Arch | None) -> str | None:
    """Requested target id, its processor checked."""
    if arch is None:
        return None
    name = find_target(arch).target
    features = [] if isinstance(arch, Arch) else arch.lower().split(":")[1:]
    for feature in features:
        if feature not in FEATURES:
            raise unknown("target feature", feature, FEATURES, f"in {arch!r}")
    return ":".join([name, *features])


def _pick(entries: list[Entry], wanted: str | None, kernel: str | None, name: str) -> CodeObject:
    """The code object that a target, and where there are several the name of a kernel, choose."""
    if kernel is not None:
        entries = _defining(entries, wanted, kernel, name) or entries
    entry = bundle.pick(entries, wanted, name)
    inner = bytes(entry.data)
    where = f"{name} ({entry.target_id})"
    if inner[:4] != elf_header.ELF_MAGIC:
        raise NotCodeObjectError(f"{where}: not a linked code object: {containers.opening(inner)}")
    code = _read_elf(inner, where, wanted)
    if not bundle.answers(code.target_id, entry.target_id):
        raise DamagedError(f"{where}: corrupt bundle: the entry holds a code object for {code.target_id}")
    return code


def _defining(entries: list[Entry], wanted: str | None, kernel: str, name: str) -> list[Entry]:
    """The code objects that define a kernel."""
    word = max(re.findall(r"\w+", kernel), key=len, default="").encode()
    found = []
    for entry in entries:
        data = bytes(entry.data)
        fits = wanted is None or bundle.answers(entry.target_id, wanted)
        if fits and word in data and data[:4] == elf_header.ELF_MAGIC:
            try:
                names.find(kernel, _read_elf(data, name, wanted).kernels, name)
            except MfmasimError:
                continue
            found.append(entry)
    return found


def _read_elf(data: bytes, name: str, wanted: str | None) -> CodeObject:
    """Read an ELF file for an AMD GPU; as `read`, without the containers around it."""
    header = elf_header.read_header(data, name)
    version = elf_header.check_amdgpu(header, name)
    elf = elf_file.open_elf(data, name)
    isa = ""
    if version == 2:
        amd = elf_file.read_amd_notes(elf, name)
        isa = version2.processor(amd[version2.ISA_NOTE], name)
        metadata = version2.unpack(amd[version2.METADATA_NOTE], name)
    else:
        metadata = notes.unpack(elf_file.read_note(elf, name), name)
    target = read_target(header.flags, version, metadata, isa, name)
    if wanted is not None and not bundle.answers(target.target_id, wanted):
        raise TargetError(f"{name}: {target.refused(wanted)}")
    asked = wanted.partition(":")[0] if wanted is not None else None
    found = target.arch(asked if asked != target.processor else None)
    segments = elf_file.read_segments(elf, data, name)
    symbols = elf_file.read_symbols(elf, name)
    relocations = elf_file.read_relocations(elf, name)
    relocation.check(relocations, segments, name)
    kernels = {
        kernel: _kernel(kernel, symbol, raw, segments, symbols, found, version, f"{name}: kernel {kernel}")
        for kernel, symbol, raw in notes.kernel_names(metadata, name)
    }
    entries = sorted({kernel.entry for kernel in kernels.values()})
    return CodeObject(
        name=name,
        arch=found,
        data=data,
        abi_version=version,
        target_id=target.target_id,
        kernels={one: _ended(kernel, symbols.get(one), entries) for one, kernel in kernels.items()},
        segments=segments,
        symbols=symbols,
        relocations=relocations,
        sha256=hashlib.sha256(data).hexdigest(),
        metadata=metadata,
    )


def _kernel(
    name: str,
    symbol: str,
    raw: Mapping[str, Any],
    segments: tuple[Segment, ...],
    symbols: Mapping[str, Symbol],
    arch: Arch,
    version: int,
    where: str,
) -> KernelInfo:
    place = symbols.get(symbol)
    if place is None:
        raise DamagedError(f"{where}: no kernel descriptor: symbol {symbol!r} is not defined")
    if version == 2:
        header = read_segments(segments, place.address, version2.HEADER_BYTES, where)
        data = version2.descriptor(header, arch, where)
    else:
        data = read_segments(segments, place.address, kernel_descriptor.DESCRIPTOR_BYTES, where)
    descriptor = kernel_descriptor.decode(data, arch, where)
    entry = place.address + descriptor.kernel_code_entry_byte_offset
    # Code ends with the bytes of the file: what memory a segment claims beyond them, up to a gigabyte, holds none.
    ends = (one.vaddr + len(one.data) for one in segments if one.executable and one.vaddr <= entry)
    end = next((end for end in ends if entry < end), None)
    if end is None or entry % _ENTRY_ALIGNMENT:
        raise DamagedError(f"{where}: corrupt kernel descriptor: no code at entry {entry:#x}")
    function = symbols.get(name)
    if version == 2:
        declared = max(place.address + place.size - entry, 0)  # the symbol is that of header and code together
    else:
        declared = function.size if function is not None and function.address == entry else 0
    if entry + declared > end:
        raise DamagedError(f"{where}: corrupt symbol: {declared} bytes of code at {entry:#x} end beyond their segment")
    properties = notes.kernel_metadata(raw, where)
    return KernelInfo(
        name=name,
        symbol=symbol,
        descriptor=descriptor,
        descriptor_address=place.address,
        entry=entry,
        size=declared or end - entry,
        args=notes.arguments(raw, where),
        metadata=properties,
    )


def _ended(kernel: KernelInfo, function: Symbol | None, entries: Sequence[int]) -> KernelInfo:
    """A kernel whose symbol has no size, as in hand-written code, ends at the next kernel or with its segment."""
    following = [entry - kernel.entry for entry in entries if kernel.entry < entry < kernel.entry + kernel.size]
    return replace(kernel, size=following[0]) if following and not (function and function.size) else kernel
