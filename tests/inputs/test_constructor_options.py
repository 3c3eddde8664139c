"""Options of `evaluate` and of the constructors and methods of `Rankings`, for each form of input."""

import math

import numpy as np
import pytest
from support import textbook
from support.effects import UNCHANGED
from support.evaluating import (
    evaluate_lines,
    evaluate_qrels,
    evaluate_ranked,
    evaluate_recommendations,
    evaluate_scores,
    read_lines,
)
from support.sides import qrels_lines, run_lines
from support.small_rankings import LABELS, METRICS, QRELS, RUN, SCORES, joined, metrics_of_qrels, metrics_of_scores

import rankgain as rg

POLICIES = ["average", "stable", "best", "worst"]


def evaluate_by_query(constructor, *sides, metrics, **options):
    """Return the values by query id."""
    return constructor(*sides, **options).evaluate(*metrics).to_dict()


SCORED = {  # labels, scores and options for each form that has separate code
    "lists": (LABELS, SCORES, {}),
    "matrices": (np.array(LABELS), np.array(SCORES), {}),
    "float32": (np.array(LABELS, "f4"), np.array(SCORES, "f4"), {}),
    "sizes": (joined(LABELS), joined(SCORES), {"group_sizes": [3, 3]}),
    "grouped": (np.array(joined(LABELS)), np.array(joined(SCORES), "f4"), {"qid": [7, 7, 7, 9, 9, 9]}),
    "mixed": ([1, 0, 0, 1, 2, 0], [0.5, 1.0, 0.5, 0.5, 0.5, 0.5], {"qid": list("ababab")}),
}
scored = pytest.mark.parametrize("form", SCORED)


@pytest.mark.options("from_scores", "ties")
@pytest.mark.options("evaluate", "ties")
@scored
def test_scores_are_ordered_by_a_tie_policy(check_option, form):
    *sides, given = SCORED[form]
    for ties in POLICIES[1:]:
        values = metrics_of_scores(ties=ties)
        check_option(evaluate_scores, "ties", ties, values, *sides, metrics=METRICS, **given)
        check_option(rg.evaluate, "ties", ties, values, *sides, *METRICS, **given)


@pytest.mark.options("from_scores", "judged")
@scored
def test_from_scores_takes_judged_grades(check_option, form):
    *sides, given = SCORED[form]
    judged = [[1, 0, 2, 3], [0, 1, 0, 3]]
    for grades in (judged, np.array(judged), [np.array(row, "f4") for row in judged]):
        values = metrics_of_scores(judged=judged)
        check_option(evaluate_scores, "judged", grades, values, *sides, metrics=METRICS, **given)


@pytest.mark.options("from_scores", "query_ids")
@scored
def test_from_scores_takes_ids_of_queries(check_option, form):
    *sides, given = SCORED[form]
    values = {query: {"rr": rr} for query, rr in zip("xy", metrics_of_scores()[2], strict=True)}
    check_option(evaluate_by_query, "query_ids", ["x", "y"], values, rg.from_scores, *sides, metrics=["rr"], **given)


@pytest.mark.options("from_scores", "group_sizes")
def test_from_scores_divides_by_group_sizes(check_option):
    for sizes in ([3, 3], np.array([3, 3], "u1")):
        values = metrics_of_scores()
        check_option(evaluate_scores, "group_sizes", sizes, values, joined(LABELS), joined(SCORES), metrics=METRICS)


@pytest.mark.options("from_scores", "qid")
@pytest.mark.parametrize("form", ["grouped", "mixed"])
def test_from_scores_groups_by_qid(check_option, form):
    *sides, given = SCORED[form]
    for qid in (given["qid"], np.array(given["qid"]), [{7: "p", 9: "q"}.get(query, query) for query in given["qid"]]):
        check_option(evaluate_scores, "qid", qid, metrics_of_scores(), *sides, metrics=METRICS)


@pytest.mark.options("from_scores", "mask")
def test_from_scores_leaves_out_masked_documents(check_option):
    labels, scores = [[-1, 1, 0, 2], [0, 1, 0, -1]], [[math.nan, 0.5, 0.5, 0.5], [1.0, 0.5, 0.5, math.nan]]
    mask = [[False, True, True, True], [True, True, True, False]]
    values = metrics_of_scores()
    for form in (list, np.array, lambda rows: np.array(rows, "f4")):
        sides = form(labels), form(scores)
        for own_mask in (mask, np.array(mask)):
            check_option(evaluate_scores, "mask", own_mask, values, *sides, metrics=METRICS)
        flat = form(joined(labels)), form(joined(scores))
        check_option(evaluate_scores, "mask", joined(mask), values, *flat, group_sizes=[4, 4], metrics=METRICS)
    mixed = [[joined(rows)[index] for index in (1, 4, 2, 5, 3, 6, 7, 0)] for rows in (labels, scores, mask)]
    qid = [7, 9, 7, 9, 7, 9, 9, 7]
    check_option(evaluate_scores, "mask", mixed[2], values, *mixed[:2], qid=qid, metrics=METRICS)
    unequal = [[rows[0], rows[1][:3]] for rows in (labels, scores, mask)]
    check_option(evaluate_scores, "mask", unequal[2], values, *unequal[:2], metrics=METRICS)


