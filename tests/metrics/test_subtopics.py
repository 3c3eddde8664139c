"""Metrics of judgments by subtopic: known values, definitions, ties, names and invariants."""

import math
import random

import numpy as np
import pytest
from support import subtopics
from support.marks import in_one_case
from support.strategies import as_many

import rankgain as rg
from rankgain.metrics.subtopics import BASES, NOVELTY, SUBTOPIC_TABLE
from rankgain.metrics.table import TABLE

NUGGETS = {"n1": {"a": 1, "b": 1, "d": 1}, "n2": {"b": 1, "c": 0}, "n3": {"e": 1, "c": 1}}
LIST = ["a", "x", "b", "d", "e"]
TIED = {"a": 1.0, "x": 1.0, "b": 1.0, "d": 0.0, "e": 0.0}
TWO = {"0": {"d0": 1, "d1": 1}, "1": {"d0": 1}}
NDEVAL = {"a": {"A": 1}, "b": {"B": 1, "D": 1}, "c": {"C": 1}}
REPEATED = {"0": {"a": 1, "b": 1}, "1": {"b": 1}}
CHAIN = {"3": {"d0": 1}, "1": {"d0": 1, "d2": 1}, "0": {"d1": 1, "d2": 1}, "2": {"d1": 1}}
HEAVY = {"n1": 2, "n2": 1, "n3": 1}


def rankings(judgments, run, weights=None, **rules):
    truth = rg.judgments({"q": judgments}, subtopic=True, weights=None if weights is None else {"q": weights})
    scores = run if isinstance(run, dict) else {d: -float(rank) for rank, d in enumerate(run)}
    return rg.from_qrels(truth, {"q": scores}, **rules)


def values(judgments, run, *metrics, weights=None, **rules):
    return rankings(judgments, run, weights, **rules).evaluate(*metrics).mean()


@in_one_case(("judgments", "run", "rules", "metric", "value"), [
    (NUGGETS, LIST, {}, "alpha_dcg@5", 0.4927131686523232),
    (NUGGETS, LIST, {}, "alpha_ndcg@5", 0.7029549446014394),
    (NUGGETS, LIST, {}, "alpha_ndcg@3", 0.6074427874648953),
    (NUGGETS, LIST, {}, "err_ia@5", 0.4266263237518911),
    (NUGGETS, LIST, {}, "nerr_ia@5", 0.6202346041055719),
    (NUGGETS, LIST, {}, "nrbp", 0.3671875),
    (NUGGETS, LIST, {}, "nnrbp", 0.5433526011560693),
    (NUGGETS, LIST, {}, "p_ia@5", 1 / 3),
    (NUGGETS, LIST, {}, "ap_ia", 0.412962962962963),
    (NUGGETS, LIST, {}, "strecall@1", 1 / 3),
    (NUGGETS, LIST, {}, "strecall@3", 2 / 3),
    (NUGGETS, LIST, {}, "strecall@5", 1.0),
    (NUGGETS, LIST, {"weights": HEAVY}, "alpha_ndcg@5", 0.7934875654904907),
    (NUGGETS, LIST, {"weights": HEAVY}, "strecall@1", 0.5),
    (NUGGETS, LIST, {"weights": HEAVY}, "p_ia@5", 0.4),
    (NUGGETS, LIST, {"weights": HEAVY}, "ap_ia", 0.5111111111111111),
    (NUGGETS, TIED, {"ties": "average"}, "alpha_ndcg@5", 0.7422730693644604),
    (NUGGETS, TIED, {}, "alpha_ndcg@5", 0.6386662236044804),
    (NUGGETS, TIED, {"ties": "average"}, "strecall@2", 5 / 9),
    (NUGGETS, TIED, {}, "strecall@2", 2 / 3),
    (NUGGETS, TIED, {"ties": "average"}, "ap_ia", 0.495216049382716),
    (TWO, ["d0"], {}, "alpha_ndcg@10", 0.8637574337885664),
    (TWO, ["d1"], {}, "alpha_ndcg@10", 0.4318787168942832),
    (NDEVAL, ["A", "D", "E", "B"], {}, "ap_ia", 0.5),
    (REPEATED, ["a", "b"], {}, "alpha_ndcg(alpha=0)@2", 0.8597186998521972),
    (REPEATED, ["a", "b"], {}, "alpha_ndcg@2", 0.8406064155285841),
    (REPEATED, ["a", "b"], {}, "alpha_ndcg(alpha=1)@2", 0.8154648767857287),
    (CHAIN, ["d0", "d1"], {}, "alpha_ndcg@2", 1.0),
    (CHAIN, ["d0", "d1"], {}, "alpha_ndcg(ideal=docid)@2", 1.10706810063236),
    ({"0": {"a": 1}, "1": {"a": 1, "b": 1}}, ["a"], {}, "err_ia@1", 1.0),
    ({"0": {"a": 1}, "1": {"a": 1, "b": 1}}, ["a"], {}, "alpha_dcg@1", 1.0),
    ({"0": {"a": 1}, "1": {"b": 0}}, ["a"], {}, "strecall@5", 1.0),
    ({"0": {"a": 1}, "1": {"b": 1}}, {"a": 1.0, "b": 1.0, "x": 1.0}, {"ties": "average"}, "strecall@1", 1 / 3),
    ({"0": {"a": 1, "b": 1}}, ["x", "a", "b"], {}, "alpha_ndcg(alpha=0)@3", 0.6934264036172708),
    ({"0": {"a": 1, "b": 1}}, ["x", "a", "b"], {}, "ndcg(gain=binary)@3", 0.6934264036172708),
    ({"0": {"a": 0}}, ["a"], {}, "alpha_ndcg@3", 0.0),
    ({"0": {"a": 0}}, ["a"], {}, "nrbp(empty=0.25)", 0.25),
    ({"0": {"a": 0}}, ["a"], {}, "p_ia(empty=0.25)@3", 0.25),
])  # fmt: skip
def test_known_values(backend, judgments, run, rules, metric, value):
    assert values(judgments, run, metric, **rules)[metric] == pytest.approx(value, rel=1e-12)


