"""Judged documents, which are prepared once for any number of runs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Container, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from rankgain import _backend, _codes
from rankgain.choices import Missing
from rankgain.data.arrays import check_id
from rankgain.data.groups import QueryRows
from rankgain.data.ids import Column, Ids, Rows, column_of, ids_of, python_ids, rows_of
from rankgain.data.ragged import to_float64
from rankgain.data.source import Chunk, IdSide, Source, Truth, check_query_ids
from rankgain.data.subtopics import Covers
from rankgain.errors import BEYOND, ErrorCode, InputError, counted, located, quoted, refusal, short, warn
from rankgain.scalars import Array, Floats, Ints, id_kind, listed, size_of, to_intp

REPEATED = "the document repeats an earlier one"


class Judgments:
    """Judged documents and their grades for each query, as created by `rankgain.judgments`.

    Judgments are checked once and serve any number of runs. ``len(judgments)`` is the number of queries. Judgments can
    be pickled.

    Attributes
    ----------
    query_ids : sequence
        The queries, in the order of the results.

    Notes
    -----
    Judgments are compared by identity and can be used as dict keys. Two objects created from the same qrels are not
    equal.
    """

    __module__ = "rankgain"
    __slots__ = ("_judgments",)

    def __init__(self, judgments: JudgmentSets) -> None:
        self._judgments = judgments

    @property
    def query_ids(self) -> Sequence[Any]:
        """The queries, in the order of the results.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.judgments({"q1": {"d1": 2}}).query_ids
        ['q1']
        """
        return self._judgments.query_ids

    def __getstate__(self) -> dict[str, Any]:
        judgments = self._judgments.check()
        fields = "name", "query_ids", "offsets", "grades", "documents", "assumed", "columns", "text_ids", "index"
        covers = judgments.covers
        return {field: getattr(judgments, field) for field in fields} | {
            "covers": None if covers is None else covers.fields
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        fields = {name: state[name] for name in ("offsets", "grades", "documents")}
        self._judgments = JudgmentSets(state["name"], state["query_ids"]).with_columns(**fields)
        self._judgments.assumed, self._judgments.columns = state["assumed"], state["columns"]
        self._judgments.text_ids, self._judgments.index = state["text_ids"], state["index"]
        self._judgments.covers = None if state["covers"] is None else Covers(*state["covers"])

    def __len__(self) -> int:
        return len(self._judgments)

    def __repr__(self) -> str:
        covers = self._judgments.covers
        subtopics = "" if covers is None else f", {counted(len(covers.names), 'subtopic')}"
        return f"<Judgments of {len(self)} queries, {len(self._judgments.documents)} documents{subtopics}>"


def judgment_sets(judgments: Judgments) -> JudgmentSets:
    """Return the JudgmentSets object inside a Judgments object."""
    return judgments._judgments


class JudgmentSets:
    """Judged documents and their grades, one query after another. The documents of each query start at its offset.

    The documents are Python objects in `documents` or a column in `ids`; each is computed from the other on demand.
    `error_code`: the first error in the judgments. `unusual_grades`: whether grades may be negative or fractions.
    """

    error_code: ErrorCode = None
    unusual_grades = True
    assumed: tuple[str, ...] = ()  # assumptions made about the input, in words
    detail: object = ""  # a detail for the error message, such as the type of an invalid value
    hint = ""  # the end of the error for a repeated document
    error_row: int | None = None  # the row with the error, if read from a table
    column: str | None = None  # the name of the document column, if read from a table
    # By role, the column that was chosen by default, and the names of all columns; of judgments from a table.
    defaults: Mapping[str, tuple[Any, tuple[Any, ...]]] = MappingProxyType({})
    columns: int | None = None  # the number of columns, if read from a sparse matrix of judgments
    index: Any = None  # the labels of the queries, if read from a pandas Series
    text_ids = False  # whether ids are text only because the file has no types
    called = "the judgments"  # what errors call them
    covers: Covers | None = None  # the grades by subtopic; `grades` then has the highest grade of each document
    _judged: Any = None

    def __init__(self, name: str, query_ids: Sequence[Any], judged: Any = None) -> None:
        """`judged`: the judgments as read from dicts. If it is omitted, call `with_columns` next."""
        self.name = name
        self.query_ids = query_ids
        if judged is not None:
            self._judged = judged
            self.error_code = judged.error_code
            self.unusual_grades = judged.unusual_grades
            self.has_non_relevant = judged.has_non_relevant

    def with_columns(
        self, offsets: Ints, grades: Floats, *, ids: Ids | None = None, documents: list[Any] | None = None
    ) -> JudgmentSets:
        """Set the offsets of the queries, the grades, and the documents, given as a list or as a column of ids."""
        self.offsets = offsets
        self.grades = grades
        if documents is not None:
            self.documents = documents
        if ids is not None:
            self.ids = ids
            self.error_code = self._first_error(ids)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without data that only the current backend can use."""
        state = {name: value for name, value in vars(self).items() if name not in ("_judged", "numbered")}
        if self._judged is not None:
            state |= {"offsets": self.offsets, "grades": self.grades, "documents": self.documents}
        return state

    @property
    def judged(self) -> Any:
        """The judgments in the form that the current backend matches with runs given as dicts."""
        kind = _backend.dicts.JudgmentDicts
        if type(self._judged) is not kind:
            self._judged = kind.of(self.documents, self.offsets, self.grades)
        return self._judged

    @cached_property
    def offsets(self) -> Ints:
        """The position at which the documents of each query start, followed by the end of the last query."""
        return np.frombuffer(self._judged.arrays()[0], dtype=np.int64)

    @cached_property
    def grades(self) -> Floats:
        """The grade of each document. Negative grades mark documents that are pooled but unjudged."""
        return np.frombuffer(self._judged.arrays()[1], dtype=np.float64)

    @property
    def size(self) -> int:
        """The number of judged documents."""
        total: int = len(self.grades) if self._judged is None else self._judged.total
        return total

    @cached_property
    def has_non_relevant(self) -> bool:
        """Whether any document is judged to be not relevant, or pooled."""
        return bool(np.any(self.grades <= 0.0))

    def _first_error(self, ids: Ids) -> ErrorCode:
        """Return the error for the first grade that is not finite or the first document repeated in a query."""
        errors: list[ErrorCode] = []
        lowest, highest = self.grades.min(initial=0.0), self.grades.max(initial=0.0)  # both are NaN if any grade is NaN
        if not (np.isfinite(lowest) and np.isfinite(highest)):
            row = int(np.argmin(np.isfinite(self.grades)))
            query = int(np.searchsorted(self.offsets, row, side="right")) - 1
            code = _codes.NAN_GRADE if np.isnan(self.grades[row]) else _codes.INFINITE_GRADE
            errors.append((code, query, row - int(self.offsets[query])))
        errors.append(_backend.columns.repeated(*ids.take(slice(None)).buffers(), self.offsets))
        return min(filter(None, errors), key=lambda error_code: error_code[1:], default=None)

    def __len__(self) -> int:
        return len(self.query_ids)

    @cached_property
    def documents(self) -> list[Any]:
        """The documents as Python objects."""
        if "ids" not in vars(self):
            return self._judged.documents  # type: ignore[no-any-return]
        return python_ids(self.ids.take(slice(None)), self.ids.kind)

    @cached_property
    def ids(self) -> Ids:
        """The documents as a column of ids."""
        try:
            return ids_of(self.documents[: len(self.grades)])  # the last document has no grade if it is invalid
        except InputError as error:
            query = int(np.searchsorted(self.offsets, error.position, side="right")) - 1
            document = self.documents[error.position]
            where = f"{self.name}: query {quoted(self.query_ids[query])}, document {quoted(document)}"
            raise refusal(error.code, where, error.detail or self.detail) from None

    def matching(self, queries: Collection[Any], documents: type) -> JudgmentSets:
        """Return the judgments, with ids converted to the types used by a run where possible.

        If the judgments have `text_ids` and the run has integers, the ids become integers, provided that this is
        lossless. `documents`: the type of the run's document ids.
        """
        if not self.text_ids:
            return self
        names = _queries_like(self.query_ids, next(iter(queries), None))
        ids = as_integers(self.documents) if documents is int else None
        if names is None and ids is None:
            return self
        sets = JudgmentSets(self.name, self.query_ids if names is None else names)
        sets.assumed, sets.covers = self.assumed, self.covers
        return sets.with_columns(self.offsets, self.grades, ids=self.ids if ids is None else ids_of(ids))

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """The index of each query."""
        return dict(zip(self.query_ids, range(len(self.query_ids)), strict=True))

    @cached_property
    def numbered(self) -> JudgmentSets:
        """The same judgments with the position of each document in its query in place of the grade.

        Negative grades become −1, so that these documents stay pooled but unjudged.
        """
        sizes = np.diff(self.offsets)
        numbers = np.arange(len(self.grades), dtype=np.float64) - np.repeat(self.offsets[:-1], to_intp(sizes))
        sets = JudgmentSets(self.name, self.query_ids)
        sets.documents = self.documents
        return sets.with_columns(self.offsets, np.where(self.grades < 0.0, -1.0, numbers), ids=self.ids)

    def rows(self, queries: Ints) -> tuple[Rows, Ints]:
        """Return the rows of the given queries, one query after another, and the offsets of the queries.

        The index −1 stands for a query without documents.
        """
        return rows_of(self.offsets[:-1], self.offsets[1:], queries)

    def of_query(self, number: int) -> dict[Any, float]:
        """Return a dict with the grade of each judged document of a query."""
        rows = slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        in_column = "ids" in vars(self) and "documents" not in vars(self)
        ids = python_ids(self.ids.take(rows), self.ids.kind) if in_column else self.documents[rows]
        return dict(zip(ids, self.grades[rows].tolist(), strict=True))

    def check(self) -> Self:
        """Return the judgments, or raise their first error."""
        if self.error_code is not None:
            code, query, position = self.error_code
            raise self.refusal(f"query {quoted(self.query_ids[query])}", query, InputError(code, 0, position))
        return self

    def refusal(self, query_name: str, query: int, error: InputError) -> Exception:
        """Return the exception for an error in the judgments of a query."""
        where, detail = f"{self.name}: {query_name}", error.detail or self.detail
        start, stop = int(self.offsets[query]), int(self.offsets[query + 1])
        judged = np.flatnonzero(self.grades[start:stop] >= 0.0)
        if error.gain is not None:
            error = located(error, self.grades[start:stop][judged])
            where, detail = f"{where}, document {quoted(self.documents[start + judged[error.position]])}", error.detail
        elif error.position >= 0:
            document = self.documents[start + error.position]
            where = f"{where}, document {quoted(document)}"
            where += "" if self.error_row is None else f" (row {self.error_row})"
            if error.code & ~_codes.IN_JUDGED == _codes.DUPLICATE:
                return ValueError(f"{refusal(error.code | _codes.IN_JUDGED, where, REPEATED)}{self.hint}")
        return refusal(error.code | _codes.IN_JUDGED, where, detail)


