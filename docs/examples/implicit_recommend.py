"""Evaluate recommendations from a model of the implicit library against held-out items.

needs: implicit
"""

# -- fit --
import numpy as np
from implicit.als import AlternatingLeastSquares
from scipy.sparse import random as random_matrix

import rankgain as rg

plays = random_matrix(200, 50, density=0.2, format="csr", dtype=np.float32, random_state=1)
held_out = random_matrix(200, 50, density=0.05, format="csr", dtype=np.float32, random_state=2)
held_out.data[:] = 1
model = AlternatingLeastSquares(factors=8, iterations=3, random_state=0, use_gpu=False)
model.fit(plays, show_progress=False)

# -- evaluate --
users = np.arange(plays.shape[0])
ids, scores = model.recommend(users, plays[users], N=10)
result = rg.from_recommendations(held_out[users], ids).evaluate("ndcg@10", "mrr@10", "recall@10")
print(result)

# -- scores --
scores = model.user_factors @ model.item_factors.T
whole = rg.from_scores(held_out, scores, exclude=plays).evaluate("ndcg@10", "mrr@10", "recall@10")

# -- batches --
parts = []
for start in range(0, plays.shape[0], 64):
    rows = slice(start, start + 64)
    scores = model.user_factors[rows] @ model.item_factors.T
    rankings = rg.from_scores(held_out[rows], scores, exclude=plays[rows])
    parts.append(rankings.evaluate("ndcg@10", "mrr@10", "recall@10"))
print(parts[0].merge(*parts[1:]))
# --

from scipy.sparse import csr_array

assert parts[0].merge(*parts[1:]) == whole
unseen = csr_array(held_out.toarray() * (plays.toarray() == 0))
by_ids = rg.from_recommendations(unseen, ids).evaluate("ndcg@10", "mrr@10", "recall@10")
assert whole.counts["excluded"] == held_out.nnz - unseen.nnz
for metric, values in by_ids.items():
    assert np.allclose(whole[metric], values, rtol=1e-12), metric

from implicit.evaluation import ranking_metrics_at_k

theirs = ranking_metrics_at_k(model, plays, held_out, K=10, show_progress=False, num_threads=1)
ours = rg.from_recommendations(held_out[users], ids).evaluate("ndcg@10", "ap@10", like="implicit")
assert np.isclose(ours.mean("ndcg@10"), theirs["ndcg"], rtol=1e-12), (ours, theirs)
assert np.isclose(ours.mean("ap@10"), theirs["map"], rtol=1e-12), (ours, theirs)
