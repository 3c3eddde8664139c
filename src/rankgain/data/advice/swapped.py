"""Remark on grades and scores that may have been swapped.

It is no warning, because rates as grades beside stars as scores look the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from rankgain.data.groups import QueryRows
from rankgain.data.ids import Column
from rankgain.data.judgments import JudgmentSets
from rankgain.data.ragged import RaggedArray, to_float64
from rankgain.scalars import Array

_QUERIES = 100  # maximum number of queries to examine
# Queries with fewer documents than this are skipped, since small examples often use integer scores to state an order.
DOCUMENTS = 5
# Common grading scales do not exceed this value. Popularity baselines use counts as scores, which usually exceed it.
LARGEST_GRADE = 10

WHOLE = (int, np.integer, np.bool_)
_Pairs = Iterable[tuple[Array, Array]]  # one pair of grades and scores for each query


def remark_if_swapped(pairs: _Pairs, truth: str, run: str, call: str) -> tuple[str, ...]:
    """Return a remark if, in every query, the grades look like scores and the scores look like grades."""
    if not are_swapped(pairs):
        return ()
    return (
        f"{truth} looks like scores (fractions, all different) and {run} like grades (small integers): if they are "
        f"swapped, truth comes first, {call}",
    )


def are_swapped(pairs: _Pairs) -> bool:
    """Return whether, in every query, the grades are distinct fractions and the scores are whole numbers with ties.

    Queries with fewer than DOCUMENTS documents are ignored, and so are queries in which all scores are equal.
    """
    long = ((grades, scores) for grades, scores in pairs if min(len(grades), len(scores)) >= DOCUMENTS)
    informative = [pair for pair in islice(long, _QUERIES) if np.any(pair[1] != pair[1][0])]
    return bool(informative) and all(_like_scores(grades) and _like_grades(scores) for grades, scores in informative)


def _like_grades(scores: Array) -> bool:
    return scores.min() >= 0 and scores.max() <= LARGEST_GRADE and len(np.unique(scores)) < len(scores)


def _like_scores(grades: Array) -> bool:
    """Return whether all grades differ and at least one of them is not a multiple of ¼.

    Grades that are averaged over a few annotators are usually multiples of ¼.
    """
    with np.errstate(all="ignore"):
        return len(np.unique(grades)) == len(grades) and bool(np.any(grades * 4 % 1 > 0))


def pairs_in_lists(labels: RaggedArray, scores: RaggedArray) -> _Pairs:
    """Return the labels and scores of each query that has enough documents, or nothing if the labels are not floats."""
    queries = np.flatnonzero(labels.sizes >= DOCUMENTS)[:_QUERIES].tolist() if labels.kind == "f" else []
    return ((labels.take(query, query + 1), scores.take(query, query + 1)) for query in queries)


def has_whole_scores(run: Any) -> bool:
    """Return whether a run is a dict of dicts in which the first score of the first query is an integer or boolean."""
    try:
        for scores in run.values() if type(run) is dict else ():
            for score in scores.values() if type(scores) is dict else ():
                return type(score) is not float and isinstance(score, WHOLE)
            break
    except RuntimeError:  # another thread is changing the run; `evaluate` will report this
        pass
    return False


def pairs_in_dicts(judgments: JudgmentSets, run: Any) -> _Pairs:
    """From a dict of dicts, yield the grades and scores of queries whose scores are all integers or booleans.

    Queries with fewer than DOCUMENTS documents are skipped.
    """
    if judgments.error_code is None:
        for query, name in enumerate(judgments.query_ids):
            scores = run.get(name)
            if type(scores) is dict and len(scores) >= DOCUMENTS:
                values = [*scores.values()]
                if all(issubclass(kind, WHOLE) for kind in {*map(type, values)}):
                    yield _grades(judgments, query), np.array(values)


def pairs_in_columns(judgments: JudgmentSets, groups: QueryRows, scores: Column) -> _Pairs:
    """From a table, yield the grades and scores of every query if the score column holds integers or booleans."""
    if judgments.error_code is None and scores[:1].dtype.kind in "biu":
        for query, number in enumerate(groups.find(judgments.query_ids).tolist()):
            if number >= 0:
                rows, _ = groups.rows(np.array([number]))
                yield _grades(judgments, query), to_float64(scores[rows])


def _grades(judgments: JudgmentSets, query: int) -> Array:
    return judgments.grades[judgments.offsets[query] : judgments.offsets[query + 1]]
