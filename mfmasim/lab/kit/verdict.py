"""Verdicts about rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

STATUSES = ("settled", "undecided", "contradicted")


@dataclass(frozen=True)
class Verdict:
    """The verdict of the results on one row."""

    status: str
    """One of `STATUSES`."""
    why: str
    parameters: dict[str, list[Any]] = field(default_factory=dict)
    """For a contradicted row: its value and the device's value, by parameter."""
    change: str = ""
    """The row to paste, or what to change."""


def missing(record: Any) -> Verdict | None:
    """The verdict for a probe without a result; None if it has one.

    Args:
        record: of the probe, or None.
    """
    if record is None:
        return Verdict("undecided", "its probe was not run")
    if record.status != "done":
        return Verdict("undecided", f"its probe failed: {record.about.get('error', 'no reason')}"[:300])
    return None
