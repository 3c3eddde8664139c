"""Spark gives the same bits and the same error messages as a single process."""

import math
import os
import signal
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException, PythonException
from pyspark.ml import evaluation
from pyspark.mllib.evaluation import RankingMetrics
from support.sessions import by_query, columns, frames, rows

import rankgain as rg
import rankgain.spark
from rankgain.batches import DEFAULTS, BatchOptions
from rankgain.spark import jobs

# Warnings from PySpark itself must not fail the tests.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]

METRICS = "ndcg@5", "ndcg(gain=exponential)@5", "ap", "rr", "gm_ap", "num_rel", "gauc"


def local(result):
    """Return a dict from query ids to values."""
    return dict(zip(result.query_ids, zip(*(vector.tolist() for vector in result.values()), strict=True), strict=True))


@pytest.mark.parametrize(
    ("kind", "ties", "missing", "buckets"),
    [
        ("long", "docid", "zero", 1),
        ("string", "docid", "skip", 2),
        ("string", "average", "zero", 7),
        ("long", "best", "skip", 7),
        ("string", "worst", "zero", 400),
        ("long", "docid", "zero", None),
    ],
)
def test_spark_gives_the_bits_of_one_process(spark, kind, ties, missing, buckets):
    qrels, run, *tables = frames(spark, kind)
    rules = {"ties": ties, "missing": missing}
    result = rg.from_frames(*tables, **rules).evaluate(*METRICS)
    options = BatchOptions(**rules)
    frame = rankgain.spark.evaluate(qrels, run, *METRICS, options=options, buckets=buckets)
    assert frame.columns == ["query_id", *METRICS]
    assert by_query(frame) == local(result)
    result_of_spark = rankgain.spark.summary(qrels, run, *METRICS, options=options, buckets=buckets)
    assert result_of_spark == result.summary()
    assert result_of_spark.mean() == result.mean()


def test_like_of_a_tool_that_needs_no_input_order(spark):
    qrels, run, *tables = frames(spark)
    result = rg.from_frames(*tables).evaluate("ndcg@5", like="trec_eval-9")
    assert rankgain.spark.summary(qrels, run, "ndcg@5", options=BatchOptions(like="trec_eval-9")) == result.summary()
    for like in ("spark", "ranx"):
        if rg.from_frames(*tables).evaluate("ndcg@5", like=like).ties == "stable":
            with pytest.raises(ValueError, match=f"like='{like}' leaves documents of equal score in input order"):
                rankgain.spark.summary(qrels, run, "ndcg@5", options=BatchOptions(like=like))


def test_run_sorted_by_query_is_not_shuffled(spark):
    qrels, run, *tables = frames(spark, "string")
    lies = run.repartition(3, "query_id").sortWithinPartitions("query_id")
    for missing in ("zero", "skip"):
        expected = local(rg.from_frames(*tables, missing=missing).evaluate(*METRICS))
        for truth in (qrels, rg.judgments(tables[0])):
            frame = rankgain.spark.evaluate_clustered(truth, lies, *METRICS, options=BatchOptions(missing=missing))
            assert by_query(frame) == expected


def test_unsorted_run_is_shuffled(spark):
    truth = rg.judgments({3: {1: 1}, 4: {1: 1}})

    def partitions(*parts):
        pairs = spark.sparkContext.parallelize([(part,) for part in parts], len(parts)).flatMap(lambda part: part[0])
        return spark.createDataFrame(pairs, RUN)

    halves = partitions([(3, 1, 1.0)], [(3, 2, 2.0)])
    for column in ("query_id", "rr"):
        with pytest.raises(PySparkException, match="run: query 3 is in two partitions, each with a part of its doc"):
            rankgain.spark.evaluate_clustered(truth, halves, "rr").select(column).collect()
    unsorted = partitions([(3, 1, 1.0), (4, 2, 2.0), (3, 2, 2.0)])
    with pytest.raises(PySparkException, match=r"run: query 3 comes again after others; .*: run.sortWithinPartitions"):
        rankgain.spark.evaluate_clustered(truth, unsorted, "rr").collect()
    with pytest.raises(PySparkException, match=r"run: query None, document 1: the query is null"):
        rankgain.spark.evaluate_clustered(truth, partitions([(None, 1, 1.0)]), "rr").collect()
    with pytest.raises(ValueError, match="the query ids are int in judgments and string in run"):
        rankgain.spark.evaluate_clustered(truth, frames(spark, "string")[1], "rr")


