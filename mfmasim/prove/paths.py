"""Decisions of a path: conditions with their truth values, and the facts that follow from them."""

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
    """A uniform condition is not decided: both ways are taken."""

    def __init__(self, condition: Condition) -> None:
        """Name the condition."""
        super().__init__()
        self.condition = condition


class Split(Exception):  # noqa: N818 - control flow
    """Waves take different ways."""

    def __init__(self, parts: list[NDArray[np.intp]]) -> None:
        """Indices of the waves on each way."""
        super().__init__()
        self.parts = parts


class Stopped(Exception):  # noqa: N818 - a result, not an error
    """The path is not followed further, so that nothing is proved about the kernel."""

    def __init__(self, why: str, pc: int | None = None) -> None:
        """Say why."""
        super().__init__(why)
        self.why, self.pc = why, pc


def decide(state: State, condition: Condition) -> bool:
    """Whether a condition holds in all waves.

    Raises:
        Fork: the condition is not decided.
        Split: the condition differs between waves.
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
    """Whether the constant, modulo a common divisor of the coefficients, shows that a polynomial is never 0."""
    factors = [c for m, c in value.terms.items() if m]
    constant = value.constant
    if not factors or not isinstance(constant, int) or not all(isinstance(c, int) for c in factors):
        return False
    return constant % gcd(*factors) != 0


def assume(state: State, condition: Condition, *, holds: bool) -> None:
    """Take the way on which a condition holds, or the way on which it does not.

    Args:
        state: changed.
        condition: the condition.
        holds: whether the condition holds.
    """
    state.decisions[condition] = holds
    value = condition.value
    if value is None:
        return
    if condition.kind == "eq" and not holds:
        # A multiple of the factor that is not 0 has at least the factor's magnitude.
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