def _queries_like(queries: Sequence[Any], other: Any) -> list[Any] | None:
    """Return queries whose text is converted to integers where a query of the other side has integers.

    Return None if nothing is to be converted, or a conversion would not be lossless.
    """
    if not (isinstance(other, tuple) and len(queries) and isinstance(queries[0], tuple)):
        return as_integers(list(queries)) if id_kind(other) is int else None
    columns = [*zip(*queries, strict=True)]
    if len(columns) != len(other):
        return None
    pairs = zip(columns, other, strict=True)
    converted = [as_integers([*column]) if id_kind(part) is int else column for column, part in pairs]
    return None if None in converted else [*zip(*filter(None, converted), strict=True)]


def as_integers(texts: list[str]) -> list[int] | None:
    """Convert text ids to integers.

    Return None if an integer does not fit in 64 bits or would not convert back to the same text.
    """
    try:
        numbers = list(map(int, texts))
    except ValueError:
        return None
    fits = not numbers or (min(numbers) >= -(2**63) and max(numbers) < 2**63)
    return numbers if fits and list(map(str, numbers)) == texts else None


def of_dicts(
    queries: Sequence[Any], judgments: Iterable[Mapping[Any, float]], name: str, only: Container[Any] | None = None
) -> JudgmentSets:
    """Read judgments from dicts that map documents to grades, but only for the queries in `only`, if given."""
    by_query: list[Any] = judgments if type(judgments) is list else listed(judgments)
    if only is not None:
        by_query = _of_those_in(only, queries, by_query)
    sets = JudgmentSets(name, queries, _backend.dicts.JudgmentDicts(by_query))
    if sets.error_code is not None and sets.error_code[2] >= 0:
        code, query, position = sets.error_code
        document, value = next(islice(as_dict(by_query[query]).items(), position, None))
        sets.detail = "" if code == _codes.NULL_ID else type_name(value)
        if code == _codes.ID_TYPE:
            sets.detail = f"{type(document).__name__}; for each query, write {tensor_line('grade')}"
        sets.documents.append(document)
    return sets


