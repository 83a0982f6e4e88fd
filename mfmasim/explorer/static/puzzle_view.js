/** The puzzle view: a question, formulas that answer it, and slots that are right or wrong at once. */

import { isDark } from "./colours.js";
import { element, field, problem } from "./dom.js";
import { makeGrid } from "./grid.js";
import { checkPuzzle, parseAnswer, puzzleOperand, slotsOf } from "./puzzle.js";
import { bitsAsked, bitsOf, formulaOf } from "./puzzle_bits.js";
import { makeBoard } from "./puzzle_board.js";
import { hintsOf } from "./puzzle_hints.js";
import { chosenPuzzle, teacher } from "./puzzle_form.js";
import { address } from "./state.js";

const STORE = "mfmasim-puzzles";
/** Answers and what is solved, by puzzle; kept by the browser where it allows that. */
const memory = { answers: {}, solved: {} };

function recall() {
  try {
    Object.assign(memory, JSON.parse(localStorage.getItem(STORE) ?? "{}"));
  } catch { /* a page without storage keeps them until it is left */ }
}

function keep() {
  try {
    localStorage.setItem(STORE, JSON.stringify(memory));
  } catch { /* as above */ }
}

/** Draw the view. */
export function drawPuzzles(data, root) {
  recall();
  let puzzle;
  let asked;
  try {
    puzzle = chosenPuzzle(data);
    asked = slotsOf(data, puzzle);
  } catch (error) {
    root.append(element("div", { class: "puzzles" }, list(data, ""), element("div", {}, problem(error), teacher(data))));
    return;
  }
  const number = data.puzzles.indexOf(puzzle);
  const result = element("p", { class: "result", role: "status" });
  const detail = element("p", { class: "detail", "aria-live": "polite" }, "Point at a slot, tap it, or move with the arrow keys.");
  const hints = element("div", { class: "hints", "aria-live": "polite" });
  const board = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "slots" });
  const answers = memory.answers[puzzle.id] ?? {};
  const shared = { data, puzzle, asked, result, detail, hints, board, answers, found: null, given: 0, steps: list(data, puzzle.id) };
  const inputs = asked.fields.map((name) => {
    const label = `${name}${asked.names.length ? `(${asked.names.join(", ")})` : ""} =`;
    const made = field(label, `answer-${name}`, answers[name] ?? "", () => {}, { autocomplete: "off", autocapitalize: "off", placeholder: asked.names.length ? `a formula of ${asked.names.join(", ")}` : "a number" });
    made.querySelector("input").addEventListener("input", (event) => {
      answers[name] = event.target.value;
      memory.answers[puzzle.id] = answers;
      grade(shared);
    });
    return made;
  });
  const bits = bitsAsked(puzzle, asked);
  if (bits) shared.tiles = makeBoard(bits, (name, bit, input) => {
    const found = bitsNow(shared, bits)[name] ?? Array.from({ length: bits.widths[name] }, () => new Set());
    if (!found[bit].delete(input)) found[bit].add(input);
    const box = inputs[asked.fields.indexOf(name)].querySelector("input");
    box.value = formulaOf(found, bits.inputs);
    box.dispatchEvent(new Event("input"));
  });
  shared.bits = bits;
  const next = number < 0 ? null : data.puzzles[number + 1];
  root.append(element("div", { class: "puzzles" }, shared.steps, element("section", { class: "puzzle" },
    element("h2", {}, `${number < 0 ? "" : `${number + 1}. `}${puzzle.title}`),
    element("p", {}, puzzle.text),
    element("div", { class: "answer" }, inputs,
      element("button", { type: "button", name: "hint", click: () => showHint(shared) }, "hint"),
      puzzle.solution ? element("button", { type: "button", name: "solution", click: () => showSolution(shared) }, "solution") : null,
      next ? element("a", { href: address("puzzles", { id: next.id }), class: "next" }, "next puzzle") : null),
    shared.tiles?.node, result, hints, detail, board,
    element("p", { class: "hint" }, "Whole numbers; + - * // % & | ^ << >> and parentheses. Blue slots are right, red slots with a stroke are wrong; a number is what your first formula gives."),
    links(puzzle), teacher(data))));
  grade(shared);
}

/** The puzzles by topic: title, level and a tick; closed at first where the window is narrow. */
function list(data, id) {
  const solved = data.puzzles.filter((one) => memory.solved[one.id]).length;
  const item = (one, n) => element("li", {}, element("a", { href: address("puzzles", { id: one.id }), class: memory.solved[one.id] ? "solved" : "", "aria-current": one.id === id ? "true" : "false" },
    element("span", {}, `${n + 1}. ${one.title}`), element("span", { class: "level", title: `level ${one.level} of 3` }, `${memory.solved[one.id] ? "✓ " : ""}${"•".repeat(one.level)}`)));
  const topics = [...new Set(data.puzzles.map((one) => one.topic))];
  const said = `${solved} of ${data.puzzles.length} solved`;
  return element("nav", { class: "steps", "aria-label": `puzzles, ${said}` }, element("details", { open: window.innerWidth > 900 }, element("summary", {}, `${data.puzzles.length} puzzles, ${said}; dots are the level`),
    topics.map((topic) => element("section", {}, element("h2", {}, topic), element("ol", {}, data.puzzles.map((one, n) => (one.topic === topic ? item(one, n) : null)))))));
}

