"""An example of an ir_measures provider that computes measures with rankgain.

Copy this module to use it. Importing it registers the provider as "rankgain". `prefer` puts the provider before all
other providers, for direct calls of ir_measures and for calls from packages such as PyTerrier:

    import ir_measures
    from ir_measures import AP, RR, nDCG
    import ir_measures_provider

    ir_measures.providers.registry["rankgain"].calc_aggregate([AP, RR, nDCG @ 10], qrels, run)

    ir_measures_provider.prefer()
    ir_measures.calc_aggregate([AP, RR, nDCG @ 10], qrels, run)

For each measure, the values equal those of ir_measures' own provider, with five exceptions:

- documents with equal scores are ordered by descending document id for all measures, as in pytrec_eval; the providers
  of RR@k and Judged@k order them by ascending id, and the provider of RBP keeps the order of the run;
- scores are compared as 32-bit floats, as in pytrec_eval; the other providers compare 64-bit floats;
- exponential nDCG and ERR are not rounded to five digits, and they accept any query id;
- a document with a negative grade is treated as pooled but unjudged, so Judged does not count it;
- ERR_IA@1 and alpha_DCG@1 are divided by the number of subtopics, as at all other cut-offs, any cut-off is possible,
  and several values of alpha, beta or rel in one call are.

Measures of diversity read the subtopic from `iteration` or, in rows and frames of ir_datasets, from `subtopic_id`. In
the same call, other measures use the highest grade of a document.

In a data frame, a document that occurs twice in the same query raises an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

import ir_measures
from ir_measures import Metric, SumAgg, measures, providers
from ir_measures.providers.base import NOT_PROVIDED, Choices
from ir_measures.providers.base import Any as AnyValue
from ir_measures.util import QrelsConverter, RunConverter

import rankgain as rg

MAX_GRADE = 4  # the highest grade in gdeval.pl, which computes ERR and exponential nDCG


def _set_precision(measure: ir_measures.Measure) -> str:
    return "capped_recall" if measure["relative"] else "precision"


def _returned(measure: ir_measures.Measure) -> str:
    return "num_ret" if measure["rel"] is NOT_PROVIDED else "num_rel_ret"


# Map ir_measures names to rankgain names; a function derives the name from the parameters of the measure.
NAMES: dict[str, str | Callable[[ir_measures.Measure], str]] = {
    "AP": "ap",
    "Bpref": "bpref",
    "ERR": "err",
    "IPrec": "iprec",
    "Judged": "judged",
    "NumQ": "num_q",
    "NumRel": "num_rel",
    "NumRet": _returned,
    "P": "precision",
    "R": "recall",
    "RBP": "rbp",
    "RR": "rr",
    "Rprec": "r_precision",
    "SetAP": "set_ap",
    "SetF": "f",
    "SetP": _set_precision,
    "SetR": "recall",
    "Success": "success",
    "infAP": "infap",
    "nDCG": "ndcg",
}
# Measures that need judgments by subtopic.
NAMES_BY_SUBTOPIC = {
    "AP_IA": "ap_ia",
    "ERR_IA": "err_ia",
    "NRBP": "nrbp",
    "P_IA": "p_ia",
    "StRecall": "strecall",
    "alpha_DCG": "alpha_dcg",
    "alpha_nDCG": "alpha_ndcg",
    "nERR_IA": "nerr_ia",
    "nNRBP": "nnrbp",
}
NAMES.update(NAMES_BY_SUBTOPIC)


def metric_of(measure: ir_measures.Measure, grades: Iterable[float]) -> rg.Metric:
    """Return the rankgain metric for an ir_measures measure.

    `grades` are the grades in the qrels; a table of gains must have an entry for each of them.
    """
    name = NAMES[measure.NAME]
    takes = measure.SUPPORTED_PARAMS
    given: dict[str, Any] = {
        key: measure[key]
        for key in ("rel", "p", "recall", "alpha")
        if key in takes and measure[key] is not NOT_PROVIDED
    }
    if "cutoff" in takes and measure["cutoff"] is not NOT_PROVIDED:
        given["k"] = measure["cutoff"]
    if measure.NAME == "SetF":
        given["beta"] = math.sqrt(measure["beta"])  # the parameter is β², as in trec_eval
    elif measure.NAME in ("NRBP", "nNRBP"):
        given["beta"] = measure["beta"]
    elif measure.NAME == "IPrec":
        given["rounding"] = "up"  # trec_eval 9 rounds recall points up
    elif measure.NAME == "ERR":
        given["max_grade"] = MAX_GRADE
    elif measure.NAME == "nDCG" and measure["dcg"] == "exp-log2":
        given["gain"] = "exponential"
    elif measure.NAME == "nDCG" and measure["gains"] is not NOT_PROVIDED:
        given["gain"] = {grade: measure["gains"].get(grade, grade) for grade in grades if grade >= 0}
    if measure.NAME in ("alpha_nDCG", "nERR_IA", "nNRBP"):
        given["ideal"] = "docid"  # that of ndeval
    return rg.metric(name if isinstance(name, str) else name(measure), **given)


class RankgainEvaluator(providers.Evaluator):
    """Evaluate any number of runs against the same qrels, which are prepared only once."""

    def __init__(self, requested: Iterable[ir_measures.Measure], qrels: Any) -> None:
        requested = list(requested)
        if any(measure.NAME in NAMES_BY_SUBTOPIC for measure in requested):
            rows = QrelsConverter(qrels).as_namedtuple_iter() if isinstance(qrels, Mapping) else qrels
            qrels = qrels if _is_frame(qrels) else list(rows)
            self.truth = rg.judgments(qrels, subtopic=True)
        if not _is_frame(qrels):
            qrels = QrelsConverter(qrels).as_dict_of_dict()
        if not any(measure.NAME in NAMES_BY_SUBTOPIC for measure in requested):
            self.truth = rg.judgments(qrels)
        super().__init__(requested, self.truth.query_ids)
        grades = _grades(qrels) if any("gains" in measure.params for measure in requested) else set()
        # Measures with judged_only=True are evaluated on separate rankings without unjudged documents.
        self.metrics: dict[bool, dict[ir_measures.Measure, rg.Metric]] = {False: {}, True: {}}
        for measure in self.measures:
            judged_only = "judged_only" in measure.SUPPORTED_PARAMS and measure["judged_only"]
            self.metrics[bool(judged_only)][measure] = metric_of(measure, grades)

    def vectors(self, run: Any) -> Iterator[tuple[ir_measures.Measure, list[Any], list[float]]]:
        """Yield (measure, query ids, values) for the queries that occur in both the qrels and the run."""
        rankings = self._rankings(run)
        for judged_only, metrics in self.metrics.items():
            if rankings is None:
                yield from ((measure, [], []) for measure in metrics)
            elif metrics:
                shown = rankings.limited(judged_only=True) if judged_only else rankings
                values = shown.evaluate(list(metrics.values()))
                for measure, metric in metrics.items():
                    yield measure, list(values.query_ids), values[metric].tolist()

    def _rankings(self, run: Any) -> rg.Rankings | None:
        """Return the rankings of a run, or None if no query of the run is judged."""
        if not _is_frame(run):
            run = RunConverter(run).as_dict_of_dict()
            if run.keys().isdisjoint(self.truth.query_ids):
                return None
            rankings = rg.from_qrels(self.truth, run, missing="skip")
        else:
            if {*self.truth.query_ids}.isdisjoint(run["query_id"]):
                return None
            rankings = rg.from_frames(self.truth, run, query="query_id", doc="doc_id", score="score", missing="skip")
        return rankings.under(score_bits=32)

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yield the value of each measure for each judged query; queries missing from the run get the default."""
        for measure, queries, values in self.vectors(run):
            yield from (Metric(query, measure, value) for query, value in zip(queries, values, strict=True))
            if len(queries) < len(self.qrel_qids):
                for query in sorted({*self.qrel_qids} - {*queries}):
                    yield Metric(query, measure, measure.DEFAULT)

    def calc_aggregate(self, run: Any) -> dict[ir_measures.Measure, float]:
        """Return the mean or the sum of each measure over all queries in the qrels."""
        aggregates = {}
        for measure, queries, values in self.vectors(run):
            total = math.fsum(values) + measure.DEFAULT * (len(self.qrel_qids) - len(queries))
            sums = isinstance(measure.aggregator(), SumAgg)
            aggregates[measure] = total if sums else total / len(self.qrel_qids)
        return aggregates


