"""`similarity`: compare two runs without judgments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from rankgain import _backend
from rankgain._codes import UNLIMITED
from rankgain.choices import Duplicates, Missing, Ties, check_choices
from rankgain.comparison.overlap import RankedPairs, Sizes, knn_recall, similarities
from rankgain.data.files import is_standard_input
from rankgain.data.judgments import JudgmentSets
from rankgain.errors import counted, quoted, warn
from rankgain.inputs.documents import RunDocuments, check_pairing, documents_of
from rankgain.inputs.frames import pair_of
from rankgain.metrics.metric import Metric, each_of, parse, row_of
from rankgain.metrics.program import chunk_hits
from rankgain.metrics.similarity import DEFAULT, SIMILARITY_TABLE
from rankgain.results.evaluation import Evaluation
from rankgain.results.summary import SIMILARITY_COUNTS
from rankgain.scalars import NON_RELEVANT, Array, Bools, Ints, to_intp

OrderedTies = Literal["docid", "stable", "average"]
_COLUMNS = "query", "doc", "score", "rank", "retrieved"


def similarity(
    old: Any,
    new: Any,
    /,
    *metrics: str | Metric | Iterable[str | Metric],
    ties: OrderedTies | None = None,
    missing: Missing = "zero",
    duplicates: Duplicates = "error",
    **columns: Any,
) -> Evaluation:
    """Compute the similarity of two runs, query by query, without judgments.

    It says what changed between two states of an index, a model or an engine, not which of them is better. It takes the
    two runs, never judgments.

    Parameters
    ----------
    old, new : any
        The runs, in any form of run that `evaluate` takes, also two different ones: dicts of dicts of scores, lists of
        ids or mappings to them, data frames, records, or files. A table with a row per query has its lists.
    *metrics : str, Metric or iterable of them
        By default ``"rbo@10"``, ``"overlap@10"`` and ``"unchanged@10"``.

        - ``rbo``, ``rbo@k``: rank-biased overlap of lists that are complete as given; ``rbo(p=0.98)@50`` looks deeper.
        - ``rbo_ext``, ``rbo_ext@k``: the same for lists that go on.
        - ``overlap@k``: the share of the first k documents that both lists have.
        - ``jaccard@k``: the Jaccard index of the first k documents.
        - ``unchanged@k``: 1 if the first k documents are the same in the same order.
        - ``knn_recall@k``, ``knn_recall(tolerance=1e-6)@k``: the recall of an approximate search (new) against an exact
          one (old); its scores must be similarities, so negate distances.
    ties : {"docid", "stable", "average"}, optional
        The order of documents of equal score: by id, by the order in which they are given, or the mean over all orders
        of both lists, which `jaccard` and `unchanged` do not have. By default ``"docid"``.
    missing : {"zero", "skip"}, default "zero"
        Whether a query that only `old` has counts as 0 or is left out. A query that only `new` has is left out.
    duplicates : {"error", "first"}, default "error"
        Whether a document that a query returns twice is an error, or counts once, at its first rank.
    **columns : str or pair of str
        The columns of tables: ``query``, ``doc``, ``score``, ``rank``, or ``retrieved`` in a table with a row per
        query. A pair names them in `old` and `new`.

    Returns
    -------
    Evaluation
        With the queries in the order of `old`. Its `counts` are ``queries``, ``only_in_old``, ``only_in_new``,
        ``both_empty``, and ``fewer_in_new`` and ``more_in_new``: in how many queries `new` has fewer or more documents
        than `old`, of those that the metrics look at.

    Raises
    ------
    ValueError
        If a metric is unknown or needs judgments, lacks a cut-off, or has no mean over the orders of tied documents and
        ties are averaged; if the runs have no query in common, or ids of different types; if a document is returned
        twice, or a score is NaN; if `knn_recall` is requested and a run that it needs has no scores.
    TypeError
        If a run is Judgments or Rankings, or of no form that `evaluate` takes.
    OSError
        If a file cannot be read.

    Warns
    -----
    UserWarning
        If `knn_recall` is requested and documents that `old` does not list reach its k-th score, so that `old` ends
        within a tie.

    See Also
    --------
    compare : Compares the quality of runs, with judgments.

    References
    ----------
    Webber, Moffat & Zobel, A similarity measure for indefinite rankings, ACM TOIS 2010.

    Examples
    --------
    >>> import rankgain as rg
    >>> old = {"q1": ["a", "b", "c"], "q2": ["d", "e"]}
    >>> new = {"q1": ["a", "c", "b"], "q2": ["d", "e"]}
    >>> result = rg.similarity(old, new, "rbo@10", "overlap@2", "unchanged@10")
    >>> {metric: round(value, 4) for metric, value in result.mean().items()}
    {'rbo@10': 0.9775, 'overlap@2': 0.75, 'unchanged@10': 0.5}
    >>> result.subset(result["unchanged@10"] < 1).query_ids
    ['q1']
    """
    check_choices(missing=missing, duplicates=duplicates)
    requested = parsed(each_of(metrics) or DEFAULT)
    if ties == "average":
        for metric in requested.values():
            if reason := row_of(metric.name).unaveraged:
                raise ValueError(f"{metric} has no value for ties='average': {reason}; write ties='docid' or 'stable'")
    runs = read_runs(old, new, columns, duplicates)
    order = check_order(runs, ties)
    records = [*dict.fromkeys(requested.values())]
    depth = max(metric.depth for metric in records)
    knn = [metric for metric in records if metric.name == "knn_recall"]
    ranked = rank_pairs(runs, order, depth, whole_old=bool(knn))
    values = similarities([metric for metric in records if metric not in knn], ranked.pairs)
    for metric in knn:
        values[metric] = _knn_recall(metric, runs, ranked)
    rows = np.flatnonzero(ranked.in_new) if missing == "skip" else np.arange(len(ranked.in_new))
    sizes = Sizes.of(ranked.pairs, depth)
    both = ranked.in_new
    counts = (
        len(rows),
        int(np.count_nonzero(~both)),
        len(runs.new.queries) - int(np.count_nonzero(both)),
        *(int(np.count_nonzero(both & each)) for each in (sizes.longer == 0, sizes.new < sizes.old)),
        int(np.count_nonzero(both & (sizes.new > sizes.old))),
    )
    vectors = {}
    for key, metric in requested.items():
        vectors[key] = values[metric][rows]
        vectors[key].flags.writeable = False
    names = runs.old.queries
    ids = names if len(rows) == len(names) else [names[row] for row in rows.tolist()]
    assumed = runs.old.assumed + runs.new.assumed
    labels = SIMILARITY_COUNTS
    return Evaluation(vectors, ids, order, missing, None, _backend.name, counts, None, assumed, labels)


def parsed(requests: Iterable[Any]) -> dict[Any, Metric]:
    """Return the requested metrics by key."""
    metrics: dict[Any, Metric] = {}
    for request in requests:
        try:
            metrics |= {request if name is request else name: metric for name, metric in parse(request)}
        except ValueError as error:
            known = f"; two runs have {', '.join(SIMILARITY_TABLE)}" if "unknown metric" in str(error) else ""
            raise ValueError(f"{error}{known}") from None
    for metric in metrics.values():
        row = row_of(metric.name)
        if metric.name not in SIMILARITY_TABLE:
            raise ValueError(
                f"{metric} needs judgments: rankgain.evaluate(truth, run, '{metric}'); two runs have "
                f"{', '.join(SIMILARITY_TABLE)}"
            )
        if row.needs_cutoff and metric.k is None:
            raise ValueError(f"{metric} needs a cut-off: {metric}@10")
    return metrics


class Runs(NamedTuple):
    """The two runs that are compared."""

    old: RunDocuments
    new: RunDocuments


def read_runs(old: Any, new: Any, columns: Mapping[str, Any], duplicates: Duplicates) -> Runs:
    """Read both runs."""
    if is_standard_input(old) and is_standard_input(new):
        raise ValueError("old and new cannot both be standard input")
    for name in columns:
        if name not in _COLUMNS:
            raise TypeError(f"unexpected keyword argument {name!r}: columns are named by {', '.join(_COLUMNS)}")
    pairs = {name: pair_of(names, name, ("old", "new")) for name, names in columns.items()}
    sides = [{name: column for name, pair in pairs.items() if (column := pair[side]) is not None} for side in (0, 1)]
    first = documents_of(old, "old", sides[0], duplicates)
    runs = Runs(first, documents_of(new, "new", sides[1], duplicates, first))
    check_pairing(*runs)
    return runs


def check_order(runs: Runs, ties: Any) -> Ties | None:
    """Return the rule for ties, or None if both runs are in rank order."""
    if ties not in (None, "docid", "stable", "average"):
        advice = "; the best and the worst order are those of a quality" if ties in ("best", "worst") else ""
        raise ValueError(f"ties must be 'docid', 'stable' or 'average', not {quoted(ties)}{advice}")
    if not (runs.old.is_scored or runs.new.is_scored):
        if ties is not None:
            raise ValueError(f"ties={ties!r}: both runs are in rank order, so nothing is tied: leave it out")
        return None
    return ties or "docid"


class Ranks(NamedTuple):
    """Documents by their row in a run: `query`, `row` and the ranks that they may have in another run, or the same."""

    size: Ints
    query: Ints
    row: Ints
    first: Ints
    last: Ints


def ranks_of(run: RunDocuments, documents: JudgmentSets, ties: Ties | None, depth: int) -> Ranks:
    """Return the ranks in a run, down to a depth, of the documents of a run."""
    source = run.against(documents)
    parts: list[tuple[Array, ...]] = []
    start = 0
    for hits in chunk_hits(source, run.rules(ties or "docid"), depth, NON_RELEVANT):
        count = int(hits.offsets[hits.queries])
        query = start + np.repeat(np.arange(hits.queries), to_intp(np.diff(hits.offsets[: hits.queries + 1])))
        rows = hits.grade[:count].astype(np.int64) - 1
        parts.append((hits.returned[: hits.queries], query, rows, hits.first[:count].copy(), hits.last[:count].copy()))
        start += hits.queries
    return Ranks(*(np.concatenate([np.empty(0, np.int64), *column]) for column in zip(*parts, strict=True)))


class _Ranked(NamedTuple):
    """The ranked lists of two runs: the documents of the old one, the ranks of both, and which queries new has."""

    documents: JudgmentSets
    pairs: RankedPairs
    in_new: Bools
    old: Ranks


def rank_pairs(runs: Runs, ties: Ties | None, depth: int, *, whole_old: bool) -> _Ranked:
    """Rank both runs down to a depth, or the old one as a whole, and pair the documents that both have."""
    documents = runs.old.as_judgments()
    new = ranks_of(runs.new, documents, ties, depth)
    old = ranks_of(runs.old, documents, ties, UNLIMITED if whole_old else depth)
    ranks = np.zeros((2, int(documents.offsets[-1])), dtype=np.int64)
    ranks[:, old.row] = old.first, old.last
    shared = ranks[0, new.row] > 0  # down to the depth
    query, row, first, last = (column[shared] for column in new[1:])
    pairs = RankedPairs(old.size, new.size, query, row, ranks[0, row], ranks[1, row], first, last)
    return _Ranked(documents, pairs, runs.new.has(documents.query_ids), old)


def _knn_recall(metric: Metric, runs: Runs, ranked: _Ranked) -> Any:
    """Return the recall of each query; warn if the old run ends within a tie."""
    needed = ("old", "new") if metric.scores == "new" else ("old",)
    for name, run in runs._asdict().items():
        if name in needed and not run.has_similarities:
            raise ValueError(f"{metric} needs scores, and {name} has none: overlap@{metric.k} needs none")
    queries = runs.old.queries
    new = runs.new.scores(queries) if runs.new.has_similarities else None
    values, within_tie = knn_recall(metric, ranked.pairs, runs.old.scores(queries), new)
    if within_tie:
        warn(
            f"{metric}: in {counted(within_tie, 'query')} old ends within a tie: documents that it lacks have a score "
            f"that reaches its k-th: return more than {metric.k} per query"
        )
    return values
