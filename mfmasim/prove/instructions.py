"""One instruction of some waves: registers, masks and flags after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.architectures import arch as find_arch
from mfmasim.isa.operands import EXEC
from mfmasim.machine.ops.scalar_mode import NUMBERS, written_mode
from mfmasim.prove.masks import Condition, Mask
from mfmasim.prove.paths import Stopped
from mfmasim.prove.polynomial import TooLarge
from mfmasim.prove.scalar_instructions import execute_scalar
from mfmasim.prove.vector_instructions import execute_vector

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.prove.state import State

UNSAFE = {"setreg", "index", "index_mode", "msb", "fork", "relative", "skip"}
"""Kinds of operations that change the meaning of later instructions."""


def execute_alu(state: State, ins: Instruction) -> None:
    """Execute an instruction that accesses neither memory nor the program counter.

    Raises:
        Fork, Split: the instruction depends on a condition that is not decided.
        Stopped: the instruction is not followed, and its effect is unknown.
    """
    for part in ins.halves:
        _refuse(part)
    if ins.halves:
        _dual(state, ins)
        return
    _refuse(ins)
    state.rounds &= ins.opcode.kind != "mode"
    try:
        if ins.opcode.unit == "SALU":
            execute_scalar(state, ins)
        else:
            execute_vector(state, ins)
    except TooLarge:
        _forget(state, ins)


def _refuse(ins: Instruction) -> None:
    opcode = ins.opcode
    if opcode.kind == "setreg" and not written_mode(ins) & (NUMBERS | find_arch(ins.arch).vector_mode):
        return  # it changes rounding, denormals or exceptions of floats, which are not followed
    if opcode.kind in UNSAFE or opcode.relative:
        raise Stopped(f"{ins.text} is not followed", ins.pc)


def _dual(state: State, ins: Instruction) -> None:
    """Both halves of a dual instruction read their sources before either half writes."""
    found = []
    for part in ins.halves:
        copy = state.copy()
        try:
            execute_vector(copy, part)
        except TooLarge:
            _forget(copy, part)
        found.append([(o, [copy.v.get((o.kind, o.index + k)) for k in range(o.count)]) for o in part.dst])
    for results in found:
        for operand, words in results:
            for k, word in enumerate(words):
                if word is None:
                    state.v.pop((operand.kind, operand.index + k), None)
                else:
                    state.v[operand.kind, operand.index + k] = word
                state.put.add((operand.kind, operand.index + k))


def _forget(state: State, ins: Instruction) -> None:
    """The destinations of an instruction become unknown."""
    for operand in ins.dst:
        state.write(operand, [])
    if ins.opcode.unit == "SALU":
        state.scc = None
        if ins.opcode.saves_exec:
            state.write_mask(EXEC, Mask(state.every().on, frozenset({(Condition.opaque(), True)})))
