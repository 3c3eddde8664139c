"""Compare LensKit's metrics with rankgain's on the same data frames.

needs: lenskit
"""

# -- both --
import pandas as pd
from lenskit.data import ItemListCollection, UserIDKey
from lenskit.metrics import NDCG, Hit, Recall, RecipRank, RunAnalysis

import rankgain as rg

test = pd.DataFrame({"user_id": [1, 1, 1, 1, 2], "item_id": [10, 11, 12, 13, 20]})
recs = pd.DataFrame(
    {"user_id": [1, 1, 2, 2], "item_id": [11, 10, 30, 20], "score": [0.9, 0.8, 0.7, 0.6], "rank": [1, 2, 1, 2]}
)
analysis = RunAnalysis()
for metric in NDCG(2), Recall(2), RecipRank(2), Hit(2):
    analysis.add_metric(metric)
outputs = ItemListCollection.from_df(recs, UserIDKey)
theirs = analysis.measure(outputs, ItemListCollection.from_df(test, UserIDKey)).list_summary()["mean"]
ours = rg.evaluate(test, recs, "ndcg@2", "recall@2", "rr@2", "hit_rate@2", like="lenskit").mean()
assert max(abs(a - b) for a, b in zip(theirs, ours.values(), strict=True)) < 1e-12
