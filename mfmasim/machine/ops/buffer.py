"""MUBUF loads and stores through a buffer resource. Source: CDNA3 ISA manual, 9.1.5 to 9.1.8.

A lane beyond the resource's range reads 0 and stores nothing; that is what the range is for, so it is reported as
``buffer``, unlike addresses that hit no memory.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.refusal import unsupported
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.global_memory import LOADS, STORES, put
from mfmasim.machine.ops.resource import Reach, report_beyond, resource
from mfmasim.machine.ops.scratch import parts
from mfmasim.machine.ops.spaces import Access, Part, load, store
from mfmasim.machine.state.waves import Group


def clipped(
    machine: Spaces, g: Group, instruction: Instruction, reach: Reach, inside: NDArray[np.bool_], size: int, kind: str
) -> NDArray[np.bool_]:
    """The active lanes in range; reports the others."""
    active = inside & g.active
    beyond = ~inside & g.active
    if beyond.any():
        report_beyond(machine, g, instruction, reach, beyond, size, kind)
    return active


def load_words(
    machine: Spaces, g: Group, instruction: Instruction, reach: Reach, size: int
) -> list[NDArray[np.uint32]]:
    """Read `size` bytes per lane; each dword out of range is 0."""
    first = reach.address(0)
    if size > 4 and reach.linear and reach.inside(0, size).all() and machine.memory.within(first, size):
        return load(machine, g, instruction, Part("global", first, g.mask), size)  # the usual case
    step = min(size, 4)
    words = []
    for byte in range(0, size, step):
        active = clipped(machine, g, instruction, reach, reach.inside(byte, step), step, "read")
        word = np.zeros((1, 1), np.uint32)
        for lanes, part in parts(machine, g, reach.address(byte), active):
            word = np.where(lanes, load(machine, g, instruction, part, step)[0], word)
        words.append(word)
    return words


def _load(access: Access, instruction: Instruction, machine: Spaces) -> Bound:
    where = resource(instruction, machine)
    if instruction.modifiers.get("lds"):
        from mfmasim.machine.ops.lds_direct import to_lds

        return to_lds(
            instruction, machine, access, lambda g: load_words(machine, g, instruction, where(g), access.size)
        )
    target = instruction.dst[0]
    return lambda g: put(machine, g, target, load_words(machine, g, instruction, where(g), access.size), access)


def _store(access: Access, instruction: Instruction, machine: Spaces) -> Bound:
    if instruction.modifiers.get("lds"):
        raise unsupported(instruction, "store from the LDS")
    where = resource(instruction, machine)
    readers = [read_dword(instruction.src[3], k, instruction) for k in range(max(1, access.size // 4))]
    shift = np.uint32(16 if access.half == "high" else 0)
    step = min(access.size, 4)

    def run(g: Group) -> None:
        reach = where(g)
        for k, read in enumerate(readers):
            active = clipped(machine, g, instruction, reach, reach.inside(4 * k, step), step, "write")
            for _, part in parts(machine, g, reach.address(4 * k), active):
                store(machine, g, instruction, part, [read(g) >> shift], step)

    return run


for *_names, _access in LOADS:
    _spelled = " ".join(f"buffer_load_{_name}" for _name in _names)
    direct(_spelled)(partial(_load, _access))
for *_names, _access in STORES:
    _spelled = " ".join(f"buffer_store_{_name}" for _name in _names)
    direct(_spelled)(partial(_store, _access))
