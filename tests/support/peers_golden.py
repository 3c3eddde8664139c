"""What peers that are too heavy for the test environment say of fixed data: golden/peers.json holds it.

    python tests/support/peers_golden.py ranx implicit ... > part.json

prints what the peers that are named, and installed, compute here: of the data below, and under "queries" the mean of
nDCG@10 where the queries of truth and run differ. test_peers.py compares our presets with the file.

LensKit needs nothing of torch for this: an empty module of that name will do.
"""

import json
import random
import sys
import warnings
from importlib.metadata import version

KS = (1, 3, 10)


def drawn(seed, queries, documents):
    """Of each query the ids returned, in order and none twice, and the judged ones with a grade from 0 to 3."""
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
QRELS = {f"q{q}": {f"d{d}": grade for d, grade in own.items()} for q, own in enumerate(JUDGED)}
RUN = {f"q{q}": {f"d{d}": (len(own) - i) / 64 for i, d in enumerate(own)} for q, own in enumerate(LISTS) if q != 2}
# for those to whom all of a truth is relevant; none has fewer than 10 recommended
TRUTH = [sorted(own) for own in JUDGED]
MATRIX = [own + [d for d in range(24) if d not in own][: 10 - len(own)] for own in LISTS]
MATRIX = [own[:10] for own in MATRIX]
# scores with ties, and grades, by document
SCORES = [[(1 + (d * 7 + q) % 5) / 8 for d in range(2 + q % 9)] for q in range(20)]
GRADES = [[(d * d + q) % 4 if q else 0 for d in range(len(own))] for q, own in enumerate(SCORES)]
UNTIED = [[(1 + (d * 5 + q) % 11) / 16 for d in range(len(own))] for q, own in enumerate(SCORES)]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def ranx():
    from ranx import Qrels, Run, evaluate

    names = {"ndcg": "ndcg", "dcg": "dcg", "ap": "map", "rr": "mrr", "precision": "precision", "recall": "recall"}
    names |= {"f": "f1", "success": "hit_rate"}
    names = {f"{ours}{at}": f"{theirs}{at}" for ours, theirs in names.items() for at in ("", "@3", "@10")}
    names |= {"r_precision": "r-precision", "ndcg(gain=exponential)@3": "ndcg_burges@3"}
    found = evaluate(Qrels(QRELS), Run(RUN), list(names.values()), make_comparable=True)
    return {ours: float(found[theirs]) for ours, theirs in names.items()}


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
    found = {k: ranking_metrics_at_k(Model(), truth, truth, K=k, show_progress=False) for k in KS}
    return {f"{ours}@{k}": found[k][theirs] for ours, theirs in (("ndcg", "ndcg"), ("ap", "map")) for k in KS}


def rectools():
    import pandas as pd
    from rectools.metrics import MAP, MRR, NDCG, F1Beta, HitRate, Precision, Recall

    rows = [(user, item, rank) for user, own in enumerate(LISTS) if user != 2 for rank, item in enumerate(own, 1)]
    given = pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])
    pairs = [(user, item) for user, own in enumerate(TRUTH) for item in own]
    truth = pd.DataFrame(pairs, columns=["user_id", "item_id"])
    kinds = {"ndcg": NDCG, "ap": MAP, "rr": MRR, "precision": Precision, "recall": Recall, "f": F1Beta}
    kinds["success"] = HitRate
    return {f"{ours}@{k}": float(kind(k=k).calc(given, truth)) for ours, kind in kinds.items() for k in KS}


