"""The differences between runs by groups of queries, and whether the groups differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rankgain.comparison.aligned import Aligned, codes_of
from rankgain.comparison.difference import Difference, p_text, signed
from rankgain.comparison.tests import MOST_ROWS, Key, Tests, wrapped
from rankgain.errors import short
from rankgain.metrics.metric import Metric, better
from rankgain.results.export import Frames
from rankgain.results.text import Form, Table, Tables, printable, text_table
from rankgain.scalars import Floats, Ints, mixed

FEWEST = 6  # queries of a group that can show a difference at 0.05
PERMUTATIONS = 9_999
MOST_NUMBERS = 10**8  # that are permuted; of many queries there are fewer permutations
STREAM = 0x5851F42D4C957F2D  # permutations have random words of their own
GOLDEN = 0x9E3779B97F4A7C15
AT_ONCE = 1 << 20
FLOOR = 1e-9  # of the whole variance: what that of a group counts at the least
ALL = "all"


class Groups(Frames, Tables):
    """The differences between runs in each group of queries and over all; made by `Comparison.groups`.

    Printed, it has one table per metric and pair.

    Attributes
    ----------
    tests : dict of label to Tests
        The groups that have at least 2 queries, each tested on its own.
    overall : Tests
        The test over all queries.
    labels : list
        The groups, in the order in which the queries first name them.
    name : str
        What the grouping is called: the name of the column that it was, else "group".

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

    def __init__(
        self, overall: Tests, aligned: Aligned, name: str, labels: Sequence[Any], test: Callable[[Aligned], Tests]
    ) -> None:
        self.overall = overall
        self.name = name
        self.labels = list(dict.fromkeys(labels))
        self._codes = codes_of(labels)
        self._aligned = aligned
        self.tests = {}
        for number, label in enumerate(self.labels):
            part = _part(aligned, self._codes == number)
            if min(len(matrix) for matrix in part.values.values()) > 1:
                self.tests[label] = test(part)
        self._differ: dict[Key, float] = {}

    def _codes_of(self, metric: str | Metric) -> Ints:
        rows = self._aligned.rows[metric]
        return self._codes if rows is None else self._codes[rows]

    def _values(self, key: Key) -> Floats:
        metric, run, baseline = key
        matrix, names = self._aligned.values[metric], self._aligned.runs
        values: Floats = matrix[:, names.index(run)] - matrix[:, names.index(baseline)]
        return values

    def counts(self, metric: str | Metric) -> dict[Any, int]:
        """Count the queries of each group that have a value.

        Parameters
        ----------
        metric : str or Metric
            A metric that was tested, as it was asked for.

        Returns
        -------
        dict of label to int
            The groups in the order of `labels`, also those of no query.

        Raises
        ------
        KeyError
            If the metric was not tested.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 4), "b": rg.from_ranked([[1, 0]] * 4)}
        >>> rg.compare(runs, metrics="rr").groups(["x", "x", "y", "x"]).counts("rr")
        {'x': 3, 'y': 1}
        """
        counts = np.bincount(self._codes_of(metric), minlength=len(self.labels))
        return dict(zip(self.labels, counts.tolist(), strict=True))

    def mean_of_means(self, metric: str | Metric, run: str, baseline: str) -> float:
        """Compute the mean over groups of the mean difference in each, as data sets are often averaged.

        Parameters
        ----------
        metric : str or Metric
            A metric that was tested, as it was asked for.
        run, baseline : str
            The names of the two runs, as the keys have them.

        Returns
        -------
        float
            Groups without a query that has a value do not count.

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
        codes, values = self._codes_of(metric), self._values((metric, run, baseline))
        own = [values[codes == number] for number in range(len(self.labels))]
        return float(np.mean([part.mean() for part in own if len(part)]))

    def differ_p(self, metric: str | Metric, run: str, baseline: str) -> float:
        """Compute the p-value of the hypothesis that the difference is the same in all groups.

        Parameters
        ----------
        metric : str or Metric
            A metric that was tested, as it was asked for.
        run, baseline : str
            The names of the two runs, as the keys have them.

        Returns
        -------
        float
            NaN if there are fewer than two groups of two queries or more.

        Raises
        ------
        KeyError
            If the metric was not tested.
        ValueError
            If there is no such run.

        Notes
        -----
        The statistic is Welch's W, since groups may be of unequal size and spread; the labels are permuted 9,999 times,
        fewer times for more than 10,000 queries.

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
            seed = self.overall.options.seed
            self._differ[key] = permuted_p(self._values(key), self._codes_of(metric), len(self.labels), seed)
        return self._differ[key]

    # What is said

    def verdicts(self, metric: str | Metric, run: str, baseline: str) -> list[str]:
        """Say whether the groups differ, and what one mean over all of them hides.

        Parameters
        ----------
        metric : str or Metric
            A metric that was tested, as it was asked for.
        run, baseline : str
            The names of the two runs, as the keys have them.

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
        metric, run, _ = key
        p = self.differ_p(*key)
        whole = self.overall[key]
        own = {label: tests[key] for label, tests in self.tests.items()}
        contrary = [label for label, its in own.items() if its.difference * whole.difference < 0 and _known(its)]
        if math.isnan(p):
            yield "Whether the groups differ cannot be tested: there are fewer than two of two queries or more."
        elif p <= whole.alpha:
            hidden = ""
            if contrary and better(metric):
                word = "worse" if whole.difference * better(metric) > 0 else "better"
                names = ", ".join(map(printable, contrary))
                hidden = f": one mean over all of them hides that {printable(run)} is {word} for {names}"
            yield f"The groups differ (p {p_text(p) if p < 1e-4 else f'= {p:.4f}'}){hidden}."
        else:
            yield f"It is not shown that the groups differ (p = {p_text(p)}); this does not show that they are equal."
        carrying = [label for label, its in own.items() if _known(its) and its.difference * whole.difference > 0]
        if whole.decided and len(carrying) == 1 and len(self.labels) > 1:
            yield f"Only for {printable(carrying[0])} is the difference decided on its own: it may carry the whole."
        means = self.mean_of_means(*key)
        if means * whole.difference < 0:
            yield (
                f"The mean of the groups' means is {signed(means)}, and the mean over queries "
                f"{signed(whole.difference)}: which of them is meant decides what comes out."
            )

    def notes(self) -> list[str]:
        """Say what to know about the numbers.

        Returns
        -------
        list of str
            One sentence per note, as `table` prints them.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").groups(list("xxxxyyyy")).notes()[0]
        'Groups were looked at one by one: not corrected.'
        """
        options = self.overall.options
        return [
            "Groups were looked at one by one: not corrected.",
            f"whether groups differ: Welch's W, {PERMUTATIONS:,} permutations of the labels (fewer for many queries), "
            f"seed {options.seed}",
            f"groups of fewer than {FEWEST} queries have no p",
        ]

    # Tables

    def rows(self, metric: str | Metric, run: str, baseline: str) -> list[list[str]]:
        """Return the cells of the table of a metric and a pair, as `table` prints them.

        Parameters
        ----------
        metric : str or Metric
            A metric that was tested, as it was asked for.
        run, baseline : str
            The names of the two runs, as the keys have them.

        Returns
        -------
        list of list of str
            One row per group, after a header, then the mean of the groups' means and the difference over all queries.

        Raises
        ------
        KeyError
            If the pair was not tested by the metric.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").groups(list("xxxxxxyy")).rows("rr", "b", "a")[1]
        ['x', '6', '+0.5000', '+0.5000 to +0.5000', '0.0312']
        """
        key = (metric, run, baseline)
        level = f"{short(round(100 * self.overall.options.level, 10))}% interval"
        codes, values = self._codes_of(metric), self._values(key)
        rows = [[self.name, "queries", "difference", level, "p"]]
        for number, (label, count) in enumerate(self.counts(metric).items()):
            if label in self.tests and count >= FEWEST:
                rows.append(_row(str(label), self.tests[label][key]))
            else:
                mean = signed(float(values[codes == number].mean())) if count else "-"
                rows.append([str(label), str(count), mean, "-", "-"])
        rows.append(["mean of means", "", signed(self.mean_of_means(*key)), "", ""])
        return [*rows, _row(ALL, self.overall[key])]

    def blocks(self) -> Iterator[tuple[str, list[list[str]], list[str]]]:
        """Yield title, cells and sentences of each metric and pair.

        Returns
        -------
        iterator of (str, list of list of str, list of str)
            At most 40 groups are shown, and the others counted.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> [title for title, rows, said in rg.compare(runs, metrics="rr").groups(list("xxxxxxyy")).blocks()]
        ['b compared with a, rr, by group']
        """
        for key in self.overall:
            metric, run, baseline = key
            title = (
                f"{printable(run)} compared with {printable(baseline)}, {printable(metric)}, by {printable(self.name)}"
            )
            head, *body = self.rows(*key)
            more = len(body) - 2 - MOST_ROWS
            if more > 0:
                body = [*body[:MOST_ROWS], [f"… and {more} more", *[""] * (len(head) - 1)], *body[-2:]]
            yield title, [head, *body], self.verdicts(*key)

    def table(self) -> str:
        """Return aligned text tables, one per metric and pair, with what they say and notes.

        Returns
        -------
        str
            At most 40 groups are shown in each, and the others counted.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> print(rg.compare(runs, metrics="rr").groups(list("xxxxxxyy")).table().splitlines()[0])
        b compared with a, rr, by group
        """
        parts = []
        for title, rows, said in self.blocks():
            parts += [title, "\n".join(text_table(rows)), "\n".join(line for own in said for line in wrapped(own))]
        return "\n\n".join([*parts, "\n".join(line for note in self.notes() for line in wrapped(note))])

    def __repr__(self) -> str:
        return self.table()

    def _tables(self, form: Form) -> list[Table]:
        return [Table(rows, [title, *said]) for title, rows, said in self.blocks()]

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of a frame by name.

        Returns
        -------
        dict of str to list
            The label, under the name of the grouping, then the fields of `Difference`, each with one value per group
            and difference. Groups of one query are not there.

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


def _row(label: str, its: Difference) -> list[str]:
    ends = "no interval" if math.isinf(its.low) or math.isinf(its.high) else f"{signed(its.low)} to {signed(its.high)}"
    return [label, str(its.queries), signed(its.difference), ends, p_text(its.p)]


def _known(its: Difference) -> bool:
    return its.queries >= FEWEST and its.decided_alone


def _part(aligned: Aligned, chosen: Any) -> Aligned:
    """The same of some queries."""
    ids = [query for query, own in zip(aligned.query_ids, chosen.tolist(), strict=True) if own]
    values, rows = {}, {}
    for metric, matrix in aligned.values.items():
        kept = aligned.rows[metric]
        values[metric] = matrix[chosen if kept is None else chosen[kept]]
        rows[metric] = None if kept is None else kept[chosen]
    return Aligned(aligned.runs, ids, values, rows, 0)


def permuted_p(values: Floats, codes: Ints, groups: int, seed: int) -> float:
    """How often the groups are as far apart where labels are dealt out anew, by the order of random words."""
    counts = np.bincount(codes, minlength=groups)
    kept = np.isin(codes, np.flatnonzero(counts > 1))
    values, codes = values[kept], codes[kept]
    sizes = np.bincount(codes, minlength=groups)
    sizes = sizes[sizes > 0]
    if len(sizes) < 2:
        return math.nan
    centred = values - values.mean()
    floor = FLOOR * float((centred * centred).mean())
    if floor == 0.0:
        return 1.0
    in_groups = centred[np.argsort(codes, kind="stable")]
    observed = float(welch(in_groups[None], sizes, floor)[0]) * (1 - FLOOR)
    count = min(PERMUTATIONS, max(MOST_NUMBERS // len(values), 999))
    step = max(AT_ONCE // len(values), 1)
    queries = mixed(np.uint64(seed) + np.uint64(STREAM) + np.uint64(GOLDEN) * np.arange(len(values), dtype=np.uint64))
    reached = 0
    for first in range(0, count, step):
        flips = np.arange(first + 1, min(first + step, count) + 1, dtype=np.uint64)
        words = mixed(queries + np.uint64(GOLDEN) * flips[:, None])
        dealt = in_groups[np.argsort(words, axis=1, kind="stable")]
        reached += int(np.count_nonzero(welch(dealt, sizes, floor) >= observed))
    return (1 + reached) / (count + 1)


def welch(rows: Floats, sizes: Ints, floor: float) -> Floats:
    """Welch's W (1951) of each row, in which the groups stand one after another."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    means = np.add.reduceat(rows, starts, axis=1) / sizes
    squares = np.add.reduceat(rows * rows, starts, axis=1)
    variances = np.maximum((squares - sizes * means * means) / (sizes - 1), floor)
    weights = sizes / variances
    total = weights.sum(axis=1, keepdims=True)
    centre = (weights * means).sum(axis=1, keepdims=True) / total
    k = len(sizes)
    between = (weights * (means - centre) ** 2).sum(axis=1) / (k - 1)
    uneven = ((1 - weights / total) ** 2 / (sizes - 1)).sum(axis=1)
    found: Floats = between / (1 + 2 * (k - 2) / (k * k - 1) * uneven)
    return found
