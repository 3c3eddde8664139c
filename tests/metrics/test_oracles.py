"""Peers as oracles: what trec_eval printed, what pytrec_eval and scikit-learn compute here and now."""

import pytest
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
