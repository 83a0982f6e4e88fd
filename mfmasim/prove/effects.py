"""Registers and flags that an instruction writes: from its operands and the registration of its operation.

`forgotten` is the one place where a state loses the values that an instruction overwrites. A rule writes the results
that it knows; a register that no rule has written is unknown afterwards. So an operation without a rule, or a rule that
returns early, leaves no stale value. A modifier that is not declared here makes the result of a rule unknown as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.isa.operands import EXEC
from mfmasim.machine.opcodes.registry import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mfmasim.isa import Instruction
    from mfmasim.prove.state import State

__all__ = ["ADDRESS", "CACHE", "dropped", "forgotten", "plain", "registered", "registers", "strange", "writes_flag"]

CACHE = frozenset({"glc", "slc", "dlc", "sc0", "sc1", "nt", "scc", "th", "scope", "nv"})
"""Modifiers of the cache policy: neither addresses nor values depend on them."""
ADDRESS: dict[str, frozenset[str]] = {
    "SMEM": frozenset({"offset", "scale_offset"}),
    "DS": frozenset({"offset", "offset0", "offset1", "gds"}),
    "FLAT": frozenset({"offset", "scale_offset", "lds"}),
    "SCRATCH": frozenset({"offset"}),
    "MUBUF": frozenset({"offset", "offen", "idxen", "lds"}),
}
"""Modifiers that the rules of addresses follow, by kind of encoding."""


def registered(ins: Instruction) -> bool:
    """Whether the machine has registered the operation, with its results; for a dual instruction, both halves."""
    return all(part.name in OPERATIONS for part in ins.halves or (ins,))


def registers(ins: Instruction) -> Iterator[tuple[str, int]]:
    """Registers that an instruction writes, by file and number; both halves of a dual instruction count."""
    for part in ins.halves or (ins,):
        for operand in part.dst:
            if operand.kind in ("v", "a", "s"):
                for number in range(operand.index, operand.index + max(operand.count, 1)):
                    yield operand.kind, number
        if part.opcode.saves_exec or "exec" in _results(part):
            yield "s", EXEC


def writes_flag(ins: Instruction) -> bool:
    """Whether an instruction writes SCC."""
    return any("scc" in _results(part) for part in ins.halves or (ins,))


def _results(ins: Instruction) -> tuple[str, ...]:
    operation = OPERATIONS.get(ins.name)
    return ("scc", "exec") if operation is None else operation.results


def forgotten(state: State, ins: Instruction, flag: object) -> None:
    """Forget the registers that an instruction has written, except those that a rule has written.

    A vector register is forgotten in all lanes: only the rules know which lanes EXEC keeps.

    Args:
        state: after the rules.
        ins: the instruction.
        flag: SCC before the rules.
    """
    for file, number in registers(ins):
        if (file, number) not in state.put:
            _lost(state, file, number)
    if state.scc is flag and writes_flag(ins):
        state.scc = None


def dropped(state: State, ins: Instruction) -> None:
    """Forget all registers that an instruction writes, in all lanes."""
    for file, number in registers(ins):
        _lost(state, file, number)


def _lost(state: State, file: str, number: int) -> None:
    if file == "s":
        state.write_scalar(number, None)
    else:
        state.v.pop((file, number), None)


def strange(ins: Instruction, known: frozenset[str]) -> list[str]:
    """Modifiers of an instruction, except those that its rule knows and those of the cache policy."""
    return sorted(name for name, value in ins.modifiers.items() if value and name not in known and name not in CACHE)


def plain(ins: Instruction) -> bool:
    """Whether no modifier and no operand of an ALU operation changes its sources or its result."""
    if ins.encoding in ("SDWA", "DPP", "DPP8") or strange(ins, _ALU.get(ins.name, _NONE)):
        return False
    return not any(o.neg or o.abs or o.half or o.sext or o.sel != _DWORD for o in (*ins.src, *ins.dst))


_DWORD = 6
"""`Operand.sel` of a whole dword."""
_NONE = frozenset[str]()
_ALU = {"v_bitop2_b32": frozenset({"bitop3"}), "v_bitop3_b32": frozenset({"bitop3"})}
"""Modifiers of ALU operations that their rules follow."""
