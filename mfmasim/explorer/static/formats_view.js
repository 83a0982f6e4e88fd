/** The formats view: the bits of a code and what they stand for, other readings of it, and rounding of a number. */

import { choice, element, field, problem } from "./dom.js";
import { asCode, encode, findFormat, isSigned, parts, ROUNDINGS, valueText } from "./formats.js";
import { change, value } from "./state.js";

const PAIRS = { e4m3fn: "e4m3fnuz", e4m3fnuz: "e4m3fn", e5m2: "e5m2fnuz", e5m2fnuz: "e5m2" };

/** A code that every format has. */
const FIRST = "0x3";

/** Draw the view. */
export function drawFormats(data, root) {
  const names = data.formats.map(([name]) => name);
  const set = (name) => (found) => change({ [name]: found });
  root.append(element("div", { class: "controls" },
    choice("format", "format", names, value("format", "e4m3fn"), (found) => change({ format: found, code: "" })),
    field("code", "code", value("code", FIRST), set("code"), { size: "18" }),
    field("scale (E8M0 code)", "scale", value("scale", "127"), set("scale"), { size: "5" }),
    field("number to round", "number", value("number", "0.3"), set("number"), { size: "18" })));
  try {
    const format = findFormat(data, value("format", "e4m3fn"));
    const code = asCode(format, value("code", FIRST));
    root.append(bitRow(format, code), meaning(format, code), readings(data, format, code), rounding(data, format));
    if (format.bits <= 8) root.append(allCodes(format, code));
  } catch (error) {
    root.append(problem(error));
  }
}

const hex = (format, code) => `0x${code.toString(16).padStart(Math.ceil(format.bits / 4), "0")}`;

/** One switch for each bit, by field. */
function bitRow(format, code) {
  const kindOf = (bit) => {
    if (isSigned(format) && bit === format.bits - 1) return "sign";
    if (["signed", "unsigned"].includes(format.special)) return "mantissa";
    return bit >= format.mantissa_bits ? "exponent" : bit < format.unread_bits ? "unread" : "mantissa";
  };
  const buttons = Array.from({ length: format.bits }, (_, n) => {
    const bit = format.bits - 1 - n;
    const on = (code >> BigInt(bit)) & 1n;
    return element("button", {
      type: "button",
      class: `bit ${kindOf(bit)}`,
      "aria-pressed": on ? "true" : "false",
      title: `bit ${bit}: ${kindOf(bit)}`,
      click: () => change({ code: hex(format, code ^ (1n << BigInt(bit))) }),
    }, String(on));
  });
  const legend = ["sign", "exponent", "mantissa", "unread"].filter((kind) => buttons.some((button) => button.classList.contains(kind)));
  return element("div", {}, element("div", { class: "bits" }, buttons),
    element("p", { class: "legend" }, legend.map((kind) => element("span", { class: "swatch" }, element("i", { class: `bit ${kind}` }), kind))));
}

/** How the value follows from the fields. */
function meaning(format, code) {
  const found = parts(format, code);
  const text = valueText(format, code);
  let formula = { nan: "a NaN", inf: "an infinity", zero: "a zero" }[found.kind];
  if (format.special === "fnuz" && found.kind === "nan") formula = "the sign bit alone, which would be -0: the only NaN";
  if (found.kind === "integer") formula = found.sign ? `${found.code} − 2^${format.bits}` : String(found.code);
  if (format.special === "scale" && found.kind === "normal") formula = `2^(${found.exponent} − ${format.bias})`;
  else if (found.kind === "normal") formula = `(−1)^${found.sign} × 2^(${found.exponent} − ${format.bias}) × (1 + ${found.mantissa}/${2 ** format.mantissa_bits})`;
  else if (found.kind === "subnormal") formula = `(−1)^${found.sign} × 2^(1 − ${format.bias}) × (0 + ${found.mantissa}/${2 ** format.mantissa_bits})`;
  return element("div", { class: "facts" },
    element("h2", {}, `${format.name} ${hex(format, code)} = `, element("output", { class: "value" }, text)),
    element("p", {}, `${found.kind}: ${formula}${format.unread_bits ? `; the ${format.unread_bits} lowest bits are not read` : ""}`),
    element("p", {}, `exact value; encoding: ${format.source}`));
}

