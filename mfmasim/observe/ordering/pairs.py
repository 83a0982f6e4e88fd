"""Unordered pairs of accesses in the history of shared memory.

Access a is ordered before access b if a was complete before a step of its wave that the clock of b's wave had when b
began; or, in one workgroup, if a's wave had then signalled a barrier that b's wave had passed; or by a flag in the LDS.
Two accesses of different waves to one unit, one of them a write, need such an order, in one direction or the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.isa.scopes import DEVICE, PLAIN, UNSTATED, WORKGROUP
from mfmasim.observe.ordering.clocks import ANY, BACK, BARRIER, FRESH, FRESH_BARRIER, ISSUED, OVER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mfmasim.arrays import I64, Flags
    from mfmasim.observe.ordering.entries import Entries
    from mfmasim.observe.ordering.history import History


ORDERED, STALE, SCALAR, NEAR, NOT_BACK, NARROW, IN_FLIGHT, NO_WAIT, NOTHING, NO_BARRIER = range(10)
"""Relation of two accesses: ordered; ordered, but with stale caches (vector; scalar; vector, in one workgroup on two
compute units; the writer's L2); atomics of too small a scope; a release while the first is in flight; a barrier while
the first is in flight; unordered; unordered in one workgroup, without a barrier."""
CHUNK = 1 << 20
"""Pairs that are examined at once."""
MOST = 40_000_000
"""Pairs that are examined in total; a launch with more reports that not every access was analysed."""


@dataclass(frozen=True)
class Pair:
    """Two unordered accesses: the first such pair of two instructions in the order of memory and waves."""

    why: int
    unit: int
    kinds: tuple[int, int]
    """Kinds of both accesses, ordered by address in the code."""
    waves: tuple[int, int]
    lanes: tuple[int, int]
    same: bool
    """Whether all such pairs write the same values."""
    count: int
    """Units that such pairs access."""


class _Judge:
    """Relations of pairs of entries, given by their indices."""

    def __init__(self, history: History, entries: Entries) -> None:
        self.entries, self.per, self.in_order = entries, history.per, history.in_order
        self.together = history.clusters.together
        self.knowledge = history.knowledge
        self.writes = np.array([k.kind != "read" for k in history.kinds], np.bool_)[entries.kind]
        self.atomic = np.array([k.kind == "atomic" for k in history.kinds], np.bool_)[entries.kind]
        self.reach = np.array([k.reach for k in history.kinds], np.int8)[entries.kind]
        self.scalar = np.array([k.scalar for k in history.kinds], np.bool_)[entries.kind]
        self.plain_read = ~self.writes & (self.reach < DEVICE)
        self.stays = self.writes & (self.reach < DEVICE) if history.arch.several_l2 else np.zeros_like(self.writes)
        """Stores that stay in the L2 until it is written back."""
        self.uniform = self._uniform()
        """Entries of units to which only one value is written, and by no atomic operation."""
        self.read_before = self._read_before()
        self.served: Flags = np.zeros(len(entries.unit), np.bool_)
        """Reads of such units that are ordered after one of these writes: other writes do not change their value."""

    def _uniform(self) -> Flags:
        e = self.entries
        starts = np.flatnonzero(np.append(True, np.diff(e.unit) != 0))
        value = e.value.astype(np.int64)
        low = np.minimum.reduceat(np.where(self.writes, value, 1 << 32), starts)
        high = np.maximum.reduceat(np.where(self.writes, value, -1), starts)
        one = (low == high) & ~np.logical_or.reduceat(self.atomic, starts)
        result: Flags = np.repeat(one, np.diff(np.append(starts, len(e.unit))))
        return result

    def _read_before(self) -> I64:
        """Number of the first plain read of the same unit by the same wave through a vector cache; else a large one."""
        e = self.entries
        never = np.int64(np.iinfo(np.int64).max)
        starts = np.flatnonzero(np.append(True, (np.diff(e.unit) != 0) | (np.diff(e.wave) != 0)))
        number = np.where(self.plain_read & ~self.scalar & (self.reach == PLAIN), e.number, never)
        return np.repeat(np.minimum.reduceat(number, starts), np.diff(np.append(starts, len(e.unit))))

    def fine_together(self, a: I64, b: I64) -> Flags:
        """Whether both accesses are atomic by their instructions, so that they need no order."""
        wide, unstated = self.reach == DEVICE, self.reach == UNSTATED
        near = self.entries.wave[a] // self.per == self.entries.wave[b] // self.per
        whole = (wide | self.atomic) | (self.reach == WORKGROUP)
        far = (wide[a] & (wide[b] | unstated[b])) | (wide[b] & unstated[a])
        # A scope between workgroup and device covers the workgroups of a cluster.
        beside = self.entries.wave[a] // self.together == self.entries.wave[b] // self.together
        far |= self.atomic[a] & self.atomic[b] & beside
        result: Flags = far | (near & whole[a] & (whole[b] | unstated[b])) | (near & whole[b] & unstated[a])
        return result

    def between(self, a: I64, b: I64) -> NDArray[np.int8]:
        """The relation of `a` to a later `b`."""
        e = self.entries
        first, second = e.wave[a], e.wave[b]
        near = first // self.per == second // self.per
        one_way = self.in_order & ~self.scalar[a] & ~self.scalar[b]
        step_of = np.where(one_way, e.issued[a], e.complete[a])
        met = np.where(one_way, e.signalled[a], e.met[a])
        atomic = (self.atomic | (self.reach >= WORKGROUP)) & (self.reach != UNSTATED)
        out = np.where(near, np.int8(NO_BARRIER), np.where(atomic[a] & atomic[b], np.int8(NARROW), np.int8(NOTHING)))
        known = e.known[b]
        for index in np.unique(known):
            chosen = known == index
            if index < 0:
                out[chosen] = ORDERED
                continue
            if index == 0:
                continue
            rows = self.knowledge[index][:, first[chosen]]
            issued, over, step = e.issued[a][chosen], e.complete[a][chosen], step_of[chosen]
            why = out[chosen]
            why[(issued < rows[ANY]) & (why == NOTHING)] = NARROW
            why[issued < rows[ISSUED]] = IN_FLIGHT
            ordered = (over < rows[OVER]) | (step < rows[BARRIER])
            fresh = (over < rows[FRESH]) | (step < rows[FRESH_BARRIER]) | ~self.plain_read[b][chosen]
            why[ordered] = STALE
            why[ordered & fresh] = ORDERED
            why[ordered & self.stays[a][chosen] & (issued >= rows[BACK])] = NOT_BACK
            out[chosen] = why
        out[near & (e.joined[b] > e.signalled[a]) & (out != ORDERED)] = NO_WAIT
        out[near & ((e.joined[b] > met) | (e.number[a] < e.since[b]) | (out == STALE) | (out == NOT_BACK))] = ORDERED
        # The line was cached before the write, and not invalidated since.
        kept = (e.cached[b] < e.number[a]) & (e.invalidated[b] < e.number[a]) & (e.number[a] < e.number[b])
        out[kept & self.writes[a] & (out <= STALE)] = SCALAR
        if not self.in_order:
            # In a workgroup on two compute units a wave may find the line that it has read before the write.
            kept = (self.read_before[b] < e.number[a]) & (e.invalidated[b] < e.number[a]) & (e.number[a] < e.number[b])
            plain = self.plain_read[b] & ~self.scalar[b] & (self.reach[b] == PLAIN)
            out[near & kept & plain & self.writes[a] & (out == ORDERED)] = NEAR
        return out


def _candidates(entries: Entries, writes: Flags, history: History) -> Iterator[tuple[I64, I64]]:
    """Pairs of a write and another access to the same unit, each pair once, in pieces; at most `MOST` in all."""
    starts = np.flatnonzero(np.append(True, np.diff(entries.unit) != 0))
    ends = np.append(starts[1:], len(entries.unit))
    which = np.repeat(np.arange(len(starts)), ends - starts)
    first = np.flatnonzero(writes)
    counts = (ends - starts)[which[first]]
    total = 0
    for cut in np.array_split(first, max(1, int(counts.sum()) // CHUNK)):
        sizes = (ends - starts)[which[cut]]
        total += int(sizes.sum())
        if total > MOST and total > sizes.sum():
            history.full = True
            return
        a = np.repeat(cut, sizes)
        offset = np.arange(len(a)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        b = np.repeat(starts[which[cut]], sizes) + offset
        keep = (entries.wave[a] != entries.wave[b]) & (~writes[b] | (a < b))
        yield a[keep], b[keep]


def _sorted(entries: Entries) -> Entries:
    """Entries by unit, wave and time, without repetitions."""
    order = np.lexsort((entries.number, entries.wave, entries.unit))
    parts: dict[str, Any] = {name: getattr(entries, name)[order] for name in entries.__dataclass_fields__}
    keep = np.ones(len(order), np.bool_)
    if len(order):
        fields = [parts[name] for name in parts if name not in ("number", "lane")]
        keep[1:] = np.any([np.diff(field.astype(np.int64)) != 0 for field in fields], axis=0)
    return type(entries)(**{name: part[keep] for name, part in parts.items()})


def unordered(history: History) -> list[Pair]:
    """Pairs of instructions with unordered accesses to the same units, sorted by their kinds."""
    entries = _sorted(history.entries())
    if not len(entries.unit):
        return []
    judge = _Judge(history, entries)
    found: dict[tuple[int, int, int], list[Any]] = {}
    place = np.argsort(np.argsort([k.instruction.pc for k in history.kinds], kind="stable"))
    waiting: list[tuple[I64, I64, NDArray[np.int8]]] = []

    def sort(first: I64, second: I64, why: NDArray[np.int8]) -> None:
        """Collect pairs, the instruction with the smaller address first."""
        swap = (place[entries.kind[first]] > place[entries.kind[second]]) | (
            (entries.kind[first] == entries.kind[second]) & (entries.wave[first] > entries.wave[second])
        )
        if len(first):
            _collect(found, judge, np.where(swap, second, first), np.where(swap, first, second), why)

    for write, other in _candidates(entries, judge.writes, history):
        left = ~judge.fine_together(write, other)
        if not left.any():
            continue
        a, b = write[left], other[left]
        later = entries.number[a] > entries.number[b]
        earlier, after = np.where(later, b, a), np.where(later, a, b)
        why = judge.between(earlier, after)
        if (why > NOT_BACK).any():
            back = judge.between(after, earlier) == ORDERED
            why = np.where(back & (why != SCALAR) & (why != NEAR), np.int8(ORDERED), why)
        wrong = why != ORDERED
        judge.served[after[~wrong & judge.writes[earlier] & ~judge.writes[after]]] = True
        # Reads are examined after the writes of the same value.
        wait = wrong & judge.uniform[a] & ~judge.writes[b]
        waiting.append((a[wait], b[wait], why[wait]))
        wrong &= ~wait
        sort(a[wrong], b[wrong], why[wrong])
    for a, b, why in waiting:
        sort(a, b, why)
    return [
        Pair(key[2], state[0], (key[0], key[1]), (state[1], state[2]), (state[3], state[4]), state[5], len(state[6]))
        for key, state in sorted(found.items(), key=lambda item: item[0])
    ]


def _collect(
    found: dict[tuple[int, int, int], list[Any]], judge: _Judge, a: I64, b: I64, why: NDArray[np.int8]
) -> None:
    """Add pairs to the record of their instructions: the first pair, whether values are equal, the units."""
    e = judge.entries
    same = judge.writes[a] & judge.writes[b] & ~judge.atomic[a] & ~judge.atomic[b] & (e.value[a] == e.value[b])
    same |= judge.uniform[a] & (judge.served[a] | judge.served[b])
    table = np.stack([e.kind[a], e.kind[b], why], axis=1)
    for key in np.unique(table, axis=0):
        chosen = np.flatnonzero((table == key).all(axis=1))
        units = e.unit[a[chosen]]
        first = chosen[np.lexsort((e.wave[b[chosen]], e.wave[a[chosen]], units))[0]]
        x, y = a[first], b[first]
        best = [int(v) for v in (e.unit[x], e.wave[x], e.wave[y], e.lane[x], e.lane[y])] + [bool(same[chosen].all())]
        old = found.get(tuple(key.tolist()))
        if old is None:
            found[tuple(key.tolist())] = [*best, set(np.unique(units).tolist())]
            continue
        old[:5] = min(old[:5], best[:5])
        old[5] = old[5] and best[5]
        old[6].update(np.unique(units).tolist())
