/** What explains wrong answers to a puzzle, and hints that lead to the right one. */

import { operand, findInstruction } from "./matrix.js";
import { digitsValue } from "./layout.js";

/** Exchanges of a name's value that typical mistakes make. */
const CHANGES = [
  ["n", (n) => n ^ 1, "neighbouring elements are exchanged: n and n ^ 1"],
  ["n", (n) => n ^ 3, "four elements are in the opposite order: n and n ^ 3"],
  ["lane", (lane) => lane ^ 16, "groups of 16 lanes are exchanged: lane and lane ^ 16"],
  ["lane", (lane) => lane ^ 32, "the halves of the wave are exchanged: lane and lane ^ 32"],
];

/**
 * A pattern that explains every wrong slot, or "".
 * @param {object} asked - as `slotsOf` gives it.
 * @param {Array} got - values of each slot.
 * @param {Array} right - whether each slot is right.
 */
export function mistake(data, puzzle, asked, got, right) {
  const every = asked.slots.map((slot, n) => slot && { ...slot, got: got[n], right: right[n] }).filter(Boolean);
  const explains = (accepts) => every.every((slot) => slot.right || slot.want.some((want) => accepts(slot, want)));
  const fields = asked.fields;
  if (fields.length === 2 && explains(({ got: [a, b] }, want) => a === want[1] && b === want[0])) return `${fields[0]} and ${fields[1]} are exchanged.`;
  const same = new Set(every.map(({ got: values }) => values.join()));
  if (same.size === 1 && every.length > 1) return "The formula gives the same for every slot: it has to depend on its names.";
  const byName = changed(every, asked);
  if (byName) return byName;
  for (const [k, field] of fields.entries()) {
    const wrong = every.filter((slot) => slot.want.every((want) => want[k] !== slot.got[k]));
    if (!wrong.length) continue;
    const others = fields.filter((_, other) => other !== k && every.every((slot) => slot.want.some((want) => want[other] === slot.got[other])));
    const lead = others.length ? `${others.join(", ")} ${others.length > 1 ? "are" : "is"} right. ` : "";
    const offsets = new Set(wrong.map((slot) => slot.got[k] - slot.want[0][k]));
    if (wrong.length === every.length && offsets.size === 1) return `${lead}${field} is ${Math.abs([...offsets][0])} too ${[...offsets][0] > 0 ? "large" : "small"} everywhere.`;
    for (const factor of [2, 4, 8, 16, 32]) {
      if (wrong.every((slot) => slot.got[k] * factor === slot.want[0][k])) return `${lead}${field} is too small by a factor of ${factor} wherever it is wrong.`;
      if (wrong.every((slot) => slot.got[k] === slot.want[0][k] * factor)) return `${lead}${field} is too large by a factor of ${factor} wherever it is wrong.`;
    }
    const least = Math.min(...wrong.map((slot) => slot.want[0][k]), ...every.map((slot) => slot.want[0][k]));
    const most = Math.max(...every.map((slot) => slot.want[0][k]));
    const other = layoutOfAnother(data, puzzle, asked, got);
    if (other) return `This is the layout of ${other}.`;
    const outside = every.find((slot) => slot.got[k] < least || slot.got[k] > most);
    if (outside) return `${lead}${field} takes the value ${outside.got[k]}, outside of ${least} to ${most}: a part of the formula is missing // or %.`;
    for (const name of asked.names) {
      const values = (list) => new Set(list.map((slot) => slot.names[name]));
      const [bad, good] = [values(wrong), values(every.filter((slot) => !wrong.includes(slot)))];
      if (![...bad].some((value) => good.has(value)) && good.size) return `${lead}${field} is wrong exactly where ${name} is ${listed([...bad])}.`;
    }
    if (lead) return `${lead}${field} is wrong in ${wrong.length} of ${every.length} slots.`;
  }
  return "";
}

