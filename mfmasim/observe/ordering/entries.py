"""Accesses to shared memory in the history of a launch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mfmasim.arrays import I32, I64

if TYPE_CHECKING:
    from mfmasim.isa import Instruction
    from mfmasim.machine.events import AccessEvent

NEVER = 1 << 62
"""Above the number of any access."""


@dataclass(frozen=True)
class Kind:
    """The kind of an access."""

    instruction: Instruction
    kind: str
    """``read``, ``write`` or ``atomic``."""
    reach: int
    """As `mfmasim.isa.scopes.reach` returns it."""
    acquires: bool
    """Whether the value decides how the wave continues."""

    @property
    def scalar(self) -> bool:
        """Whether the access is a scalar memory access."""
        return self.instruction.opcode.unit == "SMEM"


@dataclass
class Entries:
    """Accesses, one per unit and wave; arrays of one length."""

    unit: I64
    wave: I32
    lane: I32
    """The last lane of the wave that accesses the unit."""
    kind: I32
    """Index of its `Kind`."""
    joined: I32
    """Barriers that the wave had passed."""
    signalled: I32
    """Barriers that it had signalled."""
    met: I32
    """Barriers that the wave had signalled when the access was complete."""
    issued: I32
    """Steps of the wave before it."""
    complete: I32
    """Steps of the wave before it was complete."""
    known: I32
    """Index of the wave's clock."""
    since: I64
    """Accesses of its workgroup with a smaller number come before it because of a flag."""
    cached: I64
    """For a scalar read, the number of the first read of its cache line; else `NEVER`."""
    invalidated: I64
    """Number of the wave's last invalidation: of a scalar access that of the scalar cache, else of the vector cache."""
    number: I64
    value: NDArray[np.uint32]


@dataclass
class Hit:
    """An access to shared dwords whose block is not complete yet."""

    event: AccessEvent
    row: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    offset: I64 = field(default_factory=lambda: np.zeros(0, np.int64))
    value: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    lane: I64 = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass
class Flight:
    """Entries that may be in flight, with their waves in the batch and the numbers of their operations."""

    entries: Entries
    key: tuple[str, str]
    waves: I64
    order: I32
