"""The similarity of two runs: hand-worked values, peers and papers, enumeration of ties, forms, counts and refusals."""

import math
import pickle
import random

import numpy as np
import pytest
from support import similarity as definition
from support.marks import in_one_case
from support.strategies import as_many

import rankgain as rg
from rankgain.comparison.overlap import QUERY_BLOCK, _blocks

options = pytest.mark.options
AVERAGED = "average"


def mean(old, new, metric, **rules):
    return rg.similarity({"q": old}, {"q": new}, metric, **rules).mean(metric)


def tied(text):
    """Return the scores of documents written as "(ab)c": those in brackets have the same score."""
    scores, score, is_open = {}, 0.0, False
    for letter in text:
        if letter in "()":
            is_open = letter == "("
            score -= 1.0
        else:
            score -= 0.0 if is_open else 1.0
            scores[letter] = score
    return scores


# Two lists, and the values of metrics. The sources are named in the documentation of the definitions.
GOLDEN = {
    "equal": ("abcde", "abcde", {"rbo": 1.0, "rbo_ext": 1.0, "rbo@3": 1.0}),
    "swapped": ("abc", "acb", {"rbo": 0.955, "rbo(p=0.5)": 0.875, "overlap@2": 0.5}),
    "shortened": ("abc", "a", {"rbo": 0.415, "rbo_ext": 1.0}),
    "readme of ranked-overlap": ("1234567", "13245768", {"rbo": 0.8853713875, "rbo_ext": 0.9451585}),
    "reversed": ("abcde", "edcba", {"rbo": 0.737775, "overlap@3": 1 / 3, "rbo@3": 0.27}),
    "Webber's average overlap": ("abcdefg", "zcavwxy", {"rbo": 0.2882172857}),
    "dlukes/rbo#5, four": ("NHMA", "CGNA", {"rbo": 0.3915}),
    "dlukes/rbo#5, seven": ("NHMACFL", "CGNA", {"rbo": 0.3601009286, "rbo_ext": 0.4903836429}),
    "OpenSearch": ("3", "123", {"rbo": 0.27, "jaccard@3": 1 / 3}),
    "ten": (
        "abcdefghij",
        "abdcefghxy",
        {"rbo(p=0.98)": 0.8249571964, "unchanged@2": 1.0, "unchanged@3": 0.0, "jaccard@10": 2 / 3},
    ),
    "both empty": ("", "", {"rbo": 1.0, "rbo_ext": 1.0, "overlap@3": 1.0, "jaccard@3": 1.0, "unchanged@3": 1.0}),
    "one empty": ("", "a", {"rbo": 0.0, "rbo_ext": 0.0, "overlap@3": 0.0, "jaccard@3": 0.0, "unchanged@3": 0.0}),
    "other empty": ("a", "", {"rbo": 0.0, "rbo_ext": 0.0, "overlap@3": 0.0, "jaccard@3": 0.0, "unchanged@3": 0.0}),
    "five of ten": ("abcde", "ab", {"rbo_ext": 1.0, "rbo": 0.54289, "overlap@10": 0.4}),
}


@pytest.mark.parametrize(("old", "new", "values"), GOLDEN.values(), ids=GOLDEN)
def test_golden_values(backend, old, new, values):
    other = {"q": ["anything"]}  # so that the runs have documents
    result = rg.similarity({"p": list(old)} | other, {"p": list(new)} | other, *values)
    assert {metric: result[metric][0] for metric in values} == pytest.approx(values, abs=1e-10)
    for metric, value in values.items():
        if value in (0.0, 1.0):
            assert result[metric][0] == value


def test_webbers_overlap_at_each_depth(backend):
    """The mean overlap down to each depth k, rounded as in the paper."""
    by_depth = [mean(list("abcdefg"), list("zcavwxy"), f"overlap@{d}") for d in range(1, 8)]
    averages = [round(math.fsum(by_depth[:k]) / k, 3) for k in range(1, 8)]
    assert averages == [0, 0, 0.222, 0.292, 0.313, 0.317, 0.312]