RANKED = {"lists": list, "matrix": np.array, "float32": lambda rows: np.array(rows, "f4")}
IN_ORDER, SCORES_IN_ORDER = [[0, 2], [1, 0]], [[2.0, 1.0]] * 2
JUDGED = [[0, 2, 3], [1, 0, 1]]
ranked = pytest.mark.parametrize("form", RANKED)


@pytest.mark.options("from_ranked", "judged")
@ranked
def test_from_ranked_takes_judged_grades(check_option, form):
    values = metrics_of_scores(IN_ORDER, SCORES_IN_ORDER, "stable", JUDGED)
    for judged in (JUDGED, np.array(JUDGED)):
        check_option(evaluate_ranked, "judged", judged, values, RANKED[form](IN_ORDER), metrics=METRICS)


@pytest.mark.options("from_ranked", "query_ids")
@ranked
def test_from_ranked_takes_ids_of_queries(check_option, form):
    values = {"x": {"rr": 0.5}, "y": {"rr": 1.0}}
    for ids in (["x", "y"], np.array(["x", "y"]), dict.fromkeys("xy")):
        lists = RANKED[form](IN_ORDER)
        check_option(evaluate_by_query, "query_ids", ids, values, rg.from_ranked, lists, metrics=["rr"])


@pytest.mark.options("from_ranked", "mask")
@ranked
def test_from_ranked_leaves_out_masked_positions(check_option, form):
    padded, mask = [[9, 0, 2], [1, 9, 0]], [[False, True, True], [True, False, True]]
    for given in ({}, {"judged": JUDGED}):
        values = metrics_of_scores(IN_ORDER, SCORES_IN_ORDER, "stable", **given)
        check_option(evaluate_ranked, "mask", mask, values, RANKED[form](padded), metrics=METRICS, **given)
    check_option(evaluate_ranked, "mask", mask[0], [[0.5]], padded[0], metrics=["rr"])


def evaluate_under(qrels, run, **rules):
    return rg.from_qrels(qrels, run).under(**rules).evaluate(*METRICS)


TRUTHS = {"dicts": QRELS, "judgments": rg.judgments(QRELS)}
truths = pytest.mark.parametrize("truth", TRUTHS)


@pytest.mark.options("from_qrels", "ties")
@pytest.mark.options("evaluate", "ties")
@pytest.mark.options("Rankings.under", "ties")
@truths
def test_documents_with_ids_are_ordered_by_a_tie_policy(check_option, truth):
    for ties in POLICIES:
        values, sides = metrics_of_qrels(ties=ties), (TRUTHS[truth], RUN)
        check_option(evaluate_qrels, "ties", ties, values, *sides, metrics=METRICS)
        check_option(rg.evaluate, "ties", ties, values, *sides, *METRICS)
        check_option(evaluate_under, "ties", ties, values, *sides)


@pytest.mark.options("from_qrels", "missing")
@pytest.mark.options("evaluate", "missing")
@pytest.mark.options("Rankings.under", "missing")
@truths
def test_queries_missing_from_the_run_are_skipped(check_option, truth):
    values, sides = metrics_of_qrels(missing="skip"), (TRUTHS[truth], RUN)
    check_option(evaluate_qrels, "missing", "skip", values, *sides, metrics=METRICS)
    check_option(rg.evaluate, "missing", "skip", values, *sides, *METRICS)
    check_option(evaluate_under, "missing", "skip", values, *sides)


# The scores of RUN rounded to float32, which creates a tie in query "r".
ROUNDED = {**RUN, "r": {"b": 1.0, "a": 1.0}}


@pytest.mark.options("Rankings.under", "score_bits")
@truths
def test_under_compares_scores_by_32_bits(check_option, truth):
    check_option(evaluate_under, "score_bits", 32, metrics_of_qrels(run=ROUNDED), TRUTHS[truth], RUN)


THREE_IDS = {"x": {"rr": 1 / 4}, "y": {"rr": 1.0}, "z": {"rr": 0.0}}


