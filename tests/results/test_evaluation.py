"""Evaluations: means, merging, frames and text."""

import math
import sys
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.differences import vector_differences
from support.marks import in_one_case

import rankgain as rg
from rankgain.metrics import table as definitions
from rankgain.results.evaluation import Evaluation

pytestmark = pytest.mark.usefixtures("backend")

METRICS = ["ndcg@3", "rr(empty=nan)", "dcg(gain=exponential)"]
QRELS = {"a": {"d": 1, "e": 2}, "b": {"d": 0}, "c": {"e": 1}}
RUN = {"a": {"d": 2.0, "e": 1.0}, "b": {"d": 1.0}, "z": {"d": 1.0}}


def ranked(*rows, names=None, metrics=("rr",)):
    return rg.from_ranked(list(rows), query_ids=names).evaluate(*metrics)


# Means


def test_weights_may_be_any_numbers():
    result = ranked([1, 0], [0, 1], [0, 0], names=["a", "b", "c"])
    for weights in ([Fraction(weight) for weight in (3, 1, 2)], iter([3, 1, 2])):
        assert result.mean("rr", weights=weights) == 3.5 / 6


def test_weight_of_a_query_without_a_value_does_not_count():
    result = ranked([1, 0], [0, 0], [0, 1], metrics=("rr(empty=nan)",))
    assert result.mean("rr(empty=nan)", weights=[1, 100, 3]) == (1 + 1.5) / 4
    assert math.isnan(result.mean("rr(empty=nan)", weights=[0, 1, 0]))


@given(
    st.lists(
        st.tuples(st.floats(0, 1e6), st.floats(0, 1e6, allow_subnormal=False).map(lambda w: round(w, 3))),
        min_size=1,
        max_size=8,
    ).filter(lambda pairs: any(weight for _, weight in pairs))
)
def test_weighted_mean_equals_its_definition(pairs):
    values, weights = zip(*pairs, strict=True)
    result = Evaluation({"cg": np.array(values)}, range(len(values)), None, None, None, "", (len(values), *[0] * 5))
    products = [weight * value for weight, value in zip(weights, values, strict=True)]
    expected = math.fsum(products) / math.fsum(weights)
    assert result.mean("cg", weights=weights) == expected


@pytest.mark.parametrize("weight", [1e308, 1e-308, 5e-324])
def test_weights_of_any_size_give_the_mean(weight):
    result = ranked([1e308], [1e308], [0], metrics=("cg",))
    assert result.mean("cg", weights=[weight, weight, 0]) == 1e308
    assert ranked([0.25], [0.25], [1], metrics=("cg",)).mean("cg", weights=[weight, weight, 0]) == 0.25
    assert ranked([1e308], [1e308], [1e308], metrics=("cg",)).mean("cg", weights=[weight] * 3) == pytest.approx(1e308)


def test_mean_of_subnormal_values_is_exact():
    assert ranked([2.225073858507e-311], metrics=("cg",)).mean("cg", weights=[283719.0]) == 2.225073858507e-311


def test_weighted_mean_of_no_queries_is_nan():
    assert math.isnan(rg.from_ranked(np.empty((0, 3))).evaluate("rr").mean("rr", weights=[]))


def test_repr_names_the_aggregator(monkeypatch):
    """The key of an aggregator may be a record or any name of a metric."""
    record = rg.metric("rr", k=1)
    result = ranked([1, 0], [0, 1], metrics=("MRR@1", "ndcg_cut.1,2", record, "cg"))

    def largest(values, weights):
        return max(values) if weights is None else sum(weights)

    for name in ("rr", "ndcg"):
        monkeypatch.setitem(definitions.TABLE, name, definitions.TABLE[name]._replace(aggregator=largest))
    assert result.aggregate() == {"MRR@1": 1.0, "ndcg_cut_1": 1.0, "ndcg_cut_2": 1.0, record: 1.0, "cg": 1.0}
    assert result.mean()["MRR@1"] == result.to_dict()[0][record] - 0.5 == 0.5
    assert "MRR@1       1.0000" in repr(result)
    assert '<td style="text-align: right">1.0000</td>' in result._repr_html_().splitlines()[4]


