"""Bank conflicts of LDS accesses: `conflicts`, its result, and its warnings.

It counts distinct dwords per bank and phase: a dword that many lanes read is broadcast and free (rocprofiler-compute
documentation; measured by PYHIP and SHARK, see tables.py). The sum of degree - 1 over phases is the analogue of the
counter SQ_LDS_BANK_CONFLICT; it is a number of passes, not a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfmasim.architectures import Arch, arch
from mfmasim.errors import MfmasimError, unknown
from mfmasim.figures.lds import punch_card_svg
from mfmasim.lds.counting import count_degrees, count_same
from mfmasim.lds.instructions import DsInstruction, ds_instruction
from mfmasim.lds.lanes import CONFIDENCES, PhaseTable
from mfmasim.lds.tables import phase_table
from mfmasim.markup import paragraph

RULES = ("maximum", "greedy")
"""Largest number of distinct dwords in one bank; or lanes taken in order while they fit, repeated for the rest."""


class LdsModelWarning(UserWarning):
    """The public sources do not settle how this access maps to the banks; the text says what was assumed."""


@dataclass(frozen=True)
class Phase:
    """One phase of one wave access.

    Attributes:
        number: its place in the order of phases.
        part: which of the two accesses of a two-address instruction, else 0.
        lanes: lanes of the phase.
        degree: passes it needs; 1 is free of conflicts, 0 has no active lane.
        banks: for each bank that is touched, its dwords (byte address / 4) with the active lanes that access them.
    """

    number: int
    part: int
    lanes: tuple[int, ...]
    degree: int
    banks: Mapping[int, Mapping[int, tuple[int, ...]]]

    @property
    def worst(self) -> tuple[int, ...]:
        """Banks with the most distinct dwords."""
        most = max((len(dwords) for dwords in self.banks.values()), default=0)
        return tuple(bank for bank, dwords in self.banks.items() if len(dwords) == most)


@dataclass(frozen=True, eq=False)
class Conflicts:
    """Bank conflicts of one wave access, or of a batch.

    Attributes:
        arch: architecture.
        instruction: the LDS instruction.
        table: the phases and banks that were used.
        rule: one of `RULES`.
        confidence: how far the table can be trusted for these accesses, one of `CONFIDENCES`.
        remarks: texts of the warnings.
        addresses: byte addresses with the offset added, int64 (..., parts, lanes).
        active: lanes that took part, (..., lanes).
        degrees: passes of each phase, (..., phases); two-address instructions have the phases of both accesses.
        same_address: writes and atomics: lanes whose address a lower lane has too, (...). Their cost is not public
            and not part of the degrees; reads have 0.
        misaligned: active lanes whose address is not a multiple of the natural alignment, (...).
    """

    arch: Arch
    instruction: DsInstruction
    table: PhaseTable
    rule: str
    confidence: str
    remarks: tuple[str, ...]
    addresses: NDArray[np.int64]
    active: NDArray[np.bool_]
    degrees: NDArray[np.int16]
    same_address: NDArray[np.int64]
    misaligned: NDArray[np.int64]

    @property
    def source(self) -> str:
        """Source of the phases and the number of banks."""
        return self.table.source

    @cached_property
    def extra_passes(self) -> NDArray[np.int64]:
        """Sum of degree - 1 over the phases, (...): the analogue of SQ_LDS_BANK_CONFLICT per instruction."""
        return np.asarray(np.maximum(self.degrees.astype(np.int64) - 1, 0).sum(axis=-1))

    @property
    def passes(self) -> NDArray[np.int64]:
        """Sum of the degrees, (...)."""
        return np.asarray(self.degrees.sum(axis=-1, dtype=np.int64))

    @property
    def free(self) -> bool:
        """Whether no phase of any access needs more than one pass."""
        return bool((self.degrees <= 1).all())

    @property
    def lanes(self) -> int:
        """Lanes of the wave."""
        return int(self.addresses.shape[-1])

    @property
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """Lanes of each phase; two-address instructions repeat them."""
        return self.table.sets(self.lanes) * self.instruction.parts

    def __getitem__(self, index: Any) -> Conflicts:
        """Part of a batch, such as ``found[3]``."""
        batch = self.degrees.ndim - 1
        if not batch:
            raise MfmasimError("one wave access is not a batch: it cannot be indexed")
        return Conflicts(
            self.arch,
            self.instruction,
            self.table,
            self.rule,
            self.confidence,
            self.remarks,
            self.addresses[index],
            self.active[index],
            self.degrees[index],
            np.asarray(self.same_address[index]),
            np.asarray(self.misaligned[index]),
        )

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """Phases of one wave access, with every bank that they touch.

        Raises:
            MfmasimError: this is a batch; take one of it first.
        """
        if self.degrees.ndim != 1:
            raise MfmasimError(f"phases are those of one wave access; take one of the batch {self.degrees.shape[:-1]}")
        sets = self.table.sets(self.lanes)
        found = []
        for number, degree in enumerate(self.degrees.tolist()):
            part, place = divmod(number, len(sets))
            banks: dict[int, dict[int, list[int]]] = {}
            for lane in sets[place]:
                if self.active[lane]:
                    first = int(self.addresses[part, lane])
                    for dword in range(first // 4, (first + self.instruction.size - 1) // 4 + 1):
                        banks.setdefault(dword % self.table.banks, {}).setdefault(dword, []).append(lane)
            held = {
                bank: {dword: tuple(lanes) for dword, lanes in sorted(dwords.items())}
                for bank, dwords in sorted(banks.items())
            }
            found.append(Phase(number, part, sets[place], degree, held))
        return tuple(found)

    @property
    def trust(self) -> str:
        """Confidence in the phases, and the source."""
        return f"{self.confidence}: {'no public source' if self.source == 'none' else self.source}"

    def __str__(self) -> str:
        head = f"{self.instruction.name} on {self.arch.name}"
        if self.degrees.ndim == 1:
            degrees = ",".join(map(str, self.degrees.tolist()))
            return f"{head}: degrees {degrees}, {int(self.extra_passes)} extra passes ({self.trust})"
        return (
            f"{head}: {self.extra_passes.size} accesses, worst degree {int(self.degrees.max(initial=0))}, "
            f"{int(self.extra_passes.sum())} extra passes ({self.trust})"
        )

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        """The punch card under its counts, for notebooks."""
        return f'{paragraph(self)}<div style="overflow:auto">{self._repr_svg_()}</div>'

    def _repr_svg_(self) -> str:
        """Punch card of one wave access, for notebooks."""
        return punch_card_svg(self if self.degrees.ndim == 1 else self[(0,) * (self.degrees.ndim - 1)])


def conflicts(
    architecture: str | Arch,
    instruction: str,
    addresses: ArrayLike,
    active: ArrayLike | None = None,
    rule: str = "maximum",
    table: PhaseTable | Mapping[str, PhaseTable] | None = None,
    *,
    offset: int | tuple[int, int] = 0,
    lds_bytes: int | None = None,
    warn: bool = True,
) -> Conflicts:
    """Count the bank conflicts of LDS accesses.

    Args:
        architecture: such as ``gfx950``.
        instruction: LDS instruction, such as ``ds_read_b128``.
        addresses: byte address of each lane, integers (..., lanes); leading axes are a batch.
        active: lanes that take part, booleans that broadcast to the addresses; None is all.
        rule: ``maximum`` (distinct dwords in the fullest bank) or ``greedy`` (lanes in order while they fit).
        table: phases and banks to use instead of the built-in ones, or some of them by instruction.
        offset: the instruction's offset in bytes; two-address instructions take a pair (offset0, offset1) in their
            own units (elements, or 64 elements).
        lds_bytes: size of the allocation; None is the architecture's largest.
        warn: whether to warn; `Conflicts.remarks` has the texts either way.

    Returns:
        The degrees of every phase.

    Raises:
        MfmasimError: the architecture has no such instruction, the wave has another size, or an active lane's address
            lies outside the allocation.

    Warns:
        LdsModelWarning: the table is unknown or contradicted, or lanes are misaligned.

    >>> conflicts("gfx942", "ds_read_b32", [lane * 8 for lane in range(64)]).degrees.tolist()
    [2, 2]
    """
    target, row = arch(architecture), ds_instruction(architecture, instruction)
    if rule not in RULES:
        raise unknown("rule", rule, RULES)
    place = _addresses(target, row, addresses, offset)
    lanes, batch = place.shape[-1], place.shape[:-2]
    takes_part = _active(active, (*batch, lanes))
    _inside(row, place, takes_part, target.lds_bytes if lds_bytes is None else lds_bytes, target)
    used = choose_table(target, instruction, table)
    off = _misaligned(place, takes_part, row.alignment)
    confidence, remarks = _trust(target, row, used, lanes, int(off.sum()))
    for remark in remarks if warn else ():
        warnings.warn(remark, LdsModelWarning, stacklevel=2)
    flat = place.reshape(-1, row.parts, lanes)
    flat_active = None if takes_part.all() else takes_part.reshape(-1, lanes)
    sets, greedy = used.sets(lanes), rule == "greedy"
    # Idle lanes may have any address; 0 keeps them out of the count.
    degrees = [
        count_degrees(sets, used.banks, _quiet(flat[:, part], flat_active), row.size, flat_active, greedy=greedy)
        for part in range(row.parts)
    ]
    same = np.zeros(len(flat), np.int64)
    if row.kind != "read":
        for part in range(row.parts):
            same += count_same(flat[:, part], flat_active)
    return Conflicts(
        target,
        row,
        used,
        rule,
        confidence,
        remarks,
        place,
        takes_part,
        np.concatenate(degrees, axis=-1).reshape(*batch, -1),
        same.reshape(batch),
        off,
    )


def _addresses(
    target: Arch, row: DsInstruction, addresses: ArrayLike, offset: int | tuple[int, int]
) -> NDArray[np.int64]:
    """Byte addresses (..., parts, lanes) with the offset added."""
    given = np.asarray(addresses)
    if given.dtype.kind not in "iu":
        raise MfmasimError(f"LDS addresses are integers (bytes), not {given.dtype}")
    if given.ndim == 0 or given.shape[-1] not in target.wave_sizes:
        lanes = " or ".join(map(str, target.wave_sizes))
        raise MfmasimError(
            f"addresses have shape {given.shape}; the last axis must be the {lanes} lanes of a {target.name} wave"
        )
    base = given.astype(np.int64)
    if row.parts == 2:
        if not isinstance(offset, tuple) or len(offset) != 2:
            raise MfmasimError(f"{row.name} has two offsets, such as offset=(0, 1), in units of {row.stride} bytes")
        if not all(0 <= part < 256 for part in offset):
            raise MfmasimError(
                f"offset {offset} of {row.name}: each of the two is 0 to 255, in units of {row.stride} bytes"
            )
        return base[..., None, :] + np.array(offset, np.int64)[:, None] * row.stride
    if isinstance(offset, tuple):
        raise MfmasimError(f"{row.name} has one offset, in bytes, not {offset}")
    if not 0 <= offset < 1 << 16:
        raise MfmasimError(f"offset {offset} of {row.name}: 0 to 65535 bytes are allowed")
    return base[..., None, :] + offset


def _active(active: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    if active is None:
        return np.broadcast_to(np.True_, shape)
    given = np.asarray(active)
    if given.dtype != bool:
        raise MfmasimError(f"active lanes are booleans, not {given.dtype}")
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        raise MfmasimError(f"active lanes of shape {given.shape} do not fit addresses of shape {shape}") from None


def _misaligned(place: NDArray[np.int64], active: NDArray[np.bool_], alignment: int) -> NDArray[np.int64]:
    """Active lanes that are not naturally aligned, (...)."""
    if not int(np.bitwise_or.reduce(place, axis=None)) & (alignment - 1):
        return np.zeros(place.shape[:-2], np.int64)
    off = (place & (alignment - 1) != 0).any(axis=-2) & active
    return np.asarray(off.sum(axis=-1))


def _inside(row: DsInstruction, place: NDArray[np.int64], active: NDArray[np.bool_], limit: int, target: Arch) -> None:
    if not place.size or (place.min() >= 0 and place.max() + row.size <= limit):
        return
    outside = ((place < 0) | (place + row.size > limit)) & active[..., None, :]
    if outside.any():
        where = tuple(np.argwhere(outside)[0].tolist())
        raise MfmasimError(
            f"lane {where[-1]} accesses bytes {place[where]}..{place[where] + row.size - 1}, outside the {limit} bytes "
            f"of LDS on {target.name} ({int(outside.sum())} such accesses)"
        )


def _quiet(addresses: NDArray[np.int64], active: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    return addresses if active is None else np.where(active, addresses, 0)


def choose_table(target: Arch, name: str, given: PhaseTable | Mapping[str, PhaseTable] | None = None) -> PhaseTable:
    """Phase table of an instruction: the given one, the given one for its kind of access, or the built-in one.

    Args:
        target: architecture.
        name: LDS instruction.
        given: one table for everything, tables by instruction, or None.

    Returns:
        Its phases and banks.
    """
    if isinstance(given, PhaseTable):
        return given
    if given is not None:
        for key, table in given.items():
            if ds_instruction(target, key).row == ds_instruction(target, name).row:
                return table
    return phase_table(target, name)


def _trust(
    target: Arch, row: DsInstruction, table: PhaseTable, lanes: int, misaligned: int
) -> tuple[str, tuple[str, ...]]:
    """Confidence for these accesses, and what to warn about."""
    order = CONFIDENCES.index(table.confidence)
    remarks = []
    what = f"{row.name} on {target.name}"
    given = table.source == PhaseTable.source
    if table.alternatives:
        others = "; or ".join(map(str, table.alternatives))
        remarks.append(f"{what}: sources disagree: {table}; or {others}. Used: the first. {table.remark}".rstrip())
    elif table.confidence == "unknown" and not given:
        remarks.append(f"{what}: phases are not known ({table.remark}); assumed: {table}")
    if table.wave and table.wave != lanes:
        order = max(order, CONFIDENCES.index("inferred"))
    if misaligned:
        order = CONFIDENCES.index("unknown")
        remarks.append(
            f"{what}: {misaligned} accesses are not aligned to {row.alignment} bytes; their dwords are counted, "
            "other costs in hardware are not public"
        )
    return CONFIDENCES[order], tuple(remarks)
