"""The share of judged documents, which `evaluate` counts beside the metrics."""

import io
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.marks import quick_first

import rankgain as rg
from rankgain.cli import main

WHERE = "of the documents, in lists that are not empty"
QRELS = {"q": {"a": 2, "b": 0, "pooled": -1}, "r": {"a": 1}, "missing": {"a": 1}}
RUN = {"q": {"x": 5.0, "a": 4.0, "pooled": 3.0, "b": 2.0}, "r": {"a": 1.0}}


def lines(text):
    return [line for line in text.splitlines() if WHERE in line]


@pytest.mark.parametrize(
    ("metrics", "depth", "expected"),
    [
        (("rr",), 10, (2 / 4 + 1) / 2),
        (("rr@1", "recall"), 1, (0 + 1) / 2),
        (("rr@2", "ndcg@1"), 2, (1 / 2 + 1) / 2),
        ((rg.metric("ndcg", k=2, gain=np.sqrt),), 2, (1 / 2 + 1) / 2),
    ],
    ids=["10 without a cut-off", "the only cut-off", "the deepest cut-off", "callable gain"],
)
@pytest.mark.usefixtures("backend")
def test_share_by_hand(metrics, depth, expected):
    """Pooled documents are not judged, and queries without documents do not count."""
    result = rg.from_qrels(QRELS, RUN).evaluate(*metrics)
    assert result.judged_share == expected
    assert lines(repr(result)) == [f"judged@{depth}: {expected:.2f} {WHERE}"]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    "rankings",
    [
        lambda: rg.from_qrels({"q": {"a": 1, "b": 2}}, RUN),
        lambda: rg.from_recommendations([{"a"}], [["x", "a"]]),
        lambda: rg.from_scores([[0, 1]], [[0.5, 0.6]]),
        lambda: rg.from_ranked([[0, 1]]),
        lambda: rg.from_qrels(QRELS, {"q": {}}),
        lambda: rg.from_qrels(QRELS, RUN).limited(judged_only=True),
        lambda: rg.from_qrels(QRELS, RUN).limited(scored_only=True),
    ],
    ids=["only relevant", "sets", "scores", "grades", "nothing returned", "judged only", "scored only"],
)
def test_share_is_unknown(rankings):
    result = rankings().evaluate("rr")
    assert result.judged_share is None
    assert lines(repr(result)) == []


@pytest.mark.usefixtures("backend")
def test_fully_judged_lists_are_not_mentioned():
    result = rg.from_qrels(QRELS, {"q": {"b": 2.0, "a": 1.0}, "r": {"a": 1.0}}).evaluate("rr")
    assert result.judged_share == 1.0
    assert lines(repr(result)) == []


@pytest.mark.usefixtures("backend")
def test_depth_of_limited_rankings():
    assert rg.from_qrels(QRELS, RUN).limited(depth=2).evaluate("rr@3").judged_share == (1 / 2 + 1) / 2
    tied = rg.from_qrels(QRELS, {"q": dict.fromkeys("xyab", 1.0)}).limited(depth=3)  # in the order y, x, b
    assert tied.evaluate("rr@9").judged_share == 1 / 3


def drawn(rng, levels, ids):
    """Draw judgments and a run of one query, with scores of a few levels."""
    documents = [ids(number) for number in range(80)]
    returned = rng.sample(documents, rng.choice([0, 1, 5, 40]))
    judged = rng.sample(documents, rng.choice([1, 10, 40]))
    return {one: rng.choice([-1, 0, 0, 1, 2]) for one in judged}, {
        one: float(rng.randrange(levels)) for one in returned
    }


def forms(qrels, run, ties):
    """Yield rankings of the same data in each form of documents with ids."""
    yield rg.from_qrels(qrels, run, ties=ties)
    columns = zip(*((q, d, s) for q, scores in run.items() for d, s in scores.items()), strict=True)
    truth = zip(*((q, d, g) for q, grades in qrels.items() for d, g in grades.items()), strict=True)
    names = ("query_id", "doc_id", "relevance"), ("query_id", "doc_id", "score")
    frames = [dict(zip(keys, map(list, side), strict=True)) for keys, side in zip(names, (truth, columns), strict=True)]
    yield rg.from_frames(*frames, ties=ties)
    if ties == "stable":
        ranked = [sorted(run[query], key=lambda one, query=query: -run[query][one]) for query in qrels]
        yield rg.from_recommendations(list(qrels.values()), ranked)


