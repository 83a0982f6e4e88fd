"""Matrix instructions: registers in, registers out; the arithmetic is `mfmasim.matrix`'s. EXEC is ignored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import SIMULATED
from mfmasim.isa import Instruction, Operand
from mfmasim.machine.events import MatrixEvent
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.matrix import resolve
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import OPERATIONS, Operation
from mfmasim.machine.state.waves import Group
from mfmasim.matrix import instructions as matrix_instructions
from mfmasim.matrix.execution import execute
from mfmasim.matrix.request import Modes, Operands

MODE_FP16_OVFL = 23
MODE_DENORMALS_32 = 4
"""Lowest bit of MODE's FP_DENORM for f32: whether denormal sources are kept."""


def _registers(operand: Operand, instruction: Instruction) -> Callable[[Group], NDArray[np.uint32]]:
    """Read an operand as (waves, registers, lanes)."""
    first = operand.index
    if operand.kind in ("v", "a"):
        return lambda g: g.rows(operand)
    if operand.kind == "const":
        # An inline constant reaches every lane; the upper half of a 64-bit one is its own.
        words = np.array([operand.bits >> 32 * (k % 2) & 0xFFFFFFFF for k in range(operand.count)], np.uint32)
        if operand.type not in ("f64", "i64", "b64"):
            words[:] = operand.bits & 0xFFFFFFFF
        return lambda g: np.broadcast_to(words[None, :, None], (1, operand.count, g.lanes))
    if operand.kind == "s":
        return lambda g: np.broadcast_to(g.s(first)[:, None, None], (len(g.s(first)), 1, g.lanes))
    raise unsupported(instruction, f"matrix operand of kind {operand.kind}")


def _scalar_scales(operand: Operand, instruction: Instruction) -> Callable[[Group], NDArray[np.uint32]]:
    """Read a scalar as scales: its lowest byte is all of them, the constant 0 is 0x7F (CDNA5 ISA manual 7.12.6.2)."""
    if operand.kind == "const":
        if operand.bits:
            raise unsupported(instruction, "a scale that is neither a register nor the inline constant 0")
        return lambda g: np.full((1, operand.count, g.lanes), 0x7F7F7F7F, np.uint32)
    if operand.kind != "s":
        raise unsupported(instruction, f"scales of kind {operand.kind}")
    first = operand.index

    def read(g: Group) -> NDArray[np.uint32]:
        every = (g.s(first) & np.uint32(0xFF)) * np.uint32(0x01010101)
        return np.broadcast_to(every[:, None, None], (len(every), operand.count, g.lanes))

    return read


_SCALES = ("scale_A", "scale_B")


def with_mode(modes: Modes) -> Callable[[Group, Instruction], Modes]:
    """The modes of an execution: those of the encoding with what MODE adds in the waves of a group."""
    every = {
        (overflow, denormals): replace(modes, fp16_ovfl=overflow, denormals=denormals)
        for overflow in (False, True)
        for denormals in (False, True)
    }

    def now(g: Group, instruction: Instruction) -> Modes:
        overflow, denormals = (mode_bit(g, bit, instruction) for bit in (MODE_FP16_OVFL, MODE_DENORMALS_32))
        return every[overflow, denormals]

    return now


def bind_matrix(instruction: Instruction, machine: Machine) -> Bound:
    """Bind a matrix instruction of any family."""
    operation, modes = resolve(instruction, machine.arch, machine.kernel.wave)
    by_mode = with_mode(modes)
    own = operation.generation.scalar_scales
    sources = {
        name: (_scalar_scales if own and name in _SCALES and operand.kind != "v" else _registers)(operand, instruction)
        for name, operand in zip(operation.row.sources, instruction.src, strict=True)
    }
    target = instruction.dst[0]
    # 16-bit results of RDNA3 fill one half of their registers, the other stays.
    halves, filled = not operation.D.full, operation.under(modes)["D"].mask
    old = _registers(target, instruction)
    machine.outcome.fidelity[instruction.name] = operation.fidelity
    per = machine.launch.waves_per_workgroup

    factors = [
        (name, operand)
        for name, operand in zip(operation.row.sources, instruction.src, strict=True)
        if name in ("A", "B") and operand.kind in ("v", "a") and not machine.matrix_hooks
    ]

    def run(g: Group) -> None:
        now = by_mode(g, instruction)
        # Operands that are the same in every wave come with one wave, and are multiplied once.
        kept = {name: g.held(operand) for name, operand in factors}
        read = {name: kept[name].rows if name in kept else source(g) for name, source in sources.items()}
        waves = g.count if machine.matrix_hooks else max(map(len, read.values()))
        registers = Operands.of({name: np.broadcast_to(x, (waves, *x.shape[1:])) for name, x in read.items()})
        if len(kept) == 2:
            a, b = (kept[name].memo.setdefault((id(operation), now, waves, name), {}) for name in ("A", "B"))
            registers = replace(registers, memos=(a, b))
        before = old(g) if halves else None
        if machine.matrix_hooks:
            indices = g.indices()
            event = MatrixEvent(
                instruction,
                operation,
                machine.first_workgroup * per + indices,
                registers,
                now,
                lambda i, lane: machine.place(indices, i, lane),
            )
            out = machine.matrix(event, lambda: execute(operation, registers, now))
        else:
            out = execute(operation, registers, now)
        if before is not None:
            out = out & filled | before & ~filled
        for register in range(operation.D.vgprs):  # of C in f32 and D in bf16, one operand, D fills half
            g.write_all_lanes(target.kind, target.index + register, out[:, register])

    return run


def mode_bit(g: Group, bit: int, instruction: Instruction) -> bool:
    """One bit of MODE, which has to be the same in all waves of the group.

    Args:
        g: the group of waves.
        bit: number of the bit.
        instruction: the instruction that depends on it, for the message.

    Raises:
        MfmasimError: the waves have different modes.
    """
    values = g.mode >> np.uint32(bit) & np.uint32(1)
    if values.any() and not values.all():
        raise unsupported(instruction, f"waves of one group with different MODE bit {bit}")
    return bool(values.any())


def _register() -> None:
    """One entry per matrix instruction; its row says the fidelity at binding."""
    for arch in SIMULATED:
        for name in matrix_instructions(arch):
            OPERATIONS.setdefault(name, Operation(name, "direct", (), (), bind_matrix, "assumed"))


_register()
