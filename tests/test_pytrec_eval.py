"""Compare the drop-in replacement for pytrec_eval with the original, and test the known errors of the original."""

import importlib.util
import math
import pickle
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.marks import in_one_case

import rankgain as rg
from rankgain import pytrec_eval as ours
from rankgain.tools import trec_measures

pytestmark = pytest.mark.usefixtures("backend")

# pytrec_eval has wheels only for x86-64 on Linux and Windows. Without it, the comparisons are not collected.
PEER = importlib.util.find_spec("pytrec_eval") is not None
UNDEFINED = {"iprec_at_recall", "11pt_avg"}  # 0 / 0 in pytrec_eval if the list is empty

PARAMETERS = [
    "P_1",
    "P.3,2",
    "recall_7",
    "map_cut_2",
    "ndcg_cut.4,1,3",
    "success_2",
    "relative_P_2,3",
    "iprec_at_recall_0.25",
    "iprec_at_recall.0.3,0.05",
    "Rprec_mult_0.33,0.5",
    "Rprec_mult.3",
    "11pt_avg.0.1,0.5,0.75",
    "set_F_2",
    "relstring.3",
]
SCORES = [0.0, 1.0, 1.0 + 1e-9, 1.0 - 1e-9, 2.0, 16777216.0, 16777217.0, -1.5, 1e-45, 1e39, math.inf, -math.inf]


@st.composite
def collections(draw):
    """Draw qrels and a run that pytrec_eval can evaluate.

    pytrec_eval never terminates if all grades of a query are negative, and empty lists sometimes crash it.
    """
    documents = [f"d{number}" for number in range(12)]
    grades = st.integers(-2, 4)
    qrels = draw(
        st.dictionaries(
            st.sampled_from(["q1", "q2", "q3", "é"]),
            st.dictionaries(st.sampled_from(documents), grades, min_size=1).filter(
                lambda grades_by_document: max(grades_by_document.values()) >= 0
            ),
            min_size=1,
        )
    )
    scores = st.sampled_from(SCORES) | st.integers(0, 3)
    run = draw(
        st.dictionaries(
            st.sampled_from(["q3", "é", "q1", "q2", "other"]),
            st.dictionaries(st.sampled_from([*documents, "x", "Z", "ü", "𝛼"]), scores, min_size=1),
        )
    )
    return qrels, run


def compare(qrels, run, measures, level=1, judged_only=False):
    import pytrec_eval as theirs

    arguments = qrels, measures, level, judged_only
    expected, actual = (module.RelevanceEvaluator(*arguments).evaluate(run) for module in (theirs, ours))
    assert list(actual) == list(expected)
    for query in expected:
        assert list(actual[query]) == list(expected[query])
        empty = judged_only and not any(qrels[query].get(document, -1) >= 0 for document in run[query])
        for key, value in expected[query].items():
            mine = actual[query][key]
            assert type(mine) is float
            if empty and key.startswith(tuple(UNDEFINED)):
                assert mine == 0.0
            else:
                assert math.isclose(mine, value, rel_tol=1e-12, abs_tol=1e-12), (query, key, mine, value)