# Invalid input and error messages


def changed(spark, which, row, schema=None):
    """Return the frames with one more row in either the qrels or the run."""
    qrels, run, *_ = frames(spark)
    side = (qrels, run)[which]
    more = spark.createDataFrame([row], schema or side.schema.simpleString()[7:-1].replace(":", " "))
    return (qrels.unionByName(more), run) if which == 0 else (qrels, run.unionByName(more))


CONTENTS = [
    (1, (1, 77, None), "run: query 1, document 77: the score is null; drop such rows, or fill in the values"),
    (0, (1, None, 2), "qrels: query 1, document None: the document is null; drop such rows, or fill in the values"),
    (1, (None, 5, 1.0), "run: query None, document 5: the query is null; drop such rows, or fill in the values"),
    (0, (1, 77, None), "qrels: query 1, document 77: the relevance is null; drop such rows, or fill in the values"),
    (1, (1, 77, math.nan), "run: query 1, document 77: the score is NaN; use -inf for a document that must come last"),
    (1, "judged", r"run: query 1, document \d+: the document repeats an earlier one of the same query; keep one"),
    (0, "judged", r"qrels: query 1, document \d+: the document repeats an earlier one of the same query; keep"),
]


@pytest.mark.parametrize(("side", "row", "message"), CONTENTS)
def test_invalid_contents_give_a_one_line_error(spark, side, row, message):
    if row == "judged":
        judged, returned = ({row[1] for row in some if row[0] == 1} for some in rows())
        row = 1, min(judged & returned), (2, 1.0)[side]
    with pytest.raises(ValueError, match=f"^{message}[^\n]*$") as caught:
        rankgain.spark.summary(*changed(spark, side, row), "ndcg@5")
    assert caught.value.__cause__ is None


def test_invalid_contents_of_lazy_rows_are_named(spark):
    frame = rankgain.spark.evaluate(*changed(spark, 1, (1, 77, math.nan)), "ndcg@5")
    with pytest.raises(PythonException, match="run: query 1, document 77: the score is NaN"):
        frame.collect()


def test_repeated_unjudged_documents_are_checked_on_request(spark):
    frames = changed(spark, 1, (1, 99, 1.0))
    twice = frames[0], frames[1].unionByName(frames[1].filter("doc_id = 99"))
    assert rankgain.spark.summary(*twice, "rr").counts["queries"] > 0
    with pytest.raises(ValueError, match="run: query 1, document 99: the document repeats an earlier one"):
        rankgain.spark.summary(*twice, "rr", options=BatchOptions(validate="full"))


def test_duplicates_first_counts_the_highest_score(spark):
    qrels, run, *tables = frames(spark)
    again = run.selectExpr("query_id", "doc_id", "score - 3.5 as score")
    twice = {name: [*column] * 2 for name, column in tables[1].items()}
    twice["score"] = [*tables[1]["score"], *(score - 3.5 for score in tables[1]["score"])]
    result = rg.from_frames(tables[0], twice, duplicates="first").evaluate(*METRICS)
    both, options = run.unionByName(again), BatchOptions(duplicates="first")
    assert rankgain.spark.summary(qrels, both, *METRICS, options=options) == result.summary()
    assert by_query(rankgain.spark.evaluate(qrels, both, *METRICS, options=options)) == local(result)
    lying = both.repartition("query_id").sortWithinPartitions("query_id")
    assert by_query(rankgain.spark.evaluate_clustered(qrels, lying, *METRICS, options=options)) == local(result)
    with pytest.raises(ValueError, match=r"keep one of them \(in a run, duplicates='first' does\)"):
        rankgain.spark.summary(qrels, both, "rr")


