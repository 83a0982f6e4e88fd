/** Puzzles: what is right, from the layouts and phase tables of the page, and what is wrong about an answer. */

import { own, unknown } from "./errors.js";
import { parseExpression } from "./expression.js";
import { encode, findFormat } from "./formats.js";
import { findAccess, phases } from "./lds.js";
import { whyConflicts } from "./lds_reason.js";
import { findInstruction, operand } from "./matrix.js";
import { mistake } from "./puzzle_hints.js";

/** What a teacher can ask about an operand. */
export const ASKS = {
  element: "which element a lane holds", place: "which lane holds an element",
  bits: "the register and bit of an element", index: "the index that a lane loads from",
};

/** A puzzle by its name, or one that is given. */
export function findPuzzle(data, given) {
  if (typeof given === "object") return given;
  const found = data.puzzles.find((one) => one.id === given);
  if (!found) throw unknown("puzzle", given, data.puzzles.map((one) => one.id));
  return found;
}

/** The operand that a puzzle is about. */
export function puzzleOperand(data, puzzle) {
  const { a, b } = puzzle;
  return operand(findInstruction(data, puzzle.arch, puzzle.op, { a: a || undefined, b: b || undefined }), puzzle.operand);
}

const QUESTIONS = { element: ofElements, index: ofElements, place: ofPlaces, bits: ofPlaces, code: ofCodes, direct: ofDirect, transposed: ofTransposed, banks: ofBanks };

/** Fields that a puzzle can ask about an operand. */
export function fieldsOf(ask, fragment) {
  return own({ element: [...fragment.axes], place: ["lane", "n"], bits: ["vgpr", "bit"], index: ["index"] }, ask);
}

/**
 * What a puzzle asks.
 * @returns {object} names: of the formulas; fields; rows, cols: of the grid that is coloured; over, down: what its axes
 *     are; slots: by row and column, each {names, want: the accepted values of each field, or null if any without
 *     conflicts}; null where there is no slot.
 */
export function slotsOf(data, puzzle) {
  const make = QUESTIONS[puzzle.ask];
  if (!make) throw unknown("question", puzzle.ask, Object.keys(QUESTIONS));
  return make(data, puzzle);
}

function ofElements(data, puzzle) {
  const fragment = puzzleOperand(data, puzzle);
  const { width, axes, starts, span } = fragment;
  const { offset, stride } = fragment.layout;
  const held = (lane, n) => starts.get(lane * span + offset + n * stride);
  const fields = puzzle.fields ?? fieldsOf(puzzle.ask, fragment);
  const slots = [];
  let count = Math.floor((fragment.vgprs * 32) / width);
  const lanes = Array.from({ length: fragment.lanes }, (_, lane) => lane);
  while (count > 1 && !lanes.some((lane) => held(lane, count - 1))) count--; // bits that are not read
  for (let n = 0; n < count; n++) {
    for (const lane of lanes) {
      const found = held(lane, n);
      const at = found && fragment.coordinatesOf(found[0]);
      const known = at && { [axes[0]]: at.row, [axes[1]]: at.col, index: puzzle.order === "column" ? at.col * puzzle.pitch + at.row : at.row * puzzle.pitch + at.col };
      slots.push(found ? { names: count > 1 ? { lane, n } : { lane }, want: [fields.map((field) => known[field])] } : null);
    }
  }
  return { names: count > 1 ? ["lane", "n"] : ["lane"], fields, rows: count, cols: fragment.lanes, over: "lane", down: "n", slots };
}

function ofPlaces(data, puzzle) {
  const fragment = puzzleOperand(data, puzzle);
  const fields = puzzle.fields ?? fieldsOf(puzzle.ask, fragment);
  const [down, over] = fragment.axes;
  const slots = [];
  for (let row = 0; row < fragment.rows; row++) {
    for (let col = 0; col < fragment.cols; col++) {
      const want = fragment.locate(row, col, 0).map(({ lane, vgpr, bit }) => {
        const known = { lane, vgpr, bit, n: (32 * vgpr + bit - fragment.layout.offset) / fragment.layout.stride };
        return fields.map((field) => known[field]);
      });
      slots.push({ names: { [down]: row, [over]: col }, want });
    }
  }
  return { names: [down, over], fields, rows: fragment.rows, cols: fragment.cols, over, down, slots };
}

function ofCodes(data, puzzle) {
  const format = findFormat(data, puzzle.format);
  const slots = [];
  for (let e = puzzle.from; e <= puzzle.to; e++) slots.push({ names: { e }, want: [[Number(encode(format, String(2 ** e)).code)]] });
  return { names: ["e"], fields: puzzle.fields, rows: 1, cols: slots.length, over: "e", first: puzzle.from, slots };
}

/** Chunk that belongs to each place, found by asking every chunk where it belongs. */
function ofDirect(data, { rows, chunks, swizzle, fields }) {
  const order = parseExpression(swizzle);
  const slots = new Array(rows * chunks).fill(null);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < chunks; column++) {
      const place = chunks * row + (column ^ order({ row }));
      slots[place] = { names: { p: place }, want: [[chunks * row + column]] };
    }
  }
  return { names: ["p"], fields, rows, cols: chunks, over: "p % 8", down: "p // 8", slots };
}

