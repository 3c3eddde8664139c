"""`from_ranked`: make Rankings from grades that are already in rank order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Unpack

from rankgain.data.lists import ListSource
from rankgain.data.ragged import RaggedArray, check_judged, unmasked
from rankgain.data.rules import GIVEN
from rankgain.data.source import check_query_ids
from rankgain.errors import NoKeywords, unexpected, without_unknown
from rankgain.rankings import Rankings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@without_unknown
def from_ranked(
    relevance: ArrayLike,
    *,
    judged: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    query_ids: Iterable[Hashable] | None = None,
    **unknown: Unpack[NoKeywords],
) -> Rankings:
    """Make Rankings from the grades of the returned documents, in rank order.

    Parameters
    ----------
    relevance : array_like
        Grades in rank order, finite and not negative: 1-D for one query; 2-D, or a list of lists of any lengths, for
        many queries.
    judged : array_like, optional
        The grades of all judged documents of each query, in any order, returned or not: 1-D for one query, else one
        list per query. By default, the returned list is assumed to contain all of them.
    mask : array_like of bool, optional
        True for a document, False for padding, in the shape of `relevance`. By default, every entry is a document.
    query_ids : iterable of hashable, optional
        One name per query, all different. By default, the positions 0, 1, 2 …

    Returns
    -------
    Rankings
        With one query for 1-D input, else with one query per row.

    Raises
    ------
    ValueError
        If an array has more than two dimensions, `judged` or `query_ids` has a different number of queries than
        `relevance`, or `mask` has another shape. In `Rankings.evaluate`, if a grade is NaN, infinite or negative, or
        `judged` lacks grades that were returned.
    TypeError
        If a value is not a number or an array of numbers, `mask` does not hold booleans, or a query id is not
        hashable.

    See Also
    --------
    ndcg, mrr : Single metrics of the same input, without a handle.
    from_scores : Rankings from scores beside labels.

    Examples
    --------
    >>> import rankgain as rg
    >>> rankings = rg.from_ranked([[3, 2, 3, 0, 1, 2], [0, 1]], query_ids=["a", "b"])
    >>> rankings.evaluate("ndcg@3")["ndcg@3"].round(4).tolist()
    [0.9778, 0.6309]
    """
    if unknown:
        raise unexpected(from_ranked, unknown)
    (lists,) = unmasked(mask, RaggedArray.of(relevance, "relevance"))
    truth = check_judged(judged, lists)
    return Rankings(ListSource(lists, None, truth, check_query_ids(query_ids, len(lists))), GIVEN)
