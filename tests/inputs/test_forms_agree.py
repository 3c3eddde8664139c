"""In every form, including table files and records, a data set gives exactly the same values as `from_qrels`."""

import json
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sides import qrels_lines, run_lines
from support.strategies import examples
from support.table_files import WRITERS, columns_of

import rankgain as rg

pytestmark = [pytest.mark.usefixtures("own_folder"), pytest.mark.both]

METRICS = ("ndcg@3", "ndcg(gain=exponential)", "ap", "rr", "bpref", "num_ret", "judged@2")
TEXT = st.sampled_from(["d1", "001", "1", "NA", "é,x", "\U00010000", 'a "b"', "d;1\t2", "null"])
SCORES = st.floats(-10, 10, width=32) | st.sampled_from([0.0, 0.1, 1e-300, 12345.678901234567])
FRAMES = {"records": list, "columns": lambda rows: columns_of(rows).to_pydict(), "arrow": columns_of}
FRAMES |= {"pandas": pd.DataFrame, "polars": lambda rows: pl.DataFrame(columns_of(rows))}


def sides(ids):
    """Draw qrels and a run by query, with at least one query in common."""
    grades = st.dictionaries(ids, st.sampled_from([0, 1, 2, 0.5]), min_size=1, max_size=5)
    queries = st.sampled_from(["q1", "02", "q,3"])
    qrels = st.dictionaries(queries, grades, min_size=1)
    run = st.dictionaries(queries, st.dictionaries(ids, SCORES, min_size=1, max_size=5), min_size=1)
    return st.tuples(qrels, run).filter(lambda pair: pair[0].keys() & pair[1].keys())


def records(side, value):
    return [
        {"qid": query, "docno": document, value: float(number), "passage": 'a "text",\nwith lines'}
        for query, documents in side.items()
        for document, number in documents.items()
    ]


def written(kind, name, rows):
    """Return the rows as a frame, or write them to a file and return its name."""
    if kind in FRAMES:
        return FRAMES[kind](rows)
    WRITERS[kind](Path(name), rows)
    return name


@pytest.mark.parametrize("kind", [*FRAMES, *WRITERS, "json by query"])
@examples(0.6)
@given(sides=sides(TEXT), ties=st.sampled_from(["docid", "average", "stable"]))
def test_text_ids_in_every_form_agree_with_from_qrels(on_both, kind, sides, ties):
    qrels, run = sides
    if kind == "json by query":
        Path("qrels").write_text(json.dumps(qrels))
        Path("run").write_text(json.dumps(run))
        truth, returned = "qrels", "run"
    else:
        truth, returned = written(kind, "qrels", records(qrels, "rel")), written(kind, "run", records(run, "score"))

    def results():
        expected = rg.from_qrels(qrels, run, ties=ties).evaluate(*METRICS)
        pairs = [(truth, returned), (qrels, returned), (truth, run), (rg.judgments(truth), returned)]
        evaluations = [rg.evaluate(*pair, *METRICS, ties=ties) for pair in pairs]
        for result in evaluations:
            assert result.to_dict() == expected.to_dict()
            assert result.counts == expected.counts
        return [vector.tobytes() for vector in expected.values()]

    compiled, *python = on_both(results)
    assert python in ([], [compiled])


@pytest.mark.parametrize("kind", [*FRAMES, *WRITERS])
@examples(0.6)
@given(sides=sides(st.integers(-3, 12)))
def test_integer_ids_in_every_form_agree_with_from_qrels(on_both, kind, sides):
    """Dicts with integer ids give the same values as delimited files, whose text is converted to integers."""
    qrels, run = ({len(query): side for query, side in each.items()} for each in sides)
    if not qrels.keys() & run.keys():
        return
    truth, returned = written(kind, "qrels", records(qrels, "rel")), written(kind, "run", records(run, "score"))

    def results():
        expected = rg.from_qrels(qrels, run).evaluate(*METRICS)
        for pair in ((qrels, returned), (truth, run), (rg.judgments(truth), run)):
            result = rg.evaluate(*pair, *METRICS)
            assert result.to_dict() == expected.to_dict()
            assert result.query_ids == expected.query_ids
        return [vector.tobytes() for vector in expected.values()]

    compiled, *python = on_both(results)
    assert python in ([], [compiled])


@pytest.mark.parametrize(
    "kind", ["records", "columns", "arrow", "pandas", "polars", "parquet", "arrow file", "json lines"]
)
@examples(0.6)
@given(sides=sides(TEXT))
def test_a_row_per_query_agrees_with_from_qrels(on_both, kind, sides):
    qrels, run = sides
    queries = list(dict.fromkeys([*qrels, *run]))
    lists = {query: sorted(run[query], key=lambda doc: (run[query][doc], doc), reverse=True) for query in run}
    relevant = {query: [doc for doc, grade in qrels[query].items() if grade > 0] for query in qrels}
    rows = [{"id": query, "relevant": relevant.get(query), "retrieved": lists.get(query)} for query in queries]
    if not any(relevant.values()):  # a column that has only empty lists has no type
        return
    table = written({"arrow file": "arrow"}.get(kind, kind) if kind != "arrow" else kind, "rows", rows)
    metrics = ("ndcg@3", "ap", "rr", "num_ret")
    binary = {query: dict.fromkeys(documents, 1) for query, documents in relevant.items()}

    def results():
        expected = rg.from_qrels(binary, run).evaluate(*metrics)
        result = rg.evaluate(table, *metrics)
        assert {query: result.to_dict()[query] for query in qrels} == expected.to_dict()
        assert result.counts == expected.counts
        return [vector.tobytes() for vector in expected.values()]

    compiled, *python = on_both(results)
    assert python in ([], [compiled])


def test_trec_files_agree_with_tables():
    qrels, run = {"q1": {"d1": 2, "d2": 0}}, {"q1": {"d2": 0.3, "d1": 0.1}}
    Path("t.qrels").write_bytes(qrels_lines(qrels))
    Path("t.run").write_bytes(run_lines(run))
    WRITERS["csv"](Path("run"), records(run, "score"))
    expected = rg.from_qrels(qrels, run).evaluate(*METRICS).to_dict()
    for pair in (("t.qrels", "t.run"), ("t.qrels", "run"), (pa.table(columns_of(records(qrels, "rel"))), "t.run")):
        assert rg.evaluate(*pair, *METRICS).to_dict() == expected
