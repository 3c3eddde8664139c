"""What others said of fixed data: trec_eval of the qrels and runs beside it, unpacked for this process, and peers.

`golden/README.md` says how it was made.
"""

import atexit
import shutil
import tarfile
import tempfile
from collections import defaultdict
from pathlib import Path

import rankgain as rg
from support import TESTS

FOLDER = TESTS / "golden"
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
MEASURES = ["ndcg", "recip_rank", "ndcg_cut"]
RELEASES = [(corpus, f"{corpus}.v10.c.txt", "zero") for corpus in "abc"]
RELEASES += [(corpus, f"{corpus}.v9.plain.txt", "skip") for corpus in "abc"]


def unpacked() -> Path:
    folder = tempfile.mkdtemp(prefix="rankgain-golden-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with tarfile.open(FOLDER / "trec_eval.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return Path(folder)


GOLDEN = unpacked()


def printed(name: str) -> dict[str, dict[str, str]]:
    """What trec_eval printed, by query ("all": the mean) and measure, for the measures that are here."""
    values: dict[str, dict[str, str]] = defaultdict(dict)
    for line in (GOLDEN / name).read_text(encoding="utf-8").splitlines():
        measure, query, value = line.split("\t")
        measure = measure.strip()
        if measure in MEASURES or measure in {f"ndcg_cut_{k}" for k in CUTOFFS}:
            values[query][measure] = value
    return values


def shown(result: rg.Evaluation) -> dict[str, dict[str, str]]:
    rows = zip(result.query_ids, *result.values(), strict=True)
    values = {query: dict(zip(result, map("{:.4f}".format, row), strict=True)) for query, *row in rows}
    return values | {"all": {measure: f"{value:.4f}" for measure, value in result.mean().items()}}