def lenskit():
    from lenskit.data import ItemList
    from lenskit.metrics.ranking import DCG, NDCG, RBP, Hit, Precision, Recall, RecipRank
    from lenskit.metrics.ranking._map import AveragePrecision

    lists = [ItemList(own, ordered=True) for own in LISTS]
    truth = [ItemList(own) for own in TRUTH]
    kinds = {"ndcg": NDCG, "dcg": DCG, "recall": Recall, "rr": RecipRank, "success": Hit, "rbp": RBP}
    asked = {f"{ours}@{k}": kind(k) for ours, kind in kinds.items() for k in KS}
    asked |= {"ndcg": NDCG(), "recall": Recall(), "precision": Precision(), "ap": AveragePrecision(), "rbp": RBP()}
    return {
        ours: mean(float(own.measure_list(*pair)) for pair in zip(lists, truth, strict=True))
        for ours, own in asked.items()
    }


def torchmetrics():
    import torch
    from torchmetrics.functional import retrieval

    kinds = {"rr": "reciprocal_rank", "ap": "average_precision", "precision": "precision", "recall": "recall"}
    kinds |= {"success": "hit_rate", "fallout": "fall_out"}
    found = {}
    for k in KS:
        rows = [(torch.tensor(own), torch.tensor(grades)) for own, grades in zip(SCORES, GRADES, strict=True)]
        found[f"ndcg@{k}"] = mean(float(retrieval.retrieval_normalized_dcg(*row, top_k=k)) for row in rows)
        rows = [(torch.tensor(own), (torch.tensor(g) > 0).int()) for own, g in zip(UNTIED, GRADES, strict=True)]
        for ours, theirs in kinds.items():
            call = getattr(retrieval, f"retrieval_{theirs}")
            found[f"{ours}@{k}"] = mean(float(call(*row, top_k=k)) for row in rows)
    whole = {"r_precision": retrieval.retrieval_r_precision, "auc": retrieval.retrieval_auroc}
    return found | {ours: mean(float(call(*row)) for row in rows) for ours, call in whole.items()}


# run and truth of user A, for whom all is well, and of B, for whom it is not


CASES = {
    "only in the run": ({"A": ["a"], "B": ["x"]}, {"A": {"a": 1}}),
    "only in the truth": ({"A": ["a"]}, {"A": {"a": 1}, "B": {"b": 1}}),
    "an empty list": ({"A": ["a"], "B": []}, {"A": {"a": 1}, "B": {"b": 1}}),
    "an empty truth": ({"A": ["a"], "B": ["x"]}, {"A": {"a": 1}, "B": {}}),
}


def scored(run):
    return {user: {item: 1 / rank for rank, item in enumerate(own, 1)} for user, own in run.items()}


def ranx_queries(run, truth):
    from ranx import Qrels, Run, evaluate

    return float(evaluate(Qrels(truth), Run(scored(run)), "ndcg@10", make_comparable=True))


def pytrec_eval_queries(run, truth):
    from pytrec_eval import RelevanceEvaluator

    found = RelevanceEvaluator(truth, {"ndcg_cut_10"}).evaluate(scored(run))
    return mean(own["ndcg_cut_10"] for own in found.values())


def rectools_queries(run, truth):
    import pandas as pd
    from rectools.metrics import NDCG

    rows = [(user, item, rank) for user, own in run.items() for rank, item in enumerate(own, 1)]
    given = pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])
    pairs = [(user, item) for user, own in truth.items() for item in own]
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

    def lists(held):
        return {user: ItemList(list(own), ordered=True) for user, own in held.items()}

    run, truth = (ItemListCollection.from_dict(lists(held), "user_id") for held in (run, truth))
    analysis = RunAnalysis()
    analysis.add_metric(NDCG(10))
    return float(analysis.measure(run, truth).list_summary()["mean"].iloc[0])


def said_by(name):
    said = {"version": version("pytrec_eval-terrier" if name == "pytrec_eval" else name)}
    if name in globals():
        said["values"] = globals()[name]()
    if f"{name}_queries" in globals():
        said["queries"] = {case: globals()[f"{name}_queries"](*pair) for case, pair in CASES.items()}
    return said


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    said = {name: said_by(name) for name in sys.argv[1:]}
    print(json.dumps(said, indent=1))
