"""TorchMetrics' retrieval metrics with a faster `compute` method; only the import needs to be changed.

Each class is a subclass of the class of the same name in `torchmetrics.retrieval`. It replaces only `compute`, which is
a Python loop over queries in TorchMetrics; arguments, errors, `update`, `forward`, states, devices, synchronisation,
pickles and collections are inherited. The values agree with those of the installed release (1.3 or later) to float32
precision, and documents of equal score are in torch's order. `RetrievalPrecisionRecallCurve` and
`RetrievalRecallAtFixedPrecision` are re-exported, so that one changed import is enough.

TorchMetrics' loop is used in cases that only it defines: if `_metric` is overridden, if labels are not 0 or 1 (for
nDCG: if they are negative or not finite), if a number is NaN, or if `top_k` or `max_fpr` is out of range.

This module requires torch and torchmetrics: ``pip install 'rankgain[torchmetrics]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torchmetrics import retrieval as theirs
from torchmetrics.functional import retrieval as functions
from torchmetrics.retrieval import RetrievalPrecisionRecallCurve, RetrievalRecallAtFixedPrecision
from torchmetrics.retrieval.base import RetrievalMetric, _retrieval_aggregate
from torchmetrics.utilities.data import dim_zero_cat

from rankgain.data.groups import numbers_of_integers, order_of
from rankgain.data.ragged import offsets_of
from rankgain.inputs.ranked import from_ranked
from rankgain.inputs.scores import rankings_of_scores
from rankgain.metrics.metric import Metric
from rankgain.metrics.metric import metric as metric_of
from rankgain.metrics.parameters import LARGEST_CUTOFF
from rankgain.results.peers import common_rules
from rankgain.scalars import Array, Bools, Floats, Ints, to_intp

__all__ = [
    "RetrievalAUROC",
    "RetrievalFallOut",
    "RetrievalHitRate",
    "RetrievalMAP",
    "RetrievalMRR",
    "RetrievalNormalizedDCG",
    "RetrievalPrecision",
    "RetrievalPrecisionRecallCurve",
    "RetrievalRPrecision",
    "RetrievalRecall",
    "RetrievalRecallAtFixedPrecision",
]

Tensor = Any
SHORT = 1000  # below this number of documents, TorchMetrics' loop is faster if there are few queries
_AT_ONCE = 1 << 18  # limit on the number of documents that torch sorts in one call, to save memory
_LARGEST_GRADE = 1e30  # grades up to this limit cannot make TorchMetrics' sums or our sums overflow


class _Documents(NamedTuple):
    """The documents of all queries, grouped by query and sorted by the index of the query."""

    scores: Array  # an array of float32
    target: Array
    sizes: Ints
    relevant: Floats  # the sum of the labels of each query

    @property
    def starts(self) -> Ints:
        return offsets_of(self.sizes)[:-1]

    @classmethod
    def of(cls, ids: Array, scores: Array, labels: Array) -> _Documents:
        """Group documents by the index of their query."""
        firsts, sizes, numbers = numbers_of_integers(ids)
        names = ids[firsts]
        if numbers is not None or np.any(names[1:] < names[:-1]):
            rank = np.argsort(names)
            begins = np.empty_like(firsts)
            begins[rank] = offsets_of(sizes[rank])[:-1]
            if numbers is None:
                numbers = np.repeat(np.arange(len(names), dtype=np.int32), to_intp(sizes))
            order, sizes = order_of(numbers, begins), sizes[rank]
            scores, labels = scores[order], labels[order]
        return cls(scores, labels, sizes, np.add.reduceat(labels, to_intp(offsets_of(sizes)[:-1]), dtype=np.float64))


def _joined(parts: Any) -> Tensor:
    """Concatenate the tensors of all updates, or return the tensor of a single update without copying it."""
    return (parts[0] if isinstance(parts, list) and len(parts) == 1 else dim_zero_cat(parts)).detach()


def _integers(indexes: Tensor) -> Tensor:
    """Convert query indexes to integers in the same order, since `set_dtype` may have made them floating-point."""
    return indexes if indexes.dtype is torch.long else torch.unique(indexes, return_inverse=True)[1]


def _readable(target: Tensor) -> Tensor:
    """Convert labels to a type that NumPy supports."""
    return target.float() if target.dtype in (torch.bfloat16, torch.half) else target


class Computed(RetrievalMetric):
    """Base class of all metrics, with a `compute` method that does not loop over queries."""

    _ours: ClassVar[str]  # name of the metric in rankgain
    _unchanged: ClassVar[Callable[..., Any]]  # TorchMetrics' own `_metric` method
    _cutoff: ClassVar[str] = "top_k"  # name of TorchMetrics' attribute for the cut-off, "" if there is none
    _by_topk: ClassVar[bool] = False  # whether TorchMetrics sorts with topk instead of argsort
    _above_zero: ClassVar[bool] = False  # whether documents with a score of 0 or less are never relevant
    _binary: ClassVar[bool] = True  # whether labels must be 0 or 1
    _required: ClassVar[str] = "positive"  # queries without labels of this kind count as empty
    _few: ClassVar[int] = 2  # up to this number of queries, TorchMetrics' loop is faster

    def compute(self) -> Tensor:
        """Compute the metric from all updates, with the same result as TorchMetrics.

        Returns
        -------
        torch.Tensor
            The aggregated value, with the dtype and on the device of the scores.

        Raises
        ------
        ValueError
            If a query is empty and `empty_target_action` is "error".
        """
        indexes = _joined(self.indexes)
        if self._are_few(indexes) or not self._is_ours():
            return super().compute()
        ids = _integers(indexes).cpu().numpy()
        preds, target = _joined(self.preds), _joined(self.target)
        scores, labels = preds.float().cpu().numpy(), _readable(target).cpu().numpy()
        if not self._is_defined(scores, labels):
            return super().compute()
        if self._binary:
            labels = labels.astype(np.uint8)  # needs only an eighth of the memory
        documents = _Documents.of(ids, scores, labels)
        empty = self._is_empty(documents)
        action = self.empty_target_action if empty.any() else ""
        if action == "error":
            raise ValueError(f"`compute` method was provided with a query with no {self._required} target.")
        values = self._values(documents, (indexes, preds, target)).astype(np.float32)
        if action == "skip":
            values = values[~empty]
        elif action:
            values[empty] = action == "pos"
        if not len(values):
            return torch.tensor(0.0).to(preds)
        return _retrieval_aggregate(torch.from_numpy(values).to(preds), self.aggregation)

    def _is_ours(self) -> bool:
        """Return whether `_metric` is not overridden and the cut-off is valid."""
        if getattr(self._metric, "__func__", None) is not type(self)._unchanged:
            return False
        k = getattr(self, self._cutoff, 0) if self._cutoff else None  # 0 if this release lacks the attribute
        return k is None or (type(k) is int and k > 0)

    @property
    def _k(self) -> int | None:
        k: int | None = getattr(self, self._cutoff) if self._cutoff else None
        return k and min(k, LARGEST_CUTOFF)

    def _are_few(self, indexes: Tensor) -> bool:
        """Return whether there are so few queries that TorchMetrics' loop is faster."""
        return self._few > 0 and len(indexes) < SHORT and len(set(indexes.tolist())) <= self._few

    def _is_defined(self, scores: Array, labels: Array) -> bool:
        """Return whether the definition of the metric covers these scores and labels."""
        if np.isnan(scores.min()):
            return False
        if not (labels.min() >= 0 and labels.max() <= (1 if self._binary else _LARGEST_GRADE)):
            return False
        return not self._binary or labels.dtype.kind == "i" or not np.any(labels % 1)

    def _is_empty(self, documents: _Documents) -> Bools:
        return documents.relevant == 0

    def _values(self, documents: _Documents, tensors: tuple[Tensor, ...]) -> Floats:
        """Compute the value of each query.

        `tensors` holds the indexes, scores and labels, which are needed for torch's order of tied documents.
        """
        scores, sizes = documents.scores, documents.sizes
        labels = self._targets(documents.scores, documents.target)
        metric, ties = _metric_and_ties(self._ours, self._k)
        if ties == "average":
            rankings = rankings_of_scores(labels, scores, sizes)
            return rankings.evaluate(metric)[metric]
        rankings = rankings_of_scores(labels, scores, sizes, ties="best")
        probe = self._tie_probe(metric)
        best, worst = rankings.evaluate(metric, probe), rankings.under(ties="worst").evaluate(probe)
        values = best[metric].copy()
        affected = np.flatnonzero(best[probe] != worst[probe])
        for queries, preds, target in _equal_length_batches(documents.sizes, affected, *tensors):
            values[queries] = self._ranked(metric, preds, self._targets(preds, target))
        return self._finished(values, documents, labels)

    def _tie_probe(self, metric: Metric) -> Metric:
        """Return a metric whose best and worst values differ whenever the order of tied documents affects `metric`."""
        return metric

    def _targets(self, preds: Any, target: Any) -> Any:
        """Return the labels, with 0 for documents that cannot be relevant because of their score."""
        return target * (preds > 0) if self._above_zero and preds.min() <= 0 else target

    def _ranked(self, metric: Metric, preds: Tensor, target: Tensor) -> Floats:
        """Compute the metric for each row of a matrix, with documents in torch's order."""
        width = preds.shape[-1]
        if self._by_topk:
            order = preds.topk(min(self._k or width, width), dim=-1)[1]
        else:
            order = torch.argsort(preds, dim=-1, descending=True)
        ranked = target.gather(-1, order)
        return from_ranked(ranked.cpu().numpy(), judged=target.cpu().numpy()).evaluate(metric)[metric]

    def _finished(self, values: Floats, documents: _Documents, labels: Array) -> Floats:
        """Adjust the values to TorchMetrics' divisor. `labels` is the result of `_targets`."""
        return values


