"""The agreement of two judges: labels, runs, shifted runs, what is read, and what is refused."""

import io
import json
import math
import pickle

import numpy as np
import pytest
from support.marks import in_one_case

import rankgain as rg
from rankgain.cli import main
from rankgain.comparison.shifts import _from_line, _from_others

pytestmark = pytest.mark.usefixtures("backend")

HUMAN = {"q1": {"a": 2, "b": 0, "c": 2}, "q2": {"a": 1, "x": 0, "u": -1}, "human": {"a": 1}}
LLM = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1, "y": 2, "u": 1}, "llm": {"a": 1}, "more": {"b": 0}}
SYSTEMS = "bm25", "splade", "dense", "hybrid", "rerank", "llmrank"


def collection(queries=16, documents=30, lifted=None, lenient=0.0, seed=1):
    """Return human judgments, those of a judge that errs at random, and runs; the judge may lift one of the runs."""
    random = np.random.default_rng(seed)
    human, llm, runs = {}, {}, {name: {} for name in SYSTEMS}
    for number in range(queries):
        query = f"q{number}"
        grades = random.choice(4, documents, p=[0.6, 0.2, 0.12, 0.08])
        labels = np.clip(grades + random.choice([-1, 0, 1], documents, p=[0.15, 0.7, 0.15]), 0, 3)
        labels = np.where(random.random(documents) < lenient, np.minimum(labels + 1, 3), labels)
        for spread, name in enumerate(SYSTEMS):
            scores = grades + random.normal(0, 3 - 0.3 * spread, documents)
            runs[name][query] = {f"d{row}": float(score) for row, score in enumerate(scores)}
            if name == lifted:
                first = np.argsort(-scores)[:10]
                labels[first[random.random(10) < 0.5]] = 3
        human[query] = {f"d{row}": int(grade) for row, grade in enumerate(grades)}
        llm[query] = {f"d{row}": int(label) for row, label in enumerate(labels)}
    return human, llm, runs


def values(agreement):
    return {label.measure: label.value for label in agreement.labels}


def test_documents_judged_by_both_are_compared():
    agreement = rg.agreement(HUMAN, LLM, threshold=2)
    assert (agreement.pairs, agreement.queries, agreement.only) == (4, 2, (2, 4))
    assert values(agreement) == {
        "same grade": pytest.approx((2 / 3 + 1) / 2),
        "Cohen's kappa, each grade": pytest.approx(7 / 11),
        "kappa, relevant: grade ≥ 2": pytest.approx(0.5),
        "kappa, quadratic weights": pytest.approx(0.8),
    }
    assert agreement.grades == [0, 1, 2]
    assert agreement.confusion.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    assert (agreement.higher, agreement.lower, agreement.shift) == (0, 0.25, -0.25)
    assert agreement.disagreements() == [("q1", "c", 2, 1)]
    assert agreement.per_query() == [("q1", 3, pytest.approx(2 / 3), pytest.approx(-1 / 3)), ("q2", 1, 1, 0)]
    assert agreement.notes()[:2] == ["1 query is judged by human only.", "2 queries are judged by llm only."]


@pytest.mark.options("agreement", "names")
def test_names_are_those_of_the_judges():
    agreement = rg.agreement(HUMAN, LLM, names=("first", "second"))
    assert agreement.table().startswith("second against first: 4 documents of 2 queries judged by both (only first: 2")
    assert "human" not in agreement.table().replace("q1", "")


@pytest.mark.options("agreement", "threshold")
def test_two_thresholds_compare_only_relevance():
    llm = {query: {document: grade / 4 for document, grade in grades.items()} for query, grades in LLM.items()}
    agreement = rg.agreement(HUMAN, llm, threshold=(2, 0.5))
    assert values(agreement) == {
        "same relevance": pytest.approx(5 / 6),
        "Cohen's kappa, relevant: grade ≥ 2 by human, ≥ 0.5 by llm": pytest.approx(0.5),
    }
    assert agreement.disagreements() == [("q1", "c", 2, 0.25)]


