/** The stepper: a recorded run, instruction by instruction. */

import { choice, element } from "./dom.js";
import { own } from "./errors.js";
import { decode, findFormat } from "./formats.js";
import { stateAfter } from "./replay.js";
import { change, value, view } from "./state.js";

const SHOWN = 24;
let timer = null;

const FORMS = ["hex", "i32", "f32", "f16", "bf16", "e4m3fn", "e4m3fnuz", "e5m2"];

const hexText = (number) => `0x${(number >>> 0).toString(16)}`;

/** How dwords are shown: in the chosen format, narrow ones from the lowest bits up. */
function dwordText(data) {
  const name = value("as", "hex");
  if (name === "hex" || !FORMS.includes(name)) return hexText;
  if (name === "i32") return (number) => String(number | 0);
  const format = findFormat(data, name);
  const mask = format.bits === 32 ? 0xffffffff : 2 ** format.bits - 1;
  const text = (code) => { const found = decode(format, code); return String(Object.is(found, -0) ? "-0" : Number(found.toPrecision(7))); };
  return (number) => {
    const fields = Array.from({ length: 32 / format.bits }, (_, n) => text(((number >>> (n * format.bits)) & mask) >>> 0));
    return fields.length > 1 ? `[${fields.join(" ")}]` : fields[0];
  };
}

/** Draw the view. */
export function drawStepper(data, root) {
  clearTimeout(timer);
  if (!data.records) {
    root.append(element("p", { class: "hint" }, "The recorded runs are being unpacked."));
    return;
  }
  const run = data.records[Number(value("run", "0"))] ?? data.records[0];
  if (!run) {
    root.append(element("p", { class: "hint" }, "This page holds no recorded run."));
    return;
  }
  const count = Math.min(run.steps.length, Math.max(0, Number(value("step", "1")) || 0));
  const state = stateAfter(data, run, count);
  const shownAs = dwordText(data);
  root.append(stepperControls(data, run, count), headline(run, state),
    element("div", { class: "stepper" }, listing(run, state, count), element("div", {}, element("div", { class: "waves" }, run.waves.map((_, wave) => waveState(run, state, wave, shownAs))), ldsState(state, shownAs))));
  root.querySelector('.listing [aria-current="true"]')?.scrollIntoView({ block: "center" });
}

function stepperControls(data, run, count) {
  const go = (step) => change({ step: Math.min(run.steps.length, Math.max(0, step)) }, { replace: true });
  if (view() === "stepper") { // not on a slide, which has keys of its own
    document.onkeydown = (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by && !["INPUT", "SELECT"].includes(event.target.tagName)) go(count + by);
    };
  }
  const button = (text, name, click) => element("button", { type: "button", name, click }, text);
  const playing = value("play") === "1";
  if (playing && count < run.steps.length) timer = setTimeout(() => go(count + 1), 400);
  const slider = element("input", { type: "range", name: "step", min: "0", max: String(run.steps.length), value: String(count), "aria-label": "step", change: (event) => go(Number(event.target.value)) });
  return element("div", { class: "controls" },
    choice("run", "run", data.records.map((found, n) => [n, `${data.runs[found.title] ?? found.title} (${found.arch})`]), data.records.indexOf(run), (found) => change({ run: found, step: 1, reg: "" })),
    button("start", "first", () => go(0)), button("back", "back", () => go(count - 1)), button("forward", "forward", () => go(count + 1)), // arrow keys do the same
   
    button(playing ? "stop" : "play", "play", () => change({ play: playing ? "" : "1" })),
    choice("registers as", "as", FORMS, value("as", "hex"), (found) => change({ as: found })),
    element("label", { class: "control" }, element("span", {}, `step ${count} of ${run.steps.length}`), slider));
}

function headline(run, state) {
  if (!state.last) return element("p", { class: "hint" }, "Before the first instruction.");
  const [number, wave] = state.last;
  const [pc, text, line] = run.code[number];
  return element("h2", { class: "now", "aria-live": "polite" }, `wave ${wave} executed ${hexText(pc)}: ${text}`, line ? element("span", { class: "hint" }, `  ${line}`) : "");
}

