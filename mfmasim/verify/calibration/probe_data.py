"""Matrices that distinguish accumulation models, one set for each probe.

The tiles of a probe follow each other: `TRIALS` of ordinary numbers, then one for each of `EDGES`, then one for each of
`OUTLIERS`. Formats with 8 exponent bits get exponents of a few powers of two around 1 in the ordinary tiles, so that
most products of a sum overlap; what happens far away from there is probed at the edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats import format as find_format

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.formats import Format
    from mfmasim.matrix import MatrixInstruction

    Arrays = tuple[NDArray[Any], NDArray[Any], NDArray[np.uint32]]

__all__ = ["EDGES", "FITTED", "OUTLIERS", "TILES", "registers"]

SEED = 20_251_122
TRIALS = 24
"""Tiles of ordinary numbers."""
EDGES = ("subnormal_a", "subnormal_b", "subnormal_c", "overflow", "far", "ties")
"""What the tiles after them test: subnormal factors beside normal ones; subnormal C, and results; the largest
products; one product beside a C far below it; and a C that a product takes half way to its neighbour, or almost."""
FITTED = TRIALS + len(EDGES)
"""Tiles that models are fitted to."""
OUTLIERS = ("nan_a", "nan_b", "nan_c", "inf_zero", "inf_inf")
"""What the last tiles hold, one kind each: every row (nan_b: every column) has the special result."""
TILES = FITTED + len(OUTLIERS)
WIDE = 8
"""Exponent bits from which two factors can leave the range of f32."""


def registers(op: MatrixInstruction, name: str) -> list[NDArray[Any]]:
    """Registers of A, B, both scales and C, (tiles, registers, 64), of the probe of that name."""
    rng = np.random.default_rng([SEED, sum(name.encode())])
    fmt = find_format(op.a)
    a = _numbers(rng, fmt, (TILES, op.m, op.k))
    b = _numbers(rng, fmt, (TILES, op.k, op.n))
    for tile in range(TILES):  # pairs of k whose products cancel, anywhere along K, in three of four tiles
        order = rng.permutation(op.k)
        for first, second in order.reshape(-1, 2)[: op.k * (tile % 4) // 8]:
            a[tile, :, second] = a[tile, :, first]
            b[tile, second, :] = b[tile, first, :] ^ fmt.sign_bit
    exact = np.abs(_values(fmt, a) @ _values(fmt, b))
    # C from far below the products to far above them: the bits that are lost show the widths.
    size = np.frexp(np.maximum(exact, 2.0**-40))[1] + rng.integers(-40, 40, exact.shape)
    value = np.ldexp(rng.uniform(1, 2, exact.shape) * rng.choice([-1.0, 1.0], exact.shape), np.clip(size, -100, 100))
    c = value.astype(np.float32).view(np.uint32)  # any f32 will do: how it was rounded does not matter
    c[: TILES // 4] = 0
    _near(rng, fmt, a, b, c)
    _edges(rng, fmt, a, b, c)
    _specials(fmt, a, b, c)
    scale_a = scale_b = np.zeros((TILES, 1, 64), np.uint32)
    if op.scale_A is not None and op.scale_B is not None:
        blocks = op.k // 32
        scales = [rng.integers(120, 134, (TILES, rows, blocks)).astype(np.uint8) for rows in (op.m, op.n)]
        for scale in scales:
            scale[TRIALS:FITTED] = 127
        scale_a, scale_b = op.scale_A.pack(scales[0]), op.scale_B.pack(scales[1])
    return [op.A.pack(a), op.B.pack(b), scale_a, scale_b, op.C.pack(c)]


def _values(fmt: Format, codes: NDArray[Any]) -> NDArray[np.float64]:
    values: NDArray[np.float64] = fmt.decode(codes).astype(np.float64)
    return values


def _numbers(
    rng: np.random.Generator, fmt: Format, shape: tuple[int, ...], exponents: tuple[int, int] | None = None
) -> NDArray[Any]:
    """Random finite codes: every sign and significand; every exponent, or those from one to another, inclusive."""
    codes = rng.integers(0, fmt.mask + 1, shape).astype(fmt.carrier)
    if exponents is None and fmt.exponent_bits >= WIDE:
        exponents = -10, 10
    if exponents is not None:
        field = (1 << fmt.exponent_bits) - 1 << fmt.mantissa_bits
        biased = rng.integers(exponents[0], exponents[1] + 1, shape) + fmt.bias
        codes = (codes & ~fmt.carrier.type(field)) | (biased << fmt.mantissa_bits).astype(fmt.carrier)
    one = np.asarray(fmt.encode(np.float64(1.0)), fmt.carrier)
    return np.where(np.isfinite(fmt.decode(codes)), codes, one)


def _near(rng: np.random.Generator, fmt: Format, a: NDArray[Any], b: NDArray[Any], c: NDArray[np.uint32]) -> None:
    """In a third of the tiles C cancels almost all of a sum, so that the remainder shows which low bits it had.

    Most products are large and of one sign, so that the sum outgrows each of them; the others reach far below. In some
    of these tiles only the first elements along K are not 0, so that the sum is that of one step.
    """
    k = a.shape[-1]
    first = fmt.mantissa_bits
    for tile in range(2 * TRIALS // 3, TRIALS):
        large = rng.permutation(k)[: max(2, k * 3 // 4)]
        for side, shape in ((a, (a.shape[1], len(large))), (b, (len(large), b.shape[2]))):
            one = int(np.asarray(fmt.encode(np.float64(1.0))))
            codes = (one + rng.integers(0, 1 << first, shape)).astype(fmt.carrier)  # from 1 to 2
            if side is a:
                side[tile][:, large] = codes
            else:
                side[tile][large, :] = codes
        used = (4, 8, 16, k)[tile % 4]
        a[tile, :, used:] = 0
        exact = _values(fmt, a[tile]) @ _values(fmt, b[tile])
        near = -exact * (1 + rng.choice([0.0, 1.0, -1.0], exact.shape) * 2.0 ** -rng.integers(4, 24, exact.shape))
        c[tile] = near.astype(np.float32).view(np.uint32)


def _edges(rng: np.random.Generator, fmt: Format, a: NDArray[Any], b: NDArray[Any], c: NDArray[np.uint32]) -> None:
    """Fill the tiles of `EDGES`, in their order."""
    wide = fmt.exponent_bits >= WIDE
    signs = rng.choice([0, fmt.sign_bit], a[0].shape)
    small = (rng.integers(0, 1 << fmt.mantissa_bits, a[0].shape) | signs).astype(fmt.carrier)
    for place, (side, other) in enumerate(((a, b), (b, a))):
        tile = TRIALS + place
        side[tile] = small if side is a else small.T
        other[tile] = _numbers(rng, fmt, other[tile].shape, (90, 110) if wide else None)
        exact = _values(fmt, a[tile]) @ _values(fmt, b[tile])
        near = np.ldexp(exact, rng.integers(-6, 7, exact.shape)) * rng.choice([0, 1, -1], exact.shape)
        c[tile] = near.astype(np.float32).view(np.uint32)

    tile = TRIALS + EDGES.index("subnormal_c")
    shape = c[tile].shape
    c[tile] = rng.integers(0, 1 << 23, shape) | rng.integers(0, 2, shape) << 31
    c[tile, :, ::5] &= 1 << 31  # zeros of both signs
    if wide:  # results that are subnormal although C is not, or is zero
        a[tile], b[tile] = (_numbers(rng, fmt, side[tile].shape, (-67, -63)) for side in (a, b))
        c[tile, ::3] = (rng.integers(0, 1 << 31, c[tile, ::3].shape) & 0x80FFFFFF) | 0x00800000
        a[tile, 1::3] = 0
    else:
        a[tile] = 0

    tile = TRIALS + EDGES.index("overflow")
    top = _largest_exponent(fmt)
    a[tile], b[tile] = (_numbers(rng, fmt, side[tile].shape, (top - 3, top)) for side in (a, b))
    if wide:  # the first two products may each leave the range of f32, and cancel
        a[tile, :, 2:] = _numbers(rng, fmt, a[tile, :, 2:].shape, (-10, 10))
        b[tile] = _numbers(rng, fmt, b[tile].shape, (-10, 10))
        a[tile, :, 0] = _numbers(rng, fmt, a[tile, :, 0].shape, (62, 66))
        b[tile, 0] = _numbers(rng, fmt, b[tile, 0].shape, (62, 65))
        a[tile, :, 1], b[tile, 1] = a[tile, :, 0], b[tile, 0] ^ fmt.sign_bit
        a[tile, ::3, 1] = 0
    c[tile] = rng.integers(0x7E800000, 0x7F800000, shape) | rng.integers(0, 2, shape) << 31
    c[tile, ::2] = 0

    one = np.asarray(fmt.encode(np.float64(1.0)), fmt.carrier)
    signs = rng.choice([-1.0, 1.0], shape)
    for tile in (TRIALS + EDGES.index("far"), TRIALS + EDGES.index("ties")):
        a[tile] = b[tile] = 0
        a[tile, :, 0] = b[tile, 0] = one
    far = np.ldexp(rng.uniform(1, 2, shape) * signs, -np.arange(20, 36))
    c[TRIALS + EDGES.index("far")] = far.astype(np.float32).view(np.uint32)
    # 1 is half of the last bit of C; the second product, as small as the format has, says which side of it.
    least = [_smallest_powers(fmt, shape[0]) | fmt.carrier.type(sign) for sign in (0, fmt.sign_bit)]
    a[tile, :, 1], b[tile, 1] = least[0], _smallest_powers(fmt, shape[1])
    a[tile, ::2, 1] = least[1][::2]
    c[tile] = (rng.integers(1 << 23, 1 << 24, shape) * 2.0 * signs).astype(np.float32).view(np.uint32)
    # In every other column with a carry: the largest C below 2^25, and 8, is half way to an even last bit above 2^25.
    two, four, minus = (np.asarray(fmt.encode(np.float64(x)), fmt.carrier) for x in (2.0, 4.0, -4.0))
    a[tile, :, 2], b[tile, 2, ::4], b[tile, 2, 2::4], b[tile, 0, ::2] = two, four, minus, 0
    c[tile, :, ::4], c[tile, :, 2::4] = np.array([2**25 - 2, 2 - 2**25], np.float32).view(np.uint32)


def _smallest_powers(fmt: Format, count: int) -> NDArray[Any]:
    """Powers of two from 1 down to 2^-12, again and again; those that the format lacks are its smallest one."""
    least = float(np.asarray(fmt.decode(np.asarray(1, fmt.carrier))))
    powers = np.maximum(2.0 ** -(np.arange(count) % 13), max(least, 2.0**-12))
    return np.asarray(fmt.encode(powers), fmt.carrier)


def _largest_exponent(fmt: Format) -> int:
    """Exponent of the largest finite number."""
    return int(np.frexp(float(np.asarray(fmt.decode(np.asarray(fmt.max_code, fmt.carrier)))))[1]) - 1


def _specials(fmt: Format, a: NDArray[Any], b: NDArray[Any], c: NDArray[np.uint32]) -> None:
    """Fill the tiles of `OUTLIERS`. A format without Inf has NaN in its place; one without NaN has ordinary tiles."""
    top = ((1 << fmt.exponent_bits) - 1) << fmt.mantissa_bits
    fractions = np.arange(1 << min(fmt.mantissa_bits, 10)) << max(fmt.mantissa_bits - 10, 0)
    codes = np.unique(np.concatenate([fractions | top, fractions | top | 1, [fmt.mask >> 1, fmt.sign_bit]]))
    codes = np.concatenate([codes, codes | fmt.sign_bit]).astype(fmt.carrier)
    nans, infs = codes[np.isnan(fmt.decode(codes))], codes[np.isinf(fmt.decode(codes))]
    rows = np.arange(a.shape[1])
    c[FITTED + 2] = 0x7F800001 + np.arange(c[0].size).reshape(c[0].shape) * 0x3FF7
    c[FITTED + 2, :, ::2] |= 1 << 31
    if not len(nans):
        return
    infinity = infs[0] if len(infs) else nans[0]
    minus = infs[-1] if len(infs) else nans[-1]
    a[FITTED, :, 0] = nans[rows * 7919 % len(nans)]
    b[FITTED + 1, 0, :] = nans[rows * 104_729 % len(nans)]
    a[FITTED + 3, :, 1], b[FITTED + 3, 1, :] = infinity, 0
    for place, special in ((1, infinity), (2, minus)):
        a[FITTED + 4, :, place] = special
        b[FITTED + 4, place, :] = b[FITTED + 4, place, :] & (fmt.mask & ~fmt.sign_bit) | 1  # positive, not zero
