"""THE TABLE of metrics: what each is called, what it takes, which families compute it, and how their values make one.

A new metric is a new row; only a new family touches the backends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankgain import _backend
from rankgain._codes import ABOVE_IDEAL, GEOMETRIC, NOT_FINITE
from rankgain.aggregators import Aggregator, geometric_mean, mean, total
from rankgain.batch import NON_RELEVANT
from rankgain.discounts import NO_DISCOUNT, Discount
from rankgain.errors import check
from rankgain.families import (
    Cascade,
    CostSum,
    DiscountedSum,
    Family,
    FirstRelevant,
    GradeLevels,
    IdealSum,
    InferredSum,
    Interpolated,
    JudgedAbove,
    PrecisionAtRelevant,
    PrecisionSum,
    PreferenceSum,
    Ranks,
    RelevantRanks,
    hits_above,
    refuse_first,
)
from rankgain.gains import Gain
from rankgain.lists import Floats

if TYPE_CHECKING:
    from rankgain.metrics import Metric


class Row(NamedTuple):
    """One metric of the table: what it is called, what it takes, which families compute it, what sums it up.

    `value` makes the values of the queries from those of the families, one vector each; None: of the only one.
    `cuts`: whether it takes a cut-off k. `unaveraged`: why it has no expected value over the orders of tied documents.
    `formula`: in the symbols that `rankgain.explain` lists.
    `better`: 1 where higher values are better, −1 where lower ones are, 0 where neither says anything about a run.
    """

    name: str
    title: str
    aliases: tuple[str, ...]
    parameters: tuple[str, ...]
    families: Callable[[Metric], tuple[Family, ...]]
    value: Callable[..., Floats] | None
    highest: float
    source: str
    aggregator: Aggregator = mean
    cuts: bool = True
    unaveraged: str = ""
    formula: str = ""
    better: int = 1


TOLERANCE = 1e-9  # what rounding may add to values averaged over ties

# How the vectors of the families make the values of a metric


def _ratio(metric: Metric, values: Floats, ideals: Floats) -> Floats:
    """A value and its ideal; one that exceeds it by more than rounding does is refused."""
    out = np.empty(len(values))
    values, ideals = np.ascontiguousarray(values), np.ascontiguousarray(ideals)
    check(_backend.kernels.normalise(values, ideals, metric.empty, metric.discount.bounded, out))
    return out


def _quotient(values: Floats, totals: Floats, empty: float = 0.0) -> Floats:
    quotients: Floats = np.divide(values, totals, out=np.full(len(values), empty), where=totals != 0.0)
    return quotients


def _by_rank(metric: Metric, values: Floats, ranks: Floats) -> Floats:
    return _quotient(values, ranks)


def _filled(metric: Metric, values: Floats, relevant: Floats) -> Floats:
    """The values, but `empty` where nothing is relevant."""
    return np.where(relevant > 0.0, values, metric.empty)


def _checked(values: Floats, relevant: Floats) -> Floats:
    """Values of which each relevant document adds 1 at the most: more of them than are judged cannot be."""
    refuse_first(ABOVE_IDEAL, values > relevant * (1.0 + TOLERANCE))
    return values


def _bounded_mean(metric: Metric, values: Floats, relevant: Floats) -> Floats:
    if metric.discount.bounded:
        _checked(values, np.ones(len(values)))
    return _filled(metric, values, relevant)


def _by_relevant(metric: Metric, values: Floats, relevant: Floats) -> Floats:
    return _quotient(_checked(values, relevant), relevant, metric.empty)


def _by_capped(metric: Metric, values: Floats, relevant: Floats, ranks: Floats) -> Floats:
    return _filled(metric, _quotient(_checked(values, relevant), np.minimum(relevant, ranks)), relevant)


def _by_hits(metric: Metric, values: Floats, relevant: Floats, hits: Floats) -> Floats:
    return _filled(metric, _quotient(values, _checked(hits, relevant)), relevant)


def _f(metric: Metric, hits: Floats, relevant: Floats, ranks: Floats) -> Floats:
    """(1 + β²)·P·R / (β²·P + R), P and R having the same hits above them."""
    square = metric.beta * metric.beta
    return _filled(metric, _quotient((1.0 + square) * _checked(hits, relevant), square * relevant + ranks), relevant)


def _unjudged(metric: Metric, judged: Floats, returned: Floats, ranks: Floats) -> Floats:
    return _quotient(returned - judged, ranks)


def _set_ap(metric: Metric, hits: Floats, relevant: Floats, returned: Floats) -> Floats:
    return _filled(metric, _quotient(hits * _checked(hits, relevant), returned * relevant), relevant)


def _utility(metric: Metric, hits: Floats, relevant: Floats, returned: Floats) -> Floats:
    a, b, c, d = metric.coefficients
    rest = metric.collection + hits - returned - relevant
    with np.errstate(over="ignore", invalid="ignore"):
        value = a * hits + b * (returned - hits) + c * (relevant - hits) + d * rest
    refuse_first(NOT_FINITE, ~np.isfinite(value))
    return value


def _relevant(metric: Metric) -> JudgedAbove:
    return JudgedAbove(metric.below)


def _hits(metric: Metric) -> DiscountedSum:
    return hits_above(metric.below)


def _geometric(metric: Metric, below: float) -> DiscountedSum:
    return DiscountedSum(Gain.relevant(below), Discount(GEOMETRIC, metric.p))


def _points(metric: Metric, *points: float) -> tuple[Family, ...]:
    return Interpolated(metric.below, points, metric.rounding == "up"), _relevant(metric)


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
            lambda m: (DiscountedSum(m.gain, NO_DISCOUNT),),
            None,
            math.inf,
            "Järvelin & Kekäläinen 2002",
            formula="Σ g(r_i), i ≤ k",
        ),
        Row(
            "ncg",
            "normalised CG: CG / that of the ideal list",
            (),
            _GAIN,
            lambda m: (DiscountedSum(m.gain, NO_DISCOUNT), IdealSum(m.gain, NO_DISCOUNT)),
            _ratio,
            1.0,
            "Järvelin & Kekäläinen 2002",
            formula="Σ g(r_i), i ≤ k, / the same sum over the judged documents, highest gain first",
        ),
        Row(
            "dcg",
            "discounted cumulative gain: the sum of gain times discount to rank k",
            (),
            ("gain", "discount"),
            lambda m: (DiscountedSum(m.gain, m.discount),),
            None,
            math.inf,
            "Järvelin & Kekäläinen 2002; gain=exponential: Burges et al. 2005",
            formula="Σ g(r_i)·d(i), i ≤ k",
        ),
        Row(
            "idcg",
            "ideal DCG: the DCG of the judged gains, highest first",
            ("ideal_dcg",),
            ("gain", "discount"),
            lambda m: (IdealSum(m.gain, m.discount),),
            None,
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
            lambda m: (DiscountedSum(m.gain, m.discount), IdealSum(m.gain, m.discount, m.ideal == "returned")),
            _ratio,
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
            lambda m: (FirstRelevant(m.below, m.empty),),
            None,
            1.0,
            "Voorhees 1999",
            formula="1 / i of the first i ≤ k with rel(i) = 1, else 0",
        ),
        Row(
            "success",
            "success, or hit rate: 1 if a relevant document was returned to rank k, else 0",
            ("hit_rate", "hit", "hits"),
            _RELEVANT,
            lambda m: (FirstRelevant(m.below, m.empty, success=True),),
            None,
            1.0,
            _TREC.format("success"),
            formula="1 if rel(i) = 1 for an i ≤ k, else 0",
        ),
        Row(
            "precision",
            "the share of relevant documents among the first k; without k, among those returned",
            ("p", "set_p"),
            _SUM,
            lambda m: (_hits(m), Ranks()),
            _by_rank,
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
            _by_relevant,
            1.0,
            _TREC.format("recall"),
            formula="Σ rel(i), i ≤ k, / R",
        ),
        Row(
            "capped_recall",
            "relevant documents to rank k / min(k, R): how much of what k ranks can hold",
            ("relative_p", "recall_cap", "set_relative_p"),
            _RELEVANT,
            lambda m: (_hits(m), _relevant(m), Ranks()),
            _by_capped,
            1.0,
            _TREC.format("rel_P") + "; BEIR's capped recall",
            formula="Σ rel(i), i ≤ k, / min(k, R) (without k: / min(n, R))",
        ),
        Row(
            "f",
            "F, the weighted harmonic mean of precision and recall to rank k",
            ("f1", "set_f"),
            ("rel", "empty", "beta"),
            lambda m: (_hits(m), _relevant(m), Ranks()),
            _f,
            1.0,
            "van Rijsbergen 1979",
            formula="(1 + β²)·P·C / (β²·P + C); P = Σ rel(i), i ≤ k, / k (without k: / n); C = the same sum / R",
        ),
        Row(
            "ap",
            "average precision: the precisions at the ranks of relevant documents to k / R; its mean is MAP",
            ("map", "average_precision", "map_cut"),
            _RELEVANT,
            lambda m: (PrecisionSum(m.below), _relevant(m)),
            _by_relevant,
            1.0,
            _AP,
            formula="Σ rel(i)·prec(i), i ≤ k, / R",
        ),
        Row(
            "ap_capped",
            "average precision / min(k, R), as recommender libraries count",
            ("map_capped",),
            _RELEVANT,
            lambda m: (PrecisionSum(m.below), _relevant(m), Ranks()),
            _by_capped,
            1.0,
            "Kaggle's MAP@k; implicit, evaluation.pyx",
            formula="Σ rel(i)·prec(i), i ≤ k, / min(k, R) (without k: / min(n, R))",
        ),
        Row(
            "ap_hits",
            "average precision / the number of relevant documents to rank k: the mean of their precisions",
            ("map_hits",),
            _RELEVANT,
            lambda m: (PrecisionSum(m.below), _relevant(m), _hits(m)),
            _by_hits,
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
            lambda m: (PrecisionSum(m.below), _relevant(m)),
            _by_relevant,
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
            lambda m: (PrecisionAtRelevant(m.below, m.multiple), _relevant(m)),
            _filled,
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
            _filled,
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
            _filled,
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
            lambda m: (PreferenceSum(m.below), _relevant(m)),
            _by_relevant,
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
            lambda m: (PreferenceSum(m.below), _relevant(m)),
            _by_relevant,
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
            lambda m: (InferredSum(m.below), _relevant(m)),
            _by_relevant,
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
            lambda m, sums: np.minimum((1.0 - m.p) * sums, 1.0),
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
            lambda m, sums: np.maximum(1.0 - (1.0 - m.p) * sums, 0.0),
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
            lambda m: (Cascade(m.max_grade),),
            None,
            1.0,
            "Chapelle, Metzler, Zhang & Grinspan 2009",
            formula="Σ 1/i · q(r_i)·Π (1 − q(r_j)), j < i ≤ k; q(r) = (2^r − 1) / 2^max_grade",
        ),
        Row(
            "nerr",
            "ERR / that of the ideal list",
            (),
            ("max_grade", "empty"),
            lambda m: (Cascade(m.max_grade), Cascade(m.max_grade, ideal=True)),
            _ratio,
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
            lambda m: (PrecisionSum(m.below, m.beta), _relevant(m)),
            _by_relevant,
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
            lambda m: (hits_above(NON_RELEVANT), Ranks(returned=True)),
            _by_rank,
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
            lambda m: (hits_above(NON_RELEVANT), Ranks(returned=True), Ranks()),
            _unjudged,
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
            lambda m: (_hits(m), _relevant(m), Ranks()),
            _set_ap,
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
            lambda m: (_hits(m), _relevant(m), Ranks()),
            _utility,
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
            lambda m: (CostSum(m.gain), IdealSum(m.gain, NO_DISCOUNT)),
            lambda m, sums, totals: _quotient(sums, totals, m.empty),
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
            lambda m: (CostSum(Gain.relevant(m.below)), _relevant(m)),
            _by_relevant,
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
            lambda m: (RelevantRanks(m.gain, m.discount), IdealSum(m.gain, NO_DISCOUNT)),
            _bounded_mean,
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
            lambda m: (GradeLevels(m.gain, m.discount), _relevant(m)),
            _bounded_mean,
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
            lambda m: (Ranks(),),
            None,
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
            None,
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
            None,
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
            lambda m, judged, relevant: judged - relevant,
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
            lambda m: (Ranks(),),
            lambda m, returned: np.ones(len(returned)),
            math.inf,
            _TREC.format("num_q"),
            total,
            cuts=False,
            better=0,
            formula="1",
        ),
    )
}