@pytest.mark.options("agreement", "level")
def test_the_level_is_that_of_all_intervals():
    human, llm, _ = collection(25)
    wide, narrow = (rg.agreement(human, llm, level=level) for level in (0.99, 0.8))
    for one, other in zip(wide.labels, narrow.labels, strict=True):
        assert one.low < other.low < other.high < one.high
    assert "99% interval" in wide.table()
    human, llm, runs = collection(10)
    runs = {name: runs[name] for name in SYSTEMS[:2]}
    wide, narrow = (rg.agreement(human, llm, runs, "ndcg@10", level=level) for level in (0.99, 0.8))
    assert wide.runs["ndcg@10"].shift.low < narrow.runs["ndcg@10"].shift.low
    assert {test.options.level for test in wide.tests} == {0.99}


def test_a_highest_grade_that_differs_is_a_warning():
    with pytest.warns(UserWarning, match="the highest grade by human is 2, by llm 1: .* threshold="):
        agreement = rg.agreement({"q": {"a": 2, "b": 0}}, {"q": {"a": 1, "b": 0}})
    assert values(agreement)["kappa, relevant: grade ≥ 1"] == 1
    rg.agreement({"q": {"a": 2, "b": 0}}, {"q": {"a": 1, "b": 0}}, threshold=(2, 1))


def test_many_grades_have_only_kappas_for_numbers():
    human = {"q": {f"d{row}": row / 20 for row in range(21)}}
    agreement = rg.agreement(human, human, threshold=0.5)
    assert [*values(agreement)] == ["Cohen's kappa, relevant: grade ≥ 0.5", "kappa, quadratic weights"]
    assert agreement.confusion.shape == (0, 0)


def test_an_undefined_kappa_is_printed_as_none():
    agreement = rg.agreement({"q": {"a": 1, "b": 1}}, {"q": {"a": 1, "b": 1}})
    assert math.isnan(values(agreement)["kappa, quadratic weights"])
    assert [line.split()[-2:] for line in agreement.table().splitlines() if "quadratic" in line] == [["none", "none"]]


def test_the_same_judgments_agree_in_everything():
    human, _, runs = collection()
    agreement = rg.agreement(human, human, runs)
    assert {*values(agreement).values()} == {1}
    for result in agreement.runs.values():
        assert len(result.only_first) + len(result.only_second) + len(result.opposite) == 0
        assert (result.ranks, result.tau_b, result.shifted) == ([1], 1, [])
    assert agreement.runs["ndcg@10"].alike
    assert not [line for line in agreement.sentences() if "not decided" not in line]


def test_runs_are_tested_by_each_judge():
    human, llm, runs = collection()
    agreement = rg.agreement(human, llm, runs, "ndcg@10", threshold=2)
    tests = [rg.compare(truth, runs, "ndcg@10").test() for truth in (human, llm)]
    assert [repr(test) for test in agreement.tests] == [repr(test) for test in tests]
    result = agreement.runs["ndcg@10"]
    decided = [{key[1:] for key, pair in test.items() if pair.decided} for test in tests]
    assert {*result.alike} == decided[0] & decided[1]
    assert ({*result.only_first}, {*result.only_second}) == (decided[0] - decided[1], decided[1] - decided[0])
    assert (result.pairs, result.runs, result.queries) == (15, 6, 16)
    means = [[each.mean("ndcg@10") for each in comparison.values()] for comparison in agreement.comparisons]
    assert result.shift.difference == pytest.approx(np.mean(means[1]) - np.mean(means[0]))
    assert [shift.difference for shift in result.shifts] == pytest.approx(np.subtract(*means[::-1]))
    assert result.best == [SYSTEMS[np.argmax(means[0])]]


def test_runs_with_opposite_verdicts_are_reported_first():
    human = {f"q{row}": {"a": 1, "b": 0} for row in range(10)}
    llm = {query: {"a": 0, "b": 1} for query in human}
    runs = {"up": {query: {"a": 2, "b": 1} for query in human}, "down": {query: {"a": 1, "b": 2} for query in human}}
    agreement = rg.agreement(human, llm, runs, "rr")
    result = agreement.runs["rr"]
    assert (result.opposite, result.alike, result.best, result.ranks) == ([("down", "up")], [], ["up"], [2])
    assert agreement.sentences()[0] == "rr: human decides that up is better than down, and llm the opposite."
    assert math.isnan(result.tau_b)
    assert agreement.sentences()[-1].endswith(
        "which of the two sides is meant cannot be told from the difference alone."
    )


