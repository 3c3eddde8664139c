"""How long does nDCG of ten grades take, called again and again?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from math import log2
from operator import mul
from typing import Any

import contest
import numpy as np
import numpy.typing as npt

import rankgain as rg

GRADES = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
DISCOUNTS = [1 / log2(rank + 1) for rank in range(1, 101)]


def plain_loop(grades: Sequence[int]) -> float:
    dcg = ideal = 0.0
    for rank, (grade, best) in enumerate(zip(grades, sorted(grades, reverse=True), strict=True), 1):
        discount = log2(rank + 1)
        dcg += grade / discount
        ideal += best / discount
    return dcg / ideal if ideal else 0.0


def plain_table(grades: Sequence[int]) -> float:
    """The logarithms made beforehand, for lists that are never longer than the table."""
    ideal = sum(map(mul, sorted(grades, reverse=True), DISCOUNTS))
    return sum(map(mul, grades, DISCOUNTS)) / ideal if ideal else 0.0


def numpy_lines(grades: npt.ArrayLike) -> Any:
    gains = np.asarray(grades)
    discount = 1 / np.log2(np.arange(2, len(gains) + 2))
    return (gains @ discount) / (np.sort(gains)[::-1] @ discount)


def bench(scale: contest.Scale) -> None:
    array = np.array(GRADES)
    on_list = {
        "rankgain ndcg(list)": contest.Contender(partial(rg.ndcg, GRADES)),
        "plain Python, logarithms made beforehand": contest.Contender(partial(plain_table, GRADES)),
        "plain Python loop": contest.Contender(partial(plain_loop, GRADES), at_least=2),
        "NumPy three lines": contest.Contender(partial(numpy_lines, GRADES)),
    }
    on_array = {
        "rankgain ndcg(array)": contest.Contender(partial(rg.ndcg, array)),
        "plain Python, logarithms made beforehand": contest.Contender(lambda: plain_table(array.tolist())),
        "plain Python loop over array.tolist()": contest.Contender(lambda: plain_loop(array.tolist())),
        "NumPy three lines": contest.Contender(partial(numpy_lines, array), at_least=5),
    }
    contest.hold("ndcg of a list of 10", on_list, scale)
    contest.hold("ndcg of an int64 array of 10", on_array, scale)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
