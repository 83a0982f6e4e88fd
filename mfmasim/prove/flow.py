"""The control flow of a kernel: successors of each instruction, and the loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfmasim.isa import Instruction

__all__ = ["Flow", "flow_of"]


@dataclass(frozen=True)
class Flow:
    """Instructions by address, and the bodies of loops by their first instruction."""

    code: dict[int, Instruction]
    loops: dict[int, frozenset[int]]


def successors(ins: Instruction) -> tuple[int, ...]:
    """Addresses that may follow."""
    following = ins.pc + ins.size
    kind = ins.opcode.flow
    if kind == "end":
        return ()
    if kind == "branch" and ins.target is not None:
        return (ins.target,)
    if kind == "conditional" and ins.target is not None:
        return (following, ins.target)
    return (following,)


def flow_of(instructions: list[Instruction], entry: int) -> Flow:
    """Find the loops: headers are instructions that a depth-first walk reaches again; bodies lead back to them.

    Args:
        instructions: those of the kernel.
        entry: address of the first one.
    """
    code = {ins.pc: ins for ins in instructions}
    before: dict[int, list[int]] = {}
    back: list[tuple[int, int]] = []
    active, done = {entry}, set()
    stack = [(entry, iter(_following(code, entry)))]
    while stack:
        pc, left = stack[-1]
        following = next(left, None)
        if following is None:
            stack.pop()
            active.discard(pc)
            done.add(pc)
            continue
        before.setdefault(following, []).append(pc)
        if following in active:
            back.append((pc, following))
        elif following not in done:
            active.add(following)
            stack.append((following, iter(_following(code, following))))
    loops: dict[int, set[int]] = {}
    for pc, header in back:
        body = loops.setdefault(header, {header})
        waiting = [pc]
        while waiting:
            at = waiting.pop()
            if at not in body:
                body.add(at)
                waiting += before.get(at, [])
    # The body of a loop with a second entrance has the program's first instruction; it is not followed as a loop.
    return Flow(code, {h: frozenset(body) for h, body in loops.items() if entry not in body or entry == h})


def _following(code: dict[int, Instruction], pc: int) -> tuple[int, ...]:
    return successors(code[pc]) if pc in code else ()
