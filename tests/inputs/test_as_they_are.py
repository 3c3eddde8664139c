"""Frames and objects from other tools are accepted unchanged."""

import pickle
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import NamedTuple

import pandas as pd
import polars as pl
import pytest
from support.marks import in_one_case
from support.sides import columns

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}}
RUN = {"q1": {"d2": 1.4, "d1": 0.9, "d9": 0.2}, "q2": {"d7": 2.0}}
EXPECTED = rg.from_qrels(QRELS, RUN).evaluate("ndcg@10", "mrr").to_dict()


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame])
@in_one_case(
    ("qrels", "run"),
    [
        (("userId", "itemId", "rating"), ("userId", "itemId", "score")),
        (("user_id", "item_id", "weight"), ("user_id", "item_id", "score")),
        (("user", "item", "rating"), ("user", "item", "score")),
        (("query-id", "corpus-id", "score"), ("query-id", "corpus-id", "score")),
        (("Query_ID", "DocNo", "Label"), ("QID", "doc-id", "Score")),
    ],
)
def test_columns_with_names_of_other_tools_are_recognised(frame, qrels, run):
    frames = frame(columns(QRELS, *qrels)), frame(columns(RUN, *run))
    assert rg.from_frames(*frames).evaluate("ndcg@10", "mrr").to_dict() == EXPECTED
    assert rg.evaluate(*frames, "ndcg@10", "mrr").to_dict() == EXPECTED


def test_default_names_come_before_others():
    qrels = columns(QRELS, "query_id", "doc_id", "relevance") | {"user": [1, 2, 3], "rating": [9, 9, 9]}
    assert rg.from_frames(qrels, columns(RUN, "query_id", "doc_id", "score")).evaluate(
        *["ndcg@10", "mrr"]
    ).to_dict() == (EXPECTED)


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame])
def test_qrels_without_relevance_have_grade_1_and_warn(frame):
    qrels, run = columns(QRELS, "user_id", "item_id", "time"), columns(RUN, "user_id", "item_id", "score")
    ones = {query: dict.fromkeys(grades, 1) for query, grades in QRELS.items()}
    result = rg.from_frames(frame(qrels), frame(run)).evaluate("ndcg@10", "mrr")
    assert result.to_dict() == rg.from_qrels(ones, RUN).evaluate("ndcg@10", "mrr").to_dict()
    remark = "qrels_df has no column of relevance: each row counts as 1"
    hint = " (its other columns: time; relevance= chooses one of them)"
    assert result.assumed == (remark + hint,)
    assert remark in str(result)
    assert remark in result._repr_html_()
    again = rg.from_qrels({"q3": {"d": 1}}, {"q3": {"d": 1}}).evaluate("ndcg@10", "mrr")
    assert again.assumed == ()
    assert again.merge(result).assumed == (remark + hint,)
    del qrels["time"]
    truth = rg.judgments(frame(qrels))
    for judgments in (truth, pickle.loads(pickle.dumps(truth))):
        assert rg.from_qrels(judgments, RUN).evaluate("mrr").assumed == ("truth" + remark.removeprefix("qrels_df"),)
    assert pickle.loads(pickle.dumps(result)).assumed == (remark + hint,)


def test_pandas_index_is_a_column():
    qrels = pd.DataFrame(columns(QRELS, "query_id", "doc_id", "relevance"))
    run = pd.DataFrame(columns(RUN, "query_id", "doc_id", "score"))
    for form in (
        lambda frame: frame.set_index(["query_id", "doc_id"]),
        lambda frame: frame.set_index("query_id"),
        lambda frame: frame.set_index("doc_id", drop=False),
        lambda frame: frame.astype({"query_id": "category"}).set_index(["query_id", "doc_id"]),
        lambda frame: frame.astype({"doc_id": "string"}).set_index(["query_id", "doc_id"]),
    ):
        assert rg.from_frames(form(qrels), form(run)).evaluate("ndcg@10", "mrr").to_dict() == EXPECTED


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    query_id: str
    doc_id: str
    score: float


