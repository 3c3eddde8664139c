"""Compiled and pure Python: equal bits, and errors of equal type and text, on what the textbook is too slow for."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TIES, cutoffs, depths, discounts, empties, gains, named_gains, rels

import rankgain as rg
from rankgain import _backend
from rankgain import rankings as rankings_module
from rankgain.batch import Needs
from rankgain.discounts import Discount
from rankgain.metrics import cut_off

pytestmark = pytest.mark.both

FIELDS = ["returned", "hit_offsets", "hit_grade", "hit_first", "hit_last"]
FIELDS += ["judged_offsets", "judged_grade", "judged_count"]


def outcome(function):
    """What a call gave, in bits, or the type and text of what it raised."""
    try:
        result = function()
    except Exception as error:
        return type(error), str(error)
    if isinstance(result, float):
        return struct.pack("d", result)
    if isinstance(result, np.ndarray):
        return result.tobytes()
    return {str(name): vector.tobytes() for name, vector in result.items()}, result.counts


def agree(on_both, function):
    compiled, python = on_both(lambda: outcome(function))
    assert compiled == python
    return compiled


wild = st.floats(width=64) | st.sampled_from([1024.0, 1023.5, 1e308, -0.0, 5e-324])
any_grades = st.lists(st.integers(0, 5).map(float) | wild, max_size=9)


@given(
    any_grades, any_grades, cutoffs, named_gains | st.sampled_from([{1: 2}, [0.5, 1]]), discounts, st.booleans(), rels
)
def test_functions(on_both, relevance, more, k, gain, discount, cut, rel):
    judged = None if cut else relevance + more
    agree(on_both, lambda: rg.gain(relevance, gain))
    agree(on_both, lambda: rg.dcg(relevance, k=k, gain=gain, discount=discount))
    agree(on_both, lambda: rg.idcg(relevance, k=k, gain=gain, discount=discount))
    agree(on_both, lambda: rg.ndcg(relevance, k=k, gain=gain, discount=discount, judged=judged))
    agree(on_both, lambda: rg.ndcg(relevance, k=k, gain=gain, discount=discount, judged=more))
    agree(on_both, lambda: rg.ndcg([relevance, more], k=k, judged=[more, relevance], ideal="returned", empty=0.5))
    agree(on_both, lambda: rg.reciprocal_rank(relevance, k=k, rel=rel))
    agree(on_both, lambda: rg.reciprocal_rank([relevance, more], k=k, rel=rel))
    agree(on_both, lambda: rg.cg([relevance, more], k=k, gain=gain))


@st.composite
def corpora(draw):
    """Flat grades, scores and group sizes of a few queries of up to some hundred documents, of every shape of ties."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.sampled_from([0, 1, 2, 5, 40, 70, 300]), min_size=1, max_size=6))
    n = sum(sizes)
    levels = draw(st.sampled_from([1, 2, 7, 1000, 10**9]))
    scores = rng.integers(0, levels, n) / 7.0 - draw(st.sampled_from([0, 1]))
    scores[rng.random(n) < draw(st.sampled_from([0, 0.1]))] = -np.inf
    shape = draw(st.sampled_from(["as drawn", "rising", "falling", "float32"]))
    if shape == "float32":
        scores = scores.astype(np.float32)
    elif shape != "as drawn":
        scores = np.sort(scores)[:: 1 if shape == "rising" else -1].copy()
    share = draw(st.sampled_from([0.02, 0.3, 1.0]))
    grades = np.where(rng.random(n) < share, rng.integers(0, 5, n), 0).astype(float)
    if draw(st.booleans()):
        grades *= rng.choice([1.0, 0.37, 30.0], n)
    return grades, scores, sizes


@given(corpora(), depths, depths, st.booleans(), st.sampled_from(TIES))
def test_the_batch_itself(on_both, corpus, depth, judged_depth, zeros, ties):
    grades, scores, sizes = corpus
    rankings = rg.from_scores(grades, scores, group_sizes=sizes, ties=ties)

    def fields():
        batch = rankings.batch(0, len(sizes), Needs(depth, judged_depth, zeros))
        return {name: getattr(batch, name).tolist() for name in FIELDS}

    compiled, python = on_both(fields)
    assert compiled == python


