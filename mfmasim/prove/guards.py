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

__all__ = ["meet", "repeated", "skipped"]

LONGEST = 128
"""Instructions of a guarded block, and of a copy, at most."""
TIMING = ("delay", "nop")
"""Kinds of instructions that a copy may have more or fewer of."""


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
    state.exec = state.exec if block.exec is None else block.exec


def repeated(code: Mapping[int, Instruction], branch: Instruction) -> list[Instruction] | None:
    """The body of a loop that goes on while a lane is left; None where it does something without lanes.

    Args:
        code: instructions by address.
        branch: the one that leads back.
    """
    found: list[Instruction] = []
    at = branch.target
    while at is not None and at in code and len(found) <= LONGEST:
        ins = code[at]
        if ins is branch:
            return found
        if not _nothing_without_lanes(ins, barriers=False) and not _narrows(ins):
            return None
        found.append(ins)
        at += ins.size
    return None


def _narrows(ins: Instruction) -> bool:
    """Whether an instruction takes lanes from EXEC, and adds none."""
    stem = ins.name.removeprefix("s_").rsplit("_", 1)[0]
    sources = {"and": ins.src, "andn2": ins.src[:1], "and_not1": ins.src[:1]}.get(stem, ())
    return any(one.kind == "s" and one.index == EXEC for one in sources)


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
        a, b = _behind(code, a), _behind(code, b)
        if a == b:
            return True
        one, two = code.get(a), code.get(b)
        if one is None or two is None:
            return False
        if one.opcode.flow == two.opcode.flow == "end":
            return one.raw == two.raw
        if one.opcode.flow or two.opcode.flow:
            ways = _ways(code, one)
            return ways is not None and ways == _ways(code, two)
        if one.raw != two.raw or one.name == "s_getpc_b64":
            return False
        a, b = a + one.size, b + two.size
    return False


def _ways(code: Mapping[int, Instruction], ins: Instruction) -> tuple[int, int] | None:
    """Where a branch goes on with and without active lanes."""
    if ins.target is None or ins.opcode.flow != "conditional" or ins.opcode.condition != "exec":
        return None
    some, none = (ins.pc + ins.size, ins.target)[:: 1 if ins.name.endswith("execz") else -1]
    return _behind(code, some), _behind(code, none)


def _behind(code: Mapping[int, Instruction], at: int) -> int:
    """The address behind unconditional branches, and behind what only says when instructions are issued."""
    for _ in range(LONGEST):
        ins = code.get(at)
        if ins is not None and ins.opcode.flow == "branch" and ins.target is not None:
            at = ins.target
        elif ins is not None and ins.opcode.kind in TIMING:
            at += ins.size
        else:
            break
    return at
