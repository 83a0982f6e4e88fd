"""One record per opcode, which the machine, the checks and the tools read instead of its mnemonic.

The record follows from the encoding and the operands of the opcode's row and, where these do not determine a property,
from the mnemonic, by the rows below. A memory or control opcode without a row here is an error when the tables are
read. Besides this file and the printer, only the code that follows values through operations (`prove` and some checks)
parses a mnemonic, for the operation itself; tests/isa/test_isa_mnemonics.py lists these files.

Sources: ISA manuals, chapters on program flow, scalar and vector ALU, memory and data share; LLVM's predicates of
`SIInstrInfo` (isTRANS, isDOT, isMFMA, isWMMA, isVMEM, isSMRD, isDS) where the manuals have no list.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Sequence


_FACTORS = re.compile(r"(f8f6f4|fp8|bf8|bf16|xf32|f16|f32|f64|i8)(?:_fp8|_bf8|_1k)?$")
_MULTIPLIES = re.compile(r"v_mul_(lo|hi)_[ui]32|v_mad(_co)?_(u64_u32|i64_i32)")
_SHIFTS_64 = re.compile(r"v_(lshlrev_b64|lshrrev_b64|ashrrev_i64)")


@dataclass(frozen=True, slots=True)
class Slot:
    """One operand of a row."""

    type: str
    count: int = 1
    """Registers it spans."""
    file: str = ""
    """``a``, ``s``, ``v``, ``h``, ``l``, ``rtn``, or the encoding's field when the table names one."""
    signed: bool = False
    """Takes neg and abs."""
    tied: bool = False
    printed: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Opcode:
    """The properties of an opcode with any operands and modifiers. Two opcodes are equal if their mnemonics are."""

    name: str
    """Base mnemonic in LLVM's spelling, without encoding suffix."""
    unit: str
    """``SALU SMEM VALU VMEM LDS``; matrix instructions are VALU, FLAT instructions VMEM."""
    space: str = ""
    """Address space of its access: ``global``, ``scratch``, ``flat`` (any of them), ``lds``, ``gds``, or empty. Scalar
    memory operations are ``global``, those on scratch too: they compute its address."""
    access: str = ""
    """``load``, ``store``, ``atomic``, ``prefetch``, ``cache`` (invalidates or writes back), ``exchange`` (between
    lanes, by the LDS hardware without LDS memory), or empty."""
    narrow: bool = False
    """A load or store of less than a dword per lane, or of half a register, also if only by its data format."""
    bytes: int = 0
    """Bytes of a lane's element by the type at the end of the mnemonic, which a scaled offset counts (CDNA5 ISA manual,
    8.1.1 and 10.2); 0 where there is none."""
    typed: bool = False
    """Converts between registers and the data format of the instruction or of the buffer resource."""
    d16: str = ""
    """``low`` or ``high``: half of the register that a 16-bit load writes (preserving the other) or a store reads."""
    atomic: str = ""
    """``exchange`` (the new value replaces the old one), ``compare`` (compare and swap), ``other``; empty if it is not
    atomic."""
    to_lds: bool = False
    """A load that always writes to the LDS; other loads do with the modifier ``lds``."""
    from_lds: bool = False
    """A store of data that are in the LDS, not in registers."""
    counter: str = ""
    """Class of wait counter that it increments: ``load``, ``store``, ``atomic`` (that of loads if it returns a value,
    else of stores), ``lds``, ``scalar``, ``async``, ``tensor``, or empty. FLAT increments that of the LDS too (LLVM,
    SIInsertWaitcnts)."""
    invalidates: tuple[str, int] | None = None
    """Modifier, and its smallest value, with which it invalidates cached data that other workgroups may have written;
    an empty modifier stands for always (LLVM, AMDGPU usage guide, "Memory model")."""
    invalidates_near: bool = False
    """Whether it invalidates at least the vector cache of the wave's own compute unit."""
    writes_back: tuple[str, int] | None = None
    """Modifier and smallest value with which it writes back the L2, so that the whole device sees the data."""
    flow: str = ""
    """``branch``, ``conditional``, ``jump``, ``call``, ``end``, ``trap``, or empty."""
    condition: str = ""
    """The condition of a conditional branch: ``scc``, ``vcc``, ``exec``, or empty (others)."""
    barrier: str = ""
    """``whole`` (signals and waits), ``signal``, ``wait``, ``join``, ``other`` (state, init, leave), or empty."""
    wait: str = ""
    """Kind of a wait: ``counts`` (the counters of `waits`), ``waitcnt`` (counters by the architecture's layout
    of SIMM16), ``idle`` (all), ``alu`` (dependencies of the ALUs), ``event``; empty for other opcodes."""
    waits: tuple[tuple[str, int, int], ...] = ()
    """Counter, lowest bit and width of each field of a wait's immediate."""
    matrix: str = ""
    """``mfma``, ``smfmac``, ``wmma``, ``swmmac``, or empty."""
    shape: tuple[int, int, int] = (0, 0, 0)
    """M, N and K of a matrix instruction."""
    trans: bool = False
    """Executed by the transcendental unit (CDNA3 ISA manual, table 12; RDNA3 likewise; LLVM: isTRANS)."""
    dot: bool = False
    """A dot product: "DL ops" of CDNA's manuals (LLVM: isDOT)."""
    lane: str = ""
    """``readlane``, ``writelane``, ``readfirstlane``, ``permlane``, or empty."""
    compare: bool = False
    """V_CMP or V_CMPX: the result is a lane mask."""
    widens: bool = False
    """A conversion to F32, F16 or BF16 from a format of 8 bits or fewer."""
    copies: bool = False
    """Copies a whole register to another."""
    scaled: bool = False
    """Takes E8M0 scales: a matrix instruction two, its last sources; a conversion one, the last that is printed."""
    narrows: str = ""
    """Result format of a conversion from F32: ``fp8 bf8 f16 f16_rtz bf16 i32 u32``, or empty."""
    narrows_halves: bool = False
    """A conversion of two F16 to 8-bit floats, whose constants LLVM prints as integers."""
    carries: bool = False
    """Has a carry-in per lane among its sources."""
    relative: bool = False
    """M0 selects its registers at run time."""
    chosen: bool = False
    """M0 selects the registers that are loaded or stored."""
    saves_exec: bool = False
    """S_..._SAVEEXEC, S_..._WREXEC: writes EXEC and SCC in addition to its destination."""
    ends_division: bool = False
    """V_DIV_FIXUP: its result does not depend on its first source, the quotient, alone."""
    returns_exec: bool = False
    """S_..._WREXEC: its destination is the new EXEC, too, and not the old one."""
    packs: str = ""
    """Result format of a conversion from a float, if it has 8 bits or fewer: ``fp8 bf8 fp6 bf6 fp4``, or empty."""
    selects: bool = False
    """Its result is one of its sources, by a lane mask."""
    mask: str = ""
    """How a scalar operation on bits makes its result: ``and`` (a part of its last source; of EXEC, where it is saved),
    ``without`` (of the first source without the last), ``not``, ``xor``, or empty."""
    transposes: bool = False
    """A load that moves data between lanes."""
    reads_m0: bool = False
    """M0 is an implicit source; it is one of every load with the modifier ``lds`` too."""
    result_select: int = 8
    """Bits of OP_SEL that move a vector result from the low bits of its register (LLVM: getFPDstSelType)."""
    moved_result: bool = False
    """LLVM takes the result as moved for any OP_SEL: conversions to FP4 with stochastic rounding."""
    kind: str = ""
    """An operation with special rules: ``nop sleep delay priority message trace setreg getreg mode index
    index_mode msb tensor skip fork halves icache clock probe hint nothing gws count second shift_left div_fmas
    fma_f64``; or empty."""

    def __eq__(self, other: object) -> bool:
        """By mnemonic, which determines the record."""
        return isinstance(other, Opcode) and self.name == other.name

    def __hash__(self) -> int:
        """By mnemonic."""
        return hash(self.name)

    @property
    def scalar(self) -> bool:
        """Executed once for a wave, not for each lane."""
        return self.unit in ("SALU", "SMEM")

    @property
    def ends_block(self) -> bool:
        """The next instruction may be elsewhere, or later, index its registers differently or be skipped (VSKIP)."""
        return bool(self.flow or self.barrier) or self.kind in ("index", "skip")

    @property
    def goes_on(self) -> bool:
        """Whether execution may continue with the next instruction."""
        return self.flow not in ("branch", "jump", "end")

    @property
    def sparse(self) -> bool:
        """A matrix instruction whose A is structured sparse: its third source is the index, C the fourth."""
        return self.matrix in ("smfmac", "swmmac")

    @property
    def eight_bits(self) -> bool:
        """It reads or makes FP8 or BF8, by its mnemonic."""
        return re.search("fp8|bf8|f8f6f4", self.name) is not None

    @property
    def matrix_type(self) -> str:
        """Type of the factors of a matrix instruction, as its mnemonic ends: ``f16``, ``f8f6f4``; empty for others."""
        found = _FACTORS.search(self.name) if self.matrix else None
        return found[1] if found else ""

    @property
    def slow(self) -> str:
        """Of vector instructions: ``multiply`` (integers of 32 bits), ``b64`` (shifts of 64 bits), or empty."""
        return "multiply" if _MULTIPLIES.match(self.name) else "b64" if _SHIFTS_64.match(self.name) else ""

    @property
    def neutral(self) -> bool:
        """Neither reads nor writes registers, and goes on: S_NOP, S_DELAY_ALU."""
        return self.name in ("s_nop", "s_delay_alu")

    @property
    def moves_scalar(self) -> bool:
        """Copies its source to a scalar register."""
        return self.name.startswith("s_mov_b")

    @property
    def taken_if(self) -> bool:
        """The value of `condition` at which a conditional branch is taken: SCC, or whether VCC or EXEC is not 0."""
        return self.name.endswith(("scc1", "nz"))

    @property
    def writes_exec(self) -> bool:
        """V_CMPX: a compare that writes EXEC."""
        return self.name.startswith("v_cmpx")

    @property
    def invalidates_scalar(self) -> bool:
        """Invalidates the scalar cache, as no vector instruction does."""
        return self.name.startswith("s_dcache_inv")

    @property
    def memory(self) -> bool:
        """A load, store or atomic operation."""
        return self.access in ("load", "store", "atomic")

    def renamed(self, old: str, new: str) -> str:
        """The mnemonic with the last occurrence of a part replaced, such as ``b64``; empty if it has none."""
        before, found, after = self.name.rpartition(old)
        return before + new + after if found else ""


