/** Which elements of the other operands belong to an element, and where they are, in words. */

import { runs } from "./dom.js";
import { digitValue } from "./layout.js";

/** Elements along k that share a scale. */
const SCALE_BLOCK = 32;

/** The range of k that a number of an axis stands for: k itself, a kept element's group of four, a scale's block. */
function rangeOf(letter, number) {
  if (letter === "s") return [4 * Math.floor(number / 2), 4 * Math.floor(number / 2) + 3];
  if (letter === "g") return [number * SCALE_BLOCK, number * SCALE_BLOCK + SCALE_BLOCK - 1];
  return [number, number];
}

/** The coordinates that an element fixes for the others: i, j, s, block, and a range of k. */
function fixed(fragment, at) {
  const [first, second] = fragment.axes;
  const known = { [first]: at.row, [second]: at.col };
  const summed = ["k", "s", "g"].find((letter) => letter in known);
  return { i: known.i, j: known.j, s: known.s, k: summed ? rangeOf(summed, known[summed]) : null, block: at.block };
}

/**
 * For every operand, the elements that belong to an element: its row of A, its column of B, their scales.
 * @returns {Object} by operand, a Set of element numbers.
 */
export function related(fragments, name, number) {
  const want = fixed(fragments[name], fragments[name].coordinatesOf(number));
  const found = {};
  for (const [other, fragment] of Object.entries(fragments)) {
    const numbers = new Set();
    const fits = (letter, value) => {
      if (letter === "i" || letter === "j") return want[letter] === undefined || want[letter] === value;
      if (letter === "s" && want.s !== undefined) return want.s === value;
      const [first, last] = rangeOf(letter, value);
      return !want.k || (first <= want.k[1] && last >= want.k[0]);
    };
    for (let n = 0; n < fragment.count; n++) {
      const at = fragment.coordinatesOf(n);
      if (at.block === want.block && fits(fragment.axes[0], at.row) && fits(fragment.axes[1], at.col)) numbers.add(n);
    }
    found[other] = numbers;
  }
  return found;
}

/** The name of an element, such as "D[5, 40]" or "D[5, 8] of block 1". */
export function elementName(fragment, number) {
  const { row, col, block } = fragment.coordinatesOf(number);
  return `${fragment.name}[${row}, ${col}]${fragment.blocks > 1 ? ` of block ${block}` : ""}`;
}

/** A place in words, such as "lane 40, v3, bits 15:0". */
export function placeText({ lane, vgpr, bit, width }) {
  if (width === 64) return `lane ${lane}, v[${vgpr}:${vgpr + 1}]`;
  const register = bit + width > 32 ? `v[${vgpr}:${vgpr + 1}]` : `v${vgpr}`;
  return `lane ${lane}, ${register}${width === 32 ? "" : `, bits ${bit + width - 1}:${bit}`}`;
}

/** Where a set of elements is: a line for each lane, with the numbers along the axis that varies and the registers. */
export function whereText(fragment, numbers) {
  const lanes = new Map();
  for (const number of numbers) {
    const { row, col, block } = fragment.coordinatesOf(number);
    for (const place of fragment.locate(row, col, block)) {
      if (!lanes.has(place.lane)) lanes.set(place.lane, []);
      lanes.get(place.lane).push({ row, col, place });
    }
  }
  return [...lanes].sort(([a], [b]) => a - b).map(([lane, held]) => {
    const rows = runs(held.map(({ row }) => row));
    const cols = runs(held.map(({ col }) => col));
    const registers = runs(held.flatMap(({ place }) => (place.bit + place.width > 32 ? [place.vgpr, place.vgpr + 1] : [place.vgpr])));
    const bits = held.length === 1 && held[0].place.width < 32 ? ` bits ${held[0].place.bit + held[0].place.width - 1}:${held[0].place.bit}` : "";
    return { lane, text: `${fragment.name}[${rows}; ${cols}] in v${registers}${bits}` };
  });
}

/** The digits of a layout with their values over a set of elements: a single value, or the values that occur. */
export function digitValues(fragment, numbers) {
  const list = [...numbers].slice(0, 4096).map((number) => {
    const { row, col, block } = fragment.coordinatesOf(number);
    return fragment.coordinates(row, col, block);
  });
  const of = (digit) => runs(list.map((at) => digitValue(digit, at)));
  const part = (digits) => {
    let weight = 1;
    return digits.map((digit) => {
      const found = { digit, weight, values: digit.letter === "r" ? runs([...Array(digit.radix).keys()]) : of(digit) };
      weight *= digit.radix;
      return found;
    });
  };
  return { lane: part(fragment.layout.lane), item: part(fragment.layout.item) };
}
