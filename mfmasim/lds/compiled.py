"""The count of distinct units in a bank in C, where a compiler is at hand.

`mfmasim.lds.counting` defines it and counts itself what this does not take.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.toolchain.native import Hot

if TYPE_CHECKING:
    from numpy.typing import NDArray

BANKS, PLACES = 256, 1024
"""Most banks, and most units of a phase."""

TEXT = f"""
#include <stdint.h>
typedef int64_t i64; typedef int32_t i32; typedef int16_t i16; typedef uint8_t u8;
/* Units (waves, lanes, n) of the lanes of each phase, index (phases, most) with -1 behind the last one; valid,
   likewise, and active (waves, lanes) may be null. */
void distinct(i64 waves, i64 lanes, i64 n, i64 phases, i64 most, i64 banks, const i64 *units, const u8 *valid,
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
