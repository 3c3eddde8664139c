"""LightGBM models trained with our gradients, compared with models trained with its own objective."""

import pickle

import lightgbm as lgb
import numpy as np
import pytest
from sklearn.model_selection import GroupKFold
from support.training_sets import TRAIN, VALID, make

import rankgain as rg

ROUNDS = 50
SETTINGS = [(10, True, 1.0), (30, False, 2.0), (1000, True, 1.0)]  # truncation level, normalization, sigmoid
LARGE = make(5, queries=20, longest=40, shortest=12)
PARAMETERS = {"num_leaves": 15, "min_data_in_leaf": 5, "num_threads": 1, "verbose": -1, "seed": 1, "metric": "none"}


def trained(given, objective, weights=None, rounds=ROUNDS, **parameters):
    data = lgb.Dataset(given.features, given.labels, group=given.sizes, weight=weights)
    return lgb.train(PARAMETERS | {"objective": objective} | parameters, data, rounds)


def built_in(given, k, normalized, sigma, **options):
    parameters = {"lambdarank_truncation_level": k, "lambdarank_norm": normalized, "sigmoid": sigma}
    return trained(given, "lambdarank", **parameters, **options)


def objective(k, normalized, sigma, **options):
    normalize = ("score", "query") if normalized else None
    return rg.lightgbm_objective(f"ndcg(gain=exponential)@{k}", sigma=sigma, normalize=normalize, **options)


@pytest.mark.peers
@pytest.mark.parametrize("setting", SETTINGS)
def test_objective_trains_like_that_of_lightgbm(setting):
    """LightGBM's sigmoid table and float32 sums limit the agreement after 50 rounds."""
    theirs, ours = built_in(LARGE, *setting), trained(LARGE, objective(*setting))
    np.testing.assert_allclose(ours.predict(VALID.features), theirs.predict(VALID.features), rtol=0, atol=5e-5)


@pytest.mark.peers
def test_weights_multiply_like_those_of_lightgbm(backend):
    weights = np.repeat(TRAIN.weights, TRAIN.sizes)
    theirs = built_in(TRAIN, 10, True, 1.0, weights=weights, rounds=3)
    ours = trained(TRAIN, objective(10, True, 1.0), weights=weights, rounds=3)
    np.testing.assert_allclose(ours.predict(VALID.features), theirs.predict(VALID.features), rtol=1e-4, atol=1e-5)
    unweighted = trained(TRAIN, objective(10, True, 1.0), rounds=3)
    assert not np.allclose(unweighted.predict(VALID.features), theirs.predict(VALID.features))


@pytest.mark.peers
def test_both_call_forms_train_the_same_model(backend):
    ours = objective(10, True, 1.0)
    parameters = {"num_leaves": 7, "min_child_samples": 5, "n_jobs": 1, "verbose": -1, "random_state": 1}
    ranker = lgb.LGBMRanker(n_estimators=5, objective=ours, **parameters)
    ranker.fit(TRAIN.features, TRAIN.labels, group=TRAIN.sizes)
    again = pickle.loads(pickle.dumps(ours))
    model = trained(TRAIN, again, rounds=5, num_leaves=7)
    np.testing.assert_array_equal(ranker.predict(VALID.features), model.predict(VALID.features))


# behaviour of LightGBM that differs if the objective is a callable


def dataset(given=TRAIN, **options):
    return lgb.Dataset(given.features, given.labels, group=given.sizes, **options)


def shaped():
    """Return 201 queries with grades from 0 to 4, like LightGBM's ranking example.

    The average grade differs between queries.
    """
    given = make(9, queries=201, longest=25, shortest=2)
    level = np.random.default_rng(9).normal(size=201)[given.query]
    features = np.column_stack([given.features, level])
    return given._replace(features=features, labels=np.clip(np.round(given.labels + level), 0, 4).astype(np.float32))


