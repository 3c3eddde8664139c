"""Tools whose users hand them arrays give the value of `like=` on whole judgments and runs.

The judgments of each set name documents that the run lacks, and the run returns unjudged and pooled documents. Some
queries have no list, an empty one, or no judgments.
"""

import itertools

import numpy as np
import pytest

import rankgain as rg

SETS = 30  # drawn per tool; 0 of 200 differed in any tool when this was written


def drawn(seed, *, binary=False, tied=True, least=1):
    """Draw judgments and a run. A list that is not empty has at least `least` documents."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in range(6):
        judged, returned = (rng.permutation(12)[: rng.integers(least, 11)].tolist() for _ in range(2))
        grades = rng.integers(-1, 2 if binary else 4, 12) * (query > 0)  # nothing is relevant in the first query
        scores = rng.integers(1, 7, 12) / 8 if tied else (1 + rng.permutation(12)) / 16
        qrels[query] = {doc: int(grades[doc]) for doc in judged}
        run[query] = {doc: float(scores[doc]) for doc in returned}
    del run[3]
    run[4] = {}
    run["unjudged"] = {1: 0.5, 2: 0.25}
    return qrels, run


def handed(qrels, run):
    """Return the labels and scores of each query, as a user makes arrays of them: 0 for what is not judged."""
    queries = [query for query in qrels if run.get(query)]
    labels = [np.array([max(qrels[query].get(doc, 0), 0) for doc in run[query]], dtype=float) for query in queries]
    return labels, [np.array(list(run[query].values())) for query in queries]


def check(tool, metrics, values_of, tolerance, sets, **options):
    """Compare the means of metrics with those of a tool, of which `values_of` computes one per metric."""
    different = []
    for seed in range(sets):
        qrels, run = drawn(seed, **options)
        rankings = rg.from_qrels(qrels, run)
        labels, scores = handed(qrels, run)
        for metric, theirs in zip(metrics, values_of(labels, scores), strict=True):
            result = rankings.evaluate(metric, like=tool)
            if result.mean(metric) != pytest.approx(theirs, rel=tolerance, abs=tolerance):
                different.append((seed, metric, result.mean(metric), theirs))
            steps = rankings.attribution(metric, like=tool).rows if seed < 10 else []
            added = sum(row["adds"] for row in steps)
            if steps and added != pytest.approx(
                result.mean(metric) - rankings.evaluate(metric).mean(metric), abs=1e-12
            ):
                different.append((seed, metric, "adds", added))
    assert different == []


def test_sklearn_of_scored_documents():
    sklearn = pytest.importorskip("sklearn.metrics")

    def values(labels, scores):
        for score, k in itertools.product((sklearn.ndcg_score, sklearn.dcg_score), (None, 3)):
            yield np.mean([score([one], [two], k=k) for one, two in zip(labels, scores, strict=True)])

    check("sklearn", ["ndcg", "ndcg@3", "dcg", "dcg@3"], values, 1e-12, 8, least=2)  # it refuses single documents


@pytest.mark.peers
def test_lightgbm_of_scored_documents():
    lightgbm = pytest.importorskip("lightgbm")
    quiet = {"verbose": -1, "min_data": 1, "min_data_in_bin": 1, "feature_pre_filter": False}
    settings = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [1, 3, 99]}

    def values(labels, scores):
        labels, sizes, scores = np.concatenate(labels), [*map(len, labels)], np.concatenate(scores)
        features = np.arange(len(labels), dtype=float)[:, None]
        data = lightgbm.Dataset(features, label=labels, group=sizes, init_score=scores, params=quiet)
        return [value for _, _, value, *_ in map(tuple, lightgbm.Booster(settings | quiet, data).eval_train())]

    check("lightgbm", ["ndcg@1", "ndcg@3", "ndcg@99", "ap@1", "ap@3", "ap@99"], values, 1e-12, SETS)


@pytest.mark.peers
@pytest.mark.parametrize("binary", [False, True], ids=["graded", "binary"])
def test_xgboost_of_scored_documents(binary):
    xgboost = pytest.importorskip("xgboost")
    metrics = {"ap": "map", "ap@3": "map@3", "precision": "pre"} if binary else {"ndcg": "ndcg", "ndcg@3": "ndcg@3"}

    def values(labels, scores):
        data = xgboost.DMatrix(
            np.zeros((sum(map(len, labels)), 1)), label=np.concatenate(labels), base_margin=np.concatenate(scores)
        )
        data.set_group([*map(len, labels)])
        for theirs in metrics.values():
            settings = {"objective": "rank:map" if binary else "rank:ndcg", "eval_metric": theirs}
            yield float(xgboost.train(settings, data, 0).eval(data).rpartition(":")[2])

    check("xgboost", metrics, values, 1e-6, SETS, binary=binary)


@pytest.mark.peers
def test_catboost_of_scored_documents():
    utils = pytest.importorskip("catboost.utils")
    metrics = {"ndcg": "NDCG", "ndcg@3": "NDCG:top=3", "dcg@3": "DCG:top=3", "ap": "MAP", "ap@3": "MAP:top=3"}
    metrics |= {"recall@3": "RecallAt:top=3", "rr": "MRR", "rr@2": "MRR:top=2", "precision": "PrecisionAt"}

    def values(labels, scores):
        ids = np.repeat(np.arange(len(labels)), [*map(len, labels)])
        for theirs in metrics.values():
            yield utils.eval_metric(np.concatenate(labels), np.concatenate(scores), theirs, group_id=ids)[0]

    check("catboost", metrics, values, 1e-6, SETS)


@pytest.mark.peers
@pytest.mark.needs("torchmetrics")
@pytest.mark.parametrize("graded", [True, False], ids=["graded", "binary"])
def test_torchmetrics_of_scored_documents(graded):
    """Binary metrics are compared on scores without ties, whose order TorchMetrics leaves undefined."""
    torch = pytest.importorskip("torch")
    retrieval = pytest.importorskip("torchmetrics.functional.retrieval")
    metrics = {"ndcg": (retrieval.retrieval_normalized_dcg, None), "ndcg@3": (retrieval.retrieval_normalized_dcg, 3)}
    if not graded:
        metrics = {"auc": (retrieval.retrieval_auroc, None), "r_precision": (retrieval.retrieval_r_precision, None)}
        several = {"rr": "reciprocal_rank", "ap": "average_precision", "precision": "precision", "recall": "recall"}
        several |= {"success": "hit_rate", "fallout": "fall_out"}
        for ours, theirs in several.items():
            function = getattr(retrieval, f"retrieval_{theirs}")
            metrics |= {ours: (function, None), f"{ours}@3": (function, 3)}

    def values(labels, scores):
        pairs = [(torch.tensor(two), torch.tensor(one)) for one, two in zip(labels, scores, strict=True)]
        for function, k in metrics.values():
            options = {} if k is None else {"top_k": k}
            targets = [(preds, target if graded else target > 0) for preds, target in pairs]
            yield np.mean([float(function(*pair, **options)) for pair in targets])

    check("torchmetrics", metrics, values, 2e-5, SETS, binary=not graded, tied=graded)


@pytest.mark.peers
def test_files_differ_from_what_tools_are_handed():
    """With the whole truth, nDCG of LightGBM's rules differs from LightGBM in nearly all sets."""
    differ = 0
    for seed in range(200):
        rankings = rg.from_qrels(*drawn(seed))
        scored, files = (rankings.evaluate("ndcg", like="lightgbm", given=given) for given in ("scored", "files"))
        differ += scored.mean("ndcg") != pytest.approx(files.mean("ndcg"), abs=1e-6)
    assert differ >= 190
