"""Record the reference output in golden/peers.json, using tools that are too large for the test environment.

    python tests/support/peers_golden.py ranx implicit ... > part.json

The command prints the values that the named tools compute for the data below. The tools must be installed. The key
"queries" holds the mean nDCG@10 for cases in which the truth and the run have different queries. test_peers.py compares
our presets with the file.

LensKit imports torch but does not use it here, so an empty module of that name suffices.
"""

import json
import random
import sys
import warnings
from importlib.metadata import version

KS = (1, 3, 10)


def drawn(seed, queries, documents):
    """Return random lists of distinct document ids, and random judgments with grades from 0 to 3."""
    source = random.Random(seed)

    def below(limit):
        return int(source.random() * limit)

    def some(most):
        return sorted(range(documents), key=lambda _: source.random())[: 1 + below(most)]

    lists = [some(documents // 2) for _ in range(queries)]
    judged = [{document: below(4) for document in some(documents // 2)} for _ in range(queries)]
    judged[1] = dict.fromkeys(judged[1], 0)
    return lists, judged


LISTS, JUDGED = drawn(7, 30, 24)
QRELS = {f"q{q}": {f"d{d}": grade for d, grade in judged.items()} for q, judged in enumerate(JUDGED)}
RUN = {f"q{q}": {f"d{d}": (len(ids) - i) / 64 for i, d in enumerate(ids)} for q, ids in enumerate(LISTS) if q != 2}
# TRUTH is for tools that treat every listed document as relevant. MATRIX has exactly 10 ids per user.
TRUTH = [sorted(judged) for judged in JUDGED]
MATRIX = [ids + [d for d in range(24) if d not in ids][: 10 - len(ids)] for ids in LISTS]
MATRIX = [ids[:10] for ids in MATRIX]
# Scores with ties, grades, and scores without ties for the documents of each query.
SCORES = [[(1 + (d * 7 + q) % 5) / 8 for d in range(2 + q % 9)] for q in range(20)]
GRADES = [[(d * d + q) % 4 if q else 0 for d in range(len(scores))] for q, scores in enumerate(SCORES)]
UNTIED = [[(1 + (d * 5 + q) % 11) / 16 for d in range(len(scores))] for q, scores in enumerate(SCORES)]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def ranx():
    from ranx import Qrels, Run, evaluate

    names = {"ndcg": "ndcg", "dcg": "dcg", "ap": "map", "rr": "mrr", "precision": "precision", "recall": "recall"}
    names |= {"f": "f1", "success": "hit_rate"}
    names = {f"{ours}{at}": f"{theirs}{at}" for ours, theirs in names.items() for at in ("", "@3", "@10")}
    names |= {"r_precision": "r-precision", "ndcg(gain=exponential)@3": "ndcg_burges@3"}
    results = evaluate(Qrels(QRELS), Run(RUN), list(names.values()), make_comparable=True)
    return {ours: float(results[theirs]) for ours, theirs in names.items()}


def implicit():
    import numpy as np
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    class Model:
        def recommend(self, users, items, N, **_):
            return np.array(MATRIX, dtype=np.int32)[users][:, :N], np.zeros((len(users), N), dtype=np.float32)

    truth = np.zeros((len(TRUTH), 24))
    for user, items in enumerate(TRUTH):
        truth[user, [] if user == 4 else items] = 1
    truth = csr_matrix(truth)
    results = {k: ranking_metrics_at_k(Model(), truth, truth, K=k, show_progress=False) for k in KS}
    return {f"{ours}@{k}": results[k][theirs] for ours, theirs in (("ndcg", "ndcg"), ("ap", "map")) for k in KS}


def rectools():
    import pandas as pd
    from rectools.metrics import MAP, MRR, NDCG, F1Beta, HitRate, Precision, Recall

    rows = [(user, item, rank) for user, items in enumerate(LISTS) if user != 2 for rank, item in enumerate(items, 1)]
    given = pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])
    pairs = [(user, item) for user, items in enumerate(TRUTH) for item in items]
    truth = pd.DataFrame(pairs, columns=["user_id", "item_id"])
    kinds = {"ndcg": NDCG, "ap": MAP, "rr": MRR, "precision": Precision, "recall": Recall, "f": F1Beta}
    kinds["success"] = HitRate
    return {f"{ours}@{k}": float(kind(k=k).calc(given, truth)) for ours, kind in kinds.items() for k in KS}


def lenskit():
    from lenskit.data import ItemList
    from lenskit.metrics.ranking import DCG, NDCG, RBP, Hit, Precision, Recall, RecipRank
    from lenskit.metrics.ranking._map import AveragePrecision

    lists = [ItemList(items, ordered=True) for items in LISTS]
    truth = [ItemList(items) for items in TRUTH]
    kinds = {"ndcg": NDCG, "dcg": DCG, "recall": Recall, "rr": RecipRank, "success": Hit, "rbp": RBP}
    metrics = {f"{ours}@{k}": kind(k) for ours, kind in kinds.items() for k in KS}
    metrics |= {"ndcg": NDCG(), "recall": Recall(), "precision": Precision(), "ap": AveragePrecision(), "rbp": RBP()}
    return {
        ours: mean(float(metric.measure_list(*pair)) for pair in zip(lists, truth, strict=True))
        for ours, metric in metrics.items()
    }


def torchmetrics():
    import torch
    from torchmetrics.functional import retrieval

    kinds = {"rr": "reciprocal_rank", "ap": "average_precision", "precision": "precision", "recall": "recall"}
    kinds |= {"success": "hit_rate", "fallout": "fall_out"}
    results = {}
    for k in KS:
        rows = [(torch.tensor(scores), torch.tensor(grades)) for scores, grades in zip(SCORES, GRADES, strict=True)]
        results[f"ndcg@{k}"] = mean(float(retrieval.retrieval_normalized_dcg(*row, top_k=k)) for row in rows)
        rows = [(torch.tensor(scores), (torch.tensor(g) > 0).int()) for scores, g in zip(UNTIED, GRADES, strict=True)]
        for ours, theirs in kinds.items():
            call = getattr(retrieval, f"retrieval_{theirs}")
            results[f"{ours}@{k}"] = mean(float(call(*row, top_k=k)) for row in rows)
    whole = {"r_precision": retrieval.retrieval_r_precision, "auc": retrieval.retrieval_auroc}
    return results | {ours: mean(float(call(*row)) for row in rows) for ours, call in whole.items()}


# Pairs of a run and a truth. User A is in both of them, and user B is missing or empty in one of them.


CASES = {
    "only in the run": ({"A": ["a"], "B": ["x"]}, {"A": {"a": 1}}),
    "only in the truth": ({"A": ["a"]}, {"A": {"a": 1}, "B": {"b": 1}}),
    "an empty list": ({"A": ["a"], "B": []}, {"A": {"a": 1}, "B": {"b": 1}}),
    "an empty truth": ({"A": ["a"], "B": ["x"]}, {"A": {"a": 1}, "B": {}}),
}


def scored(run):
    return {user: {item: 1 / rank for rank, item in enumerate(items, 1)} for user, items in run.items()}


def ranx_queries(run, truth):
    from ranx import Qrels, Run, evaluate

    return float(evaluate(Qrels(truth), Run(scored(run)), "ndcg@10", make_comparable=True))


def pytrec_eval_queries(run, truth):
    from pytrec_eval import RelevanceEvaluator

    results = RelevanceEvaluator(truth, {"ndcg_cut_10"}).evaluate(scored(run))
    return mean(values["ndcg_cut_10"] for values in results.values())


def rectools_queries(run, truth):
    import pandas as pd
    from rectools.metrics import NDCG

    rows = [(user, item, rank) for user, items in run.items() for rank, item in enumerate(items, 1)]
    given = pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])
    pairs = [(user, item) for user, items in truth.items() for item in items]
    interactions = pd.DataFrame(pairs, columns=["user_id", "item_id"])
    return float(NDCG(k=10, divide_by_achievable=True).calc(given, interactions))


def implicit_queries(run, truth):
    import numpy as np
    from implicit.evaluation import ranking_metrics_at_k
    from scipy.sparse import csr_matrix

    items, users = "abx", sorted({*run, *truth})
    given = [[items.index(item) for item in run.get(user, [])] or [9] for user in users]

    class Model:
        def recommend(self, users, rows, N, **_):
            return np.array(given, dtype=np.int32)[users], np.zeros((len(users), 1), dtype=np.float32)

    matrix = csr_matrix([[float(item in truth.get(user, ())) for item in items] for user in users])
    return ranking_metrics_at_k(Model(), matrix, matrix, K=1, show_progress=False)["ndcg"]


def lenskit_queries(run, truth):
    from lenskit.data import ItemList, ItemListCollection
    from lenskit.metrics import RunAnalysis
    from lenskit.metrics.ranking import NDCG

    def lists(by_user):
        return {user: ItemList(list(items), ordered=True) for user, items in by_user.items()}

    run, truth = (ItemListCollection.from_dict(lists(side), "user_id") for side in (run, truth))
    analysis = RunAnalysis()
    analysis.add_metric(NDCG(10))
    return float(analysis.measure(run, truth).list_summary()["mean"].iloc[0])


def output_of(name):
    output = {"version": version("pytrec_eval-terrier" if name == "pytrec_eval" else name)}
    if name in globals():
        output["values"] = globals()[name]()
    if f"{name}_queries" in globals():
        output["queries"] = {case: globals()[f"{name}_queries"](*pair) for case, pair in CASES.items()}
    return output


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    output = {name: output_of(name) for name in sys.argv[1:]}
    print(json.dumps(output, indent=1))
