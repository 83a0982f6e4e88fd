"""Registers of a batch of waves, and the group of waves that executes one instruction together.

The wave axis runs over all waves in flight, whatever their workgroup. A group is a selection along it: a slice when
its waves are neighbours (operands are then views), an index array after a divergence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfmasim.machine.memory import POISON_DWORD

__all__ = ["EXEC", "FLAT_SCRATCH", "M0", "VCC", "Group", "Waves", "lanes_of", "words_of"]

VCC, M0, EXEC = 106, 124, 126
FLAT_SCRATCH = 102

RUNNING, AT_BARRIER, ENDED = 0, 1, 2

Selection = slice | NDArray[np.int64]


def lanes_of(words: NDArray[np.uint32], lanes: int) -> NDArray[np.bool_]:
    """Expand lane masks, uint32 (..., 2), to booleans (..., lanes); lane 0 is bit 0 of word 0."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=-1, bitorder="little")[..., :lanes].astype(np.bool_)


def words_of(mask: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Pack lane booleans (..., 32 or 64) into mask words, uint32 (..., 2)."""
    octets = np.packbits(mask, axis=-1, bitorder="little")
    if octets.shape[-1] == 4:
        octets = np.concatenate([octets, np.zeros_like(octets)], axis=-1)
    return np.ascontiguousarray(octets).view(np.uint32)


class Waves:
    """All registers of a batch of waves; every one starts as poison."""

    def __init__(self, count: int, lanes: int, vgprs: int, agprs: int) -> None:
        """Allocate `count` waves of `lanes` lanes with the given register counts."""
        self.count, self.lanes = count, lanes
        self.v = np.full((vgprs, count, lanes), POISON_DWORD, np.uint32)
        self.a = np.full((agprs, count, lanes), POISON_DWORD, np.uint32)
        self.s = np.full((128, count), POISON_DWORD, np.uint32)  # by hardware operand code: VCC, M0, EXEC included
        self.s[125] = 0  # NULL on gfx11 and later
        self.scc = np.zeros(count, np.bool_)
        self.mode = np.zeros(count, np.uint32)
        self.pc = np.zeros(count, np.int64)
        self.status = np.zeros(count, np.uint8)
        self.executed = np.zeros(count, np.int64)
        self.exec = np.ones((count, lanes), np.bool_)
        self.workgroup = np.zeros(count, np.int64)

    def set_exec(self, selection: Selection, mask: NDArray[np.bool_]) -> None:
        """Set EXEC of some waves from booleans (waves, lanes)."""
        self.exec[selection] = mask
        words = words_of(mask)
        self.s[EXEC, selection] = words[..., 0]
        self.s[EXEC + 1, selection] = words[..., 1]


class Group:
    """The waves that execute a block of instructions together, and how their operands are reached."""

    __slots__ = ("count", "lanes", "mask", "selection", "waves")

    def __init__(self, waves: Waves, selection: Selection, count: int) -> None:
        """Select waves; `count` is how many."""
        self.waves, self.selection, self.count = waves, selection, count
        self.lanes = waves.lanes
        self.mask: NDArray[np.bool_] | None = None
        self.refresh()

    def refresh(self) -> None:
        """Re-read EXEC; `mask` is None while every lane is active, so that most writes need no mask."""
        active = self.waves.exec[self.selection]
        self.mask = None if active.all() else active

    @property
    def active(self) -> NDArray[np.bool_]:
        """EXEC as booleans (waves, lanes)."""
        return self.waves.exec[self.selection]

    def indices(self) -> NDArray[np.int64]:
        """Wave numbers of the group within the batch."""
        if isinstance(self.selection, slice):
            return np.arange(self.selection.start, self.selection.stop)
        return self.selection

    def v(self, index: int) -> NDArray[np.uint32]:
        """Read a VGPR: (waves, lanes)."""
        return self.waves.v[index, self.selection]

    def s(self, code: int) -> NDArray[np.uint32]:
        """Read a scalar register by its hardware code: (waves,)."""
        return self.waves.s[code, self.selection]

    def file(self, kind: str) -> NDArray[np.uint32]:
        """The register file ``v`` or ``a``."""
        return self.waves.v if kind == "v" else self.waves.a

    def write_v(self, kind: str, index: int, value: NDArray[Any]) -> None:
        """Write a VGPR or AGPR under EXEC; value broadcasts to (waves, lanes)."""
        target = self.file(kind)
        if self.mask is None:
            target[index, self.selection] = value
        elif isinstance(self.selection, slice):
            np.copyto(target[index, self.selection], value, where=self.mask, casting="same_kind")
        else:
            target[index, self.selection] = np.where(self.mask, value, target[index, self.selection])

    def write_s(self, code: int, value: NDArray[Any]) -> None:
        """Write a scalar register; value broadcasts to (waves,)."""
        self.waves.s[code, self.selection] = value
        if code >= EXEC:
            words = np.stack([self.s(EXEC), self.s(EXEC + 1)], axis=-1)
            self.waves.exec[self.selection] = lanes_of(words, self.lanes)
            self.refresh()

    def write_mask(self, code: int, mask: NDArray[np.bool_]) -> None:
        """Write a lane mask to a scalar pair (one register on wave32); inactive lanes give 0."""
        words = words_of(mask if self.mask is None else mask & self.mask)
        self.write_s(code, words[..., 0])
        if self.lanes == 64:
            self.write_s(code + 1, words[..., 1])
