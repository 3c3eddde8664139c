"""The types that type checkers infer for public calls.

pytest checks at run time that the types are true, and `.ci/run types` checks this file with mypy and pyright.
"""

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, assert_type, get_args, get_overloads

import numpy as np
import pytest

import rankgain as rg
from rankgain import choices
from rankgain.data import rules
from rankgain.inputs.any import InputRules
from rankgain.results import peers
from rankgain.scalars import Floats

LISTS = [[3, 2], [1]]
MATRIX = np.ones((2, 3))
VECTOR = np.ones(3)


def test_one_list_has_type_float() -> None:
    assert type(assert_type(rg.cg([3, 2, 3]), float)) is float
    assert type(assert_type(rg.dcg((3, 2.5, np.int64(3)), k=2), float)) is float
    assert type(assert_type(rg.idcg([3.0, 2.0]), float)) is float
    assert type(assert_type(rg.ndcg([3, 2, 3], judged=[3, 3, 2]), float)) is float
    assert type(assert_type(rg.reciprocal_rank([0, 1]), float)) is float
    assert type(assert_type(rg.precision([0, 1], k=1), float)) is float
    assert type(assert_type(rg.ndcg(VECTOR), float)) is float


def test_many_lists_have_type_array() -> None:
    for values in (
        assert_type(rg.cg([[3, 2], [1]]), Floats),
        assert_type(rg.dcg(LISTS), Floats),
        assert_type(rg.idcg(LISTS, gain="exponential"), Floats),
        assert_type(rg.ndcg(((3, 2), (1, 0)), ideal="returned"), Floats),
        assert_type(rg.reciprocal_rank(LISTS, rel=2), Floats),
        assert_type(rg.recall(LISTS, judged=LISTS), Floats),
        assert_type(rg.ndcg(MATRIX), Floats),
    ):
        assert type(values) is np.ndarray
        assert values.shape == (2,)


def test_array_of_unknown_shape_has_a_union_type() -> None:
    unknown: np.ndarray[Any, np.dtype[np.float64]]
    for unknown in (VECTOR, MATRIX):
        assert_type(rg.ndcg(unknown), float | Floats)


def test_means_have_type_float() -> None:
    assert type(assert_type(rg.mrr(LISTS), float)) is float
    assert type(assert_type(rg.mean_ndcg(LISTS), float)) is float
    assert type(assert_type(rg.gain([1, 2]), Floats)) is np.ndarray
    assert type(assert_type(rg.discount(3), Floats)) is np.ndarray


def test_handles_and_results_have_their_types() -> None:
    rankings = assert_type(rg.from_scores(MATRIX, MATRIX, ties="stable"), rg.Rankings)
    assert assert_type(rankings.under(ties="best"), rg.Rankings).ties == "best"
    result = assert_type(rankings.evaluate("ndcg@10", rg.metric("dcg"), like="scikit-learn"), rg.Evaluation)
    assert rg.evaluate(MATRIX, MATRIX, "ndcg@10", rg.metric("dcg"), like="sklearn") == result
    assert type(assert_type(result["ndcg@10"], Floats)) is np.ndarray
    assert type(assert_type(result.mean("ndcg@10"), float)) is float
    assert type(assert_type(rankings.curve("ndcg", [1, 2]), rg.Curve)) is rg.Curve
    assert type(assert_type(rankings.tie_spread("rr"), rg.TieSpread)) is rg.TieSpread
    assert type(assert_type(rg.explain("ndcg", like=["lightgbm", "rankgain"]), rg.Explanation)) is rg.Explanation
    assert type(assert_type(rg.judgments({"q": {"d": 1}}), rg.Judgments)) is rg.Judgments


def test_metrics_of_a_result_are_typed_as_requested() -> None:
    rankings = rg.from_scores(MATRIX, MATRIX)
    result = rankings.evaluate("ndcg@10", "rr")
    means: dict[str, float] = result.mean()
    totals: dict[str, float] = rg.evaluate(MATRIX, MATRIX, "ndcg@10", "rr").aggregate()
    summary: dict[str, float] = result.summary().mean()
    assert means == totals == summary
    vectors: dict[str, Floats] = dict(result)
    values: dict[int, dict[str, float]] = result.to_dict()
    assert [*vectors] == [name.lower() for name in result] == [*values[0]] == ["ndcg@10", "rr"]

    metric = rg.metric("ndcg", k=10)
    records: dict[rg.Metric, float] = rankings.evaluate(metric).mean()
    both: dict[str | rg.Metric, float] = rankings.evaluate("rr", metric).mean()
    assert (*records, *both) == (metric, "rr", metric)
    spread: dict[str, dict[str, float]] = rankings.tie_spread("rr").mean()
    assert [*spread] == rankings.tie_spread("rr").metrics

    comparison = rg.Comparison({"a": result, "b": result})
    by_run: dict[str, dict[str, float]] = comparison.means()
    names: list[str] = comparison.metrics
    differences: dict[tuple[str, str, str], rg.Difference] = dict(comparison.test())
    assert [*by_run["a"]] == names == [name for name, _, _ in differences]
    floors: dict[str, float] = {"rr": 0.5}
    assert comparison.test(baseline="a").gate(floors=floors).passed


