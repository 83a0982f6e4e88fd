"""A choice between two dwords, lane by lane, without a branch in the loop.

``np.where`` branches at every element, which costs up to eight times as much when the lanes follow no pattern.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["select"]

FEW = 512
"""Lanes up to which one call of ``np.where`` is quicker than five of arithmetic."""


def select(mask: NDArray[np.bool_], yes: NDArray[Any], no: NDArray[Any]) -> NDArray[np.uint32]:
    """Choose dwords.

    Args:
        mask: booleans.
        yes: 32-bit values where the mask is true; broadcasts.
        no: 32-bit values where it is false; broadcasts.

    Returns:
        The bits, uint32.

    >>> select(np.array([True, False]), np.float32([1, 2]), np.uint32([7, 8])).tolist()
    [1065353216, 8]
    """
    first, second = yes.view(np.uint32), no.view(np.uint32)
    if mask.size <= FEW:
        return np.where(mask, first, second)
    ones: NDArray[np.uint32] = np.negative(mask.view(np.int8)).astype(np.int32).view(np.uint32)
    out: NDArray[np.uint32] = ones & (first ^ second)
    out ^= second
    return out
