"""qrels and a run, as dicts by query of dicts by document."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from rankgain._codes import DICTS, OTHER_IDS
from rankgain.errors import Offence, refusal
from rankgain.lists import Ints
from rankgain.rankings import Rankings
from rankgain.rules import check_missing, rules_of
from rankgain.source import Chunk
from rankgain.truth import JudgedSource, Judgments, Truth, as_dict, of_dicts, truth_of, types, what_it_is

Qrels = Mapping[Any, Mapping[Any, float]]
Run = Mapping[Any, Mapping[Any, float]]


def from_qrels(
    qrels: Qrels | Judgments,
    run: Run,
    *,
    ties: str = "docid",
    missing: str = "zero",
    query_ids: Iterable[Hashable] | None = None,
) -> Rankings:
    """Rankings from judgements and a run.

    Parameters
    ----------
    qrels : mapping of mappings, or Judgments
        Grades by query and document: any numbers. A grade of 0 is judged and not relevant; below 0, as in trec_eval,
        pooled but unjudged (gain 0, never relevant). A document that is not there is unjudged.
    run : mapping of mappings
        Scores by query and document: any numbers but NaN, higher is better.
    ties : {"docid", "average", "stable", "best", "worst"}
        How documents of equal score are ordered: by id, the higher first (trec_eval's rule; str by code point, bytes by
        byte, int numerically), the expected value over all orders, in the dict's order, highest gain first or last.
    missing : {"zero", "skip"}
        Queries of the qrels that the run lacks are evaluated as empty lists, hence 0 (trec_eval's ``-c``), or left out
        (its default). Queries of the run without qrels are always left out. Both are counted in the result.
    query_ids : iterable, optional
        Other names for the queries that are evaluated, in the order of the qrels; None: their ids.

    Returns
    -------
    Rankings
        The queries in the order of the qrels.

    Raises
    ------
    ValueError
        If no query is on both sides; in `evaluate`, for grades that are not finite, scores that are NaN, or document
        ids of other types on the two sides.
    TypeError
        If something is no mapping; in `evaluate`, for a grade or a score that is no number, or ids of equal score that
        cannot be ordered.

    Examples
    --------
    >>> import rankgain as rg
    >>> qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d7": 1}}
    >>> run = {"q1": {"d1": 0.9, "d2": 1.4, "d9": 0.2}}
    >>> result = rg.from_qrels(qrels, run).evaluate("ndcg@10", "mrr@10")
    >>> result["ndcg@10"].round(4).tolist()
    [0.4796, 0.0]
    >>> result.counts
    {'queries': 2, 'missing': 1, 'unjudged': 0, 'empty': 0}
    """
    rules = rules_of(ties, ids=True)
    check_missing(missing)
    mapping(run, "run")
    if isinstance(qrels, Judgments):
        return Rankings(DictSource(truth_of(qrels), run, missing, query_ids), rules)
    held = mapping(qrels, "qrels")
    if missing == "zero":
        return Rankings(DictSource(of_dicts(list(held), held.values(), "qrels"), run, missing, query_ids), rules)
    truth = of_dicts(list(held), held.values(), "qrels", run)
    return Rankings(DictSource(truth, run, missing, query_ids, held), rules)


_DICT, _NONE = frozenset((dict,)), type(None)


def mapping(value: Any, name: str) -> Mapping[Any, Any]:
    if type(value) is not dict and not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping of mappings, not {type(value).__name__}")
    if _DICT.issuperset(map(type, value.values())):
        return value
    for query, documents in value.items():
        if not isinstance(documents, Mapping):
            kind = type(documents).__name__
            raise TypeError(f"{name}: query {query!r}: must be a mapping by document, not {kind}")
    return value


class DictSource(JudgedSource):
    """A run of dicts."""

    most = 1 << 17  # some milliseconds, in which nothing else of Python runs and Ctrl-C is not heard

    def __init__(
        self,
        truth: Truth,
        run: Run,
        missing: str,
        query_ids: Iterable[Hashable] | None = None,
        unread: Mapping[Any, Mapping[Any, float]] | None = None,
        name: str = "run",
    ) -> None:
        """`unread`: the qrels of which the truth holds but the queries that the run has."""
        found: list[Any] = list(map(run.get, truth.query_ids))
        common: Sequence[int] | None = None
        if _NONE in map(type, found):
            common = [number for number, own in enumerate(found) if own is not None]
        super().__init__(truth, name, run, common, missing, query_ids)
        self._run = run
        self._unread = unread
        if common is not None:
            found = [own or {} for own in found if missing == "zero" or own is not None]
        self._runs = found

    def under_missing(self, missing: str) -> DictSource:
        truth, unread = self._truth, self._unread if missing == "skip" else None
        if missing == "zero" and self._unread is not None:  # what was skipped counts now
            truth = of_dicts(list(self._unread), self._unread.values(), truth.name)
        return DictSource(truth, self._run, missing, self._names_under(missing), unread, self._run_name)

    @property
    def sizes(self) -> Ints:
        return np.fromiter(map(len, self._runs), np.int64, len(self._runs))

    @property
    def longest(self) -> int:
        if len(self._runs) == 1:
            return max(len(self._runs[0]), int(self._truth.judged.total))
        return super().longest

    @property
    def load(self) -> int:
        return sum(map(len, self._runs)) + int(self._truth.judged.total)

    def chunk(self, start: int, stop: int) -> Chunk:
        return DICTS, start, stop, self._truth.judged, None if self._numbers is None else self._common, self._runs

    def run_refusal(self, query: int, offence: Offence) -> Exception:
        run = as_dict(self._runs[query])
        where, detail = f"{self._run_name}: {self.query_name(query)}", offence.detail
        if offence.code == OTHER_IDS:
            first = int(self._truth.offsets[self._number(query)])
            detail = types(self._truth.documents[first : first + 1], run, (self._truth.name, self._run_name))
        elif offence.position >= 0:
            document, value = next(islice(run.items(), offence.position, None))
            where, detail = f"{where}, document {document!r}", what_it_is(value)
        return refusal(offence.code, where, detail)