def test_compare_takes_truth_and_runs_or_runs_alone() -> None:
    rankings, qrels, run = rg.from_ranked([[0, 1]]), {"q": {"d": 1}}, {"a": {"q": {"d": 1.0}}}
    evaluated = {"a": rankings.evaluate("rr")}
    rows = [{"query_id": "q", "doc_id": "d", "score": 1.0, "system": "a"}]
    for comparison in (
        assert_type(rg.compare(qrels, run, ["rr"]), rg.Comparison),
        assert_type(rg.compare(truth=qrels, runs=run, metrics="rr", missing="skip"), rg.Comparison),
        assert_type(rg.compare({"a": rankings}, metrics="rr", queries="same"), rg.Comparison),
        assert_type(rg.compare(runs={"a": rankings}, metrics=["rr"]), rg.Comparison),
        assert_type(rg.compare(evaluated), rg.Comparison),
        assert_type(rg.compare(qrels, rows, ["rr"], run="system"), rg.Comparison),
        assert_type(rg.compare({"a": {"q": 0.5}}, values=True, metrics="rr"), rg.Comparison),
        assert_type(rg.compare(runs={"a": {"q": 1}}, values=True, metrics="rr", queries="same"), rg.Comparison),
    ):
        assert type(assert_type(comparison["a"], rg.Evaluation)) is rg.Evaluation
    with pytest.raises(TypeError, match="before the truth"):
        rg.compare(run, "qrels.txt", "rr")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
    with pytest.raises(ValueError, match="no truth was given"):
        rg.compare(run, metrics="rr")  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType]
    with pytest.raises(ValueError, match="values take no truth"):
        rg.compare({"a": {"q": 1}}, values=True, metrics="rr", ties="docid")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_type_checkers_reject_unknown_choices() -> None:
    with pytest.raises(ValueError, match="ties"):
        rg.from_scores([1], [1.0], ties="docid")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="missing"):
        rg.from_qrels({}, {}, missing="none")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="ideal"):
        rg.metric("ndcg", ideal="all")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="validate"):
        rg.from_recommendations([{1}], [[1]], validate="no")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="tool"):
        rg.explain("rr", like="ours")


def test_type_checkers_reject_unknown_keywords() -> None:
    groups: Any = [1]
    with pytest.raises(TypeError, match="unexpected keyword argument 'groups'"):
        rg.from_scores([1], [1.0], groups=groups)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="unexpected keyword argument 'k'"):
        rg.from_ranked([1]).evaluate("ndcg", k=10)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def test_literals_equal_the_tables() -> None:
    assert get_args(choices.Ties) == tuple(rules.TIES)
    assert set(get_args(choices.ScoreTies)) == {*rules.TIES} - {"docid"}
    assert get_args(choices.Peer) == (*peers.PEERS, *peers.ALIASES)
    assert {name for choice in get_args(choices.PeerOrOwn) for name in get_args(choice) or (choice,)} == {
        *peers.PEERS,
        *peers.ALIASES,
        peers.OWN.name,
    }


def test_rules_are_the_keywords_of_the_constructors() -> None:
    constructors = rg.from_qrels, rg.from_frames, rg.from_rows, rg.from_recommendations, rg.from_scores, rg.read_trec
    keywords = {name for constructor in constructors for name in inspect.getfullargspec(constructor).kwonlyargs}
    of_calls = {name for call in get_overloads(rg.evaluate) for name in inspect.signature(call).parameters}
    assert {*InputRules.__annotations__} == keywords - of_calls
    assert {*choices.RuleChoices.__annotations__} <= {*InputRules.__annotations__}


PLANTED = Path(__file__).with_name("planted_mistakes.py")


def mypy() -> set[int]:
    """Return the lines in which mypy finds mistakes."""
    command = [sys.executable, "-m", "mypy", "--strict", "--output", "json", str(PLANTED)]
    lines = subprocess.run(command, capture_output=True, check=False, text=True).stdout.splitlines()
    found = [json.loads(line) for line in lines if line.startswith("{")]
    return {each["line"] for each in found if each["severity"] == "error"}


def basedpyright() -> set[int]:
    """Return the lines in which basedpyright finds mistakes."""
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, str(PLANTED)]
    found = json.loads(subprocess.run(command, capture_output=True, check=False, text=True).stdout)
    return {each["range"]["start"]["line"] + 1 for each in found["generalDiagnostics"] if each["severity"] == "error"}


@pytest.mark.types
@pytest.mark.needs("mypy", "basedpyright")
@pytest.mark.parametrize("checker", [mypy, basedpyright])
def test_type_checkers_find_planted_mistakes(checker: Any) -> None:
    lines = PLANTED.read_text(encoding="utf-8").splitlines()
    planted = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert len(planted) == 15
    assert checker() == planted
