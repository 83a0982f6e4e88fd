"""Values that move between lanes or registers: writelane, swaps, DS permutes and swizzles.

Source: CDNA3 ISA manual, VOP1, VOP3 and DS (ds_permute, ds_bpermute, ds_swizzle); RDNA3 ISA manual, 12.5.2, and RDNA4
ISA manual, 12.5 (DS permutes of 32 and of 64 lanes); CDNA4 ISA manual, v_permlane*_swap.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.machine.binding.operands import read_dword, scalar_reader
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.opcodes.undefined_rules import bits, moves

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mfmasim.isa import Instruction
    from mfmasim.machine.events.interface import Bound, Machine
    from mfmasim.machine.state.waves import Group

    Pull = Callable[[Group, NDArray[np.uint32], NDArray[np.int64]], NDArray[np.uint32]]


def _writelane(instruction: Instruction, _machine: Machine) -> Bound:
    """Write one lane, regardless of EXEC."""
    value = scalar_reader(instruction.src[0], "u32", instruction)
    lane = scalar_reader(instruction.src[1], "u32", instruction)
    file, index = instruction.dst[0].kind, instruction.dst[0].index

    def run(g: Group) -> None:
        chosen = (lane(g) & np.uint32(g.lanes - 1))[:, None] == np.arange(g.lanes, dtype=np.uint32)
        g.write_all_lanes(file, index, np.where(chosen, value(g)[:, None], g.v(file, index)))

    return run


direct("v_writelane_b32", undefined=moves(1, keeps=True, every_lane=True))(_writelane)


def _swap(instruction: Instruction, _machine: Machine) -> Bound:
    """Exchange two registers."""
    first, second = instruction.dst[0].index, instruction.src[0].index

    def run(g: Group) -> None:
        one, two = g.v("v", first), g.v("v", second)
        g.write_v("v", first, two)
        g.write_v("v", second, one)

    return run


direct("v_swap_b32", undefined=bits(exchanges=True))(_swap)


def _permlane_swap(half: int, instruction: Instruction, _machine: Machine) -> Bound:
    """Exchange the upper part of the first register with the lower part of the second, in blocks of 32 or 64 lanes.

    The manual gives no meaning to a partial EXEC. Here an inactive lane keeps what it has, and an active one reads
    that, or 0 under BOUND_CTRL without FI, as V_PERMLANE16 of RDNA does (assumed).
    """
    zeroes = bool(instruction.modifiers.get("bound_ctrl")) and not instruction.modifiers.get("fi")
    first, second = instruction.dst[0].index, instruction.src[0].index

    def run(g: Group) -> None:
        shape = (-1, g.lanes // (2 * half), 2, half)
        given = [g.v("v", index) for index in (first, second)]
        read = [np.where(g.active, values, np.uint32(0)) for values in given] if zeroes else given
        rows = max(len(values) for values in (*given, *read))
        one, two, from_one, from_two = (
            np.broadcast_to(values, (rows, g.lanes)).reshape(shape) for values in (*given, *read)
        )
        g.write_v("v", first, np.stack([one[:, :, 0], from_two[:, :, 0]], axis=2).reshape(rows, g.lanes))
        g.write_v("v", second, np.stack([from_one[:, :, 1], two[:, :, 1]], axis=2).reshape(rows, g.lanes))

    return run


for _half in (16, 32):
    direct(f"v_permlane{_half}_swap_b32", undefined=moves(keeps=True, exchanges=True))(partial(_permlane_swap, _half))


def swizzle_lanes(offset: int, lanes: int = 64) -> NDArray[np.int64]:
    """The lane that each lane reads under the offset of ds_swizzle_b32, int64 (lanes,)."""
    lane = np.arange(lanes)
    low, upper, mask = lane & 31, lane & ~31, offset & 31
    if offset >= 0xE000:  # FFT: reversed bits
        reversed_bits = sum((low >> bit & 1) << (4 - bit) for bit in range(5))
        return ((reversed_bits >> mask.bit_count()) | (low & mask)) | upper
    if offset >= 0xC000:  # rotate, to the right when bit 10 is set
        step = (offset >> 5 & 31) * (-1 if offset >> 10 & 1 else 1)
        return (low & mask) | ((low + step) & 31 & ~mask) | upper
    if offset >> 15:  # four lanes, two bits each
        return (lane & ~3) | (offset >> 2 * (lane & 3) & 3)
    return ((((low & mask) | (offset >> 5 & 31)) ^ (offset >> 10 & 31)) & 31) | upper


def _gather(g: Group, values: NDArray[np.uint32], source: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Other lanes' values, (waves, lanes); 0 from a lane that EXEC disables."""
    return _pull(g, np.where(g.active, values, np.uint32(0)), source)


