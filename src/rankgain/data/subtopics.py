"""Judgments by subtopic: the grade of each document for each subtopic of its query."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from rankgain._codes import EMPTY_ID
from rankgain.data.ragged import offsets_of
from rankgain.errors import quoted, refusal, remedy_for, warn
from rankgain.scalars import Floats, Ints, id_kind, is_null, paired, real, to_intp

_UNTOLD = ("0", b"0", 0, "Q0", b"Q0")  # what fills TREC's field 2 if it holds no subtopic
_WITHOUT_CHECK = frozenset((str, bytes, int))
_NUMBERS = frozenset((int, float))


class Covers:
    """The grade of each document for each subtopic that it is judged for, one row per grade.

    Subtopics and documents are numbered over all queries, documents in the order of the judgments. `names` has the name
    of each subtopic, and the subtopics of each query start at its offset in `offsets`; likewise for `documents`.
    `starts` has the first row of each document, followed by the end. The rows of a document are in ascending order of
    subtopics. `weights` is None if all subtopics weigh 1.
    """

    def __init__(
        self,
        document_offsets: Ints,
        documents: list[Any],
        offsets: Ints,
        names: list[Any],
        starts: Ints,
        subtopics: Ints,
        grades: Floats,
        weights: Floats | None = None,
    ) -> None:
        self.document_offsets = document_offsets
        self.documents = documents
        self.offsets = offsets
        self.names = names
        self.starts = starts
        self.subtopics = subtopics
        self.grades = grades
        self.weights = weights
        self.cache: dict[Any, Any] = {}  # what metrics compute from these judgments alone

    @property
    def fields(self) -> tuple[Any, ...]:
        """The arguments that create an equal object."""
        rows = self.starts, self.subtopics, self.grades
        return self.document_offsets, self.documents, self.offsets, self.names, *rows, self.weights

    def weighted(self, weights: Floats) -> Covers:
        """Return the same covers with a weight for each subtopic."""
        return Covers(*(*self.fields[:-1], weights))

    def __reduce__(self) -> tuple[Any, ...]:
        return Covers, self.fields

    @cached_property
    def weight(self) -> Floats:
        """The weight of each subtopic."""
        return np.ones(len(self.names)) if self.weights is None else self.weights

    @cached_property
    def highest(self) -> Floats:
        """The highest grade of each document."""
        return np.maximum.reduceat(self.grades, to_intp(self.starts[:-1])) if len(self.grades) else np.empty(0)

    @cached_property
    def best(self) -> Floats:
        """The highest grade that any document has for each subtopic, or −∞ if the subtopic has no document."""
        best = np.full(len(self.names), -np.inf)
        np.maximum.at(best, self.subtopics, self.grades)
        return best

    @cached_property
    def by_subtopic(self) -> tuple[Ints, Floats, Ints]:
        """The offsets of the subtopics in two columns: their distinct grades from 0 up, highest first, with counts."""
        order = np.lexsort((-self.grades, self.subtopics))
        order = order[self.grades[order] >= 0.0]
        subtopics, grades = self.subtopics[order], self.grades[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = (np.diff(subtopics) != 0) | (np.diff(grades) != 0.0)
        firsts = np.flatnonzero(first)
        counts = np.diff(firsts, append=len(order))
        sizes = np.bincount(subtopics[firsts], minlength=len(self.names))
        return offsets_of(sizes), grades[firsts] + 0.0, counts.astype(np.int64)


class QueryGrades(NamedTuple):
    """The grades of a query, one row per (subtopic, document).

    `subtopics` has the number of each row's subtopic, which is its index in `names`.
    """

    documents: Sequence[Any]
    subtopics: Sequence[int] | Ints
    names: list[Any]
    grades: Sequence[Any] | Floats


def collected(queries: Sequence[Any], parts: Iterable[QueryGrades], where: Callable[[int], str]) -> Covers:
    """Collect the grades of all queries. `where` names a row for error messages, given its position in `parts`."""
    documents: list[Any] = []
    numbers: list[int] = []
    names: list[Any] = []
    subtopics: list[Any] = []
    grades: list[Any] = []
    ends, subtopic_ends, done = [0], [0], 0
    for part in parts:
        first, known = len(documents), dict[Any, int]()
        numbers += [known.setdefault(document, len(known) + first) for document in part.documents]
        documents += known
        subtopics.append(np.asarray(part.subtopics, dtype=np.int64) + len(names))
        names += part.names
        grades.append(_as_floats(part.grades, done, where))
        ends.append(len(documents))
        subtopic_ends.append(len(names))
        done = len(numbers)
    document = np.array(numbers, dtype=np.int64)
    subtopic = np.concatenate([np.empty(0, np.int64), *subtopics])
    grade = np.concatenate([np.empty(0), *grades])
    _check_ids(documents, document, where)
    order = np.lexsort((subtopic, document))
    document, subtopic = document[order], subtopic[order]
    repeated = np.flatnonzero((np.diff(document) == 0) & (np.diff(subtopic) == 0))
    if len(repeated):
        row = int(order[repeated + 1].min())
        raise ValueError(f"{where(row)}: the document is judged for this subtopic twice; keep one of the two grades")
    sizes = np.bincount(document, minlength=len(documents))
    offsets = (np.array(bounds, dtype=np.int64) for bounds in (ends, subtopic_ends))
    return Covers(next(offsets), documents, next(offsets), names, offsets_of(sizes), subtopic, grade[order])


def _as_floats(grades: Sequence[Any] | Floats, first: int, where: Callable[[int], str]) -> Floats:
    """Return the grades as finite floats, or raise the error for the first that is not a finite number.

    `first`: the row of the first grade.
    """
    numbers = np.empty(0)
    if isinstance(grades, np.ndarray):
        numbers = grades
    elif _NUMBERS.issuperset(map(type, grades)):
        try:
            numbers = np.array(grades, dtype=np.float64)
        except OverflowError:
            numbers = np.array([real(grade, math.inf) for grade in grades])
    else:
        checked = []
        for row, grade in enumerate(grades):
            number = real(grade, math.inf)
            if number is None:
                kind = type(grade).__name__
                raise TypeError(f"{where(first + row)}: the grade must be a number, not {kind}{remedy_for(kind)}")
            checked.append(number)
        numbers = np.array(checked, dtype=np.float64)
    invalid = np.flatnonzero(~np.isfinite(numbers))
    if len(invalid):
        row = int(invalid[0])
        kind = "NaN" if math.isnan(numbers[row]) else "infinite"
        raise ValueError(f"{where(first + row)}: the grade is {kind}; grades must be finite numbers")
    return numbers


def _check_ids(documents: list[Any], numbers: Ints, where: Callable[[int], str]) -> None:
    """Refuse a document id that is null. `numbers`: the number of each row's document."""
    if _WITHOUT_CHECK.issuperset(map(type, documents)):
        return
    for number, document in enumerate(documents):
        if is_null(document):
            row = int(np.flatnonzero(numbers == number)[0])
            raise ValueError(f"{where(row)}: the document id is null; drop such judgments")


