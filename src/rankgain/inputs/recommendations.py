"""Recommended ids in rank order, against relevant ids."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from itertools import chain, starmap
from typing import Any, Unpack

import numpy as np

from rankgain import _backend, _codes
from rankgain.choices import Duplicates, Missing, Validate
from rankgain.data.arrays import check_id
from rankgain.data.columns import ColumnSource, RunColumns, check_duplicates, check_validate
from rankgain.data.dicts import DictSource
from rankgain.data.groups import QueryRows
from rankgain.data.id_lists import IdLists, checked, id_lists_of, list_refusal, read
from rankgain.data.ids import ids_of
from rankgain.data.judgments import REPEATED, Judgments, JudgmentSets, judgment_sets, of_dicts, of_ids
from rankgain.data.ragged import offsets_of
from rankgain.data.rules import GIVEN, check_missing
from rankgain.data.source import check_query_ids
from rankgain.errors import ErrorCode, InputError, NeverGiven, refusal, unexpected, without_unknown
from rankgain.rankings import Rankings


@without_unknown
def from_recommendations(
    recommended: Any,
    relevant: Any,
    *,
    missing: Missing = "zero",
    validate: Validate = "judged",
    duplicates: Duplicates = "error",
    query_ids: Iterable[Hashable] | None = None,
    **unknown: Unpack[NeverGiven],
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
        Whether an id that is recommended twice to the same user is an error, or counts once, where it is first.
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
        `Rankings.evaluate`, if a relevant id is recommended twice, is listed twice as relevant, or has a grade that is
        not finite.
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
    if unknown:
        raise unexpected(from_recommendations, unknown)
    check_missing(missing)
    check_validate(validate)
    check_duplicates(duplicates)
    run = id_lists_of(recommended, "recommended", "hold lists of ids, best first, or be a mapping to those")
    users, rows = run
    if type(users) is range and len(rows) and isinstance(rows[0], PLAIN_IDS):
        users, rows = run = range(1), [rows]  # one user's list
        relevant = relevant if isinstance(relevant, Judgments) else [relevant]
    truth = _truth(relevant, "relevant")
    if type(truth) is tuple and type(rows) is type(truth[1]) is list and (type(users) is list or users == truth[0]):
        few = _backend.dicts.as_runs(users, rows, truth[1], FEW)
        if few is not None:
            judgments = of_dicts(truth[0], few[1], "relevant")
            return Rankings(DictSource(judgments, few[0], missing, query_ids, None, "recommended"), GIVEN)
    users, rows = checked("recommended", run, (list, tuple), "a list of ids, best first")
    check_all = validate == "full"
    if type(rows) is list and isinstance(next(chain.from_iterable(rows), None), tuple):
        judgments = _judged("relevant", truth)
        users, query_ids = _names(users, judgments, query_ids)
        runs = _runs_of_tuples(users, rows, judgments, check_all, duplicates)
        return Rankings(DictSource(judgments, runs, missing, query_ids, None, "recommended"), GIVEN)
    try:
        ids, offsets, lasts = read("recommended", rows)
    except InputError as error:
        raise list_refusal("recommended", users, error) from None
    judgments = _judged("relevant", truth)
    users, query_ids = _names(users, judgments, query_ids)
    groups = QueryRows(users, offsets[:-1], lasts)
    columns = RunColumns("recommended", groups, ids, None, check_all=check_all, duplicates=duplicates)
    return Rankings(ColumnSource(judgments, columns, missing=missing, query_ids=query_ids), GIVEN)


def _names(
    users: Sequence[Any], judgments: JudgmentSets, query_ids: Iterable[Hashable] | None
) -> tuple[Sequence[Any], Iterable[Hashable] | None]:
    """The ids of the users in the judgments, and the caller's names for them."""
    if type(users) is not range:
        return users, query_ids
    if type(judgments.query_ids) is not range:
        if query_ids is None:
            raise ValueError("relevant has keys and recommended has none: give the keys of its rows as query_ids")
        return check_query_ids(query_ids, len(users)), None
    if len(users) != len(judgments.query_ids):
        raise ValueError(f"recommended has {len(users)} users, and {judgments.name} has {len(judgments.query_ids)}")
    return users, query_ids


FEW = 1 << 10  # up to this many ids, columns take longer to build than dicts


