"""Arguments that comparisons and their tests reject, each with its error message."""

import math
import sys
from decimal import Decimal

import numpy as np
import pytest
from support.made_runs import against_nothing, comparison, evaluation
from support.marks import in_one_case

import rankgain as rg

nan, inf, HUGE = math.nan, math.inf, 10**400
QRELS, RUN = {"q1": {"d1": 1}, "q2": {"d7": 1}}, {"q1": {"d1": 0.9}}
RUNS = {"a": RUN}
FIFTY = np.random.default_rng(0).random(50)
ONE, BOTH = (rg.from_ranked([[0, 1]]).evaluate(*names) for names in (("rr",), ("rr", "cg@1")))


def compared(**runs):
    return comparison(runs or {"a": [0.1, 0.2, 0.3], "b": [0.3, 0.1, 0.2]})


def run_test(runs=None, **options):
    return (compared() if runs is None else runs).test(**options)


def differing(queries, **options):
    return against_nothing(FIFTY[:queries]).test(method="exact", **options)


def groups(by):
    return compared().groups(by)


def queries_needed(**options):
    return compared(a=[0.0] * 20, b=[0.5, -0.5] * 10).queries_needed("ndcg", "b", "a", **options)


def compare(runs=RUNS, truth=QRELS, metrics="mrr", **options):
    return rg.compare(truth, runs, metrics, **options)


def values(runs, metrics="s", **options):
    return rg.compare(runs=runs, metrics=metrics, values=True, **options)


def lookup(result, key):
    return result[key]


def tied_with_best(metric):
    return compared().test().tied_with_best(metric)


def by_query(**runs):
    """Return a Comparison of runs with the given query ids."""
    return rg.Comparison({name: evaluation([0.5] * len(ids), list(ids)) for name, ids in runs.items()})


