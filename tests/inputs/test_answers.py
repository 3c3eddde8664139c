"""Answers of search engines and retrievers, keyed by query. The order of their hits is the order of the run."""

import json
import re
from types import SimpleNamespace

import pytest
from support.differences import vector_differences
from support.marks import in_one_case

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
    "_rank_eval": lambda scores: {"hits": [{"hit": hit, "rating": None} for hit in mappings("_id", "_score", scores)]},
    "qdrant_rest": lambda scores: {"result": {"points": mappings("id", "score", scores)}, "status": "ok"},
    "rank_llm": lambda scores: {"query": {"qid": "q", "text": ""}, "candidates": mappings("docid", "score", scores)},
    "rank_llm_result": lambda scores: SimpleNamespace(query=None, candidates=objects("docid", scores)),
}


@pytest.mark.parametrize("scores", [SCORES, SCORES[::-1], [0.2, 0.9, 0.1, 0.8]], ids=["fall", "rise", "neither"])
@in_one_case("form", ANSWERS)
def test_order_of_hits_is_the_order(form, scores):
    run = {"q": ANSWERS[form](scores)}
    for result in (
        rg.evaluate(QRELS, run, *METRICS),
        rg.from_qrels(QRELS, run, ties="stable").evaluate(*METRICS),
        rg.evaluate(QRELS, run, *METRICS, missing="skip"),
        rg.compare(QRELS, {"a": run, "b": run}, METRICS)["b"],
    ):
        assert not vector_differences(result, EXPECTED)
        assert bool(result.assumed) is (scores[0] == 0.2)


@in_one_case("form", ANSWERS)
def test_line_for_the_order_of_scores(form):
    scores = [0.2, 0.9, 0.1, 0.8]
    answer = ANSWERS[form](scores)
    rankings = rg.from_qrels(QRELS, {"q": answer})
    for evaluated in (rankings, rankings.under(missing="skip")):
        (remark,) = evaluated.evaluate("rr").assumed
        assert remark.startswith("run: the scores of the hits neither fall nor rise in 1 of 1 queries; the order of")
    answer = getattr(answer, "body", answer)
    hits = answer
    for name in ("hits", "hits", "matches", "result", "points", "candidates"):
        hits = hits[name] if isinstance(hits, dict) and name in hits else getattr(hits, name, hits)
    hits = [hit.get("hit", hit) if isinstance(hit, dict) else hit for hit in hits]
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
        ("an answer is an error: 'no such index'", {"error": {"type": "x", "reason": "no such index"}, "status": 404}),
        ("Qdrant's scroll returns points in the order of their ids", ([SimpleNamespace(id="a", payload={})], None)),
        ("Qdrant's scroll returns points", [SimpleNamespace(id="a", payload={}, vector=None)]),
        ("Qdrant's scroll returns points", {"result": {"points": [{"id": "a"}], "next_page_offset": None}}),
        ("Chroma's get returns documents in no order", {"ids": ["a", "b"], "documents": None, "metadatas": None}),
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


TRUTH = {"p": {"a": 1}, "q": {"b": 1, "d": 2}}
SEARCHES = [ANSWERS["_search"](SCORES), ANSWERS["_search"]([0.2, 0.9, 0.1, 0.8])]
DETAILS = dict(zip(TRUTH, (ANSWERS["_rank_eval"](scores) for scores in (SCORES, SCORES)), strict=True))
EVALUATED = {"metric_score": 0.5, "details": DETAILS, "failures": {}}
RERANKED = [
    {"query": {"text": "text", "qid": query}, "candidates": mappings("docid", "score")[::-1]} for query in TRUTH
]
ALL = rg.from_recommendations(TRUTH, dict.fromkeys(TRUTH, IDS)).evaluate(*METRICS)


def as_results(rows):
    """Return what RankLLM returns, which it writes to files as `rows`."""
    return [
        SimpleNamespace(
            query=SimpleNamespace(**row["query"]), candidates=[SimpleNamespace(**hit) for hit in row["candidates"]]
        )
        for row in rows
    ]


