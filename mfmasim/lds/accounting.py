"""Bank conflicts of all LDS accesses that a kernel executed: one account per instruction.

Adding the same multiple of 4 bytes to every address rotates the banks and changes no degree. So each access is stored
relative to its lowest address, and a loop, or many waves at different addresses, are counted once.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import Arch, arch
from mfmasim.lds.conflict import choose_table
from mfmasim.lds.counting import count_degrees
from mfmasim.lds.instructions import DsInstruction, ds_instruction
from mfmasim.lds.lanes import PhaseTable

SAMPLES = 32
"""Distinct accesses stored of each instruction, the worst ones: as examples, and to evaluate swizzles."""
_PATTERNS = 512
"""Distinct accesses of a whole group of waves that are cached; further ones are counted each time."""


@dataclass(frozen=True, eq=False)
class Sample:
    """One executed wave access: byte addresses (lanes,), lanes that took part, degrees of its phases."""

    addresses: NDArray[np.int64]
    active: NDArray[np.bool_]
    part: int
    degrees: NDArray[np.int16]
    worst: int = 0
    """Largest degree."""
    base: int = 0
    """Lowest dword of the access: those with the same distances between lanes differ in nothing else."""


@dataclass(eq=False)
class Account:
    """Conflicts of one LDS instruction, over all waves.

    Attributes:
        row: the instruction.
        table: the phases and banks that were used.
        lanes: lanes of a wave.
        executions: wave-instructions that were executed (of a two-address instruction both accesses together).
        lowest: lowest byte accessed.
        highest: one past the highest byte accessed.
    """

    row: DsInstruction
    table: PhaseTable
    lanes: int
    executions: int = 0
    lowest: int = 1 << 62
    highest: int = 0
    _counts: dict[tuple[int, bytes], list[Any]] = field(default_factory=dict)
    """Accesses of a group, relative to their lowest dwords, to [times, degrees (different rows, phases), waves of each
    of these, the different rows, lowest dword of each row where they were lowest, and where highest]."""
    _histogram: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    """Accesses that are counted and no longer stored."""
    _worst: dict[bytes, Sample] = field(default_factory=dict)
    """Accesses of single waves by their pattern, each at its lowest and its highest address."""
    _limit: tuple[int, bytes] | None = None
    """`_badness` of the last of `SAMPLES` patterns: nothing behind it is a sample; None while there are fewer."""

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Lanes of each phase; two-address instructions repeat them."""
        return self.table.sets(self.lanes) * self.row.parts

    @cached_property
    def histogram(self) -> NDArray[np.int64]:
        """How many wave accesses had each degree, int64 (phases, degrees from 0)."""
        worst = max((int(degrees.max(initial=0)) for _, degrees, *_ in self._counts.values()), default=0)
        if self._histogram.size:
            worst = max(worst, int(np.flatnonzero(self._histogram.any(axis=0)).max(initial=0)))
        out = np.zeros((len(self.sets), worst + 1), np.int64)
        if self._histogram.size:
            out += self._histogram[:, : worst + 1]
        for (part, _), (times, degrees, weights, *_) in self._counts.items():
            _count_into(out, part, degrees, times * weights)
        return out

    @cached_property
    def samples(self) -> list[Sample]:
        """The worst distinct accesses, independent of the order of execution."""
        self._keep_all()
        kept = {id(self._worst[key]): self._worst[key] for key in sorted(self._worst, key=self._badness)}
        return list(kept.values())[:SAMPLES]

    def _badness(self, key: bytes) -> tuple[int, bytes]:
        return -self._worst[key].worst, key

    @cached_property
    def degrees(self) -> tuple[int, ...]:
        """Worst degree of each phase."""
        some = self.histogram != 0
        return tuple((np.arange(some.shape[1]) * some).max(axis=1).tolist())

    @property
    def worst(self) -> int:
        """Worst degree of all."""
        return max(self.degrees, default=0)

    @cached_property
    def extra_passes(self) -> int:
        """Sum of degree - 1: the analogue of SQ_LDS_BANK_CONFLICT. A number of passes, not a time."""
        degree = np.arange(self.histogram.shape[1])
        return int((self.histogram * np.maximum(degree - 1, 0)).sum())

    @property
    def clocks(self) -> int:
        """Passes, and a clock for each phase without active lanes: the analogue of SQ_LDS_IDX_ACTIVE.

        Captured: a phase without active lanes takes a clock like any other (`mfmasim.lds.SOURCES`, PMC).
        """
        return self.passes + int(self.histogram[:, :1].sum())

    @property
    def passes(self) -> int:
        """Sum of the degrees."""
        return int((self.histogram * np.arange(self.histogram.shape[1])).sum())

    def worst_lanes(self) -> tuple[int, ...]:
        """Lanes of the worst sample that conflict in its fullest bank; empty without a conflict."""
        if self.worst < 2:
            return ()
        sample = self.samples[0]
        phase = self.table.sets(self.lanes)[int(sample.degrees.argmax())]
        banks: dict[int, dict[int, int]] = {}
        for lane in phase:
            if sample.active[lane]:
                first = int(sample.addresses[lane])
                for dword in range(first // 4, (first + self.row.size - 1) // 4 + 1):
                    banks.setdefault(dword % self.table.banks, {}).setdefault(dword, lane)
        fullest = max(banks.values(), key=len)
        return tuple(sorted(fullest.values()))

    def add(
        self,
        addresses: NDArray[np.int64],
        active: NDArray[np.bool_] | None,
        part: int,
        waves: int,
        known: dict[tuple[str, bytes], tuple[_Alike, NDArray[np.int16]]],
    ) -> None:
        """Count accesses of (1 or waves, lanes).

        Args:
            addresses: byte addresses, (1 or waves, lanes).
            active: lanes that take part, of the same shape; None is all.
            part: which of two accesses, else 0.
            waves: waves that execute it.
            known: distinct rows and their degrees, by instruction and pattern; this one's are added.
        """
        if not part:
            self.executions += waves
        quiet, base, high = _relative(addresses, active, self.row.size)
        self.lowest, self.highest = min(self.lowest, int(base.min())), max(self.highest, high)
        pattern = quiet.tobytes() + (b"" if active is None else np.packbits(active).tobytes())
        key = part, pattern
        found = self._counts.get(key)
        if found is not None:
            found[0] += 1
            alike, low, high = found[3:]
            if (base < low).any() or (base > high).any():
                found[4], found[5] = np.minimum(low, base), np.maximum(high, base)
            return
        if (self.row.name, pattern) not in known:
            alike = _alike(quiet, active)
            mask = None if active is None else active[alike.first]
            sets, banks = self.table.sets(self.lanes), self.table.banks
            if len(known) >= _PATTERNS:
                known.clear()
            known[self.row.name, pattern] = alike, count_degrees(sets, banks, quiet[alike.first], self.row.size, mask)
        alike, degrees = known[self.row.name, pattern]
        weights = alike.times * (waves // len(quiet))
        if len(self._counts) < _PATTERNS:
            self._counts[key] = [1, degrees, weights, alike, base, base]
        else:
            self._forget(part, degrees, weights)
            self._keep(quiet, active, part, degrees, alike, base, base)

    def _keep_all(self) -> None:
        """Store the worst of the accesses that are counted, which nothing asks for where there are no conflicts."""
        for (part, pattern), (_, degrees, _, alike, low, high) in self._counts.items():
            size = 8 * len(low) * self.lanes
            quiet = np.frombuffer(pattern[:size], np.int64).reshape(len(low), self.lanes)
            bits = np.frombuffer(pattern[size:], np.uint8)
            active = np.unpackbits(bits).astype(np.bool_).reshape(quiet.shape) if len(bits) else None
            self._keep(quiet, active, part, degrees, alike, low, high)

    def _forget(self, part: int, degrees: NDArray[np.int16], weights: NDArray[np.int64]) -> None:
        if not self._histogram.size:
            self._histogram = np.zeros((len(self.sets), self.lanes * 4 + 1), np.int64)
        _count_into(self._histogram, part, degrees, weights)

    def _keep(
        self,
        quiet: NDArray[np.int64],
        active: NDArray[np.bool_] | None,
        part: int,
        degrees: NDArray[np.int16],
        alike: _Alike,
        lowest: NDArray[np.int64],
        highest: NDArray[np.int64],
    ) -> None:
        """Store the worst accesses of single waves, whose lowest dwords were between these."""
        rows, keys, worst = self._near(quiet, active, part, degrees, alike)
        if not len(rows):
            return
        low, high = np.full(len(alike.first), 1 << 62), np.full(len(alike.first), -1 << 62)
        np.minimum.at(low, alike.which, lowest[:, 0])
        np.maximum.at(high, alike.which, highest[:, 0])
        before = len(self._worst)
        at = alike.first[rows]
        masks = np.ones((len(at), self.lanes), np.bool_) if active is None else active[at]
        for starts in (low[rows], high[rows]):
            addresses = np.where(masks, quiet[at] + starts[:, None], 0)
            for n, (key, start) in enumerate(zip(keys, starts.tolist(), strict=True)):
                if self._is_further(key, start):
                    sample = Sample(addresses[n], masks[n], part, degrees[rows[n]], int(worst[n]), start)
                    self._remember(key, sample)
        if len(self._worst) > max(before, 2 * SAMPLES):
            kept = sorted(self._worst, key=self._badness)[: 2 * SAMPLES]  # the lowest and the highest of each
            self._worst, self._limit = {key: self._worst[key] for key in kept}, self._badness(kept[-1])

    def _near(
        self,
        quiet: NDArray[np.int64],
        active: NDArray[np.bool_] | None,
        part: int,
        degrees: NDArray[np.int16],
        alike: _Alike,
    ) -> tuple[NDArray[np.intp], list[bytes], NDArray[np.int64]]:
        """Of distinct rows those that may be among the samples: their numbers, their keys and their largest degrees."""
        worst = degrees.max(axis=1, initial=0).astype(np.int64)
        rows = np.flatnonzero(worst >= (-self._limit[0] if self._limit is not None else 0))
        text = _bytes_of(quiet[alike.first[rows]], None if active is None else active[alike.first[rows]])
        if self._limit is not None and len(rows):
            # Of equal degrees the order of bytes decides; the first of a key is the part, the last the end.
            last = self._limit[1][1:].removesuffix(b"high").removesuffix(b"low")
            few = (worst[rows] > -self._limit[0]) | (part < self._limit[1][0])
            near = few | ((part == self._limit[1][0]) & (text <= np.array(last, text.dtype)))
            rows, text = rows[near], text[near]
        chosen = np.lexsort((text, -worst[rows]))[:SAMPLES]
        whole = text.dtype.itemsize
        keys = [bytes([part]) + one.ljust(whole, b"\0") for one in text[chosen].tolist()]
        return rows[chosen], keys, worst[rows[chosen]]

    def _is_further(self, key: bytes, base: int) -> bool:
        """Whether a pattern was not seen so low, or so high."""
        low, high = self._worst.get(key + b"low"), self._worst.get(key + b"high")
        return low is None or high is None or base < low.base or base > high.base

    def _remember(self, key: bytes, sample: Sample) -> None:
        """Store a pattern at its lowest and its highest address."""
        for end, further in ((b"low", int.__lt__), (b"high", int.__gt__)):
            known = self._worst.get(key + end)
            if known is None or further(sample.base, known.base):
                self._worst[key + end] = sample

    def merge(self, other: Account) -> None:
        """Merge another part of the same launch."""
        self.executions += other.executions
        self.lowest, self.highest = min(self.lowest, other.lowest), max(self.highest, other.highest)
        for (part, _), (times, degrees, weights, *_) in other._counts.items():
            self._forget(part, degrees, times * weights)
        if other._histogram.size:
            self._histogram = other._histogram + (self._histogram if self._histogram.size else 0)
        other._keep_all()
        for key, sample in other._worst.items():
            self._remember(key.removesuffix(b"low").removesuffix(b"high"), sample)


class _Alike(NamedTuple):
    """Distinct rows: the first of each, which of them each row equals, and how many do."""

    first: NDArray[np.intp]
    which: NDArray[np.intp]
    times: NDArray[np.int64]


def _bytes_of(quiet: NDArray[np.int64], active: NDArray[np.bool_] | None) -> NDArray[np.bytes_]:
    """Rows of addresses (rows, lanes) and masks as strings, which NumPy compares as Python does those of one length."""
    masks = np.packbits(np.ones_like(quiet[:1], np.bool_) if active is None else active, axis=1)
    octets = np.concatenate([quiet.view(np.uint8), np.broadcast_to(masks, (len(quiet), masks.shape[1]))], axis=1)
    return octets.view(f"S{octets.shape[1]}")[:, 0]


@lru_cache
def _multipliers(lanes: int) -> NDArray[np.int64]:
    """Odd numbers by which rows that differ get different sums, as a rule."""
    return np.random.default_rng(0).integers(-1 << 63, 1 << 63, lanes, np.int64) | 1


def _alike(quiet: NDArray[np.int64], active: NDArray[np.bool_] | None) -> _Alike:
    """Find the distinct rows of addresses (rows, lanes) and masks."""
    marked = quiet if active is None else np.where(active, quiet, -1)
    sums = (marked * _multipliers(quiet.shape[1])).sum(axis=1)
    _, first, which, times = np.unique(sums, return_index=True, return_inverse=True, return_counts=True)
    if (marked[first[which]] != marked).any():
        _, first, which, times = np.unique(marked, axis=0, return_index=True, return_inverse=True, return_counts=True)
    return _Alike(first, which.reshape(-1), times)


def _count_into(out: NDArray[np.int64], part: int, degrees: NDArray[np.int16], weights: NDArray[np.int64]) -> None:
    """Add degrees (rows, phases), each row so many times, to a histogram (phases, degrees)."""
    phases = degrees.shape[1]
    np.add.at(out, (part * phases + np.arange(phases), degrees), weights[:, None])


def _relative(
    addresses: NDArray[np.int64], active: NDArray[np.bool_] | None, size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Addresses less the lowest dword of their row, lanes that are idle at 0; those dwords (rows, 1); the end."""
    if active is None:
        base = addresses.min(axis=1, keepdims=True) & ~3
        return addresses - base, base, int(addresses.max()) + size
    far = np.where(active, addresses, 1 << 62)
    base = far.min(axis=1, keepdims=True) & ~3
    quiet = np.where(active, addresses - base, 0)
    high = int(np.where(active, addresses, -size).max()) + size
    return quiet, base, high


class Accounts:
    """The accounts of a launch, by place in the code."""

    def __init__(
        self, architecture: str | Arch, lanes: int, table: PhaseTable | Mapping[str, PhaseTable] | None = None
    ) -> None:
        """Count for an architecture and a wave size; `table` overrides phases as in `mfmasim.lds.conflicts`."""
        self.arch, self.lanes, self.table = arch(architecture), lanes, table
        self.by_place: dict[Hashable, Account] = {}
        self._known: dict[tuple[str, bytes], tuple[_Alike, NDArray[np.int16]]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs: the accounts."""
        return {**self.__dict__, "_known": {}}

    def add(
        self,
        place: Hashable,
        instruction: str,
        addresses: NDArray[np.int64],
        active: NDArray[np.bool_] | None,
        part: int,
        waves: int,
    ) -> None:
        """Count one executed access.

        Args:
            place: key of this instruction, such as its address in the code.
            instruction: LDS instruction of the architecture.
            addresses: byte addresses in the allocation, (1 or waves, lanes).
            active: lanes that take part, (1 or waves, lanes); None is all.
            part: which of two accesses, else 0.
            waves: waves that execute it.

        Raises:
            MfmasimError: the architecture has no such LDS instruction.
        """
        account = self.by_place.get(place)
        if account is None:
            row = ds_instruction(self.arch, instruction)
            account = self.by_place[place] = Account(row, choose_table(self.arch, instruction, self.table), self.lanes)
        if len(addresses) == 1 and active is not None and len(active) > 1:
            addresses = np.broadcast_to(addresses, active.shape)
        elif active is not None and len(active) == 1 < len(addresses):
            active = np.broadcast_to(active, addresses.shape)
        account.add(addresses, active, part, waves, self._known)

    def merge(self, other: Accounts) -> None:
        """Merge the accounts of another part of the same launch."""
        for place, account in other.by_place.items():
            existing = self.by_place.get(place)
            if existing is None:
                self.by_place[place] = account
            else:
                existing.merge(account)
