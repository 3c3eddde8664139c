"""How does the time grow with documents, queries, cut-off, judged documents and threads, and where is a cliff?"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import contest
import dense_scores
import dicts
import numpy as np
import threads

import rankgain as rg

Points = dict[int, Callable[[], Any]]  # by how much there is of it
CUTOFFS = (1, 10, 31, 32, 33, 64, 100, 1000, -1, 0)  # those not positive counted from all documents


def scored(metric: str, grades: Any, scores: Any, sizes: Any = None) -> Callable[[], Any]:
    return lambda: rg.from_scores(grades, scores, group_sizes=sizes).evaluate(metric)


def judged(count: int) -> Callable[[], Any]:
    qrels, run = dicts.make(10, 1000, count, (0, 1, 2))
    return lambda: rg.from_qrels(qrels, run).evaluate("ndcg@10")


def series(scale: contest.Scale) -> dict[str, Points]:
    powers = 2 if scale == "smoke" else 7
    numbers = [10**power for power in range(1, powers + 1)]
    queries, documents = (5, 100) if scale == "smoke" else (100, 10_000)
    data = dense_scores.make(queries, documents)
    found = {
        f"documents of a query, {metric}": {n: scored(metric, *dense_scores.make(1, n)) for n in numbers}
        for metric in ("ndcg@10", "ndcg")
    }
    found |= {
        "queries of 100, ndcg@10": {q: scored("ndcg@10", *dense_scores.make(q, 100)) for q in [1, *numbers[:5]]},
        f"k of {documents:,}": {k: scored(f"ndcg@{k}", *data) for k in [1, *numbers] if k <= documents},
        "judged, dicts of 1000": {j: judged(j) for j in [1, *numbers[:2], 300]},
    }
    if threads.known():
        rankings = rg.from_scores(*data)
        many = range(1, max(os.cpu_count() or 1, 2) + 1)
        found["threads"] = {count: partial(threads.evaluate, rankings, count) for count in many}
    return found


def medians(runs: Mapping[Any, Callable[[], Any]], scale: contest.Scale) -> dict[Any, float]:
    """Seconds a call, in turns; with small data nothing is timed."""
    times, _ = contest.take_turns(runs, lambda name, answer: None, 0.0 if scale == "smoke" else contest.TURN)
    return {name: statistics.median(its) if its else 1.0 for name, its in times.items()}


def slope(times: Mapping[int, float]) -> float:
    """Of the larger half on log axes: 1 where twice the work takes twice the time."""
    larger = min(len(times) // 2, len(times) - 2)
    x, y = (np.log(list(values)[larger:]) for values in (times, times.values()))
    return float(np.polyfit(x, y, 1)[0])


def draw(grown: Mapping[str, Mapping[int, float]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots()
    for name, times in grown.items():
        axes.loglog(list(times), list(times.values()), "o-", label=f"{name}: slope {slope(times):.2f}")
    axes.set(xlabel="how many", ylabel="seconds a call", title=f"rankgain {rg.__version__}")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)


def shapes(scale: contest.Scale) -> tuple[int, dict[str, tuple[Any, ...]]]:
    """What could be a cliff: as many queries and documents everywhere."""
    queries, documents = (5, 100) if scale == "smoke" else (100, 10_000)
    grades, scores = dense_scores.make(queries, documents)
    rising = np.sort(scores, axis=1)
    tiny = [3] * (queries // 2)
    huge = [*tiny, scores.size - 6 * len(tiny), *tiny]
    return documents, {
        "random": (grades, scores),
        "all equal": (grades, np.zeros_like(scores)),
        "sorted": (grades, np.ascontiguousarray(rising[:, ::-1])),
        "reversed": (grades, rising),
        "organ pipe": (grades, np.concatenate([rising[:, ::2], rising[:, 1::2][:, ::-1]], axis=1)),
        "half −inf": (grades, np.where(np.arange(documents) % 2, scores, -np.inf)),
        "one huge": (grades.ravel(), scores.ravel(), huge),
    }


def cliffs(scale: contest.Scale) -> str:
    documents, data = shapes(scale)
    size = data["random"][1].size
    rows: list[Sequence[str]] = [("k", "ns a document, random", *list(data)[1:])]
    for k in dict.fromkeys(k if k > 0 else documents + k for k in CUTOFFS):
        runs = {name: scored(f"ndcg@{k}", *arrays) for name, arrays in data.items()}
        base, *others = medians(runs, scale).values()
        rows.append((f"{k:,}", f"{base / size * 1e9:.3g}", *(f"{its / base:.2f}" for its in others)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.rjust, row, widths)) for row in rows)


def bench(scale: contest.Scale, plot: Path | None = None) -> None:
    grown = {name: medians(points, scale) for name, points in series(scale).items()}
    table = cliffs(scale)
    if plot:
        draw(grown, plot)
    if scale == "smoke":
        print("growth: run")
        return
    lines = [
        f"{name}: slope {slope(times):.2f} ({', '.join(f'{x:,}: {contest.duration(y)}' for x, y in times.items())})"
        for name, times in grown.items()
    ]
    contest.note("\n".join(["growth of the time, on log axes", *lines]))
    contest.note(f"100 × 10,000 by shape of the scores, as a multiple of the time of random ones\n{table}")


if __name__ == "__main__":
    parser = contest.options(__doc__)
    parser.add_argument("--plot", type=Path, help="draw the growth into this file (with matplotlib)")
    arguments = parser.parse_args()
    sys.exit(contest.main(None, partial(bench, plot=arguments.plot), scale=arguments.scale))
