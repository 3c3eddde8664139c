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

from rankgain.batches import PartRules, as_batch, parts_of, reject_repeated_queries, sides_of
from rankgain.data.judgments import Judgments, judgment_sets
from rankgain.data.tables.frame import Frame
from rankgain.errors import import_extra, quoted
from rankgain.results.evaluation import Evaluation

JUDGED, RETURNED = ["query_id", "doc_id", "relevance"], ["query_id", "doc_id", "score"]


@lru_cache(maxsize=8)
def _rules(payload: bytes) -> PartRules:
    return PartRules(*pickle.loads(payload))


@lru_cache(maxsize=1)
def _judgments(payload: bytes) -> Judgments:
    return pickle.loads(payload)  # type: ignore[no-any-return]


def rows(payload: bytes, qrels: Any, run: Any) -> Any:
    """Evaluate a bucket and return a table with one row per query."""
    result = _rules(payload).of_tables(qrels.select(JUDGED), run.select(RETURNED))
    return import_extra("pyarrow", "spark").Table.from_batches([as_batch(result, qrels.schema.field("query_id").type)])


def state(payload: bytes, qrels: Any, run: Any) -> Any:
    """Evaluate a bucket and return its Summary as JSON in a table."""
    return _state(lambda: _rules(payload).of_tables(qrels.select(JUDGED), run.select(RETURNED)))


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
    if "doc_id" in names:
        return rules.of_tables(*sides_of(table.select([*JUDGED, "score"])))
    frame = Frame(table.select([*names]).rename_columns([*names.values()]), "dataset")
    return rules.of_labels(frame, names["query_id"], names["relevance"], names["score"])


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
    seen: set[Any] = set()
    advice = "run.sortWithinPartitions(query) first, or use rankgain.spark.evaluate"
    for part in parts_of(batches, rules.options.rows):
        if part["query_id"].null_count:
            rules.of_run(judgments, part)  # raises the error for null ids
        reject_repeated_queries(part["query_id"], seen, "run", advice)
        yield as_batch(rules.of_run(judgments, part), part.schema.field("query_id").type)
