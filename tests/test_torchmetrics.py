"""Compare the drop-in for TorchMetrics with TorchMetrics itself: values, types, errors and states."""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from itertools import pairwise

import numpy as np
import pytest
import torch
import torchmetrics
from hypothesis import given
from hypothesis import strategies as st
from torchmetrics import retrieval as theirs
from torchmetrics.retrieval.base import RetrievalMetric

import rankgain as rg
from rankgain import torchmetrics as ours

CLASSES = [name for name in ours.__all__ if issubclass(getattr(ours, name), ours.Computed)]
FEW = ours.Computed._few
WITHOUT_CUTOFF = {"RetrievalRPrecision"}
LIKE = {
    "RetrievalNormalizedDCG": "ndcg",
    "RetrievalMRR": "mrr",
    "RetrievalMAP": "ap",
    "RetrievalPrecision": "precision",
    "RetrievalRecall": "recall",
    "RetrievalRPrecision": "r_precision",
    "RetrievalHitRate": "hit_rate",
    "RetrievalFallOut": "fallout",
    "RetrievalAUROC": "auc",
}


def spread(values, dim=None):
    """A custom aggregation that depends on the order of the queries."""
    return (values.double() * torch.arange(1, len(values) + 1)).sum().to(values)


SCORES = {
    "untied": lambda rng, n: rng.permutation(n) / n + 1e-3,
    "few": lambda rng, n: rng.integers(0, 4, n) / 4,
    "constant": lambda rng, n: np.full(n, 0.5),
    "logits": lambda rng, n: rng.normal(0, 4, n),
    "large logits": lambda rng, n: rng.integers(-30, 30, n) * 1.0,
    "tied logits": lambda rng, n: rng.integers(-3, 3, n) * 1.0,
    "masked": lambda rng, n: np.where(rng.random(n) < 0.3, -np.inf, rng.normal(0, 1, n)),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.1, np.inf, rng.integers(0, 9, n) / 9),
}
TARGETS = torch.bool, torch.long, torch.int, torch.float, torch.double, torch.half
PREDS = torch.float, torch.double, torch.bfloat16, torch.half
INDEXES = {
    "small": lambda index: index,
    "negative": lambda index: index - 5,
    "apart": lambda index: index * 1_000_003 - 7,
    "huge": lambda index: index * 2**57 - 2**62,
    "falling": lambda index: -index,
}


def counts_between():
    """Return whether this release of TorchMetrics, like 1.3, counts all integers between the indexes.

    If the indexes are far apart, there is not enough memory for that.
    """
    try:
        theirs.RetrievalMRR()(torch.rand(2), torch.tensor([1, 1]), torch.tensor([0, 2**57]))
    except RuntimeError:
        return True
    return False


OLD = counts_between()
if OLD:
    del INDEXES["apart"], INDEXES["huge"]


@pytest.fixture(autouse=True)
def every_batch_is_ours(monkeypatch):
    """Use our implementation even for batches with few queries."""
    monkeypatch.setattr(ours.Computed, "_few", 0)


def drawn_options(rng, name):
    options = {
        "empty_target_action": str(rng.choice(["neg", "pos", "skip", "error"], p=[0.3, 0.3, 0.3, 0.1])),
        "aggregation": [*("mean", "median", "min", "max"), spread][rng.integers(5)],
    }
    if name not in WITHOUT_CUTOFF:
        options["top_k"] = [None, 1, 2, 3, 10, 100][rng.integers(6)]
    if name == "RetrievalPrecision":
        options["adaptive_k"] = bool(rng.integers(2))
    if name == "RetrievalAUROC":
        options["max_fpr"] = [None, 0.1, 0.5, 0.9, 1.0][rng.integers(5)]
    if rng.random() < 0.3:
        options["ignore_index"] = -100
    return options


