"""Code object version 2: metadata in YAML, and a 256-byte header before the code of each kernel.

Source: LLVM's AMDGPU usage guide, "Code Object V2 Metadata" and "Code Object V2 Note Records"; LLVM's
``AMDKernelCodeT.h`` (amd_kernel_code_t). Both are brought into the form of later versions.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any

from mfmasim.codeobject.guard import parsing
from mfmasim.errors import DamagedError, UnsupportedError

if TYPE_CHECKING:
    from mfmasim.architectures import Arch

HEADER_BYTES = 256
ISA_NOTE, METADATA_NOTE = 3, 10
"""Types of the notes with the name AMD."""
_NOTE_LIMIT, _SLOW_LIMIT = 1 << 20, 1 << 14
"""Longest metadata that is parsed, by libyaml and by PyYAML without it: a bound on the parser's time."""

_ISA = struct.Struct("<HHIII")
# Versions of the code and the machine (16 bytes), entry, prefetch and backing memory (40), then what a launch needs.
_HEADER = struct.Struct("<16sq24sQIIIIQ")
_USER_SGPRS, _GRID_COUNTS, _WAVE32, _ORDERED, _DYNAMIC = 0x7F, 7 << 7, 1 << 10, 1 << 16, 1 << 20
_WAVE_AT = 103
_DESCRIPTOR = struct.Struct("<III4xq20xIIIHH4x")

_KERNEL = {"Name": ".name", "SymbolName": ".symbol", "Language": ".language"}
_PROPERTIES = {
    "KernargSegmentSize": ".kernarg_segment_size", "KernargSegmentAlign": ".kernarg_segment_align",
    "GroupSegmentFixedSize": ".group_segment_fixed_size", "PrivateSegmentFixedSize": ".private_segment_fixed_size",
    "WavefrontSize": ".wavefront_size", "MaxFlatWorkGroupSize": ".max_flat_workgroup_size",
    "NumSGPRs": ".sgpr_count", "NumVGPRs": ".vgpr_count", "NumSpilledSGPRs": ".sgpr_spill_count",
    "NumSpilledVGPRs": ".vgpr_spill_count",
}  # fmt: skip
_ATTRIBUTES = {"ReqdWorkGroupSize": ".reqd_workgroup_size", "WorkGroupSizeHint": ".workgroup_size_hint"}
_TEXTS = {"Name": ".name", "TypeName": ".type_name"}
_WORDS = {
    "ValueKind": ".value_kind",
    "AddrSpaceQual": ".address_space",
    "AccQual": ".access",
    "ActualAccQual": ".actual_access",
}
_FLAGS = {"IsConst": ".is_const", "IsRestrict": ".is_restrict", "IsVolatile": ".is_volatile", "IsPipe": ".is_pipe"}


def processor(note: bytes, name: str) -> str:
    """LLVM's processor name from the note of the instruction set.

    Args:
        note: sizes of two names, major, minor, stepping, and the names.
        name: the file, for the error.

    Raises:
        MfmasimError: the note is too short.
    """
    if len(note) < _ISA.size:
        raise DamagedError(f"{name}: corrupt note of the instruction set: {len(note)} bytes, not {_ISA.size}")
    _, _, major, minor, stepping = _ISA.unpack_from(note)
    return f"gfx{major}{minor:x}{stepping:x}"


def unpack(note: bytes, name: str) -> dict[str, Any]:
    """Read the metadata, as a map of version 3.

    Args:
        note: the descriptor of the ELF note, YAML.
        name: the file, for the error.

    Raises:
        MfmasimError: PyYAML is not installed, or the metadata is damaged.
    """
    try:
        import yaml
    except ImportError:
        raise UnsupportedError(
            f"{name}: the metadata of a version 2 code object is YAML; to read it: pip install PyYAML"
        ) from None
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    limit = _SLOW_LIMIT if loader is yaml.BaseLoader else _NOTE_LIMIT
    if len(note) > limit:
        raise UnsupportedError(f"{name}: kernel metadata of {len(note)} bytes; at most {limit} are read")
    with parsing(name, "kernel metadata"):
        text = note.rstrip(b"\0").decode()
        if re.search(r"[\[{]{64}", re.sub(r"\s", "", text)):
            raise ValueError("nested too deeply")
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=loader)):
            raise ValueError("aliases, with which a short text means a long one")
        # The base loader makes texts, lists and maps only: no tag of the file is obeyed.
        value = yaml.load(text, Loader=loader)  # noqa: S506
    where = f"{name}: corrupt kernel metadata"
    kernels = [_kernel(raw, where) for raw in _list(_map(value, where).get("Kernels", []), "Kernels", where)]
    formats = _list(value.get("Printf", []), "Printf", where)
    if not all(isinstance(one, str) for one in formats):
        raise DamagedError(f"{where}: Printf is not a list of texts")
    return {"amdhsa.kernels": kernels, "amdhsa.printf": formats}


