"""Differences between encoding generations other than opcodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from mfmasim.isa.encodings import CDNA1, GFX9, SHORT, Encoding, EncodingSet
from mfmasim.isa.encodings_rdna import GFX10, GFX11, GFX12
from mfmasim.isa.operands import CDNA5_CODES, DPP, GFX9_CODES, RDNA2_CODES, RDNA_CODES, SDWA, ScalarCodes

_SRC = {"src0": (32, 9), "src1": (41, 9), "src2": (50, 9)}
_SAME = GFX12.by_name

GFX1250 = EncodingSet((
    *SHORT,
    # VOPD3 lies inside the longer prefix of VINTERP, which this generation does not have.
    Encoding("VOPD3", 12, "11001111", (18, 6), {
        "opy": (12, 6), "src0x": (0, 9), "src0y": (32, 9), "negx": (41, 3), "negy": (44, 3), "src1x": (48, 8),
        "src2x": (56, 8), "vdstx": (64, 8), "src1y": (72, 8), "src2y": (80, 8), "vdsty": (88, 8),
    }),
    Encoding("VOP3P", 8, "11001100", (16, 8), {
        "vdst": (0, 8), "neg_hi": (8, 3), "op_sel": (11, 3), "op_sel_hi2": (14, 1), "clamp": (15, 1), **_SRC,
        "op_sel_hi": (59, 2), "neg_lo": (61, 3),
    }),
    _SAME["VOP3"],
    _SAME["VOPD"],
    Encoding("DS", 8, "110110", (18, 8), {
        "offset0": (0, 8), "offset1": (8, 8), "addr": (32, 8), "data0": (40, 8), "data1": (48, 8), "vdst": (56, 8),
    }),
    _SAME["SMEM"],
    _SAME["FLAT"],
    _SAME["SCRATCH"],
    _SAME["GLOBAL"],
    _SAME["MUBUF"],
    Encoding("VIMAGE", 12, "110100", (14, 8), {
        "vdata": (32, 8), "rsrc": (41, 9), "scope": (50, 2), "th": (52, 3), "r128": (4, 1), "tfe": (55, 1),
        "vaddr4": (56, 8), "vaddr0": (64, 8), "vaddr1": (72, 8), "vaddr2": (80, 8), "vaddr3": (88, 8),
        "dim": (0, 3), "d16": (5, 1), "a16": (6, 1), "nv": (7, 1), "dmask": (22, 4),
    }, reader="TENSOR"),
))  # fmt: skip


@dataclass(frozen=True)
class Dialect:
    """Differences between encoding generations other than opcodes."""

    encodings: EncodingSet
    codes: ScalarCodes
    promoted: dict[str, int]
    """First opcode of VOPC, VOP2 and VOP1 inside VOP3 (ISA manuals, section "VOP3A")."""
    second_dword: frozenset[int]
    """Codes of SRC0 that give VOP1, VOP2 and VOPC a second dword, of SDWA or DPP controls. Where DPP is not among them
    its controls follow like a literal, there are DPP8 and FI, and on RDNA3 and later the long forms have them too."""
    long_literals: bool
    """A literal may follow VOP3 and VOP3P too."""
    no_saddr: int
    """Code of SADDR that means: no scalar address."""
    flat_saddr: bool
    """A FLAT instruction adds SADDR (RDNA4 ISA manual, fields of VFLAT); before, it does not read the field."""
    cache: dict[str, str]
    """Names of the cache bits by their position's historical name (glc, slc, scc)."""
    cache_order: tuple[str, ...]
    """Order in which LLVM prints them."""
    smem_cache: tuple[str, ...]
    """Cache fields of SMEM."""
    smem_offset_bits: int
    """Bits of the signed immediate offset of SMEM."""
    smem_zero: bool
    """Whether LLVM prints the zero of an SMEM address without any offset."""
    dpp_rows: dict[int, str]
    """DPP controls that name a lane of a row, by their upper bits."""
    sve: bool
    """SCRATCH has a bit that says whether it uses VADDR; before, that bit marked loads to the LDS."""
    scratch_offset_alone: int | None
    """Code of SADDR with which SCRATCH reads no VADDR either (RDNA2, where `sve` is not a field)."""
    waitcnt: dict[str, tuple[tuple[int, int], ...]]
    """Counters of s_waitcnt: (lowest bit, width) of the pieces of each, lowest first."""
    messages: dict[int, str]
    """Messages of s_sendmsg by number; empty where they have operations and streams (gfx9)."""
    hardware_registers: dict[int, str]
    """Registers of s_getreg and s_setreg by number."""
    literal64: bool = False
    """The short encodings and the scalar ones have literals of 64 bits, source code 254 (CDNA5 ISA manual, 4.1)."""
    flat_base: bool = False
    """FLAT has a scalar base and the lane's offset too, as GLOBAL (CDNA5 ISA manual, 10.2)."""
    scaled_offset: bool = False
    """SMEM, VFLAT and VBUFFER of gfx12 have SCALE_OFFSET and NV; before, their bits are reserved."""
    scale_ops: Mapping[int, int] = field(default_factory=dict)
    """Opcodes of VOP3P that are the first half of a WMMA with scales, to the elements that share one (CDNA5 ISA manual,
    14.3.7)."""
    buffer_atomic_dlc: bool = True
    """Atomic operations on buffers have the bit DLC (LLVM refuses it on RDNA2)."""
    gds: bool = True
    """The rows' flag `gds` holds: LDS instructions have a bit that addresses the GDS instead."""


