"""Properties of a kernel that determine the order of its accesses to the LDS."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mfmasim.isa.barriers import barrier_number
from mfmasim.kernels import PerKernel
from mfmasim.observe.ordering.acquire import Uses
from mfmasim.observe.ordering.flags import flag_reads

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel


def in_order(instruction: Instruction) -> bool:
    """Whether one wave's accesses to the LDS are in program order; direct-to-LDS loads are not.

    Compilers rely on this order, and place no wait between such accesses (LLVM).
    """
    return instruction.opcode.unit in ("LDS", "VALU") or instruction.opcode.space == "flat"


class LdsFacts(NamedTuple):
    """Properties of a kernel that determine the order of its accesses to the LDS."""

    unit: int
    """Bytes of a unit in which races are found."""
    flags: set[int]
    """Addresses of reads that wait for a flag."""
    acquiring: set[int]
    """Addresses of atomic operations that acquire."""
    joins: bool
    """Whether waves join named barriers."""
    selects: bool
    """Whether M0 selects the barrier."""


def selects(instruction: Instruction) -> bool:
    """Whether M0 selects the barrier that an instruction signals or joins."""
    return instruction.opcode.barrier in ("signal", "join") and barrier_number(instruction) is None


def _lds_facts(kernel: Kernel) -> LdsFacts:
    instructions = kernel.reachable
    narrow = any(in_order(ins) and ins.opcode.narrow for ins in instructions)
    return LdsFacts(
        1 if narrow else 4,
        flag_reads(instructions, kernel.source_at),
        Uses(instructions).acquires_lds(),
        any(ins.opcode.barrier == "join" for ins in instructions),
        any(map(selects, instructions)),
    )


LDS_FACTS: PerKernel[LdsFacts] = PerKernel(_lds_facts)
