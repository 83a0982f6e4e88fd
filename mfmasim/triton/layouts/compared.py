"""Triton's layouts against the rows of matrix instructions: which element each lane passes, and which K it stands for.

A product does not depend on how K is numbered, as long as both factors are numbered alike. So the places of A and B are
compared up to one renumbering of K, which is stated; lines of the product, the accumulator and scales are compared as
they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.errors import MfmasimError
from mfmasim.formats import format as find_format
from mfmasim.machine.opcodes.matrix import resolve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mfmasim.arrays import I64
    from mfmasim.kernels import Kernel
    from mfmasim.matrix import Fragment, MatrixInstruction
    from mfmasim.triton.layouts.held import Dot


OTHER = {"A": "B", "B": "A", "scale_A": "scale_B", "scale_B": "scale_A"}
SCALE_BLOCK = 32
"""Elements along K that share a scale, in Triton's scaled products."""


@dataclass(frozen=True)
class Compared:
    """One operand of a product."""

    operand: str
    """Of the product."""
    passed_as: str
    """Operand of the instruction."""
    places: int
    wrong: int
    first: str = ""
    """The first place that differs."""


@dataclass(frozen=True)
class Comparison:
    """A product's layouts beside an instruction's."""

    dot: Dot
    operation: MatrixInstruction | None
    operands: tuple[Compared, ...] = ()
    order: tuple[int, ...] = ()
    """K of the tensor, from the tile's first, that each K of the instruction stands for."""
    reason: str = ""
    """Why nothing was compared, or what does not fit beyond single places."""

    @property
    def verdict(self) -> str:
        """``equal``, ``K renumbered``, ``differs`` or ``not compared``."""
        if not self.operands:
            return "not compared"
        if self.reason or any(one.wrong for one in self.operands):
            return "differs"
        return "equal" if self.order == tuple(range(len(self.order))) else "K renumbered"


def operations(kernel: Kernel) -> dict[str, MatrixInstruction]:
    """The matrix instructions of a kernel, by name and formats."""
    found = {}
    for instruction in kernel.instructions:
        if instruction.opcode.matrix:
            operation, _ = resolve(instruction, kernel.arch, kernel.wave)
            found[f"{operation.name} {operation.a} {operation.b}"] = operation
    return found


def compare(dot: Dot, kernel: Kernel) -> Comparison:
    """Compare a product's layouts with the instruction that computes it.

    Args:
        dot: the product.
        kernel: its code, in which the instruction is looked for.
    """
    if dot.unread:
        return Comparison(dot, None, reason=dot.unread)
    fitting = [operation for operation in operations(kernel).values() if _fits(dot, operation)]
    if not fitting:
        return Comparison(dot, None, reason="no matrix instruction of these formats and this shape in the kernel")
    made = [_compared(dot, operation) for operation in fitting]
    ranks = {"equal": 0, "K renumbered": 1, "differs": 2, "not compared": 3}
    return min(made, key=lambda one: ranks[one.verdict])


def _fits(dot: Dot, operation: MatrixInstruction) -> bool:
    m, n, *k = dot.shape or (operation.m, operation.n)
    if (operation.m, operation.n) not in ((m, n), (n, m)) or (k and k[0] != operation.k):
        return False
    a, b = (dot.operands[tensor_of(dot, name)].format for name in ("A", "B"))
    pairs = ((a, operation.A.format), (b, operation.B.format), (dot.operands["D"].format, operation.D.format))
    return not operation.sparse and all(_same(*pair) for pair in pairs)


def _same(tensor: str, operand: str) -> bool:
    """Whether an instruction takes a tensor's elements: signs are modifiers, and TF32 is a rounding of f32."""
    if tensor == operand or (tensor, operand) == ("f32", "xf32"):
        return True
    try:
        ours, theirs = find_format(operand), find_format(tensor)
    except MfmasimError:
        return False
    return bool(ours.integer and theirs.integer and ours.bits == theirs.bits)


def tensor_of(dot: Dot, operand: str) -> str:
    """The product's operand that is passed as an operand of the instruction."""
    return OTHER[operand] if dot.exchanged and operand in OTHER else operand


def _items(fragment: Fragment) -> tuple[I64, I64]:
    """Row and column that each lane holds, (lanes, elements of a lane), in the order of its registers' bits."""
    table = np.sort(fragment.table(), order=("lane", "vgpr", "bit"))
    lanes = len(np.unique(table["lane"]))
    rows, cols = (table[name].astype(np.int64).reshape(lanes, -1) for name in ("row", "col"))
    return rows, cols


def tensor_places(dot: Dot, name: str) -> tuple[I64, I64]:
    """Line of the product and K that each place of a factor stands for: (waves, lanes, registers)."""
    held = dot.operands[name]
    places = held.places()
    line_axis = 1 if name == "B" else 0
    lines, ks = places[..., line_axis], places[..., 1 - line_axis]
    if held.format == "e2m1fn" and not name.startswith("scale"):  # bytes of two, low nibble first
        lines = np.repeat(lines, 2, -1)
        ks = (ks[..., None] * 2 + np.arange(2)).reshape(lines.shape)
    return lines, ks