def test_values_of_the_test_in_pyndeval(backend):
    result = values(NDEVAL, ["A", "D", "E", "B"], "err_ia@5", "alpha_ndcg@5", "nnrbp", "ap_ia")
    assert [round(value, 3) for value in result.values()] == [0.393, 0.787, 0.862, 0.5]


def test_mean_of_err_over_subtopics_is_err_ia_of_chapelle(backend):
    """Its stop probability is ½, so it differs from ndeval's value by a factor."""
    by_subtopic = [
        rg.from_recommendations([grades], [LIST]).evaluate("err(max_grade=1)@5").mean("err(max_grade=1)@5")
        for grades in NUGGETS.values()
    ]
    factor = math.fsum(2 ** (1 - i) / i for i in range(1, 6)) / 2
    assert math.fsum(by_subtopic) / 3 == pytest.approx(0.29375)
    assert values(NUGGETS, LIST, "err_ia@5")["err_ia@5"] * factor == pytest.approx(0.29375)


ALL = [f"{name}(alpha={alpha})@{k}" for name in NOVELTY for alpha in (0, 0.3, 1) for k in (1, 3, 7)]
ALL += [f"{name}(beta=0.8)" for name in ("nrbp", "nnrbp")]
MEANS = [f"{name}@{k}" for name in ("strecall", "p_ia", "recall_ia", "rr_ia", "ap_ia") for k in (1, 3, 7)]


def defined(metric, judgments, run, weights, rel=1):
    """Return the mean over all orders of a run of a metric's definition."""
    record = rg.metric(metric) if "@" not in metric and "(" not in metric else None
    ((_, record),) = rg.metrics.metric.parse(metric) if record is None else ((None, record),)
    name = {"precision_ia": "p_ia"}.get(record.name, record.name)
    each = [
        subtopics.value(name, judgments, order, record.k, record.alpha, record.beta, weights, rel)
        for order in subtopics.orders(run)
    ]
    return math.fsum(each) / len(each), record


@pytest.mark.parametrize("seed", range(3))
def test_values_are_the_mean_over_all_orders(backend, seed):
    """If any order of a query beats the greedy ideal, the value of the mean is not the mean of the values."""
    rng = random.Random(seed)
    for _ in range(as_many(60)):
        judgments, run = subtopics.random_query(rng, 4, 4, levels=2)
        weights = rng.choice([None, {s: rng.choice([0.5, 1.0, 2.0]) for s in judgments}])
        result = rankings(judgments, run, weights, ties="average").evaluate(*ALL, *MEANS)
        for metric in (*ALL, *MEANS):
            expected, record = defined(metric, judgments, run, weights)
            beaten = record.name in subtopics.NORMALISED and any(
                subtopics.value(record.name, judgments, order, record.k, record.alpha, record.beta, weights) == 1.0
                for order in subtopics.orders(run)
            )
            if not beaten:
                assert result.mean(metric) == pytest.approx(expected, abs=1e-12), (metric, judgments, run, weights)


