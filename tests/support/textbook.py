"""Literal, deliberately slow definitions of the metrics in plain Python.

Both backends are tested against this module, so it shares no code and no ideas with them. Every value is a float64.
Sums start at 0.0 and run in rank order, and each term is gain * discount.

A grade of None stands for a document that is not judged. A negative grade stands for a document that was pooled but not
judged. In either case, the gain is 0, and the document is neither relevant nor part of the judged set.

A metric is a function of the grades of the returned list, in rank order, and the grades of the judged set. Its other
parameters have the names that `rankgain.metric` gives them. R is the number of judged relevant documents.

Sources:
    Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4): CG, DCG, nDCG, nCG.
    Burges et al. 2005, Learning to rank using gradient descent, ICML: the gain 2^r - 1, the discount 1 / log(i + 1).
    Voorhees 1999, The TREC-8 question answering track report, TREC-8: reciprocal rank and its mean, MRR.
    McSherry and Najork 2008, Computing information retrieval performance measures efficiently in the presence of
        tied scores, ECIR: the value under ties is the expected value over all orders of the tied documents.
    van Rijsbergen 1979, Information retrieval, chapter 7: precision, recall, E = 1 - F, fallout.
    Fawcett 2006, An introduction to ROC analysis, Pattern Recognition Letters 27(8): AUC.
    Manning, Raghavan and Schütze 2008, Introduction to information retrieval, chapter 8: precision, recall, F, average
        precision, interpolated precision, R-precision.
    Buckley and Voorhees 2004, Retrieval evaluation with incomplete information, SIGIR: bpref, with the bound that
        trec_eval gives it (m_bpref.c).
    Yilmaz and Aslam 2006, Estimating average precision with incomplete and imperfect judgments, CIKM: infAP; its
        epsilon is trec_eval's (m_infap.c).
    Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness, ACM TOIS 27(1): RBP.
    Chapelle, Metzler, Zhang and Grinspan 2009, Expected reciprocal rank for graded relevance, CIKM: ERR.
    Sakai 2004, New performance metrics based on multigrade relevance, NTCIR-4: Q-measure.
    trec_eval (Buckley; Soboroff), the help texts and behaviour of m_success.c, m_rel_P.c, m_set_*.c, m_utility.c,
        m_G.c, m_binG.c, m_ndcg_rel.c, m_Rndcg.c, m_Rprec_mult.c, m_iprec_at_recall.c, m_unjudged.c, m_num_*.c.
"""

import math
from collections import namedtuple
from collections.abc import Mapping
from inspect import signature
from itertools import combinations, groupby, product

Doc = namedtuple("Doc", "id grade score")


def is_judged(grade):
    return grade is not None and grade >= 0


def is_relevant(grade, rel=None):
    """Return whether a document is judged and has a grade of at least `rel` (above 0 if `rel` is None)."""
    return is_judged(grade) and (grade > 0 if rel is None else grade >= rel)


def gain(grade, kind="linear"):
    """Return the gain of a grade.

    The gain of a grade r is r, 2^r - 1 (Burges et al. 2005), 1 if r > 0, or the value of a table or function. A table
    may omit grade 0, whose gain is then 0. Any other missing grade raises KeyError.
    """
    if not is_judged(grade):
        return 0.0
    r = float(grade)
    if isinstance(kind, str):
        if kind == "linear":
            return r
        if kind == "exponential":
            return math.exp2(r) - 1.0
        if kind == "binary":
            return 1.0 if r > 0 else 0.0
        raise ValueError(f"unknown gain {kind!r}")
    if callable(kind):
        return float(kind(r))
    table = kind if isinstance(kind, Mapping) else dict(enumerate(kind))
    if r == 0 and 0 not in table:
        return 0.0
    return float(table[r])


def discount(rank, kind="log2"):
    """Return the weight of a rank, counted from 1.

    "jarvelin:B" is the discount of Järvelin and Kekäläinen 2002 with base B, which is 2 by default.
    """
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


# sums of gains


def added(terms):
    """Return the sum, rounded after each addition. Since Python 3.12, the built-in `sum` compensates for rounding."""
    total = 0.0
    for term in terms:
        total += term
    return total


def discounted_sum(gains, discount_kind):
    return added(g * discount(rank, discount_kind) for rank, g in enumerate(gains, start=1))


