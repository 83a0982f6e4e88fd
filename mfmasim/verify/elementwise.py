"""All inputs of an elementwise kernel: every code of 8 and 16 bits, samples of 32, against the exact result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.formats import format as find_format
from mfmasim.verify.arrays import DTYPES, In, Out
from mfmasim.verify.cases import case

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.verify.launch import LaunchDict

Overflow: TypeAlias = Literal["saturate", "saturate_finite", "infinity_or_nan"]
MANTISSAS = 24
"""Drawn mantissas of each exponent and sign of a format of 32 bits, beside the fixed ones."""


def every(given: str, target: str = "") -> NDArray[Any]:
    """Inputs for an elementwise kernel.

    Args:
        given: format of the inputs: up to 16 bits every code; of 32 bits every exponent and sign with the smallest, the
            largest and the middle mantissas and some that are drawn, always the same.
        target: format of the outputs, of up to 16 bits: its numbers, the ties between them and the neighbours of both
            are among the inputs of 32 bits.

    Returns:
        Values in the dtype of `mfmasim.verify.In`.

    Raises:
        MfmasimError: a format of more than 32 bits, or an unknown one.
    """
    fmt = find_format(given)
    if fmt.bits > 32 or (fmt.bits > 16 and fmt.name != "f32"):
        raise MfmasimError(f"every({given!r}): formats of up to 16 bits, and f32, are expected")
    dtype = np.dtype(DTYPES.get(fmt.name, fmt.carrier))
    if fmt.bits <= 16:
        return np.arange(1 << fmt.bits).astype(f"u{dtype.itemsize}").view(dtype)
    top = (1 << 23) - 1
    drawn = np.random.default_rng(23).integers(0, top, MANTISSAS)
    mantissas = np.unique([0, 1, 2, top - 1, top, top // 2, top // 2 + 1, top // 2 + 2, *drawn]).astype(np.uint32)
    codes = (np.arange(512, dtype=np.uint32)[:, None] << 23 | mantissas).reshape(-1)
    if target and find_format(target).bits <= 16:
        goal = find_format(target)
        numbers = goal.decode(np.arange(1 << goal.bits).astype(goal.carrier))
        numbers = np.unique(numbers[np.isfinite(numbers)])
        numbers = np.concatenate([numbers, (numbers[1:] + numbers[:-1]) / 2]).astype(np.float32)
        near = [np.nextafter(numbers, side, dtype=np.float32) for side in (np.float32(-np.inf), np.float32(np.inf))]
        codes = np.concatenate([codes, *(part.view(np.uint32) for part in (numbers, *near))])
    return codes.view(np.float32)


def elementwise(
    source: str,
    *,
    kernel: str,
    arch: str | Sequence[str],
    given: str,
    target: str,
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
    limit: float | None = None,
    overflow: Overflow = "saturate",
    block: int = 256,
    bounds: dict[str, Any] | None = None,
    **options: Any,
) -> None:
    """Declare a case: an elementwise or conversion kernel ``(const given *x, target *y, int n)``, on all inputs.

    Args:
        source: as for `mfmasim.verify.case`.
        kernel: its name, and the case's.
        arch: architecture, or several.
        given: format of the inputs.
        target: format of the outputs.
        function: what the kernel computes, on f64; without it, the conversion.
        limit: largest magnitude that numbers are limited to before they are converted; infinities, too.
        overflow: result for numbers beyond the format, as for `Format.encode`.
        block: work-items of a workgroup.
        bounds: allowed errors of outputs, as for `mfmasim.verify.Out`: ``{"ulp": 1}``; without them outputs are exact.
        options: further arguments of `mfmasim.verify.case`.

    Raises:
        MfmasimError: a format is unknown.
    """
    inputs, goal = every(given, target), find_format(target)
    here = find_format(given)

    def expect(x: NDArray[Any]) -> NDArray[Any]:
        values = here.decode(np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}").astype(here.carrier))
        with np.errstate(all="ignore"):
            values = values if function is None else function(values)
        if limit is not None:
            values = np.where(np.isnan(values), values, np.clip(values, -limit, limit))
        codes = goal.encode(values, overflow=overflow)
        dtype = np.dtype(DTYPES.get(goal.name, goal.carrier))
        return codes.astype(f"u{dtype.itemsize}").view(dtype)

    def build() -> LaunchDict:
        n = inputs.size
        x, y = In(given, n, inputs), Out(target, n, **(bounds or {}))
        return {"grid": -(-n // block), "block": block, "args": [x, y, n], "expect": expect}

    build.__name__ = kernel
    case(source, kernel=kernel, arch=arch, **options)(build)
