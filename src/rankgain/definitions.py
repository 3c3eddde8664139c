"""THE TABLE of metrics: what each is called, what it takes, which terms compute it, and how their values make one.

A new metric is a new row; only a new family touches the backends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from rankgain import _codes
from rankgain._codes import GEOMETRIC
from rankgain.aggregators import Aggregator, geometric_mean, mean, total
from rankgain.discounts import NO_DISCOUNT, Discount
from rankgain.families import (
    NON_RELEVANT,
    Term,
    any_relevant,
    cascade,
    cost_sum,
    discounted_sum,
    first_relevant,
    grade_levels,
    hits_above,
    ideal_cascade,
    ideal_sum,
    inferred_sum,
    interpolated,
    judged_above,
    precision_at_relevant,
    precision_sum,
    preference_sum,
    ranks,
    relevant_ranks,
)
from rankgain.gains import Gain

if TYPE_CHECKING:
    from rankgain.metrics import Metric


class Figure(NamedTuple):
    """How the values of terms make that of a metric: see `_codes`.

    `bounded`: whether more than the ideal is refused. `parameters`: the numbers that it takes of the metric, besides
    `empty`, the value where nothing is relevant.
    """

    how: int
    bounded: Callable[[Metric], bool] = lambda metric: False
    parameters: Callable[[Metric], tuple[float, ...]] = lambda metric: ()


class Row(NamedTuple):
    """One metric of the table: what it is called, what it takes, which terms compute it, and what sums it up.

    `figure`: what makes its value of those of the terms.
    `cuts`: whether it takes a cut-off k. `unaveraged`: why it has no expected value over the orders of tied documents.
    `formula`: in the symbols that `rankgain.explain` lists.
    `better`: 1 where higher values are better, −1 where lower ones are, 0 where neither says anything about a run.
    """

    name: str
    title: str
    aliases: tuple[str, ...]
    parameters: tuple[str, ...]
    terms: Callable[[Metric], tuple[Term, ...]]
    figure: Figure
    highest: float
    source: str
    aggregator: Aggregator = mean
    cuts: bool = True
    unaveraged: str = ""
    formula: str = ""
    better: int = 1


def _always(metric: Metric) -> bool:
    return True


def _by_discount(metric: Metric) -> bool:
    return metric.discount.bounded


def _persistence(metric: Metric) -> tuple[float, ...]:
    return (metric.p,)


AS_IS = Figure(_codes.AS_IS)
RATIO = Figure(_codes.RATIO, _by_discount)
QUOTIENT = Figure(_codes.QUOTIENT)
BY_RELEVANT = Figure(_codes.BY_RELEVANT, _always)
BY_CAPPED = Figure(_codes.BY_CAPPED, _always)
BY_HITS = Figure(_codes.BY_HITS, _always)
FILLED = Figure(_codes.FILLED)
BOUNDED_MEAN = Figure(_codes.BOUNDED_MEAN, _by_discount)
F_MEASURE = Figure(_codes.F_MEASURE, _always, lambda metric: (metric.beta,))
BIASED = Figure(_codes.BIASED, parameters=_persistence)
RESIDUAL = Figure(_codes.RESIDUAL, parameters=_persistence)
UNJUDGED = Figure(_codes.UNJUDGED)
SET_AP = Figure(_codes.SET_AP, _always)
UTILITY = Figure(_codes.UTILITY, parameters=lambda metric: (*metric.coefficients, metric.collection))
DIFFERENCE = Figure(_codes.DIFFERENCE)
ONE = Figure(_codes.ONE)


def _relevant(metric: Metric) -> Term:
    return judged_above(metric.below)


def _hits(metric: Metric) -> Term:
    return hits_above(metric.below)


def _geometric(metric: Metric, above: float) -> Term:
    return discounted_sum(Gain.relevant(above), Discount(GEOMETRIC, metric.p))


def _points(metric: Metric, *points: float) -> tuple[Term, ...]:
    return interpolated(metric.below, points, up=metric.rounding == "up"), _relevant(metric)


_AP = "Buckley & Voorhees 2000; Robertson, Kanoulas & Yilmaz 2010"
_TREC = "trec_eval, m_{}.c (Buckley)"
_SUM, _RELEVANT, _GAIN = ("rel",), ("rel", "empty"), ("gain", "empty")
_BY_ORDER = "it depends on where each document of a tie group stands, not only on how many are relevant"


TABLE: dict[str, Row] = {
    row.name: row
    for row in (
        Row(
            "cg",
            "cumulative gain: the sum of the gains to rank k",
            (),
            ("gain",),
            lambda m: (discounted_sum(m.gain, NO_DISCOUNT),),
            AS_IS,
            math.inf,
            "Järvelin & Kekäläinen 2002",
            formula="Σ g(r_i), i ≤ k",
        ),
        Row(
            "ncg",
            "normalised CG: CG / that of the ideal list",
            (),
            _GAIN,
            lambda m: (discounted_sum(m.gain, NO_DISCOUNT), ideal_sum(m.gain, NO_DISCOUNT)),
            RATIO,
            1.0,
            "Järvelin & Kekäläinen 2002",
            formula="Σ g(r_i), i ≤ k, / the same sum over the judged documents, highest gain first",
        ),
        Row(
            "dcg",
            "discounted cumulative gain: the sum of gain times discount to rank k",
            (),
            ("gain", "discount"),
            lambda m: (discounted_sum(m.gain, m.discount),),
            AS_IS,
            math.inf,
            "Järvelin & Kekäläinen 2002; gain=exponential: Burges et al. 2005",
            formula="Σ g(r_i)·d(i), i ≤ k",
        ),
        Row(
            "idcg",
            "ideal DCG: the DCG of the judged gains, highest first",
            ("ideal_dcg",),
            ("gain", "discount"),
            lambda m: (ideal_sum(m.gain, m.discount),),
            AS_IS,
            math.inf,
            "Järvelin & Kekäläinen 2002",
            better=0,
            formula="Σ g(r_i)·d(i), i ≤ k, over the judged documents, highest gain first",
        ),
        Row(
            "ndcg",
            "normalised DCG: DCG / IDCG",
            ("ndcg_cut",),
            ("gain", "discount", "ideal", "empty"),
            lambda m: (
                discounted_sum(m.gain, m.discount),
                ideal_sum(m.gain, m.discount, returned=m.ideal == "returned"),
            ),
            RATIO,
            1.0,
            "Järvelin & Kekäläinen 2002",
            formula="DCG / IDCG; DCG = Σ g(r_i)·d(i), i ≤ k; IDCG = the same sum over the judged documents, highest "
            "gain first",
        ),
        Row(
            "rr",
            "reciprocal rank: 1 / rank of the first relevant document; its mean is MRR",
            ("mrr", "reciprocal_rank", "recip_rank"),
            _RELEVANT,
            lambda m: (first_relevant(m.below, m.empty),),
            AS_IS,
            1.0,
            "Voorhees 1999",
            formula="1 / i of the first i ≤ k with rel(i) = 1, else 0",
        ),
        Row(
            "success",
            "success, or hit rate: 1 if a relevant document was returned to rank k, else 0",
            ("hit_rate", "hit", "hits"),
            _RELEVANT,
            lambda m: (any_relevant(m.below, m.empty),),
            AS_IS,
            1.0,
            _TREC.format("success"),
            formula="1 if rel(i) = 1 for an i ≤ k, else 0",
        ),
        Row(
            "precision",
            "the share of relevant documents among the first k; without k, among those returned",
            ("p", "set_p"),
            _SUM,
            lambda m: (_hits(m), ranks()),
            QUOTIENT,
            1.0,
            _TREC.format("P"),
            formula="Σ rel(i), i ≤ k, / k (without k: / n)",
        ),
        Row(
            "recall",
            "the share of the relevant documents that were returned to rank k",
            ("r", "set_recall"),
            _RELEVANT,
            lambda m: (_hits(m), _relevant(m)),
            BY_RELEVANT,
            1.0,
            _TREC.format("recall"),
            formula="Σ rel(i), i ≤ k, / R",
        ),
        Row(
            "capped_recall",
            "relevant documents to rank k / min(k, R): how much of what k ranks can hold",
            ("relative_p", "recall_cap", "set_relative_p"),
            _RELEVANT,
            lambda m: (_hits(m), _relevant(m), ranks()),
            BY_CAPPED,
            1.0,
            _TREC.format("rel_P") + "; BEIR's capped recall",
            formula="Σ rel(i), i ≤ k, / min(k, R) (without k: / min(n, R))",
        ),
        Row(
            "f",
            "F, the weighted harmonic mean of precision and recall to rank k",
            ("f1", "set_f"),
            ("rel", "empty", "beta"),
            lambda m: (_hits(m), _relevant(m), ranks()),
            F_MEASURE,
            1.0,
            "van Rijsbergen 1979",
            formula="(1 + β²)·P·C / (β²·P + C); P = Σ rel(i), i ≤ k, / k (without k: / n); C = the same sum / R",
        ),
        Row(
            "ap",
            "average precision: the precisions at the ranks of relevant documents to k / R; its mean is MAP",
            ("map", "average_precision", "map_cut"),
            _RELEVANT,
            lambda m: (precision_sum(m.below), _relevant(m)),
            BY_RELEVANT,
            1.0,
            _AP,
            formula="Σ rel(i)·prec(i), i ≤ k, / R",
        ),
        Row(
            "ap_capped",
            "average precision / min(k, R), as recommender libraries count",
            ("map_capped",),
            _RELEVANT,
            lambda m: (precision_sum(m.below), _relevant(m), ranks()),
            BY_CAPPED,
            1.0,
            "Kaggle's MAP@k; implicit, evaluation.pyx",
            formula="Σ rel(i)·prec(i), i ≤ k, / min(k, R) (without k: / min(n, R))",
        ),
        Row(
            "ap_hits",
            "average precision / the number of relevant documents to rank k: the mean of their precisions",
            ("map_hits",),
            _RELEVANT,
            lambda m: (precision_sum(m.below), _relevant(m), _hits(m)),
            BY_HITS,
            1.0,
            "torchmetrics, retrieval_average_precision; recmetrics, mapk",
            unaveraged="it divides by the number of hits, which differs between the orders of tied documents",
            formula="Σ rel(i)·prec(i), i ≤ k, / Σ rel(i), i ≤ k",
        ),
        Row(
            "gm_ap",
            "average precision, whose geometric mean is taken over queries (GMAP)",
            ("gm_map", "gmap"),
            _RELEVANT,
            lambda m: (precision_sum(m.below), _relevant(m)),
            BY_RELEVANT,
            1.0,
            "Robertson 2006; " + _TREC.format("gm_map"),
            geometric_mean,
            cuts=False,
            formula="Σ rel(i)·prec(i) / R",
        ),
        Row(
            "r_precision",
            "precision at rank R, or a multiple of it",
            ("rprec", "r_prec", "rprec_mult"),
            ("rel", "empty", "multiple"),
            lambda m: (precision_at_relevant(m.below, m.multiple), _relevant(m)),
            FILLED,
            1.0,
            _TREC.format("Rprec"),
            cuts=False,
            formula="Σ rel(i), i ≤ K, / K; K = int(multiple·R + 0.9)",
        ),
        Row(
            "iprec",
            "interpolated precision: the highest at any rank with at least this recall",
            ("iprec_at_recall",),
            ("rel", "empty", "recall", "rounding"),
            lambda m: _points(m, m.recall),
            FILLED,
            1.0,
            _TREC.format("iprec_at_recall"),
            cuts=False,
            unaveraged="it is the highest of many precisions, and " + _BY_ORDER,
            formula="the highest prec(i) of the ranks by which recall·R documents (rounded) have rel(i) = 1",
        ),
        Row(
            "iprec_mean",
            "the mean of interpolated precision at recall 0, 0.1 … 1",
            ("11pt_avg", "11pt"),
            ("rel", "empty", "rounding"),
            lambda m: _points(m, *(tenth / 10 for tenth in range(11))),
            FILLED,
            1.0,
            _TREC.format("11pt_avg"),
            cuts=False,
            unaveraged="it is made of the highest of many precisions, and " + _BY_ORDER,
            formula="the mean over recall = 0, 0.1 … 1 of the highest prec(i) of the ranks by which recall·R "
            "documents (rounded) have rel(i) = 1",
        ),
        Row(
            "bpref",
            "binary preference: how seldom judged non-relevant documents stand above relevant ones",
            (),
            _RELEVANT,
            lambda m: (preference_sum(m.below), _relevant(m)),
            BY_RELEVANT,
            1.0,
            "Buckley & Voorhees 2004; " + _TREC.format("bpref"),
            cuts=False,
            formula="Σ rel(i)·(1 − min(above(i), R) / min(R, N)) / R",
        ),
        Row(
            "gm_bpref",
            "bpref, whose geometric mean is taken over queries",
            (),
            _RELEVANT,
            lambda m: (preference_sum(m.below), _relevant(m)),
            BY_RELEVANT,
            1.0,
            _TREC.format("gm_bpref"),
            geometric_mean,
            cuts=False,
            formula="Σ rel(i)·(1 − min(above(i), R) / min(R, N)) / R",
        ),
        Row(
            "infap",
            "inferred AP, for judgements of a sample of the pool (negative grades: pooled, not judged)",
            ("inf_ap",),
            _RELEVANT,
            lambda m: (inferred_sum(m.below), _relevant(m)),
            BY_RELEVANT,
            1.0,
            "Yilmaz & Aslam 2006; " + _TREC.format("infap"),
            cuts=False,
            unaveraged=_BY_ORDER,
            formula="Σ rel(i)·(1 + p(i)·(h(i) + ε) / (j(i) + 2ε)) / i / R; p(i), j(i), h(i): how many pooled, "
            "judged and relevant documents stand above rank i; ε = 0.00001",
        ),
        Row(
            "rbp",
            "rank-biased precision: (1 − p)·Σ p^(rank − 1) over relevant documents",
            (),
            ("rel", "p"),
            lambda m: (_geometric(m, m.below),),
            BIASED,
            1.0,
            "Moffat & Zobel 2008",
            formula="(1 − p)·Σ rel(i)·p^(i − 1), i ≤ k",
        ),
        Row(
            "rbp_residual",
            "what RBP would gain if all that is not judged, and all beyond rank k, were relevant",
            ("rbp_resid",),
            ("p",),
            lambda m: (_geometric(m, NON_RELEVANT),),
            RESIDUAL,
            1.0,
            "Moffat & Zobel 2008",
            better=-1,
            formula="1 − (1 − p)·Σ p^(i − 1) over the judged documents at i ≤ k",
        ),
        Row(
            "err",
            "expected reciprocal rank of a reader who stops at a document of grade g with (2^g − 1) / 2^max_grade",
            (),
            ("max_grade",),
            lambda m: (cascade(m.max_grade),),
            AS_IS,
            1.0,
            "Chapelle, Metzler, Zhang & Grinspan 2009",
            formula="Σ 1/i · q(r_i)·Π (1 − q(r_j)), j < i ≤ k; q(r) = (2^r − 1) / 2^max_grade",
        ),
        Row(
            "nerr",
            "ERR / that of the ideal list",
            (),
            ("max_grade", "empty"),
            lambda m: (cascade(m.max_grade), ideal_cascade(m.max_grade)),
            RATIO,
            1.0,
            "Chapelle, Metzler, Zhang & Grinspan 2009; Sakai & Robertson 2008",
            formula="ERR / that of the judged documents, highest grade first; ERR = Σ 1/i · q(r_i)·Π (1 − q(r_j)), "
            "j < i ≤ k; q(r) = (2^r − 1) / 2^max_grade",
        ),
        Row(
            "q_measure",
            "Q-measure: average precision blended with cumulative gain, (c + β·CG) / (rank + β·ICG)",
            ("q",),
            ("rel", "empty", "beta"),
            lambda m: (precision_sum(m.below, m.beta), _relevant(m)),
            BY_RELEVANT,
            1.0,
            "Sakai 2004",
            formula="Σ rel(i)·(i·prec(i) + β·CG(i)) / (i + β·ICG(i)), i ≤ k, / R; CG and ICG: the sums of the "
            "grades to rank i, and of the judged ones, highest first",
        ),
        Row(
            "judged",
            "the share of judged documents among those returned to rank k",
            (),
            (),
            lambda m: (hits_above(NON_RELEVANT), ranks(returned=True)),
            QUOTIENT,
            1.0,
            "ir_measures, Judged",
            better=0,
            formula="judged documents at i ≤ k / min(k, n)",
        ),
        Row(
            "unjudged",
            "the documents to rank k that are not judged / k; without k, / those returned",
            ("unj",),
            (),
            lambda m: (hits_above(NON_RELEVANT), ranks(returned=True), ranks()),
            UNJUDGED,
            1.0,
            _TREC.format("unjudged"),
            better=-1,
            formula="documents at i ≤ k that are not judged / k (without k: / n)",
        ),
        Row(
            "set_ap",
            "precision times recall of the whole list",
            ("set_map",),
            _RELEVANT,
            lambda m: (_hits(m), _relevant(m), ranks()),
            SET_AP,
            1.0,
            _TREC.format("set_map"),
            cuts=False,
            formula="P·C; P = Σ rel(i) / n; C = Σ rel(i) / R",
        ),
        Row(
            "utility",
            "a·(relevant returned) + b·(others returned) + c·(relevant not returned) + d·(others not returned)",
            (),
            ("rel", "coefficients", "collection"),
            lambda m: (_hits(m), _relevant(m), ranks()),
            UTILITY,
            math.inf,
            _TREC.format("utility"),
            cuts=False,
            formula="a·h + b·(n − h) + c·(R − h) + d·(collection + h − n − R); h = Σ rel(i); a, b, c, d: the "
            "coefficients",
        ),
        Row(
            "g",
            "G: the gains, each divided by log2(2 + the gain that the ranks so far have missed), / their ideal sum",
            (),
            _GAIN,
            lambda m: (cost_sum(m.gain), ideal_sum(m.gain, NO_DISCOUNT)),
            QUOTIENT,
            1.0,
            _TREC.format("G"),
            cuts=False,
            unaveraged=_BY_ORDER,
            formula="Σ g(r_i) / log2(2 + M(i)) / Σ g(r) over the judged documents; M(i): the ideal gains of the "
            "ranks to i, each 1 at least, less the gains found there",
        ),
        Row(
            "bin_g",
            "G with the gain 1 of each relevant document: each is divided by log2(2 + the others above)",
            ("bing",),
            _RELEVANT,
            lambda m: (cost_sum(Gain.relevant(m.below)), _relevant(m)),
            BY_RELEVANT,
            1.0,
            _TREC.format("binG"),
            cuts=False,
            unaveraged=_BY_ORDER,
            formula="Σ rel(i) / log2(2 + i − i·prec(i)) / R",
        ),
        Row(
            "ndcg_rel",
            "the mean of nDCG at the ranks of the documents with a gain",
            (),
            ("gain", "discount", "empty"),
            lambda m: (relevant_ranks(m.gain, m.discount), ideal_sum(m.gain, NO_DISCOUNT)),
            BOUNDED_MEAN,
            1.0,
            _TREC.format("ndcg_rel"),
            cuts=False,
            unaveraged=_BY_ORDER,
            formula="the mean of nDCG at the ranks of the judged documents with a gain; at n for those not returned",
        ),
        Row(
            "r_ndcg",
            "the mean of nDCG at the ranks where the ideal gain falls, and at the end",
            ("rndcg",),
            ("gain", "discount", "rel", "empty"),
            lambda m: (grade_levels(m.gain, m.discount), _relevant(m)),
            BOUNDED_MEAN,
            1.0,
            _TREC.format("Rndcg"),
            cuts=False,
            formula="the mean of nDCG at the ranks where the ideal gain falls, and at n",
        ),
        Row(
            "num_ret",
            "documents returned",
            (),
            (),
            lambda m: (ranks(),),
            AS_IS,
            math.inf,
            _TREC.format("num_ret"),
            total,
            cuts=False,
            better=0,
            formula="n",
        ),
        Row(
            "num_rel",
            "relevant documents judged",
            (),
            _SUM,
            lambda m: (_relevant(m),),
            AS_IS,
            math.inf,
            _TREC.format("num_rel"),
            total,
            cuts=False,
            better=0,
            formula="R",
        ),
        Row(
            "num_rel_ret",
            "relevant documents returned",
            (),
            _SUM,
            lambda m: (_hits(m),),
            AS_IS,
            math.inf,
            _TREC.format("num_rel_ret"),
            total,
            cuts=False,
            formula="Σ rel(i)",
        ),
        Row(
            "num_nonrel_judged_ret",
            "documents returned that are judged not relevant",
            (),
            _SUM,
            lambda m: (hits_above(NON_RELEVANT), _hits(m)),
            DIFFERENCE,
            math.inf,
            _TREC.format("num_nonrel_judged_ret"),
            total,
            cuts=False,
            better=-1,
            formula="Σ 1 − rel(i) over the judged documents",
        ),
        Row(
            "num_q",
            "queries evaluated",
            (),
            (),
            lambda m: (ranks(),),
            ONE,
            math.inf,
            _TREC.format("num_q"),
            total,
            cuts=False,
            better=0,
            formula="1",
        ),
    )
}
