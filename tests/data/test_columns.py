"""Columns with invalid data or misbehaving owners give a result or raise an error, but never crash."""

import gc
import io
import math
import struct
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from support.marks import in_one_case, quick_first
from support.rejections import vectors_or_error

import rankgain as rg
from rankgain import _backend
from rankgain.data.source import Source
from rankgain.rankings import parts_of

QRELS = {"query_id": ["q", "q", "q"], "doc_id": ["a", "b", "c"], "relevance": [1, 0, 2]}
RUN = {"query_id": ["q", "q", "q"], "doc_id": ["a", "b", "c"], "score": [1.0, 3.0, 2.0]}


def both(on_both, function):
    compiled, python = on_both(lambda: vectors_or_error(function))
    assert compiled == python
    return compiled


def evaluate(run, **options):
    return rg.from_frames(QRELS, run, **options).evaluate("ndcg", "rr")


def with_column(name, array):
    return pa.table({**RUN, name: array})


# Arrow data that point outside their buffers


def text(*offsets, data=b"abc", large=False):
    buffer = np.array(offsets, dtype=np.int64 if large else np.int32).tobytes()
    kind = pa.large_string() if large else pa.string()
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(buffer), pa.py_buffer(data)])


def views(*fields, buffer=b"x" * 20, kind=None):
    """Return an array of views, each given as (size, buffer, offset)."""
    fixed = b"".join(struct.pack("<i4sii", size, buffer[:4], source, offset) for size, source, offset in fields)
    return pa.Array.from_buffers(kind or pa.string_view(), len(fields), [None, *map(pa.py_buffer, (fixed, buffer))])


@pytest.mark.both
@pytest.mark.parametrize("column", ["query_id", "doc_id"])
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("offsets", [(0, 100, 2, 3), (0, 2, 1, 3), (0, -1, 2, 3), (0, 1, 2**31 - 1, 3)])
def test_offsets_outside_the_data_are_rejected(on_both, column, large, offsets):
    kind, message = both(on_both, lambda: evaluate(with_column(column, text(*offsets, large=large))))
    assert kind is ValueError
    assert "broken: its offsets" in message


@pytest.mark.both
def test_offsets_outside_the_data_are_rejected_in_slices(on_both):
    """Rows outside a slice are not read, so the error is detected only from the length of the data."""
    table = with_column("doc_id", text(0, 100, 2, 3)).set_column(0, "query_id", pa.array(["q", "z", "z"]))
    kind, message = both(on_both, lambda: evaluate(table))
    assert kind is ValueError
    assert "broken: its offsets" in message


BROKEN_VIEWS = [(15, 0, 6), (15, 1, 0), (15, -1, 0), (15, 0, -1), (-1, 0, 0), (2**31 - 1, 0, 0), (15, 0, 2**31 - 1)]
BROKEN_VIEWS += [(-(2**31), 0, 0), (13, 0, 8), (21, 0, 0), (20, 2**31 - 1, 0)]


@pytest.mark.both
@in_one_case("column", ["query_id", "doc_id"])
@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()], ids=str)
@in_one_case("view", BROKEN_VIEWS)
def test_views_outside_their_buffers_are_rejected(on_both, column, kind, view):
    table = with_column(column, views((13, 0, 0), (20, 0, 0), view, kind=kind))
    error, message = both(on_both, lambda: evaluate(table))
    assert error is ValueError
    # for documents, a mismatch of id types may be reported first
    assert "broken: its views" in message or (column == "doc_id" and "convert those in" in message)


@pytest.mark.both
@pytest.mark.parametrize("column", ["query_id", "doc_id", "score"])
@in_one_case("codes", [[0, 1, 2], [0, -1, 1], [2**31 - 1, 0, 0], [-(2**31), 0, 0]])
@pytest.mark.parametrize("values", [["a", "b"], [1, 2], [1.5, 2.5]])
def test_codes_outside_their_dictionary_are_rejected(on_both, column, codes, values):
    coded = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(values), safe=False)
    kind, message = both(on_both, lambda: evaluate(with_column(column, coded)))
    if column == "score" and values != [1.5, 2.5]:
        assert (kind, "must hold numbers" in message) == (TypeError, True)
    else:
        assert kind is ValueError
        assert "broken: its codes" in message or "convert those in" in message


# owners of buffers


class Holder:
    """An object with the Arrow C stream interface."""

    def __init__(self, give):
        self.give = give

    def __arrow_c_stream__(self, requested_schema=None):
        return self.give()


