"""Judgments by subtopic in each form, their weights, and what is refused."""

import gzip
import io
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankgain as rg
from rankgain import _backend

nan = math.nan
NUGGETS = {"q": {"n1": {"a": 1, "b": 1, "d": 2}, "n2": {"b": 1, "c": 0}}, "r": {"n1": {"a": 1}, "n3": {"e": 1, "c": 1}}}
RUN = {"q": {"a": 4.0, "x": 3.0, "b": 2.0, "d": 1.0}, "r": {"c": 2.0, "a": 1.0}}
METRICS = "alpha_ndcg@5", "strecall@2", "ndcg_ia@3", "nrbp", "ndcg@3", "recall@2"
ROWS = [(q, s, d, grade) for q in NUGGETS for s in NUGGETS[q] for d, grade in NUGGETS[q][s].items()]
COLUMNS = dict(zip(("query_id", "subtopic_id", "doc_id", "relevance"), map(list, zip(*ROWS, strict=True)), strict=True))
LINES = "".join("\t".join(map(str, row)) + "\n" for row in ROWS).encode()
RUN_LINES = "".join(f"{q} Q0 {d} 1 {score} run\n" for q in RUN for d, score in RUN[q].items()).encode()
RUN_COLUMNS = {
    "query_id": [q for q in RUN for _ in RUN[q]],
    "doc_id": [d for q in RUN for d in RUN[q]],
    "score": [score for q in RUN for score in RUN[q].values()],
}


def expected():
    return rg.from_qrels(rg.judgments(NUGGETS, subtopic=True), RUN).evaluate(*METRICS).mean()


def named_tuples(name):
    from collections import namedtuple

    kind = namedtuple("Qrel", ["query_id", name, "doc_id", "relevance"])
    return [kind(*row) for row in ROWS]


@pytest.mark.options("judgments", "subtopic")
@pytest.mark.parametrize(("truth", "subtopic"), [
    (LINES, True),
    (gzip.compress(b"# nuggets\n" + LINES), True),
    (COLUMNS, True),
    (COLUMNS, "subtopic_id"),
    (pd.DataFrame(COLUMNS).rename(columns={"subtopic_id": "Nugget-ID"}), True),
    (pd.DataFrame(COLUMNS).astype({"subtopic_id": "category"}), True),
    (pd.DataFrame(COLUMNS).sample(frac=1, random_state=1).sort_values("query_id", kind="stable"), True),
    (pd.DataFrame(COLUMNS).sort_values("doc_id", kind="stable"), True),  # the rows of a query are not contiguous
    (pl.DataFrame(COLUMNS).rename({"subtopic_id": "about"}), "about"),
    (pa.table(COLUMNS).rename_columns(["query_id", "aspect", "doc_id", "relevance"]), True),
    ([dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)], True),
    (named_tuples("subtopic_id"), True),
    (named_tuples("iteration"), True),
], ids=[
    *("trec", "gzip", "columns", "named", "pandas", "category", "rows", "scattered", "polars", "arrow", "records"),
    *("tuples", "irm"),
])  # fmt: skip
def test_each_form_gives_the_same_values(backend, truth, subtopic):
    given = io.BytesIO(truth) if isinstance(truth, bytes) else truth
    judgments = rg.judgments(given, subtopic=subtopic)
    assert rg.from_qrels(judgments, RUN).evaluate(*METRICS).mean() == pytest.approx(expected(), rel=1e-15)


def test_each_form_of_run_gives_the_same_values(backend):
    judgments = rg.judgments(NUGGETS, subtopic=True)
    runs = [
        rg.read_trec(judgments, io.BytesIO(RUN_LINES)),
        rg.from_frames(judgments, RUN_COLUMNS),
        rg.from_frames(judgments, pa.table(RUN_COLUMNS)),
        rg.from_recommendations(judgments, {q: list(RUN[q]) for q in RUN}),
    ]
    for rankings in runs:
        assert rankings.evaluate(*METRICS).mean() == expected()
    assert rg.evaluate(judgments, RUN, *METRICS).mean() == expected()
    assert rg.compare(judgments, {"run": RUN}, METRICS)["run"].mean() == expected()


