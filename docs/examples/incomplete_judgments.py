"""Lose judgments in two ways, and compare what can be computed from the rest with the truth.

needs: numpy
"""

# -- simulation --
import numpy as np

import rankgain as rg

rng = np.random.default_rng(1)
QUERIES, DOCUMENTS = 80, 100
grades = rng.choice([0, 0, 0, 0, 0, 0, 0, 1, 1, 2], (QUERIES, DOCUMENTS))
old = [grades + rng.normal(0, 1.3, grades.shape) for _ in range(3)]  # the scores of three systems
new = grades + rng.normal(0, 0.9, grades.shape)  # a better system, which finds other documents


def qrels(judged):
    """Return the judgments of the documents for which a mask is True."""
    return {query: {doc: int(grades[query, doc]) for doc in np.flatnonzero(judged[query])} for query in range(QUERIES)}


def top(scores, depth=10):
    """Return a mask of the leading documents of each query."""
    return np.argsort(np.argsort(-scores, axis=1), axis=1) < depth


run = {query: dict(enumerate(new[query].tolist())) for query in range(QUERIES)}
truth = qrels(np.ones(grades.shape, dtype=bool))
at_random = qrels(rng.random(grades.shape) > 0.3)  # 30 % of the judgments are lost
by_pool = qrels(np.logical_or.reduce([*map(top, old)]))  # only what the old systems ranked first was judged


# -- results --
def results(judged):
    """Return the numbers of the new system that can be computed from some judgments."""
    rankings = rg.from_qrels(judged, run)
    values = rankings.evaluate("ndcg@10", "bpref", "judged@10", "rbp@10", "rbp_residual@10").mean()
    values["condensed"] = rankings.limited(judged_only=True).evaluate("ndcg@10").mean("ndcg@10")
    _, values["low"], values["high"] = rankings.bounds("ndcg@10").mean()
    # infAP estimates the precision from the judged documents: -1 marks documents that were in the pool, but not judged
    marked = {query: dict.fromkeys(truth[query], -1) | documents for query, documents in judged.items()}
    values["infap"] = rg.from_qrels(marked, run).evaluate("infap").mean("infap")
    return values


for judged in (truth, at_random, by_pool):
    print({name: round(value, 3) for name, value in results(judged).items()})
# -- end --

ON_THE_PAGE = {  # ndcg@10 as it is, of condensed lists, its bounds, bpref, infAP and judged@10
    "truth": (0.780, 0.780, 0.780, 0.780, 0.683, 0.734, 1.0),
    "at_random": (0.593, 0.768, 0.593, 0.846, 0.685, 0.732, 0.729),
    "by_pool": (0.582, 0.889, 0.582, 0.947, 0.863, 0.928, 0.569),
}
for name, numbers in ON_THE_PAGE.items():
    values = results(globals()[name])
    shown = [values[key] for key in ("ndcg@10", "condensed", "low", "high", "bpref", "infap", "judged@10")]
    assert np.allclose(shown, numbers, atol=5.1e-4), (name, shown)
    assert values["rbp@10"] - 1e-12 <= results(truth)["rbp@10"] <= values["rbp@10"] + values["rbp_residual@10"]
older = {query: dict(enumerate(old[0][query].tolist())) for query in range(QUERIES)}
assert [round(rg.evaluate(judged, older, "ndcg@10").mean("ndcg@10"), 3) for judged in (truth, by_pool)] == [
    0.632,
    0.654,
]
