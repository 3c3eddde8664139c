"""Ranking metrics — gain, discount, CG, DCG, IDCG, nDCG, reciprocal rank / MRR — from any form of rankings.

Relevance already in rank order: `gain`, `discount`, `cg`, `dcg`, `idcg`, `ndcg`, `reciprocal_rank`, `mean_ndcg`, `mrr`.
Any other form: make Rankings with `from_ranked`, `from_scores`, `from_recommendations`, `from_qrels`,
`from_frames` or `read_trec`, then `evaluate`. `judgments` prepares truth for many runs.
Where people train: `lightgbm_metric`, `xgboost_metric`, `catboost_metric`.
For scikit-learn's searches and cross-validations: `scorer`; in place of its functions: `rankgain.sklearn`.
Several runs: `compare`. Many cut-offs: `Rankings.curve`, and `plot` for its picture.
What gives a number, here and elsewhere: `explain`.
From C, C++, Cython and Numba: `rankgain.capi`, and `get_include` for the header.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankgain import _backend
from rankgain.functions import cg, dcg, discount, gain, idcg, mean_ndcg, mrr, ndcg, reciprocal_rank

if TYPE_CHECKING:
    from rankgain.comparison.comparison import Comparison, compare
    from rankgain.data.judgments import Judgments
    from rankgain.inputs.frames import from_frames
    from rankgain.inputs.judgments import judgments
    from rankgain.inputs.qrels import from_qrels
    from rankgain.inputs.ranked import from_ranked
    from rankgain.inputs.recommendations import from_recommendations
    from rankgain.inputs.scores import from_scores
    from rankgain.inputs.trec import read_trec
    from rankgain.metrics.metric import Metric, metric
    from rankgain.rankings import Rankings
    from rankgain.results.curves import Curve
    from rankgain.results.evaluation import Evaluation
    from rankgain.results.explanation import Explanation, explain
    from rankgain.results.summary import Summary
    from rankgain.results.ties import TieSpread
    from rankgain.tools.plot import plot
    from rankgain.tools.sample import sample
    from rankgain.tools.scorers import scorer
    from rankgain.tools.training import catboost_metric, lightgbm_metric, xgboost_metric

__version__ = _backend.VERSION
backend: str = _backend.name

# Where the other names stand; each is imported when it is first asked for.
_LATER = {
    "Comparison": "comparison.comparison",
    "Curve": "results.curves",
    "Evaluation": "results.evaluation",
    "Explanation": "results.explanation",
    "Judgments": "data.judgments",
    "Metric": "metrics.metric",
    "Rankings": "rankings",
    "Summary": "results.summary",
    "TieSpread": "results.ties",
    "catboost_metric": "tools.training",
    "compare": "comparison.comparison",
    "explain": "results.explanation",
    "from_frames": "inputs.frames",
    "from_qrels": "inputs.qrels",
    "from_ranked": "inputs.ranked",
    "from_recommendations": "inputs.recommendations",
    "from_scores": "inputs.scores",
    "judgments": "inputs.judgments",
    "lightgbm_metric": "tools.training",
    "metric": "metrics.metric",
    "plot": "tools.plot",
    "read_trec": "inputs.trec",
    "sample": "tools.sample",
    "xgboost_metric": "tools.training",
    "scorer": "tools.scorers",
}

__all__ = [
    "Comparison",
    "Curve",
    "Evaluation",
    "Explanation",
    "Judgments",
    "Metric",
    "Rankings",
    "Summary",
    "TieSpread",
    "__version__",
    "backend",
    "catboost_metric",
    "cg",
    "compare",
    "dcg",
    "discount",
    "explain",
    "from_frames",
    "from_qrels",
    "from_ranked",
    "from_recommendations",
    "from_scores",
    "gain",
    "get_include",
    "idcg",
    "judgments",
    "lightgbm_metric",
    "mean_ndcg",
    "metric",
    "mrr",
    "ndcg",
    "plot",
    "read_trec",
    "reciprocal_rank",
    "sample",
    "scorer",
    "xgboost_metric",
]


def get_include() -> str:
    """The folder of `rankgain.h`, for the compiler of an extension that calls rankgain from C or C++.

    Returns
    -------
    str

    Examples
    --------
    >>> import os
    >>> import rankgain as rg
    >>> os.listdir(rg.get_include())
    ['rankgain.h']
    """
    return os.path.join(os.path.dirname(__file__), "include")


if not TYPE_CHECKING:  # who would take every name for one that is there

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"rankgain.{_LATER[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
