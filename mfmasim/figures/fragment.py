"""Picture of a fragment: matrix view (the place of each element) and register view (the elements of each lane)."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from mfmasim.errors import unknown
from mfmasim.figures import svg

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mfmasim.figures.subjects import Fragment

VIEWS = ("both", "matrix", "registers")

_HEIGHT = 18
_WIDTH, _BETWEEN = 720, 16
"""Pixels: columns of lines that stand side by side take at most the first; the second lies between them."""
_MARKED = "#ff595e"
_SCRIPT = """
const cells = [...document.querySelectorAll('g[data-lane]')];
function mark(lane, vgpr) {
  for (const cell of cells) {
    const same = lane !== null && cell.dataset.lane.split(' ').includes(lane);
    const here = same && cell.dataset.vgpr === vgpr;
    const shape = cell.querySelector('rect');
    shape.style.stroke = here ? '#d00000' : same ? '#1d3557' : '';
    shape.style.strokeWidth = here ? '3' : same ? '2' : '';
  }
}
let held = null;
for (const cell of cells) {
  const first = () => cell.dataset.lane.split(' ')[0];
  cell.onmouseenter = () => { if (!held) mark(first(), cell.dataset.vgpr); };
  cell.onmouseleave = () => { if (!held) mark(null, null); };
  cell.onclick = () => {
    held = held ? null : [first(), cell.dataset.vgpr];
    location.hash = held ? held.join('.') : '';
    mark(...(held || [null, null]));
  };
}
if (location.hash.length > 1) { held = location.hash.slice(1).split('.'); mark(...held); }
"""


class Element(NamedTuple):
    """Which element of the operand's matrix."""

    row: int
    col: int
    block: int


@dataclass(frozen=True)
class Cell:
    """One box of a picture: neighbouring elements that share a register of a lane."""

    elements: tuple[Element, ...]
    lanes: tuple[int, ...]
    vgpr: int
    low: int
    """Lowest bit in the register."""
    high: int
    """Highest bit, above 31 where the last element goes on in the next register."""

    @property
    def place(self) -> str:
        """Such as ``L17 v1[15:0]``; copies in other lanes are not repeated."""
        bits = "" if (self.low, self.high) in {(0, 31), (0, 63)} else f"[{self.high}:{self.low}]"
        register = f"v[{self.vgpr}:{self.vgpr + 1}]" if self.high > 31 else f"v{self.vgpr}"
        register += bits
        return f"L{self.lanes[0]} {register}"

    def name(self, operand: str, *, blocks: bool) -> str:
        """Such as ``A[5, 8..11]``, with the block first where there are several."""
        first, last = self.elements[0], self.elements[-1]
        row = f"{first.row}" if first.row == last.row else f"{first.row}..{last.row}"
        col = f"{first.col}" if first.col == last.col else f"{first.col}..{last.col}"
        return f"{operand}[{f'{first.block}, ' if blocks else ''}{row}, {col}]"


def register_cells(fragment: Fragment) -> list[Cell]:
    """Cells by lane and register; elements that follow each other along one axis share a cell."""
    held: dict[tuple[int, int], list[tuple[int, Element]]] = {}
    for row in fragment.table():
        element = _element(row)
        held.setdefault((int(row["lane"]), int(row["vgpr"])), []).append((int(row["bit"]), element))
    cells = []
    for (lane, vgpr), found in sorted(held.items()):
        run: list[tuple[int, Element]] = []
        for bit, element in sorted(found):
            if run and not _follows(run, element, bit, fragment.width):
                cells.append(_cell(run, (lane,), vgpr, fragment.width))
                run = []
            if not run or run[-1][0] != bit:  # under a broadcast the first of several elements stands for all
                run.append((bit, element))
        cells.append(_cell(run, (lane,), vgpr, fragment.width))
    return cells


def matrix_cells(fragment: Fragment) -> list[Cell]:
    """Cells by block, row and column; along the summed index elements that share a register share a cell."""
    along = "k" if "k" in fragment.axes else "s"
    downwards = fragment.axes[0] == along
    places: dict[Element, list[tuple[int, int, int]]] = {}
    for row in fragment.table():
        places.setdefault(_element(row), []).append((int(row["lane"]), int(row["vgpr"]), int(row["bit"])))
    order = sorted(places, key=lambda e: (e.block, e.col, e.row) if downwards else (e.block, e.row, e.col))
    cells: list[Cell] = []
    run: list[tuple[int, Element]] = []
    key: tuple[tuple[int, ...], int] | None = None
    for element in order:
        lanes, vgpr, bit = tuple(place[0] for place in places[element]), places[element][0][1], places[element][0][2]
        joins = along in fragment.axes and (lanes, vgpr) == key and _follows(run, element, bit, fragment.width)
        if run and not joins:
            cells.append(_cell(run, key[0] if key else lanes, key[1] if key else vgpr, fragment.width))
            run = []
        run.append((bit, element))
        key = (lanes, vgpr)
    if key:
        cells.append(_cell(run, *key, fragment.width))
    return cells


