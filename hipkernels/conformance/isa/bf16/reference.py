"""What the bfloat16 kernels compute, from codes to codes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.conformance.isa.exactly import bf16_codes, bf16_values, fma32


def narrow(x: NDArray[Any]) -> NDArray[Any]:
    return bf16_codes(x)


def widen(x: NDArray[Any]) -> NDArray[Any]:
    return bf16_values(x).reshape(-1)


def arithmetic(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    a, b = bf16_values(x), bf16_values(y)
    return np.stack([bf16_codes(v) for v in (a + b, a - b, a * b)])


def dot_rows(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    a, b = bf16_values(x), bf16_values(y)
    total = np.zeros(len(a), np.float32)
    for k in range(a.shape[1]):
        total = fma32(a[:, k], b[:, k], total)
    return total
