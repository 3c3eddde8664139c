"""Relevance already in rank order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from rankgain.data.lists import ListSource
from rankgain.data.ragged import RaggedArray, check_judged
from rankgain.data.rules import GIVEN
from rankgain.data.source import check_query_ids
from rankgain.rankings import Rankings


def from_ranked(
    relevance: Any, *, judged: Any = None, mask: Any = None, query_ids: Iterable[Hashable] | None = None
) -> Rankings:
    """Rankings from the grades of the returned documents, in rank order.

    Parameters
    ----------
    relevance : array_like
        Grades, finite and not negative: 1-D for one query, 2-D or a list of lists of any lengths for many.
    judged : array_like, optional
        The grades of all judged documents of each query, in any order, returned or not: 1-D for one query, else a
        list for each. None: the returned list holds them all.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`; None: all are documents.
    query_ids : iterable, optional
        Names of the queries; None: 0, 1, 2 …

    Returns
    -------
    Rankings

    Raises
    ------
    ValueError, TypeError
        For a wrong shape, length or type here; for NaN, infinite or negative grades, or a `judged` that lacks what
        was returned, in `evaluate`.

    Examples
    --------
    >>> import rankgain as rg
    >>> rankings = rg.from_ranked([[3, 2, 3, 0, 1, 2], [0, 1]], query_ids=["a", "b"])
    >>> rankings.evaluate("ndcg@3")["ndcg@3"].round(4).tolist()
    [0.9778, 0.6309]
    """
    lists = RaggedArray.of(relevance, "relevance").unmasked(mask)
    truth = check_judged(judged, lists)
    return Rankings(ListSource(lists, None, truth, check_query_ids(query_ids, len(lists))), GIVEN)
