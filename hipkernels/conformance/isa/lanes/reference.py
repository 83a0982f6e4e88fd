"""What the kernels of lanes.hip compute: one function per kernel; `w` says which work-items form a wave."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.conformance.isa.lanes.waves import Waves


def _rows(lane: NDArray[Any], shift: int) -> NDArray[Any]:
    """Lane `shift` further within the row of 16; -1 where that is another row."""
    source = lane + shift
    return np.where(source // 16 == lane // 16, source, -1)


def dpp_rows(x: NDArray[Any], w: Waves) -> NDArray[Any]:
    lane = np.arange(w.wave)
    old = w.split(~np.arange(x.size, dtype=x.dtype))
    v = w.split(x)
    row, bank = lane // 16, lane // 4 % 4
    rotated = lane // 16 * 16
    some = np.isin(row, (1, 3)) & np.isin(bank, (0, 2))
    out = [
        w.fetch(v, lane ^ 3, fill=old),
        w.fetch(v, _rows(lane, 1)),
        w.fetch(v, _rows(lane, -3), fill=old),
        w.fetch(v, rotated + (lane - 5) % 16, fill=old),
        w.fetch(v, lane ^ 15, fill=old),
        w.fetch(v, lane ^ 7, fill=old),
        np.where(some, w.fetch(v, _rows(lane, 1), fill=old), old),
        v + w.fetch(v, rotated + (lane - 4) % 16),
    ]
    return np.stack([w.join(o) for o in out])


def dpp_divergent(x: NDArray[Any], w: Waves) -> NDArray[Any]:
    lane, v = np.arange(w.wave), w.split(x)
    y = v.copy()
    on = w.active & (v & 1 != 0)
    y = np.where(on, w.fetch(v, lane ^ 7, on, fill=-7), y)
    on = w.active & (v & 2 != 0)
    y = np.where(on, y + w.fetch(v, lane ^ 2, on), y)
    return w.join(y)


def dpp_row_scan(x: NDArray[Any], w: Waves) -> NDArray[Any]:
    rows = w.split(x).reshape(-1, 16)
    return w.join(np.cumsum(rows, axis=1, dtype=x.dtype).reshape(w.active.shape))


def dpp_row_broadcast(x: NDArray[Any], w: Waves) -> NDArray[Any]:
    lane, v = np.arange(w.wave), w.split(x)
    out = [w.fetch(v, lane // 16 * 16 + k, fill=-1) for k in (0, 7, 15)]
    out[2] = v - out[2]
    return np.stack([w.join(o) for o in out])


def dpp_wave(x: NDArray[Any], w: Waves) -> NDArray[Any]:
    lane, v = np.arange(w.wave), w.split(x)
    old = w.split(~np.arange(x.size, dtype=x.dtype))
    row = lane // 16
    out = [
        w.fetch(v, lane + 1, fill=old),
        w.fetch(v, (lane + 1) % w.wave, fill=old),
        w.fetch(v, lane - 1, fill=old),
        w.fetch(v, (lane - 1) % w.wave, fill=old),
        np.where(np.isin(row, (1, 3)), w.fetch(v, lane // 16 * 16 - 1, fill=old), old),
        np.where(row >= 2, w.fetch(v, 31, fill=old), old),
    ]
    return np.stack([w.join(o) for o in out])


def dpp_rdna(x: NDArray[Any], w: Waves) -> NDArray[Any]:
    lane, v = np.arange(w.wave), w.split(x)
    pick = np.array([7, 0, 6, 1, 5, 2, 4, 3])
    out = [w.fetch(v, lane ^ 5, fill=-1), w.fetch(v, lane // 8 * 8 + pick[lane % 8])]
    return np.stack([w.join(o) for o in out])


def permlane_rows(x: NDArray[Any], low: int, high: int, w: Waves) -> NDArray[Any]:
    lane, v = np.arange(w.wave), w.split(x)
    pick = ((int(high) << 32 | int(low)) >> 4 * (lane % 16).astype(object) & 15).astype(int)
    here = lane // 16 * 16 + pick
    out = [w.fetch(v, here, fill=-1), w.fetch(v, here ^ 16)]
    return np.stack([w.join(o) for o in out])


def permlane_each(x: NDArray[Any], where: NDArray[Any], w: Waves) -> NDArray[Any]:
    lane, v = np.arange(w.wave), w.split(x)
    here = lane // 16 * 16 + (w.split(where) & 15)
    out = [w.fetch(v, here, fill=-1), w.fetch(v, here ^ 16)]
    return np.stack([w.join(o) for o in out])


def permlane_swaps(x: NDArray[Any]) -> NDArray[Any]:
    n = x.shape[1]
    a, b = (part.reshape(n // 64, 4, 16) for part in x)
    rows = np.stack([a, b])
    rows[0][:, [1, 3]], rows[1][:, [0, 2]] = b[:, [0, 2]], a[:, [1, 3]]
    halves = np.stack([a, b])
    halves[0][:, 2:], halves[1][:, :2] = b[:, :2], a[:, 2:]
    return np.concatenate([rows, halves]).reshape(4, n)


def lane_permutes(x: NDArray[Any], where: NDArray[Any], w: Waves, reach: int = 64) -> NDArray[Any]:
    """Each part of `reach` lanes exchanges among its own."""
    lane, v, address = np.arange(w.wave), w.split(x), w.split(where)
    reach = min(reach, w.wave)
    part = lane // reach * reach
    sent = np.zeros_like(v)
    to = part + (lane + 5) % reach
    sent[:, to] = np.where(w.active, v, 0)
    on = w.active & (v > 0)
    out = [w.fetch(v, part + (address.view(np.uint32) >> 2) % reach), sent, np.where(on, w.fetch(v, lane ^ 1, on), -1)]
    return np.stack([w.join(o) for o in out])


def lane_swizzles(x: NDArray[Any], w: Waves) -> NDArray[Any]:
    lane, v = np.arange(w.wave), w.split(x)
    half, low = lane // 32 * 32, lane % 32
    out = [
        w.fetch(v, lane // 4 * 4 + np.array([2, 2, 0, 1])[lane % 4]),
        w.fetch(v, half + (low ^ 16)),
        w.fetch(v, half + (low & 0x18 | 3)),
        w.fetch(v, half + ((low & 0x1E | 1) ^ 6)),
    ]
    return np.stack([w.join(o) for o in out])


def lane_access(x: NDArray[Any], chosen: int, w: Waves) -> NDArray[Any]:
    lane, v = np.arange(w.wave), w.split(x)
    one = v[:, [chosen]]
    y = np.where(lane == 5, one, ~v)
    y = np.where(lane == chosen + 1, -16, y)
    negative = w.active & (v < 0)
    first = np.take_along_axis(v, negative.argmax(1)[:, None], 1)
    out = [one ^ 0x55, y, np.where(negative, first, 0)]
    return np.stack([w.join(o) for o in out])


def _mask(bits: NDArray[Any]) -> NDArray[Any]:
    """(waves, lanes) of bools -> (waves, 1) of uint64 with one bit per lane."""
    weights = np.uint64(1) << np.arange(bits.shape[1], dtype=np.uint64)
    return np.where(bits, weights, np.uint64(0)).sum(1, dtype=np.uint64)[:, None]


def ballots(x: NDArray[Any], w: Waves) -> tuple[NDArray[Any], NDArray[Any]]:
    v, on = w.split(x), w.active
    odd = on & (v & 1 != 0)
    every = (v != 0)[:, :] | ~on
    some = on & (v == -(2**31))
    inside = on & (v > 0)
    inner = _mask(inside & (v & 2 != 0)) | _mask(inside) << np.uint64(1)
    few = (~inside | odd).all(1) * 1 | (inside & (v & 4 != 0)).any(1) * 2
    before = np.cumsum(odd, axis=1) - odd
    votes = (every.all(1) * 1 | some.any(1) * 2)[:, None] | np.where(inside, few[:, None], 0) << 2 | before << 8
    masks = np.stack([w.join(_mask(odd)), w.join(np.where(inside, inner, np.uint64(0)))])
    return masks, w.join(votes).astype(np.int32)


def compact(x: NDArray[Any], out: NDArray[Any], w: Waves) -> tuple[NDArray[Any], NDArray[Any]]:
    out = out.copy()
    counts = np.zeros(x.size, np.uint32)
    for k in range(len(w.active)):
        mine = np.flatnonzero(w.row == k)
        kept = x[mine][x[mine] >= 0]
        out[mine[0] : mine[0] + kept.size] = kept
        counts[mine] = kept.size
    return out, counts


def shuffles(x: NDArray[Any], d: NDArray[Any], w: Waves) -> tuple[NDArray[Any], NDArray[Any]]:
    item, lane, v = w.split(np.arange(x.size)), np.arange(w.wave), w.split(x)
    out = [
        w.fetch(v, lane // 16 * 16 + (3 * item + 1) % 16),
        w.fetch(v, np.where(lane % 8 < 3, lane, lane - 3)),
        w.fetch(v, np.where(lane + 2 >= w.wave, lane, lane + 2)),
        w.fetch(v, lane ^ 5),
    ]
    # A missing lane gives zero bits.
    bits = w.split(d.view(np.uint64))
    out64 = [w.fetch(bits, 7), w.fetch(bits, lane ^ 16)]
    return np.stack([w.join(o) for o in out]), np.stack([w.join(o) for o in out64]).view(np.float64)


def wave_sum(x: NDArray[Any], wave: int) -> NDArray[Any]:
    v, step = x.reshape(-1, wave).copy(), wave // 2
    with np.errstate(all="ignore"):
        while step:
            v = v + v[:, np.arange(wave) ^ step]
            step //= 2
    return v.reshape(-1)


def vote_loop(x: NDArray[Any], w: Waves) -> NDArray[Any]:
    rounds = np.zeros(w.active.shape[0], np.uint32)
    for k, (values, on) in enumerate(zip(w.split(x % 1000 + 1), w.active, strict=True)):
        left = values[on]
        while (left != 1).any():
            if (left % 2 == 0).all():
                left = left // 2
            else:
                left = np.where(left == 1, 1, np.where(left % 2 == 1, left + 1, left // 2))
            rounds[k] += 1
    return w.join(rounds[:, None])
