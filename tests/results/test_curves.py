"""Curves have the same values as `evaluate` at each cut-off, and plots show the values of the curves."""

import math
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from support.differences import bits
from support.marks import quick_first

import rankgain as rg
from rankgain.rankings import parts_of

NAN = rg.metric("ndcg", empty=float("nan"))
METRICS = ["cg", "dcg", "idcg", "ndcg", "rr", "ndcg(ideal=returned)", "dcg(gain=exponential,discount=zipf)", NAN]


def rankings(seed=0, queries=20, size=30):
    rng = np.random.default_rng(seed)
    grades = rng.choice([0, 0, 0, 1, 2], size=(queries, size))
    grades[3] = 0
    return rg.from_scores(grades, rng.integers(0, 9, size=(queries, size)), query_ids=range(100, 100 + queries))


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_curve_equals_evaluate_at_each_cutoff(backend, metric):
    some_rankings = rankings()
    ks = [1, 2, 7, 29, 30, 31, 1000]
    curve = some_rankings.curve(metric, ks)
    result = some_rankings.evaluate(*(f"{metric}@{k}" for k in ks))
    assert bits(curve.values) == bits(np.column_stack(list(result.values())))
    assert bits(curve.mean()) == bits(list(result.mean().values()))
    assert curve.ks.tolist() == ks
    assert curve.metric.k is None
    assert str(curve.metric) == str(metric)
    assert curve.query_ids == some_rankings.query_ids
    assert np.isnan(curve.values).any() == (metric is NAN)


@pytest.mark.slow
def test_curve_reads_the_rankings_once(backend, monkeypatch):
    monkeypatch.setattr("rankgain.data.source.CHUNK", 1 << 16)
    some_rankings = rankings(queries=6000)
    source, passed = parts_of(some_rankings)[0], []
    make = source.chunk
    monkeypatch.setattr(source, "chunk", lambda start, stop: passed.append(start) or make(start, stop))
    some_rankings.evaluate("ndcg@5")
    once = len(passed)
    some_rankings.curve("ndcg")
    assert len(passed) == 2 * once
    assert once > 1


@pytest.mark.parametrize(
    "ks",
    [[3, 1, 2, 3], (1, 2, 3), {3, 2, 1}, iter([1, 3, 2]), np.array([3, 2, 1, 1], dtype="u1"), range(1, 4)],
    ids=lambda ks: type(ks).__name__,
)
def test_curve_accepts_cutoffs_of_any_type(ks):
    curve = rankings().curve("dcg", ks)
    assert curve.ks.tolist() == [1, 2, 3]
    assert curve.ks.dtype == np.int64


def test_the_deepest_cutoff_is_as_no_cutoff(backend):
    curve = rankings().curve("dcg", [2**48])
    assert curve.ks.tolist() == [2**48]
    assert bits(curve.values[:, 0]) == bits(rankings().evaluate("dcg")["dcg"])


def test_curve_of_no_counted_query_is_nan(backend):
    curve = rg.from_ranked([[0, 0]]).curve(NAN, [1, 2])
    assert np.isnan(curve.mean()).all()
    empty = rg.from_ranked(np.zeros((0, 4))).curve("ndcg", [1, 2])
    assert empty.values.shape == (0, 2)
    assert np.isnan(empty.mean()).all()


@pytest.mark.parametrize("hits", [0, 1, 5, 10])
def test_interval_of_binary_values_is_clopper_pearson(hits):
    binomtest = pytest.importorskip("scipy.stats").binomtest
    curve = rg.from_ranked([[1]] * hits + [[0]] * (10 - hits)).curve("success", [1])
    expected = binomtest(hits, 10).proportion_ci(0.9, "exact")
    assert curve.interval(0.9)[:, 0].tolist() == pytest.approx([expected.low, expected.high], abs=1e-9)


