// A table or a block of code that is wider than its column is scrolled by keys, too.
addEventListener("load", () => {
  for (const box of document.querySelectorAll(".bd-article table, .bd-article pre")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});
