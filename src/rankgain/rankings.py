"""Rankings: the caller's handle on what he holds, in whatever form, ready to be evaluated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgain import _backend
from rankgain._codes import AVERAGE, BEST, DOCID, STABLE, WORST
from rankgain.arrays import check_id, objects_of
from rankgain.batch import Batch, Needs
from rankgain.definitions import TABLE
from rankgain.errors import Offence, located, lowest_first, refusal
from rankgain.evaluation import Evaluation, Plan
from rankgain.lists import CHUNK, Floats, Ints, Lists
from rankgain.metrics import Metric, parse
from rankgain.parameters import cut_off
from rankgain.threads import check_threads, over

if TYPE_CHECKING:
    from rankgain.curves import Curve
    from rankgain.spread import TieSpread

TIES = {"average": AVERAGE, "stable": STABLE, "docid": DOCID, "best": BEST, "worst": WORST}

SMALLEST_CHUNK = 1 << 15  # what several threads share has several chunks for each, but none smaller


def check_ties(ties: str, ids: bool) -> str:
    """The policy, if there is such a one; `ids`: whether the documents have ids."""
    if not isinstance(ties, str) or ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(map(repr, TIES))}, not {ties!r}")
    if ties == "docid" and not ids:
        raise ValueError("ties='docid' needs document ids, and bare scores have none; choose another of the policies")
    return ties


def refuse_average(metric: Metric) -> None:
    reason = TABLE[metric.name].unaveraged
    if reason:
        raise ValueError(
            f"{metric}: there is no value for ties='average', for {reason}; order ties another way, such as "
            "rankings.under(ties='stable')"
        )


def check_score_bits(score_bits: int) -> None:
    if not isinstance(score_bits, (int, np.integer)) or score_bits not in (32, 64):
        raise ValueError(f"score_bits must be 64 or 32, not {score_bits!r}")


def check_missing(missing: str) -> str:
    if not isinstance(missing, str) or missing not in ("zero", "skip"):
        raise ValueError(f"missing must be 'zero' or 'skip', not {missing!r}")
    return missing


def check_query_ids(query_ids: Iterable[Hashable] | None, count: int) -> Sequence[Any]:
    """The caller's names for the queries; None: 0, 1, 2 …"""
    if query_ids is None:
        return range(count)
    ids = objects_of(query_ids, "query_ids")
    if not isinstance(ids, Iterable):
        raise TypeError(f"query_ids must hold one id a query, not {type(query_ids).__name__}")
    names = list(ids)
    if len(names) != count:
        raise ValueError(f"query_ids has {len(names)} ids, and there are {count} queries")
    seen: set[Hashable] = set()
    for position, name in enumerate(names):
        check_id(name, f"query_ids: position {position}")
        if name in seen:
            raise ValueError(f"query_ids: position {position}: {name!r} stands there for the second time")
        seen.add(name)
    return names


def chunks(loads: Ints, documents: int) -> Iterator[tuple[int, int]]:
    """Runs of queries with about so many documents, at least one query each."""
    ends = np.cumsum(loads + 1)
    start = 0
    while start < len(ends):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + documents, side="right")))
        yield start, stop
        start = stop