def test_values_without_ties_equal_their_definition(backend):
    rng = random.Random(5)
    metrics = [*ALL, *MEANS, "alpha_ndcg(rel=2)@5", "strecall(rel=2)@2"]
    for _ in range(as_many(100)):
        judgments, run = subtopics.random_query(rng, 6, 9)
        result = rankings(judgments, run).evaluate(*metrics)
        for metric in metrics:
            expected, _ = defined(metric, judgments, run, None, rel=2 if "rel=2" in metric else 1)
            assert result.mean(metric) == pytest.approx(expected, abs=1e-12), (metric, judgments, run)


def many(rng, queries=6, levels=3, **sizes):
    """Return judgments by subtopic, weights and a run of several queries."""
    pairs = {f"q{number}": subtopics.random_query(rng, levels=levels, **sizes) for number in range(queries)}
    truth, run = ({query: pair[side] for query, pair in pairs.items()} for side in (0, 1))
    weights = {query: {s: rng.choice([0.25, 1.0, 3.0]) for s in grades} for query, grades in truth.items()}
    return truth, weights, run


EVERY = [*ALL, *MEANS, *(f"{name}@4" if SUBTOPIC_TABLE[name].cuts else name for name in BASES), "alpha_ndcg", "nnrbp"]
EVERY = list(dict.fromkeys(EVERY))


@pytest.mark.both
@pytest.mark.parametrize("ties", ["docid", "stable", "average"])
def test_backends_give_the_same_bits(on_both, ties):
    rng = random.Random(11)
    metrics = [
        m for m in EVERY if ties != "average" or not rg.metrics.metric.row_of(m.split("(")[0].split("@")[0]).unaveraged
    ]
    for _ in range(as_many(20)):
        truth, weights, run = many(rng, documents=12)

        def evaluate(truth=truth, weights=weights, run=run):
            judgments = rg.judgments(truth, subtopic=True, weights=weights)
            result = rg.from_qrels(judgments, run, ties=ties).evaluate(*metrics, "alpha_ndcg(ideal=docid)@5")
            return {metric: vector.tolist() for metric, vector in result.items()}, result.counts

        compiled, python = on_both(evaluate)
        assert compiled == python


@pytest.mark.parametrize("ties", ["docid", "average"])
def test_means_over_subtopics_equal_those_of_separate_evaluations(backend, ties):
    """Bit for bit, with each subtopic as a query of its own. Documents of other subtopics are then unjudged."""
    rng = random.Random(3)
    for _ in range(as_many(30)):
        truth, weights, run = many(rng, documents=10)
        judgments = rg.judgments(truth, subtopic=True, weights=weights)
        pairs = [
            (query, s) for query in truth for s, grades in truth[query].items() if max(grades.values(), default=0) > 0
        ]
        alone = rg.from_qrels(
            {pair: truth[pair[0]][pair[1]] for pair in pairs}, {pair: run[pair[0]] for pair in pairs}, ties=ties
        )
        for name, base in BASES.items():
            if ties == "average" and TABLE[base].unaveraged:
                continue
            k = "@3" * TABLE[base].cuts
            result = rg.from_qrels(judgments, run, ties=ties).evaluate(name + k)[name + k]
            each = dict(zip(pairs, alone.evaluate(base + k)[base + k].tolist(), strict=True))
            for query, value in zip(truth, result.tolist(), strict=True):
                of_query = [pair for pair in pairs if pair[0] == query]
                factors = [weights[query][s] for _, s in of_query]
                terms = [factor * each[pair] for factor, pair in zip(factors, of_query, strict=True)]
                assert value == (math.fsum(terms) / math.fsum(factors) if terms else 0.0), (name, query)