@pytest.mark.both
@pytest.mark.parametrize(
    "wrong",
    [None, 5, b"arrow_array_stream", pa.schema([]).__arrow_c_schema__()],
    ids=lambda wrong: type(wrong).__name__,
)
def test_object_without_a_stream_is_rejected(on_both, wrong):
    kind, message = both(on_both, lambda: evaluate(Holder(lambda: wrong)))
    assert kind is TypeError
    assert f"run_df: __arrow_c_stream__ returned {type(wrong).__name__}, which is not an Arrow stream" in message


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("batches", [0, 1, 3])
def test_failing_stream_raises_its_error(batches):
    def generate():
        yield from pa.table(RUN).to_batches() * batches
        raise RuntimeError("the network is gone")

    reader = pa.RecordBatchReader.from_batches(pa.table(RUN).schema, generate())
    with pytest.raises(ValueError, match=r"run_df: the Arrow stream failed: .*the network is gone"):
        evaluate(reader)


@pytest.mark.both
def test_a_stream_is_read_once(on_both):
    """Both sides of a frame are read in one pass; reading an exhausted stream raises an error."""
    table = pa.table({**QRELS, "score": RUN["score"]})
    expected = vectors_or_error(lambda: rg.from_frames(table).evaluate("ndcg", "rr"))

    def twice():
        reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
        assert vectors_or_error(lambda: rg.from_frames(reader).evaluate("ndcg", "rr")) == expected
        return rg.from_frames(reader).evaluate("ndcg", "rr")

    assert both(on_both, twice)[0] is ValueError
    moved = table.__arrow_c_stream__()
    pa.RecordBatchReader._import_from_c_capsule(moved).read_all()
    kind, message = vectors_or_error(lambda: rg.from_frames(Holder(lambda: moved)).evaluate("ndcg"))
    assert kind is ValueError
    assert "read already" in message


class Raises:
    """An object that raises the given error in every conversion."""

    def __init__(self, error):
        self.error = error

    def fail(self, *args, **options):
        raise self.error

    __array__ = __float__ = __arrow_c_stream__ = __len__ = __iter__ = fail


class Id(str):
    """An id whose comparison raises."""

    __slots__ = ()

    def __eq__(self, other):
        raise KeyError("compared")

    __hash__ = str.__hash__


class Unhashable(str):
    __slots__ = ()

    def __hash__(self):
        raise KeyError("hashed")

    def __eq__(self, other):
        return True


@pytest.mark.both
def test_exceptions_of_foreign_code_are_raised_unchanged(on_both):
    fails = Raises(KeyError("mine"))
    calls = [
        lambda: rg.from_frames(fails, RUN),
        lambda: evaluate(fails),
        lambda: rg.judgments({"q": {"a": fails}}),
    ]
    for call in calls:
        assert both(on_both, call) == (KeyError, "'mine'")


@pytest.mark.both
def test_unreadable_array_is_named(on_both):
    fails = Raises(KeyError("mine"))
    calls = {
        "run_df: column 'doc_id'": lambda: evaluate({**RUN, "doc_id": fails}),
        "run_df: column 'score'": lambda: evaluate({**RUN, "score": [1.0, fails, 2.0]}),
        "recommended": lambda: rg.from_recommendations([{1}], fails),
    }
    for name, call in calls.items():
        kind, text = both(on_both, call)
        assert kind is TypeError
        assert text.startswith(f"{name}: ")
        assert text.endswith("the Raises cannot be read ('mine'); give a NumPy array or a list")


