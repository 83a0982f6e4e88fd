/** Puzzles that a teacher makes: a form whose values are the page's address, and the puzzle of an address. */

import { own } from "./errors.js";
import { choice, copyButton, element, field } from "./dom.js";
import { findInstruction, operandNames } from "./matrix.js";
import { ASKS, checkPuzzle, fieldsOf, findPuzzle, puzzleOperand } from "./puzzle.js";
import { change, value } from "./state.js";

const BANKS = "banks";
const ASKABLE = { ...ASKS, [BANKS]: "a padding or a swizzle without bank conflicts" };
/** Values of a puzzle about banks, by their names in the address: what the form calls them, and a first example. */
const BANK_FIELDS = {
  field: ["unknown", "pad"], names: ["depends on (row, or nothing)", ""], row: ["row", "lane % 32"], column: ["column", "lane // 32"],
  address: ["byte address", "lane % 32 * (128 + pad)"], most: ["at most", "16"], unit: ["multiple of", "4"], steps: ["steps", "1"],
};
/** Whether the form is open: who follows a link sees it closed. */
let opened = false;
const bankValue = (name) => value(name, BANK_FIELDS[name][1]);

/** The access that the address names, or a read of a dword. */
function accessOf(data) {
  const names = own(data.archs, value("arch", "gfx950"))?.lds.instructions.map(([name]) => name) ?? [];
  return value("ds", names.find((name) => /^ds_(read|load)_b32$/.test(name)) ?? names[0]);
}

/** The puzzle that the address names: one of the list, or one that a teacher made. */
export function chosenPuzzle(data) {
  const ask = value("ask", "element");
  if (ask === BANKS) return banksPuzzle(data);
  if (!value("op")) return findPuzzle(data, value("id", data.puzzles[0].id));
  const [arch, op, which] = [value("arch", "gfx950"), value("op"), value("operand", "A")];
  const made = { id: `${arch} ${op} ${which} ${ask} ${value("fields")}`, arch, op, operand: which, ask, a: value("a"), b: value("b") };
  const fragment = puzzleOperand(data, made);
  const all = fieldsOf(ask, fragment) ?? [];
  made.fields = value("fields") ? value("fields").split(",").filter((one) => all.includes(one)) : all;
  if (!made.fields.length) throw new Error(`fields '${value("fields")}' are not within ${all.join(", ")}`);
  made.pitch = Number(value("pitch", fragment.cols)) || fragment.cols;
  made.title = value("title") || `${which} of ${op}`;
  made.text = value("text") || `On ${arch}: ${ASKS[ask]}?`;
  return made;
}

/** A question about the addresses of an LDS access: a number, or a function of the row. */
function banksPuzzle(data) {
  const within = (name, least, most) => {
    const number = Number(bankValue(name));
    if (!Number.isInteger(number) || number < least || number > most) throw new Error(`${BANK_FIELDS[name][0]}: ${bankValue(name)} is not a whole number from ${least} to ${most}`);
    return number;
  };
  const [arch, ds, unknown, names] = [value("arch", "gfx950"), accessOf(data), bankValue("field"), bankValue("names").trim()];
  if (!/^[a-z]\w*$/.test(unknown) || ["lane", "step", "row", "column"].includes(unknown)) throw new Error(`'${unknown}' cannot name what is asked: letters, and not lane, step, row, column`);
  if (!["", "row"].includes(names)) throw new Error(`depends on '${names}': it is row, or nothing`);
  const made = { ask: BANKS, arch, ds, fields: [unknown], names: names ? [names] : [], row: bankValue("row"), column: bankValue("column"), address: bankValue("address"), most: within("most", 1, 4096), unit: within("unit", 1, 4096), steps: within("steps", 1, 16) };
  const range = `${made.unit > 1 ? `a multiple of ${made.unit} ` : ""}from 0 to ${made.most}`;
  return {
    ...made, id: JSON.stringify(made), title: value("title") || `Banks of ${ds}`,
    text: value("text") || `On ${arch}, the lanes of ${ds} access the bytes ${made.address}${made.address.includes("row") ? `, where row is ${made.row} and column is ${made.column}` : ""}. Which ${unknown}${names ? `(${names})` : ""}, ${range}, avoids all conflicts?`,
  };
}

