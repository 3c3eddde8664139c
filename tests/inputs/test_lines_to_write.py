"""Each error here shows a line to write. The line is taken from the message and run, and its result is evaluated."""

import contextlib
import csv
import io
import re
import sqlite3
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

QRELS, RUN = {"q": {"d": 1, "e": 0}}, {"q": {"d": 0.3, "e": 0.5}}
TRUTH_ROWS = [{"query": "a", "relevant": ["x"]}, {"query": "b", "relevant": ["z"]}]
RUN_ROWS = [{"query": "a", "retrieved": ["y", "x"]}, {"query": "b", "retrieved": ["z"]}]
TRIPLE = namedtuple("TRIPLE", "qid docid score")


def line_of(error, pattern):
    """Return the line that a message shows: the only match of a pattern."""
    (line,) = re.findall(pattern, str(error.value))
    return line


def run_line(line, **names):
    return eval(line, {"np": np, "rg": rg, **names})


def refused(kind, *arguments, **options):
    with pytest.raises(kind) as error:
        rg.evaluate(*arguments, **options)
    return error


LISTED = r"\[.* for row in \w+\]"


@pytest.mark.parametrize("rows", ["triples", "named", "cursor", "fetched"])
def test_rows_of_tuples_and_databases(rows):
    with contextlib.closing(sqlite3.connect(":memory:")) as table:
        table.execute("create table run (query_id, doc_id, score)")
        table.executemany("insert into run values (?, ?, ?)", [("q", "d", 0.3), ("q", "e", 0.5)])
        if rows == "fetched":
            table.row_factory = sqlite3.Row
        triples = table.execute("select * from run").fetchall()
        values = {"named": [TRIPLE(*row) for row in triples], "cursor": table.execute("select * from run")}
        error = refused(TypeError, QRELS, values.get(rows, triples), "rr")
    records = run_line(line_of(error, LISTED), run=values["named"] if rows == "named" else triples)
    assert rg.evaluate(QRELS, records, "rr")["rr"].tolist() == [0.5]


def test_triples_of_truth():
    truth = [("q", "d", 1), ("q", "e", 0)]
    error = refused(TypeError, truth, RUN, "rr")
    assert rg.evaluate(run_line(line_of(error, LISTED), truth=truth), RUN, "rr")["rr"].tolist() == [0.5]


def test_numbers_as_text_in_records():
    def truth():
        return csv.DictReader(io.StringIO("query_id,doc_id,relevance\nq,d,1\nq,e,0\n"))

    error = refused(TypeError, truth(), RUN, "rr")
    assert rg.evaluate(run_line(line_of(error, LISTED), truth=truth()), RUN, "rr")["rr"].tolist() == [0.5]
    records = [{"query_id": "q", "doc_id": "d", "relevance": "high"}]
    with pytest.raises(TypeError, match="names of grades by a mapping"):
        rg.evaluate(records, RUN, "rr")


TABLES = {"records": list, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table.from_pylist}


@pytest.mark.parametrize("form", TABLES)
def test_two_tables_with_a_row_per_query(form):
    truth, run = TABLES[form](TRUTH_ROWS), TABLES[form](RUN_ROWS)
    pattern = r"pass the ids by query, (.*), and those of the other side, too"
    truth = run_line(line_of(refused(ValueError, truth, run, "rr"), pattern), truth=truth)
    error = refused(ValueError, truth, run, "rr")
    result = rg.evaluate(truth, run_line(line_of(error, pattern), run=run), "rr")
    assert result.to_dict() == {"a": {"rr": 0.5}, "b": {"rr": 1.0}}


def test_columns_with_a_row_per_query():
    truth = pd.DataFrame(TRUTH_ROWS).to_dict("list")
    with pytest.raises(ValueError, match="a row per query") as error:
        rg.from_frames(truth, RUN_ROWS)
    relevant = run_line(line_of(error, r"by query, (.*), and"), qrels_df=truth)
    assert relevant == {"a": ["x"], "b": ["z"]}


