/**
 * Answers made of bits: each bit of a field is the exclusive-or of bits of the names and of 1. Layouts, packings and
 * swizzles whose sizes are powers of two are such functions, so that a formula and its bits stand for each other.
 */

/** How many bits a number needs. */
const bitLength = (most) => most.toString(2).length;

/**
 * What can be connected: bits of the names, and bits of each field; null where a value is negative.
 * @returns {object} inputs: [name, bit] pairs, the last one ["1", 0]; widths: bits of each field, by field.
 */
export function bitsAsked(puzzle, asked) {
  const slots = asked.slots.filter(Boolean);
  const most = (values) => values.reduce((found, one) => Math.max(found, one), 0);
  if (slots.some((slot) => asked.names.some((name) => slot.names[name] < 0))) return null;
  const inputs = asked.names.flatMap((name) => Array.from({ length: bitLength(most(slots.map((slot) => slot.names[name]))) }, (_, bit) => [name, bit]).reverse());
  const widths = asked.fields.map((_, k) => bitLength(puzzle.most ?? most(slots.flatMap((slot) => slot.want.map((want) => want[k])))));
  return { inputs: [...inputs, ["1", 0]], widths: Object.fromEntries(asked.fields.map((field, k) => [field, widths[k]])) };
}

/**
 * The bits of a formula: for each bit of the field, from the lowest, the inputs whose exclusive-or it is.
 * @param {Function} formula - as `parseExpression` makes it.
 * @returns {Array|null} sets of positions in `inputs`; null if the formula is no such function, or needs more bits.
 */
export function bitsOf(formula, inputs, width, asked) {
  const named = (values) => Object.fromEntries(asked.names.map((name) => [name, values[name] ?? 0]));
  const least = formula(named({}));
  const columns = inputs.map(([name, bit]) => (name === "1" ? least : formula(named({ [name]: 2 ** bit })) ^ least));
  const whole = (value) => Number.isInteger(value) && value >= 0 && value < 2 ** width;
  if (![least, ...columns].every(whole)) return null;
  const value = (names) => inputs.reduce((found, [name, bit], n) => (name === "1" || Math.floor(names[name] / 2 ** bit) % 2 ? found ^ columns[n] : found), 0);
  if (!asked.slots.every((slot) => !slot || formula(slot.names) === value(slot.names))) return null;
  return Array.from({ length: width }, (_, bit) => new Set([...inputs.keys()].filter((n) => (columns[n] >> bit) & 1)));
}

/** The formula of bits: runs of consecutive bits are shifted and masked together. */
export function formulaOf(bits, inputs) {
  const tops = {};
  for (const [name, bit] of inputs) tops[name] = Math.max(tops[name] ?? 0, bit);
  const at = (name, bit) => inputs.findIndex(([other, one]) => other === name && one === bit);
  const has = (name, bit, to) => bit <= tops[name] && Boolean(bits[to]?.has(at(name, bit)));
  const terms = [];
  for (let to = bits.length - 1; to >= 0; to--) {
    for (const n of bits[to]) {
      const [name, top] = inputs[n];
      if (name === "1" || has(name, top + 1, to + 1)) continue; // a constant, or the middle of a run
      let run = 1;
      while (run <= top && has(name, top - run, to - run)) run++;
      const [from, low] = [top - run + 1, to - run + 1];
      const part = from ? `${name} >> ${from}` : name;
      const masked = top === tops[name] ? part : `${part} & ${2 ** run - 1}`;
      terms.push(low ? `(${masked}) << ${low}` : masked);
    }
  }
  const constant = bits.reduce((sum, set, to) => sum + (set.has(inputs.length - 1) ? 2 ** to : 0), 0);
  if (constant) terms.push(String(constant));
  const tidy = terms.map((term) => (/^\((\w+)\)/.test(term) ? term.replace(/^\((\w+)\)/, "$1") : term));
  return tidy.length > 1 ? tidy.map((term) => (/ /.test(term) ? `(${term})` : term)).join(" ^ ") : (tidy[0] ?? "0");
}
