"""`from_scores`: make Rankings from scores and labels, as in learning to rank."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from rankgain.choices import ScoreTies
from rankgain.data.advice.group_sizes import refuse_other_sizes, refuse_value_counts
from rankgain.data.advice.swapped import pairs_in_lists, remark_if_swapped
from rankgain.data.advice.zeros import remarks_on_zero_scores
from rankgain.data.arrays import array_of, check_id, check_unmasked, warn_of_column
from rankgain.data.column_names import is_pandas, is_series
from rankgain.data.given import has_documents
from rankgain.data.groups import numbers_of_integers, order_of
from rankgain.data.judgments import Judgments
from rankgain.data.lists import ListSource
from rankgain.data.ragged import RaggedArray, check_judged, flat_numbers, offsets_of, unmasked
from rankgain.data.rules import rules_of
from rankgain.data.series import paired_rows
from rankgain.data.source import check_query_ids
from rankgain.data.sparse import Csr, is_sparse
from rankgain.errors import REQUIRED, NoKeywords, unexpected, without_unknown
from rankgain.inputs.matrix import mask_of, matrix_source
from rankgain.rankings import Rankings
from rankgain.scalars import Array, Int32s, Ints

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@without_unknown
def from_scores(
    y_true: ArrayLike | Csr | Judgments,
    y_score: ArrayLike = REQUIRED,
    *,
    group_sizes: ArrayLike | None = None,
    qid: ArrayLike | Sequence[Hashable] | None = None,
    judged: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    exclude: Csr | None = None,
    ties: ScoreTies = "average",
    query_ids: Iterable[Hashable] | None = None,
    **unknown: Unpack[NoKeywords],
) -> Rankings:
    """Make Rankings from arrays that hold the scores and the grades of the same documents.

    Parameters
    ----------
    y_true : array_like, sparse matrix or Judgments
        Grades, finite and not negative, in any real dtype: 1-D, 2-D with one row per query, or a list of lists of any
        lengths. Or a sparse matrix of users × items in CSR format, such as the held-out items of a test set, or the
        `judgments` of one: stored values are grades (0: judged, not relevant; negative: pooled but unjudged), all other
        columns are unjudged.
    y_score : array_like
        Scores of the same documents, in the same shape; higher is better. ±inf is allowed, NaN is not. float32 and
        float64 are read as they are; other dtypes are converted to float64, in which integers beyond 2**53 may tie.
        If `y_true` is sparse, a matrix of the same shape, whose rows may have any stride.
    group_sizes : array_like of int, optional
        For flat (1-D) arrays: the number of documents of each query, in the order of the queries. 0 is allowed. Beside
        `qid`, it must state the same queries.
    qid : array_like of hashable, optional
        For flat (1-D) arrays: the query of each document, contiguous or not. Queries come in the order in which they
        first appear, and their ids become `query_ids`.
    judged : array_like, optional
        The grades of all judged documents of each query, scored or not: 1-D for one query, else one list per query. By
        default, `y_true` is assumed to contain all of them.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `y_score`. By default, every entry is a document.
    exclude : sparse matrix, optional
        The columns to leave out in each row of a matrix of scores, such as the items seen in training: a sparse matrix
        in CSR format, of the same shape, whose stored entries count whatever their value. These columns are not
        documents: their scores are not read (NaN is allowed there), and their grades in `y_true` are ignored;
        `Evaluation.counts` has the number of such grades of a sparse `y_true`. By default, none.
    ties : {"average", "stable", "best", "worst"}, default "average"
        The order of documents of equal score.

        - ``"average"``: the expected value over all orders of the tied documents, in closed form.
        - ``"stable"``: the order of the input.
        - ``"best"``, ``"worst"``: the highest or the lowest gain first (the grade, for metrics of relevant documents).
    query_ids : iterable of hashable, optional
        One name per query, all different. By default, the ids of `qid`, or else the positions 0, 1, 2 …

    Returns
    -------
    Rankings
        With one query for 1-D arrays without `group_sizes` and `qid`; with one per row for 2-D arrays and lists of
        lists; with one per group otherwise.

    Raises
    ------
    ValueError
        If `y_true` and `y_score` do not hold the same documents, or their labels contradict each other; if
        `group_sizes` and `qid` are given and disagree; if `group_sizes` has a negative entry, does not add up to the
        number of documents, or is a Series in the order of ``value_counts()``; if an id of `qid` is NaN or missing; if
        `judged` or `query_ids` holds another number of queries; if `mask` or `exclude` has another shape; if both are
        given; if a sparse matrix has unsorted or repeated columns, or is given beside anything but a matrix of scores;
        or if `ties` is unknown or ``"docid"`` (bare scores have no ids). In `Rankings.evaluate`, if a score is NaN, if
        a grade is NaN, infinite or, unless `y_true` is sparse, negative, or if `judged` lacks grades that were
        returned.
    TypeError
        If a value is not a number or an array of numbers, if `group_sizes` holds anything but integers, if `mask` does
        not hold booleans, if an id is not hashable, if a Series has an index of queries and documents, for which there
        is `from_frames`, if a sparse matrix is not in CSR format, if `group_sizes`, `qid`, `judged` or `mask` is given
        with a sparse `y_true`, or if `y_score` is sparse.

    Warns
    -----
    UserWarning
        If the arrays have the shape (n, 1): these are n queries of one document each.

    See Also
    --------
    from_ranked : The same for documents that are in rank order already.
    from_frames : Labels and scores in the columns of a data frame.
    scorer : A metric of scores for scikit-learn's searches and cross-validations.

    Notes
    -----
    pandas Series and frames (`y_true`, `y_score`, `qid`) are paired by their labels. Equal indexes are paired by
    position. Labels of the same set that have a name or are not integers are paired by label, in the order of `y_true`.
    Unnamed integers may be positions, so the same ones in another order raise a ValueError that shows what to write, as
    do other labels that contradict each other. If one side has the default index and the other has other labels, they
    are paired by position, and `Evaluation.assumed` says so. ``.to_numpy()`` drops the labels.

    Where m tied documents with the gains x start at rank a, of which t = min(max(k - a + 1, 0), m) are within the
    cut-off, ``ties="average"`` lets them contribute to DCG@k::

        (Σ x) / m · (d(a) + … + d(a + t - 1))

    and in the same way to the other metrics that have such an expected value. Metrics without one (see `metric`) are
    refused under ``"average"``.

    References
    ----------
    F. McSherry and M. Najork, "Computing information retrieval performance measures efficiently in the presence of tied
    scores", ECIR 2008.

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.from_scores([[0, 2], [1, 0]], [[0.2, 0.9], [0.1, 0.7]]).evaluate("rr")["rr"].tolist()
    [1.0, 0.5]

    Flat arrays with group sizes, or with a query id per document:

    >>> rankings = rg.from_scores([0, 2, 1, 1, 0], [0.2, 0.9, 0.9, 0.1, 0.7], group_sizes=[3, 2])
    >>> rankings.evaluate("ndcg")["ndcg"].round(4).tolist()
    [0.9299, 0.6309]
    >>> rg.from_scores([0, 2, 1, 1, 0], [0.2, 0.9, 0.9, 0.1, 0.7], qid=["a", "a", "a", "b", "b"]).query_ids
    ['a', 'b']

    Scores of all items with a sparse matrix of held-out items; items seen in training do not count:

    >>> from scipy.sparse import csr_array
    >>> test, train = csr_array([[0, 1, 0, 1]]), csr_array([[1, 0, 0, 0]])
    >>> rg.from_scores(test, [[0.9, 0.8, 0.3, 0.1]], exclude=train).evaluate("recall@2", "rr").mean()
    {'recall@2': 0.5, 'rr': 1.0}
    """
    if unknown:
        raise unexpected(from_scores, unknown)
    if y_score is REQUIRED:
        raise TypeError("from_scores() needs the scores: write from_scores(y_true, y_score)")
    rules = rules_of(ties, ids=False)
    if isinstance(y_true, Judgments) or is_sparse(y_true):
        given = {"group_sizes": group_sizes, "qid": qid, "judged": judged, "mask": mask}
        for name, value in given.items():
            if value is not None:
                raise TypeError(f"{name}: {_BESIDE_SPARSE[name]}: write from_scores(y_true, y_score, exclude=...)")
        return Rankings(matrix_source(y_true, y_score, exclude, query_ids), rules)
    assumed: tuple[str, ...] = ()
    if not (type(y_true) in _WITHOUT_LABELS and type(y_score) in _WITHOUT_LABELS):
        others = {"group_sizes": group_sizes, "judged": judged, "mask": mask, "exclude": exclude}
        y_true, y_score, qid, assumed = _by_labels(y_true, y_score, qid, others)
    labels, scores, names = beside_scores(y_true, y_score, group_sizes, qid)
    query_ids, named = (names, "qid") if query_ids is None else (query_ids, "query_ids")
    if exclude is not None:
        if mask is not None:
            raise ValueError("give exclude or mask, not both: mask=mask & (exclude.toarray() == 0)")
        if group_sizes is not None or qid is not None or not scores.columns or scores.single:
            raise ValueError("exclude needs a matrix of scores, one row per query: of other forms, drop the documents")
        mask = mask_of(exclude, (scores.count, scores.columns))
    labels, scores = unmasked(mask, labels, scores)
    truth = None if judged is None else check_judged(judged, labels)
    source = ListSource(labels, scores, truth, check_query_ids(query_ids, labels.count, named))
    if mask is None:
        assumed += remarks_on_zero_scores(labels, scores)
    if scores.kind != "f":
        pairs = pairs_in_lists(labels, scores)
        assumed += remark_if_swapped(pairs, "y_true", "y_score", "from_scores(y_true, y_score)")
    source.assumed = assumed
    return Rankings(source, rules)


_WITHOUT_LABELS = frozenset((np.ndarray, list, tuple))


def _by_labels(y_true: Any, y_score: Any, qid: Any, others: Mapping[str, Any]) -> tuple[Any, Any, Any, tuple[str, ...]]:
    """Pair pandas objects by the rules for labels; also return what was assumed."""
    values = {"y_true": y_true, "y_score": y_score, "qid": qid}
    labelled = [name for name, value in values.items() if is_series(value) or is_pandas(value)]
    for name in labelled:
        if qid is None and others["group_sizes"] is None and is_series(values[name]) and has_documents(values[name]):
            raise TypeError(
                f"{name} is a Series with an index of queries and documents: write from_frames(y_true, y_score), or "
                f"pass qid={name}.index.get_level_values(0)"
            )
    by_position = [name for name, value in {**values, **others}.items() if value is not None and name not in labelled]
    if len(labelled) < 2:
        return y_true, y_score, qid, ()
    rows, assumed = paired_rows(values, by_position)
    return rows["y_true"], rows["y_score"], rows["qid"], assumed


_BESIDE_SPARSE = {
    "group_sizes": "the rows of a sparse y_true are the queries",
    "qid": "the rows of a sparse y_true are the queries, and query_ids= names them",
    "judged": "a sparse y_true has all judged items",
    "mask": "beside a sparse y_true, exclude= takes the columns to leave out, as a sparse matrix",
}


def rankings_of_scores(
    y_true: Any, y_score: Any, group_sizes: Any = None, qid: Any = None, ties: ScoreTies = "average"
) -> Rankings:
    """Like `from_scores`, but without the warning about swapped arguments.

    Callbacks and drop-in replacements need no such warning, because the order of their arguments is fixed.
    """
    rules = rules_of(ties, ids=False)
    labels, scores, names = beside_scores(y_true, y_score, group_sizes, qid)
    return Rankings(ListSource(labels, scores, None, check_query_ids(names, labels.count)), rules)


def beside_scores(
    y_true: Any, y_score: Any, group_sizes: Any, qid: Any
) -> tuple[RaggedArray, RaggedArray, list[Any] | None]:
    """Return the labels and the scores, both grouped by query, and the query ids if `qid` is given."""
    if group_sizes is None and qid is None:
        labels, scores = RaggedArray.of(y_true, "y_true"), RaggedArray.of(y_score, "y_score")
        _check_same_shape(labels, scores)
        if scores.columns == 1:
            warn_of_column(y_score, "y_score", ".ravel() both, and give qid= or group_sizes=")
        return labels, scores, None
    where = "with group_sizes= or qid= (of a padded matrix, give mask= instead)"
    flat_labels, flat_scores = flat_numbers(y_true, "y_true", where), flat_numbers(y_score, "y_score", where)
    if len(flat_labels) != len(flat_scores):
        raise ValueError(f"y_true has {len(flat_labels)} documents, and y_score has {len(flat_scores)}")
    order, names = None, None
    if qid is None:
        if is_series(group_sizes):
            refuse_value_counts(group_sizes)
        offsets = _from_sizes(group_sizes, len(flat_scores))
    else:
        offsets, order, names = _from_qid(qid, len(flat_scores))
        if group_sizes is not None:
            by_size = np.diff(_from_sizes(group_sizes, len(flat_scores)))
            refuse_other_sizes(group_sizes, by_size, np.diff(offsets), are_contiguous=order is None)
    labels = RaggedArray("y_true", offsets, values=flat_labels, order=order)
    return labels, RaggedArray("y_score", offsets, values=flat_scores, order=order), names


def _check_same_shape(labels: RaggedArray, scores: RaggedArray) -> None:
    if labels.count != scores.count or labels.single != scores.single:
        raise ValueError(
            f"y_true has {_shape(labels)}, and y_score has {_shape(scores)}: they must hold the same documents"
        )
    if labels.columns and labels.columns == scores.columns:
        return
    different = np.flatnonzero(labels.sizes != scores.sizes)
    if len(different):
        query = int(different[0])
        raise ValueError(
            f"query {query}: y_true has {labels.sizes[query]} documents, and y_score has {scores.sizes[query]}"
        )


def _shape(lists: RaggedArray) -> str:
    return "one list (1-D)" if lists.single else f"{len(lists)} lists"


def _from_sizes(group_sizes: Any, documents: int) -> Ints:
    sizes = flat_numbers(group_sizes, "group_sizes")
    if sizes.dtype.kind not in "iu" and len(sizes):
        raise TypeError(f"group_sizes must hold integers, not {sizes.dtype}")
    if len(sizes) and int(sizes.min()) < 0:
        position = int(np.flatnonzero(sizes < 0)[0])
        raise ValueError(f"group_sizes: position {position}: {sizes[position]} is negative")
    if sum(sizes.tolist()) != documents:
        raise ValueError(f"group_sizes add up to {sum(sizes.tolist())}, and y_score has {documents} documents")
    return offsets_of(sizes.astype(np.int64))


def _from_qid(qid: Any, documents: int) -> tuple[Ints, Array | None, list[Any]]:
    """Return the query offsets, the row indices sorted by query (None if already sorted), and the query ids."""
    ids = _ids(qid)
    if ids.ndim != 1 or len(ids) != documents:
        raise ValueError(f"qid has the shape {ids.shape}, and y_score has {documents} documents: give one id for each")
    if ids.dtype.kind in "fmM" and len(missing := np.flatnonzero(ids != ids)):
        raise ValueError(f"qid: position {int(missing[0])}: the id is {'NaN' if ids.dtype.kind == 'f' else 'NaT'}")
    if ids.dtype.kind in "biu":
        # Viewed as int64, large unsigned integers become negative, but distinct ids remain distinct.
        firsts, sizes, numbers = numbers_of_integers(ids.view(np.int64) if ids.dtype.itemsize == 8 else ids)
        names = ids[firsts].tolist()
    else:
        names, sizes, numbers = _numbered(ids)
    offsets = offsets_of(sizes)
    return offsets, None if numbers is None else order_of(numbers, offsets[:-1]), names


def _numbered(ids: Array) -> tuple[list[Any], Ints, Int32s | None]:
    """Like `numbers_of_integers`, but return the distinct ids instead of the row in which each id first occurs."""
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])[: len(ids)])
    names = ids[starts].tolist()  # one name for each sequence of equal ids
    number_of = {name: number for number, name in enumerate(dict.fromkeys(names))}
    runs = np.diff(starts, append=len(ids))
    if len(number_of) == len(names):
        return names, runs, None
    numbers = np.fromiter(map(number_of.__getitem__, names), np.int32, len(names))
    sizes = np.bincount(numbers, weights=runs).astype(np.int64)
    return list(number_of), sizes, np.repeat(numbers, runs)


def _ids(qid: Any) -> Array:
    """Return the ids as an array that preserves their types. NumPy would convert mixed lists to text or floats."""
    check_unmasked(qid, "qid")
    ids = None if isinstance(qid, (list, tuple)) else array_of(qid, "qid")
    if ids is None:
        ids = np.empty(len(qid), dtype=object)
        ids[:] = qid
    if ids.dtype == object:
        for position, identifier in enumerate(ids.flat):
            check_id(identifier, f"qid: position {position}")
    return ids
