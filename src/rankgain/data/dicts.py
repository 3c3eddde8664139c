"""Runs in the form of a dict of dicts."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import islice, repeat
from operator import contains
from typing import Any

import numpy as np

from rankgain import _backend
from rankgain._codes import ALL_SIGNS, DICTS, EMPTY_ID, OTHER_FORM, OTHER_IDS
from rankgain.choices import Missing
from rankgain.data.advice.foreign import is_plain_number
from rankgain.data.advice.ranks import remarks_on_dicts
from rankgain.data.documents import Documents, documents_of_ids
from rankgain.data.given import recognise, signs_in
from rankgain.data.judgments import JudgmentSets, JudgmentSource, as_dict, of_dicts, tensor_line, type_name, types
from rankgain.data.rules import Rules
from rankgain.data.source import Chunk
from rankgain.errors import InputError, quoted, refusal
from rankgain.scalars import Ints, check_number, id_kind, paired, size_of

Run = Mapping[Any, Mapping[Any, float]]

_NONE: type = type(None)
_DICT = frozenset((dict,))

_ADVICE = {
    "judgments": "; truth comes first: from_qrels(judgments, run)",
    "table": "; for data frames there is rankgain.from_frames(qrels_df, run_df)",
    "trec": "; for files there is rankgain.read_trec(qrels, run)",
    "keyed": "; for ids in rank order there is rankgain.from_recommendations(relevant, recommended)",
}
_ADVICE["lists"] = _ADVICE["keyed"]


def dicts_of(value: Any, argument: str, *, judgments: bool = False) -> tuple[Any, str, tuple[str, ...], int]:
    """Return the mapping of mappings that was given, its name for errors, what was assumed about it, and its signs.

    Raise a TypeError that names the right constructor for anything else, except for Judgments if `judgments` is set.
    """
    signs = signs_in(value) if type(value) is dict else ALL_SIGNS
    if not signs & OTHER_FORM:  # without a record, which one query would notice
        return value, argument, (), signs
    given = recognise(value, argument, opens=False)
    value, name = given.data, given.name
    if given.kind == "dicts" or (judgments and given.kind == "judgments"):
        return value, name, given.assumed, signs_in(value) if type(value) is dict else ALL_SIGNS
    advice = _ADVICE.get(given.kind, "")
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping of mappings, not {type(value).__name__}{advice}")
    for query, documents in value.items():
        if not isinstance(documents, Mapping):
            advice = "; write {} if there are none" if documents is None else advice
            advice = f"; for a single query, write {{'q': {name}}}" if is_plain_number(documents) else advice
            kind = f"{type(documents).__name__}{advice}"
            raise TypeError(f"{name}: query {quoted(query)}: must be a mapping by document, not {kind}")
    return value, name, (), signs  # the queries have names of columns


_EMPTY = repeat("")


def refuse_empty_ids(queries: Collection[Any], documents: Iterable[Collection[Any]], name: str) -> None:
    """Refuse an empty text as the id of a query, or of a document among the documents of a query."""
    try:
        if "" not in queries and not any(map(contains, documents, _EMPTY)):
            return
        if "" in queries:
            raise refusal(EMPTY_ID, f"{name}: position {[*queries].index('')}", "queries")
        for query, ids in zip(queries, documents, strict=False):
            if "" in ids:
                raise refusal(EMPTY_ID, f"{name}: query {quoted(query)}, position {[*ids].index('')}", "ids")
    except RuntimeError:  # another thread is changing a dict; `evaluate` reports this
        pass


# In the functions that every call runs, comprehensions are left to others: in CPython 3.11, each variable that one uses
# is a cell, and a cell costs 300 instructions.


def _missing_runs(runs: list[Any], missing: Missing) -> tuple[list[int], list[Any]]:
    """Return the indices of the queries that the run has, and the runs with empty dicts, or none, for the others."""
    common = [number for number, scores in enumerate(runs) if scores is not None]
    return common, [scores or {} for scores in runs if missing == "zero" or scores is not None]


class DictSource(JudgmentSource):
    """A run in the form of a dict of dicts, together with its judgments."""

    may_have_other_ids = True
    most = 1 << 17  # maximum number of documents per call, because a call holds the GIL and delays Ctrl-C

    def __init__(
        self,
        judgments: JudgmentSets,
        run: Run,
        missing: Missing,
        query_ids: Iterable[Hashable] | None = None,
        unread: Mapping[Any, Mapping[Any, float]] | None = None,
        name: str = "run",
    ) -> None:
        """`unread`: the complete qrels, if the judgments contain only the queries of the run."""
        if judgments.text_ids:
            documents = next((scores for scores in run.values() if scores), ())
            judgments = judgments.matching(run, id_kind(next(iter(documents), "")))
        common: Sequence[int] | None = None
        queries = judgments.query_ids
        runs: list[Any] | None = None
        if missing == "skip" and type(run) is dict and len(run) < len(queries):  # often one of many judged queries
            numbers = map(judgments.numbers.get, run)
            common = sorted(number for number in numbers if number is not None)
            runs = list(map(run.__getitem__, map(queries.__getitem__, common)))
        elif type(run) is dict:
            runs = _backend.dicts.runs_of(run, queries)
        all_dicts = runs is not None and (common is None or _DICT.issuperset(map(type, runs)))
        if runs is None:
            runs = list(map(run.get, queries))
            if _NONE in {*map(type, runs)}:
                common, runs = _missing_runs(runs, missing)
            all_dicts = _DICT.issuperset(map(type, runs))
        super().__init__(judgments, name, run, common, missing, query_ids)
        self._run = run
        self._unread = unread
        self._runs = runs
        self._all_dicts = all_dicts

    def under_missing(self, missing: Missing) -> DictSource:
        judgments = self._judgments
        if self._unread is not None:
            judgments = of_dicts(*paired(self._unread, judgments.name), judgments.name)
        return DictSource(judgments, self._run, missing, self._names_under(missing), name=self._run_name)

    def non_empty(self) -> DictSource:
        run = {query: scores for query, scores in self._run.items() if size_of(scores)}
        return DictSource(self._judgments, run, "skip", self._names_non_empty(), name=self._run_name)

    def without_own_ids(self) -> DictSource:
        runs: dict[Any, Any] = {}
        for query, name, scores in zip(*self._keys_and_ids(), self._runs, strict=False):
            if name in scores:
                runs[query] = {document: score for document, score in scores.items() if document != name}
        if not runs:
            return self
        names = self.query_ids if self._named else None
        source = DictSource(
            self._judgments, {**self._run, **runs}, self.missing or "zero", names, self._unread, self._run_name
        )
        source.own_ids = len(runs)
        return source

    def remarks(self) -> tuple[str, ...]:
        """Return a remark if the scores look like ranks or are all equal."""
        return remarks_on_dicts(self._runs) if self._all_dicts else ()

    @property
    def sizes(self) -> Ints:
        return np.fromiter(map(len if self._all_dicts else size_of, self._runs), np.int64, len(self._runs))

    @property
    def longest(self) -> int:
        if len(self._runs) == 1:
            run, judged = self._runs[0], self._judgments.size
            returned = len(run) if self._all_dicts else size_of(run)
            return returned if returned > judged else judged  # `max` costs 1,400 instructions
        return super().longest

    @property
    def load(self) -> int:
        return sum(map(len if self._all_dicts else size_of, self._runs)) + int(self._judgments.judged.total)

    def chunk_of(self, judgments: JudgmentSets, start: int, stop: int) -> Chunk:
        runs = self._runs if self._all_dicts else self._as_dicts(start, stop)
        return DICTS, start, stop, judgments.judged, None if self._numbers is None else self._common, runs

    def _as_dicts(self, start: int, stop: int) -> list[Any]:
        """Convert the runs of a chunk to dicts, which the engine needs: other mappings may report a wrong length."""
        return [as_dict(scores) if start <= query < stop else scores for query, scores in enumerate(self._runs)]

    @property
    def may_have_one_document(self) -> tuple[bool, bool]:
        runs = self._runs
        judgments = self._judgments
        return judgments.judged.total <= len(judgments.query_ids), len(runs) > 0 and size_of(runs[0]) <= 1

    def documents_of(self, query: int) -> list[Any]:
        return list(as_dict(self._runs[query]))

    def documents(self, query: int, rules: Rules) -> Documents:
        run = as_dict(self._runs[query])
        scores = None if rules.ties is None else [check_number(score, "score") for score in run.values()]
        return documents_of_ids(rules, list(run), scores, self._judgments.of_query(self._number(query)))

    def run_refusal(self, query: int, error: InputError) -> Exception:
        run = as_dict(self._runs[query])
        where, detail = f"{self._run_name}: {self.query_name(query)}", error.detail
        if error.code == OTHER_IDS:
            first = int(self._judgments.offsets[self._number(query)])
            kinds = types(self._judgments.documents[first : first + 1], run, (self._judgments.name, self._run_name))
            detail = f"{self._judgments.called}, and the ids are of other types: {kinds}"
            if isinstance(next(iter(run)), tuple):
                detail += "; of (id, score) pairs, best first, pass the ids: [id for id, _ in pairs]"
            elif hasattr(next(iter(run)), "__dlpack__"):
                detail += f"; for each query, write {tensor_line('score')}"
        elif error.position >= 0:
            document, value = next(islice(run.items(), error.position, None))
            where, detail = f"{where}, document {quoted(document)}", type_name(value)
        return refusal(error.code, where, detail)
