"""Evaluate Arrow record batches from any source.

Sources include files larger than memory (`pyarrow.dataset`), DuckDB, Polars, Ray Data, Dask and Spark. The rows of a
query must be consecutive, but may continue in the next batch. Memory holds the rows of a few queries at a time, and the
ids of all earlier queries.
This module needs pyarrow: ``pip install 'rankgain[arrow]'``.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from rankgain.choices import Duplicates, Missing, Peer, Ties, Validate, check_choices
from rankgain.data.columns import PartSource, RunColumns
from rankgain.data.groups import QueryRows
from rankgain.data.ids import Ids, broken, column_of, ids_of
from rankgain.data.judgments import Judgments, JudgmentSets, judgment_sets, types
from rankgain.data.rules import rules_of
from rankgain.data.tables.frame import Frame, check_once
from rankgain.errors import import_extra, quoted
from rankgain.inputs.frames import of_frame, side_by_side, warn_of_ranks
from rankgain.metrics.metric import Metric, each_of, refuse_by_subtopic
from rankgain.metrics.program import planned
from rankgain.rankings import Rankings
from rankgain.results.evaluation import Evaluation
from rankgain.results.export import progress_bar
from rankgain.results.peers import common_rules
from rankgain.results.summary import Summary
from rankgain.scalars import Ints
from rankgain.threads import check_threads

__all__ = ["BatchOptions", "evaluate_batches", "summarize_batches"]


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchOptions:
    """The columns and rules for data that are read in parts, and the size of a part.

    Parameters
    ----------
    query, doc : str, optional
        The columns of query ids and document ids. By default, the first with a common name, as in
        `rankgain.from_frames`.
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

    query: str | None = None
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

    def names_in(self, frame: Frame, is_run: bool) -> dict[str, str]:
        """Return the column name for each role. In a run, a column of relevance is not needed."""
        names = {"query_id": frame.need("query", self.query)}
        document = frame.need("doc", self.doc) if is_run else frame.find("doc", self.doc)
        if document is not None:
            names["doc_id"] = document
        if not is_run:
            names["relevance"] = frame.need("relevance", self.relevance)
        return names | {"score": frame.need("score", self.score)}


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
    with progress_bar(progress, None, "queries") as bar:
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

    def of_tables(self, qrels: Any, run: Any) -> Evaluation:
        """Evaluate the queries in two Arrow tables, one of judgments and one of a run.

        Both tables have the columns query_id and doc_id. The judgments also have relevance, and the run has score.
        """
        for table, side in ((qrels, "qrels"), (run, "run")):
            refuse_nulls(table, side)
        judgments = of_frame(Frame(qrels, "qrels"), None, None, None)
        judgments.error_row = None  # row numbers count within the part, so errors must not show them
        return self._against(judgments, run)

    def of_run(self, judgments: JudgmentSets, run: Any) -> Evaluation:
        """Evaluate a run of some of the judged queries."""
        refuse_nulls(run, "run")
        in_run = set(run["query_id"].unique().to_pylist())
        return self._against(_subset(judgments, [query in in_run for query in judgments.query_ids]), run)

    def of_absent(self, judgments: JudgmentSets, seen: set[Any]) -> Evaluation:
        """Evaluate the judged queries that appear in no part of the run."""
        return self._against(_subset(judgments, [query not in seen for query in judgments.query_ids]), None)

    def of_nothing(self) -> Evaluation:
        """Return an Evaluation without any queries."""
        return self._against(
            JudgmentSets("qrels", []).with_columns(np.zeros(1, np.int64), np.empty(0), ids=_NO_IDS), None
        )

    def _against(self, judgments: JudgmentSets, run: Any) -> Evaluation:
        if run is None:
            table = RunColumns("run", QueryRows.of(_NO_IDS), _NO_IDS, np.empty(0))
        else:
            frame = Frame(run, "run")
            groups, documents = QueryRows.of(frame.ids("query_id")), frame.ids("doc_id")
            check_all, duplicates = self.options.validate == "full", self.options.duplicates
            table = RunColumns(
                "run", groups, documents, frame.numbers("score"), check_all=check_all, duplicates=duplicates
            )
        source = PartSource(judgments, table, missing=self.options.missing, query_ids=None)
        return self._evaluated(Rankings(source, rules_of(self.options.ties or "docid", ids=True)))

    def of_labels(self, frame: Frame, query: str, relevance: str, score: str) -> Evaluation:
        """Evaluate a table with both a label and a score in each row, and without document ids."""
        return self._evaluated(side_by_side(frame, query, relevance, score, None, self.options.ties, None))

    def _evaluated(self, rankings: Rankings) -> Evaluation:
        return rankings.evaluate(*self.metrics, threads=self.options.threads, like=self.options.like)


