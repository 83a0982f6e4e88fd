"""Code that a branch skips for waves without active lanes, or for some waves, and where they meet the others again.

Compilers put a guarded block in line, or out of line with a copy of what follows it up to the next guard.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mfmasim.isa.operands import EXEC

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mfmasim.isa import Instruction
    from mfmasim.prove.state import State
    from mfmasim.prove.trace import Block

__all__ = ["meet", "skipped"]

LONGEST = 128
"""Instructions of a guarded block, and of a copy, at most."""


def meet(state: State, block: Block) -> None:
    """Go on with all waves behind a block.

    Scalar results are forgotten. Operations in flight are those of both ways: what was issued in the block is not
    counted on, and no wait in it is.

    Args:
        state: behind the block, changed.
        block: the block.
    """
    for ins in block.code:
        for operand in ins.dst:
            if operand.kind == "s":
                state.write(operand, [])
        if ins.opcode.unit == "SALU":
            state.scc = None
    issued = {ins.pc for ins in block.code}
    state.flights = [*block.flights, *(replace(one, order="") for one in state.flights if one.pc in issued)]
    state.exec = block.exec


def skipped(
    code: Mapping[int, Instruction], does: int, skips: int, *, barriers: bool = False
) -> tuple[list[Instruction], int] | None:
    """What some waves execute that the others skip; None where that is not only this.

    Args:
        code: instructions by address.
        does: where waves that execute it go on.
        skips: where the others do.
        barriers: whether it may have barriers.

    Returns:
        The instructions, and the address behind them.
    """
    found: list[Instruction] = []
    at = does
    while len(found) <= LONGEST and at in code:
        ins = code[at]
        if found and (at == skips or _alike(code, at, skips)):
            return found, at
        if not _nothing_without_lanes(ins, barriers=barriers):
            return None
        found.append(ins)
        at += ins.size
    return None


def _nothing_without_lanes(ins: Instruction, *, barriers: bool) -> bool:
    """Whether an instruction writes nothing but scalar registers where EXEC is 0, and goes on with the next one."""
    opcode = ins.opcode
    exec_written = opcode.saves_exec or any(one.kind == "s" and one.index in (EXEC, EXEC + 1) for one in ins.dst)
    if opcode.barrier and not barriers:
        return False
    other = opcode.flow or opcode.matrix or opcode.kind == "tensor" or opcode.access == "atomic"
    return not exec_written and not other


def _alike(code: Mapping[int, Instruction], a: int, b: int) -> bool:
    """Whether two pieces of code do the same and then go on at the same addresses."""
    for _ in range(LONGEST):
        one, two = code.get(a), code.get(b)
        if one is None or two is None:
            return False
        if one.opcode.flow == "branch" and one.target == b:
            return True
        if one.opcode.flow or two.opcode.flow:
            ways = _ways(code, one)
            return ways is not None and ways == _ways(code, two)
        if one.raw != two.raw or one.name == "s_getpc_b64":
            return False
        a, b = a + one.size, b + two.size
        if a == b:
            return True
    return False


def _ways(code: Mapping[int, Instruction], ins: Instruction) -> tuple[int, int] | None:
    """Where a branch goes on with and without active lanes."""
    ways: tuple[int | None, int | None] = ins.pc + ins.size, ins.target
    if ways[1] is None or ins.opcode.flow not in ("branch", "conditional"):
        return None
    if ins.opcode.flow == "branch":
        ways = ways[1], ways[1]
    elif ins.opcode.condition != "exec":
        return None
    some, none = ways if ins.name.endswith("execz") else ways[::-1]
    return (_behind(code, some), _behind(code, none)) if some is not None and none is not None else None


def _behind(code: Mapping[int, Instruction], at: int) -> int:
    """The address behind unconditional branches."""
    for _ in range(LONGEST):
        ins = code.get(at)
        if ins is None or ins.opcode.flow != "branch" or ins.target is None:
            break
        at = ins.target
    return at