@in_one_case("name", BASES)
def test_documents_judged_not_relevant_do_not_change_a_mean_over_subtopics(backend, name):
    """Otherwise the value would depend on whether the judgments list what is irrelevant to a subtopic."""
    rng = random.Random(name)
    for _ in range(as_many(30)):
        truth, _, run = many(rng, queries=2)
        padded = {
            query: {s: {d: 0 for other in grades.values() for d in other} | grades[s] for s in grades}
            for query, grades in truth.items()
        }
        before, after = (
            rg.from_qrels(rg.judgments(judged, subtopic=True), run).evaluate(name)[name].tolist()
            for judged in (truth, padded)
        )
        assert before == after


def test_names_of_documents_and_subtopics_do_not_matter(backend):
    """Not to the bit, if the judgments keep their order."""
    rng = random.Random(21)
    metrics = [metric for metric in ALL if metric.startswith(("alpha", "nerr", "err"))]
    for _ in range(as_many(100)):
        judgments, run = subtopics.random_query(rng, 6, 9)
        names = sorted({*run, *(d for grades in judgments.values() for d in grades)})
        new = dict(zip(names, rng.sample([f"z{i}" for i in range(50)], len(names)), strict=True))
        labels = rng.sample(range(100), len(judgments))
        renamed = {
            f"t{label}": {new[d]: grade for d, grade in grades.items()}
            for label, grades in zip(labels, judgments.values(), strict=True)
        }
        before = values(judgments, run, *metrics)
        assert before == values(renamed, {new[d]: score for d, score in run.items()}, *metrics)


def test_ideal_of_ndeval_depends_on_names(backend):
    """Each document covers two subtopics: after d2, the one with the highest id, no other covers two new ones."""
    metric = "alpha_ndcg(ideal=docid)@2"
    assert values(CHAIN, ["d0", "d1"], metric)[metric] == pytest.approx(1.10706810063236)
    renamed = {s: {"c" if d == "d2" else d: grade for d, grade in grades.items()} for s, grades in CHAIN.items()}
    assert values(renamed, ["d0", "d1"], metric)[metric] == 1.0


def test_ideals_of_the_same_judgments_are_cached_separately(backend):
    rankings = rg.from_qrels(rg.judgments({"q": CHAIN}, subtopic=True), {"q": {"d0": 2.0, "d1": 1.0}})
    for metric, value in {"alpha_ndcg@2": 1.0, "alpha_ndcg(ideal=docid)@2": 1.10706810063236}.items():
        assert rankings.evaluate(metric).mean(metric) == pytest.approx(value), metric


def test_order_of_rows_matters_only_where_two_greedy_orders_are_equally_good():
    """A seeded count: the last rule of the ideal list is the order of the judgments."""
    rng, changed = random.Random(1), 0
    for _ in range(80):
        judgments, run = subtopics.random_query(rng, 6, 8)
        rows = [(s, d, grade) for s, grades in judgments.items() for d, grade in grades.items()]
        rng.shuffle(rows)
        shuffled = {}
        for s, d, grade in rows:
            shuffled.setdefault(s, {})[d] = grade
        before, after = (values(j, run, "alpha_ndcg@5")["alpha_ndcg@5"] for j in (judgments, shuffled))
        changed += not math.isclose(before, after, rel_tol=1e-12)
    assert changed == 0


def test_list_equal_to_its_ideal_is_exactly_one(backend):
    rng = random.Random(8)
    for _ in range(as_many(100)):
        judgments, _ = subtopics.random_query(rng, 6, 9)
        weights = rng.choice([None, {s: rng.choice([0.3, 1.0, 2.7]) for s in judgments}])
        sets = subtopics.relevant(judgments, 1)
        if not sets:
            continue
        alpha = rng.choice([0.1, 0.5, 0.9])
        documents = dict.fromkeys(d for grades in judgments.values() for d in grades)
        best = subtopics.ideal(documents, sets, {s: 1 if weights is None else weights[s] for s in sets}, alpha)
        metrics = [f"{name}(alpha={alpha})" for name in subtopics.NORMALISED]
        result = rankings(judgments, best, weights).evaluate(*metrics, *(f"{metric}@3" for metric in metrics))
        assert {*result.mean().values()} == {1.0}, (judgments, weights, alpha)
        assert "capped" not in result.counts


