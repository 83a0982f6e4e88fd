"""Pictures of LDS accesses: punch cards (which lane accesses which bank in which phase) and tiles laid over the banks.

The data come from `punches` and `tile_cells`; the drawing functions add colour only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mfmasim.errors import MfmasimError
from mfmasim.figures import svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.figures.subjects import Access, Phase, Tile

_CELL, _HIGH = 13, 11
_PASSES = ("#b7e4c7", "#ffd166", "#f6a05a", "#ef6f6c", "#c9465f", "#97325a", "#662255", "#3b1546")


class Punch(NamedTuple):
    """One access of a lane to a bank."""

    phase: int
    lane: int
    bank: int
    dword: int
    order: int
    """Pass in which its dword is accessed, from 0: the number of other dwords of the bank before it."""


class Chunk(NamedTuple):
    """Neighbouring bytes of a tile and the banks they lie in."""

    row: int
    column: int
    line: int
    bank: int


def punches(found: Access) -> list[Punch]:
    """Every lane and bank of one wave access, phase by phase.

    Raises:
        MfmasimError: a batch of accesses.
    """
    return [
        Punch(phase.number, lane, bank, dword, order)
        for phase in found.phases
        for bank, dwords in phase.banks.items()
        for order, (dword, lanes) in enumerate(dwords.items())
        for lane in lanes
    ]


def lanes_text(lanes: Sequence[int]) -> str:
    """Lanes as runs.

    >>> lanes_text([0, 1, 2, 3, 20, 21, 9])
    '0-3,9,20-21'
    """
    runs: list[list[int]] = []
    for lane in sorted(lanes):
        if runs and lane == runs[-1][1] + 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in runs)


def punch_card_text(found: Access) -> str:
    """Distinct dwords per bank, one line per phase; a dot is an idle bank, + is ten or more."""
    lines = [str(found)]
    for phase in found.phases:
        counts = [len(phase.banks.get(bank, {})) for bank in range(found.table.banks)]
        card = "".join("." if count == 0 else str(count) if count < 10 else "+" for count in counts)
        lines.append(f"phase {phase.number:2d}  degree {phase.degree:2d}  |{card}|  lanes {lanes_text(phase.lanes)}")
    return "\n".join(lines) + "\n"


def punch_card_svg(found: Access) -> str:
    """Punch card of one wave access: a block per phase, a line per lane, a column per bank.

    Colour is the pass: green is the first, every further colour waits for another dword of the same bank.

    Returns:
        A self-contained SVG; hover text names lane, bank and address.
    """
    head = f"{found.instruction.name} on {found.arch.name}: {int(found.extra_passes)} extra passes"
    trust = f"phases: {found.trust}"
    most = max(1, *(phase.degree for phase in found.phases))
    passes = [(colour, f"pass {n}" + " or later" * (n == len(_PASSES))) for n, colour in enumerate(_PASSES[:most], 1)]
    key, right = svg.legend(10, 48, passes)
    body = [svg.text(10, 20, head, kind="head"), svg.text(10, 38, trust), *key]
    top, banks = 76.0, found.table.banks
    by_phase: dict[int, list[Punch]] = {}
    for punch in punches(found):
        by_phase.setdefault(punch.phase, []).append(punch)
    for phase in found.phases:
        shapes, high = _phase(phase, by_phase.get(phase.number, []), banks)
        body.append(svg.group(10, top, shapes))
        top += high + 14
    width = max(60 + banks * _CELL, svg.text_width(head, "head") + 20, svg.text_width(trust) + 20, right)
    return svg.document(width, top, body, head)


def _phase(phase: Phase, held: Sequence[Punch], banks: int) -> tuple[list[str], float]:
    part = f", access {phase.part}" if phase.part else ""
    shapes = [svg.text(0, 10, f"phase {phase.number}{part}: degree {phase.degree}")]
    shapes.append(svg.text(34, 22, "bank", kind="small", anchor="end"))
    shapes += [
        svg.text(40 + _CELL * (bank + 0.5), 22, str(bank), kind="small", anchor="middle") for bank in range(0, banks, 4)
    ]
    height = 26 + _HIGH * len(phase.lanes)
    size = f'width="{_CELL * banks}" height="{_HIGH * len(phase.lanes)}"'
    shapes.append(f'<rect class="back" x="40" y="26" {size}/>')
    line = {lane: number for number, lane in enumerate(phase.lanes)}
    shapes += [
        svg.text(34, 26 + _HIGH * (number + 0.8), f"L{lane}", kind="small", anchor="end")
        for lane, number in line.items()
    ]
    for punch in held:
        shapes.append(
            svg.rect(
                40 + _CELL * punch.bank,
                26 + _HIGH * line[punch.lane],
                _CELL,
                _HIGH,
                _PASSES[min(punch.order, len(_PASSES) - 1)],
                title=f"lane {punch.lane}, bank {punch.bank}, bytes {4 * punch.dword}..{4 * punch.dword + 3}, "
                f"pass {punch.order + 1} of {phase.degree}",
                data={"lane": punch.lane, "bank": punch.bank},
            )
        )
    return shapes, height


def punch_card_html(found: Access) -> str:
    """The same as a self-contained page."""
    title = f"{found.instruction.name} on {found.arch.name}"
    return svg.page(title, f'<div class="figure">{punch_card_svg(found)}</div>')


def tile_cells(swizzle: Tile, banks: int = 32, chunk: int = 16) -> list[Chunk]:
    """Where the chunks of a tile lie.

    Args:
        swizzle: the tile.
        banks: banks of 4 bytes to a line of LDS.
        chunk: bytes of a chunk.

    Returns:
        Chunks in the order of row and column: line of LDS and first bank of each.

    Raises:
        MfmasimError: the swizzle splits chunks.
    """
    if not swizzle.keeps_alignment(chunk):
        raise MfmasimError(f"{swizzle.title} does not keep blocks of {chunk} bytes together: take smaller ones")
    cells = []
    for row in range(swizzle.rows):
        for column in range(0, swizzle.row_bytes, chunk):
            line, byte = divmod(int(swizzle.place(row, column)), 4 * banks)
            cells.append(Chunk(row, column, line, byte // 4))
    return cells


def swizzle_svg(swizzle: Tile, banks: int = 32, chunk: int = 16, before: Tile | None = None) -> str:
    """Tiles over the banks, one below the other.

    Colour is the chunk of the row. Lanes that read one chunk of many rows conflict where one bank repeats a colour.

    Args:
        swizzle: the tile.
        banks: banks of 4 bytes to a line.
        chunk: bytes of a cell.
        before: another tile to show above it.

    Returns:
        A self-contained SVG; every cell names row and first byte.
    """
    shown = [tile for tile in (before, swizzle) if tile is not None]
    column = max(34.0, 4.0 * _CELL * chunk / 16)
    colours = min(len(svg.PALETTE), -(-swizzle.row_bytes // chunk))
    more = f" and every {len(svg.PALETTE) * chunk} bytes on" if swizzle.row_bytes > len(svg.PALETTE) * chunk else ""
    meanings = [f"bytes {n * chunk}..{(n + 1) * chunk - 1}" for n in range(colours)]
    meanings[-1] += f" of the row{more}"
    key, width = svg.legend(10, 30, zip(svg.PALETTE, meanings, strict=False))
    caption = f"a cell: row, first byte of {chunk}; on the left the address in the LDS"
    body, top = [svg.text(10, 20, caption), *key], 56.0
    for tile in shown:
        cells = tile_cells(tile, banks, chunk)
        shapes = [svg.text(0, 14, str(tile), kind="head")]
        shapes += [
            svg.text(50 + column * (bank * 4 / chunk + 0.5), 30, f"bank {bank}", kind="small", anchor="middle")
            for bank in range(0, banks, max(1, chunk // 4))
        ]
        for cell in cells:
            shapes.append(
                svg.rect(
                    50 + column * cell.bank * 4 / chunk,
                    36 + 16 * cell.line,
                    column,
                    16,
                    svg.PALETTE[cell.column // chunk % len(svg.PALETTE)],
                    label=f"{cell.row},{cell.column}",
                    title=f"row {cell.row}, bytes {cell.column}..{cell.column + chunk - 1}: "
                    f"LDS {cell.line * 4 * banks + 4 * cell.bank}, bank {cell.bank}",
                    data={"row": cell.row, "column": cell.column},
                )
            )
        lines = max(cell.line for cell in cells) + 1
        shapes += [
            svg.text(44, 36 + 16 * (line + 0.7), str(line * 4 * banks), kind="small", anchor="end")
            for line in range(lines)
        ]
        body.append(svg.group(10, top, shapes))
        width = max(width, 80 + column * banks * 4 / chunk, 20 + svg.text_width(str(tile), "head"))
        top += 60 + 16 * lines
    return svg.document(width, top, body, f"{swizzle.title} over {banks} banks")


def swizzle_html(swizzle: Tile, banks: int = 32, chunk: int = 16, before: Tile | None = None) -> str:
    """Draw tiles over the banks as an HTML page, like `swizzle_svg`.

    Args:
        swizzle: the tile.
        banks: banks of 4 bytes per line of LDS.
        chunk: bytes of a cell.
        before: another tile to show above it.
    """
    return svg.page(swizzle.title, f'<div class="figure">{swizzle_svg(swizzle, banks, chunk, before)}</div>')