def _of_those_in(only: Container[Any], queries: Sequence[Any], by_query: list[Any]) -> list[Any]:
    """Return the grades by query, with empty dicts for the queries that are not in `only`."""
    return [grades if query in only else {} for query, grades in zip(queries, by_query, strict=True)]


def tensor_line(number: str) -> str:
    """Return the line that converts the keys of a dict, which are tensors. `number`: what the values are."""
    return f"{{doc.item(): {number} for doc, {number} in {number}s.items()}}"


def of_covers(name: str, queries: Sequence[Any], covers: Covers) -> JudgmentSets:
    """Return judgments by subtopic as judgments in which a document has its highest grade."""
    sets = JudgmentSets(name, queries)
    sets.covers = covers
    return sets.with_columns(covers.document_offsets, covers.highest, documents=covers.documents)


def warn_of_negative_grades(judgments: JudgmentSets) -> None:
    """Warn about negative grades, except for -1 and -2, which mark unjudged documents in trec_eval's files."""
    if not judgments.unusual_grades:
        return
    grades = judgments.grades if judgments.covers is None else judgments.covers.grades
    others = grades[(grades < 0.0) & (grades != -1.0) & (grades != -2.0)]
    if len(others):
        warn(
            f"{judgments.name} has {counted(len(others), 'negative grade')} other than -1 and -2, such as "
            f"{short(float(others[0]))}: such documents count as unjudged (gain 0, never relevant). If they are judged "
            "and not relevant, give 0; if grades begin below 0, add a constant to all"
        )


