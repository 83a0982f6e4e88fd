/* Each cell of a table gets the name of its column: on a narrow screen, site.css shows rows as cards. */
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
if (document.readyState === "loading") addEventListener("DOMContentLoaded", named);
else named();
