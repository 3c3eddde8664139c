"""Rankings under other rules, and parts of rankings, equal rankings of data prepared in plain Python."""

import gzip
import os
import struct
from collections import UserDict
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.marks import in_one_case
from support.sides import columns
from support.strategies import TIES, examples

import rankgain as rg
from rankgain.metrics.table import TABLE

pytestmark = pytest.mark.usefixtures("backend")

POLICIES = [*TIES, "docid"]
ALONE = 9  # an example evaluates one in nine metrics alone


def metrics(ties):
    """Return every metric, and those with a cut-off also at k = 1 and k = 3."""
    names = [name for name, row in TABLE.items() if ties != "average" or not row.unaveraged]
    return [*names, *(f"{name}@{k}" for name in names if TABLE[name].cuts for k in (1, 3))]


def values(rankings, ties):
    return {name: vector.tolist() for name, vector in rankings.evaluate(*metrics(ties)).items()}


# the data, and a plain-Python version of the rules


def single(score):
    """Return the nearest float32 value as a Python float."""
    try:
        return struct.unpack("f", struct.pack("f", score))[0]
    except OverflowError:
        return float("inf") if score > 0 else float("-inf")


def ordered(run, ties):
    """Return the documents of a query, best first, under a tie policy that breaks all ties."""
    documents = sorted(run, reverse=True) if ties == "docid" else list(run)
    return sorted(documents, key=run.get, reverse=True)


def prepared(qrels, run, *, ties, missing="zero", bits=64, depth=None, judged_only=False):
    """Apply every rule except the tie policy to qrels and a run."""
    prepared_run = {}
    for query, scores in run.items():
        judged = {document for document, grade in qrels.get(query, {}).items() if grade >= 0}
        retained = {document: single(score) if bits == 32 else float(score) for document, score in scores.items()}
        if depth is not None:
            retained = {document: retained[document] for document in ordered(retained, ties)[:depth]}
        if judged_only:
            retained = {document: score for document, score in retained.items() if document in judged}
        prepared_run[query] = retained
    return {query: qrels[query] for query in qrels if query in run or missing == "zero"}, prepared_run


# Scores that are tied, overflow or underflow when converted to float32, and ordinary scores.
CLOSE = [16777216.0, 16777216.4, 16777217.0, 16777218.0, 1.0, 1.00000001, 1e39, 2e39, -1e39, -3e39, 0.0, 1e-50, -1e-60]
CLOSE += [0.1, 0.1 + 1e-9, 0.1 + 1e-7, 2.0, 2.0]
ids = st.sampled_from([f"d{i}" for i in range(12)] + ["é", "\U00010000", "\uffff"])
qrels_of = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), st.dictionaries(ids, st.integers(-2, 4), min_size=1))
runs_of = st.dictionaries(
    st.sampled_from(["q1", "q2", "q4"]), st.dictionaries(ids, st.sampled_from(CLOSE), min_size=1), min_size=1
)


@st.composite
def sides(draw):
    """Draw qrels and a run that share at least one query."""
    qrels, run = draw(qrels_of), draw(runs_of)
    query = next(iter(run))
    qrels.setdefault(query, {"d1": 1})
    qrels[query].setdefault("d2", 0)
    if query == "q4":
        run["q1"] = {"d1": 2.0, "x": 2.0}
        qrels.setdefault("q1", {"d1": 2})
    return qrels, run


def lines(side, form, scattered):
    """Return the lines of a file; if `scattered`, alternate between the queries."""
    rows = [
        (position if scattered else 0, form.format(query, document, number))
        for query, documents in side.items()
        for position, (document, number) in enumerate(documents.items())
    ]
    return "".join(line for _, line in sorted(rows, key=lambda row: row[0])).encode()


def as_frames(qrels, run, folder, **rules):
    return rg.from_frames(columns(qrels), columns(run, value="score"), **rules)


def as_files(qrels, run, folder, *, compressed=False, scattered=False, **rules):
    paths = folder / "qrels", folder / "run"
    written = lines(qrels, "{} 0 {} {}\n", scattered), lines(run, "{} Q0 {} 0 {!r} tag\n", scattered)
    for path, data in zip(paths, written, strict=True):
        path.write_bytes(gzip.compress(data) if compressed else data)
    return rg.read_trec(*paths, **rules)


