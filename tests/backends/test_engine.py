"""The compiled and Python engines find the same hits, whatever the form of the input.

They also pass the same grades to callables.
"""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sides import columns, qrels_lines, run_lines
from support.strategies import cutoffs, grades

import rankgain as rg
from rankgain import _codes
from rankgain.data.rules import Rules
from rankgain.rankings import parts_of

pytestmark = pytest.mark.both


def test_chunk_size_does_not_change_values(on_both, monkeypatch):
    """Reading queries in chunks gives the same hits and counts as reading them all at once, for all forms of input."""
    grades, scores = [[0, 1, 2], [0], [2, 0, 1, 1]], [[1, 1, 0], [2], [0, 3, 0, 0]]
    sides = [
        {f"q{q}": {f"d{d}": value for d, value in enumerate(row)} for q, row in enumerate(rows)}
        for rows in (grades, scores)
    ]
    rankings_of_each_form = [
        rg.from_ranked(grades, judged=[[2, 2], [0], [2, 1, 1, 1]]),
        rg.from_scores(grades, scores),
        rg.from_scores(np.concatenate(grades), np.concatenate(scores).astype(float), group_sizes=[3, 1, 4]),
        rg.from_qrels(*sides),
        rg.from_qrels(rg.judgments({"x": {"d": 1}} | sides[0]), sides[1], missing="skip"),
        rg.from_frames(columns(sides[0]), columns(sides[1], value="score")),
        rg.read_trec(BytesIO(qrels_lines(sides[0])), BytesIO(run_lines(sides[1]))),
    ]
    gain = rg.metric("ndcg", k=2, gain=lambda grades: 2.0 * grades + 1.0)
    metrics = "dcg", "idcg@2", "rr@2", "judged@1", "num_ret", gain

    def values(rankings):
        results = on_both(lambda: rankings.evaluate(*metrics))
        return [([vector.tolist() for vector in result.values()], result.counts) for result in results]

    for rankings in rankings_of_each_form:
        together, python = values(rankings)
        assert python == together
        assert python[1]["empty"] == 1
        with monkeypatch.context() as patch:
            patch.setattr("rankgain.data.source.CHUNK", 1)
            assert sum(1 for _ in parts_of(rankings)[0].chunks()) == 3
            assert values(rankings) == [together] * 2


FUNCTIONS = {
    "cg": rg.cg,
    "dcg": rg.dcg,
    "idcg": rg.idcg,
    "ndcg": rg.ndcg,
    "rr": rg.reciprocal_rank,
    "precision": rg.precision,
    "recall": rg.recall,
    "ap": rg.average_precision,
    "success": rg.hit_rate,
}


@given(st.lists(st.lists(grades, max_size=20), min_size=1, max_size=3), cutoffs)
def test_functions_in_rank_order_have_the_bits_of_the_engine(on_both, lists, k):
    for name, function in FUNCTIONS.items():
        metric = rg.metric(name, k=k)
        for vector in on_both(lambda metric=metric: rg.from_ranked(lists).evaluate(metric)[metric]):
            assert [function(row, k=k) for row in lists] == vector.tolist() == function(lists, k=k).tolist(), name


def test_callable_gain_gets_the_same_arrays_on_both_backends(on_both):
    """A callable gain receives the distinct grades that a metric reads, in descending order.

    These are the returned grades down to the cut-off, and the judged grades if the metric needs them.
    """

    def values():
        seen = []

        def gain(grades):
            seen.append(grades.tolist())
            return 2.0 * grades + 1.0

        qrels = {"a": {"d1": 1, "d2": 3, "d3": -1, "d4": 2, "d5": 0, "d6": 3}, "b": {"d1": 2}}
        run = {"a": {"d1": 3.0, "d3": 2.0, "d5": 1.5, "d2": 1.0}, "b": {}}
        rankings = rg.from_qrels(qrels, run)
        metrics = [rg.metric("dcg", k=2, gain=gain), rg.metric("ndcg", k=3, gain=gain)]
        rankings.evaluate(*metrics)  # creating the terms also calls the gain, with grade 0
        del seen[:-3]
        out = [vector.tolist() for vector in rankings.evaluate(*metrics).values()]
        return out, seen

    compiled, python = on_both(values)
    assert compiled == python
    expected = [[1.0, 0.0], [3.0, 2.0, 1.0, 0.0], [2.0]]
    assert python[1][:3] == python[1][-3:] == expected
    assert {*map(tuple, python[1][3:-3])} == {(0.0,)}