def test_list_that_covers_everything_at_each_rank_is_exactly_one(backend):
    judgments = {s: dict.fromkeys("abcdefg", 1) for s in ("x", "y", "z")}
    metrics = "alpha_dcg(alpha=0.3)@5", "err_ia(alpha=0.3)@5", "alpha_dcg@7", "err_ia@1"
    assert {*values(judgments, list("abcdefg"), *metrics, weights={"x": 0.1, "y": 0.7, "z": 3}).values()} == {1.0}


def test_lists_that_beat_the_greedy_ideal_are_counted(backend):
    covers = {"s0": "bd", "s1": "b", "s2": "ac", "s3": "acd", "s4": "ad", "s5": "acd"}
    beaten = {s: dict.fromkeys(documents, 1) for s, documents in covers.items()}
    weights = dict(zip(beaten, (3, 3, 5, 2, 1, 5), strict=True))
    truth = rg.judgments({"q": beaten, "r": NUGGETS}, subtopic=True, weights={"q": weights, "r": HEAVY})
    run = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}, "r": {"a": 1.0}}
    result = rg.from_qrels(truth, run).evaluate("alpha_ndcg@3", "alpha_dcg@3", "alpha_ndcg(ideal=docid)@3")
    assert result["alpha_ndcg@3"][0] == 1.0
    assert result["alpha_dcg@3"][0] < 1.0
    assert result["alpha_ndcg(ideal=docid)@3"][0] > 1.0
    assert result.counts["capped"] == 1
    assert "1 with a list that beats the greedy ideal" in repr(result)
    assert result.summary().counts["capped"] == 1
    assert rg.Summary.from_json(result.summary().to_json()) == result.summary()
    assert "capped" not in rg.from_qrels(truth, run).evaluate("alpha_ndcg(ideal=docid)@3").counts


@pytest.mark.parametrize("ties", ["docid", "average"])
def test_chunks_and_threads_do_not_change_bits(backend, monkeypatch, ties):
    from rankgain.data import source

    truth, weights, run = many(random.Random(4), queries=30, documents=12)
    judgments = rg.judgments(truth, subtopic=True, weights=weights)
    metrics = "alpha_ndcg@5", "nrbp", "err_ia@3", "strecall@2", "ndcg_ia@5", "ndcg@5"
    whole = rg.from_qrels(judgments, run, ties=ties).evaluate(*metrics)
    monkeypatch.setattr(source, "CHUNK", 20)
    monkeypatch.setattr(source, "SMALLEST_CHUNK", 10)
    rankings = rg.from_qrels(judgments, run, ties=ties)
    assert len([*rankings._source.chunks()]) > 5
    for threads in (1, 2):
        assert rankings.evaluate(*metrics, threads=threads) == whole
    parts = [
        rg.from_qrels(judgments, {query: run[query] for query in part}, ties=ties, missing="skip").evaluate(*metrics)
        for part in ([*run][:11], [*run][11:])
    ]
    assert parts[0].merge(parts[1]) == rg.from_qrels(judgments, run, ties=ties, missing="skip").evaluate(*metrics)


def test_constant_scores_without_a_cutoff(backend):
    """In one large tie group, subtopics have the same expected gain at each rank if α = 0."""
    judgments = {"a": {f"d{i}": 1 for i in range(300)}, "b": {f"d{i}": 1 for i in range(250, 310)}}
    run = {f"d{i}": 0.0 for i in range(400)}
    sums = math.fsum(1 / math.log2(i + 1) for i in range(1, 401)) * (300 + 60) / 400
    result = values(judgments, run, "alpha_ndcg(alpha=0)", "alpha_ndcg", "nrbp", ties="average")
    ideal = [2] * 50 + [1] * 260
    assert result["alpha_ndcg(alpha=0)"] == pytest.approx(
        sums / math.fsum(g / math.log2(i + 1) for i, g in enumerate(ideal, 1)), rel=1e-12
    )
    assert 0 < result["alpha_ndcg"] < 1


def test_too_many_tied_documents_are_refused(rejects):
    judgments = {"s": {f"d{i}": 1 for i in range(5000)}}
    run = {f"d{i}": 0.0 for i in range(5001)}
    rejects(
        ValueError,
        "query 'q': there are too many relevant documents of equal score",
        lambda: rankings(judgments, run, ties="average").evaluate("alpha_ndcg(alpha=0.001)"),
    )
    result = rankings(judgments, run).evaluate("alpha_ndcg(alpha=0.001)")
    assert 0.9 < result.mean("alpha_ndcg(alpha=0.001)") < 1.0


