/* Tables and figures on narrow screens. Each cell of a table gets the name of its column: on a narrow screen, site.css shows rows as cards. */
const named = () => {
  for (const table of document.querySelectorAll(".md-typeset table:not([class])")) {
    const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
    if (names.length < 3) continue;
    for (const row of table.querySelectorAll("tbody tr"))
      [...row.children].forEach((cell, n) => {
        if (n && names[n]) cell.dataset.column = names[n];
      });
    table.dataset.cards = "";
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
