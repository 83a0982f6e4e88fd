"""Inputs of the cast kernels: the values where casts go wrong, and numbers of the format's own range between them."""

import numpy as np

import mfmasim

CORNERS = [
    0.0, 1.0, 240.0, 247.9, 248.0, 248.1, 256.0, 448.0, 463.9, 464.0, 464.1, 480.0, 57344.0, 61439.0, 61440.0, 61441.0,
    65504.0, 2.0**-6, 2.0**-7, 2.0**-9, 2.0**-10, 1.5 * 2.0**-10, 2.0**-14, 2.0**-16, 2.0**-17, 2.0**-18, 2.0**-24,
    2.0**-126, 2.0**-149, 3.0e38,
]  # fmt: skip
SENTINEL = 0x5A
"""What memory holds that a kernel has to leave alone."""


def values(given, n, data, seed=1):
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
    rule = "infinity_or_nan" if data == "special" else "saturate"
    fmt = mfmasim.format(given)
    codes = fmt.encode(drawn, overflow=rule)
    return codes if given == "bf16" else codes.view({"f32": np.float32, "f16": np.float16}[given])
