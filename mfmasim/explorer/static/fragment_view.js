/** The fragment view: the product A x B = D beside the registers, linked. */

import { choice, element, field, problem } from "./dom.js";
import { own } from "./errors.js";
import { figure } from "./fragment_figures.js";
import { digitValue } from "./layout.js";
import { MODIFIERS, cycles, findInstruction, legal, operands, trust, whyNotContiguous } from "./matrix.js";
import { digitValues, elementName, placeText, related, whereText } from "./relations.js";
import { ofByte, parseElement, parseLane, readSelection, writeSelection } from "./selection.js";
import { change, value } from "./state.js";

/** What is selected where the address names no instruction. */
const OPENS_WITH = "D:5,6,0";
const COLOURS = [["group", "group of 16 lanes"], ["lane", "lane"], ["register", "register"]];
const ABOUT = {
  cbsz: "CBSZ: blocks of A that are broadcast", abid: "ABID: the block, or the set of indices", blgp: "BLGP: lanes of B", op_sel: "OPSEL",
  neg: "NEG", neg_hi: "NEG_HI", scale_a_byte: "byte of A's scale", scale_b_byte: "byte of B's scale",
  scale_a_row: "lanes of A's scales", scale_b_row: "lanes of B's scales",
  scale_a_format: "format of A's scales", scale_b_format: "format of B's scales",
};

/** The first instruction to look at: the smallest 16x16 product of f16. */
function simplest(rows) {
  const fits = ({ kind, input, d, shape: [m, n, , blocks] }) => ["mfma", "wmma"].includes(kind) && input === "f16" && d === "f32" && m === 16 && n === 16 && blocks === 1;
  return rows.filter(fits).sort((one, other) => one.shape[2] - other.shape[2])[0] ?? rows[0];
}

/** The instruction that the address bar names. */
function chosen(data) {
  const arch = value("arch", "gfx950");
  const name = value("op", own(data.archs, arch) && simplest(data.archs[arch].matrix).name);
  const options = { a: value("a") || undefined, b: value("b") || undefined, numbering: value("numbering") || undefined };
  if (value("wave")) options.wave = Number(value("wave"));
  for (const modifier of MODIFIERS) if (value(modifier)) options[modifier] = Number(value(modifier));
  return findInstruction(data, arch, name, options);
}

/** Controls of the instruction; what is rarely changed is folded. */
function instructionControls(data, op, fields, extra) {
  const drop = Object.fromEntries(["a", "b", "wave", ...MODIFIERS].map((name) => [name, ""]));
  const set = (name, found) => change({ [name]: found });
  const archs = Object.entries(data.archs).map(([name, row]) => [name, `${name} (${row.family})`]);
  const toArch = (arch) => {
    const same = data.archs[arch].matrix.find((row) => [row.name, row.alias].includes(op.name) || row.name === op.row.alias);
    toInstruction(arch, same?.name ?? simplest(data.archs[arch].matrix).name);
  };
  // What is selected stays selected where the other instruction has it.
  const toInstruction = (arch, name) => {
    const sel = has(findInstruction(data, arch, name), value("sel", value("op") ? "" : OPENS_WITH)) ? value("sel", OPENS_WITH) : "";
    change({ ...drop, block: "", arch, op: name, sel });
  };
  const made = [
    choice("architecture", "arch", archs, op.arch, toArch),
    choice("instruction", "op", data.archs[op.arch].matrix.map((row) => row.name), op.name, (name) => toInstruction(op.arch, name)),
  ];
  for (const side of ["a", "b"]) {
    if (op.row[side].length > 1) {
      const code = side === "a" ? "cbsz" : "blgp";
      made.push(choice(`format of ${side.toUpperCase()}`, side, op.row[side], op[side], (found) => change({ [side]: found, [code]: "" })));
    }
  }
  const { waves } = data.archs[op.arch];
  if (waves.length > 1) made.push(choice("wave", "wave", waves, op.wave, (found) => set("wave", found)));
  const more = [];
  for (const modifier of MODIFIERS) {
    const allowed = op.row.input === "f8f6f4" && ["cbsz", "blgp"].includes(modifier) ? [] : legal(op, modifier);
    if (allowed.length > 1) more.push(choice(ABOUT[modifier], modifier, allowed, op.modes[modifier], (found) => set(modifier, found === "0" ? "" : found)));
  }
  const open = value("with") || value("colour") || value("numbering") || MODIFIERS.some((name) => value(name));
  return element("div", { class: "controls" }, made, fields,
    element("details", { class: "more", open: Boolean(open) }, element("summary", {}, more.length ? "modifiers, colours, comparison" : "colours, comparison"), element("div", { class: "controls" }, more, extra)));
}

