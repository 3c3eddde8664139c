"""A Parquet data set larger than memory, evaluated by `rankgain.batches`: time, and the peak of the process.

    pip install 'rankgain[arrow]' && python bench/batches.py [--rows 100000000]

Files of 10^6 rows are made first, in a temporary folder (8 bytes a row and more: 10^8 rows take about 2 GB of disk).
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILE, DOCUMENTS = 1_000_000, 100


def write(folder: Path, rows: int) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    for number in range(rows // FILE):
        row = np.arange(number * FILE, (number + 1) * FILE)
        table = pa.table(
            {
                "query_id": row // DOCUMENTS,
                "doc_id": row % DOCUMENTS * 7919,
                "relevance": pa.array(rng.integers(0, 4, FILE, dtype=np.int8), mask=rng.random(FILE) < 0.8),
                "score": rng.random(FILE, dtype=np.float32),
            }
        )
        pa.parquet.write_table(table, folder / f"{number:05}.parquet")


def evaluate(folder: str) -> None:
    import pyarrow.dataset

    from rankgain.batches import summarize_batches

    before, start = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    found = summarize_batches(
        pyarrow.dataset.dataset(folder).to_batches(batch_readahead=2, fragment_readahead=1), "ndcg@10", "ap"
    )
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{time.monotonic() - start:.1f} s wall, {cpu:.1f} s CPU, peak of the process {after.ru_maxrss >> 10} MB")
    print(found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--evaluate", metavar="FOLDER", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.evaluate:
        evaluate(arguments.evaluate)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            write(Path(temporary), arguments.rows)
            print(f"{arguments.rows:,} rows", flush=True)
            subprocess.run([sys.executable, __file__, "--evaluate", temporary], check=True)
