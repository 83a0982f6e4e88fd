/** The time view: a row for each wave and matrix core, what it issues when, and why it waits. */

import { inks, pipeColour } from "./colours.js";
import { choice, element } from "./dom.js";
import { entryAt, firstAbove, unpackTimeline, whyItWaits } from "./timeline.js";
import { change, value } from "./state.js";

const KINDS = { matrix: 1, VALU: 0, LDS: 2, memory: 3, scalar: 4, "scalar memory": 5, branch: 6, internal: 7 };
/** The pipe whose colour a wait has, by its reason. */
const REASONS = { barrier: 6, "issue slot": 4, "matrix core": 1, "matrix result": 1, VALU: 0, "VALU result": 0, vmcnt: 3, stores: 3, lgkmcnt: 2 };
const [LEFT, AXIS, WAVE, CORE, GAP] = [112, 20, 30, 14, 8];
/** Clocks that the view opens with: about a turn of the main loop. */
const SPAN = 2400;
const LEAST = 60;
const unpacked = new Map();

/** Draw the view. */
export function drawTime(data, root) {
  if (!data.timelines) {
    root.append(element("p", { class: "hint" }, "The timelines are being unpacked."));
    return;
  }
  const number = data.timelines[Number(value("run", "0"))] ? Number(value("run", "0")) : 0;
  if (!unpacked.has(number)) unpacked.set(number, unpackTimeline(data.timelines[number]));
  const run = unpacked.get(number);
  const shared = { run, rows: rowsOf(run), window: windowOf(run), at: selected(run) };
  shared.canvas = element("canvas", { class: "time", tabindex: "0", role: "application", "aria-label": `${run.title}: clocks across, waves down; arrow keys go from instruction to instruction, plus and minus zoom` });
  shared.info = element("section", { class: "info time", tabindex: "0", "aria-live": "polite", "aria-label": "selected" });
  root.append(timeControls(data, shared, number),
    element("p", { class: "facts" }, element("strong", {}, run.title), ` on ${run.arch}: ${run.clocks.toLocaleString("en")} clocks of a model of one compute unit, with latencies as in the tables; not a measurement.`),
    kinds(run), shared.canvas, shared.info,
    element("p", { class: "hint" }, "A row for each wave: what it issues, coloured by pipe; below that, thinner, what it waits for. A matrix core has a paler colour for waves 4 to 7. Drag to move, wheel or + and - to zoom, tap or click an instruction. Drawn anew by: ", element("code", {}, run.about)));
  listen(shared);
  paintTime(shared);
  describeInstruction(shared);
}

function timeControls(data, shared, number) {
  const button = (text, name, click) => element("button", { type: "button", name, click }, text);
  const { window: [from, to] } = shared;
  const middle = (from + to) / 2;
  return element("div", { class: "controls" },
    choice("schedule", "run", data.timelines.map((one, n) => [n, one.title]), number, (found) => change({ run: found, clocks: "", at: "" })),
    button("zoom in", "in", () => show(shared, middle - (to - from) / 4, middle + (to - from) / 4)),
    button("zoom out", "out", () => show(shared, middle - (to - from), middle + (to - from))),
    button("earlier", "earlier", () => show(shared, from - (to - from) / 2, to - (to - from) / 2)),
    button("later", "later", () => show(shared, from + (to - from) / 2, to + (to - from) / 2)),
    button("all", "all", () => show(shared, 0, shared.run.clocks)));
}

/** Show a range of clocks; the address has it. */
function show(shared, from, to) {
  const span = Math.min(shared.run.clocks, Math.max(LEAST, to - from));
  const first = Math.max(0, Math.min(shared.run.clocks - span, from));
  change({ clocks: `${Math.round(first)}-${Math.round(first + span)}` }, { replace: true });
}

function windowOf(run) {
  const [from, to] = value("clocks").split("-").map(Number);
  if (from >= 0 && to >= from + LEAST && to <= run.clocks * 1.01) return [from, to];
  const first = Math.round(0.3 * run.clocks);
  return [first, Math.min(run.clocks, first + SPAN)];
}

