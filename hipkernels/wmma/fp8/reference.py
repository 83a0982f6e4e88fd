"""What the kernels with loads of 16 bytes leave, bit for bit."""

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from hipkernels.gemm_blockscale.reference import summed

DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def in_their_order(arch: str, a: NDArray[Any], b: NDArray[Any], alpha: float, target: str) -> NDArray[Any]:
    """Codes of ``alpha A B^T``: of every 32 of K two instructions take eight from each half.

    Args:
        arch: architecture.
        a: E4M3 codes (M, K).
        b: E4M3 codes (N, K).
        alpha: factor, of f32.
        target: number format of C.
    """
    with np.errstate(all="ignore"):
        found = (np.float32(alpha) * summed(arch, a, b)).astype(DTYPES[target])
    return found.view(np.uint16) if target == "bf16" else found
