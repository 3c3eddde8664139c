"""The queries for which a run returned nothing, as far as they are known, and what they mean for a gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

from rankgain.comparison.evidence import RETURNED, Evidence
from rankgain.comparison.guards import FAILED, PASSED, Outcome
from rankgain.errors import counted
from rankgain.results.text import printable

MOST_NAMED = 10  # maximum number of queries that a sentence names


class Coverage(NamedTuple):
    """The queries that a run does not answer.

    `lacks`: those that only other runs have. `missing`: how many judged queries the run lacks, or None if unknown.
    `rule`: whether missing queries are counted as 0 ("zero") or left out ("skip"), or None if unknown. `empty`: the
    queries for which nothing was returned, or None if unknown.
    """

    lacks: Sequence[Any] = ()
    missing: int | None = None
    rule: str | None = None
    empty: Sequence[Any] | None = None

    @property
    def unanswered(self) -> list[Any]:
        return list(dict.fromkeys([*(self.empty or ()), *self.lacks]))


def empty_queries(runs: Mapping[str, Evidence]) -> dict[str, list[Any]]:
    """Return the queries for which each run returned nothing."""
    returned = {name: run.evaluation(RETURNED) for name, run in runs.items()}
    return {
        name: list(compress(result.query_ids, (result[RETURNED] == 0).tolist())) for name, result in returned.items()
    }


def of_queries(names: tuple[str, str], run: Coverage, baseline: Coverage) -> Iterator[Outcome]:
    """Yield a failure if the run returned nothing for queries that the baseline answers, and what both runs lack."""
    name, base = map(printable, names)
    in_run, in_baseline = run.unanswered, baseline.unanswered
    shared = {*in_run} & {*in_baseline}
    only = [query for query in in_run if query not in shared]
    if only:
        yield (
            FAILED,
            f"{name} returns nothing for {counted(len(only), 'query')} that {base} has{_listed(only)}: failed.",
        )
    both = [query for query in in_run if query in shared]
    if both:
        yield PASSED, f"Neither run returns anything for {counted(len(both), 'query')}{_listed(both)}."
    if run.empty is None or baseline.empty is None:
        yield from _by_counts(name, base, run, baseline)


def _by_counts(name: str, base: str, run: Coverage, baseline: Coverage) -> Iterator[Outcome]:
    """Compare the numbers of missing queries, for runs whose missing queries are counted as 0 but not named."""
    if run.missing is None or baseline.missing is None or "skip" in (run.rule, baseline.rule):
        return
    counts = f"{name} {run.missing}, {base} {baseline.missing}"
    more = run.missing - baseline.missing
    if more > 0:
        text = f"{name} returns nothing for at least {counted(more, 'query')} that {base} has"
        yield FAILED, f"{text} (missing: {counts}): failed."
    elif run.missing:
        yield PASSED, f"Missing: {counts}; evaluations do not say whether these are the same queries."


def _listed(queries: Sequence[Any]) -> str:
    more = f" and {len(queries) - MOST_NAMED} more" if len(queries) > MOST_NAMED else ""
    return f": {', '.join(map(printable, queries[:MOST_NAMED]))}{more}"
