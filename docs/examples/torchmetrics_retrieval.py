"""Compare TorchMetrics' retrieval metrics with rankgain's.

needs: torch torchmetrics
"""

# -- ndcg --
import torch
from torchmetrics.retrieval import RetrievalNormalizedDCG

import rankgain as rg

indexes = torch.tensor([0, 0, 0, 1, 1])
preds = torch.tensor([0.2, 0.9, 0.3, 0.1, 0.7])
target = torch.tensor([0, 2, 1, 1, 0])

theirs = RetrievalNormalizedDCG(top_k=10)(preds, target, indexes=indexes)
ours = rg.from_scores(target, preds, qid=indexes).evaluate("ndcg@10").mean("ndcg@10")
assert abs(float(theirs) - ours) < 1e-6
# -- drop-in --
from rankgain.torchmetrics import RetrievalNormalizedDCG as Dropin

assert abs(Dropin(top_k=10)(preds, target, indexes=indexes) - theirs) < 1e-6
# -- logits --
from torchmetrics.functional.retrieval import retrieval_reciprocal_rank

logits, relevant = torch.tensor([-0.1, -2.0]), torch.tensor([1, 0])
assert retrieval_reciprocal_rank(logits, relevant) == 0.0
assert rg.from_scores(relevant, logits).evaluate("rr").mean("rr") == 1.0
