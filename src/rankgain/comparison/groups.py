"""The differences between runs in groups of queries, and whether the groups differ from each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rankgain.comparison.aligned import Aligned, Sample
from rankgain.comparison.difference import (
    Difference,
    alpha_of,
    decided_alone,
    decimals_of,
    difference_cells,
    in_percent,
    joined,
    p_phrase,
    p_text,
    percent,
    subject,
)
from rankgain.comparison.outcome import MOST_ROWS, Tests
from rankgain.comparison.power import fewest_signs
from rankgain.comparison.sentences import rest
from rankgain.comparison.testing import Key, aligned_of, differences_of, sample_of
from rankgain.metrics.aggregators import FEWEST_EFFECTIVE, effective, scaled
from rankgain.metrics.metric import Metric, better, stored_key
from rankgain.results.export import Frames
from rankgain.results.text import Block, Form, Number, Printed, Table, printable, signed
from rankgain.scalars import Floats, Ints, splitmix64, to_intp

PERMUTATIONS = 9_999
MOST_NUMBERS = 10**8  # limits the number of permutations if there are more than 10,000 queries
STREAM = 0x5851F42D4C957F2D  # makes the random numbers for permutations differ from those for flips
GOLDEN = 0x9E3779B97F4A7C15
AT_ONCE = 1 << 20  # the number of values that are permuted in one pass
_ROUNDING = 1e-12  # relative tolerance: smaller differences are treated as 0
FLOOR = 1e-9  # the smallest variance of a group, as a share of the total variance
ALL = "all"


class Groups(Frames, Printed):
    """The differences between runs in each group of queries and over all queries.

    Made by `Comparison.groups`. Printed, it is one table per metric and pair of runs, each with verdicts, and notes.
    Each table shows at most 40 groups and counts the others.

    Attributes
    ----------
    tests : dict of label to Tests
        The tests of each group, by the metrics that have a value for at least 2 of its queries.
    overall : Tests
        The test over all queries.
    labels : list
        The groups, in the order in which they first occur.
    name : str
        The name of the grouping: the name of the column given as `by`, else "group".

    See Also
    --------
    Comparison.groups : The tests, with their definition.

    Examples
    --------
    >>> import rankgain as rg
    >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
    >>> groups = rg.compare(runs, metrics="rr").groups(list("xxxxxxyy"))
    >>> groups.labels
    ['x', 'y']
    >>> groups.tests["x"]["rr", "b", "a"].queries
    6
    """

    __module__ = "rankgain"

    def __init__(self, overall: Tests, name: str, label_of: Mapping[Any, Any]) -> None:
        options, aligned = overall.options, aligned_of(overall)
        self.overall = overall
        self.name = name
        self.labels = list(dict.fromkeys(label_of[query] for query in aligned.query_ids))
        numbers = {label: number for number, label in enumerate(self.labels)}
        self._codes = {
            metric: np.array([numbers[label_of[query]] for query in sample.query_ids], dtype=np.int64)
            for metric, sample in aligned.samples.items()
        }
        members: dict[Any, list[Any]] = {label: [] for label in self.labels}
        for query in aligned.query_ids:
            members[label_of[query]].append(query)
        self.tests = {}
        for label, number in numbers.items():
            samples = {metric: each.only(self._codes[metric] == number) for metric, each in aligned.samples.items()}
            samples = {metric: each for metric, each in samples.items() if len(each.values) > 1}
            if samples:
                part, of_part = Aligned(members[label], samples, {}), options._replace(metrics=tuple(samples))
                self.tests[label] = Tests(differences_of(part, of_part), part, of_part, {})
        self._differ: dict[Key, float] = {}
        self._of_means: dict[str | Metric, dict[Key, Difference]] = {}
        self._fewest = fewest_signs(options.alpha)  # groups with fewer queries have no p-value

    def mean_of_means(self, metric: str | Metric, run: str, baseline: str) -> float:
        """Compute the mean of the groups' mean differences, in which all groups count equally.

        Parameters
        ----------
        metric, run, baseline : str
            A key of `overall`; a metric may also be a Metric.

        Returns
        -------
        float
            Groups in which no query has a value do not count.

        Raises
        ------
        KeyError
            If the metric was not tested.
        ValueError
            If there is no such run.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 4), "b": rg.from_ranked([[1, 0]] * 3 + [[0, 1]])}
        >>> rg.compare(runs, metrics="rr").groups(["x", "x", "x", "y"]).mean_of_means("rr", "b", "a")
        0.25
        """
        return float(np.mean([mean for mean in self._means((metric, run, baseline)) if mean is not None]))

    def test_of_means(self, metric: str | Metric, run: str, baseline: str) -> Difference:
        """Test the mean of the groups' mean differences, in which all groups count equally.

        Parameters
        ----------
        metric, run, baseline : str
            A key of `overall`; a metric may also be a Metric.

        Returns
        -------
        Difference
            As by `Comparison.test` if each query has the weight 1 / (queries of its group), times its own weight, if
            there is one. p is NaN and there is no interval if the weights are so uneven that they carry as much
            information as fewer than 6 queries (or clusters).

        Raises
        ------
        KeyError
            If the pair was not tested by the metric.

        See Also
        --------
        mean_of_means : The mean alone.

        Notes
        -----
        The hypothesis is about other queries of these groups, not about other groups. In simulations without a
        difference, the test decided in 0.1% to 6.4% of the samples at the level 0.05; Welch's test did so in up to
        10.9%.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 12), "b": rg.from_ranked([[1, 0]] * 8 + [[0, 1]] * 4)}
        >>> groups = rg.compare(runs, metrics="rr").groups(list("xxxxxxyyyyyy"))
        >>> groups.test_of_means("rr", "b", "a").p
        0.0078125
        """
        sample = sample_of(self.overall, metric)
        metric = stored_key(metric, self._codes)
        if metric not in self._of_means:
            weights = np.ones(len(sample.values)) if sample.weights is None else sample.weights
            totals = np.bincount(to_intp(self._codes[metric]), weights=weights)
            even = sample._replace(weights=scaled(weights / totals[self._codes[metric]]))
            options = self.overall.options._replace(metrics=(metric,), margin=None)
            tested = differences_of(Aligned(sample.query_ids, {metric: even}, {}), options)
            if effective(_of_units(even)) < FEWEST_EFFECTIVE:
                tested = {
                    key: pair._replace(p=math.nan, adjusted=math.nan, low=-math.inf, high=math.inf)
                    for key, pair in tested.items()
                }
            self._of_means[metric] = tested
        try:
            return self._of_means[metric][metric, run, baseline]
        except KeyError:
            return self.overall[metric, run, baseline]  # raises an error that names the key

    def _means(self, key: Key) -> list[float | None]:
        """Return the weighted mean difference in each group, or None for a group in which no query has a value."""
        metric, run, baseline = key
        codes, sample = self._codes[metric], sample_of(self.overall, metric)
        parts = [sample.only(codes == number) for number in range(len(self.labels))]
        return [
            float(np.average(part.differences(run, baseline), weights=part.weights)) if len(part.values) else None
            for part in parts
        ]

    def differ_p(self, metric: str | Metric, run: str, baseline: str) -> float:
        """Compute the p-value of the hypothesis that the difference is the same in all groups.

        Parameters
        ----------
        metric, run, baseline : str
            A key of `overall`; a metric may also be a Metric.

        Returns
        -------
        float
            NaN if fewer than two groups have at least two queries (or clusters), or if a cluster has queries of several
            groups.

        Raises
        ------
        KeyError
            If the metric was not tested.
        ValueError
            If there is no such run.

        Notes
        -----
        The statistic is Welch's W, since groups may be of unequal size and spread. If queries have weights, it is
        computed from weighted means. The labels of queries, or of clusters, are permuted 9,999 times, or fewer times if
        there are more than 10,000.

        References
        ----------
        Welch, On the comparison of several mean values, Biometrika 1951.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 4 + [[0, 1]] * 4)}
        >>> rg.compare(runs, metrics="rr").groups(list("xxxxyyyy")).differ_p("rr", "b", "a") < 0.05
        True
        """
        key = (metric, run, baseline)
        if key not in self._differ:
            units = self._units(key)
            self._differ[key] = math.nan if units is None else permuted_p(*units, self.overall.options.seed)
        return self._differ[key]

    def _units(self, key: Key) -> tuple[Floats, Floats, Ints] | None:
        """Return the difference, weight and group of each query or, if there are clusters, of each cluster.

        Return None if a cluster is in several groups.
        """
        metric, run, baseline = key
        codes, sample = self._codes[metric], sample_of(self.overall, metric)
        values, clusters = sample.differences(run, baseline), sample.clusters
        weights = np.ones(len(values)) if sample.weights is None else sample.weights
        if clusters is None:
            return values, weights, codes
        _, first, cluster_of = np.unique(clusters, return_index=True, return_inverse=True)
        if (codes[first][cluster_of] != codes).any():
            return None
        totals = np.bincount(cluster_of, weights=weights).astype(np.float64)
        means: Floats = np.bincount(cluster_of, weights=weights * values) / totals
        return means, totals, codes[first]

    # Sentences about the groups

    def verdicts(self, metric: str | Metric, run: str, baseline: str) -> list[str]:
        """State whether the groups differ, and what the mean over all queries hides.

        Parameters
        ----------
        metric, run, baseline : str
            A key of `overall`; a metric may also be a Metric.

        Returns
        -------
        list of str
            One sentence per finding.

        Raises
        ------
        KeyError
            If the pair was not tested by the metric.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 4 + [[0, 1]] * 4)}
        >>> rg.compare(runs, metrics="rr").groups(list("xxxxyyyy")).verdicts("rr", "b", "a")[0]
        'The groups differ (p = 0.0251).'
        """
        return list(self._verdicts((metric, run, baseline)))

    def _verdicts(self, key: Key) -> Iterator[str]:
        _, run, baseline = key
        p = self.differ_p(*key)
        whole = self.overall[key]
        decided = {label: tests[key] for label, tests in self.tests.items() if key in tests and _known(tests[key])}
        alike, contrary = (
            [printable(label) for label, pair in decided.items() if sign * pair.difference * whole.difference > 0]
            for sign in (1, -1)
        )
        differ = p <= alpha_of(whole)
        if math.isnan(p):
            yield f"Whether the groups differ cannot be tested: {self._why_untested(key)}."
        elif differ:
            hidden = ""
            if contrary and better(whole.metric):
                word = "worse" if whole.difference * better(whole.metric) > 0 else "better"
                names = f"{printable(run)} is {word} than {printable(baseline)} for {joined(contrary)}"
                hidden = f": one mean over all of them hides that {names}"
            yield f"The groups differ ({p_phrase(p)}){hidden}."
        else:
            yield f"It is not shown that the groups differ ({p_phrase(p)}); this does not show that they are equal."
        if whole.decided and alike and contrary:
            yield (
                f"{joined(alike)} {'agrees' if len(alike) == 1 else 'agree'} with the overall difference; "
                f"{joined(contrary)} {'is' if len(contrary) == 1 else 'are'} opposite."
            )
        elif whole.decided and len(alike) == 1 and len(self.labels) > 1:
            yield from self._on_the_only(alike[0], key, differ)
        means = self.mean_of_means(*key)
        if means * whole.difference < -_ROUNDING * whole.difference**2:
            yield (
                f"The mean of the groups' means is {signed(means)}, and the mean over queries "
                f"{signed(whole.difference, decimals_of(whole))}: decide which of the two you mean."
            )

    def _why_untested(self, key: Key) -> str:
        units = self._units(key)
        if units is None:
            return "a cluster has queries of several groups"
        groups = int(np.count_nonzero(np.bincount(units[2]) > 1))
        return f"{'only one' if groups else 'no'} group has two or more queries"

    def _on_the_only(self, label: str, key: Key, differ: bool) -> Iterator[str]:
        """Yield at most one sentence about the only group whose difference is decided if tested alone.

        That group need not differ from the others.
        """
        means = [mean for mean in self._means(key) if mean is not None]
        if differ:
            yield (
                f"Only the group {label} has a decided difference if tested alone: "
                "it may account for the whole difference."
            )
        elif all(mean * self.overall[key].difference > 0 for mean in means):
            yield f"{'Both' if len(means) == 2 else 'All'} groups point the same way."

    def notes(self) -> list[str]:
        """Explain how to read the numbers.

        Returns
        -------
        list of str
            One sentence per note; `table` prints all but the last one.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").groups(list("xxxxyyyy")).notes()[0]
        'Groups are tested one by one: p is not corrected for the number of groups.'
        """
        several = len(self.overall)
        both = f" nor for the {several} differences in each group" if several > 1 else ""
        small = any(count < self._fewest for codes in self._codes.values() for count in np.bincount(codes))
        return [
            f"Groups are tested one by one: p is not corrected for the number of groups{both}.",
            *([f"Groups of fewer than {self._fewest} queries have no p."] if small else []),
            "Mean of means: all groups count equally; p and interval are for other queries of these groups.",
            f"Whether groups differ: Welch's W, {PERMUTATIONS:,} permutations of the labels (fewer with many queries), "
            f"seed {self.overall.options.seed}.",
        ]

    # Tables of the groups

    def _rows(self, key: Key) -> list[list[object]]:
        """Return the rows of a table: the header, the groups, the mean of their means, and the overall difference."""
        level = f"{percent(self.overall.options.level)} interval"
        counts = np.bincount(to_intp(self._codes[key[0]]), minlength=len(self.labels)).tolist()
        rows: list[list[object]] = [[self.name, "queries", "difference", level, "p"]]
        for label, count, mean in zip(self.labels, counts, self._means(key), strict=True):
            if label in self.tests and count >= self._fewest:
                rows.append(_row(str(label), self.tests[label][key]))
            else:
                rows.append([str(label), str(count), "-" if mean is None else _mean(mean, key), "-", "-"])
        of_means = self.test_of_means(*key)
        if math.isnan(of_means.p):
            rows.append(["mean of means", "", _mean(self.mean_of_means(*key), key), "-", "-"])
        else:
            rows.append(["mean of means", "", *_row("", of_means)[2:]])
        return [*rows, _row(ALL, self.overall[key])]

    def _tables(self, form: Form) -> Iterator[Block]:
        for title, table, verdicts in blocks_of(self):
            yield [title]
            yield table
            yield verdicts
        if form in ("text", "html"):
            yield self.notes()[:-1]

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns for a data frame as a dict.

        Returns
        -------
        dict of str to list
            The label, under the name of the grouping, then the fields of `Difference`, each with one value per group
            and difference. Groups of one query are omitted.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").groups(list("xxxxxxyy")).columns()["queries"]
        [6, 2]
        """
        columns: dict[str, list[Any]] = {self.name: [], **{field: [] for field in Difference._fields}}
        for label, tests in self.tests.items():
            columns[self.name] += [label] * len(tests)
            for field, values in tests.columns().items():
                columns[field] += values
        return columns


