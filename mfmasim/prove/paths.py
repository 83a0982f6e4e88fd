"""Decisions of a path: conditions that hold or not, and what follows from them."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.prove.inequality import never_negative
from mfmasim.prove.polynomial import rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.prove.masks import Condition
    from mfmasim.prove.polynomial import Polynomial
    from mfmasim.prove.state import State

__all__ = ["Fork", "Split", "Stopped", "assume", "decide"]


class Fork(Exception):  # noqa: N818 - control flow
    """A condition that all waves share is not decided: both ways are taken."""

    def __init__(self, condition: Condition) -> None:
        """Name the condition."""
        super().__init__()
        self.condition = condition


class Split(Exception):  # noqa: N818 - control flow
    """Waves go different ways."""

    def __init__(self, parts: list[NDArray[np.intp]]) -> None:
        """Places of the waves that stay together."""
        super().__init__()
        self.parts = parts


class Stopped(Exception):  # noqa: N818 - a result, not an error
    """The path is not followed further; nothing of the kernel is proved."""

    def __init__(self, why: str, pc: int | None = None) -> None:
        """Say why."""
        super().__init__(why)
        self.why, self.pc = why, pc


def decide(state: State, condition: Condition) -> bool:
    """Whether a condition holds in all waves.

    Raises:
        Fork: it may or may not.
        Split: it differs between waves.
    """
    if condition in state.decisions:
        return state.decisions[condition]
    value = condition.value
    if value is not None:
        if condition.kind == "ge":
            if never_negative(value, state.facts):
                return True
            if never_negative(-value - 1, state.facts):
                return False
        else:
            if never_negative(value - 1, state.facts) or never_negative(-value - 1, state.facts):
                return False
            if _indivisible(value):
                return False
            if never_negative(value, state.facts) and never_negative(-value, state.facts):
                return True
    if not condition.uniform and len(state.waves) > 1:
        raise Split([np.array([place]) for place in range(len(state.waves))])
    raise Fork(condition)


def _indivisible(value: Polynomial) -> bool:
    """Whether the constant alone shows that it is never 0."""
    factors = [c for m, c in value.terms.items() if m]
    constant = value.constant
    if not factors or not isinstance(constant, int) or not all(isinstance(c, int) for c in factors):
        return False
    return constant % gcd(*factors) != 0


def assume(state: State, condition: Condition, *, holds: bool) -> None:
    """Follow the way on which a condition holds, or does not.

    Args:
        state: changed.
        condition: the condition.
        holds: which way.
    """
    state.decisions[condition] = holds
    value = condition.value
    if value is None:
        return
    if condition.kind == "eq" and not holds:
        # Not 0, and a multiple: at least the factor away from 0, on the side where it is.
        factors = [c for c in value.terms.values() if isinstance(c, int)]
        least = gcd(*factors) if len(factors) == len(value.terms) else 1
        for side in (value, -value):
            if never_negative(side, state.facts):
                state.learn(side - least)
        return
    for fact in condition.facts(holds=holds):
        state.learn(fact)
        if (more := rounded(fact)) is not None:
            state.learn(more)
