"""Check the gradients of LambdaRank by brute force, against their definition, and for their properties."""

import math
import pickle
from decimal import Decimal, localcontext
from functools import partial
from itertools import combinations, permutations, product
from types import SimpleNamespace

import numpy as np
import pytest
from support import textbook
from support.differences import bits
from support.marks import quick_first

import rankgain as rg
from rankgain import _backend
from rankgain.data import source

BOTH = [*product([(), "score", "query", ("score", "query")], ["cut", "full"], ["stable", "average"])]


def drawn(seed, most=8, grades=4, tied=False):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, most + 1))
    scores = rng.integers(-3, 4, n) / 4 if tied else rng.normal(size=n)
    return rng.integers(0, grades, n).astype(float), scores.astype(float), int(rng.integers(1, n + 2))


@pytest.mark.parametrize("seeds", quick_first([range(100), range(100, 400)]), ids=len)
def test_gradients_are_sums_over_swaps(backend, seeds):
    """Swap each pair of documents of random lists, and evaluate nDCG before and after."""
    for seed in seeds:
        labels, scores, k = drawn(seed, tied=seed % 4 == 0)
        gain = ("linear", "exponential")[seed % 2]
        order = np.argsort(-scores, kind="stable")
        pairs = [*combinations(range(len(order)), 2)]
        swapped = np.repeat(order[None, :], len(pairs), axis=0)
        for row, (a, b) in enumerate(pairs):
            swapped[row, [a, b]] = order[[b, a]]
        before = rg.ndcg(labels[order], k=k, gain=gain)
        expected = np.zeros((2, len(labels)))
        for after, (a, b) in zip(rg.ndcg(labels[swapped], k=k, gain=gain), pairs, strict=True):
            high, low = sorted((order[a], order[b]), key=lambda document: -labels[document])
            if labels[high] > labels[low]:
                delta, rho = abs(after - before), 1 / (1 + math.exp(scores[high] - scores[low]))
                expected[0, [high, low]] += [-delta * rho, delta * rho]
                expected[1, [high, low]] += delta * rho * (1 - rho)
        metric = rg.metric("ndcg", k=k, gain=gain)
        result = rg.lambdarank(labels, scores, metric=metric, normalize=None)
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-14)


def test_averaged_ties_are_the_mean_over_all_orders(backend):
    """The changes in nDCG are averaged over all orders of the tied documents."""
    for seed in range(25):
        labels, scores, k = drawn(seed, most=5, tied=True)
        falling = [order for order in permutations(range(len(labels))) if (np.diff(scores[[*order]]) <= 0).all()]
        expected = np.zeros(len(labels))
        for order in falling:
            before = rg.ndcg(labels[list(order)], k=k)
            for a, b in combinations(range(len(order)), 2):
                swapped = [*order]
                swapped[a], swapped[b] = order[b], order[a]
                high, low = sorted((order[a], order[b]), key=lambda document: -labels[document])
                if labels[high] > labels[low]:
                    pull = abs(rg.ndcg(labels[swapped], k=k) - before) / (1 + math.exp(scores[high] - scores[low]))
                    expected[[high, low]] += [-pull / len(falling), pull / len(falling)]
        result, _ = rg.lambdarank(labels, scores, metric=f"ndcg@{k}", ties="average", normalize=None)
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("normalize", "discount", "ties"), BOTH)
@pytest.mark.parametrize("seeds", quick_first([range(9), range(9, 24)]), ids=len)
def test_gradients_equal_the_definition(on_both, normalize, discount, ties, seeds):
    for seed in seeds:
        labels, scores, k = drawn(seed, most=90 if seed % 8 == 1 else 14, tied=seed % 3 == 0)
        sigma = (1.0, 2.0, 0.3)[seed % 3]
        settings = {"sigma": sigma, "normalize": normalize, "discount": discount, "ties": ties}
        for metric, options in (
            (f"ndcg(gain=exponential)@{k}", {}),
            (f"ndcg@{k}", {"gain": "linear"}),
            (f"pairwise@{k}", {"pairwise": True}),
        ):
            expected = textbook.lambdarank(labels, scores, k, **settings, **options)
            call = partial(rg.lambdarank, labels, scores, metric=metric, **settings)
            for result in on_both(call):
                np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-14)


def test_gradients_without_pairs_are_zero(backend):
    for labels in ([2.0], [], [1, 1, 1], [0, 0]):
        for metric in ("ndcg@3", "pairwise@3"):
            for result in rg.lambdarank(np.array(labels, float), np.arange(len(labels), dtype=float), metric=metric):
                assert result.tolist() == [0.0] * len(labels)


