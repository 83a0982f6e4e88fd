"""Read-modify-write of many lanes in one order: wave after wave, lane after lane.

Lanes at different places act together; those that share a place act one after the other, each on the previous one's
result. The hardware guarantees no order; this one is the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def in_order(
    place: NDArray[np.int64],
    memory: Callable[[NDArray[np.int64]], NDArray[Any]],
    combine: Callable[..., NDArray[Any]],
    data: list[NDArray[Any]],
    ufunc: np.ufunc | None = None,
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[Any]]:
    """Apply one operation of every lane.

    Args:
        place: a number for each lane that acts, in order, (lanes,); equal numbers are the same place.
        memory: returns the values at places.
        combine: new value from the old one and the lane's data.
        data: sources of each lane, each (lanes,).
        ufunc: the operation as a NumPy function of (old, data[0]) that is combined in order by ``accumulate``.

    Returns:
        Old value for each lane, (lanes,); the written places, each once; their last values.
    """
    order = np.argsort(place, kind="stable")
    sorted_place = place[order]
    starts = np.flatnonzero(np.concatenate([[True], sorted_place[1:] != sorted_place[:-1]]))
    counts = np.diff(np.concatenate([starts, [len(order)]]))
    places = sorted_place[starts]
    values = memory(places)
    if counts.max() == 1:
        new = combine(values, *[source[order] for source in data])
        old = np.empty_like(values)
        old[order] = values
        return old, places, new
    old = np.empty(len(order), values.dtype)
    values = values.copy()
    if ufunc is not None and len(starts) < counts.max():
        for k, (start, count) in enumerate(zip(starts, counts, strict=True)):
            chosen = order[start : start + count]
            chain = ufunc.accumulate(np.concatenate([values[k : k + 1], data[0][chosen]]))
            old[chosen], values[k] = chain[:-1], chain[-1]
        return old, places, values
    for turn in range(int(counts.max())):
        left = np.flatnonzero(counts > turn)
        chosen = order[starts[left] + turn]
        old[chosen] = values[left]
        values[left] = combine(values[left], *[source[chosen] for source in data])
    return old, places, values
