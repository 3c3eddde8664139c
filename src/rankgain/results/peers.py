"""The table of other tools: the equivalents of their metrics in rankgain, and their rules for ties and queries.

`Rankings.evaluate(..., like=)` follows the rules of a row, `rankgain.explain` prints a row or the difference of two,
and the page 'Where we differ' of the documentation is generated from all of them. A row states only facts that were
observed by running the tool or read in its source, and names the release.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rankgain._codes import JARVELIN, VECTOR
from rankgain.choices import Handed, Missing, PeerOrOwn, ScoreBits, Ties, check_choices
from rankgain.errors import nearest, short
from rankgain.metrics.aggregators import LEAST, geometric_mean, mean, total
from rankgain.metrics.discounts import LOGARITHMIC, Discount
from rankgain.metrics.gains import Gain
from rankgain.metrics.metric import Metric, metric, parse, parse_quality, row_of
from rankgain.metrics.parameters import PARAMETERS
from rankgain.metrics.similarity import SIMILARITY_TABLE
from rankgain.metrics.subtopics import NOVELTY
from rankgain.metrics.trec_names import TREC_NAMES
from rankgain.results.text import fitted, line_width


class PeerRules(NamedTuple):
    """The rules that a tool applies to all metrics; if a rule is None, that of the rankings applies.

    See `Rankings.under`. `counts_unjudged`: whether queries of the run without judgments, which rankgain leaves out,
    count as 0. `weighs_subtopics`: whether subtopics may have weights. `removes_own_ids`: whether hits with the id of
    their query are removed.
    """

    ties: Ties | None
    missing: Missing | None
    score_bits: ScoreBits | None = 64
    counts_unjudged: bool = False
    weighs_subtopics: bool = True
    removes_own_ids: bool = False


class Measure(NamedTuple):
    """A metric of another tool.

    `names`: the names in rankgain, with ``@k`` if there is a cut-off. `peer`: the name in the tool. `parameters`:
    the parameters of the equivalent rankgain metric, or a function of k that returns them. `metric`: the equivalent
    rankgain metric, if that has another name. `rules`: the tool's rules for this metric, if they differ from its
    general rules. `variants`: by parameter, the measure to use instead if the caller writes that parameter.
    """

    names: str
    peer: str
    parameters: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]] = MappingProxyType({})
    metric: str = ""
    rules: PeerRules | None = None
    variants: Mapping[str, Measure] = MappingProxyType({})


class PeerTool(NamedTuple):
    """Facts about another tool, or about a metric that takes the place of a tool in a comparison.

    `order`, `queries`: in words, how the tool orders ties and which queries count. `others`: names of rankgain metrics
    with another meaning in the tool, and that meaning. `notes`: further facts, each in sentences without the last full
    stop, with the rankgain metrics that it concerns; "" for all. `rel`: the lowest relevant grade, for measures without
    a threshold in `parameters`.
    """

    name: PeerOrOwn
    title: str
    rules: PeerRules
    order: str
    queries: str
    measures: tuple[Measure, ...]
    notes: Mapping[str, str]
    source: str
    others: Mapping[str, str] = MappingProxyType({})
    rel: float | None = None
    metric: Metric | None = None  # used instead of `measures` if the row stands for a metric

    @property
    def takes_arrays(self) -> bool:
        """Whether users hand the tool the labels and scores of documents, so that it knows no others."""
        return self.queries == QUERIES_ALWAYS_PRESENT

    def given(self, given: Handed | None) -> Handed:
        """Check and return what the tool is handed; None stands for what its users hand it."""
        if given is None:
            return "scored" if self.takes_arrays else "files"
        check_choices(given=given)
        if given == "scored" and self.measures and not self.takes_arrays:
            raise ValueError(f"given='scored': {self.title} is handed the whole truth: leave given out")
        return given

    def measure(self, record: Metric) -> Measure:
        """Return the tool's measure that corresponds to a metric."""
        if self is OWN:
            return Measure(record.name, record.name)
        key = record.name + ("" if record.k is None else "@k")
        for measure in self.measures:
            if key in measure.names.split():
                return measure
        names = ", ".join(name for measure in self.measures for name in measure.names.split())
        known = f"rankgain knows no {key} of {self.title}; it knows {names}"
        about = "".join(f". {note}" for note, metrics in self.notes.items() if record.name in metrics.split())
        raise ValueError(f"like={self.name!r}: {known}{about}")


ABOVE_HALF = math.nextafter(0.5, 1.0)  # the lowest grade that is above 0.5

_INPUT = "input order (a stable sort)"
QUERIES_ALWAYS_PRESENT = "each comes with its documents, so none can be missing"
SCORED_ONLY = "the scored documents, with grade 0 if they have no higher one; no others"

_DOCID, _STABLE = PeerRules("docid", "skip"), PeerRules("stable", "zero")


def _trec_measures(release: int) -> tuple[Measure, ...]:
    """Return the measures of trec_eval that have an equivalent rankgain metric.

    If two measures are equivalent to the same metric, only the more general one is included. rbp and rbp_resid are left
    out, since they differ: see the notes of release 10, which introduced them.
    """
    points = {"rounding": "up" if release == 9 else "nearest"}
    measures: dict[str, Measure] = {}
    for row in TREC_NAMES:
        if row.metric and row.since <= release and not row.metric.startswith("rbp"):
            names = row.metric + "@k" * (row.kind == "cut")
            measures[names] = Measure(names, row.name, points if row.metric.startswith("iprec") else {})
    return tuple(measures.values())