_UNITS = {
    "SOP1": "SALU", "SOP2": "SALU", "SOPC": "SALU", "SOPK": "SALU", "SOPP": "SALU", "SMEM": "SMEM",
    "VOP1": "VALU", "VOP2": "VALU", "VOPC": "VALU", "VOP3": "VALU", "VOP3P": "VALU", "VOPDX": "VALU", "VOPDY": "VALU",
    "VINTERP": "VALU", "VOPD3X": "VALU", "VOPD3Y": "VALU",
    "MAI": "VALU", "WMMA": "VALU",
    "DS": "LDS", "FLAT": "VMEM", "GLOBAL": "VMEM", "SCRATCH": "VMEM", "MUBUF": "VMEM", "MTBUF": "VMEM",
    "VIMAGE": "VMEM",
}  # fmt: skip
"""Unit that executes an opcode, by the encoding of its table."""
_SPACES = {
    "SMEM": "global", "DS": "lds", "FLAT": "flat", "GLOBAL": "global", "SCRATCH": "scratch", "MUBUF": "global",
    "MTBUF": "global", "VIMAGE": "global",
}  # fmt: skip
"""Memory that the loads, stores and atomic operations of an encoding access."""
_LISTED = ("SOPP", "SMEM", "DS", "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF", "VIMAGE")
"""Encodings for which every opcode needs a row."""
_SMALL = ("u8", "i8", "b8", "u16", "i16", "b16")