# Merging


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=1, max_size=9), st.data())
def test_merge_of_parts_equals_the_whole(rows, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    whole = rg.from_ranked([rows[0], *rows]).evaluate(*METRICS)
    parts = [rows[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    first = rg.from_ranked([rows[0]]).evaluate(*METRICS)
    merged = first.merge(*(rg.from_ranked(part).evaluate(*METRICS) for part in parts if part))
    same(merged, whole)
    assert merged.query_ids == range(len(rows) + 1)


def same(merged, whole):
    assert list(merged) == list(whole)
    assert not vector_differences(merged, whole, sides=("merged", "whole"))
    assert repr(merged) == repr(whole)
    assert repr(merged.mean()) == repr(whole.mean())
    assert merged.counts == whole.counts
    assert (merged.ties, merged.missing, merged.backend) == (whole.ties, whole.missing, whole.backend)
    assert list(merged.query_ids) == list(whole.query_ids)


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_merge_of_named_queries(missing):
    options = {"missing": missing, "ties": "average"}
    rng = np.random.default_rng(0)
    names = [f"q{number}" for number in range(30)]
    qrels = {name: {f"d{d}": int(rng.integers(-1, 3)) for d in range(8)} for name in names}
    run = {name: {f"d{d}": float(rng.integers(0, 3)) for d in range(9)} for name in [*names[3:], "x", "y"]}
    whole = rg.from_qrels(qrels, run, **options).evaluate(*METRICS)
    parts = []
    for start in range(0, 30, 7):
        some = names[start : start + 7]
        ranked = {name: run[name] for name in ([*some, "x", "y"] if start == 0 else some) if name in run}
        parts.append(rg.from_qrels({name: qrels[name] for name in some}, ranked, **options).evaluate(*METRICS))
    merged = parts[0].merge(*parts[1:])
    same(merged, whole)
    assert merged.counts["missing"] == 3
    assert merged.counts["unjudged"] == 2
    same(parts[0].merge(parts[1].merge(*parts[2:])), whole)
    with pytest.raises(ValueError, match="read-only"):
        merged["ndcg@3"][0] = 1


def test_merge_has_the_metrics_of_the_first_in_its_order():
    merged = ranked([0, 1], metrics=("rr", "cg")).merge(ranked([0, 0], metrics=("cg", "rr")))
    assert list(merged) == ["rr", "cg"]
    assert merged["rr"].tolist() == [0.5, 0.0]


@pytest.mark.both
def test_merge_of_results_of_both_backends(on_both):
    compiled, python = on_both(lambda: ranked([1, 0]))
    both = compiled.merge(python)
    assert both.backend == "compiled+python"
    assert both.merge(python).backend == both.merge(both).backend == "compiled+python"


# Dicts and frames


NEEDS = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}
frames = pytest.mark.parametrize("library", [name for name, module in NEEDS.items() if find_spec(module)])
ID_LISTS = {
    "names": (["a", "b", "c"], ["a", "b", "c"]),
    "positions": (None, [0, 1, 2]),
    "numbers": ([7, np.int64(-3), 5], [7, -3, 5]),
    "mixed": ([1, "b", 2.5], ["1", "b", "2.5"]),
    "pairs": ([(1, 2), (3, 4), ()], ["1,2", "3,4", ""]),
    "large": ([2**70, 1, 2], [str(2**70), "1", "2"]),
    "truth": ([True, 0, 2], ["True", "0", "2"]),
    "bytes": ([b"a", b"\xe9", b"c"], ["a", "\\xe9", "c"]),
    "surrogates": (["a", "\udce9", "é"], ["a", "\\udce9", "é"]),
}


def columns_of(frame, library):
    if library == "pandas":
        return {frame.index.name: frame.index.tolist()} | frame.to_dict("list")
    return frame.to_pydict() if library == "arrow" else frame.to_dict(as_series=False)


@frames
@in_one_case("ids", ID_LISTS)
def test_to_frame_has_a_row_per_query(library, ids):
    given, text = ID_LISTS[ids]
    record = rg.metric("cg", k=1)
    result = rg.from_ranked([[0, 1], [0, 0], [3, 0]], query_ids=given).evaluate("rr(empty=nan)", record)
    frame = getattr(result, f"to_{library}")()
    columns = columns_of(frame, library)
    assert list(columns) == ["query_id", "rr(empty=nan)", "cg@1"]
    # pandas can store any hashable id.
    assert columns["query_id"] == (list(result.query_ids) if library == "pandas" else text)
    np.testing.assert_array_equal(np.array(columns["rr(empty=nan)"]), [0.5, math.nan, 1.0])
    assert columns["cg@1"] == [0.0, 0.0, 3.0]
    for name in ("rr(empty=nan)", "cg@1"):
        assert str(frame.schema.field(name).type if library == "arrow" else frame[name].dtype).lower() in (
            "float64",
            "double",
        )
    if library == "arrow":
        assert frame.column("cg@1").null_count == frame.column("rr(empty=nan)").null_count == 0


@frames
def test_to_frame_of_no_queries(library):
    columns = columns_of(getattr(rg.from_ranked(np.empty((0, 3))).evaluate("rr"), f"to_{library}")(), library)
    assert columns == {"query_id": [], "rr": []}


@frames
def test_to_frame_copies_the_values(library):
    result = ranked([0, 1])
    frame = getattr(result, f"to_{library}")()
    if library == "pandas":
        frame.loc[0, "rr"] = 7.0
    assert result["rr"].tolist() == [0.5]


@pytest.mark.parametrize("library", NEEDS)
def test_a_missing_library_is_named(library, monkeypatch):
    monkeypatch.setitem(sys.modules, NEEDS[library], None)
    result = ranked([1])
    with pytest.raises(ImportError, match=rf"{NEEDS[library]} is not installed: pip install 'rankgain\[{library}\]'"):
        getattr(result, f"to_{library}")()


def test_a_broken_library_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "polars.py").write_text("import rankgain_has_no_such_module")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "polars", raising=False)
    with pytest.raises(ModuleNotFoundError, match="rankgain_has_no_such_module"):
        ranked([1]).to_polars()


