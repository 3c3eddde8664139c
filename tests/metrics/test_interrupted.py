"""During the evaluation of a query with millions of documents, Ctrl-C takes effect between two terms."""

import _thread
import signal
import sys
import threading

import numpy as np
import pytest

import rankgain as rg
from rankgain.metrics import program

pytestmark = pytest.mark.both  # only the compiled backend has to check for interrupts

DOCUMENTS = 1_100_000
TERMS = 2000  # enough for several seconds


@pytest.fixture
def heard():
    """Make Ctrl-C raise KeyboardInterrupt even in background processes, which ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def one_at_a_time():
    """Prevent threads from taking the GIL before the running thread releases it."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    yield
    sys.setswitchinterval(interval)


def long_query(form):
    grades = 1.0 + np.arange(DOCUMENTS) % 2
    if form == "ranked":
        return rg.from_ranked(grades)
    return rg.from_scores(grades, np.zeros(DOCUMENTS))


@pytest.mark.parametrize("form", ["ranked", "tied"])
@pytest.mark.usefixtures("heard", "one_at_a_time")
def test_a_long_query_is_interrupted_between_terms(monkeypatch, form):
    """The second thread interrupts the evaluation when the GIL is first released."""
    rankings = long_query(form)
    metrics = [f"ap(rel={1 + index / TERMS})" for index in range(1, TERMS)]
    begun, filled = threading.Lock(), []

    def walking(plan, compiled, source, codes, out, counts_judged, start, stop):
        out[:] = -1.0
        filled.append(out)
        begun.release()
        return walk(plan, compiled, source, codes, out, counts_judged, start, stop)

    def interrupt():
        begun.acquire()
        _thread.interrupt_main()

    walk = program._walk
    monkeypatch.setattr(program, "_walk", walking)
    begun.acquire()
    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        rankings.evaluate(*metrics)
    other.join()
    assert (filled[0] == -1.0).all()  # values are written only after the last term
