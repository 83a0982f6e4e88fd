/** Figures of the fragment view: the product and the registers of one instruction, as grids. */

import { groupColour, scaleColour } from "./colours.js";
import { element } from "./dom.js";
import { makeGrid } from "./grid.js";
import { value } from "./state.js";

/** Pixels of a panel beside its cells: the caption and the numbers at its edges, across and down. */
const [ACROSS, DOWN] = [34, 37];
const REGISTERS = 7;
/** Height of the legend, which is to the left of B, and the least width of a panel, for its caption. */
const [LEGEND, CAPTION] = [86, 92];
const NARROW = 760;
/** Pixels between the product and the registers beside it, and within the product. */
const GAPS = 40;

/** Figures of one side, with the grids in `side.grids`; `room`: width and height that they can take. */
export function figure(side, shared, room, info) {
  const { op, fragments, block } = side;
  const least = REGISTERS * op.wave + ACROSS;
  let cells = productCells(fragments, { width: room.width - least - GAPS, height: room.height });
  const beside = room.width > NARROW && cells.broad + GAPS + least <= room.width;
  if (!beside) cells = productCells(fragments, room);
  side.grids = [];
  const product = element("div", { class: "product" }, element("div", { class: "corner" }, legend(op)));
  for (const [name, fragment] of Object.entries(fragments)) {
    if (name === "C") continue; // C lies where D lies
    const made = matrixGrid(shared, side, fragment, block, cells);
    made.node.classList.add(`at-${name}`);
    product.append(made.node);
  }
  const left = beside ? room.width - cells.broad - GAPS : room.width;
  const wide = Math.max(beside ? REGISTERS : 5, Math.min(14, Math.floor((left - ACROSS) / op.wave)));
  const registers = element("div", { class: "registers" });
  for (const [name, fragment] of Object.entries(fragments)) {
    if (name !== "C") registers.append(registerGrid(shared, side, fragment, wide).node);
  }
  return element("div", { class: beside ? "figures" : "figures stacked" },
    element("div", { class: "scroll" }, product),
    element("div", { class: "beside" }, info, element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "registers" }, registers)));
}

/** Widths of cells of the product along i, j and along k, so that all of D fits into the room. */
function productCells({ A, B, D, scale_A: scaleA, scale_B: scaleB }, { width, height }) {
  const across = ACROSS * (scaleA ? 3 : 2);
  const down = DOWN * (scaleB ? 3 : 2);
  const broadOf = (plain, along) => across - ACROSS + Math.max(CAPTION, ACROSS + A.cols * along) + (D.cols + (scaleA?.cols ?? 0)) * plain;
  for (const least of [4, 2]) {
    for (let plain = 22; plain >= 5; plain--) {
      const byHeight = (height - down - (D.rows + (scaleB?.cols ?? 0)) * plain) / B.rows;
      const byWidth = (width - across - (D.cols + (scaleA?.cols ?? 0)) * plain) / A.cols;
      const along = Math.min(plain, Math.floor(2 * Math.min(byHeight, byWidth)) / 2);
      const high = down - DOWN + Math.max(LEGEND, DOWN + B.rows * along) + (D.rows + (scaleB?.cols ?? 0)) * plain;
      const broad = broadOf(plain, along);
      if (high <= height && broad <= width && along >= Math.min(plain, Math.max(least, plain / 4))) return { plain, along, broad };
    }
  }
  return { plain: 8, along: 3, broad: broadOf(8, 3) };
}

/** What the colours mean. */
function legend(op) {
  const how = value("colour", "group");
  const items = how === "group" ? Array.from({ length: Math.ceil(op.wave / 16) }, (_, n) => [groupColour(n), `lanes ${16 * n}–${16 * n + 15}`]) : [[scaleColour(0, 2), how === "lane" ? "lane 0" : "v0"], [scaleColour(1, 2), how === "lane" ? `lane ${op.wave - 1}` : "the last"]];
  return items.map(([colour, text]) => element("span", { class: "swatch" }, element("i", { style: `background:${colour}` }), text));
}

function colourOf(fragment, lane, bit) {
  const how = value("colour", "group");
  if (how === "lane") return scaleColour(lane, fragment.lanes);
  if (how === "register") return scaleColour(bit >> 5, fragment.vgprs);
  return groupColour(lane >> 4);
}

function matrixGrid(shared, side, fragment, block, cells) {
  const turned = fragment.name === "scale_B"; // its rows are columns of the product, so it lies on its side
  const [rows, cols] = turned ? [fragment.cols, fragment.rows] : [fragment.rows, fragment.cols];
  const numberAt = (row, col) => (turned ? fragment.number(col, row, block) : fragment.number(row, col, block));
  const { lane, bit } = fragment.places;
  const first = (row, col) => numberAt(row, col) * fragment.replicas;
  const [down, over] = turned ? [...fragment.axes].reverse() : fragment.axes;
  const size = (letter) => ("ks".includes(letter) ? cells.along : cells.plain);
  const cell = [size(over), size(down)];
  const made = makeGrid({
    title: `${fragment.name} (${fragment.format}): rows ${down}, columns ${over}`,
    caption: `${fragment.name === "D" ? "D, C" : fragment.name} ${fragment.format}, ${down}×${over}`,
    rows, cols, cell,
    colour: (row, col) => colourOf(fragment, lane[first(row, col)], bit[first(row, col)]),
    label: (row, col) => (Math.min(...cell) >= 14 ? String(lane[first(row, col)]) : ""),
    point: (row, col, kind) => shared.point(kind, row < 0 ? null : { name: fragment.name, number: numberAt(row, col) }),
  });
  side.grids.push({ ...made, marks: (state) => (row, col) => state(fragment, numberAt(row, col)) });
  return made;
}

function registerGrid(shared, side, fragment, wide) {
  const step = fragment.width;
  const rows = Math.floor((fragment.vgprs * 32) / step);
  const { starts, span } = fragment;
  const at = (row, lane) => starts.get(lane * span + row * step);
  const perRegister = 32 / step;
  const high = Math.max(5, Math.min(12, Math.floor(200 / rows)));
  const made = makeGrid({
    title: `registers of ${fragment.name}: ${fragment.vgprs} VGPR${fragment.vgprs > 1 ? "s" : ""}, a column for each lane`,
    rows,
    cols: fragment.lanes,
    cell: [wide, high],
    colour: (row, lane) => (at(row, lane) ? colourOf(fragment, lane, row * step) : null),
    rowName: (row) => ((row * step) % 32 === 0 && (high * perRegister >= 9 || ((row * step) / 32) % 4 === 0) ? `v${(row * step) / 32}` : ""),
    groups: Array.from({ length: fragment.vgprs + 1 }, (_, n) => n * perRegister).filter(Number.isInteger),
    point: (row, lane, kind) => {
      const held = row < 0 ? null : at(row, lane);
      if (row < 0) shared.point(kind, { lane });
      else shared.point(kind, held ? { name: fragment.name, number: held[0], lane } : null);
    },
  });
  side.grids.push({
    ...made,
    // Bits that the instruction does not read belong to no element.
    marks: (state) => (row, column) => Math.max(0, ...(at(row, column) ?? []).map((number) => state(fragment, number, column))),
  });
  return made;
}
