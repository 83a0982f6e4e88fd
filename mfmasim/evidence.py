"""What GPUs were seen to compute: public captures, by operation and architecture.

`evidence.csv` counts the values of `golden/hardware`; ``python -m tests.silicon.evidence`` writes it, and the tests in
``tests/silicon`` execute every one. An operation is `hardware` on an architecture where all captured values are equal
and are many (`ENOUGH`), or were chosen to tell rules of rounding from each other (`DECISIVE`).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ENOUGH = 4096
"""Equal values that make an operation `hardware`."""
DECISIVE = ("rocjitsu tests/fixtures/float_dot", "rocjitsu packed_wmma_cases.h")
"""Captures whose few values decide."""
EXACT = ("bjacob/goc tests/rdna4_swmmac8_hardware.h", "bjacob/goc tests/rdna4_swmmac16_hardware.h")
"""Captures of sums that are exact: they show layouts and signs, no rule of rounding, and raise no level."""


@dataclass(frozen=True)
class Evidence:
    """One capture of one operation on one architecture."""

    operation: str
    arch: str
    capture: str
    """Project and file."""
    values: int
    """Results that are public, those that a digest covers included."""
    equal: int
    """Those that the machine gives."""


@cache
def evidence() -> tuple[Evidence, ...]:
    """All rows, in the order of operations."""
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Evidence(row["operation"], row["arch"], row["capture"], int(row["values"]), int(row["equal"]))
            for row in csv.DictReader(file)
        )


@cache
def _by_operation() -> dict[tuple[str, str], tuple[Evidence, ...]]:
    found: dict[tuple[str, str], tuple[Evidence, ...]] = {}
    for row in evidence():
        found[row.operation, row.arch] = (*found.get((row.operation, row.arch), ()), row)
    return found


def evidence_of(operation: str, arch: str) -> tuple[Evidence, ...]:
    """The captures of an operation on an architecture.

    Args:
        operation: mnemonic without encoding suffix.
        arch: its name.
    """
    return _by_operation().get((operation, arch), ())


def captured(operation: str, arch: str) -> bool:
    """Whether captures make an operation `hardware` on an architecture.

    >>> captured("v_div_fixup_f16", "gfx1201"), captured("v_div_fixup_f16", "gfx950")
    (True, False)
    """
    rows = evidence_of(operation, arch)
    equal = sum(row.equal for row in rows if row.capture not in EXACT)
    agree = all(row.values == row.equal for row in rows)
    return agree and (equal >= ENOUGH or any(row.capture in DECISIVE for row in rows))
