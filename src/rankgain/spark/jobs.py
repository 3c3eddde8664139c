"""The code that runs on Spark's driver: check the columns and metrics, and build the jobs."""

from __future__ import annotations

import builtins
import functools
import json
import pickle
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any
from weakref import WeakSet

import numpy as np

from rankgain._backend import VERSION
from rankgain.batches import Columns, Options, PartRules
from rankgain.choices import ClusterTies, Duplicates, Missing, Peer, Validate
from rankgain.data.judgments import Judgments, judgment_sets
from rankgain.data.tables.frame import Frame
from rankgain.errors import import_extra
from rankgain.inputs.judgments import judgments as judgments_of
from rankgain.metrics.metric import Metric, each_of, parse
from rankgain.results.peers import common_rules
from rankgain.results.summary import Summary
from rankgain.scalars import id_kind

BUCKET = 500_000  # number of rows per bucket


def evaluate(
    qrels: Any,
    run: Any,
    *metrics: str | Metric | Iterable[str | Metric],
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    score: str | None = None,
    ties: ClusterTies = "docid",
    missing: Missing = "zero",
    validate: Validate = "judged",
    duplicates: Duplicates = "error",
    like: Peer | None = None,
    buckets: int | None = None,
) -> Any:
    """Evaluate a run and judgments in Spark data frames, and return a frame with one row per query.

    Parameters
    ----------
    qrels, run : pyspark.sql.DataFrame
        One row per judged document (query, document, relevance) and one per returned document (query, document, score),
        in any order and any partitions.
    *metrics : str or Metric
        What to compute, as in `rankgain.Rankings.evaluate`; or lists of these.
    query, doc : str, optional
        The columns of query ids and document ids: strings, binary or integers, of one kind on both sides. By default,
        the first with a common name, as in `rankgain.from_frames`.
    relevance, score : str, optional
        The columns of grades and of scores: numbers, including decimals. By default, the first with a common name.
    ties : {"docid", "average", "best", "worst"}, default "docid"
        The order of documents of equal score, as in `rankgain.from_frames`. "stable" is an error: rows
        have no order after a shuffle.
    missing : {"zero", "skip"}, default "zero"
        Whether queries that the run lacks are evaluated as empty lists or left out, as in `rankgain.from_frames`.
    validate : {"judged", "full"}, default "judged"
        Which documents may not occur twice in a query of the run: judged ones, or any.
    duplicates : {"error", "first"}, default "error"
        Whether a document that is returned twice for a query is an error, or counts once, with its highest score.
    like : str, optional
        The tool whose rules to follow, as in `rankgain.Rankings.evaluate`. Tools that keep tied documents in input
        order are not accepted.
    buckets : int, optional
        The number of buckets to which queries are assigned by the hash of their ids. The default is
        ``spark.sql.shuffle.partitions``. If Spark knows the number of rows in advance (for cached and Arrow frames),
        it is at most one bucket per 500,000 rows or one per core, whichever is more. A Python worker holds one bucket
        at a time, which takes about 225 MB for a million rows.

    Returns
    -------
    pyspark.sql.DataFrame
        ``query_id`` and one column of doubles per metric, with rows in no particular order. The frame is lazy, so call
        ``.cache()`` before several actions. The values are the same, bit for bit, as in one process, and do not depend
        on partitions, buckets or the order of rows. If no query is in both frames, no error is raised, since nothing
        has been read yet: all values are 0, or there are no rows.

    Raises
    ------
    ImportError
        If PySpark is not installed: ``pip install 'rankgain[spark]'``.
    ValueError
        If a column, a metric or a rule is unknown, or if ids are of different types on the two sides. Raised before any
        job starts.
    TypeError
        If an argument is not a Spark data frame, or a column has an unsupported type. Raised before any job starts.
    RuntimeError
        If `summary` would raise it. Raised before any job starts.

    See Also
    --------
    summary : Compute only means and counts.
    evaluate_clustered : Evaluate a run without shuffling it.

    Notes
    -----
    Invalid contents (nulls, NaN, duplicates) raise a ``pyspark.errors.PythonException`` while Spark computes the frame;
    its last line is the error that a single process would raise.

    Examples
    --------
    >>> from rankgain.spark import evaluate
    >>> rows = [("q1", "d1", 2), ("q1", "d3", 1), ("q2", "d7", 1)]
    >>> qrels = spark.createDataFrame(rows, "qid string, doc_id string, rel int")
    >>> run = spark.createDataFrame([("q1", "d2", 1.4), ("q1", "d1", 0.9)], "qid string, doc_id string, score double")
    >>> frame = evaluate(qrels, run, "rr", "ndcg(gain=exponential)@10")
    >>> frame.columns
    ['query_id', 'rr', 'ndcg(gain=exponential)@10']
    >>> frame.select("query_id", "rr").orderBy("query_id").collect()
    [Row(query_id='q1', rr=0.5), Row(query_id='q2', rr=0.0)]
    """
    rules = Rules(Options(each_of(metrics), ties, missing, validate, duplicates, like))
    both, kind = cogrouped(qrels, run, Columns(query, doc, relevance, score), buckets)
    check_workers(qrels.sparkSession)
    return both.applyInArrow(_of_buckets("rows", rules.payload), rules.schema(kind))


