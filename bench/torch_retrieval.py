"""How long does `compute` take for TorchMetrics' retrieval classes, and for the rankgain classes that replace them?"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import groups
import harness
import large
import numpy as np

SHUFFLED, HALF = "shuffled", "bfloat16 scores"
WITHOUT_CUTOFF = {"RetrievalRPrecision", "RetrievalAUROC"}
# Target ratios of TorchMetrics' time to rankgain's: any class on 8,000 queries x 40 documents, and nDCG of groups.
TARGETS = {"": 30, SHUFFLED: 30, HALF: 12}
OF_GROUPS = {"": 90, SHUFFLED: 30}


def make(sizes: Any, variant: str) -> tuple[Any, Any, Any]:
    """Make scores, labels and indexes; about one document in ten is relevant."""
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
    """Update the metric once, and return a function that calls `compute` without using the cached value."""
    metric = getattr(module, name)(**({} if name in WITHOUT_CUTOFF else {"top_k": 10}))
    metric.update(given[0], given[1], indexes=given[2])

    def compute() -> float:
        metric._computed = None
        return float(metric.compute())

    return compute


def contend(title: str, run: Callable[[Any], Callable[[], float]], least: float, scale: harness.Scale) -> None:
    """Compare the calls that `run` returns for `rankgain.torchmetrics` and for TorchMetrics."""
    contenders = {
        "rankgain.torchmetrics": harness.Contender(run(harness.library("rankgain.torchmetrics"))),
        "TorchMetrics": harness.Contender(
            run(harness.library("torchmetrics.retrieval")), at_least=least, tolerance=1e-5
        ),
    }
    harness.hold(title, contenders, scale, clock=time.process_time)


def forward(module: Any, name: str, given: tuple[Any, ...]) -> Callable[[], float]:
    """Return a function that resets the metric and evaluates one batch with `forward`."""
    metric = getattr(module, name)()

    def call() -> float:
        metric.reset()
        return float(metric(given[0], given[1], indexes=given[2]))

    return call


def peak(module: str, variant: str, queries: int) -> int:
    """Return the peak memory in bytes that `compute` of nDCG needs beyond the metric's states."""
    given = make(groups.make(queries, np.float32)[0], variant)
    size: int = large.measure(metric(harness.library(module), "RetrievalNormalizedDCG", given))[-1]
    return size


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
            title = ", ".join(filter(None, (name, f"{queries:,} × 40", variant)))
            contend(title, partial(metric, name=name, given=given), least, scale)
    sizes = groups.make(20 if scale == "smoke" else 30_000, np.float32)[0]
    for variant, least in OF_GROUPS.items():
        title = ", ".join(filter(None, (f"{len(sizes):,} groups of 120", variant)))
        run = partial(metric, name="RetrievalNormalizedDCG", given=make(sizes, variant))
        contend(f"RetrievalNormalizedDCG, {title}", run, least, scale)
        if large.PEAK.exists():
            modules = {"rankgain.torchmetrics": "rankgain.torchmetrics", "TorchMetrics": "torchmetrics.retrieval"}
            peaks = {name: harness.in_process(peak, module, variant, len(sizes)) for name, module in modules.items()}
            if scale != "smoke":
                harness.weigh(f"memory of compute, nDCG, {title}", peaks, at_least=1)
    for name in ("RetrievalHitRate", "RetrievalMRR", "RetrievalNormalizedDCG"):
        for count in (1, 4):
            run = partial(forward, name=name, given=make(np.full(count, 10), ""))
            contend(f"{name}, forward of {count} × 10", run, 1, scale)
