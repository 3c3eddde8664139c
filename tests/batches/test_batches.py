"""Record batches, cut anywhere, give the bits of one call on whole frames."""

import math

import numpy as np
import pyarrow as pa
import pytest
from support.marks import quick_first

import rankgain as rg
from rankgain.batches import evaluate_batches, summarize_batches

pytestmark = pytest.mark.usefixtures("backend")

METRICS = "ndcg@5", "ap", "rr", "gm_ap", "num_rel", "gauc"
QUERIES = 30
KINDS = {
    "long": lambda ids: pa.array(ids, pa.int64()),
    "int": lambda ids: pa.array(ids, pa.int32()),
    "string": lambda ids: pa.array([f"é{number:03}" for number in ids]),
    "view": lambda ids: pa.array([f"a long enough id {number}" for number in ids]).cast(pa.string_view()),
    "binary": lambda ids: pa.array([b"\xff%d" % number for number in ids]),
    "category": lambda ids: pa.array([f"d{number}" for number in ids]).dictionary_encode(),
}


def sides(kind="long", seed=3):
    """Judgments and a run, with queries that one of them lacks, ties, and a query without anything relevant."""
    rng = np.random.default_rng(seed)
    ids = KINDS[kind]
    qrels, run = [], []
    for query in range(QUERIES):
        if query % 7:
            qrels += [
                (query, doc, 0 if query == 8 else grade)
                for doc, grade in zip(rng.permutation(20)[:8].tolist(), rng.integers(-1, 4, 8).tolist(), strict=True)
            ]
        if query % 5:
            documents = rng.permutation(20)[: rng.integers(1, 20)].tolist()
            run += [(query, doc, float(rng.integers(0, 6))) for doc in documents]
    tables = []
    for rows, value in ((qrels, "relevance"), (run, "score")):
        queries, docs, values = zip(*rows, strict=True)
        tables.append(pa.table({"query_id": ids(queries), "doc_id": ids(docs), value: pa.array(values)}))
    return tables


def joined(qrels, run):
    """A row per document, as a full outer join has it."""
    if pa.types.is_dictionary(qrels["doc_id"].type):
        return stacked(qrels, run)
    return qrels.join(run, ["query_id", "doc_id"], join_type="full outer", use_threads=False).sort_by("query_id")


def stacked(qrels, run):
    """The rows of the run after those of the judgments, in the order of the queries."""
    both = pa.concat_tables([qrels, run], promote_options="default").unify_dictionaries()
    return both.take(np.argsort(both["query_id"].to_numpy(), kind="stable"))


def as_dict(batches):
    return pa.Table.from_batches(list(batches)).to_pydict()


def expected(result):
    order = sorted(range(len(result.query_ids)), key=result.query_ids.__getitem__)
    return {"query_id": sorted(result.query_ids)} | {
        str(key): [vector.tolist()[place] for place in order] for key, vector in result.items()
    }


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "view"])
@pytest.mark.parametrize("form", [joined, stacked])
def test_any_ids_give_the_bits_of_one_call(form, kind):
    qrels, run = sides(kind)
    result = rg.from_frames(qrels, run).evaluate(*METRICS)
    batches = form(qrels, run).to_batches(max_chunksize=7)
    assert as_dict(evaluate_batches(batches, *METRICS, rows=50)) == expected(result)
    assert summarize_batches(batches, *METRICS, rows=50) == result.summary()


def test_views():
    qrels, run = sides("view")
    tables = [
        table.cast(
            pa.schema([(name, pa.string() if name != value else table[name].type) for name in table.column_names])
        )
        for table, value in ((qrels, "relevance"), (run, "score"))
    ]
    result = rg.from_frames(*tables).evaluate(*METRICS)
    whole = stacked(*tables)
    views = whole.cast(
        pa.schema(
            [
                (name, pa.string_view() if name in ("query_id", "doc_id") else whole[name].type)
                for name in whole.column_names
            ]
        )
    )
    assert as_dict(evaluate_batches(views, *METRICS, rows=40)) == expected(result)


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("ties", quick_first(["average", "docid", "best", "worst"]))
@pytest.mark.parametrize(("rows", "size"), [(1, 5), (13, 1), (13, 10_000), (10_000, 5)])
def test_any_cut_gives_the_bits_of_one_call(ties, missing, rows, size):
    qrels, run = sides()
    rules = {"ties": ties, "missing": missing}
    result = rg.from_frames(qrels, run, **rules).evaluate(*METRICS)
    batches = joined(qrels, run).to_batches(max_chunksize=size)
    assert as_dict(evaluate_batches(batches, *METRICS, rows=rows, **rules)) == expected(result)
    assert summarize_batches(batches, *METRICS, rows=rows, **rules) == result.summary()
    truth = rg.judgments(qrels)
    found = as_dict(evaluate_batches(run.to_batches(max_chunksize=size), *METRICS, judgments=truth, rows=rows, **rules))
    assert expected_rows(found) == expected_rows(expected(result))
    assert summarize_batches(run, *METRICS, judgments=truth, rows=rows, **rules) == result.summary()