def type_name(value: Any) -> str:
    """Return the type name of an invalid number for an error message."""
    return BEYOND if type(value) is int else type(value).__name__


def of_ids(name: str, groups: QueryRows, documents: Ids, grades: Column) -> JudgmentSets:
    """Read judgments from columns with one row per document."""
    rows, offsets = groups.rows(np.arange(len(groups)))
    ids = column_of(documents.take(rows), documents.kind)
    return JudgmentSets(name, groups.names).with_columns(offsets, to_float64(grades[rows]), ids=ids)


def as_dict(documents: Mapping[Any, float]) -> dict[Any, float]:
    return documents if type(documents) is dict else dict(documents)


class JudgmentSource(Source):
    """A run together with its judgments."""

    has_ids = True
    part = False  # whether the run is part of a larger run, and may therefore share no query with the judgments

    def __init__(
        self,
        judgments: JudgmentSets,
        run_name: str,
        run_queries: Collection[Any],
        common: Sequence[int] | Ints | None,
        missing: Missing | None,
        query_ids: Iterable[Hashable] | None,
    ) -> None:
        """`common`: the indices of the judged queries that the run has, or None if the run has all of them."""
        names = judgments.query_ids
        are_positions, queries = type(names) is range, len(names)
        in_run = queries if common is None else len(common)
        unjudged = size_of(run_queries) - in_run
        if queries and are_positions and type(run_queries) is not range:
            _check_positions(queries, run_queries, (judgments.name, run_name))
        if not in_run and not self.part:
            raise _without_common_query(judgments, run_queries, run_name)
        if in_run < queries and unjudged > 0 and not self.part:
            from rankgain.data.other_queries import warn_of_other_queries  # imported only when needed

            warn_of_other_queries(judgments.query_ids, run_queries, (judgments.name, run_name))
        self._judgments = judgments
        self.covers = judgments.covers
        self._run_name = run_name
        self.assumed = judgments.assumed
        self._common = common
        self.missing = missing
        self.left_out = queries - in_run, unjudged
        # The index of each evaluated query among the judged queries; None if all judged queries are evaluated.
        self._numbers = None if missing == "zero" or in_run == queries else np.asarray(common, dtype=np.int64)
        if self._numbers is not None:
            names = list(map(names.__getitem__, self._numbers.tolist()))
        elif not are_positions:
            names = names[:]
        self._named = query_ids is not None
        if query_ids is not None:
            names = check_query_ids(query_ids, len(names))
        elif not are_positions and not _HASHABLE.issuperset(map(type, names)):
            names = check_query_ids(names, len(names), judgments.name)
        self.query_ids = names
        if judgments.error_code is not None:
            self.first_invalid_query = self._first_invalid_query(judgments.error_code)

    def _index_of(self, number: int) -> int | None:
        """Return the index of a judged query among the evaluated queries, or None if the query is not evaluated."""
        if self._numbers is None:
            return number
        index = int(np.searchsorted(self._numbers, number))
        return index if index < len(self._numbers) and self._numbers[index] == number else None

    def _number(self, query: int) -> int:
        """Return the index of an evaluated query among the judged queries."""
        return query if self._numbers is None else int(self._numbers[query])

    def _numbers_of(self, start: int, stop: int) -> Ints:
        return np.arange(start, stop) if self._numbers is None else self._numbers[start:stop]

    def _names_under(self, missing: Missing) -> list[Any] | None:
        """Return the caller's query ids after a change of the rule for missing queries.

        Return None if the caller gave no query ids.
        """
        if not self._named:
            return None
        if missing == "zero" and self.left_out[0]:
            raise ValueError("missing='zero': query_ids named only the queries that the run has")
        numbers = range(len(self.query_ids)) if missing == "zero" or self._common is None else self._common
        return [self.query_ids[int(number)] for number in numbers]

    @property
    def has_non_relevant(self) -> bool:  # type: ignore[override]
        return self._judgments.has_non_relevant

    def _names_non_empty(self) -> list[Any] | None:
        """Return the caller's query ids of the queries that returned documents, or None if the caller gave none."""
        return [self.query_ids[query] for query in np.flatnonzero(self.sizes).tolist()] if self._named else None

    @property
    def judged_column(self) -> str | None:
        """The column of judged documents, if the judgments were read from a table."""
        return self._judgments.column

    @property
    def has_numbered_queries(self) -> bool:
        """Whether queries are only numbered, as they are in lists."""
        return type(self._judgments.query_ids) is range

    def _keys_and_ids(self) -> tuple[list[Any], Sequence[Any]]:
        """Return the evaluated queries as the run has them, and their ids; no ids if queries are only numbered."""
        names = self._judgments.query_ids
        keys = [names[number] for number in self._numbers_of(0, len(self.query_ids)).tolist()]
        return keys, keys if type(names) is not range else self.query_ids if self._named else ()

    def id_sides(self) -> tuple[IdSide, IdSide]:
        judgments = IdSide(self._judgments.name, lambda query: list(self._judgments.of_query(self._number(query))))
        return judgments, IdSide(self._run_name, self.documents_of)

    @property
    def n_judged(self) -> int:
        return self._judgments.size

    def some_grades(self, most: int) -> Array:
        return self._judgments.grades[:most]

    def truth(self) -> Truth:
        lists: list[list[Any]] = []

        def of_query(query: int) -> dict[Any, float]:
            """Return the grades of a query from lists of all, since most queries will be asked for."""
            if not lists:
                sets = self._judgments
                lists.extend((sets.offsets.tolist(), sets.documents, sets.grades.tolist()))
            offsets, documents, grades = lists
            number = self._number(query)
            rows = slice(offsets[number], offsets[number + 1])
            return dict(zip(documents[rows], grades[rows], strict=True))

        return Truth(self.query_ids, of_query, self._judgments)

    def documents_of(self, query: int) -> list[Any]:
        """Return the documents that a query returned, as Python objects."""
        return []

    @property
    def may_have_one_document(self) -> tuple[bool, bool]:
        """Whether each query may have at most one judged and at most one returned document, as far as counts show."""
        return False, False

    @property
    def judged_sizes(self) -> Ints:
        offsets, numbers = self._judgments.offsets, self._numbers
        return np.diff(offsets) if numbers is None else offsets[numbers + 1] - offsets[numbers]

    @property
    def loads(self) -> Ints:
        return self.sizes + self.judged_sizes

    @property
    def load(self) -> int:
        return int(self.loads.sum())

    @property
    def longest(self) -> int:
        return max(int(self.sizes.max(initial=0)), int(self.judged_sizes.max(initial=0)))

    def capacity(self, start: int, stop: int) -> tuple[int, int]:
        judged = int(self.judged_sizes[start:stop].sum())
        return judged, judged

    def chunk(self, start: int, stop: int) -> Chunk:
        return self.chunk_of(self._judgments, start, stop)

    def numbered_chunk(self, start: int, stop: int) -> Chunk:
        """Return a chunk in which documents have their positions in the judgments of the query in place of grades."""
        return self.chunk_of(self._judgments.numbered, start, stop)

    @abstractmethod
    def chunk_of(self, judgments: JudgmentSets, start: int, stop: int) -> Chunk:
        """Return queries start … stop − 1 with the grades in `judgments`, which are of the same documents."""

    @property
    def judgment_numbers(self) -> Ints:
        """The index of each query among the judged queries."""
        return self._numbers_of(0, len(self.query_ids))

    def _first_invalid_query(self, error_code: tuple[int, ...]) -> tuple[int, Exception]:
        """Return the index of the first query with invalid judgments, and the exception to raise for it."""
        code, number, position = error_code
        index = self._index_of(number)
        if index is None:
            self._judgments.check()
        assert index is not None
        error = InputError(code + _codes.IN_JUDGED, index, position)
        return index, self._judgments.refusal(self.query_name(index), number, error)

    def refusal(self, query: int, error: InputError) -> Exception:
        if error.code in _IN_RUN and error.gain is None:
            return self.run_refusal(query, error)
        return self._judgments.refusal(self.query_name(query), self._number(query), error)

    @abstractmethod
    def run_refusal(self, query: int, error: InputError) -> Exception:
        """Return the exception for an error in the run."""


