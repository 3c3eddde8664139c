"""The kernels give the same results on both backends for input that an evaluation rarely or never passes to them."""

import io
import itertools
import math
import struct
from importlib import import_module

import numpy as np
import pytest
from support.engine import found_in_lists
from support.marks import in_one_case

import rankgain as rg
from rankgain import _backend
from rankgain._codes import AVERAGE, CHANGED, LISTS, LOG2, ZIPF
from rankgain.data.groups import QueryRows
from rankgain.data.ids import ids_of, python_ids
from rankgain.data.lines import QRELS, columns_for
from rankgain.metrics import discounts, program
from rankgain.metrics.table import TABLE
from rankgain.rankings import parts_of


@pytest.mark.usefixtures("backend")
def test_chunks_of_empty_queries_have_empty_values():
    """Without queries no value is returned; a query without documents has a value for every metric."""
    metrics = [name for name, row in TABLE.items() if not row.unaveraged]
    for rankings in (rg.from_ranked(np.empty((0, 3))), rg.from_scores(np.empty((0, 3)), np.empty((0, 3)))):
        assert all(
            not len(vector) for vector in rankings.evaluate(*TABLE if rankings.ties is None else metrics).values()
        )
    empty = rg.from_scores([[]], [[]]).evaluate(*metrics).mean()
    assert math.isnan(empty.pop("gauc"))  # a query without documents has no weight
    assert {name for name, value in empty.items() if value} == {"rbp_residual", "num_q"}


@pytest.mark.usefixtures("backend")
def test_chunks_without_queries():
    """Without queries, the kernels find no hits and write no values."""
    nothing, offsets = np.empty(0), np.zeros(1, dtype=np.int64)
    assert found_in_lists(_backend.walk, nothing, None, offsets)["returned"] == []
    functions = _backend.lists.ListFunctions(False, np.ones(1), LOG2, 0.0, 1, False, 0.0, 0.0)
    assert functions.fill("dcg", (LISTS, 0, 0, nothing, offsets, 0, None, None, None, 0), nothing) is None


@pytest.mark.usefixtures("backend")
def test_functions_of_no_lists_return_empty_arrays():
    for function in (rg.cg, rg.dcg, rg.idcg, rg.ndcg, rg.reciprocal_rank):
        for lists in ([], np.empty((0, 4)), np.empty((0, 0))):
            assert np.shape(function(lists)) in [(0,), ()]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("arranged", [list, sorted])
def test_lists_summed_together_have_separate_sums(arranged):
    """Lists that are summed together have separate sums, whatever the lengths of lists and ideal rankings."""
    rng = np.random.default_rng(3)
    lists = [rng.integers(0, 4, size).astype(float) for size in arranged(rng.integers(1, 9, 120))]
    for number in (5, 70):
        lists[number][0] = 9.5
    judged = [np.append(relevance, rng.integers(0, 4, rng.integers(0, 5))) for relevance in lists]
    for ideal, k in itertools.product(("judged", "returned"), (None, 3)):
        many = rg.ndcg(lists, judged=judged, ideal=ideal, k=k)
        for relevance, truth, value in zip(lists, judged, many.tolist(), strict=True):
            ranks = min(k or len(truth), len(relevance) if ideal == "returned" else len(truth))
            assert value == rg.ndcg(relevance, judged=truth, ideal=ideal, k=k)
            best = rg.dcg(np.sort(truth)[::-1], k=ranks)
            assert value == pytest.approx(rg.dcg(relevance, k=k) / best if best else 0.0, rel=1e-12)
    assert rg.idcg(judged).tolist() == [rg.idcg(relevance) for relevance in judged]


