"""Options of what reads columns: frames of each library, prepared judgments, record batches."""

import pandas as pd
import polars as pl
import pyarrow as pa
from support import textbook
from support.cases import SAME, Option
from support.options.inputs import METRICS, QRELS, RUN, joined, of_qrels, of_scores
from support.sides import columns

import rankgain as rg

LIBRARIES = dict, pd.DataFrame, pl.DataFrame, pa.table
SIDE = [[1, 0, 2], [1]], [[0.5, 1.0, 0.25], [2.0]]  # labels and scores side by side
# Beside columns that are named explicitly stand others with the customary names.
DECOYS = {"query_id": "no", "doc_id": "no", "relevance": 9, "score": 0.0}


def with_decoys(held):
    size = len(next(iter(held.values())))
    return held | {name: [decoy] * size for name, decoy in DECOYS.items() if name not in held}


def each_named(names):
    """Each name with the others."""
    for name, column in names.items():
        yield name, column, {other: held for other, held in names.items() if other != name}


def frames():
    truth, run = with_decoys(columns(QRELS, "Q", "D", "R")), with_decoys(columns(RUN, "q", "d", "s"))
    ranks = {query: {doc: place for place, doc in enumerate(docs, 1)} for query, docs in RUN.items()}
    falling = {query: {doc: -rank for doc, rank in docs.items()} for query, docs in ranks.items()}
    ranked = columns(ranks, value="r") | {"score": [0.0] * 8}
    first, last, worse = columns(RUN, value="score"), columns(RUN, value="score"), columns(ranks, value="r")
    for row, twice, place in [(("q", "c", 0.25), first, 0), (("q", "c", 0.25), last, 8), (("q", "c", 9), worse, 0)]:
        for column, value in zip(twice.values(), row, strict=True):
            column.insert(place, value)
    side = {"id": list("qqqr"), "mark": joined(SIDE[0]), "mine": joined(SIDE[1])}
    side |= {"query": list("xxyy"), "label": [0] * 4, "score": [1.0] * 4}
    tied = {"query": list("qqqr"), "label": joined(SIDE[0]), "score": [0.5, 0.5, 0.5, 2.0]}
    for make in LIBRARIES:
        for judgments in (make(truth), rg.judgments(QRELS)):
            for name, column, others in each_named(
                {"query": ("Q", "q"), "doc": ("D", "d"), "relevance": "R", "score": "s"}
            ):
                if name != "relevance" or not isinstance(judgments, rg.Judgments):
                    given = {"qrels_df": judgments, "run_df": make(run), "metrics": METRICS}
                    yield Option("from_frames", name, column, of_qrels(), **given, **others)
        given = {"qrels_df": make(columns(QRELS)), "run_df": make(columns(RUN, value="score")), "metrics": METRICS}
        for ties in ("average", "stable", "best", "worst"):
            yield Option("from_frames", "ties", ties, of_qrels(ties=ties), **given)
        yield Option("from_frames", "missing", "skip", of_qrels(missing="skip"), **given)
        yield Option("from_frames", "rank", "r", of_qrels(run=falling), **{**given, "run_df": make(ranked)})
        for twice in (first, last):
            yield Option("from_frames", "duplicates", "first", of_qrels(), **{**given, "run_df": make(twice)})
        by_rank = {**given, "run_df": make(worse), "rank": "r"}
        yield Option("from_frames", "duplicates", "first", of_qrels(run=falling), **by_rank)
        named = {"x": {"rr": 1 / 4}, "y": {"rr": 1.0}, "z": {"rr": 0.0}}
        yield Option("from_frames", "query_ids", "xyz", named, **{**given, "metrics": ["rr"]}, by_query=True)

        given = {"qrels_df": make(side), "run_df": None, "metrics": METRICS}
        for name, column, others in each_named({"query": "id", "relevance": "mark", "score": "mine"}):
            yield Option("from_frames", name, column, of_scores(*SIDE), **given, **others)
        given = {"qrels_df": make(tied), "run_df": None, "metrics": METRICS}
        for ties in ("stable", "best", "worst"):
            due = of_scores(SIDE[0], [[0.5] * 3, [2.0]], ties=ties)
            yield Option("from_frames", "ties", ties, due, **given)
        for name, column, others in each_named({"query": "Q", "doc": "D", "relevance": "R"}):
            yield Option("judgments", name, column, of_qrels(), truth=make(truth), run=RUN, metrics=METRICS, **others)


