"""Changes that would remove the executed conflicts: an exclusive-or or a padding, evaluated on the same accesses.

A kernel's swizzle is designed with `find_swizzle`, from tile and patterns. Here only addresses are known, so
the choice is small: one exclusive-or of higher address bits into lower ones, or padding at regular intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mfmasim.lds.counting import count_degrees
from mfmasim.lds.swizzles import Term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.lds.accounting import Account

__all__ = ["Advice", "advise"]

_TRIED = 6
"""Samples of each account for trying every change; the best change is counted on all."""
_HIGHEST_BIT = 13
_ROWS = (32, 64, 128, 256, 512, 1024, 2048)
_PADS = (4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Advice:
    """A change of every address in a part of the LDS.

    Attributes:
        term: exclusive-or into the byte offset, or None.
        row_bytes, pad: bytes to put after each row, 0 with a term.
        first, end: bytes of the LDS that the accesses cover.
        before, after: extra passes of the samples, as executed and with the change.
    """

    term: Term | None
    row_bytes: int
    pad: int
    first: int
    end: int
    before: int = 0
    after: int = 0

    def of(self, addresses: NDArray[np.int64]) -> NDArray[np.int64]:
        """The changed addresses."""
        if self.term is not None:
            return addresses ^ (((addresses >> self.term.shift) & self.term.mask) << self.term.left)
        relative = addresses - self.first
        return addresses + relative // self.row_bytes * self.pad

    def __str__(self) -> str:
        """One sentence."""
        if self.term is not None:
            what = f"offset ^= {self.term} on every access to bytes {self.first}..{self.end - 1}"
        else:
            what = f"{self.pad} bytes after every {self.row_bytes} of bytes {self.first}..{self.end - 1}"
        left = "no extra pass" if not self.after else f"{self.after} of {self.before} extra passes"
        return f"{what} would leave {left} of the accesses seen"


def advise(accounts: Sequence[Account]) -> list[tuple[tuple[Account, ...], Advice]]:
    """For each part of the LDS with conflicts, the change that removes most of them.

    Args:
        accounts: all accounts of a launch: a change has to suit every access to the same bytes.

    Returns:
        The accounts that share bytes, with the best change found; parts where nothing helps are left out.
    """
    out = []
    for group in _sharing(accounts):
        if not any(account.extra_passes for account in group):
            continue
        candidates = _candidates(group, min(a.lowest for a in group), max(a.highest for a in group))
        if not candidates:
            continue
        tried = _extra(group, candidates, _TRIED)
        best = candidates[int(tried.argmin())]
        before, after = int(_extra(group, [None], None)[0]), int(_extra(group, [best], None)[0])
        if 2 * after <= before:  # less is noise in accesses without order
            out.append((tuple(group), replace(best, before=before, after=after)))
    return out


def _sharing(accounts: Sequence[Account]) -> list[list[Account]]:
    """Accounts whose ranges of bytes overlap, together."""
    groups: list[list[Account]] = []
    end = -1
    for account in sorted((a for a in accounts if a.executions), key=lambda a: a.lowest):
        if account.lowest >= end:
            groups.append([])
        groups[-1].append(account)
        end = max(end, account.highest)
    return groups


def _candidates(group: Sequence[Account], first: int, end: int) -> list[Advice]:
    """Changes that keep every access whole: the exclusive-ors with the fewest bits, then the smallest paddings."""
    size = max(16 if account.row.size == 12 else account.row.size for account in group)
    lowest = max(2, (size - 1).bit_length())
    out: list[Advice] = []
    if any(((s.addresses & (min(size, a.row.size) - 1)) != 0)[s.active].any() for a in group for s in a.samples):
        return out  # an exclusive-or or a padding could split an access that is not aligned
    for bits in range(1, 6):
        for left in range(lowest, 9 - bits):
            block = 1 << (left + bits)
            if first % block or end % block:
                continue  # it would leave the bytes that these accesses cover
            terms = [Term(shift, (1 << bits) - 1, left) for shift in range(left + bits, _HIGHEST_BIT)]
            out += [Advice(term, 0, 0, first, end) for term in terms if 1 << term.shift < end - first]
    rows = [row for row in _ROWS if size <= row < end - first]
    return out + [Advice(None, row, pad, first, end) for pad in _PADS if pad % size == 0 for row in rows]


def _extra(group: Sequence[Account], changes: Sequence[Advice | None], most: int | None) -> NDArray[np.int64]:
    """Extra passes of the samples, or of so many of the worst of each account, under each change."""
    total = np.zeros(len(changes), np.int64)
    for account in group:
        samples = sorted(account.samples, key=lambda sample: -int(sample.degrees.max(initial=0)))[:most]
        if not samples:
            continue
        active = np.stack([sample.active for sample in samples])
        addresses = np.where(active, np.stack([sample.addresses for sample in samples]), 0)
        changed = np.stack([addresses if change is None else change.of(addresses) for change in changes])
        lanes = account.lanes
        degrees = count_degrees(
            account.table.sets(lanes), account.table.banks, np.maximum(changed, 0).reshape(-1, lanes),
            account.row.size, np.tile(active, (len(changes), 1)),
        )  # fmt: skip
        extra = np.maximum(degrees.astype(np.int64) - 1, 0).sum(axis=1)
        total += extra.reshape(len(changes), -1).sum(axis=1)
    return total