def summary(
    qrels: Any,
    run: Any,
    *metrics: str | Metric | Iterable[str | Metric],
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    score: str | None = None,
    ties: ClusterTies = "docid",
    missing: Missing = "zero",
    validate: Validate = "judged",
    duplicates: Duplicates = "error",
    like: Peer | None = None,
    buckets: int | None = None,
) -> Summary:
    """Evaluate a run and judgments in Spark data frames, and return the means and counts.

    Parameters
    ----------
    qrels, run : pyspark.sql.DataFrame
        Judgments and run, as in `evaluate`.
    *metrics : str or Metric
        What to compute, as in `rankgain.Rankings.evaluate`; or lists of these.
    query, doc, relevance, score : str, optional
        The columns. By default, the first with a common name, as in `evaluate`.
    ties : {"docid", "average", "best", "worst"}, default "docid"
        As in `evaluate`.
    missing : {"zero", "skip"}, default "zero"
        As in `evaluate`.
    validate : {"judged", "full"}, default "judged"
        As in `evaluate`.
    duplicates : {"error", "first"}, default "error"
        As in `evaluate`.
    like : str, optional
        As in `evaluate`.
    buckets : int, optional
        The number of buckets of queries. By default, as in `evaluate`.

    Returns
    -------
    Summary
        The means over all queries, the same, bit for bit, as `rankgain.Evaluation.mean` in one process. Each bucket
        sends about 500 bytes per metric. A task that Spark runs twice is counted once.

    Raises
    ------
    ImportError
        If PySpark is not installed: ``pip install 'rankgain[spark]'``.
    ValueError
        If `evaluate` would raise it, if contents are invalid (nulls, NaN, duplicates), or if no query is in both
        frames.
    TypeError
        If `evaluate` would raise it.
    RuntimeError
        If rankgain or pyarrow is not installed where Python workers run, or if another release of rankgain is installed
        there. One task per session checks this.

    See Also
    --------
    evaluate : Compute the values of each query.

    Examples
    --------
    >>> from rankgain.spark import summary
    >>> qrels = spark.createDataFrame([(1, 10, 2), (1, 30, 1), (2, 70, 1)], "query_id int, doc_id int, relevance int")
    >>> run = spark.createDataFrame([(1, 20, 1.4), (1, 10, 0.9)], "query_id long, doc_id long, score double")
    >>> summary(qrels, run, "rr", "ndcg@10")
    <Summary: 2 queries, ties='docid', missing='zero', backend='...'; 1 missing>
    rr       0.2500
    ndcg@10  0.2398
    """
    rules = Rules(Options(each_of(metrics), ties, missing, validate, duplicates, like))
    both, _ = cogrouped(qrels, run, Columns(query, doc, relevance, score), buckets)
    check_workers(qrels.sparkSession)
    states = both.applyInArrow(_of_buckets("state", rules.payload), "state string").collect()
    return check_common_queries(merged(rules, (row.state for row in states)))


