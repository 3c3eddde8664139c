"""Nothing is kept of a call that is over: not of one that was answered, nor of one that was refused half way.

Each call is made again and again, and what is held afterwards is compared with what was held before: references to all
that was passed, objects that the collector knows, blocks of Python's memory, bytes of C's.

    python tests/test_leaks.py 100000    as many calls of each, but no longer than SECONDS; and the process as a whole
    python tests/test_leaks.py 1         one of each, to watch the memory from outside
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
from pathlib import Path
from types import FunctionType, ModuleType
from unittest.mock import patch

import numpy as np
import pytest
from support import calls as every
from support.calls import C_CALLS, CALLS, FRAMES, HERE, KS, METRICS, Data, Shared, answer, bits
from support.marks import freed_at_all
from support.refusals import all_rows

import rankgain as rg
import rankgain.pytrec_eval
import rankgain.sklearn
from rankgain import _backend
from rankgain._codes import COLUMNS, UNLIMITED
from rankgain.data import files as read_files
from rankgain.data.rules import TIES
from rankgain.metrics import table as definitions

TIMES, BRIEFLY = 200, 0.01  # calls of each in a test, and seconds where they are slow, but …
FEWEST = 10  # … as many as this in any case
SECONDS = 5  # of the processor
ROUNDS = 7  # each of twice the calls: what a call leaves behind is there after each, but a cache grows at first
UNITS = {"objects": 1, "blocks of Python's memory": 1, "words of C's": 16}
LARGEST = 1 << 20  # bytes by which the process may grow meanwhile
IMMORTAL = 1 << 28  # references: more than can be held

DRAWN = {"plot", "Curve.plot"}  # not judged: matplotlib's own caches grow for a thousand calls
LEFT_TO_THE_COLLECTOR = {
    **dict.fromkeys(DRAWN, "the parts of a figure know each other"),
    "catboost_metric": "a class of its own, as CatBoost shows its name",
    "from_frames": "classes of ctypes, one for each length of a buffer",
}


NO_STATUS = [
    f"capi.rankgain_{name}" for name in ("discount", "message", "scratch_size", "lambda_scratch_size")
]  # have no data to refuse
MADE = (
    "Attribution",
    "Calculation",
    "Curve",
    "Evaluation",
    "Explanation",
    "Judgments",
    "Metric",
    "Rankings",
    "Summary",
    "TieSpread",
)  # by functions that check


# what is held


class Malloc(ctypes.Structure):
    """What glibc says of its memory."""

    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "mapped", "usmblks", "fsmblks")),
        *((name, ctypes.c_size_t) for name in ("used", "unused", "keepcost")),
    ]


mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None) if sys.platform == "linux" else None
if mallinfo:
    mallinfo.restype = Malloc


def c_bytes():
    """What C code asked for and has not given back; 0 where the C library does not count it."""
    held = mallinfo() if mallinfo else Malloc()
    return held.used + held.mapped


def process_bytes():
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    return 0


def reachable(*roots):
    """The objects that calls are given: containers, records of rankgain and of the tests, and all that they hold."""
    found, left = {}, [*roots]
    while left:
        one = left.pop()
        if id(one) in found or isinstance(one, (type, ModuleType, FunctionType)):
            continue
        found[id(one)] = one
        record = type(one).__module__.startswith(("rankgain", "tests", "support"))
        if record or isinstance(one, (dict, list, tuple, set, frozenset, partial)):
            left += gc.get_referents(one)
    # From Python 3.12 on None and others live for ever, and what was compiled for 3.11 still counts references to them.
    return [one for one in found.values() if sys.getrefcount(one) < IMMORTAL]


def books(given, references):
    """What is held: the references are written where there is room already, so that nothing is held for that."""
    gc.collect()
    for place, one in enumerate(given):
        references[place] = sys.getrefcount(one)
    return len(gc.get_objects()), sys.getallocatedblocks(), c_bytes()


def repeat(calls, times, seconds, fewest=FEWEST):
    """Make all calls so many times, or so long, and say how often that was."""
    stop = time.process_time() + seconds
    for done in range(1, times + 1):
        for call in calls:
            call()
        if done >= fewest and time.process_time() > stop:
            break
    return done


def growth(calls, given, times, seconds):
    """How often the calls were made, and what they left behind each time, in every round: whole numbers."""
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


# what is called


def answered(shared):
    """Pairs of a name and a call: CALLS, every metric under every policy for ties, and what stands in for peers."""
    yield from ((name, partial(answer, name, shared)) for name in HERE if name != "from_frames")
    yield from ((name, partial(getattr(rg, name), [1.0] * 300)) for name in ("dcg", "idcg", "ndcg"))
    frames = shared.truth_columns, shared.columns
    for make in [dict, *(make for module, make in FRAMES.items() if find_spec(module))]:
        # made anew, for pandas keeps something for each look at a frame
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


def refused():
    """Pairs of a name and a call, of the table of refusals: one of each message, of few documents."""
    chosen = {}
    for case in all_rows():
        if all(map(is_small, [*case.args, *case.options.values()])):
            chosen.setdefault((case.name, case.expected, case.parts[0]), case)
    return [(name, case) for (name, *_), case in chosen.items()]


def is_small(value, most=1000):
    """Whether it holds few numbers, and was not made by pandas, which keeps something for each look at a frame."""
    if type(value).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow"):
        return False
    if isinstance(value, (list, tuple, dict)):
        return len(value) < most and all(map(is_small, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, np.ndarray) or value.size < most


def refused_by_c(s):
    """Pairs of a name and a call for the C functions, which refuse by a status: of NaN from the middle on."""
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
    """Make a call that must be refused."""
    try:
        call()
    except Exception:
        return
    raise AssertionError(f"not refused: {call}")


@contextmanager
def prepared():
    """The calls of each function by (name, "answered" or "refused"), made once, and all objects that they are given."""
    with (
        patch.object(every, "MANY", 24),
        patch.object(every, "LISTS", 4),
        patch.object(read_files, "BLOCK", 2048),
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
    ):
        shared = Shared(Data(4, 12))
        made = defaultdict(list)
        for name, call in answered(shared):
            made[name, "answered"].append(call)
        for name, call in [
            *refused(),
            *(refused_by_c(shared) if find_spec("rankgain._compiled.walk") else ()),
        ]:
            made[name, "refused"].append(partial(attempt, call))
        for calls in made.values():
            repeat(calls, 1, 0)
        given = reachable(shared, made, METRICS, KS)
        # The interpreter's cache of attributes holds names of functions, once per class, and some calls make a class.
        given = [one for one in given if not isinstance(one, str) or one not in CALLS]
        gc.collect()
        gc.freeze()  # what is there by now need not be looked at each time
        try:
            yield made, given
        finally:
            gc.unfreeze()


# tests


@pytest.fixture
def calls(backend):
    with prepared() as held:
        yield held


@freed_at_all
@pytest.mark.slow
def test_calls_leave_nothing_behind(calls):
    made, given = calls
    for name, kind in made:
        if name not in DRAWN:
            done, left = growth(made[name, kind], given, TIMES, BRIEFLY)
            assert not left, f"{name}, {kind}: {done} times, each: {left}"


@pytest.mark.slow
def test_nor_do_they_leave_it_to_the_collector(calls):
    """Arrays would stay until it comes, which may take long."""
    made, _ = calls
    left = set()
    for name, kind in made:
        repeat(made[name, kind], 2, 0)
        gc.collect()
        gc.disable()
        repeat(made[name, kind], 1, 0)
        gc.enable()
        if gc.collect():
            left.add(name)
    assert left <= {*LEFT_TO_THE_COLLECTOR}


@pytest.mark.slow
def test_each_function_that_takes_something_is_refused_something(calls):
    def takes(name):
        one = rg
        for part in name.split("."):
            one = inspect.getattr_static(one, part) if isinstance(one, type) else getattr(one, part)
        return callable(one) and {*inspect.signature(one).parameters} - {"self"}

    made, _ = calls
    takers = {name for name in CALLS if not name.startswith("capi.") and takes(name)} - {*MADE}
    assert takers <= {name for name, kind in made if kind == "refused"}


if find_spec("rankgain._compiled.walk"):

    @pytest.mark.slow
    def test_scratch_that_cannot_be_had():
        """It is reserved in several pieces, of which the others are given back."""
        from rankgain._compiled.walk import Program, run

        def call():
            with pytest.raises(MemoryError, match=r"^a query of \d+ documents is ordered in \d+ MiB, which"):
                run(program, rules, chunk, np.zeros((0, 1)), 0)

        none, program = np.zeros(0, np.int64), Program([], [], 9, 1, 0.0)
        rules = TIES["average"], False, UNLIMITED, False, UNLIMITED
        judged, returned = np.array([0]), np.array([1 << 44])
        ids = 8, np.zeros(0, np.uint8), none, none
        chunk = COLUMNS, 0, 1, *ids, judged, judged, np.zeros(0), *ids, judged, returned, None, False
        _, left = growth([call], [], TIMES, BRIEFLY)
        assert not left


# the long way


def main(times):
    """A line for each function, and 1 if anything was left behind."""
    failed, start = [], time.perf_counter()
    with prepared() as (made, given):
        total = sum(map(len, made.values()))
        for (name, kind), calls in made.items() if times > 1 else ():
            for _ in range(2):  # what is left behind grows again; the room that the first of a kind takes does not
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
    print(f"{len(made)} rows, {total} calls on {_backend.name} in {took:.0f} s")
    print(f"left something behind: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