@pytest.mark.parametrize("ties", ["docid", "stable", "average"])
def test_ties_are_the_same_in_each_form_of_run(backend, ties):
    judgments = rg.judgments(NUGGETS, subtopic=True)
    tied = {q: dict.fromkeys(RUN[q], 1.0) for q in RUN}
    lines = "".join(f"{q} Q0 {d} 1 1 run\n" for q in tied for d in tied[q]).encode()
    whole = rg.from_qrels(judgments, tied, ties=ties).evaluate(*METRICS)
    assert rg.read_trec(judgments, io.BytesIO(lines), ties=ties).evaluate(*METRICS).mean() == whole.mean()
    columns = RUN_COLUMNS | {"score": np.ones(6)}
    assert rg.from_frames(judgments, columns, ties=ties).evaluate(*METRICS).mean() == whole.mean()


def test_ids_of_integers_and_files_without_types(backend, tmp_path):
    rows = [(1, 10, 100, 1), (1, 11, 101, 1), (2, 10, 100, 1)]
    columns = dict(zip(("query_id", "subtopic", "doc_id", "relevance"), zip(*rows, strict=True), strict=True))
    path = tmp_path / "nuggets.csv"
    path.write_text("query_id,subtopic,doc_id,relevance\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    run = {1: {101: 2.0, 100: 1.0}, 2: {100: 1.0}}
    values = [
        rg.from_qrels(rg.judgments(truth, subtopic=True), run).evaluate("strecall@1", "alpha_ndcg@2").mean()
        for truth in ({name: list(column) for name, column in columns.items()}, path)
    ]
    assert values[0] == values[1]
    assert values[0]["strecall@1"] == 0.75
    weights = {1: {10: 3, 11: 1}, 2: {10: 1}}
    weighted = rg.judgments({name: list(column) for name, column in columns.items()}, subtopic=True, weights=weights)
    assert rg.from_qrels(weighted, run).evaluate("strecall@1").mean("strecall@1") == 0.625


@pytest.mark.options("judgments", "weights")
def test_weights_in_each_form(backend):
    weights = {"q": {"n1": 3, "n2": 1}, "r": {"n1": 0.5, "n3": 1}}
    by_form = [rg.judgments(truth, subtopic=True, weights=weights) for truth in (NUGGETS, io.BytesIO(LINES), COLUMNS)]
    values = [rg.from_qrels(judgments, RUN).evaluate("strecall@1")["strecall@1"].tolist() for judgments in by_form]
    assert values == [[0.75, 1 / 1.5]] * 3


@pytest.mark.both
def test_pickles_have_the_same_bits_on_the_other_backend(on_both):
    weights = {"q": {"n1": 3, "n2": 1}, "r": {"n1": 0.5, "n3": 1}}
    judgments = rg.judgments(NUGGETS, subtopic=True, weights=weights)
    before = rg.from_qrels(judgments, RUN).evaluate(*METRICS)
    copies = pickle.dumps((judgments, rg.from_qrels(judgments, RUN), rg.metric("nrbp", alpha=0.1)))

    def values():
        copy, rankings, metric = pickle.loads(copies)
        assert repr(copy) == "<Judgments of 2 queries, 7 documents, 4 subtopics>"
        return [rg.from_qrels(copy, RUN).evaluate(*METRICS), rankings.evaluate(*METRICS), str(metric)]

    for results in on_both(values):
        assert results == [before, before, "nrbp(alpha=0.1)"]
        assert [vector.tolist() for vector in results[0].values()] == [vector.tolist() for vector in before.values()]
    assert _backend.name


def test_input_is_copied(backend):
    truth = {"q": {"n1": {"a": 1}}}
    judgments = rg.judgments(truth, subtopic=True)
    truth["q"]["n1"]["a"] = 0
    assert rg.from_qrels(judgments, {"q": {"a": 1.0}}).evaluate("strecall@1").mean("strecall@1") == 1.0


def with_column(**columns):
    return COLUMNS | columns


@pytest.mark.parametrize("row", [
    ("truth: query 'q', subtopic 's', document 'd': the grade is NaN", ValueError, {"q": {"s": {"d": nan}}}),
    ("truth: query 'r', subtopic 't', document 'e': the grade is infinite", ValueError,
     {"q": {"s": {"d": 1}}, "r": {"s": {"d": 1}, "t": {"d": 1, "e": math.inf}}}),
    ("truth: query 'q', subtopic 's', document 'd': the grade must be a number, not str", TypeError,
     {"q": {"s": {"d": "1"}}}),
    ("truth: query 'q', subtopic None: the subtopic is null", ValueError, {"q": {None: {"d": 1}}}),
    ("truth: query 'q', subtopic 's', document None: the document id is null", ValueError, {"q": {"s": {None: 1}}}),
    ("truth: query 'q', subtopic 's'…not list inside…dict.fromkeys(docs, 1)…if s in of_d", TypeError,
     {"q": {"s": ["d"]}}),
    ("truth: query 'q', subtopic 'd'…not set inside…dict.fromkeys(docs, 1)…if s in of_d", TypeError,
     {"q": {"d": {"s"}}}),
    ("truth: query 'q', subtopic 'd'…not int inside: for judgments without subtopics leave out subtopic=", TypeError,
     {"q": {"d": 1}}),
    ("truth: query 'q'…not list inside", TypeError, {"q": ["d"]}),
    ("judgments by subtopic are {query: {subtopic: {document: grade}}}, a table or lines of TREC, not list", TypeError,
     [["d"]]),
    ("truth is Judgments already", TypeError, rg.judgments({"q": {"d": 1}})),
    ("truth: row 3, subtopic 'n1', document 'b': the document is judged for this subtopic twice", ValueError,
     with_column(subtopic_id=["n1", "n1", "n1", "n1", "n2", "n1", "n3", "n3"])),
    ("truth has no subtopic column (expected subtopic_id…found query_id, doc_id, relevance): pass subtopic=",
     ValueError, {name: column for name, column in COLUMNS.items() if name != "subtopic_id"}),
    ("truth: column 'subtopic_id'…null", ValueError, with_column(subtopic_id=[None, *COLUMNS["subtopic_id"][1:]])),
    ("truth: row 7, subtopic 'n3', document 'c': the grade is NaN", ValueError,
     with_column(relevance=[*COLUMNS["relevance"][:-1], nan])),
])  # fmt: skip
def test_judgments_by_subtopic_are_refused(rejects, row):
    message, error, truth = row
    rejects(error, message, rg.judgments, truth, subtopic=True)


@pytest.mark.parametrize("row", [
    ("truth: line 9, subtopic 'n1', document 'a': the document is judged for this subtopic twice",
     LINES + b"q n1 a 1\n"),
    ("truth: line 9: expected 4 fields (query, subtopic, document, grade), found 3", LINES + b"q n1 a\n"),
    ("truth: line 9, field 4: 'x' is not a number", LINES + b"q n1 z x\n"),
    ("truth is BEIR's table, which has no field of subtopics", b"query-id\tcorpus-id\tscore\nq\td\t1\n"),
])  # fmt: skip
def test_lines_by_subtopic_are_refused(backend, row):
    message, lines = row
    with pytest.raises(ValueError, match="truth") as caught:
        rg.judgments(io.BytesIO(lines), subtopic=True)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("row", [
    ("weights: query 'z' is not in the judgments; there are: 'q', 'r'", ValueError, {"z": {}}),
    ("weights: query 1 is not in the judgments (ids there are str)", ValueError, {1: {}}),
    ("weights: query 'q', subtopic 'x': not among its subtopics; there are: 'n1', 'n2'", ValueError, {"q": {"x": 1}}),
    ("weights: query 'q', subtopic 'n2': it has no weight; give 0 to leave it out", ValueError, {"q": {"n1": 1}}),
    ("weights: query 'r', subtopic 'n1': it has no weight", ValueError, {"q": {"n1": 1, "n2": 1}}),
    ("weights: query 'q', subtopic 'n1': a weight must be finite and not negative, not -1.0", ValueError,
     {"q": {"n1": -1, "n2": 1}}),
    ("weights: query 'q', subtopic 'n1'…not nan", ValueError, {"q": {"n1": nan, "n2": 1}}),
    ("weights: query 'q', subtopic 'n1': a weight must be a number, not str", TypeError, {"q": {"n1": "1", "n2": 1}}),
    ("weights: query 'q': all subtopics with a relevant document weigh 0", ValueError, {"q": {"n1": 0, "n2": 0}}),
    ("weights: query 'q': must be {subtopic: weight}, not list", TypeError, {"q": [1, 1]}),
    ("weights must be {query: {subtopic: weight}}, not list", TypeError, [1, 1]),
])  # fmt: skip
def test_weights_are_refused(rejects, row):
    message, error, weights = row
    rejects(error, message, rg.judgments, NUGGETS, subtopic=True, weights=weights)


def test_subtopic_that_does_not_count_needs_no_weight(backend):
    truth = {"q": {"n1": {"a": 1}, "n2": {"b": 0}}}
    judgments = rg.judgments(truth, subtopic=True, weights={"q": {"n1": 2}})
    assert rg.from_qrels(judgments, {"q": {"a": 1.0}}).evaluate("strecall@1").mean("strecall@1") == 1.0


def test_arguments_are_refused(rejects):
    rejects(TypeError, "weights= are those of subtopics", rg.judgments, NUGGETS, weights={})
    rejects(TypeError, "subtopic must be True or the name of a column, not 1", rg.judgments, NUGGETS, subtopic=1)
    rejects(TypeError, "subtopic= names a column, and truth is not a table", rg.judgments, NUGGETS, subtopic="s")
    rejects(ValueError, "truth has no column 's'; there are", rg.judgments, COLUMNS, subtopic="s")


def test_other_entry_points_say_what_to_write(rejects):
    advice = "rankgain.judgments(qrels, subtopic=True)"
    message = f"the grade must be a number, not dict; if they are judged by subtopic, write {advice}"
    rejects(TypeError, message, lambda: rg.from_qrels(NUGGETS, RUN).evaluate("ndcg"))
    message = f"qrels_df: query 'q', document 'b' (row 3)…if column 'subtopic_id' holds subtopics, write {advice}"
    rejects(ValueError, message, lambda: rg.from_frames(COLUMNS, RUN_COLUMNS).evaluate("ndcg"))
    message = f"qrels: line 4, field 3…if field 2 is a subtopic, write {advice}"
    rejects(ValueError, message, lambda: rg.read_trec(io.BytesIO(LINES), io.BytesIO(RUN_LINES)))


def test_field_of_subtopics_that_holds_none(backend):
    with pytest.warns(UserWarning, match="truth: field 2 is '0' in every row"):
        rg.judgments(io.BytesIO(b"q 0 a 1\nq 0 b 1\n"), subtopic=True)
    with pytest.warns(UserWarning, match="column 'iteration' is 'Q0' in every row"):
        rg.judgments({"query_id": ["q"], "doc_id": ["a"], "iteration": ["Q0"]}, subtopic=True)
    rg.judgments(io.BytesIO(b"q n1 a 1\nq n1 b 1\n"), subtopic=True)
    rg.judgments({"q": {"0": {"a": 1}}}, subtopic=True)


def test_negative_grades_are_warned_of(backend):
    with pytest.warns(UserWarning, match="negative grade"):
        rg.judgments({"q": {"s": {"a": -3}, "t": {"a": 1}}}, subtopic=True)