_TREC_NOTES = {
    "trec_eval truncates grades to integers. Its option -l sets the lowest relevant grade, which is 1 by default, and "
    "does not change gains": "",
    "The parameter of trec_eval's set_F is β², that of rankgain's f is β: for set_F.4 write f(beta=2)": "f",
    "trec_eval sorts gains incorrectly if they differ by less than 1": "ndcg ndcg_rel r_ndcg g dcg idcg",
}


def _normalised_dcg_options(k: int) -> dict[str, Any]:
    """Return parameters for DCG with discounts that add up to 1 over k ranks.

    RecTools divides by the sum of the discounts of all k ranks, even if fewer documents are relevant.
    """
    weights = LOGARITHMIC.table(k)[:k]
    return {"gain": "binary", "discount": weights / math.fsum(weights)}


def _divided_from_rank_2(k: int) -> dict[str, Any]:
    """Refuse the cut-off 1 of metrics that ndeval divides by their largest value, but not at the first rank."""
    if k == 1:
        raise ValueError(
            "like='ndeval': ndeval does not divide ERR-IA@1 and alpha-DCG@1 by their largest value, the number of "
            "subtopics; leave out like="
        )
    return {}


_BY_ID = {"ideal": "docid"}
_ACHIEVABLE = Measure("ndcg@k", "NDCG(k, divide_by_achievable=True)", {"gain": "binary"})

OWN = PeerTool(
    "rankgain",
    "rankgain",
    PeerRules(None, None, None),
    "as requested; by default by id (docid) if documents have ids, else averaged",
    "all judged ones; those that the run lacks count 0 (missing='skip': are left out)",
    (),
    {},
    "Definitions, in the documentation",
)

