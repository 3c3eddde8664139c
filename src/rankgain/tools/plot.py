"""Plot metrics of one or several runs against the cut-off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rankgain.metrics.metric import Metric
from rankgain.rankings import Rankings, curves_of
from rankgain.results.curves import check_ks, drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(
    rankings: Rankings | Mapping[str, Rankings],
    metrics: str | Metric | Iterable[str | Metric] = ("dcg", "ndcg"),
    ks: Iterable[int] = range(1, 101),
) -> Figure:
    """Plot metrics against the cut-off, with one panel per metric and one line per run.

    Parameters
    ----------
    rankings : Rankings, or mapping of str to Rankings
        One run, or a mapping from names to runs.
    metrics : str, Metric or iterable of them, default ("dcg", "ndcg")
        The metrics, each without a cut-off.
    ks : iterable of int, default range(1, 101)
        The cut-offs, positive integers in any order; repeated ones count once.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, which notebooks display and ``figure.savefig("curves.png")`` saves. Its panels are ``figure.axes``.
        No window is opened, and pyplot is not imported.

    Raises
    ------
    ImportError
        If matplotlib is not installed: ``pip install 'rankgain[plot]'``.
    ValueError
        If there are no rankings or metrics, a metric has a cut-off, `ks` is empty or holds a number that is not
        positive, or `Rankings.evaluate` would raise it.
    TypeError
        If a run is not Rankings, `ks` does not hold integers, or `Rankings.evaluate` would raise it.

    See Also
    --------
    Rankings.curve : Compute the values of one line.
    Curve.plot : Draw one line on existing axes.

    Notes
    -----
    DCG and nDCG side by side show why only nDCG can be compared across cut-offs. DCG grows with k, however good the
    ranking is. In contrast, nDCG is a share of the highest possible value at that k.

    Examples
    --------
    >>> import rankgain as rg
    >>> runs = {"bm25": rg.from_ranked([[1, 0, 2]]), "reranked": rg.from_ranked([[2, 1, 0]])}
    >>> [axes.get_ylabel() for axes in rg.plot(runs, ks=[1, 2, 3]).axes]
    ['mean DCG@k', 'mean nDCG@k']
    """
    plotting = drawing()
    runs = rankings if isinstance(rankings, Mapping) else {None: rankings}
    requests = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    if not runs or not requests:
        raise ValueError(f"{'metrics' if runs else 'rankings'} is empty: there is nothing to draw")
    for name, run in runs.items():
        if not isinstance(run, Rankings):
            entry = "" if name is None else f"[{name!r}]"
            raise TypeError(f"rankings{entry} must be a Rankings, not {type(run).__name__}")
    cutoffs = check_ks(ks)  # `ks` may be an iterator, which can be read only once
    curves = {name: curves_of(run, requests, cutoffs) for name, run in runs.items()}
    return plotting.panels_side_by_side(curves)  # type: ignore[no-any-return]
