"""16-bit codes as numbers and back, and the f32 operations that NumPy lacks."""

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import mfmasim
from mfmasim.machine.numerics.tabulated_functions import tabulated

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}


def decode(fmt: str, codes: NDArray[Any]) -> NDArray[Any]:
    """uint16 codes -> float32, exactly."""
    return np.ascontiguousarray(codes).view(DTYPES[fmt]).astype(np.float32)


def encode(fmt: str, values: Any) -> NDArray[Any]:
    """float32 -> uint16 codes, to nearest even."""
    with np.errstate(all="ignore"):
        return np.asarray(values, np.float32).astype(DTYPES[fmt]).view(np.uint16)


def fma(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
    """Give a * b + c of float32, rounded once.

    The product is exact in float64. The sum is rounded to odd there, so that the rounding to f32 sees the side of a
    midpoint on which it lies (Boldo and Melquiond, IEEE Trans. Computers 57, 2008).
    """
    with np.errstate(all="ignore"):
        product, c = a.astype(np.float64) * b, np.asarray(c, np.float64)
        total = np.asarray(product + c)
        part = total - product
        rest = (product - (total - part)) + (c - part)
        even = (total.view(np.int64) & 1) == 0
        toward = np.where(rest > 0, np.inf, -np.inf)
        inexact = np.isfinite(total) & (rest != 0) & even
        return np.where(inexact, np.nextafter(total, toward), total).astype(np.float32)


def power(arch: str, x: NDArray[Any]) -> NDArray[Any]:
    """V_EXP_F32 of an architecture.

    On RDNA it is the simulator's table; elsewhere 2**x rounded once, denormals count as 0 before and after (`assumed`).
    """
    if mfmasim.arch(arch).floats.function_tables:
        out, numbers = tabulated("exp", np.asarray(x, np.float32))
        return np.where(numbers, out, np.float32(np.nan))
    with np.errstate(all="ignore"):
        tiny = np.float32(2.0**-126)
        x = np.where(np.abs(x) < tiny, np.float32(0), x)
        out = np.exp2(x.astype(np.float64)).astype(np.float32)
        return np.where(np.abs(out) < tiny, np.float32(0), out)
