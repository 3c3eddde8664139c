"""The tests of corrected values: those of `Tests`, with the guards of estimates, and without what is not valid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rankgain.choices import TestPicture
from rankgain.comparison.absent import Coverage
from rankgain.comparison.aligned import Aligned
from rankgain.comparison.difference import Difference, named
from rankgain.comparison.estimates import DIGITS, Estimate, corrected_differences
from rankgain.comparison.evidence import Evidence
from rankgain.comparison.gate import OF_TEST, WORST, Gate, GateRules, outcomes_of, single_pairs, unable
from rankgain.comparison.guards import FAILED, UNDECIDED, Outcome, checked_limits
from rankgain.comparison.outcome import Tests
from rankgain.comparison.remarks import NOTABLE, PARTIAL, Remark
from rankgain.comparison.sentences import is_matrix
from rankgain.comparison.testing import Options
from rankgain.metrics.metric import Metric, MetricKey
from rankgain.results.text import printable

if TYPE_CHECKING:
    from rankgain.results.plotting import Figure

METHOD = "prediction-powered (regression estimator; a slope for each run, without the query itself)"

# Why corrected values do not have what other values have.
INVALID = {
    "margin": "no margin can be tested on corrected values: the test of a margin needs the losses of single queries",
    "max_loss": "corrected values of single queries are not what people would judge; a max drop limits the mean",
    "groups": "a group has no corrected mean, since the correction uses the mean of all queries",
    "weights": "the correction counts all queries the same",
    "clusters": "the correction is for queries that were drawn one by one",
    "worst": "corrected values of single queries are not what people would judge, so no losses are listed",
    "queries": "the labelled queries are tested",
    "method": "corrected differences are tested by sign flips",
    "family": "each metric is a family of its own",
    "intervals": "corrected differences have single intervals",
}


def refuse(name: str) -> None:
    """Raise ValueError with the reason why corrected values do not take an option."""
    raise ValueError(f"{name}: {INVALID[name]}: leave it out")


class Labelled(NamedTuple):
    """What is known about the judges: their names, and how much each judged of what a run returns.

    `shares`: for a metric and a run, the metric that counts judged documents, and its means over the labelled queries
    by the judge of few and by the judge of all queries. Runs whose documents are unknown are left out.
    """

    names: tuple[str, str]
    shares: Mapping[tuple[MetricKey, str], tuple[Metric, float, float]]

    def lack(self, metric: MetricKey, run: str) -> float:
        """Return how much less of the returned documents is judged by the judge of few queries."""
        _, first, second = self.shares.get((metric, run), (None, 0.0, 0.0))
        return round(second - first, DIGITS)

    def caveat(self, metric: MetricKey, runs: Iterable[str]) -> str:
        """Return a sentence on runs for which the judge of few queries judged less; "" if there are none."""
        states = [self.statement(metric, run) for run in runs if self.lack(metric, run) >= NOTABLE]
        return f"Partial judgments: {'; '.join(states)}." if states else ""

    def statement(self, metric: MetricKey, run: str) -> str:
        """Return a phrase on how many of the returned documents each has judged."""
        share, first, second = self.shares[metric, run]
        one, other = map(printable, self.names)
        return f"{share!s} of {printable(run)} is {first:.2f} by {one} and {second:.2f} by {other}"


class CorrectedTests(Tests):
    """The tests of the differences between corrected values, as returned by `Corrected.test`."""

    assumption = "Approximate: all corrected values use the same slopes and the same mean by the judge of all queries."

    def __init__(
        self,
        estimates: Mapping[MetricKey, Estimate],
        options: Options,
        evidence: Mapping[str, Evidence],
        coverage: Mapping[str, Coverage],
        labelled: Labelled,
        query_ids: Sequence[Any],
    ) -> None:
        self._estimates = {metric: estimates[metric] for metric in options.metrics}
        self._labelled = labelled
        samples = {metric: each.sample() for metric, each in self._estimates.items()}
        differences = {(each.metric, each.run, each.baseline): each for each in self.retested(options)}
        super().__init__(differences, Aligned(query_ids, samples, {}), options, evidence, "", coverage)
        self._remarks = [*self._partial()]
        judges = judges_of(labelled.names[0])[0]
        valid = assumed([*self._estimates.values()], labelled.names)
        self.of_input = [f"Estimated for {judges}. {line}" for line in valid]
        if self.of_input and not is_matrix(self):
            one, other = map(printable, labelled.names)
            self.of_input.append(
                f"better/same/worse: of all queries, by {one} where it sees a difference, otherwise by {other}."
            )

    def retested(self, options: Options) -> list[Difference]:
        """Test the same values with other options."""
        each = (corrected_differences(estimate, options) for estimate in self._estimates.values())
        return [pair for differences in each for pair in differences.values()]

    def queries_phrase(self) -> str:
        """Say how many queries are labelled, and of how many."""
        count, tested = max(each.queries for each in self._estimates.values()), super().queries_phrase()
        complete = all(each.is_complete for each in self._estimates.values())
        return tested if complete else f"{tested.removesuffix(' queries')} labelled of {count} queries"

    def caveat(self, pair: Difference) -> str:
        """Return a sentence on partial judgments of the two runs, or an empty string."""
        return self._labelled.caveat(pair.metric, (pair.run, pair.baseline))

    def _partial(self) -> Iterator[Remark]:
        for pair in self.values():
            for run in (pair.run, pair.baseline):
                if self._labelled.lack(pair.metric, run) >= NOTABLE:
                    yield Remark(PARTIAL, pair.metric, pair, self._labelled.statement(pair.metric, run))

    def methods(self) -> str:
        """Describe the method for a paper: test, statistic, flips, seed, correction, family, version and estimator.

        Returns
        -------
        str
            Three lines, or two if all queries are labelled.
        """
        test = super().methods()
        if not self.of_input:
            return test
        judges = judges_of(self._labelled.names[0])[0]
        return (
            f"{test}\nThe values are estimated for {judges}: {METHOD}; p is the larger one of this test and of that "
            "with one query more."
        )

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
        """Decide in an automated build whether a change may be merged, by its corrected mean.

        As `Tests.gate`, but a metric is undecided if a run's documents are not judged by the judge of few queries. That
        the run returns nothing for a query is asked of all queries.

        Parameters
        ----------
        strict : bool, default False
            Whether an undecided metric fails; by default it passes.
        floors : mapping of str or Metric to float, optional
            The lowest acceptable corrected mean of the new run for each metric, or the highest if lower values are
            better.
        max_drop : float or mapping of str or Metric to float, optional
            How much worse the corrected mean may be, for all metrics or for each.
        margin, max_loss, groups, worst : never
            Not valid on corrected values.

        Returns
        -------
        Gate
            The status and the reasons, without largest losses.

        Raises
        ------
        ValueError
            If an option is given that is not valid on corrected values, or `Tests.gate` would raise it.
        TypeError
            If `Tests.gate` would raise it.
        """
        given = {
            "margin": margin not in (OF_TEST, None),
            "max_loss": max_loss is not None,
            "groups": groups is not None,
            "worst": worst != WORST,
        }
        for name in given:
            if given[name]:
                refuse(name)
        rules = GateRules(None, strict, checked_limits(self, floors, max_drop, None))
        pairs = single_pairs(self, self.options._replace(correction=None))
        whole = [pair for pair in pairs if not self.caveat(pair)]
        names = pairs[0].run, pairs[0].baseline
        outcomes = [
            *outcomes_of(self, names, self._covered(), whole, rules),
            *(self._undecided(pair, strict) for pair in pairs if pair not in whole),
        ]
        return Gate(outcomes, [*unable(whole), *self.of_input[:1]] if whole else [], [], pairs, rules)

    def _undecided(self, pair: Difference, strict: bool) -> Outcome:
        first = printable(self._labelled.names[0])
        text = f"{named(pair.metric)}: undecided, since {first} has not judged what {self._labelled.names[1]} has."
        text = f"{text} {self.caveat(pair)}"
        return (FAILED, f"{text} Failed: strict.") if strict else (UNDECIDED, text)

    def plot(self, kind: TestPicture = "intervals", metric: str | Metric | None = None) -> Figure:
        """Draw the intervals of the differences, as `Tests.plot` does; not the values of each query.

        Parameters
        ----------
        kind : {"intervals"}, default "intervals"
            What to draw.
        metric : str or Metric, optional
            A metric that was tested. By default, all of them.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        ValueError
            If `kind` is ``"scatter"`` or unknown.
        """
        if kind == "scatter":
            raise ValueError(
                "kind: corrected values of single queries are not what people would judge: plot('intervals')"
            )
        return super().plot(kind, metric)


def judges_of(name: str) -> tuple[str, str]:
    """Return phrases for the judges with a name, and for their judgments."""
    return (
        ("human judges", "human judgments") if name == "human" else (printable(name), f"judgments by {printable(name)}")
    )


def assumed(estimates: Sequence[Estimate], names: tuple[str, str]) -> Iterator[str]:
    """Yield what makes the estimates valid. Nothing is estimated if all queries are labelled."""
    partly = [each for each in estimates if not each.is_complete]
    if partly:
        labelled, queries = max(each.labelled for each in partly), max(each.queries for each in partly)
        yield (
            f"Valid if the {labelled} queries are a random sample of the {queries} and {printable(names[0])} judged "
            "every document that the runs return."
        )
