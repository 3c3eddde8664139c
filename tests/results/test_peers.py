"""Each preset is compared with the peer itself, with its recorded output, or with values worked out by hand."""

import io
import json
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import peers_golden as fixed
from support.golden import FOLDER, GOLDEN
from support.marks import in_one_case, quick_first

import rankgain as rg
from rankgain.cli import main
from rankgain.metrics.subtopics import SUBTOPIC_TABLE
from rankgain.metrics.table import TABLE
from rankgain.results.peers import PEERS

pytestmark = pytest.mark.usefixtures("backend")

seeds = st.integers(0, 2**32 - 1)


def same(value, expected):
    return value == pytest.approx(expected, rel=1e-12, abs=1e-15)


def groups(seed, grades=4, single=0):
    """Draw labels, scores with ties, and group sizes; the first group has no relevant documents."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1 + (not single), 12, 6)
    labels, scores = rng.integers(0, grades, sizes.sum()), rng.integers(0, 6, sizes.sum()) / 8
    labels[: sizes[0]] = 0
    return labels.astype(float), scores, sizes


# Installed peers


@pytest.mark.parametrize("release", [9, 10])
@pytest.mark.parametrize("corpus", quick_first("bac"))
def test_preset_equals_trec_eval(corpus, release):
    """All measures without parameters equal the values printed by trec_eval; -c adds queries missing from the run."""
    printed = defaultdict(dict)
    for line in (
        (GOLDEN / f"{corpus}.v{release}.{'plain' if release == 9 else 'c'}.txt").read_text("utf-8").splitlines()
    ):
        name, query, value = line.split("\t")
        printed[name.strip()][query] = value
    rankings = rg.read_trec(GOLDEN / f"{corpus}.qrels", GOLDEN / f"{corpus}.run", ties="best")
    measures = {"iprec(recall=0.3)": "iprec_at_recall_0.30", "r_precision(multiple=0.6)": "Rprec_mult_0.60"}
    for row in PEERS[f"trec_eval-{release}"].measures:
        for name in row.names.split():
            if name.endswith("@k"):
                measures |= {name.replace("k", "5"): f"{row.peer}_5"}
            elif name not in ("iprec", "r_precision"):
                measures[name] = row.peer
    result = rankings.evaluate(*measures, like=f"trec_eval-{release}")
    assert (result.ties, result.missing) == ("docid", "skip" if release == 9 else "zero")
    assert {*measures.values()} - printed.keys() <= {"dcg", "ideal_dcg"}  # all_trec does not print these measures
    for name, measure in measures.items():
        if measure not in printed:
            continue
        expected = dict(printed[measure])
        # The per-query values of gm_ap are printed as logarithms, from which the geometric mean is computed.
        whole = expected.pop("all")
        assert float(whole) == pytest.approx(result.aggregate()[name], abs=5.1e-5), name
        if not name.startswith("gm_") and name != "num_q":
            ours = dict(zip(result.query_ids, result[name].tolist(), strict=True))
            assert {query: float(value) for query, value in expected.items()} == pytest.approx(ours, abs=5.1e-5), name


@given(seed=seeds)
def test_preset_equals_pytrec_eval(seed):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(seed)
    docs = [f"d{number}" for number in range(20)]
    # Scores that differ only in 64-bit precision
    run = {f"q{q}": {d: 1.0 + rng.integers(0, 4) * 1e-9 + rng.integers(0, 3) for d in docs} for q in range(4)}
    qrels = {f"q{q}": {d: int(rng.integers(0, 3)) for d in docs[:: q + 1]} for q in range(5)}
    theirs = {"map": "ap", "map_cut_5": "ap@5", "ndcg_cut_5": "ndcg@5", "recip_rank": "rr", "P_5": "p@5"}
    theirs |= {"success_5": "success@5", "recall_5": "recall@5", "bpref": "bpref", "11pt_avg": "iprec_mean"}
    measures = {"map", "map_cut.5", "ndcg_cut.5", "recip_rank", "P.5", "success.5", "recall.5", "bpref", "11pt_avg"}
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    result = rg.from_qrels(qrels, run).evaluate(*theirs.values(), like="trec_eval-9")
    for query, values in result.to_dict().items():
        assert {name: values[ours] for name, ours in theirs.items()} == same_all(expected[query])
    # The measures that BEIR requests
    names = {"ndcg_cut_5": "ndcg@5", "map_cut_5": "ap@5", "recall_5": "recall@5", "P_5": "p@5"}
    result = rg.from_qrels(qrels, run).evaluate(*names.values(), like="beir")
    for measure, ours in names.items():
        assert same(result.mean(ours), sum(values[measure] for values in expected.values()) / len(expected))


def same_all(expected):
    return pytest.approx(expected, rel=1e-12, abs=1e-15)


@given(seed=seeds, k=st.none() | st.integers(1, 20))
def test_preset_equals_sklearn(seed, k):
    sklearn = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    labels, scores = rng.integers(0, 4, (4, 9)).astype(float), rng.integers(0, 5, (4, 9)) / 8
    labels[0] = 0
    labels[1, :3] = 0, 1.5, 2
    at = "" if k is None else f"@{k}"
    result = rg.from_scores(labels, scores, ties="stable").evaluate(f"ndcg{at}", f"dcg{at}", like="sklearn")
    assert same(result.mean(f"ndcg{at}"), sklearn.ndcg_score(labels, scores, k=k))
    assert same(result.mean(f"dcg{at}"), sklearn.dcg_score(labels, scores, k=k))


def test_preset_of_sklearn_judges_scored_documents_only():
    sklearn = pytest.importorskip("sklearn.metrics")
    grades, scores = {"a": 1, "b": 2, "unscored": 3}, {"a": 0.9, "b": 0.8}
    theirs = sklearn.ndcg_score([[1, 2]], [[0.9, 0.8]])
    gained, ideal = 1 + 2 * LOG3, 2 + LOG3
    assert same(theirs, gained / ideal)
    rankings = rg.from_qrels({"q": grades}, {"q": scores})
    assert same(rankings.evaluate("ndcg", like="sklearn").mean("ndcg"), theirs)
    from_files = rankings.evaluate("ndcg", like="sklearn", given="files").mean("ndcg")
    assert same(from_files, gained / (3 + 2 * LOG3 + 1 / 2))
    explained = rg.explain("ndcg", like=("sklearn", "ranx")).differences()["ideal"]
    assert explained["sklearn"].startswith("of all scored documents, highest gain first")
    assert explained["ranx"].startswith("of all judged documents, highest gain first")


@pytest.mark.peers
@pytest.mark.parametrize("seed", range(8))
def test_preset_equals_lightgbm(seed):
    lightgbm = pytest.importorskip("lightgbm")
    labels, scores, sizes = groups(seed, single=1)
    quiet = {"verbose": -1, "min_data": 1, "min_data_in_bin": 1}
    features = np.arange(len(labels), dtype=float)[:, None]
    data = lightgbm.Dataset(features, label=labels, group=sizes, init_score=scores, params=quiet)
    settings = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [1, 2, 5, 99]}
    rows = lightgbm.Booster(settings | quiet, data).eval_train()
    expected = {name.replace("map", "ap"): value for _, name, value, *_ in map(tuple, rows)}
    assert len(expected) == 8
    rankings = rg.from_scores(labels, scores, group_sizes=sizes)
    assert rankings.evaluate(*expected, like="lightgbm").mean() == same_all(expected)


@pytest.mark.peers
@pytest.mark.parametrize("seed", range(8))
def test_preset_equals_xgboost(seed):
    xgboost = pytest.importorskip("xgboost")
    labels, scores, sizes = groups(seed, single=1)
    # Differences of this size are lost in 32 bits.
    scores = scores + np.random.default_rng(seed).integers(0, 3, len(scores)) * 1e-9

    def value(metric, labels):
        data = xgboost.DMatrix(np.zeros((len(labels), 1)), label=labels, base_margin=scores)
        data.set_group(sizes)
        settings = {"objective": "rank:ndcg" if labels.max() > 1 else "rank:map", "eval_metric": metric}
        return float(xgboost.train(settings, data, 0).eval(data).rpartition(":")[2])

    binary = (labels > 0).astype(float)
    for theirs, ours, metric_labels in [
        ("ndcg", "ndcg", labels),
        ("ndcg@3", "ndcg@3", labels),
        ("ndcg@99", "ndcg@99", labels),
        ("ndcg@3-", "ndcg(empty=0)@3", labels),
        ("map", "ap", binary),
        ("map@3", "ap@3", binary),
        ("map@3-", "ap:empty=0@3", binary),
        ("pre", "precision", binary),
    ]:
        result = rg.from_scores(metric_labels, scores, group_sizes=sizes).evaluate(ours, like="xgboost")
        assert same(result.mean(ours), value(theirs, metric_labels)), theirs


@pytest.mark.peers
@pytest.mark.parametrize("seed", range(8))
def test_preset_equals_catboost(seed):
    utils = pytest.importorskip("catboost.utils")
    labels, scores, sizes = groups(seed)
    ids = np.repeat(np.arange(len(sizes)), sizes)
    labels[-1] = 0.4  # a label of 0.4 is not relevant
    pairs = {"ndcg": "NDCG", "ndcg@3": "NDCG:top=3", "ndcg@99": "NDCG:top=99", "dcg@3": "DCG:top=3", "ap": "MAP"}
    pairs |= {"ap@1": "MAP:top=1", "ap@3": "MAP:top=3", "recall@3": "RecallAt:top=3", "rr": "MRR", "rr@2": "MRR:top=2"}
    pairs |= {"precision": "PrecisionAt", "ndcg(gain=exponential)@3": "NDCG:top=3;type=Exp"}
    pairs |= {"ndcg(discount=zipf)@3": "NDCG:top=3;denominator=Position"}
    result = rg.from_scores(labels, scores, group_sizes=sizes).evaluate(*pairs, like="catboost")
    for ours, theirs in pairs.items():
        (expected,) = utils.eval_metric(labels, scores, theirs, group_id=ids)
        assert result.mean(ours) == pytest.approx(expected, rel=1e-7), theirs  # CatBoost stores labels in 32 bits


# Recorded output of peers for fixed data

PEER_OUTPUT = json.loads((FOLDER / "peers.json").read_text())
RELEVANT = [dict.fromkeys(items, 1) for items in fixed.TRUTH]


def given_data(peer, name):
    """Return the fixed data in the form that the peer received for a metric."""
    if peer == "ranx":
        return rg.from_qrels(fixed.QRELS, fixed.RUN)
    if peer == "torchmetrics":
        scores = fixed.SCORES if name.startswith("ndcg") else fixed.UNTIED
        labels = [[g if name.startswith("ndcg") else float(g > 0) for g in grades] for grades in fixed.GRADES]
        return rg.from_scores(labels, scores)
    if peer == "implicit":
        truth = [{} if user == 4 else items for user, items in enumerate(RELEVANT)]
        return rg.from_recommendations(truth, fixed.MATRIX)
    lists = [[] if user == 2 and peer == "rectools" else items for user, items in enumerate(fixed.LISTS)]
    return rg.from_recommendations(RELEVANT, lists)


@pytest.mark.parametrize("peer", PEER_OUTPUT)
def test_presets_equal_the_recorded_output_of_peers(peer):
    exact = {"rel": 1e-5} if peer == "torchmetrics" else {"rel": 1e-12}
    for name, value in PEER_OUTPUT[peer]["values"].items():
        result = given_data(peer, name).evaluate(name, like=peer)
        assert result.mean(name) == pytest.approx(value, **exact), name


# Means that differ from those of the peer because queries without truth are counted here.
KNOWN_DIFFERENCES = {
    ("rectools", "an empty truth"): 0.5,
    ("trec_eval-9", "an empty truth"): 0.5,
}


@pytest.mark.usefixtures("backend")
@in_one_case("case", fixed.CASES)
@pytest.mark.parametrize(
    "peer", [*(peer for peer, recorded in PEER_OUTPUT.items() if "queries" in recorded), "trec_eval-9"]
)
def test_presets_count_the_queries_of_the_peer(peer, case):
    """A user may be missing from the run or from the truth, or may have an empty list or an empty truth."""
    if peer not in PEER_OUTPUT:
        pytest.importorskip("pytrec_eval")
    run, truth = fixed.CASES[case]
    recorded = PEER_OUTPUT[peer]["queries"][case] if peer in PEER_OUTPUT else fixed.pytrec_eval_queries(run, truth)
    name = "ndcg(ideal=judged)@10" if peer == "rectools" else "ndcg@10"
    if (peer, case) == ("lenskit", "only in the run"):  # LensKit's value is 0.5
        for rankings in (rg.from_qrels(truth, fixed.scored(run)), rg.from_recommendations(truth, run)):
            with pytest.raises(ValueError, match=r"like='lenskit': .* without judgments count 0 .* give the 1 of them"):
                rankings.evaluate(name, like=peer)
        truth = {user: {} for user in run} | truth  # as the error message suggests
    expected = KNOWN_DIFFERENCES.get((peer, case), recorded)
    assert ((peer, case) in KNOWN_DIFFERENCES) == (expected != recorded)
    for rankings in (rg.from_qrels(truth, fixed.scored(run)), rg.from_recommendations(truth, run)):
        assert rankings.evaluate(name, like=peer).mean(name) == expected


def test_preset_variant_of_a_peer(backend):
    """RecTools' NDCG(divide_by_achievable=True) equals nDCG with binary gains."""
    rankings = given_data("rectools", "ndcg@10")
    result = rankings.evaluate("ndcg(ideal=judged)@10", "ndcg@10", like="rectools")
    expected = rankings.evaluate("ndcg(gain=binary)@10")["ndcg(gain=binary)@10"]
    assert result["ndcg(ideal=judged)@10"].tolist() == expected.tolist() != result["ndcg@10"].tolist()
    assert result.mean("ndcg@10") == pytest.approx(PEER_OUTPUT["rectools"]["values"]["ndcg@10"], rel=1e-12)
    one = rg.from_recommendations([["a"]], [["a"]])
    assert one.evaluate("ndcg(ideal=judged)@3", like="rectools").mean() == {"ndcg(ideal=judged)@3": 1.0}
    assert "divide_by_achievable=True" in str(rg.explain("ndcg(ideal=judged)@10", "rectools"))