def drawn_updates(rng, name, ignored):
    """Yield random updates with documents in any order. An update may end within a query."""
    sizes = rng.integers(1, [3, 12, 70][rng.integers(3)], rng.integers(1, 9))
    index = INDEXES[rng.choice(list(INDEXES))](np.repeat(rng.permutation(len(sizes)), sizes))
    count = len(index)
    scores = torch.tensor(SCORES[rng.choice(list(SCORES))](rng, count)).to(PREDS[rng.integers(len(PREDS))])
    grades = (
        rng.integers(0, 5, count) if name == "RetrievalNormalizedDCG" and rng.integers(2) else rng.integers(0, 2, count)
    )
    grades = np.where(rng.random(count) < rng.random(), grades, 0)
    if name == "RetrievalFallOut":
        grades = 1 - grades
    dtypes = TARGETS if name != "RetrievalRPrecision" else TARGETS[:3]
    target = torch.tensor(grades).to(dtypes[rng.integers(len(dtypes))])
    if ignored and target.dtype != torch.bool:
        target[torch.tensor(rng.random(count) < 0.2)] = ignored
        if bool((target == ignored).all()):
            target[0] = 1
    index = torch.tensor(index)
    if rng.integers(2):
        order = torch.tensor(rng.permutation(count))
        index, scores, target = index[order], scores[order], target[order]
    cuts = sorted({0, count, *rng.integers(0, count, rng.integers(0, 4)).tolist()})
    for start, stop in pairwise(cuts):
        part = scores[start:stop], target[start:stop], index[start:stop]
        if not (ignored and bool((part[1] == ignored).all())):
            yield part


def outcome(module, name, options, updates, dtype):
    """Return the value and its type, or the error."""
    metric = getattr(module, name)(**options)
    if dtype is not None:
        metric.set_dtype(dtype)
    for preds, target, index in updates:
        metric.update(preds, target, indexes=index)
    try:
        value = metric.compute()
    except Exception as error:
        return type(error), str(error), None
    return value.dtype, tuple(value.shape), value


def check_same(name, options, updates, dtype=None):
    expected, actual = (outcome(module, name, options, updates, dtype) for module in (theirs, ours))
    shown = f"{name}(**{options}), {dtype}, {updates}"
    assert actual[:2] == expected[:2], shown
    if expected[2] is not None:
        tolerance = 2e-2 if dtype in (torch.bfloat16, torch.half) else 2e-5
        close = torch.allclose(actual[2].double(), expected[2].double(), rtol=tolerance, atol=tolerance, equal_nan=True)
        assert close, f"{actual[2]} is not {expected[2]}: {shown}"


@pytest.fixture
def loops(monkeypatch):
    """Return a list to which each of our classes adds its name when it runs TorchMetrics' own loop."""
    ran = []
    for base in (RetrievalMetric, theirs.RetrievalFallOut):

        def counted(self, compute=base.compute):
            ran.extend([type(self).__name__] * isinstance(self, ours.Computed))
            return compute(self)

        monkeypatch.setattr(base, "compute", counted)
    return ran


@pytest.mark.parametrize("name", CLASSES)
@given(seed=st.integers(0, 2**63))
def test_values_equal_torchmetrics(name, seed):
    rng = np.random.default_rng(seed)
    options = drawn_options(rng, name)
    check_same(name, options, list(drawn_updates(rng, name, options.get("ignore_index"))))


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.half, torch.double])
def test_other_types_equal_torchmetrics(name, dtype):
    rng = np.random.default_rng(3)
    for _ in range(5):
        updates = list(drawn_updates(rng, name, None))
        check_same(name, {"empty_target_action": "pos"}, updates, dtype)


@pytest.mark.parametrize("name", CLASSES)
def test_set_dtype_after_updates_equals_torchmetrics(name):
    """`set_dtype` also converts indexes and labels, and R-precision rejects floating-point labels."""
    outcomes = []
    for module in (theirs, ours):
        metric = getattr(module, name)()
        metric.update(torch.rand(12, generator=torch.manual_seed(1)), torch.arange(12) % 2, torch.arange(12) % 3)
        metric.set_dtype(torch.double)
        try:
            outcomes.append((metric.compute().dtype, round(metric.compute().item(), 5)))
        except Exception as error:
            outcomes.append(type(error))
    assert (outcomes[1] is TypeError) == (name == "RetrievalRPrecision")
    assert outcomes[0] in (outcomes[1], TypeError)  # raised by TorchMetrics before 1.9 for floating-point indexes


