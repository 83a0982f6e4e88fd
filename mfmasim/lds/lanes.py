"""Sets of lanes that access LDS together, and the record of the sets that an instruction uses.

A phase is a set of lanes of one instruction whose accesses can collide; an instruction executes phase by phase.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mfmasim.errors import MfmasimError, unknown

CONFIDENCES = ("vendor", "measured", "inferred", "unknown")
"""From a document of the vendor, measured by the named party, inferred from neighbours, or a guess."""

# Name: lane sets of the first lanes; the pattern repeats until the wave is full.
# C: contiguous. X8: cosets of span(l0, l1, l2^l4) of the lane number's bits, as printed for CDNA3 ds_read_b128 (ROCm
# blog "lds-bank-conflict", July 2025; CK documentation). X16: cosets of span(l0, l1, l2^l3, l2^l4), as measured for
# CDNA4 ds_read_b128 (HazyResearch/HipKittens f09e968, phases; ROCm blog "cdna4-gemm-kernels", March 2026).
LANE_SETS: dict[str, tuple[tuple[int, ...], ...]] = {
    "C8": (tuple(range(8)),),
    "C16": (tuple(range(16)),),
    "C32": (tuple(range(32)),),
    "C64": (tuple(range(64)),),
    "X8": (
        (0, 1, 2, 3, 20, 21, 22, 23),
        (4, 5, 6, 7, 16, 17, 18, 19),
        (8, 9, 10, 11, 28, 29, 30, 31),
        (12, 13, 14, 15, 24, 25, 26, 27),
    ),
    "X16": (
        (0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27),
        (4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31),
    ),
}
"""Named lane sets: the phases of the first lanes, repeated over the wave."""


@dataclass(frozen=True)
class PhaseTable:
    """How one instruction accesses the banks.

    Attributes:
        lanes: name of lane sets (`LANE_SETS`), or the sets themselves, each lane of the wave in exactly one.
        banks: banks that the lanes of a phase share, 4 bytes wide each.
        confidence: one of `CONFIDENCES`.
        source: source of the table.
        remark: open questions; an entry with confidence ``unknown`` or with alternatives causes a warning.
        alternatives: tables of other sources.
        wave: lanes of the wave it was found with; for another wave size it counts as inferred.
    """

    lanes: str | tuple[tuple[int, ...], ...]
    banks: int
    confidence: str = "unknown"
    source: str = "given by the user"
    remark: str = ""
    alternatives: tuple[PhaseTable, ...] = ()
    wave: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.lanes, str):
            if self.lanes not in LANE_SETS:
                raise unknown("lane set", self.lanes, LANE_SETS)
        else:  # lists are accepted, but the record must be hashable
            object.__setattr__(self, "lanes", tuple(tuple(int(lane) for lane in part) for part in self.lanes))
        if self.banks < 1 or math.log2(self.banks) % 1:
            raise MfmasimError(f"{self.banks} banks: the number of banks must be a power of two")
        if self.confidence not in CONFIDENCES:
            raise unknown("confidence", self.confidence, CONFIDENCES)

    def sets(self, lanes: int) -> tuple[tuple[int, ...], ...]:
        """Phases of a wave, in order; each a tuple of lanes."""
        return lane_sets(self.lanes, lanes)

    def __str__(self) -> str:
        named = self.lanes if isinstance(self.lanes, str) else f"{len(self.lanes)} given lane sets"
        return f"{named} on {self.banks} banks ({self.confidence}: {self.source})"


@lru_cache(maxsize=256)
def lane_sets(sets: str | tuple[tuple[int, ...], ...], lanes: int) -> tuple[tuple[int, ...], ...]:
    """Phases of a wave.

    Args:
        sets: a name of `LANE_SETS`, or explicit sets.
        lanes: lanes of the wave, 32 or 64.

    Returns:
        Tuples of lanes; a set wider than the wave is cut to it.

    Raises:
        MfmasimError: explicit sets that do not contain each lane once.

    >>> lane_sets("X8", 32)[1]
    (4, 5, 6, 7, 16, 17, 18, 19)
    >>> [len(part) for part in lane_sets("C16", 64)]
    [16, 16, 16, 16]
    """
    if isinstance(sets, str):
        pattern = LANE_SETS[sets]
        period = sum(map(len, pattern))
        if period >= lanes:
            return tuple(cut for part in pattern if (cut := tuple(lane for lane in part if lane < lanes)))
        return tuple(tuple(lane + first for lane in part) for first in range(0, lanes, period) for part in pattern)
    _each_once(sets, lanes)
    return sets


def _each_once(sets: Sequence[Sequence[int]], lanes: int) -> None:
    held = sorted(lane for part in sets for lane in part)
    if held != list(range(lanes)):
        wrong = sorted({lane for lane in held if held.count(lane) > 1 or not 0 <= lane < lanes})
        missing = sorted(set(range(lanes)) - set(held))
        what = f"lanes {wrong} more than once or outside" if wrong else f"no lane {missing}"
        raise MfmasimError(f"the phases of a wave of {lanes} lanes must contain each lane once; these contain {what}")
