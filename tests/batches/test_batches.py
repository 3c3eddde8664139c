"""Record batches give exactly the result of whole frames, wherever the rows are split."""

import functools
import math
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pytest
from support.marks import in_one_case, quick_first
from support.memory import measured

import rankgain as rg
from rankgain.batches import BatchOptions, evaluate_batches, summarize_batches

pytestmark = pytest.mark.usefixtures("backend")

METRICS = "ndcg@5", "ap", "rr", "gm_ap", "num_rel", "gauc"
QUERIES = 14
KINDS = {
    "long": lambda ids: pa.array(ids, pa.int64()),
    "int": lambda ids: pa.array(ids, pa.int32()),
    "string": lambda ids: pa.array([f"é{number:03}" for number in ids]),
    "view": lambda ids: pa.array([f"a long enough id {number}" for number in ids]),
    "binary": lambda ids: pa.array([b"\xff%d" % number for number in ids]),
    "category": lambda ids: pa.array([f"d{number}" for number in ids]).dictionary_encode(),
}


def sides(kind="long", seed=3):
    """Return judgments and a run with ties, queries in only one of the two, and a query without relevant documents."""
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
    """Join judgments and a run into one row per document, as a full outer join does."""
    if pa.types.is_dictionary(qrels["doc_id"].type):
        return stacked(qrels, run)
    return qrels.join(run, ["query_id", "doc_id"], join_type="full outer", use_threads=False).sort_by("query_id")


def stacked(qrels, run):
    """Append the rows of the run to those of the judgments, and sort all rows by query."""
    both = pa.concat_tables([qrels, run], promote_options="default").unify_dictionaries()
    return both.take(np.argsort(both["query_id"].to_numpy(), kind="stable"))


def as_dict(batches):
    return pa.Table.from_batches(list(batches)).to_pydict()


