"""Known values, worked out by hand or printed in books and papers, each with its source."""

import math

import pytest
from support.marks import in_one_case

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")

IIR = "Manning, Raghavan & Schütze 2008, Introduction to Information Retrieval, exercise "
HAND = "by hand, from the definition of "


def letters(text):
    """Convert the letters R (relevant) and N (not relevant) to binary grades."""
    return [int(letter == "R") for letter in text.replace(" ", "")]


def others(relevant, judged=0):
    """Return the grades of judged documents that were not returned."""
    return [1] * relevant + [0] * judged


FOUR = letters("RNRNNNNNRR"), letters("NRNNRRRNNN")
TWENTY = letters("RRNNN NNNRN RNNNR NNNNR")
EIGHTEEN = letters("R" * 8 + "N" * 10)
JK = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]  # the vector G' in Järvelin & Kekäläinen 2002, section 2.1
JK_IDEAL = [3, 3, 3, 2, 2, 2, 1, 1, 1, 1] + [0] * 6  # the ideal vector I' in the same section
MZ = [int(rank in (1, 2, 6, 11, 17)) for rank in range(1, 21)]
LOG3 = math.log2(3)
SEVEN = {"A": 3, "B": 3, "C": 2, "D": 2, "E": 1, "F": 1, "G": 0}  # grades by document
FIVE = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}


def of_ids(grades, returned):
    """Return the grades of the returned documents and the grades of the documents that were not returned."""
    return [grades[doc] for doc in returned], [grade for doc, grade in grades.items() if doc not in returned]