def test_table_of_peers_states_versions():
    for peer, recorded in PEER_OUTPUT.items():
        assert recorded["version"] in PEERS[peer].source


# Values worked out by hand

LOG3 = 1 / math.log2(3)


def test_preset_of_spark():
    rankings = rg.from_recommendations([{"a": 1, "b": 2, "c": 1}], [["x", "a", "y", "b"]])
    result = rankings.evaluate("ndcg@3", "ap", "ap@2", "precision@10", "recall@2", like="spark")
    assert result.mean() == same_all(
        {
            "ndcg@3": LOG3 / (3 + LOG3 + 1 / 2),
            "ap": (1 / 2 + 2 / 4) / 3,
            "ap@2": (1 / 2) / 2,
            "precision@10": 2 / 10,
            "recall@2": 1 / 3,
        }
    )


def test_preset_of_elasticsearch():
    rankings = rg.from_recommendations([{"a": 2, "b": 3, "c": 3, "d": 0}], [["x", "a"]])
    result = rankings.evaluate("ndcg@10", "dcg@10", "rr@10", "recall@10", "precision", "err@10", like="elasticsearch")
    assert result.mean() == same_all(
        {
            "ndcg@10": 3 * LOG3 / (7 + 7 * LOG3),  # two hits, so the ideal ranking has two documents
            "dcg@10": 3 * LOG3,
            "rr@10": 1 / 2,
            "recall@10": 1 / 3,
            "precision": 1 / 2,
            "err@10": 3 / 16 / 2,
        }
    )
    barely = rg.from_recommendations([{"a": 1}], [["x", "a"]])
    assert barely.evaluate("precision", like="elasticsearch").mean() == {"precision": 0.5}


