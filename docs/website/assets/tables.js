/* Tables and figures on narrow screens. Each cell of a table gets the name of its column: on a narrow screen, site.css shows rows as cards. A table that has columns
   "GPU" and "kind" gets a choice for each, and shows the rows that have what is chosen. */
const FILTERED = ["GPU", "kind"];
const filters = (table, names) => {
  const columns = FILTERED.map((name) => names.indexOf(name));
  if (columns.includes(-1)) return;
  const rows = [...table.querySelectorAll("tbody tr")];
  const text = (row, n) => row.children[n].textContent.trim();
  const bar = document.createElement("p");
  bar.className = "filters";
  const choices = columns.map((n, k) => {
    const counts = new Map();
    for (const row of rows) counts.set(text(row, n), (counts.get(text(row, n)) ?? 0) + 1);
    const label = document.createElement("label");
    const select = document.createElement("select");
    select.add(new Option("all", ""));
    for (const [value, count] of k ? counts : [...counts].sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1)))
      select.add(new Option(`${value} (${count})`, value));
    label.append(`${FILTERED[k]} `, select);
    bar.append(label);
    return select;
  });
  const shown = document.createElement("span");
  bar.append(shown);
  const apply = () => {
    let left = 0;
    for (const row of rows) {
      row.hidden = choices.some((select, k) => select.value && text(row, columns[k]) !== select.value);
      left += !row.hidden;
    }
    shown.textContent = `${left} of ${rows.length}`;
  };
  bar.addEventListener("change", apply);
  apply();
  (table.closest(".md-typeset__scrollwrap") ?? table).before(bar);
};
const named = () => {
  for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
    const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
    if (names.length < 3) continue;
    for (const row of table.querySelectorAll("tbody tr"))
      [...row.children].forEach((cell, n) => {
        if (n && names[n]) cell.dataset.column = names[n];
      });
    table.dataset.cards = "";
    filters(table, names);
  }
};
/* Letters of figures are 9 pixels high at least: they are not to shrink below 6. */
const LEAST = 6 / 9;
const sized = () => {
  for (const image of document.querySelectorAll(".md-typeset p > img[src$='.svg']")) {
    const fit = () => {
      const place = image.parentElement;
      place.classList.toggle("wide-figure", place.clientWidth < LEAST * image.naturalWidth);
    };
    if (image.complete) fit();
    else image.addEventListener("load", fit);
  }
};
addEventListener("resize", sized);
const all = () => {
  named();
  sized();
};
if (document.readyState === "loading") addEventListener("DOMContentLoaded", all);
else all();
