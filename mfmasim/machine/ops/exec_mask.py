"""Instructions that compute EXEC on the scalar unit: saveexec returns the old mask, wrexec the new one.

Source: CDNA3 ISA manual, SOP1 (S_AND_SAVEEXEC_B64 and its kin); RDNA4 ISA manual, SOP1 (the names with NOT, and the
forms of 32 bits, which touch EXEC_LO only).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mfmasim.arrays import U
from mfmasim.isa import Instruction
from mfmasim.machine.binding.operands import scalar_reader, scalar_writer
from mfmasim.machine.events.interface import Bound, Machine
from mfmasim.machine.opcodes.registry import direct
from mfmasim.machine.opcodes.undefined_rules import Rule, bits
from mfmasim.machine.state.waves import EXEC, Group

#   what EXEC becomes, from the source and the old EXEC; name before gfx11, then the later one; how it combines bits
MASKS: tuple[tuple[str, str, Callable[[U, U], U], Rule], ...] = (
    ("and", "and", lambda s0, old: s0 & old, bits()),
    ("or", "or", lambda s0, old: s0 | old, bits()),
    ("xor", "xor", lambda s0, old: s0 ^ old, bits(mixes=True)),
    ("nand", "nand", lambda s0, old: ~(s0 & old), bits()),
    ("nor", "nor", lambda s0, old: ~(s0 | old), bits()),
    ("xnor", "xnor", lambda s0, old: ~(s0 ^ old), bits(mixes=True)),
    ("andn1", "and_not0", lambda s0, old: ~s0 & old, bits()),
    ("andn2", "and_not1", lambda s0, old: s0 & ~old, bits()),
    ("orn1", "or_not0", lambda s0, old: ~s0 | old, bits()),
    ("orn2", "or_not1", lambda s0, old: s0 | ~old, bits()),
)
# Those that also exist as wrexec.
WREXEC = ("andn1", "andn2")
HALVES = np.uint64(32)


def _bind(combine: Callable[[U, U], U], kind: str, saves: bool, instruction: Instruction, _machine: Machine) -> Bound:
    read = scalar_reader(instruction.src[0], kind, instruction)
    write = scalar_writer(instruction.dst[0], kind, instruction)

    def run(g: Group) -> None:
        old = g.s(EXEC)
        if kind == "u64":
            old = old.astype(np.uint64) | (g.s(EXEC + 1).astype(np.uint64) << HALVES)
        new = combine(read(g), old)
        write(g, old if saves else new)
        g.scc = new != 0
        if kind == "u64":
            g.write_exec64(new)
        else:
            g.write_s(EXEC, new)

    return run


for _old, _new, _combine, _rule in MASKS:
    for _what in ("saveexec", "wrexec") if _old in WREXEC else ("saveexec",):
        for _size, _kind in (("b32", "u32"), ("b64", "u64")):
            _names = dict.fromkeys((_old, _new))
            direct(" ".join(f"s_{_word}_{_what}_{_size}" for _word in _names), writes="scc exec", undefined=_rule)(
                partial(_bind, _combine, _kind, _what == "saveexec")
            )
