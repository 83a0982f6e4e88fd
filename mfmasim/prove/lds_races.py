"""LDS races: if two waves access a byte and one of them writes it, a barrier lies between the accesses."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.prove.intervals import Placed, alike, choices, loops_in, placed, written_out
from mfmasim.prove.memos import Memo
from mfmasim.prove.paths import Stopped
from mfmasim.prove.trace import Loop, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mfmasim.architectures import Arch
    from mfmasim.prove.masks import Condition
    from mfmasim.prove.state import State
    from mfmasim.prove.trace import Access

__all__ = ["races", "together"]

CHOICES = 600
"""Most combinations of numbers of periods for the loops of a path."""
TOGETHER = 4000
"""Most combinations of the waves' paths."""
Problem = tuple[int, str]
_bytes_of: Memo[tuple[Access, int], NDArray[np.int64]] = Memo(4000)
"""Bytes of accesses by wave; an access occurs in several intervals."""


@dataclass(frozen=True)
class Part:
    """Waves of a path that execute the same steps, and their LDS accesses."""

    path: State
    trace: Sequence[Step | Loop]
    """The trace of the path, up to the end of its last LDS access."""
    waves: tuple[int, ...]
    accesses: list[Placed] = field(default_factory=list)


def races(
    paths: Sequence[State], arch: Arch, lds_bytes: int, tick: Callable[[], None]
) -> tuple[set[Problem], set[Problem]]:
    """LDS accesses that are not proved to be ordered.

    Args:
        paths: states at the end of the kernel.
        arch: its architecture.
        lds_bytes: of the workgroup.
        tick: raises `Stopped` when the time is over.

    Returns:
        Addresses of instructions, each with the reason; and likewise those of accesses that a barrier orders otherwise
        than the path does: the waves are at different barriers.
    """
    problems: set[Problem] = set()
    turned: set[Problem] = set()
    checked: set[object] = set()
    alone = {
        id(path): [Part(path, trace, waves) for waves in alike(trace, path.waves.tolist())]
        for path in paths
        for trace in [_until_done(path, arch)]
    }
    for group in together(paths):
        some = [part for path in group for part in alone[id(path)]]
        same = tuple((part.waves, tuple(map(id, part.trace))) for part in some)
        symbols = {tuple(loop.turns for loop in loops_in(part.trace)) for part in some}
        if len(symbols) > 1:
            problems.add((group[0].pc, "waves go through different loops, which are not compared"))
            continue
        turns = next(iter(symbols))
        if not _same_turns(group, some[0].trace):
            problems.add((group[0].pc, "waves, or outer turns, may repeat a loop a different number of times"))
            continue
        if not _keep_step(some):
            problems.add((group[0].pc, "waves execute different numbers of barriers in a turn of a loop"))
            continue
        most = _periods(some)
        if (most + 1) ** len(turns) > CHOICES:
            problems.add((group[0].pc, "too many loops"))
            continue
        if same in checked:  # paths that diverge after the last LDS access has ended
            continue
        checked.add(same)
        for times in choices(turns, most):
            tick()
            parts = [replace(p, accesses=placed(arch, written_out(p.trace, times), p.waves[0])) for p in some]
            key = tuple((part.waves, tuple((id(p.access), p.issued, p.done) for p in part.accesses)) for part in parts)
            if key in checked:
                continue
            checked.add(key)
            found = _compared(parts, lds_bytes, checked)
            problems |= found
            if not found:
                turned |= _turned(parts)
            if len(problems) > 20:
                return problems, turned
    return problems, turned


def _until_done(path: State, arch: Arch) -> Sequence[Step | Loop]:
    """The trace of a path up to the end of its last LDS access in all of its waves."""
    once = {loop.turns: 1 for loop in loops_in(path.trace)}
    groups = alike(path.trace, path.waves.tolist())
    until = [one.until for waves in groups for one in placed(arch, written_out(path.trace, once), waves[0])]
    last, at = max(until, default=-1), 0
    for number, item in enumerate(path.trace):
        at += len(list(written_out([item], once)))
        if at > last:
            return path.trace[: number + 1] if until else ()
    return path.trace


