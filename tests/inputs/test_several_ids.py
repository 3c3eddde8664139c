"""Texts that hold several ids, where a side has one text per query."""

import re
import warnings

import pandas as pd
import pytest
from support.marks import in_one_case

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

TRUTH, RUN = [["d1", "d2"], ["d3", "d4", "d5"]], [["d1", "d9", "d2"], ["d7", "d4"]]
EXPECTED = [1.0, 1 / 3]
SPLIT = {"a": {"recall@2": 0.5, "recall": 1.0}, "b": {"recall@2": 1 / 3, "recall": 1 / 3}}
SEPARATORS = [" ", ", ", ";", "|", " | "]


def texts(lists, separator):
    return [separator.join(ids) for ids in lists]


def by_query(rows):
    return dict(zip("ab", rows, strict=True))


def frame(lists, number):
    rows = [
        {"query_id": query, "doc_id": doc, number: 9 - rank}
        for query, ids in by_query(lists).items()
        for rank, doc in enumerate(ids)
    ]
    return pd.DataFrame(rows)


def line_of(message):
    return re.search(r"write ([\[{].*[\]}]|\w+\.assign.*\))", message)[1]


def line_for(sides, **names):
    with pytest.raises(ValueError, match=r"has one text per query, such as '.*', whose parts are ids of") as error:
        rg.evaluate(*sides, "recall")
    return eval(line_of(str(error.value)), names)


def single(lists):
    return [[item] for item in lists]


TRUTHS = {
    "texts": lambda rows: rows,
    "a Series": pd.Series,
    "lists": single,
    "sets": lambda rows: [{text} for text in rows],
    "texts by query": by_query,
    "a named Series": lambda rows: pd.Series(by_query(rows)),
    "dicts": lambda rows: by_query([{text: 1} for text in rows]),
    "a frame": lambda rows: frame(single(rows), "relevance"),
}


@in_one_case("separator", SEPARATORS)
@pytest.mark.parametrize("form", TRUTHS)
def test_texts_of_the_truth_are_split_by_the_line_of_the_error(form, separator):
    truth = TRUTHS[form](texts(TRUTH, separator))
    keyed = form in ("texts by query", "a named Series", "dicts", "a frame")
    run = by_query(RUN) if keyed else RUN
    run = frame(RUN, "score") if form == "a frame" else run
    fixed = line_for((truth, run), relevant=truth, truth=truth, qrels_df=truth)
    assert rg.evaluate(fixed, run, "recall")["recall"].tolist() == EXPECTED


@pytest.mark.parametrize("separator", SEPARATORS)
def test_texts_of_a_run_are_split_by_the_line_of_the_error(separator):
    rows = texts(RUN, separator)
    for run in (by_query(single(rows)), by_query([{text: 1.0} for text in rows])):
        fixed = line_for((by_query(TRUTH), run), recommended=run, run=run)
        result = rg.evaluate(by_query(TRUTH), fixed, "recall@2", "recall")
        assert result.to_dict() == SPLIT
    run_df, qrels_df = frame(single(rows), "score"), frame(TRUTH, "relevance")
    fixed = line_for((qrels_df, run_df), run=run_df, run_df=run_df)
    result = rg.from_frames(qrels_df, fixed, rank="rank").evaluate("recall@2", "recall")
    assert result.to_dict() == SPLIT


def test_texts_in_a_row_per_query():
    table = pd.DataFrame({"id": ["a", "b"], "relevant": texts(TRUTH, ","), "retrieved": RUN})
    with pytest.raises(ValueError, match="whose parts are ids of table: column 'retrieved'") as error:
        rg.from_rows(table, relevant="relevant")
    fixed = eval(line_of(str(error.value)), {"table": table})
    assert rg.from_rows(fixed).evaluate("recall")["recall"].tolist() == EXPECTED
    for literal in ("['d1', 'd2']", "{'d1'}"):
        for form in (pd.DataFrame, pd.DataFrame.to_dict):
            rows = table.assign(relevant=literal)
            rows = rows.to_dict("records") if form is not pd.DataFrame else rows
            with pytest.raises(ValueError, match=r"holds lists as text, .*convert each with ast.literal_eval"):
                rg.from_rows(rows, relevant="relevant")


def test_a_warning_if_both_sides_are_such_texts():
    truth, run = by_query(texts(TRUTH, " ")), by_query(single(texts([[*ids, "d0", "d8"] for ids in RUN], ",")))
    with pytest.warns(UserWarning, match="truth and run have one text per query, such as") as caught:
        rg.evaluate(truth, run, "recall")
    lines = re.search(r"write (\{.*\}) and (\{.*\})", str(caught[0].message)).groups()
    assert [eval(line, {"truth": truth, "run": run}) for line in lines] == [
        by_query(TRUTH),
        by_query([[*ids, "d0", "d8"] for ids in RUN]),
    ]


HONEST = {
    "a word without a digit": (["Canon EOS 5D", "Nikon D850 body"], [["Canon EOS 5D", "EOS"], ["5D"]]),
    "whole texts match": (["12 5", "13 6"], [["12 5", "12"], ["13 6"]]),
    "most are not split": (["d1", "d2", "d3 d4"], [["d1"], ["d2"], ["d3"]]),
    "two ids in a query": ([["d1 d2", "d3"], ["d4 d5"]], [["d1"], ["d4"]]),
    "no part is an id": (["d1 d2", "d3 d4"], [["d5"], ["d6"]]),
    "as many parts on both sides": (["d1 d2", "d3 d4"], [["d1 d5"], ["d3 d6"]]),
}


@pytest.mark.parametrize("honest", HONEST)
def test_other_texts_are_ids(honest):
    truth, run = HONEST[honest]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rg.evaluate(truth, run, "recall")
        rg.evaluate(dict(enumerate(truth)), dict(enumerate(run)), "recall")


@pytest.mark.parametrize(("rows", "advice"), [(["{'x'}", "{'y', 'z'}"], True), (["('x',)", "('y', 'z')"], True)])
def test_sets_and_tuples_as_text_are_refused(rows, advice, rejects):
    message = f"relevant holds lists as text, {rows[0]!r}, not ids: convert each with ast.literal_eval"
    rejects(ValueError, message, rg.from_recommendations, rows, [["x"], ["z"]])
    rejects(ValueError, "holds lists as text", rg.from_frames, frame(single(rows), "relevance"), frame(RUN, "score"))
    rejects(TypeError, "not str: the text of a list; convert", rg.from_recommendations, {"u": ["x"]}, {"u": rows[1]})


def test_pairs_of_numbers_as_text_are_ids():
    pairs = ["(3, 4)", "(1, 2)"]
    assert rg.from_recommendations(pairs, single(pairs)).evaluate("rr").mean("rr") == 1.0