@pytest.mark.options("from_qrels", "query_ids")
@truths
def test_from_qrels_takes_ids_of_queries(check_option, truth):
    sides = TRUTHS[truth], RUN
    check_option(evaluate_by_query, "query_ids", ["x", "y", "z"], THREE_IDS, rg.from_qrels, *sides, metrics=["rr"])


# The lines of a run file, either grouped by query or scattered.
LINES = {"in order": run_lines(RUN)}
LINES["scattered"] = b"".join(sorted(LINES["in order"].splitlines(keepends=True), key=lambda line: line.split()[2]))
files = pytest.mark.parametrize("order", LINES)


@pytest.mark.usefixtures("own_folder")
@pytest.mark.options("read_trec", "ties", "missing", "score_bits", "threads", "query_ids")
@files
def test_read_trec_applies_an_option(check_option, order):
    sides = qrels_lines(QRELS), LINES[order]
    for ties in POLICIES:
        if (ties, order) != ("stable", "scattered"):
            check_option(evaluate_lines, "ties", ties, metrics_of_qrels(ties=ties), *sides, metrics=METRICS)
    check_option(evaluate_lines, "missing", "skip", metrics_of_qrels(missing="skip"), *sides, metrics=METRICS)
    check_option(evaluate_lines, "score_bits", 32, metrics_of_qrels(run=ROUNDED), *sides, metrics=METRICS)
    check_option(evaluate_lines, "threads", 2, UNCHANGED, *sides, metrics=METRICS)
    check_option(evaluate_by_query, "query_ids", ["x", "y", "z"], THREE_IDS, read_lines, *sides, metrics=["rr"])


@pytest.mark.usefixtures("own_folder")
@pytest.mark.options("read_trec", "duplicates")
@files
def test_read_trec_takes_the_first_of_duplicates(check_option, order):
    run = b"q Q0 c 0 0.25 t\n" + LINES[order] + b"q Q0 b 0 0.25 t\nr Q0 a 0 3 t\n"
    for given, values in (({}, metrics_of_qrels()), ({"score_bits": 32}, metrics_of_qrels(run=ROUNDED))):
        check_option(evaluate_lines, "duplicates", "first", values, qrels_lines(QRELS), run, metrics=METRICS, **given)


def evaluate_limited(qrels, run, **limits):
    return rg.from_qrels(qrels, run).limited(**limits).evaluate(*METRICS)


@pytest.mark.options("Rankings.limited", "depth", "judged_only")
def test_limited_cuts_the_run(check_option):
    for depth in (1, 2, np.int64(3)):
        run = {
            query: dict(sorted(scores.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)[:depth])
            for query, scores in RUN.items()
        }
        check_option(evaluate_limited, "depth", depth, metrics_of_qrels(run=run), QRELS, RUN)
    run = {
        query: {doc: score for doc, score in scores.items() if doc in QRELS.get(query, {})}
        for query, scores in RUN.items()
    }
    check_option(evaluate_limited, "judged_only", True, metrics_of_qrels(run=run), QRELS, RUN)


RELEVANT, RECOMMENDED = [{1: 2, 5: 1}, {2: 1}], [[3, 1, 2], [4, 2]]


@pytest.mark.options("from_recommendations", "query_ids")
@pytest.mark.parametrize(
    "sides",
    [
        (RELEVANT, RECOMMENDED),
        (RELEVANT, np.array([[3, 1, 2], [4, 2, -1]])),
        ([{(item, 0): 1 for item in row} for row in RELEVANT], [[(item, 0) for item in row] for row in RECOMMENDED]),
        (rg.judgments(RELEVANT), RECOMMENDED),
    ],
    ids=["lists", "matrix", "tuples", "judgments"],
)
def test_from_recommendations_takes_ids_of_queries(check_option, sides):
    values = {"x": {"rr": 0.5}, "y": {"rr": 0.5}}
    given = {"metrics": ["rr"]}
    check_option(evaluate_by_query, "query_ids", ["x", "y"], values, rg.from_recommendations, *sides, **given)


@pytest.mark.options("from_recommendations", "missing")
def test_from_recommendations_skips_missing_queries(check_option):
    relevant = {"u": {1: 2, 5: 1}, "v": {2: 1}, "w": {9: 1}}
    for truth in (relevant, rg.judgments(relevant)):
        recommended = dict(zip("uv", RECOMMENDED, strict=True))
        check_option(evaluate_recommendations, "missing", "skip", [[0.5, 0.5]], truth, recommended, metrics=["rr"])


