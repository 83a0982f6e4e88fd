"""Claims of a text about a kernel, judged by executed instructions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfmasim.cost.operation import PIPES
from mfmasim.devices import Report
from mfmasim.devices.loops import Loop
from mfmasim.errors import MfmasimError, unknown
from mfmasim.verify.claims import Claim
from mfmasim.verify.orders import QUANTITIES as OF_ORDER
from mfmasim.verify.patterns import matches

INCLUDED = re.compile(r'^#include "([^/"]+)"', re.MULTILINE)
COSTS = ("bound cycles", *(f"{pipe} share" for pipe in PIPES))
"""Quantities of `mfmasim.cost`: cycles of the bound of a turn, and the part of it that each pipe fills."""
QUANTITIES = ("waves per SIMD", "LDS bytes", "LDS degree", "VGPRs", "AGPRs", "workgroups", *OF_ORDER, *COSTS)
"""Quantities of a claim other than instruction counts; of a workgroup, on four SIMDs, or of a turn of the main loop."""


@dataclass(frozen=True)
class Judged:
    """A claim with its count."""

    claim: Claim
    found: float | None
    """None when no matching instruction was executed."""

    @property
    def where(self) -> str:
        """The scope of the count."""
        return self.claim.where or ("" if self.claim.what in QUANTITIES else "main loop")

    @property
    def confirmed(self) -> bool:
        """Whether the count agrees with the claim."""
        if self.found is None:
            return False
        difference = self.found - self.claim.count
        equal, relation = abs(difference) < 1e-9, self.claim.relation
        if equal:
            return "=" in relation
        return (relation[0] == "<" and difference < 0) or (relation[0] == ">" and difference > 0)

    @property
    def as_known(self) -> bool:
        """Whether the verdict is the known one."""
        return self.confirmed == self.claim.holds

    @property
    def verdict(self) -> str:
        """In words."""
        word = "confirmed" if self.confirmed else "refuted"
        return word if self.as_known else f"{word}, which is not what is known"

    def record(self) -> dict[str, Any]:
        """As a dictionary for JSON."""
        return {
            "text": self.claim.text,
            "what": self.claim.what,
            "where": self.where,
            "claimed": self.claim.count,
            "relation": self.claim.relation,
            "found": self.found,
            "verdict": self.verdict,
        }


def judge(
    claim: Claim, report: Report, loop: Loop | None, quantities: Mapping[str, float | None], source: Path
) -> Judged:
    """Judge a claim by a launch.

    Args:
        claim: the claim.
        report: the launch.
        loop: its main loop.
        quantities: values of `QUANTITIES`.
        source: the kernel's source file.

    Raises:
        MfmasimError: no line of the source has the claim's text.
    """
    if claim.what in QUANTITIES:
        return Judged(claim, quantities.get(claim.what))
    if " " in claim.what:
        raise unknown("quantity", claim.what, QUANTITIES, f"of claim {claim.text!r}")
    if claim.where:
        return Judged(claim, _of_lines(claim, report, source))
    if loop is None:
        return Judged(claim, None)
    return Judged(claim, sum(count for name, count in loop.counts.items() if matches(claim.what, name)))


def _of_lines(claim: Claim, report: Report, source: Path) -> float | None:
    """Instructions of the claim's lines, each time that a wave executes one of them."""
    files = [source]
    lines: set[str] = set()
    for path in files:  # grows by the headers beside it
        code = path.read_text(errors="replace") if path.is_file() else ""
        files += [new for name in INCLUDED.findall(code) if (new := source.parent / name) not in files]
        numbered = enumerate(code.splitlines(), 1)
        lines = {f"{path.name}:{number}" for number, text in numbered if claim.where in text}
        if lines:
            break
    if not lines:
        raise MfmasimError(f"claim {claim.text!r}: no line of {source.name} contains {claim.where!r}")
    kernel = report.program
    if kernel is None:
        return None
    times: dict[str, int] = {}
    found = 0
    for pc, runs in report.executed.items():
        line = kernel.source_at(pc)
        if line in lines and runs:
            times[line] = max(times.get(line, 0), runs)
            found += runs * matches(claim.what, kernel.code.instruction_at(pc, kernel.wave).name)
    return found / sum(times.values()) if times else None