def test_no_query_in_common_is_rejected(spark):
    qrels, run, *_ = frames(spark)
    disjoint = qrels.filter("query_id = 5"), run.filter("query_id = 7")
    for missing in ("zero", "skip"):
        for some, message in (
            (disjoint, "qrels and run have no query in common$"),
            ((qrels, run.limit(0)), "qrels and run have no query in common: run is empty"),
            ((qrels.limit(0), run), "qrels and run have no query in common: qrels is empty"),
            ((qrels.limit(0), run.limit(0)), "qrels and run have no query in common: qrels is empty"),
        )[:: 1 if missing == "zero" else 3]:
            with pytest.raises(ValueError, match=message):
                rankgain.spark.summary(*some, "ndcg@5", options=BatchOptions(missing=missing))


@pytest.fixture
def no_job(spark):
    """Fail if a Spark job was run."""
    context = spark.sparkContext
    context.setJobGroup("refused", "what is refused at once")
    yield
    assert not context.statusTracker().getJobIdsForGroup("refused")
    context.setLocalProperty("spark.jobGroup.id", None)


def empty(spark, schema):
    return spark.createDataFrame([], schema)


QRELS, RUN = "query_id long, doc_id long, relevance int", "query_id long, doc_id long, score double"


@pytest.mark.usefixtures("no_job")
@pytest.mark.parametrize(
    ("qrels", "run", "arguments", "error", "message"),
    [
        (QRELS, RUN.replace("query_id long", "query_id string"), {}, ValueError,
         "the query ids are bigint in qrels and string in run: make them of one type"),
        (QRELS, RUN.replace("doc_id long", "doc_id binary"), {}, ValueError,
         "the document ids are bigint in qrels and binary in run: make them of one type"),
        (QRELS, RUN.replace("score double", "score string"), {}, TypeError, "run: column .score. is string; it must"),
        (QRELS.replace("doc_id long", "doc_id double"), RUN, {}, TypeError,
         "qrels: column 'doc_id' is double; ids must be string, binary or integers"),
        ("a long, doc_id long, relevance int", RUN, {}, ValueError, "qrels has no query column"),
        (QRELS, RUN, {"score": "rating"}, ValueError, "run has no column 'rating'; there are: query_id, doc_id, score"),
        (QRELS, RUN, {"metric": "ndgc"}, ValueError, "did you mean 'ndcg'"),
        (QRELS, RUN, {"metric": "ndcg@0"}, ValueError, "k must be a positive integer"),
        (QRELS, RUN, {"ties": "stable"}, ValueError, "ties='stable' is input order, which rows of a Spark"),
        (QRELS, RUN, {"like": "sklearn-0"}, ValueError, "unknown tool"),
        (QRELS, RUN, {"missing": "drop"}, ValueError, "missing must be"),
        (QRELS, RUN, {"buckets": 0}, ValueError, "buckets must be a positive integer or None, not 0"),
    ],
)  # fmt: skip
def test_arguments_are_rejected_before_any_job(spark, qrels, run, arguments, error, message):
    metric, buckets = arguments.pop("metric", "ndcg"), arguments.pop("buckets", None)
    frames = empty(spark, qrels), empty(spark, run)
    for function in (rankgain.spark.evaluate, rankgain.spark.summary):
        with pytest.raises(error, match=message):
            function(*frames, metric, options=BatchOptions(**arguments), buckets=buckets)


