"""Ranking metrics — gain, discount, CG, DCG, IDCG, nDCG, reciprocal rank / MRR — from any form of rankings.

Relevance already in rank order: `gain`, `discount`, `cg`, `dcg`, `idcg`, `ndcg`, `reciprocal_rank`, `mean_ndcg`, `mrr`.
Any other form: make Rankings with `from_ranked`, `from_scores`, `from_recommendations`, `from_qrels`,
`from_frames` or `read_trec`, then `evaluate`. `judgments` prepares truth for many runs.
Several runs: `compare`. Many cut-offs: `Rankings.curve`, and `plot` for its picture.
"""

from rankgain import _backend
from rankgain._sample import sample
from rankgain.comparison import Comparison, compare
from rankgain.curves import Curve, plot
from rankgain.evaluation import Evaluation
from rankgain.functions import cg, dcg, discount, gain, idcg, mean_ndcg, mrr, ndcg, reciprocal_rank
from rankgain.inputs.frames import from_frames
from rankgain.inputs.judgments import judgments
from rankgain.inputs.qrels import from_qrels
from rankgain.inputs.ranked import from_ranked
from rankgain.inputs.recommendations import from_recommendations
from rankgain.inputs.scores import from_scores
from rankgain.inputs.trec import read_trec
from rankgain.metrics import Metric, metric
from rankgain.rankings import Rankings
from rankgain.truth import Judgments

__version__ = "0.1.0"
backend: str = _backend.name

__all__ = [
    "Comparison",
    "Curve",
    "Evaluation",
    "Judgments",
    "Metric",
    "Rankings",
    "__version__",
    "backend",
    "cg",
    "compare",
    "dcg",
    "discount",
    "from_frames",
    "from_qrels",
    "from_ranked",
    "from_recommendations",
    "from_scores",
    "gain",
    "idcg",
    "judgments",
    "mean_ndcg",
    "metric",
    "mrr",
    "ndcg",
    "plot",
    "read_trec",
    "reciprocal_rank",
    "sample",
]
