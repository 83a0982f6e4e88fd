"""Lines of slots: the row, column or K that a whole line of slots shares. Empty slots are -1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.arrays import I64


def agreed(values: I64) -> I64 | None:
    """The value of each row of (n, m) if all m values agree (except -1, no element), else None."""
    highest = values.max(axis=1)
    agree = (values == highest[:, None]) | (values < 0)
    return highest if agree.all() else None


def likeliest(values: I64) -> I64:
    """The commonest value of each row of (n, m)."""
    return np.array([mode(line) for line in values])


def mode(values: I64) -> int:
    """The commonest value other than -1, if there is any."""
    found = values[values >= 0] if (values >= 0).any() else values
    numbers, counts = np.unique(found, return_counts=True)
    return int(numbers[np.argmax(counts)])


def expected_line(held: I64, stored: I64 | None) -> I64:
    """Row (or column) of the product that each line of slots belongs to.

    `held` (lines, k): lines of the operand's elements; `stored` (lines, n): lines to which the results
    are stored. The two agree in a correct kernel; otherwise the one that counts up from a base is used.
    """
    one_here = agreed(held)
    own = likeliest(held) if one_here is None else one_here
    if stored is None:
        return own if one_here is not None else counted(own)
    one_there = agreed(stored)
    theirs = likeliest(stored) if one_there is None else one_there
    if one_here is not None and not counts_up(theirs) and counts_up(own):
        return own
    if one_there is None and (one_here is not None or counts_up(own)):
        return own
    return theirs


def counts_up(values: I64) -> bool:
    """Whether the values are consecutive."""
    steps = values - np.arange(len(values))
    return bool((steps == steps[0]).all())


def counted(values: I64) -> I64:
    """The consecutive numbers that agree with most of the values."""
    steps = values - np.arange(len(values))
    return np.arange(len(values)) + mode(steps)


def canonical_k(ka: I64, kb: I64) -> I64:
    """Consecutive K by slot: from the lowest K if the slots hold a whole run, else from the likeliest base."""
    size = ka.shape[0]
    held = np.unique(np.concatenate([ka[ka >= 0], kb[kb >= 0]]))
    if len(held) == size and held[-1] - held[0] == size - 1:
        return np.arange(held[0], held[0] + size)
    slot = np.arange(size)[:, None]
    steps = np.concatenate([(ka - slot)[ka >= 0], (kb - slot)[kb >= 0]])
    base = mode(steps) if len(steps) else 0
    return np.arange(size) + base


def ranges(values: NDArray[Any]) -> str:
    """Numbers as ranges: 3, 16..31."""
    parts: list[str] = []
    start = last = int(values[0])
    for value in [*(int(v) for v in values[1:]), None]:
        if value is not None and value == last + 1:
            last = value
            continue
        parts.append(str(start) if start == last else f"{start}..{last}")
        if value is not None:
            start = last = value
    return ", ".join(parts[:4]) + (", ..." if len(parts) > 4 else "")
