"""rankgain as a provider of ir_measures: an example, to be copied.

Importing it registers the provider as "rankgain"; `prefer` puts it before all others, for every call of ir_measures and
of what calls it, such as PyTerrier:

    import ir_measures
    from ir_measures import AP, RR, nDCG
    import ir_measures_provider

    ir_measures.providers.registry["rankgain"].calc_aggregate([AP, RR, nDCG @ 10], qrels, run)

    ir_measures_provider.prefer()
    ir_measures.calc_aggregate([AP, RR, nDCG @ 10], qrels, run)

The values are those of ir_measures' own provider for each measure. They differ in four places:

- equal scores stand in one order, the higher document id first, as in pytrec_eval; the providers of RR@k and Judged@k
  take the lower id first, and that of RBP the order of the run;
- scores are compared in 32 bits, as pytrec_eval does; the other providers compare 64;
- exponential nDCG and ERR are not rounded to five digits, and take any query id;
- a document with a negative grade was pooled and not judged, so it does not count in Judged.

A document that stands twice in a query is an error in a frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

import ir_measures
from ir_measures import Metric, SumAgg, measures, providers
from ir_measures.providers.base import NOT_PROVIDED, Choices
from ir_measures.providers.base import Any as AnyValue
from ir_measures.util import QrelsConverter, RunConverter

import rankgain as rg

MAX_GRADE = 4  # of gdeval.pl, which has ERR and exponential nDCG


def _set_precision(measure: ir_measures.Measure) -> str:
    return "capped_recall" if measure["relative"] else "precision"


def _returned(measure: ir_measures.Measure) -> str:
    return "num_ret" if measure["rel"] is NOT_PROVIDED else "num_rel_ret"


# Each measure's name here, which may depend on its parameters.
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


def metric_of(measure: ir_measures.Measure, grades: Iterable[float]) -> rg.Metric:
    """Our metric for a measure; `grades` are those of the qrels, which a table of gains must have all of."""
    name = NAMES[measure.NAME]
    takes = measure.SUPPORTED_PARAMS
    given: dict[str, Any] = {
        key: measure[key] for key in ("rel", "p", "recall") if key in takes and measure[key] is not NOT_PROVIDED
    }
    if "cutoff" in takes and measure["cutoff"] is not NOT_PROVIDED:
        given["k"] = measure["cutoff"]
    if measure.NAME == "SetF":
        given["beta"] = math.sqrt(measure["beta"])  # trec_eval's parameter is β²
    elif measure.NAME == "IPrec":
        given["rounding"] = "up"  # as trec_eval 9 rounds recall points
    elif measure.NAME == "ERR":
        given["max_grade"] = MAX_GRADE
    elif measure.NAME == "nDCG" and measure["dcg"] == "exp-log2":
        given["gain"] = "exponential"
    elif measure.NAME == "nDCG" and measure["gains"] is not NOT_PROVIDED:
        given["gain"] = {grade: measure["gains"].get(grade, grade) for grade in grades if grade >= 0}
    return rg.metric(name if isinstance(name, str) else name(measure), **given)


class RankgainEvaluator(providers.Evaluator):
    """Measures of prepared qrels, for any number of runs."""

    def __init__(self, requested: Iterable[ir_measures.Measure], qrels: Any) -> None:
        requested = list(requested)
        if not _is_frame(qrels):
            qrels = QrelsConverter(qrels).as_dict_of_dict()
        self.truth = rg.judgments(qrels)
        super().__init__(requested, self.truth.query_ids)
        grades = _grades(qrels) if any("gains" in measure.params for measure in requested) else set()
        # What looks at judged documents only has rankings of its own.
        self.metrics: dict[bool, dict[ir_measures.Measure, rg.Metric]] = {False: {}, True: {}}
        for measure in self.measures:
            judged_only = "judged_only" in measure.SUPPORTED_PARAMS and measure["judged_only"]
            self.metrics[bool(judged_only)][measure] = metric_of(measure, grades)

    def vectors(self, run: Any) -> Iterator[tuple[ir_measures.Measure, list[Any], list[float]]]:
        """Each measure with the queries that both sides have, and their values."""
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
        """None if no query of the run is judged, which is no error here."""
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
        """Each value, with the measure's default for the queries that the run lacks."""
        for measure, queries, values in self.vectors(run):
            yield from (Metric(query, measure, value) for query, value in zip(queries, values, strict=True))
            if len(queries) < len(self.qrel_qids):
                for query in sorted({*self.qrel_qids} - {*queries}):
                    yield Metric(query, measure, measure.DEFAULT)

    def calc_aggregate(self, run: Any) -> dict[ir_measures.Measure, float]:
        """The mean or the sum over all queries of the qrels."""
        aggregates = {}
        for measure, queries, values in self.vectors(run):
            total = math.fsum(values) + measure.DEFAULT * (len(self.qrel_qids) - len(queries))
            sums = isinstance(measure.aggregator(), SumAgg)
            aggregates[measure] = total if sums else total / len(self.qrel_qids)
        return aggregates


def _is_frame(data: Any) -> bool:
    """Dicts and frames go in as they are; of rows ir_measures makes dicts."""
    return hasattr(data, "itertuples")


def _grades(qrels: Any) -> set[float]:
    return (
        {*qrels["relevance"]} if _is_frame(qrels) else {grade for grades in qrels.values() for grade in grades.values()}
    )


class RankgainProvider(providers.Provider):
    """rankgain: ranking metrics by compiled kernels."""

    NAME = "rankgain"
    SUPPORTED_MEASURES: ClassVar = [
        measures._AP(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._Bpref(rel=AnyValue()),
        measures._ERR(cutoff=AnyValue()),
        measures._IPrec(recall=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._Judged(cutoff=AnyValue()),
        measures._NumQ(),
        measures._NumRel(rel=AnyValue()),
        measures._NumRet(rel=AnyValue()),
        measures._P(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._R(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._RBP(cutoff=AnyValue(), rel=AnyValue(required=True), p=AnyValue()),  # graded without rel
        measures._RR(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._Rprec(rel=AnyValue(), judged_only=AnyValue()),
        measures._SetAP(rel=AnyValue(), judged_only=AnyValue()),
        measures._SetF(rel=AnyValue(), beta=AnyValue(), judged_only=AnyValue()),
        measures._SetP(rel=AnyValue(), relative=AnyValue(), judged_only=AnyValue()),
        measures._SetR(rel=AnyValue()),
        measures._Success(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),
        measures._infAP(rel=AnyValue()),
        measures._nDCG(cutoff=AnyValue(), dcg=Choices("log2"), gains=AnyValue(), judged_only=AnyValue()),
        measures._nDCG(cutoff=AnyValue(), dcg=Choices("exp-log2"), gains=Choices(NOT_PROVIDED), judged_only=AnyValue()),
    ]

    def _evaluator(self, measures: Iterable[ir_measures.Measure], qrels: Any) -> RankgainEvaluator:
        return RankgainEvaluator(list(measures), qrels)

    def install_instructions(self) -> str:
        return "pip install rankgain"


def prefer() -> None:
    """Ask rankgain first, of all providers that ir_measures chooses from."""
    chosen = ir_measures.DefaultPipeline.providers
    if provider not in chosen:
        chosen.insert(0, provider)


provider = RankgainProvider()
providers.register(provider)
