"""What an opcode is: one record for each, which the machine, the checks and the tools ask instead of its mnemonic.

The record is worked out once, from the encoding of the opcode's row and, where only that says it, from its mnemonic.
Nothing outside this file and the printer looks at the text of a mnemonic.

Sources: ISA manuals, chapters on program flow, scalar and vector ALU, memory, data share; LLVM's predicates of
`SIInstrInfo` (isTRANS, isDOT, isMFMA, isWMMA, isVMEM, isSMRD, isDS) where the manuals have no list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

__all__ = ["Opcode", "opcode"]

_UNITS = {
    "SOP1": "SALU", "SOP2": "SALU", "SOPC": "SALU", "SOPK": "SALU", "SOPP": "SALU", "SMEM": "SMEM",
    "VOP1": "VALU", "VOP2": "VALU", "VOPC": "VALU", "VOP3": "VALU", "VOP3P": "VALU", "VOPD": "VALU", "VOPDX": "VALU",
    "VOPDY": "VALU", "MAI": "VALU", "WMMA": "VALU",
    "DS": "LDS", "FLAT": "VMEM", "GLOBAL": "VMEM", "SCRATCH": "VMEM", "MUBUF": "VMEM", "MTBUF": "VMEM",
}  # fmt: skip
"""Unit that executes an opcode, by the encoding of its table."""
_SPACES = {"DS": "lds", "FLAT": "flat", "GLOBAL": "global", "SCRATCH": "scratch", "MUBUF": "global", "MTBUF": "global"}

_MATRIX = re.compile(r"v_(mfma|smfmac|wmma|swmmac)_")
# CDNA3 ISA manual, table 12; RDNA3 likewise; LLVM: isTRANS.
_TRANS = re.compile(r"v_(s_)?(exp|log|rcp|rcp_iflag|rsq|sqrt|sin|cos)_b?f(16|32|64)$|v_(exp|log)_legacy_f32$")
_DOT = re.compile(r"v_dot\d+c?_")
_CARRY = re.compile(r"v_(addc|subb|subbrev|add_co_ci|sub_co_ci|subrev_co_ci)_")
_PERMLANE = re.compile(r"v_permlane")
_EXCHANGE = re.compile(r"ds_(b?permute|swizzle)_")
_CACHE = re.compile(r"(buffer|global)_(wbl2|inv|invl2|wb|wbinv|wbinvl1|gl0_inv|gl1_inv)(_vol)?$|s_(dcache|icache|gl1)_")
_RELATIVE = re.compile(r"[vs]_(movrel|swaprel)")
_READS_M0 = re.compile(r"s_sendmsg|s_ttracedata|s_movrel|ds_(read|write|load|store)_addtid|\w+_load_lds_|ds_gws_")
_FLOW = (
    (re.compile(r"s_branch$"), "branch"),
    (re.compile(r"s_cbranch_|s_subvector_loop_"), "conditional"),
    (re.compile(r"s_(swappc_b64|call_b64)$"), "call"),
    (re.compile(r"s_(setpc|rfe)_b64$"), "jump"),
    (re.compile(r"s_endpgm"), "end"),
    (re.compile(r"s_trap$"), "trap"),
)
_BARRIERS = {
    "s_barrier": "whole", "s_barrier_signal": "signal", "s_barrier_signal_isfirst": "signal", "s_barrier_wait": "wait",
}  # fmt: skip
_SYNCHRONISES = re.compile(r"s_(barrier|get_barrier)")


@dataclass(frozen=True, slots=True)
class Opcode:
    """One opcode, whatever its operands and modifiers are."""

    name: str
    """Base mnemonic in LLVM's spelling, without encoding suffix."""
    unit: str
    """``SALU SMEM VALU VMEM LDS``; matrix instructions are VALU, FLAT instructions VMEM."""
    space: str = ""
    """Memory that its address is for: ``global``, ``scratch``, ``flat`` (any of them), ``lds``, ``gds``; empty when it
    accesses none. Scalar memory operations have unit SMEM and space ``global``."""
    access: str = ""
    """``load``, ``store``, ``atomic``, ``prefetch``, ``cache`` (invalidates or writes back), ``exchange`` (lanes
    through the LDS hardware, no memory), or empty."""
    to_lds: bool = False
    """A load that its name sends to the LDS; others are by the modifier ``lds``."""
    flow: str = ""
    """``branch``, ``conditional``, ``jump``, ``call``, ``end``, ``trap``, or empty."""
    barrier: str = ""
    """``whole`` (signals and waits), ``signal``, ``wait``, ``other`` (state, init, join, leave), or empty."""
    wait: bool = False
    """S_WAITCNT, S_WAIT_...: brings counters down."""
    matrix: str = ""
    """``mfma``, ``smfmac``, ``wmma``, ``swmmac``, or empty."""
    trans: bool = False
    """Executed by the transcendental unit."""
    dot: bool = False
    """A dot product: "DL ops" of CDNA's manuals."""
    lane: str = ""
    """``readlane``, ``writelane``, ``readfirstlane``, ``permlane``, or empty."""
    compare: bool = False
    """V_CMP, V_CMPX: gives a lane mask."""
    carries: bool = False
    """Takes a carry of each lane as a source."""
    relative: bool = False
    """Its registers are chosen by M0 when it is executed."""
    saves_exec: bool = False
    """S_..._SAVEEXEC, S_..._WREXEC: writes EXEC and SCC beside its destination."""
    reads_m0: bool = False
    """M0 is an implicit source; with the modifier ``lds`` it is one of any buffer load."""

    @property
    def returns(self) -> bool:
        """An atomic operation of the LDS that returns the value before."""
        return "_rtn" in self.name

    @property
    def ends_block(self) -> bool:
        """What follows may be elsewhere, or later, or decoded otherwise (VGPR indexing)."""
        return bool(self.flow) or self.barrier != "" or self.name in ("s_set_gpr_idx_on", "s_set_gpr_idx_off")

    @property
    def sparse(self) -> bool:
        """A matrix instruction whose A is structured sparse: its third source is the index, C the fourth."""
        return self.matrix in ("smfmac", "swmmac")

    @property
    def memory(self) -> bool:
        """A load, store or atomic operation."""
        return self.access in ("load", "store", "atomic")


