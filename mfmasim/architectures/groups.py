"""Groups of an architecture's fields, by hardware unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Counters:
    """Wait counters: the name of each by class of access, and its largest value.

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
    """Largest value of each counter, beyond which the next instruction of its class stalls."""
    asynchronous: str = ""
    """Asynchronous accesses: from memory to the LDS and back, without registers (CDNA5 ISA manual, 5.7.1)."""
    tensor: str = ""
    """Instructions of the tensor data mover (likewise)."""
    flat_in_order: bool = False
    """FLAT counts in order with memory and with the LDS (LLVM: hasFlatLgkmVMemCountInOrder)."""
    writes_in_order: bool = True
    """Vector memory loads of one kind write their registers in order (LLVM: hasVmemWriteVgprInOrder; not on gfx12, LLVM
    pull request 105549)."""


@dataclass(frozen=True)
class FloatRules:
    """Differences in floating-point operations between architectures; the defaults are CDNA's."""

    mode_bits: bool = True
    """MODE has DX10_CLAMP and IEEE; without them clamp turns every NaN into 0 and nothing depends on IEEE."""
    mode_exceptions: bool = True
    """MODE has the bits that enable exceptions (RDNA4 ISA manual: they are in TRAP_CTRL)."""
    first_nan: bool = False
    """Of two NaNs, V_MIN and V_MAX give S0 (before: S1)."""
    clamp_positive_zero: bool = False
    """Clamp turns -0 into +0."""
    atomic_rules: bool = False
    """Float atomics follow chapter 13 of RDNA's manuals: NaNs, -0 below +0, the negative NaN of Inf - Inf."""
    atomic_add_flushes: bool = False
    """An atomic f32 addition in memory flushes input denormals."""
    dot_steps: bool = False
    """Floating-point dot products round as a step of the matrix instructions does."""
    dot_keeps_f16: bool = False
    """V_DOT2_F32_F16 and V_DOT2C_F32_F16 keep denormal f16 factors in every MODE (measured on gfx950, and that gfx90a
    makes them zeros: comment of the author of LLVM's pull request 205101, 2026-08-03)."""
    fused_invalid_first: bool = False
    """An invalid fused multiply-add (0 * Inf, Inf - Inf) gives the negative default NaN, before any NaN of its sources.
    Captured of V_FMA_F16, V_PK_FMA_F16 and V_FMA_MIX* on gfx1100 and gfx1201 (AMD's rocjitsu, tests; bjacob/goc,
    half_fma_test.cpp, packed_fma_test.cpp) and of V_DIV_FMAS on gfx1201 (goc, div_fmas_hardware.h); inferred of the
    other fused operations and of gfx1250."""
    mix_rounds_once: bool = False
    """V_FMA_MIXLO and V_FMA_MIXHI round the exact sum to f16 (captured on RDNA3 and RDNA4: rocjitsu,
    valu_fp_mode_test.cpp); else it is rounded to f32 first."""
    quiets_in_ieee: bool = False
    """Sums, products, fused operations and elementary functions pass a signalling NaN as it is unless MODE.IEEE is set
    (captured on gfx1100: rocjitsu, valu_fp_mode_test.cpp)."""
    pack_quiets: bool = False
    """V_PACK_B32_F16 quiets signalling NaNs (captured on gfx1201: bjacob/goc, pack_hardware.h); else it moves bits."""
    fixup_overflows: bool = False
    """V_DIV_FIXUP_F16 takes a quotient that is NaN or infinite as an overflow, which FP_ROUND and FP16_OVFL decide
    (captured on gfx1100 and gfx1201: rocjitsu, valu_fp_mode_test.cpp; goc, rdna4_div_fixup_hardware.h)."""
    division_checked: bool = False
    """Its V_DIV_SCALE was compared with the rule that the machine follows (AMD's rocjitsu, ``division.h``)."""
    function_tables: bool = False
    """V_RCP, V_RSQ, V_SQRT, V_LOG and V_EXP in f32 are piecewise cubics (`tabulated_functions`), and FP16_OVFL limits
    the infinities that they give of zeros in f16 (captured on gfx1100 and gfx1201, in f16 on gfx1201: AMD's rocjitsu,
    transcendental_test.cpp, transcendental_valu_test.cpp; taken over for the other RDNA3 and RDNA4)."""
    places_of_two_over_pi: int = 1201
    """Bits of 2/pi that V_TRIG_PREOP_F64 holds: the manuals say 1201; captured on gfx1201: 1184, as many as 1183
    (bjacob/goc, rdna4_trig_preop_hardware.h, all exponents and segments)."""
    omod_flushes: bool = False
    """OMOD always applies and flushes denormal results (before: denormal results switch it off)."""
    scalar_in_both_dwords: bool = False
    """A packed f32 operation takes the lower dword of a scalar register or a constant for both results, whatever OP_SEL
    says (CDNA5 ISA manual, 7.7.1; LLVM: hasPKF32InstsReplicatingLower32BitsOfScalarInput)."""
    constant_in_both_halves: bool = False
    """An inline float of V_PK_FMAC_F16 stands in both halves (before: in the lower one, above which is 0). Measured on
    gfx1100 and a gfx10.3 (llvm-project 94116); LLVM 22 assumes it of gfx12 too. Integers keep their 32 bits: no
    measurement of them is public, and results with them are denormal or NaN."""


