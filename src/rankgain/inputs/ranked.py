"""Relevance already in rank order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rankgain._codes import IN_JUDGED, LISTS, NAN_SCORE, SHORT_DISCOUNT, VECTOR
from rankgain.errors import Offence, located, refusal
from rankgain.lists import Ints, Lists, check_judged
from rankgain.rankings import Rankings
from rankgain.rules import GIVEN
from rankgain.source import Chunk, Source, check_query_ids

if TYPE_CHECKING:
    from rankgain.metrics import Metric


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
    return Rankings(ListSource(lists, None, truth, check_query_ids(query_ids, len(lists))), GIVEN)


class ListSource(Source):
    """Grades in lists, in rank order or beside scores; and lists of the judged grades, where those are given."""

    def __init__(
        self,
        grades: Lists,
        scores: Lists | None,
        judged: Lists | None,
        query_ids: Sequence[Any],
        *,
        function: Metric | None = None,
    ) -> None:
        """`function`: what is computed, where a function was given the lists themselves: see `_named_first`."""
        self.query_ids = query_ids
        self._function = function
        self._grades = grades
        self._scores = scores
        self._judged = judged

    @property
    def longest(self) -> int:
        return self._grades.longest if self._judged is None else max(self._grades.longest, self._judged.longest)

    @property
    def sizes(self) -> Ints:
        return self._grades.sizes

    @property
    def load(self) -> int:
        return self._grades.total + (0 if self._judged is None else self._judged.total)

    @property
    def loads(self) -> Ints:
        return self.sizes if self._judged is None else self.sizes + self._judged.sizes

    def chunk(self, start: int, stop: int) -> Chunk:
        lists, scores, judged = self._grades, self._scores, self._judged
        if lists.native and (scores is None or scores.native) and (judged is None or judged.native):
            known = (None, None, 0) if judged is None else judged.whole()
            return LISTS, start, stop, *lists.whole(), None if scores is None else scores.whole()[0], *known
        held = None if scores is None else scores.part(start, stop)[0]
        known = (None, None, 0) if judged is None else judged.part(start, stop)
        return LISTS, 0, stop - start, *lists.part(start, stop), held, *known

    def room(self, start: int, stop: int) -> tuple[int, int]:
        judged = self._grades if self._judged is None else self._judged
        hits, known = (int(lists.offsets[stop] - lists.offsets[start]) for lists in (self._grades, judged))
        return hits, known

    def refusal(self, query: int, offence: Offence) -> Exception:
        held = self._grades
        if offence.code == NAN_SCORE and self._scores is not None:
            held = self._scores
        elif offence.code & IN_JUDGED and self._judged is not None:
            held = self._judged
        offence = located(offence, held.take(query, query + 1))
        if self._function is not None:
            held, offence = self._named_first(self._function, held, query, offence)
        where = held.place(query, offence.position, self.query_name(query) if self._function is None else "")
        return refusal(offence.code, where, offence.detail)

    def _named_first(self, function: Metric, held: Lists, query: int, offence: Offence) -> tuple[Lists, Offence]:
        """What a function names of a query that is refused: a discount that is too short before any grade.

        And of grades the first that is no good in any way, be it one without a gain.
        """
        size = int(self._grades.sizes[query])
        known = size if self._judged is None else int(self._judged.sizes[query])
        known = min(known, max(size, 1)) if function.ideal == "returned" else known
        vector, needed = function.discount.vector, max(min(ranks, function.depth) for ranks in (size, known))
        if function.discount.kind == VECTOR and needed > len(vector):
            needed = min(size, function.depth) if min(size, function.depth) > len(vector) else needed
            detail = f"discount holds {len(vector)} ranks, and {needed} are needed"
            return self._grades, Offence(SHORT_DISCOUNT, query, -1, detail)
        if offence.position > 0 and function.gain.function is None:
            fault = function.gain.fault(held.take(query, query + 1)[: offence.position])
            offence = offence if fault is None else Offence(fault[0], query, *fault[1:])
        return held, offence
