"""Orders in which waves may run: the hardware guarantees none, so a correct kernel gives the same results in each.

Without a schedule all waves at one program counter run together. A schedule selects those that may run, at
every branch and barrier; the barrier of a workgroup opens as soon as all its waves have arrived. Memory operations are
completed at once, except by ``late``, which delivers loads at the last moment
(`mfmasim.machine.execution.late_delivery`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from mfmasim.arrays import I64
from mfmasim.errors import MfmasimError, unknown
from mfmasim.machine.execution.late_delivery import Late

NAMES = ("usual", "forward", "reversed", "random:SEED", "first:WAVE", "last:WAVE", "late")
"""How schedules are written; a wave has its number in the launch."""


class Schedule(Protocol):
    """An order of waves."""

    def batches(self, starts: Sequence[int], size: int, per: int) -> list[int]:
        """Order of the batches that begin with workgroups `starts`, `size` workgroups of `per` waves each.

        Args:
            starts: first workgroups of the batches.
            size: workgroups of a batch.
            per: waves of a workgroup.
        """

    def choose(self, running: I64, first: int) -> I64:
        """Select running waves to run next; `first` is the number of the batch's first wave."""


class OneByOne:
    """Each wave runs as far as it can, in the order of their numbers or against it."""

    def __init__(self, *, backwards: bool) -> None:
        """Run in ascending or descending order."""
        self.backwards = backwards

    def batches(self, starts: Sequence[int], size: int, per: int) -> list[int]:
        """In the order of the waves.

        Args:
            starts: first workgroups of the batches.
            size: workgroups of a batch.
            per: waves of a workgroup.
        """
        del size, per
        return list(starts)[::-1] if self.backwards else list(starts)

    def choose(self, running: I64, first: int) -> I64:
        """The first or the last one."""
        del first
        return running[-1:] if self.backwards else running[:1]


class Shuffled:
    """Randomly drawn waves run for randomly drawn times."""

    def __init__(self, seed: int) -> None:
        """Draw from a seed."""
        self.random = np.random.default_rng(seed)
        self.current, self.left = -1, 0

    def batches(self, starts: Sequence[int], size: int, per: int) -> list[int]:
        """In random order.

        Args:
            starts: first workgroups of the batches.
            size: workgroups of a batch.
            per: waves of a workgroup.
        """
        del size, per
        return [starts[i] for i in self.random.permutation(len(starts))]

    def choose(self, running: I64, first: int) -> I64:
        """The wave that runs, or another one."""
        del first
        self.left -= 1
        if self.left < 0 or self.current not in running:
            self.current, self.left = int(self.random.choice(running)), int(self.random.integers(0, 8))
        return np.array([self.current])


class Favoured:
    """One wave runs as far as it can before the others, or only when no other can."""

    def __init__(self, wave: int, *, last: bool) -> None:
        """Favour a wave, or hold it back."""
        self.wave, self.last = wave, last

    def batches(self, starts: Sequence[int], size: int, per: int) -> list[int]:
        """Its batch comes first or last.

        Args:
            starts: first workgroups of the batches.
            size: workgroups of a batch.
            per: waves of a workgroup.
        """
        own = [start for start in starts if start <= self.wave // per < start + size]
        others = [start for start in starts if start not in own]
        return others + own if self.last else own + others

    def choose(self, running: I64, first: int) -> I64:
        """The favoured wave, or all others."""
        favoured = running + first == self.wave
        wanted = running[~favoured] if self.last else running[favoured]
        return wanted if len(wanted) else running


def schedule(text: str) -> Schedule | None:
    """The schedule that a text names; None for the default one.

    Raises:
        MfmasimError: no schedule has that name.
    """
    if not isinstance(text, str):
        raise MfmasimError(f"schedule {text!r}: one of {', '.join(NAMES)} is expected")
    name, colon, number = text.partition(":")
    if name in ("usual", "forward", "reversed") and not colon:
        return None if name == "usual" else OneByOne(backwards=name == "reversed")
    if name == "late" and not colon:
        return Late()
    if name not in ("random", "first", "last"):
        raise unknown("schedule", text, [*NAMES, "witness"])
    if not number.isdecimal():
        raise MfmasimError(f"schedule {text!r}: a number is expected, such as {name}:7")
    return Shuffled(int(number)) if name == "random" else Favoured(int(number), last=name == "last")
