"""Options that are refused as soon as they are given: cut-offs, gains, discounts, names of metrics, closed choices."""

import math
from fractions import Fraction

import numpy as np

import rankgain as rg
from support.cases import HUGE, Case, masked, refused

nan, inf = math.nan, math.inf
FUNCTIONS = "cg dcg idcg ndcg reciprocal_rank mean_ndcg mrr"
RELEVANT = "precision recall average_precision hit_rate"
NO_NUMBERS = ["1", "x", b"1", True, np.True_, 1j, np.complex128(1), [1], np.array([1])]
NO_POSITIVE = "k must be a positive integer"


def rows():
    # cut-offs and numbers
    yield from refused(
        f"{FUNCTIONS} {RELEVANT} metric", "k", [0, -1, np.int64(-3), -(2**2000)], ValueError, NO_POSITIVE
    )
    whole = [2.5, 3.0, nan, True, False, np.True_, "5", [5], 1j, Fraction(3)]
    yield from refused(f"{FUNCTIONS} {RELEVANT} metric", "k", whole, TypeError, NO_POSITIVE + " | {}")
    yield from refused("discount", "n", [-1, 10**15, 2**100], ValueError, "n must be")
    yield from refused("discount", "n", [2.0, True, np.True_, "3", None], TypeError, "n must be | {}")
    yield from refused(f"reciprocal_rank mrr {RELEVANT}", "rel", NO_NUMBERS, TypeError, "rel must be | a number")
    yield from refused(
        f"reciprocal_rank mrr {RELEVANT}", "rel", [inf, -inf, nan, HUGE], ValueError, "rel must be | finite"
    )
    yield from refused("metric", "rel", NO_NUMBERS, TypeError, "rel must be | a number", name="rr")
    yield from refused("metric", "rel", [inf, -inf, nan, HUGE], ValueError, "rel must be | finite", name="rr")
    yield from refused("ndcg mean_ndcg metric", "empty", NO_NUMBERS, TypeError, "empty must be | a number")
    yield from refused("ndcg mean_ndcg metric", "empty", [inf, -inf, HUGE], ValueError, "empty must be | finite")

    # gains and discounts
    gains = [("gain", "kind"), (f"{FUNCTIONS.removesuffix(' reciprocal_rank mean_ndcg mrr')} mean_ndcg metric", "gain")]
    for calls, argument in gains:
        yield from refused(calls, argument, ["exp", ""], ValueError, "gain | 'linear' | 'exponential' | mapping")
        yield from refused(calls, argument, ["exp", "Exp"], ValueError, "; did you mean 'exponential'?")
        yield from refused(calls, argument, [5, b"linear", {1, 2}], TypeError, "gain | mapping | {}")
        worth = [{1: -1}, {1: inf}, {1: nan}, {1: HUGE}, [0, -2]]
        yield from refused(calls, argument, worth, ValueError, "gain | grade 1.0 | finite and not negative")
        grades = [{0: -1}, {-1: 1}, {nan: 1}]
        yield from refused(calls, argument, grades, ValueError, "gain | finite and not negative")
        worth = [{"a": 1}, {1: None}, {1: 1j}, [[1, 2]], {1: "3"}, {"1": 3}, {1: np.complex128(3)}]
        yield from refused(calls, argument, worth, TypeError, "gain | numbers")
        arrays = [np.array(3), np.ones((2, 2))]
        yield from refused(calls, argument, arrays, TypeError, "gain | must be | mapping or sequence | ndarray")
    for calls, argument in [("discount", "kind"), ("dcg idcg ndcg mean_ndcg metric", "discount")]:
        yield from refused(calls, argument, ["ln", "log2:3", ""], ValueError, "discount | log2 | zipf | jarvelin:b")
        bases = [f"jarvelin:{base}" for base in ("1", "0.5", "x", "", "nan", "inf", "-2")]
        yield from refused(calls, argument, bases, ValueError, "discount | jarvelin | b > 1")
        vectors = [[1, -0.5, 0], [1, nan], [1, inf]]
        yield from refused(calls, argument, vectors, ValueError, "discount | position 1 | finite and not negative")
        yield from refused(calls, argument, [5, [[1, 1], [1, 1]]], ValueError, "discount | dimension")
        yield from refused(calls, argument, [masked(0, 1)], ValueError, "discount | masked")
        vectors = [[1, "1"], [1, None], [1, 2j]]
        yield from refused(calls, argument, vectors, TypeError, "discount | position 1 | a number")
        yield from refused(calls, argument, [{1: 1}, {1, 2}, len, ...], TypeError, "discount | {}")

    # the first grade of a query that is invalid in any way is named: here it has no gain
    for calls, argument in (("cg dcg ndcg mean_ndcg", "relevance"), ("idcg", "judged")):
        lists = [[7, nan], [7, -1, 1], np.array([7, inf])]
        yield from refused(calls, argument, lists, ValueError, f"{argument}: position 0 | no entry for", gain={1: 1})

    # closed choices
    choices = ["judge", "JUDGED", 1, b"judged", ["judged"], np.array(["judged", "returned"])]
    yield from refused("ndcg mean_ndcg metric", "ideal", choices, ValueError, "ideal must be 'judged' or 'returned'")
    choices = ["avg", "AVERAGE", None, 1, ["stable"], np.array(["best", ""])]
    message = "ties must be one of | 'average' | 'stable' | 'worst'"
    yield from refused("from_scores from_qrels read_trec", "ties", choices, ValueError, message)
    yield from refused("from_scores", "ties", ["docid"], ValueError, "ties='docid' | ids | choose another")
    choices = ["no", "", None, True, ["zero"]]
    message = "missing must be 'zero' or 'skip'"
    yield from refused("from_qrels from_frames from_recommendations read_trec", "missing", choices, ValueError, message)

    # keywords of other tools
    for calls, keywords, message in KEYWORDS:
        for keyword in keywords.split():
            told = f"() got an unexpected keyword argument {keyword!r}: {message}"
            yield from refused(calls, keyword, [10], TypeError, told)

    # names of metrics
    for names, error, message in METRICS:
        for name in names:
            told = message.replace("{}", type(name).__name__)
            yield from refused("evaluate Rankings.evaluate", "metrics", [[name]], error, told)
        yield from refused("Rankings.curve", "metric", names, error, message) if error is ValueError else ()
    yield from refused(
        "Rankings.evaluate", "metrics", [[]], ValueError, "no metric was requested; there are: cg, ncg, dcg | ndcg"
    )
    message = "metric takes the name and its parameters separately: metric('ndcg', k=10) | take 'ndcg@10' as it is"
    yield from refused("metric", "name", ["ndcg@10", "ndcg10", "ndgc@10"], ValueError, message)
    yield from refused("metric", "name", ["ndgc"], ValueError, "unknown metric 'ndgc' | ; did you mean 'ndcg'?")
    for keyword in ("metric", "metrics"):
        told = f"unexpected keyword argument {keyword!r}: metrics are positional, as in evaluate(..., 'ndcg@10', 'mrr')"
        yield Case(TypeError, told, rg.evaluate, {"q": {"d": 1}}, {"q": {"d": 1.0}}, **{keyword: ["rr"]})
    progress = ["tqdm", 1, None, print]
    yield from refused("evaluate Rankings.evaluate compare", "progress", progress, TypeError, "must be True or False")
    yield from refused("metric", "discount", ["log2"], TypeError, "cg does not take discount", name="cg")