def test_preset_of_beir():
    qrels = {"q": {"a": 1, "z": 1, "b": 0}}
    run = {"q": {"x": 1.0, "a": 1.0, "z": 1.0 - 1e-12}}
    rankings = rg.from_qrels(qrels, run)
    # With 32-bit scores, the order is z, x, a.
    expected = {"ndcg@1": 1.0, "p@2": 0.5, "ap@2": 0.5}
    assert rankings.evaluate(*expected, like="beir").mean() == expected
    # For rr, the order is x, a, z.
    assert rankings.evaluate("rr@1", "rr@2", like="beir").mean() == {"rr@1": 0.0, "rr@2": 0.5}
    assert rankings.evaluate("capped_recall@2", "capped_recall@9", like="beir").mean() == {
        "capped_recall@2": 0.5,
        "capped_recall@9": 1.0,
    }
    with pytest.raises(
        ValueError, match="ndcg@1 and rr@1 follow different rules there, ties='docid' in 32 bits and ties='st"
    ):
        rankings.evaluate("ndcg@1", "rr@1", like="beir")


OWN = {"a": {"a": 3.0, "x": 2.0, "b": 1.0}, "b": {"b": 1.0}, "c": {"x": 2.0, "c": 2.0}, "unjudged": {"unjudged": 1.0}}
OWN_QRELS = {"a": {"a": 1, "x": 1}, "b": {"x": 1}, "c": {"x": 1}, "missing": {"missing": 1}}


