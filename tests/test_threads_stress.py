"""Call all public functions from many threads on shared data, and compare with the results of a single thread.

The functions are those of Python and of C, and their results must be equal in every bit. Without the GIL, all code runs
in parallel; with the GIL, only the kernels do. `support/calls.py` defines the calls.
"""

import ctypes
import random
import subprocess
import sys
import threading
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from types import ModuleType

import numpy as np
import pytest
from support.calls import C_CALLS, CALLS, CLASSES, HERE, LEFT_OUT, Data, Shared, answer
from support.marks import quick_first

import rankgain as rg
from rankgain import functions
from rankgain.data import files, groups, source
from rankgain.metrics import discounts, program

THREADS = 6


def at_once(calls):
    """Run each call in its own thread, start all threads together, and return the results or the errors as text."""
    barrier = threading.Barrier(len(calls), timeout=60)
    results = [None] * len(calls)

    def run(place, call):
        try:
            barrier.wait()
            results[place] = call()
        except Exception as error:
            results[place] = repr(error)

    workers = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return results


shared_data = cache(Data)


@pytest.fixture
def data(backend):
    """Return enough data for the kernels to run concurrently, or less data for the slow Python backend."""
    return shared_data(*{"compiled": (24, 60), "python": (6, 24)}[backend])


@pytest.fixture(autouse=True)
def busy(monkeypatch):
    """Make threads switch often, split the work into many chunks, and keep the caches small."""
    monkeypatch.setattr(source, "CHUNK", 400)
    monkeypatch.setattr(source, "SMALLEST_CHUNK", 1)
    monkeypatch.setattr(groups, "NUMBERED_AT_ONCE", 400)
    monkeypatch.setattr(files, "BLOCK", 2048)
    monkeypatch.setattr(functions, "MOST_SETTINGS", 2)
    monkeypatch.setattr(discounts, "MOST_TABLES", 2)
    monkeypatch.setattr(program, "MOST_PLANS", 2)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_every_public_function_is_called():
    """Only callable attributes need an entry in CALLS, since the representation of an object shows its fields."""
    public = {name for name in rg.__all__ if callable(getattr(rg, name))}
    for kind in CLASSES:
        for base in kind.__mro__:
            members = vars(base).items() if base.__module__.startswith("rankgain") else ()
            called = {
                name for name, member in members if callable(getattr(member, "__func__", member)) and name[0] != "_"
            }
            public |= {f"{kind.__name__}.{name}" for name in called}
    assert public - {*CALLS} == {*LEFT_OUT}


if find_spec("rankgain._compiled.walk"):

    def test_every_c_function_is_called():
        from rankgain import capi

        assert {*capi.__pyx_capi__} == {f"rankgain_{name}" for name in C_CALLS}


@pytest.mark.slow
@pytest.mark.parametrize("name", HERE)
def test_one_function_in_many_threads(backend, data, name):
    expected = answer(name, Shared(data))
    shared = Shared(data)
    assert at_once([partial(answer, name, shared)] * THREADS) == [expected] * THREADS


@pytest.mark.slow
def test_all_functions_in_many_threads(backend, data):
    """Each thread calls the functions in a different order."""
    alone, shared = Shared(data), Shared(data)
    expected = {name: answer(name, alone) for name in HERE}
    orders = [random.Random(seed).sample(HERE, len(HERE)) for seed in range(THREADS)]
    for results in at_once(
        [partial(lambda order: {name: answer(name, shared) for name in order}, order) for order in orders]
    ):
        assert results == expected


