/** Small helpers for elements of the page. */

/** An element with attributes (functions become listeners) and children (nodes or texts). */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function") made.addEventListener(key, value);
    else if (key in made && typeof value !== "string") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** A labelled list of choices; `choices` are values or [value, text] pairs; calls `change` with the value. */
export function choice(label, name, choices, value, change) {
  const options = choices.map((found) => {
    const [key, text] = Array.isArray(found) ? found : [found, found];
    return element("option", { value: String(key), selected: String(key) === String(value) }, String(text));
  });
  const list = element("select", { name, "aria-label": label, change: (event) => change(event.target.value) }, options);
  return element("label", { class: "control" }, element("span", {}, label), list);
}

/** A labelled text field that calls `change` when it is left or Enter is pressed. */
export function field(label, name, value, change, attributes = {}) {
  const input = element("input", { name, value: String(value), "aria-label": label, spellcheck: "false", ...attributes });
  input.addEventListener("change", () => change(input.value));
  return element("label", { class: "control" }, element("span", {}, label), input);
}

/** A button that copies a text. */
export function copyButton(text) {
  return element("button", {
    type: "button",
    class: "copy",
    title: "Copy",
    click: async (event) => {
      const { target } = event;
      await navigator.clipboard?.writeText(text);
      target.textContent = "copied";
    },
  }, "copy");
}

/** A line of code with a button that copies it. */
export function codeLine(text) {
  return element("span", { class: "codeline" }, element("code", {}, text), copyButton(text));
}

/** What went wrong, instead of a figure. */
export function problem(error) {
  return element("p", { class: "problem", role: "alert" }, error.message);
}

/** Runs of consecutive numbers, such as "0–15, 32–47". */
export function runs(numbers) {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const found = [];
  for (const number of sorted) {
    const last = found.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");
}