def test_scores_that_are_all_equal_are_not_normalized(backend):
    for ties in ("stable", "average"):
        results = [rg.lambdarank([0, 2, 1], [0.5] * 3, ties=ties, normalize=how) for how in ("score", None)]
        np.testing.assert_array_equal(*results)
        assert results[0][0].any()


def test_documents_with_minus_infinite_scores_have_no_gradient(backend):
    """Documents with a score of −inf form no pairs, rank last, and count towards the ideal DCG."""
    labels, scores = np.array([0.0, 2, 1, 0, 1]), np.array([0.5, 0.25, -1, 0.75, 0.5])
    for ties, discount in product(("stable", "average"), ("cut", "full")):
        settings = {"ties": ties, "discount": discount, "metric": "ndcg@2"}
        whole = rg.lambdarank(labels, scores, **settings)
        masked = rg.lambdarank(np.append(0.0, labels), np.append(-np.inf, scores), **settings)
        assert [result[0] for result in masked] == [0.0, 0.0]
        np.testing.assert_array_equal([result[1:] for result in masked], whole)
        assert not np.any(rg.lambdarank([2, 1], [-np.inf, 0.5], **settings))
        assert not np.any(rg.lambdarank([2, 1], [-np.inf, -np.inf], **settings))
        small, _ = rg.lambdarank([1, 0, 2], [0.0, 1.0, -np.inf], metric="ndcg@2", normalize=None)
        unmasked, _ = rg.lambdarank([1, 0], [0.0, 1.0], metric="ndcg@2", normalize=None)
        ideals = rg.idcg([1, 0, 2], k=2), rg.idcg([1, 0], k=2)
        np.testing.assert_allclose(small[:2] * ideals[0], unmasked * ideals[1], rtol=1e-14)


@pytest.mark.parametrize("ties", ["stable", "average"])
def test_gradients_of_large_score_differences_are_finite(backend, ties):
    """Computing one exponential for all pairs would overflow."""
    labels, scores = [0, 3, 1, 0, 2, 1], [1000.0, 999.5, 10.0, 9.0, 8.5, 8.0]
    for normalize in ((), ("score", "query")):
        result = rg.lambdarank(labels, scores, normalize=normalize, ties=ties)
        near = [0.0, -0.5, -690.0, -691.0, -691.5, -692.0]  # closer scores, whose gradients differ by less than 1e-300
        expected = rg.lambdarank(labels, near, normalize=(), ties=ties)
        assert np.isfinite(result).all()
        if not normalize:
            np.testing.assert_allclose(result, expected, rtol=1e-13, atol=1e-200)
    extreme = rg.lambdarank(labels, [1.7e308, -1.7e308, 0, 1e300, -1e300, 5e-324], ties=ties)
    assert np.isfinite(extreme).all()


def test_gradients_are_equal_in_every_form(backend):
    """Gradients of matrices and ragged lists equal the gradients of their rows."""
    rng = np.random.default_rng(3)
    labels, scores, weights = rng.integers(0, 4, (4, 5)), rng.normal(size=(4, 5)), rng.random((4, 5))
    expected = [rg.lambdarank(label, score) for label, score in zip(labels, scores, strict=True)]
    expected = np.array(expected).transpose(1, 0, 2)
    np.testing.assert_array_equal(rg.lambdarank(labels, scores), expected)
    np.testing.assert_array_equal(rg.lambdarank(labels, scores, sample_weight=weights), expected * weights)
    np.testing.assert_array_equal(rg.lambdarank(labels.tolist(), scores.tolist()), expected)
    narrow = scores.astype(np.float32)
    np.testing.assert_array_equal(rg.lambdarank(labels, narrow), rg.lambdarank(labels, narrow.astype(float)))
    first, second = ([1, 0], [0.1, 0.2]), ([0, 2, 1], [0.3, 0.2, 0.1])
    ragged = rg.lambdarank(*zip(first, second, strict=True))
    np.testing.assert_array_equal(ragged, np.hstack([rg.lambdarank(*first), rg.lambdarank(*second)]))


# bit-for-bit equality