_NO_IDS: Ids = ids_of([])


def _subset(judgments: JudgmentSets, mask: Sequence[bool]) -> JudgmentSets:
    """Return the judgments of the queries that are selected by a mask."""
    numbers: Ints = np.flatnonzero(mask)
    rows, offsets = judgments.rows(numbers)
    names = [judgments.query_ids[number] for number in numbers.tolist()]
    ids = column_of(judgments.ids.take(rows), judgments.ids.kind)
    return JudgmentSets("judgments", names).with_columns(offsets, judgments.grades[rows], ids=ids)


def as_batch(result: Evaluation, kind: Any) -> Any:
    """Convert a result to a record batch with one row per query.

    `kind`: the Arrow type of the query ids.
    """
    pa = import_extra("pyarrow", "arrow")
    columns = dict(result.columns())
    ids = pa.array(columns.pop("query_id"), kind)
    return pa.RecordBatch.from_arrays([ids, *map(pa.array, columns.values())], ["query_id", *columns])


ROLES = {"query_id": "query", "doc_id": "document", "relevance": "relevance", "score": "score"}


def refuse_nulls(table: Any, side: str) -> None:
    """If a column has nulls, raise an error that names the query and document of the first row with a null."""
    for name in table.column_names:
        if table[name].null_count:
            raise _null(table, side, table[name].is_null(), f"the {ROLES[name]} is null")


def _null(table: Any, side: str, nulls: Any, problem: str) -> ValueError:
    row = table.slice(nulls.index(True).as_py(), 1).to_pylist()[0]
    document = f", document {quoted(row['doc_id'])}" if "doc_id" in row else ""
    return ValueError(
        f"{side}: query {quoted(row['query_id'])}{document}: {problem}; drop such rows, or fill in the values"
    )


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
    parts = parts_of(_selected(batches, options, is_run=judgments is not None), options.rows)
    if options.score is not None:
        parts = _checked(parts, options.score)
    if judgments is not None:
        return _against_judgments(parts, rules, judgment_sets(judgments))
    return _of_both_sides(parts, rules)


def _checked(parts: Iterator[Any], score: str) -> Iterator[Any]:
    """Yield the parts; warn if the column named `score` seems to hold ranks in the first part."""
    for part in islice(parts, 1):
        scored = part.select(["query_id", "score"])
        scored = scored.filter(scored["score"].is_valid())
        frame = Frame(scored, "batches")
        warn_of_ranks(score, QueryRows.of(frame.ids("query_id")), frame.numbers("score"))
        yield part
    yield from parts


def _against_judgments(
    parts: Iterable[Any], rules: PartRules, judgments: JudgmentSets
) -> Iterator[tuple[Evaluation, Any]]:
    pa = import_extra("pyarrow", "arrow")
    seen: set[Any] = set()
    kind = None  # if there are no parts, pyarrow infers the type from the query ids in the judgments
    for part in parts:
        kind = part.schema.field("query_id").type
        if not seen:
            _check_queries(judgments, part["query_id"])
        reject_repeated_queries(part["query_id"], seen)
        yield rules.of_run(judgments, part), kind
    yield rules.of_absent(judgments, seen), kind or pa.array(list(judgments.query_ids)).type


def _of_both_sides(parts: Iterable[Any], rules: PartRules) -> Iterator[tuple[Evaluation, Any]]:
    pa = import_extra("pyarrow", "arrow")
    seen: set[Any] = set()
    part = None
    for part in parts:
        reject_repeated_queries(part["query_id"], seen)
        if "doc_id" in part.column_names:
            result = rules.of_tables(*sides_of(part))
        else:
            refuse_nulls(part, "batches")
            result = rules.of_labels(Frame(part, "batches"), "query_id", "relevance", "score")
        yield result, part.schema.field("query_id").type
    if part is None:
        yield rules.of_nothing(), pa.string()


def _check_queries(judgments: JudgmentSets, column: Any) -> None:
    """Raise an error if the batches and the judgments have different types of query ids, so that none can match."""
    kinds = types(judgments.query_ids, column[:1].to_pylist(), ("judgments", "batches"))
    if len(judgments.query_ids) and len(column) and kinds:
        raise ValueError(f"the query ids are {kinds}")