MARGIN, POWER = "margin must be finite and at least 0, not ", "power must be between 0 and 1, such as 0.8, not "
NO_GROUP, NO_CLUSTER = "(first: 1): give each one a label", "(first: 1): give each"
SEED, LACKS = "seed must be from 0 to 18446744073709551615, not ", ": evaluate rankings with missing='zero', or take"
ROWS = [
    *(
        (run_test, ValueError, f"{name} must be {choices}, not 'x'", {name: "x"})
        for name, choices in {
            "method": "'randomization' or 'exact' or 't'",
            "correction": "one of 'max-t', 'holm', 'bh' or None",
            "family": "'metric' or 'all'",
            "intervals": "'single' or 'simultaneous'",
        }.items()
    ),
    (run_test, ValueError, "queries must be 'same' or 'common', not 'all'", {"queries": "all"}),
    (run_test, ValueError, "baseline: there is no run 'c'; there are: a, b", {"baseline": "c"}),
    (run_test, ValueError, "metrics: map was not evaluated; there are: ndcg", {"metrics": "map"}),
    (run_test, ValueError, "metrics is empty: name at least one, or None for all", {"metrics": []}),
    *((run_test, ValueError, f"{MARGIN}{str(value)[:4]}", {"margin": value}) for value in (-0.1, inf, HUGE)),
    (run_test, TypeError, "margin must be a number, not str", {"margin": "much"}),
    (run_test, ValueError, "level must be between 0 and 1, such as 0.95, not 95", {"level": 95}),
    (run_test, ValueError, "flips must be from 1 to 100000000, not 0", {"flips": 0}),
    (run_test, TypeError, "flips must be an integer, not float", {"flips": 99.0}),
    (run_test, ValueError, "flips=10 cannot show anything at level=0.95: needs flips=19 or more", {"flips": 10}),
    *((run_test, ValueError, f"{SEED}{value}", {"seed": value}) for value in (2**64, -1)),
    (run_test, TypeError, "seed must be an integer, not NoneType", {"seed": None}),
    (run_test, ValueError, "threads must be from 1 to 256, not 0", {"threads": 0}),
    (run_test, ValueError, "weights has 2 numbers, and there are 3 queries: give one per query", {"weights": [1, 2]}),
    (run_test, ValueError, "ndcg: a test needs at least 2 queries…there is one", {"weights": [0, 1, 0]}),
    (run_test, ValueError, "clusters has 2 labels, and there are 3 queries: give one per", {"clusters": [1, 2]}),
    (run_test, ValueError, f"clusters: 2 queries have no cluster {NO_CLUSTER}", {"clusters": {0: "x"}}),
    (run_test, ValueError, "clusters: 1 query has no cluster (first: 1)", {"clusters": [1.0, nan, 1.0]}),
    (run_test, TypeError, "clusters must be a mapping from query to cluster, or hold one la", {"clusters": "xyz"}),
    (run_test, ValueError, "clusters: all queries are in one cluster, and a test needs at", {"clusters": list("xxx")}),
    *(
        (run_test, ValueError, f"{name}: method='t' takes none: choose method='r", {name: [1, 1, 2], "method": "t"})
        for name in ("weights", "clusters")
    ),
    (run_test, ValueError, "there is one run: a test needs two or more", {"runs": compared(a=[0.1, 0.2])}),
    *(
        (run_test, ValueError, f"at least 2 queries…value in all runs, and there is {there}", {"runs": runs})
        for there, runs in {"one": compared(a=[0.5], b=[0.5]), "none": compared(a=[nan], b=[nan])}.items()
    ),
    (run_test, ValueError, f"run 'b' lacks 2 queries that 'a' has (first: 'q3'){LACKS}",
     {"runs": by_query(a=["q1", "q2", "q3", "q17"], b=["q2", "q1"])}),
    (run_test, ValueError, "run 'a' lacks 1 query that 'b' has (first: 'y')", {"runs": by_query(a="x", b="xy")}),
    (run_test, ValueError, "queries: the runs have no query in common",
     {"runs": by_query(a="x", b="y"), "queries": "common"}),
    (run_test, ValueError, "ndcg: run 'a' has no value (NaN) for query 1, and run 'b' has one",
     {"runs": compared(a=[0.1, nan, 0.4], b=[0.1, 0.2, 0.5])}),
    (run_test, ValueError, "ndcg: run 'b', query 1: the value is infinite: it has no mean",
     {"runs": compared(a=[0.1, 0.2], b=[0.1, inf])}),
    (differing, ValueError, "method='exact': cg: 'run' and 'zero' differ in 50 queries, and all sign vectors can be "
     "enumerated for at most 44", {"queries": 50}),
    (differing, ValueError, "'run' and 'zero' differ in 45 clusters", {"queries": 46, "clusters": [*range(45), 0]}),
    (groups, ValueError, f"by: 2 queries have no group {NO_GROUP}", {"by": {0: "x"}}),
    *(
        (groups, ValueError, f"by: 1 query has no group {NO_GROUP}", {"by": ["x", missing, "y"]})
        for missing in (None, Decimal("sNaN"))
    ),
    (groups, ValueError, "by: 2 queries have no group (first: 1)", {"by": np.array([1.0, nan, nan])}),
    (groups, ValueError, "by: 1 query has no group (first: 2)", {"by": {0: "x", 1: "y", 2: nan}}),
    (groups, ValueError, "by has 1 labels, and there are 3 queries: give one per query, in the order", {"by": ["x"]}),
    *(
        (groups, TypeError, f"by must be a mapping from query to group, or…label per query, not {kind}", {"by": by})
        for kind, by in {"str": "xyz", "int": 3}.items()
    ),
    (queries_needed, ValueError, "difference must be finite and not 0, not 0: give the smallest", {"difference": 0}),
    (queries_needed, ValueError, "difference must be finite and not 0, not 1000", {"difference": HUGE}),
    (queries_needed, TypeError, "difference must be a number, not str", {"difference": "x"}),
    (queries_needed, ValueError, POWER + "1", {"difference": 0.1, "power": 1}),
    (queries_needed, ValueError, POWER + "1000", {"difference": 0.1, "power": HUGE}),
    (queries_needed, ValueError, "level must be between 0 and 1", {"difference": 0.1, "level": 2}),
    (compare, TypeError, "runs must be a mapping from name to run, not dict_items", {"runs": RUN.items()}),
    (compare, ValueError, "run 'a': no truth was given, which only Rankings include",
     {"runs": {"a": RUN}, "truth": None}),
    (compare, ValueError, "run 'a': no metric was requested", {"runs": {"a": RUN}, "metrics": []}),
    (compare, TypeError, "runs must be a mapping from name to run, not list", {"runs": [RUN]}),
    (compare, TypeError, "not Evaluation; name them: {'a': first, 'b': second}", {"runs": ONE}),
    (compare, ValueError, "run 'bad':…NaN", {"runs": {"good": RUN, "bad": {"q1": {"d1": nan}}}}),
    *(
        (compare, ValueError, "queries must be 'all' or 'same' or 'common'", {"runs": {"a": RUN}, "queries": queries})
        for queries in ("each", None)
    ),
    (compare, ValueError, "unknown metric 'nothing'", {"metrics": "nothing"}),
    (compare, ValueError, "run 'b':…no query in common", {"runs": {"a": RUN, "b": {"q9": {"d": 1.0}}}}),
    (compare, TypeError, "run 'b': query 'q1', document 'd'", {"runs": {"a": RUN, "b": {"q1": {"d": "x"}}}}),
    (compare, TypeError, "run 'a': query 0, position 0…float", {"runs": {"a": [[0.5, 0.1]]}}),
    (compare, ValueError, f"run 'b' lacks 1 query that 'a' has (first: 'q1'){LACKS}",
     {"runs": {"a": QRELS, "b": {"q2": {"d": 0.5}}}, "missing": "skip", "queries": "same"}),
    (compare, TypeError, "the runs are Rankings or Evaluations, which take no doc: leave it out",
     {"runs": {"a": rg.from_ranked([[1]])}, "truth": None, "doc": "movie"}),
    (compare, ValueError, "metrics: the runs are Evaluations, whose metrics are compared: leave",
     {"runs": {"a": ONE}, "truth": None}),
    (values, ValueError, "values=True: name the values: metrics='my score'", {"runs": {"a": RUN}, "metrics": None}),
    *(
        (values, ValueError, "values=True: values take no truth, rules, ties, missing or judged_only: leave them out",
         {"runs": {"a": {"q": 1}}, **given})
        for given in ({"truth": {}}, {"ties": "docid"}, {"missing": "skip"})
    ),
    (values, TypeError, "run 'a': values=True: must be a mapping from query to value, not", {"runs": {"a": [1, 2]}}),
    (values, TypeError, "run 'a': query 'q': a value must be a number, not str", {"runs": {"a": {"q": "1"}}}),
    (values, ValueError, "run 'a': query 'q': the value is infinite", {"runs": {"a": {"q": HUGE}}}),
    (values, TypeError, "higher_is_better must be True, False", {"runs": {"a": {"q": 1}}, "higher_is_better": "no"}),
    (rg.Comparison, ValueError, "evaluations is empty: give at least one run", {"evaluations": {}}),
    (rg.Comparison, TypeError, "evaluations must be a mapping of str to Evaluation, not list", {"evaluations": [ONE]}),
    (rg.Comparison, TypeError, "run 'b': must be an Evaluation, not None", {"evaluations": {"a": ONE, "b": None}}),
    (rg.Comparison, TypeError, "the name of a run must be a str, not int 1", {"evaluations": {1: ONE}}),
    *(
        (rg.Comparison, ValueError, f"run 'b' {has} the metric cg@1, unlike the first: evaluate the same metrics",
         {"evaluations": runs})
        for has, runs in (("lacks", {"a": BOTH, "b": ONE}), ("has", {"a": ONE, "b": BOTH}))
    ),
    (lookup, KeyError, "unknown run 'worse'; there are: a, b", {"result": compared(), "key": "worse"}),
    (lookup, KeyError, "not tested: a key is (metric, run, baseline), such as ('ndcg', 'b', 'a')",
     {"result": compared().test(), "key": ("ndcg", "a", "b")}),
    (compared().best, KeyError, "rr@77 was not evaluated; there are: ndcg", {"metric": "rr@77"}),
    (tied_with_best, KeyError, "ap was not tested; there are: ndcg", {"metric": "ap"}),
]  # fmt: skip


