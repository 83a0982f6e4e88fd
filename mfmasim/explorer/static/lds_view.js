/** The LDS view: the banks that each phase of a wave access touches, before and after a swizzle or padding. */

import { groupColour, inkOn, inks } from "./colours.js";
import { choice, codeLine, element, field, problem, runs } from "./dom.js";
import { own } from "./errors.js";
import { parseExpression } from "./expression.js";
import { FONT } from "./grid.js";
import { advise, applyChange, describeChange, extraPasses, findAccess, laneSets, operandAddresses, phases } from "./lds.js";
import { whyConflicts } from "./lds_reason.js";
import { findInstruction, operand } from "./matrix.js";
import { layoutOffsets } from "./notation.js";
import { change, value } from "./state.js";

const EXAMPLE = "lane % 16 * 128 + lane // 16 * 16";
const LAYOUT = "Swizzle<3,3,3> o (16,4):(64,8)";

/** What the address bar asks for: the access, its addresses and which lanes take part. */
function wanted(data) {
  const arch = value("arch", "gfx950");
  const instructions = own(data.archs, arch)?.lds.instructions.map(([name]) => name) ?? [];
  const access = findAccess(data, arch, value("ds", instructions.find((name) => name === "ds_read_b128") ?? instructions[0]));
  const wave = Number(value("wave", access.waves[0]));
  const given = value("op") && value("op") !== "layout" ? fromOperand(data, access, wave) : fromLanes(wave);
  return { access, wave, given };
}

function fromLanes(wave) {
  const lanes = Array.from({ length: wave }, (_, lane) => ({ lane }));
  const taken = parseExpression(value("active", "1"));
  const active = lanes.map((names) => Boolean(taken(names)));
  if (value("op") === "layout") {
    const bytes = Number(value("element", "2")) || 1;
    return [{ addresses: layoutOffsets(value("layout", LAYOUT), wave).map((place) => place * bytes), active }];
  }
  return [{ addresses: lanes.map(parseExpression(value("address", EXAMPLE))), active }];
}

function fromOperand(data, access, wave) {
  const op = findInstruction(data, access.arch, value("op"), { wave });
  return operandAddresses(access, operand(op, value("operand", "A")), Number(value("pitch", "128")));
}

/** The change that the address bar holds, or null. */
function wantedChange() {
  const kind = value("change");
  const number = (name, otherwise) => Number(value(name, otherwise));
  if (kind === "xor") return { terms: [[number("shift", 7), number("mask", 7), number("left", 4)]] };
  if (kind === "pad") return { row: number("row", 128), pad: number("pad", 16) };
  if (kind.startsWith("named ")) return { named: kind.slice(6) };
  return null;
}

function resolved(data, found) {
  if (!found?.named) return found;
  const row = data.swizzles.find(([name]) => name === found.named);
  if (!row) return null;
  const [, , bytes, pad, terms, source] = row;
  return pad ? { row: bytes, pad, source } : { terms, source };
}

/** An offset field of the instruction, from the address bar. */
function offset(name, otherwise) {
  const given = Number(value(name, otherwise));
  const most = name === "offset" ? 65535 : 255;
  if (!Number.isInteger(given) || given < 0 || given > most) throw new Error(`${name} ${value(name)} is not within 0..${most}`);
  return given;
}

/** Draw the view. */
export function drawLds(data, root) {
  root.append(ldsControls(data));
  let asked;
  try {
    asked = wanted(data);
    const options = { offset: asked.access.parts === 2 ? [offset("offset0", 0), offset("offset1", 1)] : offset("offset", 0) };
    const moved = resolved(data, wantedChange());
    const before = asked.given.map((given) => phases(data, asked.access, given.addresses, { ...options, active: given.active }));
    const after = moved && asked.given.map((given) => phases(data, asked.access, given.addresses.map((address) => applyChange(moved, address)), { ...options, active: given.active }));
    const reason = before.map((found, n) => whyConflicts(asked.access, asked.given[n].addresses, found)).find(Boolean);
    root.append(aboutAccess(data, asked, options), passesLegend([...before, ...(after || [])]), card("addresses as given", asked.access, before, reason));
    if (moved) root.append(changeText(moved, asked.access), card("after the change", asked.access, after));
    root.append(advice(data, asked, options, before), evidenceText(data, asked.access));
  } catch (error) {
    root.append(problem(error));
  }
}