@dataclass(frozen=True)
class Simd:
    """Resources that the waves of a SIMD share, which limit occupancy; workgroups are spread over four SIMDs.

    Source: LLVM, ``AMDGPUBaseInfo.cpp``: getMaxWavesPerEU, getTotalNumVGPRs, getVGPRAllocGranule, getTotalNumSGPRs,
    getSGPRAllocGranule, getMaxWorkGroupsPerCU (barriers). Four SIMDs are a compute unit of CDNA and a work-group
    processor of RDNA, which has the LDS of two compute units.
    """

    waves: int
    """Most waves."""
    vgprs: tuple[tuple[int, int, int], ...]
    """Lanes of a wave, VGPRs for all waves together, and the granule in which they are allocated."""
    lds_bytes: int
    """LDS for the workgroups on four SIMDs together."""
    sgprs: int = 0
    """SGPRs for all waves together; 0 where each wave has its own."""
    sgpr_granule: int = 16
    barriers: int = 16
    """Most workgroups of more than one wave on four SIMDs."""


@dataclass(frozen=True)
class Lds:
    """The LDS: its DS opcodes, loads from memory into it, and its phases.

    Source of the opcodes: LLVM 22's assembler, with which tests compare them.
    """

    phases: tuple[tuple[str, str, int, str, str, str], ...] = ()
    """This architecture's rows: access (``read b128``, ``write2 b64``, ``atomic b32``), lane sets (`LANE_SETS`),
    banks, confidence, source, remark. A second row of an access is another source's."""
    phases_as: tuple[str, str] | None = None
    """The architecture from which the other rows are taken, and why; they count as inferred at best."""
    partition_bytes: int = 0
    """Bytes of a partition, which waves of one pair of SIMDs may access in a cycle; 0 where there are none."""
    partition_source: str = ""
    """Short name of the source (`mfmasim.lds.SOURCES`)."""
    direct_bytes: tuple[int, ...] = ()
    """Bytes that a lane of a load from memory into the LDS may move (CDNA3 and CDNA4 ISA manuals, buffer and global
    loads with LDS; LLVM 22 accepts no others)."""
    load_names: bool = False
    """Names of RDNA: ds_load_*, ds_store_*, ds_storexchg_*, ds_cmpstore_b*."""
    cmpst: bool = False
    """ds_cmpst_*: compare and store, the operands in the order of CDNA."""
    cmpstore_float: bool = False
    """ds_cmpstore_f*."""
    number_minimum: bool = False
    """ds_min_num_f*, ds_max_num_f*, and the conditional and clamped subtractions that came with them."""
    wrap: bool = False
    """ds_wrap_rtn_b32."""
    packed_add: bool = False
    """ds_pk_add_f16 and ds_pk_add_bf16."""
    add_f64: bool = False
    """ds_add_f64."""
    transposed: bool = False
    """ds_read_*_tr_*: reads that exchange elements between lanes."""
    transposed_loads: bool = False
    """ds_load_tr*: the same under the names of CDNA5."""
    permute_lanes: int = 64
    """Lanes that DS_PERMUTE and DS_BPERMUTE reach: a wave of more executes them for each such part by itself (LLVM:
    supportsWaveWideBPermute is false of GFX10 and GFX11 in wave64). RDNA3 ISA manual, 12.5.2: each half of a wave64
    names lanes of that half; its opcodes' pseudocode takes lanes 0 to 31 for both halves. LLVM's lowering of wave
    shuffles is right by the former alone, which the machine follows (`assumed` in wave64)."""
    gds_bytes: int = 0
    """Size of the global data share, which the modifier `gds` addresses; 0 where there is none (CDNA1 ISA manual,
    2.2.2, RDNA3 1.2.2.2; LLVM 22's assembler accepts the modifier on no other architecture)."""
    append_adds_m0: bool = True
    """Whether the counter of DS_APPEND and DS_CONSUME in the LDS is at M0[15:0] plus the offset, else at the offset."""
    gds_one_lane: bool = False
    """Of the active lanes the first one alone acts on the GDS; before, all (RDNA3 ISA manual, 13.4.2)."""


