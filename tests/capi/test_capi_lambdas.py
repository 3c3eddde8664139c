"""The C functions for gradients return the same bits as `rg.lambdarank`; test_capi_statuses.py tests their errors."""

from itertools import pairwise

import numpy as np
import pytest
from support.c_functions import NO_CUTOFF, C, call
from support.marks import quick_first

import rankgain as rg
from rankgain import capi

DELTAS = {"cut": capi.RANKGAIN_DELTA_CUT, "full": capi.RANKGAIN_DELTA_FULL}
TIES = {"stable": capi.RANKGAIN_STABLE, "average": capi.RANKGAIN_AVERAGE}
NORMALIZATIONS = [(), ("score",), ("query",), ("score", "query")]  # in the order of their C constants


@pytest.mark.parametrize("width", ["f64", "f32"])
@pytest.mark.parametrize("normalize", range(4))
@pytest.mark.parametrize("cases", quick_first([12, 24]))
def test_lambdas_have_the_bits_of_python(backend, width, normalize, cases):
    rng = np.random.default_rng(normalize)
    for case in range(cases):
        sizes = rng.integers(0, 12, 4)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        labels, scores = rng.integers(0, 3, offsets[-1]), rng.integers(-4, 4, offsets[-1]) / 4
        k, sigma = int(rng.integers(1, 12)), float(rng.choice([0.5, 1.0]))
        discount, ties = ("cut", "full")[case % 2], ("stable", "average")[case // 2 % 2]
        metric = rg.metric("ndcg", k=k, gain="exponential")
        settings = {"metric": metric, "sigma": sigma, "discount": discount, "ties": ties}
        expected = rg.lambdarank(labels, scores, group_sizes=sizes, normalize=NORMALIZATIONS[normalize], **settings)
        ideals = [rg.idcg(labels[a:b], k=k, gain="exponential") for a, b in pairwise(offsets)]
        inverses = [1 / ideal if ideal else 0.0 for ideal in ideals]
        options = {"k": k, "sigma": sigma, "delta": DELTAS[discount], "ties": TIES[ties]}
        options |= {"normalize": capi.RANKGAIN_NOT_NORMALIZED + normalize, "gains": rg.gain(labels, "exponential")}
        options |= {"discount": [None, rg.discount(12).tolist()][case % 3 == 0]}
        result = call(f"lambda_ndcg_lists_{width}", scores=scores, offsets=offsets, inverse_ideals=inverses, **options)
        assert result == (0, *(result.tolist() for result in expected))
        for query in range(4):
            part = slice(*offsets[query : query + 2])
            query_options = options | {"gains": options["gains"][part], "inverse_ideal": inverses[query]}
            result = call(f"lambda_ndcg_{width}", scores=scores[part], **query_options)
            assert result == (0, *(result[part].tolist() for result in expected))


@pytest.mark.parametrize("width", ["f64", "f32"])
def test_lambdas_of_pairs_count_each_pair_once(backend, width):
    scores = [0.5, 0.5, 0.25]
    expected = rg.lambdarank([1, 0, 2], scores, metric="pairwise@2", normalize=None)
    arguments = {"scores": scores, "gains": [1.0, 0.0, 2.0], "inverse_ideal": 1.0, "k": 2, "ties": TIES["stable"]}
    for discount in (None, [], [0.5, 1.0]):  # the discount is not read
        result = call(f"lambda_ndcg_{width}", delta=capi.RANKGAIN_DELTA_ONE, discount=discount, **arguments)
        assert result == (0, *(array.tolist() for array in expected))


def test_two_bad_options_are_one_bad_option():
    given = {"scores": [0.5], "gains": [1.0], "inverse_ideal": 1.0, "k": 2}
    status, *_ = call("lambda_ndcg_f64", **given, delta=capi.RANKGAIN_AVERAGE, ties=capi.RANKGAIN_BEST)
    assert status == capi.RANKGAIN_BAD_OPTION


def test_scratch_size_of_lambdas_grows_and_is_bounded():
    size = C["lambda_scratch_size"]
    assert [size(n) for n in (-1, NO_CUTOFF, NO_CUTOFF // 16)] == [-1, -1, -1]
    assert 0 < size(0) < size(1) < size(10_000_000)