function ldsControls(data) {
  const arch = value("arch", "gfx950");
  const target = own(data.archs, arch) ?? data.archs.gfx950;
  const set = (name) => (found) => change({ [name]: found });
  const archs = Object.entries(data.archs).map(([name, row]) => [name, `${name} (${row.family})`]);
  const made = [
    choice("architecture", "arch", archs, arch, (found) => change({ arch: found, op: "", wave: "" })),
    choice("instruction", "ds", target.lds.instructions.map(([name]) => name), value("ds", "ds_read_b128"), set("ds")),
  ];
  if (target.waves.length > 1) made.push(choice("wave", "wave", target.waves, value("wave", target.waves[0]), set("wave")));
  const sources = [["", "an expression"], ["layout", "a layout (CuTe, linear)"], ...target.matrix.filter((row) => row.shape[3] === 1).map((row) => [row.name, `an operand of ${row.name}`])];
  made.push(choice("addresses from", "op", sources, value("op"), set("op")));
  if (value("op") && value("op") !== "layout") {
    made.push(choice("operand", "operand", ["A", "B", "C", "D"], value("operand", "A"), set("operand")));
    made.push(field("bytes of a tile's row", "pitch", value("pitch", "128"), set("pitch"), { type: "number", min: "1" }));
  } else {
    if (value("op")) made.push(field("layout of the lanes, in elements", "layout", value("layout", LAYOUT), set("layout"), { size: "34" }));
    else made.push(field("byte address", "address", value("address", EXAMPLE), set("address"), { size: "34" }));
    made.push(field("active lanes", "active", value("active", "1"), set("active"), { size: "12" }));
  }
  const row = target.lds.instructions.find(([name]) => name === value("ds", "ds_read_b128"));
  for (const [name, first] of row?.[3] === 2 ? [["offset0", 0], ["offset1", 1]] : [["offset", 0]]) {
    made.push(field(row?.[3] === 2 ? `${name}, times ${row[4]} bytes` : name, name, value(name, first), set(name), { type: "number", min: "0" }));
  }
  const changes = [["", "none"], ["xor", "exclusive-or"], ["pad", "padding"], ...data.swizzles.map(([name]) => [`named ${name}`, name])];
  made.push(choice("change of the addresses", "change", changes, value("change"), set("change")));
  const numbers = { xor: [["shift", 7], ["mask", 7], ["left", 4]], pad: [["row", 128], ["pad", 16]] }[value("change")] ?? [];
  for (const [name, first] of numbers) made.push(field(name, name, value(name, first), set(name), { type: "number", min: "0" }));
  made.push(field("bytes of an element", "element", value("element", "2"), set("element"), { type: "number", min: "1", max: "16" }));
  return element("div", { class: "controls" }, made);
}

/** What the access moves, in which phases, and which addresses a two-address form adds. */
function aboutAccess(data, { access, wave }, { offset: added }) {
  const sets = laneSets(data, access.lanes, wave);
  const first = sets.slice(0, 2).map((lanes, n) => `phase ${n} has lanes ${runs(lanes)}`).join(", ");
  const two = access.parts === 2 ? ` Two accesses: at address + ${added[0]} × ${access.stride} and at address + ${added[1]} × ${access.stride} bytes.` : "";
  return element("p", { class: "facts" }, element("strong", {}, access.name), ` on ${access.arch}: ${access.bytes} bytes a lane${two ? " each" : ""}, ${access.banks} banks of 4 bytes, ${sets.length} phase${sets.length > 1 ? "s" : ""}: ${first}${sets.length > 2 ? ", …" : ""}. Lanes of one phase can conflict.${two} Phases: `, element("span", { class: `trust ${access.confidence}` }, access.confidence));
}

