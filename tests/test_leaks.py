"""A finished call leaves nothing behind, whether it returned a value or raised an error.

Each call is repeated, and the state afterwards is compared with the state before: references to all arguments, objects
that the garbage collector tracks, memory blocks of Python, and bytes allocated by C.

    python tests/test_leaks.py 100000    make this many calls of each, within SECONDS per round, and check the process
    python tests/test_leaks.py 1         make each call once, to watch the memory from outside
"""

import ctypes
import gc
import inspect
import sys
import tempfile
import time
from array import array
from collections import defaultdict
from contextlib import chdir, contextmanager, suppress
from copy import copy
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import FunctionType, ModuleType
from unittest.mock import patch

import numpy as np
import pytest
from support import calls as every
from support import evaluating, training
from support.calls import C_CALLS, CALLS, FRAMES, HERE, KS, METRICS, Data, Shared, answer, bits
from support.evaluating import THRESHOLDED
from support.marks import freed_at_all

import rankgain as rg
import rankgain.pytrec_eval
import rankgain.sklearn
from rankgain import _backend
from rankgain._codes import COLUMNS
from rankgain.data import files as read_files
from rankgain.data.rules import Rules
from rankgain.metrics import table as definitions

TIMES, BRIEFLY = 200, 0.01  # limits for a test: number of calls, and seconds
FEWEST = 10  # minimum number of calls, even if they are slow
SECONDS = 5  # limit on the processor time of a round
ROUNDS = 7  # each makes twice as many calls; a leak shows in every round, but a cache grows only at first
UNITS = {"objects": 1, "blocks of Python's memory": 1, "words of C's": 16}
LARGEST = 1 << 20  # maximum growth of the process in bytes
IMMORTAL = 1 << 28  # a reference count that only immortal objects reach

DRAWN = {"plot", "Curve.plot"}  # not checked, because matplotlib's own caches keep growing for a thousand calls
LEFT_TO_THE_COLLECTOR = {
    **dict.fromkeys(DRAWN, "the parts of a figure know each other"),
    "catboost_metric": "a class of its own, as CatBoost shows its name",
    "from_frames": "classes of ctypes, one for each length of a buffer",
}


NO_STATUS = [
    f"capi.rankgain_{name}" for name in ("discount", "message", "scratch_size", "lambda_scratch_size")
]  # these functions take no data that could be rejected
MADE = (
    "Attribution",
    "Bounds",
    "Calculation",
    "Curve",
    "Evaluation",
    "Explanation",
    "Judgments",
    "Metric",
    "Rankings",
    "Summary",
    "TieSpread",
)  # classes whose objects are made by functions that check the arguments


# measuring memory


class Malloc(ctypes.Structure):
    """The structure in which glibc's `mallinfo2` reports memory usage."""

    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "mapped", "usmblks", "fsmblks")),
        *((name, ctypes.c_size_t) for name in ("used", "unused", "keepcost")),
    ]


mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None) if sys.platform == "linux" else None
if mallinfo:
    mallinfo.restype = Malloc


def c_bytes():
    """Return the bytes that C code has allocated and not freed, or 0 if the C library does not count them."""
    allocated = mallinfo() if mallinfo else Malloc()
    return allocated.used + allocated.mapped


def process_bytes():
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    return 0


def reachable(*roots):
    """Return the objects that the calls use: containers, objects of rankgain and of the tests, and their contents."""
    objects, left = {}, [*roots]
    while left:
        one = left.pop()
        if id(one) in objects or isinstance(one, (type, ModuleType, FunctionType)):
            continue
        objects[id(one)] = one
        record = type(one).__module__.startswith(("rankgain", "tests", "support"))
        if record or isinstance(one, (dict, list, tuple, set, frozenset, partial)):
            left += gc.get_referents(one)
    # Since Python 3.12, objects such as None are immortal, but code compiled for 3.11 still counts references to them.
    return [one for one in objects.values() if sys.getrefcount(one) < IMMORTAL]


def books(given, references):
    """Return the current object, block and byte counts, and write the reference counts to a preallocated array."""
    gc.collect()
    for index, one in enumerate(given):
        references[index] = sys.getrefcount(one)
    return len(gc.get_objects()), sys.getallocatedblocks(), c_bytes()


def repeat(calls, times, seconds, fewest=FEWEST):
    """Make all calls a number of times or until the time is up, and return how many times they were made."""
    stop = time.process_time() + seconds
    for done in range(1, times + 1):
        for call in calls:
            call()
        if done >= fewest and time.process_time() > stop:
            break
    return done