@pytest.mark.both
@pytest.mark.parametrize("kind", [Id, Unhashable])
def test_str_subclasses_are_compared_by_content(on_both, kind):
    """Columns read the characters of an id and call none of its methods."""
    lying = [kind(document) for document in RUN["doc_id"]]
    expected = vectors_or_error(lambda: evaluate(RUN))
    for column in (lying, np.array(lying, dtype=object), pd.Series(lying, dtype=object)):
        assert both(on_both, lambda column=column: evaluate({**RUN, "doc_id": column})) == expected
    given = both(on_both, lambda: rg.from_recommendations([["b", "c"]], [lying]).evaluate("rr"))
    assert given == {"rr": [0.5]}


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    "kind",
    quick_first([pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]),
    ids=str,
)
@pytest.mark.parametrize("library", quick_first(["pandas", "polars", "Arrow"]))
def test_owners_of_buffers_stay_alive(kind, library):
    """Rankings keep the memory of their frames alive after the caller has released the frames."""
    n = 5000

    def make(value):
        documents = pa.array([f"a document with a long id {i}" for i in range(n)]).cast(kind)
        queries = pa.array([f"a query with a long id {i // 50}" for i in range(n)]).cast(kind)
        table = pa.table({"query_id": queries, "doc_id": documents, value: (np.arange(n) * 7 % 5).astype(np.float32)})
        return {"Arrow": lambda: table, "polars": lambda: pl.from_arrow(table), "pandas": table.to_pandas}[library]()

    rankings = rg.from_frames(make("relevance"), make("score"))
    expected = rankings.evaluate("ndcg", "rr@3")
    source, _ = parts_of(rankings)
    buffers = source._run.documents, source._judgments.ids
    gc.collect()
    rubbish = [pa.array(np.full(4 * n, i, dtype=np.int64)) for i in range(20)]
    rubbish += [np.full(40 * n, 255, dtype=np.uint8) for _ in range(20)]
    again = rankings.evaluate("ndcg", "rr@3")
    assert [vector.tolist() for vector in again.values()] == [vector.tolist() for vector in expected.values()]
    assert len(rubbish) == 40
    assert all(len(column) == n for column in buffers)