PEERS: dict[str, PeerTool] = {
    peer.name: peer
    for peer in (
        PeerTool(
            "trec_eval-9",
            "trec_eval 9.0.8 and pytrec_eval",
            _DOCID._replace(score_bits=32),
            "the higher document id first (docid)",
            "those in both the truth and the run; with -c all of the truth",
            _trec_measures(9),
            {
                "pytrec_eval leaves out a query whose qrels are an empty dict. rankgain counts it as a query "
                "without relevant documents": "",
                **_TREC_NOTES,
            },
            "trec_eval 9.0.8, m_*.c, form_res_rels.c; pytrec_eval-terrier 0.5.11",
            rel=1,
        ),
        PeerTool(
            "trec_eval-10",
            "trec_eval 10.0",
            _DOCID._replace(missing="zero"),
            "the higher document id first (docid)",
            "all of the truth with -c; without it a query that the run lacks ends the program (exit 4)",
            _trec_measures(10),
            {
                **_TREC_NOTES,
                "like= does not support trec_eval's rbp and rbp_resid. They scale gains by a minimum and a maximum "
                "that trec_eval never sets, and they count pooled documents differently from rankgain": "rbp "
                "rbp_residual",
            },
            "trec_eval 10.0-rc3, m_*.c, form_res_rels.c",
            rel=1,
        ),
        PeerTool(
            "sklearn",
            "scikit-learn",
            PeerRules("average", "zero"),
            "the expected value over all orders (average); with ignore_ties=True an unstable sort",
            QUERIES_ALWAYS_PRESENT,
            (Measure("ndcg ndcg@k", "ndcg_score"), Measure("dcg dcg@k", "dcg_score")),
            {
                "scikit-learn raises an error for a query of one document. If scores are unsigned integers, it negates "
                "them modulo 2^n, which puts a score of 0 first": "",
            },
            "scikit-learn 1.9.1, sklearn/metrics/_ranking.py",
        ),
        PeerTool(
            "lightgbm",
            "LightGBM",
            _STABLE,
            _INPUT,
            QUERIES_ALWAYS_PRESENT,
            (
                Measure("ndcg ndcg@k", "ndcg", {"gain": "exponential", "empty": 1.0}),
                Measure("ap ap@k", "map", {"rel": ABOVE_HALF, "empty": 1.0}, "ap_capped"),
            ),
            {
                "LightGBM's label_gain replaces the gain. Write the same gains in the metric, as in "
                "'ndcg(gain={1: 1, 2: 3})@10'": "ndcg",
                "LightGBM applies query weights to the mean, but its nDCG counts queries without a relevant document "
                "unweighted": "",
            },
            "LightGBM 4.7.0, src/metric/rank_metric.hpp, map_metric.hpp, dcg_calculator.cpp",
        ),
        PeerTool(
            "xgboost",
            "XGBoost",
            _STABLE._replace(score_bits=32),
            _INPUT,
            QUERIES_ALWAYS_PRESENT,
            (
                Measure("ndcg ndcg@k", "ndcg", {"gain": "exponential", "empty": 1.0}),
                Measure("ap ap@k", "map", {"empty": 1.0}, "ap_capped"),
                Measure("precision", "pre"),
            ),
            {
                "XGBoost's ndcg@k- and map@k- are 0 for a query without relevant documents. In rankgain, write "
                "empty=0": "ndcg ap",
                "If XGBoost runs with ndcg_exp_gain=false, write gain=linear in rankgain": "ndcg",
                "XGBoost's pre@k divides by min(k, number of documents). rankgain has no equivalent": "precision",
                "XGBoost's map and pre require labels of 0 and 1": "ap precision",
            },
            "XGBoost 3.2.0, src/metric/rank_metric.cc, src/common/ranking_utils.*",
        ),
        PeerTool(
            "catboost",
            "CatBoost",
            PeerRules("worst", "zero"),
            "the lowest label first (worst)",
            QUERIES_ALWAYS_PRESENT,
            (
                Measure("ndcg ndcg@k", "NDCG:top=k", {"empty": 1.0}),
                Measure("dcg dcg@k", "DCG:top=k"),
                Measure("ap ap@k", "MAP:top=k", {}, "ap_capped"),
                Measure("precision", "PrecisionAt"),
                Measure("recall recall@k", "RecallAt:top=k", {"empty": 1.0}),
                Measure("rr rr@k", "MRR:top=k"),
            ),
            {
                "For CatBoost's NDCG:type=Exp, write gain=exponential in rankgain. For denominator=Position, write "
                "discount=zipf": "ndcg dcg",
                "CatBoost's PrecisionAt:top=k divides by min(k, number of documents), and its ERR treats labels as "
                "probabilities. rankgain has no equivalent of either": "precision err",
            },
            "CatBoost 1.2.10, metrics/dcg.cpp, doc_comparator.h; catboost.utils.eval_metric",
            rel=ABOVE_HALF,
        ),
        PeerTool(
            "torchmetrics",
            "TorchMetrics",
            _STABLE._replace(score_bits=32),
            "nDCG: the expected value over all orders (average); others: undefined, by topk and argsort; rankgain "
            "uses input order",
            QUERIES_ALWAYS_PRESENT,
            (
                Measure("ndcg ndcg@k", "retrieval_normalized_dcg", rules=PeerRules("average", "zero", 32)),
                Measure("rr rr@k", "retrieval_reciprocal_rank"),
                Measure("ap ap@k", "retrieval_average_precision", {}, "ap_hits"),
                Measure("precision precision@k", "retrieval_precision"),
                Measure("recall recall@k", "retrieval_recall"),
                Measure("success success@k", "retrieval_hit_rate"),
                Measure("r_precision", "retrieval_r_precision"),
                Measure("fallout fallout@k", "retrieval_fall_out"),
                Measure("auc", "retrieval_auroc", rules=PeerRules("average", "zero", 32)),
            ),
            {
                "TorchMetrics computes in 32 bits, so its values agree with rankgain's to about six digits": "",
                "From release 1.8 on, TorchMetrics' RR, AP, precision and recall never count a document as relevant "
                "if its score is not above 0. Add a constant to logits before you pass them to TorchMetrics. With "
                "like='torchmetrics', rankgain uses scores only to order documents": "rr ap precision recall",
                "The classes of rankgain.torchmetrics follow TorchMetrics in its order of tied documents and in how "
                "it treats scores that are not above 0": "",
                "TorchMetrics' AUROC applies a float32 sigmoid to scores if any are outside [0, 1], after which large "
                "logits are tied": "auc",
                "TorchMetrics' empty_target_action='neg' gives 0. For 'pos', write empty=1 in rankgain, and for "
                "'skip', empty=nan": "",
            },
            "torchmetrics 1.9.0, functional/retrieval/*.py, retrieval/base.py",
        ),
        PeerTool(
            "ranx",
            "ranx",
            _STABLE,
            "undefined, by an unstable sort; rankgain uses input order",
            "all of the truth, with make_comparable=True; else a difference is an error",
            (
                Measure("ndcg ndcg@k", "ndcg"),
                Measure("dcg dcg@k", "dcg"),
                Measure("ap ap@k", "map"),
                Measure("rr rr@k", "mrr"),
                Measure("precision precision@k", "precision"),
                Measure("recall recall@k", "recall"),
                Measure("f f@k", "f1"),
                Measure("success success@k", "hit_rate"),
                Measure("r_precision", "r-precision"),
            ),
            {
                "For ranx's ndcg_burges and dcg_burges, write gain=exponential in rankgain. With -l2, ranx also sets "
                "gains below 2 to 0": "ndcg dcg",
                "For a ranx metric with -l2, write rel=2 in rankgain": "rr ap precision recall f success r_precision",
                "ranx truncates grades to integers": "",
                "ranx's rbp sums raw grades and may exceed 1, and its bpref is NaN if no document is judged "
                "non-relevant. rankgain has no equivalent of either": "rbp bpref",
            },
            "ranx 0.3.21, metrics/*.py, meta/evaluate.py",
            {"hits": "a count: write cg(gain=binary)@k without like, or success@k for the hit rate"},
            rel=1,
        ),
        PeerTool(
            "lenskit",
            "LensKit",
            _STABLE._replace(missing="skip", counts_unjudged=True),
            "as given: the order of equal scores is not checked",
            "the users with recommendations; one without test items counts 0 in LensKit and is an error under "
            "like='lenskit'",
            (
                Measure("ndcg ndcg@k", "NDCG(n)", {"gain": "binary", "discount": "jarvelin:2"}),
                Measure("dcg dcg@k", "DCG(n)", {"gain": "binary", "discount": "jarvelin:2"}),
                Measure("ap", "AveragePrecision", {}, "ap_capped"),
                Measure("precision", "Precision"),
                Measure("recall", "Recall"),
                Measure("recall@k", "Recall(n)", {}, "capped_recall"),
                Measure("rr rr@k", "RecipRank(n)"),
                Measure("success success@k", "Hit(n)"),
                Measure("rbp rbp@k", "RBP(n)", {"p": 0.85}),
            ),
            {
                "LensKit counts every test item as relevant, whatever its rating. For its gain='rating', write "
                "gain=linear in rankgain": "",
                "LensKit's discount is 1 / log2(max(i, 2)), which is the same at ranks 1 and 2. In rankgain it is "
                "called jarvelin:2": "ndcg dcg",
                "LensKit's value of a list without test items is NaN, which its summaries count as 0. In rankgain "
                "it is 0. LensKit's Precision and AP of an empty list are NaN": "",
                "LensKit's Precision(n) and AveragePrecision(n) divide by min(n, number of documents). rankgain has no "
                "equivalent of either": "precision ap",
            },
            "LensKit 2025.8.1, lenskit/metrics/ranking/*.py",
        ),
        PeerTool(
            "rectools",
            "RecTools",
            _STABLE,
            "none: the column Rank orders",
            "all users with interactions; those without recommendations count 0",
            (
                Measure("ndcg@k", "NDCG(k)", _normalised_dcg_options, "dcg", variants={"ideal": _ACHIEVABLE}),
                Measure("ap@k", "MAP(k)"),
                Measure("rr@k", "MRR(k)"),
                Measure("precision@k", "Precision(k)"),
                Measure("recall@k", "Recall(k)"),
                Measure("f@k", "F1Beta(k)"),
                Measure("success@k", "HitRate(k)"),
            ),
            {
                "RecTools' NDCG divides by the sum of the discounts of all k ranks, even if fewer items are relevant: "
                "at k = 3, a user whose only relevant item is ranked first has the value 0.469. For "
                "divide_by_achievable=True, write ndcg(ideal=judged)@k in rankgain": "ndcg",
                "RecTools counts every item of the interactions as relevant": "",
                "rankgain has no metric like RecTools' MAP(divide_by_k=True)": "ap",
            },
            "RecTools 0.19.0, rectools/metrics/*.py",
        ),
        PeerTool(
            "implicit",
            "implicit",
            _STABLE,
            "none: the order of model.recommend",
            "users with test items",
            (
                Measure("ndcg@k", "ndcg_at_k", {"gain": "binary", "empty": math.nan}),
                Measure("ap@k", "mean_average_precision_at_k", {"empty": math.nan}, "ap_capped"),
            ),
            {
                "implicit's precision_at_k is Σ hits / Σ min(k, R), summed over all users, and its AUC counts a pair "
                "of items as half if neither was recommended. rankgain has no equivalent of either": "precision auc",
            },
            "implicit 0.7.3, implicit/evaluation.pyx",
        ),
        PeerTool(
            "spark",
            "Spark MLlib",
            _STABLE,
            "none: the order of the prediction",
            "each row of the RDD",
            (
                Measure("ndcg@k", "ndcgAt(k)", {"gain": "exponential"}),
                Measure("ap", "meanAveragePrecision"),
                Measure("ap@k", "meanAveragePrecisionAt(k)", {}, "ap_capped"),
                Measure("precision@k", "precisionAt(k)"),
                Measure("recall@k", "recallAt(k)"),
            ),
            {
                "If Spark gets no relevance values, the gain of each label is 1. In rankgain, give the labels a grade "
                "of 1": "ndcg",
                "If Spark gets relevance values, it computes the ideal from the labels in input order, so its nDCG can "
                "exceed 1. rankgain sorts them": "ndcg",
                "Spark's discount uses the natural logarithm, which does not change nDCG": "ndcg",
                "Spark counts an id that is predicted twice as two documents. rankgain raises an error": "",
            },
            "Spark 3, mllib/evaluation/RankingMetrics.scala",
        ),
        PeerTool(
            "elasticsearch",
            "Elasticsearch",
            _STABLE,
            "none: the order of the hits",
            "each request; one that fails is reported separately",
            (
                Measure("ndcg@k", "dcg, normalize", {"gain": "exponential", "ideal": "returned"}),
                Measure("dcg@k", "dcg", {"gain": "exponential"}),
                Measure("rr@k", "mean_reciprocal_rank"),
                Measure("recall@k", "recall"),
                Measure("precision", "precision"),
                Measure("err@k", "expected_reciprocal_rank"),
            ),
            {
                "Elasticsearch cuts the ideal at the number of hits returned: if the only hit is relevant and "
                "no document has a higher rating, nDCG is 1": "ndcg",
                "Elasticsearch's unknown_doc_rating, if given, is the grade of unrated documents. In rankgain, unrated "
                "documents have no gain": "",
                "Elasticsearch's precision divides by the number of hits returned, even if they are fewer than k. In "
                "rankgain, write precision without k": "precision",
            },
            "Elasticsearch 7, modules/rank-eval/…/DiscountedCumulativeGain.java, PrecisionAtK.java",
            rel=1,
        ),
        PeerTool(
            "beir",
            "BEIR",
            _DOCID._replace(score_bits=32, removes_own_ids=True),
            "the higher document id first (docid), of 32-bit scores; mrr and recall_cap: input order, of 64",
            "those in both; mrr requires every query of the truth in the run",
            (
                Measure("ndcg@k", "NDCG@k"),
                Measure("ap@k", "MAP@k", {"rel": 1}),
                Measure("recall@k", "Recall@k", {"rel": 1}),
                Measure("precision@k", "P@k", {"rel": 1}),
                Measure("rr@k", "MRR@k", rules=PeerRules("stable", "skip")),
                Measure("capped_recall@k", "R_cap@k", rules=PeerRules("stable", "skip")),
            ),
            {
                "evaluate() of BEIR first removes hits with the id of their query, as like='beir' does; mrr and "
                "recall_cap alone do not": "",
                "BEIR rounds means to 5 decimals": "",
                "BEIR's Hole@k counts documents that are not judged for any query. rankgain does not "
                "have it": "unjudged",
                "BEIR's Accuracy@k is rankgain's success@k with ties in input order. Before release 2.2, it sorted ids "
                "by their second letter": "success",
                "BEIR's R_cap@k divides by zero for a query without relevant documents": "capped_recall",
            },
            "BEIR 2.x, beir/retrieval/evaluation.py, custom_metrics.py",
        ),
        PeerTool(
            "msmarco",
            "the MS MARCO script",
            _STABLE,
            "none: the rank in the file; from scores input order",
            "all of the truth; those that the run lacks count 0",
            (Measure("rr@k", "MRR @10", {"rel": 0}),),
            {"The script uses k = 10, and it counts every passage in the qrels as relevant, whatever its grade": ""},
            "ms_marco_eval.py (2019)",
        ),
        PeerTool(
            "ndeval",
            "ndeval",
            _DOCID._replace(weighs_subtopics=False),
            "the higher document id first (docid); pyndeval and ir_measures the lower one",
            "those in both the truth and the run; with -c all of the truth, as in ir_measures",
            (
                Measure("alpha_ndcg@k", "alpha-nDCG@k", _BY_ID),
                Measure("alpha_dcg@k", "alpha-DCG@k", _divided_from_rank_2),
                Measure("err_ia@k", "ERR-IA@k", _divided_from_rank_2),
                Measure("nerr_ia@k", "nERR-IA@k", _BY_ID),
                Measure("nrbp", "NRBP"),
                Measure("nnrbp", "nNRBP", _BY_ID),
                Measure("ap_ia", "MAP-IA"),
                Measure("precision_ia@k", "P-IA@k"),
                Measure("strecall@k", "strec@k"),
            ),
            {
                "Of documents with the same gain, ndeval's ideal list takes the one with the highest id, so that other "
                "ids can change values, which may exceed 1. rankgain's own rule does not depend on ids": "alpha_ndcg "
                "nerr_ia nnrbp",
                "ndeval computes values to rank 20. ir_measures with two values of alpha, beta or rel in one call "
                "returns 0.0 for all but one of them": "",
            },
            "ndeval 4.5 (2013), in pyndeval 0.0.8; ir_measures 0.4.3",
            rel=1,
        ),
    )
}