@pytest.mark.parametrize("form", ["dicts", "records", "scattered", "files", "lists", "integers"])
def test_hits_with_the_id_of_their_query_are_removed_like_beir(form):
    qrels, run = OWN_QRELS, OWN
    rows = [{"query_id": query, "doc_id": doc, "score": score} for query in run for doc, score in run[query].items()]
    judged = [{"query_id": query, "doc_id": doc, "relevance": 1} for query in qrels for doc in qrels[query]]
    lines = "".join("{query_id} Q0 {doc_id} 0 {score} t\n".format(**row) for row in rows)
    judged_lines = "".join("{query_id} 0 {doc_id} {relevance}\n".format(**row) for row in judged)
    number = {name: at for at, name in enumerate(["missing", *"abcx", "unjudged"])}
    rankings = {
        "dicts": lambda: rg.from_qrels(qrels, run),
        "records": lambda: rg.from_frames(judged, rows),
        "scattered": lambda: rg.from_frames(judged, rows[1::2] + rows[::2]),
        "files": lambda: rg.read_trec(io.BytesIO(judged_lines.encode()), io.BytesIO(lines.encode())),
        "lists": lambda: rg.from_recommendations(*({q: [*docs] for q, docs in side.items()} for side in (qrels, run))),
        "integers": lambda: rg.from_frames(
            *(
                [row | {name: number[row[name]] for name in ("query_id", "doc_id")} for row in side]
                for side in (judged, rows)
            )
        ),
    }[form]()
    result = rankings.evaluate("recall@1", "ndcg@10", like="beir")
    assert result.mean() == {"recall@1": 0.5, "ndcg@10": (0.6131471927654584 + 0.0 + 1.0) / 3}
    assert result.counts == {"queries": 3, "missing": 1, "unjudged": 1, "empty": 0, "own_ids": 3}
    assert "3 hits with the id of their query" in repr(result)
    assert "own_ids" not in rankings.evaluate("rr@1", like="beir").counts  # BEIR's mrr keeps them
    assert "own_ids" not in rankings.evaluate("rr", like="trec_eval").counts
    summary = result.summary()
    assert rg.Summary.from_json(summary.to_json()).counts == summary.counts == result.counts
    attribution = rankings.attribution("recall@1", like="beir")
    (row,) = (row for row in attribution.rows if row["rule"] == "hits")
    assert (row["rankgain"], row["like"]) == ("all", "all but those with the id of their query")
    assert attribution.like_mean == 0.5
    assert rankings.calculation("recall@1", result.query_ids[0], like="beir").value == 0.5


