"""Q, K and V by kind, as codes [B, H, N, D]."""

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.attention.numbers16 import encode

NAN = {"f16": 0x7E01, "bf16": 0x7FC1}
INFINITY = {"f16": 0x7C00, "bf16": 0x7F80}
KINDS = {
    "normal": "normally distributed",
    "large": "scores of tens of thousands: their powers alone overflow",
    "special": "zeros of both signs, denormals, the largest, Inf and NaN now and then",
    "minus_infinity": "scores of -Inf for some keys, of +Inf for some queries, only -Inf for others",
    "hidden": "NaN and Inf in K and V where they are masked for queries with smaller numbers",
}


def draw(
    kind: str, fmt: str, q_shape: tuple[int, int, int, int], k_shape: tuple[int, int, int, int]
) -> list[NDArray[Any]]:
    """Codes of Q, K and V.

    Args:
        kind: one of `KINDS`.
        fmt: ``f16`` or ``bf16``.
        q_shape: B, H, queries, D.
        k_shape: B, H, keys, D.
    """
    rng = np.random.default_rng(zlib.crc32(f"{kind}/{fmt}/{q_shape}/{k_shape}".encode()))
    q, k, v = (rng.normal(size=shape).astype(np.float32) for shape in (q_shape, k_shape, k_shape))
    if kind == "large":
        q, k = q * 200, k * 200
    codes = [encode(fmt, x) for x in (q, k, v)]
    nan, infinity = NAN[fmt], INFINITY[fmt]
    if kind == "special":
        large = int(encode(fmt, np.float32(60000)))  # bf16 goes further, where scores leave f32
        extremes = np.array([0, 0x8000, 1, 0x8001, large, 0x8000 | large, infinity, infinity | 0x8000, nan])
        for part, often in zip(codes, (2e-4, 2e-4, 2e-3), strict=True):
            part[:] = np.where(rng.random(part.shape) < often, rng.choice(extremes, part.shape), part)
            part[:] = np.where(rng.random(part.shape) < 0.02, rng.choice(extremes[:6:2], part.shape), part)
    if kind == "minus_infinity":
        codes[0][..., 0] &= 0x7FFF  # q[0] > 0 times -Inf is a score of -Inf
        codes[1][:, :, ::3, 0] = infinity | 0x8000
        codes[0][:, :, 5::11, 0] |= 0x8000
        if q_shape[1] > 1:
            codes[1][:, 1, :, 0] = infinity | 0x8000
    if kind == "hidden":
        codes[1][:, :, 7::9, 1] = nan
        codes[2][:, :, 3::5, 2::3] = nan
        codes[2][:, :, 4::7, 1::4] = infinity
        codes[1][:, :, 7::9] = nan if k_shape[2] < 8 else codes[1][:, :, 7::9]
    return codes
