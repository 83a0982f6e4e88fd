"""Pictures of grids: tiles of the output, coloured by the XCD that computes them; steps of K, by the workgroup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.figures import svg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mfmasim.grids import Layout, Segment

_CELL, _LEFT, _TOP = 26, 40, 74
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_WRONG = "#e63946"


def colour_of(xcd: int) -> str:
    """Colour of an XCD; a second round of the palette is darker."""
    return svg.shade(svg.PALETTE[xcd % len(svg.PALETTE)], -0.25 * (xcd // len(svg.PALETTE) % 3))


def _head(found: Layout) -> str:
    rows, cols = found.shape
    return f"{found.name}: {rows} x {cols} tiles, {found.grid.xcds} XCDs"


def _verdict(found: Layout) -> str:
    tiles = found.times.size
    if found.permutation:
        return f"every tile once; {found.panels} rows of A and columns of B read by all XCDs together"
    return f"NOT a permutation: {found.covered} of {tiles} tiles are computed, {tiles - found.covered} never"


def tiles_text(found: Layout) -> str:
    """A character per tile: the XCD's number, ``.`` if no workgroup computes it."""
    lines = ["".join("." if x < 0 else _DIGITS[x % len(_DIGITS)] for x in row) for row in found.xcds.tolist()]
    return "\n".join([_head(found), _verdict(found), *lines]) + "\n"


def tiles_svg(found: Layout, lines: tuple[str, str] | None = None) -> str:
    """Tiles of C as squares: colour is the XCD, the number is the workgroup, red marks wrong tiles.

    Args:
        found: a map on a grid.
        lines: the two lines above, if the squares are no tiles of C.

    Returns:
        A self-contained SVG; hover text names tile, workgroups and XCD.
    """
    rows, cols = found.shape
    owners, xcds, times = found.workgroups.tolist(), found.xcds.tolist(), found.times.tolist()
    head, verdict = lines or (_head(found), _verdict(found))
    body = [svg.text(10, 20, head, kind="head"), svg.text(10, 38, verdict)]
    body += [
        svg.text(_LEFT + col * _CELL + _CELL / 2, _TOP - 6, str(col), kind="small", anchor="middle")
        for col in range(cols)
    ]
    for row in range(rows):
        body.append(svg.text(_LEFT - 6, _TOP + row * _CELL + 16, str(row), kind="small", anchor="end"))
        for col in range(cols):
            xcd, owner, often = xcds[row][col], owners[row][col], times[row][col]
            title = f"tile ({row}, {col}): " + (
                "no workgroup" if often == 0 else f"workgroup {owner} on XCD {xcd}" + (f", {often} times" * (often > 1))
            )
            fill = colour_of(xcd) if often == 1 else _WRONG
            label = str(owner) if often else "-"
            data = {"row": row, "col": col, "xcd": xcd, "times": often}
            body.append(
                svg.rect(
                    _LEFT + col * _CELL, _TOP + row * _CELL, _CELL, _CELL, fill, label=label, title=title, data=data
                )
            )
    bottom = _TOP + rows * _CELL + 10
    for xcd in range(found.grid.xcds):
        body.append(svg.rect(_LEFT + xcd * 64, bottom, 60, 18, colour_of(xcd), label=f"XCD {xcd}"))
    texts = max(svg.text_width(head, "head"), svg.text_width(verdict))
    width = max(_LEFT + max(cols * _CELL, found.grid.xcds * 64) + 12, texts + 24)
    return svg.document(width, bottom + 30, body, head)


def steps_text(parts: Sequence[Segment]) -> str:
    """Stream-K as text: a line for each tile, a character for each step of K, the number of its workgroup."""
    lines: dict[int, str] = {}
    for part in parts:
        lines[part.tile] = lines.get(part.tile, "") + _DIGITS[part.workgroup % len(_DIGITS)] * (part.last - part.first)
    return f"{_shared(parts)}\n" + "".join(f"{line}\n" for line in lines.values())


def _shared(parts: Sequence[Segment]) -> str:
    given = sum(part.slot is not None for part in parts)
    return f"{parts[-1].tile + 1} tiles in {len(parts)} parts, {given} of which are only a part of their tile's K"


def steps_svg(parts: Sequence[Segment]) -> str:
    """Stream-K as a picture: a row for each tile, a square for each step of K, coloured by its workgroup.

    Args:
        parts: segments of `mfmasim.grids.segments`.

    Returns:
        A self-contained SVG; a part that begins within a tile, or ends there, is lighter, and hover text names it.
    """
    depth = max(part.last for part in parts)
    body = [svg.text(10, 20, _shared(parts), kind="head"), svg.text(10, 38, "tiles down, steps of K across")]
    body += [
        svg.text(_LEFT + step * _CELL + _CELL / 2, _TOP - 6, str(step), kind="small", anchor="middle")
        for step in range(depth)
    ]
    for part in parts:
        top = _TOP + part.tile * _CELL
        if part.first == 0:
            body.append(svg.text(_LEFT - 6, top + 16, str(part.tile), kind="small", anchor="end"))
        title = f"tile {part.tile}, steps {part.first} to {part.last - 1}: workgroup {part.workgroup}"
        colour = svg.PALETTE[part.workgroup % len(svg.PALETTE)]
        fill = svg.shade(colour, 0.6 if part.slot is not None else 0)
        for step in range(part.first, part.last):
            place = _LEFT + step * _CELL
            data = {"tile": part.tile, "step": step, "workgroup": part.workgroup}
            body.append(svg.rect(place, top, _CELL, _CELL, fill, label=str(part.workgroup), title=title, data=data))
    width = max(_LEFT + depth * _CELL + 12, svg.text_width(_shared(parts), "head") + 24)
    return svg.document(width, _TOP + (parts[-1].tile + 1) * _CELL + 12, body, _shared(parts))
