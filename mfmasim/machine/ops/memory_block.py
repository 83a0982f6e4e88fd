"""Loads and stores of up to 32 registers, those that bits of M0 select. Source: RDNA4 ISA manual, 10.8 (block loads).

Bit n of M0 stands for register n and for dword n of a lane's block; a register that is left out leaves its dword out.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import read_dword
from mfmasim.machine.events.interface import Bound, Spaces
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.ops.global_memory import RESOLVERS
from mfmasim.machine.ops.relative import parts_of
from mfmasim.machine.ops.spaces import load, store
from mfmasim.machine.state.waves import Group

REGISTERS, DWORD = 32, 4


def _block(segment: str, loads: bool, instruction: Instruction, machine: Spaces) -> Bound:
    offset, m0 = instruction.modifiers.get("offset", 0), machine.arch.m0
    places = [
        RESOLVERS[segment](replace(instruction, modifiers={**instruction.modifiers, "offset": offset + DWORD * k}))
        for k in range(REGISTERS)
    ]
    readers = [] if loads else [read_dword(instruction.src[2], k, instruction) for k in range(REGISTERS)]

    def run(g: Group) -> None:
        for mask, waves in parts_of(g, g.s(m0)):
            # The address may lie in registers that are loaded: all of it is computed first.
            chosen = [(k, places[k](waves)[0]) for k in range(REGISTERS) if mask >> k & 1]
            for k, part in chosen:
                if loads:
                    target = instruction.dst[0]
                    (word,) = load(machine, waves, instruction, part, DWORD)
                    waves.write_v(target.kind, target.index + k, np.asarray(word))
                else:
                    store(machine, waves, instruction, part, [readers[k](waves)], DWORD)

    return run


for _segment in ("global", "scratch"):
    direct(f"{_segment}_load_block")(partial(_block, _segment, True))
    direct(f"{_segment}_store_block")(partial(_block, _segment, False))
