"""`changes`: the documents that entered, left or moved between two runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rankgain._codes import UNLIMITED
from rankgain.choices import Duplicates
from rankgain.comparison.similarity import Ranks, Runs, check_order, rank_pairs, ranks_of, read_runs
from rankgain.data.judgments import JudgmentSets, judgment_sets, types
from rankgain.errors import quoted
from rankgain.inputs.documents import RunDocuments
from rankgain.inputs.judgments import judgments
from rankgain.metrics.parameters import cut_off
from rankgain.results.export import Frames
from rankgain.results.text import Form, Printed, Table, fixed, printable
from rankgain.scalars import id_kind

KINDS = "entered", "left", "moved"
_MOST_ROWS = 20  # number of documents that are printed


class Change(NamedTuple):
    """A document that entered, left or moved within the first k; ranks are None if a run does not list it."""

    query_id: Any
    doc_id: Any
    change: Literal["entered", "left", "moved"]
    old_rank: int | None
    new_rank: int | None
    grade: float | None
    weight: float


class Changes(Frames, Printed, Sequence[Change]):
    """The documents that entered, left or moved within the first k between two runs, created by `rankgain.changes`.

    A sequence of named tuples in the order of the queries of `old`; within a query, the heaviest first.

    Attributes
    ----------
    k : int
        The cut-off.
    lost : tuple
        The queries for which `old` returns documents and `new` returns none.
    has_truth : bool
        Whether grades are known.
    """

    __module__ = "rankgain"

    def __init__(self, rows: Sequence[Change], k: int, lost: tuple[Any, ...], has_truth: bool) -> None:
        self._rows = rows
        self.lost = lost
        self.k = k
        self.has_truth = has_truth

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Changes):
            return NotImplemented
        return (self._rows, self.k, self.has_truth) == (other._rows, other.k, other.has_truth)

    __hash__ = None  # type: ignore[assignment]

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns of a data frame as a dict.

        Returns
        -------
        dict of str to sequence
            ``query_id``, ``doc_id``, ``change``, ``old_rank``, ``new_rank``, ``grade`` if judgments were given, and
            ``weight``. A rank is None if the run does not list the document, a grade if it is not judged.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.changes({"q": ["a", "b"]}, {"q": ["a", "c"]}).columns()["change"]
        ['left', 'entered']
        """
        names = [name for name in Change._fields if name != "grade" or self.has_truth]
        return {name: [getattr(row, name) for row in self._rows] for name in names}

    def to_judge(self, n: int | None = None) -> list[tuple[Any, Any]]:
        """Return the pairs of query and document that should be judged next: unjudged ones, the heaviest first.

        Parameters
        ----------
        n : int, optional
            How many at most. By default, all of them.

        Returns
        -------
        list of tuple
            Pairs of query and document.

        Raises
        ------
        ValueError
            If `n` is not positive.
        TypeError
            If `n` is not an integer.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.changes({"q": ["a", "b"]}, {"q": ["a", "c"]}, truth={"q": {"b": 1}}).to_judge(5)
        [('q', 'c')]
        """
        most = None if n is None else cut_off(n, "n")
        unjudged = sorted((row for row in self._rows if row.grade is None), key=lambda row: -row.weight)
        return [(row.query_id, row.doc_id) for row in unjudged[:most]]

    def _tables(self, form: Form) -> Iterator[Table | Sequence[str]]:
        yield Table(self.summary(), (), names=1)
        if self._rows:
            head = ["query", "document", "change", "old", "new", *(["grade"] if self.has_truth else []), "weight"]
            shown = sorted(self._rows, key=lambda row: -row.weight)[:_MOST_ROWS]
            rest = len(self._rows) - len(shown)
            yield Table([head, *map(self._cells, shown)], [f"and {rest} more"] if rest else (), names=3)

    def summary(self) -> list[list[object]]:
        """Return a table of how many documents of how many queries entered, left and moved.

        Returns
        -------
        list of list
            The head and one row per kind of change.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.changes({"q": ["a", "b"]}, {"q": ["a", "c"]}).summary()[1]
        ['entered', '1', '1']
        """
        judged = ["judged"] if self.has_truth else []
        rows: list[list[object]] = [[f"first {self.k}", "documents", "queries", *judged]]
        for kind in KINDS:
            of_kind = [row for row in self._rows if row.change == kind]
            numbers = [len(of_kind), len({row.query_id for row in of_kind})]
            if self.has_truth:
                numbers.append(sum(row.grade is not None for row in of_kind))
            rows.append([kind, *map(str, numbers)])
        return rows

    def _cells(self, row: Change) -> list[object]:
        ranks = ["-" if rank is None else str(rank) for rank in (row.old_rank, row.new_rank)]
        grade = ["-" if row.grade is None else f"{row.grade:g}"] if self.has_truth else []
        return [printable(row.query_id), printable(row.doc_id), row.change, *ranks, *grade, fixed(row.weight, 3)]


