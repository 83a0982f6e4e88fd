"""Reference of the kernels of `mx.hip`: a scale for each 32 elements of a line, and codes of elements over scales.

A line is a row or a column; the last block of a line has the remaining elements.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mfmasim
from hipkernels.cast.reference import with_nan
from mfmasim.formats import ScaleRule, scale_of

FORMATS = {"e4m3": "e4m3fn", "e5m2": "e5m2", "e2m1": "e2m1fn"}
"""OCP formats, also on architectures with FNUZ."""
RULES: tuple[ScaleRule, ...] = ("ocp", "ceil", "rceil", "even")
"""Rules of `mfmasim.formats.scale_of`, in the order of the kernels' argument."""
BLOCK = 32


def blocks(length: int) -> int:
    """Blocks of a line."""
    return -(-length // BLOCK)


def shapes(rows: int, cols: int, target: str, way: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Shapes of the codes (FP4: of the bytes) and of the scales of a matrix."""
    lines, length = (rows, cols) if way == "row" else (cols, rows)
    codes = (lines, -(-length // 2)) if target == "e2m1" else (rows, cols)
    return codes, (rows, blocks(cols)) if way == "row" else (blocks(rows), cols)


def _turned(matrix: NDArray[Any], way: str) -> NDArray[Any]:
    """Lines first; its own inverse."""
    return np.ascontiguousarray(matrix if way == "row" else matrix.T)


def _cut(lines: NDArray[Any]) -> NDArray[Any]:
    """(lines, blocks, 32) of lines, filled with zeros, which change no largest magnitude."""
    return np.pad(lines, ((0, 0), (0, -lines.shape[1] % BLOCK))).reshape(len(lines), -1, BLOCK)


def powers(scales: NDArray[Any]) -> NDArray[Any]:
    """E8M0 codes as float64."""
    return mfmasim.format("e8m0fnu").decode(scales)


def quantise(
    x: NDArray[Any], target: str, way: str, rule: ScaleRule, arch: str = "gfx950"
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes and scales of a matrix of f32.

    A block with a NaN has the scale NaN (0xff), one with an infinity and no NaN the largest (0xfe); both are the
    kernels' choice, as OCP leaves it open. FP4 codes lie two to a byte, the first low; a line of odd length ends
    with a nibble of 0, and lines of columns make the transposed matrix.
    """
    fmt, lines = FORMATS[target], _turned(x, way)
    cut = _cut(lines)
    highest = np.max(np.abs(cut), axis=2)
    scales = np.where(np.isinf(highest), np.uint8(0xFE), scale_of(highest, fmt, rule))
    with np.errstate(all="ignore"):
        divided = cut.astype(np.float64) / powers(scales)[:, :, None]
    divided = np.where(np.isnan(divided), np.copysign(np.nan, cut), divided)
    codes = mfmasim.format(fmt).encode(divided)
    codes = (codes if target == "e2m1" else with_nan(codes, divided, arch)).reshape(len(lines), -1)[:, : lines.shape[1]]
    if target == "e2m1":
        codes = np.pad(codes, ((0, 0), (0, codes.shape[1] % 2)))
        return codes[:, ::2] | codes[:, 1::2] << 4, _turned(scales, way)
    return _turned(codes, way), _turned(scales, way)


def dequantise(
    codes: NDArray[Any], scales: NDArray[Any], shape: tuple[int, int], target: str, way: str
) -> NDArray[Any]:
    """f32 values of a matrix of a shape: exact, or infinite where f32 ends."""
    if target == "e2m1":
        lines = np.stack([codes & 15, codes >> 4], axis=-1).reshape(len(codes), -1)
        lines = lines[:, : shape[1] if way == "row" else shape[0]]
    else:
        lines = _turned(codes, way)
    values = mfmasim.format(FORMATS[target]).decode(lines)
    with np.errstate(all="ignore"):
        values = (_cut(values) * powers(_turned(scales, way))[:, :, None]).reshape(len(lines), -1)
        return _turned(values[:, : lines.shape[1]].astype(np.float32), way)
