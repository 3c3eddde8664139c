"""Reference implementation of the sums of novelty: α-DCG, ERR-IA and NRBP, and those of their ideal lists.

A document at rank i adds G(i)·d(i), where its gain G(i) = Σ w_s·(1 − α)^c_s adds up the subtopics s that it covers; c_s
documents above rank i cover s too. The terms of a gain are added in descending order, so that the order of subtopics
cannot matter. A list and its ideal list are added in the same way, so that their quotient is exactly 1 if they are
equal.

α-nDCG is defined by Clarke et al., SIGIR 2008; ERR-IA by Chapelle et al., Information Retrieval 14, 2011; NRBP by
Clarke, Kolla & Vechtomova, ICTIR 2009; all three are computed as by ndeval.c (2013).
"""

from itertools import groupby

from rankgain._codes import AVERAGE, LARGE_GROUP
from rankgain._reference.cascade import FAINT, MOST_PROBABILITIES
from rankgain._reference.greedy import added, ideal_list
from rankgain._reference.query import at_cutoffs
from rankgain._reference.sums import discounts
from rankgain.errors import ErrorCode
from rankgain.scalars import Floats, Ints


def novelty_sum(
    ties: int,
    offsets: Ints,
    document: Ints,
    first: Ints,
    last: Ints,
    starts: Ints,
    subtopics: Ints,
    first_subtopic: Ints,
    last_subtopic: Ints,
    weights: Floats,
    powers: Floats,
    kind: int,
    base: float,
    table: Floats,
    cutoffs: Ints,
    out: Floats,
    column: int,
) -> ErrorCode:
    """Write the sums of the hits of each query to `out`, at all cut-offs: one column per query, from `column` on.

    The hits of query q are those at offsets[q] … offsets[q + 1] − 1, in rank order. Document i covers
    subtopics[starts[i]:starts[i + 1]]. `powers` has (1 − α)^c for each c. Return None, or the first error.
    """
    discount, powers, ks = discounts(table, kind, base), powers.tolist(), cutoffs.tolist()
    for query in range(len(offsets) - 1):
        hits = [
            (int(first[hit]), int(last[hit]), subtopics[starts[document[hit]] : starts[document[hit] + 1]].tolist())
            for hit in range(offsets[query], offsets[query + 1])
        ]
        groups = [
            (bounds, [covered for _, _, covered in members]) for bounds, members in groupby(hits, lambda hit: hit[:2])
        ]
        if any(_tied(ties, *group) and _too_large(group[1], powers) for group in groups if group[0][0] <= ks[-1]):
            return LARGE_GROUP, query, -1
        seen = dict.fromkeys(range(first_subtopic[query], last_subtopic[query]), 0)
        out[:, column + query] = at_cutoffs(ks, _running(ties, groups, seen, weights, powers, discount, ks[-1]))
    return None


def _tied(ties, bounds, sets):
    """Return whether the order of a tie group matters: not if all its documents cover the same subtopics."""
    size = bounds[1] - bounds[0] + 1
    return ties == AVERAGE and not (len(sets) == size and all(covered == sets[0] for covered in sets))


def _running(ties, groups, seen, weights, powers, discount, deepest):
    """Yield (rank, sum to this rank)."""
    total = 0.0
    for bounds, sets in groups:
        tied = _tied(ties, bounds, sets)
        gains = (
            _expected_gains(bounds, sets, seen, weights, powers, deepest)
            if tied
            else _gains(sets, seen, weights, powers)
        )
        for rank, gain in enumerate(gains, bounds[0]):
            total += gain * discount(rank)
            yield rank, total
        for covered in sets if tied else ():
            for subtopic in covered:
                seen[subtopic] += 1


def _gains(sets, seen, weights, powers):
    """Yield the gain of each document in turn, and count what it covers."""
    for covered in sets:
        yield added([weights[subtopic] * powers[seen[subtopic]] for subtopic in covered])
        for subtopic in covered:
            seen[subtopic] += 1


def _lengths(sets, powers):
    """Return, for each subtopic, h, the number of documents of the group that cover it, and how many powers matter.

    Powers below FAINT are dropped; no sum has so many digits.
    """
    covering = {}
    for covered in sets:
        for subtopic in covered:
            covering[subtopic] = covering.get(subtopic, 0) + 1
    return {subtopic: (h, next((u for u in range(1, h) if powers[u] < FAINT), h)) for subtopic, h in covering.items()}


def _too_large(sets, powers):
    return powers[-1] != 1.0 and any(length > MOST_PROBABILITIES for _, length in _lengths(sets, powers).values())


def _expected_gains(bounds, sets, seen, weights, powers, deepest):
    """Yield the expected gain at each rank of a tie group of m documents.

    For a subtopic that h of them cover, and c documents above the group, the term of the j-th document is

        w · Σ_u P(u of the first j − 1 cover it) · (h − u) / (m − j + 1) · (1 − α)^(c + u)

    with hypergeometric probabilities P; without novelty (α = 0), it is w · h / m.
    """
    first, last = bounds
    m = last - first + 1
    subtopics = _lengths(sets, powers)
    chances = {subtopic: [1.0] + [0.0] * (length - 1) for subtopic, (_, length) in subtopics.items()}
    for above in range(min(m, deepest - first + 1)):  # number of documents of the group above this rank: j − 1
        left, terms = m - above, []
        for subtopic, (h, length) in subtopics.items():
            if powers[-1] == 1.0:
                terms.append(weights[subtopic] * (h / m))
                continue
            chance, c = chances[subtopic], seen[subtopic]
            expected = 0.0
            for u in range(min(above, length - 1) + 1):
                expected += chance[u] * ((h - u) / left) * powers[c + u]
            terms.append(weights[subtopic] * expected)
            for u in range(min(above + 1, length - 1), 0, -1):
                chance[u] = chance[u] * ((left - h + u) / left) + chance[u - 1] * ((h - u + 1) / left)
            chance[0] *= (left - h) / left
        yield added(terms)


def novelty_ideal(
    offsets: Ints,
    first: Ints,
    last: Ints,
    member_offsets: Ints,
    members: Ints,
    subtopics: Ints,
    subtopic_offsets: Ints,
    weights: Floats,
    ahead: bool,
    powers: Floats,
    kind: int,
    base: float,
    table: Floats,
    cutoffs: Ints,
    out: Floats,
) -> None:
    """Write the sums of the greedy ideal list of each query to `out`, at all cut-offs.

    The documents of a kind cover the same subtopics: see `rankgain.metrics.by_subtopic.Kinds`.
    """
    discount, powers, ks = discounts(table, kind, base), powers.tolist(), cutoffs.tolist()
    for query in range(len(offsets) - 1):
        kinds = range(offsets[query], offsets[query + 1])
        sets = {kind: subtopics[first[kind] : last[kind]].tolist() for kind in kinds}
        waiting = {kind: members[member_offsets[kind] : member_offsets[kind + 1]].tolist() for kind in kinds}
        seen = dict.fromkeys(range(subtopic_offsets[query], subtopic_offsets[query + 1]), 0)
        out[:, query] = at_cutoffs(ks, _summed(ideal_list(sets, waiting, seen, weights, powers, ahead), discount))


def _summed(documents, discount):
    """Yield (rank, sum to this rank)."""
    total = 0.0
    for rank, (_, gain) in enumerate(documents, 1):
        total += gain * discount(rank)
        yield rank, total