function links(puzzle) {
  const view = puzzle.op ? element("a", { href: address("fragment", { arch: puzzle.arch, op: puzzle.op, a: puzzle.a }) }, "the instruction in Fragments") : puzzle.ds ? element("a", { href: address("lds", { arch: puzzle.arch, ds: puzzle.ds }) }, "the access in LDS") : null;
  const go = puzzle.exercise ? element("span", {}, "Continue with a kernel: ", element("code", {}, `mfmasim learn start ${puzzle.exercise}`)) : null;
  return element("p", { class: "hint" }, go, go && view ? " · " : null, view);
}

/** Grade what is typed, colour the slots and say what is wrong first. */
function grade(shared) {
  const { data, puzzle, asked, answers, result } = shared;
  shared.found = null;
  const empty = asked.fields.some((name) => !String(answers[name] ?? "").trim());
  let text = empty ? `Type ${asked.fields.length > 1 ? "formulas" : asked.names.length ? "a formula" : "a number"} for ${asked.fields.join(" and ")}.` : "";
  if (!empty) {
    try {
      shared.found = checkPuzzle(data, puzzle, answers);
      text = said(shared.found);
    } catch (error) {
      text = error.message;
    }
  }
  result.textContent = text;
  result.className = `result${shared.found?.solved ? " solved" : ""}`;
  if (shared.found?.solved && !memory.solved[puzzle.id]) {
    memory.solved[puzzle.id] = true;
    const steps = list(data, puzzle.id);
    shared.steps.replaceWith(steps);
    shared.steps = steps;
  }
  keep();
  shared.tiles?.show(bitsNow(shared, shared.bits));
  colour(shared);
}

/** The bits of each formula; null for one that is no combination of bits, or not a formula. */
function bitsNow({ asked, answers }, { inputs, widths }) {
  return Object.fromEntries(asked.fields.map((name) => {
    try {
      return [name, bitsOf(parseAnswer(String(answers[name] ?? "").trim() || "0"), inputs, widths[name], asked)];
    } catch {
      return [name, null];
    }
  }));
}

function said({ solved, right, of, extra, message }) {
  if (solved) return extra === 0 ? "Solved: no extra pass." : `Solved: ${of} of ${of} slots are right.`;
  return extra === undefined ? `${right} of ${of} slots are right. First wrong: ${message}` : `${extra} extra passes. ${message}`;
}

function colour(shared) {
  const { puzzle, asked, board, found } = shared;
  const [right, wrong, none] = isDark() ? ["#1d4d73", "#ffb3ab", "#30363d"] : ["#bfe0f5", "#8f2018", "#e4e8ec"];
  const room = Math.max(300, board.clientWidth || document.body.clientWidth - 40);
  const fold = asked.rows === 1 && room < 12 * asked.cols && asked.first === undefined; // one row that is too narrow to hit
  const [rows, cols] = fold ? [Math.ceil(asked.cols / 16), 16] : [asked.rows, asked.cols];
  const wide = Math.max(4, Math.min(26, Math.floor((room - 30) / cols)));
  const high = Math.max(6, Math.min(22, wide + 4, Math.floor(420 / rows)));
  const at = (row, col) => row * cols + col;
  const made = makeGrid({
    title: `${puzzle.title}: ${asked.over} across${fold ? ", 16 in a row" : asked.rows > 1 ? `, ${asked.down} down` : ""}`,
    rows, cols, cell: [wide, high],
    colour: (row, col) => (asked.slots[at(row, col)] ? (found ? (found.slots[at(row, col)] ? right : wrong) : none) : null),
    label: (row, col) => (wide >= 14 && high >= 9 && found?.got ? String(found.got[at(row, col)]?.[0] ?? "") : ""),
    colName: (col) => (asked.first === undefined ? null : String(col + asked.first)),
    point: (row, col, kind) => kind !== "leave" && kind !== "clear" && row >= 0 && explain(shared, at(row, col)),
  });
  board.replaceChildren(made.node);
  if (found && !found.solved) made.draw((row, col) => (found.slots[at(row, col)] === false ? 3 : 0));
}

/** What the formulas give for a slot. The right values are the puzzle's: only the first wrong slot has them. */
function explain({ asked, found, detail }, number) {
  const slot = asked.slots[number];
  if (!slot) return;
  const names = Object.entries(slot.names).map(([name, one]) => `${name} ${one}`).join(", ");
  const got = found?.got?.[number];
  const state = !found ? "" : found.slots[number] ? ": right" : slot.want ? ": wrong" : ": waits for a further pass";
  detail.textContent = `${names}${state}${got ? `; your formula gives ${asked.fields.map((name, k) => `${name} = ${got[k]}`).join(", ")}` : ""}`;
}

/** The pattern of the mistake first, then what is known about the layout, one hint at a time. */
function showHint(shared) {
  const { data, puzzle, hints, found } = shared;
  if (found?.pattern && hints.dataset.pattern !== found.pattern) {
    hints.dataset.pattern = found.pattern;
    hints.append(element("p", {}, `Your answer: ${found.pattern}`));
    return;
  }
  const every = hintsOf(puzzle, puzzle.op ? puzzleOperand(data, puzzle) : null);
  if (shared.given < every.length) hints.append(element("p", {}, `Hint ${shared.given + 1} of ${every.length}: ${every[shared.given++]}`));
  else if (!hints.querySelector(".end")) hints.append(element("p", { class: "end" }, "There is no further hint."));
}

function showSolution({ puzzle, asked, hints }) {
  if (!hints.querySelector(".solution")) hints.append(element("p", { class: "solution" }, "One solution: ", asked.fields.flatMap((name, n) => [n ? "; " : "", element("code", {}, `${name} = ${puzzle.solution[n]}`)])));
}
