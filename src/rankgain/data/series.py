"""Pair the rows of pandas objects by the rules for labels, and match Series of lists, one list per query.

Labels that have a name, or are not integers, state which row is which. Unnamed integers may be positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Literal, NamedTuple

from rankgain.data.arrays import is_rows
from rankgain.data.column_names import is_pandas, is_series, refuse_table
from rankgain.data.given import Given
from rankgain.data.judgments import judgment_sets

_ADVICE = "write .reset_index(drop=True) for both if their rows are in the same order, or .to_dict() for both"

Pairing = Literal["position", "label", "overlap"]


class _Matched(NamedTuple):
    """Two arguments without labels, in the same order or as mappings.

    `names`: the names of the queries, if only labels give them. `assumed`: what was assumed about the labels, in words.
    """

    relevant: Given
    recommended: Given
    names: Sequence[Any] | None = None
    assumed: tuple[str, ...] = ()


def by_query(series: Any, name: str) -> Given:
    """Convert a Series to a dict keyed by its labels, or to a list if the labels are just the positions."""
    given = Given("series", series, name)
    return _listed(given) if _are_positions(series.index) else _keyed(given)


def matched(relevant: Given, recommended: Given) -> _Matched:
    """Match two arguments by their labels, if they have any. Arguments without labels are returned unchanged."""
    are_rows = recommended.kind != "series" or any(
        is_rows(row) or isinstance(row, (Set, Mapping)) for row in recommended.data
    )
    if not are_rows:  # `recommended` is the list of a single user
        return _Matched(relevant, Given("array", recommended.data.to_numpy(), recommended.name))
    if recommended.has_labels:
        if relevant.kind == "judgments" and (index := judgment_sets(relevant.data).index) is not None:
            return _beside_judgments(relevant, index, recommended)
        if relevant.has_labels:
            return _both(relevant, recommended)
    if relevant.kind == "series":
        relevant, names = _beside(relevant, recommended)
        return _Matched(relevant, recommended, names)
    if recommended.kind == "series":
        recommended, names = _beside(recommended, relevant)
        return _Matched(relevant, recommended, names)
    return _Matched(relevant, recommended)


def pairing(first: Any, second: Any, names: tuple[str, str]) -> tuple[Pairing, tuple[str, ...]]:
    """Decide how rows with two indexes are paired; also return what was assumed.

    "overlap": by label, where each index may have labels that the other lacks. Raise a ValueError if the labels
    contradict each other.
    """
    if first.equals(second):
        return "position", ()
    is_named = _are_names(first) and _are_names(second)
    if first.is_unique and second.is_unique:
        common = int(first.isin(second).sum())
        if common == len(first) == len(second):
            if is_named:
                return "label", ()
            raise _contradiction(first, second, names, "are the same in another order")
        if is_named and common:
            return "overlap", ()
    if len(first) == len(second) and (_are_positions(first) or _are_positions(second)):
        return "position", (
            f"{names[0]} and {names[1]} have different labels ({_both_shown(first, second)}): "
            "their rows were paired by position",
        )
    raise _contradiction(first, second, names, "differ")


def paired_rows(values: Mapping[str, Any], by_position: Iterable[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Bring pandas objects into the order of the first, by the rules for labels; also return what was assumed.

    `by_position`: the names of other arguments, whose rows are paired by position, so that no row may move.
    """
    labelled = {name: value for name, value in values.items() if is_series(value) or is_pandas(value)}
    (reference, first), *others = labelled.items()
    rows, assumed = dict(values), list[str]()
    for name, value in others:
        if len(value) != len(first):
            continue  # refused later, with both lengths
        names = reference, name
        how, remarks = pairing(first.index, value.index, names)
        assumed += remarks
        without = next(iter(by_position), None)
        if how == "overlap":
            raise _contradiction(first.index, value.index, names, "differ")
        if how == "label" and without is not None:
            raise _contradiction(first.index, value.index, names, f"are in another order, and {without} has none")
        if how == "label":
            rows[name] = value.loc[first.index]
        if is_pandas(first) and is_pandas(value):
            rows[name], remarks = _with_columns_of(first, rows[name], names)
            assumed += remarks
    return rows, tuple(assumed)


