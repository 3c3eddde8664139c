"""Dicts that run code when read, or that other threads change, give a result or an error, but never crash."""

import io
import math
import sys
import threading
from collections import UserDict
from collections.abc import Mapping

import numpy as np
import pytest
from support.marks import in_one_case
from support.rejections import vectors_or_error

import rankgain as rg
from rankgain import _backend, _codes, cli, pytrec_eval, scalars
from rankgain.data.given import signs_in


class Runs:
    """A number that runs an action when it is converted to a float."""

    def __init__(self, value, action):
        self.value, self.action = value, action

    def __float__(self):
        self.action()
        return self.value


@pytest.mark.both
@pytest.mark.parametrize("side", ["qrels", "run"])
@pytest.mark.parametrize("change", ["grow", "shrink", "clear"])
@pytest.mark.parametrize("query", ["a", "b"])
def test_dict_changed_while_it_is_read_is_rejected(on_both, side, change, query):
    """A change during reading is detected, whether it affects the current dict or a later one."""

    def call():
        sides = {
            "qrels": {"a": {"d": 1, "e": 1}, "b": {"d": 1, "e": 2}},
            "run": {"a": {f"d{i}": float(i) for i in range(100)} | {"d": 1.0}, "b": {"d": 1.0, "e": 1.0}},
        }
        target = sides[side][query]
        changes = {
            "grow": lambda: target.update((f"x{i}", 1.0) for i in range(3000)),
            "shrink": lambda: target.popitem(),
            "clear": target.clear,
        }
        sides[side]["a"]["d"] = Runs(1.0, changes[change])
        return vectors_or_error(lambda: rg.from_qrels(sides["qrels"], sides["run"]).evaluate("ndcg"))

    compiled, python = on_both(call)
    assert compiled == python
    assert compiled[0] is ValueError
    assert "changed while it was read" in compiled[1]


@pytest.mark.both
@pytest.mark.parametrize("ties", ["average", "stable", "docid", "best"])
def test_a_number_is_read_once(on_both, ties):
    def call():
        grows = Runs(0.0, lambda: None)
        grows.action = lambda: setattr(grows, "value", grows.value + 1)
        run = {"q": {"a": grows, "b": 2, "c": 1.0}}
        return vectors_or_error(lambda: rg.from_qrels({"q": {"a": 1, "b": 2}}, run, ties=ties).evaluate("ndcg", "rr"))

    compiled, python = on_both(call)
    assert compiled == python
    assert set(compiled) == {"ndcg", "rr"}


@pytest.mark.both
@pytest.mark.parametrize("side", ["qrels", "run"])
def test_number_whose_conversion_runs_code_is_read_safely(on_both, side):
    """Looking up the type of the number also runs code."""

    def call():
        sides = {name: {"q": {f"d{number}": float(number) for number in range(100)}} for name in ("qrels", "run")}

        class Kind(type):
            def __hash__(cls):
                sides[side]["q"].clear()
                return hash(np.float32)

            def __eq__(cls, other):
                return True

        class Number(metaclass=Kind):
            def __float__(self):
                return 1.0

        sides[side]["q"]["d50"] = Number()
        return vectors_or_error(lambda: rg.from_qrels(sides["qrels"], sides["run"]).evaluate("ndcg"))

    compiled, python = on_both(call)
    assert compiled == python
    assert "changed while it was read" in compiled[1]


CHANGES = {
    "grow": lambda documents: documents.update(dict.fromkeys(range(3000), 0.5)),
    "one more": lambda documents: documents.setdefault("another", 0.5),
    "shrink": dict.popitem,
    "clear": dict.clear,
    "foreign": lambda documents: documents.update(dict.fromkeys(documents, Runs(1.0, lambda: None))),
}