def test_answer_of_rank_eval():
    client = SimpleNamespace(body=EVALUATED)
    without_failures = {"details": DETAILS, "metric_score": 0.5}
    for run in (EVALUATED, client, without_failures, DETAILS):
        assert rg.evaluate(TRUTH, run, *METRICS).to_dict() == ALL.to_dict()
    assert rg.from_qrels(TRUTH, EVALUATED).evaluate(*METRICS).to_dict() == ALL.to_dict()
    failed = EVALUATED | {"failures": {"r": {"error": {"reason": "boom"}}}}
    with pytest.raises(ValueError, match=r"_rank_eval failed for 1 of the queries, such as 'r'.*pass run\['details'\]"):
        rg.evaluate(TRUTH, failed, "rr")


@pytest.mark.parametrize("form", [list, as_results])
def test_lines_of_rank_llm(form):
    expected = rg.from_recommendations(TRUTH, dict.fromkeys(TRUTH, IDS[::-1])).evaluate(*METRICS)
    assert rg.evaluate(TRUTH, form(RERANKED), *METRICS).to_dict() == expected.to_dict()
    with pytest.raises(ValueError, match="query 'q' comes twice"):
        rg.evaluate(TRUTH, form([*RERANKED, RERANKED[-1]]), "rr")


FILES = {
    "lines": ("\n".join(map(json.dumps, RERANKED)), RERANKED),
    "one line": (json.dumps(RERANKED[0]), RERANKED[:1]),
    "array": (json.dumps(RERANKED), RERANKED),
    "answer in one line": (json.dumps(EVALUATED), EVALUATED),
    "answer": (json.dumps(EVALUATED, indent=1), EVALUATED),
}


@pytest.mark.parametrize("form", FILES)
def test_files_of_answers(form, tmp_path):
    text, answers = FILES[form]
    path = tmp_path / "run.json"
    path.write_text(text)
    assert rg.evaluate(TRUTH, path, *METRICS).to_dict() == rg.evaluate(TRUTH, answers, *METRICS).to_dict()


def test_answers_without_queries_are_paired_by_position():
    relevant = [{"a"}, {"b", "d"}]
    expected = rg.from_recommendations(relevant, [IDS, IDS]).evaluate(*METRICS)
    chroma = {"ids": [IDS, IDS], "distances": [SCORES[::-1]] * 2}
    for run in ({"took": 5, "responses": SEARCHES}, SEARCHES, [ANSWERS["pairs"](SCORES)] * 2, chroma):
        result = rg.evaluate(relevant, run, *METRICS)
        assert not vector_differences(result, expected)
        named = rg.evaluate(TRUTH, run, *METRICS, query_ids=["q", "p"])
        assert named.to_dict() == rg.evaluate(TRUTH, {"q": IDS, "p": IDS}, *METRICS).to_dict()
    numbers = [[{"id": 3, "score": 0.3}, {"id": 1, "score": 0.2}], []]
    assert rg.evaluate([[1], [2]], numbers, "rr")["rr"].tolist() == [0.5, 0.0]
    assert rg.compare(relevant, {"a": SEARCHES, "b": chroma}, ["rr"]).means() == {
        name: {"rr": expected.mean("rr")} for name in "ab"
    }


def test_remark_on_answers_without_queries():
    answers = {"responses": [SEARCHES[1]] * 2}
    (remark,) = rg.evaluate([{"a"}, {"b"}], answers, "rr").assumed
    assert "neither fall nor rise in 2 of 2 queries; the order of the hits was taken" in remark


def test_answers_without_queries_are_rejected(rejects):
    for run in ({"took": 5, "responses": SEARCHES}, SEARCHES):
        message = "the queries of truth have names, and those of run have none: write dict(zip(queries, run"
        for truth in (TRUTH, rg.judgments(TRUTH), [{"query_id": "p", "doc_id": "a", "relevance": 1}]):
            rejects(ValueError, message, rg.evaluate, truth, run, "rr")
        rejects(ValueError, "run has 2 users, and truth has 3", rg.evaluate, [{"a"}] * 3, run, "rr")
    rejects(TypeError, "run is the answer to one query: write {query: run}", rg.evaluate, TRUTH, SEARCHES[0], "rr")
    rejects(TypeError, "run has the hits of one query: write {query: run}",
            rg.evaluate, TRUTH, mappings("_id", "_score"), "rr")  # fmt: skip


