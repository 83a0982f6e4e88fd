"""Changes that would remove the executed conflicts: an exclusive-or or a padding, evaluated on the same accesses.

A kernel's swizzle is designed with `find_swizzle`, from tile and patterns. Here only addresses are known, so
the choice is small: one exclusive-or of higher address bits into lower ones, or padding at regular intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mfmasim.lds.counting import count_degrees
from mfmasim.lds.swizzles import Term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mfmasim.lds.accounting import Account
    from mfmasim.lds.samples import Sample

_TRIED = 6
"""Samples of each account for trying every change; the best change is counted on all."""
_HIGHEST_BIT = 13
_ROWS = (32, 64, 128, 256, 512, 1024, 2048)
_PADS = (4, 8, 16, 32, 64)


class Variable(Protocol):
    """An array in the LDS, as `mfmasim.codeobject` places it."""

    @property
    def name(self) -> str:
        """Name in the source."""

    @property
    def offset(self) -> int:
        """First byte."""

    @property
    def size(self) -> int:
        """Bytes; 0 of dynamic LDS, which reaches as far as the launch says."""

    @property
    def type(self) -> Any:
        """Its type: `innermost` is that of an element, `shape` its dimensions."""


@dataclass(frozen=True)
class Advice:
    """A change of every address in a part of the LDS, counted from its first byte.

    Attributes:
        term: exclusive-or into the byte offset, or None.
        row_bytes, pad: bytes to put after each row, 0 with a term.
        first, end: bytes of the LDS that the accesses cover.
        before, after: extra passes of the samples, as executed and with the change.
        sampled: number of samples, accesses of a wave with different addresses.
    """

    term: Term | None
    row_bytes: int
    pad: int
    first: int
    end: int
    before: int = 0
    after: int = 0
    sampled: int = 0
    variable: Variable | None = None
    """The array that these bytes are, if that is known."""

    def of(self, addresses: NDArray[np.int64]) -> NDArray[np.int64]:
        """The changed addresses."""
        relative = addresses - self.first
        if self.term is not None:
            return self.first + (relative ^ (((relative >> self.term.shift) & self.term.mask) << self.term.left))
        return addresses + relative // self.row_bytes * self.pad

    @property
    def element(self) -> int:
        """Bytes of an element of the array; 0 where that is not known."""
        return int(self.variable.type.innermost.size) if self.variable is not None else 0

    @property
    def _in_elements(self) -> str:
        """The change of an element's index ``i`` in the array; empty where it would split elements."""
        size = self.element
        if not size:
            return ""
        if self.term is None:
            if self.row_bytes % size or self.pad % size:
                return ""
            times = f" * {self.pad // size}" if self.pad != size else ""
            return f"i += i / {self.row_bytes // size}{times}"
        moved = self._moved
        return f"i ^= {str(moved).replace('offset', 'i')}" if moved is not None else ""

    @property
    def _moved(self) -> Term | None:
        """The term for an element's index; None where it would split elements."""
        size = self.element
        if not size or self.term is None or size & (size - 1) or (1 << self.term.left) % size:
            return None
        bits = size.bit_length() - 1
        return replace(self.term, shift=self.term.shift - bits, left=self.term.left - bits)

    def _column(self, columns: int) -> str:
        """The change of the column of a two-dimensional array by its row; empty where it is none."""
        term, bits = self._moved, columns.bit_length() - 1
        if term is None or columns & (columns - 1) or term.shift < bits or (term.mask << term.left) >= columns:
            return ""
        return f"col ^= {str(replace(term, shift=term.shift - bits)).replace('offset', 'row')};"

    @property
    def cpp(self) -> str:
        """The change as a line of C++ in the array's own units, empty where the array is not known.

        Of a declaration that is padded, else of the index before an access.
        """
        if self.variable is None:
            return ""
        shape: tuple[int, ...] = self.variable.type.shape
        name, kind = self.variable.name, self.variable.type.innermost.text
        if self.term is None and len(shape) > 1 and self.row_bytes == shape[-1] * self.element:
            rows = "".join(f"[{size}]" for size in shape[:-1])
            if self.pad % self.element == 0:
                return f"__shared__ {kind} {name}{rows}[{shape[-1] + self.pad // self.element}];"
        if len(shape) == 2 and (line := self._column(shape[1])):
            return f"{line}  // before each access to {name}[row][col]"
        line = self._in_elements
        if not line:
            return ""
        if self.term is None:
            total = ((self.end - self.first) // self.row_bytes * self.pad + self.end - self.first) // self.element
            size = f"__shared__ {kind} {name}[{total}]" if self.variable.size else f"{name} has {total} elements"
            return f"{line};  // {size}"
        return f"{line};  // before each access to element i of {name}"

    @property
    def in_bytes(self) -> str:
        """The change of a byte offset, with the bytes that it concerns."""
        if self.term is not None:
            base = f", counted from byte {self.first}" if self.first else ""
            return f"offset ^= {self.term};  // byte offset of each access to bytes {self.first}..{self.end - 1}{base}"
        return f"{self.pad} bytes after every {self.row_bytes} of bytes {self.first}..{self.end - 1}"

    @property
    def in_triton(self) -> str:
        """The change as parameters of a shared layout of Triton, whose rows and elements are not known here."""
        if self.term is None:
            return f"padded_shared with {self.pad} bytes after every {self.row_bytes}"
        vector, phases = 1 << self.term.left, self.term.mask + 1
        rows = 1 << self.term.shift
        return f"swizzled_shared with vec = {vector} bytes, maxPhase = {phases}, perPhase = the rows of {rows} bytes"

    @property
    def left(self) -> str:
        """What the change leaves of the extra passes of the samples."""
        passes = f"{self.after:,} extra pass{'es' * (self.after != 1)}" if self.after else "no extra pass"
        accesses = f"{self.sampled:,} access{'es' * (self.sampled != 1)}"
        return f"with it, a sample of {accesses} has {passes} instead of {self.before:,}"

    def __str__(self) -> str:
        """The change once, in the units of the array's declaration, on a line of its own; then what it leaves."""
        return f"{self.cpp or self.in_bytes}\n{self.left}"

    def record(self) -> dict[str, str]:
        """The formulas for JSON."""
        return {"bytes": self.in_bytes, "cpp": self.cpp, "triton": self.in_triton}


def advise(accounts: Sequence[Account], variables: Sequence[Variable] = ()) -> list[tuple[tuple[Account, ...], Advice]]:
    """For each part of the LDS with conflicts, the change that removes most of them.

    Args:
        accounts: all accounts of a launch: a change has to suit every access to the same bytes.
        variables: the arrays of the LDS, as far as they are known.

    Returns:
        The accounts that share bytes, with the best change found; parts where nothing helps are left out.
    """
    return [(group, found) for group, found in considered(accounts, variables) if isinstance(found, Advice)]


def considered(
    accounts: Sequence[Account], variables: Sequence[Variable] = ()
) -> list[tuple[tuple[Account, ...], Advice | str]]:
    """For each part of the LDS with conflicts, the best change, or why there is none in words.

    Args:
        accounts: as of `advise`.
        variables: as of `advise`.
    """
    return [
        (tuple(group), _best(group, variables))
        for group in _sharing(accounts)
        if any(account.extra_passes for account in group)
    ]


def _best(group: Sequence[Account], variables: Sequence[Variable]) -> Advice | str:
    first, end = min(a.lowest for a in group), max(a.highest for a in group)
    last = {id(v): v.offset + v.size if v.size else max(end, v.offset) for v in variables}  # dynamic LDS has no size
    inside = [v for v in variables if v.offset < end and first < last[id(v)]]
    holding = [v for v in inside if v.offset <= first and end <= last[id(v)] and v.type.innermost.size]
    variable = holding[0] if len(holding) == 1 == len(inside) else None
    if variable is not None:
        first, end = variable.offset, last[id(variable)]
    if _split(group, first):
        return (
            "no advice: accesses are not aligned to their size, and an exclusive-or or a padding could split one; "
            "align them first"
        )
    candidates = _candidates(group, first, end)
    if not candidates:
        return f"no advice: bytes {first}..{end - 1} are too few to move an access to another bank within them"
    tried = _extra(group, candidates, _TRIED)
    best = candidates[int(tried.argmin())]
    before, after = int(_extra(group, [None], None)[0]), int(_extra(group, [best], None)[0])
    sampled = sum(len(account.samples) for account in group)
    if 2 * after <= before:  # less is noise in accesses without order
        return replace(best, before=before, after=after, sampled=sampled, variable=variable)
    return (
        f"no advice: of {len(candidates)} exclusive-ors and paddings of bytes {first}..{end - 1} the best leaves "
        f"{after:,} of the {before:,} extra passes of a sample of {sampled:,} accesses; the addresses follow no order "
        f"that one of them could use: change which lane accesses what"
    )


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


def _widest(group: Sequence[Account]) -> int:
    """Bytes of the widest access; 12 bytes take a slot of 16."""
    return max(16 if account.row.size == 12 else account.row.size for account in group)


def _split(group: Sequence[Account], first: int) -> bool:
    """Whether a change could split an access, because it is not aligned in itself or to the first byte."""
    size = _widest(group)
    odd = (((s.addresses & (min(size, a.row.size) - 1)) != 0)[s.active].any() for a in group for s in a.samples)
    return bool(first % size) or any(odd)


def _candidates(group: Sequence[Account], first: int, end: int) -> list[Advice]:
    """Changes that keep every access whole: the exclusive-ors with the fewest bits, then the smallest paddings."""
    size = _widest(group)
    lowest = max(2, (size - 1).bit_length())
    out: list[Advice] = []
    for bits in range(1, 6):
        for left in range(lowest, 9 - bits):
            block = 1 << (left + bits)
            if (end - first) % block:
                continue  # it would leave the bytes that these accesses cover
            terms = [Term(shift, (1 << bits) - 1, left) for shift in range(left + bits, _HIGHEST_BIT)]
            out += [Advice(term, 0, 0, first, end) for term in terms if 1 << term.shift < end - first]
    rows = [row for row in _ROWS if size <= row < end - first]
    return out + [Advice(None, row, pad, first, end) for pad in _PADS if pad % size == 0 for row in rows]


def _extra(group: Sequence[Account], changes: Sequence[Advice | None], most: int | None) -> NDArray[np.int64]:
    """Extra passes of the samples, or of so many of the worst of each account, under each change."""
    total = np.zeros(len(changes), np.int64)
    for (sets, banks, size), samples in _by_phases(group, most).items():
        active = np.stack([sample.active for sample, _ in samples.values()])
        addresses = np.where(active, np.stack([sample.addresses for sample, _ in samples.values()]), 0)
        times = np.array([times for _, times in samples.values()])
        for number, change in enumerate(changes):
            changed = np.maximum(addresses if change is None else change.of(addresses), 0)
            degrees = count_degrees(sets, banks, changed, size, active)
            total[number] += (np.maximum(degrees.astype(np.int64) - 1, 0).sum(axis=1) * times).sum()
    return total


def _by_phases(
    group: Sequence[Account], most: int | None
) -> dict[tuple[tuple[tuple[int, ...], ...], int, int], dict[bytes, tuple[Sample, int]]]:
    """The samples whose conflicts are counted alike, each once, with the number of accounts that have it.

    Args:
        group: the accounts.
        most: samples of each account, the worst ones; None is all.
    """
    found: dict[Any, dict[bytes, tuple[Sample, int]]] = {}
    for account in group:
        alike = found.setdefault((account.table.sets(account.lanes), account.table.banks, account.row.size), {})
        for sample in account.samples[:most]:  # the worst ones are first
            key = sample.addresses.tobytes() + sample.active.tobytes()
            alike[key] = sample, alike.get(key, (sample, 0))[1] + 1
    return {kind: alike for kind, alike in found.items() if alike}