def test_numbered_queries_have_no_ids_of_documents():
    rankings = rg.from_recommendations([[0], [1]], [[0], [1]])
    assert rankings.evaluate("recall@1", like="beir").mean() == {"recall@1": 1.0}
    named = rg.from_recommendations([[0], [1]], np.array([[0, 3], [1, 4]]), query_ids=[0, 7])
    assert named.evaluate("recall@1", like="beir").counts["own_ids"] == 1


def test_preset_of_msmarco():
    rankings = rg.from_qrels({"q": {"a": 0}, "missing": {"b": 1}}, {"q": {"x": 0.5, "a": 0.4}}, missing="skip")
    result = rankings.evaluate("mrr@10", like="msmarco")
    assert (result.mean("mrr@10"), result.missing) == (0.25, "zero")


# All peers

TESTED_VALUES = {  # the test that compares values with each peer that has no recorded output
    "trec_eval-9": test_preset_equals_trec_eval,
    "trec_eval-10": test_preset_equals_trec_eval,
    "sklearn": test_preset_equals_sklearn,
    "lightgbm": test_preset_equals_lightgbm,
    "xgboost": test_preset_equals_xgboost,
    "catboost": test_preset_equals_catboost,
    "spark": test_preset_of_spark,
    "elasticsearch": test_preset_of_elasticsearch,
    "beir": test_preset_of_beir,
    "msmarco": test_preset_of_msmarco,
    "ndeval": "test_peers_ndeval.py",
}