if PEER:

    @given(collections(), st.integers(1, 3), st.booleans())
    def test_all_measures_equal_the_peer(collection, level, judged_only):
        compare(*collection, {"all_trec"}, level, judged_only)

    @given(
        collections(),
        st.lists(st.sampled_from([*PARAMETERS, *sorted(ours.supported_measures)]), min_size=1, max_size=8),
    )
    def test_measure_parameters_equal_the_peer(collection, measures):
        compare(*collection, measures)

    @pytest.mark.slow
    def test_large_run_equals_the_peer():
        rng = random.Random(5)
        qrels, run = {}, {}
        for query in map(str, range(30)):
            names = [f"{rng.random():.6f}" for _ in range(1500)]
            run[query] = {name: rng.choice([rng.random(), rng.randrange(50) / 8]) for name in names[:1100]}
            qrels[query] = {name: rng.choice([0, 0, 0, 1, 2, 3, -1]) for name in rng.sample(names, 80)}
        for level, judged_only in ((1, False), (2, False), (1, True)):
            compare(qrels, run, {"all_trec"}, level, judged_only)

    @pytest.mark.parametrize("nickname", ["official", "set", "all_trec"])
    def test_nicknames_equal_the_peer(nickname):
        compare({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.1, "b": 0.2, "c": 0.3}}, [nickname])

    def test_names_are_those_of_the_peer():
        import pytrec_eval as theirs

        assert theirs.__version__ >= ours.__version__
        assert type(ours.supported_measures) is type(theirs.supported_measures)
        assert ours.supported_measures == theirs.supported_measures
        assert ours.supported_nicknames == theirs.supported_nicknames
        assert {*theirs.__all__} <= {*ours.__all__}

    @given(st.lists(st.floats(-10, 10), min_size=1), st.sampled_from(["num_rel", "gm_map", "map", "P_5"]))
    def test_aggregates_equal_those_of_the_peer(values, measure):
        import pytrec_eval as theirs

        expected, result = (module.compute_aggregated_measure(measure, values) for module in (theirs, ours))
        assert type(result) is type(expected) is float
        assert result == pytest.approx(expected, rel=1e-12, abs=1e-12)

    def test_files_are_parsed_as_by_the_peer():
        import pytrec_eval as theirs

        run = ["q1 Q0 d1 1 0.5 tag\n", "  q1\tQ0 d2 2 -1e-3 tag", "q2 Q0 d1 1 7 tag"]
        qrel = ["q1 0 d1 1\n", "q1 0 d2 -1", "q2\t0\td1\t+2"]
        for name, lines in (("parse_run", run), ("parse_qrel", qrel)):
            expected, result = (getattr(module, name)(iter(lines)) for module in (theirs, ours))
            assert result == expected
            assert type(result) is type(expected)
            assert type(result["q1"]["d1"]) is type(expected["q1"]["d1"])
            assert getattr(ours, name)([]) == {}


IR_MEASURES = """
P@5 P(rel=2)@10 P(judged_only=True)@5 RR RR(rel=2) RR(judged_only=True) Rprec Rprec(rel=2)
AP AP@10 AP(rel=2)@5 AP(judged_only=True) nDCG nDCG@10 nDCG(judged_only=True)@10 nDCG(gains={0:0,1:1,2:5,3:9,4:20})@10
R@10 R(rel=2)@20 R(judged_only=True)@5 Bpref Bpref(rel=2) NumRet NumRet(rel=2) NumQ NumRel SetAP SetAP(rel=2)
SetF SetF(beta=2.0) SetF(beta=0.5) SetF(rel=2,beta=2.0) SetP SetP(relative=True) SetP(rel=2,judged_only=True)
SetR SetR(rel=2) Success@1 Success(rel=3)@5 IPrec@0.1 IPrec@0.25 IPrec(judged_only=True)@0.5 infAP infAP(rel=2)
"""
if importlib.util.find_spec("ir_measures") is not None:

    @pytest.mark.filterwarnings("ignore::DeprecationWarning:ir_measures")  # it uses ast.Num
    def test_provider_for_ir_measures_equals_the_peer(monkeypatch):
        """The unmodified pytrec_eval provider of ir_measures works with the drop-in for all of its measures."""
        import ir_measures

        measures = [ir_measures.parse_measure(name) for name in IR_MEASURES.split()]
        rng = random.Random(3)
        qrels, run = {}, {}
        for query in map(str, range(20)):
            documents = [f"d{number}" for number in range(60)]
            qrels[query] = {document: rng.choice([0, 0, 1, 2, 3, 4]) for document in rng.sample(documents, 30)}
            run[query] = {document: rng.choice([rng.random(), 1.0]) for document in rng.sample(documents, 45)}
        del run["7"]
        results = []
        for module in ("theirs", "ours"):
            provider = type(ir_measures.pytrec_eval)()
            if module == "ours":
                monkeypatch.setitem(sys.modules, "pytrec_eval", None)
                ours.install()
            results.append(provider.calc_aggregate(measures, qrels, run))
            each = {(value.query_id, value.measure): value.value for value in provider.iter_calc(measures, qrels, run)}
            results[-1] |= each
        assert provider.pytrec_eval is ours
        assert len(results[0]) == len(measures) * 21
        assert results[1] == pytest.approx(results[0], rel=1e-12, abs=1e-12)

        untied = {
            query: {name: score + rank for rank, (name, score) in enumerate(documents.items())}
            for query, documents in run.items()
        }
        judged = {k: ir_measures.parse_measure(f"Judged@{k}") for k in (10, 100)}
        expected = ir_measures.calc_aggregate(judged.values(), qrels, untied)
        result = rg.from_qrels(qrels, untied).evaluate("judged@10", "judged@100")
        for k, theirs in judged.items():
            assert result.mean(f"judged@{k}") == pytest.approx(expected[theirs], rel=1e-12)


