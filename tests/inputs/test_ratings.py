"""Ratings in requests to `_rank_eval` and in judgment lists of OpenSearch, which are truth."""

import json
from types import SimpleNamespace

import pytest

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

JUDGED = {"red dress": {"a": 3.0, "b": 0.0}, "shoes": {"c": 2.0}}
RUN = {"red dress": {"b": 2.0, "a": 1.0}, "shoes": {"c": 1.0}}
EXPECTED = rg.evaluate(JUDGED, RUN, "ndcg", "rr").to_dict()


def ratings(documents, key, value):
    return [{key: document, "rating": value(grade)} for document, grade in documents.items()]


REQUESTS = [
    {"id": query, "request": {"query": {}}, "ratings": ratings(grades, "_id", int)} for query, grades in JUDGED.items()
]
LIST = [{"query": query, "ratings": ratings(grades, "docId", "{:.3f}".format)} for query, grades in JUDGED.items()]
BODY = {"name": "list", "type": "IMPORT_JUDGMENT", "judgmentRatings": LIST}


def answer(*lists):
    return {"took": 1, "hits": {"total": {"value": 1}, "hits": [{"_id": "x", "_source": source} for source in lists]}}


FORMS = {
    "requests": {"requests": REQUESTS, "metric": {"dcg": {}}},
    "metric first": {"metric": {"dcg": {}}, "requests": REQUESTS},
    "list of requests": REQUESTS,
    "list": LIST,
    "body": BODY,
    "numbers": BODY
    | {"judgmentRatings": [row | {"ratings": ratings(JUDGED[row["query"]], "docId", float)} for row in LIST]},
    "3.0": BODY | {"judgmentRatings": {row["query"]: row["ratings"] for row in LIST}},
    "answer": answer(BODY),
    "client": SimpleNamespace(body=answer(BODY)),
}


@pytest.mark.parametrize("form", FORMS)
def test_ratings_are_truth(form):
    truth = FORMS[form]
    assert rg.evaluate(truth, RUN, "ndcg", "rr").to_dict() == EXPECTED
    assert rg.from_qrels(truth, RUN).evaluate("ndcg", "rr").to_dict() == EXPECTED
    assert rg.compare(truth, {"a": RUN, "b": RUN}, ["ndcg", "rr"])["b"].to_dict() == EXPECTED
    assert rg.from_qrels(rg.judgments(truth), RUN).evaluate("ndcg", "rr").to_dict() == EXPECTED
    assert rg.evaluate(truth, {query: [*scores] for query, scores in RUN.items()}, "rr").mean("rr") == 0.75


@pytest.mark.parametrize("form", [form for form in FORMS if form != "client"])
@pytest.mark.parametrize("indent", [None, 1])
def test_ratings_in_files(form, indent, tmp_path):
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(FORMS[form], indent=indent))
    assert rg.evaluate(path, RUN, "ndcg", "rr").to_dict() == EXPECTED


def test_ratings_beside_the_answer_that_they_led_to():
    details = {
        query: {"metric_score": 1.0, "unrated_docs": [], "hits": [{"hit": {"_id": doc}, "rating": 1} for doc in scores]}
        for query, scores in RUN.items()
    }
    evaluated = {"metric_score": 1.0, "details": details, "failures": {}}
    assert rg.evaluate(FORMS["requests"], evaluated, "ndcg", "rr").to_dict() == EXPECTED


@pytest.mark.parametrize(
    ("error", "message", "truth"),
    [
        (ValueError, "truth: query 'shoes' comes twice", [*LIST, LIST[-1]]),
        (TypeError, "truth: item 2 must have 'query' and a list of 'ratings'", [*LIST, {"query": "x"}]),
        (ValueError, "query 'q', rating 1: 'a' repeats", [{"id": "q", "ratings": ratings({"a": 1}, "_id", int) * 2}]),
        (ValueError, "rating 0: it must have a 'rating'", [{"id": "q", "ratings": [{"_id": "a"}]}]),
        (ValueError, "rating 0: it must have a 'rating'", [{"id": "q", "ratings": [{"rating": 1}]}]),
        (ValueError, "'high' is not a number", [{"query": "q", "ratings": [{"docId": "a", "rating": "high"}]}]),
        (ValueError, "truth has 2 judgment lists: pass one, truth['hits']['hits'][0]['_source']", answer(BODY, BODY)),
    ],
)
def test_ratings_are_rejected(rejects, error, message, truth):
    rejects(error, message, rg.evaluate, truth, RUN, "rr")
