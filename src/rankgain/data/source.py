"""Sources present the caller's input to the engine. Each form of input has its own class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from rankgain._codes import UNLIMITED
from rankgain.choices import Missing
from rankgain.data.arrays import check_id, objects_of
from rankgain.data.documents import Documents
from rankgain.data.ragged import CHUNK
from rankgain.data.rules import Rules
from rankgain.data.subtopics import Covers
from rankgain.errors import InputError, quoted
from rankgain.scalars import Array, Ints

SMALLEST_CHUNK = 1 << 15  # minimum number of documents per chunk when several threads share the work

# A tuple (form, start, stop, ...), continued by data that depend on the form; see `rankgain._reference.walk`.
Chunk = tuple[Any, ...]


class IdSide(NamedTuple):
    """The judgments or a run: a name for messages, and a function that returns the documents of a query."""

    name: str
    documents: Callable[[int], list[Any]]


class Truth(NamedTuple):
    """What a run was judged by. `judgments`: the object that holds all of it, or None.

    `of_query`: a function that returns the grades of a query, by document if documents have ids.
    """

    query_ids: Sequence[Any]
    of_query: Callable[[int], Mapping[Any, float] | list[float]]
    judgments: Any = None


class Source(ABC):
    """The queries, with their returned and judged documents.

    Attributes
    ----------
    query_ids : sequence
        The queries in the order of the results.
    missing : str or None
        The rule for queries that have judgments but no ranking.
    left_out : pair of int
        How many judged queries the run lacks, and how many queries of the run have no judgments.
    """

    most = UNLIMITED  # maximum number of documents per chunk, if less than `CHUNK`
    has_ids = False  # whether documents have ids, which can be used to break ties
    missing: Missing | None = None
    left_out = 0, 0
    excluded_judgments = 0  # number of judgments for documents that the caller excluded
    own_ids = 0  # number of hits with the id of their query that were removed
    assumed: tuple[str, ...] = ()  # assumptions made about the input, in words
    has_non_relevant = False  # whether documents have ids, and some are judged to be not relevant
    judges_scored = False  # whether the judged documents of each query are the returned ones
    covers: Covers | None = None  # the judgments by subtopic, if they are
    may_have_other_ids = False  # whether `id_sides` is implemented
    # The index of the first query with invalid judgments, and the exception to raise for it.
    first_invalid_query: tuple[int, Exception] | None = None

    query_ids: Sequence[Any]

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    @abstractmethod
    def longest(self) -> int:
        """The largest number of returned or judged documents in any query."""

    @property
    @abstractmethod
    def sizes(self) -> Ints:
        """The number of documents that each query returned."""

    @property
    @abstractmethod
    def load(self) -> int:
        """The cost of evaluating all queries, measured in documents."""

    @property
    def loads(self) -> Ints:
        """The cost of evaluating each query, measured in documents."""
        return self.sizes

    @abstractmethod
    def chunk(self, start: int, stop: int) -> Chunk:
        """Return queries start … stop − 1 in the form that the engine expects."""

    def numbered_chunk(self, start: int, stop: int) -> Chunk:
        """Return a chunk in which documents have their positions in the judgments of the query in place of grades."""
        raise NotImplementedError

    @property
    def judgment_numbers(self) -> Ints:
        """The index of each query among the judged queries."""
        raise NotImplementedError

    @abstractmethod
    def capacity(self, start: int, stop: int) -> tuple[int, int]:
        """Return upper bounds on the numbers of hits and of judged grades in queries start … stop − 1."""

    @abstractmethod
    def refusal(self, query: int, error: InputError) -> Exception:
        """Return the exception for an error in a query, worded for the caller."""

    @abstractmethod
    def documents(self, query: int, rules: Rules) -> Documents:
        """Return the documents of a query in rank order."""

    def first_documents(self, queries: Sequence[int], rules: Rules) -> Iterator[Any]:
        """Yield the id of the first document of each query, or None if there is none."""
        for query in queries:
            documents = self.documents(query, rules)
            first = documents.groups[:1]
            yield documents.ids[first[0].positions[0]] if first and documents.ids is not None else None

    def id_sides(self) -> tuple[IdSide, IdSide]:
        """Return the judgments and the run with the ids of each query, if `may_have_other_ids`."""
        raise NotImplementedError

    def truth(self) -> Truth | None:
        """Return the truth, or None if it consists of what was returned."""
        return None

    def query_name(self, query: int) -> str:
        """Return the name of a query for error messages."""
        return f"query {quoted(self.query_ids[query])}"

    @property
    def n_judged(self) -> int:
        """The number of judged grades."""
        return 0

    def some_grades(self, most: int) -> Array:
        """Return the first judged grades, at most `most` of them."""
        return np.empty(0)

    def under(self, rules: Rules) -> Self:
        """Return a source with the given rules, or this source if it does not depend on them."""
        return self

    def under_missing(self, missing: Missing) -> Self:
        """Return a source with another rule for queries that the run lacks."""
        raise ValueError("missing: these rankings do not record which queries the run lacks")

    def without_own_ids(self) -> Source:
        """Return a source without hits that have the id of their query, and with their number in `own_ids`."""
        return self

    @abstractmethod
    def non_empty(self) -> Source:
        """Return a source with only the queries that have judgments and returned documents."""

    def chunks(self, threads: int = 1) -> Iterable[tuple[int, int]]:
        """Return ranges of queries to be evaluated in one call each, up to the first query with invalid judgments."""
        queries = len(self.query_ids) if self.first_invalid_query is None else self.first_invalid_query[0]
        if queries <= 1:
            return ((0, queries),) if queries else ()
        most, load = min(self.most, CHUNK), self.load
        if load <= most:  # one call is faster than starting a thread
            return ((0, queries),)
        if threads > 1:
            most = min(most, max(SMALLEST_CHUNK, load // (4 * threads)))
        return chunks_of(self.loads[:queries], most)


def chunks_of(loads: Ints, documents: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of queries. Each range has at least one query and a load of about `documents`."""
    ends = np.cumsum(loads + 1)
    start = 0
    while start < len(ends):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + documents, side="right")))
        yield start, stop
        start = stop


_PLAIN_IDS = frozenset((str, bytes, int))
_NUMPY_IDS = np.integer, np.str_, np.bytes_


def check_query_ids(query_ids: Iterable[Hashable] | None, count: int, argument: str = "query_ids") -> Sequence[Any]:
    """Check and return the caller's names for the queries; by default, they are 0, 1, 2, …"""
    if query_ids is None:
        return range(count)
    ids = objects_of(query_ids, "query_ids")
    if not isinstance(ids, Iterable):
        raise TypeError(f"query_ids must hold one id per query, not {type(query_ids).__name__}")
    names = list(ids)
    if len(names) != count:
        raise ValueError(f"query_ids has {len(names)} ids, and there are {count} queries")
    if not _PLAIN_IDS.issuperset(map(type, names)):
        names = [name.item() if isinstance(name, _NUMPY_IDS) else name for name in names]
    seen: set[Hashable] = set()
    for position, name in enumerate(names):
        check_id(name, f"{argument}: position {position}")
        if name in seen:
            raise ValueError(f"{argument}: position {position}: {quoted(name)} repeats an earlier id")
        seen.add(name)
    return names
