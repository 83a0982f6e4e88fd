"""The kernel descriptor: 64 bytes from which the hardware launches a kernel.

Source: LLVM's AMDGPU usage guide, "Kernel Descriptor" (code object v3 and later) and the tables of
``compute_pgm_rsrc1`` to ``compute_pgm_rsrc3``; LLVM's ``AMDHSAKernelDescriptor.h`` for the same bits.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from mfmasim.errors import DamagedError, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mfmasim.architectures import Arch

DESCRIPTOR_BYTES = 64

_GFX9, _GFX10, _GFX11, _GFX12, _GFX125 = ("GFX9",), ("GFX10",), ("GFX11",), ("GFX12",), ("GFX125",)
_GFX10_11, _GFX12_PLUS = _GFX10 + _GFX11, _GFX12 + _GFX125
_GFX9_11, _GFX10_12, _GFX11_PLUS = _GFX9 + _GFX10_11, _GFX10_11 + _GFX12, _GFX11 + _GFX12_PLUS
_GFX10_PLUS, _GFX9_12 = _GFX10 + _GFX11_PLUS, _GFX9_11 + _GFX12
_ALL = _GFX9_12 + _GFX125


@dataclass(frozen=True)
class Field:
    """One bit field of the descriptor's words."""

    name: str
    word: str
    """``rsrc1``, ``rsrc2``, ``rsrc3``, ``properties`` or ``preload``."""
    low: int
    """Lowest bit."""
    width: int
    """Number of bits."""
    layouts: tuple[str, ...]
    """`Arch.descriptor` values with which the field exists; elsewhere its bits are reserved."""
    needs: str = ""
    """A field of `Arch`, or of one of its groups, that has to be true as well."""
    zero: bool = False
    """Whether it must be zero in a file, because firmware fills it in."""

    def on(self, arch: Arch) -> bool:
        """Whether the architecture has the field."""
        return arch.descriptor in self.layouts and (not self.needs or bool(attrgetter(self.needs)(arch)))


