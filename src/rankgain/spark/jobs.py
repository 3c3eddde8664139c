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
from rankgain.batches import DEFAULTS, BatchOptions, PartRules
from rankgain.data.column_names import QueryKey
from rankgain.data.judgments import Judgments, judgment_sets
from rankgain.data.tables.frame import Frame
from rankgain.errors import import_extra
from rankgain.inputs.judgments import judgments as judgments_of
from rankgain.metrics.metric import Metric, each_of, parse
from rankgain.results.peers import common_rules
from rankgain.results.summary import Summary
from rankgain.scalars import id_kind


def evaluate(
    qrels: Any,
    run: Any,
    *metrics: str | Metric | Iterable[str | Metric],
    options: BatchOptions = DEFAULTS,
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
    options : BatchOptions, default BatchOptions()
        The columns, the rules and the threads. Query ids and document ids are strings, binary or integers, of one kind
        on both sides; grades and scores are numbers, including decimals. ``ties="stable"`` is an error, as are tools
        that keep tied documents in input order: rows have no order after a shuffle.
    buckets : int, optional
        The number of buckets to which queries are assigned by the hash of their ids. The default is
        ``spark.sql.shuffle.partitions``. If Spark knows the number of rows in advance (for cached and Arrow frames),
        it is at most one bucket per ``options.rows`` rows or one per core, whichever is more. A Python worker holds one
        bucket at a time, which takes about 225 MB for a million rows.

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
    rules = JobRules(each_of(metrics), options)
    both, kind = cogrouped(qrels, run, options, buckets)
    check_workers(qrels.sparkSession)
    return both.applyInArrow(_of_buckets("bucket_rows", rules.payload), rules.schema(kind))


def summary(
    qrels: Any,
    run: Any,
    *metrics: str | Metric | Iterable[str | Metric],
    options: BatchOptions = DEFAULTS,
    buckets: int | None = None,
) -> Summary:
    """Evaluate a run and judgments in Spark data frames, and return the means and counts.

    Parameters
    ----------
    qrels, run : pyspark.sql.DataFrame
        Judgments and run, as in `evaluate`.
    *metrics : str or Metric
        What to compute, as in `rankgain.Rankings.evaluate`; or lists of these.
    options : BatchOptions, default BatchOptions()
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
    rules = JobRules(each_of(metrics), options)
    both, _ = cogrouped(qrels, run, options, buckets)
    check_workers(qrels.sparkSession)
    states = both.applyInArrow(_of_buckets("state", rules.payload), "state string").collect()
    return check_common_queries(merged(rules, (row.state for row in states)))


def evaluate_clustered(
    judgments: Any,
    run: Any,
    *metrics: str | Metric | Iterable[str | Metric],
    options: BatchOptions = DEFAULTS,
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
    options : BatchOptions, default BatchOptions()
        As in `evaluate`. `relevance` is the column of grades in `judgments`, if that is a frame, and `rows` the
        approximate number of rows that a Python worker holds at a time.

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
    rules = JobRules(each_of(metrics), options)
    F, T = _functions(), _types()
    kind = _ids(run, "run", "query", options.query)
    doc_kind = _ids(run, "run", "doc", options.doc)
    number = _number(run, "run", "score", options.score)
    if _is_spark(judgments):
        names = [
            _column_name(judgments, "judgments", role, getattr(options, role)) for role in ("query", "doc", "relevance")
        ]
        judgments = judgments.select(*map(_quoted, names)).toArrow()
        judgments = judgments_of(judgments, query=names[0], doc=names[1], relevance=names[2])
    elif not isinstance(judgments, Judgments):
        judgments = judgments_of(judgments, query=options.query, doc=options.doc, relevance=options.relevance)
    sets = judgment_sets(judgments)
    _check_kinds("query", next((id_kind(query).__name__ for query in sets.query_ids), ""), kind)
    _check_kinds("document", sets.ids.kind, doc_kind)
    id_type = T.LongType() if isinstance(kind, T.IntegralType) else kind
    schema = rules.schema(id_type)
    check_workers(run.sparkSession)
    selected = _selected(run, "run", options, (id_type, doc_kind), number.alias("score"))
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


class JobRules:
    """The requested metrics and rules, which are checked on the driver and pickled for the workers."""

    def __init__(self, metrics: tuple[str | Metric, ...], options: BatchOptions) -> None:
        self.parts = PartRules(metrics, options)
        order = "which rows of a Spark frame do not have; choose another, or encode the order in the scores"
        self.missing = options.missing
        if options.like is not None:
            peer = common_rules(metrics, options.like)[1]
            if peer.ties == "stable":
                raise ValueError(f"like={options.like!r} leaves documents of equal score in input order, {order}")
            self.missing = peer.missing or self.missing
        elif options.ties == "stable":
            raise ValueError(f"ties='stable' is input order, {order}")
        self.names = [str(key) for metric in metrics for key, _ in parse(metric)]
        for position, name in enumerate(self.names):
            if name in self.names[:position]:
                raise ValueError(f"two metrics would have the same column {name}: evaluate them separately")
        self.payload: bytes = import_extra("pyspark.cloudpickle", "spark").dumps((metrics, options))

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


def cogrouped(qrels: Any, run: Any, options: BatchOptions, buckets: int | None) -> tuple[Any, Any]:
    """Cogroup judgments and run by bucket; return the result and the type of the query ids."""
    frames = (qrels, "qrels"), (run, "run")
    query_kind, doc_kind = (
        _common(word, [_ids(frame, side, role, getattr(options, role)) for frame, side in frames])
        for word, role in (("query", "query"), ("document", "doc"))
    )
    values = _number(qrels, "qrels", "relevance", options.relevance), _number(run, "run", "score", options.score)
    count = check_buckets(buckets, options, qrels, run)
    judged, returned = (
        in_buckets(_selected(frame, side, options, (query_kind, doc_kind), value.alias(name)), count)
        for (frame, side), value, name in zip(frames, values, ("relevance", "score"), strict=True)
    )
    return judged.cogroup(returned), query_kind


def _selected(frame: Any, side: str, options: BatchOptions, kinds: tuple[Any, Any], value: Any) -> Any:
    """Select the id columns, cast to `kinds`, and the column of numbers."""
    query = _quoted(_column_name(frame, side, "query", options.query)).cast(kinds[0])
    doc = _quoted(_column_name(frame, side, "doc", options.doc)).cast(kinds[1])
    return frame.select(query.alias("query_id"), doc.alias("doc_id"), value)


def in_buckets(frame: Any, count: int) -> Any:
    """Group the rows of a frame by bucket; all rows of a query are in the same bucket."""
    bucket = _functions().expr(f"cast(pmod(xxhash64(query_id), {count}) as int)")
    return frame.withColumn("_bucket", bucket).groupBy("_bucket")


def check_buckets(buckets: int | None, options: BatchOptions, *frames: Any) -> int:
    """Return the number of buckets: by default, Spark's number of shuffle partitions, or fewer for few rows."""
    if buckets is None:
        session = frames[0].sparkSession
        most = int(session.conf.get("spark.sql.shuffle.partitions"))
        known = [rows for frame in frames if (rows := _rows_of(frame)) is not None]
        if len(known) < len(frames):
            return most
        return min(most, max(sum(known) // options.rows, int(session.sparkContext.defaultParallelism)))
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


def _column_name(frame: Any, side: str, role: str, name: QueryKey | None) -> str:
    """Return the name of the column for a role; if there is none, raise the same error as `from_frames`."""
    if not _is_spark(frame):
        raise TypeError(f"{side} must be a Spark data frame, not {type(frame).__name__}")
    column = Frame(dict.fromkeys(frame.columns, ()), side).need(role, name)
    if not isinstance(column, str):
        raise TypeError(f"{role} must be one column in Spark, not {column!r}: join them, concat_ws(',', …)")
    return column


def _quoted(name: str) -> Any:
    """Return the column with the given name, which may contain dots."""
    return _functions().col("`" + name.replace("`", "``") + "`")


def _ids(frame: Any, side: str, role: str, name: QueryKey | None) -> Any:
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


def select_labels(frame: Any, names: Mapping[str, str]) -> Any:
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


def merged(rules: JobRules, states: Iterable[str]) -> Summary:
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
