"""The tests of a comparison, as `Comparison.test` returns them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgain import _backend
from rankgain.comparison.aligned import Aligned
from rankgain.comparison.difference import EXACT, RANDOM, STUDENT, Difference, number_word, p_text, signed
from rankgain.comparison.letters import letters_of
from rankgain.comparison.remarks import Remarks
from rankgain.comparison.testing import BH, MAX_T, Options, columns_of, too_coarse
from rankgain.errors import counted, short
from rankgain.metrics.aggregators import geometric_mean
from rankgain.metrics.metric import Metric, aggregator, better
from rankgain.results.export import Frames
from rankgain.results.significance import ENUMERATED, Flips, effective, exact_p, facts, rejected
from rankgain.results.significance import EXACT as EXACT_BY_DEFAULT
from rankgain.results.text import Form, Table, Tables, number, printable, text_table
from rankgain.scalars import Array

if TYPE_CHECKING:
    from rankgain.results.plotting import Figure

Key = tuple[str | Metric, str, str]

MOST_ROWS = 40  # of a table that people read; the rest is counted
FEW_QUERIES = 50  # below which rare large differences may not have been seen
LOOKED_AT = 20  # rows for which it is looked whether one query decides
_CORRECTED = {
    MAX_T: "max-T, step-down, family-wise",
    "holm": "Holm, family-wise",
    BH: "Benjamini-Hochberg: false discovery rate, not family-wise",
}


class Tests(Frames, Tables, Mapping[Key, Difference]):
    """The differences between runs: a mapping from (metric, run, baseline) to its `Difference`.

    Made by `Comparison.test`. Printed, it is a table with verdicts and what to know about the numbers.

    Attributes
    ----------
    options : named tuple
        What was asked for: baseline, metrics, method, correction, family, intervals, level, margin, flips, seed,
        queries and threads.
    queries : int
        How many queries were tested; if that differs between metrics, the most.
    left_out : int
        How many queries were not tested, since some run lacks them, they have no value, or their weight is 0.

    See Also
    --------
    Comparison.test : The test, with its definition.
    Difference : What is known about one difference.

    Examples
    --------
    >>> import rankgain as rg
    >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
    >>> tests = rg.compare(runs, metrics="rr").test()
    >>> list(tests)
    [('rr', 'b', 'a')]
    >>> tests["rr", "b", "a"].difference
    0.5
    """

    __module__ = "rankgain"
    __test__ = False  # pytest takes classes of this name for its own

    def __init__(
        self, differences: Mapping[Key, Difference], aligned: Aligned, options: Options, remarks: Remarks | None = None
    ) -> None:
        self._differences = dict(differences)
        self.aligned = aligned
        self._remarks = remarks
        self._warnings: list[str] | None = None  # found when they are first asked for
        self._backend = _backend.name
        self.options = options
        self.queries = max(len(matrix) for matrix in aligned.values.values())
        fewest = min(len(matrix) for matrix in aligned.values.values())
        self.left_out = aligned.left_out + len(aligned.query_ids) - fewest

    def __getitem__(self, key: Key) -> Difference:
        try:
            return self._differences[key]
        except KeyError:
            raise KeyError(f"{key!r} was not tested: ask for (metric, run, baseline), as the keys have them") from None

    def __iter__(self) -> Iterator[Key]:
        return iter(self._differences)

    def __len__(self) -> int:
        return len(self._differences)

    @property
    def runs(self) -> list[str]:
        """The runs that were tested, in the order of the comparison.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().runs
        ['a', 'b']
        """
        return self.aligned.runs

    @property
    def _two(self) -> bool:
        return len({key[1:] for key in self}) == 1

    # What is said

    def verdicts(self) -> list[str]:
        """Say for each metric which runs are better, which are worse, and where nothing is decided.

        Returns
        -------
        list of str
            The verdict of each difference if there are two runs; else one sentence per metric, and the verdicts of the
            differences that would be decided if nothing else had been compared.

        See Also
        --------
        Difference.verdict : The sentence of one difference.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs | {"c": rg.from_ranked([[0, 1]] * 8)}, metrics="rr").test("a").verdicts()
        ['rr: better than a: b. Not decided: c.']
        """
        if self._two:
            return [difference.verdict() for difference in self.values()]
        return [line for metric in self.options.metrics for line in self._summary(metric)]

    def _summary(self, metric: str | Metric) -> Iterator[str]:
        head = printable(metric)
        own = [difference for key, difference in self.items() if key[0] == metric]
        if self.options.baseline is None:
            yield f"{head}: {self._ranking(metric)}"
        else:
            base = printable(self.options.baseline)
            groups = [
                (f"better than {base}", [its for its in own if its.direction > 0]),
                (f"worse than {base}", [its for its in own if its.direction < 0]),
                ("not decided", [its for its in own if better(metric) and not its.direction]),
                (
                    "neither higher nor lower is better, so there is no verdict",
                    [its for its in own if not better(metric)],
                ),
            ]
            parts = [f"{label}: {_listed([its.run for its in held])}" for label, held in groups if held]
            yield f"{head}: " + ". ".join(_capital(part) if place else part for place, part in enumerate(parts)) + "."
        for its in own:
            if its.decided_alone and not its.decided and len(own) <= LOOKED_AT:
                yield its.verdict()
        if self.options.margin is not None and better(metric):
            for label, held in self._by_margin(own):
                yield f"{head}: {label}: {_listed([its.run for its in held])}."

    def _by_margin(self, own: Sequence[Difference]) -> Iterator[tuple[str, list[Difference]]]:
        margin = short(self.options.margin)
        shown = [its for its in own if its.not_worse]
        for label, held in (
            (f"not worse than the baseline by more than {margin}", shown),
            (
                f"it is not shown that they are at most {margin} worse than the baseline",
                [its for its in own if not its.not_worse],
            ),
        ):
            if held:
                yield label, held

    def _ranking(self, metric: str | Metric) -> str:
        best = self.tied_with_best(metric)
        if not best:
            return "neither higher nor lower is better, so there is no verdict."
        first, *others = best
        if not others:
            return f"{printable(first)} is above every other run."
        return f"{printable(first)} has the best mean; cannot be told from it: {_listed(others)}."

    def tied_with_best(self, metric: str | Metric) -> list[str]:
        """Name the run with the best mean, and those that the test does not tell from it.

        That they cannot be told apart does not show that they are equal.

        Parameters
        ----------
        metric : str or Metric
            A metric that was tested, as it was asked for.

        Returns
        -------
        list of str
            The best run first. Empty if neither higher nor lower is better.

        Raises
        ------
        KeyError
            If the metric was not tested.

        See Also
        --------
        letters : Which of all runs are told apart.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().tied_with_best("rr")
        ['b']
        """
        own, means = self._of(metric), self._means(metric)
        if not better(metric):
            return []
        order = sorted(means, key=lambda name: -better(metric) * means[name])
        pairs = {frozenset((its.run, its.baseline)): its for its in own}
        tied = [name for name in order[1:] if not _tells(pairs.get(frozenset((name, order[0]))))]
        return [order[0], *tied]

    def letters(self, metric: str | Metric) -> dict[str, str]:
        """Give each run letters, so that the test does not tell two runs apart if and only if they share one.

        Parameters
        ----------
        metric : str or Metric
            A metric that was tested, as it was asked for.

        Returns
        -------
        dict of str to str
            The letters by run, worst mean first: ``a`` to ``z``, then ``a1`` to ``z1`` and so on.

        Raises
        ------
        KeyError
            If the metric was not tested.
        ValueError
            If the runs were tested against a baseline, so that not all pairs are known.

        See Also
        --------
        matrix : The letters of all metrics as a table.

        References
        ----------
        Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of Computational and
        Graphical Statistics 2004.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> runs["c"] = rg.from_ranked([[1, 0]] * 7 + [[0, 1]])
        >>> rg.compare(runs, metrics="rr").test().letters("rr")
        {'a': 'a', 'c': 'b', 'b': 'b'}
        """
        means = self._means(metric)
        if len(self._of(metric)) < len(means) * (len(means) - 1) // 2:
            raise ValueError("letters are for all pairs: test without a baseline")
        order = sorted(means, key=lambda name: (better(metric) or 1) * means[name])
        return letters_of(order, {frozenset((its.run, its.baseline)) for its in self._of(metric) if its.decided})

    def _of(self, metric: str | Metric) -> list[Difference]:
        own = [difference for key, difference in self.items() if key[0] == metric]
        if not own:
            raise KeyError(f"{metric} was not tested; there are: {', '.join(map(str, self.options.metrics))}")
        return own

    def _means(self, metric: str | Metric) -> dict[str, float]:
        pairs = [((its.baseline, its.baseline_mean), (its.run, its.mean)) for its in self._of(metric)]
        return dict(pair for both in pairs for pair in both)

    def methods(self) -> str:
        """Describe the method for a paper: test, statistic, flips, seed, correction, family and version.

        Returns
        -------
        str
            Two lines.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> print(rg.compare(runs, metrics="rr").test().methods())
        Two-sided paired sign-flip randomization test of the mean difference over 8 queries, exact (all sign vectors);
        95% intervals by inverting the test; one comparison, no correction; rankgain 0.2.0.
        """
        options, some = self.options, next(iter(self.values()))
        level = f"{short(round(100 * options.level, 10))}%"
        if options.method == STUDENT:
            test, interval = "Two-sided paired t-test", "Student's t"
        else:
            test, interval = "Two-sided paired sign-flip randomization test", "inverting the test"
        used = {its.method for its in self.values()}
        flips = f"{options.flips:,} flips, seed {options.seed}"
        how = {
            frozenset({EXACT}): "exact (all sign vectors)",
            frozenset({RANDOM}): flips,
            frozenset({EXACT, RANDOM}): f"exact where few queries differ, else {flips}",
        }.get(frozenset(used), "")
        if some.comparisons == 1:
            corrected = "one comparison, no correction" if len(self) == 1 else "each metric tested separately"
        elif options.correction is None:
            corrected = f"{some.comparisons} comparisons, not corrected"
        else:
            family = "of all metrics" if options.family == "all" else "of each metric"
            corrected = f"corrected for the {some.comparisons} comparisons {family} ({_CORRECTED[options.correction]})"
        if options.intervals == "simultaneous" and some.comparisons > 1:
            interval += ", simultaneous (Bonferroni)"
        mean = "weighted mean" if self.aligned.weights else "mean"
        clusters = max(its.clusters for its in self.values())
        signs = f" in {clusters} clusters (one sign per cluster)" if clusters < self.queries else ""
        first = f"{test} of the {mean} difference over {self.queries} queries{signs}" + (f", {how}" if how else "")
        return f"{first};\n{level} intervals by {interval}; {corrected}; rankgain {_backend.VERSION}."

    def notes(self) -> list[str]:
        """Say what to know about the numbers.

        Returns
        -------
        list of str
            One sentence per note, as `table` prints them.

        See Also
        --------
        warnings : What speaks against deciding by these numbers.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().notes()[-1]
        'queries evaluated: 8   left out: 0   backend: ...'
        """
        return [*self._about_the_test(), *self._about_the_family(), *self._about_the_queries()]

    def _about_the_test(self) -> Iterator[str]:
        options = self.options
        if options.method == STUDENT:
            yield "p: Student's paired t-test; two-sided"
            yield "interval: the differences that the same test does not reject"
        else:
            most = 44 if options.method == EXACT else EXACT_BY_DEFAULT
            random = any(its.flips for its in self.values())
            yield (
                f"p: sign-flip randomization, exact for {most} or fewer queries that differ, else {options.flips:,} "
                f"flips, seed {options.seed}; two-sided"
            )
            seeds = "; the last digit varies with the seed" if random else ""
            yield f"interval: the differences that the same test does not reject{seeds}"
            yield (
                "both are exact if differences are symmetric about their mean; otherwise approximate, better with more "
                "queries"
            )
        if any(its.clusters != its.queries for its in self.values()):
            yield "queries of one cluster have one sign together, since they are not independent of each other"
        for metric in options.metrics:
            weights = self.aligned.weights_of(metric)
            if weights is not None:
                yield (
                    f"{printable(metric)}: queries are weighted, and tell as much as {effective(weights):.1f} of equal "
                    "weight"
                )
        if any(aggregator(metric) is geometric_mean for metric in options.metrics):
            yield "of a geometric mean the mean logarithm (base 2) is tested"

    def _about_the_family(self) -> Iterator[str]:
        options, count = self.options, next(iter(self.values())).comparisons
        metrics = len(options.metrics)
        if metrics > 1 and options.family == "metric":
            yield (
                f"{number_word(metrics)} metrics, tested separately: not corrected for that; decide by the metric you "
                "named first"
            )
        if count > 1 and options.correction is None:
            yield f"{count} comparisons: not corrected"
        elif count > 1:
            assert options.correction is not None
            of = "of all metrics" if options.family == "all" else "of each metric"
            simultaneous = options.intervals == "simultaneous"
            ends = "intervals are simultaneous (Bonferroni)" if simultaneous else "intervals are not adjusted"
            yield f"adjusted: for the {count} comparisons {of} ({_CORRECTED[options.correction]}); {ends}"
        coarse = too_coarse(options, count)
        if coarse:
            yield coarse

    def _about_the_queries(self) -> Iterator[str]:
        if max(its.clusters for its in self.values()) < FEW_QUERIES:
            yield "with few queries, rare large differences may be missing"
        if len(self) <= LOOKED_AT:
            yield from filter(None, (self.influence(*key) for key in self))
        yield (
            "the interval is for other queries like these, on this collection and these judgments; not for retraining "
            "with other seeds"
        )
        yield f"queries evaluated: {self.queries}   left out: {self.left_out}   backend: {self._backend}"

    def influence(self, metric: str | Metric, run: str, baseline: str) -> str | None:
        """Name the single query that decides: without it, the difference changes its sign or the verdict.

        Parameters
        ----------
        metric : str or Metric
            A metric that was tested, as it was asked for.
        run, baseline : str
            The names of the two runs, as the keys have them.

        Returns
        -------
        str or None
            A sentence; None if there is no such query.

        Raises
        ------
        KeyError
            If the pair was not tested by the metric.

        Examples
        --------
        >>> import rankgain as rg
        >>> hard = [[0, 0, 1]] * 9
        >>> runs = {"a": rg.from_ranked([*hard, [1, 0, 0]]), "b": rg.from_ranked([*hard, [0, 1, 0]])}
        >>> print(rg.compare(runs, metrics="rr").test().influence("rr", "b", "a"))
        rr: without query 9 the difference of b to a would be 0.0000, not -0.0500
        """
        held = self[metric, run, baseline]
        values = self._differences_of(metric, run, baseline)
        if len(values) < 3 or not held.difference:
            return None
        sign = math.copysign(1.0, held.difference)
        # The query that speaks most for the difference, and the one that speaks most against it.
        for row in dict.fromkeys((int(np.argmax(sign * values)), int(np.argmin(sign * values)))):
            rest = self._mean_without(metric, values, row)
            turned = sign * rest <= self._rounding(values)
            if turned or (held.comparisons == 1 and self._decided_without(metric, run, baseline, row) != held.decided):
                query = self.aligned.ids(metric)[row]
                what = "" if turned else ", and it would be " + ("not decided" if held.decided else "decided")
                return (
                    f"{printable(metric)}: without query {printable(query)} the difference of {printable(run)} to "
                    f"{printable(baseline)} would be {signed(rest)}, not {signed(held.difference)}{what}"
                )
        return None

    def _mean_without(self, metric: str | Metric, values: Any, row: int) -> float:
        weights = _without(self.aligned.weights_of(metric), row)
        return float(np.average(np.delete(values, row), weights=weights))

    def _rounding(self, values: Any) -> float:
        return float(np.abs(values).max()) * 1e-12

    def _differences_of(self, metric: str | Metric, run: str, baseline: str) -> Any:
        matrix, names = self.aligned.values[metric], self.aligned.runs
        return matrix[:, names.index(run)] - matrix[:, names.index(baseline)]

    def _decided_without(self, metric: str | Metric, run: str, baseline: str, row: int) -> bool:
        """Whether the test of one pair decides without a query."""
        if self.options.method == STUDENT:
            return self[metric, run, baseline].decided
        names = self.aligned.runs
        pair = names.index(run), names.index(baseline)
        matrix = np.delete(self.aligned.values[metric], row, axis=0)
        weights, clusters = self.aligned.weights_of(metric), self.aligned.clusters_of(metric)
        columns, _ = columns_of(
            {metric: matrix[:, [pair[1], pair[0]]]}, [metric], [(1, 0)], _without(weights, row), _without(clusters, row)
        )
        own = facts(columns)
        if own.nonzero[0] <= EXACT_BY_DEFAULT and len(columns.values) > ENUMERATED:
            return rejected(exact_p(columns.differences(0, 1)[0], columns.sizes), self.options.alpha, 0)
        flips = Flips(columns, self.options.flips, self.options.seed, self.options.threads)
        counts, _ = flips.exceeded(columns, own, joint=False)
        return rejected(float(counts[0]) / flips.total, self.options.alpha, flips.total)

    @property
    def warnings(self) -> list[str]:
        """What speaks against deciding by these numbers: unjudged documents that differ between runs, and ties.

        Empty for a comparison that was made of Evaluations, without rankings, and for more than 20 differences.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().warnings
        []
        """
        if self._warnings is None:
            remarks = self._remarks if len(self) <= LOOKED_AT else None
            self._warnings = [] if remarks is None else list(self._remarked(remarks))
        return list(self._warnings)

    def _remarked(self, remarks: Remarks) -> Iterator[str]:
        for its in self.values():
            yield from remarks.about(its, self.aligned.ids(its.metric), self.aligned.weights_of(its.metric))

    def __getstate__(self) -> dict[str, Any]:
        """Without the rankings, whose warnings are found before."""
        return vars(self) | {"_warnings": self.warnings, "_remarks": None}

    # Tables

    def rows(self, most: int | None = None) -> list[list[str]]:
        """Return the cells of the table of differences, as `table` prints them.

        Parameters
        ----------
        most : int or None, default None
            How many differences to show. None: all of them.

        Returns
        -------
        list of list of str
            One row per difference, after a header; if there is a baseline, one row for it per metric as well.

        See Also
        --------
        columns : The numbers themselves.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().rows()[1]
        ['rr', '0.5000', '1.0000', '+0.5000', '+0.5000 to +0.5000', '0.0078', '8/0/0', '-']
        """
        level = f"{short(round(100 * self.options.level, 10))}% interval"
        shown = list(self.values())[:most]
        tail = ["better/same/worse", "effect"]
        if self._two:
            run, baseline = shown[0].run, shown[0].baseline
            head = ["metric", baseline, run, "difference", level, "p", *tail]
            return [head, *([str(its.metric), number(its.baseline_mean), *_cells(its, False)] for its in shown)]
        corrected = any(its.comparisons > 1 for its in shown) and self.options.correction is not None
        columns = ["difference", level, "p", *(["adjusted"] if corrected else []), *tail]
        if self.options.baseline is None:
            head = ["metric", "run", "less", *columns]
            return [head, *([str(its.metric), its.run, its.baseline, *_cells(its, corrected)[1:]] for its in shown)]
        rows = [["metric", "run", "mean", *columns]]
        for its in shown:
            if [str(its.metric), its.baseline] not in [row[:2] for row in rows]:
                empty = [""] * len(columns)
                rows.append([str(its.metric), its.baseline, number(its.baseline_mean), *empty])
            rows.append([str(its.metric), its.run, *_cells(its, corrected)])
        return rows

    def matrix(self, most: int | None = None) -> list[list[str]]:
        """Return the cells of a table of runs and metrics: means with the letters of `letters`.

        Parameters
        ----------
        most : int or None, default None
            How many runs to show. None: all of them.

        Returns
        -------
        list of list of str
            One row per run, after a header, the best run by the first metric first. Empty if there are two runs or a
            baseline.

        See Also
        --------
        letters : The letters of one metric.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> runs["c"] = rg.from_ranked([[1, 0]] * 7 + [[0, 1]])
        >>> rg.compare(runs, metrics="rr").test().matrix()
        [['run', 'rr'], ['b', '1.0000 b'], ['c', '0.9375 b'], ['a', '0.5000 a']]
        """
        if self._two or self.options.baseline is not None:
            return []
        columns = {}
        for metric in self.options.metrics:
            means, own = self._means(metric), self.letters(metric)
            width = max(map(len, own.values()))
            columns[metric] = {name: f"{number(means[name])} {own[name]:<{width}}" for name in own}
        order = list(reversed(next(iter(columns.values()))))
        return [
            ["run", *map(str, columns)],
            *([name, *(column[name] for column in columns.values())] for name in order[:most]),
        ]

    def title(self) -> str:
        """Say what was compared with what.

        Returns
        -------
        str
            One line, with the number of queries.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().title()
        'b compared with a: 8 queries, paired'
        """
        clusters = {its.clusters for its in self.values() if its.clusters != its.queries}
        within = f" in {counted(max(clusters), 'cluster')}" if clusters else ""
        queries = f"{counted(self.queries, 'query')}{within}, paired"
        if self._two:
            _, run, baseline = next(iter(self))
            return f"{printable(run)} compared with {printable(baseline)}: {queries}"
        if self.options.baseline is not None:
            return f"{len(self.runs) - 1} runs compared with {printable(self.options.baseline)}: {queries}"
        return f"{len(self.runs)} runs, all pairs: {queries}"

    def _more(self) -> list[str]:
        more = len(self) - MOST_ROWS
        return [f"… and {more} more: columns() and to_pandas() have all"] if more > 0 else []

    def _about_letters(self) -> list[str]:
        more = len(self.runs) - MOST_ROWS
        cut = [f"… and {more} more runs: letters() has all"] if more > 0 else []
        return [*cut, "runs that share a letter are not told apart"]

    def table(self) -> str:
        """Return an aligned text table, with verdicts, warnings and notes below it.

        Returns
        -------
        str
            At most 40 differences are shown, and the others counted.

        See Also
        --------
        columns : The numbers of all differences.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> print(rg.compare(runs, metrics="rr").test().table().splitlines()[0])
        b compared with a: 8 queries, paired
        """
        names = 1 if self._two else 2 if self.options.baseline is not None else 3
        said = [line for verdict in self.verdicts() for line in wrapped(verdict)]
        warned = [line for warning in self.warnings for line in wrapped(f"warning: {warning}")]
        below = [line for note in self.notes() for line in wrapped(note)]
        letters = self.matrix(MOST_ROWS)
        shared = [*text_table(letters), *self._about_letters()] if letters else []
        parts = [[self.title()], [*text_table(self.rows(MOST_ROWS), names), *self._more()], shared, said, warned, below]
        return "\n\n".join("\n".join(part) for part in parts if part)

    def __repr__(self) -> str:
        return self.table()

    def _tables(self, form: Form) -> list[Table]:
        """At most 40 differences, and the others counted; LaTeX gets the methods, as a comment."""
        said = [self.methods().replace("\n", " ")] if form == "latex" else [*self.verdicts(), *self.warnings]
        noted = self.notes() if form == "html" else []
        tables = [Table(self.rows(MOST_ROWS), [*self._more(), *said, *noted])]
        letters = _stripped(self.matrix(MOST_ROWS))
        return [*tables, *([Table(letters, self._about_letters())] if letters else [])]

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of a frame by name.

        Returns
        -------
        dict of str to list
            The fields of `Difference`, each with one value per difference; the metric as text.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().columns()["p"]
        [0.0078125]
        """
        held = list(self.values())
        columns: dict[str, list[Any]] = {name: [getattr(its, name) for its in held] for name in Difference._fields}
        return columns | {"metric": [str(its.metric) for its in held]}

    def per_query(self, metric: str | Metric, run: str, baseline: str) -> list[tuple[Any, float]]:
        """Return the queries with their differences, highest first.

        Parameters
        ----------
        metric : str or Metric
            A metric that was tested, as it was asked for.
        run, baseline : str
            The names of the two runs, as the keys have them.

        Returns
        -------
        list of tuple
            The id of each query that was tested, and the value of the run less that of the baseline; of a geometric
            mean the logarithms (base 2).

        Raises
        ------
        KeyError
            If the pair was not tested by the metric.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1], [1, 0]]), "b": rg.from_ranked([[1, 0], [1, 0]])}
        >>> rg.compare(runs, metrics="rr").test().per_query("rr", "b", "a")
        [(0, 0.5), (1, 0.0)]
        """
        _ = self[metric, run, baseline]
        values = self._differences_of(metric, run, baseline)
        ids = self.aligned.ids(metric)
        return [(ids[row], float(values[row])) for row in np.argsort(-values, kind="stable").tolist()]

    def plot(self, kind: str = "differences", metric: str | Metric | None = None) -> Figure:
        """Draw the differences, with one panel per metric and pair (of many the first six), or per metric.

        Parameters
        ----------
        kind : {"differences", "intervals", "scatter"}, default "differences"
            ``"differences"``: sorted bars of the queries, with the mean and its interval; ``"intervals"``: those of all
            pairs, grey where the difference is not decided; ``"scatter"``: one point per query, one run against the
            other.
        metric : str or Metric, optional
            A metric that was tested. By default, all of them.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``figure.savefig("differences.png")`` keeps it.

        Raises
        ------
        ImportError
            If matplotlib is not installed: ``pip install 'rankgain[plot]'``.
        ValueError
            If `kind` is unknown.
        KeyError
            If the metric was not tested.

        See Also
        --------
        Comparison.report : The pictures in a page, with query ids.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().plot("intervals").axes[0].get_xlabel()
        'rr, less a'
        """
        try:
            from rankgain.comparison import plotting
        except ImportError as error:
            raise ImportError("drawing needs matplotlib: pip install 'rankgain[plot]'") from error
        if kind not in plotting.KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, plotting.KINDS))}, not {kind!r}")
        keys = [key for key in self if metric is None or key[0] == metric]
        if not keys:
            raise KeyError(f"{metric} was not tested; there are: {', '.join(map(str, self.options.metrics))}")
        return plotting.draw(self, kind, keys)

    def values_of(self, metric: str | Metric, run: str) -> Any:
        """Return the values of a run that were tested.

        Parameters
        ----------
        metric : str or Metric
            A metric that was tested, as it was asked for.
        run : str
            The name of a run.

        Returns
        -------
        ndarray of float64, shape (queries,)
            In the order of the first run's queries, without those that were left out; of a geometric mean the
            logarithms (base 2).

        Raises
        ------
        KeyError
            If the metric was not tested.
        ValueError
            If there is no such run.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1], [1, 0]]), "b": rg.from_ranked([[1, 0], [1, 0]])}
        >>> rg.compare(runs, metrics="rr").test().values_of("rr", "a").tolist()
        [0.5, 1.0]
        """
        return self.aligned.values[metric][:, self.aligned.runs.index(run)]


def _cells(its: Difference, corrected: bool) -> list[str]:
    ends = "no interval" if math.isinf(its.low) or math.isinf(its.high) else f"{signed(its.low)} to {signed(its.high)}"
    return [
        number(its.mean),
        signed(its.difference),
        ends,
        p_text(its.p),
        *([p_text(its.adjusted)] if corrected else []),
        f"{its.better}/{its.same}/{its.worse}",
        "-" if math.isnan(its.effect) else f"{its.effect:+.2f}",
    ]


def _stripped(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[cell.rstrip() for cell in row] for row in rows]


def _without(numbers: Array | None, row: int) -> Array | None:
    return None if numbers is None else np.delete(numbers, row)


def _tells(its: Difference | None) -> bool:
    return its is not None and its.decided


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(printable, names[:MOST_ROWS]))
    return shown + (f" and {len(names) - MOST_ROWS} more" if len(names) > MOST_ROWS else "")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def wrapped(text: str) -> list[str]:
    """Lines of up to 118 characters, the later ones indented."""
    import textwrap  # not needed where nothing is printed

    return textwrap.wrap(text, 118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