# CDNA2 and CDNA3 ISA manuals, S_GETREG_B32; spelling of llvm-mc 22.
_HARDWARE_REGISTERS = {
    1: "HW_REG_MODE", 2: "HW_REG_STATUS", 3: "HW_REG_TRAPSTS", 4: "HW_REG_HW_ID", 5: "HW_REG_GPR_ALLOC",
    6: "HW_REG_LDS_ALLOC", 7: "HW_REG_IB_STS", 15: "HW_REG_SH_MEM_BASES", 16: "HW_REG_TBA_LO", 17: "HW_REG_TBA_HI",
    18: "HW_REG_TMA_LO", 19: "HW_REG_TMA_HI",
}  # fmt: skip
_HARDWARE_REGISTERS_3 = _HARDWARE_REGISTERS | {
    20: "HW_REG_XCC_ID", 21: "HW_REG_SQ_PERF_SNAPSHOT_DATA", 22: "HW_REG_SQ_PERF_SNAPSHOT_DATA1",
    23: "HW_REG_SQ_PERF_SNAPSHOT_PC_LO", 24: "HW_REG_SQ_PERF_SNAPSHOT_PC_HI",
}  # fmt: skip
# RDNA2, RDNA3 and RDNA4 ISA manuals, likewise.
_HARDWARE_REGISTERS_RDNA2 = {
    1: "HW_REG_MODE", 2: "HW_REG_STATUS", 3: "HW_REG_TRAPSTS", 5: "HW_REG_GPR_ALLOC", 6: "HW_REG_LDS_ALLOC",
    7: "HW_REG_IB_STS", 15: "HW_REG_SH_MEM_BASES", 16: "HW_REG_TBA_LO", 17: "HW_REG_TBA_HI", 18: "HW_REG_TMA_LO",
    19: "HW_REG_TMA_HI", 20: "HW_REG_FLAT_SCR_LO", 21: "HW_REG_FLAT_SCR_HI", 23: "HW_REG_HW_ID1",
    24: "HW_REG_HW_ID2", 25: "HW_REG_POPS_PACKER", 29: "HW_REG_SHADER_CYCLES",
}  # fmt: skip
_HARDWARE_REGISTERS_RDNA3 = {
    1: "HW_REG_MODE", 2: "HW_REG_STATUS", 3: "HW_REG_TRAPSTS", 5: "HW_REG_GPR_ALLOC", 6: "HW_REG_LDS_ALLOC",
    7: "HW_REG_IB_STS", 15: "HW_REG_SH_MEM_BASES", 18: "HW_REG_PERF_SNAPSHOT_PC_LO",
    19: "HW_REG_PERF_SNAPSHOT_PC_HI", 20: "HW_REG_FLAT_SCR_LO", 21: "HW_REG_FLAT_SCR_HI", 23: "HW_REG_HW_ID1",
    24: "HW_REG_HW_ID2", 27: "HW_REG_PERF_SNAPSHOT_DATA", 29: "HW_REG_SHADER_CYCLES",
}  # fmt: skip
_HARDWARE_REGISTERS_RDNA4 = {
    1: "HW_REG_WAVE_MODE", 2: "HW_REG_WAVE_STATUS", 4: "HW_REG_WAVE_STATE_PRIV", 5: "HW_REG_WAVE_GPR_ALLOC",
    6: "HW_REG_WAVE_LDS_ALLOC", 7: "HW_REG_IB_STS", 10: "HW_REG_PERF_SNAPSHOT_DATA",
    11: "HW_REG_PERF_SNAPSHOT_PC_LO", 12: "HW_REG_PERF_SNAPSHOT_PC_HI", 15: "HW_REG_PERF_SNAPSHOT_DATA1",
    16: "HW_REG_PERF_SNAPSHOT_DATA2", 17: "HW_REG_WAVE_EXCP_FLAG_PRIV", 18: "HW_REG_WAVE_EXCP_FLAG_USER",
    19: "HW_REG_WAVE_TRAP_CTRL", 20: "HW_REG_WAVE_SCRATCH_BASE_LO", 21: "HW_REG_WAVE_SCRATCH_BASE_HI",
    23: "HW_REG_WAVE_HW_ID1", 24: "HW_REG_WAVE_HW_ID2", 26: "HW_REG_WAVE_SCHED_MODE",
    29: "HW_REG_SHADER_CYCLES_LO", 30: "HW_REG_SHADER_CYCLES_HI", 31: "HW_REG_WAVE_DVGPR_ALLOC_LO",
    32: "HW_REG_WAVE_DVGPR_ALLOC_HI",
}  # fmt: skip

