"""Curves: the values of a metric at many cut-offs, and plots of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgain.data.arrays import objects_of
from rankgain.errors import counted, quoted
from rankgain.metrics.aggregators import mean
from rankgain.metrics.metric import Metric, parse
from rankgain.metrics.parameters import cut_off
from rankgain.results.evaluation import same_ids
from rankgain.results.export import Columns, Frames
from rankgain.results.intervals import check_level, interval_of
from rankgain.scalars import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Curve(Frames):
    """The values of one metric at many cut-offs, created by `Rankings.curve`.

    Attributes
    ----------
    metric : Metric
        The metric, without a cut-off.
    ks : ndarray of int64, shape (cut-offs,)
        The cut-offs in ascending order. Read-only.
    values : ndarray of float64, shape (queries, cut-offs)
        One value per query and cut-off. Read-only.
    query_ids : sequence
        The queries, in the order of the rows.

    Notes
    -----
    Two Curves are equal if all these attributes are equal; NaN equals NaN. Curves are not hashable.
    """

    __module__ = "rankgain"
    _index = "query_id"
    _across = "k"
    metric: Metric
    ks: Ints
    values: Floats
    query_ids: Sequence[Any]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Curve):
            return NotImplemented
        return (
            self.metric == other.metric
            and same_ids(self.query_ids, other.query_ids)
            and np.array_equal(self.ks, other.ks)
            and np.array_equal(self.values, other.values, equal_nan=True)
        )

    def mean(self) -> Floats:
        """Compute the mean over queries at each cut-off, as `Evaluation.mean` does.

        Returns
        -------
        ndarray of float64, shape (cut-offs,)
            Queries whose value is NaN do not count; NaN if no query counts.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[0, 1], [1, 0]]).curve("rr", [1, 2]).mean().tolist()
        [0.5, 0.75]
        """
        return np.array([mean(values) for values in self.values.T])

    def interval(self, level: float = 0.95, *, highest: float | None = None) -> Floats:
        """Compute a confidence interval at each cut-off, for the mean over the population of queries.

        Parameters
        ----------
        level : float, default 0.95
            How often such an interval contains the true mean, between 0 and 1.
        highest : float, optional
            The largest value that a query can have at any of the cut-offs, for metrics without a bound, such as
            ``dcg``. By default, 1 for metrics with values from 0 to 1.

        Returns
        -------
        ndarray of float64, shape (2, cut-offs)
            The lower ends, then the upper ends; NaN if no query counts. Queries whose value is NaN at some cut-off do
            not count.

        Raises
        ------
        ValueError
            If `level` is not between 0 and 1; if the metric has no upper bound and `highest` is not given, or a value
            exceeds it; or if `highest` is not above 0.
        TypeError
            If `level` or `highest` is not a number.

        See Also
        --------
        Evaluation.interval : The same for one metric of an Evaluation.
        Comparison.test : Tests whether two runs differ; two intervals cannot show that, since queries are paired.

        Notes
        -----
        The ends are Gaffke's bounds: quantiles of the weighted means of the values and of one more value, the least
        possible one for the lower end and the largest possible one for the upper end, where the weights are independent
        and exponentially distributed. If all values are 0 or 1, as for ``success``, this is Clopper and Pearson's
        interval. Then it is proved that the interval contains the true mean at least as often as `level` says. For
        other values no counterexample is known, and the coverage of all distributions on two values was computed (100
        queries and fewer: never below the level). For few queries the interval is wider than Student's. The bound
        `highest` must hold for all queries: the largest value in a small sample is not a bound. If there are more than
        20,000 queries, values are rounded to multiples of 2⁻¹⁴ of the largest one, down for the lower end and up for
        the upper end.

        References
        ----------
        Clopper & Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika
        1934. Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative
        variable, Mathematical Methods of Statistics 2005.

        Examples
        --------
        >>> import rankgain as rg
        >>> curve = rg.from_ranked([[0, 0, 1], [1, 0, 0]] * 6).curve("rr", [2, 3])
        >>> curve.interval().round(2).tolist()
        [[0.21, 0.43], [0.79, 0.86]]
        """
        share = check_level(level)
        complete = self.values[~np.isnan(self.values).any(axis=1)]
        return np.array([interval_of(column, self.metric, share, highest=highest) for column in complete.T]).T

    def columns(self) -> Columns:
        """Return the columns of a data frame as a dict.

        Returns
        -------
        dict
            ``query_id``, then a float64 array per cut-off; the names of these columns are ints.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[0, 1], [1, 0]], query_ids=["a", "b"]).curve("rr", [1, 2]).to_pandas()
        k           1    2
        query_id
        a         0.0  0.5
        b         1.0  1.0
        """
        return {"query_id": self.query_ids} | dict(zip(self.ks.tolist(), self.values.T, strict=True))

    def plot(
        self,
        axes: Axes | None = None,
        label: str | None = None,
        per_query: bool = False,
        interval: float | None = None,
        highest: float | None = None,
    ) -> Axes:
        """Plot the mean against the cut-off.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; each call on the same axes uses the next colour and dashes. By default, the axes of a new
            figure, ``axes.figure``.
        label : str, optional
            The name of the line for the legend, which ``axes.legend()`` adds. By default, none.
        per_query : bool, default False
            Whether to draw a thin line per query behind the mean.
        interval : float, optional
            The level of the interval to draw as a band around the mean, such as 0.95; see `interval`. By default, none.
        highest : float, optional
            The bound of a query's value for that interval, as in `interval`.

        Returns
        -------
        matplotlib.axes.Axes
            The axes with the curve.

        Raises
        ------
        ImportError
            If matplotlib is not installed: ``pip install 'rankgain[plot]'``.
        ValueError
            If the method `interval` would raise it.
        TypeError
            If `axes` is not matplotlib's, or `interval` or `highest` is not a number.

        See Also
        --------
        rankgain.plot : Curves of several runs and metrics in one figure.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[0, 1], [1, 0]]).curve("rr", [1, 2]).plot().get_ylabel()
        'mean RR@k'
        """
        plotting = drawing()
        target = plotting.panels(1)[0] if axes is None else axes
        band = None if interval is None else self.interval(interval, highest=highest)
        plotting.draw(self, target, label, per_query, band)
        return target

    def _repr_html_(self) -> str:
        """Show the plot with the text as its description, or the text alone if matplotlib is not installed."""
        from html import escape

        try:
            axes = self.plot()
        except ImportError:
            return f"<pre>{escape(repr(self))}</pre>"
        from base64 import b64encode

        figure: Any = axes.figure
        return f'<img alt="{escape(repr(self))}" src="data:image/png;base64,{b64encode(figure._repr_png_()).decode()}">'

    def __repr__(self) -> str:
        means = self.mean()
        return (
            f"<Curve of {self.metric} at {counted(len(self.ks), 'cut-off')}, {counted(len(self.query_ids), 'query')}: "
            f"mean {means[0]:.4f} @{self.ks[0]} … {means[-1]:.4f} @{self.ks[-1]}>"
        )


def without_cutoff(request: str | Metric) -> Metric:
    """Return the requested metric; raise a ValueError if it has a cut-off."""
    metrics = [metric for _, metric in parse(request)]
    if any(metric.k is not None for metric in metrics):
        raise ValueError(
            f"{request!s} has a cut-off; request {metrics[0].name!r} without one, and give the cut-offs as ks"
        )
    return metrics[0]


def check_ks(ks: Iterable[int]) -> Ints:
    """Return the cut-offs in ascending order, without duplicates."""
    items = objects_of(ks, "ks")
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise TypeError(f"ks must hold cut-offs, positive integers, not {type(ks).__name__}")
    depths = sorted({_depth(k, position) for position, k in enumerate(items)})
    if not depths:
        raise ValueError("ks is empty; give at least one cut-off")
    return np.array(depths, dtype=np.int64)


def _depth(k: Any, position: int) -> int:
    try:
        if k is None:  # `cut_off` accepts None, which means no cut-off
            raise TypeError
        return cut_off(k)
    except (TypeError, ValueError) as error:
        limit = " up to 2**48" if isinstance(k, int) and k > 1 else ""
        raise type(error)(f"ks: position {position}: must be a positive integer{limit}, not {quoted(k)}") from None


def drawing() -> Any:
    """Return the module `plotting`, imported only when needed, since it requires matplotlib."""
    try:
        from rankgain.results import plotting
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'rankgain[plot]'") from error
    return plotting
