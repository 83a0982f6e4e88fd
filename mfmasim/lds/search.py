"""`find_swizzle`: the cheapest exclusive-or or padding without bank conflicts in the given accesses of a tile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mfmasim.architectures import Arch, arch
from mfmasim.errors import MfmasimError
from mfmasim.lds.conflict import Conflicts, choose_table, conflicts
from mfmasim.lds.instructions import ds_instruction
from mfmasim.lds.linear_maps import Collision, Space, collisions
from mfmasim.lds.swizzles import Swizzle, terms_of
from mfmasim.lds.tables import phase_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mfmasim.lds.lanes import PhaseTable
    from mfmasim.lds.patterns import Pattern


class Proof(NamedTuple):
    """One line of a proof: one pattern on one architecture, counted."""

    arch: str
    instruction: str
    pattern: str
    accesses: int
    degree: int
    extra_passes: int
    confidence: str
    source: str

    @property
    def free(self) -> bool:
        """Whether it is free of conflicts."""
        return self.degree <= 1


def prove(
    swizzle: Swizzle,
    patterns: Iterable[Pattern],
    archs: Iterable[str | Arch],
    tables: Mapping[str, Mapping[str, PhaseTable]] | None = None,
    *,
    base: int = 0,
) -> list[Proof]:
    """Count every access of the patterns under a swizzle.

    Args:
        swizzle: where bytes lie.
        patterns: the accesses.
        archs: architectures.
        tables: phase tables to use instead, by architecture and instruction.
        base: LDS address of the tile.

    Returns:
        One line per architecture and pattern. Its confidence shows what the phase tables leave open; it gives no
        warnings.
    """
    found = []
    for target in map(arch, archs):
        for pattern in patterns:
            pattern.runs_on([target])
            counted = _count(swizzle, pattern, target, tables, base)
            worst, extra = int(counted.degrees.max(initial=0)), int(counted.extra_passes.sum())
            found.append(
                Proof(
                    target.name,
                    pattern.instruction,
                    pattern.name,
                    len(pattern.rows),
                    worst,
                    extra,
                    counted.confidence,
                    counted.source,
                )
            )
    return found


def _count(
    swizzle: Swizzle, pattern: Pattern, target: Arch, tables: Mapping[str, Mapping[str, PhaseTable]] | None, base: int
) -> Conflicts:
    return conflicts(
        target,
        pattern.instruction,
        pattern.addresses(swizzle, base),
        pattern.active,
        table=(tables or {}).get(target.name),
        warn=False,
    )


@dataclass(frozen=True)
class SwizzleSearch:
    """What `find_swizzle` found.

    Attributes:
        rows: rows of the tile.
        row_bytes: bytes of a row.
        element_bytes: bytes of an element.
        patterns: the accesses, the write first.
        archs: names of the architectures.
        xors: swizzles without a conflict, cheapest first; the linear tile itself if it has none.
        padding: the smallest padding without a conflict, or else the one with the fewest extra passes.
        padding_extra: extra passes that the padding leaves, over all patterns and architectures.
        linear_extra: extra passes of the linear tile.
        count: linear maps from row bits to chunk bits that are free of conflicts; None where they were not all tried.
        maps: number of all linear maps.
        why: why no exclusive-or works, or empty.
    """

    rows: int
    row_bytes: int
    element_bytes: int
    patterns: tuple[Pattern, ...]
    archs: tuple[str, ...]
    xors: tuple[Swizzle, ...]
    padding: Swizzle
    padding_extra: int
    linear_extra: int
    count: int | None
    maps: int
    why: str = ""
    tables: Mapping[str, Mapping[str, PhaseTable]] | None = field(default=None, repr=False)

    @property
    def best(self) -> Swizzle:
        """The cheapest exclusive-or; without one, the padding."""
        return self.xors[0] if self.xors else self.padding

    @property
    def free(self) -> bool:
        """Whether `best` has no conflict."""
        return bool(self.xors) or not self.padding_extra

    def proof(self, swizzle: Swizzle | None = None) -> list[Proof]:
        """Every pattern on every architecture under `best`, or under another swizzle of the tile."""
        return prove(swizzle or self.best, self.patterns, self.archs, self.tables)

    def hip(self, swizzle: Swizzle | None = None) -> str:
        """HIP function from row and column (in elements) to the element's index in LDS, to paste."""
        chosen = swizzle or self.best
        column = "column" if self.element_bytes == 1 else f"column * {self.element_bytes}u"
        result = "offset" if self.element_bytes == 1 else f"offset / {self.element_bytes}u"
        extra, where = sum(line.extra_passes for line in self.proof(chosen)), ", ".join(self.archs)
        return (
            f"// {chosen.title}; {f'{extra} extra passes' if extra else 'free of conflicts'} on {where}.\n"
            "__device__ __forceinline__ unsigned lds_index(unsigned row, unsigned column) {\n"
            f"{chosen.hip('row', column, '    ')}\n    return {result};\n}}\n"
        )

    def __str__(self) -> str:
        lines = [f"tile {self.rows}x{self.row_bytes} bytes: {self.linear_extra} extra passes unswizzled"]
        if self.count is not None and self.maps:
            lines.append(f"  {self.count} of {self.maps} linear maps within rows are free")
        lines += [f"  {swizzle} ({swizzle.operations} operations)" for swizzle in self.xors]
        lines += [f"  no exclusive-or: {self.why}"] * bool(self.why)
        pad = self.padding
        what = f"padding {pad.pad} bytes" if pad.pad else "no padding is better"
        lines.append(f"  {what}: {self.padding_extra} extra passes, {pad.lds_bytes} bytes of LDS")
        return "\n".join(lines)