MADE = "from_ranked from_scores from_qrels from_frames from_recommendations read_trec evaluate"
PER_QUERY = "write qid= (an id per document) or group_sizes= (documents per query)"
KEYWORDS = [
    (
        f"{MADE} Rankings.evaluate",
        "k cutoff top_k at_k",
        "the cut-off belongs to the metric, as in evaluate(..., 'ndcg",
    ),
    (f"{MADE} Rankings.evaluate", "gain rel", "it belongs to the metric, as in evaluate(..., 'ndcg(gain=exponential)"),
    ("metric", "cutoff top_k", "write k="),
    ("from_scores", "groups group query indexes", PER_QUERY),
    ("from_scores", "lengths", "write group_sizes="),
    ("from_frames judgments", "query_col qid col_user user_column", "write query="),
    ("from_frames judgments", "doc_col item", "write doc="),
    ("from_frames judgments", "label_col rating", "write relevance="),
    ("from_frames", "score_col prediction", "write score="),
    ("from_frames", "rank_col", "write rank="),
    ("read_trec Rankings.evaluate", "n_jobs", "write threads="),
    ("from_scores from_qrels", "ignore_ties", "write ties="),
    ("from_qrels", "make_comparable", "write missing='zero' or missing='skip'"),
    ("from_qrels from_scores compare", "like", "pass it to evaluate, as in .evaluate('ndcg@10', like=...)"),
    ("from_qrels from_scores", "progress", "pass it to evaluate, as in .evaluate('ndcg@10', progress=...)"),
    ("from_qrels", "measures", "metrics are positional, as in evaluate(..., 'ndcg@10', 'mrr')"),
    ("from_qrels evaluate", "surprise", "it takes ties, missing, query_ids"),
    ("from_ranked", "ties", "it takes judged, mask, query_ids"),
]
METRICS = [
    (["ndcg@0", "ndcg@-1", "ndcg_cut.0", "ndcg_cut_0", "rr(k=0)", "ndcg@2.5", "ndcg@5,x"], ValueError, NO_POSITIVE),
    (["ndcg@", "ndcg@x", "ndcg@1e3"], ValueError, f"'ndcg@ | {NO_POSITIVE}"),
    (["rbp.95"], ValueError, "; did you mean 'rbp(p=0.95)'?"),  # as ranx writes them
    (["map-l2", "map-l2@5"], ValueError, "; did you mean 'map(rel=2)"),
    (["ndcg_burges@10"], ValueError, "; did you mean 'ndcg(gain=exponential)@10'?"),
    (["ndgc@10", "NDCH"], ValueError, "unknown metric | (`rankgain metrics` lists all); did you mean 'ndcg"),
    (["xyzzy", "zzzzz@10", "x" * 5000], ValueError, "unknown metric | (`rankgain metrics` lists all)"),
    (["maps@5", "maps"], ValueError, "unknown metric | did you mean 'map"),
    (["ngcd@10"], ValueError, "unknown metric 'ngcd@10' (`rankgain metrics` lists all); did you mean 'ndcg@10'?"),
    (["ndcg10", "ndcg-10", "ndcg.10", "ndcg 10", "ngcd_10"], ValueError, "; did you mean 'ndcg@10'?"),
    (["ndcg at 10", "'ndcg@10'", '"ndcg"@10', "ndcg@[10]"], ValueError, "; did you mean 'ndcg@10'?"),
    (["MRR10"], ValueError, "unknown metric 'MRR10' | did you mean 'MRR@10'?"),
    (["p2"], ValueError, "did you mean 'p@2'?"),
    (["F2"], ValueError, "did you mean 'f"),
    (["set_F_2"], ValueError, "did you mean 'set_f'?"),
    (["hit rate@10"], ValueError, "did you mean 'hit_rate@10'?"),
    (["ndcg@[5,10]"], ValueError, "did you mean 'ndcg@5,10'?"),
    (["ndcg@10(gain=exponential)"], ValueError, "did you mean 'ndcg(gain=exponential)@10'?"),
    (["ndcg(gain='exponential')@10"], ValueError, "gain must | did you mean 'ndcg(gain=exponential)@10'?"),
    (["ngcd(gain=exponential)@10"], ValueError, "did you mean 'ndcg(gain=exponential)@10'?"),
    (["ndcg:gain='exponential'@10"], ValueError, "gain must | did you mean 'ndcg:gain=exponential@10'?"),
    (["ndcg@10,map", "ndcg@10 map"], ValueError, "k must be | ; request each metric by itself: 'ndcg@10', 'map'"),
    (["f(beta=2,rel=1)@5, map"], ValueError, "request each metric by itself: 'f(beta=2,rel=1)@5', 'map'"),
    (["recal@5,10"], ValueError, "did you mean 'recall@5,10'?"),
    (["precison_at_5"], ValueError, "did you mean 'precision@5'?"),
    (["ndcg_10@5"], ValueError, "unknown metric 'ndcg_10@5'"),
    (["ndcg_cut_10@5"], ValueError, "unknown metric 'ndcg_cut_10@5'"),
    (["P_10@5"], ValueError, "unknown metric 'P_10@5'"),
    (["bpref_10"], TypeError, "bpref has no cut-off"),
    (["ndcg@10,"], ValueError, f"{NO_POSITIVE}, not ''"),
    (["ndcg@1,x"], ValueError, f"{NO_POSITIVE}, not 'x'"),
    (["ndcg@2.5"], ValueError, f"{NO_POSITIVE}, not '2.5'"),
    (["ndcg(gian=linear)"], ValueError, "'gian=linear' is not a parameter"),
    (["ndcg(gain=cubic)"], ValueError, "'linear', 'exponential' | 'cubic'"),
    (["ndcg(empty=x)"], ValueError, "empty must be a number | 'x'"),
    (["ndcg(empty=inf)"], ValueError, "empty must be finite or NaN"),
    (["mrr(rel=nan)"], ValueError, "rel must be finite"),
    (["cg(discount=zipf)"], TypeError, "cg does not take discount"),
    (["ndcg@10@5"], ValueError, "'ndcg@10@5'"),
    (["", " ", "@5", "ndcg@5@6", "ndcg.5", "ndcg(k=5"], ValueError, "is not a metric | name(parameter=value,...)@k"),
    (["ndcg(gain)", "ndcg(depth=5)", "ndcg:depth=5@3"], ValueError, "is not a parameter | gain | ideal"),
    (["ndcg(gain=linear,gain=linear)", "ndcg(k=5)@5"], ValueError, "twice"),
    (["ndcg(gain=exp)", "dcg:gain=@5", "ndcg(ideal=best)", "rr(rel=x)", "rr(rel=inf)"], ValueError, " must be "),
    (["ndcg(discount=jarvelin:1)", "ndcg:discount=jarvelin:x@5"], ValueError, "jarvelin | b > 1"),
    (["ndcg(rel=1)"], TypeError, "ndcg does not take rel | gain, discount, ideal, empty"),
    (["rr:gain=linear@5", "mrr(gain=linear)"], TypeError, "rr does not take gain | rel, empty"),
    ([None, 5, 10, b"ndcg", {"ndcg": 1}, rg.ndcg], TypeError, "a metric is a string or | {}"),
]
