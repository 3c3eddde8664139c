"""Check that evaluation tools return the same results with rankgain as without it, and compare their times.

    python bench/clients/compare.py ir_measures beir mteb pyterrier

The results are checked on the qrels and runs of the trec_eval golden tests. `--smoke` skips the times. For `beir`,
`mteb` and `pyterrier`, the installed package is compared with a patched copy; the patches are in this folder. For
`ir_measures`, its own providers are compared with rankgain's provider. No data set, model or Java archive is loaded.
"""

from __future__ import annotations

import importlib
import logging
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # make the other bench modules importable

import against
import dicts
import harness

from rankgain import pytrec_eval

HERE = Path(__file__).parent
GOLDEN = HERE.parents[1] / "tests" / "golden" / "trec_eval.tar.xz"
K_VALUES = [1, 3, 5, 10, 20, 100, 1000]
WITHIN = 1e-9
Run = dict[str, dict[str, float]]
Data = tuple[dict[str, dict[str, int]], Run]
Cases = Iterator[tuple[str, Callable[[], Any]]]  # pairs of a case title and the function to call


def golden() -> dict[str, Data]:
    """Read qrels and runs with ties, negative grades, non-ASCII ids, and queries that occur on only one side."""
    data = {}
    with tempfile.TemporaryDirectory() as name, tarfile.open(GOLDEN) as archive:
        folder = Path(name)
        archive.extractall(folder, filter="data")
        for corpus in "abc":
            qrels, run = ((folder / f"{corpus}.{side}").read_text("utf-8").splitlines() for side in ("qrels", "run"))
            data[f"golden {corpus}"] = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)
    return data


def generated() -> dict[str, Data]:
    """Generate the timed data: one judged document per query, as in MS MARCO, or 200 graded documents per query."""
    return {
        "700 queries × 1,000, 1 judged": dicts.make(700, 1000, 1, (1,)),
        "50 queries × 1,000, 200 judged": dicts.make(50, 1000, 200, (0, 0, 0, 1, 1, 2, 3)),
    }


def in_both(data: Data) -> Data:
    """Remove unjudged queries from the run, because BEIR and MTEB look up each query of the run in the qrels."""
    qrels, run = data
    return qrels, {query: documents for query, documents in run.items() if query in qrels}


def rows(side: Any) -> list[tuple[str, str, float]]:
    return [(query, *pair) for query, documents in side.items() for pair in documents.items()]


def frames(data: Data, names: tuple[str, str, str, str]) -> tuple[Any, Any]:
    import pandas as pd

    first, second = ([*names[:2], name] for name in names[2:])
    return pd.DataFrame(rows(data[0]), columns=first), pd.DataFrame(rows(data[1]), columns=second)


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

# Compare the following measures on data without ties: the providers of RR@k, Judged and RBP break ties differently from
# rankgain. NumRet may count only judged documents if another measure in the same call has judged_only=True.
SEPARATE = ["RR@10", "RR(rel=2)@3", "Judged", "Judged@10", "NumRet"]
RBP = ["RBP(rel=1)", "RBP(rel=2,p=0.5)"]
ROUNDED = ["nDCG(dcg='exp-log2')@10", "ERR@10", "ERR@3"]  # gdeval.pl rounds values to five digits
# Compare these on data without ties, one per call, since two values of a parameter in a call give 0.0.
DIVERSE = [
    "alpha_nDCG@10",
    "alpha_nDCG(alpha=0.9)@5",
    "alpha_DCG@5",
    "ERR_IA@20",
    "nERR_IA@10",
    "NRBP",
    "nNRBP(beta=0.8)",
]
DIVERSE += ["AP_IA", "P_IA@10", "P_IA(rel=2)@3", "StRecall@5", "StRecall(rel=2)@10"]
USUAL = ["nDCG@10", "RR", "AP", "R@100", "P@10"]


def ir_measures(corpora: dict[str, Data], inside: bool, smoke: bool) -> Cases:
    import ir_measures as irm
    from ir_measures_provider import provider

    theirs = provider if inside else irm.DefaultPipeline

    def values(name: str, qrels: Any, run: Any) -> dict[str, Any]:
        """Compute one measure per call; with several, the results of pytrec_eval depend on the order of a set."""
        measures = [irm.parse_measure(name)]
        by_query = {metric.query_id: metric.value for metric in theirs.iter_calc(measures, qrels, run)}
        (mean,) = theirs.calc_aggregate(measures, qrels, run).values()
        return {"values": by_query, "mean": mean}

    def rounded(*data: Any) -> dict[str, float]:
        return {query: round(value, 4) for query, value in values(*data)["values"].items()}

    for name, data in corpora.items():
        for form, given in forms(data).items():
            if not smoke:
                measures = [irm.parse_measure(one) for one in USUAL]
                yield f"calc_aggregate, {form}, {name}", partial(theirs.calc_aggregate, measures, *given)
            else:
                yield from ((f"{one}, {form}, {name}", partial(values, one, *given)) for one in ASKED)
        if smoke:
            separate = SEPARATE + (RBP if irm.cwl_eval.is_available() else [])
            yield from ((f"{one}, {name}, no ties", partial(values, one, *untied(data))) for one in separate)
            if irm.pyndeval.is_available():
                diverse = by_subtopic(untied(data))
                yield from ((f"{one}, {name}, by subtopic", partial(values, one, *diverse)) for one in DIVERSE)
            if irm.gdeval.is_available():
                yield from ((f"{one}, {name}, no ties", partial(rounded, one, *untied(data))) for one in ROUNDED)


