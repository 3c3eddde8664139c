"""Evaluate ranx's Qrels and Run objects with rankgain, and compare the results with those of ranx.

needs: ranx
"""

# -- evaluate --
from ranx import Qrels, Run, evaluate

import rankgain as rg

qrels = Qrels({"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d7": 1}})
run = Run({"q1": {"d1": 0.9, "d2": 1.4, "d9": 0.2}, "q2": {"d7": 1.5, "d8": 0.2}})

theirs = evaluate(qrels, run, ["ndcg@10", "map", "mrr@10"])
ours = rg.evaluate(qrels, run, "ndcg@10", "map", "mrr@10").mean()
assert all(abs(theirs[name] - ours[name]) < 1e-12 for name in ours)
