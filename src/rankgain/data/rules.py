"""Rules that define how the documents of a query are ordered and which documents count."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from rankgain._codes import AVERAGE, BEST, DOCID, STABLE, UNLIMITED, WORST
from rankgain.choices import ScoreTies, Ties
from rankgain.errors import quoted

AnyTies = TypeVar("AnyTies", Ties, ScoreTies)

TIES: dict[Ties, int] = {"average": AVERAGE, "stable": STABLE, "docid": DOCID, "best": BEST, "worst": WORST}

Codes = tuple[int, bool, int, bool, int, bool, int]  # the rules in the form that kernels expect


class Rules:
    """Immutable rules that define how documents are ordered and which documents count.

    `ties`: the policy for equal scores; None if documents were given in rank order. `depth`: how many documents of each
    ranking count. `judged_only`: whether unjudged documents are removed, which leaves the condensed list.
    `condensed_depth`: how many documents of the condensed list count. `scored_only`: whether the documents that are
    left are the judged ones, with grade 0 if they have no higher one. `scored_depth`: how many of them count.
    `codes`: the rules in the form that kernels expect.
    """

    __slots__ = (
        "codes",
        "condensed_depth",
        "depth",
        "judged_only",
        "score_bits",
        "scored_depth",
        "scored_only",
        "ties",
    )

    def __init__(
        self,
        ties: Ties | None = None,
        score_bits: int = 64,
        depth: int = UNLIMITED,
        judged_only: bool = False,
        condensed_depth: int = UNLIMITED,
        scored_only: bool = False,
        scored_depth: int = UNLIMITED,
    ) -> None:
        self.ties = ties
        self.score_bits = score_bits
        self.depth = depth
        self.judged_only = judged_only
        self.condensed_depth = condensed_depth
        self.scored_only = scored_only
        self.scored_depth = scored_depth
        self.codes: Codes = (STABLE if ties is None else TIES[ties], score_bits == 32, *self._limits)

    @property
    def _limits(self) -> tuple[int, bool, int, bool, int]:
        return self.depth, self.judged_only, self.condensed_depth, self.scored_only, self.scored_depth

    def limited(self, depth: int, judged_only: bool, scored_only: bool = False) -> Rules:
        """Return these rules with a further limit on depth, and on the documents within this depth.

        `judged_only`: whether to remove unjudged documents. `scored_only`: whether the documents that are left become
        the judged ones.
        """
        self._check_depth(depth)
        stage = "scored_depth" if self.scored_only else "condensed_depth" if self.judged_only else "depth"
        depths = {stage: min(getattr(self, stage), depth)}
        judged_only = self.judged_only or (judged_only and not self.scored_only)  # all scored documents are judged
        return self._with(**depths, judged_only=judged_only, scored_only=self.scored_only or scored_only)

    def under(self, ties: Ties | None, score_bits: int | None) -> Rules:
        """Return the rules with another tie policy or another precision of scores; None means no change."""
        rules = self._with(ties=ties or self.ties, score_bits=score_bits or self.score_bits)
        rules._check_depth(min(self.depth, self.condensed_depth, self.scored_depth))
        return rules

    @property
    def is_limited(self) -> bool:
        """Whether any returned document does not count, or is judged in another way than given."""
        return self._limits != (UNLIMITED, False, UNLIMITED, False, UNLIMITED)

    def unscored(self) -> Rules:
        """Return the rules under which documents are judged as given."""
        return self._with(scored_only=False, scored_depth=UNLIMITED)

    def _with(self, **changes: Any) -> Rules:
        return Rules(**{name: getattr(self, name) for name in self.__slots__ if name != "codes"} | changes)

    def _check_depth(self, depth: int) -> None:
        if depth < UNLIMITED and self.ties not in (None, "stable", "docid"):
            raise ValueError(f"depth: which of the tied documents it keeps is undefined with ties={self.ties!r}")


GIVEN = Rules()  # for documents given in rank order
_BY_TIES = {ties: Rules(ties) for ties in TIES}


def rules_of(ties: Ties, *, ids: bool, score_bits: int = 64) -> Rules:
    """Check a tie policy and return the rules that apply it. `ids`: whether the documents have ids."""
    if type(ties) is not str or ties not in TIES or (ties == "docid" and not ids):
        check_ties(ties, ids)
    return _BY_TIES[ties] if score_bits == 64 else Rules(ties, score_bits)


def check_ties(ties: AnyTies, ids: bool) -> AnyTies:
    """Check and return a tie policy. `ids`: whether the documents have ids."""
    if not isinstance(ties, str) or ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(map(repr, TIES))}, not {quoted(ties)}")
    if ties == "docid" and not ids:
        raise ValueError("ties='docid' needs document ids, and bare scores have none; choose another rule")
    return ties


def check_score_bits(score_bits: int) -> None:
    if not isinstance(score_bits, (int, np.integer)) or score_bits not in (32, 64):
        raise ValueError(f"score_bits must be 64 or 32, not {score_bits!r}")