@pytest.mark.parametrize("bad", [2, None])
def test_callable_gain_is_not_called_from_the_first_invalid_query_on(on_both, bad):
    """The gain is called neither for the first invalid query nor for any later query.

    An invalid gain in an earlier query is reported first.
    """
    rows = [[1, 0], [3, 1], [2, -1], [1, 1]]

    def seen():
        calls = []

        def gain(grades):
            calls.append(grades.tolist())
            return np.where(grades == 3.0, np.nan if bad is None else 9.0, grades)

        with pytest.raises(ValueError, match="query") as refused:
            rg.from_ranked(rows).evaluate(rg.metric("cg", gain=gain))
        return calls[-2:], str(refused.value)

    compiled, python = on_both(seen)
    assert compiled == python
    assert python[0] == [[1.0], [3.0, 1.0]]
    assert python[1].startswith(
        "relevance: query 1, position 0: gain returned nan"
        if bad is None
        else "relevance: query 2, position 1: the grade is neg"
    )


def test_exception_of_a_callable_gain_is_raised_unchanged(on_both):
    """An error in an earlier query is raised first."""

    def gain(grades):
        if grades[0] == 3.0:
            raise KeyError("no gain")
        return np.where(grades == 2.0, np.nan, grades)

    for rows, error, message in (
        ([[1, 0], [3, 1], [1, -1]], KeyError, "no gain"),
        ([[1, -1], [3, 1]], ValueError, "query 0, position 1: the grade is neg"),
        ([[1], [2], [3]], ValueError, r"query 1, position 0: gain returned nan for the grade 2\.0"),
    ):

        def text(rows=rows, error=error, message=message):
            with pytest.raises(error, match=message) as raised:
                rg.from_ranked(rows).evaluate(rg.metric("cg", gain=gain))
            return str(raised.value)

        compiled, python = on_both(text)
        assert compiled == python


@pytest.mark.parametrize(
    ("grades", "scores", "where"),
    [
        ([1, -1, 0], [1.0, np.nan, 0.0], "position 1: the score is NaN"),
        ([1, 0, -1], [1.0, np.nan, 0.0], "position 1: the score is NaN"),
        ([1, -1, 0], [1.0, 0.0, np.nan], "position 1: the grade is negative"),
        ([-1, 1, 0], [0.0, 1.0, np.nan], "position 0: the grade is negative"),
    ],
)
def test_invalid_score_is_named_before_the_invalid_grade_of_its_document(on_both, grades, scores, where):
    """The error names the first invalid position, and names the score if both score and grade are invalid there."""

    def refused():
        with pytest.raises(ValueError, match=where):
            rg.from_scores(grades, scores).evaluate("rr")

    on_both(refused)


def test_discount_needs_a_rank_per_judged_document_with_a_gain(on_both):
    rankings = rg.from_ranked([[1, 1, 1]], judged=[[1] * 4])
    for options in ({"k": 3}, {"ideal": "returned"}):
        metric = rg.metric("ndcg", discount=[1.0, 0.5, 0.25], **options)
        assert on_both(lambda metric=metric: rankings.evaluate(metric).mean(metric)) == [1.0] * 2


def test_condensed_list_keeps_judged_documents(on_both):
    """The list is condensed to its judged documents first, and then cut to the first two of them."""
    qrels = {"a": {"d1": 1, "d2": 0, "d3": 1, "d4": 2}}
    run = {"a": {"x": 9.0, "d2": 8.0, "y": 7.0, "d1": 6.0, "d3": 5.0, "z": 4.0}}
    part = rg.from_qrels(qrels, run).limited(judged_only=True).limited(depth=2)
    compiled, python = on_both(lambda: part.evaluate("num_ret", "num_rel_ret", "precision", "rr").mean())
    assert compiled == python == {"num_ret": 2.0, "num_rel_ret": 1.0, "precision": 0.5, "rr": 0.5}


