"""How does the time grow with the number of documents and with the cut-off, and does it ever jump?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import harness
import numpy as np
import scores

import rankgain as rg

CUTOFFS = (1, 10, 31, 32, 33, 64, 100, 1000, 9999, 10_000)


def scored(metric: str, grades: Any, values: Any, sizes: Any = None) -> Callable[[], Any]:
    return lambda: rg.from_scores(grades, values, group_sizes=sizes).evaluate(metric)


def shapes(grades: Any, values: Any) -> dict[str, tuple[Any, ...]]:
    """Return scores in orders that could slow down selection or sorting; all have the same number of documents."""
    rising = np.sort(values, axis=1)
    tiny = [3] * (len(values) // 2)
    return {
        "random": (grades, values),
        "all equal": (grades, np.zeros_like(values)),
        "sorted": (grades, np.ascontiguousarray(rising[:, ::-1])),
        "reversed": (grades, rising),
        "organ pipe": (grades, np.concatenate([rising[:, ::2], rising[:, 1::2][:, ::-1]], axis=1)),
        "half −inf": (grades, np.where(np.arange(values.shape[1]) % 2, values, -np.inf)),
        "of one huge query": (grades.ravel(), values.ravel(), [*tiny, values.size - 6 * len(tiny), *tiny]),
    }


def series(scale: harness.Scale) -> dict[str, dict[int, Callable[[], Any]]]:
    """Return the calls of each series, keyed by title and then by the number of documents or the cut-off."""
    numbers = [10**power for power in range(1, 3 if scale == "smoke" else 8)]
    queries, documents = (5, 100) if scale == "smoke" else (100, 10_000)
    cases = {
        f"documents of a query, {metric}": {n: scored(metric, *scores.make(1, n)) for n in numbers}
        for metric in ("ndcg@10", "ndcg")
    }
    for name, arrays in shapes(*scores.make(queries, documents)).items():
        cases[f"k of {queries} × {documents:,}, scores {name}"] = {k: scored(f"ndcg@{k}", *arrays) for k in CUTOFFS}
    return cases


def bench(scale: harness.Scale) -> None:
    for title, points in series(scale).items():
        contenders = {f"rankgain, {size:,}": harness.Contender(run, None) for size, run in points.items()}
        harness.hold(title, contenders, scale)