def expected_rows(columns):
    return sorted(zip(*columns.values(), strict=True))


def test_input_order_breaks_ties_where_it_is_asked_to():
    qrels, run = sides()
    result = rg.from_frames(qrels, run, ties="stable").evaluate(*METRICS)
    assert as_dict(evaluate_batches(stacked(qrels, run), *METRICS, ties="stable", rows=9)) == expected(result)


@pytest.mark.parametrize("like", ["trec_eval-9", "ranx", "rankgain"])
def test_the_rules_of_a_peer(like):
    qrels, run = sides()
    result = rg.from_frames(qrels, run).evaluate("ndcg@5", like=like)
    whole = stacked(qrels, run)
    assert as_dict(evaluate_batches(whole, "ndcg@5", like=like, rows=30)) == expected(result)
    assert summarize_batches(run, "ndcg@5", like=like, rows=30, judgments=rg.judgments(qrels)) == result.summary()


@pytest.mark.parametrize("rows", [1, 3, 100])
def test_labels_beside_scores(rows):
    log = {"qid": [1, 1, 1, 2, 2, 3], "label": [0, 2, 1, 1, 0, 0], "score": [0.2, 0.9, 0.9, 0.1, 0.7, 1.0]}
    result = rg.from_frames(log).evaluate(*METRICS)
    assert as_dict(evaluate_batches(pa.table(log), *METRICS, rows=rows)) == expected(result)
    assert summarize_batches(pa.table(log).to_batches(max_chunksize=2), *METRICS, rows=rows) == result.summary()


def test_columns_of_any_names():
    table = pa.table({"user": [1, 1], "item": ["a", "b"], "stars": [0, 3], "estimate": [1.0, 2.0], "more": [0, 0]})
    names = {"query": "user", "doc": "item", "relevance": "stars", "score": "estimate"}
    assert as_dict(evaluate_batches(table, "rr", **names)) == {"query_id": [1], "rr": [1.0]}


def test_a_metric_that_is_a_record():
    table = pa.table({"qid": [1, 1], "label": [0, 3], "score": [2.0, 1.0]})
    asked = rg.metric("dcg", gain=lambda grades: grades * 10.0)
    (batch,) = evaluate_batches([table], asked)
    assert batch.column(1).to_pylist() == [30.0 / math.log2(3)] == [summarize_batches(table, asked).mean(asked)]


PARTS = {
    "nothing": lambda qrels, run: (qrels[:0], run[:0]),
    "no run": lambda qrels, run: (qrels, run[:0]),
    "no judgments": lambda qrels, run: (qrels[:0], run),
    "nothing in common": lambda qrels, run: (
        qrels.filter(pa.compute.equal(qrels["query_id"], 5)),
        run.filter(pa.compute.equal(run["query_id"], 7)),
    ),
}


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", ["long", "string"])
def test_parts_of_any_sort_are_summaries_like_others(part, missing, kind):
    """Which are an error of the whole, but not of a part."""
    qrels, run = PARTS[part](*sides())
    queries = len(qrels["query_id"].unique())
    if kind == "string":
        qrels, run = (table.set_column(0, "query_id", table["query_id"].cast(pa.string())) for table in (qrels, run))
    counts = {
        "queries": queries if missing == "zero" else 0,
        "missing": queries,
        "unjudged": len(run["query_id"].unique()),
    }
    for given in (stacked(qrels, run), stacked(qrels, run).to_batches() or stacked(qrels, run)):
        summary = summarize_batches(given, *METRICS, missing=missing)
        assert {name: summary.counts[name] for name in counts} == counts
        rest = summarize_batches(stacked(*sides(kind, seed=4)), *METRICS, missing=missing)
        merged = rest.merge(summary)
        assert merged.counts["queries"] == rest.counts["queries"] + counts["queries"]
        assert merged == summary.merge(rest)
    if queries and missing == "zero":
        assert summary.mean("rr") == 0.0
    else:
        assert math.isnan(summary.mean("rr"))


def test_no_batch_at_all():
    assert next(evaluate_batches([], "rr")).num_rows == 0
    assert summarize_batches(iter([]), "rr", ties="average").counts["queries"] == 0
    truth = rg.judgments({"q": {"d": 1}})
    assert as_dict(evaluate_batches([], "rr", judgments=truth)) == {"query_id": ["q"], "rr": [0.0]}


