"""Rankings of which only a part is looked at: the first documents, or those that are judged."""

from __future__ import annotations

import numpy as np

from rankgain._codes import UNLIMITED
from rankgain.batch import NON_RELEVANT, Batch, Needs
from rankgain.errors import Offence
from rankgain.lists import Ints
from rankgain.rankings import Rankings


class Limited(Rankings):
    """The first `depth` documents of each ranking, and of these, `judged_only`, those that are judged."""

    def __init__(self, rankings: Rankings, depth: int, judged_only: bool) -> None:
        left_out = rankings.left_out
        super().__init__(
            rankings.query_ids,
            ties=rankings.ties,
            missing=rankings.missing,
            left_out=(left_out["missing"], left_out["unjudged"]),
        )
        self.score_bits = rankings.score_bits
        self.has_ids = rankings.has_ids
        self._rankings = rankings
        self._depth = depth
        self._judged_only = judged_only
        if depth < UNLIMITED and rankings.ties not in (None, "stable", "docid"):
            raise ValueError(f"depth: which of the tied documents it leaves is open with ties={rankings.ties!r}")

    def under(self, *, ties: str | None = None, missing: str | None = None, score_bits: int | None = None) -> Rankings:
        rankings = self._rankings.under(ties=ties, missing=missing, score_bits=score_bits)
        return Limited(rankings, self._depth, self._judged_only)

    @property
    def sizes(self) -> Ints:
        return np.minimum(self._rankings.sizes, self._depth)

    @property
    def loads(self) -> Ints:
        return self._rankings.loads

    def batch(self, start: int, stop: int, needs: Needs) -> Batch:
        if self._judged_only:
            needs = Needs(UNLIMITED, needs.judged_depth, min(needs.below, NON_RELEVANT))
        batch = self._rankings.batch(start, stop, needs._replace(depth=min(needs.depth, self._depth)))
        kept = batch.hit_first <= self._depth
        if self._judged_only:
            kept &= batch.hit_grade >= 0.0
        offsets = np.append(0, np.cumsum(kept))[batch.hit_offsets]
        first, last, returned = batch.hit_first[kept], batch.hit_last[kept], np.minimum(batch.returned, self._depth)
        if self._judged_only:
            first, last = _closed_up(first, offsets)
            returned = np.diff(offsets)
        judged = batch.judged_offsets, batch.judged_grade, batch.judged_count
        return Batch(returned, offsets, batch.hit_grade[kept], first, last, *judged, batch.ties)

    def refusal(self, query: int, offence: Offence) -> Exception:
        return self._rankings.refusal(query, offence)


def _closed_up(first: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """The ranks of tie groups where nothing but hits is left."""
    place = np.arange(len(first)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1
    begins = np.append(True, (np.diff(first) != 0) | (place[1:] == 1))[: len(first)]
    group = np.cumsum(begins) - 1
    starts = np.flatnonzero(begins)
    sizes = np.diff(np.append(starts, len(first)))
    return place[starts][group], (place[starts] + sizes - 1)[group]
