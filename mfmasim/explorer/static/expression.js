/** Integer expressions over lanes, as on the command line: + - * // % & | ^ << >> ~, comparisons, parentheses. */

import { unknown } from "./errors.js";

const LEVELS = [
  ["==", "!=", "<=", ">=", "<", ">"],
  ["|"],
  ["^"],
  ["&"],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "//", "%"],
];
const floor = (a, b) => Math.floor(a / b);
const bits = (operation) => (a, b) => Number(operation(BigInt(a), BigInt(b)));
const OPERATIONS = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "//": floor,
  "%": (a, b) => a - b * floor(a, b),
  "&": bits((a, b) => a & b),
  "|": bits((a, b) => a | b),
  "^": bits((a, b) => a ^ b),
  "<<": (a, b) => a * 2 ** b,
  ">>": (a, b) => Math.floor(a / 2 ** b),
  "==": (a, b) => Number(a === b),
  "!=": (a, b) => Number(a !== b),
  "<": (a, b) => Number(a < b),
  ">": (a, b) => Number(a > b),
  "<=": (a, b) => Number(a <= b),
  ">=": (a, b) => Number(a >= b),
};

function words(text) {
  const found = text.match(/0x[0-9a-fA-F]+|\d+|[a-zA-Z_]\w*|\/\/|<<|>>|[<>=!]=|\S/g) ?? [];
  if (found.includes("/")) throw new Error(`'/' in '${text}' is not an integer operation; write // for the quotient`);
  return found;
}

/** A function from the values of names to the value of the expression. */
export function parseExpression(text) {
  const found = words(text);
  let next = 0;
  const wrong = () => new Error(`'${text}' is not an expression such as 'lane % 16 * 128 + lane // 16 * 16'`);
  const level = (depth) => {
    if (depth === LEVELS.length) return unary();
    let left = level(depth + 1);
    while (LEVELS[depth].includes(found[next])) {
      const sign = found[next++];
      const [before, right] = [left, level(depth + 1)];
      left = (names) => apply(sign, before(names), right(names), text);
    }
    return left;
  };
  const unary = () => {
    const word = found[next++];
    if (word === undefined) throw wrong();
    if (word === "-" || word === "~") {
      const inner = unary();
      return (names) => (word === "-" ? -inner(names) : -1 - inner(names));
    }
    if (word === "(") {
      const inner = level(0);
      if (found[next++] !== ")") throw wrong();
      return inner;
    }
    if (/^\d/.test(word)) return () => Number(word);
    if (!/^[a-zA-Z_]/.test(word)) throw wrong();
    return (names) => {
      if (!Object.hasOwn(names, word)) throw unknown("name", word, Object.keys(names));
      return names[word];
    };
  };
  const parsed = level(0);
  if (next !== found.length) throw wrong();
  return parsed;
}

function apply(sign, left, right, text) {
  if (["//", "%"].includes(sign) && right === 0) throw new Error(`'${text}' divides by 0`);
  if (["<<", ">>"].includes(sign) && (right < 0 || right > 31)) throw new Error(`'${text}' shifts by less than 0 or more than 31 bits`);
  const value = OPERATIONS[sign](left, right);
  if (!Number.isSafeInteger(value)) throw new Error(`'${text}' leaves the range of exact integers`);
  return value;
}
