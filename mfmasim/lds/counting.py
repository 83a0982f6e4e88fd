"""How many dwords of one bank a phase accesses: the fast count, in arrays over many wave accesses.

Tests compare it with the simple count in tests/slow/lds_conflicts.py.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.lds import compiled

# Wave accesses that are sorted at a time: large enough to hide NumPy's calls, small enough to stay in the cache.
_BATCH = 2048


def touched(addresses: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None, int]:
    """Units of memory that each lane's access touches.

    Args:
        addresses: byte addresses, (..., lanes).
        size: bytes of the access.

    Returns:
        Numbers of the units (..., lanes, n), which of them are touched (None: all), and the unit's bytes. An aligned
        access of 4, 8, 12 or 16 bytes is one unit of that size (16 for 12), since two of them share all or none of
        their banks; any other is counted by dwords.
    """
    unit = 16 if size == 12 else size
    if size >= 4 and not (addresses & (unit - 1)).any():
        return (addresses >> (unit.bit_length() - 1))[..., None], None, unit
    first = addresses >> 2
    count = ((addresses + size - 1) >> 2) - first + 1
    most = int(count.max(initial=1))
    steps = np.arange(most)
    units = first[..., None] + steps
    return units, None if bool((count == most).all()) else steps < count[..., None], 4


@lru_cache(maxsize=256)
def index_of(sets: tuple[tuple[int, ...], ...]) -> tuple[NDArray[np.intp], NDArray[np.bool_] | None]:
    """Lanes of the phases as an array (phases, lanes of the largest), and which places are real (None: all)."""
    most = max(map(len, sets))
    index = np.array([(*part, *[part[0]] * (most - len(part))) for part in sets], np.intp)
    sizes = np.array([len(part) for part in sets])
    real = np.arange(most) < sizes[:, None]
    return index, None if real.all() else real


def count_degrees(
    sets: tuple[tuple[int, ...], ...],
    banks: int,
    addresses: NDArray[np.int64],
    size: int,
    active: NDArray[np.bool_] | None = None,
    *,
    greedy: bool = False,
) -> NDArray[np.int16]:
    """Count the passes that each phase needs.

    Args:
        sets: lanes of each phase.
        banks: banks of 4 bytes.
        addresses: byte addresses, (waves, lanes).
        size: bytes that a lane accesses.
        active: lanes that take part, (waves, lanes); None is all.
        greedy: take lanes in order into a pass while they fit, instead of the largest number of distinct dwords in one
            bank. For aligned accesses of 4, 8, 12 or 16 bytes both are the same.

    Returns:
        Degrees, int16 (waves, phases); 0 where no lane of the phase is active.
    """
    index, real = index_of(sets)
    out = np.zeros((len(addresses), len(sets)), np.int16)
    for start in range(0, len(addresses), _BATCH):
        part = slice(start, start + _BATCH)
        units, valid, width = touched(addresses[part], size)
        in_line = max(1, banks * 4 // width)
        if not (greedy and units.shape[-1] > 1):
            counted = compiled.distinct(units, valid, None if active is None else active[part], index, real, in_line)
            if counted is not None:
                out[part] = counted
                continue
        here = None if valid is None else valid[:, index]
        masks: tuple[NDArray[np.bool_] | None, ...] = (
            None if active is None else active[part][:, index, None],
            None if real is None else real[..., None],
        )
        for mask in masks:
            if mask is not None:
                shape = (len(units), *index.shape, units.shape[-1])
                here = np.broadcast_to(mask, shape) if here is None else here & mask
        count = _greedy if greedy and units.shape[-1] > 1 else _distinct
        out[part] = count(units, index, here, in_line)
    return out


def _distinct(
    units: NDArray[np.int64], index: NDArray[np.intp], here: NDArray[np.bool_] | None, banks: int
) -> NDArray[np.intp]:
    """Largest number of distinct units in one bank, (waves, phases), of units (waves, lanes, n)."""
    # One number per unit, ordered by bank, so that sorting brings equal units and units of one bank together.
    shift = (int(units.max(initial=0)) // banks + 1).bit_length()
    dtype: np.dtype[Any] = np.dtype(np.uint16 if banks << shift < 1 << 16 else np.uint32)
    nowhere = dtype.type(np.iinfo(dtype).max)
    numbers = (((units & (banks - 1)) << shift) | (units >> (banks.bit_length() - 1))).astype(dtype)
    keys = numbers[:, index]
    if here is not None:
        keys = np.where(here, keys, nowhere)
    keys = keys.reshape(*keys.shape[:2], -1)
    keys.sort(axis=-1)
    new = np.empty(keys.shape, bool)
    new[..., :1] = True
    np.not_equal(keys[..., 1:], keys[..., :-1], out=new[..., 1:])
    if here is not None:
        new &= keys != nowhere
    waves, phases, _ = keys.shape
    bins = np.arange(waves * phases, dtype=np.int64).reshape(waves, phases, 1) * banks
    counts = np.bincount((bins + (keys >> dtype.type(shift)))[new], minlength=waves * phases * banks)
    most: NDArray[np.intp] = counts.reshape(waves, phases, banks).max(axis=-1)
    return most


def _greedy(
    units: NDArray[np.int64], index: NDArray[np.intp], here: NDArray[np.bool_] | None, banks: int
) -> NDArray[np.int64]:
    """Passes when lanes are taken in order while they fit, (waves, phases), of units (waves, lanes, n)."""
    placed = units[:, index]
    waves, phases, lanes, each = placed.shape
    flat: NDArray[np.int64] = placed.reshape(waves * phases, lanes, each)
    touches = np.ones(flat.shape, bool) if here is None else here.reshape(flat.shape)
    waiting: NDArray[np.bool_] = np.asarray(touches.any(axis=-1))
    passes = np.zeros(len(flat), np.int64)
    everyone = np.arange(len(flat))[:, None]
    while waiting.any():
        passes += waiting.any(axis=-1)
        open_row = np.full((len(flat), banks), -1, np.int64)
        for lane in range(lanes):
            own, real = flat[:, lane], touches[:, lane]
            bank = own % banks
            held = open_row[everyone, bank]
            fits = waiting[:, lane] & (~real | (held == -1) | (held == own)).all(axis=-1)
            take = real & fits[:, None]
            open_row[np.broadcast_to(everyone, bank.shape)[take], bank[take]] = own[take]
            waiting[:, lane] &= ~fits
    return passes.reshape(waves, phases)


def count_same(addresses: NDArray[np.int64], active: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """Lanes per wave access whose address a lower lane has too, (waves,) of (waves, lanes)."""
    found = addresses.astype(np.int32)
    if active is not None:
        found[~active] = -1
    found.sort(axis=-1)
    same: NDArray[np.int64] = ((found[:, 1:] == found[:, :-1]) & (found[:, 1:] >= 0)).sum(axis=-1)
    return same