def _check_positions(count: int, run_queries: Collection[Any], names: tuple[str, str]) -> None:
    """Refuse a run with keys beside judgments without, unless all keys are positions."""
    for key in run_queries:
        is_integer = type(key) is int or (isinstance(key, (int, np.integer)) and not isinstance(key, bool))
        if not is_integer or not 0 <= key < count:
            raise ValueError(
                f"{names[0]} has no keys, so its queries are 0 to {count - 1}, and {names[1]} has the key "
                f"{quoted(key)}: pass truth by the same keys, as in dict(zip(keys, truth)), or the run as a list in "
                "the order of the truth"
            )


def _without_common_query(judgments: JudgmentSets, run_queries: Collection[Any], run_name: str) -> ValueError:
    from rankgain.data.other_queries import shown  # imported only when needed

    names = judgments.name, run_name
    for name, queries in zip(names, (judgments.query_ids, run_queries), strict=True):
        for query in islice(queries, 1):
            check_id(query, f"{name}: position 0")  # tensors are hashed by identity, and NaN differs from itself
    reasons = list(filter(None, [types(judgments.query_ids, run_queries, names)]))
    if len(judgments) and len(run_queries):
        documents = [] if judgments.error_code is None else judgments.documents
        reasons.append(shown(judgments.query_ids, run_queries, names, documents))
    return ValueError(f"{names[0]} and {run_name} have no query in common: {'; '.join(reasons)}")


