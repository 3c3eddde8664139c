"""Use LambdaRank's gradients as an objective in LightGBM and XGBoost, and as a loss in PyTorch.

needs: lightgbm xgboost-cpu scikit-learn torch
"""

# -- LightGBM --
import lightgbm as lgb
import numpy as np

import rankgain as rg

rng = np.random.default_rng(0)
X = rng.normal(size=(800, 5))
y = np.clip(X[:, 0] - X[:, 1] + rng.normal(size=800), 0, None)  # grades can be real numbers
sizes = np.full(40, 20)

objective = rg.lightgbm_objective("ndcg(gain=exponential)@10")
booster = lgb.train({"objective": objective, "verbose": -1}, lgb.Dataset(X, y, group=sizes), 20)
print(rg.from_scores(y, booster.predict(X), group_sizes=sizes).evaluate("ndcg@10").mean("ndcg@10"))

lgb.LGBMRanker(objective=objective, metric="None", n_estimators=20, verbose=-1).fit(X, y, group=sizes)
# -- checked --
unordered = rg.from_scores(y, np.zeros(800), group_sizes=sizes).evaluate("ndcg@10").mean("ndcg@10")
assert rg.from_scores(y, booster.predict(X), group_sizes=sizes).evaluate("ndcg@10").mean("ndcg@10") > unordered + 0.2
# -- XGBoost --
import xgboost as xgb

train = xgb.DMatrix(X, y, qid=np.repeat(np.arange(40), 20))
objective = rg.xgboost_objective("ndcg(gain=exponential)@32")  # use "pairwise@32" for rank:pairwise
booster = xgb.train({}, train, 20, obj=objective)
print(rg.from_scores(y, booster.predict(train), group_sizes=sizes).evaluate("ndcg@10").mean("ndcg@10"))
# -- checked --
assert (
    rg.from_scores(y, booster.predict(train), group_sizes=sizes).evaluate("ndcg@10").mean("ndcg@10") > unordered + 0.2
)
# -- torch --
import torch


gradients = rg.LambdaRank("ndcg(gain=exponential)@10")  # the metric is parsed only once


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, labels, queries):
        gradient, _ = gradients(labels.cpu(), scores.detach().float().cpu(), **queries)
        ctx.save_for_backward(torch.as_tensor(gradient, dtype=scores.dtype, device=scores.device))
        return scores.new_zeros(())

    @staticmethod
    def backward(ctx, upstream):
        return upstream * ctx.saved_tensors[0], None, None


features, labels = torch.as_tensor(X, dtype=torch.float32), torch.as_tensor(y)
model = torch.nn.Linear(5, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(60):
    optimizer.zero_grad()
    Loss.apply(model(features).squeeze(1), labels, {"group_sizes": sizes}).backward()
    optimizer.step()
with torch.no_grad():
    print(rg.from_scores(labels, model(features).squeeze(1), group_sizes=sizes).evaluate("ndcg@10").mean("ndcg@10"))
# -- padding --
batch, grades = features.reshape(40, 20, 5), labels.reshape(40, 20).clone()  # shape (B, L), one row per query
grades[:, 15:] = -100  # the last five documents are padding
scores = model(batch).squeeze(-1)  # from shape (B, L, 1) to (B, L)
Loss.apply(scores, grades, {"mask": grades >= 0}).backward()
# -- end --

scores = model(batch).squeeze(-1).detach().requires_grad_()
Loss.apply(scores, grades, {"mask": grades >= 0}).backward()
assert not scores.grad[:, 15:].any()
expected, _ = rg.lambdarank(grades[:, :15], scores[:, :15].detach())
assert np.allclose(scores.grad[:, :15], expected, rtol=1e-6)
with torch.autocast("cpu", dtype=torch.bfloat16):
    half = model(batch).squeeze(-1)
    assert half.dtype == torch.bfloat16
    Loss.apply(half, grades, {"mask": grades >= 0}).backward()
with torch.no_grad():
    trained = rg.from_scores(labels, model(features).squeeze(1), group_sizes=sizes).evaluate("ndcg@10").mean("ndcg@10")
assert trained > unordered + 0.2