def covers_of_dicts(truth: Mapping[Any, Any], name: str) -> tuple[list[Any], Covers]:
    """Read judgments given as ``{query: {subtopic: {document: grade}}}``."""
    queries, by_query = paired(truth, name)
    parts = [_of_query(name, query, subtopics) for query, subtopics in zip(queries, by_query, strict=True)]

    def where(row: int) -> str:
        rows = ((query, part, at) for query, part in zip(queries, parts, strict=True) for at in range(len(part.grades)))
        query, part, at = next(entry for number, entry in enumerate(rows) if number == row)
        subtopic = part.names[part.subtopics[at]]
        return f"{name}: query {quoted(query)}, subtopic {quoted(subtopic)}, document {quoted(part.documents[at])}"

    return queries, collected(queries, parts, where)


def _of_query(name: str, query: Any, subtopics: Any) -> QueryGrades:
    if not isinstance(subtopics, Mapping):
        raise TypeError(f"{name}: query {quoted(query)}: {_expected(subtopics)}")
    names, by_subtopic = paired(subtopics, name)
    documents, grades = [], []
    for subtopic, judged in zip(names, by_subtopic, strict=True):
        where = f"{name}: query {quoted(query)}, subtopic {quoted(subtopic)}"
        if is_null(subtopic):
            raise ValueError(f"{where}: the subtopic is null; name it or leave it out")
        if not isinstance(judged, Mapping):
            raise TypeError(f"{where}: {_expected(judged)}")
        if "" in judged:
            raise refusal(EMPTY_ID, where, "ids")
        ids, values = paired(judged, name)
        documents.append(ids)
        grades.append(values)
    numbers = np.repeat(np.arange(len(names)), list(map(len, documents)))
    return QueryGrades([*chain.from_iterable(documents)], numbers, names, [*chain.from_iterable(grades)])


