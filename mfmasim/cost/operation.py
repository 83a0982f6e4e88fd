"""What an instruction needs whatever it accesses: issue slot, cycles of the ALUs, registers, counters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mfmasim.architectures import Arch
from mfmasim.isa import Instruction
from mfmasim.isa.barriers import of_workgroup
from mfmasim.isa.counters import Raised, raised, waited
from mfmasim.machine.opcodes.matrix import resolve
from mfmasim.observe.flights import Register, registers

SCOPES = {
    "issue": "wave",
    "matrix": "simd",
    "VALU": "simd",
    "transcendental": "simd",
    "scalar": "simd",
    "branch": "simd",
    "LDS": "group",
    "LDS port": "pair",
    "LDS fill": "group",
    "memory": "group",
    "L2": "group",
}
"""Pipes, and which SIMDs share one: ``wave`` (each wave has its own), ``simd``, ``pair`` (of SIMDs), ``group`` (the
SIMDs that share an LDS and a vector memory unit)."""
PIPES = tuple(SCOPES)


@dataclass(frozen=True)
class Operation:
    """One instruction of the code, as bound and timeline see it."""

    number: int
    """Its number in the trace."""
    pc: int
    name: str
    """Mnemonic."""
    text: str
    source: str
    """Source line, or empty."""
    slot: str
    """Kind of issue slot that it takes: ``VALU``, ``scalar``, ``branch``, ``LDS``, ``memory``, or ``internal``."""
    needs: tuple[tuple[str, float], ...]
    """Cycles of pipes of its SIMD and wave."""
    size: int
    next_pc: int
    """Address of the instruction after it."""
    reads: tuple[Register, ...] = ()
    writes: tuple[Register, ...] = ()
    chained: frozenset[Register] = frozenset()
    """Registers of a matrix instruction's C that are its D: the sum may be used at once by the next such sum."""
    matrix: float = 0
    """Cycles of a matrix instruction."""
    shadow: float = 0
    """Clocks from a matrix instruction to the next vector instruction that its SIMD issues; 0: those of an issue."""
    trans: bool = False
    scalar_load: bool = False
    waits: tuple[tuple[str, int], ...] = ()
    raises: tuple[Raised, ...] = ()
    signals: bool = False
    """Signals a barrier."""
    awaits: bool = False
    """Waits at a barrier."""
    ends: bool = False
    priority: int | None = None
    idle: float = 0
    """Clocks that S_NOP and S_SLEEP stand still beyond one issue."""
    flow: bool = False
    flops: int = 0
    """Operations of a matrix instruction; products and sums."""
    stores: bool = False
    """Stores to memory."""
    settles: str = ""
    """S_WAIT_ALU: waits until the ``vector`` or the ``scalar`` instructions before it are complete."""
    on_scc: bool = False
    """Branches on SCC."""
    delays: tuple[int, ...] = ()
    """S_DELAY_ALU: which of the instructions after it, from 0, issue only when their operands are there."""
    free: bool = False
    """S_DELAY_ALU, S_WAIT_ALU: takes no issue of its own, the next instruction issues with it."""
    lds_read: bool = False
    """Loads from the LDS to registers."""

    @cached_property
    def cycles(self) -> dict[str, float]:
        """`needs` by pipe."""
        return dict(self.needs)

    @cached_property
    def scalars(self) -> tuple[Register, ...]:
        """Scalar registers that it reads."""
        return tuple(register for register in self.reads if register[0] == "s")


