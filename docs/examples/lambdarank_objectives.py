"""LambdaRank's gradients as the objective of LightGBM and XGBoost, and as a loss of torch.

needs: lightgbm xgboost-cpu scikit-learn torch
"""

# -- LightGBM --
import lightgbm as lgb
import numpy as np

import rankgain as rg

rng = np.random.default_rng(0)
X = rng.normal(size=(800, 5))
y = np.clip(X[:, 0] - X[:, 1] + rng.normal(size=800), 0, None)  # real-valued grades
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
objective = rg.xgboost_objective("ndcg(gain=exponential)@32")  # "pairwise@32" is rank:pairwise
booster = xgb.train({}, train, 20, obj=objective)
print(rg.from_scores(y, booster.predict(train), group_sizes=sizes).evaluate("ndcg@10").mean("ndcg@10"))
# -- checked --
assert (
    rg.from_scores(y, booster.predict(train), group_sizes=sizes).evaluate("ndcg@10").mean("ndcg@10") > unordered + 0.2
)
# -- torch --
import torch


class LambdaRank(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, labels, group_sizes):
        gradient, _ = rg.lambdarank(labels, scores.detach().cpu(), group_sizes=group_sizes)
        ctx.gradient = torch.as_tensor(gradient / len(group_sizes), dtype=scores.dtype, device=scores.device)
        return scores.new_zeros(())

    @staticmethod
    def backward(ctx, upstream):
        return upstream * ctx.gradient, None, None


features, labels = torch.as_tensor(X, dtype=torch.float32), torch.as_tensor(y)
model = torch.nn.Linear(5, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(60):
    optimizer.zero_grad()
    LambdaRank.apply(model(features).squeeze(1), labels, [20] * 40).backward()
    optimizer.step()
with torch.no_grad():
    print(rg.from_scores(labels, model(features).squeeze(1), group_sizes=sizes).evaluate("ndcg@10").mean("ndcg@10"))
# -- end --

with torch.no_grad():
    trained = rg.from_scores(labels, model(features).squeeze(1), group_sizes=sizes).evaluate("ndcg@10").mean("ndcg@10")
assert trained > unordered + 0.2