# name, word, lowest bit, width, where it exists. Bits that no row here or in `UNREAD` claims must be zero.
FIELDS: tuple[Field, ...] = (
    Field("granulated_workitem_vgpr_count", "rsrc1", 0, 6, _ALL),
    Field("granulated_wavefront_sgpr_count", "rsrc1", 6, 4, _GFX9),
    Field("priority", "rsrc1", 10, 2, _ALL, zero=True),
    Field("float_round_mode_32", "rsrc1", 12, 2, _ALL),
    Field("float_round_mode_16_64", "rsrc1", 14, 2, _ALL),
    Field("float_denorm_mode_32", "rsrc1", 16, 2, _ALL),
    Field("float_denorm_mode_16_64", "rsrc1", 18, 2, _ALL),
    Field("priv", "rsrc1", 20, 1, _ALL, zero=True),
    Field("enable_dx10_clamp", "rsrc1", 21, 1, _GFX9_11, "floats.mode_bits"),
    Field("enable_wg_rr", "rsrc1", 21, 1, _GFX12_PLUS),
    Field("debug_mode", "rsrc1", 22, 1, _ALL, zero=True),
    Field("enable_ieee_mode", "rsrc1", 23, 1, _GFX9_11, "floats.mode_bits"),
    Field("disable_perf", "rsrc1", 23, 1, _GFX12_PLUS),
    Field("bulky", "rsrc1", 24, 1, _ALL, zero=True),
    Field("cdbg_user", "rsrc1", 25, 1, _ALL, zero=True),
    Field("fp16_ovfl", "rsrc1", 26, 1, _ALL),
    Field("flat_scratch_is_nv", "rsrc1", 27, 1, _GFX125),
    Field("wgp_mode", "rsrc1", 29, 1, _GFX10_12),
    Field("mem_ordered", "rsrc1", 30, 1, _GFX10_PLUS),
    Field("fwd_progress", "rsrc1", 31, 1, _GFX10_PLUS),
    Field("enable_private_segment", "rsrc2", 0, 1, _ALL),
    Field("user_sgpr_count", "rsrc2", 1, 5, _GFX9_12),
    Field("user_sgpr_count", "rsrc2", 1, 6, _GFX125),
    Field("enable_trap_handler", "rsrc2", 6, 1, _GFX9_11, zero=True),
    Field("enable_dynamic_vgpr", "rsrc2", 6, 1, _GFX12),
    Field("enable_sgpr_workgroup_id_x", "rsrc2", 7, 1, _ALL),
    Field("enable_sgpr_workgroup_id_y", "rsrc2", 8, 1, _ALL),
    Field("enable_sgpr_workgroup_id_z", "rsrc2", 9, 1, _ALL),
    Field("enable_sgpr_workgroup_info", "rsrc2", 10, 1, _ALL),
    Field("enable_vgpr_workitem_id", "rsrc2", 11, 2, _ALL),
    Field("enable_exception_address_watch", "rsrc2", 13, 1, _ALL, zero=True),
    Field("enable_exception_memory", "rsrc2", 14, 1, _ALL, zero=True),
    Field("granulated_lds_size", "rsrc2", 15, 9, _ALL, zero=True),
    Field("enable_exception_fp_ieee_invalid_op", "rsrc2", 24, 1, _ALL),
    Field("enable_exception_fp_denorm_src", "rsrc2", 25, 1, _ALL),
    Field("enable_exception_fp_ieee_div_zero", "rsrc2", 26, 1, _ALL),
    Field("enable_exception_fp_ieee_overflow", "rsrc2", 27, 1, _ALL),
    Field("enable_exception_fp_ieee_underflow", "rsrc2", 28, 1, _ALL),
    Field("enable_exception_fp_ieee_inexact", "rsrc2", 29, 1, _ALL),
    Field("enable_exception_int_div_zero", "rsrc2", 30, 1, _ALL),
    Field("granulated_accum_offset", "rsrc3", 0, 6, _GFX9, "unified_vgprs"),
    Field("tg_split", "rsrc3", 16, 1, _GFX9, "unified_vgprs"),
    Field("shared_vgpr_count", "rsrc3", 0, 4, _GFX10_11),
    Field("inst_pref_size", "rsrc3", 4, 6, _GFX11),
    Field("trap_on_start", "rsrc3", 10, 1, _GFX11, zero=True),
    Field("trap_on_end", "rsrc3", 11, 1, _GFX11, zero=True),
    Field("inst_pref_size", "rsrc3", 4, 8, _GFX12_PLUS),
    Field("glg_en", "rsrc3", 13, 1, _GFX12_PLUS),
    Field("named_barrier_count", "rsrc3", 14, 3, _GFX125),
    Field("enable_dynamic_vgpr", "rsrc3", 17, 1, _GFX125),
    Field("tcp_split", "rsrc3", 18, 3, _GFX125),
    Field("enable_didt_throttle", "rsrc3", 21, 1, _GFX125),
    Field("image_op", "rsrc3", 31, 1, _GFX11_PLUS),
    Field("enable_sgpr_private_segment_buffer", "properties", 0, 1, _ALL),
    Field("enable_sgpr_dispatch_ptr", "properties", 1, 1, _ALL),
    Field("enable_sgpr_queue_ptr", "properties", 2, 1, _ALL),
    Field("enable_sgpr_kernarg_segment_ptr", "properties", 3, 1, _ALL),
    Field("enable_sgpr_dispatch_id", "properties", 4, 1, _ALL),
    Field("enable_sgpr_flat_scratch_init", "properties", 5, 1, _ALL),
    Field("enable_sgpr_private_segment_size", "properties", 6, 1, _ALL),
    Field("enable_wavefront_size32", "properties", 10, 1, _GFX10_PLUS),
    Field("uses_dynamic_stack", "properties", 11, 1, _ALL),
    Field("kernarg_preload_length", "preload", 0, 7, _ALL, "kernarg_preload"),
    Field("kernarg_preload_offset", "preload", 7, 9, _ALL, "kernarg_preload"),
)