def _selected(batches: Any, options: BatchOptions, *, is_run: bool) -> Iterator[Any]:
    """Yield record batches with only the required columns, named by role.

    Raise an error if the kind of values in a column differs between batches.
    """
    pa = import_extra("pyarrow", "arrow")
    names: dict[str, str] = {}
    readers: dict[str, _Column] = {}
    for where, batch in _record_batches(batches):
        frame = Frame(dict.fromkeys(batch.schema.names, ()), where)
        if not names:
            names = options.names_in(frame, is_run)
            readers = {role: _Column(role) for role in names}
        for role, name in names.items():
            frame.find(role, name)
            check_once(batch.schema.names, name, where)
        arrays = [readers[role].read(batch.column(name), frame.where(name)) for role, name in names.items()]
        selected = pa.RecordBatch.from_arrays(arrays, [*names])
        if selected["query_id"].null_count:
            raise _null(selected, "batches", selected["query_id"].is_null(), "the query is null")
        yield selected


def _record_batches(batches: Any) -> Iterator[tuple[str, Any]]:
    """Yield record batches, each with its name for error messages."""
    pa = import_extra("pyarrow", "arrow")
    if hasattr(batches, "__arrow_c_stream__"):
        yield from (("batches", batch) for batch in _stream(batches, "batches"))
        return
    for number, batch in enumerate(batches):
        where = f"batches: item {number}"
        if isinstance(batch, pa.RecordBatch):
            yield where, batch
        elif hasattr(batch, "__arrow_c_stream__"):
            yield from ((where, each) for each in _stream(batch, where))
        elif hasattr(batch, "__arrow_c_array__"):
            yield where, pa.record_batch(batch)
        else:
            raise TypeError(f"{where} must be an Arrow record batch or table, not {type(batch).__name__}")


def _stream(holder: Any, where: str) -> Iterator[Any]:
    """Yield an empty batch with the columns of a stream, and then the batches of the stream."""
    pa = import_extra("pyarrow", "arrow")
    try:
        reader = pa.RecordBatchReader.from_stream(holder)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{where}: __arrow_c_stream__ did not return an Arrow stream ({error})") from None
    yield pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in reader.schema], reader.schema.names)
    yield from reader


class _Column:
    """A reader of the column for one role, in one batch after another.

    It checks that the data are valid and that the values have the same kind in all batches, and converts them to a type
    that pyarrow can slice.
    """

    def __init__(self, role: str) -> None:
        self._role = role
        self._kind = ""
        # The buffers of the last dictionary, and a pair of the dictionary before and after validation.
        self._checked: tuple[Any, Any] = None, None

    def read(self, column: Any, where: str) -> Any:
        """Return the column of a batch, or raise an error if it is corrupt, which pyarrow's kernels do not check."""
        pa = import_extra("pyarrow", "arrow")
        if isinstance(column, pa.ExtensionArray):
            column = column.storage
        self._check_kind(column.type, where)
        if pa.types.is_dictionary(column.type):
            column = self._coded(column, where)
            return column if self._role == "doc_id" else column.dictionary_decode()
        return column.cast(pa.uint8()) if pa.types.is_boolean(column.type) else _validated(column, where)

    def _check_kind(self, kind: Any, where: str) -> None:
        is_id = self._role in ("query_id", "doc_id")
        content = _kind(kind, is_id)
        if content is None:
            advice = "ids must be text, bytes or integers: cast it"
            advice = advice if is_id else "it must hold numbers: cast it, for instance to float64"
            raise TypeError(f"{where} is {kind}; {advice}")
        if content and self._kind and content != self._kind:
            raise ValueError(f"{where} holds {content}, but {self._kind} in earlier batches: convert them to one type")
        self._kind = self._kind or content

    def _coded(self, column: Any, where: str) -> Any:
        """Return the column with a validated dictionary. A dictionary that batches share is validated only once."""
        pa = import_extra("pyarrow", "arrow")
        dictionary = column.dictionary
        buffers = [len(dictionary), dictionary.offset, *(each and each.address for each in dictionary.buffers())]
        if buffers != self._checked[0]:
            self._checked = (
                buffers,
                (dictionary, _validated(dictionary, where)),
            )  # keep a reference to the dictionary, so that its addresses are not reused
        try:
            return pa.DictionaryArray.from_arrays(column.indices, self._checked[1][1])
        except (pa.ArrowInvalid, IndexError):
            raise broken(where, "codes point outside its dictionary") from None


def _kind(kind: Any, is_id: bool) -> str | None:
    """Return the kind of values of an Arrow type: "" if all are null, None if the type is not supported."""
    of = import_extra("pyarrow", "arrow").types
    kind = kind.value_type if of.is_dictionary(kind) else kind
    if of.is_null(kind):
        return ""
    if not is_id:
        return "numbers" if of.is_integer(kind) or of.is_floating(kind) or of.is_boolean(kind) else None
    if of.is_string(kind) or of.is_large_string(kind) or of.is_string_view(kind):
        return "str"
    if of.is_binary(kind) or of.is_large_binary(kind) or of.is_fixed_size_binary(kind) or of.is_binary_view(kind):
        return "bytes"
    return "int" if of.is_integer(kind) else None


