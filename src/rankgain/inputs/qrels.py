"""qrels and a run, as dicts by query of dicts by document."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from rankgain.data.dicts import DictSource, Run, mapping
from rankgain.data.judgments import Judgments, judgment_sets, of_dicts
from rankgain.data.rules import check_missing, rules_of
from rankgain.rankings import Rankings
from rankgain.scalars import listed

Qrels = Mapping[Any, Mapping[Any, float]]


def from_qrels(
    qrels: Qrels | Judgments,
    run: Run,
    *,
    ties: str = "docid",
    missing: str = "zero",
    query_ids: Iterable[Hashable] | None = None,
) -> Rankings:
    """Rankings from judgements and a run.

    Parameters
    ----------
    qrels : mapping of mappings, or Judgments
        Grades by query and document: any numbers. A grade of 0 is judged and not relevant; below 0, as in trec_eval,
        pooled but unjudged (gain 0, never relevant). A document that is not there is unjudged.
    run : mapping of mappings
        Scores by query and document: any numbers but NaN, higher is better.
    ties : {"docid", "average", "stable", "best", "worst"}
        How documents of equal score are ordered: by id, the higher first (trec_eval's rule; str by code point, bytes by
        byte, int numerically), the expected value over all orders, in the dict's order, highest gain first or last.
    missing : {"zero", "skip"}
        Queries of the qrels that the run lacks are evaluated as empty lists, hence 0 (trec_eval's ``-c``), or left out
        (its default). Queries of the run without qrels are always left out. Both are counted in the result.
    query_ids : iterable, optional
        Other names for the queries that are evaluated, in the order of the qrels; None: their ids.

    Returns
    -------
    Rankings
        The queries in the order of the qrels.

    Raises
    ------
    ValueError
        If no query is on both sides; in `evaluate`, for grades that are not finite, scores that are NaN, or document
        ids of other types on the two sides.
    TypeError
        If something is no mapping; in `evaluate`, for a grade or a score that is no number, or ids of equal score that
        cannot be ordered.

    Examples
    --------
    >>> import rankgain as rg
    >>> qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d7": 1}}
    >>> run = {"q1": {"d1": 0.9, "d2": 1.4, "d9": 0.2}}
    >>> result = rg.from_qrels(qrels, run).evaluate("ndcg@10", "mrr@10")
    >>> result["ndcg@10"].round(4).tolist()
    [0.4796, 0.0]
    >>> result.counts
    {'queries': 2, 'missing': 1, 'unjudged': 0, 'empty': 0}
    """
    rules = rules_of(ties, ids=True)
    check_missing(missing)
    mapping(run, "run")
    if isinstance(qrels, Judgments):
        return Rankings(DictSource(judgment_sets(qrels), run, missing, query_ids), rules)
    held = mapping(qrels, "qrels")
    if missing == "zero":
        return Rankings(DictSource(of_dicts(listed(held), held.values(), "qrels"), run, missing, query_ids), rules)
    judgments = of_dicts(listed(held), held.values(), "qrels", run)
    return Rankings(DictSource(judgments, run, missing, query_ids, held), rules)