@in_one_case("row", [(message, error, function, given) for function, error, message, given in ROWS])
def test_comparisons_reject_arguments(rejects, row):
    message, error, function, given = row
    rejects(error, message, function, **given)


@pytest.mark.needs("pandas")
def test_a_frame_needs_distinct_names(rejects):
    alike = [rg.metric("cg", gain=gain) for gain in (lambda grades: grades, lambda grades: 2 * grades)]
    message = "two metrics are both called cg(gain=<lambda>), and a frame needs distinct names: evaluate them sep"
    compared = rg.Comparison({"one": rg.from_ranked([[1]]).evaluate(*alike)})
    rejects(ValueError, message, compared.to_pandas)


@pytest.mark.usefixtures("backend")
def test_error_of_metrics_side_by_side_names_the_line_to_write():
    with pytest.raises(TypeError, match=r"compare\(truth, runs, \['rr', 'ndcg@10'\]\)"):
        rg.compare(QRELS, {"a": RUN}, "rr", rg.metric("ndcg", k=10))


@pytest.mark.usefixtures("backend")
def test_t_test_without_scipy_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(ImportError, match=r"^method='t' needs SciPy: pip install 'rankgain\[stats\]'$"):
        compared().test(method="t")


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize(
    ("b", "left_out"),
    [
        (evaluation([0.5, 0.4], ["q2", "q1"]), 2),
        (evaluation([0.4, 0.5, nan, nan], ["q1", "q2", "q3", "q17"]), 2),
    ],
)
def test_common_queries_leave_out_those_of_one_run(b, left_out):
    a = evaluation([0.1, 0.2, 0.3, 0.4], ["q1", "q2", "q3", "q17"])
    tests = rg.Comparison({"a": a, "b": b}).test(queries="common")
    assert (tests.queries, tests.left_out) == (2, left_out)
    assert "; 2 queries, 2 left out, none missing." in tests.table()
    assert tests["ndcg", "b", "a"].difference == pytest.approx((0.4 - 0.1 + 0.5 - 0.2) / 2)


@pytest.mark.usefixtures("backend")
def test_queries_without_a_value_in_any_run_are_left_out():
    runs = compared(a=[0.1, nan, 0.3], b=[0.2, nan, 0.1])
    tests = runs.test()
    assert (tests.queries, tests.left_out) == (2, 1)
    assert runs.per_query("ndcg", "b", "a")[0][0] == 0


@pytest.mark.usefixtures("backend")
def test_too_few_flips_for_a_family_are_noted():
    runs = {f"r{run}": np.random.default_rng(run).random(30) for run in range(5)}
    needs = "Too few flips for 10 comparisons: needs 2000"
    assert needs in comparison(runs).test(correction="holm", flips=999).table()
    assert "oo few flips" not in comparison(runs).test(correction="holm", flips=1999).table()
    assert "oo few flips" not in comparison(runs).test(flips=999).table()
    exact = comparison({name: values[:10] for name, values in runs.items()}).test(correction="holm", flips=999)
    assert "oo few flips" not in exact.table()
