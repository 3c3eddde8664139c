"""Compare RecTools' metrics with rankgain's on the same data frames.

needs: rectools pandas
"""

# -- metrics --
import pandas as pd
from rectools.metrics import MAP, MRR, NDCG, calc_metrics

test = pd.DataFrame({"user_id": [1, 1, 1, 2], "item_id": ["a", "b", "c", "d"]})
reco = pd.DataFrame(
    {"user_id": [1, 1, 1, 2, 2, 2], "item_id": ["a", "x", "c", "y", "d", "z"], "rank": [1, 2, 3, 1, 2, 3]}
)
metrics = {"ndcg": NDCG(k=3), "usual": NDCG(k=3, divide_by_achievable=True), "map": MAP(k=3), "mrr": MRR(k=3)}
print(calc_metrics(metrics, reco=reco, interactions=test))
# -- end --

import rankgain as rg

theirs = calc_metrics(metrics, reco=reco, interactions=test)
rankings = rg.from_frames(test, reco)
ours = rankings.evaluate("ndcg@3", "map@3", "mrr@3").mean()
as_there = rankings.evaluate("ndcg@3", like="rectools").mean("ndcg@3")
for name, value in {"ndcg": as_there, "usual": ours["ndcg@3"], "map": ours["map@3"], "mrr": ours["mrr@3"]}.items():
    assert abs(theirs[name] - value) < 1e-12, name
