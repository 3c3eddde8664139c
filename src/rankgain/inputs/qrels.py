"""qrels and a run, as dicts by query of dicts by document."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np

from rankgain import _backend, _codes
from rankgain.batch import Batch, Hits, Needs, make_batch
from rankgain.errors import Offence, located, refusal
from rankgain.lists import Ints
from rankgain.rankings import TIES, Rankings, check_missing, check_query_ids, check_ties
from rankgain.scalars import real

Qrels = Mapping[Any, Mapping[Any, float]]
Run = Mapping[Any, Mapping[Any, float]]


def from_qrels(
    qrels: Qrels,
    run: Run,
    *,
    ties: str = "docid",
    missing: str = "zero",
    query_ids: Iterable[Hashable] | None = None,
) -> Rankings:
    """Rankings from judgements and a run.

    Parameters
    ----------
    qrels : mapping of mappings
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
    check_ties(ties, ids=True)
    check_missing(missing)
    sides = _mapping(qrels, "qrels"), _mapping(run, "run")
    return Matched(*sides, ties=ties, missing=missing, query_ids=query_ids)


def _mapping(value: Any, name: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping of mappings, not {type(value).__name__}")
    for query, documents in value.items():
        if not isinstance(documents, Mapping):
            kind = type(documents).__name__
            raise TypeError(f"{name}: query {query!r}: must be a mapping by document, not {kind}")
    return value


class Matched(Rankings):
    """`names` are what errors call the two sides; `show` makes of a query's id what stands in the result."""

    def __init__(
        self,
        truth: Qrels,
        run: Run,
        *,
        ties: str,
        missing: str,
        query_ids: Iterable[Hashable] | None = None,
        names: tuple[str, str] = ("qrels", "run"),
        show: Callable[[Any], Any] = lambda key: key,
    ) -> None:
        absent = sum(query not in run for query in truth)
        if absent == len(truth):
            raise ValueError(f"{names[0]} and {names[1]} have no query in common{_types(truth, run, names)}")
        self._keys = [query for query in truth if missing == "zero" or query in run]
        shown = map(show, self._keys) if query_ids is None else query_ids
        left_out = absent, len(run) - (len(truth) - absent)
        super().__init__(check_query_ids(shown, len(self._keys)), ties=ties, missing=missing, left_out=left_out)
        self._truth = truth
        self._run = run
        self._names = names

    @property
    def sizes(self) -> Ints:
        return np.array([len(self._run.get(query, ())) for query in self._keys], dtype=np.int64)

    @property
    def loads(self) -> Ints:
        return self.sizes + np.array([len(self._truth[query]) for query in self._keys], dtype=np.int64)

    def _documents(self, query: int) -> tuple[dict[Any, float], dict[Any, float]]:
        key = self._keys[query]
        return _dict(self._truth[key]), _dict(self._run.get(key, {}))

    def batch(self, start: int, stop: int, needs: Needs) -> Batch:
        truths, runs = map(list, zip(*map(self._documents, range(start, stop)), strict=True))
        judged = sum(map(len, truths))
        hits = Hits(stop - start, judged)
        grades, grade_offsets = np.empty(judged), np.empty(stop - start + 1, dtype=np.int64)
        ties = TIES[self.ties or "docid"]
        fault = _backend.readers.hits_matched(
            truths,
            runs,
            needs.depth,
            needs.zeros,
            ties,
            hits.offsets,
            hits.grade,
            hits.first,
            hits.last,
            grade_offsets,
            grades,
        )
        if fault is not None:
            raise Offence(*fault)
        returned = np.array([len(documents) for documents in runs], dtype=np.int64)
        return make_batch(returned, hits, None, (grades[: grade_offsets[-1]], grade_offsets), needs, ties)

    def refusal(self, query: int, offence: Offence) -> Exception:
        truth, run = self._documents(query)
        in_run = offence.code in (_codes.NAN_SCORE, _codes.SCORE_TYPE, _codes.MIXED_IDS, _codes.OTHER_IDS)
        where, detail = f"{self._names[in_run]}: {self.query_name(query)}", offence.detail
        if offence.code == _codes.OTHER_IDS:
            detail = _types(truth, run, self._names).removeprefix(": ")
        elif offence.gain is not None:
            judged = {document: grade for document, value in truth.items() if (grade := real(value) or 0.0) >= 0.0}
            offence = located(offence, np.array(list(judged.values())))
            where, detail = f"{where}, document {list(judged)[offence.position]!r}", offence.detail
        elif offence.position >= 0:
            document, value = next(islice((run if in_run else truth).items(), offence.position, None))
            kind = "an int beyond float64" if type(value) is int else type(value).__name__
            where, detail = f"{where}, document {document!r}", kind
        return refusal(offence.code, where, detail)


def _dict(documents: Mapping[Any, float]) -> dict[Any, float]:
    return documents if type(documents) is dict else dict(documents)


def _types(truth: Mapping[Hashable, Any], run: Mapping[Hashable, Any], names: tuple[str, str]) -> str:
    """The types of the ids on both sides, where they differ."""
    if not truth or not run:
        return ""
    kinds = [type(next(iter(side))).__name__ for side in (truth, run)]
    return "" if kinds[0] == kinds[1] else f": {kinds[0]} in {names[0]}, {kinds[1]} in {names[1]}"
