"""Wait counters: those that an instruction increments while it is in flight, and the values that a wait requires.

Sources: ISA manuals, "Manually Inserted Wait States and Dependencies" and S_WAITCNT (CDNA3 4.4, RDNA3 4.4 and 16.5,
RDNA4 5.6); in doubtful cases LLVM's insertion of waits decides, on which compilers rely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from mfmasim.isa.family import family
from mfmasim.isa.immediates import waitcnt

if TYPE_CHECKING:
    from mfmasim.architectures import Arch
    from mfmasim.isa.instruction import Instruction
    from mfmasim.isa.opcode import Opcode

SPELLING = {
    "vmcnt": "s_waitcnt vmcnt({})", "lgkmcnt": "s_waitcnt lgkmcnt({})", "vscnt": "s_waitcnt_vscnt null, {}",
    "loadcnt": "s_wait_loadcnt {}", "storecnt": "s_wait_storecnt {}", "dscnt": "s_wait_dscnt {}",
    "kmcnt": "s_wait_kmcnt {}", "asynccnt": "s_wait_asynccnt {}", "tensorcnt": "s_wait_tensorcnt {}",
    "xcnt": "s_wait_xcnt {}",
}  # fmt: skip
"""How a wait for a counter is written."""


@dataclass(frozen=True)
class Raised:
    """A counter that an instruction increments by one until it is complete."""

    counter: str
    order: str
    """Instructions of one counter with the same `order` complete in program order; with an empty one, in any order."""
    limit: int
    """The counter's largest value."""


@lru_cache(maxsize=4096)
def raised(arch: Arch, opcode: Opcode, returns: bool, space: str = "") -> tuple[Raised, ...]:
    """Counters that an instruction increments.

    Args:
        arch: architecture.
        opcode: of the instruction.
        returns: whether the instruction writes a register.
        space: of the instruction's access; by default the opcode's.

    Returns:
        None, one, or for FLAT two of them: it may access memory and the LDS.
    """
    counters, kind = arch.counters, opcode.counter
    limit = counters.limits
    if not kind:
        return ()
    in_lds = Raised(counters.lds, "lds", limit[counters.lds])
    if kind == "lds":  # LDS and GDS complete out of order (CDNA1 ISA manual, 4.4)
        return (replace(in_lds, order="gds") if space == "global" else in_lds,)
    if kind == "scalar":
        return (Raised(counters.scalar, "", limit[counters.scalar]),)
    if kind == "async":  # loads are in order with loads, stores with stores (CDNA5 ISA manual, 10.8)
        order = "async store" if opcode.access == "store" else "async load"
        return (Raised(counters.asynchronous, order, limit[counters.asynchronous]),)
    if kind == "tensor":  # loads and stores alike (10.11.1)
        return (Raised(counters.tensor, "tensor", limit[counters.tensor]),)
    store = kind == "store" or (kind == "atomic" and not returns)
    counter = counters.stores if store else counters.loads
    order = "memory" if counter == counters.loads else "scratch" if opcode.space == "scratch" else "store"
    one = Raised(counter, order, limit[counter])
    if opcode.space != "flat":
        return (one,)
    return (one, in_lds) if counters.flat_in_order else (replace(one, order=""), replace(in_lds, order=""))


@lru_cache(maxsize=4096)
def _waited(arch: Arch, opcode: Opcode, bits: int) -> tuple[tuple[str, int], ...]:
    if opcode.wait == "waitcnt":
        return tuple((counter, value) for counter, (value, full) in waitcnt(bits, arch.name).items() if value < full)
    if opcode.wait == "idle" or opcode.flow == "end":
        return tuple((counter, 0) for counter in arch.counters.limits)
    return tuple((counter, bits >> low & ((1 << width) - 1)) for counter, low, width in opcode.waits)


def waited(arch: Arch, instruction: Instruction) -> tuple[tuple[str, int], ...]:
    """Pairs (counter, value) of a wait instruction; empty for other instructions; a field of all ones has none."""
    if not instruction.opcode.wait and instruction.opcode.flow != "end":
        return ()
    return _waited(arch, instruction.opcode, _immediate(instruction))


def _immediate(instruction: Instruction) -> int:
    return next((o.bits for o in instruction.src if o.kind == "imm"), 0) & 0xFFFF


def waiting_for(arch: Arch, instruction: Instruction, counter: str, value: int) -> int | None:
    """SIMM16 of a wait instruction with another value for one of its counters.

    Args:
        arch: architecture.
        instruction: the wait.
        counter: name of the counter.
        value: the value to wait for.

    Returns:
        The immediate; None where the instruction has no such counter, or its field is too small.
    """
    bits = _immediate(instruction)
    if instruction.opcode.wait == "waitcnt":
        parts = family(arch).dialect.waitcnt.get(counter, ())
    else:
        parts = tuple((low, width) for name, low, width in instruction.opcode.waits if name == counter)
    if not parts:
        return None
    for low, width in parts:
        mask = (1 << width) - 1
        bits = bits & ~(mask << low) | (value & mask) << low
        value >>= width
    return None if value else bits