class Rankings(ABC):
    """Ranked documents with their judgements, one ranking a query; made by the `from_…` and `read_…` functions.

    Nothing is copied or ordered before `evaluate` asks for it.

    Attributes
    ----------
    query_ids : sequence
        The queries in the order of the results.
    ties : str or None
        How documents of equal score are ordered; None where the order was given.
    missing : str or None
        What became of queries that have judgements but no ranking: "zero" or "skip"; None where that cannot be.
    left_out : dict of str to int
        How many queries were "missing" from the run, and how many of the run had no judgements ("unjudged").
    """

    def __init__(
        self,
        query_ids: Sequence[Any],
        *,
        ties: str | None = None,
        missing: str | None = None,
        left_out: tuple[int, int] = (0, 0),
    ) -> None:
        self.query_ids = query_ids
        self.ties = ties
        self.missing = missing
        self.left_out = dict(zip(("missing", "unjudged"), left_out, strict=True))
        self.score_bits = 64

    has_ids = False  # whether the documents have ids, by which ties can be ordered

    def under(self, *, ties: str | None = None, missing: str | None = None, score_bits: int | None = None) -> Rankings:
        """The same rankings under other rules; what was given is not copied.

        Parameters
        ----------
        ties : {"average", "stable", "docid", "best", "worst"}, optional
            How documents of equal score are ordered; None: as they are now.
        missing : {"zero", "skip"}, optional
            Whether queries that the run lacks count as 0 or are left out; None: as they are now.
        score_bits : {64, 32}, optional
            The precision with which scores are compared: 32 as trec_eval up to release 9 and pytrec_eval do, for whom
            scores that differ in less than about the seventh digit are tied. None: as it is now, at first 64.

        Returns
        -------
        Rankings

        Raises
        ------
        ValueError
            For a rule that there is not; where rankings have no scores, ids or missing queries to which it applies;
            for a run that was read from what cannot be read again.

        Examples
        --------
        >>> import rankgain as rg
        >>> rankings = rg.from_scores([0, 1], [0.5, 0.5])
        >>> [rankings.under(ties=ties).evaluate("rr").mean("rr") for ties in ("best", "average", "worst")]
        [1.0, 0.75, 0.5]
        """
        if missing is not None and missing != self.missing:
            raise ValueError("missing: these rankings know of no queries that a run lacks")
        if (ties is not None or score_bits is not None) and self.ties is None:
            raise ValueError("ties and score_bits: these rankings were given in rank order, without scores")
        if score_bits is not None:
            check_score_bits(score_bits)
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        if ties is not None:
            other.ties = check_ties(ties, ids=self.has_ids)
        if score_bits is not None:
            other.score_bits = score_bits
        return other

    def __len__(self) -> int:
        return len(self.query_ids)

    def limited(self, *, depth: int | None = None, judged_only: bool = False) -> Rankings:
        """The same rankings, of which only a part is looked at.

        Parameters
        ----------
        depth : int, optional
            How many documents of each ranking count, from the first on; the others are as if they were not returned
            (trec_eval's ``-M``). None: all.
        judged_only : bool
            Whether documents that are not judged are taken out, and those below them move up (trec_eval's ``-J``; the
            condensed lists of Sakai 2007).

        Returns
        -------
        Rankings

        Raises
        ------
        ValueError, TypeError
            If `depth` is no positive integer, or leaves open which of the tied documents count (ties="average", "best"
            or "worst").

        Examples
        --------
        >>> import rankgain as rg
        >>> qrels = {"q1": {"d1": 1, "d2": 0, "d3": 1}}
        >>> run = {"q1": {"x": 0.9, "d2": 0.8, "d1": 0.7, "d3": 0.6}}
        >>> rankings = rg.from_qrels(qrels, run)
        >>> [part.evaluate("rr", "recall").mean() for part in (rankings, rankings.limited(depth=3, judged_only=True))]
        [{'rr': 0.3333333333333333, 'recall': 1.0}, {'rr': 0.5, 'recall': 0.5}]

        References
        ----------
        Sakai, Alternatives to bpref, SIGIR 2007.
        """
        from rankgain.views import Limited  # which few need

        if not isinstance(judged_only, (bool, np.bool_)):
            raise TypeError(f"judged_only must be True or False, not {judged_only!r}")
        return Limited(self, cut_off(depth, "depth"), bool(judged_only))

    def evaluate(self, *metrics: str | Metric, threads: int = 1, like: str | None = None) -> Evaluation:
        """Compute metrics, all of them and all their cut-offs in one pass over the data.

        Parameters
        ----------
        *metrics : str or Metric
            ``"ndcg@10"``, ``"ndcg(gain=exponential)@10"`` (or, for shells, ``"ndcg:gain=exponential@10"``), ``"mrr"``,
            trec_eval's ``"ndcg_cut.5,10"`` and ``"recip_rank"``, or what `rankgain.metric` returns.
        threads : int
            How many threads may share the queries, from 1 to 256; the values are the same bits with any number. Work
            of less than about a millisecond stays on one. Arrays, matrices, frames and files gain by it; dicts and
            lists of Python objects hardly do. Gains that are callables are called from all of them.
        like : str, optional
            The name of a peer by whose rules to compute: ``"trec_eval-9"``, ``"trec_eval-10"``, ``"sklearn"``,
            ``"lightgbm"``, ``"xgboost"``, ``"catboost"``, ``"torchmetrics"``, ``"ranx"``, ``"lenskit"``,
            ``"rectools"``, ``"implicit"``, ``"spark"``, ``"elasticsearch"``, ``"beir"`` or ``"msmarco"``. Its gain,
            ideal, threshold, divisor and value for empty queries are taken for the metric's, unless you wrote them (of
            a `Metric`: unless they differ from the defaults); its rules for ties, missing queries and the width of
            scores for those of the rankings. `rankgain.explain` prints them.

        Returns
        -------
        Evaluation
            A mapping from each metric, as asked, to one float64 value a query.

        Raises
        ------
        ValueError, TypeError
            For a metric that there is not, and for contents that have no meaning (a NaN score, a negative grade …):
            of several the lowest query, then the lowest position, is named. For a peer that there is not, a metric that
            it has not, and a rule of it that these rankings cannot follow.

        Examples
        --------
        >>> import rankgain as rg
        >>> rankings = rg.from_scores([[0, 1, 2], [1, 0, 0]], [[0.3, 0.9, 0.1], [0.8, 0.1, 0.2]])
        >>> result = rankings.evaluate("ndcg@2", "mrr")
        >>> result["mrr"].tolist()
        [1.0, 1.0]
        >>> round(result.mean("ndcg@2"), 4)
        0.69
        >>> rankings.evaluate("ndcg@2", like="lightgbm")
        <Evaluation: 2 queries, ties='stable', like='lightgbm', backend='...'>
        ndcg@2  0.6377
        """
        threads = check_threads(threads)
        if like is None:
            return self._evaluate(dict(pair for metric in metrics for pair in parse(metric)), threads, None)
        from rankgain.peers import OWN, follow, peer_of  # which few need

        rankings, requests = follow(self, metrics, like)
        peer = peer_of(like)
        return rankings._evaluate(requests, threads, None if peer is OWN else peer.name)

    def _evaluate(self, requests: dict[str | Metric, Metric], threads: int, like: str | None) -> Evaluation:
        if not requests:
            raise ValueError(f"no metric was asked for; there are: {', '.join(TABLE)}")
        plan = Plan(list(dict.fromkeys(requests.values())))
        out, empty = self.filled(plan, threads)
        vectors = dict(zip(plan.metrics, out, strict=True))
        return Evaluation(
            {key: vectors[metric] for key, metric in requests.items()},
            self.query_ids,
            ties=self.ties,
            missing=self.missing,
            like=like,
            backend=_backend.name,
            counts={"queries": len(self), **self.left_out, "empty": empty},
        )

    def filled(self, plan: Plan, threads: int = 1) -> tuple[Floats, int]:
        """The values of the plan's metrics, a row each, and how many queries have nothing relevant."""
        if self.ties == "average":
            for metric in plan.metrics:
                refuse_average(metric)
        out = np.empty((len(plan.metrics), len(self)))

        def work(start: int, stop: int) -> int:
            batch = self.batch(start, stop, plan.needs)
            plan.fill(batch, out[:, start:stop])
            return batch.empty_queries()

        def refusing(start: int, stop: int) -> int:
            return lowest_first(work, start, stop, self.refusal)

        return out, sum(over(self.chunks(threads), refusing, threads))

    def tie_spread(self, *metrics: str | Metric, threads: int = 1) -> TieSpread:
        """How much of a metric is tie luck: its worst, expected and best value over the orders of tied documents.

        A scorer that gives all documents the same score is perfect at its best, and at its worst it finds nothing.
        Files are read once more if ties are broken by id or input order now.

        Parameters
        ----------
        *metrics, threads
            As in `evaluate`.

        Returns
        -------
        TieSpread
            The values of each query and their means, beside those by the rankings' own rule.

        Raises
        ------
        ValueError, TypeError
            As in `evaluate`, and where rankings were given in rank order, without scores.

        Examples
        --------
        >>> import rankgain as rg
        >>> constant = rg.from_scores([[0, 1, 0, 2], [0, 0, 0, 1]], [[0.5] * 4] * 2, ties="stable")
        >>> constant.tie_spread("ndcg@2", "rr")
        metric   worst  expected    best  stable  hang on ties
        ------  ------  --------  ------  ------  ------------
        ndcg@2  0.0000    0.4363  1.0000  0.1199        2 of 2
        rr      0.2917    0.6215  1.0000  0.3750        2 of 2
        """
        from rankgain.spread import tie_spread  # which few need

        return tie_spread(self, metrics, threads)

    def curve(self, metric: str | Metric, ks: Iterable[int] = range(1, 101)) -> Curve:
        """Compute a metric at many cut-offs, all of them in one pass over the data.

        Parameters
        ----------
        metric : str or Metric
            As in `evaluate`, without a cut-off: ``"ndcg"``, ``"ndcg(gain=exponential)"``.
        ks : iterable of int
            The cut-offs, positive, in any order; repeated ones count once.

        Returns
        -------
        Curve
            The value of each query at each cut-off, their means, and `Curve.plot`.

        Raises
        ------
        ValueError, TypeError
            For a metric that has a cut-off, for what is no cut-off, and as `evaluate`.

        Examples
        --------
        >>> import rankgain as rg
        >>> curve = rg.from_ranked([[3, 0, 1], [0, 1, 2]]).curve("ndcg", ks=[1, 2, 3])
        >>> curve.values.round(4).tolist()
        [[1.0, 0.8262, 0.9639], [0.0, 0.2398, 0.6199]]
        >>> curve.mean().round(4).tolist()
        [0.5, 0.533, 0.7919]
        """
        from rankgain.curves import curves  # which few need

        return curves(self, [metric], ks)[0]

    @property
    @abstractmethod
    def sizes(self) -> Ints:
        """How many documents each query returned."""

    @property
    def loads(self) -> Ints:
        """How many documents of each query a chunk holds: what was returned, and what is judged beside it."""
        return self.sizes

    @abstractmethod
    def batch(self, start: int, stop: int, needs: Needs) -> Batch:
        """The Batch of the queries start … stop − 1; raises Offence."""

    @abstractmethod
    def refusal(self, query: int, offence: Offence) -> Exception:
        """The offence of a query in the caller's words."""

    def query_name(self, query: int) -> str:
        """The query as an error names it."""
        return f"query {self.query_ids[query]!r}"

    def refuse(self, held: Lists, query: int, offence: Offence) -> Exception:
        """The refusal of what stands in a list: names the argument, the query and, from 0 on, the position."""
        offence = located(offence, held.take(query, query + 1)[0])
        place = "" if offence.position < 0 else f", {held.where(offence.position, query)}"
        return refusal(offence.code, f"{held.name}: {self.query_name(query)}{place}", offence.detail)

    def chunks(self, threads: int = 1) -> Iterator[tuple[int, int]]:
        loads = self.loads
        documents = int(loads.sum())
        if threads == 1 or documents <= CHUNK:  # so little is done before another thread has begun
            return chunks(loads, CHUNK)
        return chunks(loads, min(CHUNK, max(SMALLEST_CHUNK, documents // (4 * threads))))

    def __repr__(self) -> str:
        ties = "" if self.ties is None else f", ties={self.ties!r}"
        missing = "" if self.missing is None else f", missing={self.missing!r}"
        return f"<Rankings of {len(self)} queries, {int(self.sizes.sum())} documents{ties}{missing}>"
