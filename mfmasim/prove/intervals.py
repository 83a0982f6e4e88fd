"""The interval in which each LDS access of a path may take place, counted in barriers.

An access takes place between its issue and the wait that covers it. Two accesses of different waves are ordered where
a barrier lies between the end of one and the issue of the other. Loops are unrolled for small numbers of periods:
the state at a loop's header repeats, operations in flight included, so that further periods add no new neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from mfmasim.isa.counters import raised, waited
from mfmasim.observe.flights import Flight, remaining
from mfmasim.prove.trace import Loop, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mfmasim.architectures import Arch
    from mfmasim.prove.polynomial import Symbol
    from mfmasim.prove.trace import Access

__all__ = ["Placed", "alike", "choices", "loops_in", "placed", "written_out"]


@dataclass(frozen=True)
class Placed:
    """An LDS access, and the interval in which it may take place."""

    access: Access
    issued: int
    """Barriers before its issue."""
    done: int
    """Barriers before the wait that covers it."""
    position: int
    """Index in the path of the instruction that issues it, and of the one that waits for it."""
    until: int


def loops_in(trace: Sequence[Step | Loop]) -> list[Loop]:
    """All loops, outer ones first."""
    found = []
    for item in trace:
        if isinstance(item, Loop):
            found += [item, *loops_in(item.period)]
    return found


def alike(trace: Sequence[Step | Loop], waves: Sequence[int]) -> list[tuple[int, ...]]:
    """Groups of waves of a path: all waves of a group execute the same steps.

    Args:
        trace: of the path.
        waves: its waves.
    """
    some = _partial(trace)
    groups: dict[tuple[bool, ...], list[int]] = {}
    for wave in waves:
        groups.setdefault(tuple(wave in one for one in some), []).append(wave)
    return [tuple(group) for group in groups.values()]


def _partial(trace: Sequence[Step | Loop]) -> list[tuple[int, ...]]:
    """Sets of waves that execute steps which other waves skip."""
    found: dict[tuple[int, ...], None] = {}
    for item in trace:
        if isinstance(item, Loop):
            found.update(dict.fromkeys(_partial(item.period)))
        elif item.waves is not None:
            found[item.waves] = None
    return list(found)


def written_out(trace: Sequence[Step | Loop], times: dict[Symbol, int]) -> Iterator[Step]:
    """A trace with every period repeated."""
    for item in trace:
        if isinstance(item, Loop):
            for _ in range(times[item.turns]):
                yield from written_out(item.period, times)
        else:
            yield item


def choices(symbols: Sequence[Symbol], most: int) -> Iterator[dict[Symbol, int]]:
    """Numbers of periods of all loops."""
    for numbers in product(range(most + 1), repeat=len(symbols)):
        yield dict(zip(symbols, numbers, strict=True))


def placed(arch: Arch, steps: Iterator[Step], wave: int) -> list[Placed]:
    """LDS accesses of a path without loops, by one of its waves.

    Args:
        arch: architecture.
        steps: of the path.
        wave: its number; steps that it skips are omitted.
    """
    flying: list[Flight] = []
    under: dict[int, tuple[list[Access], int]] = {}
    out: list[Placed] = []
    barriers, signalled = 0, False

    def end(left: list[Flight], position: int) -> None:
        kept = {flight.pc for flight in left}
        for number in [n for n in under if n not in kept]:
            accesses, issued = under.pop(number)
            out.extend(Placed(a, issued, barriers + signalled, number, position) for a in accesses)

    position = 0
    for position, step in enumerate(steps):
        if step.waves is not None and wave not in step.waves:
            continue
        ins = step.instruction
        for counter, value in () if step.maybe else waited(arch, ins):
            flying = remaining(flying, counter, value)
            end(flying, position)
        if ins.opcode.barrier == "signal":
            signalled = True
        elif ins.opcode.barrier in ("whole", "wait"):
            barriers, signalled = barriers + 1, False
        up = raised(arch, ins.opcode, bool(ins.dst), ins.space)
        mine = [a for a in step.accesses if a.space == "lds"]
        if mine:
            under[position] = (mine, barriers)
        for one in up:
            order = "" if step.maybe else one.order  # operations that may have been skipped are not counted
            flying = remaining(
                [*flying, Flight(one.counter, order, one.limit, position, ins.name, frozenset())],
                one.counter,
                one.limit,
            )
        if up:
            end(flying, position)
    for number, (accesses, issued) in under.items():
        out.extend(Placed(a, issued, barriers + 1, number, position + 1) for a in accesses)
    return out
