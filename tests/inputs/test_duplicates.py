"""Duplicate documents in runs, ids that are tuples, and leave-one-out truth."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.marks import in_one_case
from support.strategies import examples

import rankgain as rg
from rankgain.data import files

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
TWICE = {"q1": ["x", "a", "x", "b", "a"], "q2": ["d", "d", "c"]}
ONCE = {"q1": ["x", "a", "b"], "q2": ["d", "c"]}
METRICS = "ndcg", "ap", "rr", "num_ret", "recall@3"


def vectors(rankings):
    return {metric: vector.tolist() for metric, vector in rankings.evaluate(*METRICS).items()}


EXPECTED = vectors(rg.from_recommendations(QRELS, ONCE))


def test_duplicates_first_of_a_run_of_msmarco():
    text = "".join(
        f"{query}\t{doc}\t{rank}\n" for query, documents in TWICE.items() for rank, doc in enumerate(documents, 1)
    )
    rankings = rg.read_trec(rg.judgments(QRELS), io.BytesIO(text.encode()), duplicates="first")
    assert vectors(rankings) == EXPECTED


def run_of(lists):
    """Return a run file for ranked lists in which documents may repeat."""
    rows = [(query, doc, -rank) for query, documents in lists.items() for rank, doc in enumerate(documents)]
    return "".join(f"{query} Q0 {doc} 1 {score} tag\n" for query, doc, score in rows).encode()


@examples(4)
@given(
    block=st.sampled_from([60, 300, 1 << 21]),
    threads=st.sampled_from([1, 2]),
    ties=st.sampled_from(["docid", "average", "stable"]),
    data=st.data(),
)
def test_a_run_file_agrees_with_the_documents_once(block, threads, ties, data):
    """The highest score of each document counts, whether the lines of a query are contiguous or scattered."""
    lines = data.draw(
        st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("uvwxyz"), st.integers(0, 3)), min_size=1)
    )
    lines = lines if data.draw(st.booleans()) else sorted(lines, key=lambda line: line[0])
    run, grades = {}, {query: {"v": 1, "x": 2} for query in "abcde"}
    for query, document, score in lines:
        scores = run.setdefault(query, {})
        if score > scores.get(document, -1):
            scores.pop(document, None)  # keep the documents in the order of the rows with their highest scores
            scores[document] = float(score)
    text = "".join(f"{query} Q0 {document} 1 {score} tag\n" for query, document, score in lines)
    expected = rg.from_qrels(grades, run, ties=ties).evaluate("ndcg", "rr", "num_ret")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK", block)
        qrels = rg.judgments(grades)
        rankings = rg.read_trec(qrels, io.BytesIO(text.encode()), ties=ties, duplicates="first", threads=threads)
        assert rankings.evaluate("ndcg", "rr", "num_ret").to_dict() == expected.to_dict()


def test_rules_of_a_file_with_duplicates_can_change(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(run_of(TWICE))
    rankings = rg.read_trec(rg.judgments(QRELS), path, duplicates="first")
    assert vectors(rankings) == EXPECTED
    assert vectors(rankings.under(ties="stable")) == EXPECTED
    assert vectors(rankings.under(missing="skip")) == EXPECTED
    assert rankings.calculation("ndcg", "q1").to_dict()["rows"][0]["document"] == "x"


def test_duplicates_first_equals_plain_python():
    rng = np.random.default_rng(0)
    for _ in range(30):
        matrix = rng.integers(0, 12, (20, 15))
        relevant = [set(rng.integers(0, 12, 3).tolist()) for _ in range(20)]
        once = [list(dict.fromkeys(row)) for row in matrix.tolist()]
        rankings = rg.from_recommendations(relevant, matrix, duplicates="first")
        assert vectors(rankings) == vectors(rg.from_recommendations(relevant, once))


def of_tuples(ids):
    return [(identifier, 0) for identifier in ids]


def test_tuples_may_be_ids():
    """An id may be a tuple of a document and its chunk."""
    run, twice = (
        {query: of_tuples(documents) for query, documents in run_of_ids.items()} for run_of_ids in (ONCE, TWICE)
    )
    truth = {query: {(doc, 0): grade for doc, grade in documents.items()} for query, documents in QRELS.items()}
    assert vectors(rg.from_recommendations(truth, run)) == EXPECTED
    assert vectors(rg.from_recommendations(list(truth.values()), list(run.values()))) == EXPECTED
    assert vectors(rg.from_recommendations(truth, list(run.values()), query_ids=["q1", "q2"])) == EXPECTED
    assert vectors(rg.from_recommendations(rg.judgments(truth), run)) == EXPECTED
    assert vectors(rg.from_recommendations(truth, twice, duplicates="first")) == EXPECTED | {}
    sets = rg.from_recommendations({query: set(documents) for query, documents in truth.items()}, run).evaluate("rr")
    assert sets["rr"].tolist() == EXPECTED["rr"]
    scored = {query: {doc: -rank for rank, doc in enumerate(documents)} for query, documents in run.items()}
    assert vectors(rg.from_qrels(truth, scored)) == EXPECTED
    assert rg.evaluate(truth, run, "rr")["rr"].tolist() == EXPECTED["rr"]
    with pytest.raises(ValueError, match=r"query 'q1', document \('a', 0\) .*repeats an earlier one"):
        rg.from_recommendations(truth, twice)
    rg.from_recommendations(truth, {"q1": of_tuples("xxa"), "q2": []})  # the duplicate document is not judged
    with pytest.raises(ValueError, match=r"document \('x', 0\)"):
        rg.from_recommendations(truth, {"q1": of_tuples("xxa"), "q2": []}, validate="full")
    with pytest.raises(TypeError, match="position 1: an id must be hashable"):
        rg.from_recommendations(truth, {"q1": [("a", 0), ["b"]]})


def test_tuples_are_judged_per_user():
    a, b = of_tuples("ab")
    assert rg.from_recommendations([{a}, {b}], [[a], [b, a, a]]).evaluate("rr")["rr"].tolist() == [1.0, 1.0]
    assert rg.from_recommendations({"u": {a}}, {"u": [a], "v": [a, a]}).evaluate("rr")["rr"].tolist() == [1.0]
    with pytest.raises(ValueError, match="repeats an earlier one"):
        rg.from_recommendations([{a}, {b}], [[a], [b, b]])
    assert rg.from_recommendations([{a}, {b}], [[], []]).evaluate("rr")["rr"].tolist() == [0.0, 0.0]


NUMBERS, WORDS = [[1, 3, 2], [7, 1, 2], [4, 5, 6]], [["a", "b"], ["c", "d"]]


@in_one_case(
    ("recommended", "relevant"),
    [
        (np.array(NUMBERS), np.array([3, 7, -1])),
        (np.array(NUMBERS), np.array([3, 7, -1], dtype=np.int32)),
        (np.array(NUMBERS), [3, 7, 99]),
        (np.array(NUMBERS), [np.int64(3), 7, 99]),
        (np.array(NUMBERS), [{3}, {7}, {99}]),
        (dict(enumerate(NUMBERS)), {0: 3, 1: 7, 2: 99}),
        ({"ann": WORDS[0], "bob": WORDS[1]}, {"ann": "b", "bob": "c"}),
        *((WORDS, make(["b", "c"])) for make in (list, tuple, np.array, lambda ids: np.array(ids, dtype=object))),
    ],
)
def test_leave_one_out_with_one_relevant_id_per_user(recommended, relevant):
    for truth in (relevant, rg.judgments(relevant)):
        result = rg.from_recommendations(truth, recommended).evaluate("rr")
        assert result["rr"].tolist() == [0.5, 1.0, 0.0][: len(recommended)]
