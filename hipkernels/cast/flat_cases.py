"""A launch of the flat cast: its arguments and what it leaves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hipkernels.cast import operands, reference
from hipkernels.cast.operands import beside, one
from hipkernels.cast.plan import COMPUTE_UNITS, plan_cast
from mfmasim.verify import In, InOut, LaunchDict, Out


def launch_cast(
    x: NDArray[Any],
    fmt: str,
    overflow: str,
    *,
    scale: float = 1.0,
    amax: float = 0.0,
    noop: float | None = None,
    blocks: int = 0,
    skips: bool = False,
    given: str = "f32",
    arch: str = "gfx950",
    at: tuple[int, int, int, int] = (0, 0, 0, 0),
) -> LaunchDict:
    """A launch of the flat kernel: arguments and expected outputs.

    ``at``: bytes from an aligned address to input, output, scale and amax.
    """
    n = x.size
    planned = plan_cast(n, x.dtype.itemsize, COMPUTE_UNITS[arch]).blocks
    sentinel = np.full(max(n, 1), operands.SENTINEL, np.uint8)
    kept = np.array([7.5], np.float32)
    untouched = skips or n == 0
    out = InOut(fmt, max(n, 1), sentinel) if untouched else Out(fmt, n, nan="bits", offset=at[1])
    inverse = InOut("f32", 1, kept) if skips else Out("f32", 1)
    padded = x if n else np.zeros(1, x.dtype)
    around = *beside(scale, amax, noop, *at[2:]), inverse, np.int64(n)
    args = [In(given, max(n, 1), padded, at[0], drawn="special"), out, *around]

    def expect(held: NDArray[Any], *beside_it: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        if skips:
            return sentinel, beside_it[-2], kept
        factor, preset = (values[0] for values in beside_it[-2:])
        bytes_out = sentinel if untouched else reference.cast(held, factor, fmt, overflow, arch)
        # The array has an element even where the kernel is given none.
        return bytes_out, np.array([reference.amax(held[:n], preset)]), one(reference.scale_inv(factor))

    return {"grid": blocks or max(planned, 1), "block": 256, "args": args, "expect": expect}
