"""Flags in the LDS: reads that wait for a value, which establishes an order.

A loop that only reads until a value changes is such a wait: it changes no memory, except by returning atomic
operations (which try to take a lock), reads one place repeatedly, passes no barrier, and branches on the value
read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mfmasim.isa import Instruction


def reads_lds(instruction: Instruction) -> bool:
    """Whether an instruction loads from the LDS, may do so, or has a value of the LDS as a source."""
    loads = instruction.opcode.access == "load" and instruction.space in ("lds", "flat")
    return loads or instruction.reads_lds_direct


def decides(instruction: Instruction) -> bool:
    """Whether an instruction computes a condition: vector comparisons, and nearly all scalar operations (SCC)."""
    return instruction.opcode.compare or instruction.opcode.scalar


def flag_reads(instructions: Sequence[Instruction], source_at: Callable[[int], str]) -> set[int]:
    """Addresses of reads that wait for a value, and of reads of the same source lines.

    Args:
        instructions: those of a kernel, in address order.
        source_at: source line of an address; empty if unknown.
    """
    found: set[int] = set()
    for body in _loops(instructions):
        found |= _only_reads(body)
    # A loop around a compare-and-swap begins with a plain read, whose value the swap confirms or refuses.
    swaps = [ins.pc for ins in instructions if ins.opcode.atomic == "compare" and ins.space in ("lds", "flat")]
    lines = {source_at(pc) for pc in [*found, *swaps]} - {""}
    return found | {ins.pc for ins in instructions if reads_lds(ins) and source_at(ins.pc) in lines}


def _loops(instructions: Sequence[Instruction]) -> Iterator[list[Instruction]]:
    """Bodies of loops that a conditional branch closes, each in address order.

    A body has all instructions on paths from the loop's first instruction back to it, wherever the compiler placed
    them: a store may lie behind the branch. Branches back to one instruction close one loop.
    """
    place = {ins.pc: number for number, ins in enumerate(instructions)}
    sources: dict[int, list[int]] = {}
    for number, ins in enumerate(instructions):
        if ins.target in place:
            sources.setdefault(place[ins.target], []).append(number)
    for first, branches in sources.items():
        closing = [number for number in branches if number > first]
        if not any(instructions[number].opcode.flow == "conditional" for number in closing):
            continue
        body, left = {first}, closing
        while left:
            number = left.pop()
            if number not in body:
                body.add(number)
                left += sources.get(number, [])
                if number and instructions[number - 1].opcode.goes_on:
                    left.append(number - 1)
        yield [instructions[number] for number in sorted(body)]


def registers(operands: Sequence[object]) -> set[tuple[str, int]]:
    """Registers of operands, one by one: kind and index."""
    return {(o.kind, o.index + k) for o in operands for k in range(o.count)}  # type: ignore[attr-defined]


def _only_reads(body: Sequence[Instruction]) -> set[int]:
    """Reads of a loop that stores nothing, has other memory operations on flags alone, and branches on a value read."""
    reads = [ins for ins in body if reads_lds(ins)]
    memory = [ins for ins in body if ins.opcode.memory and (ins.opcode.unit, ins.opcode.access) != ("SMEM", "load")]
    written = set().union(*(registers(ins.dst) for ins in body))
    tries = [ins for ins in memory if ins.opcode.atomic and ins.dst and ins.space in ("lds", "flat")]
    others = any(ins not in reads and ins not in tries for ins in memory) or any(ins.opcode.barrier for ins in body)
    if others or any((ins.src[0].kind, ins.src[0].index) in written for ins in reads):
        return set()
    return {ins.pc for ins in reads if _decides(body, ins)}


def _decides(body: Sequence[Instruction], read: Instruction) -> bool:
    """Whether a value that was read, or a value computed from it, reaches a condition."""
    known = registers(read.dst)
    before = -1
    while len(known) > before:
        before = len(known)
        for ins in body:
            if ins is read or not registers(ins.src) & known:
                continue
            if decides(ins):
                return True
            known |= registers(ins.dst)
    return False
