"""The two halves of the engine, compiled and in Python: a query has the same hits, whatever it came in, and callables
are asked about the same grades."""

from functools import partial
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import TIES

import rankgain as rg
from rankgain import _codes
from rankgain._codes import UNLIMITED
from rankgain.rankings import parts_of

pytestmark = pytest.mark.both

# Metrics that look no deeper than a depth, in the list and in what is judged, and at no other grades than they count:
# relevant ones, all that are judged, or pooled ones, too.
depths = st.integers(1, 12).map("@{}".format) | st.just("")
looks = st.builds(
    lambda depth, judged_depth, counts: [f"dcg{depth}", f"rr{depth}", f"idcg{judged_depth}", *counts],
    depths,
    depths,
    depths.map(lambda depth: [f"judged{depth}"]) | st.sampled_from([[], ["bpref"], ["infap"]]),
)
cuts = st.none() | st.integers(1, 12)


def limited(rankings, depth, judged_only, bits):
    """Rankings by rules of their own, as far as they have such."""
    if rankings.ties not in (None, "stable", "docid"):
        depth = None
    if rankings.ties is not None and bits is not None:
        rankings = rankings.under(score_bits=bits)
    return rankings.limited(depth=depth, judged_only=judged_only) if depth or judged_only else rankings


def outcome(make, limits, metrics):
    """The metrics of rankings, to the bit, but those that the policy refuses; or the error."""
    try:
        rankings = limited(make(), *limits)
        metrics = [name for name in metrics if rankings.ties != "average" or name != "infap"]
        result = rankings.evaluate(*metrics)
    except ValueError as error:
        return type(error), str(error)
    return {name: vector.tobytes() for name, vector in result.items()}, result.counts


rules = st.tuples(cuts, st.booleans(), st.sampled_from([None, 32]))


