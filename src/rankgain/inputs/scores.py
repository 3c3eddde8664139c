"""Scores beside labels: what models give and learning-to-rank data hold."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from rankgain.data.arrays import array_of, check_id, check_unmasked
from rankgain.data.lists import ListSource
from rankgain.data.ragged import RaggedArray, check_judged, flat_numbers, offsets_of
from rankgain.data.rules import rules_of
from rankgain.data.source import check_query_ids
from rankgain.rankings import Rankings
from rankgain.scalars import Array, Ints


def from_scores(
    y_true: Any,
    y_score: Any,
    *,
    group_sizes: Any = None,
    qid: Any = None,
    judged: Any = None,
    mask: Any = None,
    ties: str = "average",
    query_ids: Iterable[Hashable] | None = None,
) -> Rankings:
    """Rankings from the scores of documents and their grades, side by side.

    Parameters
    ----------
    y_true : array_like
        Grades, finite and not negative.
    y_score : array_like
        Scores, higher is better; ±inf is legal, NaN is not. float32 and float64 are used as they are, others are
        converted to float64 (so integers beyond 2**53 may tie).
    group_sizes : array_like of int, optional
        For flat arrays: the number of documents of each query, one query after the other.
    qid : array_like, optional
        For flat arrays: the query of each document, contiguous or not; the queries come in the order in which they
        first appear, and their ids become `query_ids`.
    judged : array_like, optional
        The grades of all judged documents of each query, scored or not; None: those of `y_true`.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `y_score`; None: all are documents.
    ties : {"average", "stable", "best", "worst"}
        How documents of equal score are ordered: the expected value over all their orders, input order, highest grade
        first, or lowest first.
    query_ids : iterable, optional
        Names of the queries; None: 0, 1, 2 …

    Returns
    -------
    Rankings
        Of one query for 1-D arrays without `group_sizes` or `qid`; of one a row for 2-D arrays or lists of lists.

    Raises
    ------
    ValueError, TypeError
        For shapes, lengths and types that do not fit here; for what the contents may not be, in `evaluate`.

    References
    ----------
    McSherry & Najork, Computing information retrieval performance measures efficiently in the presence of tied scores,
    ECIR 2008.

    Examples
    --------
    >>> import rankgain as rg
    >>> rankings = rg.from_scores([0, 2, 1, 1, 0], [0.2, 0.9, 0.9, 0.1, 0.7], group_sizes=[3, 2])
    >>> rankings.evaluate("ndcg")["ndcg"].round(4).tolist()
    [0.9299, 0.6309]
    """
    rules = rules_of(ties, ids=False)
    if group_sizes is not None and qid is not None:
        raise ValueError("give group_sizes or qid, not both")
    if group_sizes is None and qid is None:
        labels, scores = RaggedArray.of(y_true, "y_true"), RaggedArray.of(y_score, "y_score")
        _check_same_shape(labels, scores)
    else:
        flat_labels, flat_scores = flat_numbers(y_true, "y_true"), flat_numbers(y_score, "y_score")
        if len(flat_labels) != len(flat_scores):
            raise ValueError(f"y_true has {len(flat_labels)} documents, and y_score has {len(flat_scores)}")
        order, names = None, None
        if qid is None:
            offsets = _from_sizes(group_sizes, len(flat_scores))
        else:
            offsets, order, names = _from_qid(qid, len(flat_scores))
        labels = RaggedArray("y_true", offsets, values=flat_labels, order=order)
        scores = RaggedArray("y_score", offsets, values=flat_scores, order=order)
        query_ids = names if query_ids is None else query_ids
    if mask is not None:
        labels, scores = labels.unmasked(mask), scores.unmasked(mask)
    truth = None if judged is None else check_judged(judged, labels)
    return Rankings(ListSource(labels, scores, truth, check_query_ids(query_ids, labels.count)), rules)


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
    """Offsets, the order that brings each query together (None: they are), and the ids by first appearance."""
    ids = _ids(qid)
    if ids.ndim != 1 or len(ids) != documents:
        raise ValueError(f"qid has the shape {ids.shape}, and y_score has {documents} documents: give one id for each")
    missing = np.flatnonzero(ids != ids)
    if ids.dtype.kind in "fmM" and len(missing):
        raise ValueError(f"qid: position {int(missing[0])}: the id is {'NaN' if ids.dtype.kind == 'f' else 'NaT'}")
    changes = np.flatnonzero(ids[1:] != ids[:-1]) + 1
    starts = np.concatenate([[0], changes]) if len(ids) else np.empty(0, np.int64)
    names = ids[starts.astype(np.intp)].tolist()
    if len(set(names)) == len(names):
        return offsets_of(np.diff(np.append(starts, len(ids)))), None, names
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    runs = np.diff(np.append(starts, len(ids)))
    query = np.repeat(np.array([numbers[name] for name in names]), runs)
    return offsets_of(np.bincount(query)), np.argsort(query, kind="stable"), list(numbers)


def _ids(qid: Any) -> Array:
    """The ids as an array that leaves each what it is: NumPy would make text or floats of mixed lists."""
    check_unmasked(qid, "qid")
    ids = None if isinstance(qid, (list, tuple)) else array_of(qid, "qid")
    if ids is None:
        ids = np.empty(len(qid), dtype=object)
        ids[:] = qid
    if ids.dtype == object:
        for position, identifier in enumerate(ids.flat):
            check_id(identifier, f"qid: position {position}")
            if _is_missing(identifier):
                raise ValueError(f"qid: position {position}: the id is NaN or missing")
    return ids


def _is_missing(identifier: Any) -> bool:
    """Whether it is NaN, or another of those that are not equal to themselves."""
    try:
        return bool(identifier != identifier)
    except TypeError:  # pandas' NA will not say
        return True
