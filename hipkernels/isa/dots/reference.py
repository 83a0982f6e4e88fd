"""Dot products in 64-bit integers, cut to 32 bits or held inside them."""

import numpy as np

U32, I32, I64 = np.uint32, np.int32, np.int64


def parts(x, width, *, signed):
    """The elements of each dword, the lowest first."""
    found = (x[:, None] >> np.arange(0, 32, width, dtype=U32) & U32((1 << width) - 1)).astype(I64)
    return found - ((found >> (width - 1)) << width) if signed else found


def dot(x, y, width, *, signed):
    return (parts(x, width, signed=signed) * parts(y, width, signed=signed)).sum(1)


def bytes4(x, y):
    i = np.arange(len(x))
    plain = dot(x, y, 8, signed=False)
    held = np.minimum(plain + 0xFFFFF000, 0xFFFFFFFF)
    return np.stack([row.astype(U32) for row in (dot(x, y, 8, signed=True) + i, plain + y, held)])


def nibbles(x, y):
    i = np.arange(len(x))
    return np.stack([row.astype(U32) for row in (dot(x, y, 4, signed=True) + i, dot(x, y, 4, signed=False) + x)])


def halves(x, y, z):
    return ((x.astype(np.float64) * y.astype(np.float64)).sum(1) + z).astype(np.float32)


def shorts(x, y):
    i, a, b = np.arange(len(x)), x.astype(I64), y.astype(I64)
    signed = (a * b).sum(1)
    unsigned = (x.view(np.uint16).astype(I64) * y.view(np.uint16).astype(I64)).sum(1)
    held = np.clip(signed + 2000000000, -(1 << 31), (1 << 31) - 1)
    return np.stack([(row).astype(U32).view(I32) for row in (signed + i, unsigned + i, held)])
