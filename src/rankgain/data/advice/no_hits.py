"""Find out why no document of a run is judged: ids may be written differently, or come from different collections."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
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


def warn_of_other_ids(judgments: IdSide, run: IdSide, queries: int) -> None:
    """If no document of the run is judged, warn if judgments and run seem to use different kinds of ids."""
    remark = _written_differently(judgments, run, range(min(queries, _QUERIES))) or _disjoint(judgments, run, queries)
    if remark:
        warn(f"no document in {run.name} is judged in {judgments.name}: {remark}")


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


def _disjoint(judgments: IdSide, run: IdSide, queries: int) -> str:
    """If judgments and run have no id in common in any query, name one id of each; otherwise return ""."""
    returned: dict[Any, None] = {}
    for query in range(queries):
        returned.update(dict.fromkeys(run.documents(query)))
        if len(returned) > _MOST:
            break
    if len(returned) < _FEWEST:
        return ""
    judged: dict[Any, None] = {}
    for query in range(queries):
        documents = judgments.documents(query)
        if not returned.keys().isdisjoint(documents):
            return ""
        if len(judged) < _FEWEST:
            judged.update(dict.fromkeys(documents))
    if len(judged) < _FEWEST:
        return ""
    return (
        f"the ids of all queries have none in common, such as {quoted(next(iter(judged)))} in {judgments.name} and "
        f"{quoted(next(iter(returned)))} in {run.name}: check that both are ids of the same collection"
    )
