"""Report a comparison of runs as an HTML page, a figure and a LaTeX table.

needs: jinja2 matplotlib
"""

import random
from pathlib import Path

import rankgain as rg

rng = random.Random(1)
drawn = {
    name: [[int(rng.random() < hit_rate) for _ in range(10)] for _ in range(40)]
    for name, hit_rate in (("bm25", 0.2), ("dense", 0.25))
}
comparison = rg.compare({name: rg.from_ranked(lists) for name, lists in drawn.items()}, metrics=["ndcg@10"])
tests = comparison.test(baseline="bm25")

# -- report --
comparison.report("report.html", tests, title="Two simulated runs")  # an HTML page (pip install 'rankgain[report]')
figure = tests.plot("intervals")  # "intervals" or "scatter"
figure.savefig("intervals.svg")
print(tests.to_latex())  # also to_markdown(), to_pandas() and columns()
# -- end --

assert "dense" in Path("report.html").read_text(encoding="utf-8")
assert "<h1><bdi>Two simulated runs</bdi></h1>" in Path("report.html").read_text(encoding="utf-8")
assert "<svg" in Path("intervals.svg").read_text(encoding="utf-8")
assert "\\begin{tabular}" in tests.to_latex()
