"""The table of metrics: their names, parameters and terms, and how the values of the terms are combined.

A new metric is a new row; only a new family of terms changes the backends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from rankgain import _codes
from rankgain._codes import GEOMETRIC
from rankgain.metrics.aggregators import Aggregator, geometric_mean, mean, total
from rankgain.metrics.discounts import NO_DISCOUNT, Discount
from rankgain.metrics.families import (
    Term,
    any_relevant,
    cascade,
    cost_sum,
    discounted_sum,
    first_relevant,
    grade_levels,
    hits_above,
    hits_not_above,
    ideal_cascade,
    ideal_sum,
    inferred_sum,
    interpolated,
    judged_above,
    pairs,
    precision_at_relevant,
    precision_sum,
    preference_sum,
    ranks,
    relevant_ranks,
    returned_above,
)
from rankgain.metrics.gains import Gain
from rankgain.metrics.parameters import PARAMETERS, Parameter, Parameters
from rankgain.metrics.trec_names import aliases
from rankgain.scalars import NON_RELEVANT


class Combination(NamedTuple):
    """How the values of a metric's terms are combined into the value of the metric; see `_codes`.

    `bounded`: whether a value above the ideal is refused, unless a discount increases with the rank. If the ideal is R,
    the last term counts the relevant documents returned, which cannot exceed R either. `parameters`: the parameters of
    the metric that the combination uses, besides `empty`, the value if nothing is relevant.
    """

    kind: int
    bounded: bool = False
    parameters: Callable[[Parameters], tuple[float, ...]] = lambda metric: ()


AS_IS = Combination(_codes.AS_IS)
RATIO = Combination(_codes.RATIO, bounded=True)
QUOTIENT = Combination(_codes.QUOTIENT)
BY_RELEVANT = Combination(_codes.BY_RELEVANT, bounded=True)
BY_CAPPED = Combination(_codes.BY_CAPPED, bounded=True)
BY_HITS = Combination(_codes.BY_HITS, bounded=True)
FILLED = Combination(_codes.FILLED, bounded=True)
BOUNDED_MEAN = Combination(_codes.BOUNDED_MEAN, bounded=True)
F_MEASURE = Combination(_codes.F_MEASURE, bounded=True, parameters=lambda metric: (metric.beta,))
BIASED = Combination(_codes.BIASED, parameters=lambda metric: (metric.p,))
RESIDUAL = Combination(_codes.RESIDUAL, parameters=lambda metric: (metric.p,))
UNJUDGED = Combination(_codes.UNJUDGED)
SET_AP = Combination(_codes.SET_AP, bounded=True)
UTILITY = Combination(_codes.UTILITY, bounded=True, parameters=lambda metric: (*metric.coefficients, metric.collection))
ONE = Combination(_codes.ONE)
FALLOUT = Combination(_codes.FALLOUT)


class Row(NamedTuple):
    """One metric of the table.

    `aliases`: further names; trec_eval's names are added. `takes`: the parameters besides k. `combination`: how the
    values of the terms are combined. `lowest` and `highest`: the bounds of a query's value. `aggregator`: how the
    values of all queries are aggregated. `weights`: the metric that weights queries in the aggregate and the mean.
    `cuts`: whether the metric takes a cut-off k. `unaveraged`: why there is no expected value over the orders of tied
    documents. `extremes`: why the orders "worst" and "best" need not be the extremes over those orders, with a discount
    that does not rise; "" if they are. `better`: 1 if higher values are better, −1 if lower ones are, 0 if the values
    do not rank runs. `parameters`: the defaults and checks of parameters. `needs_cutoff`: whether the metric is
    undefined without k. `formula`: in the symbols that `rankgain.explain` lists. `empty_if`: when the value is `empty`.
    `remark`: facts that the formula does not show. `source`: the paper or the program that defines the metric.
    """

    name: str
    title: str
    terms: Callable[[Parameters], tuple[Term, ...]]
    aliases: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    combination: Combination = AS_IS
    lowest: float = 0.0
    highest: float = 1.0
    aggregator: Aggregator = mean
    weights: str = ""
    cuts: bool = True
    unaveraged: str = ""
    extremes: str = ""
    better: int = 1
    parameters: Mapping[str, Parameter] = PARAMETERS
    needs_cutoff: bool = False
    formula: str = ""
    empty_if: str = "nothing relevant"
    remark: str = ""
    source: str = ""


def _geometric(metric: Parameters, above: float) -> Term:
    return discounted_sum(Gain.relevant(above), Discount(GEOMETRIC, metric.p))


def _points(metric: Parameters, *points: float) -> tuple[Term, ...]:
    return (
        interpolated(metric.above, points, up=metric.rounding == "up"),
        judged_above(metric.above),
        returned_above(metric.above),
    )


_TREC = "trec_eval, m_{}.c (Buckley)"
_BY_ORDER = "it depends on the rank of each document of a tie group, not only on how many are relevant"

_count = partial(Row, highest=math.inf, aggregator=total, cuts=False)

_AP = Row(
    "ap",
    "average precision: the sum, to rank k, of the precision at each relevant document, divided by R; its mean is MAP",
    aliases=("average_precision", "mean_average_precision"),
    takes=("rel", "empty"),
    terms=lambda m: (precision_sum(m.above), judged_above(m.above), returned_above(m.above)),
    combination=BY_RELEVANT,
    formula="Σ rel(i)·prec(i), i ≤ k, / R",
    source="Buckley & Voorhees 2000; Robertson, Kanoulas & Yilmaz 2010",
)

_BPREF = Row(
    "bpref",
    "binary preference: how rarely judged non-relevant documents are ranked above relevant ones",
    takes=("rel", "empty"),
    terms=lambda m: (preference_sum(m.above), judged_above(m.above), returned_above(m.above)),
    combination=BY_RELEVANT,
    cuts=False,
    formula="Σ rel(i)·(1 − min(above(i), R) / min(R, N)) / R",
    source="Buckley & Voorhees 2004; " + _TREC.format("bpref"),
)

_AUC = Row(
    "auc",
    "AUC: the share of correctly ordered pairs of a relevant and a non-relevant returned document",
    terms=lambda m: (pairs(m.above, m.empty),),
    takes=("rel", "empty"),
    cuts=False,
    formula="pairs i < j with rel(i) = 1 and rel(j) = 0 / all pairs of a relevant and a non-relevant document; a "
    "tied pair counts half",
    empty_if="no pair",
    remark="unjudged documents count as non-relevant. There is no pair if nothing is relevant, or if every returned "
    "document is relevant: even such a perfect list has the value of empty, which is 0 by default (empty=nan leaves "
    "such queries out). Relevant documents that are not returned form no pairs; if none is returned, the value is 0",
    source="Hanley & McNeil 1982; Fawcett 2006",
)


TABLE: dict[str, Row] = {
    row.name: row._replace(aliases=(*row.aliases, *aliases(row.name)))
    for row in (
        Row(
            "cg",
            "cumulative gain: the sum of the gains to rank k",
            takes=("gain",),
            terms=lambda m: (discounted_sum(m.gain, NO_DISCOUNT),),
            highest=math.inf,
            formula="Σ g(r_i), i ≤ k",
            source="Järvelin & Kekäläinen 2002",
        ),
        Row(
            "ncg",
            "normalised CG: CG / the CG of the ideal list",
            takes=("gain", "empty"),
            terms=lambda m: (discounted_sum(m.gain, NO_DISCOUNT), ideal_sum(m.gain, NO_DISCOUNT)),
            combination=RATIO,
            formula="Σ g(r_i), i ≤ k, / the same sum over the judged documents, highest gain first",
            source="Järvelin & Kekäläinen 2002",
        ),
        Row(
            "dcg",
            "discounted cumulative gain: the sum of gain times discount to rank k",
            takes=("gain", "discount"),
            terms=lambda m: (discounted_sum(m.gain, m.discount),),
            highest=math.inf,
            formula="Σ g(r_i)·d(i), i ≤ k",
            source="Järvelin & Kekäläinen 2002; gain=exponential: Burges et al. 2005",
        ),
        Row(
            "idcg",
            "ideal DCG: the DCG of the judged gains, highest first",
            takes=("gain", "discount"),
            terms=lambda m: (ideal_sum(m.gain, m.discount),),
            highest=math.inf,
            better=0,
            formula="Σ g(r_i)·d(i), i ≤ k, over the judged documents, highest gain first",
            source="Järvelin & Kekäläinen 2002",
        ),
        Row(
            "ndcg",
            "normalised DCG: DCG / IDCG",
            takes=("gain", "discount", "ideal", "empty"),
            terms=lambda m: (
                discounted_sum(m.gain, m.discount),
                ideal_sum(m.gain, m.discount, returned=m.ideal == "returned"),
            ),
            combination=RATIO,
            formula="DCG / IDCG; DCG = Σ g(r_i)·d(i), i ≤ k; IDCG = the same sum over the judged documents, highest "
            "gain first",
            source="Järvelin & Kekäläinen 2002",
        ),
        Row(
            "rr",
            "reciprocal rank: 1 / rank of the first relevant document; its mean is MRR",
            aliases=("mrr", "reciprocal_rank", "mean_reciprocal_rank"),
            takes=("rel", "empty"),
            terms=lambda m: (first_relevant(m.above, m.empty),),
            formula="1 / i for the first i ≤ k with rel(i) = 1; 0 if there is none",
            source="Voorhees 1999",
        ),
        Row(
            "success",
            "success, or hit rate: 1 if a relevant document is among the first k, else 0",
            aliases=("hit_rate", "hit", "hits", "hr"),
            takes=("rel", "empty"),
            terms=lambda m: (any_relevant(m.above, m.empty),),
            formula="1 if rel(i) = 1 for some i ≤ k, else 0",
            source=_TREC.format("success"),
        ),
        Row(
            "precision",
            "the share of relevant documents among the first k; without k, among those returned",
            takes=("rel",),
            terms=lambda m: (hits_above(m.above), ranks()),
            combination=QUOTIENT,
            formula="Σ rel(i), i ≤ k, / k (without k: / n)",
            source=_TREC.format("P"),
        ),
        Row(
            "recall",
            "the share of the relevant documents that are among the first k",
            aliases=("r",),
            takes=("rel", "empty"),
            terms=lambda m: (hits_above(m.above), judged_above(m.above), hits_above(m.above)),
            combination=BY_RELEVANT,
            formula="Σ rel(i), i ≤ k, / R",
            source=_TREC.format("recall"),
        ),
        Row(
            "capped_recall",
            "the relevant documents among the first k, divided by min(k, R), the most that k ranks can hold",
            aliases=("recall_cap",),
            takes=("rel", "empty"),
            terms=lambda m: (hits_above(m.above), judged_above(m.above), ranks(), hits_above(m.above)),
            combination=BY_CAPPED,
            formula="Σ rel(i), i ≤ k, / min(k, R) (without k: / min(n, R))",
            source=_TREC.format("rel_P") + "; BEIR's capped recall",
        ),
        Row(
            "f",
            "F, the weighted harmonic mean of precision and recall to rank k",
            aliases=("f1",),
            takes=("rel", "empty", "beta"),
            terms=lambda m: (hits_above(m.above), judged_above(m.above), ranks(), hits_above(m.above)),
            combination=F_MEASURE,
            formula="(1 + β²)·P·C / (β²·P + C); P = Σ rel(i), i ≤ k, / k (without k: / n); C = the same sum / R",
            source="van Rijsbergen 1979",
        ),
        _AP,
        Row(
            "ap_capped",
            "average precision divided by min(k, R) instead of R, as in recommender libraries",
            aliases=("map_capped",),
            takes=("rel", "empty"),
            terms=lambda m: (precision_sum(m.above), judged_above(m.above), ranks(), returned_above(m.above)),
            combination=BY_CAPPED,
            formula="Σ rel(i)·prec(i), i ≤ k, / min(k, R) (without k: / min(n, R))",
            source="Kaggle's MAP@k; implicit, evaluation.pyx",
        ),
        Row(
            "ap_hits",
            "average precision divided by the number of relevant documents among the first k instead of R",
            aliases=("map_hits",),
            takes=("rel", "empty"),
            terms=lambda m: (precision_sum(m.above), judged_above(m.above), hits_above(m.above)),
            combination=BY_HITS,
            unaveraged="it divides by the number of hits, which differs between the orders of tied documents",
            extremes="one more relevant document at a low rank lowers the mean of the precisions",
            formula="Σ rel(i)·prec(i), i ≤ k, / Σ rel(i), i ≤ k",
            source="torchmetrics, retrieval_average_precision; recmetrics, mapk",
        ),
        _AP._replace(
            name="gm_ap",
            title="average precision, aggregated over queries by the geometric mean (GMAP)",
            aliases=("gmap",),
            aggregator=geometric_mean,
            cuts=False,
            formula="Σ rel(i)·prec(i) / R",
            source="Robertson 2006; " + _TREC.format("gm_map"),
        ),
        Row(
            "r_precision",
            "precision at rank R, or a multiple of it",
            aliases=("r_prec",),
            takes=("rel", "empty", "multiple"),
            terms=lambda m: (
                precision_at_relevant(m.above, m.multiple),
                judged_above(m.above),
                returned_above(m.above),
            ),
            combination=FILLED,
            cuts=False,
            formula="Σ rel(i), i ≤ K, / K; K = int(multiple·R + 0.9)",
            source=_TREC.format("Rprec"),
        ),
        Row(
            "iprec",
            "interpolated precision: the highest precision at any rank with at least the given recall",
            takes=("rel", "empty", "recall", "rounding"),
            terms=lambda m: _points(m, m.recall),
            combination=FILLED,
            cuts=False,
            unaveraged="it is a maximum of precisions, and " + _BY_ORDER,
            formula="the highest prec(i) over the ranks i with at least recall·R (rounded) relevant documents to i",
            source=_TREC.format("iprec_at_recall"),
        ),
        Row(
            "iprec_mean",
            "the mean of interpolated precision at the recall levels 0, 0.1, …, 1",
            aliases=("11pt",),
            takes=("rel", "empty", "rounding"),
            terms=lambda m: _points(m, *(tenth / 10 for tenth in range(11))),
            combination=FILLED,
            cuts=False,
            unaveraged="it is a mean of maxima of precisions, and " + _BY_ORDER,
            formula="the mean, over recall = 0, 0.1, …, 1, of the highest prec(i) over the ranks i with at least "
            "recall·R (rounded) relevant documents to i",
            source=_TREC.format("11pt_avg"),
        ),
        _BPREF,
        _BPREF._replace(
            name="gm_bpref",
            title="bpref, aggregated over queries by the geometric mean",
            aggregator=geometric_mean,
            source=_TREC.format("gm_bpref"),
        ),
        Row(
            "infap",
            "inferred AP, for judgments of a sample of the pool (a negative grade means pooled but not judged)",
            aliases=("inf_ap",),
            takes=("rel", "empty"),
            terms=lambda m: (inferred_sum(m.above), judged_above(m.above), returned_above(m.above)),
            combination=BY_RELEVANT,
            cuts=False,
            unaveraged=_BY_ORDER,
            extremes="pooled documents above a relevant one raise its inferred precision",
            formula="Σ rel(i)·(1 + p(i)·(h(i) + ε) / (j(i) + 2ε)) / i / R; p(i), j(i), h(i): the numbers of "
            "pooled, judged and relevant documents above rank i; ε = 0.00001",
            source="Yilmaz & Aslam 2006; " + _TREC.format("infap"),
        ),
        Row(
            "fallout",
            "fall-out: the share of the documents judged not relevant that are among the first k",
            terms=lambda m: (hits_not_above(m.above), judged_above(NON_RELEVANT), judged_above(m.above)),
            aliases=("fall_out",),
            takes=("rel", "empty"),
            combination=FALLOUT,
            better=-1,
            formula="Σ 1 − rel(i) over the judged documents at i ≤ k, / N",
            empty_if="nothing non-relevant",
            remark="lower is better; the value is 0 for an empty list and for a list of relevant documents only. Only "
            "documents that are judged not relevant count",
            source="van Rijsbergen 1979; torchmetrics, retrieval_fall_out",
        ),
        _AUC,
        _AUC._replace(
            name="gauc",
            title="AUC, with a mean over queries that is weighted by the number of returned documents (GAUC)",
            weights="num_ret",
            source="Zhu, Jin, Tan, Pan, Zeng, Li & Gai 2017; Zhou et al. 2018",
        ),
        Row(
            "rbp",
            "rank-biased precision: (1 − p)·Σ p^(rank − 1) over relevant documents",
            takes=("rel", "p"),
            terms=lambda m: (_geometric(m, m.above),),
            combination=BIASED,
            formula="(1 − p)·Σ rel(i)·p^(i − 1), i ≤ k",
            source="Moffat & Zobel 2008",
        ),
        Row(
            "rbp_residual",
            "how much higher RBP would be if all unjudged documents, and all documents beyond rank k, were relevant",
            takes=("p",),
            terms=lambda m: (_geometric(m, NON_RELEVANT),),
            combination=RESIDUAL,
            better=-1,
            formula="1 − (1 − p)·Σ p^(i − 1) over the judged documents at i ≤ k",
            source="Moffat & Zobel 2008",
        ),
        Row(
            "err",
            "expected reciprocal rank at which a reader stops: at grade g, with probability (2^g − 1) / 2^max_grade",
            takes=("max_grade",),
            terms=lambda m: (cascade(m.max_grade),),
            formula="Σ 1/i · q(r_i)·Π (1 − q(r_j)), j < i ≤ k; q(r) = (2^r − 1) / 2^max_grade",
            source="Chapelle, Metzler, Zhang & Grinspan 2009",
        ),
        Row(
            "nerr",
            "ERR / the ERR of the ideal list",
            takes=("max_grade", "empty"),
            terms=lambda m: (cascade(m.max_grade), ideal_cascade(m.max_grade)),
            combination=RATIO,
            formula="ERR / the ERR of the judged documents, highest grade first; ERR = Σ 1/i · q(r_i)·Π (1 − q(r_j)), "
            "j < i ≤ k; q(r) = (2^r − 1) / 2^max_grade",
            source="Chapelle, Metzler, Zhang & Grinspan 2009; Sakai & Robertson 2008",
        ),
        Row(
            "q_measure",
            "Q-measure: average precision blended with cumulative gain, (c + β·CG) / (rank + β·ICG)",
            aliases=("q",),
            takes=("rel", "empty", "beta"),
            terms=lambda m: (precision_sum(m.above, m.beta), judged_above(m.above), returned_above(m.above)),
            combination=BY_RELEVANT,
            extremes="with `rel`, a document that is not relevant adds to the cumulative gain of those below it",
            formula="Σ rel(i)·(i·prec(i) + β·CG(i)) / (i + β·ICG(i)), i ≤ k, / R; CG and ICG: the sums, to rank i, "
            "of the grades in the list and in the ideal list",
            source="Sakai 2004",
        ),
        Row(
            "judged",
            "the share of judged documents among the first k returned",
            terms=lambda m: (hits_above(NON_RELEVANT), ranks(returned=True)),
            combination=QUOTIENT,
            better=0,
            formula="judged documents at i ≤ k / min(k, n)",
            source="ir_measures, Judged",
        ),
        Row(
            "unjudged",
            "the share of unjudged documents among the first k; without k, among those returned",
            terms=lambda m: (hits_above(NON_RELEVANT), ranks(returned=True), ranks()),
            combination=UNJUDGED,
            better=-1,
            formula="documents at i ≤ k that are not judged / k (without k: / n)",
            source=_TREC.format("unjudged"),
        ),
        Row(
            "set_ap",
            "precision times recall of the whole list",
            takes=("rel", "empty"),
            terms=lambda m: (hits_above(m.above), judged_above(m.above), ranks(), hits_above(m.above)),
            combination=SET_AP,
            cuts=False,
            formula="P·C; P = Σ rel(i) / n; C = Σ rel(i) / R",
            source=_TREC.format("set_map"),
        ),
        Row(
            "utility",
            "a·(relevant returned) + b·(others returned) + c·(relevant not returned) + d·(others not returned)",
            takes=("rel", "coefficients", "collection"),
            terms=lambda m: (hits_above(m.above), judged_above(m.above), ranks(), hits_above(m.above)),
            combination=UTILITY,
            lowest=-math.inf,
            highest=math.inf,
            cuts=False,
            formula="a·h + b·(n − h) + c·(R − h) + d·(collection + h − n − R); h = Σ rel(i); a, b, c, d: the "
            "coefficients",
            source=_TREC.format("utility"),
        ),
        Row(
            "g",
            "G: the sum of the gains, each divided by log2(2 + the ideal gain missed), / the sum of the judged gains",
            takes=("gain", "empty"),
            terms=lambda m: (cost_sum(m.gain), ideal_sum(m.gain, NO_DISCOUNT)),
            combination=QUOTIENT,
            cuts=False,
            unaveraged=_BY_ORDER,
            extremes="a gain is divided by the gain missed so far, which a higher gain above it lowers",
            formula="Σ g(r_i) / log2(2 + M(i)) / Σ g(r) over the judged documents; M(i): the ideal gains to "
            "rank i, each at least 1, less the gains to rank i",
            source=_TREC.format("G"),
        ),
        Row(
            "bin_g",
            "G with a gain of 1 for each relevant document, divided by log2(2 + the non-relevant documents above it)",
            takes=("rel", "empty"),
            terms=lambda m: (cost_sum(Gain.relevant(m.above)), judged_above(m.above), returned_above(m.above)),
            combination=BY_RELEVANT,
            cuts=False,
            unaveraged=_BY_ORDER,
            formula="Σ rel(i) / log2(2 + i − i·prec(i)) / R",
            source=_TREC.format("binG"),
        ),
        Row(
            "ndcg_rel",
            "the mean of nDCG over the ranks of the documents with a gain",
            takes=("gain", "discount", "empty"),
            terms=lambda m: (relevant_ranks(m.gain, m.discount), ideal_sum(m.gain, NO_DISCOUNT)),
            combination=BOUNDED_MEAN,
            cuts=False,
            unaveraged=_BY_ORDER,
            formula="the mean, over the judged documents with a gain, of nDCG at the rank of the document, or of nDCG "
            "without k if the document was not returned",
            source=_TREC.format("ndcg_rel"),
        ),
        Row(
            "r_ndcg",
            "the mean of nDCG at the last rank of each gain above 0 in the ideal list, and at the end of a longer list",
            takes=("gain", "discount", "rel", "empty"),
            terms=lambda m: (grade_levels(m.gain, m.discount), judged_above(m.above)),
            combination=BOUNDED_MEAN,
            cuts=False,
            formula="the mean of nDCG at the last rank of each gain above 0 in the ideal list, and at n if n is "
            "at least 2 more than the number of judged documents with a gain",
            source=_TREC.format("Rndcg"),
        ),
        _count(
            "num_ret",
            "the number of returned documents",
            terms=lambda m: (ranks(),),
            better=0,
            formula="n",
            source=_TREC.format("num_ret"),
        ),
        _count(
            "num_rel",
            "the number of relevant documents among the judged ones",
            takes=("rel",),
            terms=lambda m: (judged_above(m.above),),
            better=0,
            formula="R",
            source=_TREC.format("num_rel"),
        ),
        _count(
            "num_rel_ret",
            "the number of relevant documents among the returned ones",
            takes=("rel",),
            terms=lambda m: (hits_above(m.above),),
            formula="Σ rel(i)",
            source=_TREC.format("num_rel_ret"),
        ),
        _count(
            "num_nonrel_judged_ret",
            "the number of returned documents that are judged not relevant",
            takes=("rel",),
            terms=lambda m: (hits_not_above(m.above),),
            better=-1,
            formula="Σ 1 − rel(i) over the judged documents",
            source=_TREC.format("num_nonrel_judged_ret"),
        ),
        _count(
            "num_q",
            "the number of evaluated queries",
            terms=lambda m: (ranks(),),
            combination=ONE,
            better=0,
            formula="1",
            source=_TREC.format("num_q"),
        ),
    )
}
