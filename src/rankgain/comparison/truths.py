"""Check that the runs of a comparison were evaluated against the same truth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankgain.data.source import Truth
from rankgain.errors import quoted
from rankgain.metrics.metric import Metric, parse
from rankgain.rankings import Rankings, parts_of

OWN_TRUTHS = "each run by its own truth"
# Metrics that distinguish judged documents that are not relevant from unjudged ones.
_READ_NON_RELEVANT = {
    *("bpref", "gm_bpref", "infap", "fallout", "auc", "gauc", "r_ndcg"),
    *("rbp_residual", "judged", "unjudged", "num_nonrel_judged_ret"),
}


class SameTruth:
    """The truth of each run, of which the first is compared with all others."""

    def __init__(self, metrics: Iterable[str | Metric], way_out: str) -> None:
        """`way_out`: how the caller allows each run its own truth, as errors show it."""
        records = [record for metric in metrics for _, record in parse(metric)]
        self._reads_all = any(
            record.name in _READ_NON_RELEVANT or record.gain.kind in ("table", "callable") for record in records
        )
        self._way_out = way_out
        self._first: tuple[str, Truth] | None = None

    def check(self, name: str, rankings: Rankings) -> None:
        """Raise a ValueError if the truth of a query differs from that of the first run."""
        truth = parts_of(rankings)[0].truth()
        if truth is None:
            return
        if self._first is None:
            self._first = name, truth
            return
        first, other = self._first
        query = _differing(other, truth, self._reads_all)
        if query is not None:
            what = "judgments" if self._reads_all else "relevant documents or grades"
            raise ValueError(
                f"query {quoted(query[0])}: {first} and {name} have different {what}: evaluate all runs against the "
                f"same truth, or pass {self._way_out} if each has its own"
            )


def _differing(one: Truth, other: Truth, reads_all: bool) -> tuple[Any] | None:
    """Return the first query that both have and whose truths differ, or None."""
    if _are_same(one.judgments, other.judgments, one.query_ids, other.query_ids):
        return None
    row_of = {query: row for row, query in enumerate(other.query_ids)}
    for row, query in enumerate(one.query_ids):
        if query in row_of and not _agree(one.of_query(row), other.of_query(row_of[query]), reads_all):
            return (query,)
    return None


def _are_same(one: Any, other: Any, queries: Any, other_queries: Any) -> bool:
    """Return whether two sets of judgments are one object, or equal as they stand."""
    if one is None or other is None or one is other:
        return one is other is not None
    return bool(
        list(queries) == list(other_queries)
        and len(queries) == len(one) == len(other)
        and list(one.query_ids) == list(other.query_ids)
        and np.array_equal(one.offsets, other.offsets)
        and np.array_equal(one.grades, other.grades)
        and one.documents == other.documents
    )


def _agree(one: Mapping[Any, float] | list[float], other: Mapping[Any, float] | list[float], reads_all: bool) -> bool:
    """Return whether two truths of a query are the same, as far as both say.

    Grades without ids, and ids of different types, are compared as multisets of grades.
    """
    if one == other:
        return True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if not reads_all:
            one, other = _relevant(one), _relevant(other)
        if one == other:
            return True
        if not one or not other or type(next(iter(one))) is type(next(iter(other))):
            return False
    grades = (list(side.values()) if isinstance(side, Mapping) else side for side in (one, other))
    first, second = (sorted(grade for grade in side if reads_all or grade > 0.0) for side in grades)
    return first == second


def _relevant(grades: Mapping[Any, float]) -> dict[Any, float]:
    return {document: grade for document, grade in grades.items() if grade > 0.0}
