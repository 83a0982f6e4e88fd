"""Swizzles as objects: where a tile's bytes lie in LDS, and their provable properties.

A swizzle here is a row-major tile with a pitch (padding) and an exclusive-or of some bits of the byte offset into
others. Published kernels use both. Every property of a swizzle (bijection, self-inverse, alignment) is determined by
checking every byte of the tile, so that the proof does not rest on the algebra of the search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfmasim.errors import MfmasimError
from mfmasim.figures.lds import swizzle_svg

_LARGEST = 1 << 20


@dataclass(frozen=True, order=True)
class Term:
    """``((offset >> shift) & mask) << left``, exclusive-ored into the byte offset.

    >>> Term(shift=8, mask=7, left=4).of(0x300)
    48
    """

    shift: int
    mask: int
    left: int

    def of(self, offset: int) -> int:
        """Value of the term at a byte offset."""
        return ((offset >> self.shift) & self.mask) << self.left

    @property
    def operations(self) -> int:
        """32-bit integer operations as written: shift, and, exclusive-or."""
        return 2 + (self.shift != self.left)

    def __str__(self) -> str:
        """As HIP. One shift is enough: the mask moves to where the bits already are."""
        move = self.shift - self.left
        if move == 0:
            return f"(offset & {self.mask << self.shift:#x})"
        sign = ">>" if move > 0 else "<<"
        return f"((offset {sign} {abs(move)}) & {self.mask << self.left:#x})"


@dataclass(frozen=True)
class Swizzle:
    """A tile in LDS.

    Attributes:
        rows: rows of the tile.
        row_bytes: bytes of a row, as the kernel counts columns.
        terms: terms that are exclusive-ored into the byte offset ``row * pitch + column``; every term reads the offset
            before the others are applied.
        pad: bytes after each row.
        name: short name.
        source: where it is published.
    """

    rows: int
    row_bytes: int
    terms: tuple[Term, ...] = ()
    pad: int = 0
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        if self.rows < 1 or self.row_bytes < 1 or self.pad < 0:
            raise MfmasimError(
                f"a tile has rows and bytes: {self.rows} rows of {self.row_bytes} bytes, padding {self.pad}"
            )
        if self.rows * self.pitch > _LARGEST:
            raise MfmasimError(f"a tile of {self.rows} rows of {self.pitch} bytes is larger than any LDS")

    @property
    def pitch(self) -> int:
        """Bytes from one row to the next."""
        return self.row_bytes + self.pad

    @property
    def lds_bytes(self) -> int:
        """LDS bytes that the tile takes."""
        return self.rows * self.pitch

    @property
    def operations(self) -> int:
        """32-bit integer operations of the exclusive-or; a padded pitch costs none beyond the multiplication."""
        return sum(term.operations for term in self.terms)

    def place(self, row: ArrayLike, column: ArrayLike) -> NDArray[np.int64]:
        """LDS byte offset of a byte of the tile.

        Args:
            row: rows, integers.
            column: columns in bytes; both broadcast.

        Raises:
            MfmasimError: outside the tile.
        """
        rows, columns = np.asarray(row, np.int64), np.asarray(column, np.int64)
        for what, value, size in (("row", rows, self.rows), ("column byte", columns, self.row_bytes)):
            if value.size and not (value.min() >= 0 and value.max() < size):
                wrong = int(value.min()) if value.min() < 0 else int(value.max())
                raise MfmasimError(f"{what} {wrong} is not within 0..{size - 1} of the tile")
        return self.of_offset(rows * self.pitch + columns)

    def of_offset(self, offset: ArrayLike) -> NDArray[np.int64]:
        """Swizzled byte offset of a linear byte offset ``row * pitch + column``."""
        given = np.asarray(offset, np.int64)
        out = given.copy()
        for term in self.terms:
            out ^= ((given >> term.shift) & term.mask) << term.left
        return out

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Where every byte of the tile goes, (rows, row_bytes)."""
        rows, columns = np.indices((self.rows, self.row_bytes))
        return self.place(rows, columns)

    @cached_property
    def bijective(self) -> bool:
        """Whether no two bytes of the tile share a place and all places lie inside ``lds_bytes``."""
        places = self._places.ravel()
        if places.min() < 0 or places.max() >= self.lds_bytes:
            return False
        return bool(np.bincount(places, minlength=self.lds_bytes).max() == 1)

    @cached_property
    def self_inverse(self) -> bool:
        """Whether applying it to a swizzled offset gives the linear offset back."""
        rows, columns = np.indices((self.rows, self.row_bytes))
        return bool((self.of_offset(self._places) == rows * self.pitch + columns).all())

    @cached_property
    def keeps_rows(self) -> bool:
        """Whether every byte stays in its row."""
        rows = np.arange(self.rows)[:, None]
        return bool((self._places // self.pitch == rows).all())

    def keeps_alignment(self, size: int) -> bool:
        """Whether aligned blocks of `size` bytes of a row stay whole, in order and aligned."""
        if self.row_bytes % size:
            return False
        blocks = self._places.reshape(self.rows, -1, size)
        return bool((blocks[..., 0] % size == 0).all() and (np.diff(blocks, axis=-1) == 1).all())

    def matches(self, other: Swizzle) -> bool:
        """Whether both put every byte of the tile at the same place, as the write and the read of a tile must."""
        same_tile = (self.rows, self.row_bytes) == (other.rows, other.row_bytes)
        return same_tile and bool((self._places == other._places).all())

    def mismatches(self, other: Swizzle) -> int:
        """Bytes of the tile that a read through `other` would take from another place than this one wrote."""
        if (self.rows, self.row_bytes) != (other.rows, other.row_bytes):
            raise MfmasimError(
                f"a tile of {self.rows}x{self.row_bytes} bytes cannot be compared with one of "
                f"{other.rows}x{other.row_bytes}"
            )
        return int((self._places != other._places).sum())

    def source_of(self, offset: ArrayLike) -> NDArray[np.int64]:
        """Linear byte offset of the tile that belongs at a place in LDS: the inverse.

        Direct-to-LDS loads write places in lane order, so a lane must fetch ``source_of(place)`` from global memory.

        Raises:
            MfmasimError: the swizzle is not a bijection, or the place is padding.
        """
        if not self.bijective:
            raise MfmasimError(f"{self.title} is not a bijection on its tile: it has no inverse")
        inverse = np.full(self.lds_bytes, -1, np.int64)
        rows, columns = np.indices((self.rows, self.row_bytes))
        inverse[self._places] = rows * self.pitch + columns
        offsets = np.asarray(offset, np.int64)
        if offsets.size and not (offsets.min() >= 0 and offsets.max() < self.lds_bytes):
            raise MfmasimError(f"offset {int(offsets.max())} is not within 0..{self.lds_bytes - 1} of the tile")
        found = inverse[offsets]
        if (found < 0).any():
            raise MfmasimError(
                f"offset {int(offsets[found < 0].flat[0])} of {self.title} is padding: it holds no byte of the tile"
            )
        return np.asarray(found)

    @property
    def title(self) -> str:
        """Name and shape."""
        kind = self.name or ("xor" if self.terms else "padding" if self.pad else "linear")
        return f"{kind} ({self.rows}x{self.row_bytes} bytes{f' + {self.pad}' if self.pad else ''})"

    @property
    def row_images(self) -> tuple[int, ...]:
        """For each bit of the row, what it exclusive-ors into the offset (only while the pitch is a power of two)."""
        if self.pitch & (self.pitch - 1):
            raise MfmasimError(
                f"rows of {self.pitch} bytes are not a power of two: a row's bits are not bits of the offset"
            )
        first = self.pitch.bit_length() - 1
        bits = range(first, first + (self.rows - 1).bit_length())
        return tuple(int(self.of_offset(1 << bit)) ^ (1 << bit) for bit in bits)

    def hip(self, row: str = "row", column: str = "column", indent: str = "") -> str:
        """HIP statements that compute the LDS byte offset, to paste.

        Args:
            row: expression of the row.
            column: expression of the column in bytes.
            indent: put before each line.
        """
        lines = [f"unsigned offset = ({row}) * {self.pitch}u + ({column});"]
        if self.terms:
            lines.append(f"offset ^= {' ^ '.join(map(str, self.terms))};")
        return "\n".join(indent + line for line in lines)

    def named(self, name: str, source: str = "") -> Swizzle:
        """The same under another name."""
        return replace(self, name=name, source=source)

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_svg_(self) -> str:
        """The tile over 32 banks, for notebooks."""
        return swizzle_svg(self, 32, next(size for size in (16, 8, 4, 2, 1) if self.keeps_alignment(size)))

    def __str__(self) -> str:
        how = " ^ ".join(map(str, self.terms))
        return f"{self.title}: " + (f"offset ^= {how}" if how else f"pitch {self.pitch} bytes")


def terms_of(images: Iterable[tuple[int, int]]) -> tuple[Term, ...]:
    """Terms of a map that exclusive-ors `image` into the offset for each set bit of it.

    Bits that move by the same distance share a term, which gives the fewest terms of shifts and masks.

    Args:
        images: pairs of a bit's number and its image.

    >>> terms_of([(8, 0x10), (9, 0x20), (10, 0x40)])
    (Term(shift=8, mask=7, left=4),)
    """
    by_distance: dict[int, int] = {}
    for bit, image in images:
        for target in range(image.bit_length()):
            if image >> target & 1:
                by_distance[bit - target] = by_distance.get(bit - target, 0) | 1 << bit
    terms = []
    for distance, sources in by_distance.items():
        low = (sources & -sources).bit_length() - 1
        terms.append(Term(low, sources >> low, low - distance))
    return tuple(sorted(terms))