@given(corpora(), st.sampled_from(TIES), st.lists(cutoffs, min_size=1, max_size=4), gains, discounts, rels, empties)
def test_scores(on_both, corpus, ties, ks, gain, discount, rel, empty):
    grades, scores, sizes = corpus
    rankings = rg.from_scores(grades, scores, group_sizes=sizes, ties=ties)
    metrics = [rg.metric("ndcg", k=k, gain=gain, discount=discount, empty=empty) for k in ks]
    metrics += [rg.metric("ndcg", k=k, ideal="returned") for k in ks] + [rg.metric("rr", k=k, rel=rel) for k in ks]
    agree(on_both, lambda: rankings.evaluate(*metrics, "cg", "dcg@50", "idcg@7"))


@given(corpora(), st.lists(cutoffs, min_size=1, max_size=3), gains)
def test_ranked(on_both, corpus, ks, gain):
    grades, _, sizes = corpus
    lists = np.split(grades, np.cumsum(sizes)[:-1])
    metrics = [rg.metric(name, k=k, gain=gain) for name in ("ndcg", "dcg", "idcg") for k in ks]
    agree(on_both, lambda: rg.from_ranked(lists, judged=lists[::1]).evaluate(*metrics, "rr@3"))


identifiers = st.sampled_from(["d1", "d2", "d10", "é", "", "\ud800", 1, 2, -3, b"d1", (1, 2), 2.5, True])
values = st.sampled_from([0, 1, 2, 3, 0.5, -1, 1.0, np.float32(0.5), np.int64(2), True, 2**70])
bad_values = st.sampled_from(["x", None, float("nan"), float("inf"), 10**400, 1j, np.float64("nan")])


@st.composite
def dicts(draw, kinds):
    def documents(of):
        return st.dictionaries(of, values, max_size=12)

    one_kind = st.sampled_from([i for i in kinds if isinstance(i, str)])
    side = st.dictionaries(st.sampled_from("abc"), documents(one_kind) | documents(st.sampled_from(kinds)), max_size=3)
    qrels, run = draw(side), draw(side)
    if draw(st.integers(0, 3)) == 0 and qrels:
        query = draw(st.sampled_from(sorted(qrels)))
        (qrels if draw(st.booleans()) else run).setdefault(query, {})["bad"] = draw(bad_values)
    return qrels, run


KINDS = ["d1", "d2", "d10", "é", "", "\ud800", "z", "y", 1, 2, -3, b"d1", (1, 2), 2.5]


@given(dicts(KINDS), st.sampled_from([*TIES, "docid"]), cutoffs, gains, st.sampled_from(["zero", "skip"]))
def test_qrels(on_both, sides, ties, k, gain, missing):
    metrics = [rg.metric("ndcg", k=k, gain=gain), rg.metric("rr", k=k), rg.metric("rr", rel=0), rg.metric("dcg")]
    agree(on_both, lambda: rg.from_qrels(*sides, ties=ties, missing=missing).evaluate(*metrics))


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 50, 10**6]), st.sampled_from([*TIES, "docid"]), cutoffs)
def test_long_dicts(on_both, seed, levels, ties, k):
    rng = np.random.default_rng(seed)
    run = {f"d{i}": float(s) for i, s in zip(rng.permutation(400), rng.integers(0, levels, 400), strict=True)}
    qrels = {f"d{i}": int(g) for i, g in zip(rng.permutation(500)[:60], rng.integers(-1, 4, 60), strict=True)}
    metrics = [rg.metric("ndcg", k=k), rg.metric("rr", k=k, rel=2), rg.metric("dcg", gain=[0.25, 1, 2, 4])]
    agree(on_both, lambda: rg.from_qrels({"q": qrels}, {"q": run}, ties=ties).evaluate(*metrics))


numbers = st.sampled_from(
    ["1", "-2", "0.5", ".5", "5.", "1e3", "-1.5E-7", "+3", "123456789012345678901234567890", "0.1234567890123456789",
     "999999999999999", "0.000000000000001", "nan", "inf", "-Infinity", "x", "1_0", "", "-", ".", "1e", "0x1", "١",
     "-0"]
)  # fmt: skip
words = st.sampled_from(["q1", "q2", "Q0", "d1", "d2", "d3", "é"]) | numbers
spaces = st.sampled_from([" ", "\t", "  ", "\r", "\x0b", "\x0c", "\xa0"])