FORMS = {
    "dicts": lambda qrels, run, folder, **rules: rg.from_qrels(qrels, run, **rules),
    "judgments": lambda qrels, run, folder, **rules: rg.from_qrels(rg.judgments(qrels), run, **rules),
    "frames": as_frames,
    "files": as_files,
    "gzip": partial(as_files, compressed=True),
    "scattered": partial(as_files, scattered=True),
    "scattered gzip": partial(as_files, compressed=True, scattered=True),
}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rules")


# rankings under other rules


@forms
@examples(0.4)
@given(
    sides(),
    st.sampled_from(POLICIES),
    st.sampled_from(POLICIES),
    st.sampled_from(["zero", "skip"]),
    st.sampled_from(["zero", "skip"]),
    st.sampled_from([None, 32, 64]),
)
def test_under_equals_a_construction_with_these_rules(folder, form, data, before, ties, missing, other_missing, bits):
    rankings = form(*data, folder, ties=before, missing=missing)
    first = values(rankings, before)
    other = rankings.under(ties=ties, missing=other_missing, score_bits=bits)
    qrels, run = prepared(*data, ties=ties, missing=other_missing, bits=bits)
    expected = rg.from_qrels(qrels, run, ties=ties)
    assert values(other, ties) == values(expected, ties)
    assert list(other.query_ids) == list(qrels)
    assert (other.ties, other.missing) == (ties, other_missing)
    assert values(rankings, before) == first  # the original rankings are unchanged
    back = other.under(ties=before, missing=missing, score_bits=64)
    assert values(back, before) == first
    constructed = form(*data, folder, ties=ties, missing=other_missing)
    assert (other.left_out, other.evaluate("rr").counts) == (constructed.left_out, constructed.evaluate("rr").counts)


def test_under_missing_zero_checks_skipped_queries():
    qrels, run = {"a": {"x": 1}, "b": {"y": float("nan")}}, {"a": {"x": 1.0}}
    rankings = rg.from_qrels(qrels, run, missing="skip")
    assert rankings.evaluate("rr")["rr"].tolist() == [1.0]
    with pytest.raises(ValueError, match=r"qrels: query 'b', document 'y': .*NaN"):
        rankings.under(missing="zero").evaluate("rr")


class Shared(UserDict):
    """A mapping that behaves as if another thread changed it."""

    changing = False

    def items(self):
        if self.changing:
            raise RuntimeError("dictionary changed size during iteration")
        return super().items()


def test_under_zero_names_qrels_that_change():
    qrels = Shared({"a": {"x": 1}, "b": {"y": 1}})
    rankings = rg.from_qrels(qrels, {"a": {"x": 1.0}}, missing="skip")
    qrels.changing = True
    with pytest.raises(ValueError, match=r"^qrels: .*changed"):
        rankings.under(missing="zero")


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 4), st.sampled_from(CLOSE)), min_size=1, max_size=9), min_size=1, max_size=3
    ),
    st.sampled_from(TIES),
    st.sampled_from(TIES),
    st.sampled_from([np.float64, np.float32, np.float16]),
)
def test_scores_under_32_bits_equal_rounded_scores(queries, before, ties, dtype):
    with np.errstate(all="ignore"):
        labels, scores = ([[pair[part] for pair in query] for query in queries] for part in (0, 1))
        scores = [np.array(row).astype(dtype) for row in scores]
    other = rg.from_scores(labels, scores, ties=before).under(ties=ties, score_bits=32)
    rounded = [[single(float(score)) for score in row] for row in scores]
    assert values(other, ties) == values(rg.from_scores(labels, rounded, ties=ties), ties)
    wide = [row.astype(float).tolist() for row in scores]
    assert values(other.under(score_bits=64), ties) == values(rg.from_scores(labels, wide, ties=ties), ties)