def growth(calls, given, times, seconds):
    """Repeat the calls, and return the number of repetitions and the average growth per repetition.

    The growth is rounded to integers. It is reported only if every round left something behind.
    """
    repeat(calls, max(FEWEST, times // 10), seconds / 10)
    old, new = (array("q", bytes(8 * len(given))) for _ in "12")
    for longer in range(ROUNDS):
        before = books(given, old)
        done = repeat(calls, times << longer, seconds, FEWEST << longer)
        after = books(given, new)
        grown = zip(UNITS.items(), before, after, strict=True)
        left = {name: count for (name, unit), was, now in grown if (count := round((now - was) / done / unit)) > 0}
        for one, was, now in zip(given, old, new, strict=True):
            if count := round((now - was) / done):
                left[f"references to {one!r:.60}"] = count
        if not left:
            break
    return done, left


# calls to check


def answered(shared):
    """Yield (name, call) pairs: CALLS, all metrics with several tie policies, and the drop-in replacements."""
    yield from ((name, partial(answer, name, shared)) for name in HERE if name != "from_frames")
    yield from ((name, partial(getattr(rg, name), [1.0] * 300)) for name in ("dcg", "idcg", "ndcg"))
    frames = shared.truth_columns, shared.columns
    for make in [dict, *(make for module, make in FRAMES.items() if find_spec(module))]:
        # a new frame for each call, because pandas caches data when a frame is read
        yield "from_frames", lambda make=make: bits(rg.from_frames(*map(make, frames), validate="full"))
    for ties in ("average", "worst", "stable"):
        metrics = [name for name, row in definitions.TABLE.items() if ties != "average" or not row.unaveraged]
        scored = rg.from_scores(shared.grades, shared.scores, ties=ties)
        for rankings in scored, shared.rankings["matched"].under(ties=ties):
            yield "Rankings.evaluate", partial(rankings.evaluate, *metrics)
    for name in ("ndcg_score", "dcg_score"):
        yield f"sklearn.{name}", partial(getattr(rg.sklearn, name), shared.grades, shared.scores)
    evaluator = rg.pytrec_eval.RelevanceEvaluator(shared.qrels, {"map", "ndcg_cut", "recall"})
    yield "pytrec_eval", partial(evaluator.evaluate, shared.run)


NAN, HUGE = float("nan"), 10**400
QRELS, RUN = {"q": {"a": 1, "b": 0, "c": 2}, "r": {"a": 1}}, {"q": {"a": 0.5, "b": 1.0, "x": 0.25}, "r": {"a": 0.5}}
COLUMNS_OF_BOTH = {"qid": ["q", "q", "r"], "doc_id": ["a", "b", "a"], "label": [1, 2, 1], "score": [1.0, 2.0, 3.0]}
GRADES, SCORES = [1, 0, 2, 0, 1], [0.5, 0.25, 0.125, 1.0, 0.5]
NO_LISTS = {1, 2}, [1, "2"], [1, HUGE], [[1, 2], [1, [2]]], [[1, 2], [1, NAN]], [1, -1], [[1], [1, None]]
BAD_OPTIONS = {"k": [0, 2.5], "rel": ["x", NAN], "gain": ["exp", {1: -1}, {9: 1}], "discount": ["ln", [1, NAN], [1]]}
BAD_OPTIONS |= {"judged": [[1, NAN], [[1]] * 3], "ideal": ["best"], "empty": ["x"], "mask": ["yes", [True]]}


def refused():
    """Yield (name, call) pairs whose calls raise, for the checks of each function that takes arguments."""
    matched, ranked = rg.from_qrels(QRELS, RUN), rg.from_ranked([[1, 0]])
    result, summary = matched.evaluate("rr"), matched.evaluate("rr").summary()
    comparison, curve = rg.Comparison({"one": result}), ranked.curve("ndcg", (1, 2))

    for name in ("cg", "dcg", "ndcg", "mean_ndcg", "reciprocal_rank", "mrr", *(f.__name__ for f in THRESHOLDED)):
        function = getattr(rg, name)
        yield from ((name, partial(function, values)) for values in NO_LISTS)
        for option in inspect.signature(function).parameters.keys() & BAD_OPTIONS.keys():
            yield from ((name, partial(function, [3, 1, 2], **{option: value})) for value in BAD_OPTIONS[option])
    yield from (("idcg", partial(rg.idcg, values)) for values in NO_LISTS)
    yield from (("gain", partial(rg.gain, [1, 3], kind)) for kind in ("exp", {1: 1}, {1: NAN}, np.negative))
    yield from (("discount", partial(rg.discount, *given)) for given in ((-1,), (3, "ln"), (3, [1])))

    # invalid contents for each constructor
    yield from (("from_ranked", partial(evaluating.evaluate_ranked, values)) for values in NO_LISTS)
    yield "from_ranked", partial(evaluating.evaluate_ranked, [[1], [3, 3]], judged=[[1], [3]])
    for bad in (NAN, None, "1", HUGE):
        yield "from_scores", partial(evaluating.evaluate_scores, GRADES, [*SCORES[:4], bad])
        yield "from_scores", partial(evaluating.evaluate_scores, [*GRADES[:4], bad], SCORES, qid=list("abaab"))
        yield "from_qrels", partial(evaluating.evaluate_qrels, QRELS, {**RUN, "r": {"a": bad}})
        yield "from_qrels", partial(evaluating.evaluate_qrels, {**QRELS, "r": {"a": bad}}, RUN)
        if bad is not None:  # a null score is valid: it marks a document that is only judged
            yield "from_frames", partial(evaluating.evaluate_frames, COLUMNS_OF_BOTH | {"score": [1.0, 2.0, bad]})
        yield "judgments", partial(rg.judgments, {"q": {"a": 1, "b": bad}})
        yield "from_recommendations", partial(evaluating.evaluate_recommendations, [{"a": bad}], [["a", "b"]])
    for sizes in ([3], [3, -1], [2, "3"]):
        yield "from_scores", partial(rg.from_scores, GRADES, SCORES, group_sizes=sizes)
    for ids in (["a", None, "a"], ["a", 1, "b"], [1, 2**63, 3], ["a", "\ud800", "b"], "abc"):
        yield "from_frames", partial(evaluating.evaluate_frames, COLUMNS_OF_BOTH | {"doc_id": ids}, query="qid")
        yield "from_frames", partial(evaluating.evaluate_frames, COLUMNS_OF_BOTH | {"qid": ids})
        yield "from_recommendations", partial(rg.from_recommendations, [["a"]], [ids] if ids != "abc" else ids)
    for run in ({"q": {"a": 1, "x": 1, 2: 1}}, {"z": {}}, {"q": [1]}, 5):
        yield "from_qrels", partial(evaluating.evaluate_qrels, QRELS, run)
        yield "evaluate", partial(rg.evaluate, QRELS, run, "ndcg@5")
    for lines in (b"q Q0 d 1 x t\n", b"q Q0\n", b"q Q0 a 1 2 t\nq Q0 a 2 1 t\n", b"q Q0 a 1 nan t\n", b""):
        yield "read_trec", partial(evaluating.evaluate_lines, b"q 0 a 1\n", lines)
    for metric in ("ndgc", "ndcg@0", "ndcg(gain=cubic)", None):
        yield "Rankings.evaluate", partial(matched.evaluate, metric)
        yield "Rankings.curve", partial(ranked.curve, metric)
        yield "Rankings.tie_spread", partial(matched.tie_spread, metric)
        yield "metric", partial(rg.metric, metric)
        yield "explain", partial(rg.explain, metric)
        yield "plot", partial(rg.plot, ranked, metrics=[metric])
        yield "lambdarank", partial(training.lambda_rank, metric=metric)
        yield "scorer", partial(training.scorer, metric)
        for kind in ("metric", "objective"):
            given = [metric] if kind == "metric" else metric
            yield f"lightgbm_{kind}", partial(getattr(training, f"lightgbm_{kind}"), given)
            yield f"xgboost_{kind}", partial(getattr(training, f"xgboost_{kind}"), given)
        yield "catboost_metric", partial(training.catboost_metric, metric)
    for name in ("lightgbm_metric", "xgboost_metric", "lightgbm_objective", "xgboost_objective", "catboost_metric"):
        yield name, partial(getattr(training, name), scores=[NAN] * 5)
    for option, bad in {"sigma": 0, "discount": "x", "y_score": [NAN] * 5, "group_sizes": [2], "ties": "x"}.items():
        yield "lambdarank", partial(rg.lambdarank, **{"y_true": GRADES, "y_score": SCORES, option: bad})
        yield "LambdaRank", partial(training.lambda_rank, **{option: bad})

    yield from (("Rankings.under", partial(ranked.under, **{rule: "x"})) for rule in ("ties", "missing", "score_bits"))
    yield from (("Rankings.limited", partial(matched.limited, depth=depth)) for depth in (0, "x"))
    for weights in ([1], [1, NAN], [0, 0], {"q": 1}, 3):
        for method in ("mean", "aggregate", "flat"):
            yield f"Evaluation.{method}", partial(getattr(result, method), weights=weights)
        for method in ("means", "aggregate"):
            yield f"Comparison.{method}", partial(getattr(comparison, method), weights=weights)
    yield from (("Evaluation.subset", partial(result.subset, queries)) for queries in (["x"], [True], 7))
    yield from (("Evaluation.merge", partial(result.merge, other)) for other in (result, [result], 3))
    yield from (("Summary.merge", partial(summary.merge, other)) for other in ("x", matched.evaluate("ap").summary()))
    yield from (("Summary.from_json", partial(rg.Summary.from_json, text)) for text in ("", "{}", "[" * 999))
    for name, method, argument in [
        ("Summary.mean", summary.mean, "ap"),
        ("Metric.at", rg.metric("ndcg").at, 0),
        ("TieSpread.affected", matched.tie_spread("rr").affected, "ap"),
        ("Curve.interval", curve.interval, 95),
        ("Curve.plot", curve.plot, 5),
        ("Comparison", rg.Comparison, {"one": None}),
        ("Comparison.best", comparison.best, "ap"),
        ("Evaluation.interval", result.interval, "ap"),
        ("Rankings.attribution", matched.attribution, "rr"),
        ("Rankings.bounds", matched.bounds, "bpref"),
        ("Evaluation.worst", result.worst, "ap"),
        ("Summary.interval", summary.interval, "ap"),
    ]:
        yield name, partial(method, argument)
    yield from (("Rankings.calculation", partial(matched.calculation, "rr", query)) for query in ("x", None))
    records = comparison, result, summary, matched.tie_spread("rr"), matched.calculation("rr", "q")
    for record, export in product((*records, matched.attribution("rr", like="ranx")), ("to_markdown", "to_latex")):
        yield f"{type(record).__name__}.{export}", partial(getattr(record, export), digits=-1)
    for rows in ([{"query_id": "q", "relevant": [None, "a"], "retrieved": ["a"]}], [{"a": 1}], 5):
        yield "from_rows", partial(rg.from_rows, rows)
    alike = [rg.metric("cg", gain=gain) for gain in (lambda grades: grades, lambda grades: 2 * grades)]
    yield "Comparison.to_pandas", rg.Comparison({"one": ranked.evaluate(*alike)}).to_pandas
    for run in ({"x": {"a": 1.0}}, {"q": {"a": NAN}}, 5):
        yield "similarity", partial(rg.similarity, RUN, run)
        yield "changes", partial(rg.changes, RUN, run)
    yield from (("agreement", partial(rg.agreement, QRELS, other)) for other in ({"x": {"a": 1}}, {"q": {"a": NAN}}, 5))
    llm = rg.compare(QRELS, {"run": RUN}, "rr")
    yield from (("Comparison.corrected_by", partial(llm.corrected_by, other)) for other in (QRELS, {"x": {"a": 1}}, 5))
    yield from (
        ("compare", partial(rg.compare, QRELS, runs, "rr")) for runs in ([RUN], {"a": 5}, {"a": {"q": {"a": NAN}}})
    )


def refused_by_c(s):
    """Yield (name, call) pairs for the C functions that reject arrays whose second half is NaN."""
    from rankgain import capi

    def call(name):
        results = C_CALLS[name](wrong)
        statuses = [status for status, _ in (results if isinstance(results, list) else [results])]
        if any(statuses):
            raise ValueError(statuses)

    wrong = copy(s)
    wrong.grade, wrong.score = s.grade.copy(), {form: scores.copy() for form, scores in s.score.items()}
    for numbers in (wrong.grade, *wrong.score.values()):
        numbers[len(numbers) // 2 :] = np.nan
    for name in C_CALLS:
        if f"capi.rankgain_{name}" not in NO_STATUS:
            yield f"capi.rankgain_{name}", partial(call, name)
    yield "capi.address", partial(capi.address, "rankgain_nothing")


def attempt(call):
    """Make a call that must raise an exception."""
    try:
        call()
    except Exception:
        return
    raise AssertionError(f"not refused: {call}")


@contextmanager
def prepared():
    """Yield a dict of the calls by (name, "answered" or "refused"), and all objects that the calls use.

    Each call has been made once.
    """
    with (
        patch.object(every, "MANY", 24),
        patch.object(every, "LISTS", 4),
        patch.object(read_files, "BLOCK", 2048),
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
    ):
        shared = Shared(Data(4, 12))
        calls_by_name = defaultdict(list)
        for name, call in answered(shared):
            calls_by_name[name, "answered"].append(call)
        for name, call in [
            *refused(),
            *(refused_by_c(shared) if find_spec("rankgain._compiled.walk") else ()),
        ]:
            calls_by_name[name, "refused"].append(partial(attempt, call))
        for calls in calls_by_name.values():
            repeat(calls, 1, 0)
        given = reachable(shared, calls_by_name, METRICS, KS)
        # Some calls create a class, for which the interpreter's attribute cache holds references to names of functions.
        given = [one for one in given if not isinstance(one, str) or one not in CALLS]
        gc.collect()
        gc.freeze()  # the collector can skip objects that already exist
        try:
            yield calls_by_name, given
        finally:
            gc.unfreeze()


# tests


@pytest.fixture
def calls(backend):
    with prepared() as prepared_calls:
        yield prepared_calls


@freed_at_all
@pytest.mark.slow
def test_calls_leave_nothing_behind(calls):
    calls_by_name, given = calls
    for name, kind in calls_by_name:
        if name not in DRAWN:
            n_calls, left = growth(calls_by_name[name, kind], given, TIMES, BRIEFLY)
            assert not left, f"{name}, {kind}: {n_calls} times, each: {left}"


@pytest.mark.slow
def test_calls_leave_nothing_to_the_collector(calls):
    """Reference cycles would keep arrays in memory until the garbage collector runs, which may take a long time."""
    calls_by_name, _ = calls
    left = set()
    for name, kind in calls_by_name:
        repeat(calls_by_name[name, kind], 2, 0)
        gc.collect()
        gc.disable()
        repeat(calls_by_name[name, kind], 1, 0)
        gc.enable()
        if gc.collect():
            left.add(name)
    assert left <= {*LEFT_TO_THE_COLLECTOR}


@pytest.mark.slow
def test_refused_calls_cover_each_function(calls):
    def takes(name):
        one = rg
        for part in name.split("."):
            one = inspect.getattr_static(one, part) if isinstance(one, type) else getattr(one, part)
        return callable(one) and {*inspect.signature(one).parameters} - {"self"}

    calls_by_name, _ = calls
    takers = {name for name in CALLS if not name.startswith("capi.") and takes(name)} - {*MADE}
    assert takers <= {name for name, kind in calls_by_name if kind == "refused"}


if find_spec("rankgain._compiled.walk"):

    @pytest.mark.slow
    def test_memory_error_of_scratch_leaves_nothing_behind():
        """Scratch memory is allocated in several pieces. If one allocation fails, the other pieces are freed."""
        from rankgain._compiled.walk import Program, run

        def call():
            with pytest.raises(MemoryError, match=r"^a query of \d+ documents is ordered in \d+ MiB, which"):
                run(program, rules, chunk, np.zeros((0, 1)), 0)

        none, program = np.zeros(0, np.int64), Program([], [], 9, 1, 0.0)
        rules = Rules("average").codes
        judged, returned = np.array([0]), np.array([1 << 44])
        ids = 8, np.zeros(0, np.uint8), none, none
        chunk = COLUMNS, 0, 1, *ids, judged, judged, np.zeros(0), *ids, judged, returned, None, False
        _, left = growth([call], [], TIMES, BRIEFLY)
        assert not left


# command-line use


def main(times):
    """Print a line for each function, and return whether any of them left something behind."""
    failed, start = [], time.perf_counter()
    with prepared() as (calls_by_name, given):
        total = sum(map(len, calls_by_name.values()))
        for (name, kind), calls in calls_by_name.items() if times > 1 else ():
            for _ in range(2):  # a leak shows both times, unlike memory that is allocated only once
                before, began = process_bytes(), time.perf_counter()
                done, left = growth(calls, given, times // len(calls), SECONDS)
                grown, took = process_bytes() - before, time.perf_counter() - began
                if grown <= LARGEST:
                    break
            print(
                f"{name:45} {kind:8} {done * len(calls):7} calls {took:6.1f} s {grown // 1024:6} kB",
                left or "",
                flush=True,
            )
            total += done * len(calls)
            if name not in DRAWN and (left or grown > LARGEST):
                failed.append(name)
    took = time.perf_counter() - start
    print(f"{len(calls_by_name)} functions, {total} calls on {_backend.name} in {took:.0f} s")
    print(f"left something behind: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
