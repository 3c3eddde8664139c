"""Find out why no document of a run is judged: ids may be written differently, or come from different collections."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from itertools import takewhile
from typing import Any

from rankgain.data.source import IdSide
from rankgain.errors import quoted, warn

_QUERIES = 100  # number of queries examined for ids that are written differently
_FEWEST = 20  # minimum number of distinct ids per side, because smaller sets can be disjoint by chance
_MOST = 1 << 16  # maximum number of the run's ids to compare with all judged ids

_NORMALISATIONS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("surrounding blanks", str.strip),
    ("Unicode normalisation (NFC)", lambda text: unicodedata.normalize("NFC", text)),
    ("case", str.casefold),
    ("a decimal point (1 and 1.0)", lambda text: re.sub(r"^(-?\d+)\.0+$", r"\1", text)),
    ("blanks, case and Unicode normalisation", lambda text: unicodedata.normalize("NFC", text.strip().casefold())),
)


def remarks_on_ids(judgments: IdSide, run: IdSide, queries: int) -> tuple[str, ...]:
    """If no document of the run is judged, warn if judgments and run seem to use different kinds of ids.

    Return a remark instead if they only have none in common, as is possible for a random system or one held-out item.
    """
    begins = f"no document in {run.name} is judged in {judgments.name}: "
    remark = _written_differently(judgments, run, range(min(queries, _QUERIES)))
    if remark:
        warn(begins + remark)
        return ()
    sides = _disjoint(judgments, run, queries)
    if sides is None:
        return ()
    remark = (
        f"{begins}the ids of all queries have none in common, such as {quoted(next(iter(sides[0])))} in "
        f"{judgments.name} and {quoted(next(iter(sides[1])))} in {run.name}: check that both are ids of the same "
        "collection"
    )
    if not _begin_differently(*map(list, sides)):
        return (remark,)
    warn(remark)
    return ()


def _written_differently(judgments: IdSide, run: IdSide, queries: Iterable[int]) -> str:
    """Find two ids that become equal after normalisation, and describe how they differ; return "" if there are none."""
    sides = [(judgments.documents(query), run.documents(query)) for query in queries]
    if not all({*judged}.isdisjoint(returned) for judged, returned in sides):  # shared ids are pooled but unjudged
        return ""
    for name, normalise in _NORMALISATIONS:
        for judged, returned in sides:
            texts = {normalise(document): document for document in judged if isinstance(document, str)}
            for document in returned if texts else ():
                if isinstance(document, str) and (other := texts.get(normalise(document))):
                    return (
                        f"ids such as {quoted(other)} and {quoted(document)} differ only in {name}: if they are the "
                        "same documents, convert one side"
                    )
    return ""


def _begin_differently(judged: list[Any], returned: list[Any]) -> bool:
    """Return whether all ids of a side begin with the same letters, and all of the other with others or with digits."""
    if not all(type(identifier) is str for identifier in (*judged, *returned)):
        return False
    first, second = (_beginning(side) for side in (judged, returned))
    return bool(first and second) and not (first.startswith(second) or second.startswith(first))


def _beginning(ids: list[str]) -> str:
    """Return the letters with which all ids begin, or a digit if all are numbers, or "" if there is nothing."""
    if all(map(str.isdecimal, ids)):
        return "0"
    pairs = takewhile(lambda pair: pair[0] == pair[1] and not pair[0].isdigit(), zip(min(ids), max(ids), strict=False))
    return "".join(letter for letter, _ in pairs)


def _disjoint(judgments: IdSide, run: IdSide, queries: int) -> tuple[Collection[Any], Collection[Any]] | None:
    """Return ids of judgments and run if they have no id in common in any query; otherwise return None."""
    returned: dict[Any, None] = {}
    for query in range(queries):
        returned.update(dict.fromkeys(run.documents(query)))
        if len(returned) > _MOST:
            break
    if len(returned) < _FEWEST:
        return None
    judged: dict[Any, None] = {}
    for query in range(queries):
        documents = judgments.documents(query)
        if not returned.keys().isdisjoint(documents):
            return None
        if len(judged) < _FEWEST:
            judged.update(dict.fromkeys(documents))
    if len(judged) < _FEWEST:
        return None
    return judged, returned
