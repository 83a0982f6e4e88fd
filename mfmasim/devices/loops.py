"""Loops of a kernel by its execution: a block that dominates a branch back to it, and the blocks between.

They are the natural loops of the graph of executed instructions (Aho, Sethi, Ullman: Compilers, 10.4), so that neither
a loop that is entered in its middle nor code that was moved after the kernel's end is misleading.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mfmasim.devices.coverage import family_of
from mfmasim.errors import MfmasimError

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel


@dataclass(frozen=True)
class Loop:
    """One loop. Counts are averages per wave and iteration."""

    first: int
    """Address of the first instruction of every iteration."""
    last: int
    """Address of the last branch back to it."""
    turns: int
    """Iterations of all waves together."""
    counts: dict[str, float]
    """Instructions by mnemonic."""
    mix: dict[str, float]
    """Instructions by family."""
    source: str
    """Source line of the branch."""
    own: tuple[int, int]
    """Matrix instructions, and all, that were executed outside the loops within."""

    def record(self) -> dict[str, Any]:
        """As a dictionary that JSON can hold."""
        return vars(self)


def loops_of(kernel: Kernel, executed: Mapping[int, int]) -> list[Loop]:
    """Every loop that was executed, in address order.

    Args:
        kernel: its instructions.
        executed: wave-instructions by address.
    """
    run = [ins for ins in _instructions(kernel) if executed.get(ins.pc)]
    blocks = _blocks(run)
    after = {start: _successors(blocks[start][-1], blocks) for start in sorted(blocks)}
    branches = _branches_back(after)
    bodies = {head: _body(head, tails, after) for head, tails in sorted(branches.items())}
    return [_loop(kernel, executed, blocks, head, max(branches[head]), bodies) for head in bodies]


def graph_of(kernel: Kernel) -> dict[int, list[int]]:
    """Every loop that the kernel's code has, executed or not.

    Args:
        kernel: its instructions.

    Returns:
        Addresses of the branches back, by the address of the first instruction of every iteration.
    """
    blocks = _blocks(_instructions(kernel))
    after = {start: _successors(blocks[start][-1], blocks) for start in sorted(blocks)}
    return {head: [blocks[tail][-1].pc for tail in tails] for head, tails in _branches_back(after).items()}


def _instructions(kernel: Kernel) -> Sequence[Instruction]:
    """The instructions of a kernel that decode."""
    try:
        return kernel.instructions
    except MfmasimError:  # data among the code
        return kernel.decodable


def _branches_back(after: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    """Blocks that branch back to one that dominates them, by that block."""
    above = _dominators(list(after), after)
    branches: dict[int, list[int]] = {}
    for start, places in after.items():
        for to in places:
            if to in above.get(start, ()):
                branches.setdefault(to, []).append(start)
    return branches


def _blocks(run: Sequence[Instruction]) -> dict[int, list[Instruction]]:
    """Basic blocks by the address of their first instruction."""
    targets = {ins.target for ins in run if ins.target is not None}
    blocks: dict[int, list[Instruction]] = {}
    before: Instruction | None = None
    for ins in run:
        if before is None or before.target is not None or ins.pc in targets or before.pc + before.size != ins.pc:
            blocks[ins.pc] = []
            current = blocks[ins.pc]
        current.append(ins)
        before = ins
    return blocks


def _successors(last: Instruction, blocks: Container[int]) -> list[int]:
    """Successors of a block that ends with this instruction."""
    places = [last.pc + last.size] if last.opcode.goes_on else []
    if last.target is not None:
        places.append(last.target)
    return [place for place in places if place in blocks]


def _dominators(starts: Sequence[int], after: Mapping[int, Sequence[int]]) -> dict[int, set[int]]:
    """Dominators by block; entries are the first block and blocks without predecessors."""
    reached = {to for places in after.values() for to in places}
    known: dict[int, set[int]] = {start: {start} for start in starts if start == starts[0] or start not in reached}
    changed = True
    while changed:
        changed = False
        for start in starts:
            if start not in known:
                continue
            for to in after[start]:
                new = known[start] | {to} if to not in known else known[to] & (known[start] | {to})
                if known.get(to) != new:
                    known[to], changed = new, True
    return known


def _body(head: int, tails: Sequence[int], after: Mapping[int, Sequence[int]]) -> set[int]:
    """The natural loop of a back edge: blocks that reach the tail without passing the head, and the head."""
    before: dict[int, list[int]] = {}
    for start, places in after.items():
        for to in places:
            before.setdefault(to, []).append(start)
    body, open_ = {head}, list(tails)
    while open_:
        block = open_.pop()
        if block not in body:
            body.add(block)
            open_.extend(before.get(block, ()))
    return body


def _loop(
    kernel: Kernel,
    executed: Mapping[int, int],
    blocks: Mapping[int, Sequence[Instruction]],
    head: int,
    tail: int,
    bodies: Mapping[int, set[int]],
) -> Loop:
    counts: Counter[str] = Counter()
    mix: Counter[str] = Counter()
    own = [0, 0]
    body, last = bodies[head], blocks[tail][-1].pc
    within = set().union(*(inner for inner in bodies.values() if inner < body))
    for start in sorted(body):
        for ins in blocks[start]:
            times, family = executed[ins.pc], family_of(ins)
            counts[ins.name] += times
            mix[family] += times
            if start not in within:
                own[0] += times * (family == "MATRIX")
                own[1] += times
    turns = executed[head]
    return Loop(
        head,
        last,
        turns,
        {name: count / turns for name, count in counts.most_common()},
        {name: count / turns for name, count in mix.most_common()},
        kernel.source_at(last),
        (own[0], own[1]),
    )


def main_loop(loops: Sequence[Loop]) -> Loop | None:
    """The loop with the most executed matrix instructions outside its inner loops; without any, most instructions."""
    return max(loops, key=lambda loop: loop.own, default=None)
