"""`from_qrels`: make Rankings from qrels and a run that are dicts of dicts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Unpack

from rankgain._codes import EMPTY_TEXT, REGULAR_SCORES, SHORT_QUERY
from rankgain.choices import CHOICES, Missing, Ties, check_choice
from rankgain.data.advice.several_ids import refuse_several_ids
from rankgain.data.advice.swapped import has_whole_scores, pairs_in_dicts, remark_if_swapped
from rankgain.data.dicts import DictSource, Run, dicts_of, refuse_empty_ids
from rankgain.data.judgments import Judgments, judgment_sets, of_dicts, warn_of_negative_grades
from rankgain.data.rules import rules_of
from rankgain.errors import NoKeywords, unexpected, without_unknown
from rankgain.rankings import Rankings
from rankgain.scalars import paired

Qrels = Mapping[Any, Mapping[Any, float]]


@without_unknown
def from_qrels(
    qrels: Qrels | Judgments,
    run: Run,
    *,
    ties: Ties = "docid",
    missing: Missing = "zero",
    query_ids: Iterable[Hashable] | None = None,
    **unknown: Unpack[NoKeywords],
) -> Rankings:
    """Make Rankings from judgments and a run that are dicts of dicts.

    Parameters
    ----------
    qrels : mapping of mappings, ranx's Qrels, or Judgments
        Grades by query and document, any finite numbers. A document with grade 0 is judged and not relevant; one with a
        negative grade is, as in trec_eval, pooled but unjudged (gain 0, never relevant); one that is absent is
        unjudged. Or the requests of ``_rank_eval`` or a judgment list of OpenSearch, with their ratings.
    run : mapping of mappings
        Scores by query and document, any numbers but NaN; higher is better. Or ranx's Run, or a mapping from query to
        the answer of a search engine or a retriever, whose hits are taken in their order: a response of Elasticsearch's
        or OpenSearch's ``_search``, Qdrant's ``query_points``, Pinecone's or Chroma's ``query``, or a list of nodes of
        LlamaIndex, of documents of haystack or LangChain, of mappings with "id" and "score", or of pairs of these. Or a
        response of ``_rank_eval``, or the results of RankLLM. If their scores neither fall nor rise in most queries,
        `Evaluation.assumed` says so.
    ties : {"docid", "average", "stable", "best", "worst"}, default "docid"
        The order of documents of equal score.

        - ``"docid"``: by id, the higher first, as in trec_eval: str by code point, bytes by byte, int numerically.
        - ``"average"``: the expected value over all orders of the tied documents, in closed form.
        - ``"stable"``: the order of the dict.
        - ``"best"``, ``"worst"``: the highest or the lowest gain first (the grade, for metrics of relevant documents).
    missing : {"zero", "skip"}, default "zero"
        Whether queries of `qrels` that the run lacks are evaluated as empty lists, hence 0 (trec_eval's ``-c``), or
        left out (trec_eval's default). Queries of the run without qrels are always left out. Both are counted in
        `Evaluation.counts`.
    query_ids : iterable of hashable, optional
        Other names for the queries that are evaluated, one per query, in the order of the qrels. By default, the query
        ids.

    Returns
    -------
    Rankings
        With the queries in the order of `qrels`.

    Raises
    ------
    ValueError
        If `qrels` and `run` have no query in common, an id is an empty text, texts hold several ids, or `ties` or
        `missing` is unknown. In `Rankings.evaluate`, if a grade is not finite, a score is NaN, or the document ids of
        the two sides are of different types.
    TypeError
        If an argument is not a mapping of mappings. In `Rankings.evaluate`, if a grade or score is not a number, or if
        tied documents cannot be ordered because their ids are of mixed types.

    Warns
    -----
    UserWarning
        If a grade is negative, other than -1 and -2.

    See Also
    --------
    judgments : Prepares qrels once for many runs.
    compare : Evaluates several runs against the same qrels.
    read_trec : The same from files.
    rankgain.pytrec_eval : A drop-in for code that uses pytrec_eval.

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
    if unknown:
        raise unexpected(from_qrels, unknown)
    rules = rules_of(ties, ids=True)
    check_choice(missing, "missing", CHOICES["missing"])
    scores, run_name, assumed, signs_of_run = dicts_of(run, "run")
    grades, name, _, signs = dicts_of(qrels, "qrels", judgments=True)
    unread = None
    if isinstance(grades, Judgments):
        judgments = judgment_sets(grades)
    else:
        if signs & EMPTY_TEXT:
            refuse_empty_ids(grades, grades.values(), name)
        unread = None if missing == "zero" else grades
        judgments = of_dicts(*paired(grades, name), name, None if unread is None else scores)
        if judgments.unusual_grades:
            warn_of_negative_grades(judgments)
    if signs_of_run & EMPTY_TEXT:
        refuse_empty_ids(scores, scores.values(), run_name)
    source = DictSource(judgments, scores, missing, query_ids, unread, run_name)
    if (signs | signs_of_run) & SHORT_QUERY:
        refuse_several_ids(source)
    if signs_of_run & REGULAR_SCORES:
        assumed += source.remarks()
    if assumed:
        source.assumed += assumed
    if judgments.unusual_grades and has_whole_scores(scores):
        pairs = pairs_in_dicts(judgments, scores)
        source.assumed += remark_if_swapped(pairs, name, run_name, "from_qrels(qrels, run)")
    return Rankings(source, rules)
