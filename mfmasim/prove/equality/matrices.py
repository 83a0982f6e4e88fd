"""Results of matrix instructions: chains of the steps in which the accumulation model adds products.

A step adds `Model.group` consecutive products to the running value and rounds (`mfmasim.matrix.models`). Its expression
has the running value and the pairs of factors; where the order of the pairs does not change the sum, they are sorted.
Two instructions of different shapes therefore make one expression if they add the same products in the same steps.
"""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.events.fragment_values import matrix_operands
from mfmasim.machine.opcodes.matrix import resolve
from mfmasim.prove.equality.places import SHIFTS
from mfmasim.prove.equality.pool import BYTES, NIBBLES
from mfmasim.prove.equality.stopped import Stopped

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.arrays import U32
    from mfmasim.isa import Instruction
    from mfmasim.matrix import Fragment
    from mfmasim.matrix.models import Model
    from mfmasim.prove.equality.pool import Codes, Pool

STEPPED = ("fma", "exact", "flush_pairwise", "aligned", "dot2", "dot4")
"""Algorithms that add their steps one after the other."""


def elements(pool: Pool, fragment: Fragment, codes: Codes, instruction: Instruction) -> Codes:
    """Codes of the elements of an operand, (waves, blocks, rows, cols), in units of their width.

    Args:
        pool: of expressions.
        fragment: its layout.
        codes: of the bytes of its registers, (waves, registers, lanes, 4).
        instruction: for messages.

    Raises:
        Stopped: elements of 6 bits, or copies of one element that differ.
    """
    table, width = fragment.table(), int(fragment.width)
    flat = codes.transpose(0, 2, 1, 3).reshape(len(codes), codes.shape[2], -1)  # (waves, lanes, bytes)
    first = table["vgpr"].astype(np.int64) * BYTES + table["bit"] // 8
    lane = table["lane"]
    if width == 4:
        held = flat[:, lane, first]
        upper = table["bit"] // 4 % 2
        constant = -1 - ((-1 - held) >> (4 * upper) & 15)
        found = np.where(held < 0, constant, held // BYTES * NIBBLES + held % BYTES * 2 + upper)
    elif width == 8:
        found = flat[:, lane, first]
    elif width == 16:
        found = pool.halves(np.stack([flat[:, lane, first + k] for k in range(2)], axis=-1))
    elif width == 32:
        found = pool.dwords(np.stack([flat[:, lane, first + k] for k in range(4)], axis=-1))
    else:
        if (flat >= 0).any():
            raise Stopped(instruction, f"elements of {width} bits that depend on inputs are not followed")
        found = np.full((len(flat), len(table)), -1, np.int64)
    out = np.full((len(flat), fragment.blocks, fragment.rows, fragment.cols), np.iinfo(np.int64).min)
    places = table["block"], table["row"], table["col"]
    out[:, *places] = found
    if (out[:, *places] != found).any():
        raise Stopped(instruction, f"lanes hold different copies of elements of {fragment.name}")
    return out


def matrix_results(
    pool: Pool, instruction: Instruction, arch: Arch, wave: int, mode: int, held: Mapping[str, Codes], after: U32
) -> Codes:
    """Codes of the bytes of D's registers, (waves, registers, lanes, 4).

    Args:
        pool: of expressions.
        instruction: the matrix instruction.
        arch: the architecture.
        wave: lanes of a wave.
        mode: MODE.
        held: codes of the bytes of each operand's registers, (waves, registers, lanes, 4), by its name.
        after: D's registers, (waves, registers, lanes).

    Raises:
        Stopped: structured sparsity, elements of 6 or 64 bits, or results of half a register.
    """
    operation, modes = resolve(instruction, arch, wave)
    operands = matrix_operands(instruction, arch, wave)
    target = operands["D"][0]
    if instruction.opcode.sparse or not operation.D.full or int(target.width) not in (16, 32):
        raise Stopped(instruction, "structured sparsity, halves of registers and F64 are not followed")
    given = {name: elements(pool, operands[name][0], codes, instruction) for name, codes in held.items()}
    model: Model = operation.model
    formats = tuple(operands[name][0].format for name in ("A", "B", "C", "D"))
    a, b, c = given["A"], given["B"], given["C"]
    blocks, rows, cols = target.blocks, target.rows, target.cols
    shape = (len(c), blocks, rows, cols)
    k = a.shape[-1]
    scales = [given[name] for name in ("scale_A", "scale_B") if name in given]
    head: tuple[Hashable, ...] = ("sum", model.name, formats, astuple(modes), mode, len(scales))
    steps = model.algorithm in STEPPED and int(target.width) == 32 and not scales
    group = min(model.group, k) if steps else k
    running = np.broadcast_to(c, shape).reshape(-1)
    values = _values(target, after)
    sorts = model.algorithm == "exact" or (model.algorithm == "aligned" and model.partial_sums == 1) or not steps
    sorts = sorts and not scales and model.algorithm != "fma"
    for first in range(0, k, group):
        part = slice(first, first + group)
        left = np.broadcast_to(a[..., :, None, part], (*shape, group)).reshape(-1, group)
        right = np.broadcast_to(np.swapaxes(b, -1, -2)[..., None, :, part], (*shape, group)).reshape(-1, group)
        if sorts and (steps or model.algorithm in ("exact", "integer")):
            order = np.lexsort((right, left), axis=-1)
            left, right = (np.take_along_axis(side, order, axis=-1) for side in (left, right))
        columns = [running[:, None], np.stack([left, right], axis=-1).reshape(len(left), -1)]
        if scales:
            columns += [
                np.broadcast_to(scales[0][..., :, None, :], (*shape, scales[0].shape[-1])).reshape(len(left), -1)
            ]
            columns += [
                np.broadcast_to(scales[1][..., None, :, :], (*shape, scales[1].shape[-1])).reshape(len(left), -1)
            ]
        last = first + group >= k
        begins = first == 0 and bool(model.flush_addend)
        own = (*head, "flushes c" if begins else "")
        running = _sums(pool, own, np.concatenate(columns, axis=1), values if last else None)
    return _placed(target, running.reshape(shape), after)


def _sums(pool: Pool, head: tuple[Hashable, ...], operands: Codes, values: NDArray[np.uint32] | None) -> Codes:
    """One step. Without `values` of the machine a result of constants alone is an expression, too."""
    depends = (operands >= 0).any(axis=1)
    out = np.empty(len(operands), np.int64)
    rows = np.flatnonzero(depends if values is not None else np.ones(len(operands), np.bool_))
    if values is not None:
        out[~depends] = -1 - values[~depends].astype(np.int64)
    out[rows] = pool.made(head, operands[rows], None if values is None else values[rows])
    return out


def _values(fragment: Fragment, registers: U32) -> NDArray[np.uint32]:
    """The codes of the elements of D, (waves * blocks * rows * cols,)."""
    table = fragment.table()
    words = registers[:, table["vgpr"], table["lane"]] >> table["bit"].astype(np.uint32)
    out = np.zeros((len(registers), fragment.blocks, fragment.rows, fragment.cols), np.uint32)
    out[:, table["block"], table["row"], table["col"]] = words & np.uint32((1 << int(fragment.width)) - 1)
    return out.reshape(-1)


def _placed(fragment: Fragment, codes: Codes, after: U32) -> Codes:
    """Codes of the bytes of D's registers from those of its elements."""
    table, size = fragment.table(), int(fragment.width) // 8
    out = -1 - (after[..., None] >> SHIFTS & np.uint32(0xFF)).astype(np.int64)
    found = codes[:, table["block"], table["row"], table["col"]]
    for k in range(size):
        byte = table["bit"] // 8 + k
        held = out[:, table["vgpr"], table["lane"], byte]
        out[:, table["vgpr"], table["lane"], byte] = np.where(found >= 0, found * BYTES + k, held)
    return out
