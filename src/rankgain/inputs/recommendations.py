"""Recommended ids in rank order, against relevant ids."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np

from rankgain import _backend, _codes
from rankgain.choices import Duplicates, Missing, Validate
from rankgain.data.arrays import array_of, check_id, check_unmasked, is_array, vector_of
from rankgain.data.columns import ColumnSource, Table, check_duplicates, check_validate
from rankgain.data.dicts import DictSource
from rankgain.data.groups import Groups
from rankgain.data.ids import Ids, ids_of
from rankgain.data.judgments import EARLIER, Judgments, JudgmentSets, judgment_sets, of_dicts, of_ids
from rankgain.data.ragged import CHUNK, offsets_of
from rankgain.data.rules import GIVEN, check_missing
from rankgain.data.source import check_query_ids
from rankgain.errors import ErrorCode, InputError, quoted, refusal
from rankgain.rankings import Rankings
from rankgain.scalars import Array, Ints, id_kind, listed


def from_recommendations(
    recommended: Any,
    relevant: Any,
    *,
    missing: Missing = "zero",
    validate: Validate = "judged",
    duplicates: Duplicates = "error",
    query_ids: Iterable[Hashable] | None = None,
) -> Rankings:
    """Make Rankings from the ids that were recommended, best first, and those that are relevant.

    Parameters
    ----------
    recommended : array_like of int, list of lists, or mapping
        The recommended ids of each user, best first: an integer matrix with one row per user, in which the first
        negative id ends the row as padding; lists or 1-D arrays of ids, of any lengths; or a mapping from user to such
        a list. A flat list is that of one user. Ids are all str, all bytes or all integers; or, in
        lists of lists, tuples.
    relevant : list, mapping, matrix, sparse matrix, or Judgments
        For each user, in the same order or under the same key, a set or list of ids (grade 1 each), or a mapping from
        id to grade, any finite number. Or an integer matrix of ids, padded as above; or a scipy sparse matrix of users
        × items, whose stored values are the grades; or one id per user, as leave-one-out evaluation has it, in an
        array, list or mapping. If `recommended` is one user's list, the set, list or mapping
        itself.
    missing : {"zero", "skip"}, default "zero"
        Whether users of `relevant` without recommendations are evaluated as empty lists, hence 0, or left out. Users
        without an entry in `relevant` are always left out.
    validate : {"judged", "full"}, default "judged"
        Which ids may not be recommended twice to the same user: those in `relevant`, or all.
    duplicates : {"error", "first"}, default "error"
        Whether an id that is recommended twice to the same user is an error, or counts once, where it stands first.
    query_ids : iterable of hashable, optional
        One name per user that is evaluated, all different. Where `relevant` has keys and `recommended` has none, the
        keys of the rows of `recommended`. By default, the keys, or else the positions 0, 1, 2 …

    Returns
    -------
    Rankings
        With one query per user, in the order of `relevant`.

    Raises
    ------
    ValueError
        If the numbers of users differ, the two sides have no user in common, or their ids are of different types; if
        `relevant` has keys, `recommended` has none, and `query_ids` is not given; if `missing`, `validate` or
        `duplicates` is unknown; or if a matrix has more than two dimensions or a sparse one is broken. In
        `Rankings.evaluate`, if a relevant id is recommended twice, stands twice among the relevant ones, or has a grade
        that is not finite.
    TypeError
        If something is not a list of ids, ids are of mixed types, or `relevant` mixes mappings with sets or lists.

    See Also
    --------
    from_qrels : The same with scores instead of an order.
    judgments : Relevant ids prepared once for many models.

    Examples
    --------
    >>> import rankgain as rg
    >>> rankings = rg.from_recommendations([[6, 3, 8, 4, 5], [1, 2, -1, -1, -1]], [{3, 4}, {9}])
    >>> rankings.evaluate("ndcg@5", "mrr")["ndcg@5"].round(4).tolist()
    [0.6509, 0.0]
    >>> result = rg.from_recommendations({"ann": ["a", "b"]}, {"ann": {"b": 0.7, "c": 0.1}}).evaluate("ndcg")
    >>> round(result.mean("ndcg"), 4)
    0.5788
    """
    check_missing(missing)
    check_validate(validate)
    check_duplicates(duplicates)
    few = _few(recommended, relevant, missing, query_ids)
    if few is not None:
        return Rankings(few, GIVEN)
    if _holds_tuples(recommended):
        judgments = of_relevant(relevant)
        names, query_ids = _names(_users(recommended), judgments, query_ids)
        runs = _runs_of_tuples(recommended, names, judgments, validate == "full", duplicates)
        return Rankings(DictSource(judgments, runs, missing, query_ids, None, "recommended"), GIVEN)
    names, ids, firsts, lasts, single = _recommended(recommended)
    judgments = of_relevant([relevant] if single and not isinstance(relevant, Judgments) else relevant)
    names, query_ids = _names(names, judgments, query_ids)
    groups = Groups(names, firsts, lasts)
    run = Table("recommended", groups, ids, None, whole=validate == "full", duplicates=duplicates)
    return Rankings(ColumnSource(judgments, run, missing=missing, query_ids=query_ids), GIVEN)


def _names(
    names: Sequence[Any], judgments: JudgmentSets, query_ids: Iterable[Hashable] | None
) -> tuple[Sequence[Any], Iterable[Hashable] | None]:
    """What the users are called in the judgments, and the caller's names for them."""
    if isinstance(names, range) and not isinstance(judgments.query_ids, range):
        if query_ids is None:
            raise ValueError("relevant has keys and recommended has none: give the keys of its rows as query_ids")
        return check_query_ids(query_ids, len(names)), None
    if isinstance(names, range) and len(names) != len(judgments):
        raise ValueError(f"recommended has {len(names)} users, and {judgments.name} has {len(judgments)}")
    return names, query_ids


