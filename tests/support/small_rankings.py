"""Small rankings and their textbook metrics, for tests of constructor options."""

from itertools import chain

from support import textbook

METRICS = ["ndcg", "dcg@2", "rr", "ap"]
DEFINITIONS = [("ndcg", {}), ("dcg", {"k": 2}), ("rr", {}), ("ap", {})]  # textbook names and parameters of METRICS
QRELS = {"q": {"a": 1, "b": 0, "c": 2, "d": 3}, "r": {"a": 1, "b": 3}, "s": {"b": 1}}
# "é" sorts after "z" by code point and by byte. As float32, 16777217 equals 16777216, which makes a tie in query "r".
RUN = {
    "q": {"c": 0.5, "a": 0.5, "é": 0.5, "b": 1.0, "z": 0.5},
    "r": {"b": 16777216.0, "a": 16777217.0},
    "t": {"a": 1.0},
}
LABELS, SCORES = [[1, 0, 2], [0, 1, 0]], [[0.5, 0.5, 0.5], [1.0, 0.5, 0.5]]


def by_definition(queries, ties):
    """Return the textbook values of METRICS. Each query is a pair of its documents and its judged grades."""
    return [
        [textbook.metric(name, docs, judged, ties=ties, **parameters) for docs, judged in queries]
        for name, parameters in DEFINITIONS
    ]


def metrics_of_qrels(qrels=QRELS, run=RUN, ties="docid", missing="zero"):
    queries = [
        ([textbook.Doc(doc, grades.get(doc), score) for doc, score in run.get(query, {}).items()], [*grades.values()])
        for query, grades in qrels.items()
        if query in run or missing == "zero"
    ]
    return by_definition(queries, ties)


def metrics_of_scores(labels=LABELS, scores=SCORES, ties="average", judged=None):
    queries = [(documents(*query), grades) for *query, grades in zip(labels, scores, judged or labels, strict=True)]
    return by_definition(queries, ties)


def documents(labels, scores):
    return [textbook.Doc(index, *pair) for index, pair in enumerate(zip(labels, scores, strict=True))]


def joined(rows):
    return [*chain.from_iterable(rows)]
