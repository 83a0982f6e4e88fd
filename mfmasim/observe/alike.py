"""Findings that differ in numbers alone, as reports show them: once, with their number."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.observe.finding import Finding

FOLDED = ("races", "waits")
"""Checks whose errors and warnings about the instructions of one line have one cause."""
NUMBER = re.compile(r"0x[0-9a-f]+|\d[\d,]*")


def same(finding: Finding) -> tuple[object, ...]:
    """A finding without the numbers and addresses that differ between variants and architectures.

    Findings about outputs keep their numbers: a reader needs the values of each case.
    """
    if finding.check == "outputs":
        return finding.id, finding.message, finding.element, finding.expected, finding.actual
    where = finding.source, finding.other, NUMBER.sub("", finding.instruction), finding.element.partition("[")[0]
    return (finding.severity, finding.id, _words(finding), *where)


def alike(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Findings in groups that differ in address, lanes and numbers alone, as those of an unrolled loop do."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for number, finding in enumerate(findings):
        where = (finding.source or number, finding.other, finding.instruction, finding.element.partition("[")[0])
        groups.setdefault((finding.severity, finding.id, _words(finding), *where), []).append(finding)
    return list(groups.values())


def folded(findings: Sequence[Finding]) -> list[Finding]:
    """Findings in their order; the first of a group of a `FOLDED` check stands for the whole group."""
    groups = {id(group[0]): group for group in alike([one for one in findings if _folds(one)])}
    return [_one(groups[id(one)]) if _folds(one) else one for one in findings if id(one) in groups or not _folds(one)]


def _folds(finding: Finding) -> bool:
    return finding.check in FOLDED and finding.severity != "info"


def _one(group: Sequence[Finding]) -> Finding:
    """One finding for a group."""
    if len(group) == 1:
        return group[0]
    text, line, rest = group[0].message.partition("\n")
    text += f"; and {len(group) - 1} more of the same kind at the same line"
    return replace(group[0], message=text + line + rest, count=sum(one.count for one in group))


def _words(finding: Finding) -> str:
    """The message without numbers, nor the value of a missing wait, which depends on the place in the loop."""
    return NUMBER.sub("", finding.message.partition(" may still be writing it")[0])
