"""Options of gradients, of what trainers call, of the scorer and of the drop-ins."""

import math

import numpy as np
from support import textbook
from support.cases import SAME, Option
from support.options.inputs import of_scores
from support.public_calls import MATRIX, QRELS, RUN
from support.training import GRADES, SCORES, SIZES

import rankgain as rg

ARRAYS = "lambdarank", "LambdaRank"
WAYS = *ARRAYS, "lightgbm_objective", "xgboost_objective"
TIED = [0.5, 0.25, 0.5, 1.0, 1.0]
GAIN = {0: 0.5, 1: 1, 2: 7}
VECTOR = [1.0, 0.5, 0.25]


def pulls(labels=GRADES, scores=SCORES, sizes=SIZES, k=2, **options):
    """Gradient and hessian of each query, one after the other."""
    gradient, hessian, start = [], [], 0
    for size in sizes:
        part = slice(start, start + size)
        for whole, own in zip(
            (gradient, hessian), textbook.lambdarank(labels[part], scores[part], k, **options), strict=True
        ):
            whole += own
        start += size
    return [gradient, hessian]


def weighted(found, each, twice=1.0):
    return [
        [value * weight for value, weight in zip(found[0], each, strict=True)],
        [value * weight * twice for value, weight in zip(found[1], each, strict=True)],
    ]


def gradients():
    metrics = {
        "ndcg@1": {"k": 1, "gain": "linear"},
        "ndcg(gain=exponential)@1": {"k": 1},
        "ndcg(gain=exponential,discount=zipf)@2": {"worth_of_rank": "zipf"},
        "pairwise@2": {"pairwise": True},
        "PAIRWISE": {"pairwise": True, "k": None},
        rg.metric("ndcg", k=2, gain=GAIN): {"gain": GAIN},
        rg.metric("ndcg", k=2, gain=np.sqrt): {"gain": math.sqrt},
        rg.metric("ndcg", k=2, gain="exponential", discount=VECTOR): {"worth_of_rank": VECTOR},
    }
    usual = "ndcg(gain=exponential)@2"
    for call in WAYS:
        own = {"discount": "cut" if call in ARRAYS else "full"}
        twice = 2.0 if call == "xgboost_objective" else 1.0
        flat = {"y_true": GRADES, "y_score": SCORES, "group_sizes": SIZES} if call in ARRAYS else {}
        scores_of = "y_score" if call in ARRAYS else "scores"

        def due(of=(1.0,) * 5, own=own, twice=twice, **options):
            return weighted(pulls(**{**own, **options}), of, twice)

        for metric, meant in metrics.items():
            yield Option(call, "metric", metric, due(**meant), **flat)
        for metric, meant in [(usual, {}), *[*metrics.items()][-5:]]:
            given = {**flat, "metric": metric}
            for sigma in (2.0, 0.5, np.float32(0.25)):
                yield Option(call, "sigma", sigma, due(sigma=float(sigma), **meant), **given)
            for normalize in ("score", "query", ["score"], None, ()):
                asked = {"normalize": normalize or ()}
                yield Option(call, "normalize", normalize, due(**asked, **meant), **given)
            for sigma in (1e-100, 1e-9):
                asked = {"sigma": sigma, "normalize": "score"}
                yield Option(call, "sigma", sigma, due(**asked, **meant), **given, normalize="score")
            given[scores_of] = TIED
            if not meant.get("pairwise"):
                yield Option(call, "ties", "average", due(ties="average", scores=TIED, **meant), **given)
                other = "full" if call in ARRAYS else "cut"
                k = {"k": 1} if isinstance(metric, str) else {}
                if k:
                    asked = {"discount": other, **meant, **k}
                    yield Option(call, "discount", other, due(**asked), **flat, metric="ndcg(gain=exponential)@1")
            yield Option(call, "threads", 2, SAME, **given)
        if call != "xgboost_objective":
            name = "sample_weight" if call in ARRAYS else "weight"
            for weights in (
                [2.0, 0.0, 1.0, 3.0, 0.5],
                [0.0] * 5,
                np.array([1, 2, 3, 4, 5], "i4"),
                np.array([1, 0, 3, 0, 5], "f4"),
            ):
                own_weights = [float(weight) for weight in weights]
                yield Option(call, name, weights, due(own_weights), **flat, metric=usual)
    # Weights of queries are divided by their mean, unless all of them are 0.
    for weights, each in [
        ([3.0, 1.0], [1.5] * 3 + [0.5] * 2),
        ([0.0, 3.0], [0.0] * 3 + [2.0] * 2),
        ([0.0, 0.0], [0.0] * 5),
    ]:
        yield Option(
            "xgboost_objective",
            "weight",
            weights,
            weighted(pulls(discount="full", gain="exponential"), each, 2.0),
            metric=usual,
        )