# RDNA3 and RDNA4 ISA manuals, S_SENDMSG and S_SENDMSG_RTN_B32.
_MESSAGES = {
    1: "MSG_INTERRUPT", 2: "MSG_HS_TESSFACTOR", 3: "MSG_DEALLOC_VGPRS", 9: "MSG_GS_ALLOC_REQ",
    128: "MSG_RTN_GET_DOORBELL", 129: "MSG_RTN_GET_DDID", 130: "MSG_RTN_GET_TMA", 131: "MSG_RTN_GET_REALTIME",
    132: "MSG_RTN_SAVE_WAVE", 133: "MSG_RTN_GET_TBA", 134: "MSG_RTN_GET_TBA_TO_PC",
}  # fmt: skip
_MESSAGES_RDNA3 = {5: "MSG_STALL_WAVE_GEN", 6: "MSG_HALT_WAVES"}
_MESSAGES_RDNA4 = {135: "MSG_RTN_GET_SE_AID_ID"}
# CDNA5 ISA manual, 5.4; what it does not list, as llvm-mc 22 spells it. Likewise the hardware registers.
_MESSAGES_CDNA5 = _MESSAGES_RDNA4 | {10: "MSG_SAVEWAVE_HAS_TDM", 136: "MSG_RTN_GET_CLUSTER_BARRIER_STATE"}
_HARDWARE_REGISTERS_CDNA5 = _HARDWARE_REGISTERS_RDNA4 | {
    28: "HW_REG_IB_STS2",
    33: "HW_REG_XNACK_STATE_PRIV",
    34: "HW_REG_XNACK_MASK",
}
_DPP_ROWS = {0x10: "row_shl", 0x11: "row_shr", 0x12: "row_ror"}

