"""The function `agreement`, which compares two judges of the same queries by their labels and by their best runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgain.choices import Pairs, check_choices
from rankgain.comparison.coefficients import count_grades, kappa, kappa_interval, moments, quadratic_kappa
from rankgain.comparison.compare import USUAL_METRICS, Requested, compare
from rankgain.comparison.comparison import Comparison
from rankgain.comparison.difference import joined, p_phrase, percent
from rankgain.comparison.evidence import shares_of
from rankgain.comparison.judged_pairs import JudgedPairs, Names, check_names, judged_pairs
from rankgain.comparison.outcome import Tests
from rankgain.comparison.remarks import NOTABLE
from rankgain.comparison.shifts import RunAgreement, ShiftedRun, most_frequent, run_agreement
from rankgain.comparison.testing import sample_of
from rankgain.data.given import Given, is_stream, recognise
from rankgain.data.judgments import Judgments, JudgmentSets, judgment_sets
from rankgain.errors import counted, quoted, short, warn
from rankgain.inputs.any import columns_by_side
from rankgain.inputs.judgments import judgments
from rankgain.metrics.metric import Metric, better, parse
from rankgain.rankings import Rankings
from rankgain.results.evaluation import Evaluation, assumptions
from rankgain.results.export import Frames
from rankgain.results.intervals import check_level, mean_interval
from rankgain.results.text import Block, Form, Number, Printed, Table, printable, signed
from rankgain.scalars import Floats, Ints, check_number, to_intp

MOST_GRADES = 10  # with more grades, no two judges give many documents the same
SHOWN = 5  # the number of queries in the printed table


class LabelAgreement(NamedTuple):
    """One measure of how well the labels of two judges agree.

    Attributes
    ----------
    measure : str
        What is measured, in words.
    value, low, high : float
        The value, NaN if it is undefined, and the ends of its confidence interval, NaN if there is none.
    """

    measure: str
    value: float
    low: float
    high: float


class QueryAgreement(NamedTuple):
    """How well the labels of two judges agree for one query.

    Attributes
    ----------
    query : object
        The id of the query.
    documents : int
        How many documents both have judged.
    same : float
        The share of them with the same grade.
    shift : float
        The mean of the second judge's grades minus the first's.
    """

    query: Any
    documents: int
    same: float
    shift: float


class Disagreement(NamedTuple):
    """A document with different grades.

    Attributes
    ----------
    query, document : object
        The ids of the query and of the document.
    first, second : float
        The grades by the two judges.
    """

    query: Any
    document: Any
    first: float
    second: float


class Agreement(Frames, Printed):
    """How well two judges agree, on labels and on runs, as computed by `agreement`.

    Printed, it shows the measures of the labels, the queries with the lowest agreement, one row per metric about the
    runs, the runs that are shifted, and notes.

    Attributes
    ----------
    names : tuple of str
        The names of the two judges.
    pairs : int
        How many documents both have judged, over all queries.
    queries : int
        How many queries have such a document.
    only : tuple of int
        How many documents only the first, and only the second has judged.
    assumed : tuple of str
        What was assumed about the judgments and the runs, in words, such as that each row without a grade counts as 1.
    labels : list of LabelAgreement
        The measures of the labels, with confidence intervals.
    higher, lower, shift : float
        The shares of the documents to which the second judge gives a higher and a lower grade, and its mean grade minus
        the first's.
    grades : list of float
        The grades that occur, in order; empty if there are more than 10.
    confusion : ndarray
        How many documents have each pair of `grades`, the rows by the first judge.
    runs : dict of str or Metric to RunAgreement
        The agreement on the runs, by metric; empty for fewer than two runs or queries.
    comparisons, tests : tuple
        The Comparison and the Tests of the runs by each judge; empty as `runs`.

    See Also
    --------
    agreement : Computes it.

    Examples
    --------
    >>> import rankgain as rg
    >>> human = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 0, "b": 1}}
    >>> llm = {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 0, "b": 1}}
    >>> agreement = rg.agreement(human, llm)
    >>> agreement.confusion.tolist()
    [[1, 1], [0, 3]]
    >>> agreement.disagreements()
    [Disagreement(query='q1', document='b', first=0.0, second=1.0)]
    """

    __module__ = "rankgain"

    def __init__(
        self,
        pairs: JudgedPairs,
        thresholds: tuple[float, float],
        scales_differ: bool,
        names: Names,
        level: float,
        comparisons: Sequence[Comparison] = (),
        losses: Sequence[str] = (),
        one_run: bool = False,
    ) -> None:
        self.names = names
        self._shown = printable(names[0]), printable(names[1])
        self.pairs = len(pairs.query)
        self.queries = len(pairs.query_ids)
        self.only = pairs.only
        remarks = [remark for side in pairs.sides for remark in side.assumed]
        remarks += [remark for runs in comparisons for remark in assumptions(runs)]
        self.assumed = tuple(dict.fromkeys(remarks))
        self.level = level
        self._pairs = pairs
        self._thresholds = thresholds
        self._losses = losses
        self._one_run = one_run
        relevant = [
            (grades >= least).astype(np.float64) for grades, least in zip(pairs.grades, thresholds, strict=True)
        ]
        self._relevant = relevant[0], relevant[1]
        # On different scales, only relevance can be compared.
        self._grades = self._relevant if scales_differ else pairs.grades
        self._scales_differ = scales_differ
        first, second = self._grades
        self.higher, self.lower = (float(np.mean(mask)) for mask in (second > first, second < first))
        self.shift = float(np.mean(second - first))
        values, codes = np.unique(np.concatenate(self._grades), return_inverse=True)
        few = len(values) <= MOST_GRADES
        self.grades: list[float] = values.tolist() if few else []
        counts = np.zeros((self.queries, 0))
        if few:
            counts = count_grades(codes[: self.pairs], codes[self.pairs :], len(values), pairs.query, self.queries)
        self.confusion = counts.sum(axis=0).astype(np.int64).reshape(len(self.grades), len(self.grades))
        self._per_query = self._by_query()
        self.labels = [*self._labels(counts)]
        self.comparisons = tuple(comparisons)
        self.tests: tuple[Tests, ...] = tuple(comparison.test(level=level) for comparison in comparisons)
        self.runs: dict[str | Metric, RunAgreement] = {}
        if comparisons:
            one, other = self.tests
            for metric in comparisons[0].metrics:
                _check_samples(metric, (one, other), names)
                self.runs[metric] = run_agreement(metric, (one, other))

    def _by_query(self) -> tuple[Ints, Floats, Floats]:
        """Return for each query the number of documents, the share of equal grades and the mean shift."""
        first, second = self._grades
        query = to_intp(self._pairs.query)
        documents = np.bincount(query, minlength=self.queries)
        same, shift = (np.bincount(query, weights=each) / documents for each in (first == second, second - first))
        return documents, same, shift

    def _labels(self, counts: Floats) -> Iterator[LabelAgreement]:
        binary = len(self.grades) == 2
        if self.grades:
            same = self._per_query[1]
            ends = mean_interval(same, 0.0, 1.0, self.level) if self.queries > 1 else (math.nan, math.nan)
            yield LabelAgreement("same relevance" if self._scales_differ else "same grade", float(same.mean()), *ends)
        if self.grades and not binary:
            yield self._kappa("Cohen's kappa, each grade", kappa, counts)
        one, other = map(short, self._thresholds)
        least = f"grade ≥ {one}" + ("" if one == other else f" by {self.names[0]}, ≥ {other} by {self.names[1]}")
        name = "kappa" if self.grades and not binary else "Cohen's kappa"
        yield self._kappa(f"{name}, relevant: {least}", quadratic_kappa, self._moments(*self._relevant))
        if not binary and not self._scales_differ:
            lowest = min(grades.min() for grades in self._grades)
            sums = self._moments(*(grades - lowest for grades in self._grades))
            yield self._kappa("kappa, quadratic weights", quadratic_kappa, sums)

    def _moments(self, first: Floats, second: Floats) -> Floats:
        return moments(first, second, self._pairs.query, self.queries)

    def _kappa(self, name: str, coefficient: Callable[[Floats], Floats], parts: Floats) -> LabelAgreement:
        value = float(coefficient(parts.sum(axis=0)))
        return LabelAgreement(name, value, *kappa_interval(parts, coefficient, self.level))

    def per_query(self) -> list[QueryAgreement]:
        """Return the agreement of the labels for each query, the lowest first.

        Returns
        -------
        list of QueryAgreement
            By the share of documents with the same grade; of equal shares, the larger shift first.

        Examples
        --------
        >>> import rankgain as rg
        >>> human = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 1}}
        >>> llm = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 0}}
        >>> rg.agreement(human, llm).per_query()[0]
        QueryAgreement(query='q2', documents=2, same=0.5, shift=-0.5)
        """
        documents, same, shift = self._per_query
        ids = self._pairs.query_ids
        return [
            QueryAgreement(ids[row], int(documents[row]), float(same[row]), float(shift[row]))
            for row in np.lexsort((-np.abs(shift), same)).tolist()
        ]

    def disagreements(self) -> list[Disagreement]:
        """Return the documents with different grades, the largest difference first.

        Returns
        -------
        list of Disagreement
            Documents of equal difference are in the order of the first judgments. If the judges have different
            scales (two thresholds), those that only one of them calls relevant.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.agreement({"q1": {"a": 2, "b": 0}}, {"q1": {"a": 1, "b": 2}}).disagreements()[0]
        Disagreement(query='q1', document='b', first=0.0, second=2.0)
        """
        first, second = self._grades
        distances = np.abs(second - first)
        rows = np.argsort(-distances, kind="stable")[: np.count_nonzero(distances)]
        queries = [self._pairs.query_ids[query] for query in self._pairs.query[rows].tolist()]
        grades = (each[rows].tolist() for each in self._pairs.grades)
        return [*map(Disagreement, queries, self._pairs.document_ids(rows), *grades)]

    def columns(self) -> dict[str, Sequence[Any] | Floats]:
        """Return the columns for a data frame as a dict, with one row per number.

        Returns
        -------
        dict of str to sequence
            ``metric``, empty for labels; ``run``, empty if the number is not of one run; ``measure``, what it is; and
            ``value``, ``low`` and ``high``, NaN if there is no interval.

        Examples
        --------
        >>> import rankgain as rg
        >>> columns = rg.agreement({"q1": {"a": 1, "b": 0}}, {"q1": {"a": 1, "b": 0}}).columns()
        >>> columns["measure"][0], columns["value"].tolist()[0]
        ('same grade', 1.0)
        """
        rows = [*self._rows()]
        texts = {name: [row[place] for row in rows] for place, name in enumerate(("metric", "run", "measure"))}
        numbers = {name: np.array([row[place] for row in rows]) for place, name in enumerate(ENDS, 3)}
        return {**texts, **numbers}

    def _rows(self) -> Iterator[tuple[str, str, str, float, float, float]]:
        one, other = self.names
        for label in self.labels:
            yield "", "", *label
        shares = {"higher": self.higher, "lower": self.lower, "shift": self.shift}
        first, second = self._grades
        for grade in () if self._scales_differ else self.grades:
            chosen = first == grade
            if chosen.any():
                shares[f"shift of grade {short(grade)} by {one}"] = float(np.mean(second[chosen] - grade))
        for measure, value in shares.items():
            yield "", "", measure, value, math.nan, math.nan
        for metric, runs in self.runs.items():
            numbers = {
                "tau-b": runs.tau_b,
                f"rank by {other} of the best by {one}": runs.ranks[0],
                "decided alike": len(runs.alike),
                f"only {one}": len(runs.only_first),
                f"only {other}": len(runs.only_second),
                "opposite": len(runs.opposite),
            }
            for measure, value in numbers.items():
                yield str(metric), "", measure, float(value), math.nan, math.nan
            for shift in (runs.shift, *runs.shifts):
                yield str(metric), shift.run, "shift", shift.difference, shift.low, shift.high

    def sentences(self) -> list[str]:
        """State how the second judge shifts the runs, and which pairs of runs only one of the judges decides.

        Returns
        -------
        list of str
            For each metric: pairs decided in opposite directions, the run that is in most of the pairs that only one
            judge decides, the mean shift over the runs, and the runs that are shifted against the others.

        Examples
        --------
        >>> import rankgain as rg
        >>> qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(8)}
        >>> runs = {"up": {q: {"a": 2, "b": 1} for q in qrels}, "down": {q: {"a": 1, "b": 2} for q in qrels}}
        >>> rg.agreement(qrels, qrels, runs, "rr").sentences()
        ['rr: llm − human, averaged over the runs: 0.0000 (no interval): not decided.']
        """
        return [line for metric, runs in self.runs.items() for line in self._sentences(f"{metric!s}: ", runs)]

    def _sentences(self, head: str, runs: RunAgreement) -> Iterator[str]:
        one, other = self._shown
        for run, baseline in runs.opposite:
            first = self.tests[0][runs.metric, run, baseline].difference * better(runs.metric) > 0
            up, down = (run, baseline) if first else (baseline, run)
            pair = f"{printable(up)} is better than {printable(down)}"
            yield f"{head}{one} decides that {pair}, and {other} the opposite."
        for name, pairs in ((one, runs.only_first), (other, runs.only_second)):
            run, count = most_frequent(pairs) if pairs else ("", 0)
            if count > 1:
                yield f"{head}only {name}: {count} of {len(pairs)} with {printable(run)}."
        shift = runs.shift
        ends = "no interval"
        if math.isfinite(shift.low):
            ends = f"{percent(self.level)} {signed(shift.low)} to {signed(shift.high)}"
        decided = "decided" if shift.decided else "not decided"
        yield f"{head}{other} − {one}, averaged over the runs: {signed(shift.difference)} ({ends}): {decided}."
        yield from (self._shifted(head, run) for run in runs.shifted)
        if len(runs.shifted) > 1 or (runs.shifted and runs.runs == 2):
            yield f"{head}which of the two sides is meant cannot be told from the difference alone."

    def _shifted(self, head: str, run: ShiftedRun) -> str:
        others = [each for each in self.tests[0].runs if each != run.run]
        rest = f"{printable(others[0])} by {signed(run.others)}"
        if len(others) > 1:
            rest = f"the other runs by {signed(run.others)} on average"
        apart = f"{abs(run.apart):.4f} apart (adjusted {p_phrase(run.adjusted)}), {EXPECTED[run.beyond]}"
        return f"{head}{self._shown[1]} shifts {printable(run.run)} by {signed(run.shift)} and {rest}: {apart}."

    def notes(self) -> list[str]:
        """Return notes on what was compared, and on how to read the numbers.

        Returns
        -------
        list of str
            One sentence or more each.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.agreement({"q1": {"a": 1}}, {"q1": {"a": 0}, "q2": {"a": 1}}).notes()[0]
        '1 query is judged by llm only.'
        """
        return [*self._notes()]

    def _notes(self) -> Iterator[str]:
        yield from (f"{remark}." for remark in self.assumed)
        for name, count in zip(self._shown, self._pairs.queries_only, strict=True):
            if count:
                yield f"{counted(count, 'query')} {'is' if count == 1 else 'are'} judged by {name} only."
        relevant = [np.bincount(to_intp(self._pairs.query), weights=side) > 0 for side in self._relevant]
        for side, name in enumerate(self._shown):
            count = int(np.count_nonzero(relevant[side] & ~relevant[1 - side]))
            if count:
                yield f"{counted(count, 'query')}: only {name} calls a document relevant."
        if all(math.isnan(label.low) for label in self.labels if "kappa" in label.measure):
            yield "No interval of kappa: it needs 20 queries, and a kappa that no single query makes 1 or undefined."
        if self._one_run:
            yield "Only labels are compared: for runs, give two or more of them, and two or more queries."
        yield from self._losses
        if any(runs.only_first or runs.only_second for runs in self.runs.values()):
            yield (
                "A pair that only one judge decides is no disagreement: judges who agree decide different pairs, too, "
                "unless there are very many queries."
            )
        if any(not math.isnan(runs.tau_b) for runs in self.runs.values()):
            yield "tau-b has no interval: runs that are almost equal change places under any judge."

    def _tables(self, form: Form) -> Iterator[Block]:
        one, other = self._shown
        only = ", ".join(f"only {name}: {count:,}" for name, count in zip(self._shown, self.only, strict=True))
        yield [f"{other} against {one}: {self.pairs:,} documents of {_queries(self.queries)} judged by both ({only})"]
        rows: list[list[object]] = [["labels", "value", f"{percent(self.level)} interval"]]
        rows += [
            [
                label.measure,
                "none" if math.isnan(label.value) else Number((label.value,)),
                "none" if math.isnan(label.low) else Number((label.low, label.high)),
            ]
            for label in self.labels
        ]
        yield Table(rows)
        if self._scales_differ:
            yield [f"Relevant by {other} only: {self.higher:.1%} of the documents; by {one} only: {self.lower:.1%}."]
        else:
            yield [
                f"{other} gives a higher grade to {self.higher:.1%} of the documents and a lower one to "
                f"{self.lower:.1%}; on average {signed(self.shift, 2)} grades."
            ]
        worst = [query for query in self.per_query()[:SHOWN] if query.same < 1.0]
        if worst and form in ("text", "html"):
            head = ["lowest agreement", "documents", "same", "shift"]
            yield Table(
                [head, *([each.query, each.documents, Number((each.same,)), signed(each.shift, 2)] for each in worst)]
            )
        if self.runs:
            yield self._table_of_runs()
            yield self.sentences()
        if form in ("text", "html"):
            yield self.notes()

    def _table_of_runs(self) -> Table:
        one, other = self._shown
        head = ["metric", f"best: {one}", "runs", "pairs of runs", "tau-b", f"rank: {other}", "decided alike"]
        rows: list[list[object]] = [[*head, f"only {one}", f"only {other}", "opposite"]]
        for metric, runs in self.runs.items():
            tau = "-" if math.isnan(runs.tau_b) else Number((runs.tau_b,), decimals=2)
            counts = [len(pairs) for pairs in (runs.alike, runs.only_first, runs.only_second, runs.opposite)]
            best, ranks = ", ".join(runs.best), ", ".join(map(str, runs.ranks))
            rows.append([str(metric), best, runs.runs, runs.pairs, tau, ranks, *counts])
        return Table(rows, names=2)


ENDS = "value", "low", "high"
# What the mean of a shifted run says about its shift.
EXPECTED = {
    True: "beyond what its mean lets expect",
    False: "as a judge that is lenient or errs at random may do to a run of this mean",
    None: "which a judge that is lenient or errs at random may do, too: fewer than 4 runs do not tell",
}


def _queries(count: int) -> str:
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def agreement(
    first: Any,
    second: Any,
    /,
    runs: Mapping[str, Any] | None = None,
    metrics: Requested = None,
    *,
    names: tuple[str, str] = ("human", "llm"),
    threshold: float | tuple[float, float] = 1,
    pairs: Pairs = "both",
    level: float = 0.95,
    **rules: Any,
) -> Agreement:
    """Compare two judges of the same queries: inter-annotator agreement, and whether the same runs would win.

    The judges may be people and a language model (LLM-as-a-judge), two people, or one judge asked twice. For labels,
    there is Cohen's kappa, also with quadratic weights, with confidence intervals that take queries as the sample. For
    runs, each judge's differences are tested, and it is tested whether the second judge shifts a run against the
    others.

    Parameters
    ----------
    first, second : truth
        The judgments, each in any form that `judgments` accepts or returns. Documents with negative grades count as not
        judged.
    runs : mapping of str to run, optional
        The runs, as in `compare`, but not Rankings or Evaluations, which include their judgments. Without runs, only
        labels are compared.
    metrics : str, Metric or iterable of them, optional
        The metrics for the runs, as in `compare`; each must have a better direction.
    names : tuple of str, default ("human", "llm")
        How the output names the two judges.
    threshold : float or tuple of float, default 1
        The lowest relevant grade, for the kappa of relevance. If the judges use different scales, a pair: then only
        relevance is compared, not grades. Metrics have a threshold of their own, ``rel``.
    pairs : {"both", "own"}, default "both"
        What the runs are evaluated with: only documents that both have judged, or all judgments of each judge. With
        ``"own"``, a run whose documents only one has judged looks as if the other disliked it.
    level : float, default 0.95
        The level of confidence intervals; differences are decided at 1 − level.
    **rules : any
        Other keyword arguments of `compare`: ``ties``, ``missing``, ``judged_only`` and columns of tables.

    Returns
    -------
    Agreement
        The numbers; printed, tables, sentences and notes.

    Raises
    ------
    ValueError
        If the judges have no query in common, or no document of one; if `metrics` are given without `runs`; if `names`
        are not two different texts, a threshold is not finite, `pairs` is unknown, or `level` is not between 0 and 1;
        if a run is an open file or ``"-"``, which cannot be read twice; if a metric has no better direction, weighs
        queries, or has no value for a query by one judge; or if `judgments` or `compare` would raise it.
    TypeError
        If a run is Rankings or an Evaluation; if `names` or `threshold` is of another type; if `rules` are given
        without `runs`, or a column without a table; or if `judgments` or `compare` would raise it.
    OSError
        If a file cannot be read.
    ImportError
        If pyarrow is needed for a file and not installed: ``pip install 'rankgain[arrow]'``.

    Warns
    -----
    UserWarning
        If the highest grades of the judges differ and there is only one threshold.

    See Also
    --------
    compare : Compares runs by one judge.
    Agreement : The result.

    Notes
    -----
    Labels are compared on documents that both have judged; the others are counted. "Same grade" is the mean over
    queries. A kappa is of all documents, its interval a jackknife over queries (Student's t on the scale of atanh), for
    20 queries or more. Quadratic weights are those of the grades, not of their positions (Cohen 1968), which is Lin's
    concordance coefficient.

    A run is shifted if its change from the first judge to the second differs from the mean change of the other runs
    (sign flips, max-T over the runs); it is then left out, and the others are tested again. A judge that is lenient or
    errs at random also raises weak runs and lowers strong ones. The change is therefore tested again, less the line
    through the changes and means of the other runs.

    Kendall's tau-b (Kendall 1945) is given for 5 runs or more, and without an interval: where the order of the true
    means is the same for both judges, runs that are almost equal still change places, so that an interval around the
    tau of a sample nearly never contains 1.

    Examples
    --------
    >>> import rankgain as rg
    >>> human = {f"q{i}": {"a": 2, "b": 0, "c": i % 2} for i in range(20)}
    >>> llm = {f"q{i}": {"a": 2, "b": 0, "c": i % 3 % 2} for i in range(20)}
    >>> agreement = rg.agreement(human, llm)
    >>> [f"{label.measure}: {label.value:.2f}" for label in agreement.labels[1:]]
    ["Cohen's kappa, each grade: 0.75", 'kappa, relevant: grade ≥ 1: 0.70', 'kappa, quadratic weights: 0.91']
    """
    check_choices(pairs=pairs)
    level = check_level(level)
    names = check_names(names)
    thresholds, scales_differ = _check_threshold(threshold)
    _check_runs(runs)
    of_truth, _ = columns_by_side(rules)
    _check_used(runs, metrics, rules, of_truth)
    one, other = _read(first, second, names, of_truth)
    judged = judged_pairs(one, other, names)
    if not scales_differ:
        _warn_of_scales(judged, names)
    if runs is None or len(runs) < 2 or len(judged.query_ids) < 2:
        return Agreement(judged, thresholds, scales_differ, names, level, one_run=runs is not None)
    requested = _requested(metrics)
    of_pairs = judged.common if pairs == "both" else judged.own
    comparisons = [compare(of_pairs(side), runs, requested, **rules) for side in (0, 1)]
    losses = [] if pairs == "own" else [*_losses(judged, comparisons, runs, names, rules)]
    return Agreement(judged, thresholds, scales_differ, names, level, comparisons, losses)


def _check_threshold(threshold: Any) -> tuple[tuple[float, float], bool]:
    """Return the threshold of each judge, and whether two were given."""
    several = isinstance(threshold, (tuple, list))
    given = threshold if several else (threshold, threshold)
    if len(given) != 2:
        raise ValueError(f"threshold must be one number or a pair, one for each judge, not {quoted(threshold)}")
    one, other = (check_number(value, "threshold") for value in given)
    if not (math.isfinite(one) and math.isfinite(other)):
        raise ValueError(f"threshold must be finite, not {quoted(threshold)}")
    return (one, other), several


def _check_runs(runs: Any) -> None:
    """Refuse runs that cannot be evaluated with two judgments."""
    for name, run in runs.items() if isinstance(runs, Mapping) else ():
        if isinstance(run, (Rankings, Evaluation)):
            kind = type(run).__name__
            raise TypeError(f"run {name!r}: {kind} include the judgments of one judge: give the run itself")
        if is_stream(run):
            raise ValueError(f"run {name!r}: an open file cannot be read once for each judge: give its path")


def _check_used(runs: Any, metrics: Any, rules: Mapping[str, Any], of_truth: Mapping[str, Any]) -> None:
    """Refuse options for runs if there are none."""
    if runs is None and metrics is not None:
        raise ValueError("metrics are computed of runs, and there are none: give runs, or leave metrics out")
    for name in () if runs is not None else rules.keys() - of_truth.keys():
        raise TypeError(f"{name}= is for runs, and there are none: give runs, or leave it out")


def _read(first: Any, second: Any, names: Names, columns: Mapping[str, Any]) -> list[JudgmentSets]:
    """Read the judgments of both judges; columns apply to those that are tables."""
    sides = [
        truth if isinstance(truth, Judgments) else recognise(truth, name, columns, is_truth=True)
        for truth, name in zip((first, second), names, strict=True)
    ]
    are_tables = [isinstance(side, Given) and side.kind == "table" for side in sides]
    if "relevance" in columns and not any(are_tables):
        raise TypeError("relevance= names a column, and the judgments are no tables: leave it out")
    read = [
        side if isinstance(side, Judgments) else judgments(side, **(columns if is_table else {}))
        for side, is_table in zip(sides, are_tables, strict=True)
    ]
    return [judgment_sets(each) for each in read]


def _requested(metrics: Requested) -> list[str | Metric]:
    chosen = USUAL_METRICS if metrics is None else metrics
    requested = [chosen] if isinstance(chosen, (str, Metric)) else [*chosen]
    for metric in requested:
        for key, record in parse(metric):
            if not better(record):
                raise ValueError(f"metrics: {key!s}: neither higher nor lower is better, so no run wins: leave it out")
    return requested


def _warn_of_scales(judged: JudgedPairs, names: Names) -> None:
    highest = [float(side.grades.max()) for side in judged.sides]
    if highest[0] != highest[1] and min(highest) > 0.0:
        (one, top), (other, second) = zip(names, map(short, highest), strict=True)
        warn(
            f"the highest grade by {one} is {top}, by {other} {second}: if these are different scales, give the lowest "
            f"relevant grade of each, such as threshold=(2, 1)"
        )


def _check_samples(metric: str | Metric, tests: tuple[Tests, Tests], names: Names) -> None:
    """Raise ValueError if the values by the two judges cannot be subtracted query by query."""
    one, other = (sample_of(each, metric) for each in tests)
    if one.weights is not None or other.weights is not None:
        raise ValueError(f"metrics: {metric!s} weighs queries by their judgments, which differ: leave it out")
    if [*one.query_ids] != [*other.query_ids]:
        sides = {*one.query_ids}, {*other.query_ids}
        query = next(iter(sides[0] ^ sides[1]))
        raise ValueError(
            f"metrics: {metric!s}: query {quoted(query)} has no value (NaN) by {names[query in sides[0]]}: "
            "evaluate with empty=0"
        )


def _losses(
    judged: JudgedPairs, comparisons: Sequence[Comparison], runs: Mapping[str, Any], names: Names, rules: Any
) -> Iterator[str]:
    """Say what each judge loses if only documents that both have judged count."""
    for side in (0, 1):
        name, other = printable(names[side]), printable(names[1 - side])
        if not judged.has_more(side):
            continue
        common = comparisons[side]
        shares = {metric: shares_of(record)[0] for metric in common.metrics for _, record in parse(metric)}
        every = compare(judged.own(side), runs, [*dict.fromkeys([*common.metrics, *shares.values()])], **rules)
        judged_by_both = compare(judged.common(side), runs, [*dict.fromkeys(shares.values())], **rules)
        for metric, share in shares.items():
            lost = [1.0 - judged_by_both[run].mean(share) / (every[run].mean(share) or 1.0) for run in every]
            if max(lost) >= NOTABLE:
                some = " to ".join(dict.fromkeys(f"{loss:.0%}" for loss in (min(lost), max(lost))))
                yield f"{metric!s}: of the documents that {name} judged in the runs ({share!s}), {other} lacks {some}."
            yield from _changed_means(metric, name, every, common)


def _changed_means(metric: str | Metric, name: str, every: Comparison, common: Comparison) -> Iterator[str]:
    """Say whether the best run or a mean is another one with all judgments of a judge."""
    head, best = f"{metric!s}: with all its judgments", every.best(metric)
    if best != common.best(metric):
        yield f"{head}, {name}'s best is {joined([*map(printable, best)])}."
        return
    means = {run: (every[run].aggregate(metric), common[run].aggregate(metric)) for run in every}
    run, (mean, before) = max(means.items(), key=lambda item: abs(item[1][0] - item[1][1]))
    if abs(mean - before) >= NOTABLE:
        yield f"{head}, {name}'s mean of {printable(run)} is {mean:.4f}, not {before:.4f}."