def test_values_of_every_peer_are_tested():
    """Every peer has recorded output in golden/peers.json or a test in this folder."""
    assert {*PEERS} - {*PEER_OUTPUT} == {*TESTED_VALUES}, "add a test of values, and its line to TESTED_VALUES"
    for peer, recorded in PEER_OUTPUT.items():
        metrics = {name.partition("@")[0] for measure in PEERS[peer].measures for name in measure.names.split()}
        tested = {name.partition("(")[0].partition("@")[0] for name in recorded["values"]}
        assert tested == metrics, f"{peer}: record the values of {sorted(metrics - tested)} in golden/peers.json"


@pytest.mark.parametrize("peer", PEERS.values(), ids=PEERS)
def test_every_metric_of_every_peer_is_computed_and_explained(peer):
    truth = rg.judgments({query: {"s": grades} for query, grades in fixed.QRELS.items()}, subtopic=True)
    rankings = rg.from_qrels(truth if peer.name == "ndeval" else fixed.QRELS, fixed.RUN)
    for name in (name for measure in peer.measures for name in measure.names.split()):
        request = name.replace("@k", "@3")
        result = rankings.evaluate(request, like=peer.name.upper())
        assert result.like == peer.name
        assert f"like='{peer.name}'" in repr(result)
        assert np.isfinite(result.mean(request)), name
        facts = rg.explain(request, peer.name).facts[peer.name]
        assert facts["ties"] == peer.order
        assert facts["called"].endswith(f" in {peer.title}")
        assert peer.source in facts["source"]


def test_presets_accept_rankings_in_rank_order():
    result = rg.from_ranked([[0, 3, 1]]).evaluate("ndcg@2", like="trec_eval-9")
    assert (result.ties, result.missing, result.like) == (None, None, "trec_eval-9")


def test_explicit_parameters_override_the_preset():
    rankings = rg.from_ranked([[1, 2], [0, 0]])
    whole = (1 + 3 * LOG3) / (3 + LOG3) / 2
    values = {"ndcg": whole + 0.5, "ndcg:empty=0": whole, "ndcg(gain=linear)": (1 + 2 * LOG3) / (2 + LOG3) / 2 + 0.5}
    assert rankings.evaluate(*values, like="lightgbm").mean() == same_all(values)
    # Settings of a record override the preset if they differ from their defaults.
    table = rg.metric("ndcg", gain={1: 1, 2: 5})
    expected = (1 + 5 * LOG3) / (5 + LOG3) / 2 + 0.5
    assert same(rankings.evaluate(table, like="lightgbm").mean(table), expected)
    linear = rg.metric("ndcg", gain="linear")
    assert same(rankings.evaluate(linear, like="lightgbm").mean(linear), values["ndcg"])


def test_preset_of_rankgain_changes_nothing():
    rankings = rg.from_scores([[0, 1]], [[0.5, 0.5]])
    result = rankings.evaluate("rr", "rbp(p=0.5)", like="rankgain")
    assert (result.ties, result.mean("rr")) == ("average", 0.75)


def test_results_of_different_presets_are_not_merged():
    one, other = (rg.from_ranked([[1, 0]]).evaluate("ndcg", like=like) for like in ("sklearn", "catboost"))
    assert one.merge(one).like == "sklearn"
    with pytest.raises(ValueError, match="has like='catboost', the first has 'sklearn'"):
        one.merge(other)


# Explanations


@in_one_case("name", TABLE)
def test_explain_covers_every_metric(name):
    row = TABLE[name]
    explanation = rg.explain(name)
    facts = explanation.facts["rankgain"]
    assert facts["formula"] == row.formula
    assert ("k" in facts) == row.cuts
    labels = {"rel": "relevant", "empty": row.empty_if}
    assert {labels.get(parameter, parameter) for parameter in row.takes} <= facts.keys()
    assert facts["ties"].endswith("no expected value here") == bool(row.unaveraged)
    text = str(explanation)
    assert text.startswith(f"{name}\n")
    assert max(map(len, text.splitlines())) <= 120


