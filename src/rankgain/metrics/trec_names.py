"""The table of trec_eval's measures: their names, their parameters and the equivalent rankgain metrics.

Aliases of metrics, the names with cut-offs that `rankgain.metric` parses, and the measures of `rankgain.pytrec_eval`
and `rankgain trec_eval` all come from here. Source of names, defaults and order: trec_eval's measures.c and m_*.c, and
its output.
"""

from __future__ import annotations

from typing import NamedTuple

CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
TENTHS = tuple(f"{tenth / 10:.2f}" for tenth in range(11))
MULTIPLES = tuple(f"{tenth / 5:.2f}" for tenth in range(1, 11))


class TrecName(NamedTuple):
    """A trec_eval measure.

    `metric`: the equivalent rankgain metric, for which the lower-case name is an alias; "" if there is none. `kind`:
    "whole" for one value without parameters; "cut", "points" for one value per parameter, an integer or a real number,
    with one key per value (P_5, iprec_at_recall_0.10); "set" for one value from all parameters (utility, set_F);
    "gains" for one value from pairs level=gain; "rbp" for one value from p and pairs level=gain. `defaults`: the
    default parameters. `shown`: whether trec_eval prints the measure per query ("query"), in the summary ("summary") or
    in both. `counts`: whether the value is an integer. `since`: the first release with the measure.
    """

    name: str
    metric: str
    kind: str = "whole"
    defaults: tuple[str, ...] = ()
    shown: str = "both"
    counts: bool = False
    since: int = 9


TREC_NAMES = (
    TrecName("runid", "", shown="summary"),
    TrecName("num_q", "num_q", shown="summary", counts=True),
    TrecName("num_ret", "num_ret", counts=True),
    TrecName("num_rel", "num_rel", counts=True),
    TrecName("num_rel_ret", "num_rel_ret", counts=True),
    TrecName("map", "ap"),
    TrecName("gm_map", "gm_ap", shown="summary"),
    TrecName("Rprec", "r_precision"),
    TrecName("bpref", "bpref"),
    TrecName("recip_rank", "rr"),
    TrecName("iprec_at_recall", "iprec", "points", TENTHS),
    TrecName("P", "precision", "cut", CUTOFFS),
    TrecName("relstring", "", "set", ("10",), shown="query"),
    TrecName("recall", "recall", "cut", CUTOFFS),
    TrecName("infAP", "infap"),
    TrecName("gm_bpref", "gm_bpref", shown="summary"),
    TrecName("Rprec_mult", "r_precision", "points", MULTIPLES),
    TrecName("utility", "utility", "set", ("1.0", "-1.0", "0.0", "0.0")),
    TrecName("11pt_avg", "iprec_mean", "set", TENTHS),
    TrecName("binG", "bin_g"),
    TrecName("G", "g", "gains"),
    TrecName("dcg", "dcg", "gains", since=10),
    TrecName("ideal_dcg", "idcg", "gains", since=10),
    TrecName("ndcg", "ndcg", "gains"),
    TrecName("ndcg_rel", "ndcg_rel", "gains"),
    TrecName("Rndcg", "r_ndcg", "gains"),
    TrecName("ndcg_cut", "ndcg", "cut", CUTOFFS),
    TrecName("map_cut", "ap", "cut", CUTOFFS),
    TrecName("relative_P", "capped_recall", "cut", CUTOFFS),
    TrecName("success", "success", "cut", ("1", "5", "10")),
    TrecName("set_P", "precision"),
    TrecName("set_relative_P", "capped_recall"),
    TrecName("set_recall", "recall"),
    TrecName("set_map", "set_ap"),
    TrecName("set_F", "f", "set", ("1.0",)),
    TrecName("num_nonrel_judged_ret", "num_nonrel_judged_ret", counts=True),
    TrecName("rbp", "rbp", "rbp", since=10),
    TrecName("rbp_resid", "rbp_residual", since=10),
    TrecName("unj", "unjudged", "cut", ("5", "10", "20"), since=10),
)


def aliases(metric: str) -> tuple[str, ...]:
    """Return trec_eval's names for a metric, in lower case."""
    names = (row.name.lower() for row in TREC_NAMES if row.metric == metric)
    return tuple(name for name in names if name != metric)
