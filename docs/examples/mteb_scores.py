"""Compute MTEB's retrieval scores with rankgain instead of pytrec_eval.

needs: mteb
"""

import sys

# -- install --
from rankgain import pytrec_eval

pytrec_eval.install()

import mteb

# -- end --

from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d7": 1}}
results = {"q1": {"d1": 0.9, "d2": 1.4, "d9": 0.2}, "q2": {"d7": 1.5, "d8": 0.2}}
assert mteb._evaluators.retrieval_metrics.pytrec_eval is sys.modules["rankgain.pytrec_eval"]
scores = calculate_retrieval_scores(results, qrels, [1, 10])
assert scores.ndcg == {"NDCG@1": 0.5, "NDCG@10": 0.73981}