ROWS = [
    # source, returned, judged but not returned, metric, value, digits printed in the source (None: exact)
    (IIR + "8.1", EIGHTEEN, others(12), "precision", 8 / 18, None),
    (IIR + "8.1", EIGHTEEN, others(12), "recall", 8 / 20, None),
    (IIR + "8.7", EIGHTEEN, others(12), "f", 2 * 8 / (2 * 8 + 12 + 10), None),  # F1 is the Dice coefficient
    (IIR + "8.8", FOUR[0], [], "ap", (1 + 2 / 3 + 3 / 9 + 4 / 10) / 4, None),
    (IIR + "8.8", FOUR[0], [], "ap", 0.6, 3),
    (IIR + "8.8", FOUR[1], [], "ap", 0.493, 3),
    (IIR + "8.8", FOUR[0], [], "r_precision", 0.5, None),
    (IIR + "8.8", FOUR[1], [], "r_precision", 0.25, None),
    (IIR + "8.9 a", TWENTY, others(2), "precision@20", 0.3, None),
    (IIR + "8.9 b", TWENTY, others(2), "f@20", 3 / 7, None),
    (IIR + "8.9 c", TWENTY, others(2), "iprec(recall=0.25)", 1.0, None),
    (IIR + "8.9 d", TWENTY, others(2), "iprec(recall=0.33)", 4 / 11, None),
    (IIR + "8.9 d", TWENTY, others(2), "iprec(recall=0.33,rounding=nearest)", 4 / 11, None),
    (IIR + "8.9 e", TWENTY, others(2), "ap", 0.4163, 4),
    (IIR + "8.9, mean of the precisions found", TWENTY, others(2), "ap_hits", 3.3303030303 / 6, 9),
    # The number of relevant documents needed is at most 2 for recall 0 to 0.2 (8·0.2 + 0.9 = 2.5), 3 or 4 for recall
    # 0.3 to 0.5, 5 for 0.6, 6 for 0.7, and at least 7 from 0.8 on.
    ("IIR section 8.4", TWENTY, others(2), "iprec_mean", (3 + 4 / 11 * 3 + 1 / 3 + 0.3) / 11, None),
    (HAND + "AUC: 5 of 6 pairs", letters("RNRNN"), [], "auc", 5 / 6, None),
    (HAND + "AUC: judged documents that were not returned do not count", letters("NR"), others(3, 3), "auc", 0.0, None),
    (HAND + "fall-out", letters("RNNRN"), others(2, 1), "fallout", 3 / 4, None),
    (HAND + "fall-out at 2", letters("RNNRN"), others(2, 1), "fallout@2", 1 / 4, None),
    ("torchmetrics 1.9, retrieval_fall_out(k=2), its docstring", letters("NRN"), [], "fallout@2", 0.5, None),
    ("implicit feedback", [0, 1, 0, 1, 0], [], "idcg@5", 1.6309297535714575, None),
    ("implicit feedback", [0, 1, 0, 1, 0], [], "dcg@5", 1.0616063116448506, None),
    ("implicit feedback", [0, 1, 0, 1, 0], [], "ndcg@5", 0.6509209298071326, None),
    ("the list's own ideal", [3, 2, 3, 0, 1, 2], [], "dcg@2", 4.2618595071429155, None),
    ("the list's own ideal", [3, 2, 3, 0, 1, 2], [], "dcg@3", 5.7618595071429155, None),
    ("the list's own ideal", [3, 2, 3, 0, 1, 2], [], "idcg@3", 5.892789260714372, None),
    ("the list's own ideal", [3, 2, 3, 0, 1, 2], [], "ndcg@3", 0.9777813616305049, None),
    ("the list's own ideal", [3, 2, 2, 1], [], "idcg@4", 5.6925360652163075, None),
    ("the ideal of the judged set", *of_ids(SEVEN, "AECDF"), "idcg@5", 7.1409951840957, None),
    ("the ideal of the judged set", *of_ids(SEVEN, "AECDF"), "ndcg@5", 0.8232936061974518, None),
    ("the ideal of the judged set", *of_ids(SEVEN, "ABCGE"), "ndcg@5", 0.8793791209851007, None),
    ("grades with fractions", *of_ids(FIVE, "ABC"), "dcg", 0.7654648767857287, None),
    ("grades with fractions", *of_ids(FIVE, "ABC"), "idcg", 1.347217813316522, None),
    ("grades with fractions", *of_ids(FIVE, "ABC"), "idcg@3", 1.2654648767857286, None),
    ("grades with fractions", *of_ids(FIVE, "ABC"), "ndcg", 0.5681819741540833, None),
    ("grades with fractions", *of_ids(FIVE, "ABC"), "ndcg(ideal=returned)", 0.6048882832133625, None),
    ("Järvelin & Kekäläinen 2002, CG'", JK, None, "cg@10", 16, None),
    ("Järvelin & Kekäläinen 2002, DCG', b = 2", JK, None, "dcg(discount=jarvelin:2)@3", 6.89, 2),
    ("Järvelin & Kekäläinen 2002, DCG', b = 2", JK, None, "dcg(discount=jarvelin:2)@6", 7.28, 2),
    ("Järvelin & Kekäläinen 2002, DCG', b = 2", JK, None, "dcg(discount=jarvelin:2)@10", 9.61, 2),
    ("Moffat & Zobel 2008, section 2", MZ, [], "ap", 0.6316, 4),
    ("Moffat & Zobel 2008, eq. 2", MZ, [], "rbp(p=0.5)", (1 + 2**-1 + 2**-5 + 2**-10 + 2**-16) / 2, None),
    ("Moffat & Zobel 2008, eq. 2", MZ, [], "rbp(p=0.8)", 0.4526, 4),
    ("Moffat & Zobel 2008, eq. 2", MZ, [], "rbp(p=0.95)", 0.1881, 4),
    ("Moffat & Zobel 2008, residual of a judged list", MZ, [], "rbp_residual(p=0.5)", 2**-20, None),
    ("Moffat & Zobel 2008, residual to depth 5", MZ, [], "rbp_residual(p=0.5)@5", 2**-5, None),
    ("Evret's page on RBP", [1, 0, 1, 1, 0], [], "rbp(p=0.8)@5", 0.4304, None),
    (HAND + "ERR", [3, 2, 4], [], "err", 7 / 16 + 9 * 3 / 16**2 / 2 + 9 * 13 * 15 / 16**3 / 3, None),
    (HAND + "ERR", [1, 1], [], "err(max_grade=1)", 1 / 2 + 1 / 8, None),
    (HAND + "ERR", [0, 1, 2], [], "err(max_grade=2)@2", 1 / 8, None),
    (HAND + "nERR", [0, 1, 2], [], "nerr(max_grade=2)", (1 / 8 + 3 / 4 * 3 / 4 / 3) / (3 / 4 + 1 / 4 / 4 / 2), None),
    # The judged grades are 3, 2 and 1, so the ideal gains add up to 3, 5 and 6.
    (HAND + "Q", [2, 0, 3], [1], "q_measure", (3 / 4 + 7 / 9) / 3, None),
    (HAND + "Q, β = 10", [2, 0, 3], [1], "q_measure(beta=10)", (21 / 31 + 52 / 63) / 3, None),
    (HAND + "Q, β = 0: AP", [2, 0, 3], [1], "q_measure(beta=0)", (1 + 2 / 3) / 3, None),
    (HAND + "Q at a cut-off", [2, 0, 3], [1], "q_measure@2", 3 / 4 / 3, None),
    (HAND + "capped recall, k < R", letters("RNRN"), others(3), "capped_recall@2", 1 / 2, None),
    (HAND + "capped recall, k > R", letters("RNRN"), others(3), "capped_recall@10", 2 / 5, None),
    (HAND + "AP ÷ min(k, R)", letters("NRNR"), others(3), "ap_capped@2", (1 / 2) / 2, None),
]  # fmt: skip