def _kernel(value: object, where: str) -> dict[str, Any]:
    raw = _map(value, where)
    found: dict[str, Any] = {new: raw[old] for old, new in _KERNEL.items() if old in raw}
    # The symbol of the header is the kernel's own; the name that the metadata gives it has the suffix @kd.
    found[".symbol"] = found.get(".name", "")
    properties = _map(raw.get("CodeProps", {}), where)
    found |= {new: _number(properties[old], old, where) for old, new in _PROPERTIES.items() if old in properties}
    found[".uses_dynamic_stack"] = properties.get("IsDynamicCallStack", "false") == "true"
    attributes = _map(raw.get("Attrs", {}), where)
    for old, new in _ATTRIBUTES.items():
        if old in attributes:
            found[new] = [_number(one, old, where) for one in _list(attributes[old], old, where)]
    arguments: list[dict[str, Any]] = []
    end = 0
    for one in _list(raw.get("Args", []), "Args", where):
        argument = _argument(_map(one, where), end, where)
        end = argument[".offset"] + argument[".size"]
        arguments.append(argument)
    return found | {".args": arguments}


def _argument(raw: dict[str, Any], end: int, where: str) -> dict[str, Any]:
    """An argument, which lies behind the one before, aligned."""
    align = _number(raw.get("Align", "1"), "Align", where)
    if not align or align & (align - 1):
        raise DamagedError(f"{where}: Align is {align}, not a power of two")
    found: dict[str, Any] = {".offset": -(-end // align) * align, ".size": _number(raw.get("Size"), "Size", where)}
    found |= {new: raw[old] for old, new in _TEXTS.items() if old in raw}
    found |= {new: _snake(raw[old], old, where) for old, new in _WORDS.items() if old in raw}
    found |= {new: raw[old] == "true" for old, new in _FLAGS.items() if old in raw}
    if "PointeeAlign" in raw:
        found[".pointee_align"] = _number(raw["PointeeAlign"], "PointeeAlign", where)
    return found


def _snake(value: object, key: str, where: str) -> str:
    """``HiddenGlobalOffsetX`` as later versions spell it: ``hidden_global_offset_x``."""
    if not isinstance(value, str):
        raise DamagedError(f"{where}: {key} is not a word")
    return re.sub(r"(?<!^)(?=[A-Z])", "_", value).lower().replace("multi_grid", "multigrid")


def _map(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise DamagedError(f"{where}: {value!r:.40} is not a map of names")
    return value


def _list(value: object, key: str, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise DamagedError(f"{where}: {key} is not a list")
    return value


def _number(value: object, key: str, where: str) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]{1,10}", value):
        raise DamagedError(f"{where}: {key} is {value!r:.40}, not a number")
    return int(value)


def descriptor(header: bytes, arch: Arch, where: str) -> bytes:
    """The kernel descriptor of later versions that says what a header says.

    Args:
        header: the 256 bytes.
        arch: the architecture of the kernel.
        where: file and kernel, for the error.

    Raises:
        MfmasimError: the header uses what is not simulated, or contradicts itself.
    """
    _, entry, _, registers, properties, private, group, _, kernarg = _HEADER.unpack_from(header)
    if arch.unified_vgprs:
        raise UnsupportedError(f"{where}: a version 2 code object cannot say where the AGPRs of {arch.name} begin")
    if properties & (_GRID_COUNTS | _ORDERED):
        raise UnsupportedError(f"{where}: kernel header requests SGPRs that are not supported: {properties:#x}")
    wave32 = bool(properties & _WAVE32)
    if header[_WAVE_AT] != (5 if wave32 else 6):
        raise DamagedError(f"{where}: corrupt kernel header: waves of 2 ** {header[_WAVE_AT]} lanes")
    if kernarg >= 1 << 32:
        raise DamagedError(f"{where}: corrupt kernel header: {kernarg} bytes of kernel arguments")
    words = properties & _USER_SGPRS | wave32 << 10 | bool(properties & _DYNAMIC) << 11
    low, high = registers & 0xFFFFFFFF, registers >> 32
    return _DESCRIPTOR.pack(group, private, kernarg, entry, 0, low, high, words, 0)