def test_metrics_of_the_same_name_are_rejected_in_frames():
    same_thing = rg.metric("cg", k=1)
    result = ranked([1, 0], metrics=("cg@1", same_thing))
    assert list(result.columns()) == ["query_id", "cg@1"]
    one, two = (rg.metric("cg", gain=gain) for gain in (lambda grades: grades, lambda grades: 2 * grades))
    for relevance in ([1, 0], [0, 0]):  # the values of the second list are equal
        with pytest.raises(ValueError, match=r"two metrics are both called cg.*lambda"):
            ranked(relevance, metrics=(one, two)).columns()


# Text


def test_repr_states_the_counts(backend):
    assert repr(rg.from_qrels(QRELS, RUN).evaluate("rr")) == (
        f"<Evaluation: 3 queries, ties='docid', missing='zero', backend='{backend}'; "
        "1 missing, 1 unjudged, 1 empty>\nrr  0.3333"
    )
    assert repr(ranked([1])) == f"<Evaluation: 1 query, backend='{backend}'>\nrr  1.0000"


def test_html_shows_means_and_counts(backend):
    page = rg.from_qrels(QRELS, RUN).evaluate("rr", rg.metric("ndcg", gain=marked))._repr_html_()
    row = (
        '<tr><th scope="row" style="text-align: left"><bdi>rr</bdi></th><td style="text-align: right">0.3333</td></tr>'
    )
    assert row in page
    assert "missing from the run: 1 (counted as 0)<br>without judgments: 1 (left out)<br>nothing relevant: 1" in page
    assert f"ties: docid   backend: {backend}" in page
    assert "ndcg(gain=&lt;b&gt;&amp;)" in page
    assert "<b>" not in page


def marked(grades):
    return grades