def _pull(g: Group, valid: NDArray[np.uint32], source: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Other lanes' values, (waves, lanes)."""
    rows = max(len(valid), len(source))
    shape = (rows, g.lanes)
    return np.take_along_axis(np.broadcast_to(valid, shape), np.broadcast_to(source, shape), axis=1)


def _ds_swizzle(instruction: Instruction, machine: Machine) -> Bound:
    source = swizzle_lanes(instruction.modifiers.get("offset", 0), machine.kernel.wave)[None]
    read = read_dword(instruction.src[0], 0, instruction)
    to = instruction.dst[0]
    return lambda g: g.write_v(to.kind, to.index, _gather(g, read(g), source))


direct("ds_swizzle_b32", undefined=moves())(_ds_swizzle)


def permute_target(instruction: Instruction, reach: int) -> Callable[[Group], NDArray[np.int64]]:
    """The lane that an address names: a quarter of the byte address, upper bits ignored, (1 or waves, lanes).

    Args:
        instruction: a DS permute.
        reach: lanes that it reaches (`Lds.permute_lanes`): each part of that many lanes names lanes of its own.
    """
    read = read_dword(instruction.src[0], 0, instruction)
    offset = np.uint32(instruction.modifiers.get("offset", 0))

    def target(g: Group) -> NDArray[np.int64]:
        size = min(reach, g.lanes)
        named = ((read(g) + offset) >> np.uint32(2) & np.uint32(size - 1)).astype(np.int64)
        return named if size == g.lanes else named | (np.arange(g.lanes) & -size)

    return target


def _in_parts(instruction: Instruction, machine: Machine, run: Bound) -> Bound:
    """A DS permute: where a wave has more lanes than it reaches, the sources differ."""
    if machine.kernel.wave <= machine.arch.lds.permute_lanes:
        return run

    def step(g: Group) -> None:
        machine.outcome.fidelity[instruction.name] = "assumed"
        run(g)

    return step


def _ds_bpermute(pull: Pull, instruction: Instruction, machine: Machine) -> Bound:
    """Pull: every lane reads the lane that it selects; the FI form reads lanes that EXEC disables, too."""
    source = permute_target(instruction, machine.arch.lds.permute_lanes)
    read = read_dword(instruction.src[1], 0, instruction)
    to = instruction.dst[0]
    return _in_parts(instruction, machine, lambda g: g.write_v(to.kind, to.index, pull(g, read(g), source(g))))


for _name, _body in (("ds_bpermute_b32", _gather), ("ds_bpermute_fi_b32", _pull)):
    direct(_name, undefined=moves(0))(partial(_ds_bpermute, _body))


def _ds_permute(instruction: Instruction, machine: Machine) -> Bound:
    """Push: every active lane writes to the lane it selects; of several the highest wins, with none it gets 0."""
    target = permute_target(instruction, machine.arch.lds.permute_lanes)
    read = read_dword(instruction.src[1], 0, instruction)
    to = instruction.dst[0]

    def run(g: Group) -> None:
        values, lanes, active = np.broadcast_arrays(read(g), target(g), g.active)
        out = np.zeros(values.shape, np.uint32)
        wave, lane = np.nonzero(active)  # in lane order: a later assignment to one place wins
        out[wave, lanes[wave, lane]] = values[wave, lane]
        g.write_v(to.kind, to.index, out)

    return _in_parts(instruction, machine, run)


direct("ds_permute_b32", undefined=moves(0, pushes=True))(_ds_permute)