@pytest.mark.both
def test_gradients_have_the_same_bits_on_both_backends_and_cpu_levels(on_both, monkeypatch):
    rng = np.random.default_rng(5)
    for case in range(72):
        sizes = rng.integers(0, 40, 3)
        n = int(sizes.sum())
        scale = (1.0, 1000.0, 1e-9)[case % 3]
        scores = np.where(rng.random(n) < 0.1, -np.inf, rng.integers(-20, 20, n) / 8 * scale)
        scores = scores.astype((np.float64, np.float32)[case % 2])
        labels = rng.integers(0, 5, n)
        settings = {
            "metric": f"{('ndcg', 'pairwise')[case % 5 == 0]}@{int(rng.integers(1, 30))}",
            "normalize": [(), "score", "query", ("score", "query")][case % 4],
            "discount": ("cut", "full")[case // 2 % 2],
            "ties": ("stable", "average")[case // 4 % 2],
            "sigma": float(rng.choice([0.5, 1.0, 3.0])),
        }
        compiled, python = on_both(lambda: rg.lambdarank(labels, scores, group_sizes=sizes, **settings))  # noqa: B023
        assert bits(compiled) == bits(python), settings
        with monkeypatch.context() as patch:
            patch.setenv("RANKGAIN_CPU", "baseline")
            baseline, _ = on_both(lambda: rg.lambdarank(labels, scores, group_sizes=sizes, **settings))  # noqa: B023
        assert bits(baseline) == bits(python), settings


def test_gradients_do_not_depend_on_threads_and_chunks(backend, monkeypatch):
    """Threads and chunks do not change which error is raised."""
    rng = np.random.default_rng(6)
    sizes = rng.integers(0, 20, 60)
    labels, scores = rng.integers(0, 4, sizes.sum()), rng.normal(size=sizes.sum())
    whole = rg.lambdarank(labels, scores, group_sizes=sizes)
    monkeypatch.setattr(source, "CHUNK", 40)
    monkeypatch.setattr(source, "SMALLEST_CHUNK", 1)
    for threads in (1, 2, 5):
        np.testing.assert_array_equal(rg.lambdarank(labels, scores, group_sizes=sizes, threads=threads), whole)
    first = int(sizes[:30].sum())
    scores[[first, -1]] = np.nan
    query = int(np.searchsorted(np.cumsum(sizes), first, side="right"))
    with pytest.raises(ValueError, match=f"query {query}, position 0 .element {first}"):
        rg.lambdarank(labels, scores, group_sizes=sizes, threads=3)


def test_sigmoid_of_extreme_differences_is_accurate(backend):
    """The error of the exponential is below one unit in the last place between e^−708 and e^0."""
    rng = np.random.default_rng(7)
    given = np.concatenate([[0.0, -708.0, -1e-300, -0.5], *(-rng.random(500) * scale for scale in (1, 10, 100, 708))])
    results = np.empty(len(given))
    _backend.lambdas.exponential(given, results)
    with localcontext() as context:
        context.prec = 40
        for x, value in zip(given.tolist(), results.tolist(), strict=True):
            exact = Decimal(x).exp()
            assert abs(Decimal(value) - exact) < Decimal(math.ulp(float(exact)))
    assert results[[0, 2]].tolist() == [1.0, 1.0]
    beyond = np.array([-708.5, -745.2, -1e300, -np.inf])
    results = np.empty(4)
    _backend.lambdas.exponential(beyond, results)
    assert results.tolist() == [0.0] * 4
    out_buffer = np.full(8, 9.0)
    for exponents, out in ((beyond[:0], out_buffer), (np.zeros(8), out_buffer[:4]), (beyond, out_buffer)):
        _backend.lambdas.exponential(exponents, out)
        assert out_buffer[4:].tolist() == [9.0] * 4
    assert out_buffer[:4].tolist() == [0.0] * 4


# edge cases

LABELS, SCORES = [0, 1, 2, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5]


def test_pairwise_gradients_need_no_ideal(backend):
    """The gain 5e-324 has no finite reciprocal."""
    result, usual = (rg.lambdarank([0, high], [0.1, 0.2], metric="pairwise") for high in (5e-324, 1))
    np.testing.assert_array_equal(result, usual)


def test_inputs_are_not_modified(backend):
    labels, scores, weights = np.array([0.0, 2, 1]), np.array([0.3, 0.2, 0.1]), np.array([1.0, 2, 3])
    copies = labels.copy(), scores.copy(), weights.copy()
    for array in (labels, scores, weights):
        array.flags.writeable = False
    rg.lambdarank(labels, scores, sample_weight=weights)
    np.testing.assert_array_equal((labels, scores, weights), copies)


# objectives, called without a training library


def counted(monkeypatch):
    """Return a list that records every set of labels prepared from now on."""
    prepared, prepare = [], rg.LambdaRank._targets
    monkeypatch.setattr(
        rg.LambdaRank, "_targets", lambda self, source: prepared.append(source) or prepare(self, source)
    )
    return prepared


def test_objective_caches_the_gains_of_labels(backend, monkeypatch):
    objective = rg.lightgbm_objective("ndcg(gain=exponential)@3")
    prepared = counted(monkeypatch)
    labels, scores, sizes = np.array([0.0, 1, 2, 0, 1]), np.arange(5.0), [2, 3]
    expected = rg.lambdarank(
        labels, scores, group_sizes=sizes, metric="ndcg(gain=exponential)@3", discount="full", threads=2
    )
    del prepared[:]
    for _ in range(3):
        np.testing.assert_array_equal(objective(labels, scores, None, sizes), expected)
    assert len(prepared) == 1
    labels[0] = 3  # the caller's array no longer equals the cached labels
    assert not np.array_equal(objective(labels, scores, None, sizes), expected)
    objective(labels, scores, None, [3, 2])
    assert len(prepared) == 3
    again = pickle.loads(pickle.dumps(objective))
    assert not again.lambdarank._cached
    np.testing.assert_array_equal(again(labels, scores, None, sizes), objective(labels, scores, None, sizes))


def test_objective_caches_ten_sets_of_labels(backend, monkeypatch):
    """Cross-validation calls the objective with each set of labels in turn."""
    gradients, prepared = rg.LambdaRank("ndcg@3"), counted(monkeypatch)
    for _ in range(3):
        for fold in range(10):
            labels = np.array([fold, 1.0, 2.0])
            np.testing.assert_array_equal(
                gradients(labels, [0.1, 0.2, 0.3]), rg.lambdarank(labels, [0.1, 0.2, 0.3], metric="ndcg@3")
            )
    assert len(prepared) == 10 + 30  # 10 sets by the object, which caches them, and 30 by the function, which does not
    for seed in range(100):
        gradients(np.full(3, float(seed)), np.zeros(3))
    assert len(gradients._cached) == 64


@pytest.mark.parametrize("many", [0, 1000])
def test_cache_distinguishes_labels_of_equal_bytes(backend, monkeypatch, many):
    """Labels with equal bytes are distinguished by their dtype and by the sizes of the queries.

    This holds whether or not the last labels are compared first.
    """
    monkeypatch.setattr("rankgain.tools.lambdarank.MANY_LABELS", many)
    gradients = rg.LambdaRank("ndcg@3", normalize=None)
    floats = np.array([1, 2, 0, 4], np.float32)
    for labels in (floats, floats.view(np.int32)):
        for sizes in ([4], [1, 3], [2, 2], [1, 3, 0]):
            scores = np.arange(len(labels), dtype=float)
            result = gradients(labels, scores, group_sizes=sizes)
            np.testing.assert_array_equal(
                result, rg.lambdarank(labels, scores, group_sizes=sizes, metric="ndcg@3", normalize=None)
            )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_padding_has_no_gradient(backend, dtype):
    """Masked documents have no gradient, whatever their labels and scores."""
    rng = np.random.default_rng(2)
    labels, scores = rng.integers(0, 4, (3, 6)), rng.normal(size=(3, 6)).astype(dtype)
    mask = np.arange(6) < np.array([[6], [3], [0]])
    for fill in (-100, 3):
        labels[~mask], scores[~mask] = fill, np.nan if fill < 0 else 9.0
        result = np.array(rg.lambdarank(labels, scores, mask=mask))
        assert result.shape == (2, 3, 6)
        assert not result[:, ~mask].any()
        expected = rg.lambdarank(labels[mask], scores[mask], group_sizes=[6, 3, 0])
        np.testing.assert_array_equal(result[:, mask], expected)
        weights = rng.random((3, 6))
        np.testing.assert_array_equal(rg.lambdarank(labels, scores, mask=mask, sample_weight=weights), result * weights)
        by_id = rg.lambdarank(labels.ravel(), scores.ravel(), mask=mask.ravel(), qid=np.repeat([0, 1, 2], 6))
        np.testing.assert_array_equal(by_id, result.reshape(2, 18))


def test_objective_without_groups_is_rejected(backend):
    with pytest.raises(ValueError, match="no groups"):
        rg.lightgbm_objective()([0, 1], [0.1, 0.2])
    with pytest.raises(TypeError, match=r"xgb\.train"):
        rg.xgboost_objective()([0, 1], [0.1, 0.2])
    with pytest.raises(TypeError, match=r"lightgbm_objective is for LightGBM.*rankgain\.xgboost_objective"):
        rg.lightgbm_objective()([0.1, 0.2], SimpleNamespace(get_uint_info=None, get_group=None))
    with pytest.raises(TypeError, match=r"xgboost_objective is for XGBoost.*rankgain\.lightgbm_objective"):
        rg.xgboost_objective()([0.1, 0.2], SimpleNamespace(get_group=None))


@pytest.mark.parametrize("sigma", [1e-100, 1e100])
def test_bounds_of_sigma_are_accepted(backend, sigma):
    gradient, hessian = rg.lambdarank(LABELS, SCORES, sigma=sigma)
    assert np.isfinite([*gradient, *hessian]).all()
