"""Evaluate record batches from DuckDB and partitions of a Dask data frame.

needs: duckdb dask[dataframe] pandas pyarrow
"""

import dask.dataframe
import numpy as np
import pandas as pd
import pyarrow as pa

import rankgain as rg
from rankgain.batches import BatchOptions, summarize_batches

rng = np.random.default_rng(0)
number = np.arange(200)
table = pd.DataFrame({"query_id": [f"q{n // 10}" for n in number], "doc_id": [f"d{n}" for n in number]})
table["relevance"] = rng.integers(0, 3, 200)
table["score"] = rng.random(200)
table[["query_id", "doc_id", "relevance"]].to_parquet("qrels.parquet")
table[["query_id", "doc_id", "score"]].to_parquet("run.parquet")
expected = rg.from_frames(pd.read_parquet("qrels.parquet"), pd.read_parquet("run.parquet")).evaluate("ndcg@10")

# -- duckdb --
import duckdb

rows = duckdb.sql("from 'qrels.parquet' full join 'run.parquet' using (query_id, doc_id) order by query_id")
summarize_batches(rows, "ndcg@10")
# -- checked --
assert summarize_batches(rows, "ndcg@10").mean("ndcg@10") == expected.mean("ndcg@10")
frame = dask.dataframe.from_pandas(table.sample(frac=1, random_state=1), npartitions=4)
# -- dask --
import dask


@dask.delayed
def state(part):
    ordered = pa.Table.from_pandas(part.sort_values("query_id"), preserve_index=False)
    return summarize_batches(ordered, "ndcg@10", options=BatchOptions(ties="docid")).to_json()


states = dask.compute(*map(state, frame.shuffle(on="query_id").to_delayed()))
first, *others = map(rg.Summary.from_json, states)
first.merge(*others).mean("ndcg@10")
# -- end --

assert first.merge(*others).mean("ndcg@10") == expected.mean("ndcg@10")
