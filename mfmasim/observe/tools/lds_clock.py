"""A clock that counts LDS accesses, for the tests of probes that read a clock. It does not model time.

Without it, clocks count the instructions of a wave (`mfmasim.machine.ops.clock`). With it, each
LDS access adds ticks: for every phase of its instruction the passes that the phase needs, degree after degree, by a
phase table that may differ from the simulator's table. Nothing else adds ticks: waves do not wait for each
other, loads have no latency, FLAT accesses and direct-to-LDS loads are free. Noise adds random ticks
whenever a clock is read, but it still never decreases.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.errors import MfmasimError, decimal, unknown
from mfmasim.lds import PhaseTable, ds_instruction, phase_tables
from mfmasim.lds.counting import count_degrees
from mfmasim.machine.events import Observer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mfmasim.lds import DsInstruction
    from mfmasim.machine.events import AccessEvent

TICKS = 4
"""Ticks of a pass."""


class LdsClock(Observer):
    """Observes LDS accesses, and adds their ticks to the clocks of waves."""

    name = "LDS clock"

    def __init__(
        self,
        arch: str,
        tables: Mapping[str, PhaseTable] | None = None,
        *,
        ticks: int = TICKS,
        noise: int = 0,
        seed: int = 0,
        empty: int = 1,
        least: int = 0,
    ) -> None:
        """Count by hidden tables.

        Args:
            arch: the architecture of the kernels.
            tables: phases and banks by access, such as ``read b32``; missing accesses are as in `mfmasim.lds`.
            ticks: ticks of a pass.
            noise: maximum number of ticks added whenever a clock is read.
            seed: of the noise.
            empty: passes of a phase without an active lane.
            least: minimum passes of an access, for a part that is slower than the banks.

        Raises:
            MfmasimError: the architecture has no such access.
        """
        self.arch, self.ticks, self.noise = arch, ticks, noise
        self.empty, self.least = empty, least
        known = phase_tables(arch)
        for access in tables or {}:
            if access not in known:
                raise unknown("LDS access", access, known, f"on {arch}")
        self.tables = {**known, **(tables or {})}
        self._random = np.random.default_rng(seed)
        self._ahead = np.zeros(0, np.int64)
        self._last: tuple[DsInstruction, NDArray[np.int64], NDArray[np.bool_] | None, NDArray[np.int64]] | None = None

    def on_access(self, event: AccessEvent) -> None:
        """Add the passes of an access to the clocks of its waves."""
        if event.space != "lds" or event.instruction.opcode.unit != "LDS":
            return
        try:
            row = ds_instruction(self.arch, event.instruction.name)
        except MfmasimError:  # ds_append and similar instructions have no address per lane
            return
        passes = self._passes(row, event.addresses.astype(np.int64, copy=False), event.active)
        self._ahead_of(event.numbers)[event.numbers] += passes * self.ticks

    def _passes(
        self, row: DsInstruction, addresses: NDArray[np.int64], active: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        """Passes of an access, (1 or waves,); a loop requests the same ones repeatedly."""
        last = self._last
        if last and last[0] == row and np.array_equal(last[1], addresses) and _same(last[2], active):
            return last[3]
        table = self.tables[row.row]
        taking = None if active is None else np.broadcast_to(active, np.broadcast_shapes(active.shape, addresses.shape))
        places = addresses if taking is None else np.where(taking, addresses, 0)
        degrees = count_degrees(table.sets(addresses.shape[-1]), table.banks, places, row.size, taking)
        needed = np.maximum(degrees, self.empty).sum(axis=-1, dtype=np.int64)
        passes = np.asarray(np.maximum(needed, self.least), np.int64)
        self._last = row, addresses.copy(), None if active is None else active.copy(), passes
        return passes

    def on_clock(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Additional ticks of the clocks of waves, by their numbers in the launch, (waves,)."""
        ahead = self._ahead_of(numbers)
        if self.noise:
            ahead[numbers] += self._random.integers(0, self.noise + 1, len(numbers))
        return ahead[numbers]

    def _ahead_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        most = int(numbers.max(initial=-1)) + 1
        if most > len(self._ahead):
            self._ahead = np.concatenate([self._ahead, np.zeros(most - len(self._ahead), np.int64)])
        return self._ahead


def _same(one: NDArray[np.bool_] | None, other: NDArray[np.bool_] | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)


def read_tables(text: str, arch: str) -> dict[str, PhaseTable]:
    """Read ``ACCESS=LANES/BANKS``, separated by semicolons; LANES is a name of lane sets, or ``0-3,20-23|4-7,...``.

    Raises:
        MfmasimError: an entry that cannot be read, or an access that the architecture lacks.

    >>> print(read_tables("read b32=C32/32", "gfx950")["read b32"])
    C32 on 32 banks (unknown: given by the user)
    """
    tables = {}
    for entry in (part.strip() for part in text.split(";") if part.strip()):
        found = re.fullmatch(r"([a-z0-9 ]+)=([A-Z]\d+|[\d,|-]+)/(\d{1,4})", entry)
        if not found:
            raise MfmasimError(f"{entry!r}: ACCESS=LANES/BANKS is expected, such as 'read b32=C32/32'")
        access, lanes, banks = found.groups()
        known = phase_tables(arch)
        if access not in known:
            raise unknown("LDS access", access, known, f"on {arch}")
        tables[access] = PhaseTable(lanes if lanes[0].isalpha() else _sets(entry, lanes), int(banks))
    return tables


def _sets(entry: str, text: str) -> tuple[tuple[int, ...], ...]:
    """Lane sets as ``0-3,20-23|4-7``."""
    sets = []
    for part in text.split("|"):
        lanes: list[int] = []
        for run in part.split(","):
            first, _, last = run.partition("-")
            if decimal(first, 63) < 0 or (last and decimal(last, 63) < 0):
                raise MfmasimError(f"{entry!r}: {run!r} is not a lane or a range of lanes such as 0-3")
            lanes += range(int(first), int(last or first) + 1)
        sets.append(tuple(lanes))
    return tuple(sets)
