/** Number formats: decoding a code, its exact decimal value, and rounding a typed value in every mode. */

import { unknown } from "./errors.js";

const FIELDS = ["name", "bits", "exponent_bits", "mantissa_bits", "bias", "special", "unread_bits", "aliases", "source"];

/** A format's row by its name or an alias. */
export function findFormat(data, name) {
  const wanted = String(name).toLowerCase();
  const row = data.formats.find(([found, , , , , , , aliases]) => found === wanted || aliases.includes(wanted));
  if (!row) throw unknown("format", name, data.formats.map(([found]) => found));
  return Object.fromEntries(FIELDS.map((field, n) => [field, row[n]]));
}

/** Whether the top bit is a sign. */
export function isSigned(format) {
  return !["scale", "fnu", "unsigned"].includes(format.special);
}

/** A code as a BigInt, from a number, a BigInt or a text such as "0x7f". */
export function asCode(format, code) {
  let value;
  try {
    value = BigInt(code);
  } catch {
    throw new Error(`${code} is not an integer code of ${format.name}`);
  }
  if (value < 0n || value >> BigInt(format.bits)) throw new Error(`code ${code} does not fit the ${format.bits} bits of ${format.name}`);
  return value;
}

/**
 * The parts of a code: kind (zero, subnormal, normal, inf, nan, integer), sign, exponent and mantissa fields, and for a
 * finite one `significand` (BigInt) and `scale`, so that the value is (-1)^sign * significand * 2^scale.
 */
export function parts(format, given) {
  const code = asCode(format, given);
  const integer = ["signed", "unsigned"].includes(format.special);
  const top = BigInt(format.bits - 1);
  const sign = isSigned(format) ? Number(code >> top) : 0;
  if (integer) {
    const value = sign ? (1n << BigInt(format.bits)) - code : code;
    return { kind: "integer", code, sign, significand: value, scale: 0 };
  }
  const magnitude = isSigned(format) ? code & ((1n << top) - 1n) : code;
  const wide = BigInt(format.mantissa_bits);
  const field = magnitude & ((1n << wide) - 1n);
  const mantissa = (field >> BigInt(format.unread_bits)) << BigInt(format.unread_bits);
  const exponent = Number(magnitude >> wide);
  const found = { code, sign, exponent, mantissa };
  const full = (1 << format.exponent_bits) - 1;
  if (format.special === "scale") {
    if (exponent === full) return { ...found, kind: "nan" };
    return { ...found, kind: "normal", significand: 1n, scale: exponent - format.bias };
  }
  if (format.special === "ieee" && exponent === full) return { ...found, kind: mantissa ? "nan" : "inf" };
  if (format.special === "fn" && magnitude === (1n << top) - 1n) return { ...found, kind: "nan" };
  if (format.special === "fnu" && magnitude === (1n << BigInt(format.bits)) - 1n) return { ...found, kind: "nan" };
  if (format.special === "fnuz" && code === 1n << top) return { ...found, kind: "nan" };
  const significand = mantissa | (exponent ? 1n << wide : 0n);
  const scale = Math.max(exponent, 1) - format.bias - format.mantissa_bits;
  return { ...found, kind: exponent ? "normal" : significand ? "subnormal" : "zero", significand, scale };
}

/** The number that a code stands for; every one of these formats fits a double exactly. */
export function decode(format, code) {
  const found = parts(format, code);
  if (found.kind === "nan") return NaN;
  const factor = found.sign ? -1 : 1;
  if (found.kind === "inf") return factor * Infinity;
  let { significand, scale } = found;
  // 2 ** scale may be subnormal while the value is not too small: split the power in two exact steps.
  const half = Math.trunc(scale / 2);
  return factor * (Number(significand) * 2 ** half) * 2 ** (scale - half);
}

/** Exact decimal digits of significand * 2^scale. */
export function exactDecimal(significand, scale) {
  if (!significand) return "0";
  if (scale >= 0) return String(significand << BigInt(scale));
  let value = significand;
  let places = -scale;
  while (places && !(value & 1n)) {
    value >>= 1n;
    places--;
  }
  const digits = String(value * 5n ** BigInt(places)).padStart(places + 1, "0");
  return places ? `${digits.slice(0, -places)}.${digits.slice(-places)}` : digits;
}

/** The exact value of a code as text. */
export function valueText(format, code) {
  const found = parts(format, code);
  if (found.kind === "nan") return "NaN";
  const sign = found.sign ? "-" : "";
  return sign + (found.kind === "inf" ? "Inf" : exactDecimal(found.significand, found.scale));
}

/** A typed number as an exact fraction: sign, numerator and denominator; or "inf", "nan". */
export function parseNumber(text) {
  const word = text.trim().toLowerCase();
  const special = /^([+-]?)(inf|infinity|nan)$/.exec(word);
  if (special) return { special: special[2] === "nan" ? "nan" : "inf", negative: special[1] === "-" };
  const found = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d{1,4}))?$/.exec(word);
  if (!found || !(found[2] || found[3])) throw new Error(`'${text}' is not a number such as 0.1, -3e-5, inf or nan`);
  const power = Number(found[4] ?? 0) - found[3].length;
  const digits = BigInt(found[2] + found[3]);
  const ten = 10n ** BigInt(Math.abs(power));
  return { negative: found[1] === "-", top: power > 0 ? digits * ten : digits, bottom: power > 0 ? 1n : ten };
}