@pytest.mark.both
@pytest.mark.parametrize("ties", ["docid", "stable", "average", "best", "worst"])
@pytest.mark.parametrize("seeds", quick_first([range(15), range(15, 40)]), ids=len)
def test_share_is_the_value_of_the_metric_judged(on_both, ties, seeds):
    """The bits are those of judged@k for any order of ties, form of input, number of documents and cut-off."""
    for seed in seeds:
        rng = random.Random(seed)
        ids, levels, k = rng.choice([str, int]), rng.choice([1, 3, 1000]), rng.choice([1, 3, 10, 100])
        queries = {f"q{number}": drawn(rng, levels, ids) for number in range(3)}
        qrels, run = ({query: pair[side] for query, pair in queries.items()} for side in (0, 1))
        qrels["q0"]["irrelevant"] = 0
        if not any(run.values()) or ids is int:
            qrels["q0"].pop("irrelevant")
            qrels["q0"][999] = 0
            run["q0"] = run["q0"] or {ids(1): 1.0}
            qrels = {query: {ids(one): grade for one, grade in grades.items()} for query, grades in qrels.items()}

        def values(qrels=qrels, run=run, k=k):
            results = [rankings.evaluate(f"ndcg@{k}", threads=2) for rankings in forms(qrels, run, ties)]
            expected = rg.from_qrels(qrels, run, ties=ties).evaluate(f"judged@{k}", "num_ret")
            shares = expected[f"judged@{k}"][expected["num_ret"] > 0]
            assert {result.judged_share for result in results} == {math.fsum(shares) / len(shares)}
            return results[0].judged_share

        compiled, python = on_both(values)
        assert compiled == python


@pytest.mark.usefixtures("backend")
def test_ties_that_cannot_be_broken_do_not_count():
    """The share must not raise an error where the metrics need no order."""
    qrels = {"q": {"a": 0, "b": 1}, "r": {"a": 0, "b": 1}}
    run = {"q": {"a": 1.0, 1: 1.0, "b": 2.0}, "r": {"x": 2.0, "b": 1.0}}
    result = rg.from_qrels(qrels, run).evaluate("rr@2")
    assert result["rr@2"].tolist() == [1.0, 0.5]
    assert result.judged_share == 0.5


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("metrics", "share"),
    [(["cg@1"], 0 / 1), (["cg@1", "idcg@2"], None), (["cg@1", "idcg@3"], 1 / 3), (["cg@1", "idcg@9"], 1 / 4)],
    ids=str,
)
@pytest.mark.parametrize("grade", [0, 1])
def test_ties_that_cannot_be_broken_count_where_their_order_does_not_matter(metrics, share, grade):
    """The ideal reads deeper ranks than the metric of the run, whose ties must be broken only within its cut-off."""
    run = {"x": 2.0, b"a": 1.0, "y": 1.0, "z": 0.0}
    rankings = rg.from_qrels({"q": {b"a": grade, b"not returned": 1 - grade}}, {"q": run})
    result = rankings.evaluate(*metrics)
    assert result["cg@1"].tolist() == [0.0]
    assert result.judged_share == share
    with pytest.raises(TypeError, match=r"query 'q': documents of equal score .* all str, all bytes or all int"):
        rankings.evaluate("cg@2", "bpref")


@pytest.mark.both
@given(seed=st.integers(0, 2**32))
def test_ties_that_cannot_be_broken_have_the_same_outcome(on_both, seed):
    rng = random.Random(seed)
    ids = ["a", "b", "c", b"a", b"b", 1, 2, 3]
    run = {one: float(rng.randrange(4)) for one in rng.sample(ids, rng.randint(1, 8))}
    qrels = {one: rng.choice([-1, 0, 1, 2]) for one in rng.sample(ids, rng.randint(1, 8))}
    metrics = [
        f"{name}@{rng.randint(1, 9)}" for name in rng.sample(["ndcg", "idcg", "rr", "judged"], rng.randint(1, 3))
    ]

    def outcome():
        try:
            result = rg.from_qrels({"q": qrels}, {"q": run}).evaluate(*metrics)
        except (TypeError, ValueError) as error:
            return str(error)
        return result.to_dict(), result.judged_share

    compiled, python = on_both(outcome)
    assert compiled == python


@pytest.mark.usefixtures("backend")
def test_parts_are_merged():
    whole = rg.from_qrels(QRELS, RUN).evaluate("rr@2")
    parts = [
        rg.from_qrels({query: {"zero": 0, **QRELS[query]}}, {query: RUN[query]}).evaluate("rr@2") for query in "qr"
    ]
    assert parts[0].merge(parts[1]).judged_share == whole.judged_share
    assert whole.subset(["q"]).judged_share == 0.5
    unknown = rg.from_qrels({"other": {"a": 1}}, {"other": {"a": 1.0}}).evaluate("rr@2")
    assert whole.merge(unknown).judged_share is None


