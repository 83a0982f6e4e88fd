"""What the accesses of a stretch touch, and what they change in the shadow, in C where a compiler is at hand.

`mfmasim.observe.ordering.stretch`, `touched` and `shadow` define it and do it themselves without a compiler.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mfmasim.observe.ordering.touched import NO_UNIT, Last
from mfmasim.toolchain.native import Hot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.arrays import I32, I64

TEXT = """
#include <stdint.h>
typedef int64_t i64; typedef int32_t i32; typedef uint8_t u8;
enum { ACCESSES, COUNT, LANES, PER, ROWS, PITCH, BYTES, SHIFT, TOTAL, READS, WRITES, APART };

/* Accesses one after the other; at (two kinds, places) holds one more than the number of a place in the lists. */
void examine(i64 *p, const i64 **addresses, const i64 *stride, const u8 **active, const i64 *step, const i64 *size,
             const i64 *kind, const i64 *waves, i32 *at, i64 places, i64 **place, i64 **wave, i64 **mark, i64 **other,
             i64 *low, i64 *high, i64 *touched) {
  i64 used[2] = { 0, 0 };
  for (i64 a = 0; a < p[ACCESSES]; a++) {
    const i64 k = kind[a];
    i32 *const here = at + k * places;
    for (i64 r = 0; r < p[COUNT]; r++) {
      const i64 own = waves[r] % p[PER], m = r + a * p[COUNT];
      const i64 base = p[ROWS] > 1 ? waves[r] / p[PER] * p[PITCH] : 0;
      const i64 *const address = addresses[a] + r * stride[a];
      const u8 *const on = active[a] ? active[a] + r * step[a] : 0;
      i64 *const least = low + a * p[TOTAL] + waves[r], *const most = high + a * p[TOTAL] + waves[r];
      for (i64 l = 0; l < p[LANES]; l++) {
        if (on && !on[l]) continue;
        if (address[l] < 0 || address[l] > p[BYTES] - size[a]) continue;
        const i64 first = address[l] >> p[SHIFT], last = (address[l] + size[a] - 1) >> p[SHIFT];
        touched[a] = 1;
        if (first < *least) *least = first;
        if (last > *most) *most = last;
        for (i64 unit = first; unit <= last; unit++) {
          i64 slot = here[base + unit];
          if (!slot) {
            slot = here[base + unit] = ++used[k];
            place[k][slot - 1] = base + unit;
            other[k][slot - 1] = -1;
          } else if (wave[k][slot - 1] != own) other[k][slot - 1] = mark[k][slot - 1];
          wave[k][slot - 1] = own;
          mark[k][slot - 1] = m;
        }
      }
    }
  }
  i64 apart = 1;
  for (i64 i = 0; i < used[1]; i++) apart &= other[1][i] < 0;
  for (i64 i = 0; apart && used[1] && i < used[0]; i++) {
    const i64 slot = at[places + place[0][i]];
    if (slot && (wave[1][slot - 1] != wave[0][i] || other[0][i] >= 0)) apart = 0;
  }
  p[READS] = used[0]; p[WRITES] = used[1]; p[APART] = apart;
}

void put_writes(i64 n, i32 *writer, const i64 *place, const i64 *mark, i64 first) {
  for (i64 i = 0; i < n; i++) writer[place[i]] = (i32)(mark[i] + first);
}
void put_reads(i64 n, i32 *one, i32 *two, const i32 *of, const i64 *place, const i64 *wave, const i64 *mark,
               const i64 *other, i64 first) {
  for (i64 i = 0; i < n; i++) {
    const i64 at = place[i];
    const i32 old = one[at];
    if (other[i] >= 0) two[at] = (i32)(other[i] + first);
    else if (of[old] != wave[i]) two[at] = old;
    one[at] = (i32)(mark[i] + first);
  }
}
i32 latest(i64 n, i64 rows, i64 places, const i32 *last, const i32 *complete, const i64 *place) {
  i32 most = INT32_MIN;
  for (i64 r = 0; r < rows; r++) for (i64 i = 0; i < n; i++) {
    const i32 own = complete[last[r * places + place[i]]];
    most = own > most ? own : most;
  }
  return most;
}
"""
LIBRARY = Hot(TEXT)
DEAR = 32
"""NumPy's time for a lane, in elements of `Hot`."""
FEW = 4096
"""Lanes of the accesses of a stretch, or units, up to which NumPy's calls take no longer than those of C."""


def ready(size: int) -> bool:
    """Whether it is compiled, and pays for so many lanes or units."""
    return size > FEW and LIBRARY.library(0) is not None


