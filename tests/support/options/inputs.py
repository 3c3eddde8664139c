"""Options of the constructors, of `evaluate`, and of what Rankings may be asked; those of frames stand in frames.py."""

import math
from itertools import chain

import numpy as np
from support import textbook
from support.cases import SAME, Option
from support.sides import qrels_lines, run_lines

import rankgain as rg

METRICS = ["ndcg", "dcg@2", "rr", "ap"]
DEFINED = [("ndcg", {}), ("dcg", {"k": 2}), ("rr", {}), ("ap", {})]
QRELS = {"q": {"a": 1, "b": 0, "c": 2, "d": 3}, "r": {"a": 1, "b": 3}, "s": {"b": 1}}
# "é" comes after "z" by code point and by byte; 16777217 is 16777216 as float32, by which "r" has a tie.
RUN = {
    "q": {"c": 0.5, "a": 0.5, "é": 0.5, "b": 1.0, "z": 0.5},
    "r": {"b": 16777216.0, "a": 16777217.0},
    "t": {"a": 1.0},
}
ROUNDED = {**RUN, "r": {"b": 1.0, "a": 1.0}}
LABELS, SCORES = [[1, 0, 2], [0, 1, 0]], [[0.5, 0.5, 0.5], [1.0, 0.5, 0.5]]


def by_definition(queries, ties):
    """The vectors of METRICS; `queries`: (documents, judged grades) each."""
    return [
        [textbook.metric(name, docs, judged, ties=ties, **parameters) for docs, judged in queries]
        for name, parameters in DEFINED
    ]


def of_qrels(qrels=QRELS, run=RUN, ties="docid", missing="zero"):
    queries = [
        ([textbook.Doc(doc, own.get(doc), score) for doc, score in run.get(query, {}).items()], [*own.values()])
        for query, own in qrels.items()
        if query in run or missing == "zero"
    ]
    return by_definition(queries, ties)


def of_scores(labels=LABELS, scores=SCORES, ties="average", judged=None):
    queries = [
        ([textbook.Doc(place, *pair) for place, pair in enumerate(zip(*query, strict=True))], known)
        for *query, known in zip(labels, scores, judged or labels, strict=True)
    ]
    return by_definition(queries, ties)


def joined(rows):
    return [*chain.from_iterable(rows)]


def scored():
    flat = [joined(LABELS), joined(SCORES)]
    forms = [  # each is read in its own way
        {"y_true": LABELS, "y_score": SCORES},
        {"y_true": np.array(LABELS), "y_score": np.array(SCORES)},
        {"y_true": np.array(LABELS, "f4"), "y_score": np.array(SCORES, "f4")},
        {"y_true": flat[0], "y_score": flat[1], "group_sizes": [3, 3]},
        {"y_true": np.array(flat[0]), "y_score": np.array(flat[1], "f4"), "qid": [7, 7, 7, 9, 9, 9]},
        {"y_true": [1, 0, 0, 1, 2, 0], "y_score": [0.5, 1.0, 0.5, 0.5, 0.5, 0.5], "qid": list("ababab")},
    ]
    for form in forms:
        for ties in ("stable", "best", "worst"):
            yield Option("from_scores", "ties", ties, of_scores(ties=ties), metrics=METRICS, **form)
            yield Option(
                "evaluate",
                "ties",
                ties,
                of_scores(ties=ties),
                sides=(form["y_true"], form["y_score"]),
                metrics=METRICS,
                **{name: value for name, value in form.items() if name not in ("y_true", "y_score")},
            )
        judged = [[1, 0, 2, 3], [0, 1, 0, 3]]
        for known in (judged, np.array(judged), [np.array(row, "f4") for row in judged]):
            yield Option("from_scores", "judged", known, of_scores(judged=judged), metrics=METRICS, **form)
        names = {"x": {"rr": of_scores()[2][0]}, "y": {"rr": of_scores()[2][1]}}
        yield Option("from_scores", "query_ids", ["x", "y"], names, metrics=["rr"], by_query=True, **form)
    yield Option("from_scores", "group_sizes", [3, 3], of_scores(), y_true=flat[0], y_score=flat[1], metrics=METRICS)
    yield Option(
        "from_scores",
        "group_sizes",
        np.array([3, 3], "u1"),
        of_scores(),
        y_true=flat[0],
        y_score=flat[1],
        metrics=METRICS,
    )
    for form in forms[4:]:
        given = {name: value for name, value in form.items() if name != "qid"}
        for qid in (form["qid"], np.array(form["qid"]), [{7: "p", 9: "q"}.get(own, own) for own in form["qid"]]):
            yield Option("from_scores", "qid", qid, of_scores(), metrics=METRICS, **given)
    padded = [[-1, 1, 0, 2], [0, 1, 0, -1]], [[math.nan, 0.5, 0.5, 0.5], [1.0, 0.5, 0.5, math.nan]]
    mask = [[False, True, True, True], [True, True, True, False]]
    for make in (list, np.array, lambda rows: np.array(rows, "f4")):
        y_true, y_score = map(make, padded)
        for own in (mask, np.array(mask)):
            yield Option("from_scores", "mask", own, of_scores(), y_true=y_true, y_score=y_score, metrics=METRICS)
        given = {"y_true": make(joined(padded[0])), "y_score": make(joined(padded[1])), "metrics": METRICS}
        yield Option("from_scores", "mask", joined(mask), of_scores(), group_sizes=[4, 4], **given)
    labels, scores, marks = ([joined(rows)[place] for place in (1, 4, 2, 5, 3, 6, 7, 0)] for rows in (*padded, mask))
    given = {"y_true": labels, "y_score": scores, "qid": [7, 9, 7, 9, 7, 9, 9, 7], "metrics": METRICS}
    yield Option("from_scores", "mask", marks, of_scores(), **given)
    labels, scores, marks = ([rows[0], rows[1][:3]] for rows in (*padded, mask))
    yield Option("from_scores", "mask", marks, of_scores(), y_true=labels, y_score=scores, metrics=METRICS)


