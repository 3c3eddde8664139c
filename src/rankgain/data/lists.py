"""Lists of grades in rank order, or lists of grades with lists of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankgain._codes import IN_JUDGED, LISTS, NAN_SCORE
from rankgain.data.documents import Documents, tie_groups
from rankgain.data.ragged import RaggedArray
from rankgain.data.rules import Rules
from rankgain.data.source import Chunk, Source, Truth
from rankgain.errors import Finder, InputError, located, refusal
from rankgain.scalars import Array, Ints


class ListSource(Source):
    """Lists of grades in rank order or with scores, and optionally lists of the grades of all judged documents."""

    def __init__(
        self,
        grades: RaggedArray,
        scores: RaggedArray | None,
        judged: RaggedArray | None,
        query_ids: Sequence[Any],
        *,
        named: bool = True,
        gain: Finder | None = None,
    ) -> None:
        """`named`: whether errors name the query even if there is a single list.

        `gain`: finds the first grade without a gain. This error is reported if it comes before the first invalid grade.
        """
        self.query_ids = query_ids
        self.grades = grades
        self._named = named
        self._gain = gain
        self._scores = scores
        self._judged = judged
        self.judges_scored = judged is None

    def non_empty(self) -> ListSource:
        if self._judged is None or self.sizes.all():
            return self
        scores = None if self._scores is None else self._scores.non_empty()
        names = [self.query_ids[query] for query in np.flatnonzero(self.sizes).tolist()]
        return ListSource(self.grades.non_empty(), scores, None, names, named=self._named, gain=self._gain)

    def truth(self) -> Truth | None:
        if self._scores is None:
            return None
        grades = self.grades if self._judged is None else self._judged
        return Truth(self.query_ids, lambda query: grades.take(query, query + 1).tolist())

    @property
    def longest(self) -> int:
        return self.grades.longest if self._judged is None else max(self.grades.longest, self._judged.longest)

    @property
    def sizes(self) -> Ints:
        return self.grades.sizes

    @property
    def load(self) -> int:
        return self.grades.total + (0 if self._judged is None else self._judged.total)

    @property
    def loads(self) -> Ints:
        return self.sizes if self._judged is None else self.sizes + self._judged.sizes

    @property
    def n_judged(self) -> int:
        return (self.grades if self._judged is None else self._judged).total

    def some_grades(self, most: int) -> Array:
        lists = self.grades if self._judged is None else self._judged
        stop = int(np.searchsorted(lists.offsets, most))  # the first lists with as many grades
        return np.ravel(lists.part(0, min(stop, len(lists)))[0])[:most]

    def chunk(self, start: int, stop: int) -> Chunk:
        lists, scores, judged = self.grades, self._scores, self._judged
        if lists.native and (scores is None or scores.native) and (judged is None or judged.native):
            judgments = (None, None, 0) if judged is None else judged.in_place()
            return LISTS, start, stop, *lists.in_place(), None if scores is None else scores.in_place()[0], *judgments
        score_part = None if scores is None else scores.part(start, stop)[0]
        judgments = (None, None, 0) if judged is None else judged.part(start, stop)
        return LISTS, 0, stop - start, *lists.part(start, stop), score_part, *judgments

    def capacity(self, start: int, stop: int) -> tuple[int, int]:
        judged = self.grades if self._judged is None else self._judged
        hits, judged_grades = (int(lists.offsets[stop] - lists.offsets[start]) for lists in (self.grades, judged))
        return hits, judged_grades

    def documents(self, query: int, rules: Rules) -> Documents:
        grades = self.grades.take(query, query + 1).tolist()
        scores = None if self._scores is None else self._scores.take(query, query + 1).tolist()
        judged = grades if self._judged is None else self._judged.take(query, query + 1).tolist()
        positions = self.grades.positions(query)
        judged_ids = positions if self._judged is None else None
        return Documents(tie_groups(rules, scores, grades), None, scores, grades, judged, judged_ids, positions)

    def refusal(self, query: int, error: InputError) -> Exception:
        lists = self._with_error(error)
        grades = lists.take(query, query + 1)
        error = located(error, grades)
        without_gain = None if self._gain is None else self._gain.first_error(grades[: max(error.position, 0)])
        if without_gain is not None:
            error = InputError(without_gain[0], query, *without_gain[1:])
        name = self.query_name(query) if self._named else ""
        return refusal(error.code, lists.describe(query, error.position, name), error.detail)

    def _with_error(self, error: InputError) -> RaggedArray:
        """Return the lists that contain an error."""
        if error.code == NAN_SCORE and self._scores is not None:
            return self._scores
        return self._judged if error.code & IN_JUDGED and self._judged is not None else self.grades