def ideal_gains(judged, kind="linear"):
    return sorted([gain(grade, kind) for grade in judged if is_judged(grade)], reverse=True)


def cg(grades, judged=None, k=None, gain="linear"):
    """Return the cumulated gain: the sum of the first k gains (Järvelin and Kekäläinen 2002)."""
    return dcg(grades, judged, k, gain, "none")


def dcg(grades, judged=None, k=None, gain="linear", discount="log2"):
    """Return the sum of gain times discount over the first k ranks (Järvelin and Kekäläinen 2002)."""
    return discounted_sum([worth(grade, gain) for grade in grades[:k]], discount)


worth, _discount = gain, discount  # parameters of some functions hide the original names


def idcg(grades, judged, k=None, gain="linear", discount="log2", ideal="judged"):
    """Return the DCG of the judged documents in descending order of gain (Järvelin and Kekäläinen 2002).

    The ideal list is cut at k and, with ideal="returned", also at the length of the returned list. If the returned list
    is empty, the ideal list has one document, which the query could have returned.
    """
    gains = ideal_gains(judged, gain)[:k]
    if ideal == "returned":
        gains = gains[: max(len(grades), 1)]
    elif ideal != "judged":
        raise ValueError(f"unknown ideal {ideal!r}")
    return discounted_sum(gains, discount)


def ndcg(grades, judged, k=None, gain="linear", discount="log2", ideal="judged", empty=0.0):
    """Return DCG divided by the DCG of the ideal list, or `empty` if the DCG of the ideal list is 0."""
    best = idcg(grades, judged, k, gain, discount, ideal)
    return empty if best == 0 else dcg(grades, judged, k, gain, discount) / best


def ncg(grades, judged, k=None, gain="linear", empty=0.0):
    """Return CG divided by the CG of the ideal list, or `empty` if the CG of the ideal list is 0."""
    return ndcg(grades, judged, k, gain, "none", empty=empty)


def ndcg_rel(grades, judged, gain="linear", discount="log2", empty=0.0):
    """Return the mean of nDCG at the ranks of all judged documents with a gain (m_ndcg_rel.c).

    For a document that was not returned, nDCG of the whole list is used.
    """
    worthy = sum(g > 0 for g in ideal_gains(judged, gain))
    if not worthy:
        return empty
    ranks = [rank for rank, grade in enumerate(grades, start=1) if worth(grade, gain) > 0]
    ranks += [None] * (worthy - len(ranks))
    return math.fsum(ndcg(grades, judged, rank, gain, discount) for rank in ranks) / worthy


def r_ndcg(grades, judged, gain="linear", discount="log2", rel=None, empty=0.0):
    """Return the mean of nDCG at the ranks after which the ideal gain falls (m_Rndcg.c).

    As in trec_eval, the nDCG of the whole list is included if the list has at least two documents more than there are
    judged documents with a gain.
    """
    if not any(is_relevant(grade, rel) for grade in judged):
        return empty
    gains = [g for g in ideal_gains(judged, gain) if g > 0]
    ranks = [rank for rank, g in enumerate(gains, start=1) if rank == len(gains) or gains[rank] < g]
    if not ranks:
        return 0.0
    if len(grades) >= len(gains) + 2:
        ranks.append(None)
    return math.fsum(ndcg(grades, judged, rank, gain, discount) for rank in ranks) / len(ranks)


def g(grades, judged, gain="linear", empty=0.0):
    """Return the G measure of trec_eval (m_G.c).

    This is the sum of gain / log2(2 + cost - gains) over the ranks, divided by the sum of the ideal gains. `cost` and
    `gains` are sums down to and including the rank, as in trec_eval's code; its help text excludes the rank itself. The
    cost of a rank is its ideal gain, but at least 1.
    """
    ideal = ideal_gains(judged, gain)
    if not any(ideal):
        return empty
    total = 0.0
    for rank, grade in enumerate(grades, start=1):
        costs = [max(ideal[i] if i < len(ideal) else 0.0, 1.0) for i in range(rank)]
        missed = math.fsum([*costs, *(-worth(above, gain) for above in grades[:rank])])
        total += worth(grade, gain) / math.log2(2.0 + missed)
    return total / math.fsum(ideal)