def peer_of(like: Any) -> PeerTool:
    """Return the row of a tool, or the row of rankgain if `like` is None."""
    if like is None:
        return OWN
    if not isinstance(like, str):
        raise TypeError(f"like must be the name of a tool, not {type(like).__name__} {like!r}")
    peer = _BY_SPELLING.get(_bare(like))
    if peer is None:
        spellings = _BY_SPELLING | {"scikit": PEERS["sklearn"]}  # the whole alias is too long to resemble "skikit"
        near = nearest(_bare(like), spellings)
        hint = f" (did you mean {spellings[near].name!r}?)" if near else ""
        aliases = ", ".join(f"{alias} for {name}" for alias, name in ALIASES.items())
        raise ValueError(f"like={like!r}: unknown tool{hint}; there are: {', '.join((*PEERS, OWN.name))} ({aliases})")
    return peer


def reference_of(like: Any) -> PeerTool:
    """Return the row of a tool, or a row that stands for the metric to compare with."""
    try:
        if not isinstance(like, Metric):
            return peer_of(like)
        metrics = [like]
    except ValueError as error:
        try:
            metrics = [record for _, record in parse(like)]
        except (ValueError, TypeError):
            raise error from None
    if len(metrics) > 1:
        raise ValueError(f"like={like!s} stands for {len(metrics)} metrics: give one of them")
    return OWN._replace(name=str(like), title=str(like), metric=metrics[0])  # type: ignore[arg-type]