@in_one_case(
    ("scores", "unrounded", "rounded"),
    [
        ([2**24, 2**24 + 1, 2**24 + 2, 2**62, 2**62 + 2**20], 1.0, 0.5),
        # Integers become float64 first, so 2^62 + 2^38 + 1 is rounded down, although the next greater float32 is
        # nearer.
        ([2**62, 2**62 + 2**38 + 1, 0, 0, 0], 0.5, 1.0),
    ],
)
def test_integer_scores_beyond_float32_are_rounded(scores, unrounded, rounded):
    grades = [1, 0, 0, 0, 1]
    sides = {"q": dict(zip("abcde", grades, strict=True))}, {"q": dict(zip("abcde", scores, strict=True))}
    for rankings in (
        rg.from_scores(grades, np.array(scores), ties="stable"),
        rg.from_qrels(*sides, ties="stable"),
        as_frames(*sides, None, ties="stable"),
    ):
        assert rankings.evaluate("rr")["rr"].tolist() == [unrounded]
        assert rankings.under(score_bits=32).evaluate("rr")["rr"].tolist() == [rounded]


def test_ranks_of_a_frame_are_not_rounded_to_32_bits():
    ranks = [2**24 + 1, 2**24, 3]
    run = {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "rank": ranks}
    qrels = {"query_id": ["q"], "doc_id": ["a"], "relevance": [1]}
    rankings = rg.from_frames(qrels, run, ties="stable")
    assert rankings.evaluate("rr")["rr"].tolist() == [1 / 3]
    assert rankings.under(score_bits=32).evaluate("rr")["rr"].tolist() == [1 / 2]


