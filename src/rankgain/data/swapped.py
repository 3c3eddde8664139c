"""Warn about grades and scores that are probably swapped."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from rankgain.data.groups import QueryRows
from rankgain.data.ids import Column
from rankgain.data.judgments import JudgmentSets
from rankgain.data.ragged import RaggedArray, to_float64
from rankgain.errors import warn
from rankgain.scalars import Array

QUERIES = 100  # maximum of queries to examine
DOCUMENTS = 5  # queries with fewer are skipped: in small examples, integer scores often state an order
LARGEST_GRADE = 10  # no common scale of grades exceeds it; counts, the scores of popularity baselines, usually do

WHOLE = (int, np.integer, np.bool_)
Pairs = Iterable[tuple[Array, Array]]  # the grades and the scores of each query


def warn_if_swapped(pairs: Pairs, truth: str, run: str, call: str) -> None:
    """Warn if, in every query, the grades look like scores and the scores like grades."""
    if are_swapped(pairs):
        warn(
            f"{truth} looks like scores (fractions, all different) and {run} like grades (small integers): are they "
            f"swapped? Truth comes first, {call}. If they are not swapped, give the scores as floats"
        )


def are_swapped(pairs: Pairs) -> bool:
    """Whether all queries have fractions as grades, all different, and as scores whole numbers, some of them equal.

    Queries of fewer than DOCUMENTS documents, and queries whose scores are all equal, are ignored.
    """
    long = ((grades, scores) for grades, scores in pairs if min(len(grades), len(scores)) >= DOCUMENTS)
    informative = [pair for pair in islice(long, QUERIES) if np.any(pair[1] != pair[1][0])]
    return bool(informative) and all(_like_scores(grades) and _like_grades(scores) for grades, scores in informative)


def _like_grades(scores: Array) -> bool:
    return scores.min() >= 0 and scores.max() <= LARGEST_GRADE and len(np.unique(scores)) < len(scores)


def _like_scores(grades: Array) -> bool:
    """Whether all grades differ and one is not a multiple of ¼; means of a few annotators are such multiples."""
    with np.errstate(all="ignore"):
        return len(np.unique(grades)) == len(grades) and bool(np.any(grades * 4 % 1 > 0))


def pairs_in_lists(labels: RaggedArray, scores: RaggedArray) -> Pairs:
    """The pairs of labels and scores side by side; empty unless the labels are floats."""
    queries = np.flatnonzero(labels.sizes >= DOCUMENTS)[:QUERIES].tolist() if labels.kind == "f" else []
    return ((labels.take(query, query + 1), scores.take(query, query + 1)) for query in queries)


def has_whole_scores(run: Any) -> bool:
    """Whether the first query of a run in dicts has scores, and the first of them is an integer or a boolean."""
    try:
        for scores in run.values() if type(run) is dict else ():
            for score in scores.values() if type(scores) is dict else ():
                return type(score) is not float and isinstance(score, WHOLE)
            break
    except RuntimeError:  # another thread is changing the run, which `evaluate` reports
        pass
    return False


def pairs_in_dicts(judgments: JudgmentSets, run: Any) -> Pairs:
    """The pairs of a run in dicts, for queries whose scores are all integers or booleans."""
    if judgments.error_code is None:
        for query, name in enumerate(judgments.query_ids):
            scores = run.get(name)
            if type(scores) is dict and len(scores) >= DOCUMENTS:
                values = [*scores.values()]
                if all(issubclass(kind, WHOLE) for kind in {*map(type, values)}):
                    yield _grades(judgments, query), np.array(values)


def pairs_in_columns(judgments: JudgmentSets, groups: QueryRows, scores: Column) -> Pairs:
    """The pairs of a run in columns; empty unless the scores are integers or booleans."""
    if judgments.error_code is None and scores[:1].dtype.kind in "biu":
        for query, number in enumerate(groups.find(judgments.query_ids).tolist()):
            if number >= 0:
                rows, _ = groups.rows(np.array([number]))
                yield _grades(judgments, query), to_float64(scores[rows])


def _grades(judgments: JudgmentSets, query: int) -> Array:
    return judgments.grades[judgments.offsets[query] : judgments.offsets[query + 1]]