def test_fewer_buckets_where_the_plan_tells_the_rows(spark):
    def counts(rows, options=DEFAULTS):
        table = pa.table({"query_id": range(rows), "doc_id": range(rows), "score": np.zeros(rows)})
        known = spark.createDataFrame(table)
        unknown = known.filter("doc_id >= 0")
        cached = known.select("*").cache()
        cached.count()
        pairs = [(known, known), (cached.select("*"), known), (known, unknown), (unknown, known)]
        buckets = [jobs.check_buckets(None, options, *pair) for pair in pairs]
        cached.unpersist()
        return buckets

    spark.conf.set("spark.sql.shuffle.partitions", "5")
    try:
        assert counts(1000) == [2, 2, 5, 5]  # as many buckets as cores
        assert counts(750_000) == [3, 3, 5, 5]
        assert counts(1000, BatchOptions(rows=500)) == [4, 4, 5, 5]
        assert jobs.check_buckets(9, DEFAULTS, None) == 9
        spark.conf.set("spark.sql.shuffle.partitions", "1")
        assert counts(1000)[0] == 1
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")


def test_other_frames_are_rejected():
    with pytest.raises(TypeError, match="qrels must be a Spark data frame, not dict"):
        rankgain.spark.evaluate({}, {}, "ndcg")


def test_columns_of_different_types_are_unified(spark):
    """An int and a long with the same value have different hashes, and decimals are converted to doubles."""
    qrels, run, *tables = frames(spark)
    result = rg.from_frames(*tables).evaluate("ndcg@5").summary()
    narrow = qrels.selectExpr(
        "cast(query_id as int) `user.id`", "cast(doc_id as short) doc_id", "cast(relevance as float) label"
    )
    decimal = run.selectExpr("query_id as `user.id`", "doc_id", "cast(score as decimal(10, 2)) score")
    options = BatchOptions(query="user.id")
    assert rankgain.spark.summary(narrow, decimal, "ndcg@5", options=options, buckets=7) == result
    frame = rankgain.spark.evaluate(narrow, decimal, "ndcg@5", options=options)
    assert dict(frame.dtypes) == {"query_id": "bigint", "ndcg@5": "double"}


def test_binary_ids_match(spark):
    qrels, run, *tables = frames(spark, "string")
    raw = [
        frame.withColumn("query_id", frame.query_id.cast("binary")).withColumn("doc_id", frame.doc_id.cast("binary"))
        for frame in (qrels, run)
    ]
    assert rankgain.spark.summary(*raw, "ndcg@5") == rg.from_frames(*tables).evaluate("ndcg@5").summary()


# Workers that differ from the driver


