"""The count of distinct units in a bank in C, where a compiler is at hand.

`mfmasim.lds.counting` defines it and counts itself what this does not take.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mfmasim.toolchain.native import Hot

if TYPE_CHECKING:
    from numpy.typing import NDArray

BANKS, PLACES = 256, 1024
"""Most banks, and most units of a phase."""
LANES, SPAN = 64, 5
"""Most lanes of a wave, and most dwords that an access of a lane touches."""

TEXT = f"""
#include <stdint.h>
#include <string.h>
typedef int64_t i64; typedef int32_t i32; typedef int16_t i16; typedef uint8_t u8;
/* Units (waves, lanes, n) of the lanes of each phase, index (phases, most) with -1 behind the last one; valid,
   likewise, and active (waves, lanes) may be null. */
static void degrees_of(i64 waves, i64 lanes, i64 n, i64 phases, i64 most, i64 banks, const i64 *units, const u8 *valid,
                       const u8 *active, const i64 *index, i16 *out) {{
  i64 unit[{PLACES}];
  i32 next[{PLACES}], first[{BANKS}];
  i32 count[{BANKS}];
  for (i64 w = 0; w < waves; w++) for (i64 p = 0; p < phases; p++) {{
    i32 used = 0, worst = 0;
    for (i64 b = 0; b < banks; b++) {{ first[b] = -1; count[b] = 0; }}
    for (i64 m = 0; m < most; m++) {{
      const i64 lane = index[p * most + m];
      if (lane < 0 || (active && !active[w * lanes + lane])) continue;
      for (i64 k = 0; k < n; k++) {{
        const i64 at = (w * lanes + lane) * n + k, u = units[at];
        if (valid && !valid[at]) continue;
        const i64 bank = u & (banks - 1);
        i32 found = first[bank];
        while (found >= 0 && unit[found] != u) found = next[found];
        if (found >= 0) continue;
        unit[used] = u; next[used] = first[bank]; first[bank] = used++;
        if (++count[bank] > worst) worst = count[bank];
      }}
    }}
    out[w * phases + p] = (i16)worst;
  }}
}}
void distinct(i64 waves, i64 lanes, i64 n, i64 phases, i64 most, i64 banks, const i64 *units, const u8 *valid,
              const u8 *active, const i64 *index, i16 *out) {{
  degrees_of(waves, lanes, n, phases, most, banks, units, valid, active, index, out);
}}

enum {{ ROWS, LANES, PHASES, MOST, BANKS, SIZE, PART, WEIGHT, COLUMNS, LIMITED, WORST, LAST_PART, LOWEST, HIGHEST }};
/* Accesses (rows, lanes): quiet becomes the addresses less base, the lowest dword of each row; degrees (rows, phases)
   are counted into a histogram; near becomes which rows are no worse than a limit, of rows that follow one another and
   are equal and at one place the first. */
void account(i64 *p, const i64 *addresses, const u8 *active, const i64 *index, i64 *histogram, const i64 *limit,
             i64 *quiet, i64 *base, i16 *degrees, u8 *near) {{
  const i64 lanes = p[LANES], size = p[SIZE], phases = p[PHASES], unit = size == 12 ? 16 : size;
  i64 units[{LANES} * {SPAN}];
  u8 valid[{LANES} * {SPAN}];
  int shift = 0;
  while (1 << shift < unit) shift++;
  for (i64 r = 0; r < p[ROWS]; r++) {{
    const i64 *const address = addresses + r * lanes;
    const u8 *const on = active ? active + r * lanes : 0;
    i64 *const own = quiet + r * lanes;
    i64 low = (i64)1 << 62, high = -((i64)1 << 62), bits = 0;
    for (i64 l = 0; l < lanes; l++) if (!on || on[l]) {{
      low = address[l] < low ? address[l] : low;
      high = address[l] > high ? address[l] : high;
    }}
    base[r] = low &= ~(i64)3;
    if (low < p[LOWEST]) p[LOWEST] = low;
    if (high + size > p[HIGHEST]) p[HIGHEST] = high + size;
    for (i64 l = 0; l < lanes; l++) {{ own[l] = !on || on[l] ? address[l] - low : 0; bits |= own[l]; }}
    i16 *const degree = degrees + r * phases;
    const int same = r && !memcmp(own, own - lanes, 8 * lanes) && (!on || !memcmp(on, on - lanes, lanes));
    if (same) memcpy(degree, degree - phases, 2 * phases);
    else if (size >= 4 && !(bits & (unit - 1))) {{
      const i64 line = p[BANKS] * 4 / unit;
      for (i64 l = 0; l < lanes; l++) units[l] = own[l] >> shift;
      degrees_of(1, lanes, 1, phases, p[MOST], line ? line : 1, units, 0, on, index, degree);
    }} else {{
      for (i64 l = 0; l < lanes; l++) for (i64 k = 0; k < {SPAN}; k++) {{
        units[l * {SPAN} + k] = (own[l] >> 2) + k;
        valid[l * {SPAN} + k] = (own[l] >> 2) + k <= (own[l] + size - 1) >> 2;
      }}
      degrees_of(1, lanes, {SPAN}, phases, p[MOST], p[BANKS], units, valid, on, index, degree);
    }}
    i64 worst = 0;
    for (i64 k = 0; k < phases; k++) {{
      worst = degree[k] > worst ? degree[k] : worst;
      histogram[(p[PART] * phases + k) * p[COLUMNS] + degree[k]] += p[WEIGHT];
    }}
    int close = !p[LIMITED] || worst > p[WORST];
    if (!close && worst == p[WORST])
      close = p[PART] < p[LAST_PART] || (p[PART] == p[LAST_PART] && memcmp(own, limit, 8 * lanes) <= 0);
    near[r] = close && !(same && base[r] == base[r - 1]);
  }}
}}
"""
LIBRARY = Hot(TEXT)
DEAR = 32
"""NumPy's time for a lane, in elements of `Hot`."""