def test_explain_defines_the_symbols_that_it_uses():
    assert "where" not in rg.explain("num_q").facts["rankgain"]
    assert rg.explain("recall").facts["rankgain"]["where"] == (
        "rel(i): 1 where the document at rank i is relevant, else 0; R: relevant documents judged"
    )
    assert "N: non-relevant" in rg.explain("bpref").facts["rankgain"]["where"]


@in_one_case(
    ("metric", "label", "text"),
    [
        (rg.metric("dcg", gain={1: 3}), "gain", "g(r) by grade: {0: 0, 1: 3}"),
        ("dcg(discount=zipf)", "discount", "d(i) = 1 / i"),
        ("dcg(discount=jarvelin:3)", "discount", "d(i) = 1 for i < 3, else 1 / log_3(i)"),
        (
            "ndcg(ideal=returned)",
            "ideal",
            "of all judged documents, highest gain first, cut at k and at the length of ",
        ),
        ("rr(rel=2)", "relevant", "judged, with a grade of at least 2"),
        ("rr(empty=nan)", "nothing relevant", "NaN: the query does not count"),
        ("fallout(empty=1)", "nothing non-relevant", "1"),
        ("gm_ap", "mean", "the geometric mean over queries"),
        ("rbp(p=0.5)", "p", "0.5"),
        ("utility", "coefficients", "(1.0, -1.0, 0.0, 0.0)"),
    ],
)
def test_explain_states_the_parameters(metric, label, text):
    assert rg.explain(metric).facts["rankgain"][label].startswith(text)


def test_explain_of_one_peer_has_no_differences():
    for like in (None, "rankgain", "ranx"):
        with pytest.raises(ValueError, match=r"only (rankgain|ranx) was explained; .* like=\('r"):
            rg.explain("ndcg@10", like=like).differences()


def test_explain_states_differences_between_peers():
    explanation = rg.explain("ap@5", like=("lightgbm", "torchmetrics", "rankgain"))
    differences = explanation.differences()
    assert differences["formula"]["torchmetrics"] == TABLE["ap_hits"].formula
    assert differences["called"]["rankgain"] == "-"
    assert differences["scores"]["lightgbm"] == "-"
    assert differences["relevant"]["lightgbm"] == "judged, with a grade above 0.5"
    assert "mean" not in differences
    above, below = str(explanation).split("\nand agree in\n")
    assert above.startswith(
        "ap@5: lightgbm and torchmetrics and rankgain differ in\n  called\n    lightgbm      map in L"
    )
    assert below.splitlines()[0].split() == ["k", "5"]


# The command line


def test_command_explain_prints_the_definition(capsys):
    for likes in ([], ["lightgbm"], ["lightgbm", "sklearn"]):
        assert main(["explain", "ndcg@10", *(word for like in likes for word in ("--like", like))]) == 0
        assert capsys.readouterr().out == f"{rg.explain('ndcg@10', like=likes or None)}\n"
    assert main(["explain", "err", "--like", "sklearn"]) == 1
    assert "rankgain knows no err of scikit-learn" in capsys.readouterr().err
    for wrong in (
        ["explain"],
        ["explain", "ndcg@0"],
        ["explain", "ndcg", "--like", "solr"],
    ):
        with pytest.raises(SystemExit):
            main(wrong)
        assert "usage: rankgain explain" in capsys.readouterr().err


