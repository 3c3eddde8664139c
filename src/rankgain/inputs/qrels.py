"""qrels and a run, as dicts by query of dicts by document."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np

from rankgain import _backend, _codes
from rankgain.batch import Hits, Needs
from rankgain.errors import Fault, Offence, refusal
from rankgain.ids import Rows
from rankgain.lists import Floats, Ints
from rankgain.rankings import TIES, Rankings, check_missing, check_ties
from rankgain.truth import Judged, Judgments, as_dict, of_dicts, types

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
    check_ties(ties, ids=True)
    check_missing(missing)
    mapping(run, "run")
    if isinstance(qrels, Judgments):
        return Matched(qrels, run, ties=ties, missing=missing, query_ids=query_ids)
    held = mapping(qrels, "qrels")
    truth = of_dicts(list(held), held.values(), "qrels", only=run if missing == "skip" else None)
    unread = held if missing == "skip" else None
    return Matched(truth, run, ties=ties, missing=missing, query_ids=query_ids, unread=unread)


def mapping(value: Any, name: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping of mappings, not {type(value).__name__}")
    if set(map(type, value.values())) <= {dict}:
        return value
    for query, documents in value.items():
        if not isinstance(documents, Mapping):
            kind = type(documents).__name__
            raise TypeError(f"{name}: query {query!r}: must be a mapping by document, not {kind}")
    return value


class Matched(Judged):
    """A run of dicts."""

    def __init__(
        self,
        truth: Judgments,
        run: Run,
        *,
        ties: str,
        missing: str,
        query_ids: Iterable[Hashable] | None = None,
        unread: Mapping[Any, Mapping[Any, float]] | None = None,
    ) -> None:
        """`unread`: the qrels of which the truth holds but the queries that the run has."""
        self._unread = unread
        self._held = list(map(run.get, truth.query_ids))
        common = [number for number, own in enumerate(self._held) if own is not None]
        super().__init__(truth, "run", run, ties=ties, missing=missing, query_ids=query_ids, common=common)

    def choose(self, missing: str, query_ids: Iterable[Hashable] | None) -> None:
        if missing == "zero" and self._unread is not None:  # what was skipped counts now
            self._truth = of_dicts(list(self._unread), self._unread.values(), self._truth.name)
            self._unread = None
        super().choose(missing, query_ids)
        self._runs = [own or {} for own in self._held if missing == "zero" or own is not None]

    @property
    def loads(self) -> Ints:
        """Nothing of a run is copied, but what is judged."""
        return np.diff(self._truth.offsets)[self._queries]

    def returned(self, start: int, stop: int) -> Ints:
        return np.fromiter(map(len, self._runs[start:stop]), np.int64, stop - start)

    def hits(
        self, start: int, stop: int, rows: Rows, offsets: Ints, grades: Floats, needs: Needs
    ) -> tuple[Hits, Fault]:
        hits = Hits(stop - start, len(grades))
        documents = self._truth.documents
        documents = documents[rows] if isinstance(rows, slice) else [documents[row] for row in rows.tolist()]
        fault = _backend.readers.hits_matched(
            documents,
            offsets,
            grades,
            self._runs[start:stop],
            needs.depth,
            needs.below,
            TIES[self.ties or "docid"],
            self.score_bits == 32,
            hits.offsets,
            hits.grade,
            hits.first,
            hits.last,
        )
        return hits, fault

    def run_refusal(self, query: int, offence: Offence) -> Exception:
        run = as_dict(self._runs[query])
        where, detail = f"{self._run_name}: {self.query_name(query)}", offence.detail
        if offence.code == _codes.OTHER_IDS:
            first = int(self._truth.offsets[self._queries[query]])
            detail = types(self._truth.documents[first : first + 1], run, (self._truth.name, self._run_name))
        elif offence.position >= 0:
            document, value = next(islice(run.items(), offence.position, None))
            kind = "an int beyond float64" if type(value) is int else type(value).__name__
            where, detail = f"{where}, document {document!r}", kind
        return refusal(offence.code, where, detail)