def _access(name: str, unit: str) -> str:
    if _CACHE.match(name):
        return "cache"
    if unit == "LDS":
        if _EXCHANGE.match(name):
            return "exchange"
        if name == "ds_nop" or name.startswith("ds_gws_"):
            return ""
        if re.match(r"ds_(read|load)", name):
            return "load"
        return "store" if re.match(r"ds_(write|store)(?!xchg)", name) else "atomic"
    if unit in ("VMEM", "SMEM"):
        return next((word for word in ("atomic", "prefetch", "load", "store") if f"_{word}" in name), "")
    return ""


@cache
def opcode(name: str, encoding: str) -> Opcode:
    """The record of an opcode.

    Args:
        name: base mnemonic in LLVM's spelling.
        encoding: key of the table that its row stands in, such as ``VOP2``, ``MAI``, ``GLOBAL``.
    """
    unit = _UNITS[encoding]
    access = _access(name, unit)
    space = _SPACES.get(encoding, "scratch" if name.startswith("s_scratch_") else "global") if access else ""
    if access in ("cache", "exchange"):
        space = ""
    matrix = _MATRIX.match(name)
    lane = {f"v_{word}_b32": word for word in ("readlane", "writelane", "readfirstlane")}.get(name, "")
    return Opcode(
        name,
        unit,
        space="gds" if name.startswith(("ds_gws_", "ds_ordered_count")) else space,
        access=access,
        to_lds="_lds_" in name and unit == "VMEM",
        flow=next((kind for names, kind in _FLOW if names.match(name)), ""),
        barrier=_BARRIERS.get(name, "other" if _SYNCHRONISES.match(name) else ""),
        wait=name.startswith("s_wait"),
        matrix=matrix[1] if matrix else "",
        trans=bool(_TRANS.match(name)),
        dot=bool(_DOT.match(name)),
        lane=lane or ("permlane" if _PERMLANE.match(name) else ""),
        compare=name.startswith("v_cmp"),
        carries=bool(_CARRY.match(name)),
        relative=bool(_RELATIVE.match(name)),
        saves_exec=name.startswith("s_") and name.rsplit("_", 2)[1:2] in (["saveexec"], ["wrexec"]),
        reads_m0=bool(_READS_M0.match(name)),
    )
