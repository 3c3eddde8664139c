"""Source: the caller's input, checked in shape, as the engine reads it. One class per form of input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from rankgain._codes import UNLIMITED
from rankgain.choices import Missing
from rankgain.data.arrays import check_id, objects_of
from rankgain.data.documents import Documents
from rankgain.data.ragged import CHUNK
from rankgain.data.rules import Rules
from rankgain.errors import InputError, quoted
from rankgain.scalars import Ints

SMALLEST_CHUNK = 1 << 15  # minimum of documents per chunk when several threads share the work

# (form, start, stop, the data of the form …): see `rankgain._reference.walk`.
Chunk = tuple[Any, ...]


class Source(ABC):
    """The queries with their returned and judged documents.

    Attributes
    ----------
    query_ids : sequence
        The queries in the order of the results.
    missing : str or None
        The rule for queries that have judgments but no ranking.
    left_out : pair of int
        How many queries were missing from the run, and how many of the run had no judgments.
    """

    most = UNLIMITED  # maximum of documents per chunk, if less than `CHUNK`
    has_ids = False  # whether documents have ids, by which ties can be broken
    in_file = False  # whether `documents` reads a file again
    missing: Missing | None = None
    left_out = 0, 0
    excluded_judgments = 0  # number of judged documents in columns that the caller excluded
    assumed: tuple[str, ...] = ()  # assumptions made about the input, in words
    may_have_other_ids = False  # whether `warn_of_other_ids` is implemented
    # the first query with invalid judgments, and the exception to raise there
    first_invalid_query: tuple[int, Exception] | None = None

    query_ids: Sequence[Any]

    def __len__(self) -> int:
        return len(self.query_ids)

    @property
    @abstractmethod
    def longest(self) -> int:
        """The largest number of documents of a query, returned or judged."""

    @property
    @abstractmethod
    def sizes(self) -> Ints:
        """The number of documents that each query returned."""

    @property
    @abstractmethod
    def load(self) -> int:
        """The cost of evaluation, as an approximate number of documents."""

    @property
    def loads(self) -> Ints:
        """The cost of each query, as an approximate number of documents."""
        return self.sizes

    @abstractmethod
    def chunk(self, start: int, stop: int) -> Chunk:
        """The queries start … stop − 1, as the engine takes them."""

    @abstractmethod
    def capacity(self, start: int, stop: int) -> tuple[int, int]:
        """Upper bounds on the hits and on the judged grades of these queries."""

    @abstractmethod
    def refusal(self, query: int, error: InputError) -> Exception:
        """The exception for an error in a query, worded for the caller."""

    @abstractmethod
    def documents(self, query: int, rules: Rules) -> Documents | None:
        """The documents of a query, in rank order; None if the run cannot be read again."""

    def warn_of_other_ids(self) -> None:
        """Called if no returned document is judged: warn if judgments and run seem to use different kinds of ids."""
        raise NotImplementedError

    def query_name(self, query: int) -> str:
        """The query as an error names it."""
        return f"query {quoted(self.query_ids[query])}"

    def under(self, rules: Rules) -> Self:
        """A source with these rules; this one, if it does not depend on them."""
        return self

    def under_missing(self, missing: Missing) -> Self:
        """A source with another rule for queries that the run lacks."""
        raise ValueError("missing: these rankings do not record which queries the run lacks")

    def chunks(self, threads: int = 1) -> Iterable[tuple[int, int]]:
        """Ranges of queries, each evaluated in one call, up to the first query with invalid judgments."""
        queries = len(self.query_ids) if self.first_invalid_query is None else self.first_invalid_query[0]
        if queries <= 1:
            return ((0, queries),) if queries else ()
        most, load = min(self.most, CHUNK), self.load
        if load <= most:  # faster than starting a thread
            return ((0, queries),)
        if threads > 1:
            most = min(most, max(SMALLEST_CHUNK, load // (4 * threads)))
        return chunks_of(self.loads[:queries], most)


def chunks_of(loads: Ints, documents: int) -> Iterator[tuple[int, int]]:
    """Ranges of at least one query, each with a load of about `documents`."""
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
    """The caller's names for the queries; by default, 0, 1, 2 …"""
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
