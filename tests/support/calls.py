"""A call of every public function in Python and C, and the data for the calls.

A new function needs an entry in CALLS.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from itertools import product

import numpy as np

import rankgain as rg
from rankgain.data.judgments import judgment_sets
from support.training import FirstColumn, Matrix

CLASSES = [
    rg.Attribution,
    rg.Bounds,
    rg.Calculation,
    rg.Comparison,
    rg.Curve,
    rg.Evaluation,
    rg.Explanation,
    rg.Judgments,
    rg.Metric,
    rg.Rankings,
    rg.TieSpread,
    rg.Summary,
]
METRICS = [
    "ndcg",
    "ndcg@5",
    "ndcg(gain=exponential)@5",
    "dcg(discount=zipf)",
    "rr(rel=2)@9",
    rg.metric("cg", gain=[0, 2, 3, 9]),
]
KS = [1, 3, 10]
MANY = 20_000  # number of documents in the arrays for the C functions
LISTS = 400  # number of lists in these arrays


# C functions


def c(name, **given):
    """Call a C function with named arguments, and return its status and all outputs except scratch memory.

    The arrays are passed without a copy. ctypes releases the GIL during the call.
    """
    from support.c_functions import DTYPES, FUNCTIONS, C, completed, room  # imports compiled modules

    given, parameters = completed(given), FUNCTIONS[name].parameters
    outputs = {
        parameter: np.full(room(parameter, given), 7, DTYPES[kind.split()[0]])
        for parameter, kind in parameters.items()
        if kind.endswith("*") and parameter not in given
    }
    taken = [(given | outputs).get(parameter, 1) for parameter in parameters]  # strides default to 1
    status = C[name](*(value.ctypes.data if isinstance(value, np.ndarray) else value for value in taken))
    return status, [written for parameter, written in outputs.items() if parameter != "scratch"]


# In these calls, k is 10 or the number of documents. A gain of 1 is exponential, and the default of 0 is linear.
# Without `discount`, the discount is log2. The constants start at 16 for discounts, 32 for ideals, 48 for ties, 64 for
# deltas and 80 for normalizations.
DEPTHS = 10, MANY
C_CALLS = {
    "message": lambda s: [c("message", status=status) for status in range(-6, 9)],
    "scratch_size": lambda s: [c("scratch_size", n=n, k=k) for n in (-1, 0, 7) for k in (0, 1, 99)],
    "lambda_scratch_size": lambda s: [c("lambda_scratch_size", n=n) for n in (-1, 0, 7)],
    "gain": lambda s: [c("gain", kind=kind, grades=s.grade) for kind in (0, 1)],
    "discount": lambda s: [c("discount", kind=kind, base=3.0, n=MANY) for kind in (16, 17, 18)],
    "cg": lambda s: c("cg", relevance=s.grade, gain=1),
    "dcg": lambda s: [
        c("dcg", relevance=s.grade),
        c("dcg", relevance=s.grade, n=MANY // 2, stride=2, gain=1, discount=s.falling),
    ],
    "idcg": lambda s: [c("idcg", judged=s.grade, k=k, gain=1) for k in DEPTHS],
    "ndcg": lambda s: [c("ndcg", relevance=s.grade, judged=s.grade, k=k) for k in DEPTHS],
    "reciprocal_rank": lambda s: c("reciprocal_rank", relevance=s.grade, rel=3.0),
    "cg_lists": lambda s: c("cg_lists", **s.parted, k=10, gain=1),
    "dcg_lists": lambda s: c("dcg_lists", **s.parted),
    "idcg_lists": lambda s: c("idcg_lists", judged=s.grade, offsets=s.offsets, k=10, gain=1),
    "ndcg_lists": lambda s: c(
        "ndcg_lists", **s.parted, judged=s.grade, judged_offsets=s.offsets, k=10, gain=1, ideal=33, discount=s.falling
    ),
    "reciprocal_rank_lists": lambda s: c("reciprocal_rank_lists", **s.parted, k=10),
}
OF_SCORES = {  # functions that exist for float64 and for float32
    "lambda_ndcg": lambda name, scores, s: [
        c(name, scores=scores, gains=s.grade, inverse_ideal=0.01, k=10, delta=delta, ties=ties, normalize=83)
        for delta in (64, 65, 66)
        for ties in (48, 51)
    ],
    "lambda_ndcg_lists": lambda name, scores, s: [
        c(
            name,
            scores=scores,
            offsets=s.offsets,
            gains=s.grade,
            inverse_ideals=np.ones(LISTS),
            k=k,
            discount=s.falling,
            sigma=2.0,
            delta=65,
            normalize=82,
        )
        for k in DEPTHS
    ],
    "order": lambda name, scores, s: [
        c(name, scores=scores, labels=s.grade, k=k, ties=ties) for k in DEPTHS for ties in range(48, 52)
    ],
    "dcg_from_scores": lambda name, scores, s: [
        c(name, scores=scores, labels=s.grade, k=k, ties=ties, gain=1) for k in DEPTHS for ties in range(48, 52)
    ],
    "ndcg_from_scores": lambda name, scores, s: [
        c(name, scores=scores, labels=s.grade, k=k, discount=s.falling) for k in DEPTHS
    ],
    "reciprocal_rank_from_scores": lambda name, scores, s: c(name, scores=scores, labels=s.grade, k=10, rel=2.0),
}
for (stem, call), form in product(OF_SCORES.items(), ("f64", "f32")):
    C_CALLS[f"{stem}_{form}"] = lambda s, call=call, form=form, name=f"{stem}_{form}": call(name, s.score[form], s)


# data shared by threads


class Data:
    """The inputs of the calls. All arrays are read-only."""

    def __init__(self, queries, documents):
        rng = np.random.default_rng(4)
        shape = queries, documents
        self.grades, self.scores = rng.integers(0, 4, shape), rng.integers(0, documents // 3, shape) / 4
        self.lists = [row[: 3 + 4 * index].tolist() for index, row in enumerate(self.grades)]
        self.query = np.repeat(np.arange(queries), documents)[::-1]
        self.flat = self.grades.ravel(), np.full(queries, documents)
        self.weights = rng.integers(1, 4, queries)
        self.ranked = rng.permuted(np.tile(np.arange(documents), (queries, 1)), axis=1)
        self.relevant = [set(np.flatnonzero(row > 1).tolist()) for row in self.grades]
        self.qrels = {f"q{q}": {f"d{d}": int(g) for d, g in enumerate(row[::3])} for q, row in enumerate(self.grades)}
        self.run = {f"q{q}": {f"d{d}": float(s) for d, s in enumerate(row)} for q, row in enumerate(self.scores)}
        self.truth_columns, self.columns = self.frame(self.qrels, "relevance"), self.frame(self.run, "score")
        self.frames = [(self.truth_columns, self.columns)]
        for module, make in FRAMES.items():
            if find_spec(module):
                self.frames.append(tuple(make(columns) for columns in self.frames[0]))
        self.grade = rng.integers(0, 5, MANY).astype(float)
        self.falling = 1.0 / np.arange(1, MANY + 1)
        self.offsets = np.linspace(0, MANY, LISTS + 1).astype(np.int64)
        scores = rng.integers(0, MANY // 2, MANY) / 8
        self.score = {"f64": scores, "f32": scores.astype(np.float32)}
        for array in (*vars(self).values(), *self.score.values(), self.columns["score"]):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @staticmethod
    def frame(queries, name):
        rows = [(query, doc, value) for query, documents in queries.items() for doc, value in documents.items()]
        query, doc, value = zip(*rows, strict=True)
        return {"query_id": list(query), "doc_id": list(doc), name: np.array(value)}

    @property
    def parted(self):
        """The grades and offsets, as arguments of the C functions that take many lists."""
        return {"relevance": self.grade, "offsets": self.offsets}


class Shared(Data):
    """Objects built from the inputs. Each round of threads builds new objects, whose lazy caches are empty."""

    def __init__(self, data):
        vars(self).update(vars(data))
        self.judgments = rg.judgments(self.qrels)
        self.metric = rg.metric("ndcg", k=5, gain={1: 1, 2: 4, 3: 9})
        self.rankings = {
            "ranked": rg.from_ranked(self.lists),
            "scored": rg.from_scores(self.grades, self.scores),
            "grouped": rg.from_scores(self.grades.ravel(), self.scores.ravel(), qid=self.query),
            "recommended": rg.from_recommendations(self.relevant, self.ranked),
            "matched": rg.from_qrels(self.judgments, self.run),
            "framed": rg.from_frames(self.judgments, self.columns),
            "read": rg.read_trec(*rg.sample()),
        }
        self.objective = rg.lightgbm_objective("ndcg@5", threads=2)
        self.gradients = rg.LambdaRank("ndcg@5", threads=2)
        self.evaluation = self.rankings["matched"].evaluate(*METRICS)
        self.summary = self.evaluation.summary()
        self.curve = self.rankings["scored"].curve("ndcg", KS)
        self.attribution = self.rankings["matched"].attribution("ndcg@5", "ranx")
        self.bounds = self.rankings["matched"].bounds("ndcg@5")
        self.calculation = self.rankings["matched"].calculation("ndcg@5", "q0")
        self.spread = self.rankings["matched"].tie_spread(*METRICS)
        self.comparison = rg.Comparison({"one": self.evaluation, "other": self.rankings["framed"].evaluate(*METRICS)})


FRAMES = {  # constructors by module; modules that are not installed are skipped
    "pandas": lambda columns: __import__("pandas").DataFrame(columns),
    "polars": lambda columns: __import__("polars").DataFrame(columns),
    "pyarrow": lambda columns: __import__("pyarrow").table(columns),
}


def drawn(*axes):
    return [(panel.get_ylabel(), *(line.get_xydata() for line in panel.lines)) for panel in axes]


# calls by name

# Functions for comparisons are left out, because tests/comparison runs them on both backends and with several threads.
LEFT_OUT = [f"Comparison.{name}" for name in ("test", "groups", "queries_needed", "report", "per_query")]
LEFT_OUT += ["Comparison.corrected_by", "Tests", "Difference", "Gate", "Groups", "Agreement", "Corrected", "Changes"]
LEFT_OUT += ["Evaluation.to_parquet", "Evaluation.from_table"]  # they need pyarrow, which has threads of its own
CALLS = {
    "Comparison": lambda s: (
        rg.Comparison({"a": s.evaluation}),
        repr(s.comparison),
        s.comparison._repr_html_(),
        [*s.comparison],
    ),
    "Comparison.aggregate": lambda s: s.comparison.aggregate(weights=s.weights),
    "Comparison.best": lambda s: s.comparison.best("ndcg"),
    "Comparison.columns": lambda s: s.comparison.columns(),
    "Comparison.means": lambda s: s.comparison.means(),
    "Comparison.table": lambda s: s.comparison.table(),
    "Curve": lambda s: (s.curve, repr(s.curve)),
    "Curve.columns": lambda s: s.curve.columns(),
    "Curve.mean": lambda s: s.curve.mean(),
    "Curve.interval": lambda s: s.curve.interval(),
    "Curve.plot": lambda s: drawn(s.curve.plot(per_query=True)),
    "Evaluation": lambda s: (s.evaluation, repr(s.evaluation), s.evaluation._repr_html_(), len(s.evaluation)),
    "Evaluation.aggregate": lambda s: s.evaluation.aggregate(),
    "Evaluation.columns": lambda s: s.evaluation.columns(),
    "Evaluation.flat": lambda s: [s.evaluation.flat(), s.evaluation.subset([*s.evaluation.query_ids][:2]).flat("safe")],
    "Evaluation.mean": lambda s: [s.evaluation.mean(), s.evaluation.mean("ndcg", weights=s.weights)],
    "Evaluation.values": lambda s: [*s.evaluation.values()],
    "Evaluation.interval": lambda s: [s.evaluation.interval("ndcg"), s.evaluation.interval(METRICS[3], highest=99)],
    "Evaluation.merge": lambda s: s.evaluation.merge(
        rg.from_qrels({"x": {"d": 1}}, s.run | {"x": {}}).evaluate(*METRICS)
    ),
    "Evaluation.summary": lambda s: s.evaluation.summary().to_json(),
    "Evaluation.subset": lambda s: s.evaluation.subset([*s.evaluation.query_ids][1::-1]),
    "Explanation": lambda s: (repr(rg.explain("rr@5")), repr(rg.explain("ndcg@5", ("lightgbm", "lenskit")))),
    "Explanation.differences": lambda s: rg.explain("ndcg@5", ("rectools", "trec_eval-9")).differences(),
    "Judgments": lambda s: (s.judgments, repr(s.judgments), len(s.judgments)),
    "Metric": lambda s: (
        s.metric,
        repr(s.metric),
        hash(s.metric),
        s.metric == rg.metric("ndcg"),
        s.metric.__reduce__()[1],
    ),
    "Metric.at": lambda s: s.metric.at(3),
    "Evaluation.worst": lambda s: [s.evaluation.worst(metric, 3) for metric in s.evaluation],
    "Rankings": lambda s: [(repr(rankings), len(rankings)) for rankings in s.rankings.values()],
    "Attribution": lambda s: (repr(s.attribution), s.attribution._repr_html_(), s.attribution.table()),
    "Attribution.columns": lambda s: s.attribution.columns(),
    "Attribution.table": lambda s: s.attribution.table(),
    "Bounds": lambda s: repr(s.bounds),
    "Bounds.columns": lambda s: s.bounds.columns(),
    "Bounds.mean": lambda s: s.bounds.mean(),
    "Calculation": lambda s: (repr(s.calculation), s.calculation._repr_html_()),
    "Calculation.columns": lambda s: s.calculation.columns(),
    "Rankings.attribution": lambda s: [
        rankings.attribution("ndcg@5", like).to_dict()
        for rankings in s.rankings.values()
        for like in ("elasticsearch", "dcg")
    ],
    "Rankings.bounds": lambda s: [
        s.rankings[name].bounds(metric).columns()
        for name in ("matched", "framed", "read")
        for metric in ("ndcg@5", "ap")
    ],
    "Rankings.calculation": lambda s: [
        (calculation.to_dict(), repr(calculation))
        for rankings in s.rankings.values()
        for metric in METRICS
        for calculation in [rankings.calculation(metric, rankings.query_ids[0])]
    ],
    "Rankings.curve": lambda s: [rankings.curve("ndcg", KS) for rankings in s.rankings.values()],
    "Rankings.evaluate": lambda s: [
        *(rankings.evaluate(*METRICS, threads=3) for rankings in s.rankings.values()),
        *(rankings.evaluate("ndcg@5", like="lenskit", threads=3) for rankings in s.rankings.values()),
    ],
    "Rankings.limited": lambda s: [
        rankings.limited(judged_only=True).evaluate(*METRICS, threads=3) for rankings in s.rankings.values()
    ],
    "Rankings.tie_spread": lambda s: [
        s.rankings[name].tie_spread(*METRICS, threads=3) for name in ("scored", "matched", "framed", "read")
    ],
    "Rankings.under": lambda s: s.rankings["matched"].under(ties="average", score_bits=32).evaluate(*METRICS),
    "Summary": lambda s: (repr(s.summary), s.summary._repr_html_(), s.summary == s.evaluation.summary()),
    "Summary.aggregate": lambda s: s.summary.aggregate(),
    "Summary.from_json": lambda s: rg.Summary.from_json(s.summary.to_json()).to_json(),
    "Summary.mean": lambda s: [s.summary.mean(), s.summary.mean("ndcg")],
    "Summary.interval": lambda s: s.summary.interval("ndcg"),
    "Summary.merge": lambda s: s.summary.merge(s.summary).to_json(),
    "Summary.to_json": lambda s: s.summary.to_json(),
    "catboost_metric": lambda s: rg.catboost_metric("ndcg@5", s.flat, ties="worst").evaluate(
        [s.scores.ravel()], s.flat[0], None
    ),
    "TieSpread": lambda s: (repr(s.spread), s.spread._repr_html_()),
    "TieSpread.columns": lambda s: s.spread.columns(),
    "TieSpread.evaluations": lambda s: s.spread.evaluations,
    "TieSpread.affected": lambda s: [s.spread.affected(metric) for metric in METRICS],
    "TieSpread.mean": lambda s: s.spread.mean(),
    "TieSpread.notes": lambda s: s.spread.notes(),
    "TieSpread.rows": lambda s: s.spread.rows(),
    "agreement": lambda s: repr(rg.agreement(s.judgments, s.qrels)),
    "cg": lambda s: [rg.cg(grades, k=5, gain="exponential") for grades in (s.grades, s.grades[0], s.lists)],
    "changes": lambda s: rg.changes(s.run, s.qrels, k=5).columns(),
    "similarity": lambda s: rg.similarity(s.run, s.qrels, "rbo@5", "overlap@5"),
    "compare": lambda s: rg.compare(s.judgments, {"dict": s.run, "frame": s.columns}, METRICS),
    "dcg": lambda s: [
        rg.dcg(grades, discount=f"jarvelin:{b}") for grades in (s.grades, s.lists[0]) for b in range(2, 6)
    ],
    "discount": lambda s: [rg.discount(2000, kind) for kind in ("log2", "zipf", "jarvelin:3")],
    "explain": lambda s: [rg.explain(s.metric, like) for like in (None, "catboost", "ranx")],
    "from_frames": lambda s: [rg.from_frames(*frames, validate="full") for frames in s.frames],
    "from_qrels": lambda s: [
        rg.from_qrels(s.qrels, s.run, ties=ties) for ties in ("docid", "average", "stable", "best")
    ],
    "from_ranked": lambda s: [rg.from_ranked(grades, judged=s.grades) for grades in (s.grades, s.lists)],
    "from_recommendations": lambda s: rg.from_recommendations(s.relevant, s.ranked.tolist(), validate="full"),
    "from_rows": lambda s: rg.from_rows({"relevant": s.relevant, "retrieved": s.ranked.tolist()}, validate="full"),
    "from_scores": lambda s: [rg.from_scores(s.grades, s.scores, ties=ties) for ties in ("average", "stable", "worst")],
    "gain": lambda s: [rg.gain(s.grades, kind) for kind in ("exponential", {1: 1, 2: 3, 3: 5}, np.sqrt)],
    "get_include": lambda s: rg.get_include(),
    "idcg": lambda s: [rg.idcg(grades, k=5) for grades in (s.grades, s.grade, s.lists)],
    "judgments": lambda s: [rg.judgments(truth) for truth in (s.qrels, s.relevant, s.truth_columns, rg.sample()[0])],
    "average_precision": lambda s: [rg.average_precision(grades, k=5) for grades in (s.grades, s.lists)],
    "hit_rate": lambda s: [rg.hit_rate(grades, rel=2) for grades in (s.grades, s.lists[3])],
    "precision": lambda s: [rg.precision(grades, k=5) for grades in (s.grades, s.lists)],
    "recall": lambda s: [rg.recall(grades, k=5) for grades in (s.grades, s.lists[3])],
    "evaluate": lambda s: [
        rg.evaluate(s.qrels, s.run, "ndcg@5"),
        rg.evaluate(*rg.sample(), "rr"),
        rg.evaluate(s.truth_columns, s.columns, "ap"),
    ],
    "lambdarank": lambda s: [
        rg.lambdarank(s.grades, s.scores, metric=f"ndcg@{k}", discount=discount, ties=ties, threads=3)
        for k, discount, ties in ((3, "cut", "stable"), (10, "full", "average"))
    ],
    "LambdaRank": lambda s: [s.gradients(s.grades, s.scores, mask=s.grades >= 0) for _ in range(3)],
    "lightgbm_metric": lambda s: rg.lightgbm_metric("ndcg@5", "rr", threads=2)(
        s.flat[0], s.scores.ravel(), None, s.flat[1]
    ),
    "lightgbm_objective": lambda s: [
        s.objective(s.flat[0], s.scores.ravel(), s.grades.ravel(), s.flat[1]) for _ in range(3)
    ],
    "mean_ndcg": lambda s: rg.mean_ndcg(s.grades, gain="exponential"),
    "metric": lambda s: rg.metric("ndcg", k=3, gain="exponential", discount="zipf"),
    "mrr": lambda s: rg.mrr(s.lists),
    "ndcg": lambda s: [rg.ndcg(grades, k=k) for grades in (s.grades, s.grade, s.lists, s.lists[3]) for k in KS],
    "plot": lambda s: drawn(*rg.plot(s.rankings["matched"], ["dcg", "rr"], KS).axes),
    "read_trec": lambda s: rg.read_trec(*rg.sample(), ties="average"),
    "reciprocal_rank": lambda s: [
        rg.reciprocal_rank(grades, rel=rel) for grades in (s.grades, s.lists) for rel in (1, 2)
    ],
    "sample": lambda s: rg.sample(),
    "xgboost_metric": lambda s: rg.xgboost_metric("ndcg@5", per_query=True)(s.grades[0], s.scores[0]),
    "xgboost_objective": lambda s: rg.xgboost_objective("pairwise@5")(
        s.scores.astype("f4").ravel(), Matrix(*s.flat, np.arange(1.0, len(s.flat[1]) + 1))
    ),
    "scorer": lambda s: rg.scorer("ndcg@5")(FirstColumn(), s.scores.reshape(-1, 1), s.grades.ravel(), qid=s.query),
}
RECORDS = {"Comparison": "comparison", "Curve": "curve", "Evaluation": "evaluation", "Summary": "summary"}
RECORDS |= {"Attribution": "attribution", "Bounds": "bounds", "Calculation": "calculation", "TieSpread": "spread"}
EXPORTS = {  # for each export method, a function that returns the content to compare
    "to_arrow": lambda table: table.to_pydict(),
    "to_pandas": lambda frame: frame.to_dict("list"),
    "to_polars": lambda frame: frame.to_dict(as_series=False),
    "to_dict": dict,
    "to_latex": str,
    "to_markdown": str,
}
for (kind, attribute), (export, content) in product(RECORDS.items(), EXPORTS.items()):
    if hasattr(getattr(rg, kind), export):
        CALLS[f"{kind}.{export}"] = lambda s, attribute=attribute, export=export, content=content: content(
            getattr(getattr(s, attribute), export)()
        )
if find_spec("rankgain._compiled.walk"):
    import rankgain.capi

    CALLS |= {f"capi.rankgain_{name}": call for name, call in C_CALLS.items()}
    CALLS["capi.address"] = lambda s: [rg.capi.address(f"rankgain_{name}") for name in C_CALLS]
NEEDS = {"to_arrow": "pyarrow", "to_pandas": "pandas", "to_polars": "polars", "plot": "matplotlib"}
NEEDS["get_include"] = "rankgain._compiled.walk"
HERE = sorted(name for name in CALLS if find_spec(NEEDS.get(name.rpartition(".")[2], "numpy")))


def bits(value):
    """Convert a result to a value that compares equal only if every bit is equal."""
    if isinstance(value, rg.Rankings):
        value = value.evaluate(*METRICS)
    if isinstance(value, rg.Evaluation):
        value = dict(value), [*value.query_ids], value.counts, value.ties, value.missing, value.backend
    if isinstance(value, rg.Judgments):
        truth = judgment_sets(value)
        value = [*value.query_ids], truth.offsets, truth.grades, truth.documents
    if isinstance(value, rg.Curve):
        value = value.metric, value.ks, value.values, value.query_ids
    if isinstance(value, Mapping):
        value = list(value.items())
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, float):
        return value.hex()
    return [bits(part) for part in value] if isinstance(value, (list, tuple, range)) else value


def answer(name, shared):
    return bits(CALLS[name](shared))