def _expected(value: Any) -> str:
    """Say what judgments by subtopic must be, and how to convert the two forms that lists can stand for."""
    text = (
        f"judgments by subtopic must be {{query: {{subtopic: {{document: grade}}}}}}, not {type(value).__name__} inside"
    )
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return text + ": for judgments without subtopics leave out subtopic="
    return (
        f"{text}: if the lists hold the documents of a subtopic, write {{q: {{s: dict.fromkeys(docs, 1) for s, docs in "
        "subtopics.items()} for q, subtopics in truth.items()}; if they hold the subtopics of a document, write "
        "{q: {s: {d: 1 for d, of_d in docs.items() if s in of_d} for s in {s for of_d in docs.values() for s in of_d}} "
        "for q, docs in truth.items()}"
    )


def of_rows(
    queries: Sequence[Any],
    offsets: Ints,
    documents: list[Any],
    subtopics: list[Any],
    grades: Floats,
    where: Callable[[int], str],
    field: str,
) -> Covers:
    """Read judgments with one row per grade, the rows of one query after another.

    `where` names a row for error messages. `field`: the column or field that holds the subtopics, for the warning.
    """

    def parts() -> Iterator[QueryGrades]:
        for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            known: dict[Any, int] = {}
            numbers = [known.setdefault(subtopic, len(known)) for subtopic in subtopics[start:stop]]
            yield QueryGrades(documents[start:stop], numbers, [*known], grades[start:stop])

    distinct = {*subtopics}
    if len(distinct) == 1 and (len(queries) > 1 or not distinct.isdisjoint(_UNTOLD)):
        warn(
            f"{field} is {quoted(next(iter(distinct)))} in every row, so each query has a single subtopic: if it "
            "holds no subtopics, leave out subtopic="
        )
    return collected(queries, parts(), where)


def weighted(covers: Covers, queries: Sequence[Any], weights: Any) -> Covers:
    """Return the covers with the caller's weights: a mapping from query to a mapping from subtopic to weight."""
    if not isinstance(weights, Mapping):
        raise TypeError(f"weights must be {{query: {{subtopic: weight}}}}, not {type(weights).__name__}")
    known = set(queries)
    for query in weights:
        if query not in known:
            other = _other_kind(query, queries)
            raise ValueError(f"weights: query {quoted(query)} is not in the judgments{other}")
    array = np.zeros(len(covers.names))
    relevant = (covers.best > 0.0).tolist()
    bounds = covers.offsets.tolist()
    for query, start, stop in zip(queries, bounds[:-1], bounds[1:], strict=True):
        _read_weights(query, weights.get(query), covers.names[start:stop], relevant[start:stop], array[start:stop])
    return covers.weighted(array)


def _read_weights(query: Any, given: Any, names: list[Any], relevant: list[bool], array: Floats) -> None:
    """Write the weights of a query's subtopics to `array`."""
    where = f"weights: query {quoted(query)}"
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{where}: must be {{subtopic: weight}}, not {type(given).__name__}")
    for subtopic in given:
        if subtopic not in names:
            raise ValueError(
                f"{where}, subtopic {quoted(subtopic)}: not among its subtopics{_other_kind(subtopic, names)}"
            )
    for number, subtopic in enumerate(names):
        if subtopic not in given:
            if relevant[number]:
                raise ValueError(f"{where}, subtopic {quoted(subtopic)}: it has no weight; give 0 to leave it out")
            continue
        weight = real(given[subtopic], math.inf)
        if weight is None:
            kind = type(given[subtopic]).__name__
            raise TypeError(f"{where}, subtopic {quoted(subtopic)}: a weight must be a number, not {kind}")
        if not 0.0 <= weight < math.inf:
            raise ValueError(
                f"{where}, subtopic {quoted(subtopic)}: a weight must be finite and not negative, not {weight!r}"
            )
        array[number] = weight
    if any(relevant) and not array[np.array(relevant)].any():
        raise ValueError(f"{where}: all subtopics with a relevant document weigh 0; give one of them a positive weight")


def _other_kind(name: Any, names: Sequence[Any]) -> str:
    """Return the end of an error about an unknown name: the names that there are, and their type if it differs."""
    first = next(iter(names), None)
    kinds = "" if first is None or id_kind(first) is id_kind(name) else f" (ids there are {id_kind(first).__name__})"
    few = ", ".join(map(quoted, names[:3])) + " …" * (len(names) > 3)
    return f"{kinds}; there are: {few or 'none'}"
