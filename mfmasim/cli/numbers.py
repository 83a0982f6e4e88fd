"""Numbers as values of options: read and judged in one place, so that every verb refuses alike."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def whole(least: int = 1, most: int | None = None) -> Callable[[str], int]:
    """An option's `type`: a whole number, from `least` up to `most` where there is a greatest one.

    >>> whole(1, 256)("8")
    8
    """
    allowed = f"of {least} or more" if most is None else f"from {least} to {most:,}"

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least or (most is not None and value > most):
            raise ArgumentTypeError(f"{text}: a whole number {allowed} is expected")
        return value

    return read


def positive(most: float = math.inf) -> Callable[[str], float]:
    """An option's `type`: a number above 0, up to `most`."""
    allowed = "above 0" + ("" if most == math.inf else f" and up to {most:,}")

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 < value <= most:
            raise ArgumentTypeError(f"{text}: a number {allowed} is expected")
        return value

    return read
