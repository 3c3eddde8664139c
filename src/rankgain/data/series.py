"""Match two pandas Series of lists, one list per query, as returned by `groupby(...).agg(list)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from rankgain.data.arrays import is_rows
from rankgain.data.column_names import is_series
from rankgain.data.judgments import Judgments

_ADVICE = "write .reset_index(drop=True) for both if their rows are in the same order, or .to_dict() for both"


def by_query(series: Any, name: str) -> Any:
    """Convert a Series to a dict keyed by its labels, or to a list if the labels are just the positions."""
    return series.tolist() if _are_positions(series.index) else _to_dict(series, name)


def matched(relevant: Any, recommended: Any) -> tuple[Any, Any, Sequence[Any] | None]:
    """Convert both arguments to lists in the same order or to dicts; also return the query names, if labels give them.

    Arguments that are not Series are returned unchanged.
    """
    truth, run = is_series(relevant), is_series(recommended)
    if run and not any(is_rows(value) or isinstance(value, (Set, Mapping)) for value in recommended):
        return relevant, recommended.to_numpy(), None  # `recommended` is the list of a single user
    if truth and run:
        return _both(relevant, recommended)
    if truth:
        lists, names = _beside(relevant, recommended, "relevant")
        return lists, recommended, names
    if run:
        lists, names = _beside(recommended, relevant, "recommended")
        return relevant, lists, names
    return relevant, recommended, None


def _beside(series: Any, other: Any, name: str) -> tuple[Any, Sequence[Any] | None]:
    """Convert a Series to match the other argument, which is not a Series.

    Also return the labels of the Series if they are the only names of the queries.
    """
    keys: Any = other.query_ids if isinstance(other, Judgments) else other if isinstance(other, Mapping) else None
    if keys is not None and type(keys) is not range:
        return _to_dict(series, name), None
    if keys is not None and _same_labels(series.index, keys):
        return series.loc[[*keys]].tolist(), None
    return series.tolist(), _names(series.index)


def _both(relevant: Any, recommended: Any) -> tuple[Any, Any, Sequence[Any] | None]:
    truth, run = relevant.index, recommended.index
    if truth.equals(run):
        return relevant.tolist(), recommended.tolist(), _names(truth)
    if truth.is_unique and run.is_unique:
        if _same_labels(truth, run):
            return relevant.tolist(), recommended.loc[truth].tolist(), _names(truth)
        if _are_names(truth) and _are_names(run) and not truth.intersection(run).empty:
            return _to_dict(relevant, "relevant"), _to_dict(recommended, "recommended"), None
    raise ValueError(
        f"relevant and recommended are Series with different labels ({_shown(truth)} and {_shown(run)}): {_ADVICE}"
    )


def _same_labels(index: Any, labels: Any) -> bool:
    return index.is_unique and len(index) == len(labels) and set(index) == set(labels)


def _are_positions(index: Any) -> bool:
    """Return whether the index is like pandas' default index: 0, 1, 2, … without a name."""
    return index.name is None and index.dtype.kind in "iu" and index.tolist() == [*range(len(index))]


def _are_names(index: Any) -> bool:
    """Return whether the labels name queries: the index has a name, or its labels are not integers."""
    return any(name is not None for name in index.names) or index.dtype.kind not in "iu"


def _names(index: Any) -> Sequence[Any] | None:
    """Return the labels, or None if they are repeated or are just the positions of the rows."""
    return index.tolist() if index.is_unique and not _are_positions(index) else None


def _to_dict(series: Any, name: str) -> dict[Any, Any]:
    if not series.index.is_unique:
        label = series.index[series.index.duplicated()][0]
        raise ValueError(f"{name}: the label {label!r} of the Series appears twice; {_ADVICE}")
    return dict(zip(series.index.tolist(), series.tolist(), strict=True))


def _shown(index: Any) -> str:
    labels = ", ".join(map(repr, index[:3].tolist()))
    return f"{labels}, …" if len(index) > 3 else labels or "none"
