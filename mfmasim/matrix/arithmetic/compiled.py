"""The loops of ``aligned`` sums in C, where a compiler is at hand: the same operations on the same types.

`mfmasim.matrix.arithmetic.aligned_steps` defines them, and computes what these do not take: other shapes and types, and
steps with an addend outside the bounds.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.matrix.arithmetic.bounds import ADDEND_UNITS, EMPTY_BELOW, LOWEST
from mfmasim.toolchain.native import Hot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.arithmetic.factors import Factors

TEXT = """
#include <stdint.h>
#include <string.h>
typedef int8_t i8; typedef int16_t i16; typedef int32_t i32; typedef int64_t i64;
typedef uint32_t u32; typedef uint8_t u8;
#define IN static inline __attribute__((always_inline))
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(PLAIN)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif
enum { FIRST, END, STEP, X, Y, Z, AK, AX, AY, AZ, BK, BX, BY, BELOW, LEAST, EMPTY };
IN float real(u32 x) { float y; memcpy(&y, &x, 4); return y; }
IN u32 bits(float x) { u32 y; memcpy(&y, &x, 4); return y; }

/* Sums of products over k in units of 2^(e - 24), e the largest exponent of a product: of n elements whose a are az
   apart, with pointers to those of the first. */
#define BODY(E) \\
IN int body_##E(const i64 n, const i64 az, const i64 *p, const float *restrict a, const float *restrict b, \\
                const E *restrict ea, const E *restrict eb, i32 *restrict total, i32 *restrict grid, \\
                float *restrict scale, u8 *restrict empty) { \\
  i32 e[64], t[64]; \\
  float s[64]; \\
  int any = 0; \\
  for (i64 l = 0; l < n; l++) { e[l] = -32768; t[l] = 0; } \\
  for (i64 k = p[FIRST]; k < p[END]; k += p[STEP]) { \\
    const E *u = ea + k * p[AK], *v = eb + k * p[BK]; \\
    for (i64 l = 0; l < n; l++) { const i32 sum = u[l * az] + v[l]; e[l] = e[l] > sum ? e[l] : sum; } \\
  } \\
  for (i64 l = 0; l < n; l++) { \\
    const int none = e[l] < (i32)p[BELOW]; \\
    empty[l] = none; \\
    any |= none; \\
    grid[l] = e[l] = e[l] > (i32)p[LEAST] ? e[l] : (i32)p[LEAST]; \\
    scale[l] = s[l] = real((u32)(151 - e[l]) << 23); \\
  } \\
  for (i64 k = p[FIRST]; k < p[END]; k += p[STEP]) { \\
    const float *u = a + k * p[AK], *v = b + k * p[BK]; \\
    for (i64 l = 0; l < n; l++) t[l] += (i32)((u[l * az] * v[l]) * s[l]); \\
  } \\
  for (i64 l = 0; l < n; l++) total[l] = t[l]; \\
  return any; \\
}
#define RUN(E, n, az) body_##E(n, az, p, a + i, b + j, ea + i, eb + j, total + at, grid + at, scale + at, empty + at)
#define FUNCTION(E) \\
BODY(E) \\
CLONES void products_##E(i64 *p, const float *a, const float *b, const E *ea, const E *eb, i32 *total, i32 *grid, \\
                         float *scale, u8 *empty) { \\
  int any = 0; \\
  for (i64 x = 0; x < p[X]; x++) for (i64 y = 0; y < p[Y]; y++) for (i64 z = 0; z < p[Z]; z += 64) { \\
    const i64 n = p[Z] - z < 64 ? p[Z] - z : 64, at = (x * p[Y] + y) * p[Z] + z; \\
    const i64 i = x * p[AX] + y * p[AY] + z * p[AZ], j = x * p[BX] + y * p[BY] + z; \\
    if (p[AZ]) any |= RUN(E, n, 1); \\
    else if (n == 16) any |= RUN(E, 16, 0); \\
    else if (n == 32) any |= RUN(E, 32, 0); \\
    else any |= RUN(E, n, 0); \\
  } \\
  p[EMPTY] = any; \\
}
FUNCTION(i8)
FUNCTION(i16)

