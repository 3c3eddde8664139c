"""Calls that are refused when much has been read already: of each public function that takes something, some.

`CALLS` of `calls` has calls that are answered, of all of them.
"""

from copy import copy
from functools import partial

import rankgain as rg
import rankgain.pytrec_eval
import rankgain.sklearn
from support.calls import C_CALLS, KS, METRICS, Linear, Matrix

nan = float("nan")
GAINS = (lambda grades: grades, lambda grades: 2 * grades)  # of one name
ALIKE = rg.from_ranked([[1, 0]]).evaluate(*(rg.metric("cg", gain=gain) for gain in GAINS))
NO_STATUS = [
    f"capi.rankgain_{name}" for name in ("discount", "message", "scratch_size", "lambda_scratch_size")
]  # have no data to refuse
MADE = (
    "Curve",
    "Evaluation",
    "Explanation",
    "Judgments",
    "Metric",
    "Rankings",
    "Summary",
    "TieSpread",
)  # by functions that check


class Fails:
    """A number that cannot be had, and a gain: code of the caller's, which raises."""

    def __float__(self, *grades):
        raise OverflowError

    __call__ = __float__


class Wrong:
    """What callers hold, with one offence near the end of the last query."""

    def __init__(self, data, folder):
        def ended(values, value):
            return [*values[:-2], value, values[-1]]

        def changed(queries, value):
            *others, (query, documents) = queries.items()
            return dict([*others, (query, dict(zip(documents, ended([*documents.values()], value), strict=True)))])

        def column(columns, name, value):
            return columns | {name: ended([*columns[name]], value)}

        def written(name, *lines):
            (folder / name).write_text("".join(line + "\n" for line in lines))
            return folder / name

        values = nan, "1", Fails()
        self.grades, self.scores = data.grades.astype(float), data.scores.astype(float)
        self.grades[-1, -2] = self.scores[-1, -2] = nan
        self.relevance = [self.grades, self.grades[-1], self.grades[-1].astype("f4"), data.grades - 1]
        self.relevance += [[*data.lists[:-1], ended(data.lists[-1], value)] for value in values]
        self.relevance += [tuple(ended(data.lists[-1], value)) for value in values]
        long = [1.0] * 300  # more than has room on the stack
        self.relevance += [ended(long, value) for value in values]
        self.lacking = [row[:2] for row in data.lists]
        self.weights = ended([1.0] * len(data.lists), nan)
        self.qrels = [changed(data.qrels, value) for value in values]
        self.runs = [changed(data.run, value) for value in values]
        self.runs.append({query: dict.fromkeys([*run, 5], 0.0) for query, run in data.run.items()})  # mixed ids, tied
        self.runs.append({query: dict.fromkeys(range(9), 0.0) for query in data.run})  # other ids
        nulls = ("query_id", None), ("doc_id", None), ("doc_id", 2.5), ("doc_id", "\ud800"), ("doc_id", "d1")
        self.truth_columns = [column(data.truth_columns, *one) for one in (*nulls, ("relevance", nan))]
        self.columns = [column(data.columns, *one) for one in (*nulls, ("score", nan), ("score", "1"))]
        graded = [dict.fromkeys(ids, 1) for ids in data.relevant]
        self.relevant = [[*graded[:-1], dict.fromkeys(graded[-1], value)] for value in values]
        self.recommended = [ended(data.ranked.tolist(), ids) for ids in (None, ["a"], [2.5], [*range(9), 3])]
        qrels, run = [f"q 0 d{row} 1" for row in range(9)], [f"q Q0 d{row} 1 {row}.5 t" for row in range(200)]
        self.files = [
            (written(f"qrels{place}", *qrels, *wrong), written(f"run{place}", *run, *lines))
            for place, (wrong, lines) in enumerate(
                [([line], []) for line in ("q 0 x", "q 0 x nan", "q 0 x inf", "q 0 x y", "q 0 d1 1")]
                + [([], [line]) for line in ("q Q0 x", "q Q0 x 1 nan t", "q Q0 x 1 y t", "q Q0 d1 1 2 t")]
            )
        ]


def evaluated(make, *arguments, **options):
    return make(*arguments, **options).evaluate(*METRICS)


