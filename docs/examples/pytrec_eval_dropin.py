"""Compare pytrec_eval with its drop-in replacement in rankgain.

needs: pytrec-eval-terrier
"""

# -- both --
from math import isclose

import pytrec_eval as original

from rankgain import pytrec_eval

qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d7": 1}}
run = {"q1": {"d1": 0.9, "d2": 1.4, "d9": 0.2}, "q2": {"d7": 1.5, "d8": 0.2}}
measures = {"map", "ndcg_cut.5,10", "recall_100"}

ours = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
theirs = original.RelevanceEvaluator(qrels, measures).evaluate(run)
assert ours.keys() == theirs.keys()
for query, values in theirs.items():
    assert all(isclose(ours[query][name], value, rel_tol=1e-12) for name, value in values.items())
