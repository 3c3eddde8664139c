"""How long does nDCG of learning-to-rank groups take, compared with the metrics built into the training libraries?"""

from __future__ import annotations

from functools import partial
from typing import Any

import harness
import numpy as np
import numpy.typing as npt
from scores import ALL, PLAIN, TIED

import rankgain as rg

Groups = tuple[npt.NDArray[np.int64], npt.NDArray[np.float32], npt.NDArray[Any]]  # sizes, grades, scores
# Keys: cut-off and dtype of the scores. Values: target ratios of LightGBM's and ranx's times to rankgain's time.
CASES = {(10, "float32"): (12, 6), (None, "float64"): (2.5, 6)}


def make(queries: int, dtype: Any, variant: str = PLAIN) -> Groups:
    """Make groups with log-normal sizes of mean 120, each with a relevant document; the scores are exact in float32."""
    rng = np.random.default_rng(20240229)
    sizes = np.maximum(np.rint(rng.lognormal(np.log(120) - 0.32, 0.8, queries)), 2).astype(np.int64)
    documents = int(sizes.sum())
    grades = rng.integers(1, 5, documents).astype(np.float32)
    if variant != ALL:
        relevant = rng.random(documents) < 0.1
        relevant[np.cumsum(sizes) - 1] = True
        grades[~relevant] = 0
    scores = rng.permutation(documents) / 2 ** int(documents).bit_length()
    if variant == TIED:
        scores = np.where(rng.random(documents) < 1 / 3, np.floor(scores * 16) / 16, scores)
    return sizes, grades, scores.astype(dtype)


def lightgbm_metric(lightgbm: Any, groups: Groups, k: int) -> harness.Contender:
    """Return a contender that computes LightGBM's nDCG of the initial scores, without any trees."""
    sizes, grades, scores = groups
    features = np.zeros((len(grades), 1), dtype=np.float32)
    settings: dict[str, Any] = {"verbosity": -1, "num_threads": 1}
    data = lightgbm.Dataset(features, label=grades, group=sizes, init_score=scores.astype(np.float64), params=settings)
    settings |= {"objective": "none", "metric": "ndcg", "eval_at": [k], "label_gain": [0, 1, 2, 3, 4]}
    return harness.Contender(lightgbm.Booster(settings, data).eval_train, lambda answer: answer[0][2])


def xgboost_metric(xgboost: Any, groups: Groups, k: int) -> harness.Contender:
    """Return a contender that computes XGBoost's nDCG of the base margins, without any trees."""
    sizes, grades, scores = groups
    data = xgboost.DMatrix(np.zeros((len(grades), 1), dtype=np.float32), label=grades, base_margin=scores, nthread=1)
    data.set_group(sizes)
    settings = {"objective": "rank:ndcg", "eval_metric": f"ndcg@{k}", "ndcg_exp_gain": False, "nthread": 1}
    booster = xgboost.Booster(settings, [data])
    return harness.Contender(lambda: booster.eval(data), lambda answer: float(answer.rpartition(":")[2]))


def catboost_metric(catboost: Any, groups: Groups, k: int | None) -> harness.Contender:
    sizes, grades, scores = groups
    query = np.repeat(np.arange(len(sizes)), sizes)
    name = f"NDCG:type=Base;top={-1 if k is None else k}"
    return harness.Contender(
        lambda: catboost.eval_metric(grades, scores, name, group_id=query, thread_count=1), lambda answer: answer[0]
    )


def ranx_metric(ranx: Any, groups: Groups, k: int | None) -> harness.Contender:
    """Return a contender that computes ranx's nDCG; the input lists for ranx are built and sorted beforehand."""
    from numba.typed import List

    judged, ranked = List(), List()
    sizes, grades, scores = groups
    for stop, size in zip(np.cumsum(sizes), sizes, strict=True):
        table = np.column_stack([np.arange(size), grades[stop - size : stop], scores[stop - size : stop]])
        best = table[np.argsort(-table[:, 1], kind="stable")]
        judged.append(best[best[:, 1] > 0, :2].copy())
        ranked.append(table[np.argsort(-table[:, 2], kind="stable")][:, ::2].copy())
    name = "ndcg" if k is None else f"ndcg@{k}"
    return harness.Contender(lambda: ranx.evaluate(judged, ranked, name, threads=1))


def contend(queries: int, k: int | None, dtype: str, variant: str, scale: harness.Scale) -> None:
    groups = sizes, grades, scores = make(queries, dtype, variant)
    boosting, lists = CASES[k, dtype] if variant == PLAIN else (None, None)
    name = "ndcg" if k is None else f"ndcg@{k}"
    deepest = k or int(sizes.max())  # without a cut-off, these libraries compute something else
    ties = "stable" if variant == TIED else "average"

    def ours() -> Any:
        return rg.from_scores(grades, scores, group_sizes=sizes, ties=ties).evaluate(name)

    contenders = {"rankgain": harness.Contender(ours)}
    if lightgbm := harness.peer("lightgbm"):
        contenders["LightGBM's metric"] = lightgbm_metric(lightgbm, groups, deepest)._replace(at_least=boosting)
    if xgboost := harness.peer("xgboost"):
        contenders["XGBoost's metric"] = xgboost_metric(xgboost, groups, deepest)
    if variant != TIED and (catboost := harness.peer("catboost.utils")):  # CatBoost sorts ties by ascending grade
        contenders["CatBoost eval_metric"] = catboost_metric(catboost, groups, k)
    if ranx := harness.peer("ranx"):
        contenders["ranx evaluate, of sorted lists"] = ranx_metric(ranx, groups, k)._replace(at_least=lists)
    if k is None:
        rows = scores[: len(scores) // 120 * 120].reshape(-1, 120)
        contenders["limit: np.sort of as many scores, rows of 120"] = partial(np.sort, rows)
    contenders["limit: reading as many bytes"] = harness.reading(grades.nbytes + scores.nbytes)
    rule = f", ties {ties}" if variant == TIED else ""
    harness.hold(f"{queries:,} groups of 120, {name}, {dtype} scores, {variant}{rule}", contenders, scale)


def bench(scale: harness.Scale) -> None:
    for k, dtype in CASES:
        for variant in (PLAIN, ALL, TIED):
            contend(50 if scale == "smoke" else 30_000, k, dtype, variant, scale)
