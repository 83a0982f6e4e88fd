/** The page: its views, its theme, and `window.mfmasim`. */

import { makeApi } from "./api.js";
import { printing, systemIsDark } from "./colours.js";
import { element } from "./dom.js";
import { own } from "./errors.js";
import { drawFormats } from "./formats_view.js";
import { drawFragments } from "./fragment_view.js";
import { drawLds } from "./lds_view.js";
import { address, change, fallBackOn, lastValues, onChange, readState, view } from "./state.js";
import { drawPuzzles } from "./puzzle_view.js";
import { drawSlides } from "./slides_view.js";
import { drawStepper } from "./stepper_view.js";
import { drawTime } from "./time_view.js";

const VIEWS = { fragment: ["Fragments", drawFragments], lds: ["LDS", drawLds], formats: ["Formats", drawFormats], stepper: ["Stepper", drawStepper], time: ["Time", drawTime], puzzles: ["Puzzles", drawPuzzles], slides: ["Slides", (data, root) => drawSlides(data, root, (name, figure) => VIEWS[name][1](data, figure))] };
/** Views that wait for recorded runs. */
const LATE = ["stepper", "time", "slides"];

/** Text of base64 that was compressed by gzip. */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** What a view opens with from the navigation; without what the architecture of the present view does not have. */
function opening(data, name) {
  const found = lastValues(name);
  const target = own(data.archs, found.arch);
  const has = (list, wanted) => !wanted || list.includes(wanted);
  if (target && name === "fragment" && !has(target.matrix.flatMap((row) => [row.name, row.alias]), found.op)) return { arch: found.arch };
  if (target && name === "lds" && !(has(target.lds.instructions.map((row) => row[0]), found.ds) && has(["layout", ...target.matrix.map((row) => row.name)], found.op))) return { arch: found.arch };
  return found;
}

function draw(data) {
  const root = document.querySelector("main");
  const name = Object.hasOwn(VIEWS, view()) ? view() : "fragment";
  for (const link of document.querySelectorAll("nav a")) {
    link.setAttribute("aria-current", link.dataset.view === name ? "page" : "false");
    link.setAttribute("href", address(link.dataset.view, opening(data, link.dataset.view)));
    // On a narrow window the views scroll sideways.
    if (link.dataset.view === name) link.parentElement.scrollLeft = link.offsetLeft - link.parentElement.offsetLeft - 60;
  }
  const focused = document.activeElement?.getAttribute("name");
  root.replaceChildren();
  fallBackOn({});
  document.onkeydown = null;
  VIEWS[name][1](data, root);
  if (focused) root.querySelector(`[name="${CSS.escape(focused)}"]`)?.focus();
}

function themeButton(redraw) {
  const next = { "": "dark", dark: "light", light: "" };
  const button = document.querySelector("#theme");
  button.addEventListener("click", () => {
    const theme = next[document.documentElement.dataset.theme ?? ""];
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    button.textContent = `theme: ${theme || "system"}`;
    redraw();
  });
  systemIsDark.addEventListener("change", redraw);
  printing.addEventListener("change", redraw);
  for (const [event, printed] of [["beforeprint", "yes"], ["afterprint", ""]]) {
    window.addEventListener(event, () => {
      if (printed) document.documentElement.dataset.printing = printed;
      else delete document.documentElement.dataset.printing;
      redraw();
    });
  }
}

async function start() {
  const data = await unpack(document.querySelector("#rows").textContent);
  data.records = data.timelines = null;
  window.mfmasim = makeApi(data);
  const nav = document.querySelector("nav");
  for (const [name, [title]] of Object.entries(VIEWS)) {
    nav.append(element("a", { href: `#${name}`, "data-view": name, click: (event) => {
      event.preventDefault();
      change(opening(data, name), { to: name });
    } }, title));
  }
  if (!location.hash && document.documentElement.dataset.start) location.replace(document.documentElement.dataset.start);
  readState();
  onChange(() => draw(data));
  themeButton(() => draw(data));
  if (!LATE.includes(view())) draw(data);
  // The recorded runs are the larger part, and few views show them: the others do not wait.
  for (const part of ["records", "timelines"]) data[part] = await unpack(document.querySelector(`#${part}`).textContent);
  if (LATE.includes(view())) draw(data);
  document.documentElement.dataset.ready = "yes";
}

start();