@pytest.mark.parametrize("gain", ["linear", {1: 1}])
@pytest.mark.parametrize("name", ["dcg", "ndcg"])
def test_discount_may_end_at_the_cutoff(on_both, name, gain):
    metric = rg.metric(name, k=3, discount=[1.0, 0.5, 0.25], gain=gain)
    for rankings in (rg.from_ranked([[1, 0, 1, 1, 0]]), rg.from_ranked([[1, 0, 1]], judged=[[1] * 3 + [0] * 4])):
        compiled, python = on_both(lambda rankings=rankings: rankings.evaluate(metric).mean(metric))
        assert compiled == python == (1.25 if name == "dcg" else 1.25 / 1.75)


def test_repeated_irrelevant_id_takes_a_rank_per_repetition(on_both):
    rankings = rg.from_recommendations([{1}], [[7, 7, 1]])
    assert on_both(lambda: rankings.evaluate("rr", "num_ret").mean()) == [{"rr": 1 / 3, "num_ret": 3.0}] * 2


def test_documents_beyond_the_capacity_take_the_general_path():
    """The fast path of `pytrec_eval` returns None for a query with more documents than its capacity."""
    from rankgain._compiled import walk as kernels

    judged, program = kernels.JudgmentDicts([{"d": 1.0}]), kernels.Program([], [], 1, 1, 0.0)
    rules = Rules("average").codes
    for most, result in ((0, None), (1, {"q": {}})):
        assert kernels.rows(program, rules, judged, {"q": 0}, {"q": {"d": 1.0}}, (), most) == result


def test_strided_buffers_are_rejected_by_the_engine():
    """The compiled engine rejects strided buffers, although its callers never pass them."""
    from rankgain._compiled import walk as kernels

    program = kernels.Program([], [], 1, 1, 0.0)
    rules, grades = Rules("average").codes, np.zeros(4)
    offsets = np.array([0, 9, 4, 9])
    for chunk, out in ((offsets[::2], np.empty((1, 1))), (offsets[::2].copy(), np.empty((2, 4))[:, ::2])):
        with pytest.raises(BufferError):
            kernels.run(program, rules, (_codes.LISTS, 0, 1, grades, chunk, 0, None, None, None, 0), out, 0)


def test_repeated_ids_of_a_long_query_are_detected(on_both):
    numbers = np.random.default_rng(1).permutation(np.arange(1, 20_001, dtype=np.int64) << 33)

    def evaluated(documents):
        try:
            return rg.from_recommendations([[1]], [documents], validate="full").evaluate("rr").mean()
        except ValueError as error:
            return str(error)

    assert on_both(lambda: evaluated(numbers)) == [{"rr": 0.0}] * 2
    for message in on_both(lambda: evaluated(np.append(numbers[:-1], numbers[0]))):
        assert "(position 19999): the document repeats" in message


def test_grades_below_the_cutoff_are_not_checked(on_both):
    """The functions ignore grades below the cut-off, whatever the gain, whereas `from_ranked` checks all grades."""
    for gain in ("linear", "exponential", {1: 2}, np.sqrt):
        for function in (rg.dcg, rg.cg):
            compiled, python = on_both(lambda g=gain, f=function: f([[1.0, -1.0], [1.0, np.nan]], k=1, gain=g).tolist())
            assert compiled == python == [2.0 if gain == {1: 2} else 1.0] * 2


def test_hits_of_files_equal_those_of_dicts(on_both):
    """Files and dicts agree even on metrics that count documents above different grades."""
    qrels, run = b"q 0 a 0\nq 0 b 1\nq 0 c -1\n", b"q Q0 c 0 3 t\nq Q0 a 0 2 t\nq Q0 b 0 1 t\n"
    rankings = rg.read_trec(BytesIO(qrels), BytesIO(run))
    expected = {"num_rel_ret": 1.0, "judged@2": 0.5, "rr": 1 / 3, "bpref": 0.0}
    expected["infap"] = 1 / 3 + 2 / 3 * (0.00001 / 1.00002)  # all higher-ranked documents are pooled; none is relevant
    for name, value in expected.items():
        assert on_both(lambda name=name: rankings.evaluate(name).mean(name)) == pytest.approx([value] * 2, rel=1e-12)
