"""The accepted values of arguments as Literal types, so that editors complete them and type checkers reject others.

`tests/test_types.py` compares them with the tables that define their meaning.
"""

from typing import Any, Literal, TypedDict, get_args

from rankgain.errors import quoted

Ties = Literal["average", "stable", "docid", "best", "worst"]
ScoreTies = Literal["average", "stable", "best", "worst"]  # for documents without ids
Missing = Literal["zero", "skip"]
Validate = Literal["judged", "full"]
Duplicates = Literal["error", "first"]
Queries = Literal["all", "same", "common"]  # which queries `compare` keeps
TestedQueries = Literal["same", "common"]
Method = Literal["randomization", "exact", "t"]  # how p is computed
Correction = Literal["max-t", "holm", "bh"]  # how p is corrected for several comparisons
Family = Literal["metric", "all"]  # the comparisons to correct for
Intervals = Literal["single", "simultaneous"]
Part = Literal["all", "matrix", "differences"]  # the table of tests to export
TestPicture = Literal["intervals", "scatter"]
Pairs = Literal["both", "own"]  # the documents by which two judges evaluate
GainName = Literal["linear", "exponential", "binary"]
LambdaDiscount = Literal["cut", "full"]
LambdaTies = Literal["stable", "average"]
Normalization = Literal["score", "query"]
Truths = Literal["same", "own"]  # whether `compare` requires one truth for all runs
Naming = Literal["asked", "safe"]  # how `Evaluation.flat` names metrics
Ideal = Literal["judged", "returned"]
NoveltyIdeal = Literal["judged", "docid"]
AnyIdeal = Literal["judged", "returned", "docid"]
Rounding = Literal["up", "nearest"]
ScoresOf = Literal["old", "new"]  # the run whose scores judge documents that the old one does not list
ScoreBits = Literal[64, 32]
Handed = Literal["files", "scored"]  # what a tool is handed: the whole truth, or labels of the scored documents
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
    "ndeval",
    # Aliases. Separators and case are ignored at run time, but a type cannot express this.
    "trec_eval",
    "pytrec_eval",
    "ir_measures",
    "scikit-learn",
    "ms_marco",
]
PeerOrOwn = Peer | Literal["rankgain"]


class RuleChoices(TypedDict, total=False):
    """The rules of constructors that have few values."""

    ties: Ties
    missing: Missing
    validate: Validate
    duplicates: Duplicates
    score_bits: ScoreBits


# The accepted values by argument name.
CHOICES: dict[str, tuple[str, ...]] = {
    **{name: get_args(kind) for name, kind in RuleChoices.__annotations__.items()},
    "given": get_args(Handed),
    "method": get_args(Method),
    "correction": get_args(Correction),
    "family": get_args(Family),
    "intervals": get_args(Intervals),
    "part": get_args(Part),
    "kind": get_args(TestPicture),
    "pairs": get_args(Pairs),
    "names": get_args(Naming),
    "truths": get_args(Truths),
    "ideal": get_args(Ideal),
    "rounding": get_args(Rounding),
    "scores": get_args(ScoresOf),
}


def check_choices(**given: Any) -> None:
    """Raise an error for the first argument whose value is not accepted."""
    for name, choice in given.items():
        if type(choice) is not str or choice not in CHOICES[name]:
            check_choice(choice, name, CHOICES[name])


def check_choice(choice: Any, name: str, choices: tuple[str, ...]) -> str:
    if not isinstance(choice, str) or choice not in choices:
        raise ValueError(f"{name} must be {' or '.join(map(repr, choices))}, not {quoted(choice)}")
    return str(choice)