/** Whether a puzzle about banks can be solved: its numbers are tried; a function is left to the teacher. */
function solvable(data, puzzle) {
  if (puzzle.names.length) return "Type a solution above to see that there is one.";
  const tried = Array.from({ length: Math.floor(puzzle.most / puzzle.unit) + 1 }, (_, n) => n * puzzle.unit);
  const right = tried.filter((one) => checkPuzzle(data, puzzle, String(one)).solved);
  return right.length ? `${right.length} of ${tried.length} values are right.` : `None of the ${tried.length} values avoids all conflicts: change the addresses or the range.`;
}

/** A form that makes a puzzle: its link is the puzzle. */
export function teacher(data) {
  const arch = value("arch", "gfx950");
  const ask = value("ask", "element");
  const rows = own(data.archs, arch)?.matrix ?? [];
  const made = Boolean(value("op")) || ask === BANKS;
  const op = rows.find((row) => row.name === value("op"))?.name ?? rows.find((row) => row.shape[0] === 16)?.name ?? "";
  const set = (values) => change(ask === BANKS ? { id: "", arch, ask, ...values } : { id: "", arch, op, operand: value("operand", "A"), ask, ...values });
  let said = null;
  try {
    said = ask === BANKS ? solvable(data, chosenPuzzle(data)) : null;
  } catch { /* the view says what is wrong with the address */ }
  return element("details", { class: "teacher", open: opened },
    // At once: "toggle" comes later, and a change before it would close the form.
    element("summary", { click: (event) => (opened = !event.currentTarget.parentElement.open) }, "make a puzzle"),
    element("div", { class: "controls" },
      choice("architecture", "teach-arch", Object.keys(data.archs), arch, (found) => set({ arch: found, ds: "", ...(ask === BANKS ? {} : { op: data.archs[found].matrix.find((row) => row.shape[0] === 16).name }), operand: "A", fields: "", a: "" })),
      choice("asked", "teach-ask", Object.entries(ASKABLE), ask, (found) => change({ arch, ask: found, ...(found === BANKS ? {} : { op, operand: value("operand", "A") }) }, { fresh: true })),
      ask === BANKS ? bankControls(data, arch, set) : operandControls(data, { arch, op, ask, rows }, set),
      field("title", "teach-title", value("title"), (found) => set({ title: found }), { size: "24" }),
      field("question", "teach-text", value("text"), (found) => set({ text: found }), { size: "48" })),
    said ? element("p", { class: "solvable" }, said) : null,
    made ? element("p", {}, "The address of this page is the puzzle: ", copyButton(location.href)) : element("p", { class: "hint" }, "Choose what is asked: the address of the page is then the puzzle, to be sent as a link."));
}

function bankControls(data, arch, set) {
  const accesses = own(data.archs, arch)?.lds.instructions.map(([name]) => name) ?? [];
  return [
    choice("access", "teach-ds", accesses, accessOf(data), (found) => set({ ds: found })),
    ...Object.entries(BANK_FIELDS).map(([name, [label]]) => field(label, `teach-${name}`, bankValue(name), (found) => set({ [name]: found }), { size: String(name === "address" ? 36 : Math.max(4, bankValue(name).length)) })),
  ];
}

function operandControls(data, { arch, op, ask, rows }, set) {
  let names = ["A"];
  let fields = [];
  try {
    names = operandNames(findInstruction(data, arch, op, {}));
    fields = fieldsOf(ask, puzzleOperand(data, { arch, op, operand: value("operand", "A") })) ?? [];
  } catch { /* the view says what is wrong with the address */ }
  const which = names.includes(value("operand")) ? value("operand") : "A";
  const subsets = fields.length > 1 ? [["", fields.join(" and ")], ...fields.map((one) => [one, one])] : [["", fields.join()]];
  return [
    choice("instruction", "teach-op", rows.map((row) => row.name), op, (found) => set({ op: found, operand: "A", fields: "", a: "" })),
    choice("operand", "teach-operand", names, which, (found) => set({ operand: found, fields: "" })),
    choice("fields", "teach-fields", subsets, value("fields"), (found) => set({ fields: found })),
    ask === "index" ? field("elements of a row", "teach-pitch", value("pitch"), (found) => set({ pitch: found }), { type: "number", min: "1" }) : null,
  ];
}