def blocks_of(groups: Groups) -> Iterator[tuple[str, Table, list[str]]]:
    """Yield the title, table and sentences for each metric and pair of runs. A table shows at most 40 groups."""
    for key in groups.overall:
        metric, run, baseline = key
        shown = printable(subject(metric)), f"by {printable(groups.name)}"
        title = ", ".join([f"{printable(run)} compared with {printable(baseline)}", *shown])
        head, *body = groups._rows(key)
        more = [[line, *[""] * (len(head) - 1)] for line in rest(len(body) - 2, MOST_ROWS, "")]
        yield title, Table([head, *body[:-2][:MOST_ROWS], *more, *body[-2:]]), groups.verdicts(*key)


def _of_units(sample: Sample) -> Floats:
    """Return the weight of each query or, if there are clusters, of each cluster."""
    assert sample.weights is not None
    if sample.clusters is None:
        return sample.weights
    weights = np.bincount(to_intp(sample.clusters), weights=sample.weights).astype(np.float64)
    return weights[weights > 0.0]


def _row(label: str, pair: Difference) -> list[object]:
    return [label, str(pair.queries), *difference_cells(pair), p_text(pair.p)]


def _mean(value: float, key: Key) -> Number:
    return Number((value,), signed=True, share=in_percent(key[0]))


