"""The metadata note: a msgpack map with the kernels and their arguments.

Source: LLVM's AMDGPU usage guide, "Code Object V3 Metadata" to "V6 Metadata" (one layout, growing keys).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mfmasim.codeobject.guard import parsing
from mfmasim.codeobject.records import Argument, KernelMetadata
from mfmasim.errors import DamagedError

# A segment of kernel arguments beyond this is damage: HIP allows 4 KiB of explicit arguments, others more.
KERNARG_LIMIT = 1 << 20


def unpack(note: bytes, name: str) -> dict[str, Any]:
    """Read the note.

    Args:
        note: the descriptor of the ELF note, msgpack.
        name: the file, for the error.

    Returns:
        The map as Python objects.

    Raises:
        MfmasimError: it is not a map with string keys.
    """
    import msgpack

    with parsing(name, "kernel metadata"):
        # Lengths inside are bounded by the note's own size, nesting by msgpack.
        value = msgpack.unpackb(note, raw=False, strict_map_key=True)
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise DamagedError(f"{name}: corrupt kernel metadata: not a map of names")
    return value


def kernel_names(metadata: Mapping[str, Any], name: str) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Mangled name, descriptor symbol and metadata map of every kernel, in the file's order.

    Raises:
        MfmasimError: a part is missing or malformed, or a name occurs twice.
    """
    kernels = metadata.get("amdhsa.kernels", [])
    if not isinstance(kernels, list):
        raise DamagedError(f"{name}: corrupt kernel metadata: amdhsa.kernels is not a list")
    found: list[tuple[str, str, Mapping[str, Any]]] = []
    seen: set[str] = set()
    for raw in kernels:
        if not isinstance(raw, dict):
            raise DamagedError(f"{name}: corrupt kernel metadata: a kernel is not a map")
        kernel = _text(raw, ".name", name)
        symbol = _text(raw, ".symbol", name)
        if not kernel or not symbol:
            raise DamagedError(f"{name}: corrupt kernel metadata: a kernel without .name or .symbol")
        if kernel in seen:
            raise DamagedError(f"{name}: corrupt kernel metadata: kernel {kernel} is listed twice")
        seen.add(kernel)
        found.append((kernel, symbol, raw))
    return found


def arguments(raw: Mapping[str, Any], where: str) -> tuple[Argument, ...]:
    """The arguments of one kernel, in the order of the metadata.

    Args:
        raw: the kernel's metadata map.
        where: file and kernel, for the error.

    Raises:
        MfmasimError: an argument is not a map, or has no valid offset, size or kind, or overlaps another.
    """
    args = raw.get(".args", [])
    if not isinstance(args, list) or not all(isinstance(arg, dict) for arg in args):
        raise DamagedError(f"{where}: corrupt kernel metadata: .args is not a list of maps")
    found = tuple(
        Argument(
            offset=_number(arg, ".offset", where),
            size=_number(arg, ".size", where),
            value_kind=_text(arg, ".value_kind", where, required=True),
            name=_text(arg, ".name", where),
            type_name=_text(arg, ".type_name", where),
            address_space=_text(arg, ".address_space", where),
            access=_text(arg, ".access", where),
            actual_access=_text(arg, ".actual_access", where),
            pointee_align=_number(arg, ".pointee_align", where, 0),
            is_const=_flag(arg, ".is_const", where),
            is_restrict=_flag(arg, ".is_restrict", where),
            is_volatile=_flag(arg, ".is_volatile", where),
            is_pipe=_flag(arg, ".is_pipe", where),
        )
        for arg in args
    )
    end = 0
    for arg in sorted(found, key=lambda one: one.offset):
        if arg.offset < end:
            raise DamagedError(f"{where}: corrupt kernel metadata: arguments overlap at byte {arg.offset}")
        end = arg.offset + arg.size
    return found


def kernel_metadata(raw: Mapping[str, Any], where: str) -> KernelMetadata:
    """The properties of one kernel.

    Args:
        raw: the kernel's metadata map.
        where: file and kernel, for the error.

    Raises:
        MfmasimError: a required property is missing, or one is not of its type.
    """
    processor_mode = raw.get(".workgroup_processor_mode")
    return KernelMetadata(
        kernarg_segment_size=_number(raw, ".kernarg_segment_size", where),
        kernarg_segment_align=_number(raw, ".kernarg_segment_align", where),
        group_segment_fixed_size=_number(raw, ".group_segment_fixed_size", where),
        private_segment_fixed_size=_number(raw, ".private_segment_fixed_size", where),
        wavefront_size=_number(raw, ".wavefront_size", where),
        max_flat_workgroup_size=_number(raw, ".max_flat_workgroup_size", where),
        sgpr_count=_optional(raw, ".sgpr_count", where),
        vgpr_count=_optional(raw, ".vgpr_count", where),
        agpr_count=_optional(raw, ".agpr_count", where),
        sgpr_spill_count=_optional(raw, ".sgpr_spill_count", where),
        vgpr_spill_count=_optional(raw, ".vgpr_spill_count", where),
        uses_dynamic_stack=_flag(raw, ".uses_dynamic_stack", where),
        uniform_work_group_size=_flag(raw, ".uniform_work_group_size", where),
        workgroup_processor_mode=None if processor_mode is None else bool(processor_mode),
        reqd_workgroup_size=_triple(raw, ".reqd_workgroup_size", where),
        workgroup_size_hint=_triple(raw, ".workgroup_size_hint", where),
        cluster_dims=_triple(raw, ".cluster_dims", where),
        kind=_text(raw, ".kind", where) or "normal",
        language=_text(raw, ".language", where),
        raw=raw,
    )


def _text(raw: Mapping[str, Any], key: str, where: str, *, required: bool = False) -> str:
    value = raw.get(key, "")
    if not isinstance(value, str) or (required and not value) or not value.isprintable():
        raise DamagedError(f"{where}: corrupt kernel metadata: {key} is {value!r:.40}, not a name")
    return value


def _number(raw: Mapping[str, Any], key: str, where: str, default: int | None = None) -> int:
    value = raw.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 32:
        raise DamagedError(f"{where}: corrupt kernel metadata: {key} is {value!r:.40}, not a 32-bit number")
    if key in {".offset", ".size", ".kernarg_segment_size"} and value > KERNARG_LIMIT:
        raise DamagedError(f"{where}: corrupt kernel metadata: {key} is {value}, more than {KERNARG_LIMIT} bytes")
    return value


def _optional(raw: Mapping[str, Any], key: str, where: str) -> int | None:
    return _number(raw, key, where) if key in raw else None


def _flag(raw: Mapping[str, Any], key: str, where: str) -> bool:
    value = raw.get(key, False)
    if not isinstance(value, (bool, int)) or value not in {0, 1}:
        raise DamagedError(f"{where}: corrupt kernel metadata: {key} is {value!r:.40}, not true or false")
    return bool(value)


def _triple(raw: Mapping[str, Any], key: str, where: str) -> tuple[int, int, int] | None:
    value = raw.get(key)
    if value is None:
        return None
    good = isinstance(value, list) and len(value) == 3
    if not good or not all(type(one) is int and 0 < one < 1 << 32 for one in value):
        raise DamagedError(f"{where}: corrupt kernel metadata: {key} is {value!r:.40}, not three sizes")
    return (value[0], value[1], value[2])
