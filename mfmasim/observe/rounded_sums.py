"""Sums in F32 that a loop rounds to F16 or BF16 and then continues, by the code alone.

A value is followed from register to register, half by half, along all branches: through additions, the addend C of
dot products and matrix instructions, products by a factor, copies, and conversions from F32 and back. It is not
followed through memory, factors of matrix instructions and other operations, nor through shifts and additions that
round to BF16 on architectures without an instruction.

Two patterns count: a sum that returns to itself through a conversion; and a conversion of the sum of a dot product or
matrix instruction, in a loop that adds the result to a sum in F32.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from mfmasim.observe.value_flows import Flow, flows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mfmasim.isa import Instruction
    from mfmasim.kernels import Kernel
    from mfmasim.observe.value_flows import Place

Made = tuple[int, int]
"""A result: address of its instruction, and index of the instruction's flow."""
T = TypeVar("T")
State = dict["Place", frozenset[Made]]
"""Results that each half of a register may hold."""


HALVES = tuple(
    f"v_{name}_mix{part}_{kind}" for name in ("fma", "mad") for part in ("lo", "hi") for kind in ("f16", "bf16")
)
"""Operations that keep the other half of their destination."""


@dataclass(frozen=True)
class RoundedSum:
    """One conversion that rounds a sum in each iteration."""

    pc: int
    """Address of the conversion."""
    added: int
    """Address of the addition whose result it rounds."""
    narrow: str
    """The format: ``F16 BF16``."""
    partial: bool
    """Whether the loop rounds a summand, instead of the sum."""


@dataclass
class _Graph:
    """Results and their operands."""

    flows: dict[Made, Flow] = field(default_factory=dict)
    sources: dict[Made, set[tuple[Made, bool]]] = field(default_factory=lambda: defaultdict(set))
    """Operands of each result, and whether the result is a sum or a copy of the operand."""


def rounded_sums(kernel: Kernel) -> list[RoundedSum]:
    """The conversions that round sums, by ascending address.

    Args:
        kernel: its instructions.
    """
    code = kernel.decodable
    known = {ins.pc: flows(ins) for ins in code}
    if not any(flow.narrows for each in known.values() for flow in each) or not any(
        ins.target is not None and ins.target <= ins.pc for ins in code
    ):
        return []
    blocks = _blocks(code)
    after = {start: _successors(block[-1], blocks) for start, block in blocks.items()}
    graph = _graph(blocks, after, known)
    loops = _together({start: list(to) for start, to in after.items()})
    loop = {ins.pc: loops.get(start) for start, block in blocks.items() for ins in block}
    cycles = _together({made: [source for source, _ in graph.sources[made]] for made in graph.flows})
    found = {one.pc: one for one in (*_partial_sums(graph, loop, cycles), *_sums(graph, cycles))}
    return [found[pc] for pc in sorted(found)]


def _sums(graph: _Graph, cycles: Mapping[Made, int]) -> Iterable[RoundedSum]:
    """Sums that return to themselves through a conversion."""
    members = defaultdict(list)
    for made, number in cycles.items():
        members[number].append(made)
    for cycle in members.values():
        added = [made for made in sorted(cycle) if graph.flows[made].adds]
        for made in cycle:
            if added and graph.flows[made].narrows:
                yield RoundedSum(made[0], _before(graph, made, added), graph.flows[made].narrows, partial=False)


def _before(graph: _Graph, made: Made, among: Sequence[Made]) -> int:
    """The nearest additions, of those in `among`, that lead to a result."""
    level = seen = {made}
    while level:
        found = sorted(one for one in level if one in among)
        if found:
            return found[0][0]
        level = {source for one in level for source, _ in graph.sources[one]} - seen
        seen = seen | level
    return among[0][0]


def _partial_sums(graph: _Graph, loop: Mapping[int, int | None], cycles: Mapping[Made, int]) -> Iterable[RoundedSum]:
    """Conversions of sums of products whose results a loop adds to a sum that it carries."""
    for made in graph.flows:
        if not graph.flows[made].adds or made not in cycles:
            continue
        for rounded in _straight(graph, made, cycles[made], cycles):
            flow = graph.flows[rounded]
            if flow.narrows and rounded[0] in loop and loop[rounded[0]] == loop[made[0]] is not None:
                of = [one for one in _straight(graph, rounded, None, cycles) if graph.flows[one].products]
                if of:
                    yield RoundedSum(rounded[0], min(of)[0], flow.narrows, partial=True)