def _with_columns_of(first: Any, second: Any, names: tuple[str, str]) -> tuple[Any, tuple[str, ...]]:
    """Bring the columns of a second frame into the order of the first."""
    of_columns = f"the columns of {names[0]}", f"those of {names[1]}"
    how, assumed = pairing(first.columns, second.columns, of_columns)
    if how == "overlap":
        raise _contradiction(first.columns, second.columns, of_columns, "differ")
    return second[first.columns] if how == "label" else second, assumed


def _beside(series: Given, other: Given) -> tuple[Given, Sequence[Any] | None]:
    """Convert a Series to match the other argument, which has no labels.

    Also return the labels of the Series if they are the only names of the queries.
    """
    if other.kind in ("dicts", "keyed") or (other.kind == "judgments" and type(other.data.query_ids) is not range):
        return _keyed(series), None
    return _listed(series), _names(series.data.index)


def _both(relevant: Given, recommended: Given) -> _Matched:
    truth, run = relevant.data.index, recommended.data.index
    how, assumed = pairing(truth, run, (relevant.name, recommended.name))
    if how == "position":
        return _Matched(_listed(relevant), _listed(recommended), _names(truth) or _names(run), assumed)
    if how == "label":
        return _Matched(_listed(relevant), _listed(recommended, truth), _names(truth))
    return _Matched(_keyed(relevant), _keyed(recommended))


def _beside_judgments(judgments: Given, index: Any, recommended: Given) -> _Matched:
    """Match lists with judgments that were read from a Series with an index."""
    how, assumed = pairing(index, recommended.data.index, (judgments.name, recommended.name))
    if how == "position":
        names = _names(index) or _names(recommended.data.index)
        return _Matched(judgments, _listed(recommended), names, assumed)
    return _Matched(judgments, _keyed(recommended))


def _are_positions(index: Any) -> bool:
    """Return whether the index is like pandas' default index: 0, 1, 2, … without a name."""
    return index.name is None and index.dtype.kind in "iu" and index.tolist() == [*range(len(index))]


def _are_names(index: Any) -> bool:
    """Return whether the labels name queries: the index has a name, or its labels are not integers."""
    return any(name is not None for name in index.names) or index.dtype.kind not in "iu"


def _names(index: Any) -> Sequence[Any] | None:
    """Return the labels, or None if they are repeated or are just the positions of the rows."""
    return index.tolist() if index.is_unique and not _are_positions(index) else None


def _listed(given: Given, index: Any = None) -> Given:
    """Return the rows without their labels, in the order of an index: those of a Series in a list, or a frame."""
    rows = given.data if index is None else given.data.loc[index]
    return Given("lists", rows.tolist(), given.name) if given.kind == "series" else Given("table", rows, given.name)


def _keyed(given: Given) -> Given:
    """Return the rows in a dict by their labels."""
    values, name = given.data, given.name
    if not values.index.is_unique:
        label = values.index[values.index.duplicated()][0]
        raise ValueError(f"{name}: the label {label!r} of the Series appears twice; {_ADVICE}")
    refuse_table(values, name)
    return Given("keyed", dict(zip(values.index.tolist(), values.to_numpy().tolist(), strict=True)), name)


def _contradiction(first: Any, second: Any, names: tuple[str, str], what: str) -> ValueError:
    """Return the error for labels that do not say how to pair rows, with the line to write for each meaning."""
    one, other = names
    if one.startswith("the columns of "):
        one, other = one.removeprefix("the columns of "), other.removeprefix("those of ")
        order = f"{other}[{one}.columns]"
    else:
        order = f"{other}.loc[{one}.index]"
    return ValueError(
        f"the labels of {names[0]} and {names[1]} {what} ({_both_shown(first, second)}): pass {one}.to_numpy() and "
        f"{other}.to_numpy() if both are in the same order, or {order} if the labels say which belong together"
    )


def _both_shown(first: Any, second: Any) -> str:
    return f"{_shown(first)} and {_shown(second)}"


def _shown(index: Any) -> str:
    labels = ", ".join(map(repr, index[:3].tolist()))
    return f"{labels}, …" if len(index) > 3 else labels or "none"