# Other names for the tools. "trec_eval" stands for the default release of the command `rankgain trec_eval`.
ALIASES = {
    "trec_eval": "trec_eval-10",
    "pytrec_eval": "trec_eval-9",
    "ir_measures": "trec_eval-9",
    "scikit-learn": "sklearn",
    "ms_marco": "msmarco",
}


def _bare(name: str) -> str:
    """Return a name in lower case and without separators."""
    return re.sub(r"[\W_]", "", name).lower()


_BY_SPELLING = {_bare(peer.name): peer for peer in (*PEERS.values(), OWN)} | {
    _bare(alias): PEERS[name] for alias, name in ALIASES.items()
}


class PeerMetric(NamedTuple):
    """A metric as another tool computes it: its key in a result, the equivalent rankgain metric, and the rules."""

    key: str | Metric
    metric: Metric
    peer: PeerTool
    measure: Measure

    @property
    def rules(self) -> PeerRules:
        return self.measure.rules or self.peer.rules


def peer_metrics(request: str | Metric, peer: PeerTool) -> Iterator[PeerMetric]:
    """Yield the metrics of a request as a tool computes them.

    Parameters that a string states, or that differ from the default in a Metric, take precedence over the tool's.
    """
    name = re.split(r"\W", str(request).strip().lower())[0]
    if name in peer.others:
        raise ValueError(f"like={peer.name!r}: {name} of {peer.title} is {peer.others[name]}")
    for key, record in parse_quality(request):
        if peer.metric is not None:
            yield PeerMetric(key, peer.metric, peer, Measure(peer.metric.name, peer.name))
            continue
        measure = peer.measure(record)
        written = {name: getattr(record, name) for name in _written(request, record)}
        measure = next((variant for name, variant in measure.variants.items() if name in written), measure)
        equivalent, defaults = measure.metric or record.name, measure.parameters
        threshold = {"rel": peer.rel} if "rel" in row_of(equivalent).takes else {}
        parameters = {**threshold, **(defaults(record.k) if callable(defaults) else defaults), **written}
        try:
            equivalent_metric = metric(equivalent, k=record.k, **parameters)
        except TypeError as error:
            raise TypeError(f"like={peer.name!r}: {measure.peer} is rankgain's {measure.metric}: {error}") from None
        yield PeerMetric(key, equivalent_metric, peer, measure)


