"""Evaluate Arrow record batches from any source.

Sources include files larger than memory (`pyarrow.dataset`), DuckDB, Polars, Ray Data, Dask and Spark. The rows of a
query must be consecutive, but may continue in the next batch. Memory holds the rows of a few queries at a time, and the
ids of all earlier queries.
This module needs pyarrow: ``pip install 'rankgain[arrow]'``.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from rankgain.choices import Duplicates, Missing, Peer, Ties, Validate, check_choices
from rankgain.data.advice.ranks import warn_of_ranks
from rankgain.data.column_names import QueryKey, check_roles, key_columns, names_ranks
from rankgain.data.columns import PartSource, RunColumns
from rankgain.data.groups import QueryRows
from rankgain.data.ids import broken, column_of, ids_of
from rankgain.data.judgments import Judgments, JudgmentSets, judgment_sets, of_ids, types
from rankgain.data.rules import rules_of
from rankgain.data.tables.arrow import Stream
from rankgain.data.tables.frame import Frame
from rankgain.data.tables.parts import TablePart, part_of, whole_queries
from rankgain.errors import import_extra
from rankgain.inputs.frames import label_lists
from rankgain.metrics.metric import Metric, each_of, refuse_by_subtopic
from rankgain.metrics.program import planned
from rankgain.rankings import Rankings
from rankgain.results.evaluation import Evaluation
from rankgain.results.export import counting_bar
from rankgain.results.peers import common_rules
from rankgain.results.summary import Summary
from rankgain.scalars import Ints, id_kind
from rankgain.threads import check_threads

__all__ = ["BatchOptions", "evaluate_batches", "summarize_batches"]


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchOptions:
    """The columns and rules for data that are read in parts, and the size of a part.

    Parameters
    ----------
    query, doc : str or, for query, list of str, optional
        The columns of query ids and document ids. By default, the first with a common name, as in
        `rankgain.from_frames`. A list has the columns of one key, whose ids are tuples, and structs in record batches;
        not on Spark.
    relevance, score : str, optional
        The columns of grades and of scores, higher is better. By default, the first with a common name.
    ties : {"docid", "average", "stable", "best", "worst"}, optional
        The order of documents of equal score, as in `rankgain.from_frames`; "stable" is the order of the rows, which
        Spark does not keep. By default "docid", or "average" where documents have no ids.
    missing : {"zero", "skip"}, default "zero"
        Whether queries that the run lacks are evaluated as empty lists or left out, as in `rankgain.from_frames`.
    validate : {"judged", "full"}, default "judged"
        Which documents may not occur twice in a query of the run: judged ones, or any.
    duplicates : {"error", "first"}, default "error"
        Whether a document that is returned twice for a query is an error, or counts once, with its highest score.
    like : str, optional
        The tool whose rules to follow, as in `rankgain.Rankings.evaluate`.
    threads : int, default 1
        How many threads may share the queries of a part.
    rows : int, default 500000
        The approximate number of rows that are evaluated together; a longer query is not split. On Spark, see `buckets`
        in `rankgain.spark.evaluate`.

    Raises
    ------
    ValueError
        If a value is unknown, or `threads` or `rows` is not a positive integer.

    See Also
    --------
    evaluate_batches : Evaluates record batches.
    rankgain.spark.evaluate : Evaluates data frames of Spark.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rankgain.batches import BatchOptions, summarize_batches
    >>> rows = pa.table({"user": [1, 1, 2], "clicked": [0, 1, 1], "score": [0.7, 0.7, 0.1]})
    >>> summarize_batches(rows, "rr", options=BatchOptions(relevance="clicked", ties="worst")).mean("rr")
    0.75
    """

    query: QueryKey | None = None
    doc: str | None = None
    relevance: str | None = None
    score: str | None = None
    ties: Ties | None = None
    missing: Missing = "zero"
    validate: Validate = "judged"
    duplicates: Duplicates = "error"
    like: Peer | None = None
    threads: int = 1
    rows: int = 500_000

    def __post_init__(self) -> None:
        if self.ties is not None:
            rules_of(self.ties, ids=True)
        check_choices(missing=self.missing, validate=self.validate, duplicates=self.duplicates)
        check_threads(self.threads)
        if isinstance(self.rows, bool) or not isinstance(self.rows, (int, np.integer)) or self.rows < 1:
            raise ValueError(f"rows must be a positive integer, not {self.rows!r}")


DEFAULTS = BatchOptions()


def evaluate_batches(
    batches: Any,
    *metrics: str | Metric | Iterable[str | Metric],
    judgments: Judgments | None = None,
    options: BatchOptions = DEFAULTS,
) -> Iterator[Any]:
    """Evaluate record batches one after another, and yield record batches with one row per query.

    Parameters
    ----------
    batches : iterable, or an object with the Arrow C stream
        Record batches or tables of pyarrow, or other objects with the Arrow C stream interface; or one such stream
        (``pyarrow.RecordBatchReader``, a DuckDB relation, a polars frame). The rows of a query are consecutive. A row
        is a document that is judged (it has a relevance), returned (it has a score), or both. A missing value is null,
        as in a full outer join of qrels and run, or in their concatenation, sorted by query. Without documents, each
        row has both.
    *metrics : str or Metric
        What to compute, as in `Rankings.evaluate`; or lists of these.
    judgments : Judgments, optional
        Made by `rankgain.judgments`; each row of the batches is then a returned document. By default, the batches
        contain the judgments.
    options : BatchOptions, default BatchOptions()
        The columns, the rules, the threads and the size of a part.

    Returns
    -------
    iterator of pyarrow.RecordBatch
        Batches with the column ``query_id``, which has the type of the query column, and a float64 column per metric.
        Queries of `judgments` without rows are in the last batch, unless ``missing="skip"``.

    Raises
    ------
    ImportError
        If pyarrow is not installed: ``pip install 'rankgain[arrow]'``.
    ValueError
        If a metric is unknown, at once. During iteration, if a column does not exist, occurs twice, has ids
        of another type than earlier batches or `judgments`, or is corrupt; if a query, a document, or both relevance
        and score are null; if the rows of a query are not consecutive; or if `Rankings.evaluate` would raise it.
    TypeError
        If `batches` is not iterable, `judgments` is not a Judgments, or `options` is not a BatchOptions, at once.
        During iteration, if an item is not a record batch, or a column has an unsupported type.

    See Also
    --------
    summarize_batches : Means and counts only.
    rankgain.spark : For rows in any order on a cluster.

    Notes
    -----
    The ids of all earlier queries are stored, about 100 bytes each, to detect a query whose rows are not consecutive.

    The type of a column may change between batches, from integers to floats or from text to large text or categories. A
    column may also consist of nulls only.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rankgain.batches import evaluate_batches
    >>> rows = pa.table({
    ...     "query_id": ["q1", "q1", "q1", "q2"],
    ...     "doc_id": ["d1", "d2", "d3", "d7"],
    ...     "relevance": [2, None, 1, 1],
    ...     "score": [0.9, 1.4, None, None],
    ... })
    >>> [batch.to_pydict() for batch in evaluate_batches(rows.to_batches(max_chunksize=2), "rr")]
    [{'query_id': ['q1', 'q2'], 'rr': [0.5, 0.0]}]
    """
    rules = PartRules(each_of(metrics), options)
    return (as_batch(result, kind) for result, kind in _results(batches, rules, judgments))


def summarize_batches(
    batches: Any,
    *metrics: str | Metric | Iterable[str | Metric],
    judgments: Judgments | None = None,
    options: BatchOptions = DEFAULTS,
    progress: bool = False,
) -> Summary:
    """Evaluate record batches, and return one Summary that can be merged with the summaries of other parts.

    Parameters
    ----------
    batches : iterable, or an object with the Arrow C stream
        The rows, as in `evaluate_batches`.
    *metrics : str or Metric
        What to compute, as in `Rankings.evaluate`; or lists of these.
    judgments : Judgments, optional
        Judgments that are not in the batches, as in `evaluate_batches`.
    options : BatchOptions, default BatchOptions()
        As in `evaluate_batches`. Name `ties` for parts that may have no batches, since it is then unknown whether
        documents have ids.
    progress : bool, default False
        Whether to show a tqdm bar of the queries done.

    Returns
    -------
    Summary
        Equal to the Summary of an Evaluation of all rows. A part without rows, or without a query that is in both
        judgments and run, is not an error: `Summary.counts` shows it.

    Raises
    ------
    ImportError
        If pyarrow is not installed: ``pip install 'rankgain[arrow]'``; or if `progress` is true and tqdm is not
        installed.
    ValueError
        If `evaluate_batches` would raise it, at once or during iteration.
    TypeError
        If `evaluate_batches` would raise it, at once or during iteration.

    See Also
    --------
    evaluate_batches : The values of each query.
    Summary.merge : Merges the summaries of parts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from rankgain.batches import summarize_batches
    >>> rows = pa.table({"qid": [1, 1, 2, 2], "label": [0, 1, 2, 0], "score": [0.3, 0.9, 0.1, 0.7]})
    >>> summarize_batches(rows, "ndcg@10")
    <Summary: 2 queries, ties='average', backend='...'>
    ndcg@10  0.8155
    """
    rules = PartRules(each_of(metrics), options)
    parts = (result.summary() for result, _ in _results(batches, rules, judgments))
    with counting_bar(progress, None, "queries") as bar:
        return functools.reduce(Summary.merge, parts if bar is None else _counting(parts, bar))


def _counting(parts: Iterable[Summary], bar: Any) -> Iterator[Summary]:
    for part in parts:
        bar.update(part.counts["queries"])
        yield part


class PartRules:
    """An evaluator for data that is processed in parts. Its metrics are checked once for all parts."""

    def __init__(self, metrics: tuple[str | Metric, ...], options: BatchOptions) -> None:
        if not isinstance(options, BatchOptions):
            raise TypeError(f"options must be a BatchOptions, not {type(options).__name__}: BatchOptions(ties='docid')")
        refuse_by_subtopic(metrics, "an evaluation in parts")
        if options.like is None:
            planned(metrics)
        else:
            common_rules(metrics, options.like)
        self.metrics = metrics
        self.options = options

    def of_sides(self, judged: TablePart, returned: TablePart) -> Evaluation:
        """Evaluate queries of which one part holds the judgments and one the run."""
        return self._against(of_ids("qrels", judged.groups, judged.documents, judged.values["relevance"]), returned)

    def of_part(self, part: TablePart, names: tuple[str, str] = ("batches: relevance", "batches: score")) -> Evaluation:
        """Evaluate queries whose judgments and run are in one table, with or without document ids.

        `names`: how errors call the columns of relevance and scores.
        """
        if part.documents is not None:
            return self.of_sides(part.where("relevance"), part.where("score"))
        rules = rules_of(self.options.ties or "average", ids=False)
        labels, scores = zip(names, (part.values["relevance"], part.values["score"]), strict=True)
        return self._evaluated(label_lists(part.groups, labels, scores, rules, None))

    def of_run(self, judgments: JudgmentSets, part: TablePart) -> Evaluation:
        """Evaluate a run of some of the judged queries."""
        in_run = part.groups.numbers
        return self._against(_subset(judgments, [query in in_run for query in judgments.query_ids]), part)

    def of_absent(self, judgments: JudgmentSets, seen: Container[Any]) -> Evaluation:
        """Evaluate the judged queries that appear in no part of the run."""
        return self._against(_subset(judgments, [query not in seen for query in judgments.query_ids]), _NOTHING)

    def of_nothing(self) -> Evaluation:
        """Return an Evaluation without any queries."""
        return self.of_sides(_NOTHING, _NOTHING)

    def _against(self, judgments: JudgmentSets, run: TablePart) -> Evaluation:
        options = self.options
        check_all, scores = options.validate == "full", run.values["score"]
        columns = RunColumns(
            "run", run.groups, run.documents, scores, check_all=check_all, duplicates=options.duplicates
        )
        source = PartSource(judgments, columns, missing=options.missing, query_ids=None)
        return self._evaluated(Rankings(source, rules_of(options.ties or "docid", ids=True)))

    def _evaluated(self, rankings: Rankings) -> Evaluation:
        return rankings.evaluate(*self.metrics, threads=self.options.threads, like=self.options.like)


_NOTHING = TablePart(QueryRows.of(ids_of([])), ids_of([]), dict.fromkeys(("relevance", "score"), np.empty(0)))


def _subset(judgments: JudgmentSets, mask: Sequence[bool]) -> JudgmentSets:
    """Return the judgments of the queries that are selected by a mask."""
    numbers: Ints = np.flatnonzero(mask)
    rows, offsets = judgments.rows(numbers)
    names = [judgments.query_ids[number] for number in numbers.tolist()]
    ids = column_of(judgments.ids.take(rows), judgments.ids.kind)
    return JudgmentSets("judgments", names).with_columns(offsets, judgments.grades[rows], ids=ids)


def as_batch(result: Evaluation, kind: Any) -> Any:
    """Convert a result to a record batch with one row per query.

    `kind`: the Arrow type of the query ids; None leaves the choice to pyarrow.
    """
    pa = import_extra("pyarrow", "arrow")
    columns = dict(result.columns())
    try:
        ids = pa.array(columns.pop("query_id"), kind)
    except UnicodeEncodeError:
        raise broken("batches: the column of queries", "text is not UTF-8") from None
    return pa.RecordBatch.from_arrays([ids, *map(pa.array, columns.values())], ["query_id", *columns])


def _results(batches: Any, rules: PartRules, judgments: Judgments | None) -> Iterator[tuple[Evaluation, Any]]:
    """Yield an Evaluation of each part with the Arrow type of the query ids. There is always at least one."""
    import_extra("pyarrow", "arrow")
    if judgments is not None and not isinstance(judgments, Judgments):
        raise TypeError(f"judgments must be what rankgain.judgments returns, not {type(judgments).__name__}")
    if not hasattr(batches, "__arrow_c_stream__") and (
        isinstance(batches, (str, bytes)) or not isinstance(batches, Iterable)
    ):
        lazy = "; pass lazy.collect_batches() or lazy.collect()" if hasattr(batches, "collect") else ""
        raise TypeError(f"batches must be an iterable of Arrow record batches, not {type(batches).__name__}{lazy}")
    options = rules.options
    parts = whole_queries(_read(batches, options, is_run=judgments is not None), options.rows)
    if options.score is not None and names_ranks(options.score):
        parts = _checked(parts, options.score)
    if judgments is not None:
        return _against_judgments(parts, rules, judgment_sets(judgments))
    return _of_both_sides(parts, rules)


def _checked(parts: Iterator[TablePart], score: str) -> Iterator[TablePart]:
    """Yield the parts; warn if the column named `score` seems to hold ranks in the first part."""
    for part in islice(parts, 1):
        warn_of_ranks(score, part.where("score").groups, part.values["score"])
        yield part
    yield from parts


def _against_judgments(
    parts: Iterable[TablePart], rules: PartRules, judgments: JudgmentSets
) -> Iterator[tuple[Evaluation, Any]]:
    seen: set[Any] = set()
    kind = None
    for part in parts:
        names, kind = part.groups.names, part.kind
        kinds = "" if seen else types(judgments.query_ids, names[:1], ("judgments", "batches"))
        if kinds and names and len(judgments.query_ids):  # otherwise, no query could match
            raise ValueError(f"the query ids are {kinds}")
        seen.update(names)
        yield rules.of_run(judgments, part), kind
    yield rules.of_absent(judgments, seen), kind


def _of_both_sides(parts: Iterable[TablePart], rules: PartRules) -> Iterator[tuple[Evaluation, Any]]:
    part = None
    for part in parts:
        yield rules.of_part(part), part.kind
    if part is None:
        yield rules.of_nothing(), import_extra("pyarrow", "arrow").string()


def names_in(frame: Frame, options: BatchOptions, is_run: bool) -> dict[str, Any]:
    """Return the column name for each role. In a run, a column of relevance is not needed."""
    names = {"query_id": frame.need("query", options.query)}
    document = frame.need("doc", options.doc) if is_run else frame.find("doc", options.doc)
    if document is not None:
        names["doc_id"] = document
    if not is_run:
        names["relevance"] = frame.need("relevance", options.relevance)
    names["score"] = frame.need("score", options.score)
    columns = {role.removesuffix("_id"): name for role, name in names.items()}
    named = {"query": options.query, "doc": options.doc, "relevance": options.relevance, "score": options.score}
    check_roles(columns, named, frame.argument)
    return names


def _read(batches: Any, options: BatchOptions, *, is_run: bool) -> Iterator[TablePart]:
    """Read the required columns of record batches, whose ids must have the same types in all batches."""
    pa = import_extra("pyarrow", "arrow")
    names: dict[str, Any] = {}
    dictionaries: dict[Any, Any] = {}
    kinds: dict[str, str] = {}
    for where, batch in _record_batches(batches):
        frame = Frame(Stream(batch, where, dictionaries), where)
        names = names or names_in(frame, options, is_run)
        for role, name in ((role, name) for role, key in names.items() for name in key_columns(key)):
            frame.find(role, name)
            try:
                batch.column(batch.schema.names.index(name)).validate()
            except (pa.ArrowInvalid, IndexError):
                raise broken(frame.where(name), "parts contradict each other") from None
        part = part_of(frame, names, _type_of(batch.schema, names["query_id"]))
        for role, kind in ("query_id", _kind_of(part.groups.names)), ("doc_id", getattr(part.documents, "kind", "")):
            if kind and kinds.setdefault(role, kind) != kind:
                where = frame.where(names[role])
                raise ValueError(
                    f"{where} holds {kind}, but {kinds[role]} in earlier batches: convert them to one type"
                )
        yield part


def _kind_of(names: Sequence[Any]) -> str:
    """Return the type of the queries, or the types in a key of several columns."""
    parts = names[0] if names and isinstance(names[0], tuple) else names[:1]
    return " and ".join(id_kind(part).__name__ for part in parts)


def _type_of(schema: Any, key: QueryKey) -> Any:
    """Return the Arrow type of the query ids, a struct for a key of several columns."""
    types = [(name, _plain(schema.field(name).type)) for name in key_columns(key)]
    return import_extra("pyarrow", "arrow").struct(types) if isinstance(key, list) else types[0][1]


def _plain(kind: Any) -> Any:
    """Return the type of the values of an Arrow type: of an extension's storage, and of a dictionary's entries."""
    kind = getattr(kind, "storage_type", kind)
    return getattr(kind, "value_type", kind)


def _record_batches(batches: Any) -> Iterator[tuple[str, Any]]:
    """Yield record batches, each with its name for error messages."""
    pa = import_extra("pyarrow", "arrow")
    if hasattr(batches, "__arrow_c_stream__"):
        yield from _stream(batches, "batches")
        return
    for number, batch in enumerate(batches):
        where = f"batches: item {number}"
        if isinstance(batch, pa.RecordBatch):
            yield where, batch
        elif hasattr(batch, "__arrow_c_stream__"):
            yield from _stream(batch, where)
        elif hasattr(batch, "__arrow_c_array__"):
            yield where, pa.record_batch(batch)
        else:
            raise TypeError(f"{where} must be an Arrow record batch or table, not {type(batch).__name__}")


def _stream(holder: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Yield an empty batch with the columns of a stream, and then the batches of the stream, each with its name."""
    pa = import_extra("pyarrow", "arrow")
    try:
        # The sizes of buffers, which `validate` needs, are lost in a stream.
        reader = holder.to_reader() if isinstance(holder, pa.Table) else pa.RecordBatchReader.from_stream(holder)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{where}: __arrow_c_stream__ did not return an Arrow stream ({error})") from None
    yield where, pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in reader.schema], reader.schema.names)
    yield from ((f"{where}: batch {number}" if number else where, batch) for number, batch in enumerate(reader))