/** What colours and numbers mean. */
function passesLegend(every) {
  const most = Math.min(8, Math.max(1, ...every.flat().map((phase) => phase.degree)));
  const swatch = (n) => element("span", { class: "swatch" }, element("i", { style: `background:${groupColour(n)}` }), n === 7 ? "eighth and later" : `pass ${n + 1}`);
  return element("p", { class: "legend" }, "A row for each phase, a column for each bank; a block is a dword of 4 bytes with the number of its first lane. ", Array.from({ length: most }, (_, n) => swatch(n)));
}

/** Where the phases are from. */
function evidenceText(data, access) {
  const others = access.alternatives.map((other) => `; or ${setsText(data, other)} on ${other.banks} banks (${other.confidence}: ${other.source})`);
  return element("details", { class: "evidence" }, element("summary", {}, "evidence and sources"),
    element("p", {}, element("span", { class: `trust ${access.confidence}` }, access.confidence),
      ` ${setsText(data, access)} on ${access.banks} banks of 4 bytes: ${access.source}${others.join("")}. ${access.remark} Counts are passes, not cycles.`),
    element("ul", {}, cited(data, access).map(([short, text]) => element("li", {}, element("b", {}, short), `: ${text}`))));
}

/** Lane sets of a table, in words. */
function setsText(data, table) {
  return `phases ${laneSets(data, table.lanes, 32).slice(0, 2).map((lanes) => `{${runs(lanes)}}`).join(", ")}, …`;
}

/** The sources that a table names by their short names, spelt out. */
function cited(data, access) {
  const named = [access.source, ...access.alternatives.map((other) => other.source)].join(" ");
  return Object.entries(data.lds_sources).filter(([short]) => named.match(new RegExp(`\\b${short}\\b`)));
}

function changeText(found, access) {
  const text = describeChange(found, Number(value("element", "2")) || 1);
  return element("div", { class: "facts" },
    element("p", {}, "in bytes: ", element("code", {}, text.bytes)),
    element("p", {}, "in elements: ", element("code", {}, text.elements)),
    element("p", {}, "C++: ", codeLine(text.code)),
    found.source ? element("p", {}, `source: ${found.source}`) : null,
    access.name.includes("write") || access.name.includes("store") ? null : element("p", { class: "hint" }, "Writes and reads of the tile need the same change."));
}

/** What would remove the conflicts, or why there is nothing to say. */
function advice(data, { access, given }, options, before) {
  const passes = before.reduce((sum, found) => sum + extraPasses(found), 0);
  if (!passes) return element("p", { class: "advice" }, "No phase needs more than one pass: there is nothing to remove.");
  const active = given[0].active;
  const found = given.every((one) => one.active.every(Boolean)) ? advise(data, access, given.map((one) => one.addresses), { ...options, active }) : null;
  if (!found) return element("p", { class: "advice" }, "One exclusive-or term or one padding does not remove half of the extra passes (or lanes are idle or not aligned, which is not tried).");
  const text = describeChange(found.change, Number(value("element", "2")) || 1);
  const take = () => {
    const { change: chosen } = found;
    if (chosen.pad) change({ change: "pad", row: chosen.row, pad: chosen.pad });
    else change({ change: "xor", shift: chosen.terms[0][0], mask: chosen.terms[0][1], left: chosen.terms[0][2] });
  };
  return element("p", { class: "advice" }, `Simplest change found: ${found.before} extra passes become ${found.after}: `, codeLine(text.code), element("button", { type: "button", class: "take", click: take }, "use it"));
}

/** A punch card: a row for each phase, a column for each bank, a mark for each dword in it. */
function card(title, access, every, reason = "") {
  const passes = every.reduce((sum, found) => sum + extraPasses(found), 0);
  const detail = element("p", { class: "detail", "aria-live": "polite" }, "Point at a bank, tap it, or move with the arrow keys: its dwords and lanes.");
  const figures = every.map((found, number) => {
    const several = every.length > 1 ? `access ${number + 1} of ${every.length}: ` : "";
    return element("figure", { class: "panel" },
      element("figcaption", {}, `${several}degrees ${found.map((phase) => phase.degree).join(", ")}`),
      phaseTable(access, found, detail));
  });
  return element("section", { class: "card", "data-passes": String(passes) }, element("h2", {}, `${title}: ${passes} extra pass${passes === 1 ? "" : "es"}`), reason ? element("p", { class: "reason" }, reason) : null, detail, element("div", { class: "scroll" }, figures));
}

