"""If no returned document is judged, a warning says that run and judgments seem to use different ids."""

import gzip
import warnings

import pandas as pd
import polars as pl
import pytest
from support.marks import in_one_case
from support.sides import columns, qrels_lines, run_lines

import rankgain as rg
from rankgain import pytrec_eval
from rankgain.batches import summarize_batches

pytestmark = pytest.mark.usefixtures("backend")


def sides(judged, returned, queries=1):
    """Return judgments and a run with two documents for each query."""
    names = [f"q{number}" for number in range(queries)]
    return {name: {judged: 1, "other": 0} for name in names}, {name: {"x": 2.0, returned: 1.0} for name in names}


def calls(qrels, run):
    ids = {query: list(scores) for query, scores in run.items()}
    yield lambda: rg.evaluate(qrels, run, "ndcg@10", "rr")
    yield lambda: rg.from_qrels(qrels, run, missing="skip").evaluate("rr")
    yield lambda: rg.from_recommendations(qrels, ids).evaluate("rr")
    yield lambda: rg.from_recommendations(list(qrels.values()), list(ids.values()), validate="full").evaluate("rr")
    yield lambda: rg.compare(qrels, {"run": run}, ["rr"])
    for frame in (dict, pd.DataFrame, pl.DataFrame):
        yield lambda frame=frame: rg.evaluate(frame(columns(qrels)), frame(columns(run, value="score")), "rr")
    yield lambda: rg.evaluate(rg.judgments(columns(qrels)), run, "rr")


def warning(call):
    """Return the text of the only warning of a call, or an empty string if there is none."""
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        call()
    assert len(record) <= 1
    if not record:
        return ""
    assert record[0].filename == __file__
    return str(record[0].message)


WRITTEN_DIFFERENTLY = [
    ("D1", "d1", "case"),
    ("d1 ", "d1", "surrounding blanks"),
    ("cafe\N{COMBINING ACUTE ACCENT}", "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "Unicode normalisation (NFC)"),
    ("17", "17.0", "a decimal point (1 and 1.0)"),
    ("\tDoc", "DOC", "blanks, case and Unicode normalisation"),
]


@in_one_case(("judged", "returned", "difference"), WRITTEN_DIFFERENTLY)
@pytest.mark.parametrize("swapped", [False, True])
def test_ids_that_are_written_differently(judged, returned, difference, swapped):
    if swapped:
        judged, returned = returned, judged
    message = f"ids such as {judged!r} and {returned!r} differ only in {difference}: if they are the same documents"
    for call in calls(*sides(judged, returned, queries=3)):
        text = warning(call)
        assert text.startswith("no document in ")
        assert message in text


def other_ids(judged=20, returned=20, queries=4):
    names = [f"q{number}" for number in range(queries)]
    qrels = {name: {f"d{number}": 1 for number in range(index, judged, queries)} for index, name in enumerate(names)}
    run = {
        name: {f"p{number}": -number for number in range(index, returned, queries)} for index, name in enumerate(names)
    }
    return qrels, run


def test_ids_that_have_none_in_common():
    message = "the ids of all queries have none in common, such as 'd0' in {} and 'p0' in {}: check that both"
    for call in calls(*other_ids()):
        assert "have none in common, such as 'd0' in " in warning(call)
    assert message.format("truth", "run") in warning(lambda: rg.evaluate(*other_ids(), "rr"))
    numbers = [[number] for number in range(20)], [[number + 50] for number in range(20)]
    rankings = rg.from_recommendations(*numbers)
    assert warning(lambda: rankings.evaluate("rr")) == ""
    (line,) = rankings.evaluate("rr").assumed
    assert line.startswith(
        "no document in recommended is judged in relevant: the ids of all queries have none in common"
    )
    assert "such as 0 in relevant and 50 in recommended" in line


@pytest.mark.parametrize(
    ("judged", "returned", "warns"),
    [
        ("d{}", "doc{}", False),  # "d" begins both
        ("d{}", "p{}", True),
        ("{}", "p{}", True),
        ("{}", "1{:03}", False),
        ("user{}x", "item{}y", True),
    ],
)
def test_ids_that_begin_differently(judged, returned, warns):
    names = range(100, 140)
    sides = {name: {judged.format(name): 1} for name in names}, {name: {returned.format(name): 1.0} for name in names}
    results = []
    assert bool(warning(lambda: results.append(rg.evaluate(*sides, "rr")))) == warns
    assert len(results[0].assumed) == (not warns)


def test_no_warning_of_honest_runs():
    for pair in [other_ids(judged=19), other_ids(returned=19)]:
        for call in calls(*pair):
            assert warning(call) == ""
    # No user is recommended the item that is held out for that user, but another user is.
    ids = list(range(40))
    assert warning(lambda: rg.from_recommendations(ids, [[(number + 1) % 40] for number in ids]).evaluate("rr")) == ""
    qrels, run = other_ids(judged=40, returned=40)
    run["q3"]["d3"] = -99.0  # below the cut-off
    assert warning(lambda: rg.evaluate(qrels, run, "rr@5")) == ""
    qrels, run = sides("d", "D")
    qrels["q0"]["x"] = -1  # the document was pooled but not judged
    assert warning(lambda: rg.evaluate(qrels, run, "rr")) == ""
    assert warning(lambda: rg.evaluate({"q": {}}, {"q": {"x": 1.0}}, "rr")) == ""
    assert warning(lambda: rg.evaluate({"q": {1: 1}}, {"q": {2: 1.0}}, "rr")) == ""


@pytest.mark.parametrize("compressed", [False, True])
def test_the_ids_of_a_file(tmp_path, compressed):
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    packed = gzip.compress if compressed else bytes
    for (judged, returned), message in [
        (sides("D1", "d1", queries=3), "ids such as 'D1' and 'd1' differ only in case"),
        (other_ids(), "none in common, such as 'd0' in "),
        (other_ids(judged=19), ""),
        (({"q0": {"D": 1}, "q1": {"d": 1}}, {"q2": {"d": 1.0}, "q1": {"d": 1.0}, "q0": {"d": 1.0}}), ""),
    ]:
        qrels.write_bytes(packed(qrels_lines(judged)))
        run.write_bytes(packed(run_lines(returned)))
        for call in (
            lambda: rg.read_trec(qrels, run).evaluate("rr"),
            lambda: rg.read_trec(qrels, run, duplicates="first").evaluate("rr"),
            lambda: rg.evaluate(judged, run, "rr"),  # noqa: B023
        ):
            text = warning(call)
            assert (message in text) if message else text == ""


def test_drop_ins_and_parts_of_larger_data_do_not_warn():
    qrels, run = other_ids()
    assert warning(lambda: pytrec_eval.RelevanceEvaluator(qrels, {"map", "runid"}).evaluate(run)) == ""
    table = columns(run, value="score") | {"relevance": [None] * 20}
    part = pl.DataFrame(table, schema_overrides={"relevance": pl.Int64})
    judged = pl.DataFrame(columns(qrels) | {"score": [None] * 20}, schema_overrides={"score": pl.Int64})
    together = pl.concat([part, judged.select(part.columns)]).sort("query_id", maintain_order=True)
    assert warning(lambda: summarize_batches(together, "rr")) == ""
