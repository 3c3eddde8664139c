// A table or a block of code that is wider than its column is scrolled by keys, too.
addEventListener("load", () => {
  for (const box of document.querySelectorAll(".bd-article table, .bd-article pre")) {
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
