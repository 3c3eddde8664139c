"""The margin of a non-inferiority test: the losses that are possible, and those that a sample can miss."""

from __future__ import annotations

import math
from typing import NamedTuple

from rankgain.comparison.power import POWER, fewest_signs, quantile, share_below
from rankgain.metrics.aggregators import LEAST, geometric_mean
from rankgain.metrics.metric import Metric, aggregator
from rankgain.results.intervals import bounds_of

MOST_UNITS = 1 << 62  # above every number of queries that a margin can need


def value_range(metric: str | Metric) -> tuple[float, float]:
    """Return the lowest and the highest value that a query can have, which may be infinite.

    For a geometric mean, these are logarithms (base 2), whose mean is tested.
    """
    lowest, highest = bounds_of(metric)
    if math.isfinite(highest) and aggregator(metric) is geometric_mean:
        return math.log2(LEAST), 0.0
    return lowest, highest


def largest_difference(metric: str | Metric) -> float:
    """Return the largest possible difference between two runs for a query; infinite if there is no upper bound."""
    lowest, highest = value_range(metric)
    return highest - lowest


def missed_share(margin: float, largest: float, units: int, level: float) -> float:
    """Return the largest share of total failures that a sample of queries (or clusters) can miss.

    A total failure loses the largest possible difference. A sample can miss a share if it contains no such query with a
    probability above (1 − level) / 2. The result is 0 if such a share of failures would not exceed the margin.
    """
    error = (1.0 - level) / 2
    if max(1.0 - margin / largest, 0.0) ** units <= error:
        return 0.0
    return 1.0 - float(error ** (1.0 / units))


class Pilot(NamedTuple):
    """What the queries of a test say about a test of other queries like them.

    `sd`: the standard deviation of the contributions of the queries or clusters. `added`: the loss of the query that
    the test of a margin adds. `largest`: the largest possible difference. `units`: the number of queries or clusters.
    `uneven`: the factor by which unequal weights raise the number of queries needed.
    """

    sd: float
    added: float
    largest: float
    units: int
    uneven: float

    @property
    def error(self) -> float:
        """The standard error of the mean difference."""
        return self.sd / math.sqrt(self.units / self.uneven)

    def queries_needed(self, margin: float, alpha: float, power: float) -> int:
        """Return the number of queries or clusters that show a change without effect to be within the margin."""
        if self.sd:
            target = quantile(power)
            fewer, count = 0, MOST_UNITS
            while count - fewer > 1:  # bisect cannot search a range this long on 32-bit systems
                middle = (fewer + count) // 2
                if self._excess(middle, margin, alpha) < target:
                    fewer = middle
                else:
                    count = middle
        else:  # no query differs, so p is (1 − margin)^n
            count = math.ceil(math.log(alpha / 2) / math.log1p(-margin / self.largest))
        return max(math.ceil(count * self.uneven), fewest_signs(alpha))

    def power(self, margin: float, alpha: float) -> float:
        """Return the probability that a new test like this one shows the margin for a change without effect."""
        if self.sd:
            return share_below(self._excess(self.units / self.uneven, margin, alpha))
        return float(self.queries_needed(margin, alpha, POWER) <= self.units)

    def _excess(self, units: float, margin: float, alpha: float) -> float:
        """Return the standard normal quantile of the power that the given number of queries has."""
        error = math.sqrt(units * (self.sd**2 + margin**2) + (self.added - margin) ** 2)
        distance = units * margin - (self.added - margin) - quantile(1 - alpha / 2) * error
        return distance / (self.sd * math.sqrt(units))
