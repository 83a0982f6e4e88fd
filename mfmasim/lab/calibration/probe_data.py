"""Matrices that distinguish accumulation models, one set for each probe.

The tiles of a probe follow each other: `TRIALS` of ordinary numbers, then one for each of `EDGES`, then one for each of
`OUTLIERS`. Formats with 8 exponent bits get exponents of a few powers of two around 1 in the ordinary tiles, so that
most products of a sum overlap; the edges probe other exponents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.formats import format as find_format

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.formats import Format
    from mfmasim.matrix import MatrixInstruction

    Pair = tuple[Format, Format]
    """Formats of A and of B."""

SEED = 20_251_122
TRIALS = 24
"""Tiles of ordinary numbers."""
EDGES = ("subnormal_a", "subnormal_b", "subnormal_c", "overflow", "far", "ties")
"""Tests of the tiles after the ordinary ones: subnormal factors beside normal ones; subnormal C, and results; the
largest products; one product beside a C far below it; and a C that a product takes half way to its neighbour, or
almost."""
FITTED = TRIALS + len(EDGES)
"""Tiles that models are fitted to."""
OUTLIERS = ("nan_a", "nan_b", "nan_c", "inf_zero", "inf_inf")
"""Special inputs of the last tiles, one kind each: every row (nan_b: every column) has the special result."""
TILES = FITTED + len(OUTLIERS)
WIDE = 8
"""Exponent bits from which two factors can leave the range of f32."""


@dataclass(frozen=True)
class Tiles:
    """Codes of the tiles of a probe, tiles first; a sparse A is dense here."""

    a: NDArray[Any]
    b: NDArray[Any]
    c: NDArray[Any]
    scale_a: NDArray[np.uint8] | None = None
    scale_b: NDArray[np.uint8] | None = None


def registers(op: MatrixInstruction, name: str) -> list[NDArray[Any]]:
    """Registers of A, B, both scales and C, (tiles, registers, 64), of the probe of that name."""
    made = matrices(op, name)
    scale_a = scale_b = np.zeros((TILES, 1, 64), np.uint32)
    if op.scale_A is not None and op.scale_B is not None and made.scale_a is not None and made.scale_b is not None:
        scale_a, scale_b = op.scale_A.pack(made.scale_a), op.scale_B.pack(made.scale_b)
    return [op.A.pack(made.a), op.B.pack(made.b), scale_a, scale_b, op.C.pack(made.c)]


def matrices(op: MatrixInstruction, name: str, keep: NDArray[np.bool_] | None = None) -> Tiles:
    """Matrices of one block of the probe of that name.

    Args:
        op: an instruction on floats.
        name: seeds the numbers.
        keep: mask of the elements of A that are not 0, (TILES, M, K); None means all.
    """
    rng = np.random.default_rng([SEED, sum(name.encode())])
    formats = find_format(op.a), find_format(op.b)
    narrow = (-4, 4) if find_format(op.d).bits == 16 else None
    a = _numbers(rng, formats[0], (TILES, op.m, op.k), narrow)
    b = _numbers(rng, formats[1], (TILES, op.k, op.n), narrow)
    for tile in range(
        TILES if op.a == op.b and op.k > 1 else 0
    ):  # pairs of k whose products cancel, in three of four tiles
        order = rng.permutation(op.k)
        for first, second in order.reshape(-1, 2)[: op.k * (tile % 4) // 8]:
            a[tile, :, second] = a[tile, :, first]
            b[tile, second, :] = b[tile, first, :] ^ formats[1].carrier.type(formats[1].sign_bit)
    kept = np.ones(a.shape, bool) if keep is None else keep
    a[~kept] = 0
    exact = np.abs(_values(formats[0], a) @ _values(formats[1], b))
    # C from far below the products to far above them: the bits that are lost show the widths.
    far = 40 if narrow is None else 12
    size = np.frexp(np.maximum(exact, 2.0**-40))[1] + rng.integers(-far, far, exact.shape)
    value = np.ldexp(rng.uniform(1, 2, exact.shape) * rng.choice([-1.0, 1.0], exact.shape), np.clip(size, -100, 100))
    c = value.astype(np.float32).view(np.uint32)  # the rounding of this f32 does not matter
    c[: TILES // 4] = 0
    _near(rng, formats, a, b, c, kept)
    _edges(rng, formats, a, b, c, kept)
    _specials(formats, a, b, c)
    a[~kept] = 0
    scales: tuple[NDArray[np.uint8] | None, NDArray[np.uint8] | None] = (None, None)
    if op.scale_A is not None and op.scale_B is not None:
        blocks = op.k // op.row.scale_block
        drawn = [rng.integers(120, 134, (TILES, rows, blocks)).astype(np.uint8) for rows in (op.m, op.n)]
        for scale in drawn:
            scale[TRIALS:FITTED] = 127
        scales = drawn[0], drawn[1]
    return Tiles(a, b, _in_format(rng, find_format(op.c), c), *scales)


def _in_format(rng: np.random.Generator, fmt: Format, c: NDArray[np.uint32]) -> NDArray[Any]:
    """C, whose codes are of f32, in the format of the instruction; subnormals and NaNs are its own."""
    if fmt.bits == 32:
        return c
    with np.errstate(invalid="ignore"):  # NaNs, replaced below
        values = c.view(np.float32).astype(np.float64)
    if fmt.bits == 64:  # bits that f32 does not have
        values = values * (1 + rng.integers(0, 1 << 28, c.shape) * 2.0**-52)
    with np.errstate(over="ignore", invalid="ignore"):
        made = np.asarray(fmt.encode(values)).astype(fmt.carrier)
    tile, word = TRIALS + EDGES.index("subnormal_c"), fmt.carrier.type
    fraction = rng.integers(0, 1 << fmt.mantissa_bits, c[0].shape, np.uint64).astype(word)
    made[tile] = fraction | np.where(rng.integers(0, 2, c[0].shape) == 1, word(fmt.sign_bit), word(0))
    top = ((1 << fmt.exponent_bits) - 1) << fmt.mantissa_bits
    made[FITTED + OUTLIERS.index("nan_c")] = (fraction | word(top) | word(1)).astype(word)
    return made


def _values(fmt: Format, codes: NDArray[Any]) -> NDArray[np.float64]:
    values: NDArray[np.float64] = fmt.decode(codes).astype(np.float64)
    return values


def _numbers(
    rng: np.random.Generator, fmt: Format, shape: tuple[int, ...], exponents: tuple[int, int] | None = None
) -> NDArray[Any]:
    """Random finite codes: every sign and significand; every exponent, or those from one to another, inclusive."""
    codes = rng.integers(0, fmt.mask, shape, np.uint64, endpoint=True).astype(fmt.carrier)
    if exponents is None and fmt.exponent_bits >= WIDE:
        exponents = -10, 10
    if exponents is not None:
        field = (1 << fmt.exponent_bits) - 1 << fmt.mantissa_bits
        biased = np.clip(rng.integers(exponents[0], exponents[1] + 1, shape) + fmt.bias, 0, field >> fmt.mantissa_bits)
        codes = (codes & ~fmt.carrier.type(field)) | (biased.astype(fmt.carrier) << fmt.carrier.type(fmt.mantissa_bits))
    one = np.asarray(fmt.encode(np.float64(1.0)), fmt.carrier)
    return np.where(np.isfinite(fmt.decode(codes)), codes, one)


def _near(
    rng: np.random.Generator,
    formats: Pair,
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[np.uint32],
    keep: NDArray[np.bool_],
) -> None:
    """In a third of the tiles C cancels almost all of a sum, so that the remainder shows which low bits it had.

    Most products are large and of one sign, so that the sum outgrows each of them; the others reach far below. In some
    of these tiles only the first elements along K are not 0, so that the sum is that of one step.
    """
    k = a.shape[-1]
    for tile in range(2 * TRIALS // 3, TRIALS):
        large = rng.permutation(k)[: max(2, k * 3 // 4)]
        sides = ((a, (a.shape[1], len(large))), (b, (len(large), b.shape[2])))
        for fmt, (side, shape) in zip(formats, sides, strict=True):
            one = int(np.asarray(fmt.encode(np.float64(1.0))))
            codes = (one + rng.integers(0, 1 << fmt.mantissa_bits, shape)).astype(fmt.carrier)  # from 1 to 2
            if side is a:
                side[tile][:, large] = codes
            else:
                side[tile][large, :] = codes
        used = (4, 8, 16, k)[tile % 4]
        a[tile, :, used:] = 0
        a[tile][~keep[tile]] = 0
        exact = _values(formats[0], a[tile]) @ _values(formats[1], b[tile])
        near = -exact * (1 + rng.choice([0.0, 1.0, -1.0], exact.shape) * 2.0 ** -rng.integers(4, 24, exact.shape))
        c[tile] = near.astype(np.float32).view(np.uint32)


def _edges(
    rng: np.random.Generator,
    formats: Pair,
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[np.uint32],
    keep: NDArray[np.bool_],
) -> None:
    """Fill the tiles of `EDGES`, in their order."""
    fa, fb = formats
    wide = fa.exponent_bits >= WIDE
    signs = rng.choice(np.array([0, fa.sign_bit], fa.carrier), a[0].shape)
    small = rng.integers(0, 1 << fa.mantissa_bits, a[0].shape, np.uint64).astype(fa.carrier) | signs
    for place, (side, other, fmt) in enumerate(((a, b, fb), (b, a, fa))):
        tile = TRIALS + place
        side[tile] = small if side is a else np.resize((small & fb.carrier.type(_subnormal(fb))).T, side[tile].shape)
        other[tile] = _numbers(rng, fmt, other[tile].shape, (90, 110) if wide else None)
        a[tile][~keep[tile]] = 0
        exact = _values(fa, a[tile]) @ _values(fb, b[tile])
        near = np.ldexp(exact, rng.integers(-6, 7, exact.shape)) * rng.choice([0, 1, -1], exact.shape)
        c[tile] = near.astype(np.float32).view(np.uint32)

    tile = TRIALS + EDGES.index("subnormal_c")
    shape = c[tile].shape
    c[tile] = rng.integers(0, 1 << 23, shape) | rng.integers(0, 2, shape) << 31
    c[tile, :, ::5] &= 1 << 31  # zeros of both signs
    if wide:  # results that are subnormal although C is not, or is zero
        low = -fb.bias // 2
        a[tile], b[tile] = (_numbers(rng, f, x[tile].shape, (low - 3, low + 1)) for f, x in ((fa, a), (fb, b)))
        c[tile, ::3] = (rng.integers(0, 1 << 31, c[tile, ::3].shape) & 0x80FFFFFF) | 0x00800000
        a[tile, 1::3] = 0
    else:
        a[tile] = 0

    tile = TRIALS + EDGES.index("overflow")
    for fmt, side in ((fa, a), (fb, b)):
        top = _largest_exponent(fmt)
        side[tile] = _numbers(rng, fmt, side[tile].shape, (top - 3, top))
    if wide:  # the first two products may each leave the range of f32, and cancel
        half = (fa.bias + 1) // 2
        a[tile, :, 2:] = _numbers(rng, fa, a[tile, :, 2:].shape, (-10, 10))
        b[tile] = _numbers(rng, fb, b[tile].shape, (-10, 10))
        a[tile, :, 0] = _numbers(rng, fa, a[tile, :, 0].shape, (half - 2, half + 2))
        b[tile, 0] = _numbers(rng, fb, b[tile, 0].shape, (half - 2, half + 1))
        if a.shape[-1] > 1:
            a[tile, :, 1], b[tile, 1] = a[tile, :, 0], b[tile, 0] ^ fb.carrier.type(fb.sign_bit)
            a[tile, ::3, 1] = 0
    c[tile] = rng.integers(0x7E800000, 0x7F800000, shape) | rng.integers(0, 2, shape) << 31
    c[tile, ::2] = 0

    ones = [np.asarray(fmt.encode(np.float64(1.0)), fmt.carrier) for fmt in formats]
    signs = rng.choice([-1.0, 1.0], shape)
    for tile in (TRIALS + EDGES.index("far"), TRIALS + EDGES.index("ties")):
        a[tile] = b[tile] = 0
        a[tile, :, 0], b[tile, 0] = ones
    far = np.ldexp(rng.uniform(1, 2, shape) * signs, -np.arange(20, 20 + shape[-1]))
    c[TRIALS + EDGES.index("far")] = far.astype(np.float32).view(np.uint32)
    if a.shape[-1] < 2:
        return
    # 1 is half of the last bit of C; the second product, as small as the format has, says which side of it.
    least = [_smallest_powers(fa, shape[0]) | fa.carrier.type(sign) for sign in (0, fa.sign_bit)]
    a[tile, :, 1], b[tile, 1] = least[0], _smallest_powers(fb, shape[1])
    a[tile, ::2, 1] = least[1][::2]
    c[tile] = (rng.integers(1 << 23, 1 << 24, shape) * 2.0 * signs).astype(np.float32).view(np.uint32)
    if a.shape[-1] < 3:
        return
    # In every other column with a carry: the largest C below 2^25, and 8, is half way to an even last bit above 2^25.
    two = np.asarray(fa.encode(np.float64(2.0)), fa.carrier)
    four, minus = (np.asarray(fb.encode(np.float64(x)), fb.carrier) for x in (4.0, -4.0))
    a[tile, :, 2], b[tile, 2, ::4], b[tile, 2, 2::4], b[tile, 0, ::2] = two, four, minus, 0
    c[tile, :, ::4], c[tile, :, 2::4] = np.array([2**25 - 2, 2 - 2**25], np.float32).view(np.uint32)


def _subnormal(fmt: Format) -> int:
    """The sign and fraction of a code."""
    return fmt.sign_bit | ((1 << fmt.mantissa_bits) - 1)


def _smallest_powers(fmt: Format, count: int) -> NDArray[Any]:
    """Powers of two from 1 down to 2^-12, again and again; those that the format lacks are its smallest one."""
    least = float(np.asarray(fmt.decode(np.asarray(1, fmt.carrier))))
    powers = np.maximum(2.0 ** -(np.arange(count) % 13), max(least, 2.0**-12))
    return np.asarray(fmt.encode(powers), fmt.carrier)


def _largest_exponent(fmt: Format) -> int:
    """Exponent of the largest finite number."""
    return int(np.frexp(float(np.asarray(fmt.decode(np.asarray(fmt.max_code, fmt.carrier)))))[1]) - 1


def _specials(formats: Pair, a: NDArray[Any], b: NDArray[Any], c: NDArray[np.uint32]) -> None:
    """Fill the tiles of `OUTLIERS`. A format without Inf has NaN in its place; one without NaN has ordinary tiles."""
    c[FITTED + 2] = 0x7F800001 + np.arange(c[0].size).reshape(c[0].shape) * 0x3FF7
    c[FITTED + 2, :, ::2] |= 1 << 31
    (nans_a, infs_a), (nans_b, _) = (_outliers(fmt) for fmt in formats)
    if len(nans_a):
        a[FITTED, :, 0] = nans_a[np.arange(a.shape[1]) * 7919 % len(nans_a)]
        second = min(1, a.shape[2] - 1)
        a[FITTED + 3, :, second] = infs_a[0] if len(infs_a) else nans_a[0]
        b[FITTED + 3, second, :] = 0
        for place in (1, 2)[: a.shape[2] - 1]:
            a[FITTED + 4, :, place] = (infs_a if len(infs_a) else nans_a)[0 if place == 1 else -1]
            fb = formats[1]
            b[FITTED + 4, place, :] = b[FITTED + 4, place, :] & fb.carrier.type(
                fb.mask & ~fb.sign_bit
            ) | fb.carrier.type(1)
    if len(nans_b):
        b[FITTED + 1, 0, :] = nans_b[np.arange(b.shape[2]) * 104_729 % len(nans_b)]


def _outliers(fmt: Format) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes of NaNs, and of both Infs."""
    top = ((1 << fmt.exponent_bits) - 1) << fmt.mantissa_bits
    fractions = np.arange(1 << min(fmt.mantissa_bits, 10), dtype=np.uint64) << np.uint64(max(fmt.mantissa_bits - 10, 0))
    plain = fractions | np.uint64(top)
    codes = np.unique(np.concatenate([plain, plain | np.uint64(1), np.array([fmt.mask >> 1, fmt.sign_bit], np.uint64)]))
    codes = np.concatenate([codes, codes | np.uint64(fmt.sign_bit)]).astype(fmt.carrier)
    return codes[np.isnan(fmt.decode(codes))], codes[np.isinf(fmt.decode(codes))]
