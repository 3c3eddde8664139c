"""The tests of a comparison, as `Comparison.test` returns them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankgain.choices import check_choice
from rankgain.comparison import sentences, tables
from rankgain.comparison.aligned import Aligned
from rankgain.comparison.difference import Difference
from rankgain.comparison.gate import WORST, Gate, judge
from rankgain.comparison.remarks import Remark, remarks, warning_blocks
from rankgain.comparison.testing import Key, Options, Tested, check_margin
from rankgain.metrics.metric import Metric, MetricKey
from rankgain.results.export import Frames
from rankgain.results.text import Block, Form, Printed, Table, check_export, latex_of, markdown_of, marks_of

if TYPE_CHECKING:
    from rankgain.rankings import Rankings
    from rankgain.results.plotting import Figure

PARTS = "all", "matrix", "differences"
MOST_ROWS = 40  # rows of a printed table; the rest are counted


class Tests(Frames, Printed, Tested):
    """The differences between runs: a mapping from (metric, run, baseline) to `Difference`.

    Made by `Comparison.test`. Printed, it is a table, the verdicts, a line on the method and the queries, and warnings;
    `notes` has the rest. The table is that of the differences (at most 40, and the rest are counted); for all pairs of
    more than three runs, that of `matrix`. The best mean of each metric is marked ``*``.

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
        How many queries were not tested, since some run lacks them, they have no value, or their weight is 0.
    missing : str
        A phrase on the queries that each run lacks, such as "none missing"; empty if that is unknown.

    See Also
    --------
    Comparison.test : The test, with its definition.
    Difference : The record of one difference.

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
        rankings: Mapping[str, Rankings],
        missing: str = "",
    ) -> None:
        super().__init__(differences, aligned, options, missing)
        self._rankings = rankings  # the evaluated rankings by run, if known
        self._remarks: list[Remark] | None = None  # computed on first use

    def verdicts(self) -> list[str]:
        """Say which runs are better, which are worse, and which differences are inconclusive.

        Returns
        -------
        list of str
            One sentence per difference, what is decided first, and those on the margin; for more than six differences
            of several pairs, one line per metric. The metric is named if there are several.

        See Also
        --------
        Difference.verdict : The sentence of one difference.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"a": rg.from_ranked([[0, 1]] * 8), "b": rg.from_ranked([[1, 0]] * 8)}
        >>> rg.compare(runs | {"c": rg.from_ranked([[0, 1]] * 7 + [[1, 0]])}, metrics="rr").test("a").verdicts()
        ['b is better than a by +0.5000 (95% +0.5000 to +0.5000).', 'Inconclusive: c vs a; ...']
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
            The lines that `table` prints below the verdicts, then further ones.

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
        return [*sentences.summary(self), *sentences.details(self)]

    @property
    def warnings(self) -> list[str]:
        """Reasons not to rely on these numbers.

        Weights that leave less information than 6 queries; decided differences that point away from the largest
        differences of single queries, or that depend on one query; and, for a comparison of rankings (not of
        Evaluations or values), unjudged documents that differ between runs, and ties. One text per warning; `table`
        prints them as a table.

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
            self._remarks = list(remarks(self, self._rankings))
        return self._remarks

    def __getstate__(self) -> dict[str, Any]:
        """The state without the rankings, but with the warnings that depend on them."""
        return vars(self) | {"_remarks": self._reasons(), "_rankings": {}}

    def tied_with_best(self, metric: str | Metric) -> list[str]:
        """Return the run with the best mean, and the runs whose difference from it is not decided.

        If several runs share the best mean, a difference to one of them suffices. Not decided does not mean equal, and
        with a baseline, differences between other runs are not tested, hence not decided.

        Parameters
        ----------
        metric : str or Metric
            A metric that was tested, as requested.

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
        matrix : A table of all metrics, with the runs that each one is better than.

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
        margin: float | None = None,
        strict: bool = False,
        floors: Mapping[MetricKey, float] | None = None,
        worst: int = WORST,
    ) -> Gate:
        """Decide whether a change may be merged, by testing the new run against the baseline, for automated builds.

        Each metric is tested without correction, and any of them can fail the gate. Without a margin, a metric fails if
        it is decided to be worse (p at most 1 − level, the mean worse). With a margin, it passes if it is shown not to
        be worse by more than that; otherwise it fails if it is decided to be worse; otherwise it is undecided. The gate
        also fails if the run returns nothing for a query for which the baseline does, or if a mean is beyond its floor.

        Parameters
        ----------
        margin : float, optional
            The loss that is still acceptable, 0 or more, in the units of the metrics. It may differ from the margin of
            the test.
        strict : bool, default False
            Whether an undecided metric fails; by default it passes.
        floors : mapping of str or Metric to float, optional
            The lowest acceptable mean of the new run, by metric; the highest, for metrics where lower is better.
        worst : int, default 10
            The number of queries to list per metric, those with the largest losses.

        Returns
        -------
        Gate
            The status, the reasons and the largest losses.

        Raises
        ------
        ValueError
            If not one run was tested against one baseline; if for a metric neither higher nor lower is better, or, with
            a margin, it has no upper bound; if `floors` names a metric that was not tested, or `margin` is negative.
        TypeError
            If `margin`, `worst` or a floor is not a number.

        See Also
        --------
        Difference.not_worse : The test of a margin.

        Examples
        --------
        >>> import rankgain as rg
        >>> runs = {"main": rg.from_ranked([[1, 0]] * 8), "change": rg.from_ranked([[0, 1]] * 8)}
        >>> rg.compare(runs, metrics="rr").test().gate(floors={"rr": 0.6}).reasons[0]
        'rr: the mean 0.5 is below the limit 0.6: failed.'
        """
        checked = None if margin is None else check_margin(margin)
        return judge(self, self._lacking, checked, strict, floors or {}, worst)

    def _lacking(self) -> Sequence[Any]:
        """The queries for which only the baseline returned documents; empty if that is unknown."""
        ((_, run, baseline), *_) = self
        if not {run, baseline} <= self._rankings.keys():
            return []
        returned = {
            name: dict(zip(rankings.query_ids, rankings.evaluate("num_ret")["num_ret"].tolist(), strict=True))
            for name, rankings in self._rankings.items()
        }
        return [query for query, count in returned[baseline].items() if count and not returned[run].get(query)]

    # Tables

    def matrix(self) -> list[list[str]]:
        """Return the table for papers: one row per run, with the mean of each metric.

        Returns
        -------
        list of list of str
            The cells, after a header. The best mean of a metric is marked ``*``, and letters at a mean name the runs
            that this one is better than. Without a baseline, more than 15 runs have no letters. In `to_markdown` and
            `to_latex` the best mean is in bold, and letters are superscripts.

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
        part: str = "all",
    ) -> str:
        """Return the table for papers (unless two runs are compared), the differences and the sentences in Markdown.

        Parameters
        ----------
        digits, percent, caption, label : optional, with the defaults of the comparison
            As in `Comparison.to_markdown`.
        part : {"all", "matrix", "differences"}, default "all"
            What to return: everything, the table for papers alone, or the table of differences alone.

        Returns
        -------
        str
            The tables with their captions; with all parts, the verdicts and warnings.

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
        check_choice(part, "part", PARTS)
        return markdown_of(self._tables("markdown") if part == "all" else [self._part("markdown", part)], export)

    def to_latex(
        self,
        *,
        digits: int | None = None,
        percent: bool = False,
        caption: str | None = None,
        label: str | None = None,
        part: str = "all",
    ) -> str:
        r"""Return the table for papers and the differences in LaTeX, for the package booktabs.

        The table for papers has one row per metric and, below the means, the intervals of the differences from the
        baseline. If it does not fit a column of 229 pt, but would with one row per run, it has one row per run. Wider
        tables are set across both columns (``table*``), in smaller letters if necessary.

        Parameters
        ----------
        digits, percent, caption, label : optional, with the defaults of the comparison
            As in `Comparison.to_latex`.
        part : {"all", "matrix", "differences"}, default "all"
            What to return: everything, the table for papers alone, or the table of differences alone.

        Returns
        -------
        str
            The tables. Names in other than Latin letters compile with lualatex; see `Comparison.to_latex`.

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
        check_choice(part, "part", PARTS)
        return latex_of([self._part("latex", each) for each in (PARTS[1:] if part == "all" else [part])], export)

    def _part(self, form: Form, part: str) -> Table:
        if part == "matrix":
            matrix = tables.matrix(self, form, MOST_ROWS)
            return tables.compact(self, matrix) if form == "latex" else matrix
        differences = tables.without_repeats(tables.differences(self, form, MOST_ROWS))
        methods = [self.methods().replace("\n", " ")] if form == "latex" else []
        return differences._replace(below=[*differences.below, *methods])

    def _tables(self, form: Form) -> Iterator[Block]:
        """The differences, or the table for papers of all pairs of many runs; in Markdown both."""
        if form == "markdown":
            yield from (self._part(form, part) for part in PARTS[1 + sentences.is_pair(self) :])
        else:
            yield [sentences.title(self)]
            yield self._part(form, "matrix" if sentences.is_matrix(self) else "differences")
        yield [*self.verdicts(), *sentences.summary(self)]
        yield from warnings_of(self)

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
        pairs = list(self.values())
        columns: dict[str, list[Any]] = {name: [getattr(pair, name) for pair in pairs] for name in Difference._fields}
        return columns | {"metric": [str(pair.metric) for pair in pairs]}

    def plot(self, kind: str = "intervals", metric: str | Metric | None = None) -> Figure:
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

        drawing()  # raises the error without matplotlib
        from rankgain.comparison import plotting

        check_choice(kind, "kind", plotting.KINDS)
        metrics = self.options.metrics if metric is None else [self.key_of(metric)]
        keys = [key for key in self if key[0] in metrics]
        return plotting.draw(self, kind, keys)


def warnings_of(tests: Tests) -> Iterator[Block]:
    """The table of the first warnings, and what they mean."""
    return warning_blocks(tests._reasons())
