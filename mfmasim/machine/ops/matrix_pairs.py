"""Matrix instructions that follow one another and multiply every one of some A by every one of some B: as one product.

Kernels keep a row of A's fragments and one of B's in registers, and multiply all pairs. Where every sum is exact
before it is rounded, the pairs are one large product; else each instruction runs by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction, Operand
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.matrix import resolve
from mfmasim.machine.ops.matrix import with_mode
from mfmasim.machine.state.register_memo import Held
from mfmasim.machine.state.waves import Group
from mfmasim.matrix import MatrixInstruction
from mfmasim.matrix.execution import execute_pairs
from mfmasim.matrix.request import Memo, Modes, Operands

PATIENCE = 32
"""Executions that run one by one after a product was not exact, before the next attempt."""


class _One(NamedTuple):
    """An instruction that may join others."""

    operation: MatrixInstruction
    modes: Modes
    a: Operand
    b: Operand
    c: Operand
    d: Operand


def paired(instructions: Sequence[Instruction], bound: list[Bound], machine: Machine) -> list[Bound]:
    """Steps of a block, with those of instructions that multiply all pairs joined.

    Args:
        instructions: those of the block.
        bound: the step of each.
        machine: what they were bound with; no observer replaces what matrix instructions compute.
    """
    ones = [_candidate(instruction, machine) for instruction in instructions]
    steps: list[Bound] = []
    for is_one, numbers in groupby(range(len(ones)), lambda number: ones[number] is not None):
        some = list(numbers)
        while some:
            length = _length([one for number in some if (one := ones[number]) is not None]) if is_one else 1
            now, some = some[:length], some[length:]
            each = [bound[number] for number in now]
            joined = [one for number in now if (one := ones[number]) is not None]
            steps += each if length == 1 else [_together(joined, [instructions[n] for n in now], each, machine)]
    return steps


def _candidate(instruction: Instruction, machine: Machine) -> _One | None:
    """The instruction, if it has one block, operands A, B and C in registers, and a D that fills its registers."""
    if not instruction.opcode.matrix or any(operand.kind not in ("v", "a") for operand in instruction.src):
        return None
    for observer in machine.value_observers:
        if not getattr(observer, "only_unusual", False) and observer.watches(instruction):
            return None
    operation, modes = resolve(instruction, machine.arch, machine.kernel.wave)
    if operation.row.sources != ("A", "B", "C") or operation.blocks != 1 or not operation.D.full:
        return None
    a, b, c = instruction.src
    return _One(operation, modes, a, b, c, instruction.dst[0])


def _length(ones: Sequence[_One]) -> int:
    """How many of the first instructions, one at least, form all pairs of some A and B and do not see another's D."""
    first, length = ones[0], 1
    for one in ones[1:]:
        sources = (one.a, one.b, one.c, one.d)
        if (one.operation, one.modes) != (first.operation, first.modes) or any(
            _overlap(earlier.d, operand) for earlier in ones[:length] for operand in sources
        ):
            break
        length += 1
    while length > 1:
        pairs = {(_place(one.a), _place(one.b)) for one in ones[:length]}
        if len(pairs) == length == len({a for a, _ in pairs}) * len({b for _, b in pairs}):
            break
        length -= 1
    return length


def _place(operand: Operand) -> tuple[str, int]:
    return operand.kind, operand.index


def _overlap(one: Operand, other: Operand) -> bool:
    return one.kind == other.kind and one.index < other.index + other.count and other.index < one.index + one.count


def _together(
    ones: Sequence[_One], instructions: Sequence[Instruction], bound: Sequence[Bound], machine: Machine
) -> Bound:
    """One step for instructions that form all pairs.

    Args:
        ones: the instructions.
        instructions: the same.
        bound: the step of each.
        machine: what they were bound with.
    """
    by_pair = {(_place(one.a), _place(one.b)): one for one in ones}
    a, b = {_place(one.a): one.a for one in ones}, {_place(one.b): one.b for one in ones}
    ordered = [by_pair[x, y] for y in b for x in a]
    operation, modes = ones[0].operation, with_mode(ones[0].modes)
    defined = [follows.defined(instructions) for follows in machine.followers]
    define = [follows.define(instructions) for follows in machine.followers]
    wait = 0

    def product(g: Group) -> NDArray[np.uint32] | None:
        now = modes(g, instructions[0])
        left, right, addends = g.held(*a.values()), g.held(*b.values()), g.rows(*(one.c for one in ordered))
        waves = max(map(len, (left.rows, right.rows, addends)))
        c = np.broadcast_to(addends, (waves, *addends.shape[1:]))
        operands = Operands(
            left.rows.reshape(-1, len(a), operation.A.vgprs, g.lanes),
            right.rows.reshape(-1, len(b), operation.B.vgprs, g.lanes),
            c.reshape(-1, len(b), len(a), operation.C.vgprs, g.lanes),
            memos=(_memo(left, "A", now), _memo(right, "B", now)),
        )
        return execute_pairs(operation, operands, now)

    def _memo(held: Held, name: str, now: Modes) -> Memo:
        memo: Memo = held.memo.setdefault((id(operation), now, name), {})
        return memo

    def run(g: Group) -> None:
        nonlocal wait
        # Sums that are exact are finite; under a full EXEC, of defined bits, no check finds anything in them.
        plain = g.mask is None and all(each() for each in defined)
        out = product(g) if plain and not wait else None
        if out is None:
            if plain:
                wait = wait - 1 if wait else PATIENCE
            for step in bound:
                step(g)
            return
        for each_define in define:
            each_define(g)
        each = out.reshape(len(out), len(ordered), -1, g.lanes)
        for number, one in enumerate(ordered):
            for register in range(one.d.count):
                g.write_all_lanes(one.d.kind, one.d.index + register, each[:, number, register])

    return run
