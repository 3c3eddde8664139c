"""What other tools hold and accept, with the tools themselves; `.ci/deep clients` installs and runs them.

RecTools' frames go in as they are and give its numbers; MLflow takes the safe names, and only these.
"""

import numpy as np
import pandas as pd
import rectools
from mlflow.exceptions import MlflowException
from mlflow.utils.validation import _validate_metric_name
from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall

import rankgain as rg

K = 5


def frames(seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """RecTools' interactions and recommendations: users who lack the one or the other among them."""
    rng = np.random.default_rng(seed)
    columns = rectools.Columns
    held, recommended = [], []
    for user in range(40):
        held += [(user, int(item)) for item in rng.choice(30, rng.integers(1, 6), replace=False) if user != 3]
        if user != 7:
            recommended += [(user, int(item), rank) for rank, item in enumerate(rng.choice(30, 8, replace=False), 1)]
    interactions = pd.DataFrame(held, columns=[columns.User, columns.Item])
    interactions[columns.Weight] = 1.0
    interactions[columns.Datetime] = "2024-01-01"
    return interactions, pd.DataFrame(recommended, columns=[columns.User, columns.Item, columns.Rank])


def check_rectools() -> None:
    interactions, recommended = frames()
    asked = {
        f"ndcg@{K}": NDCG(K),
        f"ap@{K}": MAP(K),
        f"mrr@{K}": MRR(K),
        f"precision@{K}": Precision(K),
        f"recall@{K}": Recall(K),
        f"hr@{K}": HitRate(K),
    }
    for truth in (interactions, interactions[["user_id", "item_id"]]):
        result = rg.evaluate(truth, recommended, *asked, like="rectools")
        assert bool(result.assumed) == ("weight" not in truth)
        for name, theirs in asked.items():
            assert np.isclose(result.mean(name), theirs.calc(recommended, interactions), rtol=1e-12), name


def check_mlflow() -> None:
    result = rg.from_ranked([[2, 0, 1]]).evaluate("ndcg@10", "f(beta=0.5)@10", "11pt_avg", "mrr:rel=-1")
    for name in result.flat(names="safe"):
        _validate_metric_name(name)
    try:
        _validate_metric_name("ndcg@10")
    except MlflowException:
        return
    raise AssertionError("MLflow takes ndcg@10: safe names are needed no more")


if __name__ == "__main__":
    check_rectools()
    check_mlflow()
    print("RecTools' frames and MLflow's names: as they should be")
