"""The greedy ideal list of metrics of novelty: the specification, and what `Rankings.calculation` shows of it."""

from collections.abc import Iterator
from typing import Any


def added(terms: Any) -> float:
    """Add up the terms of a gain, highest first, so that the order of subtopics cannot matter."""
    total = 0.0
    for term in sorted(terms, reverse=True):
        total += term
    return total


def ideal_list(
    sets: dict[int, list[int]],
    waiting: dict[int, list[int]],
    seen: dict[int, int],
    weights: Any,
    powers: list[float],
    ahead: bool,
) -> Iterator[tuple[int, float]]:
    """Yield the documents of the greedy ideal list with their gains, as long as any gain is left.

    The documents of a kind cover the same subtopics, `sets`; `waiting` has the remaining documents of each kind, and
    `seen` counts the documents above that cover a subtopic. At each rank, the list has the document with the highest
    gain. Of several, it has the one after which the gains of all others, in descending order, are lexicographically
    highest, if `ahead` is set; then the one with the lowest number.
    """

    def gain(kind):
        return added([weights[subtopic] * powers[seen[subtopic]] for subtopic in sets[kind]])

    def count(kind, step):
        for subtopic in sets[kind]:
            seen[subtopic] += step

    def gains_after(kind):
        """Return the distinct gains of the other documents after one of this kind, highest first, with their counts."""
        count(kind, 1)
        counts = {}
        for other, documents in waiting.items():
            n = len(documents) - (other == kind)
            if n:
                value = gain(other)
                counts[value] = counts.get(value, 0) + n
        count(kind, -1)
        return sorted(counts.items(), reverse=True)

    while waiting:
        gains = {kind: gain(kind) for kind in waiting}
        highest = max(gains.values())
        if highest == 0.0:
            return
        best = [kind for kind in waiting if gains[kind] == highest]
        if ahead and len(best) > 1:
            after = {kind: gains_after(kind) for kind in best}
            top = max(after.values())
            best = [kind for kind in best if after[kind] == top]
        chosen = min(best, key=lambda kind: waiting[kind][0])
        count(chosen, 1)
        yield waiting[chosen].pop(0), highest
        if not waiting[chosen]:
            del waiting[chosen]
