"""Origins of an instruction's operands within the straight-line code before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.isa.instruction import Instruction


def data_writers(instructions: Sequence[Instruction], pc: int) -> list[int]:
    """Addresses of the instructions that wrote the data of a store.

    A store that a compiler merged from several source lines has no line; the lines of its data are known.

    Args:
        instructions: of the kernel, by ascending address.
        pc: address of the store.

    Returns:
        Addresses in ascending order; only writers in the same straight-line code.
    """
    number = next((n for n, ins in enumerate(instructions) if ins.pc == pc), None)
    if number is None or instructions[number].opcode.access != "store":
        return []
    entries = {ins.target for ins in instructions if ins.target is not None}
    wanted = {
        (one.kind, one.index + k)
        for one in instructions[number].src
        if one.kind in ("v", "a") and one.field not in ("addr", "vaddr")
        for k in range(one.count)
    }
    found = set()
    at = pc
    for ins in reversed(instructions[:number]):
        if at in entries or ins.opcode.flow:
            break
        at = ins.pc
        written = {(one.kind, one.index + k) for one in ins.dst for k in range(one.count)}
        if written & wanted:
            found.add(ins.pc)
            wanted -= written
    return sorted(found)