def bin_g(grades, judged, rel=None, empty=0.0):
    """Return the mean of 1 / log2(2 + number of irrelevant documents above) over the relevant documents (m_binG.c).

    A relevant document that was not returned contributes 0.
    """
    relevant = count(judged, rel)
    if not relevant:
        return empty
    total = 0.0
    for position, grade in enumerate(grades):
        if is_relevant(grade, rel):
            total += 1.0 / math.log2(2 + position - count(grades[:position], rel))
    return total / relevant


# the first relevant document


def rr(grades, judged=None, k=None, rel=None, empty=0.0):
    """Return 1 / rank of the first relevant document if that rank is at most k, and 0 otherwise (Voorhees 1999).

    If no judged document is relevant, return `empty`.
    """
    judged = grades if judged is None else judged
    if not any(is_relevant(grade, rel) for grade in judged):
        return empty
    for rank, grade in enumerate(grades[:k], start=1):
        if is_relevant(grade, rel):
            return 1.0 / rank
    return 0.0


def success(grades, judged, k=None, rel=None, empty=0.0):
    """Return 1 if any of the first k documents is relevant, and 0 otherwise (m_success.c)."""
    if not count(judged, rel):
        return empty
    return 1.0 if count(grades[:k], rel) else 0.0


# counts


def count(grades, rel=None):
    return sum(is_relevant(grade, rel) for grade in grades)


def length(grades, k):
    return len(grades) if k is None else k


def precision(grades, judged, k=None, rel=None):
    """Return the number of relevant documents in the first k ranks, divided by k.

    Without k, divide by the number of documents returned.
    """
    return count(grades[:k], rel) / length(grades, k) if length(grades, k) else 0.0


def recall(grades, judged, k=None, rel=None, empty=0.0):
    relevant = count(judged, rel)
    return count(grades[:k], rel) / relevant if relevant else empty


def capped_recall(grades, judged, k=None, rel=None, empty=0.0):
    """Return the precision divided by the highest possible precision (m_rel_P.c, m_set_rel_P.c)."""
    relevant = count(judged, rel)
    if not relevant:
        return empty
    most = min(length(grades, k), relevant)
    return count(grades[:k], rel) / most if most else 0.0


def f(grades, judged, k=None, rel=None, empty=0.0, beta=1.0):
    """Return the weighted harmonic mean of precision and recall, or 0 if both are 0 (van Rijsbergen 1979)."""
    if not count(judged, rel):
        return empty
    p, r = precision(grades, judged, k, rel), recall(grades, judged, k, rel)
    return (1 + beta**2) * p * r / (beta**2 * p + r) if p else 0.0


def set_ap(grades, judged, rel=None, empty=0.0):
    """Return precision times recall for the whole returned list (m_set_map.c)."""
    return precision(grades, judged, None, rel) * recall(grades, judged, None, rel) if count(judged, rel) else empty


def r_precision(grades, judged, rel=None, empty=0.0, multiple=1.0):
    """Return the precision at rank `multiple` * R, where R is the number of relevant documents (m_Rprec_mult.c).

    The rank is rounded up if its fractional part is at least 0.1, and rounded down otherwise.
    """
    relevant = count(judged, rel)
    rank = int(multiple * relevant + 0.9)
    return empty if not relevant else precision(grades, judged, rank, rel)


def utility(grades, judged, rel=None, coefficients=(1.0, -1.0, 0.0, 0.0), collection=0.0):
    """Return the sum of the cells of the contingency table, each multiplied by its coefficient (m_utility.c)."""
    returned_relevant = count(grades, rel)
    returned_other = len(grades) - returned_relevant
    left_relevant = count(judged, rel) - returned_relevant
    left_other = collection - returned_relevant - returned_other - left_relevant
    cells = returned_relevant, returned_other, left_relevant, left_other
    return added(coefficient * cell for coefficient, cell in zip(coefficients, cells, strict=True))


def judged_share(grades, judged, k=None):
    """Return the share of judged documents among the first k documents returned."""
    seen = grades[:k]
    return sum(map(is_judged, seen)) / len(seen) if seen else 0.0


def unjudged_share(grades, judged, k=None):
    """Return the number of unjudged documents in the first k ranks, divided by k (m_unjudged.c).

    Pooled documents count as unjudged. Ranks beyond the end of the list do not. Without k, the whole list is used.
    """
    return sum(not is_judged(grade) for grade in grades[:k]) / length(grades, k) if length(grades, k) else 0.0