def _validated(column: Any, where: str) -> Any:
    """Check that the offsets of a column lie within its data, and convert string and binary views to large types."""
    pa = import_extra("pyarrow", "arrow")
    of, kind = pa.types, column.type
    is_view = of.is_string_view(kind) or of.is_binary_view(kind)
    wide = of.is_large_string(kind) or of.is_large_binary(kind)
    try:
        column.validate(full=is_view)  # without full=True, only the first and last offset are checked
    except (pa.ArrowInvalid, IndexError):
        raise broken(where, "parts contradict each other") from None
    if is_view:
        return column.cast(pa.large_string() if of.is_string_view(kind) else pa.large_binary())
    if len(column) and (wide or of.is_string(kind) or of.is_binary(kind)):
        offsets = np.frombuffer(column.buffers()[1], np.int64 if wide else np.int32)[column.offset :]
        if np.any(np.diff(offsets[: len(column) + 1]) < 0):
            raise broken(where, "offsets point outside its data")
    return column


def parts_of(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Yield tables of whole queries. A table has about `rows` rows, or consists of one longer query."""
    pending: list[Any] = []
    size, rows = 0, min(int(rows), sys.maxsize)
    for batch in _slices(batches, rows):
        if not len(batch):
            pending = pending or [batch]
            continue
        if size and size + len(batch) > rows:
            ids = batch.column(0)
            cut = ids.index(ids[-1]).as_py()  # the first row of the last query
            if cut or pending[-1].column(0)[-1].as_py() != ids[0].as_py():
                yield _table([*pending, batch.slice(0, cut)])
                pending, size, batch = [], 0, batch.slice(cut)
        pending, size = pending if size else [], size + len(batch)
        pending.append(batch)
    if pending:
        yield _table(pending)


def _table(batches: list[Any]) -> Any:
    """Concatenate batches. If they have different types for a column, convert it to a common type."""
    pa = import_extra("pyarrow", "arrow")
    if all(batch.schema.equals(batches[0].schema) for batch in batches):
        return pa.Table.from_batches(batches)
    roles = batches[0].schema.names
    return pa.table([_joined(role, [_decoded(batch.column(role)) for batch in batches]) for role in roles], names=roles)


def _joined(role: str, parts: list[Any]) -> Any:
    pa = import_extra("pyarrow", "arrow")
    tables = [pa.table([part], names=[role]) for part in parts]
    try:
        return pa.concat_tables(tables, promote_options="permissive")[role]
    except pa.ArrowInvalid as error:
        raise ValueError(
            f"batches: the {ROLES[role]} has other types in later batches, and no common one: cast it to one ({error})"
        ) from None


def _decoded(column: Any) -> Any:
    return column.dictionary_decode() if import_extra("pyarrow", "arrow").types.is_dictionary(column.type) else column


def _slices(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Split batches into slices of at most `rows` rows."""
    for batch in batches:
        for start in range(0, max(len(batch), 1), rows):
            yield batch.slice(start, rows)


def reject_repeated_queries(
    column: Any, seen: set[Any], where: str = "batches", advice: str = "sort by query first"
) -> None:
    """Add the queries of a column to `seen`; raise an error if any of them was already there."""
    for query in _first_of_runs(column):
        if query in seen:
            raise ValueError(
                f"{where}: query {quoted(query)} comes again after others; "
                f"the rows of a query must be consecutive: {advice}"
            )
        seen.add(query)


def _first_of_runs(column: Any) -> list[Any]:
    """Return the values of a column, without consecutive repeats."""
    pc = import_extra("pyarrow.compute", "arrow")
    ids = column.combine_chunks()
    if len(ids) > 1:
        differs = pc.not_equal(ids.slice(1), ids.slice(0, len(ids) - 1))
        ids = import_extra("pyarrow", "arrow").chunked_array([ids.slice(0, 1), ids.slice(1).filter(differs)])
    try:
        return ids.to_pylist()  # type: ignore[no-any-return]
    except UnicodeDecodeError:
        raise broken("batches: the column of queries", "text is not UTF-8") from None


def sides_of(table: Any) -> tuple[Any, Any]:
    """Return the judged rows and the returned rows of a table, as two tables."""
    sides = []
    for name in "relevance", "score":
        side = table.select(["query_id", "doc_id", name])
        sides.append(side.filter(table[name].is_valid()) if table[name].null_count else side)
    if table["relevance"].null_count and table["score"].null_count:
        pc = import_extra("pyarrow.compute", "arrow")
        neither = pc.and_(table["relevance"].is_null(), table["score"].is_null())
        if pc.any(neither).as_py():
            raise _null(table, "batches", neither, "both relevance and score are null")
    return sides[0], sides[1]
