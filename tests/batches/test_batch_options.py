"""Options of the functions that read record batches: rows of labels, rows with document ids, and prepared judgments."""

from itertools import chain

import pyarrow as pa
import pytest
from support import textbook
from support.effects import UNCHANGED
from support.sides import columns
from support.small_rankings import METRICS, joined, metrics_of_qrels, metrics_of_scores

import rankgain as rg
from rankgain import batches

QRELS = {"q": {"a": 1, "b": 0, "c": 2}, "r": {"a": 1}}
RUN = {"q": {"a": 0.5, "b": 1.0, "x": 0.5}, "r": {"a": 2.0}}
GRADES, SCORES = [1, 0, None, 2, 1], [0.5, 1.0, 0.5, None, 2.0]
ROWS = {"query_id": list("qqqqr"), "doc_id": list("abxca"), "relevance": GRADES, "score": SCORES}
LABELS = [[1, 0, 2], [1]]
TIED = {"query_id": list("qqqr"), "label": joined(LABELS), "score": [0.5, 0.5, 0.5, 2.0]}
PART, PART_RUN = columns({"q": RUN["q"]}, value="score"), {"q": RUN["q"]}  # without the query "r"


def as_batches(table):
    """Split a table into two record batches, the first of which ends within the query "q"."""
    return pa.table(table).to_batches(max_chunksize=2)


def evaluate_batches(table, *metrics, judgments=None, **options):
    """Return each column of the result, joined over all batches."""
    given = {"judgments": judgments, "options": batches.BatchOptions(**options)}
    parts = batches.evaluate_batches(as_batches(table), *metrics, **given)
    return [
        [*chain.from_iterable(column)] for column in zip(*(part.to_pydict().values() for part in parts), strict=True)
    ]


def summarize_batches(table, *metrics, judgments=None, **options):
    given = {"judgments": judgments, "options": batches.BatchOptions(**options)}
    return [*batches.summarize_batches(as_batches(table), *metrics, **given).mean().values()]


def per_query(vectors):
    return [list("qr")[: len(vectors[0])], *vectors]


def means(vectors):
    return [sum(vector) / len(vector) for vector in vectors]


# Pairs of a function and a helper that computes its expected result from the vectors of the metrics.
CALLS = [(evaluate_batches, per_query), (summarize_batches, means)]
calls = pytest.mark.parametrize(("function", "shaped"), CALLS, ids=lambda call: call.__name__)


def options(*names):
    """Mark a test of fields of BatchOptions, and thereby of the parameter `options` of both functions."""

    def mark(test):
        for call in ("evaluate_batches", "summarize_batches"):
            test = pytest.mark.options(call, "options", *({"judgments"} & {*names}))(test)
        return pytest.mark.options("BatchOptions", *({*names} - {"judgments"}))(test)

    return mark


@options("query", "doc", "relevance", "score")
@calls
def test_batches_are_read_by_the_names_of_columns(check_option, function, shaped):
    """Columns are read by the given names, even if the default columns exist with grades and scores swapped."""
    table = {"id": ROWS["query_id"], "document": ROWS["doc_id"], "mark": GRADES, "mine": SCORES}
    table |= {"query_id": ["x"] * 5, "doc_id": list("zyxwv"), "relevance": SCORES, "score": GRADES}
    judged = {"id": list("qqqr"), "document": list("abxa"), "mine": [0.5, 1.0, 0.5, 2.0]}
    judged |= {"query_id": ["x"] * 4, "doc_id": list("wxyz"), "score": [9.0, 0.0, 0.0, 0.0]}
    names = {"query": "id", "doc": "document", "relevance": "mark", "score": "mine"}
    values = shaped(metrics_of_qrels(QRELS, RUN))
    for name, column in names.items():
        others = {other: value for other, value in names.items() if other != name}
        check_option(function, name, column, values, table, *METRICS, **others)
        if name != "relevance":
            del others["relevance"]
            judgments = rg.judgments(QRELS)
            check_option(function, name, column, values, judged, *METRICS, judgments=judgments, **others)


@options("ties")
@calls
def test_batches_are_ordered_by_a_tie_policy(check_option, function, shaped):
    for ties in ("average", "stable", "best", "worst"):
        values = metrics_of_qrels(QRELS, RUN, ties=ties)
        if values != metrics_of_qrels(QRELS, RUN):
            check_option(function, "ties", ties, shaped(values), ROWS, *METRICS)
        if ties != "average":
            values = metrics_of_scores(LABELS, [[0.5] * 3, [2.0]], ties=ties)
            check_option(function, "ties", ties, shaped(values), TIED, *METRICS)


@options("judgments", "missing")
@calls
def test_batches_are_evaluated_by_judgments(check_option, function, shaped):
    judgments = rg.judgments(QRELS)
    values = shaped(metrics_of_qrels(QRELS, PART_RUN))
    check_option(function, "judgments", judgments, values, PART, *METRICS)
    values = shaped(metrics_of_qrels(QRELS, PART_RUN, missing="skip"))
    check_option(function, "missing", "skip", values, PART, *METRICS, judgments=judgments)


@options("duplicates")
@calls
def test_batches_take_the_first_of_duplicates(check_option, function, shaped):
    repeated = {
        name: [*column[:4], value, column[4]]
        for (name, column), value in zip(ROWS.items(), ("q", "a", None, 0.1), strict=True)
    }
    values = shaped(metrics_of_qrels(QRELS, RUN))
    check_option(function, "duplicates", "first", values, repeated, *METRICS)
    repeated = {name: [*column, value] for (name, column), value in zip(PART.items(), ("q", "a", 0.1), strict=True)}
    values = shaped(metrics_of_qrels(QRELS, PART_RUN))
    check_option(function, "duplicates", "first", values, repeated, *METRICS, judgments=rg.judgments(QRELS))


@options("like")
@calls
def test_batches_follow_the_rules_of_another_tool(check_option, function, shaped):
    table = {"query_id": list("qqqr"), "label": joined(LABELS), "score": [0.5, 1.0, 0.25, 2.0]}
    values = [textbook.ndcg(row, row, gain="binary", discount="jarvelin:2") for row in ([0, 1, 2], [1])]
    check_option(function, "like", "lenskit", shaped([values]), table, "ndcg")


@options("threads", "rows")
@calls
def test_threads_and_rows_change_nothing(check_option, function, shaped):
    check_option(function, "threads", 2, UNCHANGED, ROWS, *METRICS)
    for rows in (1, 10**30):
        check_option(function, "rows", rows, UNCHANGED, ROWS, *METRICS)