def expected(result):
    order = sorted(range(len(result.query_ids)), key=result.query_ids.__getitem__)
    return {"query_id": sorted(result.query_ids)} | {
        str(key): [vector.tolist()[position] for position in order] for key, vector in result.items()
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", [joined, stacked])
def test_any_ids_give_the_bits_of_one_call(form, kind):
    qrels, run = sides(kind)
    result = rg.from_frames(qrels, run).evaluate(*METRICS)
    whole = form(qrels, run)
    if kind == "view":  # pyarrow can cast to view types, but cannot join or take them
        kinds = [pa.string_view() if field.type == pa.string() else field.type for field in whole.schema]
        whole = whole.cast(pa.schema(zip(whole.column_names, kinds, strict=True)))
    batches = whole.to_batches(max_chunksize=7)
    assert as_dict(evaluate_batches(batches, *METRICS, options=BatchOptions(rows=50))) == expected(result)
    assert summarize_batches(batches, *METRICS, options=BatchOptions(rows=50)) == result.summary()


@pytest.mark.parametrize("missing", ["zero", "skip"])
@pytest.mark.parametrize("ties", quick_first(["average", "docid", "best", "worst"]))
@pytest.mark.parametrize(("rows", "size"), [(1, 5), (13, 1), (13, 10_000), (10_000, 5)])
def test_any_cut_gives_the_bits_of_one_call(ties, missing, rows, size):
    qrels, run = sides()
    rules = {"ties": ties, "missing": missing}
    result = rg.from_frames(qrels, run, **rules).evaluate(*METRICS)
    options = BatchOptions(rows=rows, **rules)
    batches = joined(qrels, run).to_batches(max_chunksize=size)
    assert as_dict(evaluate_batches(batches, *METRICS, options=options)) == expected(result)
    assert summarize_batches(batches, *METRICS, options=options) == result.summary()
    truth = rg.judgments(qrels)
    batches = run.to_batches(max_chunksize=size)
    of_batches = as_dict(evaluate_batches(batches, *METRICS, judgments=truth, options=options))
    assert expected_rows(of_batches) == expected_rows(expected(result))
    assert summarize_batches(run, *METRICS, judgments=truth, options=options) == result.summary()


def expected_rows(columns):
    return sorted(zip(*columns.values(), strict=True))


def test_metric_record_is_accepted_beside_names():
    table = pa.table({"qid": [1, 1], "label": [0, 3], "score": [2.0, 1.0]})
    metric = rg.metric("dcg", gain=lambda grades: grades * 10.0)
    (batch,) = evaluate_batches([table], metric)
    assert batch.column(1).to_pylist() == [30.0 / math.log2(3)] == [summarize_batches(table, metric).mean(metric)]


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
@in_one_case("part", PARTS)
@pytest.mark.parametrize("kind", ["long", "string"])
def test_summary_of_batches_merges_with_that_of_an_evaluation(part, missing, kind):
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
        summary = summarize_batches(given, *METRICS, options=BatchOptions(missing=missing))
        assert {name: summary.counts[name] for name in counts} == counts
        rest = summarize_batches(stacked(*sides(kind, seed=4)), *METRICS, options=BatchOptions(missing=missing))
        merged = rest.merge(summary)
        assert merged.counts["queries"] == rest.counts["queries"] + counts["queries"]
        assert merged == summary.merge(rest)
    if queries and missing == "zero":
        assert summary.mean("rr") == 0.0
    else:
        assert math.isnan(summary.mean("rr"))


def test_no_batches_give_no_queries():
    assert next(evaluate_batches([], "rr")).num_rows == 0
    assert summarize_batches(iter([]), "rr", options=BatchOptions(ties="average")).counts["queries"] == 0
    truth = rg.judgments({"q": {"d": 1}})
    assert as_dict(evaluate_batches([], "rr", judgments=truth)) == {"query_id": ["q"], "rr": [0.0]}


ROWS = {"query_id": [1, 1, 2], "doc_id": ["a", "b", "c"], "relevance": [1, 0, 2], "score": [3.0, 2.0, 1.0]}


def test_document_returned_twice_is_rejected_or_kept_once():
    table = pa.table(
        {"query_id": [1] * 3, "doc_id": ["a", "x", "x"], "relevance": [1, None, None], "score": [3.0, 2.0, 1.0]}
    )
    assert summarize_batches(table, "rr").mean("rr") == 1.0
    with pytest.raises(
        ValueError, match=r"run: query 1, document 'x': the document repeats an .*duplicates='first' does"
    ):
        summarize_batches(table, "rr", options=BatchOptions(validate="full"))


def test_query_longer_than_a_batch_is_one_query():
    rng = np.random.default_rng(0)
    table = pa.table(
        {"qid": [1] * 5 + [2] * 1000 + [3] * 5, "label": rng.integers(0, 3, 1010), "score": rng.random(1010)}
    )
    result = rg.from_frames(table).evaluate("ndcg", "ap")
    for size in (3, 64, 2000):
        batches = table.to_batches(max_chunksize=size)
        assert as_dict(evaluate_batches(batches, "ndcg", "ap", options=BatchOptions(rows=50))) == expected(result)


def test_memory_is_that_of_one_part():
    """Batches are read only when needed and are released afterwards."""
    alive, most = 0, 0

    def batches():
        nonlocal alive, most
        for query in range(200):
            alive += 1
            yield pa.table({"qid": [query] * 10, "label": [1] * 10, "score": [1.0] * 10})

    taken = evaluate_batches(batches(), "rr", options=BatchOptions(rows=100))
    next(taken)
    assert alive <= 12
    assert sum(batch.num_rows for batch in taken) == 190


def slices(table, size=100):
    return table.to_batches(max_chunksize=size)


DOCUMENTS = {
    "string": lambda ids: pa.array([f"document-{number}" for number in ids]),
    "large_string": lambda ids: pa.array([f"document-{number}" for number in ids], pa.large_string()),
    "fixed": lambda ids: pa.array([b"%08d" % number for number in ids], pa.binary(8)),
    "category": lambda ids: pa.array([f"document-{number}" for number in ids]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", quick_first(DOCUMENTS))
def test_slices_of_one_table_take_the_memory_of_the_table(kind):
    """Each slice reads only its own part of the data, except for a dictionary, which is read as a whole."""
    rows = np.arange(6000)
    table = pa.table(
        {"query_id": rows // 100, "doc_id": DOCUMENTS[kind](rows), "relevance": rows % 3, "score": rows * 7919 % 1000.0}
    )
    ways = [functools.partial(summarize_batches, options=BatchOptions(rows=rows)) for rows in (1000, 1 << 20)]
    ways.append(lambda batches, metric: whole(pa.Table.from_batches(batches), metric))
    for way in ways:
        one, cut = (
            measured(functools.partial(way, batches, "rr"))[1] for batches in (table.to_batches(), slices(table, 60))
        )
        assert cut < one + 1_500_000  # at least 2,250,000 bytes if each slice read all the data before it


def whole(table, metric):
    return rg.from_frames(table, table).evaluate(metric)


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_slices_have_the_documents_of_their_rows(kind):
    rows = np.arange(700)
    table = pa.table(
        {"query_id": rows // 100, "doc_id": DOCUMENTS[kind](rows % 100), "relevance": rows % 3, "score": rows % 7 * 1.0}
    )
    result = rg.from_frames(table, table).evaluate("ndcg@10", "ap")
    cut = pa.Table.from_batches(slices(table, 7))
    assert rg.from_frames(cut, cut).evaluate("ndcg@10", "ap") == result
    assert summarize_batches(slices(table, 7), "ndcg@10", "ap") == result.summary()
    numbers = table.set_column(1, "doc_id", pa.array(rows % 100).dictionary_encode())
    options = BatchOptions(ties="average")
    of_slices, of_table = (
        summarize_batches(given, "ndcg@10", options=options) for given in (slices(numbers, 7), table)
    )
    assert of_slices == of_table


def test_batches_that_are_empty_between_others():
    rows = {"qid": [1] * 5 + [2], "label": [1, 0, 2, 0, 1, 1], "score": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    table = pa.table(rows)
    empty = table[:0]
    result = rg.from_frames(table).evaluate("ndcg")
    for given in ([table[:5], table[5:]], [empty, table[:5], empty, empty, table[5:], empty]):
        for size in (1, 3, 100):
            options = BatchOptions(rows=size)
            assert summarize_batches(given, "ndcg", options=options) == result.summary()
            assert as_dict(evaluate_batches(given, "ndcg", options=options)) == expected(result)


def damaged(offsets, kind):
    wide = kind in (pa.large_string(), pa.large_binary())
    buffers = [None, pa.py_buffer(np.array(offsets, np.int64 if wide else np.int32)), pa.py_buffer(b"abc")]
    return pa.Array.from_buffers(kind, 3, buffers)


def broken():
    """Yield columns whose offsets point outside their memory, each with its error message."""
    for kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        for offsets in ([0, 10**9, 2, 3], [0, 3, 2, 3], [0, -5, 2, 3]):
            column = damaged(offsets, kind)
            yield column, "its .*; create the column again"
            yield pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), column), "its .*; create the column again"
    views = pa.py_buffer(np.array([50, 0, 0, 10**6] * 3, np.int32))  # length, prefix, buffer and offset of each view
    for kind in (pa.string_view(), pa.binary_view()):
        column = pa.Array.from_buffers(kind, 3, [None, views, pa.py_buffer(b"abc")])
        yield column, "its (parts contradict each other|views point outside its buffers)"
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 1, 9]), pa.array(["a", "b"]), safe=False)
    yield codes, "its codes point outside its dictionary"


@in_one_case(("column", "message"), list(broken()))
@pytest.mark.parametrize("name", ["query_id", "doc_id"])
def test_broken_arrow_columns_are_rejected(column, message, name):
    table = pa.table(ROWS | {"relevance": [1, None, 2], name: column})
    for batches in (table, table.to_batches()):
        with pytest.raises(ValueError, match=rf"column '{name}'(, categories)? is broken: {message}"):
            summarize_batches(batches, "rr")


@pytest.mark.parametrize("name", ["query_id", "doc_id"])
def test_offsets_that_change_later_are_rejected(name):
    """pyarrow checks the last offset when a table is made, and a stream does not tell the sizes of buffers."""
    offsets = np.arange(4, dtype=np.int32)
    column = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(offsets), pa.py_buffer(b"abc")])
    table = pa.table(ROWS | {"relevance": [1, None, 2], name: column})
    offsets[-1] = 10**9
    for batches in (table, table.to_batches()):
        with pytest.raises(ValueError, match=f"column '{name}' is broken: its parts contradict each other"):
            summarize_batches(batches, "rr")


