"""The parts of an instruction that a comparison follows separately, and the registers that each part accesses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.binding.bind import bind, operation_of
from mfmasim.machine.binding.dpp import is_dpp, source_lanes
from mfmasim.machine.binding.dual import bind_dual
from mfmasim.machine.definedness.flow import registers_of
from mfmasim.machine.definedness.keys import keys_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mfmasim.arrays import Flags
    from mfmasim.isa import Instruction
    from mfmasim.machine.definedness.flow import Registers as Accessed
    from mfmasim.machine.events.interface import Bound, Machine
    from mfmasim.machine.opcodes.registry import Operation
    from mfmasim.prove.equality.pool import Codes

    Numbers = NDArray[np.int64]

MOST_OPERANDS = 4
"""Operands of one instruction whose bits are followed."""


@dataclass(frozen=True)
class Part:
    """An instruction, or half of a dual instruction, and the registers that it accesses."""

    instruction: Instruction
    operation: Operation
    run: Bound
    accessed: Accessed
    kept: list[int]
    """Destinations that keep a part in active lanes: a half of the register, or lanes that DPP disables."""
    moves: bool
    """Whether each bit of a result is a function of one bit of each operand, by the operation's `Rule`."""
    by_lane: bool


def parts_of(machine: Machine, instruction: Instruction) -> Iterator[Part]:
    """The instruction, or the halves of a dual instruction.

    Args:
        machine: the machine that executes the instruction.
        instruction: decoded.
    """
    for part in instruction.halves or (instruction,):
        operation = operation_of(part)
        run = bind_dual([(part, operation)], machine.arch) if instruction.halves else bind(part, machine)
        accessed = registers_of(part, len(machine.waves.v), machine.arch.sgprs)
        rule = operation.undefined
        by_lane = operation.unit == "vector" and not (rule.every_lane or rule.quad or is_dpp(part) or rule.pushes)
        partial = is_dpp(part) or half_written(part, operation) or part.opcode.relative
        kept = [key for key in accessed.writes if partial and not (rule.exchanges and key in accessed.reads)]
        yield Part(part, operation, run, accessed, kept, rule.kind in ("bits", "moves"), by_lane)


def exchanged(instruction: Instruction, active: Flags) -> tuple[Numbers, Flags]:
    """The lane that each lane reads by DPP, -1 for a 0, and the lanes that are written; both (waves, lanes).

    Args:
        instruction: with DPP.
        active: EXEC.
    """
    modifiers, wave = instruction.modifiers, active.shape[1]
    lane = np.arange(wave)
    lanes = np.broadcast_to(source_lanes(instruction, wave), active.shape)
    there = lanes >= 0
    if not modifiers.get("fi"):
        there = there & np.take_along_axis(active, np.maximum(lanes, 0), axis=1)
    enabled = (modifiers.get("row_mask", 15) >> lane // 16 & modifiers.get("bank_mask", 15) >> lane // 4 % 4 & 1) != 0
    written = active & enabled
    if not modifiers.get("bound_ctrl", 1):
        written = written & there
    return np.where(there, lanes, -1), written


def half_written(instruction: Instruction, operation: Operation) -> bool:
    """Whether a lane that is written keeps a part of its destination."""
    narrow = any(kind in ("u16", "i16", "f16", "b16") for kind in operation.results)
    halves = any(operand.half for operand in instruction.dst) or instruction.modifiers.get("dst_sel", 6) != 6
    return narrow or halves or operation.undefined.keeps


def varying(part: Part, codes: Mapping[int, Codes]) -> list[tuple[int, ...]] | None:
    """Registers with bits that depend on inputs, by operand; a destination that keeps a part is an operand.

    None if the bits cannot be followed: a register occurs in two operands, or an operand selects lanes or bits.

    Args:
        part: an instruction.
        codes: of the bytes of every register that the part reads or keeps.
    """
    sources = {key for operand in part.instruction.src for key in keys_of(operand)}
    # Each lane of a copy has its source, or the destination's old contents; no content decides between the two.
    copied = part.instruction.opcode.copies
    kept = tuple(key for key in part.kept if not (copied and key in sources))
    parts = [*(keys_of(operand) for operand in part.instruction.src), kept]
    found = [keys for keys in parts if any((codes[key] >= 0).any() for key in keys if key in codes)]
    keys = [key for one in found for key in one]
    steering = {key for place in part.operation.undefined.steering for key in keys_of(part.instruction.src[place])}
    if len(found) > MOST_OPERANDS or len(set(keys)) < len(keys) or steering & set(keys):
        return None
    return found if all(key in codes for key in keys) else None
