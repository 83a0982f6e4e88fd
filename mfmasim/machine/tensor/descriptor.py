"""A tensor descriptor: read from the registers of an instruction, or made from its fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mfmasim.errors import MfmasimError
from mfmasim.machine.tensor.fields import DWORDS, FIELDS, GROUPS, RESERVED, read

ITERATIONS = 256
"""Table 64 describes counts up to this one."""


@dataclass(frozen=True)
class Descriptor:
    """The fields of `mfmasim.machine.tensor.fields.FIELDS` as they are coded, and the row indices of a gather.

    >>> tile = Descriptor(data_size=1, tensor_dim0=64, tensor_dim1=32, tile_dim0=16, tile_dim1=4, tensor_dim0_stride=64)
    >>> [hex(word) for word in tile.words()[4:10]]
    ['0x10000', '0x400000', '0x200000', '0x100000', '0x4', '0x40']
    >>> decode(tile.words()) == tile
    True
    """

    count: int = 1
    is_restore: int = 0
    is_store: int = 0
    nv: int = 0
    scope: int = 0
    th: int = 0
    user_null: int = 0
    gather_index_size: int = 0
    gather_mode: int = 0
    lds_addr: int = 0
    global_addr: int = 0
    type: int = 2
    workgroup_mask: int = 0
    data_size: int = 0
    atomic_barrier_enable: int = 0
    iterate_enable: int = 0
    pad_enable: int = 0
    early_timeout: int = 0
    pad_interval: int = 0
    pad_amount: int = 0
    atomic_barrier_address: int = 0
    tensor_dim0: int = 0
    tensor_dim1: int = 0
    tile_dim0: int = 0
    tile_dim1: int = 0
    tile_dim2: int = 0
    tensor_dim0_stride: int = 0
    tensor_dim1_stride: int = 0
    tensor_dim2: int = 0
    tensor_dim3: int = 0
    tensor_dim2_stride: int = 0
    tile_dim3: int = 0
    lds_addr_increment: int = 0
    global_addr_increment: int = 0
    iterate_count: int = 0
    tensor_dim3_stride: int = 0
    tensor_dim4: int = 0
    tile_dim4: int = 0
    rows: tuple[int, ...] = ()
    """Row indices of a gather: 16 of 16 bits, or 8 of 32 bits; those that the list leaves out are 0."""
    reserved: tuple[str, ...] = ()
    """Reserved bits that are set."""

    @property
    def form(self) -> str:
        """``gather``, ``iterate`` or ``dense``."""
        return "gather" if self.gather_mode else "iterate" if self.iterate_enable else "dense"

    @property
    def element_bytes(self) -> int:
        """Bytes of an element."""
        return 1 << self.data_size

    @property
    def empty(self) -> bool:
        """Whether the descriptor moves no elements."""
        return self.count == 0 or self.tile_dim0 == 0

    @property
    def iterations(self) -> int:
        """Number of moves of the tile."""
        return self.iterate_count + 1 if self.form == "iterate" else 1

    @property
    def barrier_address(self) -> int:
        """Address of the barrier in the LDS."""
        return self.atomic_barrier_address << 3

    @property
    def pad_bytes(self) -> tuple[int, int]:
        """Bytes between two gaps in the LDS, and of a gap."""
        return 8 << self.pad_interval, 4 * (self.pad_amount + 1)

    def problems(self, *, store: bool) -> list[str]:
        """Violations of the manual's rules, each in one line with the value and the allowed values.

        The mask of workgroups depends on the launch: the check `cluster` examines it. `store` says whether the
        instruction stores to memory.
        """
        found = [f"{name} {value}: {allowed}" for name, value, wrong, allowed in self._rules() if wrong]
        if self.pad_enable and not store and self.tile_dim0 * self.element_bytes % 4:
            found.append(
                f"tile_dim0 {self.tile_dim0} of {self.element_bytes} bytes each: with padding a row is a multiple of 4 "
                "bytes"
            )
        return found + [f"{where}: reserved, 0 is expected" for where in self.reserved]

    def _rules(self) -> list[tuple[str, int, bool, str]]:
        most = 8 if self.gather_index_size else 16
        gather, iterate = self.form == "gather", self.form == "iterate"
        return [
            ("type", self.type, self.type != 2, "2 is expected"),
            ("count", self.count, self.count > 1, "0 or 1 is expected"),
            ("is_restore", self.is_restore, self.is_restore != 0, "0 is expected"),
            ("is_store", self.is_store, self.is_store != 0, "0 is expected: the instruction says it"),
            (
                "tile_dim1",
                self.tile_dim1,
                gather and self.tile_dim1 > most,
                f"a gather has at most {most} row indices of {32 if self.gather_index_size else 16} bits",
            ),
            (
                "iterate_count",
                self.iterate_count,
                iterate and self.iterate_count >= ITERATIONS,
                f"at most {ITERATIONS - 1} is described",
            ),
        ]

    def words(self) -> list[int]:
        """The 20 dwords of its groups.

        Raises:
            MfmasimError: a value does not fit into its field.
        """
        groups = [0, 0, 0, 0]
        for field in FIELDS:
            value = getattr(self, field.name)
            if self.form not in field.forms:
                continue
            if not 0 <= value < 1 << field.width:
                raise MfmasimError(f"{field.name} {value}: 0 to {(1 << field.width) - 1} is expected")
            groups[field.group] |= value << field.low
        if self.form == "gather":
            width, most = (32, 8) if self.gather_index_size else (16, 16)
            if len(self.rows) > most or not all(0 <= row < 1 << width for row in self.rows):
                raise MfmasimError(f"rows {self.rows}: at most {most} row indices of {width} bits are expected")
            for number, row in enumerate(self.rows):
                groups[2 + number // (most // 2)] |= row << width * (number % (most // 2))
        return [group >> 32 * k & 0xFFFFFFFF for group, size in zip(groups, GROUPS, strict=True) for k in range(size)]


def decode(words: Sequence[int]) -> Descriptor:
    """The descriptor in 12 or 20 dwords: groups 0 and 1, or all four.

    Raises:
        MfmasimError: another number of dwords.
    """
    if len(words) not in (12, DWORDS):
        raise MfmasimError(f"a descriptor of {len(words)} dwords: 12 or {DWORDS} are expected")
    every = [*(int(word) for word in words), *[0] * (DWORDS - len(words))]
    groups, place = [], 0
    for size in GROUPS:
        groups.append(every[place : place + size])
        place += size
    gather, iterate = read(groups[0], 31, 1), read(groups[1], 19, 1)
    form = "gather" if gather else "iterate" if iterate else "dense"
    values: dict[str, Any] = {
        field.name: read(groups[field.group], field.low, field.width) for field in FIELDS if form in field.forms
    }
    if gather:
        width = 32 if values["gather_index_size"] else 16
        count = 128 // width
        values["rows"] = tuple(read(groups[2 + k // count], width * (k % count), width) for k in range(2 * count))
    values["reserved"] = tuple(
        f"bits {low + width - 1}:{low} of group {group}, {bits:#x}"
        for group, low, width in RESERVED
        if not (gather and group > 1) and (bits := read(groups[group], low, width))
    )
    return Descriptor(**values)