# Each statement is the first that a thread runs in a new process, so imports and caches are initialised concurrently.
FIRST = [
    "rg.ndcg([3, 0, 2], k=2)",
    "rg.mrr(((0, 1), (1, 0)))",
    "rg.discount(2000, 'jarvelin:3').sum()",
    "rg.from_scores([[0, 1, 2]], [[3.0, 2.0, 2.0]]).evaluate('ndcg', threads=2).to_dict()",
    "rg.from_ranked([[1, 0]] * 9).curve('dcg', [1, 2000]).mean().tolist()",
    "rg.from_qrels({'q': {'a': 1}}, {'q': {'b': 1.0, 'a': 1.0}}).evaluate('ndcg_cut', 'rr').mean()",
    "rg.from_recommendations([{2}], [[1, 2]]).evaluate('ndcg(gain=exponential)@2').mean()",
    "rg.from_frames(COLUMNS | {'relevance': [1, 2]}, COLUMNS | {'score': [1.0, 1.0]}).evaluate('ndcg').mean()",
    "rg.read_trec(*rg.sample()).evaluate('ndcg@10').mean()",
    "str(rg.compare(rg.judgments({'q': ['a']}), {'one': {'q': {'a': 1.0}}}, 'rr'))",
    "str(rg.metric('ndcg', k=3, gain='exponential'))",
    "__import__('rankgain.threads').threads.run_chunks([(0, 1), (1, 2), (2, 3)], max, 3)",
    "{*rg.__all__} <= {*dir(rg)}",
]
if find_spec("rankgain._compiled.walk"):
    FIRST.append("__import__('rankgain.capi').capi.address('rankgain_dcg') > 0")
SETTING = {"COLUMNS": {"query_id": ["q", "q"], "doc_id": ["a", "b"]}}
PROGRAM = """
import sys, threading
sys.setswitchinterval(1e-6)
barrier, results = threading.Barrier(len(FIRST)), [None] * len(FIRST)

def run(first):
    barrier.wait()
    import rankgain as rg
    order = FIRST[first:] + FIRST[:first]
    found = {call: repr(eval(call, {"rg": rg} | SETTING)) for call in order}
    results[first] = [found[call] for call in FIRST]

threads = [threading.Thread(target=run, args=(first,)) for first in range(len(FIRST))]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(results)
"""


@pytest.mark.slow
@pytest.mark.parametrize("attempt", quick_first(range(2)))
def test_first_use_in_many_threads(backend, attempt, monkeypatch):
    expected = [repr(eval(call, {"rg": rg} | SETTING)) for call in FIRST]
    monkeypatch.setenv("RANKGAIN_BACKEND", backend)
    program = f"FIRST, SETTING = {FIRST!r}, {SETTING!r}\n{PROGRAM}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{[expected] * len(FIRST)}\n", done.stderr


@pytest.mark.parametrize("module", ["pandas", "numpy.ma"])
def test_import_during_the_import_of_another_thread(backend, module, monkeypatch):
    """A module is in `sys.modules` before its classes are defined."""
    monkeypatch.setitem(sys.modules, module, ModuleType(module))
    assert rg.ndcg([[2, 1], [1]]).tolist() == [1.0, 1.0]
    assert len(rg.judgments([{1, 2}, {3}])) == 2


def test_ctypes_types_of_others_are_unchanged():
    """The functions of `ctypes.pythonapi` are shared by all code in the process."""

    class Frame:
        def __arrow_c_stream__(self):
            return object()

    shared = ctypes.pythonapi.PyCapsule_GetPointer
    before = shared.restype, shared.argtypes
    with pytest.raises(TypeError, match="returned object, which is not an Arrow stream"):
        rg.from_frames(Frame())
    assert (shared.restype, shared.argtypes) == before


def test_arrays_written_by_another_thread_do_not_crash(backend):
    """Kernels read the arrays more than once. Any result or error is acceptable, but a crash is not."""
    n = {"compiled": 20_000, "python": 100}[backend]
    rows, grades, scores = np.arange(4 * n), np.ones(4 * n), np.ones(4 * n)
    columns = {"query_id": rows // n, "doc_id": rows % n}
    truth = {name: column[::4] for name, column in columns.items()} | {"relevance": np.ones(n)}
    framed, matrix = rg.from_frames(truth, columns | {"score": scores}), grades.reshape(4, n)
    ranked, scored = rg.from_ranked(matrix), rg.from_scores(matrix, scores.reshape(4, n), ties="worst")
    done = threading.Event()

    def write():
        while not done.is_set():
            for pattern in rows % 3, 0, rows % 7, 1, np.where(rows % 5, 1.0, np.nan):
                np.copyto(scores, pattern)
                np.copyto(grades, pattern)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(50):
            for call in framed.evaluate, ranked.evaluate, scored.evaluate, lambda metric: rg.ndcg(matrix, k=7):
                with suppress(ValueError):
                    call("ndcg")
    finally:
        done.set()
        writer.join()