TIED = {
    "itself": ("(abc)", "(abc)", {"rbo": 0.9033333333, "rbo(p=0.5)": 0.5833333333}),
    "by hand": ("(ab)c", "a(bc)", {"rbo": 0.9275, "overlap@1": 0.5, "overlap@2": 0.75, "overlap@3": 1.0}),
    "dlukes/rbo#5": ("(NH)MA", "CG(NA)", {"rbo": 0.378}),
    "unequal lengths": ("(NH)M(ACF)L", "CG(NA)", {"rbo_ext": 0.4403468571}),
}


@pytest.mark.parametrize(("old", "new", "values"), TIED.values(), ids=TIED)
def test_golden_values_under_average(backend, old, new, values):
    result = rg.similarity({"q": tied(old)}, {"q": tied(new)}, *values, ties="average")
    assert result.mean() == pytest.approx(values, abs=1e-10)


@options("similarity", "ties")
def test_ties_are_ordered_by_id_or_by_position(backend):
    assert mean(tied("(abc)"), tied("(abc)"), "rbo") == 1.0
    assert mean(tied("(ab)c"), tied("a(bc)"), "rbo") == pytest.approx(0.855)
    assert mean({"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0}, "unchanged@2", ties="stable") == 0.0
    assert mean({"a": 1.0, "b": 1.0}, {"b": 1.0, "a": 1.0}, "unchanged@2", ties="docid") == 1.0


EXACT = {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.8, "e": 0.1}
FEW = {"a": 0.9, "b": 0.8, "c": 0.76}
KNN = {
    "right": (EXACT, {"a": 0.9, "b": 0.8}, "knn_recall@2", 1.0),
    "tied with the k-th": (EXACT, {"a": 0.9, "d": 0.8}, "knn_recall@2", 1.0),
    "not listed": (EXACT, {"a": 0.9, "z": 0.1}, "knn_recall@2", 0.5),
    "listed too low": (EXACT, {"a": 0.9, "e": 0.1}, "knn_recall@2", 0.5),
    "not listed, by new scores": (EXACT, {"a": 0.9, "z": 0.8}, "knn_recall(scores=new)@2", 1.0),
    "without tolerance": (FEW, {"a": 0.9, "c": 0.76}, "knn_recall@2", 0.5),
    "within the tolerance": (FEW, {"a": 0.9, "c": 0.76}, "knn_recall(tolerance=0.05)@2", 1.0),
    "fewer than k": ({"a": 0.9}, {"a": 0.9, "z": 0.1}, "knn_recall@2", 1.0),
}


@options("metric", "tolerance", "scores")
@pytest.mark.parametrize(("old", "new", "metric", "value"), KNN.values(), ids=KNN)
def test_recall_of_an_approximate_search(backend, old, new, metric, value):
    assert mean(old, new, metric) == value


def test_recall_of_empty_lists(backend):
    result = rg.similarity({"p": {}, "q": {}, "r": {"a": 1.0}}, {"p": {}, "q": {"a": 1.0}, "r": {}}, "knn_recall@2")
    assert result["knn_recall@2"].tolist() == [1.0, 0.0, 0.0]


def test_recall_under_average_counts_shares(backend):
    """Of b, c and e, which share ranks 2 to 4 of new, one is among the first two; b and c are right."""
    new = {"a": 0.9, "b": 0.7, "c": 0.7, "e": 0.7}
    assert mean(EXACT, new, "knn_recall@2", ties="average") == pytest.approx((1 + 2 / 3) / 2)
    tied_with_kth = {"a": 0.9, "b": 0.8, "c": 0.8, "z": 0.8}
    assert mean(EXACT, tied_with_kth, "knn_recall(scores=new)@2", ties="average") == 1.0


def test_old_that_ends_within_a_tie_is_reported(backend):
    with pytest.warns(UserWarning, match="in 1 query old ends within a tie: .* return more than 2 per query"):
        assert mean({"a": 0.9, "b": 0.8}, {"a": 0.9, "z": 0.8}, "knn_recall@2") == 0.5


METRICS = [f"{name}{k}" for name in ("rbo", "rbo_ext", "rbo(p=0.5)") for k in ("", "@1", "@2", "@4")]
METRICS += ["overlap@1", "overlap@3", "overlap@9"]
UNAVERAGED = ["jaccard@1", "jaccard@3", "unchanged@1", "unchanged@3"]


def arguments(metric):
    name, _, k = metric.partition("@")
    return {"name": name.partition("(")[0], "k": int(k) if k else None, "p": 0.5 if "p=0.5" in name else 0.9}


@pytest.mark.both
def test_ties_are_averaged_exactly(on_both):
    """The values equal the mean over all orders of both lists, of queries that are computed together."""
    rng = random.Random(3)
    queries = range(as_many(300))
    old = {query: definition.random_run(rng) for query in queries} | {-1: {"a": 1.0}}
    new = {query: definition.random_run(rng) for query in queries} | {-1: {"a": 1.0}}
    compiled, python = on_both(lambda: rg.similarity(old, new, METRICS, ties="average"))
    for metric in METRICS:
        assert compiled[metric].tolist() == python[metric].tolist()
        due = [definition.expected(old=old[query], new=new[query], **arguments(metric)) for query in old]
        assert compiled[metric] == pytest.approx(due, abs=1e-14)


@pytest.mark.both
@pytest.mark.parametrize("ties", ["docid", "stable"])
def test_values_without_ties_equal_their_definition(on_both, ties):
    rng = random.Random(4)
    old, new = ({query: definition.random_run(rng) for query in range(as_many(300))} for _ in range(2))
    old[-1] = new[-1] = {"a": 1.0}

    def ordered(scores):
        documents = sorted(scores, reverse=True) if ties == "docid" else [*scores]
        return sorted(documents, key=lambda d: -scores[d])

    compiled, python = on_both(lambda: rg.similarity(old, new, METRICS, UNAVERAGED, ties=ties))
    for metric in METRICS + UNAVERAGED:
        assert compiled[metric].tolist() == python[metric].tolist()
        due = [definition.value(old=ordered(old[q]), new=ordered(new[q]), **arguments(metric)) for q in old]
        assert compiled[metric] == pytest.approx(due, abs=1e-14)


def test_equal_lists_are_exactly_one_and_disjoint_ones_exactly_zero():
    sizes = [1, 2, 3, 7, 10, 63, 64, 100, 333, 1000]
    old = {size: [f"a{i}" for i in range(size)] for size in sizes}
    new = {size: [f"b{i}" for i in range(size)] for size in sizes}
    metrics = [
        f"{name}(p={p}){k}" for name in ("rbo", "rbo_ext") for p in (0.01, 0.5, 0.9, 0.98, 0.999) for k in ("", "@10")
    ]
    equal, disjoint = rg.similarity(old, old, metrics), rg.similarity(old, new, metrics)
    for metric in metrics:
        assert {*equal[metric].tolist()} == {1.0}
        assert {*disjoint[metric].tolist()} == {0.0}


def test_symmetric_and_ordered():
    rng = random.Random(5)
    old, new = ({query: definition.random_run(rng) for query in range(300)} for _ in range(2))
    old[-1] = new[-1] = {"a": 1.0}
    there, back = (rg.similarity(*runs, METRICS, UNAVERAGED) for runs in ((old, new), (new, old)))
    for metric in there:
        assert there[metric] == pytest.approx(back[metric], abs=1e-15)
    assert np.all(there["rbo"] <= there["rbo_ext"])
    assert np.all(there["rbo@4"] <= there["rbo_ext@4"])


def test_blocks_do_not_change_bits(monkeypatch):
    rng = random.Random(6)
    old, new = ({query: definition.random_run(rng) for query in range(60)} for _ in range(2))
    old[-1] = new[-1] = {"a": 1.0}
    whole = rg.similarity(old, new, METRICS, ties="average")
    monkeypatch.setattr("rankgain.comparison.overlap.QUERY_BLOCK", 20)
    assert rg.similarity(old, new, METRICS, ties="average") == whole
    monkeypatch.setattr("rankgain.data.dicts.DictSource.most", 10)
    assert rg.similarity(old, new, METRICS, ties="average") == whole


def test_blocks_hold_all_queries_in_order():
    lengths = np.array([3, 0, 5, 1, 100_000_000, 2, 2])
    ranges = [*_blocks(lengths)]
    assert [query for start, stop in ranges for query in range(start, stop)] == [*range(7)]
    assert all(stop - start == 1 or (stop - start) * lengths[start:stop].max() <= QUERY_BLOCK for start, stop in ranges)
    assert [*_blocks(lengths[:0])] == []


# Forms of input.

OLD = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"d": 2.0, "e": 1.0}, "q3": {"f": 1.0}}
NEW = {"q1": {"a": 3.0, "c": 2.0, "x": 1.0}, "q2": {"e": 2.0, "d": 1.0}, "q4": {"f": 1.0}}
FORM_METRICS = "rbo", "rbo_ext@2", "overlap@2", "jaccard@2", "unchanged@2"