def test_lists_of_lists_lose_no_id():
    table = [{"id": "a", "relevant": [["c7", "c8"], ["c9"]], "retrieved": ["c7", "c8", "c9"]}]
    line = line_of(refused(TypeError, table, "recall@3"), r"\[id .*\]")
    table[0]["relevant"] = run_line(line, row=table[0]["relevant"])
    assert table[0]["relevant"] == ["c7", "c8", "c9"]
    assert rg.evaluate(table, "recall@2", "recall@3").mean() == {"recall@2": 2 / 3, "recall@3": 1.0}
    lists = [[["c7", "c8"]]]
    line = line_of(refused(TypeError, lists, [["c7"]], "rr"), r"\[\[id .*\]")
    assert run_line(line, lists=lists) == [["c7", "c8"]]
    with pytest.raises(TypeError, match=r"write \[item\[0\] for item in row\], or dict\(row\)"):
        rg.evaluate([{"id": "a", "relevant": [("c7", 1.0)], "retrieved": ["c7"]}], "rr")


def test_multi_hot_truth():
    relevant, ids = np.array([[0, 1, 0, 1], [1, 0, 0, 0]]), ["a", "b", "c", "d"]
    for truth in (relevant, relevant.tolist(), relevant.astype(float), relevant.astype(bool)):
        with pytest.raises(TypeError) as error:
            rg.from_recommendations(truth, [[1, 2], [2, 0]])
        positions, named = re.fullmatch(r".*1s, (\[.*\]), or their ids, (\[.*\])", str(error.value)).groups()
        result = rg.from_recommendations(run_line(positions, relevant=relevant), [[1, 2], [2, 0]]).evaluate("rr")
        assert result["rr"].tolist() == [1.0, 0.5]
        names = run_line(named, relevant=relevant, ids=ids)
        assert names == [["b", "d"], ["a"]]
    assert rg.from_recommendations([[0, 1], [1, 0]], [[0, 2], [2, 1]]).evaluate("rr")["rr"].tolist() == [1.0, 0.5]


def test_one_query_as_two_dicts():
    truth, run = QRELS["q"], RUN["q"]
    line = line_of(refused(TypeError, truth, run, "rr"), r"evaluate\(.*\)").replace("...", "'rr'")
    assert run_line(f"rg.{line}", truth=truth, run=run)["rr"].tolist() == [0.5]
    with pytest.raises(TypeError) as error:
        rg.from_qrels(QRELS, run)
    assert run_line(line_of(error, r"write (.*)"), run=run) == RUN


def test_iterators_without_items():
    run = (ids for ids in [["x", "d"]])
    assert [*run]
    error = refused(ValueError, [{"d"}], run, "rr")
    assert line_of(error, r"run = list\(\.\.\.\)")
    assert rg.evaluate([{"d"}], [*iter([["x", "d"]])], "rr")["rr"].tolist() == [0.5]
    refused(ValueError, iter([]), [["d"]], "rr")


def test_empty_runs():
    error = refused(ValueError, [{"d"}], [], "rr")
    assert rg.evaluate([{"d"}], run_line(line_of(error, r"write (.*)"), truth=[{"d"}]), "rr").mean("rr") == 0.0
    relevant = {"q": ["d"]}
    error = refused(ValueError, relevant, [], "rr")
    assert rg.evaluate(relevant, run_line(line_of(error, r"write (.*)"), truth=relevant), "rr").mean("rr") == 0.0


def test_ranks_as_scores():
    ranks = [3, 1, 2]
    for arguments in [([1, 0, 0],), ([1, 0, 0], [0.1, 0.2, 0.3])]:
        with pytest.raises(TypeError) as error:
            rg.from_scores(*arguments, ranks=ranks)
        line = line_of(error, r"from_scores\(y_true.*\)")
        result = run_line(f"rg.{line}", y_true=[1, 0, 0], ranks=ranks).evaluate("rr")
        assert result["rr"].tolist() == [1 / 3]
    with pytest.raises(TypeError, match="needs the scores"):
        rg.from_scores([1, 0])


