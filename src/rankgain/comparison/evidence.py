"""What warnings and reports need of a run besides its values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, Literal

from rankgain.comparison.bounds import Ranked, ranked_queries
from rankgain.metrics.metric import Metric, better, parse, row_of
from rankgain.metrics.subtopics import SUBTOPIC_TABLE
from rankgain.rankings import Rankings, first_documents
from rankgain.results.evaluation import Evaluation

# Metrics that ignore unjudged documents or count them separately, instead of treating them as not relevant.
WITHOUT_UNJUDGED = (
    *("bpref", "gm_bpref", "fallout", "rbp_residual", "judged", "unjudged"),
    *("idcg", "num_ret", "num_rel", "num_nonrel_judged_ret", "num_q"),
)
RETURNED = Metric("num_ret")
MOST_BOUNDED = 20_000  # maximum number of queries, summed over all differences, for which bounds are computed

_Key = str | Metric
Rule = Literal["as given", "judged only", "worst", "best"]  # the last two are orders of tied documents


class Evidence:
    """A run of a comparison, evaluated under other rules when a warning asks for it.

    `release` evaluates it at once for all warnings, after which the rankings are no longer kept.
    """

    def __init__(self, rankings: Rankings) -> None:
        self._rankings: Rankings | None = rankings
        self._has_scores = rankings.ties is not None
        self._query_ids = rankings.query_ids
        self._results: dict[tuple[Rule, _Key], Evaluation] = {}
        self._first_documents: dict[Any, Any] = {}

    def release(self, requests: Iterable[_Key], threads: int = 1, *, report: bool = True) -> Evidence:
        """Compute what the warnings about some metrics need, and drop the rankings.

        `report`: whether to compute what a report needs, too.
        """
        assert self._rankings is not None
        records = dict(pair for request in requests for pair in parse(request))
        self._evaluate("as given", [RETURNED], threads)
        counted = {key: record for key, record in records.items() if record.name not in WITHOUT_UNJUDGED}
        if counted:
            shares = dict.fromkeys(metric for record in counted.values() for metric in shares_of(record))
            self._evaluate("as given", [*shares], threads)
            self._evaluate("judged only", [*counted], threads)
        if len(self._query_ids) <= MOST_BOUNDED:
            self.queries  # noqa: B018  # computed here
        tied = [key for key, record in records.items() if self.may_be_tied(record)]
        if tied:
            with suppress(ValueError):  # `evaluation` will raise it, too
                self._evaluate("worst", tied, threads)
                self._evaluate("best", tied, threads)
        if report:
            self._first_documents = first_documents(self._rankings, self._query_ids)
        self._rankings = None
        return self

    def may_be_tied(self, record: Metric) -> bool:
        """Return whether the order of tied documents may change a metric."""
        if record.name in SUBTOPIC_TABLE:  # which have no worst and best order
            return False
        return self._has_scores and not row_of(record.name).unaveraged and bool(better(record))

    def evaluation(self, metric: _Key, rule: Rule = "as given", threads: int = 1) -> Evaluation:
        """Return the values of a metric under a rule.

        Raises ValueError if the rankings are limited to a depth, which another order of ties cannot follow.
        """
        if (rule, metric) not in self._results:
            self._evaluate(rule, [metric], threads)
        return self._results[rule, metric]

    def _evaluate(self, rule: Rule, metrics: Sequence[_Key], threads: int) -> None:
        rankings = self._rankings
        if rankings is None:
            raise ValueError(f"the run could not be evaluated under the rule {rule!r}")
        if rule == "judged only":
            rankings = rankings.limited(judged_only=True)
        elif rule != "as given":
            rankings = rankings.under(ties=rule)
        self._results |= dict.fromkeys(
            ((rule, metric) for metric in metrics), rankings.evaluate(*metrics, threads=threads)
        )

    @cached_property
    def queries(self) -> dict[Any, Ranked] | None:
        """The returned documents and grades of each query; None if ranks depend on ties."""
        assert self._rankings is not None
        queries = ranked_queries(self._rankings)
        return None if queries is None else dict(zip(self._query_ids, queries, strict=True))

    def first_documents(self, query_ids: Iterable[Any]) -> dict[Any, Any]:
        """Return a dict from queries to their first documents, or an empty dict if documents have no ids."""
        return self._first_documents if self._rankings is None else first_documents(self._rankings, query_ids)


def shares_of(record: Metric) -> tuple[Metric, Metric]:
    """Return the metrics that count judged and relevant documents down to the cut-off of a metric."""
    return Metric("judged", record.k), Metric("precision", record.k)
