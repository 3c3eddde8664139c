"""Signs that ranks were taken as scores, or that the scores of a run contradict its ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np

from rankgain.data.groups import QueryRows
from rankgain.data.ids import Column, row_numbers
from rankgain.data.ragged import to_float64
from rankgain.errors import warn
from rankgain.scalars import Array, to_intp

MOST_QUERIES = 1000  # maximum number of queries in which ranks and scores are compared
LONG = 3  # queries with fewer documents say nothing: by chance, half of the pairs rise
FEWEST = 3  # minimum number of long queries whose scores count 1, 2, 3, …
_EXAMINED = 100  # maximum number of queries that are examined for ranks in a column called rank
EQUAL = "all scores are equal in every query: only the rule for ties orders the documents"


def warn_of_ranks(score: str | int, groups: QueryRows, scores: Any) -> None:
    """Warn if a score column with a name like "rank" holds ranks that start at 1 or 0 in each query."""
    rows, offsets = groups.rows(np.arange(min(len(groups), _EXAMINED)))
    values = to_float64(scores[rows])
    queries = [np.sort(values[start:stop]) for start, stop in pairwise(offsets.tolist())]
    numbers = np.arange(max(map(len, queries), default=0) + 1.0)
    if len(numbers) < LONG or not any(
        all(np.array_equal(ranks, numbers[first : first + len(ranks)]) for ranks in queries) for first in (0, 1)
    ):
        return
    warn(
        f"score={score!r}: the column holds the ranks of each query, and higher scores come first, so the last "
        f"document comes first: write rank={score!r}, or rename the column if higher is better"
    )


def remarks_on_scores(groups: QueryRows, scores: Column) -> tuple[str, ...]:
    """Return a remark if all scores are equal in each query, of which one is long."""
    if not len(groups):
        return ()
    first, last = (to_float64(scores[row : row + 1])[0] for row in groups.ends(0))
    if first != last or (groups.lasts - groups.firsts).max() < LONG:
        return ()  # most runs are looked at no further
    return (EQUAL,) if _are_equal(groups, scores) else ()


def _are_equal(groups: QueryRows, scores: Column) -> bool:
    rows, offsets = groups.rows(np.arange(len(groups)))
    values = to_float64(scores[rows])
    equal = values[1:] == values[:-1]  # the difference of infinite scores would be NaN
    equal[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(values))] - 1] = True
    return bool(equal.all())


def remarks_on_ranks(groups: QueryRows, scores: Column, ranks: Column, names: tuple[str, str]) -> tuple[str, ...]:
    """Compare the scores, which are taken, with the ranks beside them, which are not.

    Warn if the scores rise with the rank in every long query. Return a remark if they disagree otherwise. `names`: the
    columns of scores and of ranks.
    """
    long, disagreeing, rising = _disagreement(groups, to_float64(scores[:]), to_float64(ranks[:]))
    if not disagreeing:
        return ()
    score, rank = names
    if rising == long:
        warn(
            f"{score!r} rises with {rank!r} in every query, and the highest score comes first: if lower is better, "
            f"write rank={rank!r}"
        )
    first = "" if len(groups) <= MOST_QUERIES else "the first "
    return (
        f"ranks and scores disagree in {disagreeing} of {first}{min(len(groups), MOST_QUERIES)} queries; scores were "
        f"taken, as trec_eval does; rank={rank!r} takes the ranks",
    )


def _disagreement(groups: QueryRows, scores: Array, ranks: Array) -> tuple[int, int, int]:
    """Return the number of long queries, of queries whose scores contradict the ranks, and of those that always do."""
    rows, offsets = groups.rows(np.arange(min(len(groups), MOST_QUERIES)))
    numbers = row_numbers(rows)
    scores, ranks = scores[numbers], ranks[numbers]
    if np.isnan(scores).any() or np.isnan(ranks).any():
        return 0, 0, 0
    sizes = np.diff(offsets)
    queries = np.repeat(np.arange(len(sizes)), to_intp(sizes))
    same = queries[1:] == queries[:-1]
    if np.any(same & (np.diff(ranks) <= 0)):
        order = np.lexsort((-scores, ranks, queries))
        scores, ranks = scores[order], ranks[order]
    rises = same & (scores[1:] > scores[:-1])
    n_rises = np.bincount(queries[1:][rises], minlength=len(sizes))
    long = sizes >= LONG
    return int(long.sum()), int((n_rises > 0).sum()), int((long & (n_rises == sizes - 1)).sum())


_PLAIN = int, float  # the types whose values are compared, since that of a class may run its code


def remarks_on_dicts(runs: Sequence[dict[Any, Any]]) -> tuple[str, ...]:
    """Return a remark if the scores of each query are 1, 2, 3, … in their order, or are all equal."""
    try:
        values: Iterator[Any] = iter(next(filter(None, runs), {}).values())
        first: Any = next(values, None)
        second = next(values, first)
        if type(first) in _PLAIN and type(second) in _PLAIN and (second == first or second == first + 1):
            return _remark_on_equal(runs) or _remark_on_counts(runs, first)
    except RuntimeError:  # another thread is changing the run; `evaluate` will report this
        pass
    return ()


def _remark_on_equal(runs: Sequence[dict[Any, Any]]) -> tuple[str, ...]:
    for scores in runs:
        values = iter(scores.values())
        first = next(values, None)
        if any(type(value) not in _PLAIN or value != first for value in values):
            return ()
    return (EQUAL,) if max(map(len, runs)) >= LONG else ()


def _remark_on_counts(runs: Sequence[dict[Any, Any]], first: Any) -> tuple[str, ...]:
    if first not in (0, 1):
        return ()
    for scores in runs:
        numbered = enumerate(scores.values(), int(first))
        if any(type(value) not in _PLAIN or value != number for number, value in numbered):
            return ()
    if len(list(islice((1 for scores in runs if len(scores) >= LONG), FEWEST))) < FEWEST:
        return ()
    return (
        f"the scores of every query are {first}, {first + 1}, {first + 2}, … in the order given, and the highest comes "
        "first: if they are ranks, write {query: {doc: -rank for doc, rank in ranks.items()} for query, ranks in "
        "run.items()}",
    )
