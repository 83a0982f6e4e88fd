"""Scalar operations on lane masks, EXEC included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfmasim.isa.operands import EXEC
from mfmasim.prove.masks import Condition, Mask
from mfmasim.prove.paths import Stopped

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.prove.state import State

__all__ = ["MASKS", "is_mask", "mask_operand", "mask_operation", "save"]

MASKS = {
    "and": lambda a, b: a.both(b), "or": lambda a, b: a.either(b), "xor": lambda a, b: a.one_of(b),
    "andn2": lambda a, b: a.without(b), "and_not1": lambda a, b: a.without(b),
}  # fmt: skip
SAVES = {
    "and": lambda old, given: given.both(old), "or": lambda old, given: given.either(old),
    "xor": lambda old, given: given.one_of(old), "andn2": lambda old, given: given.without(old),
    "and_not1": lambda old, given: given.without(old), "andn1": lambda old, given: old.without(given),
    "and_not0": lambda old, given: old.without(given),
}  # fmt: skip


def is_mask(state: State, source: int, target: int) -> bool:
    """Whether a scalar operation works on lane masks.

    Args:
        state: before it.
        source: a source register.
        target: the destination register.
    """
    return source == EXEC or source in state.masks or target == EXEC


def mask_operand(state: State, ins: Instruction, number: int) -> Mask:
    """A source as a lane mask.

    Args:
        state: before it.
        ins: the instruction.
        number: number of the source.
    """
    operand = ins.src[number]
    if operand.kind == "s":
        return state.mask(operand.index)
    if operand.kind in ("const", "imm"):
        width = state.lanes
        lanes = np.array([[operand.bits >> k & 1 for k in range(width)]], np.bool_)
        return Mask(np.broadcast_to(lanes, state.exec.on.shape).copy())
    return Mask(state.every().on, frozenset({(Condition.opaque(), True)}))


def mask_operation(state: State, ins: Instruction, stem: str) -> None:
    """AND, OR and other operations on lane masks.

    Args:
        state: changed.
        ins: the instruction.
        stem: its name without prefix and width.
    """
    given = [mask_operand(state, ins, k) for k in range(len(ins.src))]
    if stem == "not":
        result = state.every().without(given[0])
    elif stem in MASKS:
        result = MASKS[stem](*given)
    elif stem in ("orn2", "or_not1"):
        result = given[0].either(state.every().without(given[1]))
    else:
        inner = {"nand": "and", "nor": "or", "xnor": "xor"}[stem]
        result = state.every().without(MASKS[inner](*given))
    state.write_mask(ins.dst[0].index, result)
    state.scc = result.some if result.known else None


def save(state: State, ins: Instruction, stem: str) -> None:
    """S_..._SAVEEXEC.

    Args:
        state: changed.
        ins: the instruction.
        stem: its operation.
    """
    if stem not in SAVES:
        raise Stopped(f"{ins.text} is not followed", ins.pc)
    given, old = mask_operand(state, ins, 0), state.exec
    new = SAVES[stem](old, given)
    state.write_mask(ins.dst[0].index, old)
    state.write_mask(EXEC, new)
    state.scc = new.some if new.known else None