/** The same bits under the other FP8 flavour, and under a block scale. */
function readings(data, format, code) {
  const rows = [];
  const other = PAIRS[format.name];
  if (other) {
    const row = findFormat(data, other);
    rows.push([`${other} (${other.endsWith("fnuz") ? "FNUZ, CDNA3" : "OCP"}) reads the same bits as`, valueText(row, code)]);
  }
  if (format.bits <= 8 && format.exponent_bits && format.special !== "scale") {
    const scale = findFormat(data, "e8m0fnu");
    const power = parts(scale, asCode(scale, value("scale", "127")));
    const found = parts(format, code);
    const finite = power.kind !== "nan" && "significand" in found;
    const scaled = finite ? exactScaled(found, power.scale) : power.kind === "nan" || found.kind === "nan" ? "NaN" : valueText(format, code);
    rows.push([`times the block scale ${power.kind === "nan" ? "NaN" : `2^${power.scale}`} (E8M0 ${value("scale", "127")})`, scaled]);
  }
  return element("table", { class: "readings" }, rows.map(([name, text]) => element("tr", {}, element("th", {}, name), element("td", {}, text))));
}

function exactScaled(found, scale) {
  const wide = { special: "ieee", bits: 64, exponent_bits: 11, mantissa_bits: 52, bias: 1023, unread_bits: 0, name: "f64" };
  const text = `${found.sign ? "-" : ""}${found.significand}`;
  // significand * 2^(scale of both): as an exact fraction, through the rounding that is exact in f64.
  const power = found.scale + scale;
  const given = { negative: text.startsWith("-"), top: found.significand << BigInt(Math.max(power, 0)), bottom: 1n << BigInt(Math.max(-power, 0)) };
  return valueText(wide, encode(wide, given).code);
}

/** A typed number in every rounding mode. */
function rounding(data, format) {
  const typed = value("number", "0.3");
  const head = element("tr", {}, ["rounding", "beyond the largest", "code", "value"].map((name) => element("th", {}, name)));
  const overflows = ["saturate", "infinity_or_nan"];
  const rows = ROUNDINGS.flatMap((mode) => overflows.map((overflow) => {
    const { code, exact } = encode(format, typed, mode, overflow);
    return [mode, overflow, hex(format, code), `${valueText(format, code)}${exact ? " (exact)" : ""}`];
  }));
  const seen = new Set();
  const shown = rows.filter(([mode, overflow, code]) => {
    const known = overflow !== "saturate" && seen.has(`${mode} ${code}`);
    seen.add(`${mode} ${code}`);
    return !known;
  });
  return element("section", {}, element("h2", {}, `${typed} rounded to ${format.name}`),
    element("table", { class: "rounding" }, head, shown.map((row) => element("tr", {}, row.map((cell) => element("td", {}, cell))))));
}

/** Every code of a small format; a click chooses one. */
function allCodes(format, code) {
  const cells = Array.from({ length: 2 ** format.bits }, (_, n) => {
    const here = BigInt(n);
    return element("button", {
      type: "button", class: "code", "aria-pressed": here === code ? "true" : "false", title: valueText(format, here),
      click: () => change({ code: hex(format, here) }),
    }, element("b", {}, hex(format, here)), " ", short(valueText(format, here)));
  });
  return element("details", { open: format.bits <= 6 }, element("summary", {}, `all ${cells.length} codes`), element("div", { class: "codes" }, cells));
}

function short(text) {
  return text.length <= 11 ? text : `${text.slice(0, 10)}…`;
}
