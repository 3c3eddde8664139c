"""Batch: what a metric reads, of a chunk of queries, whatever form they came in."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rankgain import _backend
from rankgain._codes import IN_JUDGED, WORST
from rankgain.arrays import Array
from rankgain.errors import Fault, check, lower
from rankgain.gains import LINEAR, Gain
from rankgain.lists import Bools, Floats, Ints
from rankgain.parameters import highest_irrelevant


class Needs(NamedTuple):
    """What metrics ask of a Batch.

    `depth`: the deepest rank they look at; `judged_depth`: how many of the highest judged grades; `below`: the grade
    above which documents are hits: 0, `NON_RELEVANT` for all that are judged, `POOLED` for negative ones too.
    """

    depth: int = 1
    judged_depth: int = 1
    below: float = 0.0

    def __or__(self, other: Needs) -> Needs:
        return Needs(
            max(self.depth, other.depth), max(self.judged_depth, other.judged_depth), min(self.below, other.below)
        )


NON_RELEVANT = highest_irrelevant(0.0)
POOLED = -math.inf


class Batch:
    """Ragged arrays, values and int64 offsets, that nobody writes to.

    Hits are the returned documents that a metric can see: judged with a grade above 0 (or of 0 where it counts, or
    pooled with a negative one where that does), in rank order. Each has the first and the last rank of its tie group,
    equal where it is not tied; a group that begins at or before the depth is carried whole, and inside it hits stand by
    grade, highest first.

    Judged grades are distinct, highest first, with the number of each; only as many as were needed.
    """

    def __init__(
        self,
        returned: Ints,
        hit_offsets: Ints,
        hit_grade: Floats,
        hit_first: Ints,
        hit_last: Ints,
        judged_offsets: Ints,
        judged_grade: Floats,
        judged_count: Ints,
        ties: int,
    ) -> None:
        self.returned = returned
        self.hit_offsets = hit_offsets
        self.hit_grade = hit_grade
        self.hit_first = hit_first
        self.hit_last = hit_last
        self.judged_offsets = judged_offsets
        self.judged_grade = judged_grade
        self.judged_count = judged_count
        self.ties = ties
        self._pooled: bool | None = None
        self._hit_gains: dict[tuple[Gain, int], Floats] = {}
        self._judged_above: dict[float, Ints] = {}
        self._judged_gains: dict[Gain, tuple[Floats, Ints]] = {}

    def __len__(self) -> int:
        return len(self.returned)

    @property
    def longest(self) -> int:
        return int(self.returned.max(initial=1))

    @property
    def pooled(self) -> bool:
        """Whether there are hits that are not judged."""
        # Not a cached_property: in Python 3.11 that has one lock for all, which a fork may find held for ever.
        if self._pooled is None:
            self._pooled = bool(self.hit_grade.min(initial=0.0) < 0.0)
        return self._pooled

    def empty_queries(self) -> int:
        """How many queries have no judged grade above 0."""
        starts, stops = self.judged_offsets[:-1], self.judged_offsets[1:]
        some = starts < stops
        return len(self) - int(np.count_nonzero(self.judged_grade[starts[some]] > 0.0))

    def judged_sizes(self) -> Ints:
        """How many judged grades each query has here."""
        total = np.zeros(len(self.judged_count) + 1, dtype=np.int64)
        np.cumsum(self.judged_count, out=total[1:])
        return total[self.judged_offsets[1:]] - total[self.judged_offsets[:-1]]

    def judged_above(self, below: float) -> Ints:
        """How many judged documents of each query have a grade above `below`."""
        counted = self._judged_above.get(below)
        if counted is None:
            total = np.append(0, np.cumsum(np.where(self.judged_grade > below, self.judged_count, 0)))
            counted = total[self.judged_offsets[1:]] - total[self.judged_offsets[:-1]]
            self._judged_above[below] = counted
        return counted

    def ranks_of(self, chosen: Bools) -> tuple[Ints, Ints]:
        """The ranks of some of the hits, in rank order, and the offsets of the queries.

        In a tie group, which is to be best or worst for them, they take the first or the last ranks.
        """
        offsets = np.append(0, np.cumsum(chosen))[self.hit_offsets]
        first, last = self.hit_first[chosen], self.hit_last[chosen]
        begins = np.append(True, (np.diff(first) != 0) | (np.diff(_query_of_each(offsets)) != 0))[: len(first)]
        group = np.flatnonzero(begins)
        sizes = np.diff(np.append(group, len(first)))
        lowest = last - np.repeat(sizes, sizes) + 1 if self.ties == WORST else first
        return lowest + np.arange(len(first)) - np.repeat(group, sizes), offsets

    def hit_gains(self, gain: Gain, depth: int) -> Floats:
        """The gains of the hits; inside a tie group they stand highest first.

        Those of hits beyond the depth, which other metrics asked for, are not looked at. Pooled ones have none.
        """
        if gain == LINEAR and not self.pooled:
            return self.hit_grade
        gains = self._hit_gains.get((gain, depth))
        if gains is None:
            gains = np.zeros(len(self.hit_grade))
            within = (self.hit_first <= depth) & (self.hit_grade >= 0.0)
            offsets = np.append(0, np.cumsum(within))[self.hit_offsets]
            # where a hit stood in the input is not known here
            gains[within] = gain.of_lists(self.hit_grade[within], offsets, positions=False)
            if not gain.rises:  # a higher grade need not have the higher gain
                gains = gains[np.lexsort((-gains, self.hit_first, _query_of_each(self.hit_offsets)))]
            self._hit_gains[gain, depth] = gains
        return gains

    def judged_gains(self, gain: Gain) -> tuple[Floats, Ints]:
        """The gains of the judged grades, highest first, and the number of each."""
        held = self._judged_gains.get(gain)
        if held is None:
            gains = gain.of_lists(self.judged_grade, self.judged_offsets, IN_JUDGED, positions=False)
            held = gains, self.judged_count
            if not gain.rises:
                order = np.lexsort((-gains, _query_of_each(self.judged_offsets)))
                held = gains[order], self.judged_count[order]
            self._judged_gains[gain] = held
        return held


def _query_of_each(offsets: Ints) -> Ints:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


class Hits:
    """Room for the hits of a chunk, which a maker of the backend fills."""

    def __init__(self, queries: int, most: int) -> None:
        self.offsets = np.empty(queries + 1, dtype=np.int64)
        self.grade = np.empty(most)
        self.first = np.empty(most, dtype=np.int64)
        self.last = np.empty(most, dtype=np.int64)


def make_batch(
    returned: Ints,
    hits: Hits,
    fault: Fault,
    judged: tuple[Array, Ints],
    needs: Needs,
    ties: int,
    role: int = 0,
) -> Batch:
    """The Batch of the hits that a maker wrote and of the judged grades (values and offsets).

    `fault` is what was found wrong before. Of that and what is wrong with the judged grades, the lower is raised; or,
    where those are not the grades of the hits' lists and have a `role`, which is added to the code, that of the list.
    """
    grades, grade_offsets = judged
    judged_offsets = np.empty(len(grade_offsets), dtype=np.int64)
    judged_grade = np.empty(len(grades))
    judged_count = np.empty(len(grades), dtype=np.int64)
    own: Fault = _backend.ordering.judged_grades(
        grades, grade_offsets, needs.judged_depth, judged_offsets, judged_grade, judged_count
    )
    check(fault, own and (own[0] + role, *own[1:])) if role else check(lower(fault, own))
    hit_count, judged_total = int(hits.offsets[-1]), int(judged_offsets[-1])
    return Batch(
        returned,
        hits.offsets,
        hits.grade[:hit_count],
        hits.first[:hit_count],
        hits.last[:hit_count],
        judged_offsets,
        judged_grade[:judged_total],
        judged_count[:judged_total],
        ties,
    )