def together(paths: Sequence[State]) -> list[list[State]]:
    """Combinations of paths for all waves of a launch: no uniform condition holds on one path and fails on another."""
    waves = sorted({int(w) for path in paths for w in path.waves})
    groups: list[tuple[list[State], dict[Condition, bool], frozenset[int]]] = [([], {}, frozenset())]
    for wave in waves:
        further = []
        for chosen, decisions, covered in groups:
            if wave in covered:
                further.append((chosen, decisions, covered))
                continue
            for path in paths:
                if (
                    wave in path.waves
                    and not covered & set(path.waves.tolist())
                    and all(decisions.get(c, held) == held for c, held in path.decisions.items() if c.common)
                ):
                    merged = {**decisions, **{c: held for c, held in path.decisions.items() if c.common}}
                    further.append(([*chosen, path], merged, covered | set(path.waves.tolist())))
        groups = further
        if len(groups) > TOGETHER:
            raise Stopped(f"more than {TOGETHER} combinations of the waves' paths")
    return [chosen for chosen, _, _ in groups]


def _same_turns(group: Sequence[State], trace: Sequence[Step | Loop]) -> bool:
    """Whether every wave repeats each loop of a trace equally often, in every turn of an outer loop."""
    loops = loops_in(trace)
    inner = {one.turns for loop in loops for one in loops_in(loop.period)}
    if not loops or (len(group) == 1 and not inner):
        return True
    if any(not condition.common for path in group for condition in path.decisions):
        return False
    every = {loop.turns for loop in loops}
    for loop in loops:
        ends = [
            {c: held for c, held in p.decisions.items() if c.value and loop.turns in c.value.symbols} for p in group
        ]
        if not ends[0] or any(one != ends[0] for one in ends[1:]):
            return False
        if loop.turns in inner and any(c.value and c.value.symbols & (every - {loop.turns}) for c in ends[0]):
            return False
    return True