def fragment_svg(fragment: Fragment, view: str = "both", mark: tuple[int, int] | None = None) -> str:
    """Draw a fragment.

    Args:
        fragment: the operand.
        view: ``matrix``, ``registers`` or ``both``.
        mark: lane and register to frame.

    Returns:
        A self-contained SVG. Colour is the group of 16 lanes; hover text names element and place.

    Raises:
        MfmasimError: no such view.
    """
    if view not in VIEWS:
        raise unknown("view", view, VIEWS)
    head = f"{fragment.name} of {fragment.instruction} on {fragment.arch}"
    registers = f"{fragment.vgprs} VGPR{'s' * (fragment.vgprs > 1)}"
    lines = [f"{fragment.shape_text} {fragment.format}, wave{fragment.lanes}, {registers}", fragment.layout.formula]
    body = [svg.text(10, 20, head, kind="head"), *(svg.text(10, 38 + 16 * n, line) for n, line in enumerate(lines))]
    groups = range(0, fragment.lanes, 16)
    colours = [(svg.PALETTE[lane // 16 % len(svg.PALETTE)], f"lanes {lane}-{lane + 15}") for lane in groups]
    key, right = svg.legend(10, 62, [*colours, (svg.shade(svg.PALETTE[0], 0.35), "paler: odd registers")])
    body += key
    y, width = 90.0, max(svg.text_width(head, "head"), *map(svg.text_width, lines), right) + 20.0
    for name, draw in (("matrix", _draw_matrix), ("registers", _draw_registers)):
        if view in (name, "both"):
            shapes, drawn_width, drawn_height = draw(fragment, mark)
            body.append(svg.group(10, y, shapes))
            width, y = max(width, drawn_width + 20), y + drawn_height + 20
    return svg.document(width, y, body, head)


def fragment_html(fragment: Fragment, view: str = "both", mark: tuple[int, int] | None = None) -> str:
    """Draw a fragment as an HTML page: hovering marks a lane in both views, a click keeps the mark in the URL.

    Args:
        fragment: the operand.
        view: ``matrix``, ``registers`` or ``both``.
        mark: lane and register to frame.

    Raises:
        MfmasimError: no such view.
    """
    figure = fragment_svg(fragment, view, mark)
    place = escape(f"{fragment.arch} {fragment.instruction}")
    hint = "<p>Hover: mark the elements of a lane. Click: keep the mark and add it to the URL. "
    hint += f"All operands linked: <code>mfmasim explorer {place} --open</code></p>"
    title = f"{fragment.name} of {fragment.instruction}"
    return svg.page(title, f'{hint}<div class="figure">{figure}</div>', _SCRIPT)


def _folded(lines: int, width: float) -> int:
    """Lines of one column, a multiple of 16, where so many lines of a width stand in columns side by side."""
    columns = max(1, int((_WIDTH + _BETWEEN) // (width + _BETWEEN)))
    return max(16, 16 * -(-lines // (16 * columns)))


def _draw_matrix(fragment: Fragment, mark: tuple[int, int] | None) -> tuple[list[str], float, float]:
    """One box per cell at the row and column of its first element; blocks one below the other.

    Rows of a narrow matrix stand in columns side by side.
    """
    cells = matrix_cells(fragment)
    longest = max(len(cell.place) for cell in cells)
    downwards = any(cell.elements[0].row != cell.elements[-1].row for cell in cells)
    across = 1 if downwards else max(len(cell.elements) for cell in cells)
    column = max(22.0, (longest * 5.6 + 4) / across)
    height = 9.0 if downwards else float(_HEIGHT)
    shapes = [svg.text(0, 12, f"matrix: rows {fragment.axes[0]}, columns {fragment.axes[1]}")]
    wide = 40 + column * fragment.cols
    lines = fragment.rows if downwards else min(fragment.rows, _folded(fragment.rows, wide))
    columns = -(-fragment.rows // lines)
    block_height = lines * height + 24
    for block in range(fragment.blocks):
        top = 34 + block * block_height
        shapes += [
            svg.text(40 + n * (wide + _BETWEEN) + column * (c + 0.5), top - 5, str(c), kind="small", anchor="middle")
            for n in range(columns)
            for c in range(fragment.cols)
        ]
        shapes += [
            svg.text(
                34 + r // lines * (wide + _BETWEEN),
                top + height * (r % lines + 0.5) + 3,
                str(r),
                kind="small",
                anchor="end",
            )
            for r in range(fragment.rows)
            if height > 10 or r % 2 == 0
        ]
    for cell in cells:
        first, last = cell.elements[0], cell.elements[-1]
        shapes.append(
            svg.rect(
                40 + first.row // lines * (wide + _BETWEEN) + first.col * column,
                34 + first.block * block_height + first.row % lines * height,
                (last.col - first.col + 1) * column,
                (last.row - first.row + 1) * height,
                _colour(cell, mark),
                label=cell.place,
                title=_title(fragment, cell),
                data={"lane": " ".join(map(str, cell.lanes)), "vgpr": cell.vgpr},
            )
        )
    return shapes, columns * (wide + _BETWEEN) - _BETWEEN, 34 + block_height * fragment.blocks


def _draw_registers(fragment: Fragment, mark: tuple[int, int] | None) -> tuple[list[str], float, float]:
    """One line per lane, one column per register, the lowest bits on the right as in the manual.

    Lanes that leave room beside them stand side by side, in groups of 16 or a multiple.
    """
    cells = register_cells(fragment)
    names = {cell: cell.name("", blocks=fragment.blocks > 1) for cell in cells}
    narrowest = min(min(cell.high, 31) - cell.low + 1 for cell in cells)
    column = max(64.0, (max(map(len, names.values())) * 5.6 + 4) * 32 / min(32, narrowest))
    caption = f"registers: {fragment.name}[row, column] by lane; bit 0 on the right"
    shapes = [svg.text(0, 12, caption)]
    wide = 40 + column * fragment.vgprs
    lines = min(fragment.lanes, _folded(fragment.lanes, wide))
    columns = -(-fragment.lanes // lines)

    def corner(lane: int) -> tuple[float, float]:
        """Left and upper edge of a lane's line."""
        return 40 + lane // lines * (wide + _BETWEEN), 34.0 + _HEIGHT * (lane % lines)

    shapes += [
        svg.text(corner(n * lines)[0] + column * (register + 0.5), 29, f"v{register}", kind="small", anchor="middle")
        for n in range(columns)
        for register in range(fragment.vgprs)
    ]
    shapes += [
        svg.text(corner(lane)[0] - 6, corner(lane)[1] + 0.7 * _HEIGHT, f"L{lane}", kind="small", anchor="end")
        for lane in range(fragment.lanes)
    ]
    for cell in cells:
        high = cell.high if cell.high == 63 else min(cell.high, 31)
        begin, top = corner(cell.lanes[0])
        left = begin + column * cell.vgpr + (31 - min(high, 31)) * column / 32
        if high == 63:  # both registers of a 64-bit value
            left = begin + column * cell.vgpr
        shapes.append(
            svg.rect(
                left,
                top,
                (high - cell.low + 1) * column / 32,
                _HEIGHT,
                _colour(cell, mark),
                label=names[cell],
                title=_title(fragment, cell),
                data={"lane": cell.lanes[0], "vgpr": cell.vgpr},
            )
        )
        if 31 < cell.high < 63:  # the rest of a 6-bit element
            rest = (cell.high - 31) * column / 32
            left = begin + column * (cell.vgpr + 2) - rest
            shapes.append(svg.rect(left, top, rest, _HEIGHT, _colour(cell, mark), title=_title(fragment, cell)))
    drawn = columns * (wide + _BETWEEN) - _BETWEEN
    return shapes, max(drawn, svg.text_width(caption)), 34.0 + _HEIGHT * lines


def _colour(cell: Cell, mark: tuple[int, int] | None) -> str:
    if mark is not None and mark[0] in cell.lanes and mark[1] == cell.vgpr:
        return _MARKED
    colour = svg.PALETTE[cell.lanes[0] // 16 % len(svg.PALETTE)]
    return svg.shade(colour, 0.35) if cell.vgpr % 2 else colour


def _title(fragment: Fragment, cell: Cell) -> str:
    copies = f" (also in lanes {', '.join(map(str, cell.lanes[1:]))})" if len(cell.lanes) > 1 else ""
    return f"{cell.name(fragment.name, blocks=fragment.blocks > 1)} = {cell.place}{copies}"


def _follows(run: Sequence[tuple[int, Element]], element: Element, bit: int, width: int) -> bool:
    """Whether an element continues a run: the next bits, and the next row or the next column."""
    last_bit, last = run[-1]
    if bit == last_bit:
        return True
    if bit != last_bit + width or element.block != last.block:
        return False
    step = (element.row - last.row, element.col - last.col)
    if len(run) == 1:
        return step in ((0, 1), (1, 0))
    before = run[-2][1]
    return step == (last.row - before.row, last.col - before.col)


def _cell(run: Iterable[tuple[int, Element]], lanes: tuple[int, ...], vgpr: int, width: int) -> Cell:
    found = list(run)
    return Cell(tuple(element for _, element in found), lanes, vgpr, found[0][0], found[-1][0] + width - 1)


def _element(row: object) -> Element:
    return Element(*(int(row[name]) for name in ("row", "col", "block")))  # type: ignore[index]