marked.__name__ = marked.__qualname__ = "<b>&"


# Equality


def twice(make):
    return make(), make()


@pytest.mark.both
def test_evaluations_compare_by_content(on_both):
    def evaluated():
        return rg.from_qrels(QRELS, RUN).evaluate(*METRICS)

    compiled, python = on_both(evaluated)
    assert compiled == python
    assert compiled.backend != python.backend
    assert np.isnan(compiled["rr(empty=nan)"]).any()
    assert rg.Comparison({"one": compiled}) == rg.Comparison({"one": python})
    assert rg.Comparison({"one": compiled}) != rg.Comparison({"other": python})


def test_evaluations_differ_by_each_part():
    result = ranked([1, 0], [0, 1], names=["a", "b"])
    others = [
        ranked([1, 0], [0, 0], names=["a", "b"]),  # different values
        ranked([1, 0], [0, 1], names=["a", "c"]),  # different queries
        ranked([1, 0], [0, 1], names=["b", "a"]),  # the queries in another order
        ranked([1, 0], [0, 1], names=["a", "b"], metrics=("mrr",)),  # different keys
        rg.from_ranked([[1, 0], [0, 1]], query_ids=["a", "b"]).evaluate("rr", like="ranx"),
        {"rr": result["rr"]},
    ]
    assert result == ranked([1, 0], [0, 1], names=["a", "b"])
    assert all(result != other for other in others)
    by_rules = [
        rg.from_qrels(QRELS, RUN, **rules).evaluate("rr")
        for rules in ({}, {"ties": "stable"}, {"missing": "skip", "query_ids": ["a", "b"]})
    ]
    assert all(one != other for one in by_rules for other in by_rules if one is not other)
    with pytest.raises(TypeError, match="unhashable"):
        hash(result)


def test_spreads_and_curves_compare_by_content():
    scores = rg.from_scores([[0, 1], [0, 0]], [[0.5, 0.5]] * 2)
    for make in (lambda: scores.tie_spread("rr", "infap"), lambda: scores.curve("rr(empty=nan)", [1, 2])):
        one, other = twice(make)
        assert one == other
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)
    curve = scores.curve("rr", [1, 2])
    for other in (scores.curve("rr", [1, 3]), scores.curve("cg", [1, 2]), rg.from_ranked([0, 1]).curve("rr", [1, 2])):
        assert curve != other
    assert curve != "rr"


def test_judgments_compare_by_identity():
    one, other = twice(lambda: rg.judgments(QRELS))
    assert one != other
    assert len({one, other, one}) == 2


def test_worst_queries_come_first():
    result = rg.from_ranked([[1, 0], [0, 1], [0, 0], [0, 1], [1, 0]], query_ids=list("abcde")).evaluate(
        "rr", "rr(empty=nan)", "fallout@1"
    )
    assert result.worst("rr") == [("c", 0.0), ("b", 0.5), ("d", 0.5), ("a", 1.0), ("e", 1.0)]
    assert result.worst("rr", n=2) == [("c", 0.0), ("b", 0.5)]
    assert result.worst("rr(empty=nan)", 1) == [("b", 0.5)]  # c has no value
    assert len(result.worst("rr(empty=nan)")) == 4
    # 1 of 1 non-relevant documents of b and d, 1 of 2 of c; a and e have a relevant document first
    assert result.worst("fallout@1", 3) == [("b", 1.0), ("d", 1.0), ("c", 0.5)]
    values = rg.compare({"mine": {"q": 2.0, "r": 1.0}}, metrics="loss", values=True, higher_is_better=False)["mine"]
    assert values.worst("loss", 1) == [("q", 2.0)]


def test_worst_rejects_arguments(rejects):
    result = rg.from_ranked([[1, 0]]).evaluate("rr")
    rejects(KeyError, "ndcg was not evaluated", result.worst, "ndcg")
    rejects(ValueError, "n must be a positive integer", result.worst, "rr", 0)
    rejects(TypeError, "n must be a positive integer", result.worst, "rr", 1.5)
