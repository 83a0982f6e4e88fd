/** The state of the page, which the address bar holds: "#view?name=value&...". */

const listeners = [];
let current = { view: "fragment", values: {} };

/** Read the address bar. */
export function readState() {
  const [view, query = ""] = location.hash.slice(1).split("?");
  current = { view: view || "fragment", values: Object.fromEntries(new URLSearchParams(query)) };
  return current;
}

/** The value of a name, or what is given. */
export function value(name, otherwise = "") {
  return current.values[name] ?? otherwise;
}

/** The view that is shown. */
export function view() {
  return current.view;
}

/** The address of a state, for links. */
export function address(name, values) {
  const kept = Object.entries(values).filter(([, found]) => found !== "" && found !== null && found !== undefined);
  return `#${name}${kept.length ? `?${new URLSearchParams(kept)}` : ""}`;
}

/** Change values; an empty one is dropped. `quiet` keeps the page as it is drawn. */
export function change(values, { quiet = false, to = current.view } = {}) {
  const merged = to === current.view ? { ...current.values, ...values } : values;
  const hash = address(to, merged);
  history.replaceState(null, "", hash);
  readState();
  if (!quiet) for (const listener of listeners) listener();
}

/** Call a function when the state changes. */
export function onChange(listener) {
  listeners.push(listener);
  window.addEventListener("hashchange", () => {
    readState();
    listener();
  });
}