@pytest.fixture
def workers(spark, tmp_path):
    """Return a function that makes Python workers find a given file before all others."""
    context, before = spark.sparkContext, dict(spark.sparkContext.environment)
    jobs._checked.clear()

    def find(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        context.environment["PYTHONPATH"] = str(tmp_path)

    yield find
    context.environment.clear()
    context.environment.update(before)
    jobs._checked.clear()


def test_other_release_on_the_workers_is_rejected(spark, workers):
    workers("rankgain/__init__.py", "__version__ = '9.9'")
    qrels, run, *_ = frames(spark)
    message = (
        f"rankgain is 9.9 where Spark's Python workers run, and {rg.__version__} on the driver: pip install rankgain=="
    )
    for function in (rankgain.spark.summary, rankgain.spark.evaluate):
        with pytest.raises(RuntimeError, match=message):
            function(qrels, run, "ndcg")
    jobs._checked.add(spark)  # pretend that other workers have passed the check
    with pytest.raises(RuntimeError, match=message):
        rankgain.spark.summary(qrels, run, "ndcg")
    with pytest.raises(PythonException, match=message):
        rankgain.spark.evaluate(qrels, run, "ndcg").collect()


def test_workers_without_rankgain_are_named(spark, workers):
    workers("sitecustomize.py", "import sys\nsys.modules['rankgain'] = None")
    qrels, run, *_ = frames(spark)
    message = (
        f"rankgain is not installed for {sys.executable}, which runs Spark's Python workers: pip install rankgain=="
    )
    with pytest.raises(RuntimeError, match=message):
        rankgain.spark.summary(qrels, run, "ndcg", rg.metric("dcg", gain=lambda grades: grades))


def test_workers_without_pyarrow_are_named(spark, workers):
    """Without pyarrow, PySpark fails before it calls any code of rankgain."""
    workers("sitecustomize.py", "import sys\nsys.modules['pyarrow'] = None")
    qrels, run, *_ = frames(spark)
    truth = rg.judgments({1: {10: 1}})
    long = qrels.selectExpr("query_id", "relevance as label", "double(relevance) as prediction")
    for call in (
        lambda: rankgain.spark.summary(qrels, run, "ndcg"),
        lambda: rankgain.spark.evaluate(qrels, run, "ndcg"),
        lambda: rankgain.spark.evaluate_clustered(truth, run, "ndcg"),
        lambda: rankgain.spark.RankingEvaluator().evaluate(long),
    ):
        with pytest.raises(RuntimeError, match=r"^pyarrow is not installed for .*workers: pip install pyarrow there$"):
            call()


def test_workers_are_checked_once(spark):
    context, (qrels, run, *_) = spark.sparkContext, frames(spark)
    jobs._checked.clear()
    for expected in (1, 0):
        context.setJobGroup(f"looked {expected}", "the jobs of a lazy frame")
        rankgain.spark.evaluate(qrels, run, "ndcg")
        assert len(context.statusTracker().getJobIdsForGroup(f"looked {expected}")) == expected
    context.setLocalProperty("spark.jobGroup.id", None)


BY_TURNS = """
import os, sys

class Turns:
    def find_spec(self, name, path=None, target=None):
        if name == "rankgain":
            with open({counter!r}, "a") as file:
                file.write(".")
            os.environ["RANKGAIN_BACKEND"] = ("python", "compiled")[os.path.getsize({counter!r}) % 2]

sys.meta_path.insert(0, Turns())
"""


@pytest.mark.both
def test_workers_of_both_backends_give_the_same_bits(spark, workers, tmp_path):
    workers("sitecustomize.py", BY_TURNS.format(counter=str(tmp_path / "counter")))
    qrels, run, *tables = frames(spark)
    result = rg.from_frames(*tables).evaluate(*METRICS)
    spark.conf.set("spark.sql.adaptive.enabled", "false")  # adaptive execution would use one task for so little data
    try:
        summary = rankgain.spark.summary(qrels, run, *METRICS, buckets=16)
    finally:
        spark.conf.set("spark.sql.adaptive.enabled", "true")
    assert summary.backend == "compiled+python"
    assert summary.mean() == result.mean()
    assert summary.counts == result.counts


# Tasks that are run twice


def once(path, action, after=0):
    """Return a linear gain that runs `action` once in a worker, after the given number of calls."""
    driver = os.getpid()

    def gain(grades):
        import os

        if os.getpid() == driver or grades.tolist() == [0.0]:  # called when a metric is created
            return grades
        nonlocal after
        after -= 1
        if after >= 0:
            return grades
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return grades
        return action(grades)

    return rg.metric("dcg", k=5, gain=gain)


def same_as_dcg(spark, metric, path):
    qrels, run, *tables = frames(spark)
    tables[0]["relevance"] = [max(grade, 0) for grade in tables[0]["relevance"]]
    expected = rg.from_frames(*tables).evaluate("dcg@5")
    qrels = qrels.selectExpr("query_id", "doc_id", "greatest(relevance, 0) relevance")
    summary = rankgain.spark.summary(qrels, run, metric, buckets=7)
    assert os.path.exists(path)
    assert summary.mean(metric) == expected.mean("dcg@5")
    assert summary.counts == expected.counts


def test_killed_python_worker_does_not_change_the_result(spark, tmp_path):
    path = str(tmp_path / "killed")
    same_as_dcg(spark, once(path, lambda grades: os.kill(os.getpid(), signal.SIGKILL)), path)


def test_task_that_fails_after_some_buckets_is_repeated(spark, tmp_path):
    path = str(tmp_path / "failed")

    def fail(grades):
        raise OSError("the disk is gone")

    same_as_dcg(spark, once(path, fail, after=12), path)


def test_task_that_fails_after_its_last_batch_is_repeated(spark, tmp_path):
    qrels, run, *tables = frames(spark)
    path = str(tmp_path / "failed")

    def passed_on(batches):
        import os

        yield from batches
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        raise OSError("after the last batch")

    frame = rankgain.spark.evaluate(qrels, run, "ndcg@5", buckets=7)
    result = by_query(frame.mapInArrow(passed_on, frame.schema))
    assert os.path.exists(path)
    assert result == local(rg.from_frames(*tables).evaluate("ndcg@5"))


def test_query_larger_than_others_is_evaluated(spark):
    qrels, run, *tables = frames(spark)
    many = 100_000
    scores = np.random.default_rng(1).permutation(many).astype(float)
    large = spark.createDataFrame(
        pa.table({"query_id": np.full(many, 1000), "doc_id": np.arange(many), "score": scores})
    )
    judged = spark.createDataFrame([(1000, doc, doc % 4) for doc in range(2000)], QRELS)
    both = [{name: [*column] for name, column in side.items()} for side in tables]
    both[0] = {
        "query_id": both[0]["query_id"] + [1000] * 2000,
        "doc_id": both[0]["doc_id"] + list(range(2000)),
        "relevance": both[0]["relevance"] + [doc % 4 for doc in range(2000)],
    }
    both[1] = {
        "query_id": both[1]["query_id"] + [1000] * many,
        "doc_id": both[1]["doc_id"] + list(range(many)),
        "score": both[1]["score"] + scores.tolist(),
    }
    summary = rankgain.spark.summary(qrels.unionByName(judged), run.unionByName(large), "ndcg", "ap", buckets=7)
    assert summary == rg.from_frames(*both).evaluate("ndcg", "ap").summary()


# The behaviour of PySpark itself


def test_pyspark_ignores_the_relevance_that_it_documents(spark):
    """If this test fails, PySpark was fixed, and the README must name the release with the fix."""
    context = spark.sparkContext
    lists = [([1, 2, 3], [3, 2, 1], [1.0, 2.0, 3.0]), ([9, 1, 8, 3], [1, 2, 3], [3.0, 1.0, 1.0])]
    graded = RankingMetrics(context.parallelize(lists)).ndcgAt(3)
    binary = RankingMetrics(context.parallelize([row[:2] for row in lists])).ndcgAt(3)
    assert graded == binary
    truth = [dict(zip(*row[1:], strict=True)) for row in lists]
    rankings = rg.from_recommendations(truth, [row[0] for row in lists])
    theirs, ours = rankings.evaluate("ndcg(gain=binary)@3", "ndcg(gain=exponential)@3").mean().values()
    assert theirs == pytest.approx(binary, rel=1e-12)
    assert ours != pytest.approx(graded, rel=1e-3)


def test_the_values_of_pyspark_where_gains_are_binary(spark):
    qrels, run = rows()
    truth = {query: [float(doc) for q, doc, grade in qrels if q == query and grade > 0] for query, _, _ in qrels}
    returned = {query: {doc: score for q, doc, score in run if q == query} for query, _, _ in run}
    lists = [
        ([float(doc) for doc in sorted(scores, key=lambda doc: (-scores[doc], -doc))], truth[query])
        for query, scores in returned.items()
        if truth.get(query)
    ]
    frame = spark.createDataFrame(lists, "prediction array<double>, label array<double>")
    theirs = evaluation.RankingEvaluator(metricName="ndcgAtK", k=5).evaluate(frame)
    common = {query for query in truth if truth[query] and query in returned}
    sides = [
        columns([row for row in side if row[0] in common], "query_id", "doc_id", value)
        for side, value in ((qrels, "relevance"), (run, "score"))
    ]
    ours = rankgain.spark.summary(*map(spark.createDataFrame, map(pa.table, sides)), "ndcg(gain=binary)@5")
    assert ours.mean("ndcg(gain=binary)@5") == pytest.approx(theirs, rel=1e-12)
