"""The definitions of the similarities of two runs, by enumeration, and runs with ties to compute them for."""

import itertools
import math


def orders(scores):
    """Return all orders of a dict of scores that keep higher scores first."""
    groups = [[d for d in scores if scores[d] == score] for score in sorted({*scores.values()}, reverse=True)]
    for each in itertools.product(*map(itertools.permutations, groups)):
        yield [*itertools.chain.from_iterable(each)]


def overlap(old, new, d):
    return len({*old[:d]} & {*new[:d]})


def value(name, old, new, k=None, p=0.9):
    """Return a similarity of two lists, as a textbook defines it."""
    if k is not None:
        old, new = old[:k], new[:k]
    n, m = len(old), len(new)
    shorter, longer = sorted((n, m))
    if not longer:
        return 1.0
    if name == "overlap":
        return overlap(old, new, longer) / longer
    if name == "jaccard":
        return len({*old} & {*new}) / len({*old} | {*new})
    if name == "unchanged":
        return float(old == new)
    if not shorter:
        return 0.0
    at_end = overlap(old, new, shorter) / shorter if name == "rbo_ext" else 0.0
    agreement = [(overlap(old, new, d) + max(d - shorter, 0) * at_end) / d for d in range(1, longer + 1)]
    weights = [(1 - p) * p ** (d - 1) for d in range(1, longer + 1)]
    return math.fsum(w * a for w, a in zip(weights, agreement, strict=True)) + p**longer * agreement[-1]


def expected(name, old, new, **options):
    """Return the mean of a similarity over all orders of tied documents of two dicts of scores."""
    each = [value(name, a, b, **options) for a in orders(old) for b in orders(new)]
    return math.fsum(each) / len(each)


def random_run(rng, documents="abcdefgh", most=6):
    """Return a dict of scores for up to `most` documents, with tie groups of up to 3."""
    size = rng.randrange(most + 1)
    scores, score = {}, 10.0
    chosen = rng.sample(documents, size)
    while chosen:
        score -= 1.0
        for _ in range(min(len(chosen), rng.choice([1, 1, 2, 3]))):
            scores[chosen.pop()] = score
    return scores
