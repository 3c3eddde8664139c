"""Clients of rankgain before and after: the same answers on the golden qrels and runs of trec_eval, then their times.

    python bench/clients/before_after.py ir_measures beir mteb pyterrier        (--smoke: without the times)

`beir`, `mteb` and `pyterrier` are the released packages beside a copy with the patch of this folder; `ir_measures` has
its own providers beside rankgain's. No data set, model or Java archive is loaded.
"""

from __future__ import annotations

import logging
import math
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the other benches

import contest  # before NumPy
import dicts
import patched

from rankgain import pytrec_eval

GOLDEN = Path(__file__).parents[2] / "tests" / "golden" / "trec_eval.tar.xz"
K_VALUES = [1, 3, 5, 10, 20, 100, 1000]
WITHIN = 1e-9
Run = dict[str, dict[str, float]]
Data = tuple[dict[str, dict[str, int]], Run]


def golden(folder: Path) -> dict[str, Data]:
    """Qrels and runs: ties, negative grades, queries that one side lacks, ids that are not ASCII."""
    with tarfile.open(GOLDEN) as archive:
        archive.extractall(folder, filter="data")
    found = {}
    for corpus in "abc":
        with (folder / f"{corpus}.qrels").open(encoding="utf-8") as lines:
            qrels = pytrec_eval.parse_qrel(lines)
        with (folder / f"{corpus}.run").open(encoding="utf-8") as lines:
            found[corpus] = qrels, pytrec_eval.parse_run(lines)
    return found


def made(scale: contest.Scale) -> dict[str, Data]:
    """What is timed: one judged document per query, as MS MARCO has, and many graded ones."""
    if scale == "smoke":
        return {"20 queries × 100, 5 judged": dicts.make(20, 100, 5, (0, 1, 2))}
    return {
        "700 queries × 1,000, 1 judged": dicts.make(700, 1000, 1, (1,)),
        "50 queries × 1,000, 200 judged": dicts.make(50, 1000, 200, (0, 0, 0, 1, 1, 2, 3)),
    }


def in_both(data: Data) -> Data:
    """Without the queries of the run that nobody judged, which BEIR and MTEB look up all the same."""
    qrels, run = data
    return qrels, {query: own for query, own in run.items() if query in qrels}


def looked_up(corpora: dict[str, Data]) -> dict[str, Data]:
    return {name: in_both(data) for name, data in corpora.items()}


def untied(run: Run) -> Run:
    """One document of each score, for what orders equal ones otherwise."""
    first = {query: {score: doc for doc, score in own.items()} for query, own in run.items()}
    return {query: {doc: score for score, doc in own.items()} for query, own in first.items()}


def check(title: str, before: Any, after: Any, within: float) -> None:
    """Equal numbers under equal keys, however they are nested; NaN where NaN is."""
    if isinstance(before, Mapping):
        if {*before} != {*after}:
            raise contest.DifferentAnswer(f"{title}: {sorted(map(str, {*before} ^ {*after}))[:5]} on one side only")
        for key, value in before.items():
            check(f"{title}, {key}", value, after[key], within)
    elif isinstance(before, (list, tuple)):
        check(title, dict(enumerate(before)), dict(enumerate(after)), within)
    elif not (abs(before - after) <= within or (math.isnan(before) and math.isnan(after))):
        raise contest.DifferentAnswer(f"{title}: {before!r} before, and {after!r} after")


def compare(title: str, before: Callable[[], Any], after: Callable[[], Any], within: float = WITHIN) -> None:
    check(title, before(), after(), within)
    print(f"{title}: equal answers", flush=True)


def contend(title: str, before: Callable[[], Any], after: Callable[[], Any], scale: contest.Scale) -> None:
    compare(title, before, after)
    runs = {"rankgain, after": after, "before": before}
    contest.hold(
        title, {name: contest.Contender(run, None) for name, run in runs.items()}, scale, clock=time.process_time
    )


