"""The metrics of judgments by subtopic: six of novelty, and the mean over subtopics of each ordinary metric.

`Row.terms` is not used for metrics of novelty, which `rankgain.metrics.by_subtopic` computes.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, get_args

from rankgain._codes import GEOMETRIC, ZIPF
from rankgain.choices import NoveltyIdeal, check_choice
from rankgain.metrics.aggregators import mean
from rankgain.metrics.discounts import LOGARITHMIC, LONGEST_TABLE, Discount
from rankgain.metrics.parameters import PARAMETERS, Parameter, Parameters, within
from rankgain.metrics.table import TABLE, Row

EMPTY_IF = "no subtopic counts"
_COUNTS = "a subtopic counts if a document is relevant to it"
MOST_RANKS = LONGEST_TABLE  # the largest cut-off of metrics whose divisor is a sum over the first k ranks
ORDERS = "the best order of tied documents for one subtopic is not the best for another"


class _Novelty(NamedTuple):
    """How a metric of novelty divides its sum: by that of the ideal list (`normalised`), or by the most possible."""

    normalised: bool
    kind: int = LOGARITHMIC.kind

    def discount(self, metric: Parameters) -> Discount:
        return Discount(GEOMETRIC, metric.beta) if self.kind == GEOMETRIC else Discount(self.kind)


NOVELTY = {
    "alpha_dcg": _Novelty(False),
    "alpha_ndcg": _Novelty(True),
    "err_ia": _Novelty(False, ZIPF),
    "nerr_ia": _Novelty(True, ZIPF),
    "nrbp": _Novelty(False, GEOMETRIC),
    "nnrbp": _Novelty(True, GEOMETRIC),
}

_PARAMETERS = PARAMETERS | {
    "beta": Parameter(0.5, within("beta", 0.0, 1.0, below=True), PARAMETERS["beta"].read),
    "ideal": Parameter("judged", partial(check_choice, name="ideal", choices=get_args(NoveltyIdeal))),
}
_GAIN = "G(i) = Σ w_s·(1 − α)^(documents above rank i that cover s), over the subtopics s that the document covers"
_W = "W = Σ w_s over the subtopics that count"
_IDEAL = (
    "The ideal list is greedy: at each rank the document with the highest gain; of several, the one after which the "
    "gains of the others are highest, then the first in the judgments. A list that beats it has the value 1, and "
    "counts['capped'] counts those. Published values of ndeval take the highest id instead: like='ndeval', or "
    "ideal=docid, which may exceed 1"
)
_row = partial(Row, terms=lambda m: (), empty_if=EMPTY_IF, parameters=_PARAMETERS)

_NOVELTY_ROWS = (
    _row(
        "alpha_dcg",
        "α-DCG: the discounted gain of subtopics, where each repetition counts 1 − α of the one before, as a share of "
        "the most that k ranks can have",
        aliases=("α_dcg",),
        takes=("rel", "empty", "alpha"),
        needs_cutoff=True,
        formula=f"Σ G(i)·d(i) / (W·Σ (1 − α)^(i − 1)·d(i)), i ≤ k; d(i) = 1 / log2(i + 1); {_GAIN}; {_W}",
        remark="Clarke et al. do not divide; ndeval and ir_measures do. Times W·Σ (1 − α)^(i − 1)·d(i), it is theirs",
        source="Clarke et al. 2008; ndeval.c (2013)",
    ),
    _row(
        "alpha_ndcg",
        "α-nDCG: α-DCG / that of an ideal list, which covers each subtopic early and none too often",
        aliases=("α_ndcg",),
        takes=("ideal", "rel", "empty", "alpha"),
        formula=f"Σ G(i)·d(i), i ≤ k, / the same sum of the ideal list; d(i) = 1 / log2(i + 1); {_GAIN}",
        remark=_IDEAL,
        source="Clarke et al. 2008; ndeval.c (2013)",
    ),
    _row(
        "err_ia",
        "ERR-IA: the gain of subtopics divided by the rank, as a share of the most that k ranks can have",
        takes=("rel", "empty", "alpha"),
        needs_cutoff=True,
        formula=f"Σ G(i) / i / (W·Σ (1 − α)^(i − 1) / i), i ≤ k; {_GAIN}; {_W}",
        remark="the mean over subtopics of err(max_grade=1)@k is this value ·½·Σ 2^(1 − i) / i, i ≤ k. ndeval and "
        "ir_measures divide in the same way",
        source="Chapelle et al. 2011; ndeval.c (2013)",
    ),
    _row(
        "nerr_ia",
        "nERR-IA: ERR-IA / that of an ideal list",
        takes=("ideal", "rel", "empty", "alpha"),
        formula=f"Σ G(i) / i, i ≤ k, / the same sum of the ideal list; {_GAIN}",
        remark=_IDEAL,
        source="Chapelle et al. 2011; ndeval.c (2013)",
    ),
    _row(
        "nrbp",
        "NRBP: the gain of subtopics for a reader who goes on to the next rank with probability β",
        takes=("rel", "empty", "beta", "alpha"),
        formula=f"(1 − (1 − α)·β) / W·Σ G(i)·β^(i − 1); {_GAIN}; {_W}",
        source="Clarke, Kolla & Vechtomova 2009; ndeval.c (2013)",
    ),
    _row(
        "nnrbp",
        "nNRBP: NRBP / that of an ideal list",
        takes=("ideal", "rel", "empty", "beta", "alpha"),
        formula=f"Σ G(i)·β^(i − 1) / the same sum of the ideal list; {_GAIN}",
        remark=_IDEAL,
        source="Clarke, Kolla & Vechtomova 2009; ndeval.c (2013)",
    ),
)

# Why a metric has no mean over subtopics, if neither its aggregator nor its direction says so.
_UNSUITED = {
    **dict.fromkeys(
        ("bpref", "gm_bpref", "infap", "fallout", "judged", "unjudged", "rbp_residual"),
        "it depends on which documents are judged not relevant, which a subtopic does not say of all of them",
    ),
    "utility": "it counts all returned documents, not only those of a subtopic",
}
_NAMES_OF_SUCCESS = ("strec", "subtopic_recall", "s_recall", "nugget_recall")


def _unsuited(row: Row) -> str:
    """Return why a metric has no mean over subtopics, or "" if it has one."""
    if row.name in _UNSUITED:
        return _UNSUITED[row.name]
    if row.weights:
        return "it is a mean over queries with weights of its own"
    if row.aggregator is not mean:
        return "it is not a mean over queries"
    return "" if row.better == 1 else "its values do not rank runs"


def _mean_over_subtopics(row: Row) -> Row:
    names = [f"{name}_ia" for name in (row.name, *row.aliases)]
    name, aliases = names[0], tuple(names[1:])
    title = f"the mean of {row.name} over the subtopics of a query, each judged by itself"
    formula = f"Σ w_s·x_s / Σ w_s over the subtopics s that count; x_s, by the judgments of s: {row.formula}"
    if row.name == "success":
        name, aliases = "strecall", (*_NAMES_OF_SUCCESS, *names)
        title = "subtopic recall, or nugget coverage: the share of subtopics that the first k documents cover"
        formula = "Σ w_s over the subtopics s that a document at i ≤ k covers / Σ w_s over those that count"
    return row._replace(
        name=name,
        title=title,
        aliases=aliases,
        takes=row.takes if "empty" in row.takes else (*row.takes, "empty"),
        formula=formula,
        empty_if=EMPTY_IF,
        remark=_COUNTS,
        source="Agrawal et al. 2009" + "; Zhai, Cohen & Lafferty 2003" * (row.name == "success"),
    )


# The metric whose mean over subtopics a metric is, by name.
BASES = {
    _mean_over_subtopics(row).name: row.name
    for row in TABLE.values()
    if not _unsuited(row) and f"{row.name}_ia" not in NOVELTY
}
SUBTOPIC_TABLE = {row.name: row for row in _NOVELTY_ROWS} | {
    name: _mean_over_subtopics(TABLE[base]) for name, base in BASES.items()
}
# Why a name that ends in _ia is refused.
REFUSED = {f"{name}_ia": reason for name, row in TABLE.items() if (reason := _unsuited(row))}
