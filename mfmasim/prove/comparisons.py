"""Compares and selections: conditions from registers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.prove.inequality import never_negative
from mfmasim.prove.masks import Condition, Mask
from mfmasim.prove.paths import decide
from mfmasim.prove.polynomial import constant
from mfmasim.prove.quotients import estimates
from mfmasim.prove.uninterpreted import depends, residue
from mfmasim.prove.words import signed, signed_pair, unsigned, unsigned_pair

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.prove.polynomial import Polynomial, Symbol
    from mfmasim.prove.state import State

__all__ = ["COMPARE", "compared", "mask_of"]

COMPARE = re.compile(r"[sv]_cmp(k|x)?_(lt|le|gt|ge|eq|lg|ne|lg)_(i32|u32|i64|u64)$")


def _operands(state: State, ins: Instruction, kind: str) -> list[Polynomial | None]:
    found: list[Polynomial | None] = []
    for operand in ins.src[:2]:
        if operand.neg or operand.abs:
            found.append(None)
        elif kind.endswith("64"):
            low, high = state.operand(operand), state.operand(operand, 1)
            unsigned_one = kind == "u64" or operand.kind == "const"
            found.append((unsigned_pair if unsigned_one else signed_pair)(low, high, state.facts))
        else:
            word = state.operand(operand)
            value = (signed if kind == "i32" else unsigned)(word, state.facts)
            if value is None and operand.kind == "s" and (whole := residue(word)) is not None:
                state.write_scalar(operand.index, whole)
                if kind == "i32":  # the sign of such a number divides the path
                    decide(state, Condition.of("ge", constant((1 << 31) - 1) - whole.value))
                value = (signed if kind == "i32" else unsigned)(whole, state.facts)
            found.append(value)
    return found


def compared(state: State, ins: Instruction) -> tuple[Condition, bool] | None:
    """The condition of an integer compare, and whether a result of 1 means that it holds; None if it is unknown."""
    match = COMPARE.match(ins.name)
    if match is None:
        return None
    how, kind = match.group(2), match.group(3)
    a, b = _operands(state, ins, kind)
    if a is None or b is None:
        return None
    if how in ("eq", "lg", "ne"):
        return Condition.of("eq", a - b), how == "eq"
    if how in ("gt", "le"):
        a, b = b, a
        how = "lt" if how == "gt" else "ge"
    return Condition.of("ge", a - b), how == "ge"


def _name(state: State, ins: Instruction) -> Condition:
    """A key for a compare that is not followed: the same compare of the same uniform registers has the same result."""
    if not state.rounds:  # MODE has changed: the same compare may have another result
        return Condition.opaque()
    keys: list[object] = [ins.name]
    reads: set[Symbol] = set()
    for operand in ins.src[:2]:
        words = [state.operand(operand, k) for k in range(operand.count)]
        if any(word is None or not word.value.uniform for word in words):
            return Condition.opaque()
        reads |= {symbol for word in words if word is not None for symbol in word.value.symbols}
        keys += [(word.part, word.value.key, operand.neg, operand.abs) for word in words if word is not None]
    return Condition.opaque(tuple(keys), uniform=True, reads=frozenset(reads))


def mask_of(state: State, ins: Instruction, *, followed: bool = True) -> Mask:
    """The lane mask that a vector compare writes; inactive lanes have the bit 0.

    Args:
        state: before the compare.
        ins: the compare.
        followed: whether no modifier changes its sources.

    Raises:
        Fork: a uniform condition is not decided.
    """
    found = compared(state, ins) if followed else None
    unknown = _name(state, ins) if followed else Condition.opaque()
    condition, holds = found if found is not None else (unknown, True)
    value = condition.value
    if value is not None and value.is_constant:
        number = np.asarray(value.constant)
        true = (number >= 0 if condition.kind == "ge" else number == 0) == holds
        return Mask(state.exec.on & true, state.exec.literals)
    if condition.uniform and not estimates(condition) and not depends(condition):
        on = decide(state, condition) == holds
        return state.exec if on else Mask(state.exec.on & False, state.exec.literals)
    if value is not None and condition.kind == "ge":
        facts = [*state.facts, *state.exec.facts()]
        if never_negative(value, facts):
            return state.exec if holds else Mask(state.exec.on & False, state.exec.literals)
        if never_negative(-value - 1, facts):
            return Mask(state.exec.on & False, state.exec.literals) if holds else state.exec
    return state.exec.both(Mask(state.every().on, frozenset({(condition, holds)})))
