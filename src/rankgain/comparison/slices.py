"""Slices of a gate: whether the new run is worse for a group of queries, although the mean over all queries is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rankgain.comparison.aligned import Aligned, Sample
from rankgain.comparison.difference import (
    Difference,
    alpha_of,
    direction,
    interval_phrase,
    named,
    p_phrase,
    size_text,
    unsigned,
)
from rankgain.comparison.guards import FAILED, PASSED, Outcome
from rankgain.comparison.power import fewest_signs
from rankgain.comparison.significance import single_step
from rankgain.comparison.testing import Options, Tested, aligned_of, columns_of, differences_of, sample_of
from rankgain.errors import counted
from rankgain.results.labels import codes_of, labels_of
from rankgain.results.text import printable
from rankgain.scalars import Bools


def of_groups(tests: Tested, pairs: Sequence[Difference], by: Any, options: Options) -> Iterator[Outcome]:
    """Yield an outcome for each group that is decided to be worse or, if there is none, one for all groups of a metric.

    With a margin, a group that is shown not to be worse by more than the margin passes. `options`: those of `pairs`.
    """
    query_ids = aligned_of(tests).query_ids
    label_of = dict(zip(query_ids, labels_of(by, query_ids, "groups", "group")[1], strict=True))
    for pair in pairs:
        sample = sample_of(tests, pair.metric)
        parts = _parts(sample, [label_of[query] for query in sample.query_ids])
        tested = {label: mask for label, mask in parts.items() if _units(sample, mask) >= fewest_signs(alpha_of(pair))}
        p_values = _joint_p(sample, pair, list(tested.values()), options)
        failed = False
        for (label, mask), p in zip(tested.items(), p_values, strict=True):
            part = _alone(sample, pair, mask, options, p) if p <= alpha_of(pair) else None
            if part is not None and direction(part) < 0 and not part.not_worse:
                failed = True
                yield FAILED, _worse(part, label, len(tested))
        if not failed:
            few = len(parts) - len(tested)
            untested = f"; {counted(few, 'group')} with fewer than {fewest_signs(alpha_of(pair))} queries untested"
            many = f"none of {counted(len(tested), 'group')}" if tested else "no group"
            yield PASSED, f"{named(pair.metric)}: {many} is decided worse{untested if few else ''}."


def _worse(part: Difference, label: Any, groups: int) -> str:
    p = f"{p_phrase(part.adjusted)} adjusted for {counted(groups, 'group')}"
    return (
        f"{named(part.metric)}, group {printable(label)}: {printable(part.run)} is worse than "
        f"{printable(part.baseline)} by {unsigned(size_text(part))} in {counted(part.queries, 'query')} "
        f"({interval_phrase(part)}, {p}): failed."
    )


def _parts(sample: Sample, labels: Sequence[Any]) -> dict[Any, Bools]:
    """Return a mask of the queries of each group."""
    codes = codes_of(labels)
    return {label: codes == number for number, label in enumerate(dict.fromkeys(labels))}


def _units(sample: Sample, mask: Bools) -> int:
    """Return the number of queries or clusters in a group."""
    return int(mask.sum()) if sample.clusters is None else len(np.unique(sample.clusters[mask]))


def _joint_p(sample: Sample, pair: Difference, masks: Sequence[Bools], options: Options) -> list[float]:
    """Return the p-value of each group, corrected by single-step max-T.

    Each group is a column of differences that are 0 for the queries of other groups.
    """
    if not masks:
        return []
    differences = sample.differences(pair.run, pair.baseline)
    columns = [np.zeros(len(differences)), *(np.where(mask, differences, 0.0) for mask in masks)]
    joint = sample._replace(runs=[*map(str, range(len(columns)))], values=np.column_stack(columns))
    against_zero = [(column, 0) for column in range(1, len(columns))]
    on_grid, _ = columns_of({pair.metric: joint}, against_zero, sample.weights, sample.clusters)
    p: list[float] = single_step(on_grid, options.flips, options.seed, options.threads).tolist()
    return p


def _alone(sample: Sample, pair: Difference, mask: Bools, options: Options, adjusted: float) -> Difference:
    """Return the difference in a group, with an adjusted p-value."""
    part = sample.only(mask)
    samples, metrics = {pair.metric: part}, (pair.metric,)
    (tested,) = differences_of(Aligned(part.query_ids, samples, {}), options._replace(metrics=metrics)).values()
    return tested._replace(adjusted=max(adjusted, tested.p))
