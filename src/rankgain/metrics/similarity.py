"""The metrics of the similarity of two runs, which need no judgments; `rankgain.similarity` computes them."""

from __future__ import annotations

from functools import partial

from rankgain.metrics.table import Row

_X = "X_d = number of documents in both first d"
_SIZES = "n, m the lengths of the old and the new list"
_WEIGHTED = "w_d = (1 − p)·p^(d − 1)"
_row = partial(Row, terms=lambda metric: (), empty_if="")

_ROWS = (
    _row(
        "rbo",
        "rank-biased overlap: the share of documents that both lists have in common, averaged over all depths with "
        "most weight on the first; a list is taken as complete, so only equal lists have the value 1",
        aliases=("rank_biased_overlap",),
        takes=("p",),
        formula=f"Σ w_d·X_d/d, d ≤ l, + p^l·X_l/l; {_WEIGHTED}; l = max(n, m); {_X}; {_SIZES}",
        remark="divided by the sum of the weights, so that equal lists have exactly the value 1",
        source="Webber, Moffat & Zobel 2010; ranked-overlap 0.1.0",
    ),
    _row(
        "rbo_ext",
        "extrapolated rank-biased overlap: as if both lists went on, with the agreement that they have at their ends",
        takes=("p",),
        formula=f"as rbo, with X_d + (d − s)·X_s/s in place of X_d for d > s = min(n, m); {_X}; {_SIZES}",
        remark="a list that lost its last documents keeps the value 1: for lists that were stored to different depths",
        source="Webber, Moffat & Zobel 2010, equation 32",
    ),
    _row(
        "overlap",
        "the share of the first k documents that both lists have in common",
        needs_cutoff=True,
        formula=f"X_k / max(min(k, n), min(k, m)); {_X}; {_SIZES}",
        source="elasticsearch's _knn_eval, for lists of k documents",
    ),
    _row(
        "jaccard",
        "the Jaccard index of the first k documents of both lists",
        needs_cutoff=True,
        unaveraged="it is not linear in the overlap",
        formula=f"X_k / (min(k, n) + min(k, m) − X_k); {_X}; {_SIZES}",
        source="Jaccard 1901; OpenSearch's Search Relevance Workbench",
    ),
    _row(
        "unchanged",
        "1 if the first k documents are the same in the same order, else 0; its mean is the share of unchanged queries",
        needs_cutoff=True,
        unaveraged="it depends on the orders of both lists",
        formula="1 if the first k documents of both lists are the same in the same order, else 0",
    ),
    _row(
        "knn_recall",
        "the recall of an approximate search: the share of the first k documents whose exact score reaches the k-th "
        "score of the exact run, which is the old one",
        takes=("tolerance", "scores"),
        needs_cutoff=True,
        formula="right documents in the first k of new / min(k, n), at most 1; right: score in old ≥ k-th score of "
        "old − tolerance; n the length of the old list",
        remark="store more than k documents of the exact run: one that it lacks counts as wrong, or, with scores=new, "
        "by its score in the new run, which must be exact as well",
        source="Aumüller, Bernhardsson & Faithfull 2020 (ann-benchmarks)",
    ),
)
SIMILARITY_TABLE = {row.name: row for row in _ROWS}
DEFAULT = "rbo@10", "overlap@10", "unchanged@10"