def _periods(parts: Sequence[Part]) -> int:
    """Number of periods that contain every neighbourhood of accesses.

    One period follows the code before the loop, one precedes the code behind it, and two follow each other. Waves at
    different barriers, and operations that stay in flight for several periods, have more distant neighbours.
    """
    late, apart = 0, 0
    shortest = min((_barriers(loop.period, p.waves[0]) for p in parts for loop in loops_in(p.trace)), default=0)
    for part in parts:
        for loop in loops_in(part.trace):
            issues = sum(bool(i.instruction.opcode.counter) for i in loop.period if isinstance(i, Step))
            late = max(late, -(-loop.flying // max(issues, 1)))
    for before in zip(*(_before_loops(part.trace, part.waves[0]) for part in parts), strict=True):
        apart = max(apart, max(before) - min(before))
    return 4 + late + (-(-apart // shortest) if shortest else apart)


def _before_loops(trace: Sequence[Step | Loop], wave: int, start: int = 0) -> list[int]:
    """Barriers that a wave has executed before each loop, in the order of `loops_in`; loops count with one period."""
    found, count = [], start
    for item in trace:
        if isinstance(item, Loop):
            found += [count, *_before_loops(item.period, wave, count)]
            count += _barriers(item.period, wave, inner=True)
        else:
            count += _barriers([item], wave)
    return found


def _keep_step(parts: Sequence[Part]) -> bool:
    """Whether waves execute equal numbers of barriers in each turn, so that more turns do not separate them."""
    each = [[_barriers(loop.period, part.waves[0]) for loop in loops_in(part.trace)] for part in parts]
    return all(one == each[0] for one in each)


def _barriers(items: Sequence[Step | Loop], wave: int, *, inner: bool = False) -> int:
    """Number of barriers that a wave executes; those of loops count once, or not at all."""
    steps = [item for item in items if isinstance(item, Step) and (item.waves is None or wave in item.waves)]
    loops = sum(_barriers(item.period, wave, inner=True) for item in items if inner and isinstance(item, Loop))
    return loops + sum(step.instruction.opcode.barrier in ("whole", "wait") for step in steps)


def _compared(parts: list[Part], lds_bytes: int, checked: set[object]) -> set[Problem]:
    problems: set[Problem] = set()
    by_interval: dict[int, list[tuple[int, Placed]]] = {}
    for part in parts:
        for one in part.accesses:
            if one.access.address is None or not one.access.address.is_constant:
                problems.add(
                    (one.access.instruction.pc, one.access.why or f"the address {one.access.address} is not constant")
                )
                continue
            for wave in part.waves:
                for interval in range(one.issued, one.done + 1):
                    by_interval.setdefault(interval, []).append((wave, one))
        problems |= _own(part)
    if problems:
        return problems
    for entries in by_interval.values():
        if all(one.access.kind == "read" for _, one in entries):
            continue
        key = frozenset((wave, id(one.access)) for wave, one in entries)
        if key not in checked:
            checked.add(key)
            problems |= _interval(entries, lds_bytes)
    return problems


def _turned(parts: list[Part]) -> set[Problem]:
    """Accesses of waves in one state that a barrier orders otherwise than the path does."""
    problems: set[Problem] = set()
    for one, other in permutations(parts, 2):
        if one.path is not other.path:
            continue
        behind = sorted(other.accesses, key=lambda access: access.position)
        places = [access.position for access in behind]
        for a in one.accesses:
            for b in behind[bisect_right(places, a.position) :]:
                if b.issued >= a.issued:  # so are all later accesses
                    break
                if b.done < a.issued and {a.access.kind, b.access.kind} != {"read"} and _meet(a, one, b, other):
                    why = "waves that are a barrier apart exchange bytes in another order than that of the instructions"
                    problems.add((b.access.instruction.pc, why))
    return problems


def _meet(a: Placed, one: Part, b: Placed, other: Part) -> bool:
    """Whether the waves of two accesses share a byte."""
    mine, theirs = (np.concatenate([_bytes(p, wave) for wave in part.waves]) for p, part in ((a, one), (b, other)))
    return bool(np.intersect1d(mine, theirs).size)


def _bytes(one: Placed, wave: int) -> NDArray[np.int64]:
    """Bytes that the lanes of a wave access."""
    key = (one.access, wave)
    if key not in _bytes_of:
        found = one.access.of_wave(wave)
        assert found is not None
        place, lanes = found
        _bytes_of[key] = (place[lanes][:, None] + np.arange(one.access.size)).ravel()
    return _bytes_of[key]


def _interval(entries: list[tuple[int, Placed]], lds_bytes: int) -> set[Problem]:
    """Accesses between two barriers: no wave may access a byte that another wave writes."""
    unwritten, shared_by_waves = -1, -2
    writer = np.full(lds_bytes + 16, unwritten, np.int16)
    problems: set[Problem] = set()
    places = [(wave, one, np.clip(_bytes(one, wave), 0, lds_bytes + 15)) for wave, one in entries]
    for wave, one, bytes_ in places:
        if one.access.kind != "read":
            old = writer[bytes_]
            if one.access.kind == "write" and ((old != unwritten) & (old != wave)).any():
                problems.add(
                    (one.access.instruction.pc, "another wave writes the same bytes, and no barrier is between")
                )
            writer[bytes_] = np.where((old == unwritten) | (old == wave), wave, shared_by_waves)
    for wave, one, bytes_ in places:
        owner = writer[bytes_]
        if one.access.kind != "atomic" and ((owner != unwritten) & (owner != wave)).any():
            problems.add((one.access.instruction.pc, "another wave writes these bytes, and no barrier is between"))
    return problems


def _own(part: Part) -> set[Problem]:
    """Loads that write the LDS, against other accesses of the same wave before the wait that covers the load."""
    problems: set[Problem] = set()
    direct = [one for one in part.accesses if one.access.through == "memory"]
    others = [one for one in part.accesses if one.access.through != "memory"]
    for load in direct:
        near = [o for o in others if load.position < o.position < load.until or o.position < load.position < o.until]
        for other in near:
            for wave in part.waves:
                a, b = load.access.of_wave(wave), other.access.of_wave(wave)
                if a is None or b is None or not a[1].any() or not b[1].any():
                    continue
                low, high = int(a[0].min()), int(a[0].max()) + load.access.size
                if int(b[0].max()) + other.access.size <= low or int(b[0].min()) >= high:
                    continue
                if np.intersect1d(_bytes(load, wave), _bytes(other, wave)).size:
                    problems.add((other.access.instruction.pc, "a load to the same bytes of the LDS is not waited for"))
                    break
    return problems