ROWS = {"query_id": [1, 1, 2], "doc_id": ["a", "b", "c"], "relevance": [1, 0, 2], "score": [3.0, 2.0, 1.0]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"query_id": [1, None, 2]}, r"batches: query None, document 'b': the query is null; drop such rows"),
        ({"doc_id": ["a", "b", None]}, r"qrels: query 2, document None: the document is null"),
        ({"relevance": [1, None, 2], "score": [1.0, None, 1.0]},
         r"batches: query 1, document 'b': both relevance and score are null"),
        ({"score": [1.0, math.nan, 1.0]}, r"^run: query 1, document 'b': the score is NaN; use -inf [^(]*$"),
        ({"relevance": [1.0, math.nan, 1.0]}, r"^qrels: query 1, document 'b': the grade is NaN"),
        ({"doc_id": ["a", "a", "c"]}, r"^qrels: query 1, document 'a': the document stands in an earlier place of the"),
        ({"query_id": [1, 2, 1]}, r"batches: query 1 comes again after others; .*: sort by query first"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_bad_contents(change, message, rows):
    table = pa.table(ROWS | change)
    for given in (table, table.to_batches(max_chunksize=1)):
        with pytest.raises(ValueError, match=message):
            summarize_batches(given, "ndcg", rows=rows)
        with pytest.raises(ValueError, match=message):
            list(evaluate_batches(given, "ndcg", rows=rows))


def test_a_document_returned_twice():
    table = pa.table(
        {"query_id": [1] * 3, "doc_id": ["a", "x", "x"], "relevance": [1, None, None], "score": [3.0, 2.0, 1.0]}
    )
    assert summarize_batches(table, "rr").mean("rr") == 1.0
    with pytest.raises(ValueError, match="run: query 1, document 'x': the document stands in an earlier place"):
        summarize_batches(table, "rr", validate="full")


@pytest.mark.parametrize("name", ["qid", "label", "score"])
def test_nulls_where_documents_have_no_ids(name):
    table = {"qid": [1, 1, 2], "label": [0, 3, 1], "score": [2.0, 1.0, 1.0]}
    table[name][1] = None
    with pytest.raises(ValueError, match=r"batches: query (1|None): the (query|relevance|score) is null"):
        summarize_batches(pa.table(table), "rr")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"metrics": ["ndgc"]}, ValueError, "unknown metric 'ndgc'; did you mean 'ndcg'"),
        ({"metrics": []}, ValueError, "no metric was asked for"),
        ({"ties": "random"}, ValueError, "ties must be one of"),
        ({"missing": "drop"}, ValueError, "missing must be 'zero' or 'skip'"),
        ({"validate": "all"}, ValueError, "validate must be 'judged' or 'full'"),
        ({"like": "solr"}, ValueError, "unknown peer"),
        ({"threads": 0}, ValueError, "threads must be from 1"),
        ({"rows": 0}, ValueError, "rows must be a positive integer, not 0"),
        ({"judgments": {"q": {"d": 1}}}, TypeError, "judgments must be what rankgain.judgments returns, not dict"),
        ({"batches": "rows.parquet"}, TypeError, "batches must be an iterable of Arrow record batches, not str"),
        ({"batches": 3}, TypeError, "batches must be an iterable of Arrow record batches, not int"),
    ],
)
def test_bad_arguments_are_refused_at_once(arguments, error, message):
    given = {"batches": pa.table(ROWS), "metrics": ["rr"]} | arguments
    batches, metrics = given.pop("batches"), given.pop("metrics")
    for function in (evaluate_batches, summarize_batches):
        with pytest.raises(error, match=message):
            function(batches, *metrics, **given)


def test_what_is_no_batch_is_refused_where_it_comes():
    batches = [pa.table(ROWS), "rows"]
    with pytest.raises(TypeError, match="batches: item 1 must be an Arrow record batch or table, not str"):
        summarize_batches(batches, "rr")
    with pytest.raises(ValueError, match=r"batches has no column with a customary name \(query_id, .*say which it is"):
        summarize_batches(pa.table({"a": [1]}), "rr")
    with pytest.raises(ValueError, match="batches has no column 'rating'; there are: query_id, doc_id"):
        list(evaluate_batches(pa.table(ROWS), "rr", relevance="rating"))


def test_a_query_that_is_longer_than_a_part():
    rng = np.random.default_rng(0)
    table = pa.table(
        {"qid": [1] * 5 + [2] * 1000 + [3] * 5, "label": rng.integers(0, 3, 1010), "score": rng.random(1010)}
    )
    result = rg.from_frames(table).evaluate("ndcg", "ap")
    for size in (3, 64, 2000):
        found = as_dict(evaluate_batches(table.to_batches(max_chunksize=size), "ndcg", "ap", rows=50))
        assert found == expected(result)


def test_memory_is_that_of_a_part():
    """Batches are taken when they are needed, and let go."""
    alive, most = 0, 0

    def batches():
        nonlocal alive, most
        for query in range(200):
            alive += 1
            yield pa.table({"qid": [query] * 10, "label": [1] * 10, "score": [1.0] * 10})

    taken = evaluate_batches(batches(), "rr", rows=100)
    next(taken)
    assert alive <= 12
    assert sum(batch.num_rows for batch in taken) == 190
