"""What entered, left and moved between two runs, and the documents that should be judged next."""

import math
import pickle
import random

import pytest
from support import similarity as definition
from support.strategies import as_many

import rankgain as rg

options = pytest.mark.options
OLD = {"q1": ["a", "b", "c", "d"], "q2": ["e"], "q3": ["f"]}
NEW = {"q1": ["c", "a", "x", "b"], "q2": ["e"], "q4": ["g"]}


def rows(changed):
    return {(row.query_id, row.doc_id): (row.change, row.old_rank, row.new_rank) for row in changed}


def test_entered_left_and_moved(backend):
    changed = rg.changes(OLD, NEW, k=3)
    assert rows(changed) == {
        ("q1", "a"): ("moved", 1, 2),
        ("q1", "b"): ("left", 2, 4),
        ("q1", "c"): ("moved", 3, 1),
        ("q1", "x"): ("entered", None, 3),
        ("q3", "f"): ("left", 1, None),
    }
    assert changed.lost == ("q3",)
    assert changed.summary()[1:] == [["entered", "1", "1"], ["left", "2", "2"], ["moved", "2", "1"]]
    assert [row.doc_id for row in changed if row.query_id == "q1"] == ["b", "c", "x", "a"]
    assert pickle.loads(pickle.dumps(changed)) == changed


@options("changes", "k")
def test_weight_is_what_a_unit_of_gain_changes_dcg_by(backend):
    rng = random.Random(1)
    for _ in range(as_many(100)):
        old, new = ({"q": definition.random_run(rng) | {"z": -1.0}} for _ in range(2))
        for row in rg.changes(old, new, k=3):
            truth = {"q": {row.doc_id: 1}}
            before, after = (rg.from_qrels(truth, run).evaluate("dcg@3").mean("dcg@3") for run in (old, new))
            assert row.weight == pytest.approx(abs(after - before), abs=1e-15)


@options("changes", "truth")
def test_grades_and_what_to_judge(backend):
    truth = {"q1": {"a": 2, "b": -1, "x": 0}, "q3": {"f": 1}}
    for given in (truth, rg.judgments(truth)):
        changed = rg.changes(OLD, NEW, k=3, truth=given)
        grades = {row.doc_id: row.grade for row in changed}
        assert grades == {"a": 2.0, "b": None, "c": None, "x": 0.0, "f": 1.0}
        assert changed.to_judge() == [("q1", "b"), ("q1", "c")]
        assert changed.to_judge(1) == [("q1", "b")]
        assert "judged" in changed.table()
        assert "| q1 | b | left | 2 | 4 | - | 0.631 |" in changed.to_markdown()
        assert "grade" in changed.columns()
    assert "grade" not in rg.changes(OLD, NEW).columns()


@options("changes", "ties")
def test_ties(backend):
    old, new = {"q": {"a": 1.0, "b": 1.0}}, {"q": {"b": 1.0, "a": 1.0}}
    assert not rg.changes(old, new)
    assert rows(rg.changes(old, new, ties="stable")) == {("q", "a"): ("moved", 1, 2), ("q", "b"): ("moved", 2, 1)}


@options("changes", "duplicates", "columns")
def test_repeated_documents_and_columns(backend):
    old, new = {"q": ["a", "a", "b"]}, {"user": ["q", "q"], "d": ["b", "a"], "rank": [1, 2]}
    changed = rg.changes(old, {"query": new["user"], "doc_id": new["d"], "rank": new["rank"]}, duplicates="first")
    assert {row.doc_id for row in changed} == {"a", "b"}
    assert rows(rg.changes(new, new | {"d": ["a", "b"]}, doc="d")) == {
        ("q", "a"): ("moved", 2, 1),
        ("q", "b"): ("moved", 1, 2),
    }


def test_frames(backend):
    frame = pytest.importorskip("pandas") and rg.changes(OLD, NEW, k=3).to_pandas()
    assert [*frame.columns] == ["query_id", "doc_id", "change", "old_rank", "new_rank", "weight"]
    assert math.isclose(frame["weight"].max(), 1.0)


@pytest.mark.both
def test_refuses(rejects):
    rejects(ValueError, "k must be a positive integer", rg.changes, OLD, NEW, k=0)
    rejects(ValueError, "ties must be 'docid' or 'stable', not 'average'", rg.changes, OLD, NEW, ties="average")
    rejects(ValueError, "old and new have no query in common", rg.changes, {"x": ["a"]}, NEW)
    rejects(ValueError, "the ids of truth and old never match: int in truth", rg.changes, OLD, NEW, truth={1: {"a": 1}})
    rejects(ValueError, "document 'a' (position 1): the document repeats", rg.changes, {"q1": ["a", "a"]}, NEW)
