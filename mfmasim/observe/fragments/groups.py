"""A pattern of the summed index: the kernel takes a lane's group of K from the wrong bits of the lane's number."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.arrays import I64

FEWEST = 8
"""Fewest wrong places for an explanation by other bits."""


def of_other_lanes(needed: I64, held: I64, positions: I64, lanes: I64, depth: int, wave: int) -> str:
    """The bits of the lane's number from which a kernel takes the group of K, if they explain all wrong places.

    Lanes hold K in groups: the layout places group ``lane // 2**t % groups`` at `positions`, but the lane holds the
    element of group ``lane // 2**s % groups``.

    Args:
        needed: summed index of the element that each wrong place needs.
        held: summed index of the element that it holds.
        positions: summed index of the place within the instruction.
        lanes: lane of each place.
        depth: K of the instruction.
        wave: lanes of a wave.

    Returns:
        A clause, or an empty string.
    """
    inside = held - (needed - positions)
    if len(needed) < FEWEST or inside.min() < 0 or inside.max() >= depth:
        return ""
    size = depth // 2
    while size:
        groups = depth // size
        if (inside % size == positions % size).all():
            shifts = range((wave // groups).bit_length())
            own = [s for s in shifts if ((lanes >> s) % groups == positions // size).all()]
            other = [s for s in shifts if ((lanes >> s) % groups == inside // size).all()]
            if own and other:
                return (
                    f"all in the summed index alone: the group of {size} in K depends on "
                    f"{_bits(other[0], groups, wave)}, and by the layout on {_bits(own[0], groups, wave)}"
                )
        size //= 2
    return ""


def _bits(shift: int, groups: int, wave: int) -> str:
    """Names of the bits of a lane's number that count groups, from bit `shift` on."""
    quotient = f"lane // {1 << shift}" if shift else "lane"
    return quotient if groups << shift >= wave else f"{quotient} % {groups}"