@pytest.mark.peers
def test_cross_validation_by_rows_is_refused(backend):
    """LightGBM splits by query only if it knows the objective by name."""
    given = shaped()
    parameters = PARAMETERS | {"objective": rg.lightgbm_objective()}
    with pytest.raises(
        ValueError, match=r"lightgbm_objective: .* 1\d\d of its 20\d queries.*folds=GroupKFold\(5\)\.split"
    ):
        lgb.cv(parameters, dataset(given), 1, nfold=5, stratified=False)
    metric = rg.lightgbm_metric("ndcg@10")
    with pytest.raises(ValueError, match=r"lightgbm_metric: this subset splits \d+ of its \d+ .*folds=GroupKFold"):
        lgb.cv(PARAMETERS | {"objective": "l2"}, dataset(given), 1, nfold=5, stratified=False, feval=metric)


@pytest.mark.peers
def test_cross_validation_by_query(backend):
    """Folds by query give nearly the same nDCG as LightGBM's own objective, and folds by rows do not."""
    given, rounds = (shaped(), 20) if backend == "compiled" else (TRAIN, 2)
    settings = {"num_boost_round": rounds, "nfold": 5, "feval": rg.lightgbm_metric("ndcg@10")}
    groups = np.repeat(np.arange(len(given.sizes)), given.sizes)
    ours = PARAMETERS | {"objective": rg.lightgbm_objective()}
    theirs, *results = (
        lgb.cv(parameters, dataset(given), **settings, **folds)["valid ndcg@10_rankgain-mean"][-1]
        for parameters, folds in (
            (PARAMETERS | {"objective": "lambdarank"}, {}),
            (ours, {"folds": GroupKFold(5)}),
            (ours, {"folds": GroupKFold(5).split(given.features, groups=groups)}),
        )
    )
    assert results[0] == results[1] == pytest.approx(theirs, abs=0.01)
    if backend == "compiled":
        partial = settings | {"feval": rg.lightgbm_metric("ndcg@10", partial_queries=True), "stratified": False}
        objective = rg.lightgbm_objective(partial_queries=True)
        by_rows = lgb.cv(PARAMETERS | {"objective": objective}, dataset(given), **partial)
        assert by_rows["valid ndcg@10_rankgain-mean"][-1] != pytest.approx(theirs, abs=0.02)


@pytest.mark.peers
def test_partial_queries_are_evaluated(backend):
    """Subsets that split queries are rejected unless `partial_queries` is true."""
    whole = dataset(free_raw_data=False)
    starts = np.cumsum(TRAIN.sizes) - TRAIN.sizes
    queries = np.arange(int(starts[30]))
    for rows in (queries, np.arange(int(starts[3]), len(TRAIN.labels))):
        lgb.train(PARAMETERS | {"objective": rg.lightgbm_objective()}, whole.subset(rows), 1)
    thinned = whole.subset(np.delete(queries, starts[10]))
    again = thinned.subset(np.arange(int(starts[20]) - 1))
    for data in (thinned, again):
        with pytest.raises(ValueError, match=r" 1 of its \d+ queries, such as query 10: .*partial_queries=True"):
            lgb.train(PARAMETERS | {"objective": rg.lightgbm_objective()}, data, 1)
        lgb.train(PARAMETERS | {"objective": rg.lightgbm_objective(partial_queries=True)}, data, 1)