def test_thresholds_of_gains():
    rankings = rg.from_ranked([[3, 5, 4]])
    with pytest.raises(TypeError) as error:
        rankings.evaluate("ndcg(rel=4)@10")
    gain = line_of(error, r"gain=\{.*\}")
    expected = rg.from_ranked([[0, 1, 1]]).evaluate("ndcg@10")["ndcg@10"]
    assert rankings.evaluate(f"ndcg({gain})@10")[f"ndcg({gain})@10"] == expected
    assert run_line(f"rg.metric('ndcg', k=10, {gain})").gain.table[-1] == (5.0, 1.0)


def test_misspelt_metrics_beside_one_table():
    table = [{"query_id": "q", "doc_id": "d", "relevance": 1, "score": 0.3}]
    rows = [{"id": "a", "relevant": ["x"], "retrieved": ["y", "x"]}]
    for one in (table, rows):
        for request in ("ndgc@10", ["ndgc@10", "rr"]):
            suggestion = line_of(refused(ValueError, one, request), r"did you mean '(.*)'")
            assert [*rg.evaluate(one, suggestion)] == ["ndcg@10"]
    for run in ("run.txt", "runs/bm25"):
        refused(TypeError, table, run)


def test_later_records_may_have_the_retrieved_ids():
    rows = [{"id": "a", "relevant": ["x"]}, {"id": "b", "relevant": ["z"], "retrieved": ["z"]}]
    result = rg.evaluate(rows, "rr")
    assert result.to_dict() == rg.from_rows(rows).evaluate("rr").to_dict() == {"a": {"rr": 0.0}, "b": {"rr": 1.0}}


def test_streams_are_read_once():
    table = pa.Table.from_pylist([{"id": "a", "relevant": ["x"], "retrieved": ["y", "x"]}])
    assert rg.evaluate(table.to_reader(), "rr")["rr"].tolist() == [0.5]


def test_containers_of_datasets():
    def of(name):
        return type(name, (), {"__module__": "datasets"})()

    splits = type("DatasetDict", (dict,), {"__module__": "datasets.dataset_dict"})(test=TRUTH_ROWS)
    assert run_line(line_of(refused(TypeError, splits, RUN, "rr"), r"split, (.*)"), dataset=splits) is TRUTH_ROWS
    for name, line in [
        ("Column", "column[:]"),
        ("IterableDataset", "list(dataset)"),
        ("IterableColumn", "list(column)"),
    ]:
        assert line_of(refused(TypeError, [{"d"}], of(name), "rr"), r"pass its \w+, (.*)") == line


def test_question_sets_of_llama_index():
    truth = {"queries": {"a": "text"}, "corpus": {"c": "text"}, "relevant_docs": {"a": ["c"]}, "mode": "text"}
    error = refused(TypeError, truth, {"a": ["b", "c"]}, "rr")
    relevant = run_line(line_of(error, r"truth\[.*\]"), truth=truth)
    assert rg.evaluate(relevant, {"a": ["b", "c"]}, "rr")["rr"].tolist() == [0.5]
    questions = type("Dataset", (SimpleNamespace,), {"__module__": "llama_index.core"})(relevant_docs=relevant)
    assert line_of(refused(TypeError, questions, {"a": ["c"]}, "rr"), r"judgments, (.*)") == ".relevant_docs"


