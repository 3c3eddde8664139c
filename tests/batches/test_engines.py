"""Batches from DuckDB, Dask, Ray Data and Parquet files give exactly the same results as one frame."""

from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import rankgain as rg
from rankgain.batches import BatchOptions, evaluate_batches, summarize_batches

METRICS = "ndcg@10", "ap"


def log(queries, documents, seed=0):
    """Return judgments and a run of the same documents in one table, sorted by query."""
    rng = np.random.default_rng(seed)
    rows = queries * documents
    return pa.table(
        {
            "query_id": np.repeat(np.arange(queries), documents),
            "doc_id": np.tile(np.arange(documents), queries),
            "relevance": pa.array(rng.integers(0, 4, rows), mask=rng.random(rows) < 0.5),
            "score": rng.integers(0, 50, rows).astype(float),
        }
    )


def expected(table):
    return rg.from_frames(table.filter(table["relevance"].is_valid()), table).evaluate(*METRICS)


if find_spec("duckdb"):  # otherwise the test is not collected

    def test_batches_of_duckdb_equal_one_frame():
        """The result of a full outer join in SQL, sorted by query, can be read directly."""
        import duckdb

        table = log(300, 20)
        qrels = table.filter(table["relevance"].is_valid()).select(["query_id", "doc_id", "relevance"])
        run = table.select(["query_id", "doc_id", "score"])
        assert len(qrels) < len(run)
        rows = duckdb.sql("from qrels full join run using (query_id, doc_id) order by query_id")
        assert summarize_batches(rows, *METRICS, options=BatchOptions(rows=1000)) == expected(table).summary()


if find_spec("dask"):  # otherwise the test is not collected

    def test_batches_of_dask_equal_one_frame():
        """Partitions contain whole queries, as after `shuffle(on="query_id")`, and are evaluated separately."""
        import dask
        import dask.dataframe as dd

        table = log(300, 20)
        frame = table.to_pandas().convert_dtypes(dtype_backend="pyarrow")
        parts = (
            dd.from_pandas(frame.sample(frac=1.0, random_state=1), npartitions=5).shuffle(on="query_id").to_delayed()
        )

        @dask.delayed
        def state(part):
            ordered = pa.Table.from_pandas(part.sort_values("query_id"), preserve_index=False)
            return summarize_batches(ordered, *METRICS).to_json()

        states = dask.compute(*map(state, parts), scheduler="threads")
        first, *others = map(rg.Summary.from_json, states)
        assert first.merge(*others) == expected(table).summary()


if find_spec("ray"):  # otherwise the test is not collected

    @pytest.mark.filterwarnings("ignore")
    def test_batches_of_ray_equal_one_frame():
        """Each query is evaluated as a group of its own, which gives one row per query."""
        import ray

        table = log(50, 20)
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
        try:

            def values(part):
                return pa.Table.from_batches(evaluate_batches(part, *METRICS))

            blocks = [table.slice(start, 250) for start in range(0, 1000, 250)]  # 12.5 queries per block
            results = (
                ray.data.from_arrow(blocks)
                .repartition(3)
                .groupby("query_id")
                .map_groups(values, batch_format="pyarrow")
            )
            rows = sorted((row["query_id"], row["ndcg@10"], row["ap"]) for row in results.take_all())
        finally:
            ray.shutdown()
        result = expected(table)
        assert rows == list(zip(result.query_ids, *(vector.tolist() for vector in result.values()), strict=True))


@pytest.mark.slow
def test_batches_of_a_parquet_data_set_equal_one_frame(tmp_path):
    """Read 10^6 rows in parts from four files; `bench/run.py large.batches --full` reads 10^8 rows."""
    table = log(10_000, 100)
    for number in range(4):
        start, end = (250_000 * cut - 50 * (0 < cut < 4) for cut in (number, number + 1))  # some queries are split
        part = table.slice(start, end - start)
        pa.parquet.write_table(part, tmp_path / f"{number}.parquet", row_group_size=30_000)
    rows = pa.dataset.dataset(tmp_path).to_batches(batch_size=20_000)
    assert summarize_batches(rows, *METRICS, options=BatchOptions(rows=100_000)) == expected(table).summary()
