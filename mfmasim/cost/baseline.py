"""Two runs of `mfmasim cost`: what takes fewer cycles than before, and what more, by pipe, by reason and by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mfmasim.errors import MfmasimError
from mfmasim.files import read_file

MOST_BYTES = 1 << 28
KEYS = ("kernel", "case", "arch")
"""Fields that name a run."""


@dataclass(frozen=True)
class Difference:
    """One quantity of both runs, in clocks; fewer is better."""

    what: str
    before: float
    now: float

    @property
    def change(self) -> float:
        """Part by which it grew."""
        return (self.now - self.before) / self.before if self.before else float(self.now > 0)

    @property
    def verdict(self) -> str:
        """``better``, ``worse`` or ``equal``."""
        return "equal" if self.now == self.before else "better" if self.now < self.before else "worse"

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        return {
            "what": self.what,
            "before": self.before,
            "now": self.now,
            "change": self.change,
            "verdict": self.verdict,
        }


def read_baseline(path: Path) -> list[dict[str, Any]]:
    """The results that ``mfmasim cost --json`` wrote.

    Raises:
        MfmasimError: it is not such a file.
    """
    try:
        found = json.loads(read_file(path, MOST_BYTES))
        if isinstance(found, list) and found and all({*KEYS, "pipes", "timeline"} <= one.keys() for one in found):
            return found
    except (ValueError, AttributeError, RecursionError):
        pass
    raise MfmasimError(f"{path}: not what `mfmasim cost --json` writes")


def against_baseline(now: Mapping[str, Any], baseline: list[dict[str, Any]], name: str) -> list[Difference]:
    """Compare a run with the one of the same kernel, case and architecture, or with the only one.

    Args:
        now: `Costed.record`.
        baseline: `read_baseline`.
        name: of the file, for messages.

    Raises:
        MfmasimError: the file has no such run.
    """
    same = [one for one in baseline if all(one[key] == now[key] for key in KEYS)] or (
        baseline if len(baseline) == 1 and baseline[0]["arch"] == now["arch"] else []
    )
    if not same:
        known = "; ".join(", ".join(str(one[key]) for key in KEYS if one[key]) for one in baseline)
        raise MfmasimError(f"{name}: no run of {now['kernel']} {now['case']} on {now['arch']}; it has {known}")
    before, after = (dict(_quantities(one)) for one in (same[0], now))
    found = [Difference(what, before.get(what, 0.0), after.get(what, 0.0)) for what in {**after, **before}]
    return [one for one in found if one.before or one.now]


def _quantities(one: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Names and clocks of what is compared."""
    for pipe in one["pipes"]:
        yield f"bound of {pipe['pipe']}", pipe["cycles"]
    for end in ("low", "value", "high"):
        yield f"clocks per iteration ({end})", one["timeline"][end]["turn"]
    line = one["timeline"]["value"]
    yield "clocks of the recorded workgroups", line["clocks"]
    for reason, clocks in line["standing"].items():
        yield f"waves stalled: {reason}", clocks
    for source, clocks in line.get("causes", {}).items():
        yield f"caused by {source}", clocks