def test_sizes_of_groups_in_the_order_of_value_counts():
    df = pd.DataFrame({"qid": np.repeat([3, 9, 4, 7, 1, 8], [2, 7, 3, 5, 4, 6])})
    labels, scores = np.arange(len(df)) % 3, -(np.arange(len(df)) % 5)
    expected = rg.from_scores(labels, scores, qid=df["qid"]).evaluate("ndcg")["ndcg"].tolist()
    counts = df["qid"].value_counts()
    for options in ({}, {"qid": df["qid"]}):
        with pytest.raises(ValueError, match=r"sorted by size|disagree") as error:
            rg.from_scores(labels, scores, group_sizes=counts, **options)
        sizes = run_line(line_of(error, r"df\.groupby.*\.size\(\)"), df=df)
        assert (
            rg.from_scores(labels, scores, group_sizes=sizes, **options).evaluate("ndcg")["ndcg"].tolist() == expected
        )
    assert rg.from_scores(labels, scores, group_sizes=counts.to_numpy()).evaluate("ndcg")["ndcg"].tolist() != expected
    for other in (counts.sort_index(), counts.rename("size"), counts[:5], df["qid"].value_counts(sort=False)):
        rg.from_scores(labels[: other.sum()], scores[: other.sum()], group_sizes=other)


class Tensor:
    """Hashed by identity, like a tensor."""

    def __init__(self, value):
        self.value = value

    def __dlpack__(self):
        raise NotImplementedError

    def item(self):
        return self.value


def test_tensors_as_keys():
    truth, run = {Tensor(1): 1, Tensor(2): 0}, {Tensor(2): 0.5, Tensor(1): 0.3}
    error = refused(TypeError, {"q": truth}, {"q": run}, "rr")
    truth = run_line(line_of(error, r"write (.*)"), grades=truth)
    error = refused(ValueError, {"q": truth}, {"q": run}, "rr")
    run = run_line(line_of(error, r"write (.*)"), scores=run)
    assert rg.evaluate({"q": truth}, {"q": run}, "rr")["rr"].tolist() == [0.5]
    for relevant in ([{Tensor(1)}], [{Tensor(1): 1}], {"q": [Tensor(1)]}):
        run = {"q": [1]} if isinstance(relevant, dict) else [[1]]
        with pytest.raises(TypeError, match="this one is Tensor"):
            rg.from_recommendations(relevant, run).evaluate("rr")
    lists = [[Tensor(2), Tensor(1)]]
    with pytest.raises(TypeError) as error:
        rg.from_recommendations([{1}], lists)
    ids = run_line(line_of(error, r"pass (\[.*\])"), lists=lists)
    assert rg.evaluate([{1}], ids, "rr")["rr"].tolist() == [0.5]
    for queries in ([Tensor("q")], [Tensor("q"), Tensor("r")]):
        query = queries[0]
        error = refused(TypeError, {query: {"d": 1}}, {queries[-1]: {"d": 1.0}}, "rr")
        assert run_line(line_of(error, r"write (id.*)"), id=query) == "q"


def test_integers_that_became_floats():
    lists = [[2.0, 1.0], [3.0, float("nan")]]
    with pytest.raises(TypeError) as error:
        rg.from_recommendations([{1}, {3}], lists)
    ids = run_line(line_of(error, r"pass (\[.*\])"), lists=lists)
    assert rg.evaluate([{1}, {3}], ids, "rr")["rr"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("listed", [list, np.array], ids=["lists", "arrays"])
@pytest.mark.parametrize("kind", [dict, list])
def test_ids_beside_scores(listed, kind):
    pairs = {0: (listed([1, 3]), listed([1.5, 2.5])), 1: (listed([2, 4]), listed([2.5, 1.5]))}
    run = pairs if kind is dict else [*pairs.values()]
    error = refused(TypeError, {0: {1: 1}, 1: {2: 1}}, run, "rr")
    scores = run_line(line_of(error, r"pass (\{.*\})"), run=run)
    assert scores == {0: {1: 1.5, 3: 2.5}, 1: {2: 2.5, 4: 1.5}}
    assert rg.evaluate({0: {1: 1}, 1: {2: 1}}, scores, "rr")["rr"].tolist() == [0.5, 1.0]


def test_other_pairs_of_lists_are_not_ids_beside_scores():
    for rows in ([["a"], ["b"]], [[1], [2]], [["a", "b"], [0.5]], [[0.5], [0.5]], [["a"], []]):
        assert "ids beside scores" not in str(refused(TypeError, {"q": ["a"]}, {"q": rows}, "rr").value)
