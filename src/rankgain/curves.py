"""Curves: the values of a metric at many cut-offs, and their picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgain.aggregators import mean
from rankgain.arrays import objects_of
from rankgain.lists import Floats, Ints
from rankgain.metrics import Metric, parse
from rankgain.parameters import cut_off
from rankgain.rankings import Rankings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Curve:
    """The values of one metric at many cut-offs; made by `Rankings.curve`.

    Attributes
    ----------
    metric : Metric
        The metric, without a cut-off.
    ks : ndarray of int64, shape (cut-offs,)
        The cut-offs, rising.
    values : ndarray of float64, shape (queries, cut-offs)
        Read-only.
    query_ids : sequence
        The queries in the order of the rows.
    """

    __module__ = "rankgain"
    metric: Metric
    ks: Ints
    values: Floats
    query_ids: Sequence[Any]

    def mean(self) -> Floats:
        """The mean over queries at each cut-off, equal to `Evaluation.mean`: queries whose value is NaN do not count.

        Returns
        -------
        ndarray of float64, shape (cut-offs,)
            NaN where no query counts.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[0, 1], [1, 0]]).curve("rr", [1, 2]).mean().tolist()
        [0.5, 0.75]
        """
        return np.array([mean(values) for values in self.values.T])

    def plot(self, axes: Axes | None = None, label: str | None = None, per_query: bool = False) -> Axes:
        """Draw the mean against the cut-off.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; each call on the same axes takes the next colour and dashes. None: a new figure, which is
            ``axes.figure``.
        label : str, optional
            The line's name in a legend, which ``axes.legend()`` adds.
        per_query : bool
            Whether the curve of each query stands behind it, as a thin line.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            Without matplotlib: ``pip install 'rankgain[plot]'``.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[0, 1], [1, 0]]).curve("rr", [1, 2]).plot().get_ylabel()
        'mean RR@k'
        """
        drawing = _drawing()
        target = drawing.panels(1)[0] if axes is None else axes
        drawing.draw(self, target, label, per_query)
        return target

    def __repr__(self) -> str:
        means = self.mean()
        return (
            f"<Curve of {self.metric} at {len(self.ks)} cut-offs, {len(self.query_ids)} queries: "
            f"mean {means[0]:.4f} @{self.ks[0]} … {means[-1]:.4f} @{self.ks[-1]}>"
        )


def curves(rankings: Rankings, metrics: Iterable[str | Metric], ks: Iterable[int]) -> list[Curve]:
    """A Curve for each of the metrics, all of them in one pass."""
    cutoffs = check_ks(ks)
    rows = [[metric.at(k) for k in cutoffs.tolist()] for metric in map(without_cutoff, metrics)]
    result = rankings.evaluate(*(metric for row in rows for metric in row))
    cutoffs.flags.writeable = False
    return [_curve(row[0].at(None), cutoffs, [result[m] for m in row], rankings.query_ids) for row in rows]


def _curve(metric: Metric, ks: Ints, vectors: list[Floats], query_ids: Sequence[Any]) -> Curve:
    values = np.column_stack(vectors)
    values.flags.writeable = False
    return Curve(metric, ks, values, query_ids)


def without_cutoff(asked: str | Metric) -> Metric:
    """The metric that was asked for; it must leave the cut-offs to `ks`."""
    metrics = [metric for _, metric in parse(asked)]
    if any(metric.k is not None for metric in metrics):
        raise ValueError(
            f"{asked!s} has a cut-off; ask for {metrics[0].name!r} without one, and give the cut-offs as ks"
        )
    return metrics[0]


def check_ks(ks: Iterable[int]) -> Ints:
    """The cut-offs, rising, each once."""
    items = objects_of(ks, "ks")
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise TypeError(f"ks must hold cut-offs, positive integers, not {type(ks).__name__}")
    depths = sorted({_depth(k, position) for position, k in enumerate(items)})
    if not depths:
        raise ValueError("ks is empty; give at least one cut-off")
    return np.array(depths, dtype=np.int64)


def _depth(k: Any, position: int) -> int:
    try:
        if k is None:  # no cut-off, which elsewhere is one way to ask
            raise TypeError
        return cut_off(k)
    except (TypeError, ValueError) as error:
        raise type(error)(f"ks: position {position}: must be a positive integer, not {k!r}") from None


def plot(
    rankings: Rankings | Mapping[str, Rankings],
    metrics: str | Metric | Iterable[str | Metric] = ("dcg", "ndcg"),
    ks: Iterable[int] = range(1, 101),
) -> Figure:
    """Draw metrics against the cut-off: a panel a metric, a line a run.

    Side by side, DCG and nDCG show why only one of them can be compared across cut-offs: DCG grows with k however good
    the ranking is, and nDCG is a share of what was possible at that k.

    Parameters
    ----------
    rankings : Rankings, or mapping of str to Rankings
        One run, or several by their names.
    metrics : str or Metric, or iterable of them
        Each without a cut-off.
    ks : iterable of int
        The cut-offs, in any order; repeated ones count once.

    Returns
    -------
    matplotlib Figure
        A notebook shows it; ``figure.savefig("curves.png")`` keeps it; ``figure.axes`` are the panels. Nothing else is
        touched: no window opens, and pyplot is not loaded.

    Raises
    ------
    ImportError
        Without matplotlib: ``pip install 'rankgain[plot]'``.
    ValueError, TypeError
        For a metric that has a cut-off, for what is no cut-off or no Rankings, and where there is none of them; and as
        `Rankings.evaluate`.

    Examples
    --------
    >>> import rankgain as rg
    >>> runs = {"bm25": rg.from_ranked([[1, 0, 2]]), "reranked": rg.from_ranked([[2, 1, 0]])}
    >>> [axes.get_ylabel() for axes in rg.plot(runs, ks=[1, 2, 3]).axes]
    ['mean DCG@k', 'mean nDCG@k']
    """
    drawing = _drawing()
    runs = rankings if isinstance(rankings, Mapping) else {None: rankings}
    asked = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    if not runs or not asked:
        raise ValueError(f"{'metrics' if runs else 'rankings'} is empty, and there is nothing to draw")
    for name, run in runs.items():
        _check_run(run, "rankings" if name is None else f"rankings[{name!r}]")
    cutoffs = check_ks(ks)  # once, for an iterator gives them once
    drawn = {name: curves(run, asked, cutoffs) for name, run in runs.items()}
    return drawing.side_by_side(drawn)  # type: ignore[no-any-return]


def _check_run(run: Any, name: str) -> None:
    if not isinstance(run, Rankings):
        raise TypeError(f"{name} must be a Rankings, not {type(run).__name__}")


def _drawing() -> Any:
    """The module that draws; imported only here, for it needs matplotlib."""
    try:
        from rankgain import _drawing
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'rankgain[plot]'") from error
    return _drawing