@in_one_case("ties", ["stable", "docid", "average", "best", "worst"])
@in_one_case("change", CHANGES)
@pytest.mark.parametrize("kind", [float, lambda score: Runs(score, lambda: None)], ids=["plain", "runs code"])
def test_ids_that_change_the_run_in_comparisons_do_not_crash(backend, change, ties, kind):
    """The compiled code looks up documents a second time, when their numbers may have changed."""
    armed = []

    class Id(str):
        def __hash__(self):
            return 1

        def __eq__(self, other):
            if armed:
                armed.pop()
                CHANGES[change](run["q"])
            return str.__eq__(self, other)

    run = {"q": {Id(name): kind(score) for name, score in zip("cab", (1.0, 1.0, 0.0), strict=True)}}
    rankings = rg.from_qrels({"q": {Id("a"): 1, Id("b"): 2}}, run, ties=ties)
    armed.append(True)
    result = vectors_or_error(lambda: rankings.evaluate("ndcg"))
    assert not armed
    if change == "foreign" and (backend == "python" or kind is not float):
        assert set(result) == {"ndcg"}
    else:
        assert result[0] is ValueError
        assert "changed while it was read" in result[1]


@pytest.mark.slow
@pytest.mark.usefixtures("backend")
def test_dicts_changed_by_another_thread_do_not_crash():
    qrels = {f"q{q}": {f"d{d}": np.float32(1) for d in range(30)} for q in range(30)}
    run = {f"q{q}": {f"d{d}": np.float32(d) for d in range(60)} for q in range(30)}
    done = threading.Event()

    def disturb():
        number = 0
        while not done.is_set():
            number += 1
            for side in (qrels, run):
                side[f"q{number % 30}"][f"x{number}"] = 1.0
                if number > 20:
                    side[f"q{(number - 20) % 30}"].pop(f"x{number - 20}", None)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(60):
            result = vectors_or_error(lambda: rg.from_qrels(qrels, run).evaluate("ndcg", "rr"))
            assert isinstance(result, dict) or "changed" in result[1], result
    finally:
        done.set()
        thread.join()


# values shown in error messages


LONG = 1_000_000
HUGE = "x" * LONG
SHORT_QRELS = b"q 0 d 1\n"
HUGE_IN_ERRORS = {
    "score": lambda: rg.read_trec(io.BytesIO(SHORT_QRELS), io.BytesIO(b"q Q0 d 1 %s t\n" % HUGE.encode())),
    "repeated": lambda: rg.read_trec(io.BytesIO(SHORT_QRELS), io.BytesIO(b"q Q0 %s 1 1 t\n" % HUGE.encode() * 2)),
    "query": lambda: rg.from_qrels({HUGE: {"d": math.nan}}, {HUGE: {"d": 1}}).evaluate("rr"),
    "judged document": lambda: rg.from_qrels({"q": {HUGE: math.nan}}, {"q": {"d": 1}}).evaluate("rr"),
    "document": lambda: rg.from_qrels({"q": {"d": 1}}, {"q": {HUGE: math.nan}}).evaluate("rr"),
    "user": lambda: rg.from_recommendations({HUGE: [1]}, {HUGE: [1.5]}).evaluate("rr"),
    "name": lambda: rg.from_ranked([[1], [0]], query_ids=[HUGE, HUGE]),
    "metric": lambda: rg.from_ranked([1]).evaluate(HUGE),
    "ties": lambda: rg.from_scores([1], [1], ties=HUGE),
}


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("what", HUGE_IN_ERRORS)
def test_error_abbreviates_long_ids(what):
    with pytest.raises((ValueError, TypeError)) as caught:
        HUGE_IN_ERRORS[what]()
    assert len(str(caught.value)) < 2000
    assert f"… ({LONG} characters)" in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb", "a\udce9b"])
def test_an_error_escapes_the_name_of_a_file(name, tmp_path, capfd):
    path = tmp_path / name
    path.write_bytes(b"q 0\n")
    with pytest.raises(ValueError, match="line 1") as caught:
        rg.judgments(str(path))
    assert repr(name)[1:-1] in str(caught.value)
    assert str(caught.value).isprintable()
    for files in ([str(path), str(path) + "x"], [str(path) + "x", str(path)]):
        assert cli.main(["eval", *files]) == 1
        assert capfd.readouterr().err.rstrip("\n").isprintable()


