/** Matrix instructions: looking one up, its operands, and the effect of modifiers on them. */

import { own, unknown } from "./errors.js";
import { Fragment } from "./fragment.js";
import { contiguousLayout, parseLayout, renumbering, size } from "./layout.js";

const SHORT = { fp6: "e2m3fn", bf6: "e3m2fn", fp4: "e2m1fn" };
/** Modifiers of matrix instructions, by the names that the library uses. */
export const MODIFIERS = ["cbsz", "abid", "blgp", "op_sel", "neg", "neg_hi", "scale_a_byte", "scale_b_byte",
  "scale_a_row", "scale_b_row", "scale_a_format", "scale_b_format"];

/** The instruction of an architecture with the formats and the wave of `options` settled. */
export function findInstruction(data, arch, name, options = {}) {
  const target = own(data.archs, arch);
  if (!target) throw unknown("architecture", arch, Object.keys(data.archs));
  const wanted = String(name).toLowerCase();
  const row = target.matrix.find((found) => found.name === wanted || found.alias === wanted);
  if (!row) throw unknown(`matrix instruction of ${arch}`, name, target.matrix.map((found) => found.name));
  const wave = options.wave ?? target.waves[0];
  if (!target.waves.includes(wave)) throw new Error(`${arch} has no wave of ${wave} lanes; it has ${target.waves.join(" or ")}`);
  const coded = row.input === "f8f6f4";
  const chosen = (side, code) => {
    const given = options[side] ?? (coded && code !== undefined ? data.f8f6f4[code] : undefined);
    if (given === undefined) return row[side][0];
    const [fp8, bf8] = target.fp8;
    const format = own({ fp8, bf8, ...SHORT }, given) ?? given;
    if (!row[side].includes(format)) throw unknown(`format of ${side.toUpperCase()}`, given, row[side]);
    return format;
  };
  const modes = Object.fromEntries(MODIFIERS.map((field) => [field, options[field] ?? 0]));
  const op = {
    data, arch, row, wave, modes,
    name: row.name,
    a: chosen("a", options.cbsz),
    b: chosen("b", options.blgp),
    words: new Set(row.words.split(" ").filter(Boolean)),
    contiguous: options.numbering === "contiguous",
  };
  [op.m, op.n, op.k, op.blocks] = row.shape;
  op.sparse = ["smfmac", "swmmac"].includes(row.kind);
  op.scaled = row.scales.length > 0;
  checkModes(op, options);
  return op;
}

/** Cycles that the matrix core is busy. */
export function cycles(op) {
  const bits = [op.a, op.b].map((name) => op.data.formats.find((format) => format[0] === name)?.[1]);
  const [full, small, four] = op.row.cycles;
  if (four && bits.every((count) => count === 4)) return four;
  return bits.includes(8) || !small ? full : small;
}

/** Fidelity of the arithmetic, what supports it, and where it is published. */
export function trust(op) {
  const numbers = Array.isArray(op.row.trust) ? op.row.trust : op.row.trust[`${op.a} ${op.b}`];
  const [fidelity, evidence, source] = numbers.map((number) => op.data.texts[number]);
  return { fidelity, evidence, source };
}

/** Values of a modifier that an instruction takes, each as [value, ...]; one value where it does not have it. */
export function legal(op, field) {
  const { words, row } = op;
  const upTo = (count) => Array.from({ length: count }, (_, value) => value);
  if (row.input === "f8f6f4" && ["cbsz", "blgp"].includes(field)) {
    return [...new Set([0, op.data.f8f6f4.indexOf(field === "cbsz" ? op.a : op.b)])];
  }
  const free = words.has("abid_index") || row.input === "f64";
  switch (field) {
    case "cbsz":
      return upTo(words.has("cbsz") ? 32 - Math.clz32(op.blocks) : free ? 8 : 1);
    case "abid":
      return upTo(words.has("cbsz") ? 1 << op.modes.cbsz : free ? 16 : 1);
    case "blgp":
      return upTo(words.has("blgp") || words.has("negate") ? 8 : 1);
    case "op_sel":
      return upTo(["wmma", "swmmac"].includes(row.kind) && !words.has("reuse") ? 8 : 1);
    case "neg":
    case "neg_hi":
      if (words.has("neg_c")) return [0, 4];
      if (words.has("neg")) return upTo(op.sparse ? 4 : 8);
      if (words.has("neg_32")) return field === "neg" ? upTo(8) : [0, 4];
      return upTo(field === "neg" && words.has("signed") ? 4 : 1);
    case "scale_a_row":
    case "scale_b_row": // scales of 32 rows fill all lanes
      return upTo(row.scales.length > 1 && (field === "scale_a_row" ? op.m : op.n) === 16 ? 2 : 1);
    case "scale_a_format":
    case "scale_b_format": // with a mantissa for FP4 only
      return upTo((field === "scale_a_format" ? op.a : op.b) === "e2m1fn" ? Math.max(1, row.scales.length) : 1);
    default: // bytes of scales
      return upTo(row.scales.length === 1 ? 4 : 1);
  }
}