def expected(dot: Dot, operand: str, operation: MatrixInstruction) -> I64:
    """Line of the product and K that each slot of an instruction's factor should hold.

    Args:
        dot: the product.
        operand: ``A`` or ``B`` of the instruction.
        operation: the instruction.

    Returns:
        (waves, groups of registers, lines, K, 2).
    """
    fragment = operation.operands[operand]
    rows, cols = _items(fragment)
    slots = (rows, cols) if operand == "A" else (cols, rows)
    lines, ks = tensor_places(dot, tensor_of(dot, operand))
    waves, lanes, registers = lines.shape
    groups = registers // rows.shape[1]
    size = (fragment.rows, fragment.cols) if operand == "A" else (fragment.cols, fragment.rows)
    found = np.full((waves, groups, *size, 2), -1, np.int64)
    for axis, values in enumerate((lines, ks)):
        grouped = values.reshape(waves, lanes, groups, -1).transpose(0, 2, 1, 3)
        found[:, :, slots[0], slots[1], axis] = grouped
    return found


def _compared(dot: Dot, operation: MatrixInstruction) -> Comparison:
    if operation.blocks > 1:
        return Comparison(dot, operation, reason=f"{operation.name} multiplies {operation.blocks} blocks at a time")
    for name in ("A", "B", "D"):
        held = dot.operands[tensor_of(dot, name)]
        count = _items(operation.operands[name])[0].shape[1]
        registers = (1 << len(held.registers)) * (2 if held.format == "e2m1fn" and name != "D" else 1)
        if 1 << len(held.lanes) != operation.wave or registers % count:
            text = f"{tensor_of(dot, name)} has {registers} elements in a lane, the instruction takes {count}"
            return Comparison(dot, operation, reason=text)
    compared = []
    orders: dict[str, I64] = {}
    for name in ("A", "B"):
        one, orders[name] = _factor(dot, name, operation)
        compared.append(one)
    compared.append(_result(dot, operation))
    reason = ""
    if {bytes(row) for row in orders["A"]} != {bytes(row) for row in orders["B"]}:
        reason = "A and B number K differently"
    relative = np.unique(orders["A"] - orders["A"].min(axis=1, keepdims=True), axis=0)
    if len(relative) > 1 and not reason:
        reason = f"tiles number K in {len(relative)} ways"
    scales = [name for name in ("scale_A", "scale_B") if name in dot.operands and name in operation.operands]
    compared += [_scale(dot, name, operation, orders["A"]) for name in scales]
    return Comparison(dot, operation, tuple(compared), tuple(int(k) for k in relative[0]), reason)


def _grouped(values: I64, count: int) -> I64:
    """(waves, lanes, registers) as (waves and groups, lanes, registers of a group)."""
    waves, lanes, registers = values.shape
    grouped = values.reshape(waves, lanes, registers // count, count)
    return grouped.transpose(0, 2, 1, 3).reshape(-1, lanes, count)


def _factor(dot: Dot, operand: str, operation: MatrixInstruction) -> tuple[Compared, I64]:
    """A factor's places, and the order of K of each group of registers."""
    rows, cols = _items(operation.operands[operand])
    line, k = (rows, cols) if operand == "A" else (cols, rows)
    name = tensor_of(dot, operand)
    lines, ks = (_grouped(values, line.shape[1]) for values in tensor_places(dot, name))
    steps = lines - line
    wrong = steps != steps[:, :1, :1]
    first = np.unique(k, return_index=True)[1]
    orders = ks.reshape(len(ks), -1)[:, first]
    wrong |= ks != orders[:, k]
    return _judged(name, operand, wrong, lines, ks), orders


def _result(dot: Dot, operation: MatrixInstruction) -> Compared:
    rows, cols = _items(operation.D)
    places = dot.operands["D"].places()
    if dot.exchanged:
        places = places[..., ::-1]
    lines, columns = (_grouped(places[..., axis], rows.shape[1]) for axis in (0, 1))
    wrong = np.zeros(lines.shape, np.bool_)
    for values, own in ((lines, rows), (columns, cols)):
        steps = values - own
        wrong |= steps != steps[:, :1, :1]
    return _judged("D", "D", wrong, lines, columns)


def _scale(dot: Dot, operand: str, operation: MatrixInstruction, orders: I64) -> Compared:
    """A scale's places: the block along K of each has to be the block of the elements that it multiplies.

    Where an instruction reads the scales of some lanes only, it selects which (CDNA5's MATRIX_SCALE): each part of the
    wave is a choice.
    """
    rows, cols = _items(operation.operands[operand])
    name = tensor_of(dot, operand)
    lanes, count = rows.shape
    places = dot.operands[name].places()
    parts = places.reshape(-1, lanes, *places.shape[2:])
    lines, blocks = (_grouped(parts[..., axis], count) for axis in (0, 1))
    steps = lines - rows
    wrong = steps != steps[:, :1, :1]
    first = np.unique(cols, return_index=True)[1]
    held = blocks.reshape(len(blocks), -1)[:, first]
    wrong |= blocks != held[:, cols]
    meant = orders.reshape(len(orders), len(first), -1) // SCALE_BLOCK
    whole = (meant == meant[..., :1]).all()
    wanted = {bytes(row) for row in np.ascontiguousarray(meant[..., 0])}
    wrong |= np.array([not whole or bytes(row) not in wanted for row in held])[:, None, None]
    return _judged(name, operand, wrong, lines, blocks)


def _judged(name: str, operand: str, wrong: NDArray[np.bool_], lines: I64, others: I64) -> Compared:
    text = ""
    if wrong.any():
        group, lane, register = (int(i) for i in np.argwhere(wrong)[0])
        at = int(lines[group, lane, register]), int(others[group, lane, register])
        text = f"tile {group}, lane {lane}, element {register} of the lane: {name}{list(at)}"
    return Compared(name, operand, wrong.size, int(wrong.sum()), text)
