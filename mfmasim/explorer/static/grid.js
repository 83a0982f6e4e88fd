/** A grid of cells on a canvas, with numbers along its edges, a pointer and a keyboard cursor. */

import { element } from "./dom.js";
import { inkOn, inks } from "./colours.js";

const EDGE = 26;
const HEAD = 16;
/** Of numbers in cells and at edges. */
export const FONT = "9px ui-monospace, Menlo, Consolas, monospace";

/**
 * Make a grid.
 * @param {object} given - title; caption: a shorter title; rows, cols; cell: [width, height]; colour(row, col): fill or null; label(row, col);
 *     rowName(row), colName(col): texts at the edges; every: which columns have a number; point(row, col, kind): called
 *     with kind "hover", "click" or "leave", row -1 on the head of a column; groups: rows after which a line is drawn.
 * @returns {{node: HTMLElement, draw: function}} draw(marks) with marks(row, col) -> 0 none, 1 related, 2 marked.
 */
export function makeGrid(given) {
  const { rows, cols, cell } = given;
  const [wide, high] = cell;
  const width = Math.ceil(EDGE + cols * wide + 1);
  const height = Math.ceil(HEAD + rows * high + 1);
  const canvas = element("canvas", { tabindex: "0", role: "application", "aria-label": given.title, class: "grid" });
  const ratio = Math.max(1, window.devicePixelRatio || 1);
  canvas.width = Math.ceil(width * ratio);
  canvas.height = Math.ceil(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const base = document.createElement("canvas");
  [base.width, base.height] = [canvas.width, canvas.height];
  paint(base.getContext("2d"), given, ratio);

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) * width) / box.width - EDGE;
    const y = ((event.clientY - box.top) * height) / box.height - HEAD;
    const col = Math.floor(x / wide);
    const row = y < 0 ? -1 : Math.floor(y / high);
    return col >= 0 && col < cols && row < rows ? [row, col] : null;
  };
  let cursor = [0, 0];
  const send = (place, kind) => place && given.point(...place, kind);
  canvas.addEventListener("pointermove", (event) => send(at(event), "hover"));
  canvas.addEventListener("pointerleave", () => given.point(0, 0, "leave"));
  canvas.addEventListener("click", (event) => {
    const place = at(event);
    if (place) cursor = [Math.max(0, place[0]), place[1]];
    send(place, "click");
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (step) {
      cursor = [Math.min(rows - 1, Math.max(0, cursor[0] + step[0])), Math.min(cols - 1, Math.max(0, cursor[1] + step[1]))];
      send(cursor, "hover");
    } else if (event.key === "Enter" || event.key === " ") send(cursor, "click");
    else if (event.key === "Escape") given.point(0, 0, "clear");
    else return;
    event.preventDefault();
  });

  const draw = (marks) => {
    const pen = canvas.getContext("2d");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(base, 0, 0);
    if (marks) overlay(pen, given, marks, ratio);
  };
  draw(null);
  const node = element("figure", { class: "panel" }, element("figcaption", { style: `max-width:${Math.max(width, 90)}px` }, given.caption ?? given.title), canvas);
  return { node, draw, canvas };
}

function paint(pen, given, ratio) {
  const { rows, cols, cell: [wide, high] } = given;
  const ink = inks();
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.fillStyle = ink.paper;
  pen.fillRect(0, 0, EDGE + cols * wide + 1, HEAD + rows * high + 1);
  pen.font = FONT;
  pen.textBaseline = "middle";
  const gap = wide > 4 && high > 4 ? 0.5 : 0;
  for (let row = 0; row < rows; row++) {
    for (let col = 0; col < cols; col++) {
      const fill = given.colour(row, col);
      if (!fill) continue;
      pen.fillStyle = fill;
      // Whole pixels, so that narrow cells have no seams.
      const [left, top] = [Math.round(col * wide), Math.round(row * high)];
      pen.fillRect(EDGE + left + gap, HEAD + top + gap, Math.round((col + 1) * wide) - left - gap, Math.round((row + 1) * high) - top - gap);
      const label = given.label?.(row, col);
      if (label) {
        pen.fillStyle = inkOn(fill);
        pen.textAlign = "center";
        pen.fillText(label, EDGE + (col + 0.5) * wide, HEAD + (row + 0.5) * high, wide - 1);
      }
    }
  }
  pen.fillStyle = ink.faint;
  pen.textAlign = "right";
  const everyRow = Math.max(1, Math.ceil(10 / high));
  for (let row = 0; row < rows; row++) {
    const text = given.rowName?.(row) ?? (row % everyRow ? "" : String(row));
    if (text) pen.fillText(text, EDGE - 3, HEAD + (row + 0.5) * high);
  }
  pen.textAlign = "center";
  const everyCol = 2 ** Math.max(0, Math.ceil(Math.log2(18 / wide)));
  for (let col = 0; col < cols; col++) {
    const text = given.colName?.(col) ?? (col % everyCol ? "" : String(col));
    if (text) pen.fillText(text, EDGE + (col + 0.5) * wide, HEAD / 2);
  }
  pen.fillStyle = ink.faint;
  for (const row of given.groups ?? []) pen.fillRect(EDGE, HEAD + row * high - 0.5, cols * wide, 1);
}

function overlay(pen, given, marks, ratio) {
  const { rows, cols, cell: [wide, high] } = given;
  const ink = inks();
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const kinds = [[], [], [], []];
  for (let row = 0; row < rows; row++) for (let col = 0; col < cols; col++) kinds[marks(row, col)].push([row, col]);
  pen.globalAlpha = 0.62;
  pen.fillStyle = ink.paper;
  if (kinds[1].length || kinds[2].length) {
    pen.beginPath();
    for (const [row, col] of kinds[0]) pen.rect(EDGE + col * wide, HEAD + row * high, wide, high);
    pen.fill();
  }
  pen.globalAlpha = 1;
  if (given.label && kinds[0].length && (kinds[1].length || kinds[2].length)) {
    [pen.fillStyle, pen.font, pen.textBaseline, pen.textAlign] = [ink.text, FONT, "middle", "center"];
    for (const [row, col] of kinds[0]) pen.fillText(given.label(row, col), EDGE + (col + 0.5) * wide, HEAD + (row + 0.5) * high, wide - 1);
  }
  const outline = (list, colour, line) => {
    pen.strokeStyle = colour;
    pen.lineWidth = line;
    for (const [row, col] of list) {
      pen.strokeRect(EDGE + col * wide + line / 2, HEAD + row * high + line / 2, wide - line, high - line);
    }
  };
  outline(kinds[1], ink.related, wide > 6 && high > 6 ? 1.5 : 1);
  outline(kinds[2], ink.mark, wide > 6 && high > 6 ? 2.5 : 2);
  pen.strokeStyle = ink.mark;
  pen.lineWidth = 1;
  for (const [row, col] of kinds[3]) { // a difference: a stroke across the cell
    pen.beginPath();
    pen.moveTo(EDGE + col * wide + 1, HEAD + (row + 1) * high - 1);
    pen.lineTo(EDGE + (col + 1) * wide - 1, HEAD + row * high + 1);
    pen.stroke();
  }
}