def _straight(graph: _Graph, made: Made, without: int | None, cycles: Mapping[Made, int]) -> set[Made]:
    """Summands and copied values of a result, up to the next additions, and without those of a cycle."""
    found: set[Made] = set()
    pending = [made]
    while pending:
        one = pending.pop()
        for source, plain in graph.sources[one]:
            if plain and source not in found and (without is None or cycles.get(source) != without):
                found.add(source)
                if not graph.flows[source].adds:
                    pending.append(source)
    return found


def _graph(
    blocks: Mapping[int, Sequence[Instruction]], after: Mapping[int, Sequence[int]], known: Mapping[int, Sequence[Flow]]
) -> _Graph:
    """The graph of results that reach operands."""
    graph = _Graph()
    entering: dict[int, State] = {start: {} for start in blocks}
    pending = sorted(blocks, reverse=True)
    seen: set[int] = set()
    while pending:
        start = pending.pop()
        seen.add(start)
        state = dict(entering[start])
        for ins in blocks[start]:
            _step(ins, known[ins.pc], state, graph)
        for to in after[start]:
            held = entering[to]
            changed = False
            for place, made in state.items():
                before = held.get(place, frozenset())
                if not made <= before:
                    held[place] = before | made
                    changed = True
            if changed and (to in seen) and to not in pending:
                pending.append(to)
    return graph


def _step(ins: Instruction, given: Sequence[Flow], state: State, graph: _Graph) -> None:
    """Add one instruction's results to the graph, and update the registers."""
    new: State = {}
    for number, flow in enumerate(given):
        made = ins.pc, number
        found = {(one, plain) for place, plain in flow.sources for one in state.get(place, ())}
        if not found and not flow.adds:
            continue
        graph.flows[made] = flow
        graph.sources[made] |= found
        for place in flow.results:
            new[place] = new.get(place, frozenset()) | {made}
    for part in ins.halves or (ins,):
        kept = (
            part.opcode.name in HALVES or part.modifiers.get("op_sel", 0) & 8 or part.modifiers.get("dst_sel", 6) != 6
        )
        for operand in part.dst:
            if operand.kind in ("v", "a"):
                written = {place for flow in given for place in flow.results}
                for register in range(operand.index, operand.index + operand.count):
                    for half in (0, 1):
                        place = operand.kind, register, half
                        if place in written or not (operand.half or kept):
                            state.pop(place, None)
    state |= new


def _blocks(code: Sequence[Instruction]) -> dict[int, list[Instruction]]:
    """Basic blocks by the address of their first instruction."""
    targets = {ins.target for ins in code if ins.target is not None}
    blocks: dict[int, list[Instruction]] = {}
    before: Instruction | None = None
    for ins in code:
        if before is None or before.opcode.flow or ins.pc in targets or before.pc + before.size != ins.pc:
            blocks[ins.pc] = current = []
        current.append(ins)
        before = ins
    return blocks


def _successors(last: Instruction, blocks: Mapping[int, Sequence[Instruction]]) -> list[int]:
    """Blocks that may follow a block with this last instruction."""
    places = [last.pc + last.size] if last.opcode.goes_on else []
    if last.target is not None:
        places.append(last.target)
    return [place for place in places if place in blocks]


def _together(edges: Mapping[T, Sequence[T]]) -> dict[T, int]:
    """A number for each node on a cycle; nodes of one strongly connected component share it (Tarjan, 1972)."""
    order: dict[T, int] = {}
    low: dict[T, int] = {}
    stack: list[T] = []
    inside: set[T] = set()
    found: dict[T, int] = {}
    for root in edges:
        if root in order:
            continue
        work = [(root, iter(edges[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        inside.add(root)
        while work:
            node, rest = work[-1]
            for to in rest:
                if to not in order:
                    order[to] = low[to] = len(order)
                    stack.append(to)
                    inside.add(to)
                    work.append((to, iter(edges.get(to, ()))))
                    break
                if to in inside:
                    low[node] = min(low[node], order[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    group: list[T] = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        inside.discard(group[-1])
                    if len(group) > 1 or node in edges.get(node, ()):
                        found |= dict.fromkeys(group, order[node])
    return found