def test_command_line_option_like(capsys, monkeypatch):
    from rankgain.inputs import trec as read_trec

    read = []
    monkeypatch.setattr(
        read_trec,
        "read_run",
        lambda *rest, inner=read_trec.read_run, **options: read.append(rest) or inner(*rest, **options),
    )
    assert main(["eval", "--sample", "-m", "rr@10", "--like", "msmarco"]) == 0
    assert "ties: stable (like msmarco)" in capsys.readouterr().out
    assert len(read) == 1
    assert main(["eval", "--sample", "-m", "ap", "-m", "ndcg@10", "--like", "trec_eval-9", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["like"], output["missing"], output["counts"]["queries"]) == ("trec_eval-9", "skip", 11)
    for option in (["--ties", "docid"], ["--missing", "zero"], ["--tie-spread"]):
        with pytest.raises(SystemExit):
            main(["eval", "--sample", "--like", "beir", *option])
        assert f"argument {option[0]}: not allowed with argument --like" in capsys.readouterr().err


def test_explain_includes_the_notes_of_the_metric():
    assert {word for peer in PEERS.values() for about in peer.notes.values() for word in about.split()} <= {
        *TABLE,
        *SUBTOPIC_TABLE,
    }
    notes = rg.explain("ndcg@10", like="ranx").facts["ranx"]["notes"]
    assert "ndcg_burges" in notes
    assert "truncates grades" in notes
    assert not any(word in notes for word in ("hits", "rbp", "bpref"))
    # In LensKit, AP corresponds to the metric ap_capped.
    assert "min(n, number of documents)" in rg.explain("ap", like="lenskit").facts["lenskit"]["notes"]
    assert "pytrec_eval" in rg.explain("rr", like="trec_eval-9").facts["trec_eval-9"]["notes"]
    assert "pytrec_eval" not in rg.explain("rr", like="trec_eval-10").facts["trec_eval-10"]["notes"]


UNSCORED = {"q": {"a": 1, "b": 1, "c": 0}, "r": {"a": 1}}, {"q": {"c": 3.0, "a": 2.0}}  # b and r are not in the run


@pytest.mark.options("Rankings.evaluate", "given")
@pytest.mark.options("Rankings.calculation", "given")
@pytest.mark.options("evaluate", "given")
@pytest.mark.options("explain", "given")
def test_given_is_an_option_of_each_call_that_follows_a_tool(tmp_path, capsys):
    qrels, run = UNSCORED
    rankings, expected = rg.from_qrels(qrels, run), {"scored": LOG3, "files": LOG3 / (1 + LOG3) / 2}
    for handed, value in expected.items():
        results = [
            rankings.evaluate("ndcg", like="sklearn", given=handed),
            rg.evaluate(qrels, run, "ndcg", given=handed),
        ]
        assert [result.mean("ndcg") for result in results] == [pytest.approx(value)] * 2
        assert [len(result.query_ids) for result in results] == [1 if handed == "scored" else 2] * 2
        calculation = rankings.calculation("ndcg", "q", like="sklearn", given=handed)
        assert calculation.value == rankings.evaluate("ndcg", like="sklearn", given=handed).to_dict()["q"]["ndcg"]
        facts = rg.explain("ndcg", "sklearn", given=handed).facts["sklearn"]
        assert facts["ideal"].startswith(f"of all {'scored' if handed == 'scored' else 'judged'} documents")
        assert ("judged" in facts) == (handed == "scored")
    assert rankings.evaluate("ndcg", like="sklearn") == rankings.evaluate("ndcg", like="sklearn", given="scored")
    assert [row["document"] for row in rankings.calculation("ndcg", "q", like="sklearn").ideal] == ["a"]
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, row in qrels.items() for d, g in row.items()))
    (tmp_path / "run").write_text("q Q0 c 1 3 t\nq Q0 a 2 2 t\n")
    for handed, value in (("scored", "0.6309"), ("files", "0.1934")):
        assert main(["eval", *files, "-m", "ndcg", "--like", "sklearn", "--given", handed]) == 0
        assert f"ndcg    {value}" in capsys.readouterr().out
        assert main(["explain", "ndcg", *files, "--like", "sklearn", "--given", handed]) == 0
        assert ("judged documents" in capsys.readouterr().out) == (handed == "scored")
    assert main(["explain", "ndcg", "--given", "scored"]) == 0
    assert "of all scored documents" in capsys.readouterr().out


@in_one_case("peer", PEERS)
def test_only_tools_that_take_arrays_are_given_scored_documents(peer):
    row = PEERS[peer]
    metric = row.measures[0].names.split()[0].replace("@k", "@5")
    if row.takes_arrays:
        assert rg.explain(metric, peer, given="scored") == rg.explain(metric, peer)
        return
    with pytest.raises(ValueError, match=f"given='scored': {row.title} is handed the whole truth"):
        rg.from_qrels(*UNSCORED).evaluate(metric, like=peer, given="scored")
    with pytest.raises(ValueError, match="given='scored'"):
        rg.explain(metric, peer, given="scored")
