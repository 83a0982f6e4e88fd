"""Hints: what a finding means in an exercise, in steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.verify.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.learn.exercise import Exercise
    from mfmasim.observe import Finding

ENDLESS = "The kernel does not end, or does far too much: look at the condition of the loop at this line."
GENERAL = {
    "budget-exhausted": ENDLESS,
    "endless-loop": ENDLESS,
    "quota-exhausted": ENDLESS,
    "mapping-not-followed": "Operands have to reach the matrix instruction as they are in memory, and its results the "
    "output without further arithmetic.",
    "executes-unused": "The instruction is executed, but the outputs are computed in another way: leave that out, and "
    "use its result.",
    "bounds-outside-buffer": "An index is beyond the end of the array. A guard would only hide that: for which lane "
    "and register is the index largest, and how many elements does the array have?",
    "mapping-wrong-element/mixed": "The bits hold no single element. Were two of them combined in the same bits, or "
    "was one changed on the way?",
    "mapping-wrong-element/nothing": "Nothing was loaded into these bits. Compare the index of the load with the "
    "element that the finding says the lane needs.",
    "mapping-no-result": "No result was stored to these elements of C: which index of the store leaves them out?",
    "races-no-barrier/overlap": "Two waves store to the same bytes, and a barrier would not fix that if the elements "
    "differ: compare the length of a row with the distance between rows.",
    "executes-missing": "The kernel has to use the instruction that the exercise is about.",
}
"""Hints that are the same in every exercise, by topic."""


def topics(exercise: Exercise, located: Sequence[tuple[str, Finding]]) -> list[str]:
    """What hints can be about: the id of each finding, with the pattern of the mistake after a slash where one is seen.

    Args:
        exercise: the exercise.
        located: findings with their architectures, as `Grade.located` has them.

    Returns:
        One topic for each finding. Patterns: ``mixed`` and ``nothing`` are what a slot holds instead of an element,
        ``overlap`` two stores to the same bytes, ``everywhere`` an exercise for several architectures that is wrong on
        all of them.
    """
    return [finding.id + _pattern(exercise, finding, located) for _, finding in located]


def _pattern(exercise: Exercise, finding: Finding, located: Sequence[tuple[str, Finding]]) -> str:
    if "mixed" in finding.actual:
        return "/mixed"
    if "never written" in finding.actual and finding.id == "mapping-wrong-element":
        return "/nothing"
    if "is written here and written by" in finding.message:
        return "/overlap"
    if len(exercise.arch) > 1 and {arch for arch, one in located if one.id == finding.id} == set(exercise.arch):
        return "/everywhere"
    return ""


def hints_for(exercise: Exercise, topic: str) -> list[str]:
    """Hints about a finding, the gentlest first.

    Args:
        exercise: the exercise.
        topic: one of `topics`, or the id of a finding; empty where nothing was checked yet.

    Returns:
        At least one: those of the exercise, else those of every exercise, else what the kind of finding means; of each,
        hints about the pattern before others.
    """
    finding = topic.partition("/")[0]
    general = {name: (text,) for name, text in GENERAL.items()}
    for hints in (exercise.hints, general):
        for name in (topic or "start", finding):
            if name in hints:
                return list(hints[name])
    return [f"{KINDS[finding].about} {KINDS[finding].fix}"] if finding in KINDS else list(exercise.hints["start"])