def shapes():
    """The queries in other forms."""
    usual = {"metric": "ndcg(gain=exponential)@2"}
    flat = {"y_true": GRADES, "y_score": SCORES}
    due = pulls()
    order = [3, 0, 4, 1, 2]
    mixed = {
        "y_true": [GRADES[place] for place in order],
        "y_score": np.array([SCORES[place] for place in order], "f4"),
    }
    found = [[own[place] for place in order] for own in due]
    padded = [[1, 0, 2], [0, 3, 1]], [[0.5, 0.25, 0.125], [1.0, 9.0, 0.5]]
    mask = [[True, True, True], [True, False, True]]
    kept = [[[*own[:3]], [own[3], 0.0, own[4]]] for own in due]
    for call in ARRAYS:
        yield Option(call, "group_sizes", SIZES, due, **flat, **usual)
        yield Option(call, "group_sizes", np.array(SIZES, "u1"), due, **flat, **usual)
        yield Option(call, "qid", [7, 7, 7, 9, 9], due, **flat, **usual)
        for qid in (list("babaa"), np.array([9, 7, 9, 7, 7]), np.array(list("babaa"))):
            yield Option(call, "qid", qid, found, **mixed, **usual)
        for make in (list, np.array):
            given = dict(zip(("y_true", "y_score"), map(make, padded), strict=True))
            yield Option(call, "mask", make(mask), kept, **given, **usual)
            sizes = {name: np.ravel(held) for name, held in given.items()} | {"group_sizes": [3, 3]}
            yield Option(call, "mask", np.ravel(mask), [[*own[0], *own[1]] for own in kept], **sizes, **usual)


def callbacks():
    """What trainers call between rounds, and the scorer."""
    lists = [GRADES[:3], GRADES[3:]], [TIED[:3], TIED[3:]]
    value = {ties: of_scores(*lists, ties=ties)[2] for ties in ("average", "stable", "best", "worst")}  # of rr

    def mean(ties="average", weights=(1.0, 1.0)):
        return math.fsum(own * weight for own, weight in zip(value[ties], weights, strict=True)) / sum(weights)

    for ties in ("stable", "best", "worst"):
        if mean(ties) != mean():
            yield Option(
                "lightgbm_metric", "ties", ties, [["rr_rankgain", mean(ties), True]], metrics=["rr"], scores=TIED
            )
            yield Option("xgboost_metric", "ties", ties, [["rr_rankgain", mean(ties)]], metrics=["rr"], scores=TIED)
            yield Option("catboost_metric", "ties", ties, [mean(ties), 1.0], metric="rr", scores=TIED)
            for qid in ((7, 7, 7, 9, 9), np.array(list("aaabb"))):
                yield Option("scorer", "ties", ties, mean(ties), metric="rr", scores=TIED, ids=qid)
    # A query has the mean of the weights of its documents; XGBoost may have one per query.
    for weights, each in [
        ([1, 2, 3, 0, 0], (2, 0)),
        ([0, 0, 3, 2, 0], (1, 1)),
        (np.array([0, 3, 0, 4, 2], "f4"), (1, 3)),
    ]:
        if each != (1, 1):
            yield Option(
                "lightgbm_metric",
                "weight",
                weights,
                [["rr_rankgain", mean(weights=each), True]],
                metrics=["rr"],
                scores=TIED,
            )
            yield Option(
                "xgboost_metric", "weight", weights, [["rr_rankgain", mean(weights=each)]], metrics=["rr"], scores=TIED
            )
            yield Option("catboost_metric", "weight", weights, [mean(weights=each), 1.0], metric="rr", scores=TIED)
    yield Option(
        "xgboost_metric", "weight", [1.0, 3.0], [["rr_rankgain", mean(weights=(1, 3))]], metrics=["rr"], scores=TIED
    )
    yield Option(
        "xgboost_metric", "weight", [0.0, 3.0], [["rr_rankgain", mean(weights=(0, 3))]], metrics=["rr"], scores=TIED
    )
    one = {"labels": GRADES[:3], "scores": TIED[:3], "sizes": SIZES[:1]}
    yield Option("xgboost_metric", "per_query", True, value["average"][0], metrics=["rr"], **one)
    yield from scorers(mean())
    for call in ("lightgbm_metric", "xgboost_metric", "catboost_metric"):
        yield Option(call, "threads", 2, SAME)
    given = {"sets": (([2, 0, 1, 0, 1], SIZES),), "metric": "rr", "labels": GRADES}
    yield Option("catboost_metric", "otherwise", 0.25, [0.25, 1.0], **given)
    yield Option("catboost_metric", "otherwise", 0, [0.0, 1.0], **given)