def test_rules_of_an_open_file_can_change_after_it_was_closed(folder):
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}
    as_files(qrels, run, folder)
    with open(folder / "run", "rb") as file:
        rankings = rg.read_trec(folder / "qrels", file, ties="average")
    assert rankings.under(ties="best").evaluate("rr")["rr"].tolist() == [1.0]
    assert rankings.under(ties="worst", missing="skip").evaluate("rr")["rr"].tolist() == [0.5]
    assert rankings.under(ties="docid").evaluate("rr")["rr"].tolist() == [0.5]
    assert rankings.under(ties="stable", score_bits=32).evaluate("rr")["rr"].tolist() == [1.0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_rules_of_a_pipe_with_a_name_can_change(folder):
    as_files({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, folder)
    (folder / "pipe").unlink(missing_ok=True)
    os.mkfifo(folder / "pipe")
    with ThreadPoolExecutor(1) as pool:
        pool.submit((folder / "pipe").write_bytes, (folder / "run").read_bytes())
        rankings = rg.read_trec(folder / "qrels", folder / "pipe", score_bits=32)
    assert rankings.under(score_bits=32).evaluate("rr")["rr"].tolist() == [0.5]
    assert rankings.under(ties="stable").evaluate("rr")["rr"].tolist() == [1.0]


@pytest.mark.parametrize("change", ["cut", "overwritten", "deleted"])
def test_a_change_of_the_file_does_not_change_rankings(folder, change):
    """The file is read, not mapped."""
    run = {"q": {f"d{number}": 1.0 for number in range(2000)} | {"a": 1.0}}
    as_files({"q": {"a": 1, "b": 0}}, run, folder)
    rankings = rg.read_trec(folder / "qrels", folder / "run")
    if change == "deleted":
        (folder / "run").unlink()
    else:
        with open(folder / "run", "r+b") as file:
            size = file.seek(0, 2)
            file.truncate(0) if change == "cut" else file.seek(0) or file.write(b"q 0 b 1 9 t\n" * (size // 12))
    assert rankings.evaluate("rr")["rr"].tolist() == [1 / 2001]
    assert rankings.under(ties="stable").evaluate("rr")["rr"].tolist() == [1 / 2001]
    assert rankings.calculation("rr", "q").rows[0]["document"] == "d999"


def test_named_queries_keep_their_names():
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"r": {"a": 1}}
    rankings = rg.from_qrels(qrels, run, query_ids=["one", "two"])
    assert rankings.under(missing="skip").query_ids == ["two"]
    assert rankings.under(missing="skip").evaluate("rr").to_dict() == {"two": {"rr": 1.0}}
    whole = rg.from_qrels(qrels, run | {"q": {}}, query_ids=["one", "two"], missing="skip")
    assert whole.under(missing="zero").query_ids == ["one", "two"]


# parts of rankings


@forms
@examples(0.6)
@given(
    sides(),
    st.sampled_from([*product(["stable", "docid"], [None, 1, 2, 5, 100]), *product(POLICIES, [None])]),
    st.sampled_from(["zero", "skip"]),
    st.booleans(),
    st.sampled_from([64, 32]),
    st.integers(0, ALONE - 1),
)
def test_limited_equals_evaluation_of_the_cut_run(
    folder, form, data, ties_and_depth, missing, judged_only, bits, first
):
    ties, depth = ties_and_depth
    rankings = form(*data, folder, ties=ties, missing=missing).under(score_bits=bits)
    part = rankings.limited(depth=depth, judged_only=judged_only)
    rules = {"ties": ties, "missing": missing, "bits": bits, "depth": depth, "judged_only": judged_only}
    expected = values(rg.from_qrels(*prepared(*data, **rules), ties=ties), ties)
    assert values(part, ties) == expected
    assert len(part) == len(rankings)
    assert part.left_out == rankings.left_out
    for name in metrics(ties)[first::ALONE]:  # each metric alone gives the same value
        assert part.evaluate(name)[name].tolist() == expected[name]


@examples(0.4)
@given(sides(), st.sampled_from(["stable", "docid"]), st.integers(1, 6), st.sampled_from(POLICIES))
def test_limited_twice_is_limited_to_both(folder, data, ties, depth, others):
    qrels, run = data
    rankings = rg.from_qrels(qrels, run, ties=ties)
    first_condensed = prepared(*prepared(*data, ties=ties, judged_only=True), ties=ties, depth=depth)
    part = rankings.limited(judged_only=True).limited(depth=depth)
    assert values(part, ties) == values(rg.from_qrels(*first_condensed, ties=ties), ties)
    first_cut = prepared(*data, ties=ties, depth=depth, judged_only=True)
    part = rankings.limited(depth=depth).limited(judged_only=True)
    assert values(part, ties) == values(rg.from_qrels(*first_cut, ties=ties), ties)
    for first, second in ((depth, depth + 1), (depth + 1, depth)):
        part = rankings.limited(judged_only=True).limited(depth=first).limited(depth=second)
        assert values(part, ties) == values(rankings.limited(judged_only=True).limited(depth=depth), ties)
        part = rankings.limited(depth=first).limited(depth=second)
        assert values(part, ties) == values(rankings.limited(depth=depth), ties)
    part = rankings.limited(judged_only=True).under(ties=others, missing="skip", score_bits=32)
    rules = {"ties": others, "missing": "skip", "bits": 32, "judged_only": True}
    assert values(part, others) == values(rg.from_qrels(*prepared(*data, **rules), ties=others), others)


def labelled(qrels, run, returned):
    """Return a grade for each document of the run: 0 if it is unjudged or pooled. Queries in `returned` have lists."""
    queries = [query for query in qrels if returned.get(query)]
    grades = {query: {doc: max(qrels[query].get(doc, 0), 0) for doc in run[query]} for query in queries}
    return grades, {query: run[query] for query in queries}


@forms
@examples(0.6)
@given(
    sides(),
    st.sampled_from([*product(["stable", "docid"], [None, 1, 2, 5, 100]), *product(POLICIES, [None])]),
    st.sampled_from(["zero", "skip"]),
    st.booleans(),
    st.sampled_from([64, 32]),
    st.integers(0, ALONE - 1),
)
def test_limited_to_scored_documents_equals_labels_of_the_run(
    folder, form, data, ties_and_depth, missing, judged_only, bits, first
):
    ties, depth = ties_and_depth
    rankings = form(*data, folder, ties=ties, missing=missing).under(score_bits=bits)
    part = rankings.limited(depth=depth, judged_only=judged_only, scored_only=True)
    rules = {"ties": ties, "missing": missing, "bits": bits, "depth": depth, "judged_only": judged_only}
    qrels, run = labelled(*prepared(*data, **rules), data[1])
    expected = values(rg.from_qrels(qrels, run, ties=ties), ties)
    assert values(part, ties) == expected
    assert list(part.query_ids) == list(qrels)
    assert part.left_out == rankings.left_out
    for name in metrics(ties)[first::ALONE]:  # each metric alone gives the same value
        assert part.evaluate(name)[name].tolist() == expected[name]
    if ties != "docid":
        arrays = [[list(row.values()) for row in side.values()] for side in (qrels, run)]
        assert values(rg.from_scores(*arrays, ties=ties), ties) == expected
    callable_gain = rg.metric("ndcg", gain=lambda grades: grades * 2.0 + 1.0)
    handed = rg.from_qrels(qrels, run, ties=ties)
    assert (
        part.evaluate(callable_gain)[callable_gain].tolist() == handed.evaluate(callable_gain)[callable_gain].tolist()
    )


@examples(0.4)
@given(sides(), st.sampled_from(["stable", "docid"]), st.integers(1, 6), st.sampled_from(POLICIES))
def test_limits_before_and_after_scored_documents(data, ties, depth, others):
    qrels, run = data
    rankings = rg.from_qrels(qrels, run, ties=ties)
    scored = rankings.limited(scored_only=True)
    handed = rg.from_qrels(*labelled(qrels, run, run), ties=ties)
    assert values(scored.limited(depth=depth), ties) == values(handed.limited(depth=depth), ties)
    assert values(scored.limited(judged_only=True), ties) == values(handed, ties)
    assert values(scored.limited(scored_only=True), ties) == values(handed, ties)
    assert values(scored.under(ties=others), others) == values(handed.under(ties=others), others)
    steps = rankings.limited(judged_only=True).limited(depth=depth).limited(scored_only=True).limited(depth=1)
    condensed = prepared(*prepared(*data, ties=ties, judged_only=True), ties=ties, depth=depth)
    expected = rg.from_qrels(*labelled(*condensed, run), ties=ties).limited(depth=1)
    assert values(steps, ties) == values(expected, ties)


@pytest.mark.options("Rankings.limited", "scored_only")
def test_scored_documents_of_lists_and_matrices(backend):
    """A list of grades without `judged` holds its judged documents, so that nothing changes."""
    lists, scores = [[2, 0], [], [0, 1, 0]], [[1.0, 2.0], [], [0.5, 0.5, 0.1]]
    plain, beside = rg.from_scores(lists, scores), rg.from_scores(lists, scores, judged=[[2, 3, 0], [1], [1, 0, 0]])
    unchanged = plain.limited(scored_only=True)
    assert (values(unchanged, "average"), len(unchanged)) == (values(plain, "average"), 3)
    expected = rg.from_scores([lists[0], lists[2]], [scores[0], scores[2]], query_ids=[0, 2])
    part = beside.limited(scored_only=True)
    assert (values(part, "average"), list(part.query_ids)) == (values(expected, "average"), [0, 2])
    sparse = pytest.importorskip("scipy.sparse")
    truth, train = (
        sparse.csr_array([[0, 2, 0], [1, 0, 0], [0, 3, 1]]),
        sparse.csr_array([[0, 0, 1], [1, 1, 1], [0, 1, 0]]),
    )
    items = np.array([[0.3, 0.2, 0.9], [0.1, 0.2, 0.3], [0.5, 0.6, 0.5]])
    part = rg.from_scores(truth, items, exclude=train, query_ids=["a", "b", "c"]).limited(scored_only=True)
    expected = rg.from_scores([[0, 2], [0, 1]], [[0.3, 0.2], [0.5, 0.5]], query_ids=["a", "c"])
    assert (values(part, "average"), part.query_ids) == (values(expected, "average"), ["a", "c"])
    recommended = rg.from_recommendations(
        [{1: 2, 2: 0}, {1: 1}, {5: 1}], [[3, 1], [], [5, 6, 7]], query_ids=["a", "b", "c"]
    )
    part = recommended.limited(scored_only=True)
    assert values(part, None) == values(rg.from_ranked([[0, 2], [1, 0, 0]]), None)
    assert (part.query_ids, part.missing) == (["a", "c"], "skip")


recommended = st.lists(st.lists(st.integers(0, 9), unique=True, max_size=8), min_size=2, max_size=4)


@given(recommended, st.data(), st.sampled_from([None, 1, 3, 20]), st.booleans())
def test_limited_recommendations_equal_cut_lists(lists, data, depth, judged_only):
    graded = st.dictionaries(st.integers(0, 12), st.integers(-1, 3), max_size=6)
    truth = [data.draw(graded) for _ in lists]
    part = rg.from_recommendations(truth, lists).limited(depth=depth, judged_only=judged_only)
    cut = [
        [item for item in items[:depth] if not judged_only or grades.get(item, -1) >= 0]
        for items, grades in zip(lists, truth, strict=True)
    ]
    assert values(part, None) == values(rg.from_recommendations(truth, cut), None)
    matrix = np.array([[*items, *[-1] * 8][:8] for items in lists])
    part = rg.from_recommendations(truth, matrix).limited(depth=depth, judged_only=judged_only)
    assert values(part, None) == values(rg.from_recommendations(truth, cut), None)


graded_lists = st.lists(st.lists(st.integers(0, 4), max_size=8), min_size=2, max_size=4)


@given(graded_lists, st.sampled_from([None, 1, 3, 20]), st.booleans())
def test_limited_relevance_equals_cut_lists(lists, depth, judged_only):
    """Every document in a list of relevance counts as judged."""
    rankings = rg.from_ranked(lists, judged=[[*row, 2, 0] for row in lists])
    part = rankings.limited(depth=depth, judged_only=judged_only)
    assert values(part, None) == values(
        rg.from_ranked([row[:depth] for row in lists], judged=[[*row, 2, 0] for row in lists]), None
    )


@given(graded_lists, st.sampled_from([None, 1, 3, 20]), st.booleans(), st.integers(0, 2**32 - 1))
def test_limited_scores_equal_cut_lists(lists, depth, judged_only, seed):
    rng = np.random.default_rng(seed)
    scores = [rng.integers(0, 3, len(row)).astype(float) for row in lists]
    part = rg.from_scores(lists, scores, ties="stable").limited(depth=depth, judged_only=judged_only)
    orders = [np.argsort(-row, kind="stable") for row in scores]
    rows = [[row[i] for i in order][:depth] for row, order in zip(lists, orders, strict=True)]
    assert values(part, None) == values(rg.from_ranked(rows, judged=lists), None)


def test_limited_cuts_ties_by_the_tie_policy():
    rankings = rg.from_scores([1, 0], [1, 1])
    for ties in ("average", "best", "worst"):
        with pytest.raises(
            ValueError, match=f"depth: which of the tied documents it keeps is undefined with ties='{ties}'"
        ):
            rankings.under(ties=ties).limited(depth=1)
        with pytest.raises(ValueError, match="depth: which of the tied documents it keeps is undefined"):
            rankings.under(ties="stable").limited(depth=1).under(ties=ties)
        assert rankings.under(ties=ties).limited().evaluate("num_ret")["num_ret"].tolist() == [2.0]


def test_repr_of_rankings_states_queries_and_rules(backend):
    assert repr(rg.from_ranked([[1, 0]])) == "<Rankings of 1 query, 2 documents>"
    assert repr(rg.from_scores([1], [0.5], ties="best")) == "<Rankings of 1 query, 1 document, ties='best'>"
    expected = "<Rankings of 1 query, 1 document, ties='docid', missing='zero'>"
    assert repr(rg.from_qrels({"q": {"d": 1}}, {"q": {"d": 1.0}})) == expected


def test_callable_gain_is_not_called_for_pooled_documents(backend):
    """A gain is not called for the negative grades of pooled documents, which other metrics in the same call read."""
    received = []

    def gain(grades):
        received.extend(grades.tolist())
        return grades

    rankings = rg.from_qrels({"q": {"a": 2, "b": -1, "c": 0}}, {"q": {"b": 3.0, "a": 2.0, "c": 1.0}})
    result = rankings.evaluate(
        "bpref", "infap", "ndcg_rel", rg.metric("ndcg", gain=gain), rg.metric("r_ndcg", gain=gain)
    )
    assert min(received) >= 0.0
    assert result.mean("bpref") == 1.0


def test_invalid_gain_of_a_callable_names_its_document(backend):
    rankings = rg.from_qrels({"q": {"a": 0, "b": 1, "c": -1}}, {"q": {"b": 2.0, "a": 1.0}})
    metric = rg.metric("ndcg", gain=lambda grades: np.where(grades == 0, np.nan, grades))
    with pytest.raises(ValueError, match=r"^qrels: query 'q', document 'a': gain returned nan for the grade"):
        rankings.evaluate(metric)


def test_error_in_a_query_that_the_run_lacks_names_that_query(backend):
    qrels = {"query_id": ["p", "q"], "doc_id": ["a", "a"], "relevance": [np.nan, 1.0]}
    run = {"query_id": ["q"], "doc_id": ["a"], "score": [1.0]}
    with pytest.raises(ValueError, match="query 'p'"):
        rg.from_frames(qrels, run, missing="skip").evaluate("rr")