def find_swizzle(
    tile: tuple[int, int],
    element_bytes: int = 1,
    write: Pattern | None = None,
    reads: Sequence[Pattern] = (),
    archs: Sequence[str | Arch] = (),
    *,
    tables: Mapping[str, Mapping[str, PhaseTable]] | None = None,
    limit: int = 8,
) -> SwizzleSearch:
    """Find a placement of a tile's bytes under which its accesses have no bank conflict.

    Exclusive-ors of row bits into the column are searched first, cheapest first; where a row is shorter than a line of
    all banks, wider lines are tried too (several rows side by side). Everything that is returned has been counted again
    with `conflicts`.

    Args:
        tile: rows, and bytes of a row.
        element_bytes: bytes of an element; an element is never split.
        write: how the tile is written; None where LDS is filled in lane order by direct-to-LDS loads.
        reads: how it is read.
        archs: architectures on which it must be free of conflicts.
        tables: phase tables to use instead, by architecture and instruction.
        limit: swizzles to find.

    Returns:
        The cheapest swizzles and the best padding.

    Raises:
        MfmasimError: accesses outside the tile or misaligned, an unknown instruction, or no swizzle or padding helps;
            the message says why.
    """
    if not isinstance(tile, tuple | list) or len(tile) != 2:
        raise MfmasimError(f"tile {tile!r}: rows and bytes of a row are expected, such as (16, 128)")
    rows, row_bytes = tile
    targets = [arch(name) for name in archs]
    patterns = tuple(([] if write is None else [write]) + list(reads))
    linear = Swizzle(rows, row_bytes, name="linear")
    granule = _check(linear, element_bytes, patterns, targets)
    linear_extra = _extra(linear, patterns, targets, tables)
    count, maps, why, xors = _xors(linear, granule, patterns, targets, tables, limit)
    if not linear_extra:
        xors, why = [linear, *(found for found in xors if found.terms)], ""
    padding, padding_extra = _padding(linear, granule, patterns, targets, tables)
    if not xors and padding_extra >= linear_extra:
        raise MfmasimError(
            f"no swizzle of a {rows}x{row_bytes}-byte tile helps: {why}; no padding up to {_most_padding(targets)} "
            f"bytes leaves fewer than the {linear_extra} extra passes it has"
        )
    return SwizzleSearch(
        rows,
        row_bytes,
        element_bytes,
        patterns,
        tuple(found.name for found in targets),
        tuple(xors[:limit]),
        padding,
        padding_extra,
        linear_extra,
        count,
        maps,
        why,
        tables,
    )


def _check(linear: Swizzle, element_bytes: int, patterns: Sequence[Pattern], targets: Sequence[Arch]) -> int:
    """Refuse tiles and patterns that cannot be searched; returns the bytes that must stay together."""
    if not targets:
        raise MfmasimError("name at least one architecture, such as archs=['gfx950']")
    if not patterns:
        raise MfmasimError("give at least one access pattern: write=... or reads=[...]")
    if element_bytes < 1 or linear.row_bytes % element_bytes:
        raise MfmasimError(f"rows of {linear.row_bytes} bytes do not hold whole elements of {element_bytes} bytes")
    for found in targets:
        if linear.lds_bytes > found.lds_bytes:
            raise MfmasimError(f"a tile of {linear.lds_bytes} bytes does not fit the {found.lds_bytes} of {found.name}")
    granule = 1 << (element_bytes - 1).bit_length()
    for pattern in patterns:
        pattern.runs_on(targets)
        pattern.check(linear.rows, linear.row_bytes)
        alignment = ds_instruction(targets[0], pattern.instruction).alignment
        off = (pattern.columns % alignment != 0) & pattern.active
        if off.any():
            number, lane = np.argwhere(off)[0].tolist()
            raise MfmasimError(
                f"{pattern.name}: lane {lane} starts at column byte {pattern.columns[number, lane]}; "
                f"{pattern.instruction} needs multiples of {alignment}, and no swizzle changes that"
            )
        granule = max(granule, alignment)
    if linear.row_bytes % granule:
        raise MfmasimError(
            f"rows of {linear.row_bytes} bytes do not hold whole {granule}-byte accesses: change the tile"
        )
    return granule


