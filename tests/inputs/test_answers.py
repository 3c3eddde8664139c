"""Answers of search engines and retrievers, keyed by query. The order of their hits is the order of the run."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"q": {"b": 1, "d": 2}}
IDS, SCORES = ["c", "b", "a", "d"], [0.9, 0.8, 0.8, 0.1]
METRICS = "ndcg@10", "rr", "ap"
EXPECTED = rg.from_recommendations(QRELS, {"q": IDS}).evaluate(*METRICS)


def objects(identifier, scores=SCORES, **fields):
    return [
        SimpleNamespace(**{identifier: doc, "score": score}, **fields) for doc, score in zip(IDS, scores, strict=True)
    ]


def mappings(identifier, score, scores=SCORES):
    return [{identifier: doc, score: value} for doc, value in zip(IDS, scores, strict=True)]


ANSWERS = {
    "_search": lambda scores: {"hits": {"hits": mappings("_id", "_score", scores)}},
    "client": lambda scores: SimpleNamespace(body={"hits": {"hits": mappings("_id", "_score", scores)}}),
    "hits": lambda scores: mappings("_id", "_score", scores),
    "llama_index": lambda scores: objects("node_id", scores),
    "haystack": lambda scores: objects("id", scores, content="text"),
    "qdrant": lambda scores: SimpleNamespace(points=objects("id", scores)),
    "pinecone": lambda scores: SimpleNamespace(matches=objects("id", scores)),
    "pinecone_dict": lambda scores: {"matches": mappings("id", "score", scores), "namespace": ""},
    "mappings": lambda scores: mappings("id", "score", scores),
    "pairs": lambda scores: [*zip(IDS, scores, strict=True)],
}


@pytest.mark.parametrize("scores", [SCORES, SCORES[::-1], [0.2, 0.9, 0.1, 0.8]], ids=["fall", "rise", "neither"])
@pytest.mark.parametrize("form", ANSWERS)
def test_order_of_hits_is_the_order(form, scores):
    run = {"q": ANSWERS[form](scores)}
    for result in (
        rg.evaluate(QRELS, run, *METRICS),
        rg.from_qrels(QRELS, run, ties="stable").evaluate(*METRICS),
        rg.evaluate(QRELS, run, *METRICS, missing="skip"),
        rg.compare(QRELS, {"a": run, "b": run}, METRICS)["b"],
    ):
        assert all(np.array_equal(result[metric], EXPECTED[metric]) for metric in METRICS)
        assert bool(result.assumed) is (scores[0] == 0.2)


@pytest.mark.parametrize("form", ANSWERS)
def test_line_for_the_order_of_scores(form):
    scores = [0.2, 0.9, 0.1, 0.8]
    answer = ANSWERS[form](scores)
    rankings = rg.from_qrels(QRELS, {"q": answer})
    for evaluated in (rankings, rankings.under(missing="skip")):
        (remark,) = evaluated.evaluate("rr").assumed
        assert remark.startswith("run: the scores of the hits neither fall nor rise in 1 of 1 queries; the order of")
    answer = getattr(answer, "body", answer)
    hits = answer["hits"]["hits"] if isinstance(answer, dict) and "hits" in answer else answer
    hits = answer["matches"] if isinstance(answer, dict) and "matches" in answer else hits
    hits = next((getattr(answer, name) for name in ("points", "matches") if hasattr(answer, name)), hits)
    line = re.search(r"write (.*) for each query", remark)[1]
    assert eval(line, {"hits": hits}) == dict(zip(IDS, scores, strict=True))


def test_answers_without_scores_in_order_have_no_remark():
    documents = [SimpleNamespace(id=doc, page_content="text") for doc in IDS]  # of LangChain
    by_field = [{"_id": doc, "_score": score, "sort": [1]} for doc, score in zip(IDS, [1, 3, 2, 4], strict=True)]
    chroma = {"ids": [IDS], "distances": [SCORES], "documents": None}
    for answer in (documents, by_field, chroma):
        result = rg.evaluate(QRELS, {"q": answer}, *METRICS)
        assert result.to_dict() == EXPECTED.to_dict()
        assert result.assumed == ()
    assert rg.evaluate(QRELS | {"r": {"a": 1}}, {"q": documents, "r": []}, "rr")["rr"].tolist() == [0.5, 0.0]


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("hit 1: it has no id", [SimpleNamespace(id=doc, page_content="") for doc in ("a", None)]),
        ("hit 0: it has no _id", {"hits": {"hits": [{"_score": 1.0}]}}),
        ("hit 1: the document 'a' repeats an earlier one", [("a", 0.5), ("a", 0.2)]),
        ("several queries: write dict(zip(queries, answer['ids']))", {"ids": [["a"], ["b"]], "distances": None}),
    ],
)
def test_answers_are_rejected(rejects, message, answer):
    rejects(ValueError, message, rg.evaluate, QRELS, {"q": answer}, "rr")


def test_line_for_several_queries_of_chroma():
    answer, queries = {"ids": [["a"], ["b"]], "distances": None}, ["p", "q"]
    with pytest.raises(ValueError, match="several queries") as error:
        rg.evaluate(QRELS, {"q": answer}, "rr")
    run = eval(re.search(r"write (.*)", str(error.value))[1], {"queries": queries, "answer": answer})
    assert rg.evaluate(QRELS, run, "rr")["rr"].tolist() == [1.0]


def test_documents_may_be_called_as_fields_of_answers():
    for name in ("hits", "matches", "ids", "points"):
        assert rg.evaluate({"q": {name: 1}}, {"q": {name: 1.0}}, "rr").mean("rr") == 1.0


def test_grades_in_pairs_are_not_answers():
    with pytest.raises((TypeError, ValueError)):
        rg.from_qrels({"q": [("a", 0.5)]}, {"q": {"a": 1.0}})
