"""Vector instructions under an EXEC that has undefined bits, up to the one that replaces it.

Division of small numbers in hipBLASLt is such a sequence: a comparison writes EXEC, one lane is corrected, EXEC is set
to all lanes again. If nothing but vector registers is written in between, undefined bits of EXEC are no use yet: the
lanes that they choose have undefined results, and those are followed.
"""

from __future__ import annotations

from mfmasim.isa import Instruction
from mfmasim.machine.definedness.keys import EXECS, keys_of
from mfmasim.machine.events.interface import Machine

LONGEST = 16
"""Instructions that are looked at."""
_PLAIN = ("VOP1", "VOP2", "VOP3", "VOP3P")


def masked(instruction: Instruction, machine: Machine) -> tuple[int, frozenset[int]] | None:
    """What runs under the EXEC that an instruction writes.

    Args:
        instruction: the one that writes EXEC.
        machine: executes it.

    Returns:
        Address of the instruction that replaces EXEC, and the keys of the vector registers that are written before;
        None if something else depends on EXEC, or nothing replaces it soon.
    """
    code, wave = machine.kernel.code, machine.kernel.wave
    whole = set(EXECS[: wave // 32])
    at, written = instruction.pc + instruction.size, set[int]()
    for _ in range(LONGEST):
        if not code.is_code(at):
            return None
        one = code.instruction_at(at, wave)
        to = {key for operand in one.dst for key in keys_of(operand)}
        if one.encoding in ("SOP1", "SOPK") and whole <= to:
            used = {key for operand in one.src for key in keys_of(operand)}
            return (at, frozenset(written)) if one.opcode.moves_scalar and not used & set(EXECS) else None
        vector = one.encoding in _PLAIN and all(operand.kind == "v" for operand in one.dst) and "lane" not in one.name
        if not vector and not one.opcode.neutral:
            return None
        written |= to
        at += one.size
    return None
