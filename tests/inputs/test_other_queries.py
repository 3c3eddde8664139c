"""Queries of judgments and runs whose ids do not match."""

import random
import re
import warnings

import pandas as pd
import pytest
from scipy.sparse import csr_array

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

QUERIES = ["Qa-1", "Qa-2", "Qa-3", "Qb-4"]


def judged(queries):
    return {query: {"d": 1} for query in queries}


def returned(queries):
    return {query: {"d": 1.0} for query in queries}


CHANGES = {
    "surrounding blanks": lambda query: f"{query} ",
    "case": str.lower,
    "the prefix 'x-'": lambda query: f"x-{query}",
    "the prefix 'Q'": lambda query: query.removeprefix("Q"),
}
OF_NUMBERS = {"zeros in front": lambda query: f"00{query}", "a decimal point (1 and 1.0)": lambda query: f"{query}.0"}


def cases():
    for queries, changes in ((QUERIES, CHANGES), (["1", "2", "10", "44"], OF_NUMBERS)):
        for change, convert in changes.items():
            others = [convert(query) for query in queries]
            yield pytest.param(queries, others, change, id=change)
            yield pytest.param(others, queries, change, id=f"{change}, in the truth")


@pytest.mark.parametrize(("queries", "others", "change"), list(cases()))
def test_an_error_shows_both_sides_and_how_they_differ(queries, others, change, rejects):
    first, second = (", ".join(map(repr, ids[:3])) for ids in (queries, others))
    message = f"have no query in common: … has {first}, …, and … has {second}, …: they differ only in {change}: convert"
    rejects(ValueError, message, rg.evaluate, judged(queries), returned(others), "rr")
    lists = {query: ["d"] for query in others}
    rejects(ValueError, message, rg.from_recommendations, {query: ["d"] for query in queries}, lists)
    qrels_df = pd.DataFrame({"query_id": queries, "doc_id": "d", "relevance": 1})
    run_df = pd.DataFrame({"query_id": others, "doc_id": "d", "score": 1.0})
    rejects(ValueError, message, rg.from_frames, qrels_df, run_df)


@pytest.mark.parametrize(("queries", "others", "change"), list(cases()))
def test_a_warning_if_all_queries_that_do_not_match_differ_alike(queries, others, change):
    message = f"would match but for {change}, such as {queries[1]!r} in truth and '"
    for more in ([], ["unmatched"]):
        with pytest.warns(UserWarning, match=re.escape(message)) as caught:
            rg.evaluate(judged(["common", *queries[1:], *more]), returned(["common", *others[1:]]), "rr")
        assert str(caught[0].message).startswith("3 queries of truth and run")


@pytest.mark.parametrize(
    ("queries", "others"),
    [
        (["a", "b", "c", "d", "e"], ["a", "B", "C", "D", "x"]),  # three of four on either side
        (["a", "2", "3", "4"], ["a", "12", "13", "14"]),  # a prefix that ends in a digit
        (["a", "b", "c"], ["a", "B", "C"]),  # too few
        (["a", "b"], ["a", "b", "A"]),  # the judged queries are all there
        (["a", "b", "A"], ["a", "b"]),
        (["a", 1, 2, 3], ["a", 4, 5, 6]),
    ],
)
def test_no_warning_if_some_queries_really_differ(queries, others):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rg.evaluate(judged(queries), returned(others), "rr")


def test_queries_one_level_deeper_are_named(rejects):
    message = (
        "have no query in common: … has 'Qa-1', 'Qa-2', 'Qa-3', …, and run has 'bm25': the queries of run are one "
    )
    rejects(
        ValueError,
        f"{message}level deeper: write run['bm25']",
        rg.evaluate,
        judged(QUERIES),
        {"bm25": returned(QUERIES)},
        "rr",
    )
    message = "the queries of truth are one level deeper: write truth['test']"
    rejects(ValueError, message, rg.evaluate, {"test": judged(QUERIES)}, returned(QUERIES), "rr")