def evaluate_clustered(
    judgments: Any,
    run: Any,
    *metrics: str | Metric | Iterable[str | Metric],
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    score: str | None = None,
    ties: ClusterTies = "docid",
    missing: Missing = "zero",
    validate: Validate = "judged",
    duplicates: Duplicates = "error",
    like: Peer | None = None,
) -> Any:
    """Evaluate, without a shuffle, a run that is partitioned by query. The judgments must fit in memory.

    All rows of a query must be consecutive in one partition, as after
    ``repartition(query).sortWithinPartitions(query)``, or in files written in that order. The judgments are sent to all
    workers.

    Parameters
    ----------
    judgments : Judgments, pyspark.sql.DataFrame, or an argument of `rankgain.judgments`
        The judgments. A Spark data frame is collected.
    run : pyspark.sql.DataFrame
        The run, as in `evaluate`.
    *metrics : str or Metric
        What to compute, as in `rankgain.Rankings.evaluate`; or lists of these.
    query, doc : str, optional
        The columns of query ids and document ids, as in `evaluate`.
    relevance : str, optional
        The column of grades in `judgments`, if that is a frame. By default, the first with a common name.
    score : str, optional
        The column of scores in `run`. By default, the first with a common name.
    ties : {"docid", "average", "best", "worst"}, default "docid"
        As in `evaluate`.
    missing : {"zero", "skip"}, default "zero"
        As in `evaluate`.
    validate : {"judged", "full"}, default "judged"
        As in `evaluate`.
    duplicates : {"error", "first"}, default "error"
        As in `evaluate`.
    like : str, optional
        As in `evaluate`.

    Returns
    -------
    pyspark.sql.DataFrame
        The same as from `evaluate`. Only the rows of the result are shuffled, to check that each query occurs once.

    Raises
    ------
    ImportError
        If PySpark is not installed: ``pip install 'rankgain[spark]'``.
    ValueError
        If `evaluate` or `rankgain.judgments` would raise it.
    TypeError
        If `evaluate` or `rankgain.judgments` would raise it.
    RuntimeError
        If `summary` would raise it.

    See Also
    --------
    evaluate : Evaluate a run whose rows are in any order.
    rankgain.judgments : Prepare judgments once for many runs.

    Notes
    -----
    If the rows of a judged query are in two partitions, or are not consecutive in a partition, Spark raises an error
    when it computes the frame.

    Examples
    --------
    >>> import rankgain as rg
    >>> from rankgain.spark import evaluate_clustered
    >>> run = spark.createDataFrame([("q1", "d2", 1.4), ("q1", "d1", 0.9)], "qid string, doc_id string, score double")
    >>> run = run.repartition("qid").sortWithinPartitions("qid")
    >>> truth = rg.judgments({"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}})
    >>> evaluate_clustered(truth, run, "rr").orderBy("query_id").collect()
    [Row(query_id='q1', rr=0.5), Row(query_id='q2', rr=0.0)]
    """
    rules = Rules(Options(each_of(metrics), ties, missing, validate, duplicates, like))
    F, T = _functions(), _types()
    kind = _ids(run, "run", "query", query)
    doc_kind = _ids(run, "run", "doc", doc)
    number = _number(run, "run", "score", score)
    if _is_spark(judgments):
        names = [
            _column_name(judgments, "judgments", role, name)
            for role, name in (("query", query), ("doc", doc), ("relevance", relevance))
        ]
        judgments = judgments.select(*map(_quoted, names)).toArrow()
        judgments = judgments_of(judgments, query=names[0], doc=names[1], relevance=names[2])
    elif not isinstance(judgments, Judgments):
        judgments = judgments_of(judgments, query=query, doc=doc, relevance=relevance)
    sets = judgment_sets(judgments)
    _check_kinds("query", next((id_kind(query).__name__ for query in sets.query_ids), ""), kind)
    _check_kinds("document", sets.ids.kind, doc_kind)
    id_type = T.LongType() if isinstance(kind, T.IntegralType) else kind
    schema = rules.schema(id_type)
    check_workers(run.sparkSession)
    selected = _selected(run, "run", Columns(query, doc), (id_type, doc_kind), number.alias("score"))
    call, pickled = _shipped("partition", rules.payload), _shared(run.sparkSession, judgments)
    result = selected.mapInArrow(lambda batches: call(pickled(), batches), schema)
    result = result.withColumn("_count", F.lit(1))
    if rules.missing == "zero":
        empty = rules.parts.of_absent(sets, set())
        rows = zip(sets.query_ids, *(vector.tolist() for vector in empty.values()), strict=True)
        absent = run.sparkSession.createDataFrame([*rows], schema).withColumn("_count", F.lit(0))
        result = result.unionByName(absent)
    values = [F.max_by(_quoted(name), "_count").alias(name) for name in rules.names]
    by_query = result.groupBy("query_id").agg(F.sum("_count").alias("_count"), *values)
    where = F.concat(F.lit("run: query "), F.col("query_id").cast("string"))
    advice = " is in two partitions, each with a part of its documents: use rankgain.spark.evaluate, or repartition"
    error = F.raise_error(F.concat(where, F.lit(f"{advice}(query) first")))
    return by_query.filter(F.when(F.col("_count") > 1, error).otherwise(F.lit(True))).drop("_count")