QRELS = {"q1": {"a": 2, "b": 0, "c": 1, "d": -1}, "q2": {"a": 1}}
RUN = {"q2": {"a": 0.5, "x": 0.5}, "q1": {"c": 3.0, "a": 2.0, "x": 1.0}}


def evaluate(measures, run=RUN, qrels=QRELS, **options):
    return ours.RelevanceEvaluator(qrels, measures, **options).evaluate(run)


@pytest.mark.parametrize("kind", [int, float, np.float32, np.float64, np.int64, np.uint8, np.bool_, Fraction])
def test_numbers_of_any_type_are_accepted(kind):
    run = {"q": {"a": kind(0), "b": kind(1)}}
    assert evaluate({"recip_rank"}, run, {"q": {"a": kind(1), "b": kind(0)}}) == {"q": {"recip_rank": 0.5}}
    evaluator = ours.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"}, np.int64(1), np.True_)
    assert evaluator.evaluate(run) == {"q": {"recip_rank": 1.0}}


def test_fractional_grades_are_accepted():
    values = evaluate({"ndcg", "map"}, {"q": {"a": 1.0, "b": 2.0}}, {"q": {"a": 1.5, "b": 0.5}})["q"]
    assert values["map"] == 0.5
    assert values["ndcg"] == pytest.approx((0.5 + 1.5 / math.log2(3)) / (1.5 + 0.5 / math.log2(3)))


@pytest.mark.parametrize("measure", ["ndcg", "G", "ndcg_rel", "Rndcg"])
def test_gains_by_level_apply_to_measures(measure):
    name = {"G": "g", "Rndcg": "r_ndcg"}.get(measure, measure)
    metric = rg.metric(name, gain={0: 0, 1: 3.5, 2: 9})
    expected = rg.from_qrels(QRELS, RUN).evaluate(metric)
    result = evaluate({f"{measure}.2=9,1=3.5"})
    assert [result[query][measure] for query in QRELS] == expected[metric].tolist()
    # Gains may differ by less than 1. The gain of a grade that is not listed is the grade itself.
    assert measure == "G" or evaluate({f"{measure}.1=0.2,2=0.5"}, {"q1": {"a": 2, "c": 1}})["q1"][measure] == 1.0
    assert evaluate({f"{measure}.2=9"}) == evaluate({f"{measure}.1=1,2=9"})


def test_empty_lists_have_the_values_of_nothing_returned():
    values = evaluate({"all_trec"}, {"q1": {}})["q1"]
    least = math.log(1e-5)
    others = {"num_q": 1.0, "num_rel": 2.0, "gm_map": least, "gm_bpref": least}
    assert values == dict.fromkeys(values, 0.0) | others
    assert len(values) == 95
    assert evaluate({"map"}, {"q1": {"x": 1.0}}, judged_docs_only_flag=True) == {"q1": {"map": 0.0}}


