"""One corpus in every form gives one Evaluation; a new form is one more entry of FORMS."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

METRICS = [
    "cg@3",
    "dcg@3",
    "dcg",
    "idcg@3",
    "ndcg@1",
    "ndcg@3",
    "ndcg",
    "ndcg(gain=exponential)@5",
    "rr",
    "rr(rel=2)@2",
]


def as_ranked(corpus, ties, folder):
    rows = [[grade for grade, _ in sorted(query, key=lambda pair: -pair[1])] for query in corpus]
    return rg.from_ranked(rows)


def as_lists(corpus, ties, folder):
    grades, scores = ([[pair[part] for pair in query] for query in corpus] for part in (0, 1))
    return rg.from_scores(grades, scores, ties=ties)


def flat(corpus):
    grades, scores = (np.array([pair[part] for query in corpus for pair in query], dtype=float) for part in (0, 1))
    return grades, scores, np.repeat(np.arange(len(corpus)), [len(query) for query in corpus])


def as_groups(corpus, ties, folder):
    grades, scores, _ = flat(corpus)
    return rg.from_scores(grades, scores, group_sizes=[len(query) for query in corpus], ties=ties)


def as_qid(corpus, ties, folder):
    grades, scores, query = flat(corpus)
    return rg.from_scores(grades, scores, qid=query, ties=ties)


def as_scattered_qid(corpus, ties, folder):
    """The documents of a query apart from each other, but in their order, and the queries in theirs."""
    grades, scores, query = flat(corpus)
    place = np.concatenate([np.arange(len(documents)) for documents in corpus])
    order = np.lexsort((query, place))
    return rg.from_scores(grades[order], scores[order], qid=query[order], ties=ties)


def as_matrix(corpus, ties, folder):
    """Rows of one length: what a query lacks is filled up with documents that come last and have no gain."""
    longest = max(map(len, corpus))
    rows = [[*query, *[(0, -np.inf)] * (longest - len(query))] for query in corpus]
    matrix = np.array(rows, dtype=float)
    return rg.from_scores(matrix[:, :, 0], matrix[:, :, 1].astype(np.float32), ties=ties)


def dicts(corpus):
    qrels = {f"q{q}": {f"d{d}": grade for d, (grade, _) in enumerate(query)} for q, query in enumerate(corpus)}
    run = {f"q{q}": {f"d{d}": score for d, (_, score) in enumerate(query)} for q, query in enumerate(corpus)}
    return qrels, run


def as_qrels(corpus, ties, folder):
    return rg.from_qrels(*dicts(corpus), ties=ties)


def as_qrels_of_ints(corpus, ties, folder):
    qrels, run = (
        {
            q: {np.int64(d): np.float32(value) for d, value in enumerate(documents.values())}
            for q, documents in enumerate(side.values())
        }
        for side in dicts(corpus)
    )
    return rg.from_qrels(qrels, run, ties=ties)


def as_files(corpus, ties, folder):
    qrels, run = dicts(corpus)
    paths = folder / "qrels", folder / "run"
    paths[0].write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items()))
    paths[1].write_text("".join(f"{q} Q0 {d} 0 {s!r} tag\n" for q, docs in run.items() for d, s in docs.items()))
    return rg.read_trec(*paths, ties=ties)


FORMS = [as_lists, as_groups, as_qid, as_scattered_qid, as_matrix, as_qrels, as_qrels_of_ints, as_files]

documents = st.tuples(st.integers(0, 3), st.integers(0, 3).map(float))
corpora = st.lists(st.lists(documents, min_size=1, max_size=6), min_size=1, max_size=5)


@given(corpora, st.sampled_from(["average", "stable", "best", "worst"]))
def test_every_form(tmp_path_factory, corpus, ties):
    folder = tmp_path_factory.mktemp("corpus")
    # What the last row of the scattered form begins with must be every query once, or their order is another.
    expected = as_lists(corpus, ties, folder).evaluate(*METRICS)
    for form in FORMS:
        result = form(corpus, ties, folder).evaluate(*METRICS)
        for metric in METRICS:
            assert result[metric].tolist() == expected[metric].tolist(), (form.__name__, metric)
        assert result.counts["empty"] == expected.counts["empty"]


@given(
    st.lists(
        st.permutations(range(5)).flatmap(
            lambda scores: st.tuples(*[st.tuples(st.integers(0, 3), st.just(float(s))) for s in scores])
        ),
        min_size=1,
        max_size=4,
    )
)
def test_ranked_where_nothing_is_tied(corpus):
    expected = as_lists(corpus, "stable", None).evaluate(*METRICS)
    result = as_ranked(corpus, None, None).evaluate(*METRICS)
    for metric in METRICS:
        assert result[metric].tolist() == expected[metric].tolist()
