"""Evaluate PyTorch tensors after an epoch, batch by batch, and with padding.

needs: torch
"""

# -- epoch --
import torch

import rankgain as rg

torch.manual_seed(0)
features = torch.randn(600, 4)
labels = (features[:, 0] + torch.randn(600)).clamp(0, 4).round()
qid = torch.arange(30).repeat_interleave(20)
model = torch.nn.Linear(4, 1)

with torch.no_grad():
    scores = model(features).squeeze(1)
result = rg.from_scores(labels, scores, qid=qid).evaluate("ndcg@10", "mrr@10")
print(result.mean("ndcg@10"), result.mean("mrr@10"))
# -- batches --
parts = []
for start in range(0, 600, 200):
    rows = slice(start, start + 200)
    with torch.no_grad():
        scores = model(features[rows]).squeeze(1)
    parts.append(rg.from_scores(labels[rows], scores, group_sizes=[20] * 10).evaluate("ndcg@10"))
epoch = parts[0].merge(*parts[1:])
assert epoch.mean("ndcg@10") == result.mean("ndcg@10")
# -- padding --
batches = [
    (torch.tensor([[0.2, 0.9, 0.3], [0.1, 0.7, 0.0]]), torch.tensor([[0, 2, 1], [1, 0, -100]])),
    (torch.tensor([[0.8, 0.3]]), torch.tensor([[1, 0]])),
]
parts = [rg.from_scores(labels, scores.float(), mask=labels >= 0).evaluate("ndcg") for scores, labels in batches]
epoch = parts[0].merge(*parts[1:])
assert epoch["ndcg"].round(4).tolist() == [1.0, 0.6309, 1.0]
# -- end --

said = ""
try:
    rg.from_scores(torch.ones(2, 3), model(torch.randn(2, 3, 4)).squeeze(2)).evaluate("ndcg")
except (TypeError, ValueError) as error:
    said = str(error)
assert "detach" in said