@in_one_case(("source", "returned", "beside", "metric", "value", "digits"), ROWS)
def test_known_values(source, returned, beside, metric, value, digits):
    judged = returned + (beside or [])
    expected = pytest.approx(value, rel=1e-12) if digits is None else pytest.approx(value, abs=0.51 * 10**-digits)
    assert rg.from_ranked(returned, judged=judged).evaluate(metric)[metric].tolist() == [expected], source
    by_id = rg.from_recommendations([dict(enumerate(judged))], [[*range(len(returned))]])
    assert by_id.evaluate(metric)[metric].tolist() == [expected], source
    scores = [-rank for rank in range(len(returned))]
    for ties in ("average", "worst"):  # no documents are tied
        rankings = rg.from_scores(returned, scores, judged=judged, ties=ties)
        if ties != "average" or not metric.startswith(("iprec", "ap_hits", "g", "bin_g", "ndcg_rel")):
            assert rankings.evaluate(metric)[metric].tolist() == [expected], source


RATINGS = [3, 4, 5, 1, 2, 3, 4, 5, 5, 4]
ESTIMATES = [rating + (0.5 if index % 2 else -0.5) for index, rating in enumerate(RATINGS)]


@pytest.mark.parametrize(
    ("ties", "metric", "at_10", "at_5"),
    [
        ("stable", "idcg", 89.3986129310978, 78.3217628403342),
        ("stable", "dcg", 85.98764063423907, 75.11771171236516),
        ("stable", "ndcg", 0.9618453554812123, 0.9590911770652969),
        ("average", "ndcg", 0.9707974922098048, 0.9679884234574836),
    ],
)
def test_estimates_against_ratings(ties, metric, at_10, at_5):
    result = rg.from_scores(RATINGS, ESTIMATES, ties=ties).evaluate(f"{metric}(gain=exponential)@10,5")
    assert list(result.mean().values()) == pytest.approx([at_10, at_5], rel=1e-12, abs=0)


def test_playlists():
    """A natural logarithm in the discount scales DCG but does not change nDCG."""
    truth, recommended = {"p1": [1, 2, 3], "p2": [9]}, {"p1": [2, 7, 1], "p2": [4, 9]}
    for discount in ("log2", [1 / math.log(rank + 1) for rank in range(1, 101)]):
        metric = rg.metric("ndcg", k=100, discount=discount)
        result = rg.from_recommendations(truth, recommended).evaluate(metric)
        assert result[metric].tolist() == pytest.approx([0.7039180890341347, 0.6309297535714575], rel=1e-12)
        assert result.mean(metric) == pytest.approx(0.667423921302796, rel=1e-12)


def printed(text):
    return [pytest.approx(float(value), abs=0.0101) for value in text.split()]


def test_jarvelin_and_kekalainen():
    """The values agree to two digits with the vectors in section 2 of the paper.

    Some printed values are sums of rounded values.
    """
    rankings = rg.from_ranked([JK], judged=[JK_IDEAL])

    def at_all(metric):
        return rankings.curve(metric, range(1, 11)).values[0].tolist()

    assert at_all("cg") == [3, 5, 8, 8, 8, 9, 11, 13, 16, 16]
    dcg, idcg = (rg.metric(name, discount="jarvelin:2") for name in ("dcg", "idcg"))
    assert at_all(dcg) == printed("3 5 6.89 6.89 6.89 7.28 7.99 8.66 9.61 9.61")
    assert at_all(idcg) == printed("3 6 7.89 8.89 9.75 10.52 10.88 11.21 11.53 11.83")
    assert at_all("ncg") == printed("1 0.83 0.89 0.73 0.62 0.6 0.69 0.76 0.89 0.84")
    assert at_all(rg.metric("ndcg", discount="jarvelin:2")) == printed("1 0.83 0.87 0.78 0.71 0.69 0.73 0.77 0.83 0.81")


# A list with unjudged documents: the document at rank 3 was pooled, and the document at rank 2 was never seen.
POOL = {"a": 1, "c": -1, "d": 0, "e": 1}
LISTED = {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}