def num_ret(grades, judged):
    return float(len(grades))


def num_rel(grades, judged, rel=None):
    return float(count(judged, rel))


def num_rel_ret(grades, judged, rel=None):
    return float(count(grades, rel))


def num_nonrel_judged_ret(grades, judged, rel=None):
    return float(sum(is_judged(grade) and not is_relevant(grade, rel) for grade in grades))


def num_q(grades, judged):
    return 1.0


def fallout(grades, judged, k=None, rel=None, empty=0.0):
    """Return the share of judged irrelevant documents that appear in the first k ranks (van Rijsbergen 1979)."""
    others = num_nonrel_judged_ret(judged, judged, rel)
    return num_nonrel_judged_ret(grades[:k], judged, rel) / others if others else empty


def auc(grades, judged, rel=None, empty=0.0):
    """Return the share of (relevant, irrelevant) pairs in which the relevant document ranks higher (Fawcett 2006)."""
    right = [
        is_relevant(first, rel)
        for i, first in enumerate(grades)
        for second in grades[i + 1 :]
        if is_relevant(first, rel) != is_relevant(second, rel)
    ]
    missed = any(is_relevant(grade, rel) for grade in judged) and not any(is_relevant(grade, rel) for grade in grades)
    return sum(right) / len(right) if right else 0.0 if missed else empty


# precisions at relevant documents


def precisions(grades, k=None, rel=None):
    """Return the precision at each rank up to k that holds a relevant document."""
    return [count(grades[:rank], rel) / rank for rank in relevant_ranks(grades, rel) if k is None or rank <= k]


def relevant_ranks(grades, rel=None):
    return [rank for rank, grade in enumerate(grades, start=1) if is_relevant(grade, rel)]


def ap(grades, judged, k=None, rel=None, empty=0.0):
    """Return the mean precision at the relevant documents.

    A relevant document that is beyond rank k or was not returned contributes 0.
    """
    relevant = count(judged, rel)
    return added(precisions(grades, k, rel)) / relevant if relevant else empty


def ap_capped(grades, judged, k=None, rel=None, empty=0.0):
    """Return AP, but divide by the highest possible number of relevant documents in the first k ranks.

    Without k, use the ranks of the whole list.
    """
    relevant = count(judged, rel)
    if not relevant:
        return empty
    most = min(length(grades, k), relevant)
    return added(precisions(grades, k, rel)) / most if most else 0.0


def ap_hits(grades, judged, k=None, rel=None, empty=0.0):
    """Return the mean precision at the relevant documents in the first k ranks."""
    if not count(judged, rel):
        return empty
    hit_precisions = precisions(grades, k, rel)
    return added(hit_precisions) / len(hit_precisions) if hit_precisions else 0.0


def iprec(grades, judged, rel=None, empty=0.0, recall=0.0, rounding="up"):
    """Return the highest precision at any rank that reaches the given recall.

    The number of relevant documents needed is x = recall * R, rounded to int(x + 0.9) as in trec_eval or, from release
    10 on, to the nearest integer. R is the number of relevant documents.
    """
    relevant = count(judged, rel)
    if not relevant:
        return empty
    needed = int(recall * relevant + 0.9) if rounding == "up" else math.floor(recall * relevant + 0.5)
    ranks = range(1, len(grades) + 1)
    return max((precision(grades, judged, n, rel) for n in ranks if count(grades[:n], rel) >= needed), default=0.0)


def iprec_mean(grades, judged, rel=None, empty=0.0, rounding="up"):
    points = 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0
    return added(iprec(grades, judged, rel, empty, point, rounding) for point in points) / 11


def q_measure(grades, judged, k=None, rel=None, empty=0.0, beta=1.0):
    """Return the Q-measure (Sakai 2004).

    This is AP with (c + beta * CG) / (rank + beta * ideal CG) in place of the precision. c is the number of relevant
    documents down to the rank. The grades are the gains.
    """
    relevant = count(judged, rel)
    if not relevant:
        return empty
    ideal, total = ideal_gains(judged), 0.0
    for rank in relevant_ranks(grades, rel):
        if k is None or rank <= k:
            above = grades[:rank]
            blended = count(above, rel) + beta * added(map(gain, above))
            total += blended / (rank + beta * added(ideal[:rank]))
    return total / relevant