/** The selected instruction, "wave.number" in the address, or null. */
function selected(run) {
  const [wave, n] = value("at").split(".").map(Number);
  const lane = run.lanes.findIndex((one) => one.wave === wave);
  return lane >= 0 && n >= 0 && n < run.lanes[lane].issued.length ? { lane, n } : null;
}

function rowsOf(run) {
  const rows = [];
  let top = AXIS;
  const add = (row) => {
    rows.push({ ...row, top });
    top += row.height + 2;
  };
  for (const [simd, core] of Object.entries(run.cores)) {
    add({ core, height: CORE, text: `SIMD ${simd} matrix` });
    run.lanes.forEach((lane, n) => lane.simd === Number(simd) && add({ lane: n, height: WAVE, text: `wave ${lane.wave}` }));
    top += GAP;
  }
  rows.height = top;
  return rows;
}

/** What the colours mean: a pipe, and the waits for it, which are drawn thinner. */
function kinds(run) {
  const used = [...new Set(run.operations.map(([, , kind]) => kind))];
  const swatch = (name, number, kind = "") => element("span", { class: "swatch" }, element("i", { class: kind, style: `background:${pipeColour(number)}` }), name);
  const waits = new Map();
  for (const reason of run.reasons.filter(Boolean)) waits.set(REASONS[reason] ?? 7, [...(waits.get(REASONS[reason] ?? 7) ?? []), reason]);
  return element("p", { class: "legend" }, "issues: ", used.map((kind) => swatch(kind, KINDS[kind] ?? 7)), " waits for, thinner: ",
    [...waits].map(([number, reasons]) => swatch(reasons.join(", "), number, "wait")));
}

function paintTime({ canvas, run, rows, window: [from, to], at }) {
  const width = Math.max(300, canvas.parentElement.clientWidth);
  const ratio = Math.max(1, window.devicePixelRatio || 1);
  [canvas.width, canvas.height] = [width * ratio, rows.height * ratio];
  [canvas.style.width, canvas.style.height] = [`${width}px`, `${rows.height}px`];
  const pen = canvas.getContext("2d");
  const ink = inks();
  pen.scale(ratio, ratio);
  pen.fillStyle = ink.paper;
  pen.fillRect(0, 0, width, rows.height);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const scale = (width - LEFT) / (to - from);
  const x = (clock) => LEFT + (clock - from) * scale;
  axis(pen, ink, { from, to, x, height: rows.height });
  for (const row of rows) {
    pen.fillStyle = ink.text;
    pen.textAlign = "left";
    pen.fillText(row.text, 2, row.top + row.height / 2);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, row.top, width - LEFT, row.height);
    pen.clip();
    if (row.core) paintCore(pen, row, { from, to, x, scale });
    else paintWave(pen, run, row, { from, to, x, scale, mark: ink.mark, chosen: at?.lane === row.lane ? at.n : null });
    pen.restore();
  }
}

function axis(pen, ink, { from, to, x, height }) {
  const rough = (to - from) / 8;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((one) => one * power >= rough);
  pen.textAlign = "left";
  for (let clock = Math.ceil(from / step) * step; clock < to; clock += step) {
    pen.fillStyle = ink.faint;
    pen.globalAlpha = 0.35;
    pen.fillRect(x(clock), AXIS - 5, 1, height);
    pen.globalAlpha = 1;
    pen.fillText(clock.toLocaleString("en"), x(clock) + 3, 9);
  }
}

function paintCore(pen, { core, top, height }, { from, to, x, scale }) {
  for (let n = Math.max(0, firstAbove(core.start, from) - 1); n < core.start.length && core.start[n] < to; n++) {
    pen.fillStyle = pipeColour(core.wave[n] % 8 < 4 ? 1 : 8); // the halves of a ping-pong differ
    pen.fillRect(x(core.start[n]), top, Math.max(0.7, core.lasts[n] * scale - 0.5), height);
  }
}

