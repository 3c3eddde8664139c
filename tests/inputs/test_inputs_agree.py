"""One corpus gives the same Evaluation in every form; add new forms to FORMS."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from support.sides import qrels_lines, run_lines

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

METRICS = [
    "cg@3",
    "dcg@3",
    "dcg",
    "idcg@3",
    "ndcg@1",
    "ndcg@3",
    "ndcg",
    "ndcg(gain=exponential)@5",
    "rr",
    "rr(rel=2)@2",
]


def as_lists(corpus, ties, folder):
    grades, scores = ([[pair[part] for pair in query] for query in corpus] for part in (0, 1))
    return rg.from_scores(grades, scores, ties=ties)


def flat(corpus):
    grades, scores = (np.array([pair[part] for query in corpus for pair in query], dtype=float) for part in (0, 1))
    return grades, scores, np.repeat(np.arange(len(corpus)), [len(query) for query in corpus])


def as_groups(corpus, ties, folder):
    grades, scores, _ = flat(corpus)
    return rg.from_scores(grades, scores, group_sizes=[len(query) for query in corpus], ties=ties)


def as_qid(corpus, ties, folder):
    grades, scores, query = flat(corpus)
    return rg.from_scores(grades, scores, qid=query, ties=ties)


def as_scattered_qid(corpus, ties, folder):
    """Interleave the documents of different queries, keeping the original order within each query."""
    grades, scores, query = flat(corpus)
    position = np.concatenate([np.arange(len(documents)) for documents in corpus])
    order = np.lexsort((query, position))
    return rg.from_scores(grades[order], scores[order], qid=query[order], ties=ties)


def as_matrix(corpus, ties, folder):
    """Pad the rows to equal length with documents that have no gain and are ranked last."""
    longest = max(map(len, corpus))
    rows = [[*query, *[(0, -np.inf)] * (longest - len(query))] for query in corpus]
    matrix = np.array(rows, dtype=float)
    return rg.from_scores(matrix[:, :, 0], matrix[:, :, 1].astype(np.float32), ties=ties)


# Ids that a wrong comparison rule would sort in a different order.
IDS = {
    "text": ["d1", "d", "é", "\U00010000", "\uffff", "d10"],
    "ints": [3, -1, 2**62, 0, -(2**63), 7],
    "bytes": [b"d1", b"d", b"\xff", b"\x7f", b"\xc3", b"d\0a"],
}


def dicts(corpus, kind="text", query=None):
    """Return the qrels and the run as dicts of dicts."""
    ids, name = IDS[kind], query or "q{}".format
    return [
        {name(q): {ids[d]: pair[part] for d, pair in enumerate(query)} for q, query in enumerate(corpus)}
        for part in (0, 1)
    ]


def as_qrels(corpus, ties, folder):
    return rg.from_qrels(*dicts(corpus), ties=ties)


def as_qrels_of_ints(corpus, ties, folder):
    qrels, run = (
        {
            q: {np.int64(d): np.float32(value) for d, value in documents.items()}
            for q, documents in enumerate(side.values())
        }
        for side in dicts(corpus, "ints")
    )
    return rg.from_qrels(qrels, run, ties=ties)


def write(corpus, folder):
    """Write the qrels and the run to files, and return their paths."""
    qrels, run = dicts(corpus)
    paths = folder / "qrels", folder / "run"
    paths[0].write_bytes(qrels_lines(qrels))
    paths[1].write_bytes(run_lines(run))
    return paths


def as_files(corpus, ties, folder):
    return rg.read_trec(*write(corpus, folder), ties=ties)


def columns(side, value, turned=False):
    """Return the qrels or the run as columns, in which the rows of different queries are interleaved."""
    rows = [
        (position, query, document, number)
        for query, documents in side.items()
        for position, (document, number) in enumerate(list(documents.items())[:: -1 if turned else 1])
    ]
    rows.sort(key=lambda row: row[0])
    names = "query_id", "doc_id", value
    return {name: [row[part] for row in rows] for part, name in enumerate(names, start=1)}


def chunked(table, *ends):
    """Return the table in several chunks that are slices of a longer table; one chunk is empty."""
    longer = pa.concat_tables([table.slice(0, 1)] * 3 + [table] + [table.slice(0, 1)] * 2).combine_chunks()
    ends = [0, 0, *(min(end, len(table)) for end in ends), len(table)]
    return pa.concat_tables([longer.slice(3 + a, b - a) for a, b in pairwise(ends)])


def arrow(ids):
    return lambda columns: pa.table({n: pa.array(c) if n in VALUES else pa.array(c, ids) for n, c in columns.items()})


VALUES = "relevance", "score"


def each_id(convert):
    """Return a function that converts the id columns in a mapping of columns."""
    return lambda columns: {name: column if name in VALUES else convert(column) for name, column in columns.items()}


def pandas(dtype):
    return lambda columns: pd.DataFrame(each_id(lambda ids: pd.Series(ids, dtype=dtype))(columns))


FRAMES = {  # by kind of id
    "text": {
        "lists": dict,
        "arrays": each_id(np.array),
        "StringDType": each_id(lambda ids: np.array(ids, dtype=np.dtypes.StringDType())),
        "objects": each_id(lambda ids: np.array(ids, dtype=object)),
        "pandas": pd.DataFrame,
        "pandas objects": pandas(object),
        "pandas categories": pandas("category"),
        "pandas string[python]": pandas("string[python]"),
        "pandas string[pyarrow]": pandas("string[pyarrow]"),
        "polars": pl.DataFrame,
        "polars categories": lambda columns: pl.DataFrame(columns).with_columns(pl.col(pl.String).cast(pl.Categorical)),
        "Arrow string": arrow(pa.string()),
        "Arrow large_string": arrow(pa.large_string()),
        "Arrow string_view": arrow(pa.string_view()),
        "Arrow dictionary": arrow(pa.dictionary(pa.int8(), pa.string())),
        "Arrow chunks": lambda columns: chunked(arrow(pa.string())(columns), 1, 1, 4),
        "Arrow chunks of dictionaries": lambda columns: chunked(
            arrow(pa.dictionary(pa.uint16(), pa.large_string()))(columns), 3
        ),
        "Arrow chunks of views": lambda columns: chunked(arrow(pa.string_view())(columns), 2, 5),
    },
    "ints": {
        "lists": dict,
        "arrays": each_id(np.array),
        "arrays of another byte order": each_id(lambda ids: np.array(ids, dtype=">i8")),
        "pandas": pd.DataFrame,
        "pandas Int64": pandas("Int64"),
        "pandas categories": pandas("category"),
        "pandas Arrow": pandas(pd.ArrowDtype(pa.int64())),
        "polars": pl.DataFrame,
        "Arrow": arrow(pa.int64()),
        "Arrow dictionary": arrow(pa.dictionary(pa.int32(), pa.int64())),
        "Arrow chunks": lambda columns: chunked(arrow(pa.int64())(columns), 2, 3, 4),
    },
    "bytes": {
        "lists": dict,
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "Arrow binary": arrow(pa.binary()),
        "Arrow binary_view": arrow(pa.binary_view()),
        "Arrow chunks": lambda columns: chunked(arrow(pa.large_binary())(columns), 2),
    },
}
# Query ids have the same kind as document ids, since one dtype is used for both columns.
QUERIES = {"text": "a query whose id is long {}".format, "ints": lambda q: 2**40 - q, "bytes": lambda q: b"q%d" % q}


def framed(kind, name):
    def form(corpus, ties, folder):
        qrels, run = dicts(corpus, kind, QUERIES[kind])
        make = FRAMES[kind][name]
        return rg.from_frames(make(columns(qrels, "relevance", turned=True)), make(columns(run, "score")), ties=ties)

    form.__name__ = f"{kind}: {name}"
    return form


def one_frame(corpus, ties, folder):
    """Pass documents with labels and scores in the same frame."""
    qrels, run = dicts(corpus)
    frame = columns(run, "score")
    return rg.from_frames({**frame, "label": columns(qrels, "relevance")["relevance"]}, ties=ties)


def one_frame_without_documents(corpus, ties, folder):
    qrels, run = dicts(corpus)
    frame = {**columns(run, "score"), "label": columns(qrels, "relevance")["relevance"]}
    del frame["doc_id"]
    return rg.from_frames(chunked(pa.table(frame), 2), ties=ties)


def prepared(truth, run):
    """Return a function that combines prepared judgments of one kind with a run of another kind."""

    def form(corpus, ties, folder):
        paths, (qrels, scores) = write(corpus, folder), dicts(corpus)
        truths = {
            "dict": lambda: qrels,
            "frame": lambda: pl.DataFrame(columns(qrels, "relevance", turned=True)),
            "file": lambda: paths[0],
        }
        judgments = rg.judgments(truths[truth]())
        runs = {
            "dict": lambda: rg.from_qrels(judgments, scores, ties=ties),
            "frame": lambda: rg.from_frames(judgments, pd.DataFrame(columns(scores, "score")), ties=ties),
            "file": lambda: rg.read_trec(judgments, paths[1], ties=ties),
        }
        runs[run]().evaluate("ndcg")  # evaluating a run leaves the judgments unchanged
        return runs[run]()

    form.__name__ = f"judgments from a {truth}, run from a {run}"
    return form


IN_FRAMES = {kind: [framed(kind, name) for name in FRAMES[kind]] for kind in FRAMES}
PREPARED = [prepared(truth, run) for truth in ("dict", "frame", "file") for run in ("dict", "frame", "file")]
FORMS = [as_lists, as_groups, as_qid, as_scattered_qid, as_matrix, as_qrels, as_qrels_of_ints, as_files]
FORMS += [one_frame, one_frame_without_documents, *PREPARED, *(form for forms in IN_FRAMES.values() for form in forms)]
WITH_IDS = {
    "text": [as_qrels, as_files, one_frame, *PREPARED, *IN_FRAMES["text"]],
    "ints": [as_qrels_of_ints, *IN_FRAMES["ints"]],
    "bytes": IN_FRAMES["bytes"],
}

documents = st.tuples(st.integers(0, 3), st.integers(0, 3).map(float))
corpora = st.lists(st.lists(documents, min_size=1, max_size=6), min_size=1, max_size=5)


FEWER = settings(max_examples=settings().max_examples // 4)  # fewer examples, since there are many forms


@FEWER
@given(corpora, st.sampled_from(["average", "stable", "best", "worst"]))
def test_every_form(tmp_path_factory, corpus, ties):
    folder = tmp_path_factory.mktemp("corpus")
    # Every query has a document, so the scattered form begins with one row of each query, in the original order.
    expected = as_lists(corpus, ties, folder).evaluate(*METRICS)
    for form in FORMS:
        result = form(corpus, ties, folder).evaluate(*METRICS)
        for metric in METRICS:
            assert result[metric].tolist() == expected[metric].tolist(), (form.__name__, metric)
        assert result.counts["empty"] == expected.counts["empty"]


@pytest.mark.parametrize("kind", WITH_IDS)
@FEWER
@given(corpora)
def test_every_form_that_has_ids(tmp_path_factory, kind, corpus):
    """Among equal scores, the higher id comes first; the expected lists are sorted here, without ties."""
    folder = tmp_path_factory.mktemp("corpus")
    ordered = [
        sorted(zip(query, IDS[kind], strict=False), key=lambda pair: (pair[0][1], pair[1]), reverse=True)
        for query in corpus
    ]
    expected = rg.from_ranked([[grade for (grade, _), _ in query] for query in ordered]).evaluate(*METRICS)
    for form in WITH_IDS[kind]:
        result = form(corpus, "docid", folder).evaluate(*METRICS)
        for metric in METRICS:
            assert result[metric].tolist() == expected[metric].tolist(), (form.__name__, metric)


def padded(lists):
    """Return a matrix of padded lists; the values after the padding must not be read."""
    rows = [[*items, *([-1, 0, -7, 1] * 3)[: 12 - len(items)]] for items in lists]
    return np.array(rows, dtype=np.int16)


def by_user(rows):
    return {f"user {user}": row for user, row in enumerate(rows)}


def csr(rows):
    """Return a users × items matrix with a row for each mapping; a stored 0 is a grade and counts as judged."""
    users = [user for user, grades in enumerate(rows) for _ in grades]
    items, grades = ([pair[part] for row in rows for pair in row.items()] for part in (0, 1))
    return sparse.csr_array((np.array(grades, dtype=np.float32), (users, items)), shape=(len(rows), 12))


RECOMMENDED = {
    "lists": list,
    "tuples": lambda lists: tuple(map(tuple, lists)),
    "a matrix": padded,
    "a matrix in columns": lambda lists: np.asfortranarray(padded(lists)),
    "arrays": lambda lists: [np.array(items, dtype=np.uint8) for items in lists],
    "arrays of several types": lambda lists: [np.array(v, dtype="iQ"[i % 2]) for i, v in enumerate(lists)],
}
RELEVANT = {
    "dicts": list,
    "a sparse matrix": csr,
    "a sparse matrix in columns": lambda rows: csr(rows).tocsc(),
    "judgments": rg.judgments,
    "judgments of a sparse matrix": lambda rows: rg.judgments(csr(rows)),
}
SETS = {  # containers to use if all grades are 1
    "sets": lambda rows: list(map(set, rows)),
    "frozen sets": lambda rows: tuple(map(frozenset, rows)),
    "lists": lambda rows: list(map(list, rows)),
    "arrays": lambda rows: [np.array(list(row), dtype=np.int32) for row in rows],
    "a matrix": lambda rows: padded(map(list, rows)),
    "judgments of sets": lambda rows: rg.judgments(list(map(set, rows))),
}
user = st.tuples(
    st.lists(st.integers(0, 9), unique=True, max_size=6), st.dictionaries(st.integers(0, 9), st.integers(0, 3))
)


@FEWER
@given(st.lists(user, min_size=1, max_size=4), st.booleans())
def test_recommendations(users, graded):
    lists, rows = [items for items, _ in users], [row if graded else dict.fromkeys(row, 1) for _, row in users]
    relevance = [[row.get(item, 0) for item in items] for items, row in zip(lists, rows, strict=True)]
    expected = rg.from_ranked(relevance, judged=[list(row.values()) for row in rows]).evaluate(*METRICS)
    run = [{item: -position for position, item in enumerate(items)} for items in lists]
    forms = {"qrels": rg.from_qrels(by_user(rows), by_user(run))}
    for name, make in RECOMMENDED.items():
        for truth, hold in (RELEVANT | ({} if graded else SETS)).items():
            given, relevant = make(lists), hold(rows)
            forms[f"{name} against {truth}"] = rg.from_recommendations(relevant, given)
            if isinstance(relevant, (list, tuple)):
                forms[f"{name} against {truth} by user"] = rg.from_recommendations(
                    by_user(relevant), given, query_ids=[*by_user(rows)]
                )
                # Lists in a dict are passed without padding.
                turned = dict(reversed(by_user(lists if "matrix" in name else given).items()))
                forms[f"{name} by user against {truth}"] = rg.from_recommendations(by_user(relevant), turned)
    text = [{f"item {item}": grade for item, grade in row.items()} for row in rows]
    forms["text"] = rg.from_recommendations(text, [[f"item {item}" for item in items] for items in lists])
    for name, rankings in forms.items():
        result = rankings.evaluate(*METRICS)
        for metric in METRICS:
            assert result[metric].tolist() == expected[metric].tolist(), (name, metric)
        assert result.counts == expected.counts | {"missing": 0, "unjudged": 0}


@given(user)
def test_the_recommendations_of_one_user(one):
    items, grades = one
    expected = rg.from_recommendations([grades], [items]).evaluate(*METRICS)
    for relevant in (grades, rg.judgments([grades])) if items else ():
        for recommended in (items, tuple(items), np.array(items), np.array(items, dtype=object)):
            result = rg.from_recommendations(relevant, recommended).evaluate(*METRICS)
            assert [vector.tolist() for vector in result.values()] == [v.tolist() for v in expected.values()]