@st.composite
def lists(draw):
    """Grades, scores and judged grades of a few queries, with ties of every size; now and then one is no good."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.sampled_from([0, 1, 2, 5, 40, 70, 300, 900]), min_size=1, max_size=5))
    levels = draw(st.sampled_from([1, 2, 7, 1000, 10**9]))
    scale = draw(st.sampled_from([1.0, 1.0, 0.37, 30.0]))
    share = draw(st.sampled_from([0.02, 0.3, 1.0]))
    dtype = draw(st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.uint8]))
    bad = draw(st.sampled_from([None, None, "grade", "score", "both", "judged"]))

    def grades(n):
        return (np.where(rng.random(n) < share, rng.integers(0, 5, n), 0) * scale).astype(dtype)

    own, judged = [grades(n) for n in sizes], [np.append(grades(n // 2), 3).astype(dtype) for n in sizes]
    scores = [rng.integers(0, levels, n) / 7.0 - 1.0 for n in sizes]
    place = int(np.argmax(sizes))
    if bad and sizes[place]:
        if bad in ("grade", "both") and dtype != np.uint8:
            own[place][rng.integers(sizes[place])] = -1
        if bad in ("score", "both"):
            scores[place][rng.integers(sizes[place])] = np.nan
        if bad == "judged" and dtype != np.uint8:
            judged[place][-1] = -1
    return own, scores, judged


def flat(rows):
    return np.concatenate([np.empty(0, rows[0].dtype), *rows])


@given(lists(), st.sampled_from([None, *TIES]), st.booleans(), rules, looks)
def test_hits_of_lists_agree(on_both, held, ties, beside, limits, look):
    own, scores, judged = held
    given = {"judged": judged if beside else None}

    def rankings():
        if ties is None:
            return rg.from_ranked(own, **given)
        return rg.from_scores(flat(own), flat(scores), group_sizes=list(map(len, own)), ties=ties, **given)

    compiled, python = on_both(lambda: outcome(rankings, limits, look))
    assert compiled == python


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 9), st.booleans(), looks)
def test_hits_of_matrices_agree(on_both, seed, queries, columns, scored, look):
    """Rows stand side by side without offsets, and so do judged ones beside them, of another width."""
    rng = np.random.default_rng(seed)
    grades, scores = rng.integers(0, 4, (queries, columns)), rng.integers(0, 3, (queries, columns)) / 2.0
    judged = rng.integers(0, 9, (queries, columns + 3))
    rankings = rg.from_scores(grades, scores, judged=judged) if scored else rg.from_ranked(grades, judged=judged)
    look = [name for name in [*look, "num_ret"] if name != "infap" or not scored]
    compiled, python = on_both(lambda: [vector.tolist() for vector in rankings.evaluate(*look).values()])
    assert compiled == python
    assert python[-1] == [columns] * queries


KINDS = {
    "text": ["", "d", "d1", "d10", "d2", "d" * 8, "d" * 9, "d" * 40, "é", "\uffff", "\U00010000", "x", "y", "z"],
    "bytes": [b"", b"\0", b"d", b"\xff" * 8, b"\x80", b"a", b"b", b"c", b"d1", b"d2"],
    "ints": [0, 1, -1, 2**63 - 1, -(2**63), 2**62, 255, 256, 3, 4, 5, 6],
}


@st.composite
def tables(draw):
    """qrels and a run by query and document, of one kind of ids; now and then one number is no good."""
    kind = draw(st.sampled_from(list(KINDS)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    documents = [*KINDS[kind], *(range(1000, 1100) if kind == "ints" and draw(st.booleans()) else ())]
    levels = draw(st.sampled_from([1, 2, 5, 1000]))
    queries = ["q1", "q2", "q3"][: draw(st.integers(1, 3))]

    def side(share, numbers):
        return {
            query: {documents[i]: numbers() for i in rng.permutation(len(documents)) if rng.random() < share}
            for query in queries
        }

    qrels = side(draw(st.sampled_from([0.1, 0.5, 1.0])), lambda: float(rng.integers(-1, 4)))
    run = side(draw(st.sampled_from([0.5, 1.0])), lambda: float(rng.integers(levels)) - 1.0)
    for held in (qrels, run):
        if draw(st.integers(0, 15)) == 9 and held[queries[-1]]:
            held[queries[-1]][next(iter(held[queries[-1]]))] = np.nan
    return kind, qrels, run


def columns(side, name):
    rows = [(query, *row) for query, own in side.items() for row in own.items()]
    return dict(zip(("query_id", "doc_id", name), map(list, zip(*rows, strict=True)), strict=True))


def lines(side, form):
    return BytesIO("".join(form.format(q, d, v) for q, own in side.items() for d, v in own.items()).encode())


@given(tables(), st.sampled_from(["judged", "full"]), rules, looks)
def test_documents_with_ids(on_both, sides, validate, limits, look):
    kind, qrels, run = sides
    lists = [list(own) for own in run.values()]
    forms = [
        lambda ties: rg.from_qrels(qrels, run, ties=ties),
        lambda ties: rg.from_qrels(dict(reversed(qrels.items())), run | {"q9": {}}, ties=ties, missing="skip"),
    ]
    if all(map(dict.__len__, [*qrels.values(), *run.values()])):
        frames = columns(qrels, "relevance"), columns(run, "score")
        forms.append(lambda ties: rg.from_frames(*frames, ties=ties, validate=validate))
        if kind == "ints":
            run_lines = lines(run, "{} Q0 {} 0 {} t\n").getvalue()
            forms.append(lambda ties: rg.read_trec(lines(qrels, "{} 0 {} {}\n"), BytesIO(run_lines), ties=ties))
    made = [partial(form, ties) for form in forms for ties in (*TIES, "docid")] + [
        lambda: rg.from_recommendations(lists, [*qrels.values()], validate=validate),
        lambda: rg.from_recommendations({**dict(zip(qrels, lists, strict=True))}, qrels, validate=validate),
    ]
    for make in made:
        compiled, python = on_both(lambda make=make: outcome(make, limits, look))
        assert compiled == python


def test_a_chunk_of_its_own_for_each_query(on_both, monkeypatch):
    """A chunk that begins later has its queries as they are among all, whatever they came in."""
    grades, scores = [[0, 1, 2], [1], [2, 0, 1, 1]], [[1, 1, 0], [2], [0, 3, 0, 0]]
    sides = [
        {f"q{q}": {f"d{d}": value for d, value in enumerate(row)} for q, row in enumerate(rows)}
        for rows in (grades, scores)
    ]
    frames = columns(sides[0], "relevance"), columns(sides[1], "score")
    made = [
        rg.from_ranked(grades, judged=[[2, 2], [1], [2, 1, 1, 1]]),
        rg.from_scores(grades, scores),
        rg.from_scores(np.concatenate(grades), np.concatenate(scores).astype(float), group_sizes=[3, 1, 4]),
        rg.from_qrels(*sides),
        rg.from_qrels(rg.judgments({"x": {"d": 1}} | sides[0]), sides[1], missing="skip"),
        rg.from_frames(*frames),
        rg.read_trec(lines(sides[0], "{} 0 {} {}\n"), lines(sides[1], "{} Q0 {} 0 {} t\n")),
    ]
    gain = rg.metric("ndcg", k=2, gain=lambda grades: 2.0 * grades + 1.0)
    metrics = "dcg", "idcg@2", "rr@2", "judged@1", "num_ret", gain

    def values(rankings):
        return on_both(lambda: [vector.tolist() for vector in rankings.evaluate(*metrics).values()])

    for rankings in made:
        together, python = values(rankings)
        assert python == together
        with monkeypatch.context() as patch:
            patch.setattr("rankgain.data.source.CHUNK", 1)
            assert sum(1 for _ in parts_of(rankings)[0].chunks()) == 3
            assert values(rankings) == [together] * 2


def test_what_a_callable_is_given(on_both):
    """The distinct grades that a term looks at, highest first: to its depth, and judged where it looks at those."""

    def values():
        seen = []

        def gain(grades):
            seen.append(grades.tolist())
            return 2.0 * grades + 1.0

        qrels = {"a": {"d1": 1, "d2": 3, "d3": -1, "d4": 2, "d5": 0, "d6": 3}, "b": {"d1": 2}}
        run = {"a": {"d1": 3.0, "d3": 2.0, "d5": 1.5, "d2": 1.0}, "b": {}}
        rankings = rg.from_qrels(qrels, run)
        made = [rg.metric("dcg", k=2, gain=gain), rg.metric("ndcg", k=3, gain=gain)]
        rankings.evaluate(*made)  # whether grade 0 has a gain is asked when terms are made
        del seen[:-3]
        out = [vector.tolist() for vector in rankings.evaluate(*made).values()]
        return out, seen

    compiled, python = on_both(values)
    assert compiled == python
    asked = [[1.0, 0.0], [3.0, 2.0, 1.0, 0.0], [2.0]]
    assert python[1][:3] == python[1][-3:] == asked
    assert {*map(tuple, python[1][3:-3])} == {(0.0,)}


@pytest.mark.parametrize("bad", [2, None])
def test_a_callable_is_not_asked_at_or_after_what_is_refused(on_both, bad):
    """Neither about a query that is not sound nor about one behind it; and what it gave for one before is refused."""
    rows = [[1, 0], [3, 1], [2, -1], [1, 1]]

    def seen():
        asked = []

        def gain(grades):
            asked.append(grades.tolist())
            return np.where(grades == 3.0, np.nan if bad is None else 9.0, grades)

        with pytest.raises(ValueError, match="query") as refused:
            rg.from_ranked(rows).evaluate(rg.metric("cg", gain=gain))
        return asked[-2:], str(refused.value)

    compiled, python = on_both(seen)
    assert compiled == python
    assert python[0] == [[1.0], [3.0, 1.0]]
    assert python[1].startswith(
        "relevance: query 1, position 0: gain returned nan"
        if bad is None
        else "relevance: query 2, position 1: the grade is neg"
    )


def test_what_a_callable_raises(on_both):
    """Behind what is wrong with what it gave before; and of all that was found earlier nothing is lost."""

    def gain(grades):
        if grades[0] == 2.0:
            raise KeyError("no gain")
        return grades

    for rows, error in (([[1, 0], [2, 1], [1, -1]], KeyError), ([[1, -1], [2, 1]], ValueError)):

        def text(rows=rows, error=error):
            with pytest.raises(error) as raised:
                rg.from_ranked(rows).evaluate(rg.metric("cg", gain=gain))
            return str(raised.value)

        compiled, python = on_both(text)
        assert compiled == python


@pytest.mark.parametrize("gain", [{1: 5, 2: 1, 3: 0}, {0: 4, 1: 2, 2: 9, 3: 9}])
@pytest.mark.parametrize("ties", [*TIES, "docid"])
def test_tables_that_fall(on_both, gain, ties):
    """The gains of a tie group, and of what is judged, are sorted anew."""
    qrels = {"a": {f"d{i}": (0, 3, 1, 2, 3, 1, 3, 2, 3, 3, 2, 1)[i] for i in range(12)} | {"p": -1}, "b": {"x": 1}}
    run = {"a": {f"d{i}": float(i // 5) for i in range(9)} | {"p": 1.0}, "b": {}}
    names = ["cg", "dcg", "ndcg", "idcg", "ncg", "r_ndcg", *([] if ties == "average" else ["g", "ndcg_rel"])]
    made = [rg.metric(name, gain=gain) for name in names] + [rg.metric("ndcg", gain=gain, ideal="returned")]
    made += [] if ties == "average" else [rg.metric("infap")]  # for which pooled documents are hits
    made += [rg.metric(name, k=k, gain=gain) for name in names[:5] for k in (1, 3, 4)]
    compiled, python = on_both(
        lambda: [vector.tolist() for vector in rg.from_qrels(qrels, run, ties=ties).evaluate(*made).values()]
    )
    assert compiled == python


def test_a_score_is_refused_before_the_grade_beside_it(on_both):
    """Of what is wrong the first position is named, and there the score; of scores behind it nothing is said."""
    nan = np.nan
    for grades, scores, where in (
        ([1, -1, 0], [1.0, nan, 0.0], "position 1: the score is NaN"),
        ([1, 0, -1], [1.0, nan, 0.0], "position 1: the score is NaN"),
        ([1, -1, 0], [1.0, 0.0, nan], "position 1: the grade is negative"),
        ([-1, 1, 0], [0.0, 1.0, nan], "position 0: the grade is negative"),
    ):
        rankings = rg.from_scores(grades, scores)
        for kind, message in on_both(lambda rankings=rankings: outcome(lambda: rankings, (None, False, None), ["rr"])):
            assert kind is ValueError
            assert where in message


def test_of_judged_documents_those_that_count_need_a_discount(on_both):
    rankings = rg.from_ranked([[1, 1, 1]], judged=[[1] * 4])
    for options in ({"k": 3}, {"ideal": "returned"}):
        made = rg.metric("ndcg", discount=[1.0, 0.5, 0.25], **options)
        assert on_both(lambda made=made: rankings.evaluate(made).mean(made)) == [1.0] * 2


def test_what_is_left_of_a_condensed_list(on_both):
    """Of three judged documents two count: they are all that was returned."""
    qrels = {"a": {"d1": 1, "d2": 0, "d3": 1, "d4": 2}}
    run = {"a": {"x": 9.0, "d2": 8.0, "y": 7.0, "d1": 6.0, "d3": 5.0, "z": 4.0}}
    part = rg.from_qrels(qrels, run).limited(judged_only=True).limited(depth=2)
    compiled, python = on_both(lambda: part.evaluate("num_ret", "num_rel_ret", "precision", "rr").mean())
    assert compiled == python == {"num_ret": 2.0, "num_rel_ret": 1.0, "precision": 0.5, "rr": 0.5}


@pytest.mark.parametrize("gain", ["linear", {1: 1}])
@pytest.mark.parametrize("name", ["dcg", "ndcg"])
def test_a_cut_off_needs_no_more_discounts(on_both, name, gain):
    """Nor does the list behind it."""
    made = rg.metric(name, k=3, discount=[1.0, 0.5, 0.25], gain=gain)
    for rankings in (rg.from_ranked([[1, 0, 1, 1, 0]]), rg.from_ranked([[1, 0, 1]], judged=[[1] * 3 + [0] * 4])):
        compiled, python = on_both(lambda rankings=rankings: rankings.evaluate(made).mean(made))
        assert compiled == python == (1.25 if name == "dcg" else 1.25 / 1.75)


def test_an_id_that_is_not_relevant_takes_a_rank_each_time(on_both):
    made = rg.from_recommendations([[7, 7, 1]], [{1}])
    assert on_both(lambda: made.evaluate("rr", "num_ret").mean()) == [{"rr": 1 / 3, "num_ret": 3.0}] * 2


def test_more_documents_than_rows_are_made_of():
    """The short path of `pytrec_eval` leaves them to the general one; the pure half leaves all."""
    from rankgain._compiled import walk as kernels

    judged, program = kernels.JudgmentDicts([{"d": 1.0}]), kernels.Program([], [], 1, 1, 0.0)
    rules = 0, False, UNLIMITED, False, UNLIMITED
    for most, result in ((0, None), (1, {"q": {}})):
        assert kernels.rows(program, rules, judged, {"q": 0}, {"q": {"d": 1.0}}, (), most) == result


def test_buffers_that_are_not_contiguous():
    """Sources never pass them; the compiled half refuses them all the same."""
    from rankgain._compiled import walk as kernels

    program = kernels.Program([], [], 1, 1, 0.0)
    rules, grades = (0, False, UNLIMITED, False, UNLIMITED), np.zeros(4)
    offsets = np.array([0, 9, 4, 9])
    for chunk, out in ((offsets[::2], np.empty((1, 1))), (offsets[::2].copy(), np.empty((2, 4))[:, ::2])):
        with pytest.raises(BufferError):
            kernels.run(program, rules, (_codes.LISTS, 0, 1, grades, chunk, 0, None, None, None, 0), out, 0)


def test_more_relevant_ids_than_are_few(on_both):
    many = set(range(5000))
    compiled, python = on_both(lambda: rg.from_recommendations([[1, 9999]], [many]).evaluate("rr", "num_rel").mean())
    assert compiled == python == {"rr": 1.0, "num_rel": 5000.0}


def test_repeated_numbers_of_a_long_query(on_both):
    numbers = np.random.default_rng(1).permutation(np.arange(1, 20_001, dtype=np.int64) << 33)

    def evaluated(documents):
        try:
            return rg.from_recommendations([documents], [[1]], validate="full").evaluate("rr").mean()
        except ValueError as error:
            return str(error)

    assert on_both(lambda: evaluated(numbers)) == [{"rr": 0.0}] * 2
    for message in on_both(lambda: evaluated(np.append(numbers[:-1], numbers[0]))):
        assert "(position 19999): the document repeats" in message


def test_a_discount_that_rises_has_no_bound(on_both):
    made = [rg.metric(name, discount=[0.5, 1.0]) for name in ("ndcg", "r_ndcg")]
    compiled, python = on_both(lambda: [own.tolist() for own in rg.from_ranked([[0, 1]]).evaluate(*made).values()])
    assert compiled == python
    assert python[0] == [2.0]


def test_what_lies_beyond_the_cut_off_is_not_looked_at(on_both):
    """By a function, whatever the gain; from_ranked looks at all."""
    for gain in ("linear", "exponential", {1: 2}, np.sqrt):
        for function in (rg.dcg, rg.cg):
            compiled, python = on_both(lambda g=gain, f=function: f([[1.0, -1.0], [1.0, np.nan]], k=1, gain=g).tolist())
            assert compiled == python == [2.0 if gain == {1: 2} else 1.0] * 2


def test_hits_of_files(on_both):
    """All judged documents that were returned stand there; each metric counts those above a grade of its own."""
    qrels, run = b"q 0 a 0\nq 0 b 1\nq 0 c -1\n", b"q Q0 c 0 3 t\nq Q0 a 0 2 t\nq Q0 b 0 1 t\n"
    rankings = rg.read_trec(BytesIO(qrels), BytesIO(run))
    expected = {"num_rel_ret": 1.0, "judged@2": 0.5, "rr": 1 / 3, "bpref": 0.0}
    expected["infap"] = 1 / 3 + 2 / 3 * (0.00001 / 1.00002)  # all above were pooled, and of the judged one none counts
    for name, value in expected.items():
        assert on_both(lambda name=name: rankings.evaluate(name).mean(name)) == pytest.approx([value] * 2, rel=1e-12)


def test_callables_in_several_chunks(on_both, monkeypatch):
    """Each writes what it has found where it belongs, and counts the queries of which nothing is relevant."""
    rows = [[0, 0], [1, 2], [0], [3, 0, 1], [0, 0], [2]]
    made = rg.metric("cg", gain=lambda grades: 2.0 * grades)
    for chunk in (1 << 18, 2):
        monkeypatch.setattr("rankgain.data.source.CHUNK", chunk)
        for result in on_both(lambda: rg.from_ranked(rows).evaluate(made)):
            assert result[made].tolist() == [0.0, 6.0, 0.0, 8.0, 0.0, 4.0]
            assert result.counts["empty"] == 3


def test_what_a_callable_gave_is_refused_before_what_it_raises(on_both):
    def gain(grades):
        if grades[0] == 3.0:
            raise KeyError("no gain")
        return np.where(grades == 2.0, np.nan, grades)

    def refused():
        with pytest.raises(ValueError, match=r"query 1, position 0: gain returned nan for the grade 2\.0") as error:
            rg.from_ranked([[1], [2], [3]]).evaluate(rg.metric("cg", gain=gain))
        return str(error.value)

    compiled, python = on_both(refused)
    assert compiled == python
