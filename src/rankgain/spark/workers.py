"""Functions that Spark's Python workers run on the rows of a bucket or a partition, without importing PySpark.

Results are sent as JSON in a text column. Pickles of our classes would require the same code on driver and workers, and
accumulators would count a repeated task twice.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from rankgain.batches import PartRules, as_batch
from rankgain.data.judgments import Judgments, judgment_sets
from rankgain.data.tables.frame import Frame
from rankgain.data.tables.parts import TablePart, part_of, whole_queries
from rankgain.errors import import_extra, quoted
from rankgain.results.evaluation import Evaluation

ROLES = {"query_id": "query", "doc_id": "document", "relevance": "relevance", "score": "score"}
JUDGED, RETURNED = ["query_id", "doc_id", "relevance"], ["query_id", "doc_id", "score"]


@lru_cache(maxsize=8)
def _rules(payload: bytes) -> PartRules:
    return PartRules(*pickle.loads(payload))


@lru_cache(maxsize=1)
def _judgments(payload: bytes) -> Judgments:
    return pickle.loads(payload)  # type: ignore[no-any-return]


def bucket_rows(payload: bytes, qrels: Any, run: Any) -> Any:
    """Evaluate a bucket and return a table with one row per query."""
    result = _of_sides(payload, qrels, run)
    return import_extra("pyarrow", "spark").Table.from_batches([as_batch(result, qrels.schema.field("query_id").type)])


def state(payload: bytes, qrels: Any, run: Any) -> Any:
    """Evaluate a bucket and return its Summary as JSON in a table."""
    return _state(lambda: _of_sides(payload, qrels, run))


def _of_sides(payload: bytes, qrels: Any, run: Any) -> Evaluation:
    return _rules(payload).of_sides(_part(qrels.select(JUDGED), "qrels"), _part(run.select(RETURNED), "run"))


def _part(table: Any, side: str) -> TablePart:
    """Read a table whose columns are named by role.

    If a value is null, raise an error that names the query and document, since Spark's rows have no numbers.
    """
    for name in table.column_names:
        nulls = table[name].is_null()
        row = nulls.index(True).as_py()
        if row >= 0:
            first = table.slice(row, 1).to_pylist()[0]
            raise ValueError(
                f"{side}: query {quoted(first['query_id'])}, document {quoted(first['doc_id'])}: the {ROLES[name]} is "
                "null; drop such rows, or fill in the values"
            )
    kind = table.schema.field("query_id").type
    return part_of(Frame(table, side), dict(zip(table.column_names, table.column_names, strict=True)), kind)


def state_of_labels(payload: bytes, names: dict[str, str], table: Any) -> Any:
    """Evaluate a bucket of labels and scores, with or without document ids, and return its Summary as JSON.

    `names` maps roles such as "score" to the caller's column names.
    """
    return _state(lambda: _of_labels(_rules(payload), names, table))


def _of_labels(rules: PartRules, names: dict[str, str], table: Any) -> Evaluation:
    pc = import_extra("pyarrow.compute", "spark")
    for role, name in names.items():
        invalid = pc.is_null(table[role], nan_is_null=True)
        if pc.any(invalid).as_py():
            query = pc.min(table["query_id"].filter(invalid)).as_py()
            kind = "null" if table[role].null_count else "NaN"
            advice = ', as ALS(coldStartStrategy="drop") does' if role == "score" else ""
            raise ValueError(f"dataset: query {quoted(query)}: column {name!r} is {kind}; drop such rows{advice}")
    part = part_of(Frame(table, "dataset"), {role: role for role in names})
    label, score = (f"dataset: column {names[role]!r}" for role in ("relevance", "score"))
    return rules.of_part(part, (label, score))


def _state(evaluate: Callable[[], Evaluation]) -> Any:
    """Return the Summary or an input error as JSON. Spark would retry a task that raised the error."""
    try:
        text = evaluate().summary().to_json()
    except (ValueError, TypeError) as error:
        text = json.dumps({"error": type(error).__name__, "message": str(error)})
    return import_extra("pyarrow", "spark").table({"state": [text]})


def partition(payload: bytes, pickled_judgments: bytes, batches: Iterator[Any]) -> Iterator[Any]:
    """Evaluate a partition whose rows are grouped by query, and yield batches with one row per judged query."""
    rules, judgments = _rules(payload), judgment_sets(_judgments(pickled_judgments))
    advice = "run.sortWithinPartitions(query) first, or use rankgain.spark.evaluate"
    parts = (_part(batch, "run") for batch in batches)
    for part in whole_queries(parts, rules.options.rows, "run", advice):
        yield as_batch(rules.of_run(judgments, part), part.kind)
