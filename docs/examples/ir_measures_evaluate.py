"""Compare the results of ir_measures and rankgain, first without ties and then with a tie.

needs: ir_measures
"""

# -- both --
import ir_measures
from ir_measures import AP, RR, P, Success, nDCG

import rankgain as rg

qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d7": 1}}
run = {"q1": {"d1": 0.9, "d2": 1.4, "d9": 0.2}, "q2": {"d7": 1.5, "d8": 0.2}}

theirs = ir_measures.calc_aggregate([nDCG @ 10, RR @ 10, AP, P(rel=2) @ 5, Success @ 1], qrels, run)
ours = rg.evaluate(qrels, run, "ndcg@10", "rr@10", "ap", "P(rel=2)@5", "success@1").mean()
assert sorted(theirs.values()) == sorted(ours.values())
# -- tied --
tied = {"q": {"a": 1.0, "b": 1.0}}
assert ir_measures.calc_aggregate([RR, RR @ 10], {"q": {"a": 1}}, tied) == {RR: 0.5, RR @ 10: 1.0}
assert rg.evaluate({"q": {"a": 1}}, tied, "rr", "rr@10").mean() == {"rr": 0.5, "rr@10": 0.5}
