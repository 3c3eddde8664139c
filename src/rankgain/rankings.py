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
from rankgain.errors import Offence, located, lowest_first, refusal
from rankgain.evaluation import Evaluation, Plan
from rankgain.lists import CHUNK, Ints, Lists
from rankgain.metrics import TABLE, Metric, parse
from rankgain.threads import check_threads, over

if TYPE_CHECKING:
    from rankgain.curves import Curve

TIES = {"average": AVERAGE, "stable": STABLE, "docid": DOCID, "best": BEST, "worst": WORST}

SMALLEST_CHUNK = 1 << 15  # what several threads share has several chunks for each, but none smaller


def check_ties(ties: str, ids: bool) -> str:
    """The policy, if there is such a one; `ids`: whether the documents have ids."""
    if not isinstance(ties, str) or ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(map(repr, TIES))}, not {ties!r}")
    if ties == "docid" and not ids:
        raise ValueError("ties='docid' needs document ids, and bare scores have none; choose another of the policies")
    return ties


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

    def __len__(self) -> int:
        return len(self.query_ids)

    def evaluate(self, *metrics: str | Metric, threads: int = 1) -> Evaluation:
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

        Returns
        -------
        Evaluation
            A mapping from each metric, as asked, to one float64 value a query.

        Raises
        ------
        ValueError, TypeError
            For a metric that there is not, and for contents that have no meaning (a NaN score, a negative grade …):
            of several the lowest query, then the lowest position, is named.

        Examples
        --------
        >>> import rankgain as rg
        >>> rankings = rg.from_scores([[0, 1, 2], [1, 0, 0]], [[0.3, 0.9, 0.1], [0.8, 0.1, 0.2]])
        >>> result = rankings.evaluate("ndcg@2", "mrr")
        >>> result["mrr"].tolist()
        [1.0, 1.0]
        >>> round(result.mean("ndcg@2"), 4)
        0.69
        """
        threads = check_threads(threads)
        requests = dict(pair for metric in metrics for pair in parse(metric))
        if not requests:
            raise ValueError(f"no metric was asked for; there are: {', '.join(TABLE)}")
        plan = Plan(list(dict.fromkeys(requests.values())))
        out = np.empty((len(plan.metrics), len(self)))

        def work(start: int, stop: int) -> int:
            batch = self.batch(start, stop, plan.needs)
            plan.fill(batch, out[:, start:stop])
            return batch.empty_queries()

        def refusing(start: int, stop: int) -> int:
            return lowest_first(work, start, stop, self.refusal)

        empty = sum(over(self.chunks(threads), refusing, threads))
        vectors = dict(zip(plan.metrics, out, strict=True))
        return Evaluation(
            {key: vectors[metric] for key, metric in requests.items()},
            self.query_ids,
            ties=self.ties,
            missing=self.missing,
            backend=_backend.name,
            counts={"queries": len(self), **self.left_out, "empty": empty},
        )

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