/** Whether an instruction has the element or lane of an address. */
function has(op, sel) {
  const found = sel && readSelection({ sides: [{ fragments: operands(op), op }] }, sel);
  return Boolean(found) && !found.problem && !found.asked;
}

/** Shape, formats and cycles in a line. */
function facts(op) {
  const { fidelity } = trust(op);
  const blocks = op.blocks > 1 ? ` in ${op.blocks} blocks` : "";
  return element("p", { class: "facts" }, element("strong", {}, op.name), ` on ${op.arch}: ${op.m}×${op.n}×${op.k}${blocks}, ${op.a} × ${op.b} → ${op.row.d}, wave${op.wave}, ${cycles(op)} cycles, arithmetic `, element("span", { class: `trust ${fidelity}` }, fidelity));
}

/** How far the arithmetic and the layout can be trusted. */
function evidence(op, fragments) {
  const { fidelity, evidence: found, source } = trust(op);
  const sources = [...new Set(Object.values(fragments).map((one) => one.source))];
  return element("details", { class: "evidence" }, element("summary", {}, "evidence and sources"),
    element("p", {}, element("span", { class: `trust ${fidelity}` }, fidelity), ` arithmetic: ${found} (${source})`),
    element("p", {}, `layout: ${sources.join("; ")}`));
}

/** Draw the view. */
export function drawFragments(data, root) {
  let op;
  try {
    op = chosen(data);
  } catch (error) {
    root.append(problem(error), element("p", {}, element("a", { href: "#fragment" }, "Start again")));
    return;
  }
  const fragments = operands(op);
  const compared = value("with") ? comparison(data) : null;
  const extra = [];
  const block = Math.min(Number(value("block", "0")) || 0, op.blocks - 1);
  if (!whyNotContiguous(op)) extra.push(choice("numbering of k", "numbering", [["", "as documented"], ["contiguous", "runs in every lane"]], value("numbering"), (found) => change({ numbering: found, sel: "" })));
  extra.push(choice("colour", "colour", COLOURS, value("colour", "group"), (found) => change({ colour: found })));
  const others = Object.entries(data.archs).flatMap(([arch, row]) => row.matrix.map((found) => `${arch} ${found.name}`));
  extra.push(choice("compare with", "with", [["", "nothing"], ...others], value("with"), (found) => change({ with: found })));
  const info = element("section", { class: "info", tabindex: "0", "aria-live": "polite", "aria-label": "selected" });
  const sides = [{ op, fragments, block }];
  if (compared) sides.push({ op: compared, fragments: operands(compared), block: Math.min(block, compared.blocks - 1) });
  const shared = { sides, info, held: undefined };
  shared.point = (kind, wanted) => point(shared, kind, wanted);
  shared.fields = selectionFields(shared);
  const fields = op.blocks > 1 ? [choice("block", "block", [...Array(op.blocks).keys()], block, (found) => change({ block: found, sel: "" }))] : [];
  root.append(instructionControls(data, op, [...fields, ...shared.fields.nodes], extra), facts(op));
  if (compared) root.append(markDifferences(sides), info);
  const top = root.getBoundingClientRect().bottom + window.scrollY;
  const room = { width: root.clientWidth / sides.length, height: Math.max(420, window.innerHeight - top - 12) };
  root.append(element("div", { class: sides.length > 1 ? "sides" : "side" }, sides.map((side) => figure(side, shared, room, compared ? null : info))),
    element("p", { class: "hint" }, "Thick outline: chosen; thin outline: belongs to it; stroke: another place in the compared instruction. Numbers in cells are lanes."),
    evidence(op, fragments));
  for (const product of root.querySelectorAll(".scroll > .product")) product.parentElement.scrollLeft = product.scrollWidth; // where D is
  select(shared, readSelection(shared, value("op") ? "" : OPENS_WITH), true);
}

/** Fields for an element, a lane and a byte of its registers; `show` fills them from the selection. */
function selectionFields(shared) {
  const { fragments, op, block } = shared.sides[0];
  const attempt = (find) => {
    let found;
    try {
      found = find();
    } catch (error) {
      found = { problem: error.message, asked: value("sel") };
    }
    select(shared, found, true);
  };
  const typed = (name) => shared.fields.inputs[name].value.trim();
  const lane = () => attempt(() => parseLane(typed("lane"), typed("byte"), fragments, op.wave));
  const nodes = [
    field("element", "element", "", (text) => attempt(() => (text.trim() ? parseElement(text, fragments, block) : null)), { size: "11", placeholder: "D[5, 6]" }),
    field("lane", "lane", "", lane, { type: "number", min: "0" }),
    field("byte of its registers", "byte", "", lane, { type: "number", min: "0" }),
  ];
  const inputs = Object.fromEntries(nodes.map((node) => [node.querySelector("input").name, node.querySelector("input")]));
  const show = (wanted) => {
    if (wanted?.problem) return; // what was typed stays
    const number = wanted && "number" in wanted;
    const [asked, numbers] = wanted?.asked?.split(":") ?? [];
    inputs.element.value = asked ? `${asked}[${numbers.split(",").slice(0, 2).join(", ")}]` : number ? elementName(fragments[wanted.name], wanted.number) : "";
    inputs.lane.value = wanted && !number ? wanted.lane : "";
    inputs.byte.value = wanted && "byte" in wanted ? wanted.byte : "";
  };
  return { nodes, inputs, show };
}

