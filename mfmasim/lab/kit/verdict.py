"""Verdicts about rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

STATUSES = ("settled", "undecided", "contradicted")


@dataclass(frozen=True)
class Verdict:
    """What the results say about one row."""

    status: str
    """One of `STATUSES`."""
    why: str
    parameters: dict[str, list[Any]] = field(default_factory=dict)
    """Of a contradicted row: its value and the device's, by parameter."""
    change: str = ""
    """The row to paste, or what to change."""


def missing(record: Any) -> Verdict | None:
    """The verdict where a probe has no result; None where it has one.

    Args:
        record: of the probe, or None.
    """
    if record is None:
        return Verdict("undecided", "its probe was not run")
    if record.status != "done":
        return Verdict("undecided", f"its probe failed: {record.about.get('error', 'no reason')}"[:300])
    return None