UNJUDGED = [
    ("judged", 3 / 5),
    ("judged@2", 1 / 2),
    ("judged@9", 3 / 5),
    ("unjudged", 2 / 5),
    ("unjudged@2", 1 / 2),
    ("unjudged@10", 2 / 10),
    ("rbp(p=0.5)", (1 + 2**-4) / 2),
    ("rbp_residual(p=0.5)", (2**-1 + 2**-2) / 2 + 2**-5),
    ("rbp_residual(p=0.5)@2", 2**-1 / 2 + 2**-2),
    ("utility(collection=10,coefficients=0/0/0/1)", 5),
]


@in_one_case(("metric", "value"), UNJUDGED)
def test_unjudged_documents(metric, value):
    result = rg.from_qrels({"q": POOL}, {"q": LISTED}).evaluate(metric)
    assert result[metric].tolist() == [pytest.approx(value, rel=1e-12)]


@pytest.mark.parametrize("ideal", ["judged", "returned"])
def test_a_list_that_returned_nothing_earns_nothing(ideal):
    """An empty list has the value 0 rather than `empty` if there are relevant documents."""
    assert rg.ndcg([[], [1]], judged=[[2], [1]], ideal=ideal, empty=0.5).tolist() == [0.0, 1.0]
    metric = rg.metric("ndcg", ideal=ideal, empty=0.5)
    for rankings in (
        rg.from_ranked([[], [1]], judged=[[2], [1]]),
        rg.from_qrels({"a": {"d": 2}, "b": {"d": 1}}, {"b": {"d": 0.5}}),
        rg.from_recommendations([{2}, {1}], [[], [1]]),
    ):
        assert rankings.evaluate(metric)[metric].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("metric", ["rr@2", "recall@2", "ap@2", "dcg(discount=zipf)@2"])
def test_a_hit_at_the_only_cut_off(metric, tmp_path):
    """Every form of input is read down to the cut-off, and a tie at the cut-off is broken by id."""
    files = [tmp_path / "qrels", tmp_path / "run"]
    for path, lines in zip(files, ("q 0 d1 1\n", "q Q0 d2 1 0.5 t\nq Q0 d1 2 0.5 t\nq Q0 d0 3 0.5 t\n"), strict=True):
        path.write_text(lines)
    run = {"qid": ["q"] * 3, "docid": ["d0", "d1", "d2"], "score": [0.5] * 3}
    for rankings in (
        rg.from_ranked([0, 1, 0]),
        rg.from_scores([0, 1, 0], [3, 2, 1], ties="stable"),
        rg.from_scores([1, 0, 0], [2, 3, 2], ties="stable"),
        rg.from_qrels({"q": {"d1": 1}}, {"q": {"d0": 0.5, "d1": 0.5, "d2": 0.5}}),
        rg.from_frames({"qid": ["q"], "docid": ["d1"], "label": [1]}, run),
        rg.from_recommendations({3}, [5, 3, 4]),
        rg.read_trec(*files),
    ):
        value = 1.0 if metric.startswith("recall") else 0.5
        assert rankings.evaluate(metric)[metric].tolist() == [value]
        assert rankings.limited(depth=2).evaluate(metric)[metric].tolist() == [value]


def test_gauc_weighs_queries_by_their_documents():
    """GAUC is (4 · 7/8 + 2 · 0) / 6: one pair of the first query is tied, and the second query is ranked in reverse."""
    rankings = rg.from_scores([[1, 0, 1, 0], [0, 1]], [[0.9, 0.8, 0.8, 0.1], [0.9, 0.1]])
    result = rankings.evaluate("gauc", "auc", "gauc(rel=2,empty=nan)")
    assert result["gauc"].tolist() == result["auc"].tolist() == [7 / 8, 0.0]
    assert result.mean("gauc") == result.aggregate("gauc") == result.aggregate()["gauc"] == 3.5 / 6
    assert result.mean("auc") == 3.5 / 8
    assert result.mean("gauc", weights=[1, 2]) == 3.5 / 8
    assert math.isnan(result.mean("gauc(rel=2,empty=nan)"))


def test_gauc_of_parts_is_that_of_all():
    parts = [[1, 0, 1, 0], [0, 1]], [[0, 1, 1]], [[1, 0]]
    merged = [rg.from_ranked(part).evaluate("gauc") for part in parts]
    whole = rg.from_ranked([grades for part in parts for grades in part]).evaluate("gauc")
    assert merged[0].merge(*merged[1:]).mean() == whole.mean()
    assert (
        rg.compare([[1], [4]], {"a": [[1, 2], [3, 4, 5]]}, ["gauc"]).aggregate()["a"]["gauc"] == (2 * 1.0 + 3 * 0.5) / 5
    )
