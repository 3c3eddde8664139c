"""Names that people use for metrics and peers."""

import math

import pytest
from support.differences import bits
from support.marks import in_one_case

import rankgain as rg
from rankgain.metrics import metric as names
from rankgain.metrics.metric import parse
from rankgain.metrics.table import TABLE

RANKINGS = rg.from_ranked([[0, 1, 2, 0, 1], [0, 0]])


@in_one_case(
    ("written", "expected"),
    [
        ("ndcg", "ndcg"),
        (" NDCG @10 ", "ndcg@10"),
        ("nDCG@10", "ndcg@10"),
        ("ndcg_10", "ndcg@10"),
        ("ndcg_at_10", "ndcg@10"),
        ("nDCG_At_10", "ndcg@10"),
        ("ndcg_cut_10", "ndcg@10"),
        ("ndcg_cut.10", "ndcg@10"),
        ("NDCG_cut_10", "ndcg@10"),
        ("ndcg(k=5)", "ndcg@5"),
        ("ndcg()", "ndcg"),
        (f"ndcg@00{2**48}", rg.metric("ndcg", k=2**48)),
        ("ndcg_10(gain=exponential)", "ndcg(gain=exponential)@10"),
        ("ndcg(gain=exponential)@10", rg.metric("ndcg", k=10, gain="exponential")),
        ("ndcg:gain=exponential@10", rg.metric("ndcg", k=10, gain="exponential")),
        ("ndcg( gain = Exponential , ideal=returned )@5", rg.metric("ndcg", k=5, gain="exponential", ideal="returned")),
        ("ndcg(empty=nan)", rg.metric("ndcg", empty=math.nan)),
        ("dcg(discount=jarvelin:10)@3", rg.metric("dcg", k=3, discount="jarvelin:10")),
        ("dcg:discount=jarvelin:10@3", rg.metric("dcg", k=3, discount="jarvelin:10")),
        ("ideal_dcg@2", "idcg@2"),
        ("mrr(rel=2)@10", rg.metric("rr", rel=2, k=10)),
        ("recip_rank", "rr"),
        ("reciprocal_rank@3", "rr@3"),
        ("mrr_10", "rr@10"),
        ("mean_reciprocal_rank@10", "rr@10"),
        ("hitrate@10", "success@10"),
        ("HitRate@10", "success@10"),
        ("hit-rate@10", "success@10"),
        ("HR@10", "success@10"),
        ("hr_at_10", "success@10"),
        ("recall_10", "recall@10"),
        ("f1_10", "f@10"),
        ("MAP", "ap"),
        ("map_at_10", "ap@10"),
        ("mean_average_precision@10", "ap@10"),
        ("Average-Precision@3", "ap@3"),
        ("R-Prec", "r_precision"),
        ("precision_at_5", "precision@5"),
        ("P_5", "precision@5"),
        ("rbp_resid_5", "rbp_residual@5"),
        ("11pt_avg", "iprec_mean"),
    ],
)
def test_names_in_common_spellings_are_parsed(written, expected):
    ((key, record),) = parse(written)
    assert key == written
    assert expected in (record, str(record))
    assert bits(RANKINGS.evaluate(written)[written]) == bits(RANKINGS.evaluate(expected)[expected])


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("ndcg@1,3", ["ndcg@1", "ndcg@3"]),
        ("ndcg@1, 3", ["ndcg@1", "ndcg@3"]),
        ("ndcg_1,3", ["ndcg_1", "ndcg_3"]),
        ("ndcg_at_1,3", ["ndcg_at_1", "ndcg_at_3"]),
        ("ndcg(gain=exponential)@1,3", ["ndcg(gain=exponential)@1", "ndcg(gain=exponential)@3"]),
        ("f:beta=1@1,3", ["f:beta=1@1", "f:beta=1@3"]),
        ("P@5,5", ["P@5"]),
        ("ndcg_cut.5,10", ["ndcg_cut_5", "ndcg_cut_10"]),
        ("ndcg_cut", [f"ndcg_cut_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]),
    ],
)
def test_name_with_several_cutoffs_is_several_metrics(written, keys):
    result = RANKINGS.evaluate(written)
    assert list(result) == keys
    for key in keys:
        assert result[key].tolist() == RANKINGS.evaluate(key)[key].tolist()
        assert result.mean(key) == RANKINGS.evaluate(written).aggregate()[key]