def _extra(
    swizzle: Swizzle,
    patterns: Sequence[Pattern],
    targets: Sequence[Arch],
    tables: Mapping[str, Mapping[str, PhaseTable]] | None,
) -> int:
    return sum(
        int(_count(swizzle, pattern, found, tables, 0).extra_passes.sum()) for found in targets for pattern in patterns
    )


def _collisions(
    linear: Swizzle,
    patterns: Sequence[Pattern],
    targets: Sequence[Arch],
    tables: Mapping[str, Mapping[str, PhaseTable]] | None,
) -> list[Collision]:
    """All pairs of accesses that must not conflict, over all architectures."""
    found = []
    for target in targets:
        for pattern in patterns:
            row = ds_instruction(target, pattern.instruction)
            table = choose_table(target, pattern.instruction, (tables or {}).get(target.name))
            offsets = pattern.rows * linear.pitch + pattern.columns
            unit = max(4, row.alignment)
            found.append(collisions(offsets, pattern.active, table.sets(pattern.lanes), table.banks, unit))
    return found


def _xors(
    linear: Swizzle,
    granule: int,
    patterns: Sequence[Pattern],
    targets: Sequence[Arch],
    tables: Mapping[str, Mapping[str, PhaseTable]] | None,
    limit: int,
) -> tuple[int | None, int, str, list[Swizzle]]:
    """Free maps that keep rows, all maps, why there is none, and the cheapest swizzles."""
    if linear.row_bytes & (linear.row_bytes - 1):
        return 0, 0, f"rows of {linear.row_bytes} bytes are not a power of two", []
    collisions = _collisions(linear, patterns, targets, tables)
    low, column_bits = granule.bit_length() - 1, linear.row_bytes.bit_length() - 1
    top = (linear.lds_bytes - 1).bit_length()
    bank_bits = max(found.mask.bit_length() for found in collisions)
    found: list[Swizzle] = []
    count: int | None = None
    maps = 0
    for line in range(column_bits, max(column_bits, bank_bits) + 1):
        space = Space(low, line, top, collisions)
        if line == column_bits:
            count, maps = space.count(), space.size
        for images in space.cheapest(limit):
            terms = terms_of((line + bit, image) for bit, image in enumerate(images))
            swizzle = Swizzle(linear.rows, linear.row_bytes, terms, name="xor" if terms else "linear")
            # A map that exchanges rows can leave the tile if the number of rows is not a power of two.
            if swizzle.bijective and not _extra(swizzle, patterns, targets, tables):
                found.append(swizzle)
    found = list(dict.fromkeys(sorted(found, key=lambda s: (s.operations, not s.keeps_rows, s.terms))))
    why = "" if found else _why(linear, granule, collisions)
    return count, maps, why, found


def _why(linear: Swizzle, granule: int, collisions: Sequence[Collision]) -> str:
    """Why no map is free of conflicts."""
    column_bits = linear.row_bytes.bit_length() - 1
    for collision in collisions:
        same_row = collision.differences[collision.differences >> column_bits == 0]
        if (same_row & collision.mask == 0).any():
            return (
                "two lanes of a phase access the same bank within one row, and an exclusive-or moves a row as a whole"
            )
    chunks = linear.row_bytes // granule
    return f"no linear map of the row bits onto the {chunks} chunks of {granule} bytes in a row is free of conflicts"


def _most_padding(targets: Sequence[Arch]) -> int:
    """Padding beyond a line of all banks has the effect of a smaller one."""
    return 4 * max(phase_tables(found)["read b128"].banks for found in targets)


def _padding(
    linear: Swizzle,
    granule: int,
    patterns: Sequence[Pattern],
    targets: Sequence[Arch],
    tables: Mapping[str, Mapping[str, PhaseTable]] | None,
) -> tuple[Swizzle, int]:
    """The padding with the fewest extra passes, the smallest of these."""
    best: tuple[int, Swizzle] | None = None
    limit = min(found.lds_bytes for found in targets)
    for pad in range(0, _most_padding(targets) + 1, max(4, granule)):
        padded = Swizzle(linear.rows, linear.row_bytes, pad=pad, name=f"padding {pad}")
        if best is not None and (best[0] == 0 or padded.lds_bytes > limit):
            break
        extra = _extra(padded, patterns, targets, tables)
        if best is None or extra < best[0]:
            best = (extra, padded)
    assert best is not None
    return best[1], best[0]