def _written(request: str | Metric, record: Metric) -> Iterator[str]:
    if isinstance(request, str):
        yield from (name for name in re.findall(r"(\w+)\s*=", request.lower()) if name in PARAMETERS)
    else:
        yield from (name for name, parameter in PARAMETERS.items() if getattr(record, name) != parameter.default)


def common_rules(requests: Iterable[str | Metric], like: str | None) -> tuple[dict[str | Metric, Metric], PeerRules]:
    """Return the metrics as a tool computes them, by key, and the rules that they follow.

    Metrics that follow different rules in the tool raise a ValueError.
    """
    peer = peer_of(like)
    metrics = [each for request in requests for each in peer_metrics(request, peer)]
    for each in metrics:
        if each.rules != metrics[0].rules:
            raise ValueError(
                f"like={peer.name!r}: {metrics[0].key} and {each.key} follow different rules there, "
                f"{_named(metrics[0].rules)} and {_named(each.rules)}: evaluate them separately"
            )
    return {each.key: each.metric for each in metrics}, metrics[0].rules if metrics else peer.rules


def single_metric(request: str | Metric, peer: PeerTool) -> PeerMetric:
    """Return the only metric of a request as a tool computes it; raise a ValueError if there are several."""
    metrics = [*peer_metrics(request, peer)]
    if len(metrics) > 1:
        raise ValueError(f"{request!s} stands for {len(metrics)} metrics: give one, such as {metrics[0].key!s}")
    return metrics[0]


def _named(rules: PeerRules) -> str:
    return f"ties={rules.ties!r} in {rules.score_bits} bits"


# Explanations of metrics.

_WIDTH = 100

SYMBOLS = {
    "r_i": "the grade of the document at rank i, from 1",
    "rel(": "1 where the document at rank i is relevant, else 0",
    "prec(": "the share of relevant documents among the first i",
    "above(": "the judged non-relevant documents above rank i",
    "n": "documents returned",
    "R": "relevant documents judged",
    "N": "non-relevant documents judged",
}

_SUMS: dict[Any, str] = {
    mean: "Σ values / number of queries; a value that is NaN does not count",
    total: "the sum over queries",
    geometric_mean: f"the geometric mean over queries, each value at least {LEAST:.5f}",
}