def operation_of(arch: Arch, wave: int, instruction: Instruction, number: int, source: str = "") -> Operation:
    """Describe an instruction.

    Args:
        arch: architecture.
        wave: lanes of a wave.
        instruction: decoded.
        number: its number in the trace.
        source: source line.
    """
    opcode = instruction.opcode
    rates = arch.rates
    period = rates["issue"].value
    slot = _slot(instruction, shared=rates.scalar_unit_shared)
    free = opcode.kind == "delay" or opcode.wait == "alu"
    needs = {"issue": 0.0 if free else period}
    ours = bool(opcode.barrier) and of_workgroup(instruction)  # others are not modelled: their waves go on
    parts = instruction.halves or (instruction,)
    matrix, flops, shadow = 0.0, 0, 0.0
    if opcode.matrix:
        row = resolve(instruction, arch, wave)[0]
        matrix, flops = float(row.cycles), row.flops
        shadow = rates.shadow if row.a in ("f16", "bf16") else 0.0
        needs["matrix"] = matrix
        if rates.matrix_on_valu:
            needs["VALU"] = matrix
    elif slot == "VALU" and opcode.trans and instruction.dst and instruction.dst[0].kind == "s":
        needs["VALU"] = needs["transcendental"] = period  # of one lane
    elif slot == "VALU":
        needs["VALU"] = wave / rates[_rate(instruction)].value
        if opcode.trans:
            needs["transcendental"] = wave / rates["transcendental"].value
            if not rates.matrix_on_valu:  # CDNA has no unit of its own for them
                needs["VALU"] = needs["transcendental"]
    elif slot in ("scalar", "branch"):
        needs[slot] = period
    immediate = next((o.bits for o in instruction.src if o.kind == "imm"), 0)
    idle = {"nop": (immediate & 0xF) * period, "sleep": 64.0 * (immediate & 0x7F)}.get(opcode.kind, 0.0)
    read = tuple(dict.fromkeys(r for part in parts for r in registers(part.src)))
    written = tuple(dict.fromkeys(r for part in parts for r in registers(part.dst)))
    chained: frozenset[Register] = frozenset()
    if opcode.matrix and instruction.dst:
        same = [o for o in instruction.src[2:] if o.kind == instruction.dst[0].kind and o.count > 1]
        chained = frozenset(r for r in registers(same) if r in set(written))
    return Operation(
        number,
        instruction.pc,
        instruction.name,
        instruction.text,
        source,
        slot,
        tuple(needs.items()),
        instruction.size,
        instruction.pc + instruction.size,
        read,
        written,
        chained,
        matrix,
        shadow,
        opcode.trans,
        opcode.unit == "SMEM" and opcode.access == "load",
        () if opcode.flow == "end" else waited(arch, instruction),
        raised(arch, opcode, bool(instruction.dst), instruction.space),
        ours and opcode.barrier in ("whole", "signal"),
        ours and opcode.barrier in ("whole", "wait"),
        opcode.flow == "end",
        immediate & 3 if opcode.kind == "priority" else None,
        idle,
        bool(opcode.flow),
        flops,
        opcode.unit == "VMEM" and opcode.access == "store",
        _settles(opcode.wait, immediate),
        opcode.condition.startswith("scc"),
        _delays(immediate) if opcode.kind == "delay" else (),
        free,
        lds_read=instruction.space == "lds" and opcode.access == "load",
    )


def _slot(instruction: Instruction, *, shared: bool) -> str:
    """The kind of issue slot that an instruction takes."""
    opcode = instruction.opcode
    if opcode.flow and opcode.flow not in ("end", "trap"):
        return "branch"
    if instruction.encoding == "SOPP":
        return "internal"  # RPC, "Scheduler": not issued to a unit
    if opcode.unit == "SMEM":
        return "scalar" if shared else "scalar memory"
    return {"VMEM": "memory", "SALU": "scalar"}.get(opcode.unit, opcode.unit) or "internal"


def _rate(instruction: Instruction) -> str:
    """The rate of a vector instruction."""
    if any(operand.type == "f64" for operand in (*instruction.dst, *instruction.src)):
        return "f64"
    return instruction.opcode.slow or "valu"


def _delays(bits: int) -> tuple[int, ...]:
    """Instructions that S_DELAY_ALU delays (RDNA3 ISA manual, S_DELAY_ALU: INSTID0, INSTSKIP, INSTID1)."""
    return tuple({0: None} if bits & 15 else {}) + ((bits >> 4 & 7,) if bits >> 7 & 15 and bits >> 4 & 7 else ())


def _settles(wait: str, bits: int) -> str:
    """What S_WAIT_ALU waits for (LLVM, ``DepCtr``: VA_VDST, VA_SDST, VA_VCC; SA_SDST)."""
    if wait != "alu":
        return ""
    if not bits >> 12 & 15 or not bits >> 9 & 7 or not bits >> 1 & 1:
        return "vector"
    return "" if bits & 1 else "scalar"