def changes(
    old: Any,
    new: Any,
    *,
    k: int = 10,
    truth: Any = None,
    ties: Literal["docid", "stable"] | None = None,
    duplicates: Duplicates = "error",
    **columns: Any,
) -> Changes:
    """List the documents that entered, left or moved within the first k between two runs.

    Parameters
    ----------
    old, new : any
        The runs, as in `similarity`.
    k : int, default 10
        The cut-off.
    truth : any, optional
        Judgments in any form that `judgments` accepts, or its result: rows then have grades.
    ties : {"docid", "stable"}, optional
        The order of documents of equal score: by id or by the order in which they are given. By default ``"docid"``.
    duplicates : {"error", "first"}, default "error"
        Whether a document that a query returns twice is an error, or counts once, at its first rank.
    **columns : str or pair of str
        The columns of tables, as in `similarity`.

    Returns
    -------
    Changes
        One row per document. Queries that only `old` has lost all their documents; those that only `new` has are left
        out. The weight of a row is \\|d(new rank) − d(old rank)\\|, where d(i) = 1 / log2(i + 1), and 0 beyond k or if
        the document is not listed: what one unit of gain changes DCG@k by.

    Raises
    ------
    ValueError
        If `k` is not positive, or `similarity` or `judgments` would raise it.
    TypeError
        If `similarity` or `judgments` would raise it.
    OSError
        If a file cannot be read.

    See Also
    --------
    similarity : How similar the runs are, query by query.

    Examples
    --------
    >>> import rankgain as rg
    >>> rg.changes({"q": ["a", "b", "c"]}, {"q": ["c", "a", "x"]}, k=2)
    first 2  documents  queries
    -------  ---------  -------
    entered          1        1
    left             1        1
    moved            1        1
    <BLANKLINE>
    query  document  change   old  new  weight
    -----  --------  -------  ---  ---  ------
    q      c         entered    3    1   1.000
    q      b         left       2    -   0.631
    q      a         moved      1    2   0.369
    """
    k = cut_off(k)
    if ties not in (None, "docid", "stable"):
        raise ValueError(f"ties must be 'docid' or 'stable', not {quoted(ties)}: each document needs one rank")
    runs = read_runs(old, new, columns, duplicates)
    grades = None if truth is None else _grades(truth, runs)
    order = check_order(runs, ties)
    ranked = rank_pairs(runs, order, UNLIMITED, whole_old=True)
    of_new = runs.new.as_judgments()
    old_lists = _lists(ranked.documents, ranked.old, runs.new)
    new_lists = _lists(of_new, ranks_of(runs.new, of_new, order, UNLIMITED), runs.old)
    lost = tuple(query for query, documents in old_lists.items() if documents and not new_lists.get(query))
    return Changes([*_changes(old_lists, new_lists, k, grades)], k, lost, grades is not None)


def _grades(truth: Any, runs: Runs) -> Mapping[tuple[Any, Any], float]:
    """Return the grades by query and document. Documents with a negative grade are not judged."""
    documents = runs.old.as_judgments().documents
    sets = judgment_sets(judgments(truth))
    sets = sets.matching(runs.old.queries, id_kind(documents[0]) if documents else str)
    for judged, returned in ((sets.query_ids, runs.old.queries), (sets.documents, documents)):
        if len(judged) and len(returned) and (reason := types(judged[:1], returned[:1], (sets.name, runs.old.name))):
            raise ValueError(f"the ids of {sets.name} and {runs.old.name} never match: {reason}")
    offsets, documents, grades = sets.offsets.tolist(), sets.documents, sets.grades.tolist()
    return {
        (query, documents[row]): grades[row]
        for number, query in enumerate(sets.query_ids)
        for row in range(offsets[number], offsets[number + 1])
        if grades[row] >= 0.0
    }


RankedLists = dict[Any, dict[Any, int]]  # the rank of each document, by query


def _changes(
    old_lists: RankedLists, new_lists: RankedLists, k: int, grades: Mapping[Any, float] | None
) -> Iterator[Change]:

    def weight(rank: int | None) -> float:
        return 0.0 if rank is None or rank > k else 1.0 / math.log2(rank + 1)

    for query, old in old_lists.items():
        new = new_lists.get(query, {})
        rows = []
        for document in dict.fromkeys([*old, *new]):
            before, after = old.get(document), new.get(document)
            in_old, in_new = (rank is not None and rank <= k for rank in (before, after))
            if before != after and (in_old or in_new):
                kind: Any = "moved" if in_old and in_new else "left" if in_old else "entered"
                grade = None if grades is None else grades.get((query, document))
                rows.append(Change(query, document, kind, before, after, grade, abs(weight(after) - weight(before))))
        yield from sorted(rows, key=lambda row: -row.weight)


def _lists(documents: JudgmentSets, ranks: Ranks, other: RunDocuments) -> RankedLists:
    """Return the rank of each document by query, with ids of the types that the other run has where possible."""
    documents = documents.matching(other.queries, other.document_kind or str)
    lists: RankedLists = {query: {} for query in documents.query_ids}
    names, ids = documents.query_ids, documents.documents
    for query, row, rank in zip(ranks.query.tolist(), ranks.row.tolist(), ranks.first.tolist(), strict=True):
        lists[names[query]][ids[row]] = rank
    return lists
