"""The definitions of the metrics, stated literally: plain Python over whole lists, slow on purpose.

Both backends are tested against this module, so it shares no code and no idea with them. Every value is a float64;
sums start at 0.0 and run in rank order, and a term is gain * discount.

A grade of None is a document that is not judged, a negative grade one that was pooled but not judged: either has
gain 0 and is never relevant, and neither belongs to a judged set.

Sources:
    Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4): CG, DCG, nDCG.
    Burges et al. 2005, Learning to rank using gradient descent, ICML: the gain 2^r - 1, the discount 1 / log(i + 1).
    Voorhees 1999, The TREC-8 question answering track report, TREC-8: reciprocal rank and its mean, MRR.
    McSherry and Najork 2008, Computing information retrieval performance measures efficiently in the presence of
        tied scores, ECIR: the value under ties is the expected value over all orders of the tied documents.
"""

import math
from collections import namedtuple
from collections.abc import Mapping
from itertools import groupby, permutations, product

Doc = namedtuple("Doc", "id grade score")


def is_judged(grade):
    return grade is not None and grade >= 0


def is_relevant(grade, rel=None):
    """Judged, with a grade of at least `rel`; without `rel`, a grade above 0."""
    return is_judged(grade) and (grade > 0 if rel is None else grade >= rel)


def gain(grade, kind="linear"):
    """The worth of one document: r, or 2^r - 1 (Burges et al. 2005), or a table by grade, or a function of it.

    In a table, 0 may be missing and is worth 0; any other grade that is missing is a KeyError.
    """
    if not is_judged(grade):
        return 0.0
    r = float(grade)
    if isinstance(kind, str):
        if kind == "linear":
            return r
        if kind == "exponential":
            return math.exp2(r) - 1.0
        raise ValueError(f"unknown gain {kind!r}")
    if callable(kind):
        return float(kind(r))
    table = kind if isinstance(kind, Mapping) else dict(enumerate(kind))
    if r == 0 and 0 not in table:
        return 0.0
    return float(table[r])


def discount(rank, kind="log2"):
    """The weight of a rank, from 1. "jarvelin:B" is that of Järvelin and Kekäläinen 2002 with base B, by default 2."""
    if not isinstance(kind, str):
        return float(kind[rank - 1])
    name, _, base = kind.partition(":")
    if name == "jarvelin":
        b = float(base or 2)
        return 1.0 if rank < b else math.log2(b) / math.log2(rank)
    if kind == "none":
        return 1.0
    if kind == "log2":
        return 1.0 / math.log2(rank + 1)
    if kind == "zipf":
        return 1.0 / rank
    raise ValueError(f"unknown discount {kind!r}")


def discounted_sum(gains, discount_kind):
    total = 0.0
    for rank, g in enumerate(gains, start=1):
        total += g * discount(rank, discount_kind)
    return total


def cg(grades, k=None, gain_kind="linear"):
    """Cumulated gain: the sum of the first k gains (Järvelin and Kekäläinen 2002)."""
    return dcg(grades, k, gain_kind, "none")


def dcg(grades, k=None, gain_kind="linear", discount_kind="log2"):
    """Discounted cumulated gain: the sum of the first k gains, each times the discount of its rank (ibid.)."""
    return discounted_sum([gain(grade, gain_kind) for grade in grades[:k]], discount_kind)


def idcg(judged, k=None, gain_kind="linear", discount_kind="log2", returned=None):
    """DCG of the ideal list: the gains of the judged documents, highest first (ibid.).

    It is cut at k and, where `returned` is given, at that length as well.
    """
    gains = sorted([gain(grade, gain_kind) for grade in judged if is_judged(grade)], reverse=True)
    return discounted_sum(gains[:k][:returned], discount_kind)


def ndcg(grades, judged=None, k=None, gain_kind="linear", discount_kind="log2", ideal="judged", empty=0.0):
    """DCG divided by the DCG of the ideal list (ibid.), or `empty` where that is 0.

    ideal="returned" cuts the ideal list at the length of the returned one.
    """
    judged = grades if judged is None else judged
    best = idcg(judged, k, gain_kind, discount_kind, returned_length(grades, ideal))
    return empty if best == 0 else dcg(grades, k, gain_kind, discount_kind) / best


def returned_length(returned, ideal):
    if ideal not in ("judged", "returned"):
        raise ValueError(f"unknown ideal {ideal!r}")
    return len(returned) if ideal == "returned" else None


def rr(grades, k=None, rel=None, judged=None, empty=0.0):
    """1 / rank of the first relevant document if that rank is at most k, else 0 (Voorhees 1999).

    `empty` where no judged document is relevant.
    """
    judged = grades if judged is None else judged
    if not any(is_relevant(grade, rel) for grade in judged):
        return empty
    for rank, grade in enumerate(grades[:k], start=1):
        if is_relevant(grade, rel):
            return 1.0 / rank
    return 0.0


def orders(docs, ties, key):
    """All orders to average over: highest score first, and documents of equal score as `ties` says.

    "stable": as given; "docid": higher id first; "best", "worst": by `key` of the document, descending or ascending;
    "average": every order of each group of tied documents (McSherry and Najork 2008). All but the last give one.
    """
    by_score = sorted(docs, key=lambda doc: float(doc.score), reverse=True)
    choices = []  # for each group of tied documents, the orders it may take
    for _, group in groupby(by_score, key=lambda doc: float(doc.score)):
        tied = list(group)
        if ties == "stable":
            choices.append([tied])
        elif ties == "docid":
            choices.append([sorted(tied, key=lambda doc: doc.id, reverse=True)])
        elif ties in ("best", "worst"):
            choices.append([sorted(tied, key=key, reverse=ties == "best")])
        elif ties == "average":
            choices.append(list(permutations(tied)))
        else:
            raise ValueError(f"unknown ties {ties!r}")
    return [[doc for group in choice for doc in group] for choice in product(*choices)]


def metric(
    name, docs, judged=None, *, ties,
    k=None, gain_kind="linear", discount_kind="log2", ideal="judged", rel=None, empty=0.0,
):  # fmt: skip
    """The metric for one query: the mean of its values over the orders that `ties` allows."""
    judged = [doc.grade for doc in docs] if judged is None else judged

    def value(grades):
        if name == "cg":
            return cg(grades, k, gain_kind)
        if name == "dcg":
            return dcg(grades, k, gain_kind, discount_kind)
        if name == "idcg":
            return idcg(judged, k, gain_kind, discount_kind, returned_length(grades, ideal))
        if name == "ndcg":
            return ndcg(grades, judged, k, gain_kind, discount_kind, ideal, empty)
        if name == "rr":
            return rr(grades, k, rel, judged, empty)
        raise ValueError(f"unknown metric {name!r}")

    def key(doc):
        if name == "rr":
            return -math.inf if doc.grade is None else doc.grade
        return gain(doc.grade, gain_kind)

    values = [value([doc.grade for doc in order]) for order in orders(docs, ties, key)]
    if len(set(values)) == 1:  # their order makes no difference; n * v / n may differ from v in the last bit
        return values[0]
    return math.fsum(values) / len(values)