def udf(metric: str | Metric) -> Callable[..., Any]:
    """Create a function that computes a metric for each row of array columns, where each row is a query.

    Parameters
    ----------
    metric : str or Metric
        A single metric, as in `rankgain.Rankings.evaluate`.

    Returns
    -------
    callable
        A function that takes one to three columns and returns a column of doubles. One column holds the relevance of
        the returned documents in rank order. Two columns hold the returned documents in rank order and the relevant
        documents. A third column holds the grades of the relevant documents. Arrays must not be null.

    Raises
    ------
    ImportError
        If PySpark, pandas or pyarrow is not installed: ``pip install 'rankgain[spark]'``.
    ValueError
        If the metric is unknown, or has several cut-offs. In Spark, if an array is null, or if `rankgain.from_ranked`
        or `rankgain.from_recommendations` would raise it.
    TypeError
        If the metric is not a string or a Metric.
    RuntimeError
        When called with columns, if `summary` would raise it.

    See Also
    --------
    evaluate : Evaluate frames with one row per document.

    Examples
    --------
    >>> from rankgain.spark import udf
    >>> schema = "prediction array<string>, label array<string>, relevance array<double>"
    >>> frame = spark.createDataFrame([(["d2", "d1"], ["d1", "d3"], [2.0, 1.0])], schema)
    >>> ndcg = udf("ndcg@10")
    >>> frame.select(ndcg("prediction", "label", "relevance").alias("ndcg")).collect()
    [Row(ndcg=0.479...)]
    """
    rules = Rules(Options(each_of((metric,))))
    if len(rules.names) != 1:
        raise ValueError(f"udf is for one metric, but {metric} stands for {len(rules.names)}: make one for each")
    pd, _ = (import_extra(package, "spark") for package in ("pandas", "pyarrow"))
    call = _shipped("arrays", rules.payload)

    def values(*columns):  # type: ignore[no-untyped-def]
        return call(columns)

    values.__annotations__ = {"columns": pd.Series, "return": pd.Series}  # PySpark reads the type hints
    function = _functions().pandas_udf(values, "double")

    def of_columns(*columns: Any) -> Any:
        if not 1 <= len(columns) <= 3:
            raise TypeError(f"udf({str(metric)!r}) takes from 1 to 3 columns of arrays, not {len(columns)}")
        session = import_module("pyspark.sql").SparkSession.getActiveSession()
        if session is not None:
            check_workers(session)
        return function(*columns)

    return of_columns


