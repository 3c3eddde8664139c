"""Read the recommended or relevant ids of each user from matrices, lists and mappings."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from itertools import chain, pairwise, starmap
from typing import Any

import numpy as np

from rankgain import _codes
from rankgain.choices import Duplicates
from rankgain.data.advice.foreign import container_advice, element_advice, pair_advice
from rankgain.data.advice.list_texts import list_text_advice, refuse_list_texts
from rankgain.data.advice.multi_hot import refuse_multi_hot
from rankgain.data.advice.zeros import ZERO_ADVICE
from rankgain.data.arrays import array_of, check_id, check_unmasked, is_array, vector_of
from rankgain.data.column_names import refuse_table
from rankgain.data.dicts import refuse_empty_ids
from rankgain.data.given import Kind
from rankgain.data.groups import QueryRows
from rankgain.data.ids import Ids, are_empty, ids_of, ids_of_rows
from rankgain.data.judgments import REPEATED, JudgmentSets, judgment_sets, of_dicts, of_ids
from rankgain.data.padding import IN_LISTS, cut, ends_with_nan, unpadded, whole, without_padding
from rankgain.data.ragged import ends_without, offsets_of
from rankgain.data.series import by_query
from rankgain.data.sparse import offsets_and_columns
from rankgain.errors import ErrorCode, InputError, quoted, refusal
from rankgain.scalars import Array, Ints, is_null, listed, paired

# The users (a range if they have no names), and their ids as a list of rows or as a matrix of integers.
IdLists = tuple[Sequence[Any], Any]

FEW = 1 << 10  # maximum number of ids for which dicts are faster to build than columns
ID_TYPES = (str, bytes, int, np.integer)


SWAPPED = (
    ": relevant ids come first: write from_recommendations(relevant, recommended) or evaluate(relevant, recommended, "
    "...)"
)


def _are_lists(rows: list[Any], kinds: set[type]) -> bool:
    """Return whether all rows are of these types, or all rows are one-dimensional arrays."""
    row_types = {*map(type, rows)}
    return row_types <= kinds or (row_types == {np.ndarray} and {row.ndim for row in rows} == {1})


def id_lists_of(kind: Kind, value: Any, name: str, demand: str) -> IdLists:
    """Return the users and their lists of ids. `demand`: the expected form, as worded in errors."""
    if kind == "lists":
        rows: Any = value
        if type(value) is not list:
            rows = listed(value)
            refuse_scores(rows, name)
    elif kind in ("dicts", "keyed"):
        refuse_table(value, name)
        refuse_empty_ids(value, (), name)
        users, rows = paired(value, name)
        return users, without_padding(rows)
    else:
        refuse_table(value[0] if kind == "table" and type(value) is list else value, name)
        check_unmasked(value, name)
        rows = array_of(value, name) if is_array(value) else None
        if rows is None or rows.ndim == 0:
            may_be_truth = kind in ("sparse", "judgments") or isinstance(value, Set)
            advice = SWAPPED if may_be_truth and name in ("recommended", "run") else container_advice(value)
            raise TypeError(f"{name} must {demand}, not {type(value).__name__}{advice}")
        if rows.ndim > 2:
            raise ValueError(f"{name} must have 1 or 2 dimensions, not {rows.ndim}")
        rows = whole(rows) if ends_with_nan(rows) else rows
        if rows.size and rows.dtype.kind not in "iuOUS":
            raise TypeError(f"{name} must {demand}, not ndarray of {rows.dtype}")
        rows = rows if rows.size and rows.dtype.kind in "iu" else rows.tolist()
    return range(len(rows)), without_padding(rows)


def checked(name: str, users: Sequence[Any], rows: Any, kinds: tuple[type, ...], demand: str) -> Any:
    """Check the rows; return each row as an instance of one of the types `kinds`, or as a one-dimensional array.

    Padding at the ends of rows that are converted, or that are arrays of objects, is cut off.
    """
    if type(rows) is not list or _are_lists(rows, {*kinds}):
        return _unpadded_arrays(rows) if _has_arrays(rows) else rows
    if set not in kinds:
        for user, row in zip(users, rows, strict=True):
            if isinstance(row, (Set, Mapping)) or (type(users) is not range and isinstance(row, (int, float))):
                raise TypeError(f"{name}: query {quoted(user)}: must be {demand}, not {type(row).__name__}{SWAPPED}")
    return [
        listed(row) if isinstance(row, kinds) else cut(_vector(row, f"{name}: query {quoted(user)}", demand))
        for user, row in zip(users, rows, strict=True)
    ]


def _has_arrays(rows: Any) -> bool:
    return type(rows) is list and bool(rows) and type(rows[0]) is np.ndarray


def _unpadded_arrays(rows: list[Array]) -> list[Array]:
    """Return rows without padding, other than that of integers, which is found in the column of all rows."""
    if {row.dtype.kind for row in rows} <= {"i", "u"}:
        return rows
    if any(map(ends_with_nan, rows)):  # the rows that are not padded may be floats, too
        rows = list(map(whole, rows))
    return list(map(cut, rows))


def _vector(row: Any, where: str, demand: str) -> Array:
    if isinstance(row, str) and (advice := list_text_advice(row)):
        raise TypeError(f"{where}: must be {demand}, not str{advice}")
    if row is None:
        raise TypeError(f"{where}: must be {demand}, not None; write [] if there are none")
    return vector_of(row, where, demand)


def column_of_rows(name: str, users: Sequence[Any], rows: Any) -> tuple[Ids, Ints, Ints]:
    """Return the ids of all users as one column, and where the ids of each user start and end."""
    try:
        ids, offsets, lasts = _read(name, rows)
    except InputError as error:
        where = f"{name}: query {quoted(users[error.query])}, position {error.position}"
        advice = IN_LISTS
        if error.code == _codes.ID_TYPE:
            advice = pair_advice(rows[error.query], users, name) or element_advice(rows[error.query][error.position])
        detail = f"{error.detail}{advice}" if error.code in _WITH_ADVICE else error.detail
        raise refusal(error.code, where, detail) from None
    return ids, offsets[:-1], lasts


_WITH_ADVICE = frozenset((_codes.ID_TYPE, _codes.NULL_ID, _codes.EMPTY_ID))


def _read(name: str, rows: Any) -> tuple[Ids, Ints, Ints]:
    """Return the ids of all users as one column, the offsets of the users, and where the ids of each user end.

    If an id is invalid, raise InputError with the index of the user and the position among the user's ids.
    """
    are_arrays = _has_arrays(rows)
    if isinstance(rows, np.ndarray):
        offsets, lasts = unpadded(rows)
        rows = [rows.reshape(-1)]
    else:
        offsets = offsets_of(list(map(len, rows)))
        lasts = offsets[1:]
    try:
        ids = ids_of_rows(rows, int(offsets[-1]))
        if (empty := are_empty(ids)) is not None and empty.any():
            raise InputError(_codes.EMPTY_ID, 0, int(empty.argmax()))
    except InputError as error:
        if error.code == _codes.CHANGED:
            raise ValueError(f"{name}: a list of ids was changed while it was read") from None
        user = int(np.searchsorted(offsets, error.position, side="right")) - 1
        raise InputError(error.code, user, error.position - int(offsets[user]), error.detail) from None
    if are_arrays and ids.kind == "int":
        lasts = ends_without(ids.take(slice(None)).data == -1, offsets[:-1], lasts)
    return ids, offsets, lasts


def runs_of_tuples(
    name: str, users: Sequence[Any], rows: list[Any], judgments: JudgmentSets | None, duplicates: Duplicates
) -> dict[Any, dict[Any, float]]:
    """Convert lists of tuple ids, which columns cannot store, to dicts in which earlier ids have higher scores.

    With `judgments`, only a judged id that repeats is an error.
    """
    check_all, judged = judgments is None, dict[Any, set[Any]]()
    if judgments is not None:
        ids_by_user = (judgments.documents[start:stop] for start, stop in pairwise(judgments.offsets.tolist()))
        judged = dict(zip(judgments.query_ids, map(set, ids_by_user), strict=True))
    runs: dict[Any, dict[Any, float]] = {}
    for user, row in zip(users, rows, strict=True):
        scores: dict[Any, float] = {}
        for position, identifier in enumerate(row):
            check_id(identifier, f"{name}: query {user!r}, position {position}")
            if identifier in scores and duplicates == "error" and (check_all or identifier in judged.get(user, ())):
                where = f"{name}: query {user!r}, document {identifier!r} (position {position})"
                raise refusal(_codes.DUPLICATE, where, REPEATED)
            scores.setdefault(identifier, -float(position))
        runs[user] = scores
    return runs


def relevant_lists(kind: Kind, relevant: Any, name: str) -> IdLists | JudgmentSets:
    """Return the relevant ids of each user.

    Return the judgments instead if they are already prepared or are given as a sparse matrix.
    """
    if kind == "judgments":
        return judgment_sets(relevant)
    if kind == "sparse":
        return of_csr(relevant.tocsr() if hasattr(relevant, "tocsr") else relevant, name)
    if kind == "series":
        kind, relevant, name = by_query(relevant, name).form
    demand = (
        "hold for each user a set or list of ids, or a mapping from id to grade, or be a matrix of ids or a sparse "
        "matrix"
    )
    if kind == "lists" or (isinstance(relevant, np.ndarray) and relevant.ndim == 2):
        refuse_multi_hot(relevant, name)
    lists = id_lists_of(kind, relevant, name, demand)
    users, rows = lists
    if isinstance(rows, np.ndarray):
        return users, rows if rows.ndim == 2 else rows.reshape(-1, 1)
    if rows and isinstance(rows[0], ID_TYPES) and all(issubclass(kind, ID_TYPES) for kind in {*map(type, rows)}):
        refuse_list_texts(rows, name)
        return users, without_padding([(identifier,) for identifier in rows])  # one id per user
    return lists


def judgments_of(name: str, truth: IdLists | JudgmentSets) -> JudgmentSets:
    """Read judgments from mappings of ids to grades, or from lists or sets of ids, whose grades are 1."""
    if isinstance(truth, JudgmentSets):
        return truth
    users, rows = truth
    mappings = {issubclass(kind, Mapping) for kind in {*map(type, rows)}}
    if mappings <= {True} and type(rows) is list:
        refuse_empty_ids(users, rows, name)
        return of_dicts(users, rows, name)
    if True in mappings:
        raise TypeError(f"{name} must be all mappings from id to grade, or all sets or lists of ids")
    if type(rows) is list and {*map(type, rows)} <= {set, frozenset} and sum(map(len, rows)) <= FEW:
        refuse_empty_ids(users, rows, name)
        return of_dicts(users, [dict.fromkeys(ids, 1.0) for ids in rows], name)
    demand = "a set or list of ids, or a mapping to grades"
    rows = checked(name, users, rows, (set, frozenset, list, tuple, Set), demand)
    if isinstance(rows, np.ndarray):
        ids, firsts, lasts = column_of_rows(name, users, rows)
        return _of_rows(name, users, ids, firsts, lasts)
    try:
        ids, offsets, lasts = _read(name, rows)
    except InputError:
        return _of_objects(name, users, rows)
    return _of_rows(name, users, ids, offsets[:-1], lasts)


def _of_rows(name: str, users: Sequence[Any], ids: Ids, firsts: Ints, lasts: Ints) -> JudgmentSets:
    """Return judgments in which each id of a row has the grade 1."""
    judgments = of_ids(name, QueryRows(users, firsts, lasts), ids, np.ones(len(ids)))
    if judgments.error_code is not None:
        _, user, position = judgments.error_code
        judgments.hint = ZERO_ADVICE if judgments.documents[int(judgments.offsets[user]) + position] == 0 else ""
    return judgments


def _of_objects(name: str, users: Sequence[Any], rows: list[Any]) -> JudgmentSets:
    """Read judgments with ids that columns cannot store (tuples or mixed types), and that runs in columns refuse."""
    are_sets = isinstance(rows[0], Set)
    rows = [row.tolist() if isinstance(row, np.ndarray) else list(row) for row in rows]
    offsets = offsets_of(list(map(len, rows)))
    documents = list(chain.from_iterable(rows))
    judgments = JudgmentSets(name, users).with_columns(offsets, np.ones(len(documents)), documents=documents)
    judgments.error_code = error = next(filter(None, starmap(_repeated, enumerate(rows))), None)
    if error is not None and error[0] == _codes.ID_TYPE:
        value = rows[error[1]][error[2]]
        where = f"{name}: query {quoted(users[error[1]])}, document {quoted(value)}"
        raise refusal(_codes.ID_TYPE, where, f"{type(value).__name__}{element_advice(value)}")
    judgments.detail = "" if are_sets else IN_LISTS
    return judgments


def _repeated(user: int, ids: list[Any]) -> ErrorCode:
    seen: set[Any] = set()
    for position, identifier in enumerate(ids):
        if is_null(identifier):
            return _codes.NULL_ID, user, position
        if isinstance(identifier, (str, bytes)) and not identifier:
            return _codes.EMPTY_ID, user, position
        if not isinstance(identifier, Hashable):
            return _codes.ID_TYPE, user, position
        if identifier in seen:
            return _codes.DUPLICATE, user, position
        seen.add(identifier)
    return None


def of_csr(matrix: Any, name: str) -> JudgmentSets:
    """Read judgments from a sparse matrix of users × items, whose stored values are the grades."""
    grades = np.asarray(matrix.data)
    if grades.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, not {grades.dtype}")
    offsets, items = offsets_and_columns(matrix, name)
    groups = QueryRows(range(len(offsets) - 1), offsets[:-1], offsets[1:])
    judgments = of_ids(name, groups, ids_of(items), grades[: offsets[-1]])
    judgments.columns = matrix.shape[-1]
    return judgments


def refuse_scores(rows: Sequence[Any], name: str) -> None:
    """Refuse a pair of arrays with ids and scores, as returned by implicit's recommend() and torch.topk."""
    if len(rows) == 2 and all(map(is_array, rows)):
        arrays = [array_of(row, name) for row in rows]
        kinds = [array is not None and array.dtype.kind for array in arrays]
        shapes = {None if array is None else array.shape for array in arrays}
        if "f" in kinds and not {"i", "u"}.isdisjoint(kinds) and len(shapes) == 1:
            raise TypeError(f"{name} is a pair of ids and scores: give the ids alone, {name}[{1 - kinds.index('f')}]")
