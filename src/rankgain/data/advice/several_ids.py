"""Refuse texts that hold several ids, such as "d1, d2", where a side has one text per query."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from rankgain.data.judgments import JudgmentSource
from rankgain.data.source import IdSide
from rankgain.errors import quoted, warn

_QUERIES = 100  # maximum number of queries to examine
_RANKED = ".assign(rank=lambda df: df.groupby(level=0).cumcount() + 1), with rank='rank'"
_SEPARATOR = re.compile(r"\s*[,;|]\s*|\s+")


def refuse_several_ids(source: JudgmentSource, judged_column: Any = None, run_column: Any = None) -> None:
    """Refuse a side whose only text per query is several ids of the other side. Warn if both sides have such texts.

    `judged_column`, `run_column`: the columns of documents, if the sides are tables.
    """
    one_judged, one_returned = source.may_have_one_document
    if not (one_judged or one_returned):
        return
    queries = range(min(len(source), _QUERIES))
    truth, run = source.id_sides()
    judged, returned = (
        _texts(side, queries) if one else {} for side, one in ((truth, one_judged), (run, one_returned))
    )
    columns = judged_column if judged_column is not None else source.judged_column, run_column
    lines = [
        _line(source, side.name, column, texts, is_run=side is run) if texts else ""
        for side, column, texts in zip((truth, run), columns, (judged, returned), strict=True)
    ]
    for side, texts, other, line in ((truth, judged, run, lines[0]), (run, returned, truth, lines[1])):
        if texts and _parts_match(texts, other):
            raise ValueError(
                f"{side.name} has one text per query, such as {_shown(texts)}, whose parts are ids of {other.name}: "
                f"write {line}"
            )
    if judged and returned and _differ_in_number(judged, returned):
        warn(
            f"{truth.name} and {run.name} have one text per query, such as {_shown(judged)} and {_shown(returned)}, "
            f"which count as one id each: if they hold several, write {lines[0]} and {lines[1]}"
        )


def _line(source: JudgmentSource, name: str, column: Any, texts: dict[int, str], *, is_run: bool) -> str:
    """Return the line that splits the texts of a side."""
    call, (name, has_lists, _) = split_call(texts.values()), name.partition(":")
    if column is not None:
        regex = "" if call == "split()" else ", regex=False"
        line = f"{name}.assign(**{{{column!r}: {name}[{column!r}].str.{call[:-1]}{regex})}})"
        line += "" if has_lists else f".explode({column!r})"
        return line if has_lists or not is_run else f"{line}{_RANKED}"
    if source.has_numbered_queries:
        return f"[''.join(ids).{call} for ids in {name}]"
    return f"{{query: ''.join(ids).{call} for query, ids in {name}.items()}}"


def pieces_of(text: str) -> list[str]:
    return [part for part in _SEPARATOR.split(text) if part]


def holds_several(texts: Sequence[str]) -> bool:
    """Return whether most texts can be split into parts that all have a digit."""
    parts = list(map(pieces_of, texts))
    are_split = 2 * sum(len(of_text) > 1 for of_text in parts) > len(texts)
    return are_split and all(any(map(str.isdigit, part)) for of_text in parts for part in of_text)


def split_call(texts: Iterable[str]) -> str:
    """Return the call that splits the texts: at blanks, or at their most frequent separator."""
    separators = Counter(separator for text in texts for separator in _SEPARATOR.findall(text))
    common = separators.most_common(1)[0][0]
    return "split()" if common.isspace() else f"split({common!r})"


def _texts(side: IdSide, queries: range) -> dict[int, str]:
    """Return the only id of each query that has one, or nothing unless these are texts that hold several ids."""
    texts: dict[int, str] = {}
    for query in queries:
        documents = side.documents(query)
        if len(documents) > 1 or not all(isinstance(document, str) for document in documents):
            return {}
        texts |= dict.fromkeys([query], documents[0]) if documents else {}
    return texts if texts and holds_several([*texts.values()]) else {}


def _parts_match(texts: dict[int, str], other: IdSide) -> bool:
    """Return whether parts of texts are ids of the other side more often than whole texts are."""
    n_parts = n_texts = 0
    for query, text in texts.items():
        ids = {*other.documents(query)}
        n_texts += text in ids
        n_parts += sum(part in ids for part in pieces_of(text))
    return n_parts > n_texts


def _differ_in_number(judged: dict[int, str], returned: dict[int, str]) -> bool:
    """Return whether the texts of most queries have different numbers of parts on the two sides."""
    both = judged.keys() & returned.keys()
    return 2 * sum(len(pieces_of(judged[query])) != len(pieces_of(returned[query])) for query in both) > len(both)


def _shown(texts: dict[int, str]) -> str:
    return quoted(next(text for text in texts.values() if len(pieces_of(text)) > 1))