def _users(recommended: Any) -> Sequence[Any]:
    return list(recommended) if isinstance(recommended, Mapping) else range(len(recommended))


def _rows_of_any(recommended: Any) -> Iterable[Any]:
    return recommended.values() if isinstance(recommended, Mapping) else recommended


def _holds_tuples(recommended: Any) -> bool:
    """Whether the ids in lists of them are tuples, which no column holds."""
    if not isinstance(recommended, (list, tuple, Mapping)):
        return False
    for row in _rows_of_any(recommended):
        if not isinstance(row, (list, tuple)):
            return False
        for first in row:
            return isinstance(first, tuple)
    return False


def _runs_of_tuples(
    recommended: Any, names: Sequence[Any], judgments: JudgmentSets, whole: bool, duplicates: Duplicates
) -> dict[Any, dict[Any, float]]:
    """The lists as runs, in which the first has the highest score."""
    known = {} if whole else dict.fromkeys(judgments.documents)
    runs: dict[Any, dict[Any, float]] = {}
    for user, row in zip(names, _rows_of_any(recommended), strict=True):
        run: dict[Any, float] = {}
        for place, identifier in enumerate(row):
            check_id(identifier, f"recommended: query {user!r}, position {place}")
            if identifier in run and duplicates == "error" and (whole or identifier in known):
                where = f"recommended: query {user!r}, document {identifier!r} (row {place})"
                raise refusal(_codes.DUPLICATE, where, EARLIER)
            run.setdefault(identifier, -float(place))
        runs[user] = run
    return runs


FEW = 1 << 10  # up to this many ids, columns take longer to build than dicts


def _few(recommended: Any, relevant: Any, missing: Missing, query_ids: Iterable[Hashable] | None) -> DictSource | None:
    """A few lists of ids as dicts; None for input that columns hold or refuse."""
    if type(recommended) is not list or type(relevant) is not list or len(recommended) != len(relevant):
        return None
    found = _backend.dicts.as_runs(recommended, relevant, FEW)
    if found is None:
        return None
    judgments = of_dicts(range(len(recommended)), found[1], "relevant")
    return DictSource(judgments, dict(enumerate(found[0])), missing, query_ids, None, "recommended")


Recommended = tuple[Sequence[Any], Ids, Ints, Ints, bool]


