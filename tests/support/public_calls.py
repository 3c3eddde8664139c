"""Each public call with arguments that are accepted; a row of a table gives one of them another value.

Constructors are evaluated, and callbacks are called, so that a row covers what is read later too.
"""

from importlib import import_module
from itertools import chain
from operator import attrgetter
from pathlib import Path

import rankgain as rg
import rankgain.pytrec_eval
import rankgain.sklearn
from support.training import (
    GRADES,
    SCORES,
    catboost_metric,
    lambda_rank,
    lightgbm_metric,
    lightgbm_objective,
    scorer,
    xgboost_metric,
    xgboost_objective,
)

MATRIX = [[1, 0, 2], [0, 1, 0]], [[0.5, 0.25, 0.125], [1.0, 0.5, 0.25]]
QRELS = {"q": {"a": 1, "b": 0, "c": 2}, "r": {"a": 1}}
RUN = {"q": {"a": 0.5, "b": 1.0, "x": 0.25}, "r": {"a": 0.5, "b": 0.5}}
TRUTH = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "a"], "relevance": [1, 2, 1]}
COLUMNS = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]}
LABELLED = {"query_id": ["q", "q", "q", "r"], "label": [1, 0, 2, 1], "score": [0.5, 1.0, 0.25, 2.0]}
METRICS, LISTS = ("ndcg", "dcg@2", "rr"), [[1, 0, 2], [0, 1]]


def evaluated(constructor):
    """The constructor, its Rankings evaluated at once; `by_query`: with the names of the queries."""

    def call(*args, metrics=METRICS, threads=1, by_query=False, **options):
        result = constructor(*args, **options).evaluate(*metrics, threads=threads)
        return result.to_dict() if by_query else result

    call.__name__ = constructor.__name__
    return call


def evaluate(sides=(QRELS, RUN), metrics=METRICS, **options):
    return rg.evaluate(*sides, *metrics, **options)


def evaluate_method(metrics=METRICS, relevance=LISTS, **options):
    return rg.from_ranked(relevance).evaluate(*metrics, **options)


def metric(name="ndcg", qrels=QRELS, run=RUN, **parameters):
    return rg.from_qrels(qrels, run).evaluate(rg.metric(name, **parameters))


def read_trec(qrels=b"q 0 d 1\n", run=b"q Q0 d 1 2.5 t\n", **options):
    """Of files with these lines, in the current folder; anything else is handed on."""
    sides = [Path(name) if isinstance(held, bytes) else held for name, held in (("qrels.txt", qrels), ("run.txt", run))]
    for path, held in zip(sides, (qrels, run), strict=True):
        if isinstance(held, bytes):
            path.write_bytes(held)
    return rg.read_trec(*sides, **options)


def judgments(truth=QRELS, run=None, metrics=METRICS, **options):
    made = rg.judgments(truth, **options)
    return made if run is None else rg.from_qrels(made, run).evaluate(*metrics)


def made(qrels, run, make):
    """Rankings of qrels and a run; `make`: of a constructor and its arguments instead."""
    return rg.from_qrels(qrels, run) if make is None else make[0](*make[1:])


def under(qrels=QRELS, run=RUN, make=None, **rules):
    return made(qrels, run, make).under(**rules)


def limited(qrels=QRELS, run=RUN, **limits):
    return rg.from_qrels(qrels, run).limited(**limits)


def curve(metric="ndcg", ks=(1, 2), y_true=MATRIX[0], y_score=MATRIX[1]):
    return rg.from_scores(y_true, y_score).curve(metric, ks).values


def interval(**options):
    return rg.from_scores(*MATRIX).curve("ndcg", (1, 2)).interval(**options)


def tie_spread(metrics=("ndcg",), make=None, **options):
    return made(QRELS, RUN, make).tie_spread(*metrics, **options).to_dict()


def compared(truth=QRELS, runs=None, metrics=("rr",), **rules):
    runs = {"one": RUN, "other": {"q": {"a": 1.0, "x": 0.0, "c": 0.0}}} if runs is None else runs
    return rg.compare(truth, runs, metrics, **rules)


def compare(**rules):
    return compared(**rules).means()


def of_comparison(method):
    """A method of a Comparison, of some runs."""

    def call(qrels=QRELS, runs=None, metrics=("rr",), **own):
        return getattr(compared(qrels, runs, metrics), method)(**own)

    return call


def of_result(method, of=lambda result: result):
    """A method of the Evaluation of a run, or of what `of` makes of that."""

    def call(qrels=QRELS, run=RUN, metrics=METRICS, **options):
        return getattr(of(rg.from_qrels(qrels, run).evaluate(*metrics)), method)(**options)

    return call


def merge(other, of=None, **given):
    first = of() if of else rg.from_qrels(given["qrels"], given["run"]).evaluate(*given["metrics"])
    return first.merge(other)


def merge_summaries(other, qrels, run, metrics):
    return rg.from_qrels(qrels, run).evaluate(*metrics).summary().merge(other)


def affected(metric):
    return rg.from_qrels(QRELS, RUN).tie_spread("ndcg").affected(metric)


def drawn(rankings=None, **options):
    figure = rg.plot(rg.from_ranked(LISTS) if rankings is None else rankings, **options)
    return [panel.get_ylabel() for panel in figure.axes]


