"""The measures of trec_eval by its names: which there are in which release, their parameters, and our metrics for them.

`rankgain.pytrec_eval` and the command `rankgain trec_eval` both read measures by `requests`. Source of names, defaults
and order: trec_eval's measures.c and m_*.c, and its output.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from rankgain.metrics import Metric, metric

CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
TENTHS = tuple(f"{tenth / 10:.2f}" for tenth in range(11))
MULTIPLES = tuple(f"{tenth / 5:.2f}" for tenth in range(1, 11))


class Options(NamedTuple):
    """What trec_eval is told beside its measures: the release it is, -l, -N."""

    release: int
    level: int = 1
    collection: int = 0


class Measure(NamedTuple):
    """A measure: its defaults, how its parameters are read, and the metrics of which it is made.

    `kind`: "whole" for one value; "cut", "points" for one value a parameter, by whole or real numbers, each with a key of
    its own (P_5, iprec_at_recall_0.10); "set" for one value of all the parameters (utility, set_F); "gains" for one of
    pairs level=gain. `metrics` takes the options and a parameter, or for the last two all of them.
    """

    name: str
    kind: str
    defaults: tuple[str, ...]
    metrics: Callable[[Options, Any], Metric | tuple[Metric, ...]] | None
    since: int = 9


def _plain(name: str) -> Callable[[Options, Any], Metric]:
    return lambda options, _: metric(name, rel=options.level)


def _at(name: str) -> Callable[[Options, Any], Metric]:
    return lambda options, k: metric(name, k=k, rel=options.level)


def _gained(name: str) -> Callable[[Options, Any], Metric]:
    return lambda options, gain: metric(name, gain=gain)


def _rounding(options: Options) -> str:
    return "up" if options.release == 9 else "nearest"


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("runid", "whole", (), None),
        Measure("num_q", "whole", (), lambda o, _: metric("num_q")),
        Measure("num_ret", "whole", (), lambda o, _: metric("num_ret")),
        Measure("num_rel", "whole", (), _plain("num_rel")),
        Measure("num_rel_ret", "whole", (), _plain("num_rel_ret")),
        Measure("map", "whole", (), _plain("ap")),
        Measure("gm_map", "whole", (), _plain("gm_ap")),
        Measure("Rprec", "whole", (), _plain("r_precision")),
        Measure("bpref", "whole", (), _plain("bpref")),
        Measure("recip_rank", "whole", (), _plain("rr")),
        Measure(
            "iprec_at_recall",
            "points",
            TENTHS,
            lambda o, x: metric("iprec", recall=x, rel=o.level, rounding=_rounding(o)),
        ),
        Measure("P", "cut", CUTOFFS, _at("precision")),
        Measure("relstring", "cut", ("10",), None),
        Measure("recall", "cut", CUTOFFS, _at("recall")),
        Measure("infAP", "whole", (), _plain("infap")),
        Measure("gm_bpref", "whole", (), _plain("gm_bpref")),
        Measure("Rprec_mult", "points", MULTIPLES, lambda o, x: metric("r_precision", multiple=x, rel=o.level)),
        Measure(
            "utility",
            "set",
            ("1.0", "-1.0", "0.0", "0.0"),
            lambda o, values: metric("utility", coefficients=values, collection=o.collection, rel=o.level),
        ),
        Measure(
            "11pt_avg",
            "set",
            TENTHS,
            lambda o, points: tuple(metric("iprec", recall=x, rel=o.level, rounding=_rounding(o)) for x in points),
        ),
        Measure("binG", "whole", (), _plain("bin_g")),
        Measure("G", "gains", (), _gained("g")),
        Measure("dcg", "gains", (), _gained("dcg"), 10),
        Measure("ideal_dcg", "gains", (), _gained("idcg"), 10),
        Measure("ndcg", "gains", (), _gained("ndcg")),
        Measure("ndcg_rel", "gains", (), _gained("ndcg_rel")),
        Measure("Rndcg", "gains", (), lambda o, gain: metric("r_ndcg", gain=gain, rel=o.level)),
        Measure("ndcg_cut", "cut", CUTOFFS, lambda o, k: metric("ndcg", k=k)),
        Measure("map_cut", "cut", CUTOFFS, _at("ap")),
        Measure("relative_P", "cut", CUTOFFS, _at("capped_recall")),
        Measure("success", "cut", ("1", "5", "10"), _at("success")),
        Measure("set_P", "whole", (), _plain("precision")),
        Measure("set_relative_P", "whole", (), _plain("capped_recall")),
        Measure("set_recall", "whole", (), _plain("recall")),
        Measure("set_map", "whole", (), _plain("set_ap")),
        Measure("set_F", "set", ("1.0",), lambda o, x: metric("f", beta=math.sqrt(x[0]), rel=o.level)),
        Measure("num_nonrel_judged_ret", "whole", (), _plain("num_nonrel_judged_ret")),
        Measure("rbp", "set", (), lambda o, _: metric("rbp", rel=o.level), 10),
        Measure("rbp_resid", "whole", (), lambda o, _: metric("rbp_residual"), 10),
        Measure("unj", "cut", ("5", "10", "20"), lambda o, k: metric("unjudged", k=k), 10),
    )
}
