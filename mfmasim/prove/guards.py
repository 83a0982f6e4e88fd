"""Code that a branch skips for waves without active lanes, or for some waves, and the address where the ways meet.

Compilers place a guarded block in line, or out of line with a copy of the code that follows it up to the next guard.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.isa.operands import EXEC
from mfmasim.prove.effects import registers, writes_flag
from mfmasim.prove.paths import Stopped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mfmasim.isa import Instruction
    from mfmasim.prove.state import State
    from mfmasim.prove.trace import Block

__all__ = ["meet", "repeated", "skipped"]

LONGEST = 128
"""Most instructions of a copy, and of the body of a loop over lanes."""
BLOCK = 1000
"""Most instructions of a guarded block."""
TIMING = ("delay", "nop")
"""Kinds of instructions that a comparison of a copy ignores."""


def meet(state: State, block: Block) -> None:
    """Continue with all waves behind a block, and behind the outer blocks that end at the same address.

    Scalar results are forgotten. Operations in flight are those of both ways: a wait does not rely on operations that
    the block issued, nor on waits in the block.

    Args:
        state: behind the block, changed.
        block: the block.

    Raises:
        Stopped: EXEC behind the block is unknown.
    """
    if block.inside is not None and state.exec != block.inside:
        # The block has disabled its lanes. No lane of a wave that skips the block may be active.
        skipping = np.zeros(len(state.waves), np.bool_) if block.waves is None else ~np.isin(state.waves, block.waves)
        if not state.exec.within(block.inside) or block.exec is None or block.exec.on[skipping].any():
            raise Stopped("EXEC behind a guarded block is not known", state.pc)
    elif block.exec is not None:
        state.exec = block.exec
    for ins in block.code:
        for file, number in registers(ins):
            if file == "s" and (block.exec is None or number not in (EXEC, EXEC + 1)):
                state.write_scalar(number, None)
        if ins.opcode.unit == "SALU" or writes_flag(ins):
            state.scc = None
    issued, before = {ins.pc for ins in block.code}, list(block.flights)
    new = []
    for one in state.flights:
        if one in before:
            before.remove(one)
        elif one.pc in issued:
            new.append(one)
    # Waves that are known to have issued the operations count them in their own order.
    state.flights = [*block.flights, *(replace(one, order=_among(one.order, block.waves)) for one in new)]
    if block.outer is not None:
        meet(state, block.outer)


def _among(order: str, waves: tuple[int, ...] | None) -> str:
    return f"{order} of waves {waves}" if order and waves is not None else ""


def repeated(code: Mapping[int, Instruction], branch: Instruction) -> list[Instruction] | None:
    """The body of a loop that is repeated while a lane is active; None if the body has an effect without active lanes.

    Args:
        code: instructions by address.
        branch: the branch to the loop's header.
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
    """Whether an instruction removes lanes from EXEC, and adds none."""
    stem = ins.name.removeprefix("s_").rsplit("_", 1)[0]
    sources = {"and": ins.src, "andn2": ins.src[:1], "and_not1": ins.src[:1]}.get(stem, ())
    return any(one.kind == "s" and one.index == EXEC for one in sources)


def skipped(
    code: Mapping[int, Instruction], does: int, skips: int, *, barriers: bool = False
) -> tuple[list[Instruction], int] | None:
    """The block that some waves execute and other waves skip; None if the two ways differ in more than the block.

    Args:
        code: instructions by address.
        does: address at which waves that execute the block go on.
        skips: address at which the other waves go on.
        barriers: whether the block may have barriers, and tensor instructions.

    Returns:
        The instructions, and the address behind them.
    """
    found: list[Instruction] = []
    none, within = _Without(), 0
    at = does
    while len(found) <= BLOCK and at in code:
        ins = code[at]
        if found and at >= within and (at == skips or _alike(code, at, skips)):
            return found, at
        none.reached(at)
        inner = ins.opcode.flow == "conditional" and ins.opcode.condition == "exec" and ins.target is not None
        if inner and ins.target is not None and ins.target > at:
            within = max(within, ins.target)  # a guard within the block: both ways stay in it
            none.skips(ins.target)
        elif not none.follows(ins, barriers=barriers):
            return None
        found.append(ins)
        at += ins.size
    return None