def test_names_of_metrics_are_unique_in_any_spelling():
    rows = {}
    for row in TABLE.values():
        for name in (row.name, *row.aliases):
            assert rows.setdefault(names._bare(name), row) is row


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("pytrec_eval", "trec_eval-9"),
        ("trec_eval", "trec_eval-10"),
        ("scikit-learn", "sklearn"),
        ("Scikit Learn", "sklearn"),
        ("TREC_EVAL-9", "trec_eval-9"),
        ("MS MARCO", "msmarco"),
        ("LightGBM", "lightgbm"),
    ],
)
def test_tools_in_common_spellings_are_accepted(written, name):
    run = rg.from_qrels({"q": {"a": 1, "b": 1}}, {"q": {"a": 0.5, "c": 0.5}})
    metric = "rr@10" if name == "msmarco" else "ndcg@10"
    assert run.evaluate(metric, like=written).like == name
    assert str(rg.explain(metric, like=written)) == str(rg.explain(metric, like=name))


def test_missing_attribute_is_answered_by_the_call_to_write():
    with pytest.raises(AttributeError, match=r"the drop-in for scikit-learn is rankgain\.sklearn\.ndcg_score"):
        rg.ndcg_score  # noqa: B018
    with pytest.raises(AttributeError, match=r"rankgain\.evaluate\(truth, run, 'ndcg@10'\)"):
        rg.ndcg_at_k  # noqa: B018
    with pytest.raises(AttributeError, match=r"it is a metric.*rankgain\.evaluate\(truth, run, 'err@10'\)") as caught:
        _ = rg.err
    assert caught.value.name == "err"
    with pytest.raises(AttributeError, match=r"evaluate\('bpref'\)"):
        _ = rg.bpref
    assert "it is a module: write `from rankgain import sklearn`" in rg._unknown("sklearn")
    for name in ("nothing", "_private", "__path_of_nothing__"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
            getattr(rg, name)
    assert not hasattr(rg, "map")


QRELS, RUN = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": {"a": 0.5, "b": 1.0, "x": 0.25}}
REJECTED = [  # message ({type} stands for the type of the name), exception, names
    (
        "k must be a positive integer",
        ValueError,
        "ndcg@0",
        "ndcg@-1",
        "ndcg_cut.0",
        "ndcg_cut_0",
        "rr(k=0)",
        "ndcg@2.5",
        "ndcg@5,x",
    ),
    ("'ndcg@…k must be a positive integer", ValueError, "ndcg@", "ndcg@x", "ndcg@1e3", "ndcg@0"),
    (
        "k must be at most 2**48; leave it out for all ranks",
        ValueError,
        "p@281474976710657",
        "P_9223372036854775807",
        "rr(k=1000000000000000)",
        "ndcg@" + "9" * 5000,
    ),
    ("; did you mean 'rbp(p=0.95)'?", ValueError, "rbp.95"),  # names as spelled in ranx
    ("; did you mean 'map(rel=2)", ValueError, "map-l2", "map-l2@5"),
    ("; did you mean 'ndcg(gain=exponential)@10'?", ValueError, "ndcg_burges@10"),
    ("unknown metric…(`rankgain metrics` lists all); did you mean 'ndcg", ValueError, "ndgc@10", "NDCH"),
    ("unknown metric…(`rankgain metrics` lists all)", ValueError, "xyzzy", "zzzzz@10", "x" * 5000),
    ("unknown metric…did you mean 'map", ValueError, "maps@5", "maps"),
    ("unknown metric 'ngcd@10' (`rankgain metrics` lists all); did you mean 'ndcg@10'?", ValueError, "ngcd@10"),
    ("; did you mean 'ndcg@10'?", ValueError, "ndcg10", "ndcg-10", "ndcg.10", "ndcg 10", "ngcd_10"),
    ("; did you mean 'ndcg@10'?", ValueError, "ndcg at 10", "'ndcg@10'", '"ndcg"@10', "ndcg@[10]"),
    ("unknown metric 'MRR10'…did you mean 'MRR@10'?", ValueError, "MRR10"),
    ("did you mean 'p@2'?", ValueError, "p2"),
    ("did you mean 'f", ValueError, "F2"),
    ("did you mean 'set_f'?", ValueError, "set_F_2"),
    ("did you mean 'hit_rate@10'?", ValueError, "hit rate@10"),
    ("did you mean 'ndcg@5,10'?", ValueError, "ndcg@[5,10]"),
    ("did you mean 'ndcg(gain=exponential)@10'?", ValueError, "ndcg@10(gain=exponential)"),
    ("gain must…did you mean 'ndcg(gain=exponential)@10'?", ValueError, "ndcg(gain='exponential')@10"),
    ("did you mean 'ndcg(gain=exponential)@10'?", ValueError, "ngcd(gain=exponential)@10"),
    ("gain must…did you mean 'ndcg:gain=exponential@10'?", ValueError, "ndcg:gain='exponential'@10"),
    ("k must be…; request each metric by itself: 'ndcg@10', 'map'", ValueError, "ndcg@10,map", "ndcg@10 map"),
    ("request each metric by itself: 'f(beta=2,rel=1)@5', 'map'", ValueError, "f(beta=2,rel=1)@5, map"),
    ("did you mean 'recall@5,10'?", ValueError, "recal@5,10"),
    ("did you mean 'precision@5'?", ValueError, "precison_at_5"),
    ("unknown metric 'ndcg_10@5'", ValueError, "ndcg_10@5"),
    ("unknown metric 'ndcg_cut_10@5'", ValueError, "ndcg_cut_10@5"),
    ("unknown metric 'P_10@5'", ValueError, "P_10@5"),
    ("bpref has no cut-off", TypeError, "bpref_10"),
    ("k must be a positive integer, not ''", ValueError, "ndcg@10,"),
    ("k must be a positive integer, not 'x'", ValueError, "ndcg@1,x"),
    ("k must be a positive integer, not '2.5'", ValueError, "ndcg@2.5"),
    ("'gian=linear' is not a parameter", ValueError, "ndcg(gian=linear)"),
    ("'linear', 'exponential'…'cubic'", ValueError, "ndcg(gain=cubic)"),
    ("empty must be a number…'x'", ValueError, "ndcg(empty=x)"),
    ("empty must be finite or NaN", ValueError, "ndcg(empty=inf)"),
    ("rel must be finite", ValueError, "mrr(rel=nan)"),
    ("cg does not take discount", TypeError, "cg(discount=zipf)"),
    ("'ndcg@10@5'", ValueError, "ndcg@10@5"),
    ("is not a metric…name(parameter=value,...)@k", ValueError, "", " ", "@5", "ndcg@5@6", "ndcg.5", "ndcg(k=5"),
    ("is not a parameter…gain…ideal", ValueError, "ndcg(gain)", "ndcg(depth=5)", "ndcg:depth=5@3"),
    ("twice", ValueError, "ndcg(gain=linear,gain=linear)", "ndcg(k=5)@5"),
    ("must be", ValueError, "ndcg(gain=exp)", "dcg:gain=@5", "ndcg(ideal=best)", "rr(rel=x)", "rr(rel=inf)"),
    ("jarvelin…b > 1", ValueError, "ndcg(discount=jarvelin:1)", "ndcg:discount=jarvelin:x@5"),
    ("ndcg does not take rel…gain, discount, ideal, empty", TypeError, "ndcg(rel=1)"),
    ("rr does not take gain…rel, empty", TypeError, "rr:gain=linear@5", "mrr(gain=linear)"),
    ("a metric is a string or…{type}", TypeError, None, 5, 10, b"ndcg", {"ndcg": 1}, rg.ndcg),
]


@in_one_case("row", REJECTED)
def test_evaluate_rejects_a_name_and_suggests_another(rejects, row):
    message, error, *written = row
    for name in written:
        expected = message.format(type=type(name).__name__)
        rejects(error, expected, rg.evaluate, QRELS, RUN, name)
        rejects(error, expected, RANKINGS.evaluate, name)
        if error is ValueError:
            rejects(error, expected, RANKINGS.curve, name, [1, 2])


@pytest.mark.parametrize("row", [
    ("metric takes the name and its parameters separately: metric('ndcg', k=10)…take 'ndcg@10' as it is", ValueError,
     "ndcg@10", "ndcg10", "ndgc@10"),
    ("unknown metric 'ndgc'…; did you mean 'ndcg'?", ValueError, "ndgc"),
    ("metric('ndcg', k=10); evaluate and others take…'ndcg@10'", ValueError, "ndcg@10"),
    ("metric('ndcg', k=10); evaluate and others take…'ndcg(gain=exponential)@10'", ValueError,
     "ndcg(gain=exponential)@10"),
])  # fmt: skip
def test_metric_rejects_a_name_with_parameters(rejects, row):
    message, error, *written = row
    for name in written:
        rejects(error, message, rg.metric, name)


def test_metrics_reject_parameters_that_they_do_not_take(rejects):
    rejects(TypeError, "cg does not take discount", rg.metric, "cg", discount="log2")
    rejects(TypeError, "bpref does not take gain; it takes rel, empty", rg.metric, "bpref", gain="exponential")
    rejects(TypeError, "coefficients must be 4 numbers, not set", rg.metric, "utility", coefficients={1, 2, 3, 4})


def test_evaluate_without_a_metric_lists_them(rejects):
    rejects(ValueError, "no metric was requested; there are: cg, ncg, dcg…ndcg", RANKINGS.evaluate)


@pytest.mark.parametrize("progress", ["tqdm", 1, None, print], ids=str)
def test_evaluate_rejects_progress(rejects, progress):
    for call, *given in ((rg.evaluate, QRELS, RUN, "rr"), (RANKINGS.evaluate, "rr")):
        rejects(TypeError, "must be True or False", call, *given, progress=progress)
    rejects(TypeError, "must be True or False", rg.compare, QRELS, {"one": RUN}, "rr", progress=progress)


@pytest.mark.usefixtures("backend")
def test_gains_by_grade():
    gain = {1: 1, 2: 3}
    rankings = rg.from_ranked([[1, 2, 0, 2]])
    requests = "ndcg(gain={1: 1, 2: 3})@2", "ndcg:gain={1:1,2:3}@2", "ndcg(empty=1, gain={2: 3, 1: 1.0}, k=2)"
    metric = rg.metric("ndcg", k=2, gain=gain)
    result = rankings.evaluate(*requests, str(metric), metric)
    for request, values in result.items():
        assert bits(values) == bits(result[metric]), request
    assert [*rankings.evaluate("dcg(gain={1: 1, 2: 3})@1,2")] == [
        "dcg(gain={1: 1, 2: 3})@1",
        "dcg(gain={1: 1, 2: 3})@2",
    ]
    assert rankings.evaluate("dcg(gain={1: 1, 2: 3})@1")["dcg(gain={1: 1, 2: 3})@1"].tolist() == [1.0]


@pytest.mark.parametrize("text", ["{1: a}", "{1}", "{1: 1, 1: 2}", "{1: 1: 1}"])
def test_gains_by_grade_are_numbers(rejects, text):
    message = f"gain must be numbers by grade, {{4: 1, 5: 1}}, not '{text}'"
    rejects(ValueError, message, rg.from_ranked([1]).evaluate, f"ndcg(gain={text})")


@pytest.mark.parametrize(("name", "suggested"), [("MAR@10", "recall@1,5,10"), ("infNDCG", "infap")])
def test_other_metrics_are_named(name, suggested):
    with pytest.raises(ValueError, match="unknown metric") as error:
        rg.from_ranked([1, 0], judged=[1, 0]).evaluate(name)
    assert f"write '{suggested}'" in str(error.value)
    assert "did you mean" not in str(error.value)
    assert rg.from_ranked([1, 0]).evaluate(suggested)


def test_tau_and_misspelt_tools_are_answered(rejects):
    rejects(ValueError, "unknown metric 'tau': …scipy.stats.kendalltau(values, others)", rg.metric, "tau")
    rejects(ValueError, "did you mean 'sklearn'?", rg.explain, "ndcg", like="skikit")
