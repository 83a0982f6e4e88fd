"""Hints: what a finding means in an exercise, in steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.verify.kinds import KINDS

if TYPE_CHECKING:
    from mfmasim.learn.exercise import Exercise

__all__ = ["hints_for"]

ENDLESS = "The kernel does not end, or does far too much: look at the condition of the loop at this line."
GENERAL = {
    "budget-exhausted": ENDLESS,
    "endless-loop": ENDLESS,
    "quota-exhausted": ENDLESS,
    "mapping-not-followed": "Operands have to reach the matrix instruction as they are in memory, and its results the "
    "output without further arithmetic.",
    "executes-missing": "The kernel has to use the instruction that the exercise is about.",
}
"""Hints that are the same in every exercise, by the id of the finding."""


def hints_for(exercise: Exercise, finding: str) -> list[str]:
    """Hints about a finding, the gentlest first.

    Args:
        exercise: the exercise.
        finding: id of the finding; empty where nothing was checked yet.

    Returns:
        At least one: those of the exercise, else what the kind of finding means in general.
    """
    if not finding:
        return list(exercise.hints["start"])
    if finding in exercise.hints:
        return list(exercise.hints[finding])
    if finding in GENERAL:
        return [GENERAL[finding]]
    return [f"{KINDS[finding].about} {KINDS[finding].fix}"] if finding in KINDS else list(exercise.hints["start"])
