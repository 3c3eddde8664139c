"""In a comparison, ids of files without types are integers if the other runs have integers."""

import json

import pytest

import rankgain as rg
from rankgain.cli import main

pytestmark = [pytest.mark.usefixtures("backend"), pytest.mark.needs("pyarrow")]
INTEGERS = {1: {10: 1.0, 11: 0.5}, 2: {21: 1.0, 20: 0.5}}
TEXTS = {"1": {"10": 1.0, "11": 0.5}, "2": {"21": 1.0, "20": 0.5}}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,relevance\n1,10,1\n1,11,0\n2,20,1\n")
    (tmp_path / "run.csv").write_text("query_id,doc_id,score\n1,11,0.7\n1,10,0.5\n2,20,1\n")
    rows = [{"query_id": q, "doc_id": d, "score": s} for q, run in INTEGERS.items() for d, s in run.items()]
    (tmp_path / "run.json").write_text(json.dumps(rows))


def queries(runs):
    return [result.to_dict() for result in rg.compare("qrels.csv", runs, "rr").values()]


@pytest.mark.parametrize("second", ["run.json", INTEGERS, {1: [10, 11], 2: [21, 20]}], ids=["json", "dict", "lists"])
def test_a_delimited_run_beside_integers(files, second):
    first, other = {1: {"rr": 0.5}, 2: {"rr": 1.0}}, {1: {"rr": 1.0}, 2: {"rr": 0.5}}
    assert queries({"a": "run.csv", "b": second}) == [first, other]
    assert queries({"b": second, "a": "run.csv"}) == [other, first]


@pytest.mark.parametrize("second", [TEXTS, {"1": {10: 1.0, 11: 0.5}, "2": {21: 1.0, 20: 0.5}}], ids=["text", "mixed"])
def test_ids_of_other_types_are_paired_as_before(files, second):
    first, other = {"1": {"rr": 0.5}, "2": {"rr": 1.0}}, {"1": {"rr": 1.0}, "2": {"rr": 0.5}}
    assert queries({"a": "run.csv", "b": second}) == [first, other]
    assert queries({"b": second, "a": TEXTS, "c": "run.csv"}) == [other, other, first]


def test_ids_that_are_no_integers_stay_text(files):
    with open("qrels.csv", "a") as file:
        file.write("x,30,1\n")
    with pytest.raises(ValueError, match=r"run 'b'.*no query in common"):
        rg.compare("qrels.csv", {"a": "run.csv", "b": "run.json"}, "rr")


def test_the_command_pairs_them_too(files, capsys):
    assert main(["compare", "qrels.csv", "run.csv", "run.json", "-m", "rr"]) == 0
    assert "run.json compared with run.csv: 2 queries, paired" in capsys.readouterr().out
