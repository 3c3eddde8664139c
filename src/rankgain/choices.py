"""The accepted values of arguments, as types: editors complete them, and type checkers reject anything else.

Each is written once, here; `tests/test_types.py` checks the tables that give them meaning.
"""

from typing import Literal

Ties = Literal["average", "stable", "docid", "best", "worst"]
ScoreTies = Literal["average", "stable", "best", "worst"]  # where documents have no ids
ClusterTies = Literal["docid", "average", "best", "worst"]  # where rows have no order
Missing = Literal["zero", "skip"]
Validate = Literal["judged", "full"]
Duplicates = Literal["error", "first"]
Naming = Literal["asked", "safe"]  # of metrics in `Evaluation.flat`
Ideal = Literal["judged", "returned"]
Rounding = Literal["up", "nearest"]
ScoreBits = Literal[64, 32]
Peer = Literal[
    "trec_eval-9",
    "trec_eval-10",
    "sklearn",
    "lightgbm",
    "xgboost",
    "catboost",
    "torchmetrics",
    "ranx",
    "lenskit",
    "rectools",
    "implicit",
    "spark",
    "elasticsearch",
    "beir",
    "msmarco",
    # Other names of these; further accepted spellings do not fit into a type.
    "trec_eval",
    "pytrec_eval",
    "scikit-learn",
    "ms_marco",
]
PeerOrOwn = Peer | Literal["rankgain"]