def batches():
    qrels, run = {"q": {"a": 1, "b": 0, "c": 2}, "r": {"a": 1}}, {"q": {"a": 0.5, "b": 1.0, "x": 0.5}, "r": {"a": 2.0}}
    mark, mine = [1, 0, None, 2, 1], [0.5, 1.0, 0.5, None, 2.0]
    both = {"query_id": list("qqqqr"), "doc_id": list("abxca"), "relevance": mark, "score": mine}
    # Beside the columns that are named stand the customary ones, marks and scores the wrong way round.
    named = {"id": both["query_id"], "document": both["doc_id"], "mark": mark, "mine": mine}
    named |= {"query_id": ["x"] * 5, "doc_id": list("zyxwv"), "relevance": mine, "score": mark}
    alone = {"id": list("qqqr"), "document": list("abxa"), "mine": [0.5, 1.0, 0.5, 2.0]}
    alone |= {"query_id": ["x"] * 4, "doc_id": list("wxyz"), "score": [9.0, 0.0, 0.0, 0.0]}
    tied = {"query_id": list("qqqr"), "label": joined(SIDE[0]), "score": [0.5, 0.5, 0.5, 2.0]}
    side = {"query_id": list("qqqr"), "label": joined(SIDE[0]), "score": joined(SIDE[1])}
    part, part_run = columns({"q": run["q"]}, value="score"), {"q": run["q"]}
    names = {"query": "id", "doc": "document", "relevance": "mark", "score": "mine"}
    for call, shaped in (("evaluate_batches", one_batch), ("summarize_batches", means)):
        for name, column, others in each_named(names):
            yield Option(call, name, column, shaped(of_qrels(qrels, run)), columns=named, metrics=METRICS, **others)
        for name, column, others in each_named({name: names[name] for name in ("query", "doc", "score")}):
            given = {"columns": alone, "metrics": METRICS, "judgments": rg.judgments(qrels)}
            yield Option(call, name, column, shaped(of_qrels(qrels, run)), **given, **others)
        for ties in ("average", "stable", "best", "worst"):
            due = of_qrels(qrels, run, ties=ties)
            if due != of_qrels(qrels, run):
                yield Option(call, "ties", ties, shaped(due), columns=both, metrics=METRICS)
            if ties != "average":
                due = of_scores(SIDE[0], [[0.5] * 3, [2.0]], ties=ties)
                yield Option(call, "ties", ties, shaped(due), columns=tied, metrics=METRICS)
        given = {"columns": part, "metrics": METRICS}
        due = shaped(of_qrels(qrels, part_run))
        yield Option(call, "judgments", rg.judgments(qrels), due, **given)
        due = shaped(of_qrels(qrels, part_run, missing="skip"))
        yield Option(call, "missing", "skip", due, **given, judgments=rg.judgments(qrels))
        due = shaped([[textbook.ndcg(row, row, gain="binary", discount="jarvelin:2") for row in ([0, 1, 2], [1])]])
        yield Option(call, "like", "lenskit", due, columns=side, metrics=["ndcg"])
        again = {
            name: [*column[:4], more, column[4]]
            for (name, column), more in zip(both.items(), ("q", "a", None, 0.1), strict=True)
        }
        yield Option(call, "duplicates", "first", shaped(of_qrels(qrels, run)), columns=again, metrics=METRICS)
        again = {name: [*column, more] for (name, column), more in zip(part.items(), ("q", "a", 0.1), strict=True)}
        given = {"columns": again, "metrics": METRICS, "judgments": rg.judgments(qrels)}
        yield Option(call, "duplicates", "first", shaped(of_qrels(qrels, part_run)), **given)
        yield Option(call, "threads", 2, SAME, columns=both)
        for size in (1, 10**30):
            yield Option(call, "rows", size, SAME, columns=both)


def one_batch(vectors):
    """All queries in the rows of a table."""
    return [list("qr")[: len(vectors[0])], *vectors]


def means(vectors):
    return [sum(vector) / len(vector) for vector in vectors]


def rows():
    yield from frames()
    yield from batches()