def ranked():
    lists, judged = [[0, 2], [1, 0]], [[0, 2, 3], [1, 0, 1]]
    falling = [[2.0, 1.0]] * 2
    for rows in (lists, np.array(lists), np.array(lists, "f4")):
        for known in (judged, np.array(judged)):
            due = of_scores(lists, falling, "stable", judged)
            yield Option("from_ranked", "judged", known, due, relevance=rows, metrics=METRICS)
        names = {"x": {"rr": 0.5}, "y": {"rr": 1.0}}
        for ids in (["x", "y"], np.array(["x", "y"]), dict.fromkeys("xy")):
            yield Option("from_ranked", "query_ids", ids, names, relevance=rows, metrics=["rr"], by_query=True)
    padded, mask = [[9, 0, 2], [1, 9, 0]], [[False, True, True], [True, False, True]]
    for rows in (padded, np.array(padded), np.array(padded, "f4")):
        due = of_scores(lists, falling, "stable")
        yield Option("from_ranked", "mask", mask, due, relevance=rows, metrics=METRICS)
        due = of_scores(lists, falling, "stable", judged)
        yield Option("from_ranked", "mask", mask, due, relevance=rows, judged=judged, metrics=METRICS)
    yield Option("from_ranked", "mask", mask[0], [[0.5]], relevance=padded[0], metrics=["rr"])


def named():
    """Documents with ids: dicts, prepared judgments, files; and Rankings under other rules."""
    files = {"qrels": qrels_lines(QRELS), "run": run_lines(RUN)}
    mixed = b"".join(sorted(files["run"].splitlines(keepends=True), key=lambda line: line.split()[2]))
    scattered = {**files, "run": mixed}
    for ties in ("average", "stable", "best", "worst"):
        due = of_qrels(ties=ties)
        for qrels in (QRELS, rg.judgments(QRELS)):
            given = {"qrels": qrels, "run": RUN, "metrics": METRICS}
            yield Option("from_qrels", "ties", ties, due, **given)
            yield Option("evaluate", "ties", ties, due, sides=(qrels, RUN), metrics=METRICS)
            yield Option("Rankings.under", "ties", ties, due, **given)
        yield Option("read_trec", "ties", ties, due, **files, metrics=METRICS)
        if ties != "stable":
            yield Option("read_trec", "ties", ties, due, **scattered, metrics=METRICS)
    due = of_qrels(missing="skip")
    for qrels in (QRELS, rg.judgments(QRELS)):
        given = {"qrels": qrels, "run": RUN, "metrics": METRICS}
        yield Option("from_qrels", "missing", "skip", due, **given)
        yield Option("Rankings.under", "missing", "skip", due, **given)
        yield Option("evaluate", "missing", "skip", due, sides=(qrels, RUN), metrics=METRICS)
        yield Option("Rankings.under", "score_bits", 32, of_qrels(run=ROUNDED), **given)
        names = {"x": {"rr": 1 / 4}, "y": {"rr": 1.0}, "z": {"rr": 0.0}}
        yield Option(
            "from_qrels", "query_ids", ["x", "y", "z"], names, qrels=qrels, run=RUN, metrics=["rr"], by_query=True
        )
    for held in (files, scattered):
        yield Option("read_trec", "missing", "skip", due, **held, metrics=METRICS)
        yield Option("read_trec", "score_bits", 32, of_qrels(run=ROUNDED), **held, metrics=METRICS)
        yield Option("read_trec", "threads", 2, SAME, **held, metrics=METRICS)
        yield Option("read_trec", "query_ids", ["x", "y", "z"], names, **held, metrics=["rr"], by_query=True)
        twice = {**held, "run": b"q Q0 c 0 0.25 t\n" + held["run"] + b"q Q0 b 0 0.25 t\nr Q0 a 0 3 t\n"}
        yield Option("read_trec", "duplicates", "first", of_qrels(), **twice, metrics=METRICS)
        twice["score_bits"] = 32
        yield Option("read_trec", "duplicates", "first", of_qrels(run=ROUNDED), **twice, metrics=METRICS)
    for depth in (1, 2, np.int64(3)):
        kept = {
            query: dict(sorted(own.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)[:depth])
            for query, own in RUN.items()
        }
        yield Option("Rankings.limited", "depth", depth, of_qrels(run=kept), qrels=QRELS, run=RUN, metrics=METRICS)
    kept = {
        query: {doc: score for doc, score in own.items() if doc in QRELS.get(query, {})} for query, own in RUN.items()
    }
    yield Option("Rankings.limited", "judged_only", True, of_qrels(run=kept), qrels=QRELS, run=RUN, metrics=METRICS)