@dataclass(frozen=True)
class Conversions:
    """Which conversion instructions there are, besides those that every architecture has.

    Source: LLVM 22's assembler, with which a test compares them.
    """

    short_names: bool = False
    """Packing and rounding conversions under the names of CDNA, such as v_cvt_pkrtz_f16_f32, v_cvt_flr_i32_f32."""
    long_names: bool = False
    """The same under the names of RDNA, such as v_cvt_pk_rtz_f16_f32, v_cvt_floor_i32_f32, and three more."""
    scalar: bool = False
    """s_cvt_*."""
    fp8_by_sdwa: bool = False
    """FP8 and BF8, SDWA choosing the byte that is widened."""
    fp8_by_op_sel: bool = False
    """FP8 and BF8, OP_SEL choosing the byte that is widened."""
    bf16: bool = False
    """BF16, pairs of 16-bit floats, and random numbers."""
    half_and_scaled: bool = False
    """Stochastic rounding to 16 bits, and v_cvt_scalef32_* of one, two or 32 values."""
    eights: bool = False
    """v_cvt_scale_* and v_cvt_scalef32_* of 8 or 16 values, and FP8 from and to f16."""
    floor_nan_by_sign: bool = False
    """V_CVT_FLOOR_I32_F32 and V_CVT_NEAREST_I32_F32 saturate a NaN by its sign, and denormal sources are zeros where
    MODE says so (measured on gfx1201: AMD's rocjitsu, conversion.h); else a NaN gives 0, as the manuals say."""
    negative_nan: bool = False
    """V_CVT_PK and V_CVT_SR to FP8 and BF8 give the NaN 0xff or 0xfe, whatever the sign of their source (captured on
    gfx1201: bjacob/goc, fp8_narrow_test.cpp)."""
    infinity_stays: bool = False
    """FP16_OVFL leaves the FP8 and BF8 results of infinite sources NaN or infinite (captured on gfx1201 by the same
    test); else they are the largest number, as the manuals' tables say."""
    bf16_saturates: bool = False
    """FP16_OVFL acts on results in BF16 (CDNA5 ISA manual, 7.6)."""

    @property
    def fp8(self) -> bool:
        """FP8 and BF8."""
        return self.fp8_by_sdwa or self.fp8_by_op_sel
