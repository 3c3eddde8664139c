"""Labels of queries: the groups or clusters to which they belong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from rankgain.data.arrays import is_missing
from rankgain.scalars import Ints


def labels_of(by: Any, query_ids: Sequence[Any], argument: str, unit: str) -> tuple[str, list[Any]]:
    """Return the name of a grouping of the queries, and the label of each query."""
    name = getattr(by, "name", None)
    title = name if isinstance(name, str) and name else unit
    labels = (
        [by.get(query) for query in query_ids] if isinstance(by, Mapping) else _listed(by, query_ids, argument, unit)
    )
    missing = [query for query, label in zip(query_ids, labels, strict=True) if label is None or is_missing(label)]
    if missing:
        many = "1 query has" if len(missing) == 1 else f"{len(missing)} queries have"
        raise ValueError(f"{argument}: {many} no {unit} (first: {missing[0]!r}): give each one a label")
    return title, labels


def _listed(by: Any, query_ids: Sequence[Any], argument: str, unit: str) -> list[Any]:
    if isinstance(by, (str, bytes, Set)) or not isinstance(by, Iterable):
        raise TypeError(
            f"{argument} must be a mapping from query to {unit}, or hold one label per query, not {type(by).__name__}"
        )
    labels = list(by)
    if len(labels) != len(query_ids):
        raise ValueError(
            f"{argument} has {len(labels)} labels, and there are {len(query_ids)} queries: give one per query, in the "
            "order of query_ids, or a mapping by query id"
        )
    return labels


def codes_of(labels: Iterable[Any]) -> Ints:
    """Number the labels in order of first appearance."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
