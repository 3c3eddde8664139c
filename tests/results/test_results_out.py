"""Output for papers, logs and other programs: tables, wide frames, safe names, subsets, and the schema of --json."""

import json
import pickle
import re
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import rankgain as rg
from rankgain.cli import main

pytestmark = pytest.mark.usefixtures("backend")

RESULT = rg.from_ranked([[1, 0], [0, 1], [0, 0]], query_ids=["a", "b", "c"]).evaluate("rr", "ndcg@10", "11pt_avg")
QRELS = {"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}, "q3": {"d1": 1}}
RUNS = {
    "bm_25": {"q1": {"d2": 1.4, "d1": 0.9}, "q2": {"d7": 2.0}, "q9": {"d7": 2.0}},
    "dense": {"q1": {"d1": 0.8, "d3": 0.7}, "q2": {"d5": 0.6}, "q3": {"d1": 1.0}},
}


def test_markdown_and_latex_tables():
    assert RESULT.to_markdown() == (
        "| metric | mean |\n|:---|---:|\n| rr | 0.5000 |\n| ndcg@10 | 0.5436 |\n| 11pt\\_avg | 0.5000 |\n"
    )
    lines = RESULT.to_latex().splitlines()
    assert lines[0] == r"\begin{tabular}{lr}"
    assert lines[4:7] == [r"rr & 0.5000 \\", r"ndcg@10 & 0.5436 \\", r"11pt\_avg & 0.5000 \\"]
    comparison = rg.compare(QRELS, RUNS, ["ndcg@10", "mrr"])
    assert comparison.to_markdown().splitlines()[0] == "| metric | bm\\_25 | dense |"
    assert "**" in comparison.to_markdown()
    assert r"metric & bm\_25 & dense \\" in comparison.to_latex()
    assert r"\textbf{" in comparison.to_latex()


def test_table_escapes_names():
    name = "a|b\n$x$ & {c} % \\d ~^#*_<i>"
    comparison = rg.Comparison({name: RESULT, "other": RESULT.subset(["a"])})
    for text in (comparison.table(), comparison._repr_html_()):
        assert "$x$" in text
        assert "b\n" not in text
    assert comparison.to_markdown().splitlines()[0].count(" | ") == 2
    assert len(comparison.to_markdown().splitlines()) == 5
    head = next(line for line in comparison.to_latex().splitlines() if "metric" in line)
    assert head == (
        r"metric & a\textbar{}b\textbackslash{}n\$x\$ \& \{c\} \% \textbackslash{}d "
        r"\textasciitilde{}\textasciicircum{}\#*\_\textless{}i\textgreater{} & other \\"
    )


def test_wide_frame_of_several_runs():
    pytest.importorskip("pandas")
    comparison = rg.compare(QRELS, RUNS, ["ndcg@10", "mrr"])
    wide = comparison.to_pandas(wide=True)
    assert list(wide.columns) == [(m, r) for m in ("ndcg@10", "mrr") for r in RUNS]
    assert list(wide.index) == ["q1", "q2", "q3"]
    for name, result in comparison.items():
        for metric in result:
            assert wide[metric, name].tolist() == result[metric].tolist()
    different_queries = {
        "one": RESULT,
        "two": rg.from_ranked([[1]], query_ids=["z"]).evaluate("rr", "ndcg@10", "11pt_avg"),
    }
    wide = rg.Comparison(different_queries).to_pandas(wide=True)["rr"]
    assert wide["one"].isna().tolist() == [False, False, False, True]
    assert wide["two"].isna().tolist() == [True, True, True, False]


@pytest.mark.parametrize(("library", "method"), [("polars", "to_polars"), ("pyarrow", "to_arrow")])
def test_records_with_columns_convert_to_frames(library, method):
    pytest.importorskip(library)
    rankings = rg.from_scores([[0, 1], [1, 0]], [[0.5, 0.5]] * 2, ties="stable", query_ids=["a", "b"])
    runs = {"x": rg.from_ranked([[0, 1]] * 8), "y": rg.from_ranked([[1, 0]] * 8)}
    tests = rg.compare(runs, metrics="rr").test()

    def rows(record):
        frame = getattr(record, method)()
        return frame.to_pylist() if library == "pyarrow" else frame.to_dicts()

    assert rows(rankings.curve("rr", [1, 2]))[0] == {"query_id": "a", "1": 0.0, "2": 0.5}
    assert [*rows(rankings.tie_spread("rr", "cg@1"))[2].items()] == [
        *(("query_id", "a"), ("metric", "cg@1"), ("worst", 0.0), ("expected", 0.5), ("best", 1.0), ("stable", 0.0)),
    ]
    (differences,) = rows(tests)
    assert (differences["metric"], differences["p"], differences["queries"]) == ("rr", 0.0078125, 8)
    assert rows(rg.from_ranked([[1]], query_ids=[0.5]).evaluate("rr")) == [{"query_id": 0.5, "rr": 1.0}]


def test_records_with_a_table_convert_to_markdown_and_latex():
    spread = rg.from_scores([[0, 1]], [[0.5, 0.5]]).tie_spread("rr", "infap")
    head, _, *rows = spread.to_markdown().splitlines()
    assert head == "| metric | worst | expected | best | affected by ties |"
    assert rows[0] == "| rr | 0.5000 | 0.7500 | 1.0000 | 1 of 1 |"
    assert any(row.startswith("infap has no expected value") for row in rows)
    assert rows[-1].startswith("infap: worst and best need not be the extremes")
    assert "\\caption{infap has no expected value" in spread.to_latex()
    assert RESULT.summary().to_markdown() == RESULT.to_markdown()
    assert RESULT.summary().to_latex() == RESULT.to_latex()


# Patterns for valid metric names in MLflow (mlflow.utils.validation) and W&B (letters, digits, _), and for valid tags
# in TensorBoard.
LOGS = [r"[/\w.\- ]{1,250}", r"[_a-zA-Z][_a-zA-Z0-9]*", r"[\w./\-]+"]


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("ndcg@10", "ndcg_at_10"),
        ("ndcg(gain=exponential)@10", "ndcg_gain_exponential_at_10"),
        ("f(beta=0.5)@10", "f_beta_0_5_at_10"),
        ("mrr:rel=-1", "mrr_rel_minus_1"),
        ("11pt_avg", "_11pt_avg"),
        (rg.metric("ndcg", k=3, gain={1: 3, 2: 7}), "ndcg_gain_0_0_1_3_2_7_at_3"),
    ],
)
def test_flat_names_are_safe_for_trackers(metric, name):
    result = rg.from_ranked([[2, 0, 1]]).evaluate(metric)
    assert result.flat(names="safe") == {name: result.mean(metric)}
    assert all(re.fullmatch(rule, name) for rule in LOGS)
    flat = result.flat()
    assert flat == {str(metric): result.mean(metric)}
    assert all(type(value) is float for value in flat.values())