@pytest.mark.peers
@pytest.mark.parametrize("value", [True, "true", "+"])
def test_bagging_by_query_is_refused(backend, value):
    """With bagging by query, LightGBM would train a constant model."""
    parameters = {"objective": rg.lightgbm_objective(), "bagging_by_query": value}
    for data in (dataset(), dataset(params=PARAMETERS).construct()):  # a constructed Dataset keeps its parameters
        with pytest.raises(ValueError, match="lightgbm_objective: with bagging_by_query=True"):
            lgb.train(PARAMETERS | parameters, data, 1)
    with pytest.raises(ValueError, match="bagging_by_query"):
        lgb.LGBMRanker(n_estimators=1, verbose=-1, n_jobs=1, **parameters).fit(
            TRAIN.features, TRAIN.labels, group=TRAIN.sizes
        )
    data = dataset()
    lgb.train(PARAMETERS | {"objective": "lambdarank", "bagging_by_query": value}, data, 1)
    for off in ({}, {"bagging_by_query": False}, {"bagging_by_query": "-"}):
        lgb.train(PARAMETERS | {"objective": rg.lightgbm_objective()} | off, data, 1)


@pytest.mark.peers
def test_positions_are_refused(backend):
    data = dataset(position=np.arange(len(TRAIN.labels)) % 5)
    with pytest.raises(ValueError, match=r"lightgbm_objective: the Dataset has position="):
        lgb.train(PARAMETERS | {"objective": rg.lightgbm_objective()}, data, 1)


@pytest.mark.peers
@pytest.mark.parametrize(
    ("name", "value", "instead"),
    [
        ("label_gain", [0, 1, 3, 7, 15, 31], r"gain=\[0, 1, 3"),
        ("sigmoid", 2.0, "sigma="),
        ("lambdarank_truncation_level", 5, "cut-off"),
        ("lambdarank_norm", False, "normalize="),
    ],
)
def test_unused_parameters_warn(backend, name, value, instead):
    """The warning refers to the line that trains the model."""
    parameters = PARAMETERS | {"objective": rg.lightgbm_objective(), name: value}
    with pytest.warns(UserWarning, match=f"lightgbm_objective does not read LightGBM's {name}: .*{instead}") as heard:
        lgb.train(parameters, dataset(), 2)
    assert {warning.filename for warning in heard} == {__file__}
    ranker = lgb.LGBMRanker(n_estimators=1, verbose=-1, n_jobs=1, objective=rg.lightgbm_objective(), **{name: value})
    with pytest.warns(UserWarning, match=name):
        ranker.fit(TRAIN.features, TRAIN.labels, group=TRAIN.sizes)


@pytest.mark.peers
def test_label_gain_of_lightgbm_equals_a_gain_mapping(backend):
    """LightGBM's `label_gain` lists the gains of the grades in ascending order of grade."""
    gains = [0, 2, 3, 10, 11, 20]
    theirs = trained(TRAIN, "lambdarank", rounds=5, label_gain=gains, lambdarank_truncation_level=10)
    ours = trained(TRAIN, rg.lightgbm_objective(rg.metric("ndcg", k=10, gain=gains)), rounds=5)
    np.testing.assert_allclose(ours.predict(VALID.features), theirs.predict(VALID.features), rtol=1e-3, atol=1e-4)


@pytest.mark.peers
def test_objective_accepts_data_that_lightgbm_rejects(backend):
    """LightGBM rejects groups of 12,000 documents and labels of 0.5 and 40."""
    rng = np.random.default_rng(8)
    features = rng.normal(size=(24_000, 3)).astype(np.float32)
    labels = np.where(features[:, 0] > 2, 40.0, np.where(features[:, 0] > 1, 0.5, 0.0)).astype(np.float32)
    data = TRAIN._replace(features=features, labels=labels, sizes=np.array([12_000, 12_000]))
    with pytest.raises(lgb.basic.LightGBMError):
        built_in(data, 10, True, 1.0, rounds=1)
    objectives = [rg.lightgbm_objective("ndcg@10")]
    if backend == "compiled":  # these objectives compute all pairs, since the first scores are equal
        objectives += [rg.lightgbm_objective("ndcg@10", ties="average"), rg.lightgbm_objective()]
    for ours in objectives:
        scores = trained(data, ours, rounds=10).predict(features)
        assert rg.from_scores(labels, scores, group_sizes=data.sizes).evaluate("ndcg@10").mean("ndcg@10") > 0.9
