addEventListener("load", () => {
  // On a phone, a table that is too wide shows the cells of a row below each other, each after the name of its column.
  for (const table of document.querySelectorAll(".bd-article table")) {
    if (!matchMedia("(max-width: 600px)").matches || table.offsetWidth <= table.parentElement.clientWidth) continue;
    const names = [...(table.tHead?.rows[0].cells ?? [])].map((cell) => cell.textContent);
    for (const row of table.tBodies[0].rows) {
      [...row.cells].slice(1).forEach((cell, index) => {
        if (names[index + 1] && cell.textContent) cell.dataset.column = names[index + 1];
      });
    }
    table.classList.add("stacked");
  }
  // Whatever is wider than its column is scrolled by keys, too.
  for (const box of document.querySelectorAll(":is(.bd-article table, .bd-article pre, .formula)")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});

// On the page of the search: the more of a page's title the query has, the higher the page ranks, so that "ndcg ties"
// finds "Ties" before the pages that contain both words.
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Scorer === "undefined") return;
  const query = splitQuery((new URLSearchParams(location.search).get("q") ?? "").toLowerCase());
  Scorer.score = ([, title, , , score]) => {
    const words = splitQuery(title.toLowerCase());
    return score + (10 * words.filter((word) => query.includes(word)).length) / words.length;
  };
});