function checkModes(op, options) {
  const { scale_a_format: first, scale_b_format: second } = op.modes;
  if (first !== second && op.a === op.b && op.a === "e2m1fn" && op.row.scales.length > 1) {
    throw new Error(`${op.name} with two FP4 operands takes scales of one format`);
  }
  for (const field of MODIFIERS) {
    const allowed = legal(op, field);
    if (!allowed.includes(op.modes[field])) {
      throw new Error(`${field}=${options[field]} is not legal for ${op.name}: it takes ${allowed.join(", ")}`);
    }
  }
}

/** Names of the operands, in the order A, B, C, D, scale_A, scale_B, index. */
export function operandNames(op) {
  return Object.keys(op.row.operands[op.wave]);
}

/** An operand as the instruction reads it under its modifiers. */
export function operand(op, name) {
  const named = own(op.row.operands[op.wave], name);
  if (!named) throw unknown(`operand of ${op.name}`, name, operandNames(op));
  const choice = { A: op.a, index: op.a, B: op.b }[name] ?? "";
  const [format, rows, cols, axes, layout, width, stride, vgprs, source] = named[choice];
  const plain = new Fragment({
    name, format, rows, cols, axes, vgprs,
    blocks: op.blocks,
    lanes: op.wave,
    layout: parseLayout(op.data.texts[layout], width, stride),
    source: op.data.texts[source],
    origin: null,
  });
  return underModes(op, op.contiguous ? renumbered(op, plain) : plain);
}

/** Every operand, by name. */
export function operands(op) {
  return Object.fromEntries(operandNames(op).map((name) => [name, operand(op, name)]));
}

function plainOperand(op, name) {
  return operand({ ...op, contiguous: false, modes: Object.fromEntries(MODIFIERS.map((field) => [field, 0])) }, name);
}

/** Why an instruction has no numbering of k with runs in every lane, or "". */
export function whyNotContiguous(op) {
  if (op.scaled) return `block scales bind the numbers of k in ${op.name}`;
  const [letter, unit] = op.sparse ? ["s", 2] : ["k", 1];
  const [a, b] = ["A", "B"].map((name) => plainOperand(op, name));
  const newA = renumbering(a.layout, letter, a.cols).filter((_, n) => n % unit === 0).map((n) => Math.floor(n / unit));
  const newB = renumbering(b.layout, "k", op.k).filter((_, n) => n % unit ** 2 === 0).map((n) => Math.floor(n / unit ** 2));
  const same = newA.length === newB.length && newA.every((number, n) => number === newB[n]);
  return same ? "" : `A and B of ${op.name} have no common numbering of k with runs in every lane`;
}

function renumbered(op, fragment) {
  const why = whyNotContiguous(op);
  if (why) throw new Error(why);
  const letter = [...fragment.axes].find((axis) => "ks".includes(axis));
  return letter ? fragment.changed({ layout: contiguousLayout(fragment.layout, letter) }) : fragment;
}

/** Sets of sparse indices that a register holds. */
export function indexSets(op) {
  return op.sparse ? Math.max(1, 32 / (size(plainOperand(op, "A").layout.item) * 2)) : 0;
}

function underModes(op, fragment) {
  const { words, modes } = op;
  const { name } = fragment;
  let { offset, firstLane } = fragment.layout;
  let { format } = fragment;
  let origin = null;
  if (name === "index") {
    const sets = indexSets({ ...op, contiguous: false });
    const chosen = words.has("abid_index") ? (modes.cbsz & 3 ? 0 : modes.abid) : modes.op_sel;
    offset = (chosen % sets) * (32 / sets);
  } else if (name.startsWith("scale")) {
    const side = name === "scale_A" ? "scale_a" : "scale_b";
    offset = 8 * modes[`${side}_byte`];
    firstLane = 16 * modes[`${side}_row`];
    format = op.row.scales[modes[`${side}_format`]];
  } else if (name === "C" || name === "D") {
    offset = words.has("op_sel_half") ? 16 * ((modes.op_sel >> 2) & 1) : 0;
  } else if (words.has("signed")) {
    format = modes.neg & (name === "A" ? 1 : 2) ? `i${format.slice(1)}` : format;
  } else if (name === "A" && words.has("cbsz") && modes.cbsz) {
    origin = Int32Array.from({ length: fragment.count }, (_, number) => {
      const { row, col, block } = fragment.coordinatesOf(number);
      return fragment.number(row, col, ((block >> modes.cbsz) << modes.cbsz) | modes.abid);
    });
  } else if (name === "B" && words.has("blgp") && modes.blgp) {
    origin = permutedLanes(fragment, modes.blgp);
  }
  if (offset === fragment.layout.offset && firstLane === fragment.layout.firstLane && !origin && format === fragment.format) return fragment;
  return fragment.changed({ format, origin, layout: { ...fragment.layout, offset, firstLane } });
}

/** Lane of B that each lane reads (64 lanes; CDNA4 ISA manual table 29). */
function permuteLane(lane, blgp) {
  if (blgp < 3) return (lane % 32) + 32 * (blgp - 1);
  if (blgp === 3) return (lane + 16) % 64;
  return (lane % 16) + 16 * (blgp - 4);
}

function permutedLanes(fragment, blgp) {
  const { lane, bit } = fragment.places;
  const { starts, span } = fragment;
  return Int32Array.from({ length: fragment.count }, (_, number) => starts.get(permuteLane(lane[number], blgp) * span + bit[number])[0]);
}
