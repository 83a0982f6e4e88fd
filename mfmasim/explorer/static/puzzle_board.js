/** Bits as tiles: dragged by mouse or finger, tapped, or chosen and placed by keys. */

import { element } from "./dom.js";

const FAR = 6; // pixels from which a press is a drag

/**
 * A board on which the bits of the answer are put together.
 * @param {object} given - inputs and widths, as `bitsAsked` makes them.
 * @param {Function} toggle - called with the field, the bit and the number of the input that is added or taken away.
 * @returns {object} node; show(bits): draw what the formulas are, by field: sets of inputs by bit, or null.
 */
export function makeBoard({ inputs, widths }, toggle) {
  const shown = {};
  const boxes = new Map();
  const title = ([name, bit]) => (name === "1" ? "1" : `${name}[${bit}]`);
  let chosen = null;
  let dragged = false;
  const tiles = inputs.map((input, n) => element("button", { type: "button", class: "tile", "data-input": String(n), "aria-pressed": "false", pointerdown: (event) => drag(event, n, null), click: (event) => pressed(event) && choose(chosen === n ? null : n) }, title(input)));
  const choose = (n) => {
    chosen = n;
    tiles.forEach((tile, k) => tile.setAttribute("aria-pressed", String(k === n)));
  };
  /** Whether a click is a press, not the end of a drag; keys have no detail. */
  const pressed = (event) => !event.detail || !dragged;
  const press = (field, bit) => {
    const held = shown[field]?.[bit];
    if (chosen !== null) toggle(field, bit, chosen);
    else if (held?.size) toggle(field, bit, [...held].at(-1));
  };
  const rows = Object.entries(widths).map(([field, width]) => {
    const line = Array.from({ length: width }, (_, n) => width - 1 - n).map((bit) => {
      const box = element("button", { type: "button", class: "box", "data-field": field, "data-bit": String(bit), click: (event) => pressed(event) && press(field, bit), pointerdown: (event) => shown[field]?.[bit].size && drag(event, [...shown[field][bit]].at(-1), box) });
      boxes.set(`${field} ${bit}`, box);
      return box;
    });
    return element("div", { class: "row" }, element("span", {}, `${field} =`), line);
  });

  /** Follow a pointer that took an input, from the tray or from a box, until it is released. */
  function drag(event, n, from) {
    if (event.button) return;
    const [x, y] = [event.clientX, event.clientY];
    dragged = false;
    let ghost = null;
    const move = (next) => {
      if (next.pointerId !== event.pointerId || (!ghost && Math.hypot(next.clientX - x, next.clientY - y) < FAR)) return;
      if (!ghost) document.body.append((ghost = element("span", { class: "tile ghost", "aria-hidden": "true" }, title(inputs[n]))));
      ghost.style.left = `${next.clientX}px`;
      ghost.style.top = `${next.clientY}px`;
    };
    const end = (next) => {
      if (next.pointerId !== event.pointerId) return;
      for (const [kind, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]]) window.removeEventListener(kind, listener);
      if (!ghost) return;
      ghost.remove();
      dragged = true;
      const box = next.type === "pointerup" ? document.elementFromPoint(next.clientX, next.clientY)?.closest(".box") : from;
      if (box === from) return;
      if (from) toggle(from.dataset.field, Number(from.dataset.bit), n);
      if (box && !shown[box.dataset.field]?.[box.dataset.bit].has(n)) toggle(box.dataset.field, Number(box.dataset.bit), n);
    };
    for (const [kind, listener] of [["pointermove", move], ["pointerup", end], ["pointercancel", end]]) window.addEventListener(kind, listener);
  }

  return {
    node: element("details", { class: "board", open: true }, element("summary", {}, "build the answer from bits"),
      element("p", { class: "hint" }, "Drag a bit onto a bit of the answer, or choose it and then the place; press a place to empty it. Several bits in one place are their exclusive-or."),
      element("div", { class: "row tray", role: "group", "aria-label": "bits to use" }, tiles),
      rows),
    show(bits) {
      Object.assign(shown, bits);
      for (const [key, box] of boxes) {
        const [field, bit] = key.split(" ");
        const held = bits[field] ? [...bits[field][bit]].map((n) => title(inputs[n])).join(" ^ ") : "?";
        box.textContent = held || `[${bit}]`;
        box.classList.toggle("empty", !held);
        box.setAttribute("aria-label", `bit ${bit} of ${field}: ${held === "?" ? "not a combination of bits" : held || "0"}`);
      }
    },
  };
}