function phaseTable(access, found, detail) {
  const wide = 14;
  const edge = 74;
  const heights = found.map((phase) => Math.max(1, phase.degree) * 9 + 5);
  const height = 16 + heights.reduce((sum, high) => sum + high, 0);
  const width = edge + access.banks * wide + 4;
  const canvas = element("canvas", { tabindex: "0", role: "application", class: "grid", "aria-label": found.map((phase, n) => `phase ${n}: lanes ${runs(phase.lanes)}, degree ${phase.degree}`).join("; ") });
  const ratio = Math.max(1, window.devicePixelRatio || 1);
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
  const pen = canvas.getContext("2d");
  const ink = inks();
  pen.scale(ratio, ratio);
  pen.fillStyle = ink.paper;
  pen.fillRect(0, 0, width, height);
  pen.font = FONT;
  pen.textBaseline = "middle";
  pen.fillStyle = ink.faint;
  pen.textAlign = "right";
  pen.fillText("bank", edge - 4, 8);
  pen.textAlign = "center";
  for (let bank = 0; bank < access.banks; bank += 4) pen.fillText(String(bank), edge + (bank + 0.5) * wide, 8);
  let top = 16;
  const tops = found.map((phase, number) => {
    const start = top;
    pen.fillStyle = ink.text;
    pen.textAlign = "right";
    pen.fillText(`phase ${number}: ×${phase.degree}`, edge - 4, top + (heights[number] - 4) / 2);
    for (let bank = 0; bank < access.banks; bank++) {
      const dwords = [...(phase.banks.get(bank) ?? [])];
      dwords.forEach(([, lanes], pass) => {
        pen.fillStyle = groupColour(pass);
        pen.fillRect(edge + bank * wide + 1, start + pass * 9, wide - 2, 8);
        pen.fillStyle = inkOn(groupColour(pass));
        pen.textAlign = "center";
        pen.fillText(String(lanes[0]), edge + (bank + 0.5) * wide, start + pass * 9 + 4.5, wide - 2);
      });
      if (!dwords.length) {
        pen.fillStyle = ink.faint;
        pen.fillRect(edge + (bank + 0.5) * wide - 0.5, start + 4, 1, 1);
      }
    }
    top += heights[number];
    return start;
  });
  const mark = element("i", { class: "mark", hidden: true });
  let [number, bank] = [0, 0];
  const show = () => {
    const text = [...(found[number].banks.get(bank) ?? [])].map(([dword, lanes]) => `bytes ${4 * dword}–${4 * dword + 3}: lane${lanes.length > 1 ? "s" : ""} ${runs(lanes)}`);
    detail.textContent = `phase ${number}, bank ${bank}: ${text.join("; ") || "not accessed"}`;
    mark.hidden = false;
    mark.style.cssText = `left:${edge + bank * wide}px;top:${tops[number] - 1}px;width:${wide}px;height:${heights[number] - 2}px`;
  };
  const pointed = (event) => {
    const box = canvas.getBoundingClientRect();
    const at = [tops.findLastIndex((start) => event.clientY - box.top >= start), Math.floor((event.clientX - box.left - edge) / wide)];
    if (at[0] < 0 || at[1] < 0 || at[1] >= access.banks) return;
    [number, bank] = at;
    show();
  };
  canvas.addEventListener("pointermove", pointed);
  canvas.addEventListener("click", pointed);
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    number = Math.min(found.length - 1, Math.max(0, number + step[0]));
    bank = Math.min(access.banks - 1, Math.max(0, bank + step[1]));
    show();
    event.preventDefault();
  });
  return element("div", { class: "marked" }, canvas, mark);
}