def test_a_lower_value_may_be_better():
    human = {f"q{row}": {"a": 1, "b": 0} for row in range(10)}
    runs = {"more": {query: {"a": 2, "c": 1} for query in human}, "less": {query: {"a": 1, "b": 2} for query in human}}
    result = rg.agreement(human, human, runs, "unjudged@2").runs["unjudged@2"]
    assert (result.best, result.ranks, result.alike) == (["less"], [1], [("less", "more")])


def test_equal_best_runs_have_a_rank_each():
    human, llm, runs = collection(10)
    result = rg.agreement(human, llm, {"one": runs["dense"], "two": runs["dense"]}, "rr").runs["rr"]
    assert (result.best, result.ranks) == (["one", "two"], [1, 1])


def test_a_lifted_run_is_named():
    human, llm, runs = collection(40, lifted="llmrank")
    agreement = rg.agreement(human, llm, runs, "ndcg@10", threshold=2)
    (run,) = agreement.runs["ndcg@10"].shifted
    assert (run.run, run.beyond) == ("llmrank", True)
    shifts = {shift.run: shift.difference for shift in agreement.runs["ndcg@10"].shifts}
    assert run.shift == pytest.approx(shifts.pop("llmrank"))
    assert run.others == pytest.approx(np.mean([*shifts.values()]))
    assert run.apart == pytest.approx(run.shift - run.others)
    assert agreement.sentences()[-1] == (
        f"ndcg@10: llm shifts llmrank by {run.shift:+.4f} and the other runs by {run.others:+.4f} on average: "
        f"{run.apart:.4f} apart (adjusted p < 0.0001), beyond what its mean lets expect."
    )


def test_a_judge_that_guesses_lifts_no_run_beyond_what_its_mean_lets_expect():
    human, _, runs = collection()
    random = np.random.default_rng(0)
    guesses = {
        query: dict(zip(grades, random.permutation([*grades.values()]).tolist(), strict=True))
        for query, grades in human.items()
    }
    agreement = rg.agreement(human, guesses, runs, "ndcg@10")
    shifted = agreement.runs["ndcg@10"].shifted
    assert shifted  # it pulls all means together
    assert not any(run.beyond for run in shifted)
    assert any("as a judge that is lenient or errs at random may do" in line for line in agreement.sentences())


def test_few_runs_do_not_tell_what_a_mean_lets_expect():
    human, _, runs = collection()
    inverse = {query: {document: 3 - grade for document, grade in grades.items()} for query, grades in human.items()}
    for names in (SYSTEMS[::5], SYSTEMS[::2]):
        agreement = rg.agreement(human, inverse, {name: runs[name] for name in names}, "ndcg@10")
        (first, *_) = agreement.runs["ndcg@10"].shifted
        assert first.beyond is None
        (line, *_) = (each for each in agreement.sentences() if "shifts" in each)
        assert line.endswith(
            "which a judge that is lenient or errs at random may do, too: fewer than 4 runs do not tell."
        )
        assert ("the other runs by" in line) is (len(names) > 2)


def test_shifts_less_those_of_the_others_and_of_the_line():
    shifts = np.array([[0.1, 0.2, 0.6, -0.1], [0.3, 0.0, 0.0, 0.5]])
    means = np.array([0.2, 0.4, 0.5, 0.9])
    assert _from_others(shifts)[0, 2] == pytest.approx(0.6 - (0.1 + 0.2 - 0.1) / 3)
    for run in range(4):
        others = [other for other in range(4) if other != run]
        for row in range(2):
            line = np.polyfit(means[others], shifts[row, others], 1)
            assert _from_line(shifts, means)[row, run] == pytest.approx(shifts[row, run] - np.polyval(line, means[run]))