@pytest.mark.parametrize("queries", quick_first([10, 50]))
def test_interval_of_sparse_values_covers_the_true_mean(queries):
    """The interval covers the true mean even if nine queries in ten have a reciprocal rank of 0.

    Intervals based on the spread alone cover the mean of 10 queries in 66% of the cases.
    """
    random = np.random.default_rng(queries)
    truth, covered, cases = 0.1 * np.mean(1 / np.arange(1.0, 11.0)), 0, 100
    for _ in range(cases):
        ranks = random.integers(1, 11, queries)
        lists = (np.arange(1, 11) == ranks[:, None]) & (random.random(queries) < 0.1)[:, None]
        low, high = rg.from_ranked(lists.astype(float)).curve("rr", [10]).interval()[:, 0]
        covered += low <= truth <= high
    assert covered >= 0.95 * cases


def test_the_interval_of_a_metric_without_a_bound_needs_one():
    """The interval is computed for the values divided by the bound, which no value may exceed."""
    values = np.array([[0.0], [1.0], [4.0], [2.0]])
    scaled = rg.from_ranked(values / 8).curve("cg", [1]).interval(highest=1)
    curve = rg.from_ranked(values).curve("cg", [1])
    assert (curve.interval(highest=8) / 8).ravel().tolist() == pytest.approx(scaled.ravel().tolist())
    with pytest.raises(ValueError, match=r"^cg has no upper bound: give highest=, the largest value that a query can"):
        curve.interval()
    with pytest.raises(ValueError, match=r"^highest: a query has the value 4\.0 of cg, which is not from 0 to 3"):
        curve.interval(highest=3)
    none = rg.from_ranked(values[:3] * 0).curve("cg", [1]).interval(highest=1)
    assert none.tolist() == [[0.0], [pytest.approx(1 - 0.025 ** (1 / 3))]]  # the interval is not [0, 0]


@pytest.mark.options("Curve.interval", "highest")
def test_the_interval_takes_a_bound(check_option):
    curve = rg.from_ranked([[1.0], [0.0], [1.0]]).curve("ndcg", [1])
    expected = rg.from_ranked([[1.0], [0.0], [1.0]]).evaluate("ndcg@1").interval("ndcg@1", highest=2)
    check_option(lambda **options: tuple(curve.interval(**options)[:, 0].tolist()), "highest", 2, expected)


def test_interval_of_few_queries_and_of_queries_without_a_value():
    assert rg.from_ranked([[1]]).curve("rr", [1]).interval().tolist() == [[pytest.approx(0.025)], [1.0]]
    lists = [[0, 1], [1, 0], [0, 1], [1, 0], [1, 1], [0, 1], [1, 0]]
    metric = rg.metric("ndcg", empty=math.nan)
    one = rg.from_ranked(lists).curve(metric, [1, 2]).interval()
    assert rg.from_ranked([*lists, [0, 0]]).curve(metric, [1, 2]).interval().tolist() == one.tolist()
    assert np.isnan(rg.from_ranked([[0, 0]]).curve(metric, [1, 2]).interval()).all()


def test_curve_is_frozen():
    curve = rankings().curve("ndcg")
    assert len(curve.ks) == 100
    for array in (curve.values, curve.ks):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        curve.metric = "dcg"


def test_curve_rejects_contents_like_evaluate(backend):
    with pytest.raises(ValueError, match="relevance: query 1, position 0: the grade is NaN"):
        rg.from_ranked([[1], [np.nan]]).curve("ndcg")


def test_plot_without_matplotlib_names_the_extra(monkeypatch):
    some_rankings = rg.from_ranked([[1, 0]])
    monkeypatch.setitem(sys.modules, "rankgain.results.plotting", None)
    monkeypatch.delattr("rankgain.results.plotting", raising=False)
    for draw in (some_rankings.curve("ndcg").plot, lambda: rg.plot(some_rankings)):
        with pytest.raises(ImportError, match=r"^plotting needs matplotlib: pip install 'rankgain\[plot\]'$"):
            draw()


SCORED = rg.from_scores([[1, 0, 2], [0, 1, 0]], [[0.5, 0.25, 0.125], [1.0, 0.5, 0.25]])


