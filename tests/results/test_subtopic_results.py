"""What is done with metrics of judgments by subtopic: calculations, comparisons, tests, intervals and explanations."""

import random

import pytest
from support import subtopics

import rankgain as rg
from rankgain.metrics.subtopics import BASES, NOVELTY, SUBTOPIC_TABLE

NUGGETS = {"n1": {"a": 1, "b": 1, "d": 1}, "n2": {"b": 1}, "n3": {"e": 1, "c": 1}}
LIST = ["a", "x", "b", "d", "e"]
HEAVY = {"n1": 2, "n2": 1, "n3": 1}


def rankings(judgments=NUGGETS, run=LIST, weights=None, **rules):
    truth = rg.judgments({"q": judgments}, subtopic=True, weights=None if weights is None else {"q": weights})
    if isinstance(run, dict):
        return rg.from_qrels(truth, {"q": run}, **rules)
    return rg.from_recommendations(truth, {"q": run})


@pytest.mark.parametrize(("metric", "lines"), [
    ("alpha_ndcg@5", [
        "alpha_ndcg@5 of query q: 2.2445 / 3.1930 = 0.7030",
        "rank  document  covers     gain  discount  product     sum  ideal  covers   gain  product     sum",
        "   1  a         +n1           1    1.0000   1.0000  1.0000  b      +n1 +n2     2   2.0000  2.0000",
        "   2  x                       0    0.6309   0.0000  1.0000  e      +n3         1   0.6309  2.6309",
        "   3  b         n1(2) +n2   1.5    0.5000   0.7500  1.7500  c      n3(2)     0.5   0.2500  2.8809",
        "   4  d         n1(3)      0.25    0.4307   0.1077  1.8577  a      n1(2)     0.5   0.2153  3.0963",
        "   5  e         +n3           1    0.3869   0.3869  2.2445  d      n1(3)    0.25   0.0967  3.1930",
        "+: new; (2): covered for the second time",
        "c (n3) is relevant and was not returned",
    ]),
    ("err_ia@2", [
        "err_ia@2 of query q: 1 / 3.7500 = 0.2667",
        "rank  document  covers  gain  discount  product     sum",
        "   1  a         +n1        1    1.0000   1.0000  1.0000",
        "   2  x                    0    0.5000   0.0000  1.0000",
        "+: new; (2): covered for the second time",
        "beyond rank 2: b at rank 3, d at rank 4, e at rank 5",
        "c (n3) is relevant and was not returned",
    ]),
    ("strecall@3", [
        "strecall@3 of query q: 2 / 3 = 0.6667",
        "subtopic  rank  document   value",
        "n1           1  a         1.0000",
        "n2           3  b         1.0000",
        "n3           5  e         0.0000",
        "c (n3) is relevant and was not returned",
    ]),
    ("rr_ia", [
        "rr_ia of query q: 1.5333 / 3 = 0.5111",
        "subtopic   value",
        "n1        1.0000",
        "n2        0.3333",
        "n3        0.2000",
        "formula: Σ w_s·x_s / Σ w_s over the subtopics s that count; x_s, by the judgments of s: 1 / i for the first "
        "i ≤ k with",
        "  rel(i) = 1; 0 if there is none",
        "c (n3) is relevant and was not returned",
    ]),
])  # fmt: skip
def test_calculation_is_printed(backend, metric, lines):
    assert str(rankings().calculation(metric, "q")) == "\n".join(lines)


def test_calculation_of_ties_and_weights(backend):
    tied = rankings(run={"a": 1.0, "x": 1.0, "b": 1.0, "d": 0.0, "e": 0.0}, weights=HEAVY, ties="average")
    calculation = tied.calculation("alpha_ndcg@4", "q")
    assert [row["covers"] for row in calculation.rows] == [["+n1", "–", "+n1 +n2"], ["n1(3)", "+n3"]]
    assert calculation.notes[1] == "weights: n1 2, n2 1, n3 1"
    assert calculation.rows[-1]["sum"] == calculation.dividend
    assert "1–3  a, b" in str(tied.calculation("strecall@2", "q"))


