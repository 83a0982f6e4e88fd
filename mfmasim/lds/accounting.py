"""Bank conflicts of everything a kernel executed: one account an instruction, counted as its accesses come.

Adding the same multiple of 4 bytes to every address turns the banks round and changes no degree. So each access is kept
relative to its lowest address, and a loop, or many waves at different places, are counted once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mfmasim.architectures import Arch, arch
from mfmasim.lds.conflict import choose_table
from mfmasim.lds.counting import count_degrees
from mfmasim.lds.instructions import DsInstruction, ds_instruction

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from numpy.typing import NDArray

    from mfmasim.lds.lanes import PhaseTable

__all__ = ["Account", "Accounts", "Sample"]

SAMPLES = 32
"""Accesses kept of each instruction, different in pattern or place: examples, and what swizzles are tried on."""
_PATTERNS = 512
"""Different patterns remembered of each instruction; later ones are counted anew each time."""


@dataclass(frozen=True, eq=False)
class Sample:
    """One executed wave access: byte addresses (lanes,), lanes that took part, degrees of its phases."""

    addresses: NDArray[np.int64]
    active: NDArray[np.bool_]
    part: int
    degrees: NDArray[np.int16]


@dataclass(eq=False)
class Account:
    """What one LDS instruction did, over all waves.

    Attributes:
        row: the instruction.
        table: the phases and banks that were used.
        lanes: lanes of a wave.
        executions: wave-instructions that were executed (of a two-address instruction both accesses together).
        samples: some of the accesses, the first that differ.
    """

    row: DsInstruction
    table: PhaseTable
    lanes: int
    executions: int = 0
    samples: list[Sample] = field(default_factory=list)
    lowest: int = 1 << 62
    """Lowest byte accessed."""
    highest: int = 0
    """One past the highest byte accessed."""
    _counts: dict[tuple[int, bytes], list[Any]] = field(default_factory=dict)
    """Pattern to [times, degrees (rows, phases), weight of a row, lowest bytes it was seen at]."""
    _histogram: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Lanes of each phase; two-address instructions repeat them."""
        return self.table.sets(self.lanes) * self.row.parts

    @cached_property
    def histogram(self) -> NDArray[np.int64]:
        """How many wave accesses had each degree, int64 (phases, degrees from 0)."""
        out = np.zeros((len(self.sets), self.lanes * 4 + 1), np.int64)
        out[:, : self._histogram.shape[1]] += self._histogram if self._histogram.size else 0
        for (part, _), (times, degrees, weight, _) in self._counts.items():
            _count_into(out, part, degrees, times * weight)
        return out[:, : int(np.flatnonzero(out.any(axis=0)).max(initial=0)) + 1]

    @property
    def degrees(self) -> tuple[int, ...]:
        """Worst degree of each phase."""
        return tuple(int(np.flatnonzero(row).max(initial=0)) for row in self.histogram)

    @property
    def worst(self) -> int:
        """Worst degree of all."""
        return max(self.degrees, default=0)

    @property
    def extra_passes(self) -> int:
        """Sum of degree - 1: the analogue of SQ_LDS_BANK_CONFLICT. A number of passes, not a time."""
        degree = np.arange(self.histogram.shape[1])
        return int((self.histogram * np.maximum(degree - 1, 0)).sum())

    @property
    def passes(self) -> int:
        """Sum of the degrees."""
        return int((self.histogram * np.arange(self.histogram.shape[1])).sum())

    def example(self) -> Sample | None:
        """The sample with the worst degree."""
        return max(self.samples, key=lambda sample: int(sample.degrees.max(initial=0)), default=None)

    def worst_lanes(self) -> tuple[int, ...]:
        """Lanes of the worst sample that meet in its fullest bank with different dwords; empty without a conflict."""
        sample = self.example()
        if sample is None or int(sample.degrees.max(initial=0)) < 2:
            return ()
        phase = self.table.sets(self.lanes)[int(sample.degrees.argmax())]
        banks: dict[int, dict[int, int]] = {}
        for lane in phase:
            if sample.active[lane]:
                first = int(sample.addresses[lane])
                for dword in range(first // 4, (first + self.row.size - 1) // 4 + 1):
                    banks.setdefault(dword % self.table.banks, {}).setdefault(dword, lane)
        fullest = max(banks.values(), key=len)
        return tuple(sorted(fullest.values()))

    def add(self, addresses: NDArray[np.int64], active: NDArray[np.bool_] | None, part: int, waves: int) -> None:
        """Count accesses of (1 or waves, lanes)."""
        if not part:
            self.executions += waves
        quiet, low, high = _relative(addresses, active, self.row.size)
        self.lowest, self.highest = min(self.lowest, low), max(self.highest, high)
        weight = waves // len(quiet)
        key = part, quiet.tobytes() + (b"" if active is None else np.packbits(active).tobytes())
        found = self._counts.get(key)
        if found is not None:
            found[0] += 1
            if len(self.samples) < SAMPLES and low not in found[3]:
                found[3].add(low)
                self._sample(addresses, active, part, found[1])
            return
        degrees = count_degrees(self.table.sets(self.lanes), self.table.banks, quiet, self.row.size, active)
        if len(self._counts) < _PATTERNS:
            self._counts[key] = [1, degrees, weight, {low}]
        else:
            if not self._histogram.size:
                self._histogram = np.zeros((len(self.sets), self.lanes * 4 + 1), np.int64)
            _count_into(self._histogram, part, degrees, weight)
        self._sample(addresses, active, part, degrees)

    def _sample(
        self, addresses: NDArray[np.int64], active: NDArray[np.bool_] | None, part: int, degrees: NDArray[np.int16]
    ) -> None:
        """Keep the first accesses, and in place of the mildest any that is worse than all."""
        worst = degrees.max(axis=1, initial=0)
        shape = degrees.shape[0], addresses.shape[1]
        places = np.broadcast_to(addresses, shape)
        lanes = np.broadcast_to(np.True_ if active is None else active, shape)
        room = SAMPLES - len(self.samples)
        for row in range(min(room, len(worst))):
            self.samples.append(Sample(places[row].copy(), lanes[row].copy(), part, degrees[row]))
        row = int(worst.argmax())
        if room < len(worst) and worst[row] > max(int(s.degrees.max(initial=0)) for s in self.samples):
            mildest = min(range(SAMPLES), key=lambda i: int(self.samples[i].degrees.max(initial=0)))
            self.samples[mildest] = Sample(places[row].copy(), lanes[row].copy(), part, degrees[row])


def _count_into(out: NDArray[np.int64], part: int, degrees: NDArray[np.int16], weight: int) -> None:
    phases = degrees.shape[1]
    for phase in range(phases):
        found = np.bincount(degrees[:, phase])
        out[part * phases + phase, : len(found)] += found * weight


def _relative(
    addresses: NDArray[np.int64], active: NDArray[np.bool_] | None, size: int
) -> tuple[NDArray[np.int64], int, int]:
    """Addresses less the lowest dword of their row, lanes that are idle at 0; the lowest byte and the end."""
    if active is None:
        base = addresses.min(axis=1, keepdims=True) & ~3
        return addresses - base, int(base.min()), int(addresses.max()) + size
    far = np.where(active, addresses, 1 << 62)
    base = far.min(axis=1, keepdims=True) & ~3
    quiet = np.where(active, addresses - base, 0)
    high = int(np.where(active, addresses, -size).max()) + size
    return quiet, int(base.min()), high


class Accounts:
    """The accounts of a launch, by place in the code."""

    def __init__(
        self, architecture: str | Arch, lanes: int, table: PhaseTable | Mapping[str, PhaseTable] | None = None
    ) -> None:
        """Count for an architecture and a wave size; `table` overrides phases as in `mfmasim.lds.conflicts`."""
        self.arch, self.lanes, self.table = arch(architecture), lanes, table
        self.by_place: dict[Hashable, Account] = {}

    def add(
        self, place: Hashable, instruction: str, addresses: NDArray[np.int64], active: NDArray[np.bool_] | None,
        part: int, waves: int,
    ) -> None:  # fmt: skip
        """Count one executed access.

        Args:
            place: what tells this instruction from others, such as its address in the code.
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
        account.add(addresses, active, part, waves)