@pytest.mark.parametrize("row", [
    ("ndcg@5 has a cut-off; request 'ndcg' without one, and give the cut-offs as ks", ValueError, "ndcg@5", [1]),
    ("ndcg@5 has a cut-off", ValueError, rg.metric("ndcg", k=5), [1]),
    ("ndcg_cut has a cut-off; request 'ndcg'", ValueError, "ndcg_cut", [1]),
    ("a metric is a string or", TypeError, None, [1]),
    ("ks is empty", ValueError, "ndcg", []),
    ("ks: position 1: must be a positive integer, not 0", ValueError, "ndcg", [1, 0]),
    ("ks: position 0: must be a positive integer, not -3", ValueError, "ndcg", np.array([-3, 1])),
    ("ks: position 2: must be a positive integer, not None", TypeError, "ndcg", [1, 2, None]),
    ("ks: position 1: must be a positive integer up to 2**48, not 118059162", ValueError, "ndcg", [1, 2**70]),
    ("ks: position 0: must be a positive integer, not 1.0", TypeError, "ndcg", [1.0]),
    ("ks: position 0: must be a positive integer, not True", TypeError, "ndcg", [True]),
    ("ks: position 0: must be a positive integer, not '1'", TypeError, "ndcg", ["1"]),
    ("ks must hold cut-offs, positive integers, not int", TypeError, "ndcg", 10),
    ("ks must hold cut-offs, positive integers, not str", TypeError, "ndcg", "10"),
    ("ks must hold cut-offs, positive integers, not ndarray", TypeError, "ndcg", np.array(10)),
])  # fmt: skip
def test_curve_rejects_a_metric_or_cutoffs(rejects, row):
    message, error, metric, ks = row
    rejects(error, message, SCORED.curve, metric, ks)


@pytest.mark.parametrize("row", [
    ("level must be between 0 and 1, such as 0.95, not 95", ValueError, 95),
    ("level must be between 0 and 1, such as 0.95, not 1000", ValueError, 10**400),
    ("level must be between 0 and 1", ValueError, math.nan),
    ("level must be a number, not str", TypeError, "x"),
])  # fmt: skip
def test_interval_rejects_a_level(rejects, row):
    message, error, level = row
    rejects(error, message, SCORED.curve("ndcg", (1, 2)).interval, level=level)


@pytest.mark.parametrize("row", [
    ("k must be a positive integer", ValueError, 0, -1),
    ("k must be at most 2**48", ValueError, 2**48 + 1),
    ("k must be a positive integer", TypeError, 2.5, "3", True),
])  # fmt: skip
def test_metric_at_rejects_a_cutoff(rejects, row):
    message, error, *values = row
    for k in values:
        rejects(error, message, rg.metric("ndcg").at, k)


