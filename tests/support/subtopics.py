"""Metrics of judgments by subtopic, defined for one list without ties, and random queries.

The definitions are those of the papers and of ndeval, in plain Python, without a shared formula for ties: these are
averaged over all orders.
"""

import math
from itertools import chain, permutations, product

DISCOUNTS = {
    "alpha_dcg": lambda i, beta: 1 / math.log2(i + 1),
    "err_ia": lambda i, beta: 1 / i,
    "nrbp": lambda i, beta: beta ** (i - 1),
}
NORMALISED = {"alpha_ndcg": "alpha_dcg", "nerr_ia": "err_ia", "nnrbp": "nrbp"}
NOVELTY = *DISCOUNTS, *NORMALISED


def relevant(judgments, rel):
    """Return the sets of documents that are relevant to each subtopic that counts."""
    sets = {s: {d for d, grade in grades.items() if grade >= rel} for s, grades in judgments.items()}
    return {s: documents for s, documents in sets.items() if documents}


def gain(document, above, sets, weights, alpha):
    """Return the gain of a document below others. 0 ** 0 is 1."""
    covered = [s for s, documents in sets.items() if document in documents]
    return math.fsum(weights[s] * (1 - alpha) ** len(sets[s] & {*above}) for s in covered)


def discounted(order, k, sets, weights, alpha, discount):
    last = len(order) if k is None else k
    return math.fsum(gain(d, order[:i], sets, weights, alpha) * discount(i + 1) for i, d in enumerate(order[:last]))


def ideal(documents, sets, weights, alpha, by_id=False):
    """Return the greedy order of the judged documents."""
    left, order = list(documents), []
    while left:
        gains = {d: gain(d, order, sets, weights, alpha) for d in left}
        tied = [d for d in left if math.isclose(gains[d], max(gains.values()), abs_tol=1e-12)]

        def ahead(document, order=order):
            others = [d for d in left if d != document]
            return sorted((gain(d, [*order, document], sets, weights, alpha) for d in others), reverse=True)

        if by_id:
            best = max(tied)
        else:
            rounded = {d: [round(value, 9) for value in ahead(d)] for d in tied}
            best = next(d for d in tied if rounded[d] == max(rounded.values()))
        left.remove(best)
        order.append(best)
    return order


def value(name, judgments, order, k=None, alpha=0.5, beta=0.5, weights=None, rel=1, by_id=False):
    """Return the value of a metric for a list in rank order."""
    sets = relevant(judgments, rel)
    weights = {s: 1 if weights is None else weights[s] for s in sets}
    sets = {s: documents for s, documents in sets.items() if weights[s]}
    if not sets:
        return 0.0
    whole = math.fsum(weights[s] for s in sets)
    if name in NOVELTY:
        base = NORMALISED.get(name, name)

        def discount(i):
            return DISCOUNTS[base](i, beta)

        found = discounted(order, k, sets, weights, alpha, discount)
        if name in NORMALISED:
            documents = dict.fromkeys(d for grades in judgments.values() for d in grades)
            best = ideal(documents, sets, weights, alpha, by_id)
            found /= discounted(best, k, sets, weights, alpha, discount)
            return found if by_id else min(found, 1.0)
        if name == "nrbp":
            return found * (1 - (1 - alpha) * beta) / whole
        return found / whole / math.fsum((1 - alpha) ** (i - 1) * discount(i) for i in range(1, k + 1))
    return math.fsum(weights[s] * OF_SUBTOPIC[name](sets[s], order, k) for s in sets) / whole


def _average_precision(documents, order, k):
    ranks = [i for i, d in enumerate(order[:k], 1) if d in documents]
    return math.fsum(n / i for n, i in enumerate(ranks, 1)) / len(documents)


OF_SUBTOPIC = {
    "strecall": lambda documents, order, k: float(not documents.isdisjoint(order[:k])),
    "p_ia": lambda documents, order, k: len(documents & {*order[:k]}) / (len(order) if k is None else k),
    "recall_ia": lambda documents, order, k: len(documents & {*order[:k]}) / len(documents),
    "rr_ia": lambda documents, order, k: next((1 / i for i, d in enumerate(order[:k], 1) if d in documents), 0.0),
    "ap_ia": _average_precision,
}


def orders(run):
    """Return all orders of a run that its scores allow."""
    groups = [[d for d in run if run[d] == score] for score in sorted({*run.values()}, reverse=True)]
    return [[*chain.from_iterable(chosen)] for chosen in product(*map(permutations, groups))]


def random_query(rng, subtopics=5, documents=6, levels=None):
    """Return the judgments and the run of a query; the run has scores of so many levels, or no ties."""
    names = [f"d{number:04}" for number in rng.sample(range(10_000), rng.randint(1, documents))]
    judgments = {
        f"s{s}": {d: rng.choice([0, 0, 1, 1, 2]) for d in names if rng.random() < 0.9}
        for s in range(rng.randint(1, subtopics))
    }
    returned = rng.sample([*names, "x1", "x2"], rng.randint(1, len(names) + 2))
    run = {d: float(-rank if levels is None else rng.randrange(levels)) for rank, d in enumerate(returned)}
    return judgments, run
