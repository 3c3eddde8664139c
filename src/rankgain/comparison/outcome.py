"""The results of testing a comparison, as returned by `Comparison.test`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from rankgain.choices import CHOICES, Part, TestPicture, check_choices
from rankgain.comparison import sentences, tables
from rankgain.comparison.absent import Coverage, empty_queries
from rankgain.comparison.aligned import Aligned
from rankgain.comparison.difference import Difference
from rankgain.comparison.evidence import Evidence
from rankgain.comparison.gate import OF_TEST, WORST, Gate, GateRules, judge
from rankgain.comparison.guards import checked_limits
from rankgain.comparison.remarks import Remark, remarks, warning_blocks
from rankgain.comparison.testing import Key, Options, Tested, check_margin
from rankgain.metrics.metric import Metric, MetricKey
from rankgain.results.export import Frames
from rankgain.results.text import Block, Form, Printed, Table, check_export, latex_of, markdown_of, marks_of

if TYPE_CHECKING:
    from rankgain.results.plotting import Figure

MOST_ROWS = 40  # maximum number of rows in a printed table; further rows are only counted


class Tests(Frames, Printed, Tested):
    """The differences between runs: a mapping from (metric, run, baseline) to `Difference`.

    Created by `Comparison.test`. When printed, it shows a table, the verdicts, a line about the method and the queries,
    and warnings; `notes` returns further remarks. The table lists the differences (at most 40; further ones are only
    counted). If all pairs of more than three runs were tested, the table of `matrix` is shown instead. The best mean of
    each metric is marked ``*``.

    Attributes
    ----------
    runs : list of str
        The runs that were tested, in the order of the comparison.
    options : named tuple
        The options of the test: baseline (a tuple if there are several), metrics, method, correction, family,
        intervals, level, margin, flips, seed, queries and threads.
    queries : int
        How many queries were tested; if the number differs between metrics, the largest.
    left_out : int
        How many queries were not tested, because a run lacks them, they have no value, or their weight is 0.
    missing : str
        A phrase about the queries that each run lacks, such as "none missing"; empty if unknown.

    See Also
    --------
    Comparison.test : The test, with its definition.
    Difference : The result for one difference.

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
    __test__ = False  # otherwise, pytest would collect the class

    def __init__(
        self,
        differences: Mapping[Key, Difference],
        aligned: Aligned,
        options: Options,
        evidence: Mapping[str, Evidence],
        missing: str = "",
        coverage: Mapping[str, Coverage] | None = None,
    ) -> None:
        super().__init__(differences, aligned, options, missing)
        self._evidence = evidence  # the runs whose rankings were evaluated
        self._coverage: Mapping[str, Coverage] = coverage or {}
        self._remarks: list[Remark] | None = None  # computed on first use

    def verdicts(self) -> list[str]:
        """Say which runs are better, which are worse, and which differences are inconclusive.

        Returns
        -------
        list of str
            One sentence per difference, decided differences first, followed by sentences about the margin. If there are
            several pairs of runs and more than six differences, the sentences are combined into lines per metric. If
            several differences are inconclusive, the last sentence applies to all of them.

        See Also
        --------
        Difference.verdict : The sentence about one difference.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs | {"c": rg.from_ranked([[0, 1]] * 7 + [[1, 0]])}, metrics="rr").test("a").verdicts()
        ['rr: b is better than a by +0.5000 (95% +0.5000 to +0.5000).', 'rr: inconclusive for c vs a; ...']
        """
        return sentences.verdicts(self)

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
        return sentences.methods(self)

    def notes(self) -> list[str]:
        """Explain how to read the numbers.

        Returns
        -------
        list of str
            The lines that `table` prints below the verdicts, followed by further notes.

        See Also
        --------
        warnings : Reasons not to rely on these numbers.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().notes()[0]
        'Sign flips (all, exact); 8 queries, none missing.'
        """
        return [*sentences.summary_lines(self), *sentences.details(self)]

    @property
    def warnings(self) -> list[str]:
        """Reasons not to rely on these numbers.

        A warning is given if weights leave less information than 6 queries would, or if a decided difference points
        away from the largest differences of single queries or depends on one query. In comparisons of rankings (not of
        Evaluations or values), there are also warnings about ties, and about runs that differ in their share of
        unjudged documents. Each warning is one string; `table` prints the warnings as a table.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().warnings
        []
        """
        return [remark.sentence() for remark in self._reasons()]

    def _reasons(self) -> list[Remark]:
        if self._remarks is None:
            self._remarks = list(remarks(self, self._evidence))
        return self._remarks

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the rankings, but with the warnings and the coverage computed from them."""
        return vars(self) | {"_remarks": self._reasons(), "_coverage": self._covered(), "_evidence": {}}

    def tied_with_best(self, metric: str | Metric) -> list[str]:
        """Return the run with the best mean, and all runs that the test does not show to differ from it.

        If several runs share the best mean, a run is included if its difference from any of them is not decided. A
        difference that is not decided does not show that the runs are equal. If there is a baseline, differences
        between other runs are not tested and therefore not decided.

        Parameters
        ----------
        metric : str or Metric
            A metric that was tested, as requested.

        Returns
        -------
        list of str
            The runs in order of their means, the best run first. Empty if neither higher nor lower is better.

        Raises
        ------
        KeyError
            If the metric was not tested.

        See Also
        --------
        matrix : A table of all metrics that shows for each run the runs that it is better than.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().tied_with_best("rr")
        ['b']
        """
        return sentences.tied_with_best(self, metric)

    def gate(
        self,
        *,
        margin: float | Literal["test"] | None = OF_TEST,
        strict: bool = False,
        floors: Mapping[MetricKey, float] | None = None,
        max_drop: float | Mapping[MetricKey, float] | None = None,
        max_loss: float | tuple[float, float] | Mapping[MetricKey, float | tuple[float, float]] | None = None,
        groups: Any = None,
        worst: int = WORST,
    ) -> Gate:
        """Decide in an automated build whether a change may be merged, by testing the new run against the baseline.

        Each metric is tested without correction, and any metric can fail the gate. A metric passes if it is decided to
        be better (p is at most 1 − level) or, with a margin, if it is shown not to be worse by more than the margin.
        Otherwise, it fails if it is decided to be worse, and is undecided if not. The gate also fails if the run
        returns nothing for a query for which the baseline returns documents, if a mean is beyond its floor, if a group
        is decided to be worse, or if a guard fails. Guards (`max_drop`, `max_loss`) are not tests: they are exact
        statements about the tested queries, and also work if too few queries differ for a test. A guard that fails
        beats every pass.

        Parameters
        ----------
        margin : float, "test" or None, default "test"
            The largest acceptable loss, at least 0 and below the most that the baseline can lose, in the units of the
            metrics (for geometric means, of the logarithms): 0.02 for 2 points. By default, the margin of the test;
            None: no margin.
        strict : bool, default False
            Whether an undecided metric fails; by default it passes.
        floors : mapping of str or Metric to float, optional
            The lowest acceptable mean of the new run for each metric, or the highest if lower values are better.
        max_drop : float or mapping of str or Metric to float, optional
            How much worse the mean over the tested queries may be, for all metrics or for each. With weights, it is the
            weighted mean, and for geometric means the geometric mean itself.
        max_loss : float, tuple or mapping of str or Metric to them, optional
            How much a single query may lose, for all metrics or for each. ``0.5``: no query may lose more;
            ``(0.5, 2)``: at most 2 queries may; ``(0.5, 0.01)``: at most 1% of the queries may.
        groups : mapping, sequence or column of a frame, optional
            The group of each query, by its id or in the order of the tested queries. The gate fails if a group is
            decided to be worse, even if the mean over all queries is better; p is corrected for the number of groups by
            single-step max-T. With a margin, a group passes if it is shown not to be worse by more than the margin.
            Groups of too few queries (fewer than 6 at the level 0.95) are not tested.
        worst : int, default 10
            The number of queries to list per metric; those with the largest losses are listed.

        Returns
        -------
        Gate
            The status, the reasons and the largest losses.

        Raises
        ------
        ValueError
            If the test is not of one run against one baseline; if neither higher nor lower values of a metric are
            better; if there is a margin, and a metric has no upper bound or the baseline cannot lose more than the
            margin; if `floors`, `max_drop` or `max_loss` names a metric that was not tested; if a limit is negative or
            not finite; if a share in `max_loss` is not below 1; or if a query has no group.
        TypeError
            If `margin`, `worst` or a limit is not a number, or if `groups` does not have one label per query.

        See Also
        --------
        Difference.not_worse : The test with a margin.
        Comparison.queries_needed : The number of queries that a margin needs.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"main": rg.from_ranked([[1, 0]] * 5), "change": rg.from_ranked([[0, 1]] * 5)}
        >>> tests = rg.compare(runs, metrics="rr").test()
        >>> tests.gate().status
        'undecided'
        >>> tests.gate(max_drop=0.02).reasons[0]
        'rr: the mean is worse by 0.5000, more than the max drop of 0.02 (no interval): failed.'
        """
        chosen = self.options.margin if margin == OF_TEST else margin
        checked = None if chosen is None else check_margin(chosen)
        limits = checked_limits(self, floors, max_drop, max_loss)
        return judge(self, self._covered(), GateRules(checked, strict, limits), groups, worst)

    def _covered(self) -> Mapping[str, Coverage]:
        """Return which queries each run answers. Runs are evaluated again, since this also shows empty lists."""
        empty = empty_queries(self._evidence)
        return {name: each._replace(empty=empty.get(name, each.empty)) for name, each in self._coverage.items()}

    # Tables

    def matrix(self) -> list[list[str]]:
        """Return the table for papers: one row per run, with the mean of each metric.

        Returns
        -------
        list of list of str
            A header, followed by the rows of cells. The best mean of a metric is marked ``*``, and letters after a mean
            name the runs that this run is better than. If there are more than 15 runs and no baseline, there are no
            letters. In `to_markdown` and `to_latex`, the best mean is in bold, and the letters are superscripts.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test("a").matrix()
        [['', 'run', 'rr'], ['a', 'a', '0.5000'], ['', 'b', '1.0000*a']]
        """
        table = tables.matrix(self, "text")
        marks = marks_of(table)
        return [
            [f"{cell}{marks.get((number, column), '')}" for column, cell in enumerate(row)]
            for number, row in enumerate(table.rows)
        ]

    def to_markdown(
        self,
        *,
        digits: int | None = None,
        percent: bool = False,
        caption: str | None = None,
        label: str | None = None,
        part: Part = "all",
    ) -> str:
        """Return the table for papers (unless there are only two runs), the differences and the verdicts in Markdown.

        Parameters
        ----------
        digits, percent, caption, label : optional, with the defaults of the comparison
            As in `Comparison.to_markdown`.
        part : {"all", "matrix", "differences"}, default "all"
            What to return: everything, the table for papers alone, or the table of differences alone.

        Returns
        -------
        str
            The tables with their captions. If all parts are returned, the verdicts and warnings follow.

        Raises
        ------
        TypeError, ValueError
            If `Comparison.to_markdown` would raise it, or if `part` is unknown.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> tests = rg.compare(runs, metrics="rr").test("a")
        >>> print(tests.to_markdown(digits=1, percent=True, part="matrix").split("\\n\\n")[0])
        |  | run | rr |
        |:---|:---|---:|
        | a | a | 50.0 |
        |  | b | **100.0**<sup>a</sup> |
        """
        export = check_export(digits, percent, caption, label)
        check_choices(part=part)
        return markdown_of(self._tables("markdown") if part == "all" else [self._part("markdown", part)], export)

    def to_latex(
        self,
        *,
        digits: int | None = None,
        percent: bool = False,
        caption: str | None = None,
        label: str | None = None,
        part: Part = "all",
    ) -> str:
        r"""Return the table for papers and the table of differences in LaTeX, which requires the booktabs package.

        The table for papers has one row per metric, with the intervals of the differences from the baseline below the
        means. If this layout does not fit a column of 229 pt, but one row per run does, the table has one row per run.
        Wider tables are set across both columns (``table*``), in smaller letters if necessary.

        Parameters
        ----------
        digits, percent, caption, label : optional, with the defaults of the comparison
            As in `Comparison.to_latex`.
        part : {"all", "matrix", "differences"}, default "all"
            What to return: everything, the table for papers alone, or the table of differences alone.

        Returns
        -------
        str
            The tables. Names in non-Latin letters require lualatex; see `Comparison.to_latex`.

        Raises
        ------
        TypeError, ValueError
            If `Comparison.to_latex` would raise it, or if `part` is unknown.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> tests = rg.compare(runs, metrics="rr").test("a")
        >>> print(tests.to_latex(digits=1, part="matrix", label="tab:rr").split("tabcolsep}{3pt}")[1])
        <BLANKLINE>
        \begin{tabular}{lcc}
        \toprule
        metric & a\textsuperscript{a} & b \\
        \midrule
        rr & 0.5 & \textbf{1.0}\rlap{\textsuperscript{a}} \\
         &  & \scriptsize +0.5, +0.5 \\[2pt]
        \bottomrule
        \end{tabular}
        \end{table}
        <BLANKLINE>
        """
        export = check_export(digits, percent, caption, label)
        check_choices(part=part)
        parts = CHOICES["part"][1:] if part == "all" else [part]
        return latex_of([self._part("latex", each) for each in parts], export)

    def _part(self, form: Form, part: str) -> Table:
        if part == "matrix":
            matrix = tables.matrix(self, form, MOST_ROWS)
            return tables.compact(self, matrix) if form == "latex" else matrix
        differences = tables.without_repeats(tables.differences(self, form, MOST_ROWS))
        methods = [self.methods().replace("\n", " ")] if form == "latex" else []
        return differences._replace(below=[*differences.below, *methods])

    def _tables(self, form: Form) -> Iterator[Block]:
        """Yield the blocks of the output: tables, verdicts, summary and warnings.

        Markdown has both tables unless only two runs are compared. The other forms have a title and one table.
        """
        if form == "markdown":
            yield from (self._part(form, part) for part in CHOICES["part"][1 + sentences.is_pair(self) :])
        else:
            yield [sentences.title(self)]
            yield self._part(form, "matrix" if sentences.is_matrix(self) else "differences")
        yield [*self.verdicts(), *sentences.summary_lines(self)]
        yield from warnings_of(self)

    def columns(self) -> dict[str, list[Any]]:
        """Return the differences as a dict of data frame columns.

        Returns
        -------
        dict of str to list
            The fields of `Difference`, each with one value per difference. Metrics are given as text.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().columns()["p"]
        [0.0078125]
        """
        pairs = list(self.values())
        columns: dict[str, list[Any]] = {name: [getattr(pair, name) for pair in pairs] for name in Difference._fields}
        return columns | {"metric": [str(pair.metric) for pair in pairs]}

    def plot(self, kind: TestPicture = "intervals", metric: str | Metric | None = None) -> Figure:
        """Draw the intervals of the differences, or the values of each query.

        The sorted differences of the queries are drawn in `Comparison.report`.

        Parameters
        ----------
        kind : {"intervals", "scatter"}, default "intervals"
            ``"intervals"``: one panel per metric (at most six) with the intervals of all pairs, grey if the difference
            is not decided; ``"scatter"``: one panel per metric and pair (at most six) with one point per query, one run
            against the other.
        metric : str or Metric, optional
            A metric that was tested. By default, all of them.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which notebooks display and ``figure.savefig("intervals.png")`` writes.

        Raises
        ------
        ImportError
            If matplotlib is not installed: ``pip install 'rankgain[plot]'``.
        ValueError
            If `kind` is unknown.
        KeyError
            If the metric was not tested.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().plot().axes[0].get_xlabel()
        'rr: difference to a'
        """
        from rankgain.results.curves import drawing

        drawing()  # raises an error if matplotlib is not installed
        from rankgain.comparison import plotting

        check_choices(kind=kind)
        metrics = self.options.metrics if metric is None else [self.key_of(metric)]
        keys = [key for key in self if key[0] in metrics]
        return plotting.draw_tests(self, kind, keys)


def warnings_of(tests: Tests) -> Iterator[Block]:
    """Yield a table of the first warnings, and an explanation of each kind of warning."""
    return warning_blocks(tests._reasons())