@pytest.mark.parametrize("name", CLASSES)
def test_ordinary_data_runs_without_a_loop(name, loops):
    for scores in SCORES:
        rng = np.random.default_rng(7)
        for top_k in (None, 3):
            preds = torch.tensor(SCORES[scores](rng, 200)).float()
            target = torch.tensor(rng.integers(0, 2, 200))
            options = {} if name in WITHOUT_CUTOFF else {"top_k": top_k}
            for labels in (target, target.bool(), target.float())[: 2 if name == "RetrievalRPrecision" else 3]:
                metric = getattr(ours, name)(**options)
                metric(preds, labels, torch.tensor(rng.integers(0, 20, 200)))
    assert loops == []


ODD = [
    ("RetrievalMRR", {"top_k": 0}, [0.5, 0.2], [0, 1]),
    ("RetrievalMRR", {"top_k": -1}, [0.5, 0.2], [0, 1]),
    ("RetrievalMAP", {"top_k": 2.0}, [0.5, 0.2], [0, 1]),
    ("RetrievalMAP", {"top_k": 0}, [0.5, 0.2], [0, 1]),
    ("RetrievalMRR", {"top_k": True}, [0.5, 0.2], [0, 1]),
    ("RetrievalAUROC", {"max_fpr": 1.5}, [0.5, 0.2, 0.4], [0, 1, 0]),
    ("RetrievalAUROC", {"max_fpr": 0.0}, [0.5, 0.2, 0.4], [0, 1, 0]),
    *((name, {}, [0.5, 0.2], [0.3, 0.6]) for name in CLASSES if name != "RetrievalNormalizedDCG"),
    *((name, {}, [0.5, float("nan")], [0, 1]) for name in CLASSES),
    ("RetrievalNormalizedDCG", {}, [0.5, 0.2], [-1, 2]),
    ("RetrievalNormalizedDCG", {}, [0.5, 0.2], [1.0, float("nan")]),
    ("RetrievalNormalizedDCG", {}, [0.5, 0.2], [1.0, float("inf")]),
    ("RetrievalRPrecision", {}, [0.5, 0.2], [0.0, 1.0]),
]


@pytest.mark.parametrize(("name", "options", "preds", "target"), ODD)
def test_undefined_cases_fall_back_to_torchmetrics(name, options, preds, target, loops):
    check_same(name, options, [(torch.tensor(preds), torch.tensor(target), torch.zeros(len(preds), dtype=torch.long))])
    assert loops == [name]


@pytest.mark.parametrize("name", CLASSES)
def test_overridden_metric_is_called(name, loops):
    data = torch.tensor([0.5, 0.2]), torch.tensor([0, 1]), torch.tensor([0, 0])

    class Custom(getattr(ours, name)):
        def _metric(self, preds, target):
            return torch.tensor(0.25)

    assert Custom()(*data) == 0.25
    metric = getattr(ours, name)()
    metric._metric = lambda preds, target: torch.tensor(0.125)
    assert metric(*data) == 0.125
    assert loops == ["Custom", name]

    class Named(getattr(ours, name)):
        pass

    Named()(*data)
    assert len(loops) == 2


