"""What gradients and what trainers call refuse."""

import math

import numpy as np

from support.cases import HUGE, refused

nan, inf = math.nan, math.inf
GRADIENTS = "lambdarank LambdaRank lightgbm_objective xgboost_objective"


def rows():
    outside = [0, -1.0, 9.9e-101, 1.1e100, nan, inf, HUGE, 10**5000]
    yield from refused(
        GRADIENTS, "sigma", outside, ValueError, "sigma must be above 0 and finite, from 1e-100 to 1e100"
    )
    yield from refused(GRADIENTS, "sigma", ["1", None, True, np.True_, 1j, [1]], TypeError, "sigma must be a number")
    yield from refused(GRADIENTS, "metric", ["rr", "ndcg@5,10", "ndcg@"], ValueError, "")
    yield from refused(GRADIENTS, "discount", ["log2", None, ["cut"]], ValueError, "discount must be 'cut' or 'full'")
    yield from refused(GRADIENTS, "ties", ["best", None, 1], ValueError, "ties must be 'stable' or 'average'")
    yield from refused(
        GRADIENTS, "normalize", ["scores", ["query", "x"]], ValueError, "normalize must be 'score' or 'query'"
    )
    yield from refused(
        GRADIENTS, "normalize", [1, {"score": 1}], TypeError, "normalize must be 'score', 'query', a sequence"
    )
    for call in GRADIENTS.split():
        names = ("y_true", "y_score") if "ambda" in call else ("labels", "scores")
        for name, good in zip(names, ([1, 0, 2, 0, 1], [0.5, 0.25, 0.125, 1.0, 0.5]), strict=True):
            bad = [*good[:2], nan, *good[3:]]
            yield from refused(call, name, [bad, np.array(bad, "f4")], ValueError, "position 2 | NaN")
    yield from refused("scorer", "scores", [[0.5, 0.25, nan, 1.0, 0.5]], ValueError, "y_score | NaN")
    yield from refused("scorer", "ids", [[7, 7, 9]], ValueError, "qid | 5 documents")
    short = [1.0] * 4
    for call, name, message in [
        ("lambdarank", "sample_weight", "sample_weight has 4 weights, and there are 5 documents"),
        ("lightgbm_objective", "weight", "weight has 4 weights, and there are 5 documents"),
        ("xgboost_objective", "weight", "weight has 4 weights, and there are 2 queries"),
    ]:
        yield from refused(call, name, [short], ValueError, message)
        bad = [[1.0, value, 1.0, 1.0, 1.0][: 2 if "queries" in message else 5] for value in (nan, inf, -1.0, -inf)]
        yield from refused(call, name, bad, ValueError, f"{name}: position 1 | finite and not negative")
