"""pyndeval, which contains ndeval, as the oracle of metrics of judgments by subtopic.

What ndeval gets wrong is left out by rule: it does not divide at the first rank, and computes values to rank 20 only.
"""

import random

import pyndeval
import pytest
from pyndeval import ScoredDoc, SubtopicQrel
from support import subtopics

import rankgain as rg

NAMES = {
    "alpha-nDCG": "alpha_ndcg",
    "alpha-DCG": "alpha_dcg",
    "ERR-IA": "err_ia",
    "nERR-IA": "nerr_ia",
    "P-IA": "p_ia",
    "strec": "strecall",
    "NRBP": "nrbp",
    "nNRBP": "nnrbp",
    "MAP-IA": "ap_ia",
}
WHOLE = {"NRBP", "nNRBP", "MAP-IA"}
NOT_DIVIDED = {"alpha-DCG@1", "ERR-IA@1"}
CUTOFFS = 1, 2, 3, 5, 10, 20
MEASURES = [name for name in NAMES if name in WHOLE] + [
    f"{name}@{k}" for name in NAMES if name not in WHOLE for k in CUTOFFS if f"{name}@{k}" not in NOT_DIVIDED
]


def ours(measure, alpha, beta):
    """Return the request for a measure of pyndeval."""
    name, at, k = measure.partition("@")
    takes = rg.metrics.metric.row_of(NAMES[name]).takes
    given = {"alpha": alpha, "beta": beta}
    written = ",".join(f"{parameter}={given[parameter]}" for parameter in given if parameter in takes)
    return NAMES[name] + f"({written})" * bool(written) + at + k


def theirs(truth, run, **parameters):
    qrels = [
        SubtopicQrel(query, subtopic, document, grade)
        for query, of_query in truth.items()
        for subtopic, grades in of_query.items()
        for document, grade in grades.items()
    ]
    documents = [ScoredDoc(query, document, score) for query in run for document, score in run[query].items()]
    return pyndeval.ndeval(qrels, documents, MEASURES, **parameters)


@pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.5), (0.25, 0.8), (0.0, 0.5), (1.0, 0.3)])
@pytest.mark.parametrize("queries", [20, pytest.param(150, marks=pytest.mark.peers)], ids=["few", "many"])
def test_values_equal_ndeval(backend, alpha, beta, queries):
    """Documents are not tied, since pyndeval takes the lower id first, which no rule of rankgain does."""
    rng = random.Random(f"{alpha} {queries}")
    sizes = [(5, 6), (6, 12), (9, 60)]
    pairs = {f"q{number}": subtopics.random_query(rng, *rng.choice(sizes)) for number in range(queries)}
    truth, run = ({query: pair[side] for query, pair in pairs.items()} for side in (0, 1))
    counts = {query: bool(subtopics.relevant(of_query, 1)) for query, of_query in truth.items()}
    rankings = rg.from_qrels(rg.judgments(truth, subtopic=True), run)
    result = rankings.evaluate(*(ours(measure, alpha, beta) for measure in MEASURES), like="ndeval").to_dict()
    for query, expected in theirs(truth, run, alpha=alpha, beta=beta).items():
        if counts[query]:  # ndeval gives NaN for nNRBP where nothing is relevant
            for measure in MEASURES:
                value = result[query][ours(measure, alpha, beta)]
                assert value == pytest.approx(expected[measure], rel=1e-12, abs=1e-15), (measure, query)


def test_what_ndeval_does_not_divide(rejects):
    truth = {"q": {"0": {"a": 1}, "1": {"a": 1, "b": 1}}}
    qrels = [SubtopicQrel("q", s, d, grade) for s, grades in truth["q"].items() for d, grade in grades.items()]
    assert pyndeval.ndeval(qrels, [ScoredDoc("q", "a", 1.0)], ["ERR-IA@1", "alpha-DCG@1"])["q"] == {
        "ERR-IA@1": 2.0,
        "alpha-DCG@1": 2.0,
    }
    rankings = rg.from_qrels(rg.judgments(truth, subtopic=True), {"q": {"a": 1.0}})
    for metric in ("err_ia@1", "alpha_dcg@1"):
        rejects(ValueError, "ndeval does not divide ERR-IA@1", rankings.evaluate, metric, like="ndeval")
    weighted = rg.judgments(truth, subtopic=True, weights={"q": {"0": 1, "1": 2}})
    message = "like='ndeval': it has no weights of subtopics"
    rejects(ValueError, message, rg.from_qrels(weighted, {"q": {"a": 1.0}}).evaluate, "nrbp", like="ndeval")


def test_queries_of_ndeval(backend):
    """It leaves out what the run lacks, and -c counts it as 0."""
    truth = {"q": {"0": {"a": 1}}, "r": {"0": {"a": 1}}}
    rankings = rg.from_qrels(rg.judgments(truth, subtopic=True), {"q": {"a": 1.0}})
    assert rankings.evaluate("strecall@1", like="ndeval").mean("strecall@1") == 1.0
    assert rankings.evaluate("strecall@1").mean("strecall@1") == 0.5
    assert [*theirs(truth, {"q": {"a": 1.0}})] == ["q"]