def test_named_tuples_are_rows():
    qrels = [Qrel(query, doc, grade) for query, documents in QRELS.items() for doc, grade in documents.items()]
    run = [ScoredDoc(query, doc, score) for query, documents in RUN.items() for doc, score in documents.items()]
    for sides in ((qrels, run), (tuple(qrels), iter(run)), (iter(qrels), RUN), (QRELS, run)):
        assert rg.evaluate(*sides, "ndcg@10", "mrr").to_dict() == EXPECTED
    assert rg.from_frames(iter(qrels), iter(run)).evaluate("ndcg@10", "mrr").to_dict() == EXPECTED
    assert rg.from_qrels(rg.judgments(iter(qrels)), RUN).evaluate("ndcg@10", "mrr").to_dict() == EXPECTED


if find_spec("ir_measures"):

    def test_tuples_of_ir_measures_are_rows():
        import ir_measures

        qrels = [
            ir_measures.Qrel(query, doc, grade)
            for query, documents in QRELS.items()
            for doc, grade in documents.items()
        ]
        run = [
            ir_measures.ScoredDoc(query, doc, score)
            for query, documents in RUN.items()
            for doc, score in documents.items()
        ]
        assert rg.evaluate(qrels, run, "ndcg@10", "mrr").to_dict() == EXPECTED


@pytest.fixture
def ranx(monkeypatch):
    """A stand-in for ranx, whose classes store typed dicts and export plain dicts."""
    module = ModuleType("ranx")

    class TypedDict:
        def __init__(self, queries):
            self._queries = queries

        def to_dict(self):
            return {query: dict(documents) for query, documents in self._queries.items()}

    for name in ("Qrels", "Run"):
        setattr(module, name, type(name, (TypedDict,), {"__module__": f"ranx.data_structures.{name.lower()}"}))
    monkeypatch.setitem(sys.modules, "ranx", module)
    return module


def test_qrels_and_runs_of_ranx_are_accepted(ranx):
    sides = ranx.Qrels(QRELS), ranx.Run(RUN)
    assert rg.evaluate(*sides, "ndcg@10", "mrr").to_dict() == EXPECTED
    assert rg.from_qrels(*sides).evaluate("ndcg@10", "mrr").to_dict() == EXPECTED
    assert rg.from_qrels(rg.judgments(sides[0]), sides[1]).evaluate("ndcg@10", "mrr").to_dict() == EXPECTED


def response(hits):
    return {"took": 3, "timed_out": False, "hits": {"total": {"value": 9}, "max_score": 1.4, "hits": hits}}


class ObjectApiResponse:
    """A response of the Elasticsearch client, which is an object with a `body` attribute rather than a mapping."""

    def __init__(self, body):
        self.body = body


@pytest.mark.parametrize("kind", [dict, ObjectApiResponse])
def test_responses_of_elasticsearch_are_runs(kind):
    run = {
        query: kind(
            response([{"_index": "i", "_id": doc, "_score": score, "_source": {}} for doc, score in docs.items()])
        )
        for query, docs in RUN.items()
    }
    assert rg.evaluate(QRELS, run, "ndcg@10", "mrr").to_dict() == EXPECTED
    assert rg.from_qrels(QRELS, run).evaluate("ndcg@10", "mrr").to_dict() == EXPECTED
    by_field = {
        q: kind(response([{"_id": doc, "_score": None, "sort": [1]} for doc in docs])) for q, docs in RUN.items()
    }
    assert rg.evaluate(QRELS, by_field, "ndcg@10", "mrr").to_dict() == EXPECTED
    with pytest.raises(TypeError, match="query 'q2': must be an answer with hits, such as a response of _search"):
        rg.from_qrels(QRELS, run | {"q2": {"d7": 1.0}})


def test_document_may_be_called_hits():
    assert rg.from_qrels({"q": {"hits": 1}}, {"q": {"hits": 1.0}}).evaluate("rr").mean("rr") == 1.0