def refused(s, w):
    """Pairs of a name and a call, of what threads share and of what is wrong."""
    for name in ("gain", "cg", "dcg", "idcg", "ndcg", "reciprocal_rank", "mean_ndcg", "mrr"):
        yield from ((name, partial(getattr(rg, name), relevance)) for relevance in w.relevance)
    for name in ("cg", "dcg", "idcg", "ndcg", "mean_ndcg"):
        yield from ((name, partial(getattr(rg, name), s.grades, gain=gain)) for gain in (Fails(), {1: 1}, {"a": 1}))
    for name in ("dcg", "idcg", "ndcg", "mean_ndcg"):
        yield from ((name, partial(getattr(rg, name), s.lists, discount=held)) for held in ([1.0], [1.0, nan, 0.5]))
    yield from ((name, partial(getattr(rg, name), s.lists, judged=w.lacking)) for name in ("ndcg", "mean_ndcg"))
    for name in ("precision", "recall", "hit_rate", "average_precision"):
        yield from ((name, partial(getattr(rg, name), relevance)) for relevance in w.relevance)
        yield name, partial(getattr(rg, name), s.lists, rel=nan)
    yield from (("discount", partial(rg.discount, 3, kind)) for kind in ([1.0, nan, 0.5], "jarvelin:x", Fails()))
    yield from (("metric", partial(rg.metric, "ndcg", gain=gain)) for gain in ({1: Fails()}, [0, 1, -1]))
    yield from (("explain", partial(rg.explain, metric, like)) for metric, like in (("ndcg@x", None), ("rr", "ranks")))

    yield from (("from_ranked", partial(evaluated, rg.from_ranked, relevance)) for relevance in w.relevance)
    yield "from_ranked", partial(evaluated, rg.from_ranked, s.lists, judged=w.lacking)
    for ties in ("average", "stable", "worst"):
        yield "from_scores", partial(evaluated, rg.from_scores, s.grades, w.scores, ties=ties)
        yield "from_scores", partial(evaluated, rg.from_scores, s.grades, w.scores.astype("f4"), ties=ties)
        yield "from_scores", partial(evaluated, rg.from_scores, w.grades, s.scores, ties=ties)
    yield "from_scores", partial(evaluated, rg.from_scores, s.grades.ravel(), w.scores.ravel(), qid=s.query)
    yield "from_scores", partial(evaluated, rg.from_scores, s.grades, s.scores, judged=w.lacking)
    for ties in ("docid", "average"):
        yield from (("from_qrels", partial(evaluated, rg.from_qrels, qrels, s.run, ties=ties)) for qrels in w.qrels)
        yield from (("from_qrels", partial(evaluated, rg.from_qrels, s.qrels, run)) for run in w.runs)
    yield from (("judgments", partial(rg.judgments, qrels)) for qrels in [*w.qrels, *w.truth_columns, *w.relevant])
    yield from (("from_frames", partial(evaluated, rg.from_frames, truth, s.columns)) for truth in w.truth_columns)
    yield from (("evaluate", partial(rg.evaluate, s.qrels, run, METRICS)) for run in w.runs)
    for run in w.columns:
        yield "from_frames", partial(evaluated, rg.from_frames, s.truth_columns, run, validate="full")
    for relevant in w.relevant:
        yield "from_recommendations", partial(evaluated, rg.from_recommendations, s.ranked, relevant)
    for lists in w.recommended:
        yield "from_recommendations", partial(evaluated, rg.from_recommendations, lists, s.relevant, validate="full")
    yield from (("read_trec", partial(evaluated, rg.read_trec, *files)) for files in w.files)

    wrong = [rg.from_ranked(w.grades), rg.from_scores(s.grades, w.scores), rg.from_qrels(s.judgments, w.runs[0])]
    for held in wrong:
        yield from (("Rankings.evaluate", partial(held.evaluate, *METRICS, threads=threads)) for threads in (1, 3))
        yield "Rankings.curve", partial(held.curve, "ndcg", KS)
        yield "Rankings.limited", partial(evaluated, held.limited, depth=11)
        yield "plot", partial(rg.plot, held, "dcg", KS)
    yield from (("Rankings.tie_spread", partial(held.tie_spread, *METRICS)) for held in wrong[1:])
    yield "Rankings.under", partial(evaluated, wrong[2].under, ties="average", score_bits=32)
    yield "compare", partial(rg.compare, {"good": s.run, "bad": w.runs[0]}, s.judgments, METRICS)
    yield "Comparison", partial(rg.Comparison, {"one": s.evaluation, "other": None})
    for name in ("aggregate", "means"):
        yield f"Comparison.{name}", partial(getattr(s.comparison, name), weights=w.weights)
    yield "Comparison.to_pandas", rg.Comparison({"one": ALIKE}).to_pandas
    yield "Comparison.best", partial(s.comparison.best, "rr@77")
    for name in ("aggregate", "mean"):
        yield f"Evaluation.{name}", partial(getattr(s.evaluation, name), weights=w.weights)
    yield "Evaluation.flat", partial(s.evaluation.flat, weights=w.weights)
    yield "Evaluation.merge", partial(s.evaluation.merge, s.evaluation)
    yield "Evaluation.subset", partial(s.evaluation.subset, [True])
    yield from (("Summary.from_json", partial(rg.Summary.from_json, text)) for text in ("", "{}", '{"summary": 2}'))
    yield "Summary.mean", partial(s.summary.mean, "rr@77")
    yield "Summary.merge", partial(s.summary.merge, rg.from_ranked([[1]]).evaluate("rr").summary())
    yield "Metric.at", partial(s.metric.at, 2.5)
    yield "TieSpread.affected", partial(s.spread.affected, "rr@77")
    yield "Curve.interval", partial(s.curve.interval, level=2.0)
    yield "Curve.plot", partial(s.curve.plot, axes=5)

    grades, sizes = s.flat
    yield "lightgbm_metric", partial(rg.lightgbm_metric("ndcg@5"), w.grades.ravel(), s.scores.ravel(), None, sizes)
    yield "xgboost_metric", partial(rg.xgboost_metric("ndcg@5", per_query=True), w.grades[-1], s.scores[-1])
    for labels, scores in ((w.grades, s.scores), (s.grades, w.scores), (s.grades, w.scores.astype("f4"))):
        yield "lambdarank", partial(rg.lambdarank, labels, scores, ties="average", sample_weight=s.grades)
        flat = labels.ravel(), scores.ravel()
        yield "lightgbm_objective", partial(rg.lightgbm_objective(), *flat, None, sizes)
        yield "xgboost_objective", partial(rg.xgboost_objective(), flat[1], Matrix(flat[0], sizes))
    yield "lambdarank", partial(rg.lambdarank, s.grades, s.scores, sample_weight=-s.scores)
    yield "catboost_metric", partial(rg.catboost_metric("ndcg@5", s.flat).evaluate, [w.scores.ravel()], grades, None)
    yield "scorer", partial(rg.scorer("ndcg@5"), Linear(), w.scores.reshape(-1, 1), grades, qid=s.query)
    for name in ("ndcg_score", "dcg_score"):
        for ignored in (False, True):
            call = partial(getattr(rg.sklearn, name), ignore_ties=ignored)
            yield f"sklearn.{name}", partial(call, s.grades, w.scores)
            yield f"sklearn.{name}", partial(call, w.grades, s.scores)
    yield from (("pytrec_eval", partial(rg.pytrec_eval.RelevanceEvaluator, qrels, {"map"})) for qrels in w.qrels)
    evaluator = rg.pytrec_eval.RelevanceEvaluator(s.qrels, {"map", "ndcg_cut"})
    yield from (("pytrec_eval", partial(evaluator.evaluate, run)) for run in w.runs)


def refused_by_c(s):
    """Such pairs for the C functions, which refuse by a status: of numbers that are not, from the middle on."""
    from rankgain import capi

    def call(name):
        results = C_CALLS[name](wrong)
        statuses = [status for status, _ in (results if isinstance(results, list) else [results])]
        if any(statuses):
            raise ValueError(statuses)

    wrong = copy(s)
    wrong.grade, wrong.score = s.grade.copy(), {form: scores.copy() for form, scores in s.score.items()}
    for numbers in (wrong.grade, *wrong.score.values()):
        numbers[len(numbers) // 2 :] = nan
    for name in C_CALLS:
        if f"capi.rankgain_{name}" not in NO_STATUS:
            yield f"capi.rankgain_{name}", partial(call, name)
    yield "capi.address", partial(capi.address, "rankgain_nothing")
