"""TorchMetrics' retrieval metrics with a faster `compute`: change the import, and get the same numbers.

Each class is a subclass of the class of the same name in `torchmetrics.retrieval`. It replaces only `compute`, which is
a Python loop over queries in TorchMetrics; arguments, errors, `update`, `forward`, states, devices, synchronisation,
pickles and collections are inherited. The numbers are those of the installed release, from 1.3 on, to float32;
documents of equal score are in torch's order. `RetrievalPrecisionRecallCurve` and `RetrievalRecallAtFixedPrecision` are
re-exported, so that one changed import is enough.

TorchMetrics' loop is called for inputs that only it defines: an overridden `_metric`, labels other than 0 and 1 (in
nDCG: negative or not finite), NaN, and a `top_k` or `max_fpr` out of range.

Needs torch and torchmetrics: ``pip install 'rankgain[torchmetrics]'``.
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
SHORT = 1000  # documents; up to this many, the number of queries decides whether TorchMetrics' loop is faster
AT_ONCE = 1 << 18  # documents that torch orders in one call, to limit memory
LARGEST_GRADE = 1e30  # up to this grade, neither TorchMetrics' sums nor ours overflow


class Documents(NamedTuple):
    """The documents of all queries, one query after the other, in the order of the indexes."""

    scores: Array  # float32
    target: Array
    sizes: Ints
    relevant: Floats  # the sum of the targets of each query

    @property
    def starts(self) -> Ints:
        return offsets_of(self.sizes)[:-1]

    @classmethod
    def of(cls, ids: Array, scores: Array, labels: Array) -> Documents:
        """Group documents by their indexes."""
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
    """Concatenate the documents of all updates; those of a single update are not copied."""
    return (parts[0] if isinstance(parts, list) and len(parts) == 1 else dim_zero_cat(parts)).detach()


def _integers(indexes: Tensor) -> Tensor:
    """The indexes, which `set_dtype` may have made floating-point, as integers in the same order."""
    return indexes if indexes.dtype is torch.long else torch.unique(indexes, return_inverse=True)[1]


def _readable(target: Tensor) -> Tensor:
    """The labels in a type that NumPy supports."""
    return target.float() if target.dtype in (torch.bfloat16, torch.half) else target


class Computed(RetrievalMetric):
    """The base of all classes: `compute` without a loop over queries."""

    _ours: ClassVar[str]  # rankgain's name of the metric
    _unchanged: ClassVar[Callable[..., Any]]  # TorchMetrics' `_metric`
    _cutoff: ClassVar[str] = "top_k"  # TorchMetrics' attribute, "" if there is none
    _by_topk: ClassVar[bool] = False  # whether TorchMetrics orders by topk; else by argsort
    _above_zero: ClassVar[bool] = False  # whether a document whose score is not above 0 is never relevant
    _binary: ClassVar[bool] = True  # whether labels are 0 and 1
    _required: ClassVar[str] = "positive"  # the targets without which a query is empty
    _few: ClassVar[int] = 2  # up to this many queries, TorchMetrics' loop is faster

    def compute(self) -> Tensor:
        """Compute the metric over all documents of the updates, as the class of TorchMetrics does.

        Returns
        -------
        torch.Tensor
            The aggregated value, of the type and on the device of the scores.

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
            labels = labels.astype(np.uint8)  # an eighth of the memory
        documents = Documents.of(ids, scores, labels)
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
        """Whether `_metric` is not overridden and the cut-off is valid."""
        if getattr(self._metric, "__func__", None) is not type(self)._unchanged:
            return False
        k = getattr(self, self._cutoff, 0) if self._cutoff else None  # 0: this release has another attribute
        return k is None or (type(k) is int and k > 0)

    @property
    def _k(self) -> int | None:
        k: int | None = getattr(self, self._cutoff) if self._cutoff else None
        return k and min(k, LARGEST_CUTOFF)

    def _are_few(self, indexes: Tensor) -> bool:
        """Whether there are few enough queries for TorchMetrics' loop to be faster."""
        return self._few > 0 and len(indexes) < SHORT and len(set(indexes.tolist())) <= self._few

    def _is_defined(self, scores: Array, labels: Array) -> bool:
        """Whether the definition of the metric covers these scores and labels."""
        if np.isnan(scores.min()):
            return False
        if not (labels.min() >= 0 and labels.max() <= (1 if self._binary else LARGEST_GRADE)):
            return False
        return not self._binary or labels.dtype.kind == "i" or not np.any(labels % 1)

    def _is_empty(self, documents: Documents) -> Bools:
        return documents.relevant == 0

    def _values(self, documents: Documents, tensors: tuple[Tensor, ...]) -> Floats:
        """The value of each query. `tensors`: indexes, scores and labels, for torch's order of tied documents."""
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
        """A metric whose best and worst values differ for each query where this one depends on the order of ties."""
        return metric

    def _targets(self, preds: Any, target: Any) -> Any:
        """The labels, as an array or a tensor, with 0 for documents that cannot be relevant."""
        return target * (preds > 0) if self._above_zero and preds.min() <= 0 else target

    def _ranked(self, metric: Metric, preds: Tensor, target: Tensor) -> Floats:
        """The value of each row of a matrix, in torch's order."""
        width = preds.shape[-1]
        if self._by_topk:
            order = preds.topk(min(self._k or width, width), dim=-1)[1]
        else:
            order = torch.argsort(preds, dim=-1, descending=True)
        ranked = target.gather(-1, order)
        return from_ranked(ranked.cpu().numpy(), judged=target.cpu().numpy()).evaluate(metric)[metric]

    def _finished(self, values: Floats, documents: Documents, labels: Array) -> Floats:
        """The values with TorchMetrics' divisor; `labels`: the result of `_targets`."""
        return values


