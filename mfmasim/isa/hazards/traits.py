"""Traits of an instruction for the rules of wait states: its unit, and the registers that it reads and writes by role.

A role is a named set of registers, which the rows of `mfmasim.isa.hazards` use. A register is its file (``v``, ``a``,
``s``) and number; a hardware register of S_GETREG and S_SETREG has the file ``hw``; halves of VGPRs
have ``v.l`` and ``v.h`` where they matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

from mfmasim.isa.immediates import register_field
from mfmasim.isa.operands import EXEC, VCC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mfmasim.isa.instruction import Instruction, Operand
    from mfmasim.isa.opcode import Opcode

Register = tuple[str, int]
Registers = frozenset[Register]
NOTHING: Registers = frozenset()

PASS = 4
"""Cycles of a pass."""
LANE = ("readlane", "writelane")
DWORD = 6
SCHED_MODE, SERIAL = 26, (2, 4)
"""Number of SCHED_MODE, and its bits that disable the execution of several instructions of a wave at a time."""
MODE, STATE_PRIV = ("hw", 1), ("hw", 4)
VSKIP = 28
ZERO = {251: VCC, 252: EXEC}
"""VCCZ and EXECZ as sources, and the register that each one tests."""


def named(register: Register, m0: int) -> str:
    """A register in assembly syntax.

    >>> named(("v", 5), 124), named(("s", 106), 124), named(("s", 127), 124), named(("hw", 1), 124)
    ('v5', 'vcc_lo', 'exec_hi', 'hwreg 1')
    """
    file, number = register
    if file == "hw":
        return f"hwreg {number}"
    if file == "s" and number == m0:
        return "m0"
    if file in ("v.l", "v.h"):
        return f"v{number}"
    special = {VCC: "vcc_lo", VCC + 1: "vcc_hi", EXEC: "exec_lo", EXEC + 1: "exec_hi"} if file == "s" else {}
    return special.get(number, f"{file}{number}")


def _span(operands: Iterable[Operand], files: str = "vas") -> Registers:
    return frozenset((o.kind, o.index + k) for o in operands if o.kind in files for k in range(o.count))


@dataclass(frozen=True)
class Traits:
    """Properties of an instruction that the rules use."""

    instruction: Instruction
    m0: int
    passes: int
    """Passes of four cycles that a matrix instruction takes; 0 for any other."""

    @cached_property
    def opcode(self) -> Opcode:
        """Record of its opcode."""
        return self.instruction.opcode

    @cached_property
    def vector(self) -> bool:
        """Whether the vector ALU executes it, matrix instructions included."""
        return self.opcode.unit == "VALU"

    @cached_property
    def matrix(self) -> str:
        """``xdl``, ``sgemm`` (f32), ``dgemm`` (f64) or ``wmma``; empty for all others (CDNA3 ISA manual 7.5)."""
        if not self.opcode.matrix:
            return ""
        if self.opcode.matrix in ("wmma", "swmmac"):
            return "wmma"
        kind = self.instruction.src[0].type
        return {"f32": "sgemm", "f64": "dgemm"}.get(kind, "xdl")

    @cached_property
    def duration(self) -> str:
        """Class of a WMMA of CDNA5 by its duration.

        Empty for others, and for products of f32 and f64, which the matrix unit does not execute.
        """
        if self.matrix != "wmma" or self.instruction.src[0].type in ("f32", "f64"):
            return ""
        return f"{'SWMMAC' if self.opcode.sparse else 'WMMA'} of {PASS * self.passes} cycles"

    @cached_property
    def occupies(self) -> bool:
        """Whether it occupies the matrix core for its passes (LLVM's SISchedule: HWXDL; f64 uses the vector ALU)."""
        return self.matrix in ("xdl", "sgemm")

    @cached_property
    def alu(self) -> bool:
        """Whether it is a vector operation other than a matrix instruction."""
        return self.vector and not self.matrix

    @cached_property
    def memory(self) -> bool:
        """Whether it accesses memory by the vector memory unit (buffer, FLAT, GLOBAL, SCRATCH)."""
        return self.opcode.unit == "VMEM" and self.opcode.memory

    @cached_property
    def lds(self) -> bool:
        """Whether the LDS executes it."""
        return self.opcode.unit == "LDS"

    @cached_property
    def dpp(self) -> bool:
        """Whether a source comes from another lane."""
        return self.instruction.encoding in ("DPP", "DPP8")

    @cached_property
    def waits_for_vectors(self) -> bool:
        """Whether it waits for all results of the vector ALU: va_vdst is 0 (RDNA3 ISA manual, S_WAITCNT_DEPCTR)."""
        return self.opcode.wait == "alu" and not self.instruction.modifiers.get("simm16", 0) >> 12 & 15

    @cached_property
    def states(self) -> int:
        """Wait states of the instruction (CDNA3 ISA manual, S_NOP: SIMM16[3:0] + 1); 1 for any other instruction."""
        return (self.instruction.modifiers.get("simm16", 0) & 15) + 1 if self.opcode.kind == "nop" else 1

    @cached_property
    def reads(self) -> Registers:
        """All registers among the sources."""
        return _span(self.instruction.src)

    @cached_property
    def writes(self) -> Registers:
        """All registers among the destinations."""
        return _span(self.instruction.dst)

    def part(self, *places: int) -> Registers:
        """Registers of some sources."""
        return _span(self.instruction.src[place] for place in places if place < len(self.instruction.src))

    @property
    def _c_place(self) -> int:
        return 3 if self.opcode.sparse else 2

    @cached_property
    def c(self) -> tuple[str, int, int]:
        """Operand C of a matrix instruction: file, first register, registers."""
        operand = self.instruction.src[self._c_place]
        return operand.kind, operand.index, operand.count

    @cached_property
    def d(self) -> tuple[str, int, int]:
        """Operand D of a matrix instruction."""
        operand = self.instruction.dst[0]
        return operand.kind, operand.index, operand.count

    @cached_property
    def c_registers(self) -> Registers:
        """Registers of operand C."""
        return self.part(self._c_place)

    @cached_property
    def other_sources(self) -> Registers:
        """Registers of A, B, the index and the scales."""
        return self.part(*(k for k in range(len(self.instruction.src)) if k != self._c_place))

    @cached_property
    def factors(self) -> Registers:
        """Registers of A, B and the index."""
        return self.part(0, 1, 2) if self.opcode.sparse else self.part(0, 1)

    @cached_property
    def serial(self) -> bool | None:
        """Whether it sets a bit of SCHED_MODE that disables the execution of several instructions; None: neither.

        Bit 2, DISABLE_XDL_ARB_STALL (CDNA5 ISA manual, 5.7.2.1); AMD's generator of kernels for gfx1250 calls bit 4 so
        (ROCm/rocm-libraries, ``shared/stinkytofu``, InsertCoexecHazardPass).
        """
        if self.opcode.kind != "setreg":
            return None
        number, offset, mask = register_field(self.instruction)
        value = next((o.bits for o in self.instruction.src if o.kind == "const"), None)
        bits = [bit - offset for bit in SERIAL if mask << offset >> bit & 1]
        if number != SCHED_MODE or not bits:
            return None
        return value is not None and any(value >> bit & 1 for bit in bits)

    @cached_property
    def hardware_register(self) -> Registers:
        """The hardware register of S_GETREG or S_SETREG."""
        return frozenset([("hw", self.instruction.modifiers.get("simm16", 0) & 63)])

    @cached_property
    def writes_vskip(self) -> bool:
        """Whether it is S_SETREG of a field of MODE that includes VSKIP."""
        field = self.instruction.modifiers.get("simm16", 0)
        first, width = field >> 6 & 31, (field >> 11 & 31) + 1
        return self.opcode.kind == "setreg" and MODE in self.hardware_register and first <= VSKIP < first + width

    @cached_property
    def moved_result(self) -> bool:
        """Whether the result is not written to the low bits of its register (SDWA, OP_SEL; CDNA3 manual 4.5).

        LLVM counts the random conversions to FP4 for every destination byte, the others to FP4 for all but the lowest.
        """
        modifiers = self.instruction.modifiers
        if modifiers.get("dst_sel", DWORD) != DWORD:
            return True
        select = modifiers.get("op_sel", 0) if self.instruction.encoding == "VOP3" else 0
        return self.opcode.moved_result or bool(select & self.opcode.result_select)

    @cached_property
    def wide_data(self) -> Registers:
        """Data of a store of more than 64 bits, unless an SGPR gives the offset of a buffer (CDNA3 manual 4.5)."""
        if not self.memory or self.instruction.dst:
            return NOTHING
        sources = self.instruction.src
        data = [o for o in sources if o.field in ("vdata", "data") and o.count > 2]
        by_register = any(o.field == "soffset" and o.kind == "s" for o in sources)
        return NOTHING if by_register else _span(data)


def _only(registers: Registers, files: str) -> Registers:
    return frozenset(r for r in registers if r[0] in files)


def _halves(instruction: Instruction, operands: Iterable[Operand]) -> Registers:
    """Halves of VGPRs among sources or destinations of an instruction (`Operand.half`: one of the two)."""
    select = instruction.modifiers.get("op_sel", 0)
    found = []
    for place, operand in enumerate(operands):
        bit = 3 if operand.field in ("vdst", "") else place  # a destination, also where it is read back
        files = ("v.h" if select >> bit & 1 else "v.l",) if operand.half else ("v.l", "v.h")
        found += [(file, operand.index + k) for file in files for k in range(operand.count) if operand.kind == "v"]
    return frozenset(found)


def _exec(registers: Registers) -> Registers:
    return registers & {("s", EXEC), ("s", EXEC + 1)}


def _constants(t: Traits) -> Registers:
    """Scalar registers that a vector operation reads, but not as a carry or a lane's number."""
    if t.opcode.lane in LANE or t.opcode.kind == "div_fmas":
        return _span(t.instruction.src[:1], "s")
    sources = t.instruction.src[:2] if t.opcode.carries else t.instruction.src
    return _span(sources, "s")


def _zero(t: Traits) -> Registers:
    """The registers that EXECZ and VCCZ test."""
    used = {o.index for o in t.instruction.src if o.kind == "special"} & set(ZERO)
    return frozenset(("s", ZERO[code] + k) for code in used for k in (0, 1))


DURATIONS = tuple(f"{kind} of {cycles} cycles" for kind in ("WMMA", "SWMMAC") for cycles in (4, 8, 16, 32))


def _of_duration(name: str, which: str, t: Traits) -> Registers:
    """Registers of D, or of A, B and the index, of a matrix instruction of one class."""
    found: Registers = getattr(t, which) if t.duration == name else NOTHING
    return _only(found, "v")


ROLES: dict[str, Callable[[Traits], Registers]] = {
    # Roles of first instructions.
    "VALU writes SGPR": lambda t: _only(t.writes, "s") if t.vector else NOTHING,
    "VALU writes VCC": lambda t: t.writes & {("s", VCC), ("s", VCC + 1)} if t.vector else NOTHING,
    "VALU writes VCC or EXEC": lambda t: (
        t.writes & {("s", r + k) for r in (VCC, EXEC) for k in (0, 1)} if t.vector else NOTHING
    ),
    "VALU writes EXEC": lambda t: _exec(t.writes) if t.vector else NOTHING,
    "VALU writes VGPR": lambda t: _only(t.writes, "va") if t.alu else NOTHING,
    "VALU (no dot product) writes VGPR": lambda t: _only(t.writes, "va") if t.alu and not t.opcode.dot else NOTHING,
    "dot product writes VGPR": lambda t: t.writes if t.opcode.dot else NOTHING,
    "trans writes half": lambda t: _halves(t.instruction, t.instruction.dst) if t.opcode.trans else NOTHING,
    "trans writes VGPR": lambda t: t.writes if t.opcode.trans else NOTHING,
    "VALU writes part of VGPR": lambda t: _only(t.writes, "va") if t.alu and t.moved_result else NOTHING,
    "SALU writes M0": lambda t: t.writes & {("s", t.m0)} if t.opcode.scalar else NOTHING,
    "S_SETREG": lambda t: t.hardware_register if t.opcode.kind == "setreg" else NOTHING,
    "S_SETVSKIP": lambda t: frozenset([MODE]) if t.opcode.kind == "skip" else NOTHING,
    "S_SETREG writes VSKIP": lambda t: frozenset([MODE]) if t.writes_vskip else NOTHING,
    "wide store of VGPR": lambda t: t.wide_data,
    "XDL writes D": lambda t: t.writes if t.matrix == "xdl" else NOTHING,
    "SGEMM writes D": lambda t: t.writes if t.matrix == "sgemm" else NOTHING,
    "XDL or SGEMM writes D": lambda t: t.writes if t.matrix in ("xdl", "sgemm") else NOTHING,
    "DGEMM 4x4x4 writes D": lambda t: t.writes if t.matrix == "dgemm" and t.opcode.shape == (4, 4, 4) else NOTHING,
    "DGEMM 16x16x4 writes D": lambda t: t.writes if t.matrix == "dgemm" and t.opcode.shape == (16, 16, 4) else NOTHING,
    "XDL reads C": lambda t: t.c_registers if t.matrix == "xdl" else NOTHING,
    "XDL or SGEMM reads C": lambda t: t.c_registers if t.matrix in ("xdl", "sgemm") else NOTHING,
    "DGEMM": lambda t: frozenset([("hw", -1)]) if t.matrix == "dgemm" else NOTHING,
    "WMMA writes D": lambda t: t.writes if t.matrix == "wmma" else NOTHING,
    "VALU writes arch VGPR": lambda t: _only(t.writes, "v") if t.vector else NOTHING,
    "MFMA writes D": lambda t: t.writes if t.matrix else NOTHING,
    "V_ACCVGPR_READ writes arch VGPR": lambda t: t.writes if t.alu and _only(t.reads, "a") else NOTHING,
    # Roles of either.
    "MFMA reads C": lambda t: _only(t.c_registers, "a") if t.matrix else NOTHING,
    "V_ACCVGPR_WRITE": lambda t: _only(t.writes, "a") if t.alu else NOTHING,
    # Roles of second instructions.
    "V_ACCVGPR_READ": lambda t: _only(t.reads, "a") if t.alu else NOTHING,
    "MFMA or V_ACCVGPR_WRITE reads arch VGPR": lambda t: (
        _only(t.reads, "v") if t.matrix or _only(t.writes, "a") else NOTHING
    ),
    "MFMA or V_ACCVGPR_WRITE": lambda t: (
        frozenset([("s", EXEC), ("s", EXEC + 1)]) if t.matrix or _only(t.writes, "a") else NOTHING
    ),
    "VMEM reads SGPR": lambda t: _only(t.reads, "s") if t.memory else NOTHING,
    "lane select reads SGPR": lambda t: t.part(1) if t.opcode.lane in LANE else NOTHING,
    "V_DIV_FMAS": lambda t: (
        _only(t.reads, "s") & {("s", VCC), ("s", VCC + 1)} if t.opcode.kind == "div_fmas" else NOTHING
    ),
    "VALU reads EXECZ or VCCZ": lambda t: _zero(t) if t.vector else NOTHING,
    "VALU writes store data": lambda t: _only(t.writes, "va") if t.vector else NOTHING,
    "DPP reads VGPR": lambda t: _only(t.reads, "v") if t.dpp else NOTHING,
    "DPP": lambda t: frozenset([("s", EXEC), ("s", EXEC + 1)]) if t.dpp else NOTHING,
    "uses M0": lambda t: (
        frozenset([("s", t.m0)])
        if t.opcode.reads_m0 or t.instruction.modifiers.get("lds") or t.instruction.in_gds
        else NOTHING
    ),
    "S_GETREG": lambda t: t.hardware_register if t.opcode.kind == "getreg" else NOTHING,
    "vector instruction": lambda t: frozenset([MODE]) if not t.opcode.scalar else NOTHING,
    "VALU reads SGPR": lambda t: _constants(t) if t.vector else NOTHING,
    "lane access": lambda t: (
        frozenset([("s", EXEC), ("s", EXEC + 1)]) if t.opcode.lane in (*LANE, "readfirstlane") else NOTHING
    ),
    "V_READLANE reads VGPR": lambda t: t.part(0) if t.opcode.lane in ("readlane", "readfirstlane") else NOTHING,
    "VALU reads half": lambda t: _halves(t.instruction, t.instruction.src) if t.vector else NOTHING,
    "VALU reads VGPR": lambda t: _only(t.reads, "va") if t.alu else NOTHING,
    "VALU but trans reads VGPR": lambda t: _only(t.reads, "va") if t.vector and not t.opcode.trans else NOTHING,
    "V_PERMLANE reads VGPR": lambda t: _only(t.reads, "v") if t.opcode.lane == "permlane" else NOTHING,
    "V_PERMLANE": lambda t: frozenset([("s", EXEC), ("s", EXEC + 1)]) if t.opcode.lane == "permlane" else NOTHING,
    "MFMA": lambda t: frozenset([("s", EXEC), ("s", EXEC + 1)]) if t.matrix else NOTHING,
    "MFMA reads VGPR": lambda t: _only(t.reads, "va") if t.matrix else NOTHING,
    "MFMA reads A, B": lambda t: t.other_sources if t.matrix else NOTHING,
    "XDL reads C after": lambda t: t.c_registers if t.matrix == "xdl" else NOTHING,
    "SGEMM reads C": lambda t: t.c_registers if t.matrix == "sgemm" else NOTHING,
    "DGEMM reads C": lambda t: t.c_registers if t.matrix == "dgemm" else NOTHING,
    "DGEMM 4x4x4 reads C": lambda t: t.c_registers if t.matrix == "dgemm" and t.opcode.shape == (4, 4, 4) else NOTHING,
    "VALU uses VGPR": lambda t: _only(t.reads | t.writes, "va") if t.alu else NOTHING,
    "VALU writes VGPR after": lambda t: _only(t.writes, "va") if t.alu else NOTHING,
    "memory reads VGPR": lambda t: _only(t.reads, "va") if t.memory or t.lds else NOTHING,
    "dot product reads A, B": lambda t: t.part(0, 1) if t.opcode.dot else NOTHING,
    "uses VGPR": lambda t: _only(t.reads | t.writes, "va") if t.vector or t.memory or t.lds else NOTHING,
    "FMA_F64": lambda t: frozenset([("hw", -1)]) if t.opcode.kind == "fma_f64" else NOTHING,
    "WMMA reads A, B": lambda t: t.other_sources if t.matrix == "wmma" else NOTHING,
    # CDNA5.
    **{f"{name} writes D": partial(_of_duration, name, "writes") for name in DURATIONS},
    **{f"{name} reads A, B": partial(_of_duration, name, "factors") for name in DURATIONS},
    **{f"{name} reads C": partial(_of_duration, name, "c_registers") for name in DURATIONS},
    "trans uses VGPR": lambda t: _only(t.reads | t.writes, "v") if t.opcode.trans else NOTHING,
    "trans writes VGPR after": lambda t: _only(t.writes, "v") if t.opcode.trans else NOTHING,
    "XDL WMMA reads A, B": lambda t: _only(t.factors, "v") if t.duration else NOTHING,
    "VALU but trans or WMMA uses VGPR": lambda t: (
        _only(t.reads | t.writes, "v") if t.alu and not t.opcode.trans else NOTHING
    ),
    "VALU but trans or WMMA writes VGPR": lambda t: _only(t.writes, "v") if t.alu and not t.opcode.trans else NOTHING,
    "VALU but trans writes VGPR": lambda t: _only(t.writes, "v") if t.vector and not t.opcode.trans else NOTHING,
    "trans reads VGPR": lambda t: _only(t.reads, "v") if t.opcode.trans else NOTHING,
    "S_SETHALT": lambda t: frozenset([STATE_PRIV]) if t.opcode.kind == "halt" else NOTHING,
    "matrix instruction with scales": lambda t: frozenset([STATE_PRIV]) if t.opcode.scaled else NOTHING,
    "S_SETREG writes MODE": lambda t: (
        frozenset([MODE]) if t.opcode.kind == "setreg" and register_field(t.instruction)[0] == MODE[1] else NOTHING
    ),
    "S_SET_VGPR_MSB": lambda t: frozenset([MODE]) if t.opcode.kind == "msb" else NOTHING,
    "S_SETPRIO": lambda t: frozenset([STATE_PRIV]) if t.opcode.kind == "priority" else NOTHING,
}
"""Registers by role, under the names that rows and messages use."""