_HASHABLE = frozenset((str, bytes, int))  # query ids of these types are always hashable


_IN_RUN = {
    _codes.NAN_SCORE,
    _codes.SCORE_TYPE,
    _codes.MIXED_IDS,
    _codes.OTHER_IDS,
    _codes.CHANGED,
    _codes.DUPLICATE,
}


def types(judgments: Collection[Any], run: Collection[Any], names: tuple[str, str]) -> str:
    """Describe for an error how the ids of judgments and run differ in type, or which of the two is empty."""
    for side, name in zip((judgments, run), names, strict=True):
        if not len(side):
            return f"{name} is empty"
    first = [next(iter(side)) for side in (judgments, run)]
    kinds = [type(each).__name__ for each in first]
    if kinds == ["tuple", "tuple"]:
        kinds = [f"({', '.join(type(part).__name__ for part in key)})" for key in first]
    if kinds[0] == kinds[1]:
        return ""
    return f"{kinds[0]} in {names[0]}, {kinds[1]} in {names[1]}{conversion(kinds, names)}"


def conversion(kinds: Sequence[str], names: Sequence[str], columns: Sequence[str | None] = (None, None)) -> str:
    """Return the end of an error about different id types: how to convert the ids that can always be converted."""
    for kind, call, method in (("bytes", "id.decode()", ".str.decode('utf-8')"), ("int", "str(id)", ".astype(str)")):
        if {*kinds} <= {kind, "str"}:
            side = kinds.index(kind)
            column = "" if columns[side] is None else f" ({names[side]}[{columns[side]!r}]{method} in pandas)"
            return f"; convert those in {names[side]} to text: {call}{column}"
    return ""