@st.composite
def lines(draw, value_field, usual):
    count = draw(st.sampled_from([usual] * 8 + [0, 1, usual - 1, usual + 1]))
    fields = [draw(words) for _ in range(count)]
    if count > value_field and draw(st.integers(0, 5)):
        fields[value_field] = draw(numbers)
    return draw(st.sampled_from(["", " "])) + "".join(field + draw(spaces) for field in fields)


def scanned(name, data):
    """What a scan finds: the fault, or the rows with their queries, documents and values."""
    data = np.frombuffer(data, dtype=np.uint8)
    most = len(data) + 1
    starts, ends, runs, totals = (np.empty(size, dtype=np.int64) for size in (most, most, 5 * most, 3))
    values = np.empty(most)
    fault = getattr(_backend.columns, name)(data, starts, ends, values, runs, totals)
    if fault is not None:
        return fault
    rows, count, lines = totals.tolist()
    found = starts[:rows].tolist(), ends[:rows].tolist(), values[:rows].tolist(), runs[: 5 * count].tolist(), lines
    return repr(found)


comments = st.sampled_from(["#", " # q1 0 d1 1", "#q1 Q0 d1 1 1 t"])


@given(
    st.lists(lines(4, 6) | comments, max_size=6),
    st.lists(lines(3, 4) | comments, max_size=6),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
    st.booleans(),
)
def test_files(on_both, run_lines, qrels_lines, end, ended):
    for name, texts in (("scan_run", run_lines), ("scan_qrels", qrels_lines)):
        data = (end.join(texts) + (end if ended else "")).encode()
        compiled, python = on_both(lambda name=name, data=data: scanned(name, data))
        assert compiled == python


@given(st.floats(allow_nan=False), st.sampled_from(["{!r}", "{:.3f}", "{:.6e}", "{:.17g}", "{:+.2f}"]))
def test_numbers_in_files_are_exact(on_both, number, form):
    text = form.format(number)
    compiled, python = on_both(lambda: scanned("scan_run", f"q Q0 d 1 {text} tag".encode()))
    assert compiled == python
    assert f"[{float(text)!r}]" in python


def test_discounts_beyond_the_table(on_both):
    """A table ends after 65,536 ranks; what lies deeper is computed on the way, with the same bits."""
    relevance = np.zeros(70_000)
    relevance[[3, 65_535, 65_536, 69_999]] = 1, 2, 3, 4
    for discount in ("log2", "zipf", "jarvelin:3"):
        value = agree(on_both, lambda kind=discount: rg.dcg(relevance, discount=kind))
        by_rank = rg.discount(70_000, discount)
        total = sum((relevance[i] * by_rank[i] for i in (3, 65_535, 65_536, 69_999)), 0.0)
        assert struct.unpack("d", value)[0] == total
        scored = rg.from_scores(relevance, -np.arange(70_000.0))
        metric = rg.metric("dcg", discount=discount)
        agree(on_both, lambda rankings=scored, asked=metric: rankings.evaluate(asked))
        assert scored.evaluate(metric)[metric][0] == total


@pytest.mark.parametrize("kind", ["log2", "zipf", "jarvelin:10"])
def test_tables_do_not_depend_on_what_was_asked_before(on_both, kind):
    for depth in (1, 5000, 3):
        compiled, python = on_both(lambda depth=depth: Discount.of(kind).table(cut_off(depth))[:depth].tolist())
        assert compiled == python == rg.discount(depth, kind).tolist()


def test_chunks_do_not_show(on_both, monkeypatch):
    rng = np.random.default_rng(5)
    sizes = rng.integers(0, 30, 200)
    n = int(sizes.sum())
    rankings = rg.from_scores(rng.integers(0, 4, n), rng.integers(0, 9, n), group_sizes=sizes)
    whole = agree(on_both, lambda: rankings.evaluate("ndcg@10", "rr"))
    monkeypatch.setattr(rankings_module.Rankings.chunks, "__defaults__", (7,))
    assert sum(1 for _ in rankings.chunks()) > 50
    assert agree(on_both, lambda: rankings.evaluate("ndcg@10", "rr")) == whole