@lru_cache(maxsize=64)
def _metric_and_ties(name: str, k: int | None) -> tuple[Metric, str]:
    """rankgain's metric and TorchMetrics' rule for ties, from the table of peers."""
    key = name if k is None else f"{name}@{k}"
    metrics, rules = common_rules([key], "torchmetrics")
    return metrics[key], str(rules.ties)


def _equal_length_batches(
    sizes: Ints, queries: Ints, indexes: Tensor, preds: Tensor, target: Tensor
) -> Iterator[tuple[Ints, Tensor, Tensor]]:
    """Yield queries of equal length, with matrices of scores and labels.

    Documents are in the order of torch's sort of the indexes, which is not stable.
    """
    if not len(queries):
        return
    order, starts = torch.sort(indexes)[1], offsets_of(sizes)
    lengths = sizes[queries]
    for length in np.unique(lengths).tolist():
        equally_long = queries[lengths == length]
        step = max(AT_ONCE // length, 1)
        for first in range(0, len(equally_long), step):
            batch = equally_long[first : first + step]
            rows = order[torch.from_numpy(starts[batch][:, None] + np.arange(length)).to(order.device)]
            yield batch, preds[rows].float(), _readable(target[rows])


def _ignores_scores_up_to_0(function: Callable[..., Any]) -> bool:
    """Whether a document whose score is not above 0 is never relevant, as in TorchMetrics from 1.8.0 on."""
    return not function(torch.tensor([-1.0]), torch.tensor([1]))


class RetrievalNormalizedDCG(Computed, theirs.RetrievalNormalizedDCG):
    """`torchmetrics.retrieval.RetrievalNormalizedDCG` with a faster `compute`: nDCG with ties averaged."""

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
    """`torchmetrics.retrieval.RetrievalMAP` with a faster `compute`: average precision, divided by the hits."""

    _ours = "ap"
    _unchanged = theirs.RetrievalMAP._metric
    _cutoff = "k"
    _by_topk = True
    _above_zero = _ignores_scores_up_to_0(functions.retrieval_average_precision)

    def _tie_probe(self, metric: Metric) -> Metric:
        return metric_of("ap", k=metric.k)  # divided by R: with the number of hits, one more hit may lower the value


class RetrievalPrecision(Computed, theirs.RetrievalPrecision):
    """`torchmetrics.retrieval.RetrievalPrecision` with a faster `compute`: the share of relevant documents."""

    _ours = "precision"
    _unchanged = theirs.RetrievalPrecision._metric
    _by_topk = True
    _above_zero = _ignores_scores_up_to_0(functions.retrieval_precision)

    def _finished(self, values: Floats, documents: Documents, labels: Array) -> Floats:
        return values * (self._k / np.minimum(self._k, documents.sizes)) if self._k and self.adaptive_k else values


class RetrievalRecall(Computed, theirs.RetrievalRecall):
    """`torchmetrics.retrieval.RetrievalRecall` with a faster `compute`: the share of relevant documents returned."""

    _ours = "recall"
    _unchanged = theirs.RetrievalRecall._metric
    _above_zero = _ignores_scores_up_to_0(functions.retrieval_recall)

    def _finished(self, values: Floats, documents: Documents, labels: Array) -> Floats:
        """Divide by the number of all relevant documents, whatever the scores."""
        if labels is documents.target:
            return values
        targets = np.add.reduceat(labels, to_intp(documents.starts), dtype=np.float64)
        return values * targets / np.maximum(documents.relevant, 1)


class RetrievalRPrecision(Computed, theirs.RetrievalRPrecision):
    """`torchmetrics.retrieval.RetrievalRPrecision` with a faster `compute`: precision among the first R."""

    _ours = "r_precision"
    _unchanged = theirs.RetrievalRPrecision._metric
    _cutoff = ""

    def _is_defined(self, scores: Array, labels: Array) -> bool:
        return labels.dtype.kind == "i" and super()._is_defined(scores, labels)  # other types raise torch's TypeError


class RetrievalHitRate(Computed, theirs.RetrievalHitRate):
    """`torchmetrics.retrieval.RetrievalHitRate` with a faster `compute`: whether a relevant document was returned."""

    _ours = "success"
    _unchanged = theirs.RetrievalHitRate._metric


class RetrievalFallOut(Computed, theirs.RetrievalFallOut):
    """`torchmetrics.retrieval.RetrievalFallOut` with a faster `compute`: the share of the non-relevant documents."""

    _ours = "fallout"
    _unchanged = theirs.RetrievalFallOut._metric
    _required = "negative"

    def _tie_probe(self, metric: Metric) -> Metric:
        return metric_of("precision", k=metric.k)  # faster than fall-out

    def _is_empty(self, documents: Documents) -> Bools:
        return documents.relevant == documents.sizes


class RetrievalAUROC(Computed, theirs.RetrievalAUROC):
    """`torchmetrics.retrieval.RetrievalAUROC` with a faster `compute`: the area under the ROC curve."""

    _ours = "auc"
    _unchanged = theirs.RetrievalAUROC._metric
    _few = 0

    def _is_ours(self) -> bool:
        is_valid = self.max_fpr is None or (isinstance(self.max_fpr, float) and 0 < self.max_fpr <= 1)
        return is_valid and super()._is_ours()

    def _values(self, documents: Documents, tensors: tuple[Tensor, ...]) -> Floats:
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
        """The area of each query over all of its documents."""
        starts = to_intp(offsets_of(sizes)[:-1])
        outside = (np.minimum.reduceat(scores, starts) < 0) | (np.maximum.reduceat(scores, starts) > 1)
        if outside.any():  # in float32, like TorchMetrics: large logits tie
            scores = np.where(np.repeat(outside, to_intp(sizes)), torch.from_numpy(scores).sigmoid().numpy(), scores)
        if self.max_fpr is not None and self.max_fpr < 1:
            return _partial_areas(scores, labels, sizes, self.max_fpr)
        return rankings_of_scores(labels, scores, sizes).evaluate("auc", like="torchmetrics")["auc"]


def _partial_areas(scores: Array, labels: Array, sizes: Ints, max_fpr: float) -> Floats:
    """The area up to a false positive rate, standardized after McClish 1989; 0 for a query of one class."""
    query = np.repeat(np.arange(len(sizes)), to_intp(sizes))
    order = np.lexsort((-scores, query))
    scores, hits = scores[order], np.cumsum(labels[order], dtype=np.int64)
    starts, last = offsets_of(sizes)[:-1], offsets_of(sizes)[1:] - 1
    before = np.concatenate([[0], hits[last[:-1]]])  # the relevant documents of earlier queries
    positives = hits[last] - before
    negatives = sizes - positives
    rank = np.arange(len(scores)) - starts[query] + 1
    with np.errstate(all="ignore"):
        tpr = (hits - before[query]) / positives[query]
        fpr = (rank - tpr * positives[query]) / negatives[query]
    corner = np.append((scores[1:] != scores[:-1]) | (query[1:] != query[:-1]), True)  # the end of each tie group
    tpr, fpr, query = tpr[corner], fpr[corner], query[corner]
    first = np.append(True, query[1:] != query[:-1])
    tpr0, fpr0 = (np.where(first, 0.0, np.append(0.0, rate[:-1])) for rate in (tpr, fpr))
    width = np.minimum(fpr, max_fpr) - np.minimum(fpr0, max_fpr)
    with np.errstate(all="ignore"):
        slope = np.where(fpr > fpr0, (tpr - tpr0) / (fpr - fpr0), 0.0)
    areas = np.add.reduceat(width * (tpr0 + slope * width / 2), np.flatnonzero(first))
    least = max_fpr**2 / 2
    return np.where((positives > 0) & (negatives > 0), (1 + (areas - least) / (max_fpr - least)) / 2, 0.0)