/** Instructions by address with their source lines; a click goes to the next time that one is executed. */
function listing(run, state, count) {
  const parts = [];
  let before = null;
  run.code.forEach(([pc, text, place], number) => {
    if (place && place !== before) {
      const [name, line] = [place.slice(0, place.lastIndexOf(":")), Number(place.slice(place.lastIndexOf(":") + 1))];
      parts.push(element("div", { class: "line" }, `${place}  ${run.source[name]?.[line - 1]?.trim() ?? ""}`));
    }
    before = place;
    const here = state.last?.[0] === number;
    const marks = run.waves.map((_, wave) => (state.waves[wave].at === number ? String(wave) : "·")).join("");
    const jump = () => {
      const later = run.steps.findIndex((step, n) => n >= count && step[0] === number);
      const first = run.steps.findIndex((step) => step[0] === number);
      change({ step: (later >= 0 ? later : first) + 1 });
    };
    parts.push(element("button", { type: "button", "aria-current": here ? "true" : "false", click: jump }, `${marks}  ${pc.toString(16).padStart(5)}  ${text}`));
  });
  return element("div", { class: "listing", role: "group", "aria-label": "instructions" }, parts);
}

/** Counters, scalars and vector registers of a wave. */
function waveState(run, state, wave, shownAs) {
  const held = state.waves[wave];
  const mine = state.last?.[1] === wave;
  const counters = run.counters.map((name) => `${name} ${held.counters[name] ?? 0}`).join(", ");
  const [group, number] = run.waves[wave];
  const chosen = value("reg");
  const names = Object.keys(held.vectors).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const recent = mine ? held.changed.filter((name) => name in held.vectors) : [];
  const shown = [...new Set([...recent, ...names.filter((name) => held.vectors[name].names), ...names])].slice(0, SHOWN);
  const scalars = Object.entries(held.scalars).map(([name, found]) => element("span", { class: mine && held.changed.includes(name) ? "changed" : "" }, `${name}=${hexText(found)} `));
  return element("section", { class: "wave", "data-wave": String(wave) },
    element("h2", {}, `wave ${number} of workgroup (${group.join(", ")})`),
    element("p", { class: "facts" }, `in flight: ${counters || "–"}${held.flying.length ? ` (not yet in ${held.flying.join(", ")})` : ""}; EXEC 0x${held.exec || "–"}`),
    element("details", {}, element("summary", {}, `${scalars.length} scalar registers`), element("p", { class: "formula" }, scalars)),
    element("div", { class: "registers-list" }, shown.map((name) => registerLine(held, name, recent.includes(name), chosen, shownAs))),
    own(held.vectors, chosen) ? laneTable(held.vectors[chosen], chosen, shownAs) : null);
}

function registerLine(held, name, changed, chosen, shownAs) {
  const { values, names } = held.vectors[name];
  const text = names ? `${names[0].filter(Boolean).join(" ") || "–"}; lane 1: ${names[1].filter(Boolean).join(" ") || "–"} …` : `${shownAs(values[0])} ${shownAs(values[1])} ${shownAs(values[2])} …`;
  const late = held.flying.includes(name) ? " in flight" : "";
  return element("button", { type: "button", name: `reg-${name}`, class: `register${changed ? " changed" : ""}`, "aria-pressed": chosen === name ? "true" : "false", click: () => change({ reg: chosen === name ? "" : name }) }, `${name}${late}: ${text}`);
}

/** What every lane holds: the value and the elements from the lowest bits up. */
function laneTable({ values, names }, name, shownAs) {
  const cells = values.map((found, lane) => element("span", { class: "lane" }, element("b", {}, `L${lane}`), ` ${shownAs(found)} `, element("em", {}, names?.[lane].filter(Boolean).join(" ") ?? "")));
  return element("div", { class: "lanes", "aria-label": `lanes of ${name}` }, cells);
}

/** Dwords of the LDS that were written, 32 in a row as the banks are. */
function ldsState(state, shownAs) {
  if (!state.lds.size) return element("p", { class: "hint" }, "Nothing has been written to the LDS: it holds its initial contents.");
  const last = Math.max(...state.lds.keys());
  const cells = Array.from({ length: Math.ceil((last + 1) / 32) * 32 }, (_, dword) => {
    const held = state.lds.get(dword);
    const kind = state.ldsChanged.has(dword) ? "new" : held === undefined ? "empty" : "held";
    return element("i", { class: kind, title: `byte ${4 * dword}, bank ${dword % 32}: ${held === undefined ? "initial contents, not written" : shownAs(held)}` });
  });
  return element("section", {}, element("h2", {}, `LDS: ${state.lds.size} dwords written, ${state.ldsChanged.size} by this instruction; 32 banks in a row`), element("div", { class: "ldsmap" }, cells));
}
