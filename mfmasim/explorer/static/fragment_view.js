/** The fragment view: the product A x B = D beside the registers, linked. */

import { groupColour, scaleColour } from "./colours.js";
import { choice, element, field, problem } from "./dom.js";
import { makeGrid } from "./grid.js";
import { digitValue } from "./layout.js";
import { MODIFIERS, cycles, findInstruction, legal, operands, trust, whyNotContiguous } from "./matrix.js";
import { digitValues, elementName, placeText, related, whereText } from "./relations.js";
import { change, value } from "./state.js";

const COLOURS = [["group", "group of 16 lanes"], ["lane", "lane"], ["register", "register"]];
const ABOUT = {
  cbsz: "CBSZ: blocks of A that are broadcast", abid: "ABID: the block, or the set of indices", blgp: "BLGP: lanes of B", op_sel: "OPSEL",
  neg: "NEG", neg_hi: "NEG_HI", scale_a_byte: "byte of A's scale", scale_b_byte: "byte of B's scale",
  scale_a_row: "lanes of A's scales", scale_b_row: "lanes of B's scales",
  scale_a_format: "format of A's scales", scale_b_format: "format of B's scales",
};

/** The instruction that the address bar names, with a prefix for the second one of a comparison. */
function chosen(data, prefix = "") {
  const arch = value(`${prefix}arch`, "gfx950");
  const first = data.archs[arch]?.matrix.find((row) => row.kind === "mfma_scale") ?? data.archs[arch]?.matrix[0];
  const name = value(`${prefix}op`, first?.name ?? "");
  const options = { a: value(`${prefix}a`) || undefined, b: value(`${prefix}b`) || undefined, numbering: value("numbering") || undefined };
  if (value(`${prefix}wave`)) options.wave = Number(value(`${prefix}wave`));
  for (const modifier of MODIFIERS) if (value(prefix + modifier)) options[modifier] = Number(value(prefix + modifier));
  return findInstruction(data, arch, name, options);
}

/** Controls of one instruction. */
function instructionControls(data, op, prefix, extra) {
  const drop = Object.fromEntries(["a", "b", "wave", ...MODIFIERS].map((name) => [prefix + name, ""]));
  const set = (name, found) => change({ [prefix + name]: found, sel: name === "block" ? value("sel") : "" });
  const archs = Object.entries(data.archs).map(([name, row]) => [name, `${name} (${row.family})`]);
  const toArch = (arch) => {
    const same = data.archs[arch].matrix.find((row) => [row.name, row.alias].includes(op.name) || row.name === op.row.alias);
    change({ [`${prefix}arch`]: arch, [`${prefix}op`]: same?.name ?? "", sel: "", ...drop });
  };
  const made = [
    choice("architecture", `${prefix}arch`, archs, op.arch, toArch),
    choice("instruction", `${prefix}op`, data.archs[op.arch].matrix.map((row) => row.name), op.name, (name) => change({ [`${prefix}op`]: name, sel: "", block: "", ...drop })),
  ];
  for (const side of ["a", "b"]) {
    if (op.row[side].length > 1) {
      const code = side === "a" ? "cbsz" : "blgp";
      made.push(choice(`format of ${side.toUpperCase()}`, prefix + side, op.row[side], op[side], (found) => change({ [prefix + side]: found, [prefix + code]: "", sel: "" })));
    }
  }
  const { waves } = data.archs[op.arch];
  if (waves.length > 1) made.push(choice("wave", `${prefix}wave`, waves, op.wave, (found) => set("wave", found)));
  for (const modifier of MODIFIERS) {
    const allowed = op.row.input === "f8f6f4" && ["cbsz", "blgp"].includes(modifier) ? [] : legal(op, modifier);
    if (allowed.length > 1) made.push(choice(ABOUT[modifier], prefix + modifier, allowed, op.modes[modifier], (found) => set(modifier, found === "0" ? "" : found)));
  }
  return element("div", { class: "controls" }, made, extra);
}