def lists(run):
    return {query: sorted(scores, key=scores.get, reverse=True) for query, scores in run.items()}


def table(run):
    rows = [(query, d, score) for query, scores in run.items() for d, score in scores.items()]
    random.Random(1).shuffle(rows)
    return dict(zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True))


def records(run):
    columns = table(run)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def frame(run):
    return pytest.importorskip("pandas").DataFrame(table(run))


def ranked_frame(run):
    ranks = {(query, d): rank for query, docs in lists(run).items() for rank, d in enumerate(docs, 1)}
    columns = table(run)
    pairs = zip(columns["query_id"], columns["doc_id"], strict=True)
    return {"query_id": columns["query_id"], "doc_id": columns["doc_id"], "rank": [ranks[pair] for pair in pairs]}


def by_row(run):
    return [{"query_id": query, "retrieved": docs} for query, docs in lists(run).items()]


def series(run):
    return pytest.importorskip("pandas").Series(lists(run))


def as_tuples(run):
    return {query: [(d, 1) for d in docs] for query, docs in lists(run).items()}


def as_bytes(run):
    return {q: {d.encode(): score for d, score in scores.items()} for q, scores in run.items()}


FORMS = {
    "dicts": lambda run: run,
    "lists": lists,
    "table": table,
    "records": records,
    "pandas": frame,
    "ranks": ranked_frame,
    "rows": by_row,
    "series": series,
}