@pytest.mark.needs("pyarrow")
def test_share_is_stored(tmp_path):
    result = rg.from_qrels(QRELS, RUN).evaluate("rr@2")
    result.to_parquet(tmp_path / "result.parquet")
    stored = rg.Evaluation.from_table(tmp_path / "result.parquet")
    assert (stored.judged_share, lines(repr(stored))) == (result.judged_share, lines(repr(result)))


def test_each_run_of_a_comparison_is_stated(tmp_path, capsys):
    runs = {"one": RUN, "two": {"q": {"a": 1.0}, "r": {"a": 1.0}}}
    comparison = rg.compare(QRELS, runs, "rr@2")
    expected = [f"judged@2: one 0.75, two 1.00 {WHERE}"]
    assert lines(str(comparison)) == lines(str(comparison.test())) == expected
    paths = [tmp_path / name for name in ("qrels", "one", "two")]
    paths[0].write_text("".join(f"{q} 0 {d} {g}\n" for q, grades in QRELS.items() for d, g in grades.items()))
    for path, run in zip(paths[1:], runs.values(), strict=True):
        path.write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, scores in run.items() for d, s in scores.items()))
    for command in ("eval", "compare"):
        assert main([command, *map(str, paths), "-m", "rr@2"]) == 0
        assert lines(capsys.readouterr().out) == expected


HONEST = {
    "clicks": lambda rng, shown: rg.from_recommendations([set(rng.sample(range(40), 5))], [shown]),
    "one held out": lambda rng, shown: rg.from_recommendations([[rng.randrange(40)]], [shown]),
    "ratings held out": lambda rng, shown: rg.from_recommendations(
        [{item: rng.randint(1, 5) for item in rng.sample(range(40), 10)}], [shown]
    ),
    "passages, relevant ones only": lambda rng, shown: rg.read_trec(
        io.BytesIO("".join(f"q 0 {item} 1\n" for item in rng.sample(range(40), 2)).encode()),
        io.BytesIO("".join(f"q Q0 {item} 0 {-rank} t\n" for rank, item in enumerate(shown)).encode()),
    ),
    "grades from 1": lambda rng, shown: rg.from_qrels(
        {"q": {item: rng.randint(1, 3) for item in rng.sample(range(40), 9)}},
        {"q": {one: rng.random() for one in shown}},
    ),
    "labels beside scores": lambda rng, shown: rg.from_scores(
        [[rng.randint(0, 1) for _ in shown]], [[rng.random() for _ in shown]]
    ),
    "impressions, all labelled": lambda rng, shown: rg.from_qrels(
        {"q": {item: rng.randint(0, 1) for item in range(40)}}, {"q": {one: rng.random() for one in shown}}
    ),
    "a pool to depth 10": lambda rng, shown: rg.from_qrels(
        {"q": {item: rng.randint(0, 2) for item in shown[:10]}}, {"q": {one: -rank for rank, one in enumerate(shown)}}
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HONEST)
def test_honest_data_draw_no_line(kind):
    rng = random.Random(kind)
    for _ in range(300):
        assert lines(repr(HONEST[kind](rng, rng.sample(range(40), 15)).evaluate("rr", "ndcg@10"))) == []


@pytest.mark.parametrize("ids", ["d{}".format, lambda number: number * 2**40 + 1], ids=["text", "integers"])
@pytest.mark.parametrize("validate", ["judged", "full"])
@pytest.mark.parametrize("ties", ["average", "best", "worst"])
@pytest.mark.usefixtures("backend")
def test_a_query_of_a_frame_is_matched_twice(ids, validate, ties):
    """Each query has a tie at the depth of the share, and unjudged documents in the buckets of judged ones."""
    judged, returned = [ids(number) for number in range(300)], [ids(number) for number in range(250, 2000)]
    qrels = {"query_id": ["q"] * 300 + ["r"] * 300, "doc_id": judged * 2, "relevance": [0, 1] * 300}
    run = {"query_id": ["q"] * 1750 + ["r"] * 1750, "doc_id": returned * 2, "score": [1.0] * 3500}
    rankings = rg.from_frames(qrels, run, ties=ties, validate=validate)
    result = rankings.evaluate("rr@10", "judged@10")
    assert result.judged_share == result.mean("judged@10")
