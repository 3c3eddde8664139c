// A table that is wider than its column is scrolled by keys, too.
addEventListener("load", () => {
  for (const table of document.querySelectorAll(".bd-article table")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  }
});
