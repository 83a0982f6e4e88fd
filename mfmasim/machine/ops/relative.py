"""Moves between VGPRs whose numbers M0 shifts. Source: RDNA3 and RDNA4 ISA manuals, VGPR indexing and V_MOVREL.

An index beyond the wave's registers reads VGPR0; a destination beyond them is not written (3.3.2.2).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.state.waves import Group

WHOLE, LOW, HIGH = (0, 0xFFFFFFFF), (0, 0x3FF), (16, 0x3FF)
Field = tuple[int, int] | None
"""A field of M0: shift and mask."""
#   mnemonic            field added to the source, and to the destination; whether they exchange
ROWS: tuple[tuple[str, Field, Field, bool], ...] = (
    ("v_movrels_b32", WHOLE, None, False),
    ("v_movreld_b32", None, WHOLE, False),
    ("v_movrelsd_b32", WHOLE, WHOLE, False),
    ("v_movrelsd_2_b32", LOW, HIGH, False),
    ("v_swaprel_b32", LOW, HIGH, True),
)


def parts_of(g: Group, values: NDArray[np.uint32]) -> list[tuple[int, Group]]:
    """The waves of a group by the value that each has in a scalar register."""
    if (values == values[0]).all():
        return [(int(values[0]), g)]
    indices, spread = g.indices(), np.broadcast_to(values, (g.count,))
    chosen = [(int(value), indices[spread == value]) for value in np.unique(values)]
    return [(value, Group(g.waves, which)) for value, which in chosen]


def _added(field: Field, m0: int) -> int:
    return 0 if field is None else m0 >> field[0] & field[1]


def _bind(source_field: Field, target_field: Field, swaps: bool, instruction: Instruction, machine: Machine) -> Bound:
    source, target = instruction.src[0], instruction.dst[0]
    if source_field is not None and source.kind != "v":
        raise unsupported(instruction, f"relative source of kind {source.kind}")
    plain = read_dword(source, 0, instruction) if source_field is None else None
    m0 = machine.arch.m0

    def run(g: Group) -> None:
        for value, part in parts_of(g, g.s(m0)):
            count = len(part.waves.v)
            first, last = source.index + _added(source_field, value), target.index + _added(target_field, value)
            first = first if first < count else 0
            moved = part.v("v", first) if plain is None else plain(part)
            if swaps and first < count and last < count:
                part.write_v("v", first, part.v("v", last))
            if last < count:
                part.write_v("v", last, moved)
        g.refresh()

    return run


for _name, _source, _target, _swaps in ROWS:
    direct(_name)(partial(_bind, _source, _target, _swaps))