function comparison(data) {
  const [arch, name] = value("with").split(" ");
  try {
    return findInstruction(data, arch, name, {});
  } catch {
    return null;
  }
}

/** A pointer event: hovering shows, a click keeps, Escape lets go. */
function point(shared, kind, wanted) {
  if (kind === "clear") select(shared, null, true);
  else if (kind === "click") select(shared, same(shared.held, wanted) ? null : wanted, true);
  else if (kind === "leave") select(shared, shared.held, false);
  else if (!shared.held) select(shared, wanted, false);
}

function same(one, other) {
  return Boolean(one && other) && one.name === other.name && one.number === other.number && one.lane === other.lane;
}

/** Mark what is selected in every grid, and say it in words. */
function select(shared, wanted, keep) {
  if (keep) {
    const first = shared.held === undefined;
    shared.held = wanted;
    shared.fields.show(wanted);
    const sel = writeSelection(shared.sides[0].fragments, wanted);
    if (sel !== value("sel")) change({ sel }, { quiet: true, replace: first });
    const block = wanted && "number" in wanted ? shared.sides[0].fragments[wanted.name].coordinatesOf(wanted.number).block : null;
    if (block !== null && block !== shared.sides[0].block) {
      change({ block }, { replace: true });
      return;
    }
  }
  for (const side of shared.sides) {
    const sets = wanted && !wanted.problem ? marked(side.fragments, wanted) : null;
    const state = (fragment, number) => {
      if (!sets) return side.differs?.[fragment.name]?.has(number) ? 3 : 0;
      if (wanted.name === fragment.name && wanted.number === number) return 2;
      return sets[fragment.name]?.has(number) ? 1 : 0;
    };
    for (const grid of side.grids) grid.draw(sets || side.differs ? grid.marks(state, wanted?.lane) : null);
  }
  describe(shared, wanted);
  // The panel only grows: what lies below it does not move back and forth under the pointer.
  const { style, offsetHeight } = shared.info;
  if (wanted && offsetHeight > (parseFloat(style.minHeight) || 0)) style.minHeight = `${offsetHeight}px`;
}

function marked(fragments, wanted) {
  const of = (found) => ("byte" in wanted ? ofByte(found, wanted.lane, wanted.byte) : found.ofLane(wanted.lane));
  if (!("name" in wanted)) return Object.fromEntries(Object.entries(fragments).map(([name, found]) => [name, of(found)]));
  const own = fragments[wanted.name];
  return own && wanted.number < own.count ? related(fragments, wanted.name, wanted.number) : {};
}

/** Note the elements of each side that the other holds at another place, and say how many they are. */
function markDifferences(sides) {
  const [one, other] = sides;
  for (const side of sides) side.differs = {};
  const lines = [];
  for (const [name, fragment] of Object.entries(one.fragments)) {
    const second = other.fragments[name];
    if (!second) {
      lines.push(`${name}: only in the first`);
      continue;
    }
    [one.differs[name], other.differs[name]] = [new Set(), new Set()];
    let common = 0;
    for (let number = 0; number < fragment.count; number++) {
      const { row, col, block } = fragment.coordinatesOf(number);
      if (row >= second.rows || col >= second.cols || block >= second.blocks) continue;
      common++;
      const text = (found) => JSON.stringify(found.locate(row, col, block));
      if (text(fragment) === text(second)) continue;
      one.differs[name].add(number);
      other.differs[name].add(second.number(row, col, block));
    }
    const shape = (found) => `${found.rows}×${found.cols}${found.blocks > 1 ? ` in ${found.blocks} blocks` : ""} ${found.format}`;
    const shapes = shape(fragment) === shape(second) ? "" : ` (${shape(fragment)}; ${shape(second)})`;
    lines.push(`${name}: ${common - one.differs[name].size} of ${common} common elements at the same place${shapes}`);
  }
  for (const name of Object.keys(other.fragments)) if (!one.fragments[name]) lines.push(`${name}: only in the second`);
  return element("ul", { class: "differences" }, lines.map((line) => element("li", {}, line)));
}

