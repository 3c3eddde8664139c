"""The overlap of two ranked lists at every depth, and the metrics that are computed from it.

Queries are computed in blocks, as matrices in which each row is a query and column d is depth d.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankgain.metrics.metric import Metric
from rankgain.scalars import Array, Floats, Ints

_ROUNDING = 1e-9  # smaller numbers of documents are rounding errors of sums of shares
QUERY_BLOCK = 1 << 18  # number of values per matrix; larger ones do not fit in the cache


class RankedPairs(NamedTuple):
    """The old and the new list of each query: their lengths, and the documents that both have.

    Shared document i belongs to query `query[i]` and has the ranks old_first[i] … old_last[i] in the old list and
    new_first[i] … new_last[i] in the new one: a single rank unless ties are averaged. `row` is its row in the old run.
    """

    old_size: Ints
    new_size: Ints
    query: Ints
    row: Ints
    old_first: Ints
    old_last: Ints
    new_first: Ints
    new_last: Ints

    def block(self, start: int, stop: int) -> RankedPairs:
        """Return the pairs of queries start … stop − 1, which are numbered from 0. Pairs are sorted by query."""
        shared = slice(*np.searchsorted(self.query, (start, stop)))
        query, *columns = (column[shared] for column in self[2:])
        return RankedPairs(self.old_size[start:stop], self.new_size[start:stop], query - start, *columns)


class Sizes(NamedTuple):
    """The lengths of both lists of each query to a cut-off, and the length of the shorter and the longer one."""

    old: Ints
    new: Ints
    shorter: Ints
    longer: Ints

    @classmethod
    def of(cls, pairs: RankedPairs, depth: int) -> Sizes:
        old, new = np.minimum(pairs.old_size, depth), np.minimum(pairs.new_size, depth)
        return cls(old, new, np.minimum(old, new), np.maximum(old, new))


def similarities(metrics: Sequence[Metric], pairs: RankedPairs) -> dict[Metric, Floats]:
    """Return the value of each query for metrics other than `knn_recall`."""
    values = {metric: np.empty(len(pairs.old_size)) for metric in metrics}
    depth = max((metric.depth for metric in metrics), default=0)
    for start, stop in _blocks(Sizes.of(pairs, depth).longer):
        block = pairs.block(start, stop)
        overlaps = expected_overlaps(block, int(Sizes.of(block, depth).longer.max(initial=1)))
        for metric, vector in values.items():
            vector[start:stop] = _value(metric, block, overlaps)
    return values


def _blocks(lengths: Ints) -> Iterator[tuple[int, int]]:
    """Yield ranges of queries whose matrix, as wide as the longest list, has at most `BLOCK` values if possible."""
    start, longest = 0, 1
    for query, length in enumerate(lengths.tolist()):
        longest = max(longest, length)
        if query > start and (query + 1 - start) * longest > QUERY_BLOCK:
            yield start, query
            start, longest = query, max(length, 1)
    if start < len(lengths):
        yield start, len(lengths)


def expected_overlaps(pairs: RankedPairs, depth: int) -> Floats:
    """Return the number of documents in both first d, for d from 0 to `depth`, averaged over all orders of ties.

    The expectation is Σ c_old(d)·c_new(d) over the shared documents, where c is the share of a document's tie group
    that is above the cut. At each depth, at most one group of each list is cut. It is therefore sufficient to count the
    documents by which of their two groups are cut.
    """
    queries = len(pairs.old_size)

    def counts(start: Array, stop: Array | None = None) -> Array:
        """Return how many documents have start ≤ d < stop."""
        changes = np.zeros((queries, depth + 2), dtype=np.int64)
        begins = slice(None) if stop is None else start < stop
        for end, step in ((start, 1), (stop, -1)):
            if end is not None:
                index = pairs.query[begins] * (depth + 2) + np.minimum(end[begins], depth + 1)
                changes += step * np.bincount(index, minlength=changes.size).reshape(changes.shape)
        total: Array = np.cumsum(changes[:, : depth + 1], axis=1)
        return total

    def shares(first: Array, last: Array) -> Floats:
        """Return the share of the tie group that began last which is above the cut."""
        begins, sizes = (np.zeros((queries, depth + 2), dtype=np.int64) for _ in range(2))
        place = pairs.query, np.minimum(first, depth + 1)
        begins[place], sizes[place] = place[1], last - first + 1
        begins = np.maximum.accumulate(begins, axis=1)[:, : depth + 1]
        ranks: Floats = np.arange(1.0, depth + 2.0) - begins
        part: Floats = ranks / np.maximum(np.take_along_axis(sizes, begins, axis=1), 1)
        return part

    _, _, _, _, old_first, old_last, new_first, new_last = pairs
    overlaps: Floats = counts(np.maximum(old_last, new_last)).astype(np.float64)
    if np.array_equal(old_first, old_last) and np.array_equal(new_first, new_last):
        return overlaps
    old_share, new_share = shares(old_first, old_last), shares(new_first, new_last)
    overlaps += counts(np.maximum(old_first, new_last), old_last) * old_share
    overlaps += counts(np.maximum(new_first, old_last), new_last) * new_share
    both = counts(np.maximum(old_first, new_first), np.minimum(old_last, new_last))
    result: Floats = overlaps + both * old_share * new_share
    return result


def _value(metric: Metric, pairs: RankedPairs, overlaps: Floats) -> Floats:
    sizes = Sizes.of(pairs, metric.depth)
    if metric.name in ("rbo", "rbo_ext"):
        return _rank_biased(overlaps, sizes, metric.p, extrapolates=metric.name == "rbo_ext")
    if metric.name == "unchanged":
        same = (pairs.old_first == pairs.new_first) & (pairs.old_first <= metric.depth)
        equal = np.bincount(pairs.query[same], minlength=len(sizes.longer)) == sizes.longer
        return np.where(equal, 1.0, 0.0)
    shared = overlaps[:, min(metric.depth, overlaps.shape[1] - 1)]
    return _ratio(shared, sizes.longer if metric.name == "overlap" else sizes.old + sizes.new - shared)


def _ratio(part: Floats, whole: Array) -> Floats:
    """Return part / whole, and 1 for two empty lists."""
    return np.divide(part, whole, out=np.ones(len(part)), where=whole > 0)


def _rank_biased(overlaps: Floats, sizes: Sizes, p: float, *, extrapolates: bool) -> Floats:
    """Return the weighted mean of the agreement at each depth (Webber, Moffat & Zobel 2010, equation 32).

    Weights are added in the same order as the weighted values, so that equal lists have exactly the value 1. Without
    `extrapolates`, a shorter list has no documents beyond its end.
    """
    longest = int(sizes.longer.max(initial=1))
    queries, depths = np.arange(len(overlaps)), np.arange(1.0, longest + 1.0)
    shared = overlaps[:, 1 : longest + 1]
    if extrapolates:
        agreement = overlaps[queries, sizes.shorter] / np.maximum(sizes.shorter, 1)
        shared = shared + agreement[:, None] * np.maximum(depths - sizes.shorter[:, None], 0.0)
    agreements = shared / depths
    factors = np.full(longest + 1, p)
    factors[0] = 1.0 - p
    weights = np.multiply.accumulate(factors)
    last = np.maximum(sizes.longer, 1) - 1
    beyond = weights[last + 1] / (1.0 - p)  # the sum of the weights of all deeper ranks
    sums = np.add.accumulate(weights[:-1] * agreements, axis=1)[queries, last] + beyond * agreements[queries, last]
    values: Floats = sums / (np.add.accumulate(weights[:-1])[last] + beyond)
    values[sizes.shorter == 0] = 0.0
    values[sizes.longer == 0] = 1.0
    return values


def knn_recall(
    metric: Metric, pairs: RankedPairs, old: Sequence[Floats], new: Sequence[Floats] | None
) -> tuple[Floats, int]:
    """Return the recall of the new list of each query, and in how many queries `old` ends within a tie.

    `old` and `new` hold the scores of each query, `old` in the order of the rows. Those of `new` are needed to judge
    the documents that `old` does not list.
    """
    k = metric.depth
    highest_first = [np.sort(scores)[::-1] for scores in old]
    thresholds = np.array([s[min(k, len(s)) - 1] - metric.tolerance if len(s) else np.inf for s in highest_first])
    shares = np.clip((k - pairs.new_first + 1) / (pairs.new_last - pairs.new_first + 1), 0.0, 1.0)

    def total(right: Array) -> Floats:
        return np.bincount(pairs.query[right], shares[right], minlength=len(old)).astype(np.float64)

    scores_of_rows = np.concatenate([np.empty(0), *old])
    right = total(scores_of_rows[pairs.row] >= thresholds[pairs.query])
    unlisted = np.zeros(len(old))
    if new is not None:
        # Of the documents whose new score reaches the threshold, `old` lists all but these.
        ranked = [np.sort(scores)[::-1] for scores in new]
        reaching = [np.searchsorted(-s, -least, side="right") for s, least in zip(ranked, thresholds, strict=True)]
        by_rank, offsets = np.concatenate([np.empty(0), *ranked]), np.cumsum([0, *map(len, ranked)])
        listed = total(by_rank[offsets[pairs.query] + pairs.new_first - 1] >= thresholds[pairs.query])
        unlisted = np.minimum(reaching, k) - listed
        unlisted[unlisted < _ROUNDING] = 0.0
    is_judged = metric.scores == "new"
    if is_judged:
        right = right + unlisted
    sizes = np.minimum(pairs.old_size, k)
    values = np.where(sizes > 0, np.minimum(right, sizes) / np.maximum(sizes, 1), pairs.new_size == 0)
    return values.astype(np.float64), 0 if is_judged else int(np.count_nonzero(unlisted))
