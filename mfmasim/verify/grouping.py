"""Findings that are alike, as reports show them: once, with how many there are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.observe import Finding

NUMBER = re.compile(r"0x[0-9a-f]+|\d[\d,]*")


def same(finding: Finding) -> tuple[object, ...]:
    """What a finding says, without the numbers and addresses that differ between variants and architectures."""
    where = finding.source, finding.other, NUMBER.sub("", finding.instruction), finding.element.partition("[")[0]
    return (finding.severity, finding.id, _words(finding), *where)


def alike(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Findings in their order, those together that differ in address, lanes and numbers alone: an unrolled loop's."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for number, finding in enumerate(findings):
        where = (finding.source or number, finding.other, finding.instruction, finding.element.partition("[")[0])
        groups.setdefault((finding.severity, finding.id, _words(finding), *where), []).append(finding)
    return list(groups.values())


def _words(finding: Finding) -> str:
    """The message without numbers; of a missing wait without its value, which depends on the place in the loop."""
    return NUMBER.sub("", finding.message.partition(" may still be writing it")[0])