if find_spec("polars"):  # otherwise the test is not collected

    @pytest.mark.parametrize("kind", ["Categorical", "Enum"])
    @pytest.mark.parametrize("name", ["query_id", "doc_id"])
    def test_categories_of_polars(kind, name):
        import polars as pl

        rows = {"query_id": list("aab"), "doc_id": list("xyx"), "relevance": [1, 0, 2], "score": [1.0, 2.0, 3.0]}
        dtype = pl.Categorical if kind == "Categorical" else pl.Enum(list("abxy"))
        frame = pl.DataFrame(rows).with_columns(pl.col(name).cast(dtype))
        result = rg.from_frames(frame, frame).evaluate("rr")
        assert summarize_batches(frame, "rr") == result.summary()
        assert as_dict(evaluate_batches([frame[:1], frame[1:]], "rr")) == expected(result)
        assert summarize_batches(frame[:0], "rr").counts["queries"] == 0


SECOND = {"query_id": [3], "doc_id": ["z"], "relevance": [1], "score": [1.0]}
OTHERS = {
    "query_id": [pa.int32(), pa.uint8(), pa.dictionary(pa.int8(), pa.int64())],
    "doc_id": [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())],
    "relevance": [pa.float64(), pa.float16(), pa.uint8(), pa.bool_(), pa.null()],
    "score": [pa.int64(), pa.float32(), pa.null(), pa.dictionary(pa.int32(), pa.float64())],
}