class Rules:
    """The requested metrics and rules, which are checked on the driver and pickled for the workers."""

    def __init__(self, options: Options) -> None:
        self.parts = PartRules(options)
        order = "which rows of a Spark frame do not have; choose another, or encode the order in the scores"
        self.missing = options.missing
        if options.like is not None:
            peer = common_rules(options.metrics, options.like)[1]
            if peer.ties == "stable":
                raise ValueError(f"like={options.like!r} leaves documents of equal score in input order, {order}")
            self.missing = peer.missing or self.missing
        elif options.ties == "stable":
            raise ValueError(f"ties='stable' is input order, {order}")
        self.names = [str(key) for metric in options.metrics for key, _ in parse(metric)]
        for position, name in enumerate(self.names):
            if name in self.names[:position]:
                raise ValueError(f"two metrics would have the same column {name}: evaluate them separately")
        self.payload: bytes = import_extra("pyspark.cloudpickle", "spark").dumps(options)

    def schema(self, kind: Any) -> Any:
        """Return the schema of a frame with one row per query, where `kind` is the type of the query ids."""
        T = _types()
        return T.StructType(
            [T.StructField("query_id", kind), *(T.StructField(name, T.DoubleType()) for name in self.names)]
        )


def _functions() -> Any:
    return import_extra("pyspark.sql.functions", "spark")


def _types() -> Any:
    return import_extra("pyspark.sql.types", "spark")


def _package_check() -> Callable[[], str | None]:
    """Return a function that checks a Python worker's packages and returns an error message or None.

    The inner function is pickled by value. It must not refer to rankgain, since a worker without rankgain would fail
    before it could return the message.
    """
    expected = VERSION

    def check():  # type: ignore[no-untyped-def]
        import sys
        from importlib import import_module

        for name, line in (("pyarrow", "pyarrow"), ("rankgain", f"rankgain=={expected}")):
            try:
                installed = import_module(name).__version__
            except ModuleNotFoundError as error:
                if error.name != name:
                    raise
                where = f"for {sys.executable}, which runs Spark's Python workers"
                return f"{name} is not installed {where}: pip install {line} there"
        if installed != expected:
            where = f"where Spark's Python workers run, and {expected} on the driver"
            return f"rankgain is {installed} {where}: pip install rankgain=={expected} there"
        return None

    return check


_checked: WeakSet[Any] = WeakSet()  # sessions whose workers have passed the check


def check_workers(session: Any) -> None:
    """Check once per session, in one task, that the Python workers have all required packages.

    The task does not use Arrow, since a job without pyarrow fails inside PySpark before it calls our function.
    """
    if session in _checked:
        return
    check = _package_check()
    message_of = _functions().udf(lambda _: check(), "string", useArrow=False)
    message = session.range(1).select(message_of("id")).first()[0]
    if message:
        raise RuntimeError(message)
    _checked.add(session)


def _shipped(name: str, payload: bytes, *, states: bool = False) -> Callable[..., Any]:
    """Return a function that checks the packages of a Python worker and then calls `name` from `workers`."""
    check = _package_check()

    def call(*arguments):  # type: ignore[no-untyped-def]
        from importlib import import_module

        message = check()
        if not message:
            return getattr(import_module("rankgain.spark.workers"), name)(payload, *arguments)
        if not states:
            raise RuntimeError(message)
        import json

        return import_module("pyarrow").table({"state": [json.dumps({"error": "RuntimeError", "message": message})]})

    return call


