"""One instruction from its operands to D, on matrices or on registers; `mfmasim.matrix.arithmetic` rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.matrix import arithmetic
from mfmasim.matrix.modifiers import negate_halves, negate_operands
from mfmasim.matrix.request import Formats, Operands

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mfmasim.matrix.fragment import Fragment
    from mfmasim.matrix.operands import MatrixOperands
    from mfmasim.matrix.request import Memo, Modes


def multiply(op: MatrixOperands, given: Operands, modes: Modes) -> NDArray[Any]:
    """D of matrices; see `mfmasim.matrix.instruction.MatrixInstruction.multiply`.

    Args:
        op: the instruction.
        given: matrices of raw codes.
        modes: the modifiers.
    """
    read = op.under(modes)
    _check_given(op, given)
    codes = {name: _elements(read[name], array) for name, array in given.named().items()}
    return _product(op, Operands.of(codes), modes, read)


def execute(
    op: MatrixOperands, registers: Operands, modes: Modes, old: NDArray[np.uint32] | None = None
) -> NDArray[np.uint32]:
    """D's registers from those of the sources; see `mfmasim.matrix.instruction.MatrixInstruction.execute`.

    Args:
        op: the instruction.
        registers: uint32 (..., vgprs, lanes) of each operand; memos, if any, of these registers read in this way.
        modes: the modifiers and MODE.
        old: D's registers before; None counts as 0.
    """
    read = op.under(modes)
    _check_given(op, registers)
    registers = negate_halves(registers, modes, op.row.words, sparse=op.sparse)
    codes = {}
    memos = dict(zip(("A", "B"), registers.memos or (), strict=False))
    for name, array in registers.named().items():
        memo = memos.get(name)
        codes[name] = read[name].unpack(array) if memo is None else _once(memo, read[name], array)
    target = read["D"]
    given = replace(Operands.of(codes), memos=registers.memos)
    d = target.pack(_product(op, given, modes, read))
    return d if old is None or target.full else d | (np.asarray(old) & ~target.mask)


def execute_pairs(op: MatrixOperands, registers: Operands, modes: Modes) -> NDArray[np.uint32] | None:
    """D's registers of one instruction for every A with every B, or None where rounding needs each by itself.

    Args:
        op: an instruction of one block whose only operands are A, B and C.
        registers: A (waves, As, vgprs, lanes), B (waves, Bs, vgprs, lanes), C (waves, Bs, As, vgprs, lanes), and memos
            of A and B.
        modes: the modifiers and MODE.

    Returns:
        uint32 (waves, Bs, As, vgprs, lanes).
    """
    read = op.under(modes)
    memos = registers.memos or ({}, {})
    a, b = _once(memos[0], read["A"], registers.a), _once(memos[1], read["B"], registers.b)
    c = read["C"].unpack(registers.c)
    rows = a.shape[1] * op.m
    given = Operands(a.reshape(len(a), 1, rows, op.k), b, c.reshape(*c.shape[:2], rows, op.n), memos=registers.memos)
    d = arithmetic.multiply_exactly(op.model, _formats(read), given, modes)
    return None if d is None else read["D"].pack(d.reshape(c.shape))


def _once(memo: Memo, fragment: Fragment, registers: NDArray[np.uint32]) -> NDArray[Any]:
    """Codes that registers hold, which a memo may have already."""
    codes: NDArray[Any] | None = memo.get("codes")
    if codes is None:
        codes = memo["codes"] = fragment.unpack(registers)
    return codes


def _product(op: MatrixOperands, operands: Operands, modes: Modes, read: Mapping[str, Fragment]) -> NDArray[Any]:
    """D of checked matrices, in the formats that the fragments are read in."""
    operands = negate_operands(operands, modes, op.row.words)
    formats = _formats(read)
    if op.row.scaled:
        scales = (read["scale_A"].format, read["scale_B"].format)
        formats = Formats(*formats[:4], *scales, op.row.scale_block)
    return arithmetic.multiply(op.model, formats, operands, modes)


def _formats(read: Mapping[str, Fragment]) -> Formats:
    return Formats(read["A"].format, read["B"].format, read["D"].format, read["C"].format)


def _check_given(op: MatrixOperands, given: Operands) -> None:
    """Check that the operands given are those that the instruction has."""
    if given.a is None or given.b is None or given.c is None:
        raise MfmasimError(f"{op.name} needs A, B and C")
    for name in given.named():
        if name not in op.operands:
            raise MfmasimError(f"{op.name} takes no {name.lower()}")
    if op.sparse and given.index is None:
        raise MfmasimError(f"{op.name} needs index: which two of every four k each row of A keeps")


def _elements(fragment: Fragment, matrix: Any) -> NDArray[Any]:
    """Codes of a matrix as the instruction reads them: under a broadcast, those that it reads."""
    if fragment.name == "scale_B" and np.shape(matrix)[-2:] == (fragment.cols, fragment.rows):
        matrix = np.swapaxes(matrix, -1, -2)
    codes = fragment.check(matrix)
    if fragment.origin is None:
        return codes
    flat = codes.reshape(*codes.shape[: codes.ndim - len(fragment.shape)], -1)
    return np.take(flat, fragment.origin, axis=-1).reshape(codes.shape)