@lru_cache(maxsize=64)
def _metric_and_ties(name: str, k: int | None) -> tuple[Metric, str]:
    """Return the rankgain metric that is equivalent to TorchMetrics' metric, and TorchMetrics' rule for ties."""
    key = name if k is None else f"{name}@{k}"
    metrics, rules = common_rules([key], "torchmetrics")
    return metrics[key], str(rules.ties)


def _equal_length_batches(
    sizes: Ints, queries: Ints, indexes: Tensor, preds: Tensor, target: Tensor
) -> Iterator[tuple[Ints, Tensor, Tensor]]:
    """Yield batches of queries that have equally many documents, with matrices of their scores and labels.

    Documents are in the order in which torch sorts the indexes, which is not stable.
    """
    if not len(queries):
        return
    order, starts = torch.sort(indexes)[1], offsets_of(sizes)
    lengths = sizes[queries]
    for length in np.unique(lengths).tolist():
        equally_long = queries[lengths == length]
        step = max(_AT_ONCE // length, 1)
        for first in range(0, len(equally_long), step):
            batch = equally_long[first : first + step]
            rows = order[torch.from_numpy(starts[batch][:, None] + np.arange(length)).to(order.device)]
            yield batch, preds[rows].float(), _readable(target[rows])


def _ignores_scores_up_to_0(function: Callable[..., Any]) -> bool:
    """Return whether documents with a score of 0 or less are never relevant, as in TorchMetrics 1.8.0 and later."""
    return not function(torch.tensor([-1.0]), torch.tensor([1]))


class RetrievalNormalizedDCG(Computed, theirs.RetrievalNormalizedDCG):
    """`torchmetrics.retrieval.RetrievalNormalizedDCG` with a faster `compute`: nDCG with averaged ties."""

    _ours = "ndcg"
    _unchanged = theirs.RetrievalNormalizedDCG._metric
    _binary = False
    _few = 0


class RetrievalMRR(Computed, theirs.RetrievalMRR):
    """`torchmetrics.retrieval.RetrievalMRR` with a faster `compute`: the mean reciprocal rank."""

    _ours = "rr"
    _unchanged = theirs.RetrievalMRR._metric
    _by_topk = True
    _above_zero = _ignores_scores_up_to_0(functions.retrieval_reciprocal_rank)


class RetrievalMAP(Computed, theirs.RetrievalMAP):
    """`torchmetrics.retrieval.RetrievalMAP` with a faster `compute`: AP normalised by the number of hits."""

    _ours = "ap"
    _unchanged = theirs.RetrievalMAP._metric
    _cutoff = "k"
    _by_topk = True
    _above_zero = _ignores_scores_up_to_0(functions.retrieval_average_precision)

    def _tie_probe(self, metric: Metric) -> Metric:
        return metric_of("ap", k=metric.k)  # AP divided by R; unlike `metric`, it cannot fall when a hit is added


class RetrievalPrecision(Computed, theirs.RetrievalPrecision):
    """`torchmetrics.retrieval.RetrievalPrecision` with a faster `compute`: precision."""

    _ours = "precision"
    _unchanged = theirs.RetrievalPrecision._metric
    _by_topk = True
    _above_zero = _ignores_scores_up_to_0(functions.retrieval_precision)

    def _finished(self, values: Floats, documents: _Documents, labels: Array) -> Floats:
        return values * (self._k / np.minimum(self._k, documents.sizes)) if self._k and self.adaptive_k else values


class RetrievalRecall(Computed, theirs.RetrievalRecall):
    """`torchmetrics.retrieval.RetrievalRecall` with a faster `compute`: recall."""

    _ours = "recall"
    _unchanged = theirs.RetrievalRecall._metric
    _above_zero = _ignores_scores_up_to_0(functions.retrieval_recall)

    def _finished(self, values: Floats, documents: _Documents, labels: Array) -> Floats:
        """Divide by the number of all relevant documents, including those with a score of 0 or less."""
        if labels is documents.target:
            return values
        targets = np.add.reduceat(labels, to_intp(documents.starts), dtype=np.float64)
        return values * targets / np.maximum(documents.relevant, 1)


class RetrievalRPrecision(Computed, theirs.RetrievalRPrecision):
    """`torchmetrics.retrieval.RetrievalRPrecision` with a faster `compute`: precision at rank R."""

    _ours = "r_precision"
    _unchanged = theirs.RetrievalRPrecision._metric
    _cutoff = ""

    def _is_defined(self, scores: Array, labels: Array) -> bool:
        return labels.dtype.kind == "i" and super()._is_defined(scores, labels)  # else torch raises a TypeError


class RetrievalHitRate(Computed, theirs.RetrievalHitRate):
    """`torchmetrics.retrieval.RetrievalHitRate` with a faster `compute`: whether a relevant document was returned."""

    _ours = "success"
    _unchanged = theirs.RetrievalHitRate._metric


class RetrievalFallOut(Computed, theirs.RetrievalFallOut):
    """`torchmetrics.retrieval.RetrievalFallOut` with a faster `compute`: the fall-out."""

    _ours = "fallout"
    _unchanged = theirs.RetrievalFallOut._metric
    _required = "negative"

    def _tie_probe(self, metric: Metric) -> Metric:
        return metric_of("precision", k=metric.k)  # depends on ties whenever fall-out does, and is faster to compute

    def _is_empty(self, documents: _Documents) -> Bools:
        return documents.relevant == documents.sizes


class RetrievalAUROC(Computed, theirs.RetrievalAUROC):
    """`torchmetrics.retrieval.RetrievalAUROC` with a faster `compute`: the area under the ROC curve."""

    _ours = "auc"
    _unchanged = theirs.RetrievalAUROC._metric
    _few = 0

    def _is_ours(self) -> bool:
        is_valid = self.max_fpr is None or (isinstance(self.max_fpr, float) and 0 < self.max_fpr <= 1)
        return is_valid and super()._is_ours()

    def _values(self, documents: _Documents, tensors: tuple[Tensor, ...]) -> Floats:
        k, sizes = self._k, documents.sizes
        values = np.empty(len(sizes))
        longer = np.flatnonzero(sizes > (sizes.max() if k is None else k))
        if len(longer) < len(sizes):
            values[:] = self._areas(documents.scores, documents.target, sizes)
        for queries, preds, target in _equal_length_batches(sizes, longer, *tensors):
            scores, order = preds.topk(k, dim=-1)
            top = scores.cpu().numpy().reshape(-1), target.gather(-1, order).cpu().numpy().reshape(-1)
            values[queries] = self._areas(*top, np.full(len(queries), k))
        return values

    def _areas(self, scores: Array, labels: Array, sizes: Ints) -> Floats:
        """Compute the area under the ROC curve of each query, over all of its documents."""
        starts = to_intp(offsets_of(sizes)[:-1])
        outside = (np.minimum.reduceat(scores, starts) < 0) | (np.maximum.reduceat(scores, starts) > 1)
        if outside.any():  # use float32 like TorchMetrics, so that large logits become equal
            scores = np.where(np.repeat(outside, to_intp(sizes)), torch.from_numpy(scores).sigmoid().numpy(), scores)
        if self.max_fpr is not None and self.max_fpr < 1:
            return _partial_areas(scores, labels, sizes, self.max_fpr)
        return rankings_of_scores(labels, scores, sizes).evaluate("auc", like="torchmetrics")["auc"]


def _partial_areas(scores: Array, labels: Array, sizes: Ints, max_fpr: float) -> Floats:
    """Compute the standardised partial area under the ROC curve (McClish, 1989), or 0 for a query with one class."""
    query = np.repeat(np.arange(len(sizes)), to_intp(sizes))
    order = np.lexsort((-scores, query))
    scores, hits = scores[order], np.cumsum(labels[order], dtype=np.int64)
    starts, last = offsets_of(sizes)[:-1], offsets_of(sizes)[1:] - 1
    before = np.concatenate([[0], hits[last[:-1]]])  # the number of relevant documents in earlier queries
    positives = hits[last] - before
    negatives = sizes - positives
    rank = np.arange(len(scores)) - starts[query] + 1
    with np.errstate(all="ignore"):
        tpr = (hits - before[query]) / positives[query]
        fpr = (rank - tpr * positives[query]) / negatives[query]
    corner = np.append((scores[1:] != scores[:-1]) | (query[1:] != query[:-1]), True)  # last document of each tie group
    tpr, fpr, query = tpr[corner], fpr[corner], query[corner]
    first = np.append(True, query[1:] != query[:-1])
    tpr0, fpr0 = (np.where(first, 0.0, np.append(0.0, rate[:-1])) for rate in (tpr, fpr))
    width = np.minimum(fpr, max_fpr) - np.minimum(fpr0, max_fpr)
    with np.errstate(all="ignore"):
        slope = np.where(fpr > fpr0, (tpr - tpr0) / (fpr - fpr0), 0.0)
    areas = np.add.reduceat(width * (tpr0 + slope * width / 2), np.flatnonzero(first))
    least = max_fpr**2 / 2
    return np.where((positives > 0) & (negatives > 0), (1 + (areas - least) / (max_fpr - least)) / 2, 0.0)