function paintWave(pen, run, { lane: number, top, height }, { from, to, x, scale, mark, chosen }) {
  const lane = run.lanes[number];
  const high = height * 0.62;
  for (let n = Math.max(0, firstAbove(lane.issued, from) - 2); n < lane.issued.length && lane.issued[n] - lane.stood[n] < to; n++) {
    const left = x(lane.issued[n]);
    if (lane.stood[n]) {
      pen.fillStyle = pipeColour(REASONS[run.reasons[lane.reason[n]]] ?? 7);
      pen.fillRect(x(lane.issued[n] - lane.stood[n]), top + high + 1, Math.max(0.6, lane.stood[n] * scale), height - high - 3);
    }
    pen.fillStyle = pipeColour(KINDS[run.operations[lane.op[n]][2]] ?? 7);
    pen.fillRect(left, top, Math.max(0.7, lane.lasts[n] * scale - 0.5), high);
    if (n === chosen) {
      pen.strokeStyle = mark;
      pen.lineWidth = 2;
      pen.strokeRect(left - 1, top + 1, Math.max(4, lane.lasts[n] * scale + 1), height - 2);
    }
  }
}

function listen(shared) {
  const { canvas, rows, run } = shared;
  const { window: [from, to] } = shared;
  const span = to - from;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    const clock = from + ((event.clientX - box.left - LEFT) * span) / (box.width - LEFT);
    const row = rows.find((one) => event.clientY - box.top >= one.top && event.clientY - box.top < one.top + one.height);
    const n = row?.lane === undefined || clock < from ? null : entryAt(run.lanes[row.lane], clock);
    return { clock, found: n === null ? null : { lane: row.lane, n } };
  };
  const choose = (found) => change({ at: found ? `${run.lanes[found.lane].wave}.${found.n}` : "" }, { replace: true });
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => (drag = { x: event.clientX, moved: false }));
  canvas.addEventListener("pointermove", (event) => {
    if (drag && Math.abs(event.clientX - drag.x) > 4) drag.moved = true;
    if (!drag && !shared.at) describeInstruction(shared, place(event).found);
  });
  canvas.addEventListener("pointerup", (event) => {
    const by = drag?.moved ? ((drag.x - event.clientX) * span) / (canvas.clientWidth - LEFT) : 0;
    drag = null;
    if (by) show(shared, from + by, to + by);
    else choose(place(event).found);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const factor = Math.exp(event.deltaY / 400);
    const { clock } = place(event);
    show(shared, clock - (clock - from) * factor, clock + (to - clock) * factor);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const zoom = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (zoom) show(shared, (from + to) / 2 - (span * zoom) / 2, (from + to) / 2 + (span * zoom) / 2);
    else if (event.key === "Escape") choose(null);
    else if (step) choose(moved(shared, step));
    else return;
    event.preventDefault();
  });
  canvas.setAttribute("name", "time"); // keeps the focus when the view is drawn anew
}

/** The instruction beside the selected one, in its wave or in the next. */
function moved({ run, at, window: [from] }, [down, over]) {
  if (!at) return { lane: 0, n: Math.min(run.lanes[0].issued.length - 1, firstAbove(run.lanes[0].issued, from)) };
  const lane = Math.min(run.lanes.length - 1, Math.max(0, at.lane + down));
  const { issued } = run.lanes[lane];
  const n = down ? (entryAt(run.lanes[lane], run.lanes[at.lane].issued[at.n]) ?? 0) : at.n + over;
  return { lane, n: Math.min(issued.length - 1, Math.max(0, n)) };
}

/** An instruction, its source line, its clocks, and why it waited. */
function describeInstruction({ run, info, at }, found = at) {
  info.replaceChildren();
  if (!found) {
    info.append(element("p", { class: "hint" }, "Point at a wave's row."));
    return;
  }
  const lane = run.lanes[found.lane];
  const [text, place, kind] = run.operations[lane.op[found.n]];
  const why = whyItWaits(run, lane, found.n);
  info.append(element("h2", {}, `wave ${lane.wave} of SIMD ${lane.simd}, clock ${lane.issued[found.n].toLocaleString("en")}: ${text}`));
  if (why) info.append(element("p", { class: "notice why" }, `It ${why}.`));
  info.append(element("p", { class: "notice" }, `${kind}, ${lane.lasts[found.n]} clocks of its pipe.`));
  if (place) info.append(element("p", { class: "notice" }, element("code", {}, `${place}  ${(run.source[place] ?? "").trim()}`)));
}