def test_ordinary_metrics_use_the_highest_grade(backend):
    judgments = {"s": {"a": -2, "b": 1, "c": -1}, "t": {"a": 1, "b": 3, "c": -1, "d": 0}}
    plain = rg.from_qrels({"q": {"a": 1, "b": 3, "c": -1, "d": 0}}, {"q": {"c": 3.0, "a": 2.0, "b": 1.0, "d": 0.0}})
    both = rankings(judgments, ["c", "a", "b", "d"])
    metrics = "ndcg@3", "ap", "judged@3", "bpref", "num_rel"
    assert both.evaluate(*metrics) == plain.evaluate(*metrics)
    condensed = both.limited(judged_only=True).evaluate("judged@3", "strecall@1", "alpha_ndcg@2")
    assert condensed.mean("judged@3") == 1.0
    assert condensed.mean("strecall@1") == 0.5  # a, since c is pooled but unjudged
    assert condensed.mean("alpha_ndcg@2") == values(judgments, ["a", "b", "d"], "alpha_ndcg@2")["alpha_ndcg@2"]


def test_subtopic_without_a_relevant_document_does_not_count(backend):
    without = {s: grades for s, grades in NUGGETS.items() if s != "n2"} | {"n2": {"c": 0}}
    with_none = {s: grades for s, grades in without.items() if s != "n2"}
    assert values(without, LIST, *ALL, *MEANS) == values(with_none, LIST, *ALL, *MEANS)


def test_weight_of_zero_leaves_a_subtopic_out(backend):
    left = {s: grades for s, grades in NUGGETS.items() if s != "n1"}
    every = dict.fromkeys(NUGGETS["n1"], 0)
    weighted = values(NUGGETS, LIST, *ALL, *MEANS, weights={"n1": 0, "n2": 1, "n3": 1})
    assert weighted == values({"n1": every, **left}, LIST, *ALL, *MEANS, weights={"n1": 1, "n2": 1, "n3": 1})


def test_a_query_without_subtopics_that_count_is_empty(backend):
    truth = rg.judgments({"q": NUGGETS, "r": {"s": {"a": 0}}, "t": {}}, subtopic=True)
    result = rg.from_qrels(truth, {"q": {"a": 1.0}, "r": {"a": 1.0}}).evaluate("alpha_ndcg@3", "strecall(empty=nan)@3")
    assert result["alpha_ndcg@3"].tolist()[1:] == [0.0, 0.0]
    assert np.isnan(result["strecall(empty=nan)@3"]).tolist() == [False, True, True]
    assert result.counts == {"queries": 3, "missing": 1, "unjudged": 0, "empty": 2}


@pytest.mark.parametrize(("name", "same"), [
    ("alpha-nDCG@10", "alpha_ndcg@10"), ("α_nDCG@10", "alpha_ndcg@10"), ("alpha_nDCG@10", "alpha_ndcg@10"),
    ("StRecall@10", "strecall@10"), ("strec@10", "strecall@10"), ("subtopic_recall@5", "strecall@5"),
    ("s-recall@5", "strecall@5"), ("nugget_recall@5", "strecall@5"), ("success_ia@5", "strecall@5"),
    ("NRBP(alpha=0.5,beta=0.5)", "nrbp"), ("nNRBP", "nnrbp"), ("AP_IA", "ap_ia"), ("MAP-IA", "ap_ia"),
    ("ERR-IA@20", "err_ia@20"), ("nERR_IA@20", "nerr_ia@20"), ("P_IA@5", "precision_ia@5"),
    ("mrr_ia@10", "rr_ia@10"), ("nDCG-IA@10", "ndcg_ia@10"), ("recall_ia@10", "recall_ia@10"),
])  # fmt: skip
def test_names_of_other_tools(name, same):
    result = rankings(NUGGETS, LIST).evaluate(name, same)
    assert result[name].tolist() == result[same].tolist()
    assert str(next(record for _, record in rg.metrics.metric.parse(name))) == same


def test_names_by_rule_are_those_of_the_specification():
    names = "cg dcg ncg ndcg rr precision recall capped_recall f ap ap_capped ap_hits r_precision iprec iprec_mean auc"
    names += " rbp q_measure set_ap g bin_g ndcg_rel r_ndcg"
    assert {*BASES} == {"strecall", *(f"{name}_ia" for name in names.split())}