class Explanation(NamedTuple):
    """The formula and the rules behind a metric's value, created by `explain`; prints as text.

    Attributes
    ----------
    metric : str
        The metric, as requested.
    facts : mapping of str to mapping
        What each tool does, ``{tool: {label: text}}``; ``"rankgain"`` for rankgain's own rules.
    """

    metric: str
    facts: Mapping[str, Mapping[str, str]]

    def differences(self) -> dict[str, dict[str, str]]:
        """Return what the tools do differently.

        Returns
        -------
        dict of dict
            ``{label: {tool: text}}``, with ``"-"`` if a tool has no such fact.

        Raises
        ------
        ValueError
            If only one tool was explained.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.explain("ndcg@10", like=("lightgbm", "sklearn")).differences()["gain"]
        {'lightgbm': 'g(r) = 2^r − 1', 'sklearn': 'g(r) = r'}
        """
        if len(self.facts) == 1:
            (name,) = self.facts
            other = "lightgbm" if name == OWN.name else OWN.name
            raise ValueError(f"only {name} was explained; to compare two tools, give like=({name!r}, {other!r})")
        labels = dict.fromkeys(label for facts in self.facts.values() for label in facts)
        by_label = {label: {name: facts.get(label, "-") for name, facts in self.facts.items()} for label in labels}
        return {label: texts for label, texts in by_label.items() if len({*texts.values()}) > 1}

    def _repr_html_(self) -> str:
        """Show a row per rule and a column per tool; the rules in which tools differ come first, in bold."""
        from html import escape

        def cell(tag: str, text: str) -> str:
            return f'<{tag} style="text-align: left">{escape(text).replace(chr(10), "<br>")}</{tag}>'

        different = self.differences() if len(self.facts) > 1 else {}
        labels = dict.fromkeys([*different, *(label for facts in self.facts.values() for label in facts)])
        rows = [[cell("th", name) for name in (self.metric, *self.facts)]]
        for label in labels:
            texts = (facts.get(label, "-") for facts in self.facts.values())
            rows.append([cell("th" if label in different else "td", label), *(cell("td", text) for text in texts)])
        return "\n".join(["<table>", *(f"<tr>{''.join(row)}</tr>" for row in rows), "</table>"])

    @fitted()
    def __repr__(self) -> str:
        if len(self.facts) == 1:
            ((name, facts),) = self.facts.items()
            return "\n".join([f"{self.metric}, like {name}" if name != OWN.name else self.metric, *_aligned(facts)])
        different = self.differences()
        same = {label: text for label, text in next(iter(self.facts.values())).items() if label not in different}
        lines = [f"{self.metric}: {' and '.join(self.facts)} differ in"]
        for label, texts in different.items():
            lines += [f"  {label}", *("  " + line for line in _aligned(texts))]
        return "\n".join([*lines, "and agree in", *_aligned(same)])


Explanation.__module__ = "rankgain"


def _aligned(texts: Mapping[str, str]) -> Iterator[str]:
    import textwrap  # needed only for printing

    width = max(map(len, texts), default=0) + 4
    for label, text in texts.items():
        for row, line in enumerate(text.splitlines()):
            first = "" if row else f"  {label}"
            yield from textwrap.wrap(
                line,
                line_width(_WIDTH),
                initial_indent=first.ljust(width),
                subsequent_indent=" " * width,
                break_long_words=False,
            )


def explain(
    metric: str | Metric,
    like: PeerOrOwn | Metric | str | Iterable[PeerOrOwn | Metric | str] | None = None,
    *,
    given: Handed | None = None,
) -> Explanation:
    """Explain how a metric is computed: its formula and parameters, its rules for ties and queries, and its mean.

    Parameters
    ----------
    metric : str or Metric
        The metric, as in `Rankings.evaluate`, with at most one cut-off.
    like : str, Metric or iterable of these, optional
        The name of a tool, as in `Rankings.evaluate`, or ``"rankgain"``. For several, the differences come first. A
        metric is compared with `metric`. By default, rankgain's own rules.
    given : {"files", "scored"}, optional
        What each tool is handed, as in `Rankings.evaluate`. By default, what its users hand it.

    Returns
    -------
    Explanation
        Prints as text; `Explanation.facts` and `Explanation.differences` provide the same facts to programs.

    Raises
    ------
    ValueError
        If the metric or a tool is unknown, a tool has no such metric, `metric` has several cut-offs, `like` is empty,
        or `given` is unknown or not what users hand a tool.
    TypeError
        If the metric does not take a parameter that is given, or `like` is not the name of a tool.

    See Also
    --------
    Rankings.evaluate : Follows the rules of a tool with ``like=``.
    Rankings.attribution : Shows how much each rule contributes to a difference.
    metric : Lists names and parameters.

    Examples
    --------
    >>> import rankgain as rg
    >>> print(rg.explain("rr@10"))
    rr@10
      is                rr@10: reciprocal rank: 1 / rank of the first relevant document; its mean is MRR
      formula           1 / i for the first i ≤ k with rel(i) = 1; 0 if there is none
      where             rel(i): 1 where the document at rank i is relevant, else 0
      k                 10
      relevant          judged, with a grade above 0
      nothing relevant  0
      ties              as requested; by default by id (docid) if documents have ids, else averaged
      queries           all judged ones; those that the run lacks count 0 (missing='skip': are left
                        out)
      mean              Σ values / number of queries; a value that is NaN does not count
      source            Voorhees 1999
    """
    names = [like] if like is None or isinstance(like, (str, Metric)) else list(like)
    if not names:
        raise ValueError("like is empty: give the name of a tool, several names, or None")
    peers = [*map(reference_of, names)]
    if len(peers) == 1 and peers[0].metric is not None:
        peers = [OWN, *peers]
    facts: dict[str, dict[str, str]] = {}
    if like is None and (records := [record for _, record in parse(metric) if record.name in SIMILARITY_TABLE]):
        return Explanation(str(metric), {OWN.name: dict(_facts_of_similarity(records[0]))})
    for peer in peers:
        facts[peer.name] = dict(_facts(single_metric(metric, peer), peer.given(given)))
    return Explanation(str(metric), facts)