# Where every wave has all SGPRs, their count means nothing; LLVM before version 22 wrote it (llvm-project 154666).
UNREAD: tuple[Field, ...] = (Field("granulated_wavefront_sgpr_count", "rsrc1", 6, 4, _GFX10_PLUS),)
"""Fields that compilers fill in and the hardware does not read."""

# The user SGPRs in the order in which the hardware fills them: flag, name, number of SGPRs.
USER_SGPRS: tuple[tuple[str, str, int], ...] = (
    ("enable_sgpr_private_segment_buffer", "private_segment_buffer", 4),
    ("enable_sgpr_dispatch_ptr", "dispatch_ptr", 2),
    ("enable_sgpr_queue_ptr", "queue_ptr", 2),
    ("enable_sgpr_kernarg_segment_ptr", "kernarg_segment_ptr", 2),
    ("enable_sgpr_dispatch_id", "dispatch_id", 2),
    ("enable_sgpr_flat_scratch_init", "flat_scratch_init", 2),
    ("enable_sgpr_private_segment_size", "private_segment_size", 1),
)

_LAYOUT = struct.Struct("<III4sq20sIIIHH4s")


@dataclass(frozen=True, eq=False)
class KernelDescriptor:
    """The decoded descriptor of one kernel.

    Every row of `FIELDS` that exists on the architecture is in ``fields``; the properties below are those
    that a launch needs and give a neutral value where the architecture has no such field.
    """

    group_segment_fixed_size: int
    """Static LDS of a workgroup, in bytes."""
    private_segment_fixed_size: int
    """Scratch of a work-item, in bytes."""
    kernarg_size: int
    """Kernel argument segment, in bytes (0: unknown)."""
    kernel_code_entry_byte_offset: int
    """Entry point minus the descriptor's own address."""
    rsrc1: int
    rsrc2: int
    rsrc3: int
    properties: int
    preload: int
    fields: Mapping[str, int]
    """Value of every bit field by name."""
    wave: int
    """Lanes of a wave, 32 or 64."""
    vgpr_granule: int
    """VGPRs per step of the granulated count."""
    ignored: tuple[tuple[str, int], ...] = ()
    """Fields of `UNREAD` that are not zero, with their values."""

    def __getattr__(self, name: str) -> int:
        # The bit fields read as attributes, without fifty lines that repeat their names.
        if name.startswith("_") or name == "fields":
            raise AttributeError(name)
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(f"no kernel descriptor field {name!r} on this architecture") from None

    @property
    def float_mode(self) -> int:
        """Initial FP_ROUND and FP_DENORM of MODE, 8 bits; two each, from bit 0: round 32, 16_64, denorm 32, 16_64."""
        return (self.rsrc1 >> 12) & 0xFF

    @property
    def dx10_clamp(self) -> bool:
        """Initial DX10_CLAMP of MODE (false where MODE has no such bit)."""
        return bool(self.fields.get("enable_dx10_clamp", 0))

    @property
    def ieee_mode(self) -> bool:
        """Initial IEEE of MODE (false where MODE has no such bit)."""
        return bool(self.fields.get("enable_ieee_mode", 0))

    @property
    def fp16_overflow(self) -> bool:
        """Initial FP16_OVFL of MODE."""
        return bool(self.fields["fp16_ovfl"])

    @property
    def vgpr_count(self) -> int:
        """VGPRs reserved by the kernel; with a unified file this counts the AGPRs too."""
        return (self.fields["granulated_workitem_vgpr_count"] + 1) * self.vgpr_granule

    @property
    def accum_offset(self) -> int:
        """Offset of the first AGPR in the unified register file; 0 where there is none."""
        granules = self.fields.get("granulated_accum_offset")
        return 0 if granules is None else (granules + 1) * 4

    @property
    def named_barriers(self) -> int:
        """Named barriers that a workgroup has; they are allocated by fours."""
        return 4 * self.fields.get("named_barrier_count", 0)

    @property
    def workitem_id_mode(self) -> int:
        """Work-item ids in VGPRs: 0 is x, 1 is x and y, 2 is x, y and z."""
        return self.fields["enable_vgpr_workitem_id"]

    @property
    def workgroup_ids(self) -> tuple[bool, bool, bool]:
        """Whether the workgroup id x, y, z is passed in a system SGPR."""
        return (
            bool(self.fields["enable_sgpr_workgroup_id_x"]),
            bool(self.fields["enable_sgpr_workgroup_id_y"]),
            bool(self.fields["enable_sgpr_workgroup_id_z"]),
        )

    @property
    def kernarg_preload_length(self) -> int:
        """Kernel argument dwords that the hardware preloads into user SGPRs."""
        return self.fields.get("kernarg_preload_length", 0)

    @property
    def kernarg_preload_offset(self) -> int:
        """First preloaded dword of the kernel argument segment."""
        return self.fields.get("kernarg_preload_offset", 0)

    @property
    def user_sgprs(self) -> tuple[tuple[str, int], ...]:
        """The enabled user SGPRs as (name, SGPR count), in the order in which they fill s0 and up.

        A preload of kernel arguments comes last, as ``("kernarg_preload", length)``.
        """
        enabled = [(name, count) for flag, name, count in USER_SGPRS if self.fields[flag]]
        if self.kernarg_preload_length:
            enabled.append(("kernarg_preload", self.kernarg_preload_length))
        return tuple(enabled)


