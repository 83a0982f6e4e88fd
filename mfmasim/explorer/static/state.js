/** The state of the page, which the address bar holds: "#view?name=value&...". Each change is an entry of the history. */

const listeners = [];
let current = { view: "fragment", values: {} };
/** What the other views showed when they were left, by view; in the history's entry, so that a reload has it too. */
let kept = {};
let fallback = {};

/** Read the address bar. */
export function readState() {
  const [view, query = ""] = location.hash.slice(1).split("?");
  current = { view: view || "fragment", values: Object.fromEntries(new URLSearchParams(query)) };
  kept = { ...(history.state?.kept ?? kept), [current.view]: current.values };
  return current;
}

/** The value of a name, or what is given. */
export function value(name, otherwise = "") {
  return current.values[name] ?? fallback[name] ?? otherwise;
}

/** The view that is shown. */
export function view() {
  return current.view;
}

/** The address of a state, for links. */
export function address(name, values) {
  const found = Object.entries(values).filter(([, one]) => one !== "" && one !== null && one !== undefined);
  return `#${name}${found.length ? `?${new URLSearchParams(found)}` : ""}`;
}

/** What a view showed last, with the architecture of the view that is shown now. */
export function lastValues(name) {
  const { arch } = current.values;
  return { ...kept[name], ...(arch && ["fragment", "lds"].includes(name) ? { arch } : {}) };
}

/**
 * Change values; an empty one is dropped.
 * @param {object} values - by name.
 * @param {object} how - `quiet` keeps the page as it is drawn; `replace` makes no entry of the history; `fresh` drops
 *     the other values; `to`: the view.
 */
export function change(values, { quiet = false, replace = false, fresh = false, to = current.view } = {}) {
  const hash = address(to, to === current.view && !fresh ? { ...current.values, ...values } : values);
  if (hash !== (location.hash || address(current.view, {}))) history[replace ? "replaceState" : "pushState"]({ kept }, "", hash);
  readState();
  if (!quiet) for (const listener of listeners) listener();
}

/** Values that hold where the address names none, such as those of a slide. */
export function fallBackOn(values) {
  fallback = Object.fromEntries(Object.entries(values).map(([name, found]) => [name, String(found)]));
}

/** Call a function when the state changes, by the page, a link, or back and forward. */
export function onChange(listener) {
  listeners.push(listener);
  window.addEventListener("hashchange", () => {
    readState();
    listener();
  });
}
