"""Honest data, drawn 300 times, raise no error and no warning about how they may have been mistaken."""

import io
import warnings

import numpy as np
import pytest

import rankgain as rg

DRAWS = 300
QUERIES, DOCUMENTS = 12, 8


def columns(rng):
    """A run whose scores fall with the rank: arrays of queries, documents, ranks and scores, by query and document."""
    documents = np.array([rng.choice(40, DOCUMENTS, replace=False) for _ in range(QUERIES)])
    scores = -np.sort(-rng.normal(size=documents.shape), axis=1)
    ranks = np.broadcast_to(np.arange(1, DOCUMENTS + 1), documents.shape)
    return documents, ranks, scores


def run_of(rng, kind):
    documents, ranks, scores = columns(rng)
    tags = np.full(documents.shape, "a", dtype=object)
    arms = rng.choice(["a", "b"], size=(QUERIES, 1))
    match kind:
        case "one run":
            pass
        case "fused":  # the tag says which retriever found the document
            tags = rng.choice(["bm25", "dense"], size=documents.shape)
        case "arms of an experiment":  # each query was answered by one system
            tags = np.broadcast_to(arms, documents.shape)
        case "shards":  # each document is in one shard; the ranks are those of the merged list
            tags = np.where(documents % 2 == 0, "shard0", "shard1")
        case "reranked":  # the ranks are those of the first stage; most like scores that rise with the rank
            scores = rng.normal(size=documents.shape)
        case "reranked lightly":
            scores = scores + rng.normal(size=documents.shape) / 4
        case "ranks from 0, few scores":
            ranks, scores = ranks - 1, np.round(scores)
        case "positions in a log":  # shuffled for display
            ranks = np.array([rng.permutation(DOCUMENTS) + 1 for _ in range(QUERIES)])
    return documents, ranks, scores, tags


KINDS = [
    *("one run", "fused", "arms of an experiment", "shards"),
    *("reranked", "reranked lightly", "ranks from 0, few scores", "positions in a log"),
]


CATALOGUES = {
    "numbers": lambda item: item,
    "numbers as text": str,
    "one letter": lambda item: f"d{item}",
    "several collections": lambda item: (
        f"{('FT', 'LA', 'FBIS')[item % 3]}-{item}"
    ),  # most like ids that begin differently
    "hashes": lambda item: f"{item * 2654435761 % 2**32:08x}",
}
SYSTEMS = {"random": 1, "leave one out": 1, "leave ten out": 10, "a few judged": 3}
IDS = [*((name, "random") for name in CATALOGUES), *(("one letter", name) for name in [*SYSTEMS][1:])]


@pytest.mark.slow
@pytest.mark.parametrize(("catalogue", "system"), IDS)
def test_ids_of_systems_that_find_nothing(catalogue, system):
    rng = np.random.default_rng(IDS.index((catalogue, system)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(DRAWS):
            items = rng.permutation(20_000)
            judged = items[: 60 * SYSTEMS[system]].reshape(60, -1)
            lists = rng.choice(items[len(judged.ravel()) :], size=(60, 10))  # none of them is judged
            relevant, recommended = (
                [[CATALOGUES[catalogue](int(item)) for item in dict.fromkeys(row)] for row in side.tolist()]
                for side in (judged, lists)
            )
            result = rg.from_recommendations(relevant, recommended).evaluate("rr")
            assert "have none in common" in result.assumed[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_ranks_scores_and_tags_of_honest_runs(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(DRAWS):
            documents, ranks, scores, tags = run_of(rng, kind)
            queries = np.repeat(np.arange(QUERIES), DOCUMENTS)
            ids = [f"d{document}" for document in documents.ravel()]
            qrels = {"query_id": list(range(QUERIES)), "doc_id": [f"d{row[2]}" for row in documents]}
            run = {"query_id": queries, "doc_id": ids, "rank": ranks.ravel(), "score": scores.ravel()}
            rg.from_frames(qrels | {"relevance": [1] * QUERIES}, run | {"tag": tags.ravel().tolist()}).evaluate("rr")
            rows = zip(queries, ids, ranks.ravel(), scores.ravel(), tags.ravel(), strict=True)
            lines = "".join(f"{query} Q0 {doc} {rank} {score} {tag}\n" for query, doc, rank, score, tag in rows)
            judged = "".join(f"{query} 0 d{row[2]} 1\n" for query, row in enumerate(documents))
            rg.read_trec(io.BytesIO(judged.encode()), io.BytesIO(lines.encode())).evaluate("rr")


GRADES = {
    "binary": lambda rng, count: rng.integers(0, 2, count),
    "graded, pooled": lambda rng, count: rng.integers(-2, 4, count),
    "fractions": lambda rng, count: rng.random(count),
    "clicks": lambda rng, count: rng.poisson(40, count),
    "seconds watched": lambda rng, count: rng.lognormal(5, 2, count),
    "milliseconds watched": lambda rng, count: (1000 * rng.lognormal(5, 2, count)).astype(np.int64),
    "cents of revenue": lambda rng, count: rng.lognormal(12, 3, count).astype(np.int64),
    "views of videos": lambda rng, count: rng.lognormal(15, 3, count).astype(
        np.int64
    ),  # most like times: many are large
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", GRADES)
def test_honest_grades_are_not_times(kind):
    rng = np.random.default_rng([*GRADES].index(kind))
    for _ in range(DRAWS):
        grades = GRADES[kind](rng, QUERIES * DOCUMENTS).tolist()
        lines = (f"{row // DOCUMENTS} 0 d{row % DOCUMENTS} {grade}" for row, grade in enumerate(grades))
        run = b"0 Q0 d0 1 0.5 t\n"
        rg.read_trec(io.BytesIO("\n".join(lines).encode()), io.BytesIO(run))


RANKED = {
    "in order": lambda rng: range(1, DOCUMENTS + 1),
    "from 0": lambda rng: range(DOCUMENTS),
    "in any order": lambda rng: rng.permutation(DOCUMENTS) + 1,  # also files that are sorted by document
    "worst first": lambda rng: range(DOCUMENTS, 0, -1),
    "a window": lambda rng: range(11, 11 + DOCUMENTS),
    "a window in any order": lambda rng: 11 + rng.permutation(DOCUMENTS),
    "some left out": lambda rng: np.sort(rng.choice(100, DOCUMENTS, replace=False)) + 1,
    "some left out, in any order": lambda rng: rng.choice(100, DOCUMENTS, replace=False) + 1,  # most like counts
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", RANKED)
def test_honest_ranks_are_not_counts(kind):
    rng = np.random.default_rng([*RANKED].index(kind))
    qrels = "".join(f"{query} 0 d3 1\n" for query in range(QUERIES)).encode()
    for _ in range(DRAWS):
        lines = [f"{query} d{doc} {rank}" for query in range(QUERIES) for doc, rank in enumerate(RANKED[kind](rng))]
        rg.read_trec(io.BytesIO(qrels), io.BytesIO("\n".join(lines).encode()))