function changed(every, asked) {
  const key = (names) => asked.names.map((name) => names[name]).join();
  const wanted = new Map(every.map((slot) => [key(slot.names), slot.want]));
  for (const [name, change, text] of CHANGES) {
    if (!asked.names.includes(name)) continue;
    const fits = every.every((slot) => wanted.get(key({ ...slot.names, [name]: change(slot.names[name]) }))?.some((want) => want.join() === slot.got.join()));
    if (fits) return `${text[0].toUpperCase()}${text.slice(1)}.`;
  }
  for (const [k, field] of asked.fields.entries()) {
    for (const [name, change, text] of CHANGES) {
      if (name !== field) continue;
      if (every.every((slot) => slot.want.some((want) => want.every((value, n) => (n === k ? change(value) : value) === slot.got[n])))) return `${text[0].toUpperCase()}${text.slice(1)}.`;
    }
  }
  return "";
}

function listed(values) {
  const shown = [...values].sort((a, b) => a - b);
  return shown.length > 4 ? `${shown.slice(0, 3).join(", ")}, …, ${shown.at(-1)}` : shown.join(" or ");
}

/** Another instruction whose layout of the same operand the answer describes, or "". */
function layoutOfAnother(data, puzzle, asked, got) {
  if (!["place", "element"].includes(puzzle.ask)) return "";
  const tried = new Set();
  for (const [arch, target] of Object.entries(data.archs)) {
    for (const { name, alias, shape, operands } of target.matrix) {
      const [, , , axes, layout] = Object.values(operands[target.waves[0]][puzzle.operand] ?? {})[0] ?? [];
      if ((arch === puzzle.arch && [name, alias].includes(puzzle.op)) || shape[3] !== 1 || layout === undefined) continue;
      const key = `${layout} ${axes} ${shape}`;
      if (tried.has(key)) continue;
      tried.add(key);
      const other = operand(findInstruction(data, arch, name), puzzle.operand);
      if (describes(other, puzzle, asked, got)) return `${puzzle.operand} of ${name} on ${arch}`;
    }
  }
  return "";
}

function describes(other, puzzle, asked, got) {
  const letters = [...other.axes];
  return asked.slots.every((slot, n) => {
    if (!slot) return true;
    if (puzzle.ask === "element") {
      const { lane, n: item = 0 } = slot.names;
      const held = other.starts.get(lane * other.span + other.layout.offset + item * other.layout.stride);
      if (!held) return false;
      const { row, col } = other.coordinatesOf(held[0]);
      const known = { [letters[0]]: row, [letters[1]]: col };
      return asked.fields.every((field, k) => known[field] === got[n][k]);
    }
    const at = { b: 0, r: 0, ...slot.names };
    if (!letters.every((letter) => letter in at) || at[letters[0]] >= other.rows || at[letters[1]] >= other.cols) return false;
    const known = { lane: digitsValue(other.layout.lane, at), n: digitsValue(other.layout.item, at) };
    return asked.fields.every((field, k) => known[field] === got[n][k]);
  });
}

/** Hints, one after the other: which names each part depends on, then the digits of the layout. */
export function hintsOf(puzzle, fragment) {
  if (!fragment) {
    return {
      code: ["The exponent's field holds e plus the bias of the format.", "Shift it above the bits of the mantissa, which are 0 for a power of two."],
      direct: ["An exclusive-or undoes itself: place ^ f is the column.", "p // 8 is the row and p % 8 the place in it."],
      transposed: ["Number the elements of 16 lanes in the order in which they are read: element m of lane t is number t * count + m.", "Lane t receives column t: its element n is number 16 * n + t."],
      banks: ["Look at two lanes that meet in one bank: what has to differ between them?", "Rows that begin in the same bank need different values; as many as meet in one phase."],
    }[puzzle.ask];
  }
  const say = (name, digits) => (digits.length ? `${name} is made of ${digits.length === 1 ? "one digit" : `${digits.length} digits`}: ${digits.map(({ text, radix }) => `${text} (${radix} values)`).join(", then ")}` : `${name} is always 0`);
  const { lane, item } = fragment.layout;
  const from = [...new Set([...lane, ...item].map(({ letter }) => letter))].filter((letter) => letter !== "r");
  const copies = lane.some(({ letter }) => letter === "r") ? " Lanes that differ in digit r hold copies." : "";
  return [
    `Lane and n are made of parts of ${from.join(" and ")}: find which part changes from one lane to the next, and which from one element of a lane to the next.`,
    `${say("The lane", lane)}.${copies}`,
    `${say("n, the number of an element in its lane,", item)}. Each digit counts after those before it.`,
  ];
}