# incomplete judgments


def bpref(grades, judged, rel=None, empty=0.0):
    """Return bpref (Buckley and Voorhees 2004).

    This is the mean of 1 - min(n, R) / min(N, R) over the relevant documents. R is the number of relevant documents,
    and N is the number of judged irrelevant documents. n of these N documents are ranked above the relevant document. A
    relevant document that was not returned contributes 0.
    """
    relevant = count(judged, rel)
    if not relevant:
        return empty
    others = sum(map(is_judged, judged)) - relevant
    total = 0.0
    for rank in relevant_ranks(grades, rel):
        above = sum(is_judged(grade) and not is_relevant(grade, rel) for grade in grades[:rank])
        total += 1.0 - min(above, relevant) / min(others, relevant) if above else 1.0
    return total / relevant


def infap(grades, judged, rel=None, empty=0.0):
    """Return the inferred average precision (Yilmaz and Aslam 2006).

    This is the mean of the expected precision at the relevant documents. The expected precision at rank r is 1/r +
    (r-1)/r * (pooled above / (r-1)) * (relevant above / judged above). The last ratio is smoothed by epsilon. A
    relevant document that was not returned contributes 0.
    """
    relevant = count(judged, rel)
    if not relevant:
        return empty
    epsilon, total = 0.00001, 0.0
    for rank in relevant_ranks(grades, rel):
        above = grades[: rank - 1]
        if above:
            pooled = sum(grade is not None for grade in above)
            share = (count(above, rel) + epsilon) / (sum(map(is_judged, above)) + 2 * epsilon)
            total += 1 / rank + (rank - 1) / rank * (pooled / (rank - 1)) * share
        else:
            total += 1.0
    return total / relevant


def rbp(grades, judged, k=None, rel=None, p=0.9):
    """Return (1 - p) times the sum of p^(rank - 1) over the relevant documents (Moffat and Zobel 2008)."""
    return (1 - p) * added(p ** (rank - 1) for rank in relevant_ranks(grades[:k], rel))


def rbp_residual(grades, judged, k=None, p=0.9):
    """Return the uncertainty of RBP: the weight of unjudged documents and unseen ranks (Moffat and Zobel 2008)."""
    seen = grades[:k]
    unknown = added(p ** (rank - 1) for rank, grade in enumerate(seen, start=1) if not is_judged(grade))
    return p ** len(seen) + (1 - p) * unknown


# expected reciprocal rank


def stop_probability(grade, max_grade):
    return (math.exp2(grade) - 1) / math.exp2(max_grade) if is_judged(grade) else 0.0


def err(grades, judged, k=None, max_grade=4.0):
    """Return the expected reciprocal rank of the document at which the user stops (Chapelle et al. 2009)."""
    total, goes_on = 0.0, 1.0
    for rank, grade in enumerate(grades[:k], start=1):
        stops = stop_probability(grade, max_grade)
        total += goes_on * stops / rank
        goes_on *= 1.0 - stops
    return total


def nerr(grades, judged, k=None, max_grade=4.0, empty=0.0):
    """Return ERR divided by the ERR of the judged documents in descending order of grade."""
    best = err(sorted(filter(is_judged, judged), reverse=True), judged, k, max_grade)
    return empty if best == 0 else err(grades, judged, k, max_grade) / best


NAMED_OTHERWISE = {"gm_ap": ap, "gm_bpref": bpref, "gauc": auc, "judged": judged_share, "unjudged": unjudged_share}


def definition(name):
    """Return the function that defines a metric."""
    return NAMED_OTHERWISE.get(name) or globals()[name]


def has_gain(name):
    """Return whether a metric is defined by gains; the other metrics use grades."""
    return "gain" in signature(definition(name)).parameters


# gradients


