"""Reference of the conversions: each is exact, or rounded once from the exact value."""

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from hipkernels.conformance.isa.exactly import maximum, minimum

F16, F32, F64, I32, U32, I64, U64 = np.float16, np.float32, np.float64, np.int32, np.uint32, np.int64, np.uint64


def float_to_int(x: NDArray[Any]) -> NDArray[Any]:
    low = minimum(maximum(x, F32(-(2**31))), F32(2147483520))
    high = minimum(maximum(x, F32(0)), F32(4294967040))
    return np.stack([low.astype(I64).astype(I32), high.astype(I64).astype(U32).view(I32)])


def _once(values: list[int], dtype: type[Any]) -> NDArray[Any]:
    """Each Python integer rounded once: to odd with 64 bits more than enough, then by NumPy."""
    out = []
    for value in values:
        size = abs(value)
        drop = max(size.bit_length() - 40, 0)  # f64 holds 40 bits and a sticky one, f32 needs 24
        kept = size >> drop | (size & ((1 << drop) - 1) != 0)
        out.append(np.ldexp(F64(kept), drop) * (-1 if value < 0 else 1))
    return np.array(out).astype(dtype)


def int_to_float(x: NDArray[Any]) -> NDArray[Any]:
    wide, unsigned = [int(v) for v in x], [int(v) for v in x.view(U64)]
    short = [((v & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000 for v in wide]
    return np.stack([_once(v, F32) for v in (short, [v & 0xFFFFFFFF for v in wide], wide, unsigned)])


def int_and_double(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    unsigned = x.view(U64)
    low = unsigned.astype(U32)
    out = [low.view(I32).astype(F64), low.astype(F64)]
    out += [np.array([float(int(v)) for v in row]) for row in (x, unsigned)]  # Python rounds once
    back = [I64(int(float(int(v) >> 2))) for v in x], [U64(int(float(int(v) >> 1))) for v in unsigned]
    scaled = [(out[0] * 0.999).astype(I64), (out[1] * 0.75).astype(I64)]
    return np.stack(out), np.stack([np.array(back[0]), np.array(back[1]).view(I64), *scaled])


def half_and_float(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    return x.astype(F32), y.astype(F16)


def double_to_less(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    return x.astype(F32), y.astype(F64), x.astype(F16)


def bytes_to_float(x: NDArray[Any]) -> NDArray[Any]:
    return np.stack([(x >> U32(8 * k) & U32(0xFF)).astype(F32) for k in range(4)])


def narrow_integers(
    x: NDArray[Any], y: NDArray[Any], z: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    out = [x.astype(I32) * 3, y.astype(I32) - 5, z.astype(np.int8).astype(I32), (z >> 8).astype(np.int16).astype(I32)]
    return np.stack(out), (z ^ 0x55).astype(np.int16), (z + y).astype(np.uint8)


def _toward_zero(x: NDArray[Any]) -> NDArray[Any]:
    """f32 to f16 toward zero: values rounded away from zero go one code back; an overflow gives the largest number."""
    near = x.astype(F16)
    beyond = np.isfinite(x) & (np.abs(near.astype(F64)) > np.abs(x.astype(F64)))
    return (near.view(np.uint16) - beyond.astype(np.uint16)).view(F16)


def _normalised(x: NDArray[Any], low: int, top: int) -> NDArray[Any]:
    """-1..1 to the integers: nearest of the exact product, ties to even; a NaN is 0."""
    clean = np.clip(np.where(np.isnan(x), 0, x).astype(F64), low, 1)
    return np.rint(clean * top).astype(I64)


def _pair(low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    return (low.astype(I64) & 0xFFFF | (high.astype(I64) & 0xFFFF) << 16).astype(U32)


def pack(x: NDArray[Any], z: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    a, b = x[:, 0], x[:, 1]
    unsigned = z.view(U32).astype(I64)
    out = [
        _pair(_normalised(a, -1, 32767), _normalised(b, -1, 32767)),
        _pair(_normalised(a, 0, 65535), _normalised(b, 0, 65535)),
        _pair(np.clip(z, -32768, 32767), np.clip(z >> 16, -32768, 32767)),
        _pair(np.minimum(unsigned, 65535), np.minimum(unsigned >> 15, 65535)),
    ]
    return _toward_zero(x), np.stack(out)


FLAVOURS = {
    "fnuz": (ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz),
    "ocp": (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
}


def eight_bits(x: NDArray[Any], flavour: str) -> tuple[NDArray[Any], NDArray[Any]]:
    fp8, bf8 = FLAVOURS[flavour]
    codes = x.view(np.uint8)
    return np.stack([codes.view(fp8).astype(F32), codes.view(bf8).astype(F32)]), np.stack([x, x])


def numbers(n: int) -> NDArray[Any]:
    """Dwords whose bytes are numbers in every 8-bit format, every such byte among them; neither Inf nor NaN."""
    finite = [c for c in range(256) if all(np.isfinite(np.array([c], np.uint8).view(t).astype(F32))[0] for t in _all())]
    drawn = np.random.default_rng(8).choice(np.array(finite, np.uint8), 4 * n)
    drawn[: len(finite)] = finite
    return drawn.view(U32)


def _all() -> list[type[Any]]:
    return [t for pair in FLAVOURS.values() for t in pair]


def steps(n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Positive numbers that 8-bit formats hold in whole 1/16, between 1 and 2, and random numbers."""
    rng = np.random.default_rng(13)
    values = (1 + rng.integers(0, 1 << 15, n) / (1 << 15)).astype(F32)
    return values * rng.choice([-4, -1, 0.5, 8], n).astype(F32), rng.integers(0, 1 << 32, n).astype(U32).view(I32)


def stochastic(x: NDArray[Any], random: NDArray[Any], arch: str) -> NDArray[Any]:
    """Truncation after the random number's upper bits were added below the last bit that stays."""
    fp8, bf8 = FLAVOURS["fnuz" if arch == "gfx942" else "ocp"]
    rows = []
    for kind, mantissa in ((fp8, 3), (bf8, 2)):
        below = 23 - mantissa
        total = x.view(U32) + (random.view(U32) >> U32(32 - below))
        kept = (total >> U32(below) << U32(below)).view(F32)
        rows.append(kept.astype(kind).view(np.uint8).astype(U32))
    return np.stack([rows[0], rows[1] << U32(16) | U32(0x11003344)])


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def powers(n: int) -> NDArray[Any]:
    return np.ldexp(F32(1), np.random.default_rng(14).integers(-100, 100, n)).astype(F32)


def scaled(x: NDArray[Any], nibbles: NDArray[Any], scale: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    codes, factor = x.view(np.uint8).reshape(-1, 4), scale[:, None]
    halves = nibbles.view(np.uint8).reshape(-1, 4)
    four = np.stack([halves & 15, halves >> 4], axis=2).astype(I64)
    values = np.where(four & 8, -1.0, 1.0) * E2M1[four & 7]
    fp8, bf8 = FLAVOURS["ocp"]
    wide = [codes[:, :2].copy().view(fp8), codes[:, 2:].copy().view(bf8), values[:, 0], values[:, 3]]
    return np.stack([v.astype(F32) * factor for v in wide]), nibbles & U32(0xFF0000FF)
