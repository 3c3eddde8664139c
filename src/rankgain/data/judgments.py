"""Judged documents, prepared once for any number of runs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Container, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Self

import numpy as np

from rankgain import _backend, _codes
from rankgain.choices import Missing
from rankgain.data.groups import QueryRows
from rankgain.data.ids import Column, Ids, Rows, column_of, ids_of, python_ids, rows_of
from rankgain.data.no_hits import NamedSide, warn_of_other_ids
from rankgain.data.ragged import to_float64
from rankgain.data.source import Source, check_query_ids
from rankgain.errors import BEYOND, ErrorCode, InputError, counted, located, quoted, refusal, short, warn
from rankgain.scalars import Floats, Ints, id_kind, listed, size_of

REPEATED = "the document repeats an earlier one"
_DICT = frozenset((dict,))


class Judgments:
    """Judged documents and grades by query; made by `rankgain.judgments`.

    They are checked once and serve any number of runs. ``len(judgments)`` is the number of queries. They can be
    pickled.

    Attributes
    ----------
    query_ids : sequence
        The queries, in the order of the results.

    Notes
    -----
    Judgments are compared by identity, so that they can be keys of dicts: two made from the same qrels are not equal.
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
        fields = "name", "query_ids", "offsets", "grades", "documents", "assumed", "columns", "text_ids"
        return {field: getattr(judgments, field) for field in fields}

    def __setstate__(self, state: dict[str, Any]) -> None:
        fields = {name: state[name] for name in ("offsets", "grades", "documents")}
        self._judgments = JudgmentSets(state["name"], state["query_ids"]).with_columns(**fields)
        self._judgments.assumed, self._judgments.columns = state["assumed"], state["columns"]
        self._judgments.text_ids = state["text_ids"]

    def __len__(self) -> int:
        return len(self._judgments)

    def __repr__(self) -> str:
        return f"<Judgments of {len(self)} queries, {len(self._judgments.documents)} documents>"


def judgment_sets(judgments: Judgments) -> JudgmentSets:
    """The JudgmentSets inside Judgments."""
    return judgments._judgments


class JudgmentSets:
    """Judged documents and their grades, query by query, from the `offsets`.

    The documents are Python objects in `documents` or a column in `ids`; either is computed from the other on demand.
    `error_code`: the first error in the judgments. `unusual_grades`: whether a grade may be negative or a fraction.
    """

    error_code: ErrorCode = None
    unusual_grades = True
    assumed: tuple[str, ...] = ()  # assumptions made about the input, in words
    detail: object = ""  # the detail of the error, such as the type of an invalid value
    error_row: int | None = None  # the row of the error, in a table
    column: str | None = None  # the name of the column of documents, in a table
    columns: int | None = None  # the number of columns, if read from a sparse matrix
    text_ids = False  # whether ids are text because the file has no types
    _judged: Any = None

    def __init__(self, name: str, query_ids: Sequence[Any], judged: Any = None) -> None:
        """`judged`: the documents as read from dicts; without it, call `with_columns` next."""
        self.name = name
        self.query_ids = query_ids
        if judged is not None:
            self._judged = judged
            self.error_code = judged.error_code
            self.unusual_grades = judged.unusual_grades

    def with_columns(
        self, offsets: Ints, grades: Floats, *, ids: Ids | None = None, documents: list[Any] | None = None
    ) -> JudgmentSets:
        """Set the offsets of the queries, the grades, and the documents as a list or a column of ids."""
        self.offsets = offsets
        self.grades = grades
        if documents is not None:
            self.documents = documents
        if ids is not None:
            self.ids = ids
            self.error_code = self._first_error(ids)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """The state without the data that only the current backend can use."""
        state = {name: value for name, value in vars(self).items() if name != "_judged"}
        if self._judged is not None:
            state |= {"offsets": self.offsets, "grades": self.grades, "documents": self.documents}
        return state

    @property
    def judged(self) -> Any:
        """The judgments as the current backend matches dicts against them."""
        kind = _backend.dicts.JudgmentDicts
        if type(self._judged) is not kind:
            self._judged = kind.of(self.documents, self.offsets, self.grades)
        return self._judged

    @cached_property
    def offsets(self) -> Ints:
        """Where the documents of each query start; the last entry is the end."""
        return np.frombuffer(self._judged.arrays()[0], dtype=np.int64)

    @cached_property
    def grades(self) -> Floats:
        """The grade of each document; negative: pooled but unjudged."""
        return np.frombuffer(self._judged.arrays()[1], dtype=np.float64)

    def _first_error(self, ids: Ids) -> ErrorCode:
        """The first grade that is not finite, or document that a query has twice."""
        errors: list[ErrorCode] = []
        lowest, highest = self.grades.min(initial=0.0), self.grades.max(initial=0.0)  # both NaN if a grade is NaN
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
        """The documents as a column."""
        try:
            return ids_of(self.documents[: len(self.grades)])  # an invalid document comes last, without a grade
        except InputError as error:
            query = int(np.searchsorted(self.offsets, error.position, side="right")) - 1
            document = self.documents[error.position]
            where = f"{self.name}: query {quoted(self.query_ids[query])}, document {quoted(document)}"
            raise refusal(error.code, where, error.detail) from None

    def matching(self, queries: Collection[Any], documents: type) -> JudgmentSets:
        """The judgments for a run: `text_ids` become integers if the run has integers, and if that is lossless.

        `documents`: the type of the run's documents.
        """
        if not self.text_ids:
            return self
        of_integers = len(queries) > 0 and id_kind(next(iter(queries))) is int
        names = as_integers(list(self.query_ids)) if of_integers else None
        ids = as_integers(self.documents) if documents is int else None
        if names is None and ids is None:
            return self
        sets = JudgmentSets(self.name, self.query_ids if names is None else names)
        sets.assumed = self.assumed
        return sets.with_columns(self.offsets, self.grades, ids=self.ids if ids is None else ids_of(ids))

    def rows(self, queries: Ints) -> tuple[Rows, Ints]:
        """The rows of some queries, one query after the other, and the offsets; −1: no documents."""
        return rows_of(self.offsets[:-1], self.offsets[1:], queries)

    def of_query(self, number: int) -> dict[Any, float]:
        """The grades of a query by document."""
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
        """The exception for an error in the judgments of a query."""
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
            detail = REPEATED if error.code & ~_codes.IN_JUDGED == _codes.DUPLICATE else detail
        return refusal(error.code | _codes.IN_JUDGED, where, detail)