def _recommended(recommended: Any) -> Recommended:
    """The users, all ids one after the other, the first and last of each user, and whether it is one user's list."""
    if isinstance(recommended, Mapping):
        return _ragged(listed(recommended), listed(recommended.values()))
    if not isinstance(recommended, (list, tuple)):
        check_unmasked(recommended, "recommended")
        array = array_of(recommended, "recommended") if is_array(recommended) else None
        if array is None or array.ndim == 0:
            kind = type(recommended).__name__
            raise TypeError(f"recommended must hold lists of ids, best first, or be a mapping to those, not {kind}")
        if array.ndim == 2 and array.dtype.kind in "iu":
            return _matrix(array, "recommended")
        if array.ndim > 2:
            raise ValueError(f"recommended must have 1 or 2 dimensions, not {array.ndim}")
        recommended = array.tolist() if array.ndim == 2 or array.dtype.kind not in "iu" else array
    if isinstance(recommended, (list, tuple)):
        recommended = listed(recommended)
    if len(recommended) and id_kind(recommended[0]) in (str, bytes, int):
        return *_ragged(range(1), [recommended])[:-1], True
    return _ragged(range(len(recommended)), recommended)


def _matrix(array: Array, name: str) -> Recommended:
    """One row per user; the first negative id ends it."""
    users, columns = array.shape
    firsts = np.arange(users, dtype=np.int64) * columns
    sizes = np.full(users, columns, dtype=np.int64)
    for start in range(0, users if columns else 0, step := max(1, CHUNK // max(columns, 1))):
        block = array[start : start + step]
        if block.dtype.kind == "i" and block.min() < 0:
            padded = block < 0
            sizes[start : start + step] = np.where(padded.any(axis=1), padded.argmax(axis=1), columns)
    ids = _ids(array.reshape(-1), name, range(users), np.append(firsts, array.size))
    return range(users), ids, firsts, firsts + sizes, False


def _ragged(names: Sequence[Any], lists: Sequence[Any]) -> Recommended:
    rows = _rows("recommended", names, lists, (list, tuple), "a list of ids, best first")
    offsets = offsets_of(list(map(len, rows)))
    held: Any = np.concatenate(rows) if {*map(type, rows)} == {np.ndarray} else None
    if held is None or held.dtype.kind not in "iu":  # NumPy combines int64 and uint64 into floats
        held = _integers(rows, offsets)
    if held is None:
        held = _chained("recommended", rows, offsets)
    return names, _ids(held, "recommended", names, offsets), offsets[:-1], offsets[1:], False


def _rows(name: str, users: Sequence[Any], rows: Sequence[Any], kinds: tuple[type, ...], demand: str) -> Sequence[Any]:
    """The ids of each user: one of the kinds, or an array."""
    there = {*map(type, rows)}
    if there <= {*kinds} or (there == {np.ndarray} and {own.ndim for own in rows} == {1}):
        return rows
    return [
        listed(own) if isinstance(own, kinds) else vector_of(own, f"{name}: query {quoted(user)}", demand)
        for user, own in zip(users, rows, strict=True)
    ]


def _integers(rows: Sequence[Any], offsets: Ints) -> Ints | None:
    """The ids of all rows, if all are int; else None, and each must be checked."""
    numbers = np.empty(offsets[-1], dtype=np.int64)
    return numbers if _backend.columns.copy_integers(rows, numbers) else None


def _chained(name: str, rows: Sequence[Any], offsets: Ints) -> list[Any]:
    """The ids of all rows as Python holds them."""
    if np.ndarray in {*map(type, rows)}:
        rows = [own.tolist() if isinstance(own, np.ndarray) else own for own in rows]
    held = list(chain.from_iterable(rows))
    if len(held) != offsets[-1]:
        raise ValueError(f"{name}: the length of a list of ids is wrong, or it was changed while it was read")
    return held


def _ids(values: Any, name: str, users: Sequence[Any], offsets: Ints) -> Ids:
    try:
        return ids_of(values)
    except InputError as error:
        user = int(np.searchsorted(offsets, error.position, side="right")) - 1
        position = error.position - int(offsets[user])
        where = f"{name}: query {quoted(users[user])}, position {position}"
        raise refusal(error.code, where, error.detail) from None


def of_relevant(relevant: Any, name: str = "relevant") -> JudgmentSets:
    """The judgments in relevant ids by user: sets, lists, mappings to grades, or a sparse matrix."""
    if isinstance(relevant, Judgments):
        return judgment_sets(relevant)
    if hasattr(relevant, "tocsr"):
        return _of_sparse(relevant.tocsr(), name)
    if isinstance(relevant, Mapping):
        return _of_collections(name, listed(relevant), listed(relevant.values()))
    array = array_of(relevant, name) if is_array(relevant) else None
    if array is not None and array.ndim in (1, 2) and array.dtype.kind in "iu":
        check_unmasked(relevant, name)
        return _of_matrix(array if array.ndim == 2 else array.reshape(-1, 1), name)  # one id a user, or several
    if array is not None and array.dtype.kind in "OUS":
        relevant = array.tolist()
    if not isinstance(relevant, (list, tuple)):
        kind = type(relevant).__name__
        raise TypeError(
            f"{name} must hold for each user a set or list of ids, or a mapping from id to grade, or be a matrix of "
            f"ids or a sparse matrix, not {kind}"
        )
    relevant = listed(relevant)
    return _of_collections(name, range(len(relevant)), relevant)


_PLAIN_IDS = (str, bytes, int, np.integer)


def _of_collections(name: str, users: Sequence[Any], values: Sequence[Any]) -> JudgmentSets:
    if len(values) and all(issubclass(kind, _PLAIN_IDS) for kind in {*map(type, values)}):
        values = [(own,) for own in values]  # as leave-one-out has it
    mappings = {isinstance(own, Mapping) for own in {type(own): own for own in values}.values()}
    if mappings <= {True}:
        return of_dicts(users, values, name)
    if True in mappings:
        raise TypeError(f"{name} must be all mappings from id to grade, or all sets or lists of ids")
    demand = "a set or list of ids, or a mapping to grades"
    rows = _rows(name, users, values, (set, frozenset, list, tuple, Set), demand)
    offsets = offsets_of(list(map(len, rows)))
    grades, numbers = np.ones(offsets[-1]), _integers(rows, offsets)
    if numbers is not None:
        return JudgmentSets(name, users).with_columns(offsets, grades, ids=ids_of(numbers))
    documents = _chained(name, rows, offsets)
    error_codes = (_repeated(user, own) for user, own in enumerate(rows) if not isinstance(own, (set, frozenset, Set)))
    judgments = JudgmentSets(name, users).with_columns(offsets, grades, documents=documents)
    judgments.error_code = next(filter(None, error_codes), None)
    return judgments


def _repeated(user: int, ids: Sequence[Any]) -> ErrorCode:
    with suppress(TypeError):  # ids that are not hashable
        if len(set(ids)) == len(ids):
            return None
    seen: set[Any] = set()
    for position, identifier in enumerate(ids):
        if not isinstance(identifier, Hashable):
            return _codes.ID_TYPE, user, position
        if identifier in seen:
            return _codes.DUPLICATE, user, position
        seen.add(identifier)
    return None


def _of_matrix(array: Array, name: str) -> JudgmentSets:
    users, ids, firsts, lasts, _ = _matrix(array, name)
    return of_ids(name, Groups(users, firsts, lasts), ids, np.ones(array.size))


def _of_sparse(matrix: Any, name: str) -> JudgmentSets:
    """Users × items; the stored values are the grades."""
    if matrix.data.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, not {matrix.data.dtype}")
    offsets, items = np.asarray(matrix.indptr, dtype=np.int64), np.asarray(matrix.indices)
    most = min(len(items), len(matrix.data))
    if not len(offsets) or offsets[0] != 0 or offsets[-1] > most or np.any(offsets[1:] < offsets[:-1]):
        raise ValueError(f"{name} is a broken sparse matrix: its indptr points outside its indices and data")
    items = items[: offsets[-1]]
    if len(items) and not 0 <= items.min() <= items.max() < matrix.shape[1]:
        raise ValueError(f"{name} is a broken sparse matrix: its indices point outside its {matrix.shape[1]} columns")
    groups = Groups(range(len(offsets) - 1), offsets[:-1], offsets[1:])
    return of_ids(name, groups, ids_of(items), matrix.data[: offsets[-1]])