if find_spec("matplotlib"):
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    def points(line):
        return [values.tolist() for values in line.get_data()]

    @pytest.mark.options("plot", "metrics", "ks")
    def test_plot_has_a_panel_per_metric_and_a_line_per_run(backend):
        runs = {"first": rankings(1), "second": rankings(2), "third": rankings(3)}
        figure = rg.plot(runs, metrics=("dcg", "ndcg", "mrr"), ks=range(1, 40))
        assert isinstance(figure, Figure)
        labels = [(axes.get_xlabel(), axes.get_ylabel()) for axes in figure.axes]
        assert labels == [("cut-off k", f"mean {name}@k") for name in ("DCG", "nDCG", "RR")]
        for axes, metric in zip(figure.axes, ("dcg", "ndcg", "rr"), strict=True):
            assert [line.get_label() for line in axes.lines] == list(runs)
            for line, run in zip(axes.lines, runs.values(), strict=True):
                curve = run.curve(metric, range(1, 40))
                assert points(line) == [curve.ks.tolist(), curve.mean().tolist()]
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == list(runs)

    @pytest.mark.parametrize(
        ("panels", "columns", "rows"), [(1, 1, 1), (2, 2, 1), (3, 3, 1), (4, 2, 2), (5, 3, 2), (6, 3, 2), (7, 3, 3)]
    )
    def test_plot_wraps_panels_into_rows(panels, columns, rows):
        figure = rg.plot(rankings(), metrics=[f"rbp(p=0.{p})" for p in range(1, panels + 1)], ks=[1, 2])
        assert len(figure.axes) == panels
        assert figure.get_size_inches().tolist() == pytest.approx([4.6 * columns, 3.4 * rows])
        spans = [axes.get_subplotspec() for axes in figure.axes]
        assert len({span.colspan.start for span in spans}) == columns
        assert len({span.rowspan.start for span in spans}) == rows

    @pytest.mark.parametrize("metric", ["dcg", "ndcg"])
    def test_plot_of_one_cutoff_is_a_point(metric):
        curve = rankings(1).curve(metric, [5])
        (line,) = curve.plot().lines
        assert points(line) == [[5], curve.mean().tolist()]
        assert repr(curve).endswith(f"mean {curve.mean()[0]:.4f} @5 … {curve.mean()[0]:.4f} @5>")

    def test_plot_of_one_run_has_no_legend():
        for metrics in ("ndcg", rg.metric("ndcg"), ["ndcg"]):
            figure = rg.plot(rankings(), metrics=metrics, ks=[1, 2, 3])
            assert (len(figure.axes), figure.legends) == (1, [])

    def test_plot_uses_an_iterator_of_cutoffs_for_all_runs():
        (panel,) = rg.plot({"a": rankings(1), "b": rankings(2)}, metrics=iter(["rr"]), ks=iter([2, 1])).axes
        assert [line.get_xdata().tolist() for line in panel.lines] == [[1, 2]] * 2

    def test_plot_draws_on_given_axes():
        axes = rankings(1).curve("ndcg").plot(label="one")
        assert isinstance(axes, Axes)
        assert rankings(2).curve("ndcg").plot(axes, label="two", per_query=True) is axes
        assert [line.get_label() for line in axes.lines] == ["one", "two"]
        (queries,) = (drawn for drawn in axes.collections if isinstance(drawn, LineCollection))
        curve = rankings(2).curve("ndcg")
        drawn = [segment[:, 1].tolist() for segment in queries.get_segments()]
        assert drawn == curve.values.tolist()

    def test_plot_draws_the_interval_as_a_band():
        curve = rankings(1).curve("ndcg", [1, 5, 9])
        axes = curve.plot(interval=0.9)
        (band,) = axes.collections
        corners = band.get_paths()[0].vertices
        low, high = curve.interval(0.9)
        for k, ends in zip(curve.ks.tolist(), zip(low, high, strict=True), strict=True):
            assert {value for x, value in corners.tolist() if x == k} >= set(ends)
        with pytest.raises(ValueError, match=r"^level must be between 0 and 1"):
            curve.plot(interval=95)

    def test_the_band_of_a_metric_without_a_bound_takes_one():
        curve = rankings(1).curve("dcg", [1, 5])
        (band,) = curve.plot(interval=0.9, highest=99).collections
        ends = {*band.get_paths()[0].vertices[:, 1].tolist()}
        assert ends >= {*curve.interval(0.9, highest=99).ravel().tolist()}
        with pytest.raises(ValueError, match=r"^dcg has no upper bound: give highest="):
            curve.plot(interval=0.9)

    def test_plot_is_shown_in_notebooks():
        assert rg.plot(rankings())._repr_png_().startswith(b"\x89PNG")

    @pytest.mark.slow
    def test_plot_leaves_other_figures_unchanged():
        before = dict(matplotlib.rcParams)
        rg.plot({"a": rankings()}).draw_without_rendering()
        assert dict(matplotlib.rcParams) == before
        code = "import sys, rankgain as rg; rg.plot(rg.from_ranked([1])); sys.exit('matplotlib.pyplot' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0

    RANKED = rg.from_ranked([[1, 0]])

    @pytest.mark.parametrize("row", [
        ("rankings must be a Rankings, not list", TypeError, [[1, 0]], {}),
        ("rankings['b'] must be a Rankings, not Evaluation", TypeError, {"b": RANKED.evaluate("dcg")}, {}),
        ("rankings is empty", ValueError, {}, {}),
        ("metrics is empty", ValueError, RANKED, {"metrics": []}),
        ("ndcg@5 has a cut-off", ValueError, RANKED, {"metrics": "ndcg@5"}),
        ("ks is empty", ValueError, RANKED, {"ks": []}),
    ])  # fmt: skip
    def test_plot_rejects_rankings_metrics_and_cutoffs(rejects, row):
        message, error, rankings, options = row
        rejects(error, message, rg.plot, rankings, **options)

    def test_plot_of_a_curve_rejects_axes(rejects):
        rejects(TypeError, "axes must be", RANKED.curve("ndcg", (1, 2)).plot, axes=5)