# Unit, mnemonics as a regular expression, fields. All matching rows apply, in this order; those of plain names last.
_ROWS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    # Program flow (ISA manuals, "Program flow control").
    ("SALU", r"s_branch", {"flow": "branch"}),
    ("SALU", r"s_cbranch_\w+|s_subvector_loop_\w+", {"flow": "conditional"}),
    ("SALU", r"s_cbranch_[gi]_fork|s_cbranch_join", {"kind": "fork"}),
    ("SALU", r"s_subvector_loop_begin|s_subvector_loop_end", {"kind": "halves"}),
    ("SALU", r"s_cbranch_scc[01]", {"condition": "scc"}),
    ("SALU", r"s_cbranch_vccn?z", {"condition": "vcc"}),
    ("SALU", r"s_cbranch_execn?z", {"condition": "exec"}),
    ("SALU", r"s_swappc_b64|s_swap_pc_i64|s_call_b64|s_call_i64", {"flow": "call"}),
    ("SALU", r"s_setpc_b64|s_set_pc_i64|s_add_pc_i64|s_rfe_b64|s_rfe_restore_b64", {"flow": "jump"}),
    ("SALU", r"s_endpgm(_saved|_ordered_ps_done)?", {"flow": "end"}),
    ("SALU", r"s_trap", {"flow": "trap"}),
    ("SALU", r"s_barrier", {"barrier": "whole"}),
    ("SALU", r"s_barrier_signal(_isfirst)?", {"barrier": "signal"}),
    ("SALU", r"s_barrier_wait", {"barrier": "wait"}),
    ("SALU", r"s_barrier_(init|leave)|s_get_barrier_state|s_wakeup_barrier", {"barrier": "other"}),
    ("SALU", r"s_barrier_join", {"barrier": "join"}),
    ("SALU", r"s_get_barrier_state", {"counter": "scalar"}),
    # Waits (ISA manuals, "Manually inserted wait states and dependencies"); the fields of SIMM16.
    ("SALU", r"s_waitcnt", {"wait": "waitcnt"}),
    ("SALU", r"s_wait_idle", {"wait": "idle"}),
    ("SALU", r"s_wait_event", {"wait": "event"}),
    ("SALU", r"s_waitcnt_depctr|s_wait_alu", {"wait": "alu"}),
    ("SALU", r"s_waitcnt_vscnt", {"wait": "counts", "waits": (("vscnt", 0, 6),)}),
    ("SALU", r"s_waitcnt_vmcnt", {"wait": "counts", "waits": (("vmcnt", 0, 6),)}),
    ("SALU", r"s_waitcnt_lgkmcnt", {"wait": "counts", "waits": (("lgkmcnt", 0, 6),)}),
    ("SALU", r"s_waitcnt_expcnt|s_wait_expcnt", {"wait": "counts", "waits": (("expcnt", 0, 3),)}),
    ("SALU", r"s_wait_loadcnt", {"wait": "counts", "waits": (("loadcnt", 0, 6),)}),
    ("SALU", r"s_wait_storecnt", {"wait": "counts", "waits": (("storecnt", 0, 6),)}),
    ("SALU", r"s_wait_dscnt", {"wait": "counts", "waits": (("dscnt", 0, 6),)}),
    ("SALU", r"s_wait_kmcnt", {"wait": "counts", "waits": (("kmcnt", 0, 5),)}),
    ("SALU", r"s_wait_xcnt", {"wait": "counts", "waits": (("xcnt", 0, 6),)}),
    ("SALU", r"s_wait_asynccnt", {"wait": "counts", "waits": (("asynccnt", 0, 6),)}),
    ("SALU", r"s_wait_tensorcnt", {"wait": "counts", "waits": (("tensorcnt", 0, 6),)}),
    ("SALU", r"s_wait_samplecnt", {"wait": "counts", "waits": (("samplecnt", 0, 6),)}),
    ("SALU", r"s_wait_bvhcnt", {"wait": "counts", "waits": (("bvhcnt", 0, 3),)}),
    ("SALU", r"s_wait_loadcnt_dscnt", {"wait": "counts", "waits": (("dscnt", 0, 6), ("loadcnt", 8, 6))}),
    ("SALU", r"s_wait_storecnt_dscnt", {"wait": "counts", "waits": (("dscnt", 0, 6), ("storecnt", 8, 6))}),
    # Other scalar operations.
    ("SALU", r"s_nop", {"kind": "nop"}),
    ("SALU", r"s_sleep(_var)?|s_monitor_sleep", {"kind": "sleep"}),
    ("SALU", r"s_sethalt", {"kind": "halt"}),
    ("SALU", r"s_delay_alu", {"kind": "delay"}),
    ("SALU", r"s_setprio(_inc_wg)?", {"kind": "priority"}),
    ("SALU", r"s_sendmsg(halt)?|s_sendmsg_rtn_b(32|64)", {"kind": "message", "counter": "scalar", "reads_m0": True}),
    ("SALU", r"s_ttracedata(_imm)?", {"kind": "trace", "reads_m0": True}),
    ("SALU", r"s_setreg(_imm32)?_b32", {"kind": "setreg"}),
    ("SALU", r"s_getreg_b32", {"kind": "getreg"}),
    ("SALU", r"s_(round|denorm)_mode", {"kind": "mode"}),
    ("SALU", r"s_set_gpr_idx_(on|off)", {"kind": "index"}),
    ("SALU", r"s_set_gpr_idx_(idx|mode)", {"kind": "index_mode"}),
    ("SALU", r"s_set_vgpr_msb", {"kind": "msb"}),
    ("SALU", r"s_setvskip", {"kind": "skip"}),
    ("SALU", r"s_icache_inv", {"kind": "icache"}),
    (
        "SALU",
        r"s_(clause|code_end|(inc|dec)perflevel|(set_)?inst_prefetch(_distance)?|setkill|wakeup)",
        {"kind": "hint"},
    ),
    ("SALU", r"s_\w+_(saveexec|wrexec)_b(32|64)", {"saves_exec": True}),
    ("SALU", r"s_\w+_wrexec_b(32|64)", {"returns_exec": True}),
    ("SALU", r"s_and_b(32|64)|s_(and|andn1|and_not0)_(save|wr)exec_b(32|64)", {"mask": "and"}),
    ("SALU", r"s_(andn2|and_not1)_((save|wr)exec_)?b(32|64)", {"mask": "without"}),
    ("SALU", r"s_not_b(32|64)", {"mask": "not"}),
    ("SALU", r"s_xor_b(32|64)", {"mask": "xor"}),
    ("SALU", r"s_movrel\w+", {"relative": True, "reads_m0": True}),
    # Scalar memory.
    ("SMEM", r"s_(buffer_|scratch_)?load_\w+", {"access": "load", "counter": "scalar"}),
    ("SMEM", r"s_(buffer_|scratch_)?store_\w+", {"access": "store", "counter": "scalar"}),
    ("SMEM", r"s_(buffer_)?atomic_\w+", {"access": "atomic", "counter": "scalar"}),
    ("SMEM", r"s_(buffer_)?atomic_swap\w*", {"atomic": "exchange"}),
    ("SMEM", r"s_(buffer_)?atomic_cmpswap\w*", {"atomic": "compare"}),
    ("SMEM", r"s_(buffer_)?prefetch_\w+", {"access": "prefetch"}),
    ("SMEM", r"s_atc_probe(_buffer)?", {"kind": "probe", "counter": "scalar"}),
    ("SMEM", r"s_(dcache|gl1)_\w+", {"access": "cache", "counter": "scalar"}),
    ("SMEM", r"s_memtime|s_memrealtime", {"kind": "clock", "counter": "scalar"}),
    # LDS and GDS.
    ("LDS", r"ds_(?!nop)\w+", {"counter": "lds"}),
    ("LDS", r"ds_(read|load)\w+", {"access": "load"}),
    ("LDS", r"ds_(read|load)_(b\d+_)?tr\w+", {"transposes": True}),
    ("LDS", r"ds_(write|store)(?!xchg|_src2)\w+", {"access": "store"}),
    ("LDS", r"ds_write_src2_\w+", {"access": "atomic"}),
    ("LDS", r"ds_(b?permute|swizzle)_\w+", {"access": "exchange"}),
    ("LDS", r"ds_((cond_|r)?sub|inc|dec|min|max|and|or|xor|mskor|wrap|(pk_)?add)_\w+", {"access": "atomic"}),
    ("LDS", r"ds_(cmpst|cmpstore|wrxchg2?|wrxchg2st64|storexchg|condxchg32|bvh_stack)_\w+", {"access": "atomic"}),
    ("LDS", r"ds_append|ds_consume|ds_ordered_count", {"access": "atomic"}),
    ("LDS", r"ds_(wrxchg|storexchg)\w+", {"atomic": "exchange"}),
    ("LDS", r"ds_cmpst\w+", {"atomic": "compare"}),
    ("LDS", r"ds_(read|write|load|store)_addtid_b32", {"reads_m0": True}),
    ("LDS", r"ds_append|ds_consume", {"kind": "count"}),
    ("LDS", r"ds_\w+_src2_\w+", {"kind": "second"}),
    ("LDS", r"ds_write_src2_\w+", {"atomic": "exchange"}),
    ("LDS", r"ds_gws_\w+", {"kind": "gws", "space": "gds", "reads_m0": True}),
    ("LDS", r"ds_ordered_count|ds_(add|sub)_gs_reg_rtn", {"space": "gds"}),
    ("LDS", r"ds_nop", {"kind": "nothing"}),
    ("LDS", r"ds_atomic_(async_)?barrier_arrive_\w+", {"access": "atomic", "kind": "arrive"}),
    ("LDS", r"ds_atomic_async_barrier_arrive_b64", {"counter": "async"}),
    # Vector memory.
    ("VMEM", r"[a-z]+_load_\w+", {"access": "load", "counter": "load"}),
    ("VMEM", r"[a-z]+_load_tr\w+", {"transposes": True}),
    ("VMEM", r"[a-z]+_load_async_to_lds_\w+", {"counter": "async", "to_lds": True}),
    ("VMEM", r"[a-z]+_load_lds_\w+", {"to_lds": True, "reads_m0": True}),
    ("VMEM", r"(global|scratch)_(load|store)_block", {"chosen": True, "reads_m0": True}),
    ("VMEM", r"[a-z]+_store_\w+", {"access": "store", "counter": "store"}),
    ("VMEM", r"[a-z]+_store_async_from_lds_\w+", {"counter": "async", "from_lds": True}),
    ("VMEM", r"(global|flat)_prefetch_b8", {"access": "prefetch"}),
    ("VMEM", r"cluster_load_\w+", {"reads_m0": True}),
    ("VMEM", r"tensor_(load_to_lds|store_from_lds|save|stop)", {"kind": "tensor", "counter": "tensor"}),
    ("VMEM", r"tensor_load_to_lds", {"to_lds": True}),
    ("VMEM", r"tensor_store_from_lds", {"from_lds": True}),
    ("VMEM", r"t?buffer_(load|store)_(d16_|d16_hi_)?format_\w+", {"typed": True}),
    ("VMEM", r"[a-z]+_atomic_\w+", {"access": "atomic", "counter": "atomic"}),
    ("VMEM", r"[a-z]+_atomic_swap\w*", {"atomic": "exchange"}),
    ("VMEM", r"[a-z]+_atomic_f?cmpswap\w*", {"atomic": "compare"}),
    ("VMEM", r"buffer_wbl2|buffer_wbinvl1(_vol)?|global_wb|global_wbinv", {"access": "cache", "counter": "store"}),
    ("VMEM", r"buffer_(inv|invl2|gl0_inv|gl1_inv)", {"access": "cache"}),
    ("VMEM", r"global_inv", {"access": "cache", "counter": "load", "invalidates": ("scope", 2)}),
    ("VMEM", r"buffer_inv", {"invalidates": ("sc1", 1)}),
    ("VMEM", r"buffer_(inv|gl0_inv|wbinvl1(_vol)?)|global_(wb)?inv", {"invalidates_near": True}),
    ("VMEM", r"buffer_wbl2", {"writes_back": ("sc1", 1)}),
    ("VMEM", r"global_wb(inv)?", {"writes_back": ("scope", 2)}),
    ("VMEM", r"buffer_(gl1_inv|wbinvl1(_vol)?)", {"invalidates": ("", 0)}),
    # Vector ALU.
    ("VALU", r"v_cmpx?_\w+", {"compare": True}),
    ("VALU", r"v_(s_)?(exp|log|rcp|rcp_iflag|rsq|sqrt|sin|cos)_b?f(16|32|64)|v_(exp|log)_legacy_f32", {"trans": True}),
    ("VALU", r"v_dot\d+c?_\w+", {"dot": True}),
    ("VALU", r"v_cvt_(scalef32_)?(pk\d*_)?b?f(32|16)_[bf][fp][468]\w*", {"widens": True}),
    ("VALU", r"v_mov_b32|v_mov_b64|v_accvgpr_mov_b32|v_accvgpr_read_b32|v_accvgpr_write_b32", {"copies": True}),
    ("VALU", r"v_cvt_scalef32_\w+", {"scaled": True}),
    ("VALU", r"v_cndmask_b(16|32)", {"selects": True}),
    *(
        ("VALU", rf"v_cvt_(scalef32_)?(sr_)?(pk\d*_|2xpk16_)?{name}_(f32|f16|bf16)", {"packs": name})
        for name in ("fp8", "bf8", "fp6", "bf6", "fp4")
    ),
    ("VALU", r"v_cvt_(pk|sr)_fp8_f32", {"narrows": "fp8"}),
    ("VALU", r"v_cvt_(pk|sr)_bf8_f32", {"narrows": "bf8"}),
    ("VALU", r"v_cvt_pk_[fb][fp]8_f16", {"narrows_halves": True}),
    ("VALU", r"v_cvt_(f16_f32|pk_f16_f32)", {"narrows": "f16"}),
    ("VALU", r"v_cvt_(pkrtz|pk_rtz)_f16_f32", {"narrows": "f16_rtz"}),
    ("VALU", r"v_cvt_pk_bf16_f32", {"narrows": "bf16"}),
    ("VALU", r"v_cvt_(flr_|rpi_|nearest_)?i32_f32", {"narrows": "i32"}),
    ("VALU", r"v_cvt_u32_f32", {"narrows": "u32"}),
    ("VALU", r"v_(addc|subb|subbrev|add_co_ci|sub_co_ci|subrev_co_ci)_\w+", {"carries": True}),
    ("VALU", r"v_readlane_b32", {"lane": "readlane"}),
    ("VALU", r"v_writelane_b32", {"lane": "writelane"}),
    ("VALU", r"v_readfirstlane_b32", {"lane": "readfirstlane"}),
    ("VALU", r"v_permlane\w+", {"lane": "permlane"}),
    ("VALU", r"v_(movrel|swaprel)\w+", {"relative": True}),
    ("VALU", r"v_lshlrev_b32", {"kind": "shift_left"}),
    ("VALU", r"v_div_fmas_f(32|64)", {"kind": "div_fmas"}),
    ("VALU", r"v_div_fixup(_legacy)?_f(16|32|64)", {"ends_division": True}),
    ("VALU", r"v_fmac?_f64", {"kind": "fma_f64"}),
    ("VALU", r"v_cvt_(scalef32_)?sr_[bf][fp]8_\w+|v_cvt_scalef32_pk_fp4_\w+", {"result_select": 12}),
    ("VALU", r"v_cvt_scalef32_sr_pk_fp4_\w+", {"moved_result": True}),
)
_PATTERNS: dict[str, list[tuple[re.Pattern[str], dict[str, Any]]]] = defaultdict(list)
"""By unit."""
_PLAIN: dict[str, dict[str, Any]] = defaultdict(dict)
"""By mnemonic, of rows without regular expressions."""
for _unit, _names, _fields in _ROWS:
    if re.fullmatch(r"[\w|]+", _names):
        for _name in _names.split("|"):
            _PLAIN[_name] |= _fields
    else:
        _PATTERNS[_unit].append((re.compile(_names), _fields))
