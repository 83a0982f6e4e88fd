"""Bank conflicts of all LDS accesses that a kernel executed: one account per instruction.

Adding the same multiple of 4 bytes to every address rotates the banks and changes no degree. So each access is stored
relative to its lowest address, and a loop, or many waves at different addresses, are counted once.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.architectures import Arch, arch
from mfmasim.lds import compiled
from mfmasim.lds.conflict import choose_table
from mfmasim.lds.counting import count_degrees, index_of
from mfmasim.lds.instructions import DsInstruction, ds_instruction
from mfmasim.lds.lanes import PhaseTable
from mfmasim.lds.samples import Alike, Sample, Samples, alike_of

IRREGULAR = 16
"""Accesses of a group that are new, after which they are no longer looked for where more are new than known."""
_PATTERNS = 512
"""Distinct accesses of a whole group of waves that are cached; further ones are counted each time."""


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
    _counts: dict[tuple[int, int, bytes], list[Any]] = field(default_factory=dict)
    """Accesses of a group, by part, waves that a row stands for and addresses relative to their lowest dwords: [times,
    degrees (different rows, phases), waves of each of these, the different rows, lowest dword of each row where they
    were lowest, and where highest]."""
    _histogram: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    """Accesses that are counted and no longer stored."""
    _hits: int = 0
    _misses: int = 0
    """Accesses of a group that were, and were not, among those that are stored."""

    @cached_property
    def _worst(self) -> Samples:
        """The worst accesses of single waves."""
        return Samples(self.lanes)

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
        for (part, *_), (times, degrees, weights, *_) in self._counts.items():
            _count_into(out, part, degrees, times * weights)
        return out

    @cached_property
    def samples(self) -> list[Sample]:
        """The worst distinct accesses, independent of the order of execution."""
        self._keep_all()
        return self._worst.worst_first()

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
        known: dict[tuple[str, bytes], tuple[Alike, NDArray[np.int16]]],
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
        if self._irregular and self._count(addresses, active, part, waves):
            return
        quiet, base, high = _relative(addresses, active, self.row.size)
        self.lowest, self.highest = min(self.lowest, int(base.min())), max(self.highest, high)
        pattern = quiet.tobytes() + (b"" if active is None else np.packbits(active).tobytes())
        key = part, waves // len(quiet), pattern
        found = self._counts.get(key)
        if found is not None:
            found[0] += 1
            self._hits += 1
            alike, low, high = found[3:]
            if (base < low).any() or (base > high).any():
                found[4], found[5] = np.minimum(low, base), np.maximum(high, base)
            return
        self._misses += 1
        if (self.row.name, pattern) not in known:
            alike = alike_of(quiet, active)
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
            self._worst.keep(quiet, active, part, degrees, alike, base, base)

    @property
    def _irregular(self) -> bool:
        """Whether accesses of whole groups hardly come again, so that it takes longer to look for them."""
        return self._misses > max(IRREGULAR, 2 * self._hits)

    def _count(self, addresses: NDArray[np.int64], active: NDArray[np.bool_] | None, part: int, waves: int) -> bool:
        """Count accesses in C, as `add` does; whether it was done."""
        if not self._histogram.size:
            self._histogram = np.zeros((len(self.sets), self.lanes * 4 + 1), np.int64)
        sets, banks = index_of(self.table.sets(self.lanes)), self.table.banks
        size, weight = self.row.size, waves // len(addresses)
        counted = compiled.account(
            addresses, active, sets, banks, size, self._histogram, part, weight, self._worst.limit
        )
        if counted is None:
            return False
        self.lowest, self.highest = min(self.lowest, counted.lowest), max(self.highest, counted.highest)
        near = counted.near
        if len(near):
            quiet, some = counted.quiet[near], None if active is None else active[near]
            each, base = np.arange(len(near)), counted.base[near, None]
            alike = Alike(each, each, np.ones_like(each))  # of equal ones the first is stored
            self._worst.keep(quiet, some, part, counted.degrees[near], alike, base, base)
        return True

    def _keep_all(self) -> None:
        """Store the worst of the accesses that are counted, which nothing asks for where there are no conflicts."""
        for (part, _, pattern), (_, degrees, _, alike, low, high) in self._counts.items():
            size = 8 * len(low) * self.lanes
            quiet = np.frombuffer(pattern[:size], np.int64).reshape(len(low), self.lanes)
            bits = np.frombuffer(pattern[size:], np.uint8)
            active = np.unpackbits(bits).astype(np.bool_).reshape(quiet.shape) if len(bits) else None
            self._worst.keep(quiet, active, part, degrees, alike, low, high)

    def _forget(self, part: int, degrees: NDArray[np.int16], weights: NDArray[np.int64]) -> None:
        if not self._histogram.size:
            self._histogram = np.zeros((len(self.sets), self.lanes * 4 + 1), np.int64)
        _count_into(self._histogram, part, degrees, weights)

    def merge(self, other: Account) -> None:
        """Merge another part of the same launch."""
        self.executions += other.executions
        self.lowest, self.highest = min(self.lowest, other.lowest), max(self.highest, other.highest)
        for (part, *_), (times, degrees, weights, *_) in other._counts.items():
            self._forget(part, degrees, times * weights)
        if other._histogram.size:
            self._histogram = other._histogram + (self._histogram if self._histogram.size else 0)
        other._keep_all()
        self._worst.merge(other._worst)


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
        self._known: dict[tuple[str, bytes], tuple[Alike, NDArray[np.int16]]] = {}

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
