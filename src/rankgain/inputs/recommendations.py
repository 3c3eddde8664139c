"""`from_recommendations`: make Rankings from relevant ids and recommended ids."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import Any, Unpack

from rankgain import _backend
from rankgain._codes import SHORT_QUERY
from rankgain.choices import Duplicates, Missing, Validate, check_choices
from rankgain.data.advice.list_texts import refuse_list_texts
from rankgain.data.advice.several_ids import refuse_several_ids
from rankgain.data.advice.zeros import IdRows, id_rows, remarks_on_zero_ids
from rankgain.data.columns import ColumnSource, RunColumns
from rankgain.data.dicts import DictSource
from rankgain.data.given import EXACT_TYPES, recognise
from rankgain.data.groups import QueryRows
from rankgain.data.id_lists import (
    FEW,
    ID_TYPES,
    IdLists,
    checked,
    column_of_rows,
    id_lists_of,
    judgments_of,
    relevant_lists,
    runs_of_tuples,
)
from rankgain.data.judgments import JudgmentSets, JudgmentSource, of_dicts, warn_of_negative_grades
from rankgain.data.padding import cut
from rankgain.data.rules import GIVEN
from rankgain.data.series import matched
from rankgain.data.source import check_query_ids
from rankgain.errors import NoKeywords, unexpected, without_unknown
from rankgain.rankings import Rankings


@without_unknown
def from_recommendations(
    relevant: Any,
    recommended: Any,
    *,
    missing: Missing = "zero",
    validate: Validate = "judged",
    duplicates: Duplicates = "error",
    query_ids: Iterable[Hashable] | None = None,
    **unknown: Unpack[NoKeywords],
) -> Rankings:
    """Make Rankings from each user's relevant ids and ranked recommendations.

    Parameters
    ----------
    relevant : list, mapping, matrix, sparse matrix, or Judgments
        For each user a set or list of ids (grade 1 each), or a mapping from id to grade, any finite number. Or a matrix
        of ids; lists and matrices are padded as below. Or a scipy sparse matrix of users × items, whose stored values
        are the grades; or one id per user, as in leave-one-out evaluation, in an array, list or mapping. If
        `recommended` is one user's list, the set, list or mapping itself, or a sparse matrix of one row.
    recommended : array_like of int, list of lists, or mapping
        The recommended ids of each user, best first, in the same order or under the same key: a matrix with one row per
        user; lists or 1-D arrays of ids, of any lengths; or a mapping from user to such a list. NaN, None, an empty
        text and -1 at the end of a row are padding and end it; in an integer matrix, the first negative id does. A flat
        list is for a single user. Ids are all str, all bytes or all integers; or, in lists of lists, tuples.
    missing : {"zero", "skip"}, default "zero"
        Whether users of `relevant` without recommendations are evaluated as empty lists, hence 0, or left out. Users
        without an entry in `relevant` are always left out.
    validate : {"judged", "full"}, default "judged"
        Which ids may not be recommended twice to the same user: those in `relevant`, or all.
    duplicates : {"error", "first"}, default "error"
        Whether an id that is recommended twice to the same user is an error, or counts once, at its first rank.
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
        `duplicates` is unknown; if a matrix has more than two dimensions or a sparse one is broken; if an id is null or
        an empty text before the end of its row; or if texts hold several ids. In
        `Rankings.evaluate`, if a relevant id is recommended twice, is listed twice as relevant, or has a grade that is
        not finite.
    TypeError
        If a value is not a list of ids, a side is a table with columns of users and items, ids are of mixed types, or
        `relevant` mixes mappings with sets or lists.

    Warns
    -----
    UserWarning
        If a grade is negative, other than -1 and -2; or if both sides have one text per query that may hold several
        ids, in other numbers.

    See Also
    --------
    from_qrels : The same with scores instead of an order.
    judgments : Relevant ids prepared once for many models.

    Notes
    -----
    pandas Series with one list per user, such as those returned by ``groupby("user")["item"].agg(list)``, and frames of
    ids are matched by their labels. Equal indexes are matched by position. Labels that have a name or are not integers
    are matched by label, as mappings if only some of them are the same. Unnamed integers may be positions: if both
    sides have the same ones in another order, a ValueError shows what to write. If one side has the default index and
    the other has other labels, they are matched by position, and `Evaluation.assumed` says so. Any other pair raises a
    ValueError. A single Series is matched by key with a mapping, and by position with lists. When lists are matched by
    position, their labels become the `query_ids`.

    Examples
    --------
    >>> import rankgain as rg
    >>> rankings = rg.from_recommendations([{3, 4}, {9}], [[6, 3, 8, 4, 5], [1, 2, -1, -1, -1]])
    >>> rankings.evaluate("ndcg@5", "mrr")["ndcg@5"].round(4).tolist()
    [0.6509, 0.0]
    >>> result = rg.from_recommendations({"ann": {"b": 0.7, "c": 0.1}}, {"ann": ["a", "b"]}).evaluate("ndcg")
    >>> round(result.mean("ndcg"), 4)
    0.5788
    """
    if unknown:
        raise unexpected(from_recommendations, unknown)
    check_choices(missing=missing, validate=validate, duplicates=duplicates)
    truth_kind, run_kind = EXACT_TYPES.get(type(relevant)), EXACT_TYPES.get(type(recommended))
    truth_name, name = "relevant", "recommended"
    assumed: tuple[str, ...] = ()
    if truth_kind is None or run_kind is None:
        judged, run = recognise(relevant, truth_name, opens=False), recognise(recommended, name, opens=False)
        judged, run, labels, remarks = matched(judged, run)
        query_ids, assumed = labels if query_ids is None else query_ids, run.assumed + remarks
        (truth_kind, relevant, truth_name), (run_kind, recommended, name) = judged.form, run.form
    of_lists = truth_kind == run_kind == "lists" and type(relevant) is type(recommended) is list
    if of_lists and len(relevant) == len(recommended):
        few = _backend.dicts.as_runs(range(len(relevant)), recommended, relevant, FEW)
        if few is not None:  # none of the checks of lists is needed
            return _of_few(few, range(len(relevant)), (truth_name, name), missing, query_ids, assumed)
    users, rows = id_lists_of(run_kind, recommended, name, "hold lists of ids, best first, or be a mapping to those")
    if type(users) is range and len(rows) and isinstance(rows[0], ID_TYPES):
        refuse_list_texts(rows, name)
        users, rows = range(1), [cut(rows)]  # `recommended` is the list of a single user
        if truth_kind not in ("judgments", "sparse"):
            truth_kind, relevant = "lists", [relevant]
    truth = relevant_lists(truth_kind, relevant, truth_name)
    if type(users) is range and not len(users):
        _refuse_no_users(truth, (truth_name, name))
    if type(truth) is tuple and type(rows) is type(truth[1]) is list and (type(users) is list or users == truth[0]):
        few = _backend.dicts.as_runs(users, rows, truth[1], FEW)
        if few is not None:
            return _of_few(few, truth[0], (truth_name, name), missing, query_ids, assumed)
    if isinstance(truth, JudgmentSets) and type(users) is type(rows) is list and not truth.text_ids:
        few = _backend.dicts.as_runs(users, rows, [], FEW)
        if few is not None and truth.documents and type(next(chain.from_iterable(rows))) is type(truth.documents[0]):
            return _assuming(assumed, DictSource(truth, few[0], missing, query_ids, None, name))
    rows = checked(name, users, rows, (list, tuple), "a list of ids, best first")
    of_tuples = type(rows) is list and isinstance(next(chain.from_iterable(rows), ()), tuple)
    column = None if of_tuples else column_of_rows(name, users, rows)
    judgments = judgments_of(truth_name, truth)
    if truth_kind != "judgments":
        warn_of_negative_grades(judgments)
    users, query_ids = _names(users, judgments, query_ids, name)
    check_all = validate == "full"
    if column is None:
        runs = runs_of_tuples(name, users, rows, None if check_all else judgments, duplicates)
        return _assuming(assumed, DictSource(judgments, runs, missing, query_ids, None, name))
    ids, firsts, lasts = column
    groups = QueryRows(users, firsts, lasts)
    columns = RunColumns(name, groups, ids, None, check_all=check_all, duplicates=duplicates)
    source = ColumnSource(judgments, columns, missing=missing, query_ids=query_ids)
    in_order = type(truth) is tuple and not isinstance(next(iter(truth[1]), None), (Mapping, Set))
    assumed += remarks_on_zero_ids(id_rows(judgments, are_ordered=in_order), IdRows(name, *column))
    return _assuming(assumed, source)


def _of_few(
    few: tuple[dict[Any, dict[Any, float]], Any, int],
    queries: Sequence[Any],
    names: tuple[str, str],
    missing: Missing,
    query_ids: Iterable[Hashable] | None,
    assumed: tuple[str, ...],
) -> Rankings:
    """Make Rankings from what `as_runs` returned for few ids."""
    runs, truths, signs = few
    of_mappings = type(truths) is list
    judgments = of_dicts(queries, truths, names[0]) if of_mappings else JudgmentSets(names[0], queries, truths)
    if judgments.unusual_grades:
        warn_of_negative_grades(judgments)
    return _assuming(assumed, DictSource(judgments, runs, missing, query_ids, None, names[1]), signs)


def _assuming(assumed: tuple[str, ...], source: JudgmentSource, signs: int = SHORT_QUERY) -> Rankings:
    """Make Rankings that also say what was assumed about labels, unless a text has several ids."""
    if signs & SHORT_QUERY:
        refuse_several_ids(source)
    if assumed:
        source.assumed += assumed
    return Rankings(source, GIVEN)


def _refuse_no_users(truth: IdLists | JudgmentSets, names: tuple[str, str]) -> None:
    """Refuse recommendations without users beside relevant ids that have some."""
    queries = truth.query_ids if isinstance(truth, JudgmentSets) else truth[0]
    if len(queries):
        advice = f"[[] for _ in {names[0]}]" if type(queries) is range else f"{{query: [] for query in {names[0]}}}"
        raise ValueError(f"{names[1]} is empty: if nothing was recommended to any user, write {advice}")


def _names(
    users: Sequence[Any], judgments: JudgmentSets, query_ids: Iterable[Hashable] | None, name: str
) -> tuple[Sequence[Any], Iterable[Hashable] | None]:
    """Return user ids that match those in the judgments, and `query_ids` unless they were used as the user ids."""
    if type(users) is not range:
        return users, query_ids
    if type(judgments.query_ids) is not range:
        if query_ids is None:
            raise ValueError(f"{judgments.name} has keys and {name} has none: give the keys of its rows as query_ids")
        return check_query_ids(query_ids, len(users)), None
    if len(users) != len(judgments.query_ids):
        raise ValueError(f"{name} has {len(users)} users, and {judgments.name} has {len(judgments.query_ids)}")
    return users, query_ids