@in_one_case("new_form", FORMS)
@pytest.mark.parametrize("old_form", FORMS)
def test_every_pair_of_forms_gives_the_same_bits(backend, old_form, new_form):
    due = rg.similarity(OLD, NEW, *FORM_METRICS)
    result = rg.similarity(FORMS[old_form](OLD), FORMS[new_form](NEW), *FORM_METRICS)
    assert result.to_dict() == due.to_dict() or {*result.query_ids} == {*due.query_ids}
    for query, values in result.to_dict().items():
        assert values == due.to_dict()[query]
    assert result.counts == due.counts


@pytest.mark.parametrize("form", [as_tuples, as_bytes], ids=["tuples", "bytes"])
def test_other_types_of_ids(backend, form):
    assert (
        rg.similarity(form(OLD), form(NEW), *FORM_METRICS).to_dict() == rg.similarity(OLD, NEW, *FORM_METRICS).to_dict()
    )


def trec(run, path):
    lines = [f"{q} Q0 {d} 0 {score} tag" for q, scores in run.items() for d, score in scores.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


def csv(run, path):
    columns = table(run)
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return str(path)


def test_files(backend, tmp_path):
    due = rg.similarity(OLD, NEW, *FORM_METRICS)
    for run in (trec(OLD, tmp_path / "old.txt"), OLD):
        assert rg.similarity(run, trec(NEW, tmp_path / "new.txt"), *FORM_METRICS) == due
    with (tmp_path / "old.txt").open("rb") as file:
        assert rg.similarity(file, NEW, *FORM_METRICS) == due


@pytest.mark.needs("pyarrow")
def test_text_ids_of_an_untyped_file_match_integers(backend, tmp_path):
    pytest.importorskip("pyarrow")
    old = {q: {int(d, 36): score for d, score in scores.items()} for q, scores in enumerate(OLD.values())}
    new = {q: {int(d, 36): score for d, score in scores.items()} for q, scores in enumerate(NEW.values())}
    due = rg.similarity(old, new, *FORM_METRICS).mean()
    files = csv(old, tmp_path / "old.csv"), csv(new, tmp_path / "new.csv")
    for runs in (files, (files[0], new), (old, files[1]), (files[0], table(new)), (table(old), files[1])):
        assert rg.similarity(*runs, *FORM_METRICS).mean() == pytest.approx(due, abs=1e-15)


def test_lists_are_paired_by_position(backend):
    assert rg.similarity([["a", "b"], ["c"]], [["b", "a"], ["c"]], "unchanged@2")["unchanged@2"].tolist() == [0.0, 1.0]
    assert mean(["a"], ["a"], "rbo") == 1.0
    assert rg.similarity(["a", "b"], ["a", "c"], "overlap@2").mean("overlap@2") == 0.5
    assert rg.similarity(np.array([[1, 2, -1]]), [[1, 2]], "unchanged@2").mean("unchanged@2") == 1.0
    assert rg.similarity([[1]], [[1]]).ties is None


@options("similarity", "columns")
def test_columns_can_be_named_for_each_side(backend):
    old = {"q": ["1", "1"], "d": ["a", "b"], "s": [2.0, 1.0]}
    new = {"query": ["1", "1"], "d": ["b", "a"], "value": [2.0, 1.0]}
    result = rg.similarity(old, new, "overlap@1", query=("q", "query"), doc="d", score=("s", "value"))
    assert result.mean("overlap@1") == 0.0
    rows = [{"id": 1, "hits": ["a", "b"]}], [{"id": 1, "ids": ["a", "b"]}]
    assert rg.similarity(*rows, "unchanged@2", retrieved=("hits", "ids")).mean("unchanged@2") == 1.0


@options("similarity", "duplicates")
def test_repeated_documents_count_once(backend):
    result = rg.similarity({"q": ["a", "b", "a"]}, {"q": ["a", "b"]}, "unchanged@3", duplicates="first")
    assert result.mean("unchanged@3") == 1.0


def test_scores_may_be_negative_or_infinite(backend, recwarn):
    scores = {"a": math.inf, "b": -0.0, "c": -5.5, "d": -math.inf}
    assert mean(scores, scores, "unchanged@4") == 1.0
    assert not recwarn


# Counts.


def test_counts(backend):
    result = rg.similarity(OLD | {"e": {}}, NEW | {"e": {}, "f": {"a": 1.0}}, "overlap@3")
    assert result.counts == {
        "queries": 4,
        "only_in_old": 1,
        "only_in_new": 2,
        "both_empty": 1,
        "fewer_in_new": 0,
        "more_in_new": 0,
    }
    assert "1 only in old, 2 only in new, 1 both empty" in repr(result)
    sizes = rg.similarity({"p": ["a", "b"], "q": ["a"]}, {"p": ["a"], "q": ["a", "b"]}, "overlap@3").counts
    assert (sizes["fewer_in_new"], sizes["more_in_new"]) == (1, 1)
    first = rg.similarity({"p": ["a", "b"], "q": ["a"]}, {"p": ["a"], "q": ["a", "b"]}, "overlap@1").counts
    assert (first["fewer_in_new"], first["more_in_new"]) == (0, 0)


@options("similarity", "missing")
def test_queries_of_one_run(backend):
    zero, skip = (rg.similarity(OLD, NEW, "rbo", missing=missing) for missing in ("zero", "skip"))
    assert zero.query_ids == ["q1", "q2", "q3"]
    assert zero["rbo"][2] == 0.0
    assert skip.query_ids == ["q1", "q2"]
    assert skip["rbo"].tolist() == zero["rbo"][:2].tolist()
    assert skip.counts["only_in_old"] == 1


def test_a_query_set_that_grew_fails_no_floor(backend):
    """An unchanged engine: the queries that only new has are left out, and do not lower the mean."""
    rng = random.Random(200)
    for _ in range(as_many(200)):
        old = {query: definition.random_run(rng) | {"z": 0.0} for query in range(100)}
        added = {100 + query: definition.random_run(rng) for query in range(rng.randint(6, 40))}
        result = rg.similarity(old, old | added, "rbo@10")
        assert result.mean("rbo@10") == 1.0
        assert result.counts["only_in_new"] == len(added)


def test_result_is_an_evaluation(backend):
    result = rg.similarity(OLD, NEW)
    assert [*result] == ["rbo@10", "overlap@10", "unchanged@10"]
    assert result.interval("rbo@10")[1] <= 1.0
    assert pickle.loads(pickle.dumps(result)) == result
    assert pickle.loads(pickle.dumps(result)).counts == result.counts
    part = result.subset(result["rbo@10"] < 0.5)
    assert part.query_ids == ["q3"]
    assert part.counts == {"queries": 1}
    other = rg.similarity({"z": ["a"]}, {"z": ["a"]}, ties=None)
    assert result.flat(names="safe").keys() == {"rbo_at_10", "overlap_at_10", "unchanged_at_10"}
    assert "only in old" in result._repr_html_() or "rbo@10" in result._repr_html_()
    with pytest.raises(ValueError, match="evaluate by the same rules"):
        result.merge(other)
    both = result.merge(rg.similarity({"z": {"a": 1.0}}, {"z": {"a": 1.0}, "y": {}}))
    assert both.counts["only_in_new"] == 2
    summary = result.summary()
    assert rg.Summary.from_json(summary.to_json()) == summary
    assert rg.Summary.from_json(summary.to_json()).counts == result.counts
    assert summary.merge(summary).counts["queries"] == 6


def test_metrics_are_records(backend):
    metric = rg.metric("rbo", k=10, p=0.98)
    assert str(metric) == "rbo(p=0.98)@10"
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert rg.similarity(OLD, NEW, metric, "rank_biased_overlap@10", "rbo@5,10").keys() == {
        metric,
        "rank_biased_overlap@10",
        "rbo@5",
        "rbo@10",
    }


# Refusals.

REFUSED = {
    "duplicate": (
        {"q": ["a", "a"]},
        {"q": ["a"]},
        ["rbo"],
        "old: query 'q', document 'a' (position 1): the document repeats",
    ),
    "duplicate that old lacks": (
        {"q": ["a"]},
        {"q": ["z", "z"]},
        ["rbo"],
        "new: query 'q', document 'z' (position 1): the document repeats",
    ),
    "duplicate in a table": (
        {"q": ["a"]},
        {"query_id": ["q", "q"], "doc_id": ["z", "z"], "score": [2.0, 1.0]},
        ["rbo"],
        "new: query 'q', document 'z' (row 1): the document repeats",
    ),
    "NaN in old": (
        {"q": {"a": math.nan}},
        {"q": {"a": 1.0}},
        ["rbo"],
        "old: query 'q', document 'a': the score is NaN",
    ),
    "NaN in new": (
        {"q": {"a": 1.0}},
        {"q": {"z": math.nan}},
        ["rbo"],
        "new: query 'q', document 'z': the score is NaN",
    ),
    "p": (OLD, NEW, ["rbo(p=1)"], "p must be above 0 and below 1"),
    "k": (OLD, NEW, ["rbo@0"], "k must be a positive integer"),
    "tolerance": (OLD, NEW, ["knn_recall(tolerance=-1)@3"], "tolerance must be at least 0"),
    "scores": (OLD, NEW, ["knn_recall(scores=both)@3"], "scores must be 'old' or 'new'"),
    "unknown": (OLD, NEW, ["kendall"], "unknown metric 'kendall'…two runs have rbo, rbo_ext, overlap, jaccard"),
    "OpenSearch's": (OLD, NEW, ["rbo90"], "write 'rbo(p=0.5)' or 'rbo(p=0.9)'"),
    "quality": (OLD, NEW, ["ndcg@10"], "ndcg@10 needs judgments: rankgain.evaluate(truth, run, 'ndcg@10')"),
    "no cut-off": (OLD, NEW, ["overlap"], "overlap needs a cut-off: overlap@10"),
    "no scores": (
        lists(OLD),
        NEW,
        ["knn_recall@3"],
        "knn_recall@3 needs scores, and old has none: overlap@3 needs none",
    ),
    "no new scores": (OLD, lists(NEW), ["knn_recall(scores=new)@3"], "needs scores, and new has none"),
    "ranks": (ranked_frame(OLD), NEW, ["knn_recall@3"], "needs scores, and old has none"),
    "no common query": ({"p": ["a"]}, {"q": ["a"]}, ["rbo"], "old and new have no query in common"),
    "types of queries": ({1: ["a"]}, {"1": ["a"]}, ["rbo"], "no query in common: int in old, str in new"),
    "types of documents": ({"q": {1: 1.0}}, {"q": {"1": 1.0}}, ["rbo"], "int in old, str in new"),
    "types in lists": ({"q": [1]}, {"q": ["1"]}, ["rbo"], "the document ids are int in old and str in new"),
    "lists of other lengths": ([["a"]], [["a"], ["b"]], ["rbo"], "old has 1 queries without names, and new has 2"),
    "names on one side": ({"q": ["a"]}, [["a"]], ["rbo"], "old has names of queries and new has none"),
}


@pytest.mark.both
@pytest.mark.parametrize(("old", "new", "metrics", "message"), REFUSED.values(), ids=REFUSED)
def test_refuses_values(rejects, old, new, metrics, message):
    rejects(ValueError, message, rg.similarity, old, new, *metrics)


@pytest.mark.both
def test_messages_never_speak_of_judgments(on_both):
    for old, new, metrics, _ in REFUSED.values():
        for text in on_both(lambda old=old, new=new, metrics=metrics: _message(old, new, metrics)):
            assert "judg" not in text.replace("needs judgments: rankgain.evaluate(truth, run", "")
            assert "run:" not in text


def _message(old, new, metrics):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 — the messages are compared above
        rg.similarity(old, new, *metrics)
    return str(raised.value)


NOT_A_RUN = {
    "judgments": (lambda: rg.judgments(OLD), "old is Judgments, which are no run"),
    "rankings": (lambda: rg.from_qrels(OLD, NEW), "old is Rankings, which hold judgments too"),
    "scores": (lambda: np.array([[0.5, 0.25]]), "old holds scores without ids"),
    "nothing": (lambda: None, "old must hold lists of ids"),
    "numbers": (lambda: {"q1": {"a": "x"}}, "old: query 'q1', document 'a': the score must be a number"),
}


@pytest.mark.both
@pytest.mark.parametrize(("old", "message"), NOT_A_RUN.values(), ids=NOT_A_RUN)
def test_refuses_types(rejects, old, message):
    rejects(TypeError, message, rg.similarity, old(), NEW)


@pytest.mark.both
def test_refuses_rules(rejects):
    rejects(
        ValueError,
        "jaccard@3 has no value for ties='average': it is not linear",
        rg.similarity,
        OLD,
        NEW,
        "jaccard@3",
        ties="average",
    )
    rejects(
        ValueError,
        "unchanged@3 has no value for ties='average'",
        rg.similarity,
        OLD,
        NEW,
        "unchanged@3",
        ties="average",
    )
    rejects(ValueError, "ties must be 'docid', 'stable' or 'average', not 'best'", rg.similarity, OLD, NEW, ties="best")
    rejects(ValueError, "both runs are in rank order", rg.similarity, [["a"]], [["a"]], ties="docid")
    rejects(ValueError, "missing must be", rg.similarity, OLD, NEW, missing="drop")
    rejects(TypeError, "unexpected keyword argument 'k'", rg.similarity, OLD, NEW, k=10)
    rejects(TypeError, "score= names a column, and old is not a table", rg.similarity, OLD, NEW, score="s")


@pytest.mark.both
@pytest.mark.parametrize(
    "call",
    [
        lambda: rg.evaluate(OLD, NEW, "rbo@10"),
        lambda: rg.compare(OLD, {"a": OLD, "b": NEW}, "rbo@10"),
        lambda: rg.from_qrels(OLD, NEW).tie_spread("rbo@10"),
        lambda: rg.from_qrels(OLD, NEW).curve("rbo"),
        lambda: rg.from_qrels(OLD, NEW).calculation("rbo@10", "q1"),
        lambda: rg.from_qrels(OLD, NEW).attribution("rbo@10", like="ranx"),
        lambda: rg.scorer("rbo@10"),
        lambda: rg.lightgbm_metric("rbo@10"),
    ],
    ids=["evaluate", "compare", "tie_spread", "curve", "calculation", "attribution", "scorer", "lightgbm"],
)
def test_measures_of_quality_name_the_function(rejects, call):
    rejects(ValueError, "is a similarity of two runs, not a quality: rankgain.similarity(old, new, 'rbo", call)


def test_comparison_of_similarities_is_refused(rejects):
    """A similarity says how much changed, not what is better."""
    result = rg.similarity({"q": {"a": 1.0}}, {"q": {"b": 1.0}}, "rbo@10")
    message = "rbo@10 is a similarity of two runs, not a quality: rankgain.similarity(old, new, 'rbo@10')"
    rejects(ValueError, message, rg.Comparison, {"a": result, "b": result})
    rejects(ValueError, message, rg.compare, {"a": result, "b": result})
    values = rg.compare({"a": {"q": 1.0}, "b": {"q": 0.5}}, metrics="rbo", values=True)
    assert values.best("rbo") == ["a"]