def distinct(
    units: NDArray[np.int64],
    valid: NDArray[np.bool_] | None,
    active: NDArray[np.bool_] | None,
    index: NDArray[np.intp],
    real: NDArray[np.bool_] | None,
    banks: int,
) -> NDArray[np.int16] | None:
    """Largest number of distinct units in one bank, (waves, phases).

    Args:
        units: units of each lane, (waves, lanes, n).
        valid: which of them are touched; None is all.
        active: lanes that take part, (waves, lanes); None is all.
        index: lanes of each phase, (phases, lanes of the largest).
        real: which places of `index` are lanes; None is all.
        banks: places for units side by side, a power of two.

    Returns:
        None where it is not counted here.
    """
    waves, lanes, n = units.shape
    if banks > BANKS or banks & (banks - 1) or index.shape[1] * n > PLACES:
        return None
    library = LIBRARY.library(DEAR * units.size)
    if library is None:
        return None
    places = np.ascontiguousarray(index if real is None else np.where(real, index, -1), np.int64)
    out = np.empty((waves, len(index)), np.int16)
    arrays = [None if array is None else np.ascontiguousarray(array) for array in (units, valid, active, places, out)]
    library.distinct(
        *map(ctypes.c_int64, (waves, lanes, n, *index.shape, banks)),
        *(None if array is None else ctypes.c_void_p(array.ctypes.data) for array in arrays),
    )
    return out


class Counted(NamedTuple):
    """Accesses of some waves whose degrees are counted."""

    quiet: NDArray[np.int64]
    """Addresses less the lowest dword of their row, 0 of lanes that take no part, (rows, lanes)."""
    base: NDArray[np.int64]
    """That dword, (rows,)."""
    degrees: NDArray[np.int16]
    """(rows, phases)."""
    near: NDArray[np.intp]
    """Rows that are no worse than the limit."""
    lowest: int
    highest: int


def account(
    addresses: NDArray[np.int64],
    active: NDArray[np.bool_] | None,
    sets: tuple[NDArray[np.intp], NDArray[np.bool_] | None],
    banks: int,
    size: int,
    histogram: NDArray[np.int64],
    part: int,
    weight: int,
    limit: tuple[int, bytes] | None,
) -> Counted | None:
    """Count the degrees of accesses into a histogram.

    Args:
        addresses: byte addresses, (rows, lanes).
        active: lanes that take part, likewise; None is all.
        sets: lanes of each phase, (phases, lanes of the largest), and which places of that are lanes; None is all.
        banks: banks of 4 bytes.
        size: bytes that a lane accesses.
        histogram: becomes more, (phases of all parts, degrees).
        part: which of two accesses.
        weight: waves that a row stands for.
        limit: of the accesses that are wanted the last one: its degree as a negative number, its part and its row.

    Returns:
        None where it is not counted here.
    """
    index, real = sets
    rows, lanes = addresses.shape
    library = LIBRARY.library(DEAR * addresses.size)
    if library is None or banks > BANKS or banks & (banks - 1) or index.shape[1] * SPAN > PLACES or lanes > LANES:
        return None
    places = np.ascontiguousarray(index if real is None else np.where(real, index, -1), np.int64)
    worst, text = (0, b"") if limit is None else limit
    fields = [rows, lanes, *index.shape, banks, size, part, weight, histogram.shape[1]]
    fields += [limit is not None, -worst, text[0] if text else 0, 1 << 62, -(1 << 62)]
    numbers = np.array(fields, np.int64)
    quiet, base = np.empty(addresses.shape, np.int64), np.empty(rows, np.int64)
    degrees, near = np.empty((rows, len(index)), np.int16), np.empty(rows, np.bool_)
    given = np.ascontiguousarray(addresses), None if active is None else np.ascontiguousarray(active), places, histogram
    found = (quiet, base, degrees, near)
    library.account(
        *(None if array is None else ctypes.c_void_p(array.ctypes.data) for array in (numbers, *given)),
        text[1 : 1 + 8 * lanes],
        *(ctypes.c_void_p(array.ctypes.data) for array in found),
    )
    return Counted(quiet, base, degrees, np.flatnonzero(near), *numbers[-2:].tolist())