def by_subtopic(data: Data) -> tuple[list[Any], Any]:
    """Judge each document for one of three subtopics, and every second one for another.

    Queries without relevant documents are left out, since ndeval gives NaN for their nNRBP.
    """
    import ir_measures

    qrels, run = data
    return [
        ir_measures.Qrel(query, document, grade, str((index + shift) % 3))
        for query, documents in qrels.items()
        if any(grade > 0 for grade in documents.values())
        for index, (document, grade) in enumerate(documents.items())
        for shift in range(1 + index % 2)
    ], run


def forms(data: Data) -> dict[str, tuple[Any, Any]]:
    """Return the qrels and the run in each form that ir_measures accepts: dicts, data frames and rows."""
    import ir_measures

    tuples = [ir_measures.Qrel(*row) for row in rows(data[0])], [ir_measures.ScoredDoc(*row) for row in rows(data[1])]
    return {"dicts": data, "frames": frames(data, ("query_id", "doc_id", "relevance", "score")), "rows": tuples}


def untied(data: Data) -> Data:
    """Keep one document per score, number the queries, and clip grades to the range 0 to 4, as gdeval.pl requires."""
    qrels, run = data
    numbers = {query: str(number) for number, query in enumerate(qrels, 1)}
    graded = {
        numbers[query]: {doc: min(max(its, 0), 4) for doc, its in documents.items()}
        for query, documents in qrels.items()
    }
    first = {
        query: {score: doc for doc, score in documents.items()} for query, documents in run.items() if query in numbers
    }
    return graded, {
        numbers[query]: {doc: score for score, doc in documents.items()} for query, documents in first.items()
    }


def beir(corpora: dict[str, Data], inside: bool, smoke: bool) -> Cases:
    evaluation = importlib.import_module("beir.retrieval.evaluation").EvaluateRetrieval
    for name, data in corpora.items():
        yield f"evaluate, {name}", partial(evaluation.evaluate, *in_both(data), K_VALUES)
        # BEIR divides by zero if a query has no relevant document.
        relevant = {
            query: documents for query, documents in data[0].items() if any(grade > 0 for grade in documents.values())
        }
        for metric in ("mrr", "recall_cap", "top_k_accuracy"):
            call = partial(evaluation.evaluate_custom, *in_both((relevant, data[1])), K_VALUES, metric)
            yield f"evaluate_custom, {metric}, {name}", call


def mteb(corpora: dict[str, Data], inside: bool, smoke: bool) -> Cases:
    scores = importlib.import_module("mteb._evaluators.retrieval_metrics").calculate_retrieval_scores
    for name, data in corpora.items():
        qrels, run = in_both(data)
        call = partial(scores, run, qrels, K_VALUES)

        def values(call: Callable[[], Any] = call) -> dict[str, Any]:
            """Add 1 to each nAUC: it is a difference of areas, and if they are equal, only rounding errors remain."""
            answer = call()._asdict()
            return answer | {"naucs": {area: 1 + value for area, value in answer["naucs"].items()}}

        yield f"calculate_retrieval_scores, {name}", values


def pyterrier(corpora: dict[str, Data], inside: bool, smoke: bool) -> Cases:
    """Evaluate results in data frames, which does not require Java."""
    import pandas as pd
    import pyterrier

    measures = ["map", "ndcg_cut_10", "recip_rank", "recall_100", "P_10"]

    def means(qrels: Any, run: Any) -> Any:
        topics = pd.DataFrame({"qid": qrels["qid"].unique(), "query": ""})
        return pyterrier.Experiment([run], topics, qrels, measures, names=["run"])[measures].to_dict()

    for name, data in corpora.items():
        qrels, run = frames(data, ("qid", "docno", "label", "score"))
        yield f"Experiment, {name}", partial(means, qrels, run)
        yield f"Evaluate, {name}", partial(pyterrier.Evaluate, run, qrels, measures, perquery=True)


CLIENTS: dict[str, Callable[..., Cases]] = {one.__name__: one for one in (ir_measures, beir, mteb, pyterrier)}


def patched(package: str, folder: Path) -> Path | None:
    """Patch a copy of the package in `folder` and return `folder`; return None if there is no patch."""
    for patch in HERE.glob(f"{package}-*.patch"):
        patched, installed = patch.stem.removeprefix(f"{package}-"), metadata.version(package)
        if installed != patched:  # a patch fits only one release
            raise SystemExit(f"{patch.name} is for {package} {patched}, and {installed} is installed")
        (package_path,) = importlib.import_module(package).__path__
        shutil.copytree(package_path, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
        command = ["patch", "--strip=1", "--fuzz=0", f"--directory={folder}", f"--input={patch}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return folder
    return None


def main() -> int:
    parser = harness.options(__doc__)
    parser.add_argument("clients", nargs="+", choices=CLIENTS)
    parser.add_argument("--work", action="store_true", help="serve the process that compares")
    parser.add_argument("--inside", action="store_true", help="with rankgain's provider")
    arguments = parser.parse_args()
    smoke = arguments.scale == "smoke"
    if arguments.work:
        logging.disable(logging.WARNING)  # silence the means that the clients log
        serve = against.begin_to_serve()
        for title, call in CLIENTS[arguments.clients[0]](golden() if smoke else generated(), arguments.inside, smoke):
            serve(f"{arguments.clients[0]}: {title}", harness.Contender(call, lambda answer: answer))
        return 0
    for client in arguments.clients:
        for scale in ("smoke",) if smoke else ("smoke", "usual"):
            with (
                tempfile.TemporaryDirectory() as name,
                against.Worker(Path(__file__), client, f"--{scale}") as before,
                against.Worker(
                    Path(__file__), client, f"--{scale}", "--inside", folder=patched(client, Path(name))
                ) as after,
            ):
                against.pit(before, after, scale, WITHIN)
                if before.failed or after.failed:
                    return 1
    print(f"{harness.answers_compared} answers compared")
    return 0


if __name__ == "__main__":
    sys.exit(main())