def run_line(pattern, run):
    """Evaluate the line of an error."""
    with pytest.raises((TypeError, ValueError)) as error:
        rg.evaluate(TRUTH, run, *METRICS)
    line = re.search(pattern, str(error.value))[1]
    return rg.evaluate(TRUTH, eval(line, {"run": run, "queries": [*TRUTH], "query": "p"}), *METRICS)


def test_lines_to_write():
    chroma = {"ids": [IDS, IDS], "distances": [SCORES[::-1]] * 2}
    for run in ({"took": 5, "responses": SEARCHES}, SEARCHES, chroma):
        assert run_line(r"write (dict.*\)), with", run).to_dict() == ALL.to_dict()
    one = rg.evaluate(TRUTH, {"p": IDS}, *METRICS).to_dict()
    for run in (SEARCHES[0], mappings("_id", "_score")):
        assert run_line(r"write (\{.*\})$", run).to_dict() == one
    assert run_line(r"pass (run.*\]), in", EVALUATED | {"failures": {"r": "boom"}}).to_dict() == ALL.to_dict()


def test_similarity_of_answers():
    assert rg.similarity(EVALUATED, RERANKED, "overlap@4").mean("overlap@4") == 1.0
    assert rg.similarity(EVALUATED, dict.fromkeys(TRUTH, IDS), "rbo").mean("rbo") == 1.0


def test_order_of_hits_under_the_rules_of_elasticsearch():
    run = dict(zip(TRUTH, SEARCHES, strict=True))
    expected = rg.evaluate(TRUTH, dict.fromkeys(TRUTH, IDS), "ndcg@10", "rr@10", like="elasticsearch")
    result = rg.evaluate(TRUTH, run, "ndcg@10", "rr@10", like="elasticsearch")
    assert result.to_dict() == expected.to_dict()
    tied = {"q": ANSWERS["_search"]([0.5] * 4)}
    result = rg.evaluate(QRELS, tied, "rr@10", like="elasticsearch")
    assert result.mean("rr@10") == EXPECTED.mean("rr")


def test_pairs_of_lists_are_not_scrolls(rejects):
    rejects(TypeError, "position 0: ids must be all str", rg.evaluate, QRELS, {"q": (["a", "b"], [0.2, 0.1])}, "rr")


def test_tables_with_columns_called_as_fields_of_answers(tmp_path):
    rows = [{"id": "q", "relevant": ["b"], "retrieved": ["a", "b"], "hits": ["b"], "error": {"code": 1}}]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows[0]))
    for table in (rows, path):
        assert rg.evaluate(table, "rr").mean("rr") == 0.5
    flat = [{"query_id": "q", "doc_id": doc, "score": score, "hits": ["x"]} for doc, score in (("a", 1.0), ("d", 0.5))]
    path.write_text("\n".join(map(json.dumps, flat)))
    for run in (flat, path):
        assert rg.evaluate(QRELS, run, "rr").mean("rr") == 0.5
    named = [{"query_id": "q", "hits": [{"id": "b", "score": 1.0}]}]
    with pytest.raises(ValueError, match="run has a row per query") as error:
        rg.evaluate(QRELS, named, "rr")
    by_query = eval(re.search(r"by query, (.*), and those", str(error.value))[1], {"run": named})
    assert rg.evaluate(QRELS, by_query, "rr").mean("rr") == 1.0


def test_documents_may_be_called_as_fields_of_answers():
    for name in ("hits", "matches", "ids", "points", "error", "result", "candidates", "details", "responses"):
        assert rg.evaluate({"q": {name: 1}}, {"q": {name: 1.0}}, "rr").mean("rr") == 1.0


def test_grades_in_pairs_are_not_answers():
    with pytest.raises((TypeError, ValueError)):
        rg.from_qrels({"q": [("a", 0.5)]}, {"q": {"a": 1.0}})
