"""Run BEIR's own evaluation with rankgain instead of pytrec_eval.

needs: beir
"""

# -- evaluate --
from rankgain import pytrec_eval

pytrec_eval.install()

from beir.retrieval.evaluation import EvaluateRetrieval

qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d7": 1}}
results = {"q1": {"d1": 0.9, "d2": 1.4, "d9": 0.2}, "q2": {"d7": 1.5, "d8": 0.2}}
ndcg, _map, recall, precision = EvaluateRetrieval.evaluate(qrels, results, k_values=[1, 10])
print(ndcg, recall)
# -- end --

assert ndcg == {"NDCG@1": 0.5, "NDCG@10": 0.73981}
assert recall == {"Recall@1": 0.5, "Recall@10": 0.75}