def curve_plot(**options):
    return rg.from_ranked(LISTS).curve("ndcg", (1, 2)).plot(**options).get_ylabel()


def batches(columns):
    """Two record batches, the first of which ends inside of the query "q"."""
    import pyarrow as pa

    return pa.table(columns).to_batches(max_chunksize=2)


def evaluate_batches(columns=LABELLED, metrics=METRICS, **options):
    """The columns of all batches that come out."""
    from rankgain.batches import evaluate_batches

    held = batches(columns) if isinstance(columns, dict) else columns
    parts = [part.to_pydict().values() for part in evaluate_batches(held, *metrics, **options)]
    return [[*chain.from_iterable(column)] for column in zip(*parts, strict=True)]


def summarize_batches(columns=LABELLED, metrics=METRICS, **options):
    from rankgain.batches import summarize_batches

    held = batches(columns) if isinstance(columns, dict) else columns
    return [*summarize_batches(held, *metrics, **options).mean().values()]


def pytrec_eval(qrels=QRELS, measures=("ndcg",), run=RUN, **options):
    return rg.pytrec_eval.RelevanceEvaluator(qrels, measures, **options).evaluate(run)


LIST = {"relevance": [3, 0, 2]}
PUBLIC = {
    "gain": (rg.gain, LIST),
    "discount": (rg.discount, {"n": 3}),
    **{name: (getattr(rg, name), LIST) for name in ("cg", "dcg", "ndcg", "mean_ndcg", "reciprocal_rank", "mrr")},
    **{name: (getattr(rg, name), LIST) for name in ("precision", "recall", "average_precision", "hit_rate")},
    "idcg": (rg.idcg, {"judged": [3, 0, 2]}),
    "from_ranked": (evaluated(rg.from_ranked), LIST),
    "from_scores": (evaluated(rg.from_scores), {"y_true": GRADES, "y_score": SCORES}),
    "from_qrels": (evaluated(rg.from_qrels), {"qrels": QRELS, "run": RUN}),
    "from_frames": (evaluated(rg.from_frames), {"qrels_df": TRUTH, "run_df": COLUMNS}),
    "from_recommendations": (
        evaluated(rg.from_recommendations),
        {"recommended": [["a", "b"], ["b"]], "relevant": [["b", "c"], ["a"]]},
    ),
    "from_rows": (evaluated(rg.from_rows), {"table": {"relevant": [["b"], ["a"]], "retrieved": [["a", "b"], ["b"]]}}),
    "read_trec": (evaluated(read_trec), {}),
    "judgments": (judgments, {}),
    "evaluate": (evaluate, {}),
    "Rankings.evaluate": (evaluate_method, {}),
    "Rankings.under": (evaluated(under), {}),
    "Rankings.limited": (evaluated(limited), {}),
    "Rankings.curve": (curve, {}),
    "Rankings.tie_spread": (tie_spread, {}),
    "Curve.interval": (interval, {}),
    "metric": (metric, {}),
    "explain": (rg.explain, {"metric": "ndcg@5"}),
    "compare": (compare, {}),
    "Comparison.means": (of_comparison("means"), {}),
    "Comparison.aggregate": (of_comparison("aggregate"), {}),
    **{f"Evaluation.{name}": (of_result(name), {}) for name in ("mean", "aggregate", "flat")},
    "Evaluation.subset": (of_result("subset"), {"queries": ["q", "r"]}),
    "Evaluation.merge": (merge, {}),
    "Summary.mean": (of_result("mean", rg.Evaluation.summary), {}),
    "Summary.merge": (merge_summaries, {}),
    "Summary.from_json": (rg.Summary.from_json, {}),
    "TieSpread.affected": (affected, {}),
    "Comparison": (rg.Comparison, {}),
    "Comparison.best": (of_comparison("best"), {}),
    "Comparison.to_pandas": (of_comparison("to_pandas"), {}),
    "Metric.at": (rg.metric("ndcg").at, {}),
    "lambdarank": (rg.lambdarank, {"y_true": GRADES, "y_score": SCORES}),
    "LambdaRank": (lambda_rank, {}),
    "lightgbm_metric": (lightgbm_metric, {}),
    "xgboost_metric": (xgboost_metric, {}),
    "catboost_metric": (catboost_metric, {}),
    "lightgbm_objective": (lightgbm_objective, {}),
    "xgboost_objective": (xgboost_objective, {}),
    "scorer": (scorer, {}),
    "plot": (drawn, {}),
    "Curve.plot": (curve_plot, {}),
    "ndcg_score": (rg.sklearn.ndcg_score, {"y_true": MATRIX[0], "y_score": MATRIX[1]}),
    "dcg_score": (rg.sklearn.dcg_score, {"y_true": MATRIX[0], "y_score": MATRIX[1]}),
    "pytrec_eval": (pytrec_eval, {}),
    "evaluate_batches": (evaluate_batches, {}),
    "summarize_batches": (summarize_batches, {}),
}


def public(call):
    """The public object that a name of `PUBLIC` stands for."""
    if call == "pytrec_eval":
        return rg.pytrec_eval.RelevanceEvaluator
    homes = [rg, rg.sklearn, *([import_module("rankgain.batches")] if call.endswith("_batches") else [])]
    return next(attrgetter(call)(home) for home in homes if hasattr(home, call.partition(".")[0]))