@in_one_case(("name", "kind"), [(name, kind) for name, kinds in OTHERS.items() for kind in kinds])
def test_batches_of_different_types_are_unified(name, kind):
    """Columns of different types are unified; for example, a batch after an outer join may contain only nulls."""
    first, second = pa.table(ROWS), pa.table(SECOND)
    column, null = second.column_names.index(name), pa.types.is_null(kind)
    values = pa.nulls(1, first[name].type) if null else second[name]
    same = pa.concat_tables([first, second.set_column(column, name, values)])
    other = pa.nulls(1) if null else second[name].cast(getattr(kind, "value_type", kind))
    second = second.set_column(column, name, other.dictionary_encode() if pa.types.is_dictionary(kind) else other)
    assert summarize_batches([first, second], "ndcg", "ap") == summarize_batches(same, "ndcg", "ap")
    later = pa.table(ROWS | {"query_id": [4, 4, 5]})
    values = as_dict(evaluate_batches([second, later], "ndcg"))
    assert values["query_id"] == ([3, 4, 5] if not (null and name == "relevance") else [4, 5])


def test_an_extension_type_is_its_storage():
    ids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes([n] * 16) for n in range(3)], pa.binary(16)))
    summary = summarize_batches(pa.table(ROWS | {"doc_id": ids}), "rr")
    assert summary == summarize_batches(pa.table(ROWS | {"doc_id": ids.storage}), "rr")


def test_columns_that_are_not_needed_may_be_of_any_type():
    table = pa.table(ROWS)
    union = pa.UnionArray.from_sparse(pa.array([0] * len(table), pa.int8()), [pa.array(range(len(table)))])
    assert summarize_batches(table.append_column("other", union), "rr") == summarize_batches(table, "rr")