def _known(pair: Difference) -> bool:
    return pair.queries >= fewest_signs(alpha_of(pair)) and decided_alone(pair)


def permuted_p(values: Floats, weights: Floats, codes: Ints, seed: int) -> float:
    """Return the share of random permutations of the labels with which the groups differ at least as much."""
    counts = np.bincount(to_intp(codes))
    testable = counts[codes] > 1  # a group of one query has no variance
    values, weights, codes = values[testable], weights[testable], codes[testable]
    sizes = np.bincount(to_intp(codes))
    sizes = sizes[sizes > 0]
    if len(sizes) < 2:
        return math.nan
    if np.ptp(values) <= _ROUNDING * np.abs(values).max():  # the values differ only by rounding errors
        return 1.0
    centred = values - np.average(values, weights=weights)
    floor = FLOOR * float(np.average(centred * centred, weights=weights))
    order = np.argsort(codes, kind="stable")
    centred, weights = centred[order], weights[order]
    observed = float(welch(centred[None], weights[None], sizes, floor)[0]) * (1 - FLOOR)
    count = min(PERMUTATIONS, max(MOST_NUMBERS // len(values), 999))
    step = max(AT_ONCE // len(values), 1)
    queries = splitmix64(
        np.uint64(seed) + np.uint64(STREAM) + np.uint64(GOLDEN) * np.arange(len(values), dtype=np.uint64)
    )
    extreme = 0
    for first in range(0, count, step):
        flips = np.arange(first + 1, min(first + step, count) + 1, dtype=np.uint64)
        permuted = np.argsort(splitmix64(queries + np.uint64(GOLDEN) * flips[:, None]), axis=1, kind="stable")
        extreme += int(np.count_nonzero(welch(centred[permuted], weights[permuted], sizes, floor) >= observed))
    return (1 + extreme) / (count + 1)


def welch(rows: Floats, weights: Floats, sizes: Ints, floor: float) -> Floats:
    """Return Welch's statistic W (1951) for each row, with weighted means. A row holds one group after another."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    whole = np.add.reduceat(weights, starts, axis=1)
    means = np.add.reduceat(weights * rows, starts, axis=1) / whole
    squares = np.add.reduceat((weights * (rows - np.repeat(means, sizes, axis=1))) ** 2, starts, axis=1)
    # The variance of each group's mean. With equal weights, it is the variance of the values divided by their number.
    variances = np.maximum(squares / whole**2 * (sizes / (sizes - 1)), floor / sizes)
    shares = 1.0 / variances
    total = shares.sum(axis=1, keepdims=True)
    centre = (shares * means).sum(axis=1, keepdims=True) / total
    k = len(sizes)
    between = (shares * (means - centre) ** 2).sum(axis=1) / (k - 1)
    uneven = ((1 - shares / total) ** 2 / (sizes - 1)).sum(axis=1)
    statistic: Floats = between / (1 + 2 * (k - 2) / (k * k - 1) * uneven)
    return statistic
