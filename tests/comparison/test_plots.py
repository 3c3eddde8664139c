"""Plots of tests wrap panels into rows and keep every label inside the figure."""

from itertools import product

import numpy as np
import pytest
from support.made_runs import comparison
from support.marks import quick_first

pytest.importorskip("matplotlib")

METRICS = "ndcg(gain=exponential)@20", "ap", "p@1", "p@2", "p@3", "rr", "recall@5"
SHORT = "bm25", "dense", "splade"
LONG = "bm25", "e5-mistral-7b-instruct-rerank-top100", "a-run-name-without-any-space-of-sixty-characters-0123456789ab"


def compared(names, metrics):
    random = np.random.default_rng(0)
    return comparison({name: {metric: random.random(20) for metric in metrics} for name in names})


def labels_inside(figure):
    """Return whether all axis labels and row names are inside the figure."""
    figure.draw_without_rendering()
    texts = [label for axes in figure.axes for label in (axes.xaxis.label, axes.yaxis.label) if label.get_text()]
    labels = [label.get_window_extent() for label in texts]
    rows = [label.get_window_extent() for axes in figure.axes for label in axes.get_yticklabels()]
    width, height = figure.bbox.size
    return all(box.x0 >= 0 for box in rows) and all(
        box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height for box in labels
    )


@pytest.mark.parametrize("names", [SHORT, LONG])
@pytest.mark.parametrize("kind", ["intervals", "scatter"])
@pytest.mark.parametrize(
    ("count", "baseline"),
    quick_first([(7, "bm25"), (2, None), *product([1, 4], [None, "bm25"]), (7, None), (2, "bm25")], 2),
)
def test_plot_wraps_panels_and_shows_every_label(kind, names, baseline, count):
    figure = compared(names, METRICS[:count]).test(baseline, flips=99).plot(kind)
    assert len(figure.axes) == min(6, count if kind == "intervals" else count * (3 if baseline is None else 2))
    width, height = figure.get_size_inches()
    assert width <= 16
    assert labels_inside(figure)
    spans = [axes.get_subplotspec() for axes in figure.axes]
    rows = {span.rowspan.start for span in spans}
    assert len(rows) == spans[0].get_gridspec().nrows
    assert height / len(rows) > 1.5


def test_plot_labels_rows_with_both_runs_only_without_a_baseline():
    runs = compared(SHORT, METRICS[:2])
    (first, second) = runs.test("bm25", flips=99).plot().axes
    assert [label.get_text() for label in first.get_yticklabels()] == ["dense", "splade"]
    assert (first.get_xlabel(), second.get_xlabel()) == (
        "ndcg(gain=exponential)@20:\ndifference to bm25",
        "ap: difference to bm25",
    )
    (first, second) = runs.test(flips=99).plot().axes
    assert [label.get_text() for label in second.get_yticklabels()] == [
        "dense − bm25",
        "splade − bm25",
        "splade − dense",
    ]
    assert second.get_xlabel() == "ap: difference"


def test_plot_counts_intervals_beyond_the_first():
    figure = compared([f"r{run}" for run in range(13)], ["ap"]).test(flips=99).plot()
    (axes,) = figure.axes
    assert len(axes.get_yticklabels()) == 60
    assert axes.get_xlabel() == "ap: difference (18 more)"
    (axes,) = compared(SHORT[:2], ["ap"]).test(flips=99).plot("scatter").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("ap: bm25", "dense")