def test_queries_of_negative_grades_only_are_evaluated():
    values = evaluate({"all_trec"}, {"q": {"a": 1.0, "b": 0.5}}, {"q": {"a": -1, "b": -2}})["q"]
    assert {key: value for key, value in values.items() if value and not key.startswith("gm_")} == {
        "num_q": 1.0,
        "num_ret": 2.0,
        "utility": -2.0,
    }


def test_queries_of_one_side_are_left_out():
    assert evaluate({"map"}, {}) == {}
    assert evaluate({"map"}, {"other": {"a": 1.0}}) == {}
    assert evaluate({"map"}, RUN, {}) == {}
    assert evaluate({"map"}, RUN, {"q1": {}, "q2": {"a": 1}}) == {"q2": {"map": 0.5}}
    assert evaluate(set()) == {"q2": {}, "q1": {}}
    assert evaluate({"runid", "relstring_3"}) == {query: {"runid": 0.0, "relstring": 0.0} for query in RUN}
    assert list(evaluate({"map"})) == ["q2", "q1"]


def test_any_mapping_and_id_type_is_accepted():
    from types import MappingProxyType as Frozen

    run = Frozen({query: Frozen(documents) for query, documents in RUN.items()})
    qrels = Frozen({query: Frozen(documents) for query, documents in QRELS.items()})
    assert evaluate({"all_trec"}, run, qrels) == evaluate({"all_trec"})
    assert evaluate({"recip_rank"}, {1: {7: 0.1, 10: 0.1}}, {1: {7: 1}}) == {1: {"recip_rank": 0.5}}


def test_unjudged_queries_are_skipped(backend):
    evaluator = ours.RelevanceEvaluator({"q": {"a": 1}, "s": {"a": 1}}, {"recip_rank"})
    for queries in "pqrs", "qrs":  # unjudged queries before and between the judged ones
        run = {query: {"a": 1.0} for query in queries}
        for _ in range(2):
            assert evaluator.evaluate(run) == {query: {"recip_rank": 1.0} for query in "qs"}


def test_evaluator_copies_the_judgments():
    qrels = {"q": {"a": 1}}
    evaluator = ours.RelevanceEvaluator(qrels, {"recip_rank"})
    qrels["q"]["a"] = 0
    assert evaluator.evaluate({"q": {"a": 1.0}}) == {"q": {"recip_rank": 1.0}}


def test_release_10_of_trec_eval():
    values = evaluate({"all_trec", "dcg", "ideal_dcg"}, release=10)["q1"]
    assert {"rbp", "rbp_resid", "unj_5", "dcg", "ideal_dcg"} < {*values}
    assert values["dcg"] / values["ideal_dcg"] == values["ndcg"]
    assert values["unj_5"] == 0.2
    five = {f"d{number}": 1 for number in range(6)}
    first = {"q": {"d0": 3.0, "x": 2.0, "d1": 1.0}}
    recall = [evaluate({"iprec_at_recall_0.2"}, first, {"q": five}, release=r)["q"] for r in (9, 10)]
    assert [*map(dict.popitem, recall)] == [("iprec_at_recall_0.20", 2 / 3), ("iprec_at_recall_0.20", 1.0)]


class Recorder(ours.RelevanceEvaluator):
    def __init__(self, qrels, *, extra):
        super().__init__(qrels, {"map", "gm_map", "11pt_avg"}, relevance_level=2)
        self.extra = extra

    def evaluate(self, scores):
        return {query: values | {"extra": self.extra} for query, values in super().evaluate(scores).items()}


def test_evaluator_can_be_subclassed_and_pickled():
    evaluator = Recorder(QRELS, extra=7)
    result = evaluator.evaluate(RUN)
    assert result["q1"]["extra"] == 7
    assert result["q1"]["map"] == 0.5
    again = pickle.loads(pickle.dumps(evaluator))
    assert again.evaluate(RUN) == result
    assert again.extra == 7


def test_threads_share_an_evaluator():
    evaluator = ours.RelevanceEvaluator(QRELS, {"all_trec"})
    runs = [{query: scores for query, scores in RUN.items() if number % 2 or query == "q1"} for number in range(16)]
    expected = list(map(evaluator.evaluate, runs))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(evaluator.evaluate, runs)) == expected