def ir_measures(corpora: dict[str, Data], timed: dict[str, Data], scale: contest.Scale, folder: Path) -> None:
    import ir_measures as irm
    from ir_measures_provider import provider

    theirs = irm.DefaultPipeline
    asked = [irm.parse_measure(name) for name in ASKED]
    for name, (qrels, run) in corpora.items():
        for form, data in forms((qrels, run)).items():
            title = f"ir_measures, golden {name}, {form}"
            for what, compute in ("queries", per_query), ("means", means):
                compare(
                    f"{title}, {what}",
                    partial(one_by_one, compute, theirs, asked, *data),
                    partial(compute, provider, asked, *data),
                )
        judged = {query: {doc: max(grade, 0) for doc, grade in own.items()} for query, own in qrels.items()}
        data = judged, untied(run)
        apart = (theirs, APART, WITHIN), (irm.cwl_eval, CWL_EVAL, WITHIN), (irm.gdeval, GDEVAL, 0.51e-5)
        for their, names, within in apart:
            title = f"ir_measures, golden {name}, {names[0]} …, without ties"
            if not their.is_available():
                print(f"{title}: left out, since {their.NAME} is not there")
                continue
            own = [irm.parse_measure(one) for one in names]
            both = (partial(per_query, one, own, *numbered(data)) for one in (their, provider))
            compare(title, *both, within)
    usual = [irm.parse_measure(name) for name in ("nDCG@10", "RR", "AP", "R@100", "P@10")]
    for name, data in timed.items():
        for form, (qrels, run) in forms(data).items():
            both = (partial(one.calc_aggregate, usual, qrels, run) for one in (theirs, provider))
            contend(f"ir_measures.calc_aggregate, five measures, {form}, {name}", *both, scale)


# fmt: off
ASKED = [
    "AP", "AP@20", "AP(rel=2)", "AP(judged_only=True)@10", "Bpref", "Bpref(rel=2)", "infAP", "infAP(rel=2)", "NumQ",
    "NumRel", "NumRet(rel=1)", "NumRet(rel=2)", "P@5", "P(rel=2,judged_only=True)@10", "R@20", "R(rel=2)@5",
    "R(judged_only=True)@5", "RR", "RR(rel=2,judged_only=True)", "Rprec", "Rprec(rel=2)", "SetAP", "SetF",
    "SetF(beta=2.0)", "SetF(beta=0.5,rel=2)", "SetP", "SetP(relative=True)", "SetP(judged_only=True)", "SetR",
    "SetR(rel=2)", "Success@1", "Success(rel=2)@10", "IPrec@0.0", "IPrec@0.3", "IPrec(rel=2)@1.0", "nDCG",
    "nDCG@10", "nDCG(judged_only=True)@5", "nDCG(gains={0:0,1:1,2:5,3:7})@10",
]
# fmt: on
# RR@k and Judged order ties otherwise; NumRet counts judged documents only where it shares a call with a measure that
# does.
APART = ["RR@10", "RR(rel=2)@3", "Judged", "Judged@10", "NumRet"]
CWL_EVAL = ["RBP(rel=1)", "RBP(rel=2,p=0.5)"]  # ties otherwise, too
GDEVAL = ["nDCG(dcg='exp-log2')@10", "ERR@10", "ERR@3"]  # a Perl script, which rounds to five digits


def per_query(provider: Any, measures: list[Any], qrels: Any, run: Any) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for metric in provider.iter_calc(measures, qrels, run):
        found.setdefault(str(metric.measure), {})[metric.query_id] = metric.value
    return found


def means(provider: Any, measures: list[Any], qrels: Any, run: Any) -> dict[str, float]:
    return {str(measure): value for measure, value in provider.calc_aggregate(measures, qrels, run).items()}


def one_by_one(compute: Any, provider: Any, measures: list[Any], qrels: Any, run: Any) -> dict[str, Any]:
    """Each measure in a call of its own: what several share of a call of pytrec_eval depends on the order of a set."""
    return {name: own for one in measures for name, own in compute(provider, [one], qrels, run).items()}


def forms(data: Data) -> dict[str, tuple[Any, Any]]:
    """Qrels and run as all that ir_measures takes."""
    import ir_measures

    qrels, run = ([(query, *pair) for query, own in side.items() for pair in own.items()] for side in data)
    rows = [ir_measures.Qrel(*row) for row in qrels], [ir_measures.ScoredDoc(*row) for row in run]
    return {"dicts": data, "frames": frames(data, ("query_id", "doc_id", "relevance", "score")), "rows": rows}


def frames(data: Data, names: tuple[str, str, str, str]) -> tuple[Any, Any]:
    import pandas as pd

    tables = ([(query, *pair) for query, own in side.items() for pair in own.items()] for side in data)
    qrels, run = (
        pd.DataFrame(table, columns=[*names[:2], name]) for table, name in zip(tables, names[2:], strict=True)
    )
    return qrels, run


