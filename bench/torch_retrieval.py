"""How long does `compute` of TorchMetrics' retrieval classes take, and how long that of the classes in their place?"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import groups
import harness
import large
import numpy as np

SHUFFLED, HALF = "shuffled", "bfloat16 scores"
WITHOUT_CUTOFF = {"RetrievalRPrecision", "RetrievalAUROC"}
# how many times as long theirs shall take: any class of 8,000 queries x 40 documents; nDCG of groups
TARGETS = {"": 30, SHUFFLED: 30, HALF: 12}
OF_GROUPS = {"": 90, SHUFFLED: 30}


def make(sizes: Any, variant: str) -> tuple[Any, Any, Any]:
    """Scores, labels and indexes; one document in ten is relevant."""
    torch = harness.library("torch")
    rng = np.random.default_rng(20240229)
    documents = int(sizes.sum())
    scores = torch.from_numpy(rng.permutation(documents).astype(np.float32) / 2 ** documents.bit_length())
    given = scores, torch.from_numpy(rng.random(documents) < 0.1).long(), torch.arange(len(sizes))
    given = *given[:2], given[2].repeat_interleave(torch.from_numpy(sizes))
    if variant == HALF:
        return given[0].bfloat16(), *given[1:]
    order = torch.from_numpy(rng.permutation(documents) if variant == SHUFFLED else np.arange(documents))
    return given[0][order], given[1][order], given[2][order]


def metric(module: Any, name: str, given: tuple[Any, ...]) -> Callable[[], float]:
    """Its `compute` at 10 after one update, without what the class keeps of the last value."""
    own = getattr(module, name)(**({} if name in WITHOUT_CUTOFF else {"top_k": 10}))
    own.update(given[0], given[1], indexes=given[2])

    def compute() -> float:
        own._computed = None
        return float(own.compute())

    return compute


def contend(title: str, name: str, given: tuple[Any, ...], least: float, scale: harness.Scale) -> None:
    ours, theirs = modules()
    contenders = {
        "rankgain.torchmetrics": harness.Contender(metric(ours, name, given)),
        "TorchMetrics": harness.Contender(metric(theirs, name, given), at_least=least, tolerance=1e-5),
    }
    harness.hold(f"{name}, {title}", contenders, scale, clock=time.process_time)


def forward(name: str, queries: int, scale: harness.Scale) -> None:
    """A batch of few queries of ten documents each, in a loop."""
    given = make(np.full(queries, 10), "")

    def run(module: Any) -> Callable[[], Any]:
        own = getattr(module, name)()

        def call() -> float:
            own.reset()
            return float(own(given[0], given[1], indexes=given[2]))

        return call

    ours, theirs = map(run, modules())
    contenders = {
        "rankgain.torchmetrics": harness.Contender(ours),
        "TorchMetrics": harness.Contender(theirs, at_least=1, tolerance=1e-5),
    }
    harness.hold(f"{name}, forward of {queries} × 10", contenders, scale, clock=time.process_time)


def modules() -> tuple[Any, Any]:
    return harness.library("rankgain.torchmetrics"), harness.library("torchmetrics.retrieval")


def peak(name: str, module: str, variant: str, queries: str) -> None:
    """Print the bytes that `compute` takes beyond the states."""
    run = metric(harness.library(module), name, make(groups.make(int(queries), np.float32)[0], variant))
    print(large.measure(name, 1, run)[0].size)


def bench(scale: harness.Scale) -> None:
    torch, theirs = harness.library("torch"), harness.peer("torchmetrics.retrieval")
    if not (torch and theirs):
        print("torch_retrieval: left out without torch and torchmetrics")
        return
    torch.set_num_threads(1)
    classes = [name for name in theirs.__all__ if name.startswith("Retrieval") and "At" not in name]
    classes.remove("RetrievalPrecisionRecallCurve")
    queries = 20 if scale == "smoke" else 8000
    for variant, least in TARGETS.items():
        given = make(np.full(queries, 40), variant)
        for name in classes:
            contend(", ".join(filter(None, (f"{queries:,} × 40", variant))), name, given, least, scale)
    sizes = groups.make(20 if scale == "smoke" else 30_000, np.float32)[0]
    for variant, least in OF_GROUPS.items():
        title = ", ".join(filter(None, (f"{len(sizes):,} groups of 120", variant)))
        contend(title, "RetrievalNormalizedDCG", make(sizes, variant), least, scale)
        if large.PEAK.exists():
            command = [sys.executable, Path(__file__).resolve(), "peak", "RetrievalNormalizedDCG"]
            own, other = (
                int(harness.process(*command, module, variant, str(len(sizes))))
                for module in ("rankgain.torchmetrics", "torchmetrics.retrieval")
            )
            if scale != "smoke":
                harness.allowed(f"memory of compute, nDCG, {title}", "rankgain.torchmetrics", own, other)
    for name in classes:
        for count in (1, 2, 4):
            forward(name, count, scale)


if __name__ == "__main__":
    if sys.argv[1:2] == ["peak"]:
        peak(*sys.argv[2:])
    else:
        sys.exit(harness.main(__doc__, bench))