class _Without:
    """Consecutive instructions with EXEC 0, and the scalar registers that are 0 with it."""

    def __init__(self) -> None:
        self.zero: dict[int, int] = {}
        """Registers that EXEC was copied to, with the address up to which the copy is certain."""
        self.until = [1 << 62]
        """Targets of branches that may skip the next instruction."""

    def skips(self, target: int) -> None:
        """A branch may skip the instructions before an address."""
        self.until.append(target)

    def reached(self, at: int) -> None:
        """From this address on, results of instructions that a branch may have skipped are unknown."""
        self.until = [one for one in self.until if one > at]
        self.zero = {number: until for number, until in self.zero.items() if until > at}

    def follows(self, ins: Instruction, *, barriers: bool) -> bool:
        """Whether an instruction with EXEC 0 writes only scalar registers, leaves EXEC 0, and does not branch."""
        if not _nothing_without_lanes(ins, barriers=barriers) and not self._exec_stays(ins):
            return False
        copied = self._zero(ins)
        for operand in ins.dst:
            if operand.kind == "s":
                for number in range(operand.index, operand.index + max(operand.count, 1)):
                    self.zero.pop(number, None)
                    if copied and number not in (EXEC, EXEC + 1):
                        self.zero[number] = min(self.until)
        return True

    def _exec_stays(self, ins: Instruction) -> bool:
        opcode = ins.opcode
        if opcode.flow or opcode.matrix or opcode.barrier or opcode.access:
            return False
        return self._zero(ins) or (ins.opcode.writes_exec and not any(one.kind == "v" for one in ins.dst))

    def _zero(self, ins: Instruction) -> bool:
        """Whether a scalar operation on EXEC 0 gives 0, in EXEC and in the register that saves EXEC."""
        stem = ins.name.removeprefix("s_").rsplit("_", 1)[0]
        sources = [one.kind == "s" and (one.index in (EXEC, EXEC + 1) or one.index in self.zero) for one in ins.src]
        if ins.opcode.unit != "SALU" or not sources:
            return False
        if ins.opcode.saves_exec and not ins.opcode.returns_exec:
            return stem == "and_saveexec" or (stem in ("or_saveexec", "xor_saveexec") and sources[0])
        if stem in ("or", "xor", "mov"):
            return all(sources)
        return any(sources[:1]) if stem in ("andn2", "and_not1") else stem == "and" and any(sources)


def _nothing_without_lanes(ins: Instruction, *, barriers: bool) -> bool:
    """Whether an instruction with EXEC 0 writes only scalar registers, and does not branch."""
    opcode = ins.opcode
    exec_written = opcode.saves_exec or any(one.kind == "s" and one.index in (EXEC, EXEC + 1) for one in ins.dst)
    if opcode.barrier and not barriers:
        return False
    # The tensor data mover ignores EXEC: the waves that execute it have to be known, as for a barrier.
    other = opcode.flow or opcode.matrix or (opcode.kind == "tensor" and not barriers) or opcode.access == "atomic"
    return not exec_written and not other


def _alike(code: Mapping[int, Instruction], a: int, b: int) -> bool:
    """Whether two pieces of code have the same instructions, and then the same successors."""
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
    """Successors of a branch with and without active lanes."""
    if ins.target is None or ins.opcode.flow != "conditional" or ins.opcode.condition != "exec":
        return None
    some, none = (ins.pc + ins.size, ins.target)[:: -1 if ins.opcode.taken_if else 1]
    return _behind(code, some), _behind(code, none)


def _behind(code: Mapping[int, Instruction], at: int) -> int:
    """The address behind unconditional branches, and behind instructions that only affect timing."""
    for _ in range(LONGEST):
        ins = code.get(at)
        if ins is not None and ins.opcode.flow == "branch" and ins.target is not None:
            at = ins.target
        elif ins is not None and ins.opcode.kind in TIMING:
            at += ins.size
        else:
            break
    return at