_CDNA2 = Dialect(
    GFX9,
    GFX9_CODES,
    {"VOPC": 0x000, "VOP2": 0x100, "VOP1": 0x140},
    second_dword=frozenset((SDWA, DPP)),
    long_literals=False,
    no_saddr=0x7F,
    flat_saddr=False,
    cache={"glc": "glc", "slc": "slc", "scc": "scc"},
    cache_order=("glc", "slc", "scc"),
    smem_cache=("glc",),
    smem_offset_bits=21,
    smem_zero=False,
    dpp_rows=_DPP_ROWS | {0x15: "row_newbcast"},
    sve=False,
    scratch_offset_alone=None,
    waitcnt={"vmcnt": ((0, 4), (14, 2)), "expcnt": ((4, 3),), "lgkmcnt": ((8, 4),)},
    messages={},
    hardware_registers=_HARDWARE_REGISTERS,
    gds=False,
)
_CDNA1 = dataclasses.replace(
    _CDNA2,
    encodings=CDNA1,
    cache={"glc": "glc", "slc": "slc"},
    cache_order=("glc", "slc"),
    dpp_rows=_DPP_ROWS,
    gds=True,
)
_CDNA3 = dataclasses.replace(
    _CDNA2,
    cache={"glc": "sc0", "slc": "nt", "scc": "sc1"},
    cache_order=("sc0", "nt", "sc1"),
    sve=True,
    hardware_registers=_HARDWARE_REGISTERS_3,
)
_RDNA3 = Dialect(
    GFX11,
    RDNA_CODES,
    {"VOPC": 0x000, "VOP2": 0x100, "VOP1": 0x180},
    second_dword=frozenset(),
    long_literals=True,
    no_saddr=124,
    flat_saddr=False,
    cache={"glc": "glc", "slc": "slc", "dlc": "dlc"},
    cache_order=("glc", "slc", "dlc"),
    smem_cache=("glc", "dlc"),
    smem_offset_bits=21,
    smem_zero=False,
    dpp_rows=_DPP_ROWS | {0x15: "row_share", 0x16: "row_xmask"},
    sve=True,
    scratch_offset_alone=None,
    waitcnt={"vmcnt": ((10, 6),), "expcnt": ((0, 3),), "lgkmcnt": ((4, 6),)},
    messages=_MESSAGES | _MESSAGES_RDNA3,
    hardware_registers=_HARDWARE_REGISTERS_RDNA3,
)
_RDNA2 = dataclasses.replace(
    _RDNA3,
    encodings=GFX10,
    codes=RDNA2_CODES,
    second_dword=frozenset((SDWA,)),
    no_saddr=125,
    scratch_offset_alone=127,
    sve=False,
    waitcnt={"vmcnt": ((0, 4), (14, 2)), "expcnt": ((4, 3),), "lgkmcnt": ((8, 6),)},
    messages={},
    hardware_registers=_HARDWARE_REGISTERS_RDNA2,
    buffer_atomic_dlc=False,
)
_RDNA4 = dataclasses.replace(
    _RDNA3,
    encodings=GFX12,
    flat_saddr=True,
    cache={"th": "th", "scope": "scope"},
    cache_order=(),
    smem_cache=("th", "scope"),
    smem_offset_bits=24,
    smem_zero=True,
    messages=_MESSAGES | _MESSAGES_RDNA4,
    hardware_registers=_HARDWARE_REGISTERS_RDNA4,
)
_CDNA5 = dataclasses.replace(
    _RDNA4,
    encodings=GFX1250,
    codes=CDNA5_CODES,
    literal64=True,
    scaled_offset=True,
    flat_base=True,
    messages=_MESSAGES | _MESSAGES_CDNA5,
    hardware_registers=_HARDWARE_REGISTERS_CDNA5,
    scale_ops={0x35: 32, 0x3A: 16},
    gds=False,
)
DIALECTS = {
    "CDNA1": _CDNA1,
    "CDNA2": _CDNA2,
    "CDNA3": _CDNA3,
    "CDNA4": _CDNA3,
    "CDNA5": _CDNA5,
    "RDNA2": _RDNA2,
    "RDNA3": _RDNA3,
    "RDNA4": _RDNA4,
}
"""By `Arch.encoding`."""
