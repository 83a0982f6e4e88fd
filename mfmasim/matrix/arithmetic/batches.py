"""Leading axes as a batch: broadcast without copying, chunks of bounded memory, sparse rows, block scales."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.matrix.arithmetic.operands import check_codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["CHUNK", "check_scale", "check_shapes", "chunks", "merge", "select", "take"]

CHUNK = 1 << 18
"""Array elements handled at once; temporaries of eight bytes then stay within the caches of one core."""


def check_shapes(a: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> tuple[int, ...]:
    """Check (..., M, K) x (..., K, N) + (..., M, N) and return the broadcast leading axes.

    Raises:
        MfmasimError: axes that do not fit together.
    """
    for name, array in (("a", a), ("b", b), ("c", c)):
        if array.ndim < 2:
            raise MfmasimError(f"{name} must have at least two axes (rows, columns), not shape {array.shape}")
    if a.shape[-1] != b.shape[-2]:
        raise MfmasimError(f"a has K = {a.shape[-1]} (shape {a.shape}) but b has K = {b.shape[-2]} (shape {b.shape})")
    if c.shape[-2:] != (a.shape[-2], b.shape[-1]):
        raise MfmasimError(f"c must end in {(a.shape[-2], b.shape[-1])} (M, N), but has shape {c.shape}")
    if a.shape[:-2] == b.shape[:-2] == c.shape[:-2]:
        return a.shape[:-2]
    try:
        return np.broadcast_shapes(a.shape[:-2], b.shape[:-2], c.shape[:-2])
    except ValueError:
        shapes = f"a {a.shape[:-2]}, b {b.shape[:-2]}, c {c.shape[:-2]}"
        raise MfmasimError(f"leading axes do not broadcast: {shapes}") from None


def chunks(batch: tuple[int, ...], size: int) -> Iterator[slice]:
    """Slices of the flattened batch; ``size`` is the number of array elements that one tile needs."""
    total = math.prod(batch)
    step = max(1, CHUNK // max(1, size))
    for start in range(0, total, step):
        yield slice(start, min(start + step, total))


def take(array: NDArray[Any], batch: tuple[int, ...], part: slice) -> NDArray[Any]:
    """Tiles ``part`` of the flattened batch, (n, rows, columns); what broadcasts is repeated only inside the part."""
    tail = array.shape[-2:]
    if array.shape[:-2] == batch:
        return array.reshape(-1, *tail)[part]
    lead = (1,) * (len(batch) - array.ndim + 2) + array.shape[:-2]
    places = np.unravel_index(np.arange(part.start, part.stop), batch)
    index = tuple(np.where(size == 1, 0, place) for size, place in zip(lead, places, strict=True))
    taken: NDArray[Any] = array.reshape(*lead, *tail)[index]
    return taken


def merge(
    a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], batch: tuple[int, ...]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], tuple[int, ...]] | None:
    """Join tiles that form one large product: A (..., X, 1, M, K) with B (..., 1, Y, K, N).

    Returns:
        A (..., X*M, K), B (..., K, Y*N), C (..., X*M, Y*N) and the shape (..., X, M, Y, N) that D splits into;
        None when the batch is not of this kind.
    """
    if a.ndim < 4 or b.ndim < 4 or a.shape[-3] != 1 or b.shape[-4] != 1 or a.shape[-4] == 1 or b.shape[-3] == 1:
        return None
    x, y, m, k, n = a.shape[-4], b.shape[-3], a.shape[-2], a.shape[-1], b.shape[-1]
    if batch[-2:] != (x, y):
        return None
    joined_a = a.reshape(*a.shape[:-4], x * m, k)
    joined_b = np.moveaxis(b, -2, -3).reshape(*b.shape[:-4], k, y * n)
    wide = np.broadcast_to(c, (*batch, m, n))
    joined_c = np.swapaxes(wide, -3, -2).reshape(*batch[:-2], x * m, y * n)
    return joined_a, joined_b, joined_c, (*batch[:-2], x, m, y, n)


def select(b: NDArray[Any], selection: NDArray[Any]) -> NDArray[Any]:
    """Rows of dense B that the kept elements of each row of A meet.

    Args:
        b: (..., K, N).
        selection: (..., M, K kept), dense k of each kept element.

    Returns:
        (..., M, K kept, N): one B for every row of A.
    """
    gathered: NDArray[Any] = np.take_along_axis(b[..., None, :, :], selection[..., None].astype(np.intp), axis=-2)
    return gathered


def check_scale(name: str, scale: Any, shape: tuple[int, int], k: int) -> NDArray[np.uint8]:
    """E8M0 codes of one operand, (..., rows, K blocks) or (..., K blocks, columns).

    Raises:
        MfmasimError: not one code per 32 of K.
    """
    codes = check_codes(name, "e8m0fnu", scale, 8)
    if codes.ndim < 2 or codes.shape[-2:] != shape:
        raise MfmasimError(f"{name} must end in {shape} (one code per 32 of K = {k}), but has shape {codes.shape}")
    return codes