def _of_buckets(name: str, payload: bytes) -> Callable[..., Any]:
    call = _shipped(name, payload, states=name == "state")
    return lambda qrels, run: call(qrels, run)  # PySpark inspects the number of parameters


def of_labelled_buckets(payload: bytes, names: Mapping[str, str]) -> Callable[..., Any]:
    call = _shipped("state_of_labels", payload, states=True)
    return lambda table: call(names, table)


def _shared(session: Any, judgments: Judgments) -> Callable[[], bytes]:
    """Return a function that returns the pickled judgments, which are broadcast unless Spark Connect is used."""
    pickled = pickle.dumps(judgments)
    if import_module("pyspark.sql.utils").is_remote():
        return lambda: pickled
    shared = session.sparkContext.broadcast(pickled)
    return lambda: shared.value


def cogrouped(qrels: Any, run: Any, columns: Columns, buckets: int | None) -> tuple[Any, Any]:
    """Cogroup judgments and run by bucket; return the result and the type of the query ids."""
    frames = (qrels, "qrels"), (run, "run")
    query_kind, doc_kind = (
        _common(word, [_ids(frame, side, role, name) for frame, side in frames])
        for word, role, name in (("query", "query", columns.query), ("document", "doc", columns.doc))
    )
    values = _number(qrels, "qrels", "relevance", columns.relevance), _number(run, "run", "score", columns.score)
    count = check_buckets(buckets, qrels, run)
    judged, returned = (
        in_buckets(_selected(frame, side, columns, (query_kind, doc_kind), value.alias(name)), count)
        for (frame, side), value, name in zip(frames, values, ("relevance", "score"), strict=True)
    )
    return judged.cogroup(returned), query_kind


def _selected(frame: Any, side: str, columns: Columns, kinds: tuple[Any, Any], value: Any) -> Any:
    """Select the id columns, cast to `kinds`, and the column of numbers."""
    query = _quoted(_column_name(frame, side, "query", columns.query)).cast(kinds[0])
    doc = _quoted(_column_name(frame, side, "doc", columns.doc)).cast(kinds[1])
    return frame.select(query.alias("query_id"), doc.alias("doc_id"), value)


def in_buckets(frame: Any, count: int) -> Any:
    """Group the rows of a frame by bucket; all rows of a query are in the same bucket."""
    bucket = _functions().expr(f"cast(pmod(xxhash64(query_id), {count}) as int)")
    return frame.withColumn("_bucket", bucket).groupBy("_bucket")


