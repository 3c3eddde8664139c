"""How long does it take to compute nDCG@10 and reciprocal rank from two TREC files, in a process and as a command?"""

from __future__ import annotations

import gzip
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import harness
from dicts import MEASURES, Qrels, Run, in_order, make

import rankgain as rg

PEAK = """
from pathlib import Path
status = Path("/proc/self/status")
print(status.read_text().split("VmHWM:")[1].split()[0] if status.exists() else "")
"""
OURS = 'from rankgain.cli import main; import sys; main(["eval", *sys.argv[1:], *"-m ndcg@10 -m rr --json".split()])'
OF_RELEASES = "runid", "rbp", "unj", "iprec_at_recall", "11pt_avg"  # trec_eval 9 and 10 print these differently
SHELL = 'from rankgain.cli import main; import sys; main(["trec_eval", *sys.argv[1:]])'
THEIRS = f"""
import json, sys
from statistics import fmean
import pytrec_eval
with open(sys.argv[1]) as qrels, open(sys.argv[2]) as run:
    qrels, run = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)
results = pytrec_eval.RelevanceEvaluator(qrels, {MEASURES}).evaluate(run).values()
print(json.dumps({{"mean": {{name: fmean(its[name] for its in results) for name in ("ndcg_cut_10", "recip_rank")}}}}))
"""


def write(folder: Path, parts: Iterable[tuple[Qrels, Run]]) -> tuple[Path, Path]:
    paths = folder / "qrels.txt", folder / "run.txt"
    with paths[0].open("w") as qrels_file, paths[1].open("w") as run_file:
        for qrels, run in parts:
            for query, judgments in qrels.items():
                qrels_file.writelines(f"{query} 0 {name} {grade}\n" for name, grade in judgments.items())
            for query, scores in run.items():
                ranked = enumerate(scores.items(), 1)
                run_file.writelines(f"{query} Q0 {name} {rank} {score:.6f} made\n" for rank, (name, score) in ranked)
    return paths


def scatter(path: Path) -> None:
    """Shuffle the lines of a file in place."""
    lines = path.read_bytes().splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    with path.open("wb") as file:
        file.writelines(lines)


def contend(title: str, qrels: Qrels, qrels_path: Path, run_path: Path, scale: harness.Scale) -> None:
    """Time reading and evaluating the files within this process."""
    contenders: dict[str, Any] = {"rankgain": lambda: rg.read_trec(qrels_path, run_path).evaluate("ndcg@10", "rr")}
    if pytrec_eval := harness.peer("pytrec_eval"):

        def parse_and_evaluate() -> dict[str, dict[str, float]]:
            opener: Any = gzip.open if run_path.suffix == ".gz" else open
            with qrels_path.open() as judged_lines, opener(run_path, "rt") as run_lines:
                truth, ranked = pytrec_eval.parse_qrel(judged_lines), pytrec_eval.parse_run(run_lines)
            results: dict[str, dict[str, float]] = pytrec_eval.RelevanceEvaluator(truth, MEASURES).evaluate(ranked)
            return results

        values = partial(in_order, qrels=qrels)
        contenders["pytrec_eval with its parsers"] = harness.Contender(parse_and_evaluate, values)
    contenders["limit: reading as many bytes"] = harness.reading(run_path.stat().st_size)
    harness.hold(title, contenders, scale)


def contend_processes(
    title: str, commands: dict[str, list[Any]], values: Any, scale: harness.Scale, **target: Any
) -> Any:
    """Time whole processes, from start to exit."""
    runs = {name: partial(harness.process, *command) for name, command in commands.items()}
    return harness.hold(title, {name: harness.Contender(run, values, **target) for name, run in runs.items()}, scale)


def contend_whole(title: str, paths: tuple[Path, Path], scale: harness.Scale, at_least: float | None = None) -> None:
    """Time processes that read and evaluate the files, and report the peak memory of each."""

    def means(printed: str) -> list[float]:
        return list(json.loads(printed[: printed.rindex("}") + 1])["mean"].values())

    commands = {"rankgain eval": [sys.executable, "-c", OURS + PEAK, *paths]}
    if harness.peer("pytrec_eval"):
        commands["pytrec_eval with its parsers"] = [sys.executable, "-c", THEIRS + PEAK, *paths]
    answers = contend_processes(f"{title}, whole process", commands, means, scale, at_least=at_least)
    peaks = {name: answer.split()[-1] for name, answer in answers.items()}
    if scale != "smoke" and all(map(str.isdigit, peaks.values())):
        sizes = {name: int(peak) * 1024 for name, peak in peaks.items()}
        harness.weigh(f"{title}, whole process, most memory held", sizes)


def contend_trec_eval(title: str, paths: tuple[Path, Path], measures: list[str], scale: harness.Scale) -> None:
    """Compare `rankgain trec_eval` with the trec_eval program, if the program is on the PATH."""

    def values(printed: str) -> list[float]:
        lines = (line.split() for line in printed.splitlines())
        return [float(value) for name, _, value in lines if not name.startswith(OF_RELEASES)]

    arguments = [*(word for measure in measures for word in ("-m", measure)), *paths]
    commands = {"rankgain trec_eval": [sys.executable, "-c", SHELL, *arguments]}
    if trec_eval := shutil.which("trec_eval"):
        commands["trec_eval"] = [trec_eval, *arguments]
    contend_processes(f"{title}, {' and '.join(measures)}, the program", commands, values, scale)


def bench(scale: harness.Scale) -> None:
    queries, documents, judged = (5, 100, 10) if scale == "smoke" else (200, 1000, 50)
    grades = 0, 0, 0, 1, 1, 2, 3
    title = "files, {:,} queries × {:,} lines, {} judged".format
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = make(queries, documents, judged, grades)
        qrels_path, run_path = paths = write(Path(folder), [(qrels, run)])
        name = title(queries, documents, judged)
        contend(name, qrels, qrels_path, run_path, scale)
        zipped = Path(folder, "run.gz")
        zipped.write_bytes(gzip.compress(run_path.read_bytes()))
        contend(f"{name}, gzip", qrels, qrels_path, zipped, scale)
        contend_whole(name, paths, scale)
        contend_trec_eval(name, paths, ["ndcg_cut.10", "recip_rank"], scale)
        scatter(run_path)
        contend(f"{name}, lines scattered", qrels, qrels_path, run_path, scale)
        write(Path(folder), [make(queries // 4, documents, judged, grades)])
        contend_trec_eval(title(queries // 4, documents, judged), paths, ["all_trec"], scale)
        if scale == "full":
            name = title(6980, 1000, 1)
            write(Path(folder), [make(6980, 1000, 1, (1,))])
            contend_whole(name, paths, scale, at_least=20)
            scatter(run_path)
            contend_whole(f"{name}, lines scattered", paths, scale, at_least=10)