@pytest.mark.parametrize("name", CLASSES)
def test_compute_without_data_raises_like_torchmetrics(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_same(name, {}, [])


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("action", ["skip", "error", "neg", "pos"])
def test_empty_queries_equal_torchmetrics(name, action):
    target = torch.full((4,), int(name == "RetrievalFallOut"))
    check_same(name, {"empty_target_action": action}, [(torch.rand(4), target, torch.tensor([3, 1, 1, 3]))])


def test_ties_equal_torchmetrics():
    """The hit among the tied documents may be second, third or below the cut-off, which makes AP 1, 5/6 or 1."""
    values = []
    for position in range(3):
        target = torch.tensor([1, *(int(rank == position) for rank in range(3))])
        data = torch.tensor([0.9, 0.5, 0.5, 0.5]), target, torch.zeros(4, dtype=torch.long)
        check_same("RetrievalMAP", {"top_k": 3}, [data])
        values.append(round(ours.RetrievalMAP(top_k=3)(*data).item(), 4))
    assert sorted(values) == [0.8333, 1.0, 1.0]


@pytest.mark.parametrize("name", CLASSES)
def test_scores_with_gradients_are_accepted(name):
    preds = torch.rand(12, generator=torch.manual_seed(1), requires_grad=True)
    check_same(name, {}, [(preds, torch.arange(12) % 2, torch.arange(12) % 3)])


@pytest.mark.parametrize("name", CLASSES)
def test_few_queries_fall_back_to_torchmetrics(name, loops, monkeypatch):
    """Metrics fall back to TorchMetrics only where that takes less time."""
    monkeypatch.setattr(ours.Computed, "_few", FEW)
    for queries in (1, 2, 3):
        index = torch.arange(4 * queries) % queries
        options = {} if name in WITHOUT_CUTOFF else {"top_k": 2}
        check_same(name, options, [(torch.rand(len(index)), torch.arange(len(index)) % 2, index)])
    assert loops == ([] if name in {"RetrievalNormalizedDCG", "RetrievalAUROC"} else [name, name])


@pytest.mark.parametrize("name", CLASSES)
def test_states_pickles_and_collections_equal_torchmetrics(name):
    data = torch.tensor([0.3, 0.9, 0.1, 0.7]), torch.tensor([0, 1, 1, 0]), torch.tensor([0, 0, 1, 1])
    metric = getattr(ours, name)()
    metric.update(*data)
    for copied in (pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric), metric.clone()):
        assert type(copied) is getattr(ours, name)
        assert copied.compute() == metric.compute()
    both = torchmetrics.MetricCollection({"ours": getattr(ours, name)(), "theirs": getattr(theirs, name)()})
    both.update(*data)
    values = both.compute()
    assert values["ours"] == values["theirs"]
    assert list(torchmetrics.MetricCollection([getattr(ours, name)()])) == [name]
    metric.reset()
    assert metric.preds == []


def test_falls_back_to_torchmetrics():
    assert set(ours.__all__) == set(theirs.__all__)
    for name in set(ours.__all__) - set(CLASSES):
        assert getattr(ours, name) is getattr(theirs, name)


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("k", [None, 5])
def test_like_equals_the_drop_in(name, k):
    rng = np.random.default_rng(11)
    index = np.repeat(np.arange(30), 20)
    preds, target = rng.permutation(600) / 600 + 1e-3, rng.integers(0, 2, 600)
    if name in {"RetrievalRPrecision", "RetrievalAUROC"}:
        k = None
    options = {} if k is None else {"top_k": k}
    metric = LIKE[name] if k is None else f"{LIKE[name]}@{k}"
    value = getattr(ours, name)(**options)(torch.tensor(preds), torch.tensor(target), indexes=torch.tensor(index))
    expected = rg.from_scores(target, preds, qid=index).evaluate(metric, like="torchmetrics").mean(metric)
    assert value.item() == pytest.approx(expected, rel=1e-6)


PROCESSES = """
import sys
import torch
import torch.distributed as dist
from torchmetrics import retrieval as theirs
from rankgain import torchmetrics as ours

rank, file = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=2)
draw = torch.Generator().manual_seed(rank)
count = 300 + 41 * rank
index = torch.randint(0, 25, (count,), generator=draw)
preds = torch.randint(0, 9, (count,), generator=draw) / 10 - 0.2
target = torch.randint(0, 2, (count,), generator=draw)
for name in sys.argv[3:]:
    values = []
    for module in (theirs, ours):
        metric = getattr(module, name)(**({} if name == "RetrievalRPrecision" else {"top_k": 5}))
        metric.update(preds[:100], target[:100], indexes=index[:100])
        metric.update(preds[100:], target[100:], indexes=index[100:])
        alone = metric.clone()
        alone._to_sync = False
        assert alone.compute() != metric.compute(), name
        values.append(metric.compute())
    assert torch.allclose(*values, rtol=1e-5), (name, values)
dist.destroy_process_group()
"""


def test_states_of_two_processes_are_synchronised(tmp_path):
    """Some queries are split between the processes."""
    environment = os.environ | {"GLOO_SOCKET_IFNAME": "lo"}
    program = sys.executable, "-c", PROCESSES
    running = [
        subprocess.Popen([*program, str(rank), str(tmp_path / "rendezvous"), *CLASSES], env=environment)
        for rank in range(2)
    ]
    assert [process.wait(timeout=300) for process in running] == [0, 0]
