"""Compare popularity, novelty, coverage and propensity-scored metrics with RecTools and napkinXC.

needs: napkinxc pandas rectools
"""

import numpy as np
import pandas as pd
from napkinxc.metrics import Jain_et_al_inverse_propensity, psndcg_at_k, psprecision_at_k
from rectools.metrics import AvgRecPopularity, CatalogCoverage, MeanInvUserFreq, calc_metrics

import rankgain as rg

random = np.random.default_rng(0)
users, items, k = 30, 40, 3
train = random.random((users, items)) < np.linspace(0.5, 0.02, items)
train[0] = True  # each item has a user
test = random.random((users, items)) < 0.1
test[~test.any(axis=1), 0] = True
recommended = np.argsort(random.random((users, items)), axis=1)[:, :k]

# Popularity, novelty and catalogue coverage: RecTools

popularity = train.sum(axis=0)
rows, columns = np.nonzero(train)
previous = pd.DataFrame({"user_id": rows, "item_id": columns})
reco = pd.DataFrame(
    {"user_id": np.repeat(range(users), k), "item_id": recommended.ravel(), "rank": [*range(1, k + 1)] * users}
)
# -- rectools --
metrics = {
    "popularity": AvgRecPopularity(k=k),
    "novelty": MeanInvUserFreq(k=k),
    "coverage": CatalogCoverage(k=k, normalize=True),
}
theirs = calc_metrics(metrics, reco=reco, prev_interactions=previous, catalog=range(items))
ours = {
    "popularity": float(np.mean(rg.cg(popularity[recommended], k=k))) / k,
    "novelty": float(np.mean(rg.cg(-np.log2(popularity / users)[recommended], k=k))) / k,
    "coverage": len(np.unique(recommended)) / items,
}
# -- end --
for name, value in ours.items():
    assert abs(theirs[name] - value) < 1e-12, (name, theirs[name], value)

# Propensity-scored precision and nDCG: napkinXC

weights = Jain_et_al_inverse_propensity(train.astype(int))
truth = [dict.fromkeys(np.flatnonzero(row).tolist(), 1.0) for row in test]
weighted = [{item: float(weights[item]) for item in grades} for grades in truth]
metrics = ["cg@3", rg.metric("idcg", k=3, discount=[1, 1, 1]), "dcg@3", "idcg@3"]
cg, ideal_cg, dcg, ideal_dcg = rg.from_recommendations(weighted, recommended).evaluate(*metrics).values()
ones = rg.from_recommendations(truth, recommended).evaluate("idcg@3")["idcg@3"]
as_there = [list(map(int, grades)) for grades in truth], recommended.tolist(), weights
assert abs(psprecision_at_k(*as_there, k=3)[-1] - cg.mean() / ideal_cg.mean()) < 1e-12
assert abs(psndcg_at_k(*as_there, k=3)[-1] - (dcg / ones).mean() / (ideal_dcg / ones).mean()) < 1e-12
