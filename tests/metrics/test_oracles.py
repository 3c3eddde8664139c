"""Peers as oracles: what trec_eval printed, what pytrec_eval and scikit-learn compute here and now."""

import importlib.util

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.golden import GOLDEN, MEASURES, RELEASES, printed, shown
from support.marks import quick_first

import rankgain as rg
from rankgain.cli import main

pytestmark = pytest.mark.usefixtures("backend")


def read(name, value_field):
    """A golden file as a dict of dicts."""
    table = {}
    for line in (GOLDEN / name).read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        fields = line.split()
        table.setdefault(fields[0], {})[fields[2]] = float(fields[value_field])
    return table


@pytest.mark.parametrize(("corpus", "golden", "missing"), RELEASES)
def test_trec_eval_files(corpus, golden, missing):
    rankings = rg.read_trec(GOLDEN / f"{corpus}.qrels", GOLDEN / f"{corpus}.run", missing=missing)
    assert shown(rankings.evaluate(*MEASURES)) == printed(golden)


@pytest.mark.parametrize(("corpus", "golden", "missing"), RELEASES)
def test_trec_eval_dicts(corpus, golden, missing):
    qrels, run = read(f"{corpus}.qrels", 3), read(f"{corpus}.run", 4)
    result = rg.from_qrels(qrels, run, missing=missing).evaluate(*MEASURES)
    assert shown(result) == printed(golden)


@pytest.mark.parametrize(("corpus", "golden", "missing"), quick_first(RELEASES))
def test_trec_eval_command_line(corpus, golden, missing, capsys):
    arguments = ["-m", "ndcg", "-m", "recip_rank", "-m", "ndcg_cut", "--missing", missing, "--per-query"]
    assert main(["eval", str(GOLDEN / f"{corpus}.qrels"), str(GOLDEN / f"{corpus}.run"), *arguments]) == 0
    header, _, *rows = capsys.readouterr().out.split("\n\n")[0].splitlines()
    measures = header.split()[1:]
    found = {cells[0]: dict(zip(measures, cells[1:], strict=True)) for cells in map(str.split, rows)}
    found["all"] = found.pop("mean")
    assert found == printed(golden)


def test_golden_files_hold_what_they_are_for():
    """Missing and unjudged queries, negative grades, ties at judged documents: else the tests above show less."""
    result = rg.read_trec(GOLDEN / "a.qrels", GOLDEN / "a.run").evaluate("ndcg@10")
    assert result.counts["missing"]
    assert result.counts["unjudged"]
    assert min(grade for documents in read("a.qrels", 3).values() for grade in documents.values()) < 0
    other = rg.read_trec(GOLDEN / "a.qrels", GOLDEN / "a.run", ties="average").evaluate("ndcg@10")
    assert result["ndcg@10"].tolist() != other["ndcg@10"].tolist()


has_pytrec_eval = pytest.mark.skipif(
    importlib.util.find_spec("pytrec_eval") is None, reason="pytrec_eval has no wheel for this platform"
)
ids = st.text("abcdé", min_size=1, max_size=3)


@has_pytrec_eval
@given(
    # pytrec_eval does not return where all grades of a query are negative; the golden files have negative ones.
    qrels=st.dictionaries(ids, st.dictionaries(ids, st.integers(0, 4), min_size=1), min_size=1),
    run=st.dictionaries(ids, st.dictionaries(ids, st.integers(0, 5).map(float), min_size=1), min_size=1),
)
def test_dicts_equal_pytrec_eval(qrels, run):
    import pytrec_eval

    if not qrels.keys() & run.keys():
        return
    measures = {"ndcg", "recip_rank", "ndcg_cut.1,3,10"}
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    result = rg.from_qrels(qrels, run, missing="skip").evaluate("ndcg", "recip_rank", "ndcg_cut.1,3,10")
    assert set(result.query_ids) == set(expected)
    for index, query in enumerate(result.query_ids):
        for measure, vector in result.items():
            assert vector[index] == pytest.approx(expected[query][measure], rel=1e-12, abs=1e-15)


@given(data=st.data())
def test_sklearn_averages_ties(data):
    sklearn = pytest.importorskip("sklearn.metrics")

    queries, documents = data.draw(st.integers(1, 4)), data.draw(st.integers(2, 30))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    y_true = rng.integers(0, 5, (queries, documents))
    y_true[:, 0] += 1 - rng.integers(0, 2)
    y_true[0, :2] = 0, 2  # two grades at least, as scikit-learn wants more than binary indicators of one class
    y_score = rng.integers(0, data.draw(st.integers(1, 40)), (queries, documents)) / 8
    k = data.draw(st.none() | st.integers(1, 35))
    at = "" if k is None else f"@{k}"
    result = rg.from_scores(y_true, y_score).evaluate(f"ndcg{at}", f"dcg{at}")
    assert result.mean(f"ndcg{at}") == pytest.approx(sklearn.ndcg_score(y_true, y_score, k=k), rel=1e-12)
    assert result.mean(f"dcg{at}") == pytest.approx(sklearn.dcg_score(y_true, y_score, k=k), rel=1e-12)