def _at(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class Examined(NamedTuple):
    """What the accesses of a stretch touch."""

    low: I64
    """First unit, (accesses, waves of the batch)."""
    high: I64
    touched: NDArray[np.bool_]
    """Whether an access touches anything, (accesses,)."""
    reads: Last | None
    writes: Last | None
    apart: bool
    """Whether no wave touches what another one writes."""


def examined(
    lanes: Sequence[tuple[I64, NDArray[np.bool_]]],
    sizes: Sequence[int],
    kinds: Sequence[str],
    waves: I64,
    where: tuple[int, int, int, int],
    total: int,
) -> Examined | None:
    """Examine the accesses of a stretch; None where that is not done here.

    Args:
        lanes: addresses and activity of each access, (waves, lanes).
        sizes: bytes a lane of each.
        kinds: of each, ``read`` or ``write``.
        waves: their numbers in the batch.
        where: rows of the shadow, waves of a workgroup, bytes of the LDS, bytes of a unit.
        total: waves of the batch.
    """
    count, many = len(waves), len(lanes)
    size = many * count * lanes[0][0].shape[1]
    library = LIBRARY.library(DEAR * size)
    if library is None or size <= FEW:
        return None
    rows, per, lds_bytes, unit = where
    pitch, shift = -(-lds_bytes // unit), unit.bit_length() - 1
    addresses = [
        each if each.strides[1] == 8 and each.dtype == np.int64 else each.astype(np.int64) for each, _ in lanes
    ]
    active = [each if each.strides[1] == 1 else None if each.all() else np.ascontiguousarray(each) for _, each in lanes]
    places = pitch * ((int(waves.max()) // per if rows > 1 else 0) + 1)
    numbers = np.array([many, count, addresses[0].shape[1], per, rows, pitch, lds_bytes, shift, total, 0, 0, 0])
    columns = np.array(
        [
            (each.strides[0] // 8, 0 if mask is None else mask.strides[0], size, kind == "write")
            for each, mask, size, kind in zip(addresses, active, sizes, kinds, strict=True)
        ],
        np.int64,
    ).T.copy()
    most = [
        min(
            places,
            sum(
                count * each.shape[1] * (size // unit + 2)
                for each, size, own in zip(addresses, sizes, kinds, strict=True)
                if own == kind
            ),
        )
        for kind in ("read", "write")
    ]
    lists = [np.empty((4, one), np.int64) for one in most]
    low, high = np.full((many, total), NO_UNIT, np.int64), np.full((many, total), -NO_UNIT, np.int64)
    touched, at = np.zeros(many, np.int64), np.zeros((2, places), np.int32)
    own = np.ascontiguousarray(waves, np.int64)
    pointer = ctypes.c_void_p * many
    library.examine(
        _at(numbers),
        pointer(*(each.ctypes.data for each in addresses)),
        _at(columns[0]),
        pointer(*(None if mask is None else mask.ctypes.data for mask in active)),
        *(_at(column) for column in columns[1:]),
        _at(own),
        _at(at),
        ctypes.c_int64(places),
        *((ctypes.c_void_p * 2)(*(each[column].ctypes.data for each in lists)) for column in range(4)),
        *map(_at, (low, high, touched)),
    )
    *_, reads, writes, apart = numbers.tolist()
    read, written = (Last(*each[:, :used]) if used else None for each, used in zip(lists, (reads, writes), strict=True))
    return Examined(low, high, touched != 0, read, written, bool(apart))


def put_last(last: I32, wave: I32, reads: Last | None, writes: Last | None, first: int, rows: tuple[int, int]) -> bool:
    """Record the accesses of a stretch in the shadow; whether that was done here.

    Args:
        last: the marks of the shadow, (sorts, places).
        wave: of each mark.
        reads: units that are read, and by whom last.
        writes: units that are written.
        first: the first mark of the stretch.
        rows: those of the writer and of the first reader, behind which that of the second one is.
    """
    library = LIBRARY.library(0)
    size = sum(len(each.places) for each in (reads, writes) if each is not None)
    if library is None or size <= FEW or not (last.flags.c_contiguous and wave.flags.c_contiguous):
        return False
    start = ctypes.c_int64(first)
    writer, reader = rows
    if writes is not None:
        library.put_writes(
            ctypes.c_int64(len(writes.places)), *map(_at, (last[writer], writes.places, writes.mark)), start
        )
    if reads is not None:
        library.put_reads(
            ctypes.c_int64(len(reads.places)), *map(_at, (last[reader], last[reader + 1], wave, *reads)), start
        )
    return True


def latest(last: I32, complete: I32, places: I64) -> int | None:
    """The latest barrier that accesses to some places were complete before; None where that is not found here.

    Args:
        last: marks of some sorts, (sorts, places).
        complete: of each mark.
        places: those in question.
    """
    library = LIBRARY.library(0)
    if library is None or len(places) <= FEW or not (last.flags.c_contiguous and complete.flags.c_contiguous):
        return None
    library.latest.restype = ctypes.c_int32
    sizes = map(ctypes.c_int64, (len(places), *last.shape))
    return int(library.latest(*sizes, _at(last), _at(complete), _at(places)))