@pytest.mark.both
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.uint8])
def test_lists_summed_together_have_the_same_bits_at_each_cpu_level(cpu, dtype):
    for lists, size in itertools.product((4, 7, 16, 33), (3, 8, 21)):
        grades = np.random.default_rng(size).integers(0, 5, (lists, size)).astype(dtype)
        assert rg.dcg(grades).tolist() == [rg.dcg(row) for row in grades.astype(float).tolist()]
        for position in () if dtype is np.uint8 else (0, size - 1):
            wrong = grades.copy()
            wrong[lists // 2, position] = -1
            with pytest.raises(ValueError, match=f"query {lists // 2}, position {position}.*negative"):
                rg.dcg(wrong)
        if dtype is np.int64:
            grades[lists // 2, size // 2] = 1 << 53  # too large for the vector code
            assert rg.dcg(grades).tolist() == [rg.dcg(row) for row in grades.astype(float).tolist()]


@pytest.mark.usefixtures("backend")
@in_one_case("size", [5, 12, 16, 20, 64, 600, 2000])
@pytest.mark.parametrize("grades", [[0.5, 1.5], np.linspace(0.1, 0.9, 97)])
def test_highest_grade_of_unusual_grades(size, grades):
    relevance = np.random.default_rng(size).choice(grades, size)
    for k in (1, 2, 3, size // 5, size):
        best = rg.dcg(np.sort(relevance)[::-1], k=k)
        assert rg.idcg(relevance, k=k) == pytest.approx(best, rel=1e-12)
        assert rg.from_ranked([relevance]).evaluate(f"idcg@{k}").mean() == pytest.approx({f"idcg@{k}": best})


@pytest.mark.usefixtures("backend")
def test_string_views_of_every_length_compare_by_content():
    """Strings of up to 12 bytes are stored in the view itself; longer ones must end within their buffer."""
    text = bytes(range(65, 105))
    for size in range(len(text) + 1):
        prefix, long = text[:size], text[len(text) - size :]
        view = struct.pack("<i12s", size, prefix) if size <= 12 else struct.pack("<i4sii", size, long, 0, 40 - size)
        beyond = struct.pack("<i4sii", size, long, 0, 41 - size)
        data, starts, ends = np.zeros(2 * size, np.uint8), *np.zeros((2, 2), np.int64)
        buffers = [np.frombuffer(text, np.uint8)]
        views = np.frombuffer(view + (beyond if size > 12 else view), np.uint8)
        broken = _backend.columns.copy_views(views, buffers, data, starts, ends)
        assert broken == (1 if size > 12 else None), f"views of {size} bytes"
        assert (starts[0], ends[0], data[:size].tobytes()) == (0, size, prefix if size <= 12 else long)


@pytest.mark.usefixtures("backend")
@in_one_case("length", range(1, 41))
def test_ids_that_differ_in_one_byte_are_different(length):
    """The id of a row is compared with the id of the previous row word by word, not by its hash."""
    ids = ["a" * length]
    for position in range(length):
        ids += ["a" * position + "b" + "a" * (length - position - 1), "a" * length]
    lines = "".join(f"{query} 0 d{row} 1\n" for row, query in enumerate(ids))
    for names in (QueryRows.of(ids_of(ids)).names, rg.judgments(io.BytesIO(lines.encode())).query_ids):
        assert list(names) == list(dict.fromkeys(ids))


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("kind", [LOG2, ZIPF])
@pytest.mark.parametrize("tabled", range(6))
def test_ideal_beyond_the_table_of_discounts(kind, tabled, monkeypatch):
    """Discounts beyond the precomputed table have the same bits, whatever the length of the table."""
    monkeypatch.setattr(program, "LONGEST_TABLE", tabled)
    monkeypatch.setattr(program, "SHORTEST_TABLE", tabled)
    monkeypatch.setattr(discounts, "LONGEST_TABLE", max(tabled, 1))
    table, name = np.empty(5), {LOG2: "log2", ZIPF: "zipf"}[kind]
    _backend.sums.fill_discount(kind, 2.0, table)
    plan = program.Plan([rg.metric("idcg", k=k, discount=name) for k in (1, 3, 4, 9)])
    source, rules = parts_of(rg.from_ranked([3.0, 3.0, 0.1, 0.1, 0.1]))
    out, _ = program.fill(plan, source, rules)
    sums = np.cumsum(np.array([3.0, 3.0, 0.1, 0.1, 0.1]) * table).tolist()
    assert out[:, 0].tolist() == [sums[0], sums[2], sums[3], sums[4]]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("beta", [1e-9, 2.0])
def test_pooled_documents_in_a_tie_group_have_gain_0(beta):
    """A negative grade in a tie group counts as gain 0.

    This case does not occur in evaluations.
    """
    engine, outs = _backend.walk, np.empty((2, 4, 1))
    metrics = [rg.metric("q_measure", k=k, beta=beta, rel=2) for k in range(1, 5)]
    needed = program.Plan(metrics).program(4)
    for worthless, out in zip((0.0, -3.0), outs, strict=True):
        hits = np.array([2.0, 1.0, worthless]), np.array([1, 1, 1]), np.array([4, 4, 4])
        judged = np.array([0, 1]), np.array([2.0]), np.array([1])
        arguments = np.array([4]), np.array([0, 3]), *hits, *judged, [None] * 3, out, 0
        assert engine.metrics_from_hits(needed, AVERAGE, 1, *arguments) == 0
    assert outs[0].tolist() == outs[1].tolist()
    assert outs[0, 0, 0] == pytest.approx(1 / 4 * (1 + 2 * beta) / (1 + 2 * beta))


@pytest.mark.usefixtures("backend")
def test_dcg_above_the_ideal_by_rounding_is_accepted():
    """The sum 1.1 + 1.3 + 1.5 exceeds 1.5 + 1.3 + 1.1 by a rounding error; the regret is then 0, not negative."""
    gains = [1.1, 1.3, 1.5]
    total_gain, ideal = (np.cumsum(order)[-1] for order in (gains, gains[::-1]))
    assert total_gain > ideal
    missed = [1.5 - 1.1, (1.5 + 1.3) - (1.1 + 1.3), 0.0]
    total = 0.0
    for gain, behind in zip(gains, missed, strict=True):
        total += gain / math.log2(2.0 + behind)
    assert rg.from_ranked(gains).evaluate("g")["g"].tolist() == [total / ideal]


@pytest.mark.both  # Python's memoryview does not support these formats
def test_buffers_with_native_and_standard_type_codes_are_read_alike():
    """The kernels accept both "<d", the format from ctypes, and "@d", a format that memoryviews may have.

    In normal use, `lists.NATIVE` keeps such buffers from the kernels.
    """
    kernels = import_module("rankgain._compiled.walk")
    doubles = np.array([0.0, 3.0, 1.0])
    for form in ("<f8", "<i4", "<f4"):
        array = np.ctypeslib.as_array(np.ctypeslib.as_ctypes(doubles.astype(form)))
        for grades in (array, memoryview(array.tobytes()).cast("@" + memoryview(array).format[-1])):
            result = found_in_lists(kernels, grades, None, np.array([0, 3]), lowest=1.0)
            assert (result["first"], result["judged_grade"]) == ([2, 3], [3.0, 1.0, 0.0])


@pytest.mark.usefixtures("backend")
def test_ids_of_every_integer_type_match():
    ids = [7, np.int64(-3), np.uint8(5), True]
    assert python_ids(ids_of(ids).take(slice(None)), "int") == [7, -3, 5, 1]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("function", [rg.dcg, rg.idcg, rg.ndcg])
def test_the_highest_grade_of_the_exponential_gain(function):
    """The exponential gain of grade 1024 overflows float64, but the gain of the next smaller float does not."""
    below = math.nextafter(1024.0, 0.0)
    for lists in ([1.0, below], [[1.0, below]] * 2):
        assert np.isfinite(function(lists, gain="exponential")).all()
    for lists in ([1.0, 1024.0], [[1.0, 1024.0]] * 2):
        with pytest.raises(ValueError, match="position 1: the grade is too large"):
            function(lists, gain="exponential")


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("grade", [1, 3, 0.7])
def test_ties_of_equal_grades_are_summed_one_by_one(grade):
    """Reordering tied documents of equal grade leaves sums unchanged, so a perfect list has exactly the value 1."""
    metrics = [name for name, row in TABLE.items() if not row.unaveraged]
    metrics += ["ndcg@5", "dcg(discount=zipf)@7", "q_measure(beta=7)@6", "rr@1", "success@2", "err@9"]
    scores = [[0.5] + [0.25] * n + [0.125] * 3 for n in range(1, 40)]
    grades = [[0] + [grade] * n + [0] * 3 for n in range(1, 40)]
    values = [rg.from_scores(grades, scores, ties=ties).evaluate(*metrics).to_dict() for ties in ("average", "stable")]
    assert values[0] == values[1]
    perfect = rg.from_scores([row[1:] for row in grades], [row[1:] for row in scores]).evaluate(
        "ndcg", "ap", "q_measure"
    )
    assert {value for vector in perfect.values() for value in vector.tolist()} == {1.0}


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("hits", [0, 1, 5, 20])
def test_few_judged_ids_match_like_many(kind, hits):
    """A few judged ids are found in lists of every length, including ids that share their lowest 16 bits."""
    for n in (1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 129):
        for step in (1, 256, 65536):
            ids = np.arange(n)[::-1] * step
            judged = {*ids[-min(hits, n) :].tolist()} if hits else {65536 * (n + 1), 65536 * (n + 2)}
            run = rg.from_recommendations(rg.judgments([sorted(judged), [7 + ids[0]]]), np.array([ids, ids], kind))
            result = run.evaluate("num_rel_ret", "rr")
            assert result["num_rel_ret"].tolist() == [min(hits, n), 0]
            assert result["rr"].tolist() == [1 / (n - min(hits, n) + 1) if hits else 0.0, 0.0]
            if hits:
                ids = np.append(ids, ids[-1]).astype(kind)
                with pytest.raises(ValueError, match=f"position {n}"):
                    rg.from_recommendations(rg.judgments([sorted(judged)]), ids[None]).evaluate("rr")


# The following tests are for sanitizers: their arrays have exactly the required size.


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.uint8])
@in_one_case("size", [1, 2, 63, 64, 65, 255, 256, 257])
def test_grades_are_not_read_beyond_their_end(dtype, size):
    grades, scores = np.ones(size, dtype=dtype), np.zeros(size)
    assert _backend.lists.grade_error(grades, np.array([0, size])) is None
    for ties in ("average", "stable", "best", "worst"):
        assert rg.from_scores(grades, scores, ties=ties).evaluate("ndcg", "rr").mean() == {"ndcg": 1.0, "rr": 1.0}


@pytest.mark.usefixtures("backend")
def test_scanner_does_not_read_beyond_the_last_line():
    for size in range(1, 130):
        tag = b"t" * max(size - 12, 1)
        line = b"q Q d 1 1 %s\n" % tag
        for text in (line, line[:-1], line + line, line + b"\n" * (size % 3)):
            data = np.frombuffer(text, dtype=np.uint8).copy()
            columns, runs = columns_for(8), np.empty(24, dtype=np.int64)
            count = text.count(b"q")
            assert _backend.lines.scan(data, 0, len(data), (*columns, runs), 6, 2, 4, False) == (count, 1, None)
            assert columns[2][:count].tolist() == [1.0] * count


def hashes_of(documents):
    """Return the hashes that a scan computes of document ids."""
    text = b"".join(b"q 0 %b 1\n" % document for document in documents)
    columns, runs = columns_for(len(documents)), np.empty(3 * len(documents), dtype=np.int64)
    fields = QRELS.n_fields, QRELS.document, QRELS.value, QRELS.grades
    _backend.lines.scan(np.frombuffer(text, dtype=np.uint8), 0, len(text), (*columns, runs), *fields)
    return columns[3]


@pytest.mark.usefixtures("backend")
def test_ids_cannot_be_made_to_collide():
    """Flipping the highest bits of two adjacent words changes the hash."""
    block = np.frombuffer(b"abcdefghijklmnop", dtype=np.uint8)
    other = block.copy()
    other[[7, 11, 15]] ^= 0x80
    documents = [
        b"".join((block, other)[bit].tobytes() for bit in bits) for bits in itertools.product((0, 1), repeat=8)
    ]
    hashes = hashes_of(documents)
    assert len(np.unique(hashes)) == len(documents) == 256


@pytest.mark.both
@pytest.mark.parametrize("template", [b"%08d-document", b"document-%08d"], ids=["first bytes", "last bytes"])
def test_hashes_of_similar_ids_spread_over_the_low_bits(template):
    """Hash tables use the lowest bits of the hash, which must differ even for ids that differ in only a few bytes."""
    documents = [template % number for number in range(4096)]
    hashes = hashes_of(documents)
    distinct = len(np.unique(hashes & 0xFFFF))
    assert distinct > 3800, f"{distinct} distinct values of the lowest 16 bits; random ones have about 3,970"


def test_set_changed_by_another_thread_does_not_crash():
    """Only the Python implementation lets another thread run between two ids."""

    class Growing(set):
        def __iter__(self):
            for identifier in super().__iter__():
                self.add("c")
                yield identifier

    dicts, ends = import_module("rankgain._reference.dicts"), np.empty(3, dtype=np.int64)
    assert dicts.pack_ids([Growing("ab")], True, ends)[1] == (CHANGED, 0, 1)
    assert dicts.pack_integers([Growing([1, 2])], ends) == (CHANGED, 0, 1)