# wrong lengths


def lying(kind, size):
    return type(kind.__name__, (kind,), {"__len__": lambda self: size})


class Mapped(Mapping):
    """A mapping, but not a dict, that misreports its length."""

    def __init__(self, items, size):
        self._items, self._size = items, size

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self._items)

    def __getitem__(self, key):
        return self._items[key]


LENGTHS = [0, 1, 10**6, 10**15, 2**62, 2**70]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("size", LENGTHS)
def test_wrong_length_of_a_mapping_does_not_crash(size):
    """A wrong length neither reserves memory nor changes the result."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 2.0}}

    def seen(rankings):
        return {name: vector.tolist() for name, vector in rankings.evaluate("rr", "num_ret").items()}

    expected = {"rr": [0.5], "num_ret": [2.0]}
    for odd in (lying(dict, size), lambda items: Mapped(items, size)):
        assert seen(rg.from_qrels({"q": odd(qrels["q"])}, run)) == expected
        assert seen(rg.from_qrels(odd(qrels), run)) == expected
        assert seen(rg.from_qrels(qrels, {"q": odd(run["q"])})) == expected
        assert seen(rg.from_qrels(qrels, odd(run), missing="skip")) == expected
        assert seen(rg.from_recommendations(odd({"q": ["a"]}), odd({"q": ["b", "a"]}))) == expected
    for relevant, recommended in ((["a"], ["b", "a"]), ([1], [2, 1])):
        many = lying(list, size)
        assert seen(rg.from_recommendations([many(relevant)], [many(recommended)])) == expected
        assert seen(rg.from_recommendations(many([relevant]), many([recommended]))) == expected
        assert seen(rg.from_recommendations([lying(set, size)(relevant)], [recommended])) == expected


# small numbers of recommendations


@pytest.mark.parametrize("other", ["\ud800", b"b", 7])
def test_one_id_of_another_type_among_few_is_rejected(backend, other):
    """An id of another type, or text with a lone surrogate, is rejected in small and large inputs alike."""
    message = "lone surrogate" if other == "\ud800" else "ids must be all str, all bytes or all int"
    for few in ([["a"], ["b", other]], [[other], ["b"]]):
        with pytest.raises((TypeError, ValueError), match=message):
            rg.from_recommendations([{"a"}, {"b"}], few)
        with pytest.raises((TypeError, ValueError), match=message):
            rg.from_recommendations([{"a"}, {"b"}] * 600, few * 600)


# mappings other than dicts


def test_queries_of_any_mapping_are_counted(backend):
    run = UserDict({"q": UserDict({"a": 1.0}), "p": {"a": 1.0}, "r": {"a": 1.0}})
    assert rg.from_qrels({"q": {"a": 1}}, run).left_out == {"missing": 0, "unjudged": 2}


class Growing(dict):
    """A dict that grows while it is read, as if another thread had added a query."""

    def _grown(self, view):
        for one in view:
            yield one
            self["another"] = {"d": 1}

    def __iter__(self):
        return self._grown(super().__iter__())

    def values(self):
        return self._grown(super().values())

    def items(self):
        return self._grown(super().items())


@pytest.mark.parametrize("form", ["dicts", "compare", "evaluate", "judgments", "pytrec_eval"])
@pytest.mark.parametrize("side", ["qrels", "run"])
def test_queries_added_while_they_are_read_do_not_crash(form, side):
    if (form, side) == ("judgments", "run"):
        return
    given = {"qrels": {"q": {"d": 1}, "p": {"d": 1}}, "run": {"q": {"d": 1.0}, "p": {"d": 1.0}}}
    given[side] = Growing(given[side])
    qrels, run = given["qrels"], given["run"]
    calls = {
        "dicts": lambda: rg.from_qrels(qrels, run).evaluate("rr"),
        "compare": lambda: rg.compare(qrels, {"one": run, "other": run}, ["rr"]),
        "evaluate": lambda: rg.evaluate(qrels, run, "rr"),
        "judgments": lambda: rg.judgments(qrels),
        "pytrec_eval": lambda: pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run),
    }
    with pytest.raises(ValueError, match="the dict was changed while it was read; do not change it during evaluate"):
        calls[form]()


class Shrinking(dict):
    """A dict whose `values` method leaves out a query, as if another thread had removed it."""

    def values(self):
        return list(super().values())[:-1]


@pytest.mark.usefixtures("backend")
def test_queries_are_read_with_their_judgments():
    """Lists of different lengths would make the kernels read out of bounds."""
    qrels, run = Shrinking({"q": {"d": 1}, "p": {"e": 1}}), {"q": {"d": 1.0}, "p": {"d": 2.0, "e": 1.0}}
    expected = {"q": 1.0, "p": 0.5}
    for result in (rg.from_qrels(qrels, run).evaluate("rr"), rg.from_qrels(rg.judgments(qrels), run).evaluate("rr")):
        assert dict(zip(result.query_ids, result["rr"].tolist(), strict=True)) == expected
    result = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
    assert {query: values["recip_rank"] for query, values in result.items()} == expected


def test_ids_of_two_types_match_by_either(backend):
    """An error about id types is raised only if no id matches; here the id 1 matches."""
    assert rg.from_qrels({"q": {"a": 1, "b": 1, 1: 0}}, {"q": {1: 0.5}}).evaluate("rr").mean("rr") == 0.0


@pytest.mark.both
@pytest.mark.parametrize(
    ("queries", "signs"),
    [
        ({"q": {"d": 0.5, "e": 0.1}, "r": {"d": 0.9, "e": 0.1}}, 0),
        ({"q": {"d": 0.5, "": 0.1}}, _codes.EMPTY_TEXT),
        ({"q": {"d": 0.5, "e": 0.1}, "": {"d": 0.9, "e": 0.1}}, _codes.EMPTY_TEXT),
        ({"q": {b"": 0.5, 0: 0.1}}, 0),
        ({"q": {"d": 0.5, "e": 0.1}, "r": {}}, _codes.SHORT_QUERY | _codes.REGULAR_SCORES),
        ({"q": {"d": 0.5}}, _codes.SHORT_QUERY | _codes.REGULAR_SCORES),
        ({"q": {"d": 0.5, "e": 0.1}, "r": {"d": 1, "e": 2}}, _codes.REGULAR_SCORES),
        ({"q": {"d": 2.0, "e": 2}}, _codes.REGULAR_SCORES),
        ({"q": {"d": 2, "e": 1}}, 0),
        ({"q": {"d": True, "e": True}}, 0),
        ({"q": {"d": math.nan, "e": math.nan}}, 0),
        ({"q": {"d": "1", "e": "1"}}, 0),
        ({}, _codes.ALL_SIGNS),
        ({"q": {"d": 0.5, "e": 0.1}, "r": UserDict()}, _codes.ALL_SIGNS),
        ({"q": {"d": 0.5, "e": 0.1}, "r": None}, _codes.ALL_SIGNS),
        ({"query": {"d": 0.5, "e": 0.1}}, 0),
        ({"query": {"d": 0.5, "e": 0.1}, "x": {"d": 0.5, "e": 0.1}}, _codes.ALL_SIGNS),
        ({"q": {"hits": 0.5, "e": 0.1}}, _codes.ALL_SIGNS),
        ({"q": {"d": 0.5, "e": 0.1}, "r": {"hits": 0.5, "e": 0.1}}, 0),
    ],
    ids=repr,
)
def test_one_look_at_dicts_sees_what_needs_another(backend, queries, signs):
    """Where a sign is missing, constructors skip the checks for what it may show."""
    assert signs_in(queries) == signs


@pytest.mark.both
def test_runs_of_queries(backend):
    run = {"a": {"d": 1.0}, "b": {}, 3: UserDict()}
    assert _backend.dicts.runs_of(run, ["b", "a"]) == [{}, {"d": 1.0}]
    assert _backend.dicts.runs_of(run, []) == []
    assert _backend.dicts.runs_of(run, ["a", "c"]) is None
    assert _backend.dicts.runs_of(run, ["a", 3]) is None


IDS, OTHERS = ["a", "b"], ["b", "c"]


@pytest.mark.both
@pytest.mark.parametrize(
    ("recommended", "relevant", "expected"),
    [
        ([IDS], [OTHERS], ({0: {"a": 0.0, "b": -1.0}}, [{"b": 1.0, "c": 1.0}], 0)),
        ([(2, 1)], [{7}], ({0: {2: 0.0, 1: -1.0}}, [{7: 1.0}], 0)),
        ([IDS], [{"a": 3, "c": 0.5}], ({0: {"a": 0.0, "b": -1.0}}, [{"a": 3, "c": 0.5}], 0)),
        ([[], [b"a"]], [[b"a"], []], ({0: {}, 1: {b"a": 0.0}}, [{b"a": 1.0}, {}], 0)),
        ([[-1, 2]], [{-1}], ({0: {-1: 0.0, 2: -1.0}}, [{-1: 1.0}], 0)),
        ([["a"]], [IDS], ({0: {"a": 0.0}}, [{"a": 1.0, "b": 1.0}], _codes.SHORT_QUERY)),
        ([IDS], [("a",)], ({0: {"a": 0.0, "b": -1.0}}, [{"a": 1.0}], _codes.SHORT_QUERY)),
        ([[2, -1]], [[2]], None),
        ([(2, -1)], [[2]], None),
        ([[2, 1]], [[2, -1]], None),
        ([[2, 1]], [(-1,)], None),
        ([["a", ""]], [IDS], None),
        ([IDS], [{""}], None),
        ([["a", None]], [IDS], None),
        ([["a", 1]], [IDS], None),
        ([IDS], [[1]], None),
        ([IDS, [1]], [IDS, IDS], None),
        ([IDS], ["ab"], None),
        ([IDS], [range(2)], None),
        ([{"a"}], [IDS], None),
        ([["a", "a"]], [IDS], None),
        ([IDS], [["a", "a"]], None),
        ([[2**63]], [[1]], None),
        ([["\ud800"]], [IDS], None),
        ([[True]], [[True]], None),
        ([IDS, IDS], [{"a": 1}, {"a"}], None),
        ([IDS, IDS], [{"a"}, {"a": 1}], None),
        ([[]], [IDS], None),
        ([], [], None),
        ([list("abcdef")], [IDS], None),
        ([IDS, IDS], [IDS, list("abcd")], None),
    ],
    ids=repr,
)
def test_lists_of_few_ids_that_need_no_other_check(backend, recommended, relevant, expected):
    """Where None is returned, the constructor looks for padding, 0s and 1s, and ids that a column refuses."""
    few = _backend.dicts.as_runs(range(len(recommended)), recommended, relevant, 7)
    if few is not None:
        assert (few[1] == relevant) == (type(relevant[0]) is dict)  # dicts may have errors, so they are read later
        few, expected = ((runs, *_read(truths), signs) for runs, truths, signs in (few, expected))
    assert few == expected


def _read(truths):
    judged = _backend.dicts.JudgmentDicts(truths) if type(truths) is list else truths
    return judged.documents, judged.arrays()


@pytest.mark.both
@pytest.mark.parametrize("ids", [(1, 2), ("a", "b"), (b"a", b"b"), (1.5, 2.5), (("a", 1), ("a", 2))], ids=repr)
def test_the_kernel_reads_ids_of_usual_types(backend, monkeypatch, ids):
    """Python code reads only a dict whose ids may be tensors."""
    monkeypatch.setattr(scalars, "read_truth", None)  # which the kernel would call
    judged = _backend.dicts.JudgmentDicts([dict.fromkeys(ids, 2)])
    assert (judged.documents, judged.error_code) == ([*ids], None)
