"""Peers as oracles: what trec_eval printed, what pytrec_eval and scikit-learn compute here and now."""

import pytest
from support.golden import GOLDEN, MEASURES, RELEASES, printed, shown

import rankgain as rg

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