def decode(data: bytes, arch: Arch, where: str) -> KernelDescriptor:
    """Decode a kernel descriptor.

    Args:
        data: the 64 bytes.
        arch: the architecture of the kernel.
        where: file and kernel, for the error.

    Returns:
        The descriptor.

    Raises:
        MfmasimError: a reserved bit is set, or the number of user SGPRs cannot hold those enabled.
    """
    if arch.descriptor not in _ALL:
        raise unknown("layout of the kernel descriptor", arch.descriptor, _ALL, f"of {arch.name}")
    group, private, kernarg, gap0, entry, gap1, rsrc3, rsrc1, rsrc2, properties, preload, gap2 = _LAYOUT.unpack(data)
    words = {"rsrc1": rsrc1, "rsrc2": rsrc2, "rsrc3": rsrc3, "properties": properties, "preload": preload}
    reserved = dict(words)
    fields: dict[str, int] = {}
    for row in FIELDS:
        if not row.on(arch):
            continue
        mask = (1 << row.width) - 1
        value = fields[row.name] = (words[row.word] >> row.low) & mask
        if value and row.zero:
            raise DamagedError(f"{where}: kernel descriptor sets {row.name} to {value}, which must be 0 in a file")
        reserved[row.word] &= ~(mask << row.low)
    ignored = []
    for row in UNREAD:
        if row.on(arch):
            mask = ((1 << row.width) - 1) << row.low
            if value := (words[row.word] & mask) >> row.low:
                ignored.append((row.name, value))
            reserved[row.word] &= ~mask
    for word, rest in reserved.items():
        if rest:
            bits = ", ".join(str(bit) for bit in range(32) if rest >> bit & 1)
            raise DamagedError(f"{where}: kernel descriptor sets reserved bit {bits} of {word} on {arch.name}")
    if any(gap0) or any(gap1) or any(gap2):
        raise DamagedError(f"{where}: kernel descriptor has data in its reserved bytes")
    wave = 32 if fields.get("enable_wavefront_size32") else 64
    if wave not in arch.wave_sizes:
        raise DamagedError(f"{where}: kernel descriptor is for waves of {wave} lanes, which {arch.name} does not have")
    descriptor = KernelDescriptor(
        group_segment_fixed_size=group,
        private_segment_fixed_size=private,
        kernarg_size=kernarg,
        kernel_code_entry_byte_offset=entry,
        rsrc1=rsrc1,
        rsrc2=rsrc2,
        rsrc3=rsrc3,
        properties=properties,
        preload=preload,
        fields=fields,
        wave=wave,
        vgpr_granule=arch.descriptor_vgprs[wave],
        ignored=tuple(ignored),
    )
    needed = sum(count for _, count in descriptor.user_sgprs)
    if needed > descriptor.user_sgpr_count:
        raise DamagedError(
            f"{where}: kernel descriptor enables {needed} user SGPRs but counts {descriptor.user_sgpr_count}"
        )
    return descriptor