def test_other_queries_are_shown_only(rejects):
    message = "truth and run have no query in common: truth has 'Qa-1', 'Qa-2', 'Qa-3', …, and run has 'z'"
    rejects(ValueError, message, rg.evaluate, judged(QUERIES), returned("z"), "rr")
    rejects(ValueError, "no query in common: run is empty", rg.evaluate, judged(QUERIES), {}, "rr")
    message = "str in truth, int in run; convert those in run to text: str(id); truth has 'Qa-1', … and run has 7"
    rejects(ValueError, message, rg.evaluate, judged(QUERIES), returned([7]), "rr")


LISTS = [["a"], ["b"]]
POSITIONS = (
    "{} has no keys, so its queries are 0 to 1, and {} has the key {}: pass truth by the same keys, as in "
    "dict(zip(keys, truth)), or the run as a list in the order of the truth"
)


@pytest.mark.parametrize("truth", [LISTS, csr_array([[0, 1], [1, 0]])], ids=["lists", "csr"])
@pytest.mark.parametrize(("keys", "shown"), [((1, 2), "2"), ("uv", "'u'"), ((-1, 0), "-1"), ((0.0, 1.0), "0.0")])
def test_truth_by_position_beside_a_run_by_other_keys_is_an_error(truth, keys, shown, rejects):
    lists, scores = {key: ["a"] for key in keys}, {key: {"a": 1.0} for key in keys}
    rejects(ValueError, POSITIONS.format("relevant", "recommended", shown), rg.from_recommendations, truth, lists)
    rejects(ValueError, POSITIONS.format("truth", "run", shown), rg.evaluate, rg.judgments(truth), lists, "rr")
    rejects(ValueError, POSITIONS.format("truth", "run", shown), rg.evaluate, truth, scores, "rr")
    rejects(ValueError, POSITIONS.format("truth", "run", shown), rg.compare, truth, {"a": scores}, "rr")


def test_the_lines_of_that_error_work():
    run = {"u": ["a"], "v": ["x", "b"]}
    assert rg.evaluate(dict(zip(run, LISTS, strict=True)), run, "rr").to_dict() == {"u": {"rr": 1.0}, "v": {"rr": 0.5}}
    assert rg.evaluate(LISTS, [*run.values()], "rr")["rr"].tolist() == [1.0, 0.5]


def test_positions_as_keys_are_taken():
    assert rg.evaluate(LISTS, {1: ["x", "b"], 0: ["a"]}, "rr")["rr"].tolist() == [1.0, 0.5]
    result = rg.evaluate(csr_array([[0, 1], [1, 0]]), {1: [1, 0]}, "rr")
    assert (result["rr"].tolist(), result.counts["missing"]) == ([0.0, 0.5], 1)


def words(draw, count=3):
    return " ".join(draw.choice(["how", "why", "Mars", "mars", "Pluto", "is", "far"]) for _ in range(count))


HONEST = {
    "numbers": lambda draw: str(draw.randrange(200)),
    "numbered": lambda draw: f"q{draw.randrange(200)}",
    "zeros in front": lambda draw: f"{draw.randrange(200):05}",
    "uuids": lambda draw: f"{draw.randrange(60) * 0x9E3779B97F4A7C15 % 2**64:016x}",
    "several collections": lambda draw: f"{draw.choice(['nq', 'trec', 'msmarco-trec'])}-{draw.randrange(70)}",
    "sessions": lambda draw: f"u{draw.randrange(12)}-s{draw.randrange(12)}",
    "short ids in both cases": lambda draw: "".join(draw.choice("abABxyXY019") for _ in range(3)),
    "questions": words,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HONEST)
def test_no_alarm_for_samples_of_one_collection(name):
    draw = random.Random(name)
    for number in range(300):
        sides = [{HONEST[name](draw) for _ in range(draw.randrange(20, 90))} for _ in range(2)]
        if number % 2:  # nearly the same queries: a few are missing from either side
            sides = [{query for query in sides[0] | sides[1] if draw.random() < 0.9} for _ in sides]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if sides[0] & sides[1]:
                rg.evaluate(judged(sides[0]), returned(sides[1]), "rr")