_ELEMENT = re.compile(r"(?:_(pk)_\w+)?_[biuf]f?(\d+)$")
_MATRIX = re.compile(r"v_(mfma|smfmac|wmma|swmmac)_\w*?_(\d+)x(\d+)x(\d+)")


def opcode(name: str, encoding: str, dst: Sequence[Slot] = (), src: Sequence[Slot] = ()) -> Opcode:
    """The record of an opcode.

    Args:
        name: base mnemonic in LLVM's spelling.
        encoding: key of the table that its row stands in, such as ``VOP2``, ``MAI``, ``GLOBAL``.
        dst: destinations of the row.
        src: sources of the row.

    Raises:
        MfmasimError: a memory or control opcode has no row, or unit and mnemonic disagree.
    """
    data = [slot.type for slot in (*dst, *src) if slot.file not in ("addr", "s")]
    return _record(name, encoding, any(kind in _SMALL for kind in data))


@cache
def _record(name: str, encoding: str, small: bool) -> Opcode:
    unit = _UNITS[encoding]
    fields: dict[str, Any] = {}
    for pattern, found in _PATTERNS[unit]:
        if pattern.fullmatch(name):
            fields |= found
    fields |= _PLAIN.get(name, {})
    named = fields if encoding in _LISTED else name.startswith("v_") == (unit == "VALU")
    access = fields.get("access", "")
    if not named or (unit in ("LDS", "SMEM", "VMEM") and not access and "kind" not in fields):
        raise MfmasimError(f"mfmasim.isa.opcode has no row for the {encoding} opcode {name}")
    if access in ("load", "store", "atomic", "prefetch"):
        fields.setdefault("space", _SPACES[encoding])
    if access in ("load", "store", "atomic"):
        fields["d16"] = ("high" if "d16_hi" in name or name.endswith("_hi") else "low") if "d16" in name else ""
        if fields.get("typed"):
            fields["d16"] = fields["d16"] if name.endswith("_x") else ""  # those of more components fill registers
        fields["narrow"] = small or bool(fields["d16"]) or bool(fields.get("typed"))
    if access and (element := _ELEMENT.search(name)):
        fields["bytes"] = int(element[2]) // 8 * (2 if element[1] else 1)
    fields["atomic"] = fields.get("atomic", "other") if access == "atomic" else ""
    if encoding in ("MAI", "WMMA") and (matrix := _MATRIX.match(name)):
        fields |= {"matrix": matrix[1], "shape": tuple(int(size) for size in matrix.groups()[1:])}
    return Opcode(name, unit, **fields)


def undecoded() -> Opcode:
    """The record of a dword that is not an instruction."""
    return Opcode(".long", "")


@cache
def scaled(matrix: Opcode) -> Opcode:
    """A matrix instruction with a scale prefix."""
    return replace(matrix, name=matrix.name.replace("v_mfma_", "v_mfma_scale_"), scaled=True)


@cache
def scaled_wmma(matrix: Opcode, block: int) -> Opcode:
    """A WMMA with scales, each of which `block` elements share."""
    name = matrix.name.replace("v_wmma_", "v_wmma_scale_" if block == 32 else f"v_wmma_scale{block}_")
    return replace(matrix, name=name, scaled=True)


@cache
def dual(x: Opcode, y: Opcode) -> Opcode:
    """A dual instruction of two operations, which have a record each (VOPD)."""
    return Opcode(" :: ".join("v_dual_" + half.name.removeprefix("v_") for half in (x, y)), "VALU")
