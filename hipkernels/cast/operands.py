"""Inputs of the cast kernels: corner values, and numbers in the format's range between them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mfmasim
from mfmasim.verify import In, InOut
from mfmasim.verify.arrays import Array

CDNA, GIVEN, TARGETS = ["gfx942", "gfx950"], ["f32", "f16", "bf16"], ["e4m3", "e5m2"]
CONVERSIONS = "v_cvt_pk_(fp8|bf8)_f32"

CORNERS = [
    0.0, 1.0, 240.0, 247.9, 248.0, 248.1, 256.0, 448.0, 463.9, 464.0, 464.1, 480.0, 57344.0, 61439.0, 61440.0, 61441.0,
    65504.0, 2.0**-6, 2.0**-7, 2.0**-9, 2.0**-10, 1.5 * 2.0**-10, 2.0**-14, 2.0**-16, 2.0**-17, 2.0**-18, 2.0**-24,
    2.0**-126, 2.0**-149, 3.0e38,
]  # fmt: skip
SENTINEL = 0x5A
"""Contents of memory that a kernel must not write."""
KEPT = np.float32(7.5)
"""The same of a number beside the data."""
SCALES = [0.0, -0.0, -2.5, 3.0, 7.0, 2.0**-126, 2.0**-149, 2.0**127, float("inf"), float("nan")]
"""The ends of f32, where the product or the inverse is infinite, zero, denormal or a NaN."""
PRESETS = [0.0, -0.0, 1.0e30, -1.0, float("inf"), float("nan"), -float("inf"), 2.0**-149]
"""Presets of an amax buffer."""
NOOPS = [0.0, -0.0, 0.999, 1.0, 2.0, -1.0, float("nan")]
"""Flags; only 1 has an effect."""


def one(value: float | np.float32) -> NDArray[Any]:
    """A number in memory."""
    return np.array([value], np.float32)


def beside(
    scale: float, amax: float, noop: float | None = None, scale_at: int = 0, amax_at: int = 0
) -> list[Array | None]:
    """noop, scale, amax: the arguments beside the data; the last two as many bytes past an aligned address."""
    flag = None if noop is None else In("f32", 1, one(noop))
    factor = In("f32", 1, one(scale), scale_at, drawn="normal")
    return [flag, factor, InOut("f32", 1, one(amax), offset=amax_at, drawn="special")]


def values(given: str, n: int, data: str, seed: int = 1) -> NDArray[Any]:
    """Elements of an input.

    Args:
        given: ``f32``, ``f16`` or ``bf16``.
        n: how many.
        data: ``finite``: corners of both signs and numbers of every size; ``special``: infinities and NaNs as well.
        seed: of the random numbers.
    """
    rng = np.random.default_rng(seed)
    corners = np.array(CORNERS + ([np.inf, np.nan] if data == "special" else []))
    sized = rng.normal(size=n) * np.exp2(rng.integers(-20, 18, n))
    drawn = np.where(rng.random(n) < 0.5, rng.choice(corners, n), np.abs(sized)) * rng.choice([-1.0, 1.0], n)
    codes = mfmasim.format(given).encode(drawn, overflow="infinity_or_nan" if data == "special" else "saturate")
    return codes if given == "bf16" else codes.view({"f32": np.float32, "f16": np.float16}[given])