/* c joins a sum: d; rest marks the addends outside the bounds, whose d is not to be used. Returns whether some are. */
CLONES int add(i64 n, const float *restrict c, const i32 *restrict total, const float *restrict scale,
               const u8 *restrict empty, i32 dropped, float limit, float *restrict d, u8 *restrict rest) {
  i32 outside = 0;
  for (i64 at = 0; at < n; at += 64) {
    const i64 m = n - at < 64 ? n - at : 64;
    i32 none[64];
    for (i64 l = 0; l < m; l++) none[l] = 0;
    if (empty) for (i64 l = 0; l < m; l++) none[l] = -(i32)empty[at + l];
    for (i64 l = 0; l < m; l++) {
      const u32 bc = bits(c[at + l]), lost = (bc & 0x7fffffffu) ? (bc & 0x80000000u) | 0x00800000u : bc;
      const float unit = real(0x7f000000u - bits(scale[at + l])), product = c[at + l] * scale[at + l];
      u32 x = bits(product);
      x = (x & 0x7fffffffu) ? x : lost; /* too small for a float: its sign is left */
      x = (i32)x < dropped ? 0 : x;
      const i32 near = (real(x & 0x7fffffffu) < limit) ? -1 : 0;
      const float inside = real(x & near);
      const i32 cut = (i32)inside, whole = cut - ((float)cut > inside ? 1 : 0); /* floor */
      const u32 sum = bits((float)(i32)((u32)whole + (u32)total[at + l]) * unit), own = bits(c[at + l] + 0.0f);
      const i32 out = ~near & ~none[l];
      outside |= out;
      rest[at + l] = out & 1;
      d[at + l] = real((sum & ~(u32)none[l]) | (own & (u32)none[l]));
    }
  }
  return outside != 0;
}
"""
LIBRARY = Hot(TEXT)
BITS = np.int32(-0x80000000)
"""No float has bits below these."""
NONE = np.empty(0, np.intp)


def _address(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _strides(array: NDArray[Any], shape: tuple[int, ...]) -> list[int]:
    """Elements from one to the next of each axis, 0 where there is only one."""
    size = array.itemsize
    inner = [0 if own == 1 else step // size for own, step in zip(array.shape[1:], array.strides[1:], strict=True)]
    assert len(inner) == len(shape)
    return [array.strides[0] // size, *inner]


def products(
    a: Factors, b: Factors, ks: range, total: NDArray[np.int32], grid: NDArray[np.int32], scale: NDArray[np.int32]
) -> tuple[bool, NDArray[np.bool_] | None]:
    """Sum products of some k.

    Args:
        a: factors, k first, of three more axes that broadcast against those of b.
        b: the same.
        ks: of the factors.
        total: becomes the sums in units, int32.
        grid: becomes the exponents of the units plus 24.
        scale: becomes the bits of 1 / unit in float32.

    Returns:
        Whether it was done, and where no term is, or None if there are terms everywhere.
    """
    shape, kind = total.shape, a.exponent.dtype
    library = LIBRARY.library(total.size * len(ks))
    if library is None or a.value.ndim != 4 or b.value.ndim != 4 or b.exponent.dtype != kind or not total.size:
        return False, None
    if a.value.dtype != np.float32 or b.value.dtype != np.float32 or kind not in EMPTY_BELOW:
        return False, None
    of_a, of_b = _strides(a.value, shape), _strides(b.value, shape)
    if of_a != _strides(a.exponent, shape) or of_b != _strides(b.exponent, shape):
        return False, None
    if of_a[3] not in (0, 1) or (of_b[3] != 1 and shape[2] > 1) or b.value.shape[3] != shape[2]:
        return False, None
    least = LOWEST if kind == np.int16 else -32768
    fields = [ks.start, ks.stop, ks.step, *shape, *of_a, *of_b[:3], EMPTY_BELOW[kind], least, 0]
    numbers, empty = np.array(fields, np.int64), np.empty(shape, np.bool_)
    function = library.products_i8 if kind == np.int8 else library.products_i16
    arrays = (numbers, a.value, b.value, a.exponent, b.exponent, total, grid, scale, empty)
    function(*map(_address, arrays))
    return True, empty if numbers[-1] else None


def add(
    c: NDArray[np.float32],
    total: NDArray[Any],
    scale: NDArray[np.float32] | None,
    empty: NDArray[np.bool_] | None,
    drop_below: int | None,
    d: NDArray[np.float32],
) -> NDArray[np.intp] | None:
    """Add an addend to a step's sum in int32 and round.

    Args:
        c: the addend.
        total: the sum in units.
        scale: 1 / unit, or None if it is not known.
        empty: where no term is.
        drop_below: as `mfmasim.matrix.models.Model.drop_addend_below`.
        d: becomes the result.

    Returns:
        Flat indices of the addends that are outside the bounds, whose d is still to be computed; None if nothing was
        done.
    """
    if total.dtype != np.int32 or scale is None or scale.shape != c.shape or total.shape != c.shape:
        return None
    library = LIBRARY.library(0)
    arrays = [each for each in (c, total, scale, empty, d) if each is not None]
    if library is None or not all(each.flags.c_contiguous for each in arrays) or c.dtype != np.float32:
        return None
    bound = BITS if drop_below is None else np.array(-(2.0 ** (24 - drop_below)), np.float32).view(np.int32)
    mask = None if empty is None else _address(empty)
    rest = np.empty(c.shape, np.bool_)
    size, limit = ctypes.c_int64(c.size), ctypes.c_float(ADDEND_UNITS)
    first = (size, _address(c), _address(total), _address(scale), mask, ctypes.c_int32(int(bound)), limit)
    return np.flatnonzero(rest) if library.add(*first, _address(d), _address(rest)) else NONE
