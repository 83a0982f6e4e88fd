"""How far an operation can be trusted: the levels of fidelity, and their one order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

LEVELS = ("hardware", "specified", "reference", "assumed")
"""Best first: equal to published captures; defined fully by the manual; equal to a published model that was validated
on hardware; a guess. What a manual defines fully rests on more than a model does, so that a launch with a `reference`
matrix instruction among `specified` moves is `reference`."""


def lowest(levels: Iterable[str], default: str = "specified") -> str:
    """The level that can be trusted least.

    Args:
        levels: levels, each one of `LEVELS`.
        default: the result where there is no level.

    Returns:
        One of `LEVELS`, or the default.
    """
    return max(levels, key=LEVELS.index, default=default)


@dataclass(frozen=True)
class Trust:
    """The lowest level among verdicts, and the operations that set it."""

    level: str = ""
    """One of `LEVELS`; empty when nothing was executed."""
    operations: tuple[str, ...] = ()

    @classmethod
    def of(cls, parts: Iterable[tuple[str, Iterable[str]]]) -> Trust:
        """Put together levels, each with its operations."""
        known = [(level, tuple(operations)) for level, operations in parts if level]
        level = lowest((level for level, _ in known), default="")
        return cls(level, tuple(sorted({name for one, names in known if one == level for name in names})))

    def __str__(self) -> str:
        """``assumed (v_mfma_f32_16x16x32_f16)``: the level, and the first operations that set it."""
        if not self.operations:
            return self.level or "nothing was executed"
        return f"{self.level} ({', '.join(self.operations[:4])}{', ...' if len(self.operations) > 4 else ''})"

    def record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"level": self.level, "operations": list(self.operations)}