def test_calculation_of_a_query_in_which_nothing_counts(backend):
    for metric in ("alpha_ndcg@3", "nrbp", "strecall@2"):
        calculation = rankings({"n": {"a": 0}}).calculation(metric, "q")
        assert calculation.title.endswith("0 / 0, no subtopic counts: 0.0000")
        assert calculation.value == 0.0


@pytest.mark.parametrize("ties", ["docid", "average"])
def test_calculation_has_the_value_of_evaluate(backend, ties):
    rng = random.Random(6)
    metrics = [f"{name}@3" for name in NOVELTY] + [
        f"{name}@3" if SUBTOPIC_TABLE[name].cuts else name
        for name in BASES
        if ties != "average" or not SUBTOPIC_TABLE[name].unaveraged
    ]
    for _ in range(3):
        judgments, run = subtopics.random_query(rng, levels=2)
        weights = {s: rng.choice([0.3, 2.0]) for s in judgments}
        shown = rankings(judgments, run, weights, ties=ties)
        result = shown.evaluate(*metrics)
        for metric in metrics:
            calculation = shown.calculation(metric, "q")
            assert calculation.value == result[metric][0], metric
            assert calculation.to_dict()["metric"] == metric
            if calculation.ideal and len(calculation.ideal) >= 3:
                assert calculation.ideal[2]["sum"] == calculation.divisor


def test_calculation_says_that_a_list_beats_the_ideal(backend):
    covers = {"s0": "bd", "s1": "b", "s2": "ac", "s3": "acd", "s4": "ad", "s5": "acd"}
    beaten = {s: dict.fromkeys(documents, 1) for s, documents in covers.items()}
    weights = dict(zip(beaten, (3, 3, 5, 2, 1, 5), strict=True))
    calculation = rankings(beaten, ["a", "b", "c", "d"], weights).calculation("alpha_ndcg@3", "q")
    assert "The list beats the greedy ideal: the value is 1." in calculation.notes
    assert calculation.value == 1.0
    other = rankings(beaten, {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}).calculation("alpha_ndcg@3", "q", like="ndeval")
    assert other.like == "ndeval"
    assert other.ideal[0]["document"] == "d"


def many():
    rng = random.Random(9)
    truth, one, two = {}, {}, {}
    for number in range(30):
        judgments, run = subtopics.random_query(rng)
        truth[f"q{number}"], one[f"q{number}"] = judgments, run
        two[f"q{number}"] = {d: rng.random() for d in run}
    return rg.judgments(truth, subtopic=True), one, two


def test_comparisons_tests_and_intervals(backend):
    truth, one, two = many()
    comparison = rg.compare(truth, {"one": one, "two": two}, ["alpha_ndcg@3", "strecall@2", "nrbp", "recall@3"])
    tests = comparison.test(baseline="one")
    for metric in ("alpha_ndcg@3", "strecall@2", "nrbp"):
        low, high = comparison["one"].interval(metric)
        assert 0.0 <= low < comparison["one"].mean(metric) < high <= 1.0
        assert 0.0 < tests[metric, "two", "one"].p <= 1.0
    assert "strecall@2" in str(tests)
    html = comparison["one"]._repr_html_()
    assert "alpha_ndcg@3" in html


def test_curves(backend):
    truth, one, _ = many()
    curve = rg.from_qrels(truth, one).curve("strecall", ks=[1, 2, 5])
    assert curve.mean().tolist() == sorted(curve.mean().tolist())
    result = rg.from_qrels(truth, one).evaluate("err_ia@2", "err_ia@5")
    assert rg.from_qrels(truth, one).curve("err_ia", ks=[2, 5]).values.T.tolist() == [
        vector.tolist() for vector in result.values()
    ]