REPEATED = [[3, 1, 1, 2], [4, 4, 2, 2]]
REPEATED_FORMS = {
    "lists": ([{1: 2}, {2: 1}], REPEATED),
    "matrix": ([{1: 2}, {2: 1}], np.array(REPEATED)),
    "arrays": ([{1: 2}, {2: 1}], [np.array(row) for row in REPEATED]),
    "text": ([{"1": 2}, {"2": 1}], [[str(item) for item in row] for row in REPEATED]),
    "tuples": ([{(1, 0): 2}, {(2, 0): 1}], [[(item, 0) for item in row] for row in REPEATED]),
    "dicts": ({"u": {1: 2}, "v": {2: 1}}, dict(zip("uv", REPEATED, strict=True))),
}


@pytest.mark.options("from_recommendations", "duplicates")
@pytest.mark.parametrize("form", REPEATED_FORMS)
def test_from_recommendations_takes_the_first_of_duplicates(check_option, form):
    values = [[0.5, 0.5], [3.0, 2.0]]
    for given in ({}, {"validate": "full"}):
        sides = REPEATED_FORMS[form]
        metrics = ["rr", "num_ret"]
        check_option(evaluate_recommendations, "duplicates", "first", values, *sides, metrics=metrics, **given)


@pytest.mark.options("evaluate", "duplicates")
def test_evaluate_takes_the_first_of_duplicates(check_option):
    sides = {"u": {"1": 2}, "v": {"2": 1}}, {"u": list("3112"), "v": list("4422")}
    check_option(rg.evaluate, "duplicates", "first", [[0.5, 0.5]], *sides, "rr")


@pytest.mark.options("evaluate", "truth", "run")
@truths
def test_evaluate_takes_sides_by_name(check_option, truth):
    check_option(rg.evaluate, "run", RUN, metrics_of_qrels(), *METRICS, truth=TRUTHS[truth])
    check_option(rg.evaluate, "truth", TRUTHS[truth], metrics_of_qrels(), *METRICS, run=RUN)


def evaluate_lists(lists, *metrics, **options):
    return rg.from_ranked(lists).evaluate(*metrics, **options)


@pytest.mark.options("Rankings.evaluate", "like")
@pytest.mark.options("evaluate", "like")
def test_evaluate_takes_the_rules_of_another_tool(check_option):
    values = [[textbook.ndcg(row, row, gain="binary", discount="jarvelin:2") for row in LABELS]]
    check_option(evaluate_lists, "like", "lenskit", values, LABELS, "ndcg")
    sides = {"q": {"a": 1}}, {"q": {"b": 1.0, "a": 1.0 + 1e-9}}
    check_option(rg.evaluate, "like", "pytrec_eval", [[0.5]], *sides, "rr")  # pytrec_eval compares scores as float32


@pytest.mark.options("Rankings.evaluate", "threads")
@pytest.mark.options("evaluate", "threads")
def test_threads_change_nothing(check_option, monkeypatch):
    for name, most in (("CHUNK", 400), ("SMALLEST_CHUNK", 1)):  # the lists below have several chunks
        monkeypatch.setattr(f"rankgain.data.source.{name}", most)
    check_option(evaluate_lists, "threads", 3, UNCHANGED, np.tile(LABELS[0], (70, 6)), "dcg", "ap")
    check_option(rg.evaluate, "threads", 2, UNCHANGED, QRELS, RUN, *METRICS)
    rng = np.random.default_rng(8)
    grades, scores = rng.integers(0, 4, (70, 20)), rng.integers(0, 9, (70, 20)) / 4
    check_option(evaluate_ranked, "threads", 3, UNCHANGED, grades, metrics=["ap"])
    metrics = ["dcg", rg.metric("dcg", gain=np.sqrt)]
    check_option(evaluate_scores, "threads", 3, UNCHANGED, grades, scores, metrics=metrics)


def curve_values(metric="ndcg", ks=(1, 2)):
    return rg.from_scores([[0, 1, 0], [1, 0, 0]], [[3, 2, 1]] * 2).curve(metric, ks).values


@pytest.mark.options("Rankings.curve", "metric", "ks")
def test_curve_takes_a_metric_and_cut_offs(check_option):
    for gain, values in (("linear", [[0.0, 1.0], [1.0, 1.0]]), ({1: 5}, [[0.0, 5.0], [5.0, 5.0]])):
        check_option(curve_values, "metric", rg.metric("cg", gain=gain), values)
    check_option(curve_values, "ks", [3, 2, 3], [[0.5, 0.5], [1.0, 1.0]], "rr")


@pytest.mark.options("Rankings.tie_spread", "threads")
def test_tie_spread_is_the_same_with_threads(check_option):
    def tie_spread(**options):
        return rg.from_qrels(QRELS, RUN).tie_spread("ndcg", **options).to_dict()

    check_option(tie_spread, "threads", 2, UNCHANGED)
