"""A whole product by one matrix instruction: the reference that a kernel must equal bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.matrix import MatrixInstruction
from mfmasim.matrix import instruction as find_instruction


def k_order(operation: MatrixInstruction) -> NDArray[np.int64]:
    """The K in memory of each k of an instruction, if every lane holds consecutive K of memory.

    Args:
        operation: a dense instruction of one block.

    Returns:
        For each of its k the place in a run of as many elements; its rounding depends on which k are summed together.
    """
    table = operation.A.table()
    row = table[table["row"] == 0]
    lanes, lane = np.unique(row["lane"], return_inverse=True)
    copies = len(row) // operation.k
    each = operation.k * copies // len(lanes)
    order = np.empty(operation.k, np.int64)
    slot = (32 * row["vgpr"].astype(np.int64) + row["bit"]) // operation.A.width
    order[row["col"]] = lane % (len(lanes) // copies) * each + slot
    return order


def product_by(arch: str, name: str, a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Multiply matrices of any size by one instruction, along K in the order of memory, beginning with 0.

    Args:
        arch: architecture.
        name: a dense instruction of one block, such as ``v_wmma_f32_16x16x16_f16``.
        a: raw codes (M, K), row-major.
        b: raw codes (K, N).

    Returns:
        Raw codes (M, N) of D's format. Elements of a tile beyond the matrices count as 0 in A and in B.
    """
    op = find_instruction(arch, name)
    order = k_order(op)
    (m, k), n = a.shape, b.shape[1]
    rows, depth, columns = -(-m // op.m), -(-k // op.k), -(-n // op.n)
    left = np.zeros((op.m * rows, op.k * depth), a.dtype)
    right = np.zeros((op.k * depth, op.n * columns), b.dtype)
    left[:m, :k], right[:k, :n] = a, b
    left = left.reshape(rows, 1, op.m, depth, op.k)[..., order]
    right = right.reshape(depth, op.k, 1, columns, op.n)[:, order].transpose(2, 3, 0, 1, 4)
    c = np.zeros((rows, columns, op.m, op.n), op.D.dtype)
    for step in range(depth):
        x = np.broadcast_to(left[:, :, :, step], (rows, columns, op.m, op.k))
        y = np.broadcast_to(right[:, :, step], (rows, columns, op.k, op.n))
        c = op.multiply(x, y, c)
    whole: NDArray[Any] = c.swapaxes(1, 2).reshape(op.m * rows, op.n * columns)[:m, :n]
    return np.ascontiguousarray(whole)
