"""Each public call with arguments that are accepted; a row of a table gives one of them another value.

Constructors are evaluated, and callbacks are called, so that a row covers what is read later too.
"""

import numpy as np

import rankgain as rg
import rankgain.pytrec_eval
import rankgain.sklearn

GRADES, SCORES, SIZES = [1, 0, 2, 0, 1], [0.5, 0.25, 0.125, 1.0, 0.5], [3, 2]  # two queries
MATRIX = [[1, 0, 2], [0, 1, 0]], [[0.5, 0.25, 0.125], [1.0, 0.5, 0.25]]
QRELS = {"q": {"a": 1, "b": 0, "c": 2}, "r": {"a": 1}}
RUN = {"q": {"a": 0.5, "b": 1.0, "x": 0.25}, "r": {"a": 0.5, "b": 0.5}}
TRUTH = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "a"], "relevance": [1, 2, 1]}
COLUMNS = {"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, 3.0]}
LABELLED = {"query_id": ["q", "q", "q", "r"], "label": [1, 0, 2, 1], "score": [0.5, 1.0, 0.25, 2.0]}
METRICS = "ndcg", "dcg@2", "rr"


class Linear:
    """A model as scikit-learn has them."""

    def predict(self, X):
        return np.asarray(X) @ np.ones(np.shape(X)[1])


class Matrix:
    """A set of documents as XGBoost has them; the weights are of queries."""

    def __init__(self, labels, sizes, weights=None):
        self.labels, self.bounds = labels, np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint32)
        self.weights = [] if weights is None else weights

    def get_label(self):
        return self.labels

    def get_weight(self):
        return np.asarray(self.weights, dtype=float)

    def get_uint_info(self, field):
        return self.bounds


def evaluated(constructor):
    """The constructor, its Rankings evaluated at once; `threads` and `like` are those of `evaluate`."""

    def call(*args, metrics=METRICS, threads=1, like=None, **options):
        return constructor(*args, **options).evaluate(*metrics, threads=threads, like=like)

    call.__name__ = constructor.__name__
    return call


def evaluate(sides=(QRELS, RUN), metrics=METRICS, **options):
    return rg.evaluate(*sides, *metrics, **options)


def evaluate_method(metrics=METRICS, relevance=((1, 0, 2), (0, 1)), **options):
    return rg.from_ranked([*relevance]).evaluate(*metrics, **options)


def metric(name="ndcg", relevance=((0, 1, 2), (0, 0)), **parameters):
    return rg.from_ranked([*relevance]).evaluate(rg.metric(name, **parameters))


def under(rankings=None, metrics=METRICS, **rules):
    return (rankings or rg.from_qrels(QRELS, RUN)).under(**rules).evaluate(*metrics)


def limited(rankings=None, metrics=METRICS, **limits):
    return (rankings or rg.from_qrels(QRELS, RUN)).limited(**limits).evaluate(*metrics)


def curve(metric="ndcg", ks=(1, 2), **options):
    return rg.from_scores(*MATRIX, **options).curve(metric, ks).values


def interval(**options):
    return rg.from_scores(*MATRIX).curve("ndcg", (1, 2)).interval(**options)


def tie_spread(metrics=("ndcg",), **options):
    return rg.from_qrels(QRELS, RUN).tie_spread(*metrics, **options).to_dict()


def compare(runs=None, qrels=QRELS, metrics=("rr",), **rules):
    runs = {"one": RUN, "other": {"q": {"c": 1.0}}} if runs is None else runs
    return rg.compare(runs, qrels, metrics, **rules).means()


def lightgbm_metric(metrics=("ndcg",), labels=GRADES, scores=SCORES, weight=None, group=SIZES, **options):
    return rg.lightgbm_metric(*metrics, **options)(labels, scores, weight, group)


def xgboost_metric(metrics=("ndcg",), labels=GRADES, scores=SCORES, weight=None, sizes=SIZES, **options):
    return rg.xgboost_metric(*metrics, **options)(scores, Matrix(labels, sizes, weight))


def catboost_metric(metric="ndcg", sets=((GRADES, SIZES),), scores=SCORES, weight=None, **options):
    return rg.catboost_metric(metric, *sets, **options).evaluate([scores], sets[0][0], weight)


def lightgbm_objective(metric="ndcg@2", labels=GRADES, scores=SCORES, weight=None, group=SIZES, **options):
    return rg.lightgbm_objective(metric, **options)(labels, scores, weight, group)


def xgboost_objective(metric="ndcg@2", labels=GRADES, scores=SCORES, weight=None, sizes=SIZES, **options):
    return rg.xgboost_objective(metric, **options)(scores, Matrix(labels, sizes, weight))


def scorer(metric="ndcg", labels=GRADES, scores=SCORES, qid=(7, 7, 7, 9, 9), **options):
    return rg.scorer(metric, **options)(Linear(), [[score] for score in scores], labels, qid=qid)


def batches(columns):
    """Two record batches, the first of which ends inside of the query "q"."""
    import pyarrow as pa

    return pa.table(columns).to_batches(max_chunksize=2)


def evaluate_batches(columns=LABELLED, metrics=METRICS, **options):
    from rankgain.batches import evaluate_batches

    held = batches(columns) if isinstance(columns, dict) else columns
    return [[*part.to_pydict().values()] for part in evaluate_batches(held, *metrics, **options)]


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
    "read_trec": (evaluated(rg.read_trec), {"qrels": rg.sample()[0], "run": rg.sample()[1]}),
    "judgments": (rg.judgments, {"truth": QRELS}),
    "evaluate": (evaluate, {}),
    "Rankings.evaluate": (evaluate_method, {}),
    "Rankings.under": (under, {}),
    "Rankings.limited": (limited, {}),
    "Rankings.curve": (curve, {}),
    "Rankings.tie_spread": (tie_spread, {}),
    "Curve.interval": (interval, {}),
    "metric": (metric, {}),
    "explain": (rg.explain, {"metric": "ndcg@5"}),
    "compare": (compare, {}),
    "lambdarank": (rg.lambdarank, {"y_true": GRADES, "y_score": SCORES}),
    "lightgbm_metric": (lightgbm_metric, {}),
    "xgboost_metric": (xgboost_metric, {}),
    "catboost_metric": (catboost_metric, {}),
    "lightgbm_objective": (lightgbm_objective, {}),
    "xgboost_objective": (xgboost_objective, {}),
    "scorer": (scorer, {}),
    "ndcg_score": (rg.sklearn.ndcg_score, {"y_true": MATRIX[0], "y_score": MATRIX[1]}),
    "dcg_score": (rg.sklearn.dcg_score, {"y_true": MATRIX[0], "y_score": MATRIX[1]}),
    "pytrec_eval": (pytrec_eval, {}),
    "evaluate_batches": (evaluate_batches, {}),
    "summarize_batches": (summarize_batches, {}),
}