def test_rankings_alive_at_exit_print_nothing():
    code = (
        "import pyarrow as pa, rankgain as rg\nfrom rankgain.rankings import parts_of\n"
        "frame = pa.table({'qid': ['q'], 'doc_id': pa.array(['d']), 'label': [1], 'score': [2.0]})\n"
        "rankings = rg.from_frames(frame); parts_of(rankings)[0].myself = rankings; rankings.evaluate('ndcg')"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


# slices of columns


@pytest.mark.both
@pytest.mark.parametrize("start", quick_first([1, 8, 65, 0, 7, 9, 63, 64, 100_003], 3))
def test_slices_of_columns_are_read_from_their_offset(on_both, start):
    """Slices are read correctly at any offset, with nulls outside the slice and in chunks of various sizes."""
    n, sizes = 41, (1, 7, 0, 9, 24)
    rng = np.random.default_rng(start)
    labels, scores = rng.integers(0, 2, n).astype(bool), rng.integers(0, 5, n).astype(np.float32)
    queries, docs = rng.integers(0, 3, n), [f"d{i}" for i in rng.permutation(n)]

    def sliced(values, kind):
        before, ends = pa.nulls(start, kind), np.cumsum([0, *sizes])
        return pa.chunked_array([
            pa.concat_arrays([before, pa.array(values[a:b], kind), pa.nulls(3, kind)]).slice(start, b - a)
            for a, b in pairwise(ends)
        ])  # fmt: skip

    columns = [queries, docs, labels, scores]
    plain = dict(zip(("qid", "doc_id", "label", "score"), columns, strict=True))
    for text_type in (pa.string(), pa.string_view()):
        kinds = [pa.int16(), text_type, pa.bool_(), pa.float32()]
        arrays = [sliced(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        table = pa.table(arrays, names=list(plain))
        for ties in ("docid", "average"):
            expected = both(on_both, lambda ties=ties: rg.from_frames(plain, ties=ties).evaluate("ndcg", "rr"))
            result = both(
                on_both, lambda ties=ties, table=table: rg.from_frames(table, ties=ties).evaluate("ndcg", "rr")
            )
            assert result == expected
            assert set(result) == {"ndcg", "rr"}
        side = both(on_both, lambda table=table: rg.from_frames(table.drop("doc_id")).evaluate("ndcg"))
        assert side == {"ndcg": expected["ndcg"]}


@pytest.mark.slow
@pytest.mark.usefixtures("backend")
def test_long_columns_are_numbered_in_parts(monkeypatch):
    """The result does not depend on the size of the chunks in which queries are numbered."""
    rng = np.random.default_rng(3)
    columns = {"qid": rng.integers(0, 40, 3000), "doc_id": np.arange(3000), "label": rng.integers(0, 3, 3000)}
    columns |= {"score": rng.integers(0, 50, 3000)}
    expected = rg.from_scores(columns["label"], columns["score"], qid=columns["qid"], ties="stable").evaluate("ndcg")
    for size in (1, 7, 2999, 3000):
        monkeypatch.setattr("rankgain.data.groups.NUMBERED_AT_ONCE", size)
        for frame in (columns, pl.DataFrame(columns)):
            result = rg.from_frames(frame, ties="stable").evaluate("ndcg")
            assert list(result.query_ids) == list(expected.query_ids) == list(dict.fromkeys(columns["qid"].tolist()))
            assert result["ndcg"].tolist() == expected["ndcg"].tolist()


# Arrow id types


def test_fixed_width_ids_match(backend):
    ids = {"query_id": [b"q1"] * 3, "doc_id": [b"d001", b"d002", b"d003"]}
    columns = pa.table(ids | {"relevance": [0, 2, 1]}), pa.table(ids | {"score": [0.1, 0.2, 0.2]})
    fixed = pa.schema([("query_id", pa.binary(2)), ("doc_id", pa.binary(4))])
    for tables in (columns, [table.cast(pa.schema([*fixed, table.schema.field(2)])) for table in columns]):
        assert rg.from_frames(*tables).evaluate("rr(rel=2)", "rr").mean() == {"rr(rel=2)": 0.5, "rr": 1.0}


def test_ids_of_64_bits_match_those_of_32_bits(backend):
    """Ids that share only their lowest 32 bits do not match."""
    recommended = np.array([[1, 2], [2, 1]], dtype=np.int32)
    result = rg.from_recommendations([[2**32 + 1, 2**40], [1]], recommended).evaluate("rr")
    assert result["rr"].tolist() == [0.0, 0.5]
    relevant = sparse.csr_matrix([[1, 0, 0], [0, 1, 1]])  # sparse matrices have 32-bit ids
    result = rg.from_recommendations(relevant, np.array([[2**32, 1, 0], [2, 2**32 + 1, -1]])).evaluate(
        "rr", "num_rel_ret"
    )
    assert (result["rr"].tolist(), result["num_rel_ret"].tolist()) == ([1 / 3, 1.0], [1, 1])


def test_first_rows_of_no_rows_are_none(backend):
    data, none = np.empty(0, np.uint8), np.empty(0, np.int64)
    marks, sizes = np.empty(0, np.uint8), np.zeros(2, np.int64)
    _backend.columns.mark_firsts(data, none, none, np.zeros(3, np.int64), np.empty(0), marks, sizes)
    assert sizes.tolist() == [0, 0]


# ids in the output


@pytest.mark.parametrize(("ids", "kind"), [([2**63 - 1, -(2**63)], "int64"), ([2**63, 0], "string")])
def test_integers_of_64_bits_remain_integers(ids, kind):
    result = rg.from_ranked([[1]] * len(ids), query_ids=ids).evaluate("rr")
    assert str(result.to_arrow().schema.field("query_id").type) == kind


def test_an_index_of_text_is_of_the_type_that_pandas_gives_text():
    for ids in (["a", "b"], ["a", "\udcff"]):
        index = rg.from_ranked([[1], [0]], query_ids=ids).evaluate("rr").to_pandas().index
        assert index.tolist() == ids
        assert index.dtype == (object if "\udcff" in ids else pd.Index(["a"]).dtype)


def test_pair_of_names_on_one_frame_uses_the_first_if_the_other_does_not_exist(backend):
    log = {"a": [1, 1, 2], "b": [1, 2, 2], "label": [1, 0, 1], "score": [0.1, 0.2, 0.3]}
    result = rg.from_frames(log, query=("a", "c")).evaluate("rr")
    assert dict(zip(result.query_ids, result["rr"].tolist(), strict=True)) == {1: 0.5, 2: 1.0}


@pytest.mark.parametrize("ties", ["docid", "stable", "average", "best"])
@pytest.mark.parametrize("score_bits", [64, 32])
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from(["d", "e", "é", "\U0001f600"]),
            st.sampled_from([1.0, 1.0 + 1e-9, 1e39, 1e40, -math.inf]),
        ),
        unique_by=lambda line: line[:2],
    )
)
def test_first_documents_are_those_of_all_documents(backend, ties, score_bits, lines):
    text = "".join(f"{query} Q0 {document} 1 {score!r} t\n" for query, document, score in [("x", "d", 1.0), *lines])
    truth = rg.judgments({query: {"d": 1} for query in "xabc"})
    rankings = rg.read_trec(truth, io.BytesIO(text.encode()), ties=ties, score_bits=score_bits)
    source, rules = parts_of(rankings)
    queries = range(len(rankings))
    assert [*source.first_documents(queries, rules)] == [*Source.first_documents(source, queries, rules)]
