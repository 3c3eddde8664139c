"""The known values of the definition, each from the source that the comment names."""

import math

import pytest

import rankgain as rg

pytestmark = pytest.mark.usefixtures("backend")


def about(value):
    return pytest.approx(value, rel=1e-12, abs=0)


def test_implicit_feedback():
    recommended, relevant = [6, 3, 8, 4, 5], {3, 4}
    relevance = [int(item in relevant) for item in recommended]
    judged = [1] * len(relevant)
    assert rg.idcg(judged, k=5) == about(1.6309297535714575)
    assert rg.dcg(relevance, k=5) == about(1.0616063116448506)
    assert rg.ndcg(relevance, k=5, judged=judged) == about(0.6509209298071326)
    result = rg.from_recommendations(recommended, relevant).evaluate("idcg@5", "dcg@5", "ndcg@5")
    values = [1.6309297535714575, 1.0616063116448506, 0.6509209298071326]
    assert [vector.tolist() for vector in result.values()] == [[about(value)] for value in values]


def test_mrr():
    assert rg.mrr([[0, 0, 1], [0, 1, 0], [1, 0, 0]]) == about(0.611111111111111)


def test_linear_gain_own_ideal():
    relevance = [3, 2, 3, 0, 1, 2]
    assert rg.dcg(relevance, k=2) == about(4.2618595071429155)
    assert rg.dcg(relevance, k=3) == about(5.7618595071429155)
    assert rg.idcg(relevance, k=3) == about(5.892789260714372)
    assert rg.ndcg(relevance, k=3) == about(0.9777813616305049)


RATINGS = [3, 4, 5, 1, 2, 3, 4, 5, 5, 4]
ESTIMATES = [rating + (0.5 if place % 2 else -0.5) for place, rating in enumerate(RATINGS)]


@pytest.mark.parametrize(
    ("ties", "metric", "value"),
    [
        ("stable", "idcg", {10: 89.3986129310978, 5: 78.3217628403342}),
        ("stable", "dcg", {10: 85.98764063423907, 5: 75.11771171236516}),
        ("stable", "ndcg", {10: 0.9618453554812123, 5: 0.9590911770652969}),
        ("average", "ndcg", {10: 0.9707974922098048, 5: 0.9679884234574836}),
    ],
)
def test_estimates_against_ratings(ties, metric, value):
    rankings = rg.from_scores(RATINGS, ESTIMATES, ties=ties)
    result = rankings.evaluate(*(f"{metric}(gain=exponential)@{k}" for k in value))
    for k, expected in value.items():
        assert result[f"{metric}(gain=exponential)@{k}"].tolist() == [about(expected)]


def test_fewer_documents_than_k():
    result = rg.from_scores([1, 3, 5], [3, 2, 1]).evaluate("ndcg(gain=exponential)@10", "ndcg(gain=exponential)@3")
    at_10, at_3 = (vector[0] for vector in result.values())
    assert at_10 == at_3 < 1


@pytest.mark.parametrize(("returned", "value"), [("AECDF", 0.8232936061974518), ("ABCGE", 0.8793791209851007)])
def test_ideal_from_the_judged_set(returned, value):
    grades = {"A": 3, "B": 3, "C": 2, "D": 2, "E": 1, "F": 1, "G": 0}
    relevance, judged = [grades[document] for document in returned], list(grades.values())
    assert rg.idcg(judged, k=5) == about(7.1409951840957)
    assert rg.ndcg(relevance, k=5, judged=judged) == about(value)
    run = {"q": {document: -place for place, document in enumerate(returned)}}
    for rankings in (rg.from_qrels({"q": grades}, run), rg.from_recommendations(list(returned), grades)):
        result = rankings.evaluate("idcg@5", "ndcg@5")
        assert [vector.tolist() for vector in result.values()] == [[about(7.1409951840957)], [about(value)]]


@pytest.mark.parametrize("discount", ["log2", [1 / math.log(rank + 1) for rank in range(1, 101)]])
def test_playlists(discount):
    """A natural logarithm scales DCG and leaves nDCG."""
    truth, recommended = {"p1": [1, 2, 3], "p2": [9]}, {"p1": [2, 7, 1], "p2": [4, 9]}
    metric = rg.metric("ndcg", k=100, discount=discount)
    result = rg.from_recommendations(recommended, truth).evaluate(metric)
    assert result[metric].tolist() == [about(0.7039180890341347), about(0.6309297535714575)]
    assert result.mean(metric) == about(0.667423921302796)


GRADES = {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.5, "E": 0.1}


def test_real_valued_grades_by_id():
    relevance, judged = [GRADES[document] for document in "ABC"], list(GRADES.values())
    assert rg.dcg(relevance) == about(0.7654648767857287)
    assert rg.idcg(judged) == about(1.347217813316522)
    assert rg.idcg(judged, k=3) == about(1.2654648767857286)
    assert rg.ndcg(relevance, judged=judged) == about(0.5681819741540833)
    assert rg.ndcg(relevance, judged=judged, ideal="returned") == about(0.6048882832133625)
    result = rg.from_recommendations(["A", "B", "C"], GRADES).evaluate("dcg", "idcg", "ndcg", "ndcg(ideal=returned)")
    values = [0.7654648767857287, 1.347217813316522, 0.5681819741540833, 0.6048882832133625]
    assert [vector.tolist() for vector in result.values()] == [[about(value)] for value in values]


def test_mean_over_cases():
    cases = ["ABC", "DACBE"]
    result = rg.from_recommendations(list(map(list, cases)), [GRADES] * 2).evaluate("ndcg(ideal=returned)")
    assert result.mean("ndcg(ideal=returned)") == about(0.7356022113638424)
    relevance = [[GRADES[document] for document in case] for case in cases]
    judged = [list(GRADES.values())] * 2
    assert rg.mean_ndcg(relevance, judged=judged, ideal="returned") == about(0.7356022113638424)


def test_ideal_of_a_list():
    assert rg.idcg([3, 2, 2, 1], k=4) == about(5.6925360652163075)
