"""Relevance already in rank order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from rankgain import _backend
from rankgain._codes import IN_JUDGED
from rankgain.arrays import Array
from rankgain.batch import Batch, Hits, Needs, make_batch
from rankgain.errors import Fault, Offence, lower
from rankgain.lists import Ints, Lists, check_judged
from rankgain.rankings import TIES, Rankings, check_query_ids


def from_ranked(relevance: Any, *, judged: Any = None, query_ids: Iterable[Hashable] | None = None) -> Rankings:
    """Rankings from the grades of the returned documents, in rank order.

    Parameters
    ----------
    relevance : array_like
        Grades, finite and not negative: 1-D for one query, 2-D or a list of lists of any lengths for many.
    judged : array_like, optional
        The grades of all judged documents of each query, in any order, returned or not: 1-D for one query, else a
        list for each. None: the returned list holds them all.
    query_ids : iterable, optional
        Names of the queries; None: 0, 1, 2 …

    Returns
    -------
    Rankings

    Raises
    ------
    ValueError, TypeError
        For a wrong shape, length or type here; for NaN, infinite or negative grades, or a `judged` that lacks what
        was returned, in `evaluate`.

    Examples
    --------
    >>> import rankgain as rg
    >>> rankings = rg.from_ranked([[3, 2, 3, 0, 1, 2], [0, 1]], query_ids=["a", "b"])
    >>> rankings.evaluate("ndcg@3")["ndcg@3"].round(4).tolist()
    [0.9778, 0.6309]
    """
    lists = Lists.of(relevance, "relevance")
    truth = check_judged(judged, lists)
    return Ranked(lists, truth, check_query_ids(query_ids, len(lists)))


class Graded(Rankings):
    """Rankings of documents with their grades in lists, and of the judged grades where those are given."""

    def __init__(self, grades: Lists, judged: Lists | None, query_ids: Sequence[Any], ties: str | None = None) -> None:
        super().__init__(query_ids, ties=ties)
        self._grades = grades
        self._judged = judged

    @property
    def sizes(self) -> Ints:
        return self._grades.sizes

    @property
    def loads(self) -> Ints:
        return self.sizes if self._judged is None else self.sizes + self._judged.sizes

    @abstractmethod
    def hits(self, start: int, stop: int, grades: Array, offsets: Ints, needs: Needs) -> tuple[Hits, Fault]:
        """The hits among the documents of the queries start … stop − 1, and what is wrong with other than grades."""

    def batch(self, start: int, stop: int, needs: Needs) -> Batch:
        grades, offsets = self._grades.take(start, stop, native=True)
        hits, fault = self.hits(start, stop, grades, offsets, needs)
        judged, role = (grades, offsets), 0
        if self._judged is not None:
            fault = lower(fault, _backend.ordering.grade_fault(grades, offsets))
            judged, role = self._judged.take(start, stop, native=True), IN_JUDGED
        return make_batch(np.diff(offsets), hits, fault, judged, needs, TIES[self.ties or "stable"], role)

    def refusal(self, query: int, offence: Offence) -> Exception:
        held = self._judged if offence.code & IN_JUDGED and self._judged is not None else self._grades
        return self.refuse(held, query, offence)


class Ranked(Graded):
    def hits(self, start: int, stop: int, grades: Array, offsets: Ints, needs: Needs) -> tuple[Hits, Fault]:
        hits = Hits(stop - start, len(grades))
        hits.last = hits.first
        _backend.ordering.hits_ranked(
            grades, offsets, needs.depth, needs.below < 0.0, hits.offsets, hits.grade, hits.first
        )
        return hits, None