def test_merged_results_equal_the_whole(backend):
    truth, one, _ = many()
    metrics = "alpha_ndcg@3", "ap_ia", "nrbp"
    whole = rg.from_qrels(truth, one, missing="skip").evaluate(*metrics)
    halves = [dict(list(one.items())[half]) for half in (slice(13), slice(13, None))]
    parts = [rg.from_qrels(truth, half, missing="skip").evaluate(*metrics) for half in halves]
    assert parts[0].merge(parts[1]) == whole
    assert parts[0].summary().merge(parts[1].summary()).mean() == whole.mean()


def test_attribution_to_ndeval(backend):
    truth, one, _ = many()
    attribution = rg.from_qrels(truth, one).attribution("alpha_ndcg@3", like="ndeval")
    result = rg.from_qrels(truth, one).evaluate("alpha_ndcg@3", like="ndeval")
    assert attribution.like_mean == result.mean("alpha_ndcg@3")


def test_values_of_ndeval_have_no_upper_bound():
    truth, one, _ = many()
    metric = rg.metric("alpha_ndcg", k=3, ideal="docid")
    with pytest.raises(ValueError, match="no upper bound"):
        rg.from_qrels(truth, one).evaluate(metric).interval(metric)


@pytest.mark.parametrize(("metric", "words"), [
    ("alpha_ndcg@10", ("greedy, of all judged documents", "α", "like='ndeval'", "no subtopic counts")),
    ("nrbp", ("β^(i − 1)", "beta", "0.5")),
    ("strecall@5", ("that a document at i ≤ k covers", "Zhai")),
    ("ndcg_ia@5", ("x_s, by the judgments of s: DCG / IDCG", "Agrawal")),
])  # fmt: skip
def test_explanations(metric, words):
    text = " ".join(str(rg.explain(metric)).split())
    assert all(word in text for word in words), text


def test_explanation_of_ndeval():
    differences = rg.explain("alpha_ndcg@10", like=("rankgain", "ndeval")).differences()
    assert "the highest id" in differences["ideal"]["ndeval"]
    assert "ir_measures" in " ".join(differences["notes"].values())


@pytest.mark.parametrize("metric", ["alpha_ndcg@3", "strecall@2"])
def test_where_there_are_no_subtopics(rejects, metric):
    needed = f"{metric} needs judgments by subtopic, and "
    rejects(
        ValueError, f"tie_spread: {metric} has no worst and best order", rankings(run={"a": 1.0}).tie_spread, metric
    )
    message = f"bounds: {metric} depends on subtopics, and those of an unjudged document are unknown"
    rejects(ValueError, message, rankings(run={"a": 1.0}).bounds, metric)
    message = f"{metric}: scored_only does not apply to judgments by subtopic"
    rejects(ValueError, message, rankings(run={"a": 1.0}).limited(scored_only=True).evaluate, metric)
    rejects(ValueError, f"{needed}a scorer takes none", rg.scorer, metric)
    rejects(ValueError, f"{needed}a callback of training takes none", rg.lightgbm_metric, metric)
    rejects(ValueError, f"{needed}a callback of training takes none", rg.xgboost_metric, metric)
    rejects(ValueError, "run 'x': ", rg.compare, {"q": {"a": 1}}, {"x": {"q": {"a": 1.0}}}, [metric])


@pytest.mark.needs("pyarrow")
def test_batches_refuse_them(rejects):
    from rankgain.batches import evaluate_batches, summarize_batches

    message = "strecall@2 needs judgments by subtopic, and an evaluation in parts takes none: use rankgain.evaluate"
    truth = rg.judgments({"q": NUGGETS}, subtopic=True)
    rejects(ValueError, message, summarize_batches, [], "strecall@2", judgments=truth)
    rejects(ValueError, message, lambda: next(evaluate_batches([], "strecall@2", judgments=truth)))
