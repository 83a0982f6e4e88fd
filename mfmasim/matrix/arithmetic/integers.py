"""Integer matrix products: exact sums, wrapped to 32 bits or saturated once per instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError, unknown
from mfmasim.matrix.arithmetic.batches import chunks, take
from mfmasim.matrix.arithmetic.operands import check_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.matrix.models import Model

__all__ = ["INTEGERS", "integer_bits", "integer_chain"]

INTEGERS = ("i8", "u8", "i4", "u4")
"""Integer element formats: two's complement and unsigned, right-aligned codes."""


def integer_bits(name: str) -> int:
    """Width of an integer element.

    Raises:
        MfmasimError: not an integer format.
    """
    if name not in INTEGERS:
        raise unknown("integer matrix element format", name, INTEGERS)
    return int(name[1:])


def _values(name: str, codes: NDArray[Any]) -> NDArray[np.float64]:
    value = codes.astype(np.float64)
    half = float(1 << (integer_bits(name) - 1))
    return np.where(value >= half, value - 2 * half, value) if name.startswith("i") else value


def integer_chain(
    model: Model,
    formats: tuple[str, str, str],
    operands: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    batch: tuple[int, ...],
    k: int,
    *,
    clamp: bool,
    fp16_ovfl: bool,
) -> NDArray[np.uint32]:
    """Accumulate integer products; arguments as in `mfmasim.matrix.arithmetic.chain`, shapes already checked.

    float64 holds every sum exactly: 2^53 is far above K * 2^16 + 2^31 for any K that fits in memory.
    """
    a_format, b_format, d_format = formats
    if d_format != "i32":
        raise MfmasimError(f"integer products accumulate in i32, not {d_format}")
    saturate = clamp or (fp16_ovfl and model.clamp == "saturate")
    a, b = _values(a_format, operands[0]), _values(b_format, operands[1])
    c = check_codes("c", "i32", operands[2], 32)
    m, n = c.shape[-2:]
    out = np.empty((*batch, m, n), np.uint32)
    flat = out.reshape(-1, m, n)
    for part in chunks(batch, m * n + m * a.shape[-1] + n * a.shape[-1]):
        x, y = take(a, batch, part), take(b, batch, part)
        value = take(c, batch, part).view(np.int32).astype(np.float64)
        for start in range(0, a.shape[-1], k):
            value = value + np.matmul(x[:, :, start : start + k], y[:, start : start + k])
            if saturate:
                value = np.clip(value, -(2.0**31), 2.0**31 - 1)
        flat[part] = value.astype(np.int64).astype(np.uint32)
    return out