/** Shape, cycles and how far the arithmetic and the layout can be trusted. */
function facts(op, fragments) {
  const { fidelity, evidence, source } = trust(op);
  const blocks = op.blocks > 1 ? ` in ${op.blocks} blocks` : "";
  const sources = [...new Set(Object.values(fragments).map((found) => found.source))];
  return element("div", { class: "facts" },
    element("p", {}, element("strong", {}, op.name), ` on ${op.arch}: ${op.m}×${op.n}×${op.k}${blocks}, ${op.a} × ${op.b} → ${op.row.d}, wave${op.wave}, ${cycles(op)} cycles`),
    element("p", {}, element("span", { class: `trust ${fidelity}` }, fidelity), ` arithmetic: ${evidence} (${source})`),
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
  if (op.blocks > 1) extra.push(choice("block", "block", [...Array(op.blocks).keys()], block, (found) => change({ block: found, sel: "" })));
  if (!whyNotContiguous(op)) extra.push(choice("numbering of k", "numbering", [["", "as documented"], ["contiguous", "runs in every lane"]], value("numbering"), (found) => change({ numbering: found, sel: "" })));
  extra.push(choice("colour", "colour", COLOURS, value("colour", "group"), (found) => change({ colour: found })));
  const others = Object.entries(data.archs).flatMap(([arch, row]) => row.matrix.map((found) => `${arch} ${found.name}`));
  extra.push(choice("compare with", "with", [["", "nothing"], ...others], value("with"), (found) => change({ with: found })));
  const info = element("section", { class: "info", "aria-live": "polite" });
  const sides = [{ op, fragments, block }];
  if (compared) sides.push({ op: compared, fragments: operands(compared), block: Math.min(block, compared.blocks - 1) });
  const shared = { sides, info, held: null };
  const figures = sides.map((side) => figure(side, shared));
  const differences = compared ? markDifferences(sides) : null;
  root.append(instructionControls(data, op, "", extra), facts(op, fragments), ...(differences ? [differences] : []), info, element("div", { class: sides.length > 1 ? "sides" : "side" }, figures));
  laneField(shared, controlsOf(root));
  select(shared, readSelection(shared), true);
}

function controlsOf(root) {
  return root.querySelector(".controls");
}

function laneField(shared, into) {
  into.append(field("lane", "lane", "", (text) => {
    const lane = Number(text);
    if (text !== "" && Number.isInteger(lane) && lane >= 0 && lane < shared.sides[0].op.wave) select(shared, { lane }, true);
  }, { type: "number", min: "0", size: "4" }));
}

function comparison(data) {
  const [arch, name] = value("with").split(" ");
  try {
    return findInstruction(data, arch, name, {});
  } catch {
    return null;
  }
}

/** What is selected, from the address bar: "D:5,40,0" (operand, row, column, block) or "lane:40". */
function readSelection({ sides: [{ fragments, op }] }) {
  const [name, rest = ""] = value("sel").split(":");
  const numbers = rest.split(",").map(Number);
  if (name === "lane" && numbers[0] < op.wave) return { lane: numbers[0] };
  const fragment = fragments[name];
  const [row, col, block = 0] = numbers;
  if (!fragment || !(row < fragment.rows) || !(col < fragment.cols) || !(block < fragment.blocks)) return null;
  return { name, number: fragment.number(row, col, block) };
}

function writeSelection(shared, chosenNow) {
  if (!chosenNow) return "";
  if ("lane" in chosenNow) return `lane:${chosenNow.lane}`;
  const { row, col, block } = shared.sides[0].fragments[chosenNow.name].coordinatesOf(chosenNow.number);
  return `${chosenNow.name}:${row},${col},${block}`;
}

/** Figures of one instruction: the product and the registers, with the grids in `side.grids`. */
function figure(side, shared) {
  const { op, fragments, block } = side;
  const room = Math.max(320, (document.body.clientWidth - 40) / shared.sides.length);
  const across = fragments.A.cols + fragments.D.cols + (fragments.scale_A ? fragments.scale_A.cols : 0);
  const down = fragments.A.rows + fragments.B.rows + (fragments.scale_B?.cols ?? 0);
  const cell = Math.max(5, Math.min(22, Math.floor((room * 0.5 - 80) / across), Math.floor(620 / down)));
  const lanes = Math.max(4, Math.min(18, Math.floor((room * 0.5 - 50) / op.wave)));
  side.grids = [];
  const product = element("div", { class: "product" });
  for (const [name, fragment] of Object.entries(fragments)) {
    if (name === "C") continue; // C lies where D lies
    const made = matrixGrid(shared, side, fragment, block, cell);
    made.node.classList.add(`at-${name}`);
    product.append(made.node);
  }
  const registers = element("div", { class: "registers" });
  for (const [name, fragment] of Object.entries(fragments)) {
    if (name !== "C") registers.append(registerGrid(shared, side, fragment, lanes).node);
  }
  return element("div", { class: "figures" },
    element("h3", {}, `${op.name} (${op.arch})`),
    element("div", { class: "scroll" }, product),
    element("div", { class: "scroll" }, registers),
    legend(op));
}

function legend(op) {
  const how = value("colour", "group");
  const items = how === "group" ? Array.from({ length: Math.ceil(op.wave / 16) }, (_, n) => [groupColour(n), `lanes ${16 * n}–${16 * n + 15}`]) : [[scaleColour(0, 2), how === "lane" ? "lane 0" : "v0"], [scaleColour(1, 2), "the last"]];
  const swatch = ([colour, text]) => element("span", { class: "swatch" }, element("i", { style: `background:${colour}` }), text);
  return element("p", { class: "legend" }, "colour: ", items.map(swatch), element("span", {}, "thick outline: chosen; thin outline: belongs to it; stroke: another place in the compared instruction"));
}

function colourOf(fragment, lane, bit, digit) {
  if (digit) return null;
  const how = value("colour", "group");
  if (how === "lane") return scaleColour(lane, fragment.lanes);
  if (how === "register") return scaleColour(bit >> 5, fragment.vgprs);
  return groupColour(lane >> 4);
}

/** Whether a scale of B is drawn: its rows are columns of the product, so it lies on its side. */
function lying(fragment) {
  return fragment.name === "scale_B";
}

function matrixGrid(shared, side, fragment, block, cell) {
  const turned = lying(fragment);
  const [rows, cols] = turned ? [fragment.cols, fragment.rows] : [fragment.rows, fragment.cols];
  const numberAt = (row, col) => (turned ? fragment.number(col, row, block) : fragment.number(row, col, block));
  const { lane, bit } = fragment.places;
  const first = (row, col) => numberAt(row, col) * fragment.replicas;
  const [down, over] = turned ? [...fragment.axes].reverse() : fragment.axes;
  const made = makeGrid({
    title: `${fragment.name} (${fragment.format}): rows ${down}, columns ${over}${fragment.name === "D" ? "; C alike" : ""}`,
    rows, cols,
    cell: [cell, cell],
    colour: (row, col) => colourOf(fragment, lane[first(row, col)], bit[first(row, col)]),
    label: (row, col) => (cell >= 20 ? String(lane[first(row, col)]) : ""),
    point: (row, col, kind) => point(shared, kind, row < 0 ? null : { name: fragment.name, number: numberAt(row, col) }),
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
  const high = Math.max(5, Math.min(12, Math.floor(260 / rows)));
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
      if (row < 0) point(shared, kind, { lane });
      else point(shared, kind, held ? { name: fragment.name, number: held[0], lane } : null);
    },
  });
  side.grids.push({
    ...made,
    marks: (state, lane) => (row, column) => {
      const held = at(row, column);
      if (!held) return lane === column ? 1 : 0;
      return Math.max(...held.map((number) => state(fragment, number, column)));
    },
  });
  return made;
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
    shared.held = wanted;
    change({ sel: writeSelection(shared, wanted) }, { quiet: true });
    const block = wanted && "number" in wanted ? shared.sides[0].fragments[wanted.name].coordinatesOf(wanted.number).block : null;
    if (block !== null && block !== shared.sides[0].block) {
      change({ block });
      return;
    }
  }
  for (const side of shared.sides) {
    const sets = wanted ? marked(side.fragments, wanted) : null;
    const state = (fragment, number) => {
      if (!sets) return side.differs?.[fragment.name]?.has(number) ? 3 : 0;
      if (wanted.name === fragment.name && wanted.number === number) return 2;
      return sets[fragment.name]?.has(number) ? 1 : 0;
    };
    for (const grid of side.grids) grid.draw(sets || side.differs ? grid.marks(state, wanted?.lane) : null);
  }
  describe(shared, wanted);
}

function marked(fragments, wanted) {
  if (!("name" in wanted)) return Object.fromEntries(Object.entries(fragments).map(([name, found]) => [name, found.ofLane(wanted.lane)]));
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
  if (!wanted) {
    info.append(element("p", { class: "hint" }, "Point at an element or at the number of a lane; click to keep it; arrow keys and Enter do the same."));
    return;
  }
  const sets = marked(fragments, wanted);
  if ("name" in wanted) {
    const own = fragments[wanted.name];
    const { row, col, block } = own.coordinatesOf(wanted.number);
    info.append(element("h3", {}, `${elementName(own, wanted.number)}: ${own.locate(row, col, block).map(placeText).join("; copy in ")}`));
    sets[wanted.name] = new Set([wanted.number]);
  } else info.append(element("h3", {}, `lane ${wanted.lane} holds`));
  for (const [name, numbers] of Object.entries(sets)) {
    if (!numbers.size || (name === "C" && wanted.name !== "C")) continue;
    info.append(element("div", { class: "operand" }, formula(shared, fragments[name], numbers), "name" in wanted || numbers.size ? places(fragments[name], numbers, wanted) : null));
  }
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