def test_install_replaces_the_module_of_the_peer(monkeypatch):
    monkeypatch.setitem(sys.modules, "pytrec_eval", None)
    ours.install()
    import pytrec_eval

    assert pytrec_eval is ours


@in_one_case(
    ("measure", "message"),
    [
        ("nonsense", "unsupported measure 'nonsense'"),
        ("ndgc_cut_10", "did you mean 'ndcg_cut'"),
        ("ndcg@10", "unsupported measure 'ndcg@10'; write 'ndcg_cut_10'$"),
        ("mrr", "write 'recip_rank'$"),
        ("mrr@10", "unsupported measure 'mrr@10'$"),
        ("ndcg@5,10", "did you mean 'ndcg'"),
        ("ndcg(gain=exponential)@10", "@10'$"),
        ("ndcg_cut_0", "measure 'ndcg_cut': a cut-off must be a positive integer, not '0'"),
        ("P.-5", "measure 'P': a cut-off must be a positive integer, not '-5'"),
        ("P.5,,6", "measure 'P': a cut-off"),
        ("P.", "measure 'P.': parameters must follow the dot"),
        ("P_5abc", "unsupported measure 'P_5abc'"),
        ("ndcg.10", "measure 'ndcg': parameters are pairs level=gain .*cut-offs are those of ndcg_cut"),
        ("ndcg.1=-2", "measure 'ndcg': parameters are pairs"),
        ("ndcg.-1=2", "measure 'ndcg': parameters are pairs"),
        ("ndcg.1=x", "measure 'ndcg': a parameter must be a number, not 'x'"),
        ("recip_rank_10", "measure 'recip_rank' takes no parameters, and '10' was given"),
        ("iprec_at_recall_1.5", "measure 'iprec_at_recall': recall must be from 0 to 1"),
        ("Rprec_mult_0", "measure 'Rprec_mult': multiple must be above 0"),
        ("set_F.1,2", "measure 'set_F': there must be 1 number, not 2"),
        ("utility.1,2", "measure 'utility': coefficients must be 4 numbers, not 2"),
        ("relstring.3,4", "measure 'relstring': a cut-off"),
        ("prefs", "preferences, several judges and yaap are not computed"),
        ("rbp", "release 10 has it, and release 9 was requested"),
    ],
)
def test_unknown_measures_are_rejected(measure, message):
    with pytest.raises(ValueError, match=message):
        ours.RelevanceEvaluator(QRELS, {measure})


@in_one_case(
    ("arguments", "kind", "message"),
    [
        ({"measures": "map"}, TypeError, "measures must be a set of names, such as .*, not 'map'"),
        ({"measures": [3]}, TypeError, "measures: a name must be a str, not int 3"),
        (
            {"measures": ["set_F_2", "set_F.0.5"]},
            ValueError,
            "'set_F' has one set of parameters, and '2' and '0.5' were given",
        ),
        ({"qrels": [1]}, TypeError, "query_relevance must be a mapping of mappings, not list"),
        (
            {"qrels": {"q": {"a": "1"}}},
            TypeError,
            "query_relevance: query 'q', document 'a': the grade must be a number, not str",
        ),
        ({"qrels": {"q": {"a": math.nan}}}, ValueError, "query_relevance: query 'q', document 'a': the grade is NaN"),
        ({"run": [1]}, TypeError, "scores must be a mapping of mappings, not list"),
        ({"run": {"q1": [1]}}, TypeError, "scores: query 'q1': must be a mapping by document, not list"),
        ({"run": {"q1": {"a": math.nan}}}, ValueError, "scores: query 'q1', document 'a': the score is NaN"),
        ({"run": {"q1": {"a": "1"}}}, TypeError, "scores: query 'q1', document 'a': the score must be a number"),
        ({"run": {1: {"a": 1}}}, ValueError, "no query in common: str in query_relevance, int in scores"),
        ({"run": {"q1": {1: 1}}}, ValueError, "ids are of other types: str in query_relevance, int in scores"),
        ({"relevance_level": 0}, TypeError, "relevance_level must be a positive integer, not 0"),
        *(
            ({"relevance_level": level}, TypeError, f"relevance_level must be a positive integer, not {level!r}")
            for level in (-1, "1", 1.5)
        ),
        ({"release": 8}, ValueError, "release must be 9 or 10, not 8"),
    ],
)
def test_evaluator_rejects_arguments(arguments, kind, message):
    with pytest.raises(kind, match=message):
        evaluate(**{"measures": {"map"}} | arguments)