def recommended():
    lists, relevant = [[3, 1, 2], [4, 2]], [{1: 2, 5: 1}, {2: 1}]
    keyed = {"u": [3, 1, 2], "v": [4, 2]}, {"u": {1: 2, 5: 1}, "v": {2: 1}, "w": {9: 1}}
    matrix = np.array([[3, 1, 2], [4, 2, -1]])
    tuples = (
        [[(own, 0) for own in row] for row in lists],
        [{(own, 0): grade for own, grade in row.items()} for row in relevant],
    )
    for sides in ((lists, relevant), (matrix, relevant), tuples, (lists, rg.judgments(relevant))):
        given = {"recommended": sides[0], "relevant": sides[1], "metrics": ["rr"]}
        names = {"x": {"rr": 0.5}, "y": {"rr": 0.5}}
        yield Option("from_recommendations", "query_ids", ["x", "y"], names, by_query=True, **given)
    for relevant in (keyed[1], rg.judgments(keyed[1])):
        given = {"recommended": keyed[0], "relevant": relevant, "metrics": ["rr"]}
        yield Option("from_recommendations", "missing", "skip", [[0.5, 0.5]], **given)
    again = [[3, 1, 1, 2], [4, 4, 2, 2]]
    forms = [again, np.array(again), [np.array(row) for row in again], [[str(own) for own in row] for row in again]]
    forms += [[[(own, 0) for own in row] for row in again], {"u": again[0], "v": again[1]}]
    for form in forms:
        make = {str: str, tuple: lambda own: (own, 0)}.get(
            type(next(iter(form))[0]) if isinstance(form, list) else int, int
        )
        known = [{make(1): 2}, {make(2): 1}]
        known = dict(zip("uv", known, strict=True)) if isinstance(form, dict) else known
        given = {"recommended": form, "relevant": known, "metrics": ["rr", "num_ret"]}
        for asked in ({}, {"validate": "full"}):
            yield Option("from_recommendations", "duplicates", "first", [[0.5, 0.5], [3.0, 2.0]], **given, **asked)
    sides = dict(zip("uv", [{"1": 2}, {"2": 1}], strict=True)), {"u": list("3112"), "v": list("4422")}
    yield Option("evaluate", "duplicates", "first", [[0.5, 0.5]], sides=sides, metrics=["rr"])
    # "full" looks at ids that are not relevant, too: what it refuses stands in the table of refusals.


def asked():
    """What is asked of Rankings, and of `evaluate`."""
    for sides in ((QRELS, RUN), (rg.judgments(QRELS), RUN)):
        given = {"sides": (), "metrics": METRICS}
        yield Option("evaluate", "run", sides[1], of_qrels(), truth=sides[0], **given)
        yield Option("evaluate", "truth", sides[0], of_qrels(), run=sides[1], **given)
    given = {"relevance": LABELS, "metrics": ["ndcg"]}
    due = [[textbook.ndcg(row, row, gain="binary", discount="jarvelin:2") for row in LABELS]]
    yield Option("Rankings.evaluate", "like", "lenskit", due, **given)
    tied = {"sides": ({"q": {"a": 1}}, {"q": {"b": 1.0, "a": 1.0 + 1e-9}}), "metrics": ["rr"]}
    yield Option("evaluate", "like", "pytrec_eval", [[0.5]], **tied)  # which compares float32
    many = {"relevance": np.tile(LABELS[0], (700, 60)), "metrics": ["dcg", "ap"]}
    yield Option("Rankings.evaluate", "threads", 3, SAME, **many)
    yield Option("evaluate", "threads", 2, SAME)
    rng = np.random.default_rng(8)
    large = {"relevance": rng.integers(0, 4, (700, 200))}  # three chunks
    yield Option("from_ranked", "threads", 3, SAME, **large, metrics=["ap"])
    given = {"y_true": large["relevance"], "y_score": rng.integers(0, 9, (700, 200)) / 4}
    yield Option("from_scores", "threads", 3, SAME, **given, metrics=["dcg", rg.metric("dcg", gain=np.sqrt)])
    labels = {"y_true": [[0, 1, 0], [1, 0, 0]], "y_score": [[3, 2, 1]] * 2}
    for gain, due in (("linear", [[0.0, 1.0], [1.0, 1.0]]), ({1: 5}, [[0.0, 5.0], [5.0, 5.0]])):
        yield Option("Rankings.curve", "metric", rg.metric("cg", gain=gain), due, **labels)
    yield Option("Rankings.curve", "ks", [3, 2, 3], [[0.5, 0.5], [1.0, 1.0]], metric="rr", **labels)
    yield Option("Rankings.tie_spread", "threads", 2, SAME)


def rows():
    for part in (scored, ranked, named, recommended, asked):
        yield from part()