def lambdarank(
    grades, scores, k=None, gain="exponential", worth_of_rank="log2", *,
    sigma=1.0, normalize=("score", "query"), discount="cut", ties="stable", pairwise=False,
):  # fmt: skip
    """Return the gradient and hessian of each document (Burges 2010), by the formulas in `rankgain.lambdarank`.

    With `pairwise`, all pairs have the same weight. `discount` determines the discounts of ranks beyond k. `ties`
    determines the discounts of tied documents.
    """
    n = len(grades)
    k = n if k is None else k
    gains = [float(grade) if pairwise else worth(grade, gain) for grade in grades]
    ideal = idcg(grades, grades, k, gain, worth_of_rank)
    gradient, hessian, whole = [0.0] * n, [0.0] * n, 0.0
    if n < 2 or (ideal == 0 and not pairwise):
        return gradient, hessian
    order = sorted(range(n), key=lambda index: -scores[index])
    of_rank = [_discount(rank + 1, worth_of_rank) if discount == "full" or rank < k else 0.0 for rank in range(n)]
    group = [[b for b in range(n) if scores[order[b]] == scores[order[a]]] for a in range(n)]
    average = ties == "average"
    rows = group[min(k, n) - 1][-1] + 1 if average else min(k, n)
    mean = [sum(of_rank[b] for b in group[a]) / len(group[a]) if average else of_rank[a] for a in range(n)]
    for a in range(rows):
        for b in range(a + 1, n):
            i, j = order[a], order[b]
            if gains[i] == gains[j]:
                continue
            gap = mean[a] - mean[b]
            if average and b in group[a]:
                gap = sum(of_rank[x] - of_rank[y] for x, y in combinations(group[a], 2)) / math.comb(len(group[a]), 2)
            delta = 1.0 if pairwise else abs(gains[i] - gains[j]) * gap / ideal
            if "score" in normalize and len({*scores}) > 1:
                delta /= 0.01 + abs(scores[i] - scores[j])
            high, low = (i, j) if gains[i] > gains[j] else (j, i)
            rho = 1 / (1 + math.exp(sigma * (scores[high] - scores[low])))
            gradient[high] -= sigma * delta * rho
            gradient[low] += sigma * delta * rho
            whole += 2 * sigma * delta * rho
            for each in (high, low):
                hessian[each] += sigma**2 * delta * rho * (1 - rho)
    factor = math.log2(1 + whole) / whole if "query" in normalize and whole else 1.0
    return [factor * value for value in gradient], [factor * value for value in hessian]


# ties


def arrangements(grades):
    """Yield the distinct orders of some grades.

    All of these orders are equally likely, since documents with equal grades are interchangeable.
    """
    if not grades:
        yield []
    for first in dict.fromkeys(grades):
        rest = list(grades)
        rest.remove(first)
        for others in arrangements(rest):
            yield [first, *others]


def orders(docs, ties, key):
    """Return all lists of grades to average over, in descending order of score.

    The policy `ties` orders the documents with equal scores. "stable" keeps the given order, and "docid" puts the
    higher id first. "best" and "worst" sort by `key` of the grade in descending and ascending order. "average" produces
    every order of each tie group (McSherry and Najork 2008). Every other policy produces a single list.
    """
    by_score = sorted(docs, key=lambda doc: float(doc.score), reverse=True)
    choices = []  # for each tie group, the possible orders
    for _, group in groupby(by_score, key=lambda doc: float(doc.score)):
        tied = list(group)
        if ties == "docid":
            tied.sort(key=lambda doc: doc.id, reverse=True)
        elif ties in ("best", "worst"):
            tied.sort(key=lambda doc: key(doc.grade), reverse=ties == "best")
        elif ties not in ("stable", "average"):
            raise ValueError(f"unknown ties {ties!r}")
        grades = [doc.grade for doc in tied]
        choices.append(list(arrangements(grades)) if ties == "average" else [grades])
    return [[grade for group in choice for grade in group] for choice in product(*choices)]


def metric(name, docs, judged=None, *, ties, **parameters):
    """Return the mean of the metric for one query over the orders that `ties` allows."""
    judged = [doc.grade for doc in docs] if judged is None else judged
    by_gain = has_gain(name)

    def key(grade):
        if name in ("fallout", "num_nonrel_judged_ret"):  # lower is better
            return not (is_judged(grade) and not is_relevant(grade, parameters.get("rel")))
        if by_gain:
            return gain(grade, parameters.get("gain", "linear"))
        return -math.inf if grade is None else grade

    values = [definition(name)(grades, judged, **parameters) for grades in orders(docs, ties, key)]
    if len(set(values)) == 1:  # the order makes no difference, and n * v / n may differ from v in the last bit
        return values[0]
    return math.fsum(values) / len(values)
