"""Ranking metrics for many input formats: gain, discount, CG, DCG, IDCG, nDCG, reciprocal rank, MRR and others.

Relevance already in rank order: `gain`, `discount`, `cg`, `dcg`, `idcg`, `ndcg`, `reciprocal_rank`, `mean_ndcg`, `mrr`,
`precision`, `recall`, `average_precision`, `hit_rate`.
Any other form of input: make Rankings with `from_ranked`, `from_scores`, `from_recommendations`, `from_qrels`,
`from_frames`, `from_rows` or `read_trec`, then `evaluate`. `judgments` prepares judgments for many runs.
Metrics for training: `lightgbm_metric`, `xgboost_metric`, `catboost_metric`; LambdaRank's gradients: `lambdarank`,
`LambdaRank`, `lightgbm_objective`, `xgboost_objective`.
For scikit-learn's searches and cross-validations: `scorer`. As replacements for its metrics: `rankgain.sklearn`.
Judgments and a run of any form in one call: `evaluate`.
Several runs: `compare`. Two judges: `agreement`, `Comparison.corrected_by`.
Many cut-offs: `Rankings.curve`, and `plot` to draw them.
The definition of a metric in rankgain and in other tools: `explain`.
From C, C++, Cython and Numba: `rankgain.capi`, and `get_include` for the header.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankgain import _backend
from rankgain.functions import average_precision as average_precision
from rankgain.functions import cg as cg
from rankgain.functions import dcg as dcg
from rankgain.functions import discount as discount
from rankgain.functions import gain as gain
from rankgain.functions import hit_rate as hit_rate
from rankgain.functions import idcg as idcg
from rankgain.functions import mean_ndcg as mean_ndcg
from rankgain.functions import mrr as mrr
from rankgain.functions import ndcg as ndcg
from rankgain.functions import precision as precision
from rankgain.functions import recall as recall
from rankgain.functions import reciprocal_rank as reciprocal_rank

if TYPE_CHECKING:
    from rankgain.comparison.agreement import Agreement as Agreement
    from rankgain.comparison.agreement import agreement as agreement
    from rankgain.comparison.changes import Changes as Changes
    from rankgain.comparison.changes import changes as changes
    from rankgain.comparison.compare import compare as compare
    from rankgain.comparison.comparison import Comparison as Comparison
    from rankgain.comparison.corrected import Corrected as Corrected
    from rankgain.comparison.difference import Difference as Difference
    from rankgain.comparison.gate import Gate as Gate
    from rankgain.comparison.groups import Groups as Groups
    from rankgain.comparison.outcome import Tests as Tests
    from rankgain.comparison.similarity import similarity as similarity
    from rankgain.data.judgments import Judgments as Judgments
    from rankgain.inputs.any import evaluate as evaluate
    from rankgain.inputs.frames import from_frames as from_frames
    from rankgain.inputs.judgments import judgments as judgments
    from rankgain.inputs.qrels import from_qrels as from_qrels
    from rankgain.inputs.ranked import from_ranked as from_ranked
    from rankgain.inputs.recommendations import from_recommendations as from_recommendations
    from rankgain.inputs.rows import from_rows as from_rows
    from rankgain.inputs.scores import from_scores as from_scores
    from rankgain.inputs.trec import read_trec as read_trec
    from rankgain.metrics.metric import Metric as Metric
    from rankgain.metrics.metric import metric as metric
    from rankgain.rankings import Rankings as Rankings
    from rankgain.results.attribution import Attribution as Attribution
    from rankgain.results.bounds import Bounds as Bounds
    from rankgain.results.calculation import Calculation as Calculation
    from rankgain.results.curves import Curve as Curve
    from rankgain.results.evaluation import Evaluation as Evaluation
    from rankgain.results.peers import Explanation as Explanation
    from rankgain.results.peers import explain as explain
    from rankgain.results.summary import Summary as Summary
    from rankgain.results.ties import TieSpread as TieSpread
    from rankgain.tools.lambdarank import LambdaRank as LambdaRank
    from rankgain.tools.lambdarank import lambdarank as lambdarank
    from rankgain.tools.objectives import lightgbm_objective as lightgbm_objective
    from rankgain.tools.objectives import xgboost_objective as xgboost_objective
    from rankgain.tools.plot import plot as plot
    from rankgain.tools.sample import sample as sample
    from rankgain.tools.scorers import scorer as scorer
    from rankgain.tools.training import catboost_metric as catboost_metric
    from rankgain.tools.training import lightgbm_metric as lightgbm_metric
    from rankgain.tools.training import xgboost_metric as xgboost_metric


__version__ = _backend.VERSION
backend: str = _backend.name

# The modules that define the remaining public names. Each name is imported on first use.
_LATER = {
    "Agreement": "comparison.agreement",
    "Attribution": "results.attribution",
    "Bounds": "results.bounds",
    "Calculation": "results.calculation",
    "Comparison": "comparison.comparison",
    "Corrected": "comparison.corrected",
    "Curve": "results.curves",
    "Difference": "comparison.difference",
    "Evaluation": "results.evaluation",
    "Explanation": "results.peers",
    "Groups": "comparison.groups",
    "Judgments": "data.judgments",
    "LambdaRank": "tools.lambdarank",
    "Metric": "metrics.metric",
    "Rankings": "rankings",
    "Summary": "results.summary",
    "Gate": "comparison.gate",
    "Tests": "comparison.outcome",
    "TieSpread": "results.ties",
    "Changes": "comparison.changes",
    "agreement": "comparison.agreement",
    "catboost_metric": "tools.training",
    "changes": "comparison.changes",
    "compare": "comparison.compare",
    "evaluate": "inputs.any",
    "explain": "results.peers",
    "from_frames": "inputs.frames",
    "from_qrels": "inputs.qrels",
    "from_ranked": "inputs.ranked",
    "from_recommendations": "inputs.recommendations",
    "from_rows": "inputs.rows",
    "from_scores": "inputs.scores",
    "judgments": "inputs.judgments",
    "lambdarank": "tools.lambdarank",
    "lightgbm_metric": "tools.training",
    "lightgbm_objective": "tools.objectives",
    "metric": "metrics.metric",
    "plot": "tools.plot",
    "read_trec": "inputs.trec",
    "sample": "tools.sample",
    "xgboost_metric": "tools.training",
    "xgboost_objective": "tools.objectives",
    "scorer": "tools.scorers",
    "similarity": "comparison.similarity",
}

_MODULES = {"batches", "capi", "pytrec_eval", "sklearn", "spark", "torchmetrics"}


def get_include() -> str:
    """Return the folder that contains `rankgain.h`, to compile extensions that call rankgain from C or C++.

    Returns
    -------
    str
        The path of the folder, to be passed to the compiler as an include directory.

    Raises
    ------
    ImportError
        If rankgain was installed from a pure-Python wheel, which has no C functions.

    See Also
    --------
    rankgain.capi : The addresses of the same functions.

    Examples
    --------
    >>> import os
    >>> import rankgain as rg
    >>> os.listdir(rg.get_include())
    ['rankgain.h']
    """
    folder = os.path.join(os.path.dirname(__file__), "include")
    if not os.path.isdir(folder):
        raise ImportError(f"rankgain.h, the header of the C functions, is not installed: {_backend.NOTHING_COMPILED}")
    return folder


def _unknown(name: str) -> str:
    """Return the error message for an unknown name. If the name is a metric, the message says how to request it."""
    text = f"module {__name__!r} has no attribute {name!r}"
    if name.startswith("_"):
        return text
    if name in ("dcg_score", "ndcg_score"):
        return f"{text}; the drop-in for scikit-learn is rankgain.sklearn.{name}"
    if name in _MODULES:
        return f"{text}; it is a module: write `from {__name__} import {name}`"
    name = name.removesuffix("_at_k")
    try:
        from rankgain.metrics.metric import parse, row_of

        (_, record), *_ = parse(name)
    except ValueError:
        return text
    request = f"{name}@10" if row_of(record.name).cuts and record.k is None else name
    return (
        f"{text}; it is a metric: request it by name, rankgain.evaluate(truth, run, {request!r}) or, for relevance in "
        f"rank order, rankgain.from_ranked(relevance).evaluate({request!r})"
    )


# Up to Python 3.14, a package is briefly missing from sys.modules at the end of its import. If another thread imports
# one of its submodules at that moment, it gets a KeyError. All packages are therefore imported here, before a second
# thread can use them.
for _package in {"_reference"} | {module.partition(".")[0] for module in _LATER.values() if "." in module}:
    import_module(f"rankgain.{_package}")

if not TYPE_CHECKING:  # hidden from type checkers, which would otherwise accept any name
    _FUNCTIONS = [name for name, item in globals().items() if getattr(item, "__module__", "") == "rankgain.functions"]
    __all__ = sorted({"__version__", "backend", "get_include", *_FUNCTIONS, *_LATER})

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(_unknown(name), name=name, obj=sys.modules[__name__])
        value = getattr(import_module(f"rankgain.{_LATER[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """Return the public names, including the public modules imported so far."""
        return sorted({*__all__, *(_MODULES & globals().keys())})