def as_integers(texts: list[str]) -> list[int] | None:
    """Text ids as integers; None if an id does not fit in 64 bits or would not convert back to the same text."""
    try:
        numbers = list(map(int, texts))
    except ValueError:
        return None
    fits = not numbers or (min(numbers) >= -(2**63) and max(numbers) < 2**63)
    return numbers if fits and list(map(str, numbers)) == texts else None


def of_dicts(
    queries: Sequence[Any], judgments: Iterable[Mapping[Any, float]], name: str, only: Container[Any] | None = None
) -> JudgmentSets:
    """The judgments in dicts of grades by document; queries that are not in `only` are not read."""
    by_query: list[Any] = judgments if type(judgments) is list else listed(judgments)
    if only is not None:
        by_query = [grades if query in only else {} for query, grades in zip(queries, by_query, strict=True)]
    if not _DICT.issuperset(map(type, by_query)):
        by_query = list(map(as_dict, by_query))
    sets = JudgmentSets(name, queries, _backend.dicts.JudgmentDicts(by_query))
    if sets.error_code is not None and sets.error_code[2] >= 0:
        code, query, position = sets.error_code
        document, value = next(islice(by_query[query].items(), position, None))
        sets.detail = "" if code == _codes.NULL_ID else type_name(value)
        sets.documents.append(document)
    return sets


def warn_of_negative_grades(judgments: JudgmentSets) -> None:
    """Warn about negative grades other than -1 and -2, which mark unjudged documents in trec_eval's files."""
    if not judgments.unusual_grades:
        return
    grades = judgments.grades
    others = grades[(grades < 0.0) & (grades != -1.0) & (grades != -2.0)]
    if len(others):
        warn(
            f"{judgments.name} has {counted(len(others), 'negative grade')} other than -1 and -2, such as "
            f"{short(float(others[0]))}: such documents count as unjudged (gain 0, never relevant). If they are judged "
            "and not relevant, give 0; if grades begin below 0, add a constant to all"
        )


def type_name(value: Any) -> str:
    """The name of the type of an invalid number, for errors."""
    return BEYOND if type(value) is int else type(value).__name__


def of_ids(name: str, groups: QueryRows, documents: Ids, grades: Column) -> JudgmentSets:
    """The judgments in columns, one row per document."""
    rows, offsets = groups.rows(np.arange(len(groups)))
    ids = column_of(documents.take(rows), documents.kind)
    return JudgmentSets(name, groups.names).with_columns(offsets, to_float64(grades[rows]), ids=ids)


def as_dict(documents: Mapping[Any, float]) -> dict[Any, float]:
    return documents if type(documents) is dict else dict(documents)