const length = (value) => value.toString(2).length;

/** Quotient of top / bottom in units of 2^scale: whole part, and the rest as twice the rest against the divisor. */
function divide(top, bottom, scale) {
  const [over, under] = scale < 0 ? [top << BigInt(-scale), bottom] : [top, bottom << BigInt(scale)];
  return { whole: over / under, rest: over % under, under };
}

/** Rounding modes of the formats view. */
export const ROUNDINGS = ["nearest_even", "toward_zero", "up", "down"];
const OVERFLOWS = ["saturate", "infinity_or_nan"];

/**
 * Round a typed number to a format, once.
 * @param {string} overflow - "saturate" or "infinity_or_nan".
 * @returns {{code: bigint, exact: boolean}}
 */
export function encode(format, text, rounding = "nearest_even", overflow = "saturate") {
  const value = typeof text === "object" ? text : parseNumber(text);
  const integer = ["signed", "unsigned"].includes(format.special);
  const limits = formatLimits(format);
  const signBit = isSigned(format) ? 1n << BigInt(format.bits - 1) : 0n;
  const signed = (magnitude) => (value.negative && !(format.special === "fnuz" && !magnitude) ? magnitude | signBit : magnitude);
  const beyond = () => {
    if (overflow === "saturate" || format.special === "finite") return signed(limits.largest);
    return format.special === "ieee" ? signed(limits.infinity) : format.special === "fn" ? signed(limits.nan) : limits.nan;
  };
  if (value.special === "nan") {
    if (integer) return { code: 0n, exact: false };
    return { code: format.special === "finite" ? signed(limits.largest) : ["fnuz", "fnu", "scale"].includes(format.special) ? limits.nan : signed(limits.nan), exact: format.special !== "finite" };
  }
  if (!ROUNDINGS.includes(rounding)) throw unknown("rounding", rounding, ROUNDINGS);
  if (!OVERFLOWS.includes(overflow)) throw unknown("overflow", overflow, OVERFLOWS);
  if (integer) return encodeInteger(format, value, rounding);
  if (["scale", "fnu"].includes(format.special) && value.negative && (value.special || value.top)) return { code: limits.nan, exact: false };
  if (value.special) return { code: beyond(), exact: format.special === "ieee" && overflow !== "saturate" };
  const { top, bottom } = value;
  if (!top) return { code: format.special === "scale" ? 0n : signed(0n), exact: format.special !== "scale" };
  let exponent = length(top) - length(bottom);
  if (divide(top, bottom, exponent).whole === 0n) exponent--;
  const precision = format.mantissa_bits - format.unread_bits;
  const least = format.special === "scale" ? -format.bias : 1 - format.bias;
  const used = Math.max(exponent, least);
  const { whole, rest, under } = divide(top, bottom, used - precision);
  const base = (BigInt(used - least) << BigInt(precision)) - (format.special === "scale" ? 1n : 0n);
  let magnitude = base + whole;
  const up = {
    nearest_even: 2n * rest + (magnitude & 1n) > under,
    toward_zero: false,
    up: rest !== 0n && !value.negative,
    down: rest !== 0n && value.negative,
  }[rounding];
  if (up) magnitude++;
  if (magnitude < 0n) magnitude = 0n;
  const largest = limits.largest >> BigInt(format.unread_bits);
  if (magnitude <= largest) return { code: signed(magnitude << BigInt(format.unread_bits)), exact: rest === 0n && base + whole >= 0n };
  const inward = { toward_zero: true, up: value.negative, down: !value.negative }[rounding];
  return { code: inward ? signed(limits.largest) : beyond(), exact: false };
}

function encodeInteger(format, value, rounding) {
  const most = value.negative ? (format.special === "signed" ? 1n << BigInt(format.bits - 1) : 0n) : (1n << BigInt(format.bits - (format.special === "signed" ? 1 : 0))) - 1n;
  let magnitude = most;
  let exact = false;
  if (!value.special) {
    const { whole, rest, under } = divide(value.top, value.bottom, 0);
    const up = { nearest_even: 2n * rest + (whole & 1n) > under, toward_zero: false, up: rest && !value.negative, down: rest && value.negative }[rounding];
    magnitude = whole + (up ? 1n : 0n);
    exact = !rest && magnitude <= most;
    if (magnitude > most) magnitude = most;
  }
  return { code: BigInt.asUintN(format.bits, value.negative ? -magnitude : magnitude), exact };
}

/** Codes of the largest finite value, of Inf and of the canonical NaN, without sign. */
export function formatLimits(format) {
  const mask = (1n << BigInt(format.bits)) - 1n;
  const magnitude = isSigned(format) ? mask >> 1n : mask;
  const wide = BigInt(format.mantissa_bits);
  const infinity = ((1n << BigInt(format.exponent_bits)) - 1n) << wide;
  if (format.special === "ieee") {
    return { largest: infinity - (1n << BigInt(format.unread_bits)), infinity, nan: infinity | (1n << (wide - 1n)) };
  }
  const nan = { fn: magnitude, fnuz: 1n << BigInt(format.bits - 1), scale: mask, fnu: mask }[format.special];
  return { largest: magnitude - (["fn", "fnu", "scale"].includes(format.special) ? 1n : 0n), infinity: null, nan };
}
