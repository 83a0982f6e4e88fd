"""Pictures of grid maps: tiles of the output, coloured by the XCD that computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfmasim.figures import svg

if TYPE_CHECKING:
    from mfmasim.grids import Layout

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


def tiles_svg(found: Layout) -> str:
    """Tiles of C as squares: colour is the XCD, the number is the workgroup, red marks wrong tiles.

    Returns:
        A self-contained SVG; hover text names tile, workgroups and XCD.
    """
    rows, cols = found.shape
    owners, xcds, times = found.workgroups.tolist(), found.xcds.tolist(), found.times.tolist()
    body = [svg.text(10, 20, _head(found), kind="head"), svg.text(10, 38, _verdict(found))]
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
    width = max(_LEFT + max(cols * _CELL, found.grid.xcds * 64) + 12, 7 * len(_verdict(found)) + 24)
    return svg.document(width, bottom + 30, body, _head(found))