def _runs_of_tuples(
    users: Sequence[Any], rows: list[Any], judgments: JudgmentSets, check_all: bool, duplicates: Duplicates
) -> dict[Any, dict[Any, float]]:
    """Lists of ids that are tuples, which columns cannot store, as runs in which the first id has the highest score."""
    judged = {} if check_all else dict.fromkeys(judgments.documents)
    runs: dict[Any, dict[Any, float]] = {}
    for user, row in zip(users, rows, strict=True):
        scores: dict[Any, float] = {}
        for position, identifier in enumerate(row):
            check_id(identifier, f"recommended: query {user!r}, position {position}")
            if identifier in scores and duplicates == "error" and (check_all or identifier in judged):
                where = f"recommended: query {user!r}, document {identifier!r} (position {position})"
                raise refusal(_codes.DUPLICATE, where, REPEATED)
            scores.setdefault(identifier, -float(position))
        runs[user] = scores
    return runs


def of_relevant(relevant: Any, name: str) -> JudgmentSets:
    """The judgments in relevant ids by user: sets, lists, mappings to grades, or a sparse matrix."""
    return _judged(name, _truth(relevant, name))


def _truth(relevant: Any, name: str) -> IdLists | JudgmentSets:
    """The relevant ids of each user; or the judgments, if they are prepared already or in a sparse matrix."""
    if isinstance(relevant, Judgments):
        return judgment_sets(relevant)
    if type(relevant) is not list and hasattr(relevant, "tocsr"):
        return _of_sparse(relevant.tocsr(), name)
    demand = (
        "hold for each user a set or list of ids, or a mapping from id to grade, or be a matrix of ids or a sparse "
        "matrix"
    )
    lists = id_lists_of(relevant, name, demand)
    users, rows = lists
    if isinstance(rows, np.ndarray):
        return users, rows if rows.ndim == 2 else rows.reshape(-1, 1)
    if rows and isinstance(rows[0], PLAIN_IDS) and all(issubclass(kind, PLAIN_IDS) for kind in {*map(type, rows)}):
        return users, [(identifier,) for identifier in rows]  # one id per user
    return lists


PLAIN_IDS = (str, bytes, int, np.integer)


def _judged(name: str, truth: IdLists | JudgmentSets) -> JudgmentSets:
    """The judgments in mappings to grades, or in ids, whose grade is 1."""
    if isinstance(truth, JudgmentSets):
        return truth
    users, rows = truth
    mappings = {issubclass(kind, Mapping) for kind in {*map(type, rows)}}
    if mappings <= {True} and type(rows) is list:
        return of_dicts(users, rows, name)
    if True in mappings:
        raise TypeError(f"{name} must be all mappings from id to grade, or all sets or lists of ids")
    if type(rows) is list and {*map(type, rows)} <= {set, frozenset} and sum(map(len, rows)) <= FEW:
        return of_dicts(users, [dict.fromkeys(ids, 1.0) for ids in rows], name)
    demand = "a set or list of ids, or a mapping to grades"
    users, rows = checked(name, truth, (set, frozenset, list, tuple, Set), demand)
    try:
        ids, offsets, lasts = read(name, rows)
    except InputError as error:
        if isinstance(rows, np.ndarray):
            raise list_refusal(name, users, error) from None
        return _of_objects(name, users, rows)
    if type(rows) is list:
        return JudgmentSets(name, users).with_columns(offsets, np.ones(len(ids)), ids=ids)
    return of_ids(name, QueryRows(users, offsets[:-1], lasts), ids, np.ones(len(ids)))


def _of_objects(name: str, users: Sequence[Any], rows: list[Any]) -> JudgmentSets:
    """The judgments in ids that columns cannot store: tuples, or several types. A run in columns refuses them."""
    rows = [row.tolist() if isinstance(row, np.ndarray) else list(row) for row in rows]
    offsets = offsets_of(list(map(len, rows)))
    documents = list(chain.from_iterable(rows))
    judgments = JudgmentSets(name, users).with_columns(offsets, np.ones(len(documents)), documents=documents)
    judgments.error_code = next(filter(None, starmap(_repeated, enumerate(rows))), None)
    return judgments


def _repeated(user: int, ids: list[Any]) -> ErrorCode:
    seen: set[Any] = set()
    for position, identifier in enumerate(ids):
        if not isinstance(identifier, Hashable):
            return _codes.ID_TYPE, user, position
        if identifier in seen:
            return _codes.DUPLICATE, user, position
        seen.add(identifier)
    return None


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
    groups = QueryRows(range(len(offsets) - 1), offsets[:-1], offsets[1:])
    return of_ids(name, groups, ids_of(items), matrix.data[: offsets[-1]])
