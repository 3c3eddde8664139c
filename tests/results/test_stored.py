"""Evaluations can be stored as parquet files, with names, counts and rules."""

import json
import math

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from support.differences import bits

import rankgain as rg
from rankgain.results.evaluation import Evaluation

pytestmark = pytest.mark.usefixtures("backend")

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d7": 1}, "q3": {"d1": 1}}
RUN = {"q1": {"d1": 0.9, "d2": 1.4, "d9": 0.2}, "q3": {"d1": 1.0}, "q9": {"d1": 1.0}}
LISTS = [[0, 1], [1, 0, 0], [0, 0]]


def stored(result, path):
    result.to_parquet(path)
    return Evaluation.from_table(path)


RESULTS = {
    "dicts": lambda: rg.from_qrels(QRELS, RUN).evaluate("ndcg@10", "P_5", "rr(empty=nan,rel=2)", "num_rel", "gm_ap"),
    "records": lambda: rg.from_ranked(LISTS).evaluate(rg.metric("ndcg", k=3, gain="exponential"), "ndcg@3"),
    "weighted": lambda: rg.from_ranked(LISTS, query_ids=[3, -(2**63), 2**63 - 1]).evaluate("gauc", "num_ret"),
    "floats": lambda: rg.from_ranked(LISTS, query_ids=[0.5, 1.0, -math.inf]).evaluate("rr"),
    "like": lambda: rg.from_qrels(QRELS, RUN, missing="skip").evaluate("ndcg@10", like="sklearn"),
    "excluded": lambda: Evaluation({"rr": np.ones(1)}, ["a"], "average", None, None, "python", (1, 0, 0, 0, 7, 0, 0)),
    "subset": lambda: rg.from_ranked(LISTS).evaluate("rr").subset([2, 0]),
    "merged": lambda: rg.from_ranked(LISTS).evaluate("rr").merge(rg.from_ranked(LISTS).evaluate("rr")),
    "scores": lambda: rg.compare({"a": {"x": 0.5, "y": 1}}, metrics="mine@3", values=True)["a"],
    "lower": lambda: rg.compare({"a": {"x": 0.5}}, metrics="ms", values=True, higher_is_better=False)["a"],
    "assumed": lambda: rg.evaluate({"query_id": ["q"], "doc_id": ["d"]}, {"q": {"d": 1.0}}, "rr"),
    "none": lambda: rg.from_ranked(LISTS).evaluate("rr").subset([]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_stored_evaluation_is_the_same(name, tmp_path):
    result = RESULTS[name]()
    read = stored(result, tmp_path / "result.parquet")
    assert read == result
    assert repr(read) == repr(result)
    assert (read.counts, read.backend, read.assumed) == (result.counts, result.backend, result.assumed)
    assert type(read.query_ids) is type(result.query_ids)
    assert [*map(type, read)] == [*map(type, result)]
    assert [*map(type, read.query_ids)] == [*map(type, result.query_ids)]
    assert read.summary() == result.summary()
    assert [repr(value) for value in read.mean().values()] == [repr(value) for value in result.mean().values()]
    assert not any(vector.flags.writeable for vector in read.values())


def test_score_keeps_its_direction(tmp_path):
    for better, winner in ((True, "b"), (False, "a")):
        runs = rg.compare({"a": {"x": 0.5}, "b": {"x": 1.0}}, metrics="m", values=True, higher_is_better=better)
        read = {name: stored(run, tmp_path / f"{name}.parquet") for name, run in runs.items()}
        assert rg.compare(read).best("m") == [winner]


def test_other_programs_read_the_columns(tmp_path):
    result = rg.from_qrels(QRELS, RUN).evaluate("rr", "gauc")
    result.to_parquet(str(tmp_path / "result.parquet"))
    table = pyarrow.parquet.read_table(tmp_path / "result.parquet")
    assert table.column_names == ["query_id", "rr", "gauc", "weight: num_ret", "judged share"]
    assert table["rr"].to_pylist() == result["rr"].tolist()


def test_rows_of_a_table_are_a_subset(tmp_path):
    result = rg.from_ranked(LISTS).evaluate("rr", "gauc")
    result.to_parquet(tmp_path / "result.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "result.parquet")
    assert Evaluation.from_table(table) == result
    part = Evaluation.from_table(table.take([2, 0]))
    assert part == result.subset([2, 0])
    assert part.counts == {"queries": 2}
    assert part.mean("gauc") == result.subset([2, 0]).mean("gauc")
    assert Evaluation.from_table(table.slice(1)).query_ids == range(1, 3)


@pytest.mark.parametrize(("message", "make"), [
    ("query ('a', 1): a parquet file stores ids that are text, integers of 64 bits or floats",
     lambda: rg.from_ranked(LISTS, query_ids=["a", ("a", 1), "b"]).evaluate("rr")),
    ("query 9223372036854775808: a parquet file stores",
     lambda: rg.from_ranked(LISTS, query_ids=[1, 2**63, 2]).evaluate("rr")),
    ("query '\\ud800': a parquet file stores", lambda: rg.from_ranked([[1]], query_ids=["\ud800"]).evaluate("rr")),
    ("query True: a parquet file stores", lambda: rg.from_ranked([[1]], query_ids=[True]).evaluate("rr")),
    ("query_ids are int and str, and a column of a parquet file has one type",
     lambda: rg.from_ranked(LISTS, query_ids=["a", 1, "b"]).evaluate("rr")),
    ("ndcg(discount=[1, 0.5, 0.25]): a file stores metrics as text, and no text names this gain or discount",
     lambda: rg.from_ranked(LISTS).evaluate(rg.metric("ndcg", discount=[1.0, 0.5, 0.25]))),
    ("two metrics are both called",
     lambda: rg.from_ranked(LISTS).evaluate(*(rg.metric("cg", gain=gain) for gain in (lambda x: x, lambda x: 2 * x)))),
])  # fmt: skip
def test_to_parquet_rejects(rejects, message, make, tmp_path):
    rejects(ValueError, message, make().to_parquet, tmp_path / "result.parquet")
    assert not (tmp_path / "result.parquet").exists()


def changed(path, **changes):
    """Return the table in a file with changes to its metadata."""
    table = pyarrow.parquet.read_table(path)
    content = json.loads(table.schema.metadata[b"rankgain"]) | changes
    return table.replace_schema_metadata({"rankgain": json.dumps(content)})


@pytest.mark.parametrize(("message", "changes"), [
    ("table was not written by Evaluation.to_parquet: format 2, and this release reads 1", {"evaluation": 2}),
    ("table was not written by Evaluation.to_parquet: it lacks 'queries'", {"counts": {}}),
    ("table was not written by Evaluation.to_parquet: a count must be an integer of at least 0, not -1",
     {"counts": {"queries": -1}}),
    ("table was not written by Evaluation.to_parquet: …ties…", {"ties": "random"}),
    ("table was not written by Evaluation.to_parquet: it lacks …ap…", {"metrics": [{"name": "ap", "record": False}]}),
    ("table was not written by Evaluation.to_parquet: column 'query_id' must hold float64 values without nulls",
     {"metrics": [{"name": "query_id", "better": 1}]}),
])  # fmt: skip
def test_from_table_rejects_other_metadata(rejects, message, changes, tmp_path):
    rg.from_ranked(LISTS).evaluate("rr").to_parquet(tmp_path / "result.parquet")
    rejects(ValueError, message, Evaluation.from_table, changed(tmp_path / "result.parquet", **changes))


def test_from_table_rejects_other_tables(rejects, tmp_path):
    path = tmp_path / "result.parquet"
    rg.from_ranked(LISTS).evaluate("rr").to_parquet(path)
    table = pyarrow.parquet.read_table(path)
    lost = "table was not written by Evaluation.to_parquet, or lost its metadata, as in pandas: pass the path"
    rejects(ValueError, lost, Evaluation.from_table, table.replace_schema_metadata(None))
    rejects(TypeError, "table must be a path or a pyarrow.Table, not dict", Evaluation.from_table, {})
    repeated = pyarrow.concat_tables([table, table])
    rejects(ValueError, "…query_id: position 3: 0 repeats an earlier id", Evaluation.from_table, repeated)
    (tmp_path / "text").write_text("query_id,rr\n")
    rejects(ValueError, "…text is not a parquet file: …", Evaluation.from_table, tmp_path / "text")
    with pytest.raises(FileNotFoundError):
        Evaluation.from_table(tmp_path / "absent")


def test_nan_and_signs_are_kept(tmp_path):
    values = np.array([math.nan, -0.0, 5e-324, 1e308])
    result = Evaluation({"cg": values}, list("abcd"), None, None, None, "python", (4, *[None] * 6))
    assert bits(stored(result, tmp_path / "r.parquet")["cg"]) == bits(values)
