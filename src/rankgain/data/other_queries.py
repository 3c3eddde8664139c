"""Find out how the query ids of judgments and a run differ, if some or all of them do not match."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from rankgain.errors import counted, quoted, warn

_SHOWN = 3  # number of ids per side in errors
_EXAMINED = 100  # number of ids that are compared with those of the other side, to explain an error
_FEWEST = 3  # minimum number of queries without a match on each side, because one or two can be alike by chance
_MOST_PREFIXES = 16  # maximum number of prefixes to try

_CHANGES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("surrounding blanks", str.strip),
    ("case", str.casefold),
    ("zeros in front", lambda text: re.sub(r"^0+(?=\d)", "", text)),
    ("a decimal point (1 and 1.0)", lambda text: re.sub(r"^(-?\d+)\.0+$", r"\1", text)),
)


def shown(
    judged: Collection[Any], returned: Collection[Any], names: tuple[str, str], documents: Iterable[Any] = ()
) -> str:
    """Return the end of an error about sides without a common query: ids of both, and how they differ.

    `documents`: documents of the first judged query, which are queries if the judgments are one level deeper.
    """
    ids = f"{names[0]} has {_first(judged)}, and {names[1]} has {_first(returned)}"
    run = set(returned)
    if not run.isdisjoint(documents):
        return f"{ids}: the queries of {names[0]} are one level deeper: write {names[0]}[{next(iter(judged))!r}]"
    deeper = _deeper(judged, returned)
    if deeper is not None:
        return f"{ids}: the queries of {names[1]} are one level deeper: write {names[1]}[{deeper!r}]"
    change = _difference(list(islice(judged, _EXAMINED)), list(islice(returned, _EXAMINED)), judged, returned)
    return f"{ids}: they differ only in {change}: convert one side" if change else ids


def warn_of_other_queries(judged: Sequence[Any], returned: Collection[Any], names: tuple[str, str]) -> None:
    """Warn if all queries of one side that do not match would match after one and the same change."""
    run, truth = set(returned), set(judged)
    only_judged = [query for query in judged if query not in run]
    only_returned = [query for query in returned if query not in truth]
    if min(len(only_judged), len(only_returned)) < _FEWEST:
        return
    change = _difference(only_judged, only_returned, only_judged, only_returned)
    if change:
        fewer = min(len(only_judged), len(only_returned))
        warn(
            f"{counted(fewer, 'query')} of {names[0]} and {names[1]} would match but for {change}, such as "
            f"{quoted(only_judged[0])} in {names[0]} and {_first(only_returned, 1)} in {names[1]}: if they are the "
            "same queries, convert one side"
        )


def _difference(
    judged_sample: Sequence[Any], returned_sample: Sequence[Any], judged: Collection[Any], returned: Collection[Any]
) -> str:
    """Return the change after which all ids of one sample are among those of the other side, or ""."""
    pairs = [
        (sample, others)
        for sample, others in ((judged_sample, returned), (returned_sample, judged))
        if all(isinstance(query, str) for query in sample)
    ]
    for change, convert in _CHANGES:
        for sample, others in pairs:
            converted = {convert(query) for query in others if isinstance(query, str)}
            if all(convert(query) in converted for query in sample):
                return change
    for sample, others in pairs:
        prefix = _prefix(sample, others)
        if prefix:
            return f"the prefix {quoted(prefix)}"
    return ""


def _prefix(sample: Sequence[str], others: Collection[Any]) -> str:
    """Return the prefix that all ids of a sample have or lack, compared with those of the other side, or ""."""
    first = sample[0]
    texts = {query for query in others if isinstance(query, str) and query}
    longer = (query.removesuffix(first) for query in texts if query.endswith(first) and query != first)
    shorter = (first.removesuffix(query) for query in texts if first.endswith(query) and query != first)
    for prefix in islice(filter(_may_be_prefix, longer), _MOST_PREFIXES):
        if all(prefix + query in texts for query in sample):
            return prefix
    for prefix in islice(filter(_may_be_prefix, shorter), _MOST_PREFIXES):
        if all(query.startswith(prefix) and query[len(prefix) :] in texts for query in sample):
            return prefix
    return ""


def _may_be_prefix(prefix: str) -> bool:
    return not prefix[-1].isdigit()


def _deeper(judged: Collection[Any], returned: Collection[Any]) -> Any:
    """Return the key under which a run has judged queries, as in files with a key for each model, or None."""
    if not isinstance(returned, Mapping):
        return None
    queries = set(judged)
    for key, value in returned.items():
        if isinstance(value, Mapping) and not queries.isdisjoint(value):
            return key
    return None


def _first(ids: Iterable[Any], count: int = _SHOWN) -> str:
    some = [quoted(query) for query in islice(ids, count + 1)]
    return ", ".join(some[:count]) + (", …" if len(some) > count and count > 1 else "")
