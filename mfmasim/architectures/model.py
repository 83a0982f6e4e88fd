"""What differs between architectures, as data: an algorithm reads a field, it never asks for a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Arch", "Counters", "FloatRules", "Simd"]


@dataclass(frozen=True)
class Counters:
    """Wait counters: the name of each by class of access, and how far it counts.

    Sources: ISA manuals, S_WAITCNT (CDNA3 4.4), S_WAITCNT and S_WAITCNT_VSCNT (RDNA3 4.4 and 16.5), S_WAIT_* (RDNA4
    5.6).
    """

    loads: str
    """Vector memory loads, and atomics that return."""
    stores: str
    """Vector memory stores, and atomics that do not return."""
    lds: str
    """LDS accesses."""
    scalar: str
    """Scalar memory accesses and messages."""
    limits: Mapping[str, int]
    """Largest value of each counter, beyond which the next instruction of its class is held back."""
    flat_in_order: bool = False
    """FLAT counts in order with memory and with the LDS (LLVM: hasFlatLgkmVMemCountInOrder)."""


@dataclass(frozen=True)
class FloatRules:
    """Where floating-point operations of one name differ between architectures; the defaults are CDNA's."""

    mode_bits: bool = True
    """MODE has DX10_CLAMP and IEEE; without them clamp turns every NaN into 0 and nothing depends on IEEE."""
    first_nan: bool = False
    """Of two NaNs, V_MIN and V_MAX give S0 (before: S1)."""
    clamp_positive_zero: bool = False
    """Clamp turns -0 into +0."""
    atomic_rules: bool = False
    """Float atomics follow chapter 13 of RDNA's manuals: NaNs, -0 below +0, the negative NaN of Inf - Inf."""
    atomic_add_flushes: bool = False
    """An atomic f32 addition in memory reads denormals as zeros."""
    dot_steps: bool = False
    """Dot products of floats round as a step of the matrix instructions does."""
    omod_flushes: bool = False
    """OMOD always applies and flushes denormal results (before: denormal results switch it off)."""


@dataclass(frozen=True)
class Simd:
    """What the waves of a SIMD share, and so how many of them fit; workgroups are spread over four SIMDs.

    Source: LLVM, ``AMDGPUBaseInfo.cpp``: getMaxWavesPerEU, getTotalNumVGPRs, getVGPRAllocGranule, getTotalNumSGPRs,
    getSGPRAllocGranule, getMaxWorkGroupsPerCU (barriers). Four SIMDs are a compute unit of CDNA and a work-group
    processor of RDNA, which has the LDS of two compute units.
    """

    waves: int
    """Most waves."""
    vgprs: tuple[tuple[int, int, int], ...]
    """Lanes of a wave, VGPRs for all waves together, and the granule in which a wave is given them."""
    lds_bytes: int
    """LDS for the workgroups on four SIMDs together."""
    sgprs: int = 0
    """SGPRs for all waves together; 0 where each wave has its own."""
    sgpr_granule: int = 16
    barriers: int = 16
    """Most workgroups of more than one wave on four SIMDs."""


@dataclass(frozen=True)
class Arch:
    """One GPU architecture.

    Sizes are in bytes, counts in registers or lanes. Sources are named in the file of each architecture.
    """

    name: str
    """LLVM's processor name, such as ``gfx942``."""
    family: str
    """AMD's architecture name, such as ``CDNA3``."""
    products: tuple[str, ...]
    """Products that carry it."""
    encoding: str
    """Instruction encoding generation: ``gfx9``, ``gfx90a``, ``gfx940``, ``gfx950``, ``gfx11``, ``gfx12``."""
    elf_machine: int
    """EF_AMDGPU_MACH, the low byte of the ELF header's ``e_flags``."""
    wave_sizes: tuple[int, ...]
    """Lanes of a wave; the first is what compilers use by default."""
    fp8: str
    """Flavour of the 8-bit formats: ``fnuz``, ``ocp``, or ``none`` where no instruction knows them."""
    lds_bytes: int
    """Largest LDS allocation of one workgroup."""
    lds_granule: int
    """LDS allocation granularity."""
    sgprs: int
    """Addressable SGPRs of a wave, without VCC and trap registers."""
    vgprs: int
    """Addressable architectural VGPRs of a wave."""
    agprs: int
    """Addressable accumulation VGPRs of a wave (0: none)."""
    unified_vgprs: bool
    """Whether AGPRs share one file with the VGPRs, split by the descriptor's ``accum_offset``."""
    packed_workitem_ids: bool
    """Work-item ids x, y, z arrive in 10-bit fields of v0 and not in v0, v1, v2."""
    workgroup_id_in_ttmp: bool
    """Workgroup ids arrive in trap temporaries (gfx12) and not in SGPRs."""
    simd: Simd
    """What limits the waves that run at a time."""
    counters: Counters
    """Wait counters."""
    max_workgroup: int = 1024
    """Most work-items of a workgroup."""
    m0: int = 124
    """Operand code of M0."""
    keeps_halves: bool = False
    """A 16-bit vector result leaves the other half of its register alone (before gfx11 most clear it)."""
    clock_registers: tuple[tuple[int, int, int], ...] = ()
    """Hardware registers that show a clock: number, first bit of the counter, bits."""
    buffer_range_field: bool = False
    """A buffer resource says in OOB_SELECT how its range is checked, and in two bits how it is swizzled."""
    buffer_stride_scale: bool = False
    """A buffer resource has a factor of its stride, and an SGPR offset counts for the range."""
    lds_parts: bool = False
    """An LDS access that is partly out of range loads the dwords and stores the bytes that are inside."""
    floats: FloatRules = FloatRules()
    """How floating-point operations behave."""

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def fp8_format(self) -> str:
        """Number format that this architecture calls FP8 (E4M3)."""
        return {"fnuz": "e4m3fnuz", "ocp": "e4m3fn", "none": ""}[self.fp8]

    @property
    def bf8_format(self) -> str:
        """Number format that this architecture calls BF8 (E5M2)."""
        return {"fnuz": "e5m2fnuz", "ocp": "e5m2", "none": ""}[self.fp8]
