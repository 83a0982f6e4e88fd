"""Registers chosen at run time: VGPR indexing mode and s_movrel. Source: CDNA3 ISA manual, 6.6 and SOP1.

S_SET_GPR_IDX_ON sets bit 27 of MODE (gpr_idx_en). While it is set, M0[7:0] is added to the numbers of the vector
registers that M0[15:12] enables (src0, src1, src2, destination). The machine then executes blocks whose vector
instructions were bound by `indexed`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from mfmasim.isa import Instruction, Operand
from mfmasim.machine.binding.operands import scalar_reader
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.opcodes.undefined_rules import index
from mfmasim.machine.ops.relative import parts_of
from mfmasim.machine.state.waves import Group

M0 = 124
"""Its code on the architectures that have the mode."""
GPR_IDX_EN = np.uint32(1 << 27)
INDEX, ENABLES = np.uint32(0xFF), np.uint32(0xF000)
SOURCES, DESTINATION = ("src0", "src1", "src2"), 3
"""Bits 0 to 2 of M0[15:12] are for the sources; a destination that is read back goes with the destination."""
M = TypeVar("M", bound="Machine")
ENCODINGS = ("VOP1", "VOP2", "VOP3", "VOP3P", "VOPC", "SDWA", "DPP")


def _idx_on(instruction: Instruction, _machine: Machine) -> Bound:
    read = scalar_reader(instruction.src[0], "u32", instruction)
    enables = np.uint32(instruction.src[1].bits << 12)

    def run(g: Group) -> None:
        g.write_s(M0, (g.s(M0) & ~(INDEX | ENABLES)) | (read(g) & INDEX) | enables)
        g.write_mode(g.mode | GPR_IDX_EN)

    return run


direct("s_set_gpr_idx_on", undefined=index(int(INDEX | ENABLES)))(_idx_on)


def _idx_off(_instruction: Instruction, _machine: Machine) -> Bound:
    return lambda g: g.write_mode(g.mode & ~GPR_IDX_EN)


direct("s_set_gpr_idx_off")(_idx_off)


def _idx_idx(instruction: Instruction, _machine: Machine) -> Bound:
    read = scalar_reader(instruction.src[0], "u32", instruction)
    return lambda g: g.write_s(M0, (g.s(M0) & ~INDEX) | (read(g) & INDEX))


direct("s_set_gpr_idx_idx", undefined=index(int(INDEX)))(_idx_idx)


def _idx_mode(instruction: Instruction, _machine: Machine) -> Bound:
    enables = np.uint32((instruction.src[0].bits & 15) << 12)
    return lambda g: g.write_s(M0, (g.s(M0) & ~ENABLES) | enables)


direct("s_set_gpr_idx_mode", undefined=index(int(ENABLES)))(_idx_mode)


def _shifted(operand: Operand, place: int, m0: int) -> Operand:
    """The operand with the index added; `place` is its number among the sources (V_MADMK has S2 in src1)."""
    bit = place if operand.field in SOURCES else DESTINATION
    if operand.written[0] != "v" or operand.field not in (*SOURCES, "vdst", "") or not m0 >> 12 + bit & 1:
        return operand
    return replace(operand, index=operand.index + (m0 & 0xFF))


def _in_range(instruction: Instruction, count: int, bind: Callable[[Instruction], Bound]) -> Bound:
    """Beyond the wave's registers a source is VGPR0, and a destination makes the instruction do nothing (6.2.3)."""

    def outside(operand: Operand) -> bool:
        return operand.kind == "v" and operand.index + operand.count > count

    if any(outside(operand) for operand in instruction.dst):
        return lambda g: None  # noqa: ARG005
    sources = tuple(replace(operand, index=0) if outside(operand) else operand for operand in instruction.src)
    return bind(replace(instruction, src=sources))


def indexed(instruction: Instruction, machine: M, bind: Callable[[Instruction, M], Bound]) -> Bound:
    """Bind an instruction that runs with VGPR indexing on: once for every value of M0 that occurs."""
    if instruction.encoding not in ENCODINGS:
        return bind(instruction, machine)
    bound: dict[int, Bound] = {}

    def at(m0: int) -> Bound:
        if m0 not in bound:
            changed = replace(
                instruction,
                src=tuple(_shifted(operand, place, m0) for place, operand in enumerate(instruction.src)),
                dst=tuple(_shifted(operand, DESTINATION, m0) for operand in instruction.dst),
            )
            bound[m0] = _in_range(changed, len(machine.waves.v), lambda ins: bind(ins, machine))
        return bound[m0]

    def run(g: Group) -> None:
        values = g.s(M0)
        if (values == values[0]).all():
            at(int(values[0]))(g)
            return
        indices = g.indices()
        for value in np.unique(values):
            chosen = indices[np.broadcast_to(values, (g.count,)) == value]
            at(int(value))(Group(g.waves, chosen))
        g.refresh()

    return run


def _movrels(count: int, instruction: Instruction, machine: Machine) -> Bound:
    """Read `count` SGPRs from the operand's number plus M0 on, from SGPR0 on when there are none."""
    source, target = instruction.src[0].index, instruction.dst[0].index

    def run(g: Group) -> None:
        for number, part in parts_of(g, g.s(machine.arch.m0) + np.uint32(source)):
            first = number if number + count <= machine.arch.sgprs else 0
            values = [part.s(first + k) for k in range(count)]
            for k, value in enumerate(values):
                part.write_s(target + k, value)
        g.refresh()

    return run


def _movreld(count: int, instruction: Instruction, machine: Machine) -> Bound:
    """Write `count` SGPRs from the destination's number plus M0 on; nothing when there are none."""
    target = instruction.dst[0].index
    read = scalar_reader(instruction.src[0], "u64" if count == 2 else "u32", instruction)

    def run(g: Group) -> None:
        for first, part in parts_of(g, g.s(machine.arch.m0) + np.uint32(target)):
            if first + count > machine.arch.sgprs:
                continue
            value = read(part)
            part.write_s(first, value.astype(np.uint32))
            if count == 2:
                part.write_s(first + 1, (value >> np.uint64(32)).astype(np.uint32))
        g.refresh()

    return run


for _count, _type in ((1, "b32"), (2, "b64")):
    direct(f"s_movrels_{_type}")(partial(_movrels, _count))
    direct(f"s_movreld_{_type}")(partial(_movreld, _count))


def _movrelsd(instruction: Instruction, machine: Machine) -> Bound:
    """Both numbers plus a field of M0 each (RDNA3 and RDNA4 ISA manuals, S_MOVRELSD_2_B32)."""
    source, target = instruction.src[0].index, instruction.dst[0].index

    def run(g: Group) -> None:
        for m0, part in parts_of(g, g.s(machine.arch.m0)):
            first, last = source + (m0 & 0x3FF), target + (m0 >> 16 & 0x3FF)
            if last < machine.arch.sgprs:
                part.write_s(last, part.s(first if first < machine.arch.sgprs else 0))
        g.refresh()

    return run


direct("s_movrelsd_2_b32")(_movrelsd)