@pytest.mark.parametrize(
    ("parse", "line", "message"),
    [
        ("run", "q1 Q0 d1 1 0.5", "f_run: line 2: there must be 6 fields, not 5"),
        ("run", "", "f_run: line 2: there must be 6 fields, not 0"),
        ("run", "q1 Q0 d 1 x tag", "f_run: line 2: 'x' is not a valid float"),
        ("run", "q1 Q0 d1 1 1 tag", "f_run: line 2: document 'd1' appears twice under query 'q1'"),
        ("qrel", "q1 0 d1", "f_qrel: line 2: there must be 4 fields, not 3"),
        ("qrel", "q1 0 d 1.5", "f_qrel: line 2: '1.5' is not a valid int"),
        ("qrel", "q1 0 d1 1", "f_qrel: line 2: document 'd1' appears twice under query 'q1'"),
    ],
)
def test_parse_rejects_lines(parse, line, message):
    first = {"run": "q1 Q0 d1 1 0.5 tag", "qrel": "q1 0 d1 1"}[parse]
    with pytest.raises(ValueError, match=message):
        getattr(ours, f"parse_{parse}")([first, line])


def test_relstrings_show_grades_by_rank():
    qrels = {"q": {"a": -1, "b": 0, "c": 9, "d": 10, "e": 2.7}, "r": {"a": 1}, "s": {"a": 1}}
    run = {"q": {name: -rank for rank, name in enumerate("xabcdey")}, "r": {"b": 2, "a": 1}}
    rankings = rg.from_qrels(qrels, run)
    assert trec_measures.relstrings(rankings, 10) == ["-.09>2-", "-1", ""]
    assert trec_measures.relstrings(rankings, 2) == ["-.", "-1", ""]
    assert trec_measures.relstrings(rankings.limited(judged_only=True), 10) == ["09>2", "1", ""]
    with pytest.raises(ValueError, match="relstring: the order of tied documents is undefined with ties='best'"):
        trec_measures.relstrings(rankings.under(ties="best"), 3)


def test_utility_of_an_unjudged_list():
    evaluator = ours.RelevanceEvaluator({"q": {"a": 1, "b": 0}}, {"utility.1,2,3,4"}, 1, True)
    assert evaluator.evaluate({"q": {"z": 1.0}}) == {"q": {"utility": -1.0}}


@pytest.mark.parametrize(
    ("measure", "values", "expected"),
    [
        ("map", [1e308, 1e308], math.inf),
        ("gm_map", [1000.0], math.inf),
        ("num_rel", [1, 2], 3.0),
        ("gm_map", np.log([0.25, 1.0]), 0.5),
        ("map", np.array([0.25, 0.75], dtype=np.float32), 0.5),
        ("map", [], math.nan),
        ("num_q", [], 0.0),
    ],
)
def test_aggregates_of_extreme_values(measure, values, expected):
    assert ours.compute_aggregated_measure(measure, values) == pytest.approx(expected, nan_ok=True)


def test_cutoff_beyond_any_list_has_no_effect():
    measures = {f"ndcg_cut_{10**17}", f"P_{10**17}", "ndcg"}
    (values,) = (
        ours.RelevanceEvaluator({"q": {"a": 1, "b": 2}}, measures).evaluate({"q": {"a": 2.0, "b": 1.0}}).values()
    )
    assert values[f"ndcg_cut_{10**17}"] == values["ndcg"]
    assert 0.0 < values[f"P_{10**17}"] < 1e-12