def numbered(data: Data) -> Data:
    """Queries by numbers, and grades to 4: what gdeval.pl reads."""
    qrels, run = data
    numbers = {query: str(number) for number, query in enumerate(qrels, 1)}
    graded = {numbers[query]: {doc: min(grade, 4) for doc, grade in own.items()} for query, own in qrels.items()}
    return graded, {numbers[query]: own for query, own in run.items() if query in numbers}


def beir(corpora: dict[str, Data], timed: dict[str, Data], scale: contest.Scale, folder: Path) -> None:
    def evaluate(module: Any, qrels: Any, run: Any) -> Any:
        return module.EvaluateRetrieval.evaluate(qrels, run, K_VALUES)

    def custom(metric: str, module: Any, qrels: Any, run: Any) -> Any:
        # BEIR divides by zero where nothing is relevant.
        relevant = {query: own for query, own in qrels.items() if any(grade > 0 for grade in own.values())}
        return module.EvaluateRetrieval.evaluate_custom(*in_both((relevant, run)), K_VALUES, metric)

    calls = {"evaluate": evaluate} | {name: partial(custom, name) for name in ("mrr", "recall_cap", "top_k_accuracy")}
    against(
        calls, patched.both("beir", "beir.retrieval.evaluation", folder), "BEIR's", looked_up(corpora), timed, scale
    )


def mteb(corpora: dict[str, Data], timed: dict[str, Data], scale: contest.Scale, folder: Path) -> None:
    def scores(module: Any, qrels: Any, run: Any) -> Any:
        return module.calculate_retrieval_scores(run, qrels, K_VALUES)._asdict()

    both = patched.both("mteb", "mteb._evaluators.retrieval_metrics", folder)
    against({"calculate_retrieval_scores": scores}, both, "MTEB's", looked_up(corpora), timed, scale)


def pyterrier(corpora: dict[str, Data], timed: dict[str, Data], scale: contest.Scale, folder: Path) -> None:
    """By frames of results: nothing here starts Java."""
    import pandas as pd

    measures = ["map", "ndcg_cut_10", "recip_rank", "recall_100", "P_10"]

    def means(module: Any, qrels: Any, run: Any) -> Any:
        topics = pd.DataFrame({"qid": qrels["qid"].unique(), "query": ""})
        return module.Experiment([run], topics, qrels, measures, names=["run"])[measures].to_dict()

    def values(module: Any, qrels: Any, run: Any) -> Any:
        return module.Evaluate(run, qrels, measures, perquery=True)

    def framed(data: dict[str, Data]) -> dict[str, Any]:
        return {name: frames(own, ("qid", "docno", "label", "score")) for name, own in data.items()}

    calls = {"Experiment": means, "Evaluate": values}
    against(calls, patched.both("pyterrier", "pyterrier", folder), "PyTerrier's", framed(corpora), framed(timed), scale)


def against(
    calls: Mapping[str, Callable[..., Any]],
    both: tuple[patched.Loaded, patched.Loaded],
    whose: str,
    corpora: Mapping[str, Any],
    timed: Mapping[str, Any],
    scale: contest.Scale,
) -> None:
    """Calls of a module and of its patched copy: compared on all data, and timed on some of it."""
    for what, call in calls.items():
        for name, data in corpora.items():
            compare(f"{whose} {what}, golden {name}", *(partial(inside, loaded, call, data) for loaded in both))
        for name, data in timed.items():
            contend(f"{whose} {what}, {name}", *(partial(inside, loaded, call, data) for loaded in both), scale)


def inside(loaded: patched.Loaded, call: Callable[..., Any], data: Any) -> Any:
    with loaded as module:
        return call(module, *data)


CLIENTS = {client.__name__: client for client in (ir_measures, beir, mteb, pyterrier)}


def main() -> int:
    parser = contest.options(__doc__)
    parser.add_argument("clients", nargs="+", choices=CLIENTS)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # each prints its means
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpora, timed = golden(folder), made(arguments.scale)

        def bench(scale: contest.Scale) -> None:
            for client in arguments.clients:
                CLIENTS[client](corpora, timed, scale, folder / client)

        return contest.main(None, bench, scale=arguments.scale)


if __name__ == "__main__":
    sys.exit(main())