def _facts(computed: PeerMetric, given: Handed) -> Iterator[tuple[str, str]]:
    metric, peer, rules = computed.metric, computed.peer, computed.rules
    row = row_of(metric.name)
    if peer.measures:
        yield "called", f"{computed.measure.peer} in {peer.title}"
    yield "is", f"{metric!s}: {row.title}"
    yield "formula", row.formula
    where = [f"{symbol}: {text}" for symbol, text in _symbols(metric)]
    if where:
        yield "where", "; ".join(where)
    if row.cuts:
        yield "k", "none: the whole list" if metric.k is None else str(metric.k)
    words = parameters_in_words(metric, given)
    empty = words.pop("empty", "")
    yield from words.items()
    if empty:
        yield row.empty_if, empty
    if row.remark:
        yield "remark", f"{row.remark}."
    yield "ties", peer.order + ("; there is no expected value here" if row.unaveraged and rules.ties is None else "")
    if rules.score_bits == 32:
        yield "scores", "compared in 32 bits: those that agree to about seven digits are tied"
    if given == "scored":
        yield "judged", SCORED_ONLY
        yield "queries", peer.queries if peer.takes_arrays else "those that have judgments and documents"
    else:
        yield "queries", OWN.queries if peer.takes_arrays else peer.queries
    yield "mean", _SUMS[row.aggregator]
    names = {name.partition("@")[0] for name in computed.measure.names.split()}
    notes = [f"{note}." for note, about in peer.notes.items() if not about or not names.isdisjoint(about.split())]
    if notes:
        yield "notes", "\n".join(notes)
    yield "source", "; ".join(filter(None, (row.source, peer.source * bool(peer.measures))))


def _facts_of_similarity(metric: Metric) -> Iterator[tuple[str, str]]:
    """Yield the facts about a metric that compares two runs without judgments."""
    row = row_of(metric.name)
    yield "is", f"{metric!s}: {row.title}"
    yield "formula", row.formula
    if row.takes and metric.name != "knn_recall":
        yield "p", short(metric.p)
    yield "k", "none: the whole lists" if metric.k is None else str(metric.k)
    if metric.name == "knn_recall":
        yield "tolerance", short(metric.tolerance)
        yield "scores", f"documents that old does not list {_UNLISTED[metric.scores]}"
    if row.remark:
        yield "remark", f"{row.remark}."
    averaged = "averaged over all orders of both lists" if not row.unaveraged else f"not averaged: {row.unaveraged}"
    yield "ties", f"by default by id (docid); as given (stable); {averaged}"
    yield "queries", "all of old; those that new lacks count 0 (missing='skip': are left out); only in new: left out"
    yield "mean", _SUMS[row.aggregator]
    yield "computed by", f"rankgain.similarity(old, new, '{metric}')"
    if row.source:
        yield "source", row.source


_UNLISTED = {"old": "are wrong", "new": "are judged by their score in new"}


def _symbols(metric: Metric) -> Iterator[tuple[str, str]]:
    """Yield the definitions of symbols that a metric's formula uses but does not define."""
    formula = row_of(metric.name).formula
    words = {*re.split(r"[\s(),;·]+", formula)}
    for symbol, text in SYMBOLS.items():
        if symbol in words if symbol.isalpha() else symbol in formula:
            yield symbol + "i)" * symbol.endswith("("), text


def parameters_in_words(metric: Metric, given: Handed) -> dict[str, str]:
    """Describe the parameters that a metric takes; `rel` is called "relevant"."""
    words: dict[str, str] = {}
    for name in row_of(metric.name).takes:
        value = getattr(metric, name)
        if name == "gain":
            words[name] = _gain(value)
        elif name == "discount":
            words[name] = _discount(value)
        elif name == "ideal" and metric.name in NOVELTY:
            words[name] = "greedy, of all judged documents; of equal gains, the one after which most can be gained"
            if value == "docid":
                words[name] = "greedy, of all judged documents; of equal gains, the highest id; values may exceed 1"
        elif name == "ideal":
            cut = " and at the length of the returned list" * (value == "returned")
            documents = "scored" if given == "scored" else "judged"
            words[name] = f"of all {documents} documents, highest gain first, cut at k{cut}"
        elif name == "rel":
            words["relevant"] = _relevant(metric)
        elif name == "empty":
            words[name] = "NaN: the query does not count" if math.isnan(value) else short(value)
        else:
            words[name] = str(value) if name == "coefficients" else short(value)
    return words


def _relevant(metric: Metric) -> str:
    """Describe which grades are relevant, by an inclusive or exclusive lower bound, whichever is shorter."""
    if metric.rel is None:
        return "judged, with a grade above 0"
    at_least, above = short(metric.rel), short(metric.above)
    return "judged, with a grade " + (f"of at least {at_least}" if len(at_least) <= len(above) else f"above {above}")


def _gain(gain: Gain) -> str:
    formulas = {"linear": "g(r) = r", "exponential": "g(r) = 2^r − 1", "binary": "g(r) = 1 for r > 0, else 0"}
    return formulas.get(str(gain), f"g(r) by grade: {gain}" if gain.kind == "table" else f"g(r) = {gain}(r)")


def _discount(discount: Discount) -> str:
    if discount == LOGARITHMIC:
        return "d(i) = 1 / log2(i + 1)"
    if discount.kind == JARVELIN:
        return f"d(i) = 1 for i < {short(discount.base)}, else 1 / log_{short(discount.base)}(i)"
    if discount.kind == VECTOR:
        return "d(i) by rank: " + ", ".join(f"{weight:.4g}" for weight in discount.vector)
    return "d(i) = 1 / i"