class JudgmentSource(Source):
    """A run with its judgments."""

    has_ids = True
    part = False  # whether this is part of larger data; a part may have no query in common with the judgments

    def __init__(
        self,
        judgments: JudgmentSets,
        run_name: str,
        run_queries: Collection[Any],
        common: Sequence[int] | Ints | None,
        missing: Missing | None,
        query_ids: Iterable[Hashable] | None,
    ) -> None:
        """`common`: the numbers of the judged queries that the run has; None: all."""
        queries = len(judgments.query_ids)
        in_run = queries if common is None else len(common)
        if not in_run and not self.part:
            reason = types(judgments.query_ids, run_queries, (judgments.name, run_name))
            raise ValueError(f"{judgments.name} and {run_name} have no query in common{reason and ': ' + reason}")
        self._judgments = judgments
        self._run_name = run_name
        self.assumed = judgments.assumed
        self._common = common
        self.missing = missing
        self.left_out = queries - in_run, size_of(run_queries) - in_run
        # the number of each evaluated query among the judged queries; None if all of them are evaluated
        self._numbers = None if missing == "zero" or in_run == queries else np.asarray(common, dtype=np.int64)
        names = judgments.query_ids
        if self._numbers is not None:
            names = [names[number] for number in self._numbers.tolist()]
        elif type(names) is not range:
            names = names[:]
        self._named = query_ids is not None
        if query_ids is not None:
            names = check_query_ids(query_ids, len(names))
        elif type(names) is not range and not _HASHABLE.issuperset(map(type, names)):
            names = check_query_ids(names, len(names), judgments.name)
        self.query_ids = names
        if judgments.error_code is not None:
            self.first_invalid_query = self._first_invalid_query(judgments.error_code)

    def _index_of(self, number: int) -> int | None:
        """The index of a judged query among the evaluated queries; None if it is not evaluated."""
        if self._numbers is None:
            return number
        index = int(np.searchsorted(self._numbers, number))
        return index if index < len(self._numbers) and self._numbers[index] == number else None

    def _number(self, query: int) -> int:
        """The number of an evaluated query among the judged queries."""
        return query if self._numbers is None else int(self._numbers[query])

    def _numbers_of(self, start: int, stop: int) -> Ints:
        return np.arange(start, stop) if self._numbers is None else self._numbers[start:stop]

    def _names_under(self, missing: Missing) -> list[Any] | None:
        """The caller's query ids under another rule for missing queries; None if the caller gave none."""
        if not self._named:
            return None
        if missing == "zero" and self.left_out[0]:
            raise ValueError("missing='zero': query_ids named only the queries that the run has")
        numbers = range(len(self.query_ids)) if missing == "zero" or self._common is None else self._common
        return [self.query_ids[int(number)] for number in numbers]

    def warn_of_other_ids(self) -> None:
        judgments = NamedSide(self._judgments.name, lambda query: list(self._judgments.of_query(self._number(query))))
        warn_of_other_ids(judgments, NamedSide(self._run_name, self.documents_of), len(self.query_ids))

    def documents_of(self, query: int) -> list[Any]:
        """The documents that a query returned, as Python objects."""
        return []

    @property
    def judged_sizes(self) -> Ints:
        sizes = np.diff(self._judgments.offsets)
        return sizes if self._numbers is None else sizes[self._numbers]

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

    def judged(self, start: int, stop: int) -> tuple[Rows, Ints, Floats]:
        """The rows of the judged documents of the queries start … stop − 1, their offsets, and the grades."""
        rows, offsets = self._judgments.rows(self._numbers_of(start, stop))
        return rows, offsets, self._judgments.grades[rows]

    def _first_invalid_query(self, error_code: tuple[int, ...]) -> tuple[int, Exception]:
        """The first query with invalid judgments, and the exception to raise there."""
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
        """The exception for an error in the run."""


_HASHABLE = frozenset((str, bytes, int))  # query ids of these types need no check


_IN_RUN = {
    _codes.NAN_SCORE,
    _codes.SCORE_TYPE,
    _codes.MIXED_IDS,
    _codes.OTHER_IDS,
    _codes.CHANGED,
    _codes.DUPLICATE,
}


def types(judgments: Collection[Any], run: Collection[Any], names: tuple[str, str]) -> str:
    """The types of the ids of both sides if they differ, or the name of the empty side; for errors."""
    for side, name in zip((judgments, run), names, strict=True):
        if not len(side):
            return f"{name} is empty"
    kinds = [type(next(iter(side))).__name__ for side in (judgments, run)]
    if kinds[0] == kinds[1]:
        return ""
    return f"{kinds[0]} in {names[0]}, {kinds[1]} in {names[1]}{conversion(kinds, names)}"


def conversion(kinds: Sequence[str], names: Sequence[str], columns: Sequence[str | None] = (None, None)) -> str:
    """The end of an error for ids of two types: how to convert the side whose ids can always be converted."""
    for kind, call, method in (("bytes", "id.decode()", ".str.decode('utf-8')"), ("int", "str(id)", ".astype(str)")):
        if {*kinds} <= {kind, "str"}:
            side = kinds.index(kind)
            column = "" if columns[side] is None else f" ({names[side]}[{columns[side]!r}]{method} in pandas)"
            return f"; convert those in {names[side]} to text: {call}{column}"
    return ""
