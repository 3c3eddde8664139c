"""How many times as long did another build take, for the same bits? `python bench/before.py FOLDER [WORD ...]`

The folder holds that build: `pip install --target FOLDER rankgain==VERSION`, or a wheel of it. Two processes, one for
each build, take turns at each form whose name holds one of the words; CPU time, the median of nine rounds.
"""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

ROUNDS = 9
TURN = 0.05  # seconds


def forms() -> dict[str, Callable[[], Callable[[], Any]]]:
    """What makes the data of a form, and gives what evaluates them."""
    import numpy as np

    import rankgain as rg

    rng = np.random.default_rng(1)

    def relevance(*shape: int) -> Any:
        return np.where(rng.random(shape) < 0.1, rng.integers(1, 5, shape), 0)

    def scored(*shape: int, metrics: tuple[str, ...] = ("ndcg@10",)) -> Any:
        return partial(rg.from_scores(relevance(*shape), rng.random(shape)).evaluate, *metrics)

    def groups(dtype: str, *metrics: str, ties: str = "average") -> Any:
        sizes = rng.integers(20, 221, 30_000)
        scores = rng.random(sizes.sum()).astype(dtype)
        labels = relevance(len(scores)).astype(np.float32)
        return partial(rg.from_scores(labels, scores, group_sizes=sizes, ties=ties).evaluate, *metrics)

    def recommended(*metrics: str) -> Any:
        from scipy.sparse import csr_matrix

        users, items = 100_000, 50_000
        ids = np.argsort(rng.random((2000, 1000)), axis=1)[:, :100] * 50
        ids = np.concatenate([(ids + rng.integers(0, 50, (2000, 1))).astype(np.int32)] * 50)
        held = rng.integers(0, items, (users, 20)).ravel()
        truth = csr_matrix((np.ones(len(held)), (np.repeat(np.arange(users), 20), held)), shape=(users, items))
        truth.data[:] = 1.0
        return partial(rg.from_recommendations(ids, truth).evaluate, *metrics)

    def one(documents: int) -> Any:
        labels = (rng.random(documents) < 0.5).astype(int)
        return partial(rg.from_scores(labels, rng.random(documents)).evaluate, "ndcg")

    def equal(documents: int) -> Any:
        return partial(rg.from_scores(rng.integers(0, 16, documents), np.full(documents, 0.5)).evaluate, "ndcg@10")

    def ranked(function: Any, dtype: str, **options: Any) -> Any:
        return partial(function, rng.integers(0, 4, (10_000, 100)).astype(dtype), **options)

    def dicts(queries: int, judged: int) -> Any:
        names = [f"d{number}" for number in range(5000)]
        run, qrels = {}, {}
        for query in range(queries):
            documents = [names[place] for place in rng.permutation(5000)[:1000].tolist()]
            run[f"q{query}"] = dict(zip(documents, np.sort(rng.random(1000))[::-1].tolist(), strict=True))
            qrels[f"q{query}"] = dict.fromkeys(documents[:judged], 1)
        return partial(rg.from_qrels(qrels, run).evaluate, "ndcg@10", "mrr@10", "recall@100", "map")

    five = "ndcg@10", "rr", "P@10", "recall@100", "ap"
    return {
        "10,000 × 100, k=10": lambda: scored(10_000, 100),
        "10,000 × 100, in full": lambda: scored(10_000, 100, metrics=("ndcg",)),
        "1000 × 1000, k=10": lambda: scored(1000, 1000),
        "1000 × 1000, in full": lambda: scored(1000, 1000, metrics=("ndcg",)),
        "1000 × 1000, five metrics": lambda: scored(1000, 1000, metrics=five),
        "100 × 10,000, k=10": lambda: scored(100, 10_000),
        "30,000 groups float32, k=10": lambda: groups("f4", "ndcg@10"),
        "30,000 groups float32, in full": lambda: groups("f4", "ndcg"),
        "30,000 groups float64, in full, stable": lambda: groups("f8", "ndcg", ties="stable"),
        "100,000 users × 100 against CSR, k=100": lambda: recommended("ndcg(gain=binary)@100"),
        "one query of 10^5, half relevant, in full": lambda: one(10**5),
        "one query of 10^6, half relevant, in full": lambda: one(10**6),
        "10^5 equal scores, 16 grades, k=10": lambda: equal(10**5),
        "10^6 equal scores, 16 grades, k=10": lambda: equal(10**6),
        "dcg of 10,000 × 100 int64, k=10": lambda: ranked(rg.dcg, "i8", k=10),
        "dcg of 10,000 × 100 float64, k=10": lambda: ranked(rg.dcg, "f8", k=10),
        "ndcg of 10,000 × 100 int64": lambda: ranked(rg.ndcg, "i8"),
        "700 dicts of 1000, one judged, four metrics": lambda: dicts(700, 1),
        "50 dicts of 1000, 200 judged, four metrics": lambda: dicts(50, 200),
    }


def digest(answer: Any) -> str:
    vectors = [answer] if hasattr(answer, "tobytes") else list(answer.values())
    return hashlib.sha256(b"".join(vector.tobytes() for vector in vectors)).hexdigest()


def work() -> None:
    """Do what is asked for on standard input: (form, calls) to seconds a call and the digest of the answer."""
    made, known, call = None, forms(), None
    for line in sys.stdin:
        name, calls = json.loads(line)
        if name != made:
            call, made = known[name](), name
        assert call is not None
        answer = call()
        start = time.process_time()
        for _ in range(calls):
            answer = call()
        print(json.dumps([(time.process_time() - start) / calls, digest(answer)]), flush=True)


def worker(folder: str | None) -> subprocess.Popen[str]:
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | ({} if folder is None else {"PYTHONPATH": folder})
    command = [sys.executable, __file__, "--work"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def ask(process: subprocess.Popen[str], *question: Any) -> tuple[float, str]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(question) + "\n")
    process.stdin.flush()
    seconds, answer = json.loads(process.stdout.readline())
    return seconds, answer


def main(folder: str, words: list[str]) -> int:
    before, now = worker(os.path.abspath(folder)), worker(None)
    status = 0
    print(f"{'':<46}{'before':>12}{'now':>12}  before / now")
    for name in forms():
        if words and not any(word in name for word in words):
            continue
        (seconds, first), (_, second) = ask(before, name, 1), ask(now, name, 1)
        if first != second:
            print(f"{name}: other bits")
            status = 1
        calls = max(1, int(TURN / seconds))
        rounds = [(ask(before, name, calls)[0], ask(now, name, calls)[0]) for _ in range(ROUNDS)]
        old, new = (statistics.median(side) * 1e3 for side in zip(*rounds, strict=True))
        ratios = sorted(old / new for old, new in rounds)
        spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
        print(f"{name:<46}{old:>9.3g} ms{new:>9.3g} ms  {statistics.median(ratios):.2f} ({spread})", flush=True)
    return status


if __name__ == "__main__":
    if sys.argv[1:] == ["--work"]:
        work()
    elif len(sys.argv) > 1:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    else:
        sys.exit(__doc__)
