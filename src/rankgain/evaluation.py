"""What is taken of each Batch, and the result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from rankgain import _backend
from rankgain.batch import Batch, Needs
from rankgain.errors import check
from rankgain.families import Family
from rankgain.lists import Floats
from rankgain.metrics import TABLE, Metric


class Evaluation(Mapping[str | Metric, Floats]):
    """The values of metrics: a mapping from each, as it was asked for, to a float64 vector, one value a query.

    Attributes
    ----------
    query_ids : sequence
        The queries in the order of the vectors.
    ties, missing : str or None
        The rules that the numbers follow; see `Rankings`.
    backend : str
        What computed them: "compiled" or "python".
    counts : dict of str to int
        ``queries``: how many were evaluated; ``missing``: how many of the judged ones have no ranking (see the
        attribute of that name for what became of them); ``unjudged``: how many rankings were left out because their
        query has no judgements; ``empty``: how many of the evaluated queries have nothing relevant.
    """

    def __init__(
        self,
        values: dict[str | Metric, Floats],
        query_ids: Sequence[Any],
        *,
        ties: str | None,
        missing: str | None,
        backend: str,
        counts: dict[str, int],
    ) -> None:
        for vector in values.values():
            vector.flags.writeable = False
        self._values = values
        self.query_ids = query_ids
        self.ties = ties
        self.missing = missing
        self.backend = backend
        self.counts = counts

    def __getitem__(self, metric: str | Metric) -> Floats:
        try:
            return self._values[metric]
        except KeyError:
            raise KeyError(f"{metric} was not evaluated; there are: {', '.join(map(str, self._values))}") from None

    def __iter__(self) -> Iterator[str | Metric]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def mean(self, metric: str | Metric) -> float: ...
    @overload
    def mean(self, metric: None = None) -> dict[str | Metric, float]: ...
    def mean(self, metric: str | Metric | None = None) -> float | dict[str | Metric, float]:
        """The mean over queries of one metric, or of each as a dict; queries whose value is NaN do not count.

        It is ``math.fsum(values) / n``, and NaN where no query counts.
        """
        if metric is None:
            return {name: mean(vector) for name, vector in self._values.items()}
        return mean(self[metric])

    def __repr__(self) -> str:
        rules = [f"{len(self.query_ids)} queries"]
        rules += [] if self.ties is None else [f"ties={self.ties!r}"]
        rules += [] if self.missing is None else [f"missing={self.missing!r}"]
        width = max((len(str(name)) for name in self), default=0)
        rows = [f"{name!s:<{width}}  {mean(vector):.4f}" for name, vector in self.items()]
        return "\n".join([f"<Evaluation: {', '.join(rules)}, backend={self.backend!r}>", *rows])


def mean(values: Floats) -> float:
    """The mean of what is not NaN, exactly rounded sums, so that no chunk or thread shows in it."""
    counted = values[~np.isnan(values)].tolist()
    if not counted:
        return math.nan
    try:
        return math.fsum(counted) / len(counted)
    except OverflowError:
        return math.fsum(value / len(counted) for value in counted)


class Plan:
    """What to take of each Batch so that every metric gets its vector: each family once, with all its cut-offs."""

    def __init__(self, metrics: Sequence[Metric]) -> None:
        self.metrics = metrics
        self.terms: list[tuple[Family, Family | None]] = []
        depths: dict[Family, set[int]] = {}
        for metric in metrics:
            row = TABLE[metric.name]
            pair = row.numerator(metric), row.denominator(metric) if row.denominator else None
            self.terms.append(pair)
            for family in filter(None, pair):
                depths.setdefault(family, set()).add(metric.depth)
        self.cutoffs = {family: np.array(sorted(ks), dtype=np.int64) for family, ks in depths.items()}
        self.needs = Needs()
        for family, ks in self.cutoffs.items():
            self.needs |= family.needs(int(ks[-1]))

    def fill(self, batch: Batch, out: Floats) -> None:
        """Write the values of a Batch, a row a metric; raises Offence."""
        blocks = {family: family.take(batch, cutoffs) for family, cutoffs in self.cutoffs.items()}
        for metric, (numerator, denominator), target in zip(self.metrics, self.terms, out, strict=True):
            target[:] = self._column(blocks, numerator, metric)
            if denominator is not None:
                ideals = np.ascontiguousarray(self._column(blocks, denominator, metric))
                bounded = metric.discount.bounded
                check(_backend.kernels.normalise(target.copy(), ideals, metric.empty, bounded, target))

    def _column(self, blocks: dict[Family, Floats], family: Family, metric: Metric) -> Floats:
        return blocks[family][:, int(np.searchsorted(self.cutoffs[family], metric.depth))]