def check_buckets(buckets: int | None, *frames: Any) -> int:
    """Return the number of buckets: by default, Spark's number of shuffle partitions, or fewer for few rows."""
    if buckets is None:
        session = frames[0].sparkSession
        most = int(session.conf.get("spark.sql.shuffle.partitions"))
        known = [rows for frame in frames if (rows := _rows_of(frame)) is not None]
        if len(known) < len(frames):
            return most
        return min(most, max(sum(known) // BUCKET, int(session.sparkContext.defaultParallelism)))
    if isinstance(buckets, bool) or not isinstance(buckets, (int, np.integer)) or buckets < 1:
        raise ValueError(f"buckets must be a positive integer or None, not {buckets!r}")
    return int(buckets)


def _rows_of(frame: Any) -> int | None:
    """Return the number of rows from the statistics of the query plan, or None if it is unknown.

    It is always unknown over Spark Connect. Sizes in bytes, which all plans have, are no substitute, since they do not
    include rows that `explode` and Python functions add.
    """
    frame = getattr(frame, "_jdf", None)
    rows = frame and frame.queryExecution().optimizedPlan().stats().rowCount()
    return int(rows.get()) if rows and rows.isDefined() else None


def _is_spark(frame: Any) -> bool:
    return hasattr(frame, "sparkSession") and hasattr(frame, "mapInArrow")


def _column_name(frame: Any, side: str, role: str, name: str | None) -> str:
    """Return the name of the column for a role; if there is none, raise the same error as `from_frames`."""
    if not _is_spark(frame):
        raise TypeError(f"{side} must be a Spark data frame, not {type(frame).__name__}")
    return Frame(dict.fromkeys(frame.columns, ()), side).need(role, name)


def _quoted(name: str) -> Any:
    """Return the column with the given name, which may contain dots."""
    return _functions().col("`" + name.replace("`", "``") + "`")


def _ids(frame: Any, side: str, role: str, name: str | None) -> Any:
    """Return the type of a column of ids; raise an error if ids cannot have this type."""
    T, column = _types(), _column_name(frame, side, role, name)
    kind = frame.schema[column].dataType
    if not isinstance(kind, (T.StringType, T.BinaryType, T.IntegralType)):
        raise TypeError(
            f"{side}: column {column!r} is {kind.simpleString()}; ids must be string, binary or integers: cast it"
        )
    return kind


def _common(word: str, kinds: list[Any]) -> Any:
    """Return a common type for the ids of qrels and run, since equal long and int values have different hashes."""
    T = _types()
    if kinds[0] == kinds[1]:
        return kinds[0]
    if all(isinstance(kind, T.IntegralType) for kind in kinds):
        return T.LongType()
    names = [kind.simpleString() for kind in kinds]
    raise ValueError(f"the {word} ids are {names[0]} in qrels and {names[1]} in run: make them of one type")


def _number(frame: Any, side: str, role: str, name: str | None) -> Any:
    """Return a column of numbers; decimals, which NumPy does not have, are cast to double."""
    T, column_name = _types(), _column_name(frame, side, role, name)
    kind, column = frame.schema[column_name].dataType, _quoted(column_name)
    if isinstance(kind, T.DecimalType):
        return column.cast("double")
    if not isinstance(kind, T.NumericType) and not (isinstance(kind, T.BooleanType) and role == "relevance"):
        raise TypeError(
            f"{side}: column {column_name!r} is {kind.simpleString()}; it must hold numbers: cast it to double"
        )
    return column


def labels_of(frame: Any, names: Mapping[str, str]) -> Any:
    """Select labels, scores and, if given, documents; `names` maps roles such as "score" to column names."""
    for role, name in names.items():
        if role in ("query_id", "doc_id"):
            _ids(frame, "dataset", role.removesuffix("_id"), name)
    values = {role: _number(frame, "dataset", role, names[role]) for role in ("relevance", "score")}
    return frame.select(*(values.get(role, _quoted(name)).alias(role) for role, name in names.items()))


_SPARK_TYPES = {"str": "StringType", "bytes": "BinaryType", "int": "IntegralType"}


def _check_kinds(word: str, judged: str, kind: Any) -> None:
    """Raise an error if the ids of judgments and run have different types."""
    if judged and not isinstance(kind, getattr(_types(), _SPARK_TYPES[judged])):
        names = f"{judged} in judgments and {kind.simpleString()} in run"
        raise ValueError(f"the {word} ids are {names}: make them of one type")


def merged(rules: Rules, states: Iterable[str]) -> Summary:
    """Merge the states of all buckets into one Summary, or raise an error that a bucket reported."""
    summaries, errors = [], []
    for text in states:
        state = json.loads(text)
        if "error" in state:
            errors.append((state["message"], getattr(builtins, state["error"])))
        else:
            summaries.append(Summary.from_json(text))
    if errors:
        message, error = min(errors, key=lambda pair: pair[0])
        raise error(message)
    return functools.reduce(Summary.merge, summaries or [rules.parts.of_nothing().summary()])


def check_common_queries(summary: Summary) -> Summary:
    counts = summary.counts
    common = counts["queries"] - (counts["missing"] if summary.missing == "zero" else 0)
    if common:
        return summary
    empty = [side for side, count in (("qrels", counts["missing"]), ("run", counts["unjudged"])) if not count]
    raise ValueError(f"qrels and run have no query in common{f': {empty[0]} is empty' if empty else ''}")