/** Sixteen lanes read a tile of `count` rows and 16 columns by rows; lane t of them receives column t. */
function ofTransposed(data, { count, lanes, fields }) {
  const slots = [];
  for (let n = 0; n < count; n++) {
    for (let lane = 0; lane < lanes; lane++) {
      const read = 16 * n + (lane % 16);
      slots.push({ names: { lane, n }, want: [[lane - (lane % 16) + Math.floor(read / count), read % count]] });
    }
  }
  return { names: ["lane", "n"], fields, rows: count, cols: lanes, over: "lane", down: "n", slots };
}

function ofBanks(data, puzzle) {
  const [cols, rows] = [findAccess(data, puzzle.arch, puzzle.ds).waves[0], puzzle.steps ?? 1];
  const names = puzzle.names ?? [];
  const known = names.map((name) => [name, parseExpression(puzzle[name] ?? name)]);
  const slots = Array.from({ length: rows * cols }, (_, n) => {
    const at = { lane: n % cols, step: Math.floor(n / cols) };
    return { names: { ...at, ...Object.fromEntries(known.map(([name, formula]) => [name, formula(at)])) }, want: null };
  });
  return { names, fields: puzzle.fields, rows, cols, over: "lane", down: "step", slots };
}

/** `/` between whole numbers rounds down, as in HIP. */
export function parseAnswer(text) {
  return parseExpression(text.replace(/(?<!\/)\/(?!\/)/g, "//"));
}

/** The texts of an answer, by field: a text for a single field, or an object. */
function textsOf(fields, answer) {
  const texts = typeof answer === "object" ? fields.map((field) => answer[field] ?? "") : [answer];
  fields.forEach((field, n) => {
    if (!String(texts[n] ?? "").trim()) throw new Error(`a formula for ${field} is missing`);
  });
  return texts.map(String);
}

/**
 * Check an answer.
 * @param {string|object} given - the name of a puzzle, or a puzzle.
 * @param {string|object} answer - a formula, or one for each field.
 * @returns {object} solved; right, of: how many slots; slots: true, false or null for each; got: the values; message: the
 *     first wrong slot in words; pattern: what explains the wrong ones, or ""; extra: passes, of puzzles about banks.
 */
export function checkPuzzle(data, given, answer) {
  const puzzle = findPuzzle(data, given);
  const asked = slotsOf(data, puzzle);
  const formulas = textsOf(asked.fields, answer).map(parseAnswer);
  if (puzzle.ask === "banks") return checkBanks(data, puzzle, asked, formulas[0]);
  const got = asked.slots.map((slot) => slot && formulas.map((one) => one(slot.names)));
  const slots = asked.slots.map((slot, n) => slot && slot.want.some((want) => want.every((value, k) => value === got[n][k])));
  const every = slots.filter((one) => one !== null);
  const first = slots.indexOf(false);
  const at = (values) => asked.fields.map((field, k) => `${field} = ${values[k]}`).join(", ");
  return {
    solved: first < 0, right: every.filter(Boolean).length, of: every.length, slots, got,
    message: first < 0 ? "" : `${placeOf(asked.slots[first].names)}: your formula gives ${at(got[first])}; right is ${asked.slots[first].want.map(at).join(" or ")}.`,
    pattern: first < 0 ? "" : mistake(data, puzzle, asked, got, slots),
  };
}

/** Names with their values, such as "lane 5, n 0". */
function placeOf(names) {
  return Object.entries(names).map(([name, value]) => `${name} ${value}`).join(", ");
}

/** A padding or a swizzle is right if no lane needs a further pass. */
function checkBanks(data, puzzle, asked, answer) {
  const [field] = asked.fields;
  const access = findAccess(data, puzzle.arch, puzzle.ds);
  const [row, column, address] = [puzzle.row ?? "0", puzzle.column ?? "0", puzzle.address].map(parseExpression);
  const slots = [];
  let [extra, message] = [0, ""];
  for (let step = 0; step < asked.rows; step++) {
    const addresses = Array.from({ length: asked.cols }, (_, lane) => {
      const names = { lane, step };
      [names.row, names.column] = [row(names), column(names)];
      const value = answer(Object.fromEntries(asked.names.map((name) => [name, names[name]])));
      if (value < 0 || value > puzzle.most || value % puzzle.unit) {
        const on = asked.names.map((name) => `${name} ${names[name]}`).join(", ");
        throw new Error(`${field}${on ? ` of ${on}` : ""} is ${value}; allowed are ${puzzle.unit > 1 ? `multiples of ${puzzle.unit} from ` : ""}0 to ${puzzle.most}`);
      }
      return address({ ...names, [field]: value });
    });
    const found = phases(data, access, addresses);
    const waits = new Set(found.flatMap((phase) => [...phase.banks.values()].flatMap((dwords) => [...dwords.values()].slice(1).flat())));
    for (let lane = 0; lane < asked.cols; lane++) slots.push(!waits.has(lane));
    extra += found.reduce((sum, phase) => sum + Math.max(0, phase.degree - 1), 0);
    message ||= whyConflicts(access, addresses, found);
  }
  return { solved: extra === 0, right: slots.filter(Boolean).length, of: slots.length, slots, got: null, extra, message, pattern: "" };
}