@pytest.mark.parametrize("row", [
    ("unknown metric 'bpref_ia'…judged not relevant", "bpref_ia"),
    ("unknown metric 'infAP_IA'…judged not relevant", "infAP_IA"),
    ("unknown metric 'gm_map_ia'", "gm_map_ia"),
    ("unknown metric 'utility_ia'…returned documents", "utility_ia"),
    ("unknown metric 'num_rel_ia'…mean over queries", "num_rel_ia"),
    ("unknown metric 'coverage@10'…strecall@k", "coverage@10"),
    ("alpha must be from 0 to 1, not 2.0", "alpha_ndcg(alpha=2)@10"),
    ("alpha must be finite, not nan", "alpha_ndcg(alpha=nan)@10"),
    ("beta must be from 0 to below 1, not 1.0", "nrbp(beta=1)"),
    ("err_ia needs a cut-off…write err_ia@10", "err_ia"),
    ("alpha_dcg needs a cut-off…write alpha_dcg@10", "alpha_dcg"),
    ("alpha_dcg@100000 needs a cut-off of at most 65536", "alpha_dcg@100000"),
    ("ideal must be 'judged' or 'docid'", "alpha_ndcg(ideal=returned)@10"),
    ("ideal must be 'judged' or 'returned'", "ndcg(ideal=docid)@10"),
])  # fmt: skip
def test_metrics_that_are_refused(rejects, row):
    message, metric = row
    rejects(ValueError, message, rankings(NUGGETS, LIST).evaluate, metric)


@pytest.mark.parametrize("row", [
    ("alpha_ndcg@10 needs judgments by subtopic: rankgain.judgments(qrels, subtopic=True)", "alpha_ndcg@10"),
    ("ndcg_ia@10 needs judgments by subtopic: rankgain.judgments(qrels, subtopic=True)", "ndcg_ia@10"),
])  # fmt: skip
def test_judgments_without_subtopics_are_refused(rejects, row):
    message, metric = row
    rejects(ValueError, message, rg.from_qrels({"q": {"a": 1}}, {"q": {"a": 1.0}}).evaluate, metric)
    rejects(ValueError, "have no document ids", rg.from_ranked([[1, 0]]).evaluate, metric)


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_extreme_orders_are_refused(rejects, ties):
    message = f"alpha_ndcg@5 has no value for ties='{ties}': the best order…ties='average'"
    rejects(ValueError, message, rankings(NUGGETS, TIED, ties=ties).evaluate, "alpha_ndcg@5")
    rejects(ValueError, "strecall@5 has no value for ties", rankings(NUGGETS, TIED, ties=ties).evaluate, "strecall@5")


@pytest.mark.options("metric", "alpha")
def test_parameters_of_novelty_have_their_own_defaults():
    assert str(rg.metric("nrbp")) == "nrbp"
    assert str(rg.metric("nrbp", beta=0.8, alpha=0.25)) == "nrbp(beta=0.8,alpha=0.25)"
    assert str(rg.metric("f")) == "f"
    assert rg.metric("nrbp").beta == 0.5
    assert rg.metric("f").beta == 1.0
    assert values(NUGGETS, LIST, "nrbp(beta=0)")["nrbp(beta=0)"] == 1 / 3


def test_gains_by_function_and_grades_without_a_gain(backend, rejects):
    graded = {"s": {"a": 2, "b": 1}, "t": {"b": 3}}
    squared = rg.metric("ndcg_ia", k=2, gain=lambda grades: grades**2)
    by_table = rg.metric("ndcg_ia", k=2, gain={1: 1, 2: 4, 3: 9})
    result = rankings(graded, ["a", "b"]).evaluate(squared, by_table)
    assert result.mean(squared) == result.mean(by_table) == pytest.approx((1 + 1 / math.log2(3)) / 2)
    missing = rg.metric("ndcg_ia", k=2, gain={1: 1, 3: 9})
    rejects(
        ValueError,
        "query 'q', subtopic 's'…gain has no entry for the grade 2",
        rankings(graded, ["b"]).evaluate,
        missing,
    )
    short = rg.metric("dcg_ia", discount=[1.0])
    rejects(ValueError, "query 'q', subtopic 's': discount has 1 ranks", rankings(graded, ["a", "b"]).evaluate, short)
