/** What is selected in the fragment view: an element, a lane or a byte of a lane, as typed and as in the address bar. */

import { within } from "./errors.js";
import { elementName } from "./relations.js";
import { value } from "./state.js";

/** Instructions of a tile along one axis for which an element outside of one instruction is still explained. */
const TILE = 16;
const ALONG = { i: "rows", j: "columns", k: "k", s: "kept elements", g: "blocks of k" };

/** The element that a text such as "D[5, 6]", "A[3, 12] of block 1" or "B[2, 7, 1]" (block last) names. */
export function parseElement(text, fragments, block) {
  const found = /^\s*([a-z]+(?:_[ab])?)?\s*[[(:]?\s*(\d+)\s*[,; ]\s*(\d+)\s*(?:(?:,|\]?\s*of\s+block)\s*(\d+))?\s*[\])]?\s*$/i.exec(text);
  if (!found) throw new Error(`'${text}' is not an element such as D[5, 6] or A[3, 12]${Object.values(fragments)[0].blocks > 1 ? " of block 1" : ""}`);
  const names = Object.keys(fragments);
  const name = names.find((one) => one.toLowerCase() === (found[1] ?? "D").toLowerCase());
  if (!name) throw new Error(`no operand '${found[1]}'; it has ${names.join(", ")}`);
  return atCoordinates(fragments[name], Number(found[2]), Number(found[3]), found[4] === undefined ? block : Number(found[4]));
}

/**
 * The selection of an element. One outside of the instruction is the element of a neighbour in a tile of several.
 * @returns {object} name, number; for a tile also `asked` (its address) and `notice` (what it is).
 */
function atCoordinates(fragment, row, col, block) {
  const { name, rows, cols, axes } = fragment;
  within(`block of ${name}`, block, fragment.blocks);
  if (row >= rows * TILE) within(`row of ${name}`, row, rows);
  if (col >= cols * TILE) within(`column of ${name}`, col, cols);
  const number = fragment.number(row % rows, col % cols, block);
  if (row < rows && col < cols) return { name, number };
  const parts = [[axes[0], row, rows], [axes[1], col, cols]].filter(([, at, size]) => at >= size);
  const where = parts.map(([letter, at, size]) => `number ${Math.floor(at / size)} along ${ALONG[letter]} (${ALONG[letter]} ${Math.floor(at / size) * size}–${Math.floor(at / size) * size + size - 1})`);
  return {
    name, number,
    asked: `${name}:${row},${col},${block}`,
    notice: `${name}[${row}, ${col}] is not in one instruction: ${name} is ${rows}×${cols}. In a tile of several instructions it is ${elementName(fragment, number)} of the instruction ${where.join(" and ")}, counted from 0, with registers of its own:`,
  };
}

/** A selected lane, or byte of a lane's registers, from texts; null if both are empty. */
export function parseLane(laneText, byteText, fragments, wave) {
  if (laneText === "" && byteText === "") return null;
  if (laneText === "") throw new Error(`byte ${byteText} of which lane? Lanes are 0..${wave - 1}`);
  const lane = within("lane", Number(laneText), wave);
  if (byteText === "") return { lane };
  return { lane, byte: within("byte", Number(byteText), 4 * Math.max(...Object.values(fragments).map((one) => one.vgprs))) };
}

/** What the address bar selects: "D:5,40,0" (operand, row, column, block), "lane:40" or "lane:40,5" (byte 5); or {problem}. */
export function readSelection({ sides: [{ fragments, op }] }, otherwise) {
  const text = value("sel", otherwise);
  if (!text) return null;
  const [name, rest = ""] = text.split(":");
  try {
    if (name === "lane") return parseLane(rest.split(",")[0], rest.split(",")[1] ?? "", fragments, op.wave);
    return parseElement(`${name} ${rest}`, fragments, 0);
  } catch (error) {
    return { problem: `The address selects '${text}': ${error.message}.`, asked: text };
  }
}

/** The text of a selection for the address bar. */
export function writeSelection(fragments, chosen) {
  if (!chosen) return "";
  if (chosen.asked) return chosen.asked;
  if ("lane" in chosen && !("name" in chosen)) return `lane:${chosen.lane}${"byte" in chosen ? `,${chosen.byte}` : ""}`;
  const { row, col, block } = fragments[chosen.name].coordinatesOf(chosen.number);
  return `${chosen.name}:${row},${col},${block}`;
}

/** Elements that have bits in a byte of a lane's registers. */
export function ofByte(fragment, lane, byte) {
  const found = new Set();
  if (byte >= 4 * fragment.vgprs) return found;
  for (let bit = 8 * byte; bit < 8 * byte + 8; bit++) for (const number of fragment.numbersAt(lane, bit >> 5, bit & 31)) found.add(number);
  return found;
}
