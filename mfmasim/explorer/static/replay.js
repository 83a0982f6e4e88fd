/** A recorded run, replayed: the state of its waves after any number of steps. */

import { findInstruction, operand } from "./matrix.js";

/** Sums of differences: the first value, then each value from the one before. */
function summed(differences, length) {
  const found = new Array(length).fill(0);
  let value = 0;
  for (let n = 0; n < length; n++) {
    value += differences[n] ?? 0;
    found[n] = value;
  }
  return found;
}

/** The array and coordinates of a label, such as "A[3, 0]"; empty for none. */
export function labelName(run, label) {
  const block = run.blocks.find(([, first, shape]) => label >= first && label < first + shape.reduce((a, b) => a * b, 1));
  if (!label || !block) return "";
  const [name, first, shape] = block;
  const at = [];
  let rest = label - first;
  for (const size of [...shape].reverse()) {
    at.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return `${name}[${at.join(", ")}]`;
}

/** Code of the element with a label. */
function labelCode(run, label) {
  const [, first, , codes] = run.blocks.find(([, start, shape]) => label >= start && label < start + shape.reduce((a, b) => a * b, 1)) ?? [0, 0, 0, [0]];
  return label ? codes[label - first] : 0;
}

/** Registers that one step wrote: name to {values by lane, names of elements by lane and item}. */
export function writtenBy(data, run, step) {
  const [number, , , vectors, , , , labels] = step;
  const found = {};
  for (const [name, differences] of Object.entries(vectors)) {
    const [width, coded] = labels[name] ?? [32, null];
    const items = 32 / width;
    const held = coded && summed(coded, run.wave * items);
    const lanes = [...Array(run.wave).keys()];
    const labelsOf = (lane) => [...Array(items).keys()].map((item) => held[item * run.wave + lane]);
    const values = differences ? summed(differences, run.wave) : lanes.map((lane) => labelsOf(lane).reduce((sum, label, n) => sum + labelCode(run, label) * 2 ** (n * width), 0));
    const names = held ? lanes.map((lane) => labelsOf(lane).map((label) => labelName(run, label))) : resultNames(data, run, run.code[number][3], name);
    found[name] = { values, names };
  }
  return found;
}

/** Elements of D that a matrix instruction wrote to a register, by lane. */
function resultNames(data, run, matrix, name) {
  if (!matrix) return null;
  const [op, a, b, file, first] = matrix;
  const place = Number(name.slice(1)) - first;
  if (name[0] !== file || place < 0) return null;
  const fragment = operand(findInstruction(data, run.arch, op, { a, b, wave: run.wave }), "D");
  if (place >= fragment.vgprs) return null;
  return [...Array(run.wave).keys()].map((lane) => fragment.numbersAt(lane, place).map((number) => {
    const { row, col } = fragment.coordinatesOf(number);
    return `D[${row}, ${col}]`;
  }));
}

/** State after the first `count` steps: of each wave registers, scalars, counters, EXEC; the LDS; what the last step did. */
export function stateAfter(data, run, count) {
  const waves = run.waves.map(() => ({ vectors: {}, scalars: {}, counters: {}, flying: [], exec: "", at: null, changed: [] }));
  const lds = new Map();
  let ldsChanged = new Set();
  for (let n = 0; n < count; n++) {
    const step = run.steps[n];
    const [number, wave, exec, , scalars, counters, flying, , stored] = step;
    const state = waves[wave];
    const made = writtenBy(data, run, step);
    Object.assign(state.vectors, made);
    Object.assign(state.scalars, scalars);
    Object.assign(state, { counters, flying, exec, at: number, changed: [...Object.keys(made), ...Object.keys(scalars)] });
    if (n < count - 1) state.changed = [];
    // Waves that execute an instruction together write together; the first of them has the dwords of all.
    if (stored || number !== run.steps[n - 1]?.[0]) ldsChanged = new Set();
    if (stored) stored[0].forEach((dword, place) => {
      lds.set(dword, stored[1][place]);
      ldsChanged.add(dword);
    });
  }
  return { waves, lds, ldsChanged, last: count ? run.steps[count - 1] : null };
}