def test_flat_rejects_names_that_collide():
    result = rg.from_ranked([[1, 0]]).evaluate("ndcg@10", "ndcg_at_10")
    assert list(result.flat()) == ["ndcg@10", "ndcg_at_10"]
    with pytest.raises(ValueError, match="two metrics have the name 'ndcg_at_10'"):
        result.flat(names="safe")


def test_subset_has_the_values_of_its_queries():
    for queries in (np.array(["b", "a"]), ("b", "a"), iter(["b", "a"])):
        part = RESULT.subset(queries)
        assert part.query_ids == ["b", "a"]
        assert part.counts == {"queries": 2}
        assert not part["rr"].flags.writeable
    assert RESULT.subset(RESULT["rr"] > 0).mean("rr") == 0.75
    assert len(RESULT.subset([]).query_ids) == 0
    positional = rg.from_ranked([[1], [0], [1]]).evaluate("rr").subset([2, 0])
    assert positional.query_ids == [2, 0]
    part = RESULT.subset(["a"])
    assert "1 query," in repr(part)
    assert "nothing relevant" not in part._repr_html_()
    merged = part.merge(RESULT.subset(["c"]))
    assert merged.query_ids == ["a", "c"]
    assert merged.counts == {"queries": 2}
    assert pickle.loads(pickle.dumps(part)).counts == {"queries": 1}
    assert "queries evaluated: 1" in str(rg.Comparison({"x": part}))


SCHEMA = Path(rg.__file__).parent / "tools" / "eval.schema.json"


@pytest.mark.parametrize(
    ("options", "several"),
    [
        *product([[], ["--per-query"], ["--like", "trec_eval-9"], ["--tie-spread"]], [False, True]),
        (["--interval"], False),
    ],
)
def test_json_follows_its_schema(options, several, tmp_path, capsys):
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    qrels, run = rg.sample()
    other = tmp_path / "other.txt"
    other.write_bytes(Path(run).read_bytes())
    files = [str(qrels), str(run), *([str(other)] if several else [])]
    assert main(["eval", *files, "--json", "-m", "ndcg@10", "-m", "ndcg(empty=nan)@1", *options]) == 0
    printed = json.loads(capsys.readouterr().out)
    objects = printed["runs"].values() if several else [printed]
    kinds = [schema["$defs"][name] for name in ("facts", "spread" if "--tie-spread" in options else "run")]
    required, known = ({name for kind in kinds for name in kind[part]} for part in ("required", "properties"))
    for content in objects:
        assert required <= set(content) <= known
    if find_spec("jsonschema"):
        from jsonschema import Draft202012Validator, ValidationError

        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(printed)
        with pytest.raises(ValidationError):
            Draft202012Validator(schema).validate({"version": "0"})
