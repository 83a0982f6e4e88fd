/** `window.mfmasim`: what the page draws, as functions. */

import { own, unknown } from "./errors.js";
import { decode, encode, findFormat } from "./formats.js";
import { findAccess, phases } from "./lds.js";
import { layoutOffsets } from "./notation.js";
import { findInstruction, operand, operandNames } from "./matrix.js";
import { checkPuzzle, findPuzzle, slotsOf } from "./puzzle.js";

/** The functions for tests and scripts, over the rows of the page. */
export function makeApi(data) {
  const fragment = (arch, name, which, options) => operand(findInstruction(data, arch, name, options), which);
  return {
    /** Names of the architectures. */
    architectures: () => Object.keys(data.archs),
    /** Names of an architecture's matrix instructions. */
    instructions(arch) {
      if (!own(data.archs, arch)) throw unknown("architecture", arch, Object.keys(data.archs));
      return data.archs[arch].matrix.map((row) => row.name);
    },
    /** Names of the operands of an instruction. */
    operands: (arch, name, options = {}) => operandNames(findInstruction(data, arch, name, options)),
    /** Places of an element: {lane, vgpr, bit, width}; options: block, modifiers, a, b, wave, numbering. */
    locate(arch, name, which, row, col, options = {}) {
      return fragment(arch, name, which, options).locate(row, col, options.block ?? 0);
    },
    /** The element at a place, {row, col, block}, or null. */
    element(arch, name, which, lane, vgpr, bit = 0, options = {}) {
      const found = fragment(arch, name, which, options);
      const [number] = found.numbersAt(lane, vgpr, bit);
      return number === undefined ? null : found.coordinatesOf(number);
    },
    /** Every place of an operand, flat: row, col, block, lane, vgpr, bit, width for each, by block, row, column, lane. */
    table(arch, name, which, options = {}) {
      const found = fragment(arch, name, which, options);
      const { lane, bit } = found.places;
      const flat = new Int32Array(lane.length * 7);
      for (let n = 0; n < lane.length; n++) {
        const { row, col, block } = found.coordinatesOf(Math.floor(n / found.replicas));
        flat.set([row, col, block, lane[n], bit[n] >> 5, bit[n] & 31, found.width], 7 * n);
      }
      return flat;
    },
    /** Names of an architecture's LDS instructions. */
    accesses(arch) {
      if (!own(data.archs, arch)) throw unknown("architecture", arch, Object.keys(data.archs));
      return data.archs[arch].lds.instructions.map(([name]) => name);
    },
    /** Passes of each phase of a wave access; options: active (booleans by lane), offset. */
    conflicts(arch, name, addresses, options = {}) {
      return phases(data, findAccess(data, arch, name), Array.from(addresses, Number), options).map((phase) => phase.degree);
    },
    /** Places of the elements 0 to count - 1 under a layout of CuTe or a linear one, in elements. */
    layout: layoutOffsets,
    /** The puzzles: id, title, text, ask, fields, exercise and what they are about. */
    puzzles: data.puzzles,
    /** What a puzzle (its id, or an object) asks: names, fields, rows, cols, and for each slot its names and accepted values. */
    slots: (puzzle) => slotsOf(data, findPuzzle(data, puzzle)),
    /** Whether a formula, or one for each field, is right: solved, right, of, slots, message, pattern, extra. */
    check: (puzzle, answer) => checkPuzzle(data, puzzle, answer),
    /** Names of the number formats. */
    formats: () => data.formats.map(([name]) => name),
    /** The number that a code stands for; a code of 64 bits may be a BigInt or a text such as "0x3ff0000000000000". */
    decode: (format, code) => decode(findFormat(data, format), code),
    /** The code of a number, given as text or number, rounded once. */
    encode: (format, value, rounding, overflow) => Number(encode(findFormat(data, format), String(value), rounding, overflow).code),
  };
}
