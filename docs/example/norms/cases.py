"""Cases of kernels.hip: `mfmasim verify cases.py`."""

import numpy as np

import mfmasim
from mfmasim.verify import In, Out, case


@case("kernels.hip", kernel="softmax", arch=["gfx90a", "gfx942", "gfx950"], needs="columns >= 1")
def softmax(rows=3, columns=200):
    x, y = In("f32", (rows, columns), "normal"), Out("f32", (rows, columns), absolute=1e-6, relative=1e-5)

    def expect(x):
        e = np.exp(x.astype(float) - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    return dict(grid=rows, block=64, args=[x, y, columns], expect=expect)


@case("kernels.hip", kernel="layernorm", arch=["gfx942", "gfx950"], needs="columns >= 2")
def layernorm(rows=3, columns=200):
    x, gamma, beta = In("bf16", (rows, columns), "normal"), In("f32", columns, "normal"), In("f32", columns, "normal")

    def expect(x, gamma, beta):
        x = mfmasim.format("bf16").decode(x)
        y = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gamma + beta
        return y, 2.0**-8 * np.abs(y) + 1e-6  # half a unit of bfloat16, and what f32 loses before

    return dict(grid=rows, block=64, args=[x, gamma, beta, Out("bf16", (rows, columns)), columns], expect=expect)


@case(
    "kernels.hip", kernel="flash_attention", arch=["gfx90a", "gfx942", "gfx950"], needs="keys % 16 == 0 and keys >= 16"
)
def flash_attention(blocks=2, keys=96):
    q, k, v = In("f16", (16 * blocks, 64), "normal"), In("f16", (keys, 64), "normal"), In("f16", (keys, 64), "normal")

    def expect(q, k, v):
        s = q.astype(float) @ k.T.astype(float) / 8
        p = np.exp(s - s.max(1, keepdims=True))
        return p @ v / p.sum(1, keepdims=True)

    out = Out("f32", (16 * blocks, 64), absolute=2e-3)
    return dict(grid=blocks, block=64, args=[q, k, v, out, keys, 0.125], expect=expect)