def _is_frame(data: Any) -> bool:
    """Return True for a data frame; ir_measures converts all other kinds of data to dicts."""
    return hasattr(data, "itertuples")


def _grades(qrels: Any) -> set[float]:
    return (
        {*qrels["relevance"]} if _is_frame(qrels) else {grade for grades in qrels.values() for grade in grades.values()}
    )


class RankgainProvider(providers.Provider):
    """Compute the measures of ir_measures with rankgain."""

    NAME = "rankgain"
    SUPPORTED_MEASURES: ClassVar = [
        measures._AP_IA(rel=AnyValue(), judged_only=AnyValue()),
        measures._AP(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._Bpref(rel=AnyValue()),
        measures._ERR(cutoff=AnyValue()),
        measures._ERR_IA(cutoff=AnyValue(required=True), rel=AnyValue(), judged_only=AnyValue()),
        measures._IPrec(recall=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._Judged(cutoff=AnyValue()),
        measures._NRBP(rel=AnyValue(), alpha=AnyValue(), beta=AnyValue()),
        measures._NumQ(),
        measures._NumRel(rel=AnyValue()),
        measures._NumRet(rel=AnyValue()),
        measures._P(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._P_IA(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._R(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._RBP(cutoff=AnyValue(), rel=AnyValue(required=True), p=AnyValue()),  # without rel, RBP uses grades
        measures._RR(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._Rprec(rel=AnyValue(), judged_only=AnyValue()),
        measures._SetAP(rel=AnyValue(), judged_only=AnyValue()),
        measures._SetF(rel=AnyValue(), beta=AnyValue(), judged_only=AnyValue()),
        measures._SetP(rel=AnyValue(), relative=AnyValue(), judged_only=AnyValue()),
        measures._SetR(rel=AnyValue()),
        measures._StRecall(cutoff=AnyValue(), rel=AnyValue()),
        measures._Success(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._alpha_DCG(cutoff=AnyValue(required=True), rel=AnyValue(), alpha=AnyValue(), judged_only=AnyValue()),
        measures._alpha_nDCG(cutoff=AnyValue(), rel=AnyValue(), alpha=AnyValue(), judged_only=AnyValue()),
        measures._infAP(rel=AnyValue()),
        measures._nERR_IA(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._nNRBP(rel=AnyValue(), alpha=AnyValue(), beta=AnyValue()),
        measures._nDCG(cutoff=AnyValue(), dcg=Choices("log2"), gains=AnyValue(), judged_only=AnyValue()),
        measures._nDCG(cutoff=AnyValue(), dcg=Choices("exp-log2"), gains=Choices(NOT_PROVIDED), judged_only=AnyValue()),
    ]

    def _evaluator(self, measures: Iterable[ir_measures.Measure], qrels: Any) -> RankgainEvaluator:
        return RankgainEvaluator(list(measures), qrels)

    def install_instructions(self) -> str:
        return "pip install rankgain"


def prefer() -> None:
    """Make rankgain the first provider that ir_measures tries for each measure."""
    chosen = ir_measures.DefaultPipeline.providers
    if provider not in chosen:
        chosen.insert(0, provider)


provider = RankgainProvider()
providers.register(provider)
