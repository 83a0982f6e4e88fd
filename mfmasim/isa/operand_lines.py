"""Where the operands of one instruction come from, as far as the straight code before it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.isa.instruction import Instruction


def data_writers(instructions: Sequence[Instruction], pc: int) -> list[int]:
    """Addresses of the instructions that wrote the data of a store.

    A compiler that merges stores of several source lines gives the result none; the lines of what it stores are known.

    Args:
        instructions: of the kernel, by ascending address.
        pc: address of the store.

    Returns:
        By ascending address; only writers in the same straight piece of code.
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
