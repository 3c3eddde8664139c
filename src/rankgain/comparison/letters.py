"""Letters that say which runs a test does not tell apart: those that share one."""

from __future__ import annotations

import string
from collections.abc import Collection, Sequence


def letters_of(runs: Sequence[str], told_apart: Collection[frozenset[str]]) -> dict[str, str]:
    """The letters of each run, such that two runs share one exactly where they are not told apart (Piepho 2004).

    Each letter is a set of runs that are not told apart from each other, as large as it can be made. There is one for
    each pair that no earlier letter holds, so that they are few where runs stand in the order of their means.
    """
    groups: list[list[str]] = []
    for run in runs:
        alike = [other for other in runs if frozenset((run, other)) not in told_apart]
        # The farthest first: what lies between is mostly not told apart from either.
        for other in reversed(alike):
            if any(run in group and other in group for group in groups):
                continue
            group = list(dict.fromkeys((run, other)))
            for third in alike:
                if third not in group and all(frozenset((third, own)) not in told_apart for own in group):
                    group.append(third)
            groups.append(group)
    return {run: "".join(_letter(place) for place, group in enumerate(groups) if run in group) for run in runs}


def _letter(place: int) -> str:
    """a … z, then a1 … z1, a2 and so on."""
    turn, own = divmod(place, len(string.ascii_lowercase))
    return string.ascii_lowercase[own] + (str(turn) if turn else "")