@pytest.mark.options("agreement", "pairs")
def test_runs_are_evaluated_on_documents_judged_by_both_or_on_all():
    human, llm, runs = collection()
    fewer = {query: {d: g for d, g in grades.items() if d > "d2"} for query, grades in llm.items()}
    both = {query: {d: g for d, g in grades.items() if d > "d2"} for query, grades in human.items()}
    agreement = rg.agreement(human, fewer, runs, "ndcg@10", threshold=2)
    assert repr(agreement.comparisons[0]) == repr(rg.compare(both, runs, "ndcg@10"))
    assert any("that human judged in the runs (judged@10), llm lacks" in note for note in agreement.notes())
    assert any("with all its judgments, human's" in note for note in agreement.notes())
    own = rg.agreement(human, fewer, runs, "ndcg@10", threshold=2, pairs="own")
    assert repr(own.comparisons[0]) == repr(rg.compare(human, runs, "ndcg@10"))
    assert not any("lacks" in note for note in own.notes())


@pytest.mark.needs("pyarrow")
def test_any_form_of_judgments_is_read(tmp_path):
    (tmp_path / "qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q in LLM for d, g in LLM[q].items()))
    table = [(query, document, grade) for query, grades in LLM.items() for document, grade in grades.items()]
    frame = dict(zip(("topic", "passage", "label"), zip(*table, strict=True), strict=True))
    frame = {name: [*column] for name, column in frame.items()}
    expected = repr(rg.agreement(HUMAN, LLM))
    assert repr(rg.agreement(rg.judgments(HUMAN), rg.judgments(LLM))) == expected
    assert repr(rg.agreement(HUMAN, tmp_path / "qrels.txt")) == expected
    assert repr(rg.agreement(HUMAN, frame, query="topic", doc="passage", relevance="label")) == expected
    numbers = {1: {7: 1, 8: 0}}
    (tmp_path / "numbers.csv").write_text("query_id,doc_id,relevance\n1,7,1\n1,8,1\n")
    assert rg.agreement(numbers, tmp_path / "numbers.csv").disagreements() == [(1, 8, 0, 1)]
    assert rg.agreement({b"q": {b"a": 1}}, {b"q": {b"a": 0}}).disagreements() == [(b"q", b"a", 1, 0)]


def test_documents_are_matched_in_any_order():
    random = np.random.default_rng(0)
    human = {
        query: {int(d): int(g) for d, g in zip(random.permutation(50)[:30], random.integers(-1, 3, 30), strict=True)}
        for query in range(20)
    }
    llm = {
        query: {int(d): int(g) for d, g in zip(random.permutation(50)[:30], random.integers(-1, 3, 30), strict=True)}
        for query in range(19, -1, -1)
    }
    expected = [
        (query, document, grade, llm[query][document])
        for query, grades in human.items()
        for document, grade in grades.items()
        if grade >= 0 <= llm[query].get(document, -1) and llm[query][document] != grade
    ]
    expected.sort(key=lambda row: -abs(row[2] - row[3]))
    assert rg.agreement(human, llm).disagreements() == expected
    texts = [{f"q{q}": {f"d{d}": g for d, g in row.items()} for q, row in side.items()} for side in (human, llm)]
    assert rg.agreement(*texts).disagreements() == [(f"q{q}", f"d{d}", g, h) for q, d, g, h in expected]


@pytest.mark.options("agreement", "runs", "metrics")
def test_runs_and_metrics_are_optional():
    human, llm, runs = collection(10)
    assert rg.agreement(human, llm).runs == {}
    one = rg.agreement(human, llm, {"bm25": runs["bm25"]})
    assert one.runs == {}
    assert "Only labels are compared: for runs, give two or more of them, and two or more queries." in one.notes()
    assert [*rg.agreement(human, llm, runs).runs] == ["ndcg@10", "mrr@10"]
    assert [*rg.agreement(human, llm, runs, ["p@5"]).runs] == ["p@5"]


def test_rules_are_those_of_compare():
    human, llm, runs = collection(10)
    agreement = rg.agreement(human, llm, runs, "rr", ties="worst", judged_only=True)
    assert repr(agreement.comparisons[1]) == repr(rg.compare(llm, runs, "rr", ties="worst", judged_only=True))


def test_columns_have_a_row_per_number():
    human, llm, runs = collection()
    agreement = rg.agreement(human, llm, runs, "ndcg@10", threshold=2)
    rows = [*zip(*agreement.columns().values(), strict=True)]
    assert rows[0] == ("", "", *agreement.labels[0])
    means = {measure: value for metric, _, measure, value, *_ in rows if not metric}
    one = np.array([grade for grades in human.values() for grade in grades.values()])
    other = np.array([grade for grades in llm.values() for grade in grades.values()])
    assert means["shift of grade 2 by human"] == pytest.approx(np.mean(other[one == 2]) - 2)
    shifts = [row for row in rows if row[2] == "shift" and row[1] == "dense"]
    assert [row[3:] for row in shifts] == [agreement.runs["ndcg@10"].shifts[2][1:4]]


def test_an_agreement_can_be_pickled():
    human, llm, runs = collection(10)
    agreement = rg.agreement(human, llm, runs)
    assert repr(pickle.loads(pickle.dumps(agreement))) == repr(agreement)


@in_one_case(
    ("error", "message", "arguments", "options"),
    [
        (ValueError, "human and llm have no query in common", [{"a": {"d": 1}}, {"b": {"d": 1}}], {}),
        (ValueError, "no query in common: int in human, str in llm; convert", [{1: {"d": 1}}, {"1": {"d": 1}}], {}),
        (ValueError, "judge 1 query in common, but no document of them", [{"a": {"d": 1}}, {"a": {"e": 1}}], {}),
        (ValueError, "no document of them: int in human, str in llm", [{"a": {1: 1}}, {"a": {"1": 1}}], {}),
        (ValueError, "names must be two different texts", [HUMAN, LLM], {"names": ("a", "a")}),
        (ValueError, "names must be two different texts", [HUMAN, LLM], {"names": ("a", "b", "c")}),
        (TypeError, "names must be two texts", [HUMAN, LLM], {"names": "ab"}),
        (ValueError, "threshold must be finite", [HUMAN, LLM], {"threshold": math.nan}),
        (ValueError, "threshold must be one number or a pair", [HUMAN, LLM], {"threshold": (1, 2, 3)}),
        (TypeError, "threshold must be a number, not str", [HUMAN, LLM], {"threshold": "1"}),
        (ValueError, "pairs must be 'both' or 'own', not 'all'", [HUMAN, LLM], {"pairs": "all"}),
        (ValueError, "level must be between 0 and 1", [HUMAN, LLM], {"level": 95}),
        (ValueError, "metrics are computed of runs, and there are none", [HUMAN, LLM, None, "rr"], {}),
        (TypeError, "ties= is for runs, and there are none", [HUMAN, LLM], {"ties": "worst"}),
        (TypeError, "relevance= names a column, and the judgments are no tables", [HUMAN, LLM], {"relevance": "x"}),
        (TypeError, "run 'a': Rankings include", [HUMAN, LLM, {"a": rg.from_qrels(HUMAN, HUMAN)}], {}),
        (ValueError, "run 'a': an open file cannot be read once for each judge", [HUMAN, LLM, {"a": io.BytesIO()}], {}),
        (ValueError, "run 'a': an open file cannot be read once for each judge", [HUMAN, LLM, {"a": "-"}], {}),
        (ValueError, "neither higher nor lower is better", [HUMAN, LLM, {"a": HUMAN, "b": LLM}, "num_ret"], {}),
        (ValueError, "weighs queries by their judgments", [HUMAN, LLM, {"a": HUMAN, "b": LLM}, "gauc"], {}),
        (ValueError, "llm: query 'q2', document 'a': the grade is NaN", [HUMAN, {"q2": {"a": math.nan}}], {}),
    ],
)  # fmt: skip
def test_what_is_refused(error, message, arguments, options):
    with pytest.raises(error) as raised:
        rg.agreement(*arguments, **options)
    parts = message.split(" … ")
    assert all(part in str(raised.value) for part in parts), str(raised.value)


def test_a_query_without_a_value_by_one_judge_is_refused():
    human, llm, runs = collection(4)
    llm["q1"] = dict.fromkeys(llm["q1"], 0)
    with pytest.raises(ValueError, match=r"query 'q1' has no value \(NaN\) by llm: evaluate with empty=0"):
        rg.agreement(human, llm, runs, "ndcg(empty=nan)@10")
    assert "1 query: only human calls a document relevant." in rg.agreement(human, llm, runs).notes()


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    human, llm, runs = collection(10)
    for name, judged in (("human.qrels", human), ("llm.qrels", llm)):
        (tmp_path / name).write_text("".join(f"{q} 0 {d} {g}\n" for q in judged for d, g in judged[q].items()))
    for name, run in [*runs.items()][:2]:
        lines = (f"{q} Q0 {d} 1 {score!r} {name}\n" for q in run for d, score in run[q].items())
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return ["human.qrels", "llm.qrels", *(f"{name}.run" for name in SYSTEMS[:2])]


def printed(capsys, *arguments):
    status = main(["agreement", *arguments])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    return out


def test_the_command_prints_what_python_prints(capsys, files):
    human, llm, runs = collection(10)
    runs = {name: runs[name] for name in SYSTEMS[:2]}
    expected = rg.agreement(human, llm, runs, "ndcg@10", threshold=2, names=("people", "model"), level=0.9, pairs="own")
    options = "-m", "ndcg@10", "--threshold", "2", "--names", "people", "model", "--level", "0.9", "--pairs", "own"
    assert printed(capsys, *files, *options) == f"{expected.table()}\n"
    assert printed(capsys, *files, *options, "--markdown") == expected.to_markdown()
    content = json.loads(printed(capsys, *files, *options, "--json"))
    assert (content["names"], content["documents"], content["queries"]) == (["people", "model"], 300, 10)
    assert content["confusion"] == expected.confusion.tolist()
    assert content["numbers"][0]["value"] == expected.labels[0].value
    lines = printed(capsys, *files, *options, "--csv").splitlines()
    assert lines[0] == "metric,run,measure,value,low,high"
    assert len(lines) == 1 + len(content["numbers"])


def test_the_command_compares_labels_alone(capsys, files):
    text = printed(capsys, *files[:2], "--threshold", "2,1")
    assert "Cohen's kappa, relevant: grade ≥ 2 by human, ≥ 1 by llm" in text
    assert "ndcg" not in text


@pytest.mark.needs("pyarrow")
def test_what_was_assumed_about_judgments_is_stated(capsys, files, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("query_id,doc_id,site\nq0,d0,x\nq1,d1,y\n")
    remark = f"{table} has no column of relevance: each row counts as 1 (its other columns: site; "
    agreement = rg.agreement(files[0], str(table), threshold=(1, 1))
    assert agreement.assumed == (f"{remark}relevance= chooses one of them)",)
    assert agreement.notes()[0] == f"{agreement.assumed[0]}."
    notes = json.loads(printed(capsys, files[0], str(table), "--threshold", "1,1", "--json"))["notes"]
    assert notes[0] == f"{remark}--relevance chooses one of them)."
    assert rg.agreement(*files[:2], threshold=2).assumed == ()


def test_what_was_assumed_about_runs_is_stated(tmp_path):
    judges = {"1": {"a": 1, "b": 0}, "2": {"a": 0, "b": 1}}, {"1": {"a": 1, "b": 1}, "2": {"a": 0, "b": 1}}
    (tmp_path / "counts.txt").write_text("1 a 13\n1 b 7\n2 a 5\n2 b 2\n")
    runs = {"counts": tmp_path / "counts.txt", "other": {"1": ["a"], "2": ["b"]}}
    (remark,) = rg.agreement(*judges, runs, "rr").assumed
    assert "field 3 was read as ranks, which neither start at 1 nor rise in 2 of 2 queries" in remark


def test_the_command_names_what_is_wrong(capsys, files):
    for arguments, message in (
        (files[:1], "give two qrels files, and the runs to compare by both"),
        ([*files[:2], "--threshold", "high"], "must be a grade, or two with a comma between, not 'high'"),
        ([files[0], files[0]], "human.qrels is given twice"),
    ):
        with pytest.raises(SystemExit):
            main(["agreement", *arguments])
        assert message in capsys.readouterr().err
