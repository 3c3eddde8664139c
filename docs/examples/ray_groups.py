"""Evaluate a Ray Data dataset grouped by query.

needs: ray pandas pyarrow
"""

import os

import numpy as np
import pyarrow as pa

import rankgain as rg
from rankgain.batches import evaluate_batches

os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "RAY_DATA_DISABLE_PROGRESS_BARS": "1"}
import ray

rng = np.random.default_rng(0)
ids = {"query_id": [f"q{n // 10}" for n in range(60)], "doc_id": [f"d{n}" for n in range(60)]}
table = pa.table(ids | {"relevance": rng.integers(0, 3, 60), "score": rng.random(60)})
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
ray.data.DataContext.get_current().default_hash_shuffle_parallelism = 2
rows = ray.data.from_arrow(table)


# -- ray --
def values(group):
    return pa.Table.from_batches(evaluate_batches(group, "ndcg@10"))


rows.groupby("query_id").map_groups(values, batch_format="pyarrow")
# -- end --

found = rows.groupby("query_id").map_groups(values, batch_format="pyarrow").take_all()
expected = rg.from_frames(table.select([*ids, "relevance"]), table.select([*ids, "score"])).evaluate("ndcg@10")
ours = dict(zip(expected.query_ids, expected["ndcg@10"].tolist(), strict=True))
assert {row["query_id"]: row["ndcg@10"] for row in found} == ours
ray.shutdown()