/** What is selected, in words: the element's place, its factors, the digits of the formulas. */
function describe(shared, wanted) {
  const { info, sides: [{ fragments }] } = shared;
  info.replaceChildren();
  if (wanted?.problem) {
    info.append(element("p", { class: "problem", role: "alert" }, wanted.problem));
    return;
  }
  if (wanted?.notice) info.append(element("p", { class: "notice" }, wanted.notice));
  if (!wanted) {
    info.append(element("p", { class: "hint" }, "Point at an element or at the number of a lane; click to keep it; arrow keys and Enter do the same."));
    return;
  }
  const sets = marked(fragments, wanted);
  if ("name" in wanted) {
    const own = fragments[wanted.name];
    const { row, col, block } = own.coordinatesOf(wanted.number);
    info.append(element("h2", {}, `${elementName(own, wanted.number)}: ${own.locate(row, col, block).map(placeText).join("; copy in ")}`));
    sets[wanted.name] = new Set([wanted.number]);
  } else if ("byte" in wanted) {
    info.append(element("h2", {}, `lane ${wanted.lane}, byte ${wanted.byte} (v${wanted.byte >> 2}, bits ${8 * (wanted.byte % 4) + 7}:${8 * (wanted.byte % 4)} of each operand) holds`));
    const lines = Object.entries(sets).filter(([name]) => name !== "C").map(([name, numbers]) => element("li", {}, element("b", {}, name), `: ${byteText(fragments[name], numbers, wanted)}`));
    info.append(element("ul", {}, lines));
    return;
  } else info.append(element("h2", {}, `lane ${wanted.lane} holds`));
  for (const [name, numbers] of Object.entries(sets)) {
    if (!numbers.size || (name === "C" && wanted.name !== "C")) continue;
    info.append(element("div", { class: "operand" }, formula(shared, fragments[name], numbers), "name" in wanted || numbers.size ? places(fragments[name], numbers, wanted) : null));
  }
}

/** Elements of a byte with their bits. */
function byteText(fragment, numbers, { lane, byte }) {
  if (byte >= 4 * fragment.vgprs) return `nothing: it has ${fragment.vgprs} register${fragment.vgprs > 1 ? "s" : ""}`;
  if (!numbers.size) return "nothing that the instruction reads";
  const place = (number) => {
    const { row, col, block } = fragment.coordinatesOf(number);
    return placeText(fragment.locate(row, col, block).find((one) => one.lane === lane)).replace(`lane ${lane}, `, "");
  };
  return [...numbers].map((number) => `${elementName(fragment, number)} in ${place(number)}`).join("; ");
}

function places(fragment, numbers, wanted) {
  const lines = whereText(fragment, numbers).filter(({ lane }) => "name" in wanted || lane === wanted.lane);
  const shown = lines.slice(0, 8).map(({ lane, text }) => element("li", {}, element("b", {}, `lane ${lane}`), `: ${text}`));
  if (lines.length > 8) shown.push(element("li", {}, `and ${lines.length - 8} more lanes, to lane ${lines.at(-1).lane}`));
  return element("ul", {}, shown);
}

/** The formulas of an operand with the value of each digit; pointing at a digit colours the operand by it. */
function formula(shared, fragment, numbers) {
  const { lane, item } = digitValues(fragment, numbers);
  const part = (title, digits) => [title, ...digits.flatMap(({ digit, weight, values }, n) => [
    n ? " + " : " ",
    weight > 1 ? `${weight}·` : "",
    element("span", { class: "digit", tabindex: "0", title: "colour by this digit", pointerenter: () => paintDigit(shared, fragment, digit), pointerleave: () => paintDigit(shared, fragment, null), focus: () => paintDigit(shared, fragment, digit), blur: () => paintDigit(shared, fragment, null) },
      element("span", {}, digit.text), element("sub", {}, values)),
  ]), digits.length ? "" : " 0"];
  return element("p", { class: "formula" }, element("b", {}, fragment.name), " ", part("lane =", lane), " ; ", part("item =", item));
}

/** Mark the elements of an operand for which a digit is odd, or nothing. */
function paintDigit(shared, fragment, digit) {
  const [side] = shared.sides;
  const state = (other, number) => {
    if (!digit || other.name !== fragment.name) return 0;
    const { row, col, block } = other.coordinatesOf(number);
    return digitValue(digit, other.coordinates(row, col, block)) % 2;
  };
  if (digit) for (const grid of side.grids) grid.draw(grid.marks(state));
  else select(shared, shared.held, false);
}
