"""Matrix products of hipBLAS, by NumPy on the host: ``include/hipblas/hipblas.h`` calls this.

Programs that multiply by hipBLAS between their kernels need a product, not rocBLAS's kernels: sums are in f64 and
rounded once, and no instruction is executed. Matrices are column by column.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from mfmasim.hiprt.calls.copies import touch
from mfmasim.hiprt.registry import HipFailure, Pointer, serve
from mfmasim.hiprt.runtime import Runtime

NOT_SUPPORTED = 801
TYPES: dict[int, Any] = {
    0: np.float32, 1: np.float64, 2: np.float16, 3: np.int8, 10: np.int32, 14: ml_dtypes.bfloat16,
}  # fmt: skip
"""Element types by hipDataType (library_types.h of HIP)."""
PLAIN, ARRAYS, TRIANGULAR = 0, 1, 2
"""First word: matrices at a stride, matrices behind arrays of pointers, and a triangular system of the latter."""
TRANSPOSED, CONJUGATE = 112, 113
LEFT, LOWER, UNIT = 141, 122, 132


class Operand:
    """Matrices of one type in device memory.

    Args:
        rt: the runtime.
        words: address, hipDataType, leading dimension, and the stride from matrix to matrix in elements.
        rows, columns: of a matrix as it is stored.
        arrays: whether the address is that of an array of pointers.
    """

    def __init__(self, rt: Runtime, words: Sequence[int], rows: int, columns: int, arrays: bool) -> None:
        self._rt, (self._address, kind, self._lead, self._stride) = rt, words
        self._rows, self._columns, self._arrays = rows, columns, arrays
        if kind not in TYPES:
            known = ", ".join(map(str, TYPES))
            raise HipFailure(NOT_SUPPORTED, f"hipBLAS with elements of hipDataType {kind}; served are {known}")
        self.dtype = np.dtype(TYPES[kind])

    def at(self, index: int, *, written: bool) -> NDArray[Any]:
        """A matrix, as a view of device memory.

        Args:
            index: its number.
            written: whether it will be stored to.
        """
        size = self.dtype.itemsize
        if self._arrays:
            touch(self._rt, self._address + 8 * index, 8, written=False)
            address = ctypes.c_uint64.from_address(self._rt.home(self._address + 8 * index)).value
        else:
            address = self._address + index * self._stride * size
        held = (max(self._columns - 1, 0) * self._lead + self._rows) * size
        whole = self._lead == self._rows or self._columns == 1
        for start in (address,) if whole else range(address, address + held, self._lead * size):
            touch(self._rt, start, held if whole else self._rows * size, written=written)
        memory = (ctypes.c_uint8 * held).from_address(self._rt.home(address))
        shape, steps = (self._rows, self._columns), (size, self._lead * size)
        return np.ndarray(shape, self.dtype, memory, strides=steps)


def _scalar(rt: Runtime, address: int, kind: int) -> float:
    dtype = np.dtype(TYPES[kind])
    return float(np.frombuffer(ctypes.string_at(rt.home(address), dtype.itemsize), dtype)[0])


@serve()
def mfmasimBlas(rt: Runtime, call: Pointer, stream: Pointer) -> None:
    rt.stream(stream)
    if ctypes.c_uint64.from_address(call).value == TRIANGULAR:
        _solve(rt, list((ctypes.c_int64 * 13).from_address(call)))
    else:
        _multiply(rt, list((ctypes.c_int64 * 22).from_address(call)))


def _multiply(rt: Runtime, words: list[int]) -> None:
    arrays, m, n, k, op_a, op_b, count, kind, alpha, beta = words[:10]
    turned = [op in (TRANSPOSED, CONJUGATE) for op in (op_a, op_b)]
    a = Operand(rt, words[10:14], *((k, m) if turned[0] else (m, k)), bool(arrays))
    b = Operand(rt, words[14:18], *((n, k) if turned[1] else (k, n)), bool(arrays))
    c = Operand(rt, words[18:22], m, n, bool(arrays))
    scales = _scalar(rt, alpha, kind), _scalar(rt, beta, kind)
    for index in range(count if m and n else 0):
        left, right = (one.at(index, written=False).astype(np.float64) for one in (a, b))
        out = c.at(index, written=True)
        value = scales[0] * ((left.T if turned[0] else left) @ (right.T if turned[1] else right))
        if scales[1]:
            value += scales[1] * out.astype(np.float64)
        with np.errstate(over="ignore"):
            out[...] = (np.rint(value) if out.dtype.kind == "i" else value).astype(out.dtype)


def _solve(rt: Runtime, words: list[int]) -> None:
    """Triangular systems: op(A) X = alpha B, or X op(A) = alpha B; X takes B's place."""
    _, m, n, side, fill, op, diagonal, alpha, a, lda, b, ldb, count = words
    order = m if side == LEFT else n
    factors, sides = Operand(rt, (a, 0, lda, 0), order, order, True), Operand(rt, (b, 0, ldb, 0), m, n, True)
    scale = _scalar(rt, alpha, 0)
    for index in range(count if m and n else 0):
        factor = factors.at(index, written=False).astype(np.float64)
        lower, turned = fill == LOWER, op in (TRANSPOSED, CONJUGATE)
        if diagonal == UNIT:
            np.fill_diagonal(factor, 1)
        out = sides.at(index, written=True)
        right = scale * out.astype(np.float64)
        if side == LEFT:
            out[...] = _substituted(factor.T if turned else factor, right, lower=lower != turned)
        else:  # X op(A) = B is op(A)' X' = B'
            out[...] = _substituted(factor if turned else factor.T, right.T, lower=lower == turned).T


def _substituted(factor: NDArray[np.float64], right: NDArray[np.float64], *, lower: bool) -> NDArray[np.float64]:
    """X of ``factor @ X = right`` row by row: accurate in each element, however large the condition number is."""
    found = right.copy()
    for row in range(len(found)) if lower else reversed(range(len(found))):
        known = slice(row) if lower else slice(row + 1, None)
        found[row] = (found[row] - factor[row, known] @ found[known]) / factor[row, row]
    return found
