"""How far an operation can be trusted: the levels of fidelity, and their one order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["LEVELS", "lowest"]

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
