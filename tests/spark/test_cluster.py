"""If an executor is killed, the event log shows that a task was lost, and nothing is counted twice."""

import json
import os

import pytest
from support.sessions import by_query, frames, session

import rankgain as rg
import rankgain.spark

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def cluster(tmp_path):
    """Start a cluster of two executors with one core each, in separate processes."""
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        SparkContext._active_spark_context.stop()
    logs = tmp_path / "events"
    logs.mkdir()
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": logs.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.adaptive.enabled": "false",  # one task per partition
    }
    path = os.environ.get("PYTHONPATH", "")
    with session("local-cluster[2,1,1024]", **settings, **{"spark.executorEnv.PYTHONPATH": path}) as started:
        yield started, logs


def kills_its_executor(path, after):
    """Return a linear gain that kills the executor's JVM once, together with its shuffle data."""
    driver = os.getpid()

    def gain(grades):
        import os
        import signal

        if os.getpid() == driver or grades.tolist() == [0.0]:
            return grades
        nonlocal after
        after -= 1
        if after >= 0:
            return grades
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return grades
        process = os.getpid()
        while True:
            with open(f"/proc/{process}/stat") as file:
                process = int(file.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{process}/comm") as file:
                if file.read().strip() == "java":
                    os.kill(process, signal.SIGKILL)
                    break
        return grades

    return rg.metric("dcg", k=5, gain=gain)


def task_ends(logs):
    """Count how tasks ended according to the event log."""
    counts = {}
    for path in logs.iterdir():
        for line in path.read_text().splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerTaskEnd":
                reason = event["Task End Reason"]["Reason"]
                counts[reason] = counts.get(reason, 0) + 1
    return counts


@pytest.mark.parametrize("form", ["summary", "rows"])
def test_killed_executor_does_not_change_the_result(cluster, tmp_path, form):
    spark, logs = cluster
    qrels, run, *tables = frames(spark, queries=300)
    tables[0]["relevance"] = [max(grade, 0) for grade in tables[0]["relevance"]]
    expected = rg.from_frames(*tables).evaluate("dcg@5")
    qrels = qrels.selectExpr("query_id", "doc_id", "greatest(relevance, 0) relevance")
    path = str(tmp_path / "killed")
    metric = kills_its_executor(path, after=40)
    if form == "summary":
        result = rankgain.spark.summary(qrels, run, metric, buckets=32)
        assert (result.mean(metric), result.counts) == (expected.mean("dcg@5"), expected.counts)
    else:
        values = by_query(rankgain.spark.evaluate(qrels, run, metric, buckets=32))
        assert values == {query: (value,) for query, value in zip(expected.query_ids, expected["dcg@5"], strict=True)}
    assert os.path.exists(path)
    spark.stop()  # this completes the event log
    ends = task_ends(logs)
    print(ends)
    # If no task was lost, this test shows nothing. The lost executor's shuffle data cannot be fetched and is computed
    # again.
    assert ends.get("ExecutorLostFailure", 0) >= 1
    assert ends.get("FetchFailed", 0) >= 1
    assert ends["Success"] > 8
