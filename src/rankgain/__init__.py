"""Ranking metrics — gain, discount, CG, DCG, IDCG, nDCG, reciprocal rank / MRR — from any form of rankings.

Relevance already in rank order: `gain`, `discount`, `cg`, `dcg`, `idcg`, `ndcg`, `reciprocal_rank`, `mean_ndcg`, `mrr`.
Any other form: make Rankings with `from_ranked`, `from_scores`, `from_qrels` or `read_trec`, then `evaluate`.
"""

from rankgain import _backend
from rankgain._sample import sample
from rankgain.comparison import Comparison
from rankgain.evaluation import Evaluation
from rankgain.functions import cg, dcg, discount, gain, idcg, mean_ndcg, mrr, ndcg, reciprocal_rank
from rankgain.inputs.qrels import from_qrels
from rankgain.inputs.ranked import from_ranked
from rankgain.inputs.scores import from_scores
from rankgain.inputs.trec import read_trec
from rankgain.metrics import Metric, metric
from rankgain.rankings import Rankings

__version__ = "0.1.0"
backend: str = _backend.name

__all__ = [
    "Comparison",
    "Evaluation",
    "Metric",
    "Rankings",
    "__version__",
    "backend",
    "cg",
    "dcg",
    "discount",
    "from_qrels",
    "from_ranked",
    "from_scores",
    "gain",
    "idcg",
    "mean_ndcg",
    "metric",
    "mrr",
    "ndcg",
    "read_trec",
    "reciprocal_rank",
    "sample",
]