class Graded:
    """A classifier of the grades 0, 1 and 2, whose labels say nothing."""

    classes_ = np.array([0, 1, 2])

    def predict(self, X):
        return np.zeros(len(X))

    def predict_proba(self, X):
        place = np.clip(np.asarray(X, float)[:, :1], 0, 1)  # of expected grade 2 · place
        return np.hstack([1 - place, 0 * place, place])


def scorers(mean):
    rows = [[score, query] for score, query in zip(TIED, (7, 7, 7, 9, 9), strict=True)]
    for make in (list, np.array):
        given = {"metric": "rr", "rows": make(rows), "ids": None}
        for qid in (1, -1, np.int64(1), lambda held: np.asarray(held)[:, 1]):
            yield Option("scorer", "qid", qid, mean, **given)
    given = {"rows": rows, "model": Graded(), "metric": "rr"}
    expected = sum(of_scores([GRADES[:3], GRADES[3:]], [[0.0] * 3, [0.0] * 2])[2]) / 2
    for method in ("predict", ["decision_function", "predict"]):
        yield Option("scorer", "response_method", method, expected, **given)
    yield Option("scorer", "metric", "rr", mean, scores=TIED)
    yield Option("scorer", "metric", rg.metric("rr"), mean, scores=TIED)


def drop_ins():

    due = {k: [textbook.metric("dcg", docs, ties="average", k=k) for docs in documents(*MATRIX)] for k in (None, 1, 2)}
    normal = {
        k: [textbook.metric("ndcg", docs, ties="average", k=k) for docs in documents(*MATRIX)] for k in (None, 1, 2)
    }
    for name, values in (("dcg_score", due), ("ndcg_score", normal)):
        for make in (list, np.array, lambda rows: np.array(rows, "f4")):
            given = dict(zip(("y_true", "y_score"), map(make, MATRIX), strict=True))
            for k in (1, 2):
                yield Option(name, "k", k, sum(values[k]) / 2, **given)
                for weights in ([1.0, 3.0], [0, 1], np.array([2, 0.5])):
                    mean = np.average(values[k], weights=weights).item()
                    yield Option(name, "sample_weight", weights, mean, **given, k=k)
    tied = [[0.5, 0.5, 0.25], [1.0, 0.5, 0.25]]  # argsort, reversed: the later one first
    stable = [[0, 1, 2], [0, 1, 0]]
    for name in ("dcg", "ndcg"):
        mean = sum(map(getattr(rg, name), stable)) / 2
        for make in (list, np.array):
            given = {"y_true": make(MATRIX[0]), "y_score": make(tied)}
            yield Option(f"{name}_score", "ignore_ties", True, mean, **given)
    natural = [value / math.log(2) for value in due[None]]
    for base in (math.e, np.float64(math.e)):
        yield Option("dcg_score", "log_base", base, sum(natural) / 2)
        yield Option(
            "dcg_score", "log_base", base, sum(natural) / 2, y_true=np.array(MATRIX[0]), y_score=np.array(MATRIX[1])
        )
    given = {"measures": ["recip_rank"], "qrels": QRELS, "run": RUN}
    yield Option("pytrec_eval", "relevance_level", 2, {"q": {"recip_rank": 0.0}, "r": {"recip_rank": 0.0}}, **given)
    given = {"measures": ["recip_rank"], "qrels": {"q": {"a": 1}}, "run": {"q": {"a": 16777217.0, "x": 16777216.0}}}
    yield Option("pytrec_eval", "release", 10, {"q": {"recip_rank": 1.0}}, **given)  # which compares float64
    yield Option(
        "pytrec_eval",
        "judged_docs_only_flag",
        True,
        {"q": {"recip_rank": 0.5}},
        measures=["recip_rank"],
        qrels={"q": {"a": 1, "b": 0}},
        run={"q": {"x": 3.0, "b": 2.0, "a": 1.0}},
    )


def documents(labels, scores):
    return [
        [textbook.Doc(place, *pair) for place, pair in enumerate(zip(*query, strict=True))]
        for query in zip(labels, scores, strict=True)
    ]


def rows():
    for part in (gradients, shapes, callbacks, drop_ins):
        yield from part()
