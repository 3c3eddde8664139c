"""The specification: what is computed of one query, in plain Python: gains, discounts, terms, figures.

The engine has two halves. One finds the hits of a query and its judged grades, whatever form they came in (`find` in
`_reference_walk`, and for each form in the module of its name); the other, `figure_query` here, makes of them first
terms, each at its cut-offs, and of these figures, a number a metric. The compiled `_kernels` does the same, with the
same bits. Ranks count from 1. A discount is (table, kind, base): the table holds the first ranks, and what lies beyond
it is computed by kind. What is wrong with the input ends as `Refused`, which the walk makes a fault,
(code, query, position, term); `errors` words it.

Sources: gain, discount, CG and DCG: Järvelin & Kekäläinen, ACM TOIS 20(4), 2002; exponential gain: Burges et al.,
ICML 2005; reciprocal rank: Voorhees, TREC-8, 1999; averages over ties: McSherry & Najork, ECIR 2008. What the other
terms are due to, their functions say.
"""

import math
from bisect import bisect_right
from itertools import groupby
from typing import Any, NamedTuple

from rankgain import _codes
from rankgain._codes import AVERAGE, GEOMETRIC, IN_JUDGED, JARVELIN, LOG2, UNLIMITED, VECTOR, WORST, ZIPF

# DCG may exceed the ideal by what the order of additions does to the last bits, and by no more.
TOLERANCE = 1e-9
TINY = 1e-300  # … and what rounding does to subnormal numbers


class Refused(Exception):
    """What is wrong with a query: (code, position)."""


class Term(NamedTuple):
    """What is taken of each query at its cut-offs, which rise; see `rankgain.families`."""

    family: int
    gain: int
    level: float
    grades: Any
    gains: Any
    above: float
    empty: float
    factor: float
    flag: bool
    kind: int
    base: float
    table: Any
    cutoffs: Any
    points: Any


class Program:
    """What to compute of each query: terms, and figures (how, places of values, bounded, empty, parameters).

    Hits are looked for to the `depth`, those with grades above `lowest`, and of the judged grades the `judged_depth`
    highest.
    """

    def __init__(self, terms, figures, depth, judged_depth, lowest):
        self.terms = [Term(*map(_plain, term)) for term in terms]
        self.tables = [dict(zip(term.grades, term.gains, strict=True)) for term in self.terms]
        self.figures = figures
        self.depth, self.judged_depth, self.lowest = depth, judged_depth, lowest


def _plain(value):
    return value.tolist() if hasattr(value, "tolist") else value


class Query:
    """The hits of a query in rank order, its judged grades, highest first, with the number of each, and its length.

    Each hit has the first and the last rank of its tie group; inside the group hits stand by grade, highest first.
    """

    def __init__(self, returned, hits, judged, ties):
        self.returned = returned
        self.grade = [grade for grade, _, _ in hits]
        self.first = [first for _, first, _ in hits]
        self.last = [last for _, _, last in hits]
        self.judged = judged
        self.ties = ties

    def judged_above(self, above):
        """How many judged documents have a grade above another."""
        return sum(count for grade, count in self.judged if grade > above)

    def groups(self, stop=None):
        """Yield the (start, stop) of each run of hits that begin at the same rank."""
        start, first, stop = 0, self.first, len(self.first) if stop is None else stop
        while start < stop:
            end = start + 1
            while end < stop and first[end] == first[start]:
                end += 1
            yield start, end
            start = end


# gain and discount


def discount_at(rank, kind, base):
    if kind == LOG2:
        return 1.0 / math.log2(rank + 1)
    if kind == JARVELIN:
        return 1.0 if rank < base else math.log2(base) / math.log2(rank)
    if kind == ZIPF:
        return 1.0 / rank
    if kind == GEOMETRIC:
        return math.exp2((rank - 1) * math.log2(base))
    return 1.0


def fill_discount(kind, base, out):
    for rank in range(1, len(out) + 1):
        out[rank - 1] = discount_at(rank, kind, base)


def fill_exponential(grades, out):
    """2^r − 1 for each grade; return the index of the first that is too large, or −1."""
    for index, grade in enumerate(memoryview(grades)):
        if grade >= 1024.0:
            return index
        out[index] = math.exp2(grade) - 1.0
    return -1


def discounts(table, kind, base):
    size = len(table)
    return lambda rank: table[rank - 1] if rank <= size else discount_at(rank, kind, base)


def gain_of(grade, exponential):
    return math.exp2(grade) - 1.0 if exponential else grade


def _require(term, ranks):
    """Refuse a vector of discounts that is shorter than the ranks that are needed."""
    if term.kind == VECTOR and ranks > len(term.table):
        raise Refused(_codes.SHORT_DISCOUNT, ranks)


def _gain(term, table, grade):
    """The gain of a grade; one below 0 is of a document that is not judged, and has none."""
    if grade < 0.0:
        return 0.0
    if term.gain == _codes.LINEAR:
        return grade
    if term.gain == _codes.RELEVANT:
        return 1.0 if grade > term.level else 0.0
    if term.gain == _codes.EXPONENTIAL:
        if grade >= 1024.0:
            raise Refused(_codes.LARGE_GRADE, -1)
        return math.exp2(grade) - 1.0
    if term.gain == _codes.STOP:
        if grade > term.level:
            raise Refused(_codes.ABOVE_MAX_GRADE, -1)
        return (math.exp2(grade) - 1.0) / (math.exp2(term.level) - 1.0 + 1.0)
    gain = table.get(grade)
    if gain is None:
        raise Refused(_codes.MISSING_GAIN, -1)
    if not 0.0 <= gain < math.inf:
        raise Refused(_codes.BAD_GAIN, -1)
    return gain


def _hit_gains(term, table, query, depth):
    """The gains of the hits that start at a rank up to the depth; inside a tie group the highest comes first."""
    count = bisect_right(query.first, depth)
    if term.gain == _codes.LINEAR and not (count and min(query.grade) < 0.0):
        return query.grade[:count]
    gains = [_gain(term, table, grade) for grade in query.grade[:count]]
    if term.gain >= _codes.TABLE:  # a higher grade need not have the higher gain
        for start, stop in query.groups(count):
            gains[start:stop] = sorted(gains[start:stop], reverse=True)
    return gains


def _judged_gains(term, table, query):
    """The gains of the judged grades, highest first, with the number of each."""
    if term.gain == _codes.LINEAR:
        return query.judged
    try:
        gains = [(_gain(term, table, grade), count) for grade, count in query.judged]
    except Refused as refused:
        code, position = refused.args
        raise Refused(code + IN_JUDGED, position) from None
    return sorted(gains, key=lambda pair: -pair[0]) if term.gain >= _codes.TABLE else gains


# terms: a query to a value a cut-off


def _at(cutoffs, running, value=0.0):
    """A running value, given as (rank, value from this rank on), at each cut-off; `value`: that before them."""
    out = []
    for rank, following in running:
        while len(out) < len(cutoffs) and cutoffs[len(out)] < rank:
            out.append(value)
        if len(out) == len(cutoffs):
            return out
        value = following
    return out + [value] * (len(cutoffs) - len(out))


def _finite(values):
    if not all(map(math.isfinite, values)):
        raise Refused(_codes.NOT_FINITE, -1)
    return values


def _resolved(start, stop, first, last, ties):
    """Yield (rank, hit) for the hits of a tie group whose order is known.

    Those of the highest gain come first, or last under WORST; documents that are no hits take the other end.
    """
    if ties == WORST:
        return enumerate(range(stop - 1, start - 1, -1), last - (stop - start) + 1)
    return enumerate(range(start, stop), first)


def _sum_returned(term, table, query, cutoffs):
    """Σ g·d over the hits, in rank order; gains inside a tie group stand highest first.

    A tie group under AVERAGE adds G·S/m: G the sum of its gains, S the sum of its discounts up to the cut-off, m its
    documents (McSherry & Najork 2008, eq. 3). Where all its documents have one gain it is not tied at all.
    """
    gain = _hit_gains(term, table, query, cutoffs[-1])
    discount = discounts(term.table, term.kind, term.base)

    def running():
        total = 0.0
        for i, j in query.groups(len(gain)):
            a, b = query.first[i], query.last[i]
            size, hits = b - a + 1, j - i
            if query.ties == AVERAGE and not (hits == size and gain[i] == gain[j - 1]):
                gains = discounted = 0.0
                for index in range(i, j):
                    gains += gain[index]
                for rank in range(a, b + 1):
                    discounted += discount(rank)
                    yield rank, total + gains * discounted / size
                total += gains * discounted / size
            else:
                for rank, index in _resolved(i, j, a, b, query.ties):
                    total += gain[index] * discount(rank)
                    yield rank, total

    return _finite(_at(cutoffs, running()))


def _sum_best(term, table, query, cutoffs):
    """Σ g·d over the judged gains, highest first; `flag`: to no more ranks than the list has.

    Then the ideal of an empty list is that of one document: a list that returned nothing earns 0.
    """
    gains = _judged_gains(term, table, query)
    discount = discounts(term.table, term.kind, term.base)
    limit = max(query.returned, 1) if term.flag and term.family == _codes.IDEAL_SUM else UNLIMITED
    _require(term, min(query.judged_above(-math.inf), limit, cutoffs[-1]))

    def running():
        total = 0.0
        rank = 0
        for gain, count in gains:
            if gain == 0.0:
                return
            for _ in range(min(count, limit - rank)):
                rank += 1
                total += gain * discount(rank)
                yield rank, total

    return _finite(_at(cutoffs, running()))


def discounted_sum(term, table, query):
    _require(term, min(query.returned, term.cutoffs[-1]))
    return _sum_returned(term, table, query, term.cutoffs)


def ideal_sum(term, table, query):
    return _sum_best(term, table, query, term.cutoffs)


def _before_found(term, query):
    """The value before a relevant document is found: `empty` where none is judged."""
    return 0.0 if query.judged and query.judged[0][0] > term.above else term.empty


def first_relevant(term, table, query):
    """1 / rank of the first relevant hit.

    A tie group of m documents, h of them relevant, that starts at rank a gives under AVERAGE
    Σ_{j ≤ min(t, m−h+1)} p_j/(a−1+j), p₁ = h/m, p_{j+1} = p_j·(m−j−h+1)/(m−j) (McSherry & Najork 2008, section 2.4).
    """

    def running():
        for i, j in query.groups():
            a, b = query.first[i], query.last[i]
            size = b - a + 1
            relevant = sum(grade > term.above for grade in query.grade[i:j])
            if not relevant:
                continue
            if query.ties == AVERAGE:
                value, p = 0.0, relevant / size
                for step in range(1, size - relevant + 2):
                    value += p / (a - 1 + step)
                    yield a - 1 + step, value
                    p = p * (size - step - relevant + 1) / (size - step) if step < size else 0.0
            else:
                rank = b - relevant + 1 if query.ties == WORST else a
                yield rank, 1.0 / rank
            return

    return _at(term.cutoffs, running(), _before_found(term, query))


def any_relevant(term, table, query):
    """1 from the first relevant hit on, else 0.

    Under AVERAGE 1 − the chance that no tie group shows one: Π_{j<t} (m−h−j)/(m−j) of each group of m documents, h of
    them relevant, t of them before the cut-off (DESIGN's table; derived here).
    """

    def running():
        for i, j in query.groups():
            a, b = query.first[i], query.last[i]
            size = b - a + 1
            relevant = sum(grade > term.above for grade in query.grade[i:j])
            if relevant and query.ties == AVERAGE:
                p, found = relevant / size, 0.0
                for step in range(1, size - relevant + 1):
                    found = min(found + p, 1.0)
                    yield a - 1 + step, found
                    p = p * (size - step - relevant + 1) / (size - step)
                yield b - relevant + 1, 1.0
                return
            if relevant:
                yield b - relevant + 1 if query.ties == WORST else a, 1.0
                return

    return _at(term.cutoffs, running(), _before_found(term, query))


def ranks(term, table, query):
    """The cut-off, or the length of the list where there is none; `flag`: never more than that length."""
    shown = (k if k != UNLIMITED and not term.flag else min(query.returned, k) for k in term.cutoffs)
    return list(map(float, shown))


def _rising(judged, lowest=0.0, beyond=0.0):
    """A function of the rank, which must not fall: the sum of the gains, highest first, to that rank.

    A gain below `lowest` counts as that; ranks after the last gain above 0 count as `beyond`.
    """
    state = [0, 0, 0, 0.0]  # rank, the gain that comes next, how many of it were counted, sum

    def at(rank):
        done, index, used, total = state
        while done < rank:
            if index == len(judged) or judged[index][0] == 0.0:
                total += (rank - done) * beyond
                done = rank
                break
            gain, count = judged[index]
            step = min(rank - done, count - used)
            total += step * max(gain, lowest)
            done, used = done + step, used + step
            if used == count:
                index, used = index + 1, 0
        state[:] = done, index, used, total
        return total

    return at


def precision_sum(term, table, query):
    """Σ over the relevant hits of (c + β·CG) / (rank + β·ICG), c the number of relevant ones up to and with the hit.

    With β = 0 that is the sum of average precision (Buckley & Voorhees 2000), otherwise that of the Q-measure (Sakai
    2004), whose CG and ICG are sums of grades. A tie group of m documents, h of them relevant, gives under AVERAGE
    Σ_j (h/m)·(c + 1 + (j−1)(h−1)/(m−1)) / (a−1+j) (McSherry & Najork 2008, section 2.3); with β the CG at its j-th
    document, where that is relevant, is (C·h + G₁ + (j−1)·(h·G − G₁)/(m−1)) / m: C the gain before the group, G that of
    the group, G₁ that of its relevant documents (derived here).
    """
    beta, above, grade, ideal = term.factor, term.above, query.grade, _rising(query.judged)

    def running():
        total = gained = 0.0
        found = 0
        for i, j in query.groups():
            a, b = query.first[i], query.last[i]
            m = b - a + 1
            if query.ties == AVERAGE and not (j - i == m and grade[i] == grade[j - 1]):
                own = own_relevant = 0.0
                h = 0
                for index in range(i, j):
                    own += max(grade[index], 0.0)
                    if grade[index] > above:
                        h += 1
                        own_relevant += grade[index]
                for step in range(m if h else 0):
                    share = step / (m - 1)
                    value = h / m * (found + 1 + (h - 1) * share)
                    if beta:
                        value += beta * (gained * h + own_relevant + (h * own - own_relevant) * share) / m
                    total += value / (a + step + beta * ideal(a + step) if beta else a + step)
                    yield a + step, total
                found += h
                gained += own
                continue
            for rank, index in _resolved(i, j, a, b, query.ties):
                gained += max(grade[index], 0.0)
                if grade[index] > above:
                    found += 1
                    total += (found + beta * gained) / (rank + beta * ideal(rank)) if beta else found / rank
                    yield rank, total

    values = _at(term.cutoffs, running())
    return _finite(values) if beta else values  # gains may be of any size


# terms that look at whole lists: a query to one value


def judged_above(term, table, query):
    return float(query.judged_above(term.above))


def precision_at_relevant(term, table, query):
    """The share of relevant hits among as many ranks as `factor` times the relevant documents that are judged (R)."""
    shown = math.floor(term.factor * query.judged_above(term.above) + 0.9)
    (hits,) = _sum_returned(term, table, query, [max(shown, 1)])
    return hits / shown if shown > 0 else 0.0


def preference_sum(term, table, query):
    """Σ over the relevant hits of 1 − min(n, R) / min(N, R), n the judged non-relevant ones above (bpref: Buckley &
    Voorhees 2004, as trec_eval computes it); 1 where N = 0.

    A tie group with h relevant and z judged non-relevant documents gives under AVERAGE h / (z + 1) times the sum of
    these for n from that before the group to that after it (derived here).
    """
    relevant = query.judged_above(term.above)
    most = min(relevant, query.judged_above(term.level) - relevant)

    def preference(above):
        return 1.0 - min(above, relevant) / most if most else 1.0

    total, above = 0.0, 0
    for i, j in query.groups():
        h = sum(grade > term.above for grade in query.grade[i:j])
        z = sum(0.0 <= grade <= term.above for grade in query.grade[i:j])
        if h and query.ties == AVERAGE:
            own = 0.0
            for number in range(above, above + z + 1):
                own += preference(number)
            total += h * own / (z + 1)
        elif h:
            total += h * preference(above + z if query.ties == WORST else above)
        above += z
    return total


def _in_order(query):
    """Yield (rank, hit) for all hits; the order is known."""
    for i, j in query.groups():
        yield from _resolved(i, j, query.first[i], query.last[i], query.ties)


EPSILON = 0.00001  # of infAP, as in trec_eval


def inferred_sum(term, table, query):
    """Σ over the relevant hits of their inferred precision (infAP: Yilmaz & Aslam 2006, as trec_eval computes it).

    At rank r that is 1/r + (r−1)/r · (share of pooled documents above) · (share of relevant ones among the judged
    above). A negative grade is pooled but not judged. The order is known.
    """
    total, judged, found = 0.0, 0, 0
    for pooled, (rank, index) in enumerate(_in_order(query)):
        if query.grade[index] > term.above:
            above = rank - 1
            if above:
                share = (found + EPSILON) / (judged + 2.0 * EPSILON)
                total += 1.0 / rank + above / rank * (pooled / above) * share
            else:
                total += 1.0
            found += 1
        judged += query.grade[index] >= 0.0
    return total


def interpolated(term, table, query):
    """For each recall point x, which rise, the highest precision at a rank where at least x·R documents were found;
    the mean of these.

    x·R becomes a number of documents by int(x·R + 0.9), `flag`, as in trec_eval to release 9, or else by rounding, as
    in release 10. The order is known.
    """
    relevant = query.judged_above(term.above)
    found = [rank for rank, index in _in_order(query) if query.grade[index] > term.above]
    total = 0.0
    for point in term.points:
        needed = int(point * relevant + (0.9 if term.flag else 0.5))
        total += max((count / rank for count, rank in enumerate(found, 1) if count >= needed), default=0.0)
    return total / len(term.points)


def cost_sum(term, table, query):
    """Σ gain / log2(2 + cost − gain so far) over the hits (G and binG of trec_eval).

    The cost of a rank is the ideal gain at it, or 1 where that is less; both sums run up to and with the hit. The order
    is known.
    """
    gain = _hit_gains(term, table, query, UNLIMITED)
    cost = _rising(_judged_gains(term, table, query), 1.0, 1.0)
    total = gained = 0.0
    for rank, index in _in_order(query):
        if gain[index] != 0.0:
            gained += gain[index]
            missed = cost(rank) - gained
            if missed < -TOLERANCE * gained:  # no list gains more than the ideal one, but for rounding
                raise Refused(_codes.ABOVE_IDEAL, -1)
            total += gain[index] / math.log2(2.0 + max(missed, 0.0))
    return _finite([total])[0]


def _mean_ndcg(term, table, query, shown, terms, factor=1.0):
    """Σ nDCG at ranks, the last times a factor, divided by the number of terms; 0 where there are none."""
    _require(term, query.returned)
    if not shown:
        return 0.0
    values, ideals = _sum_returned(term, table, query, shown), _sum_best(term, table, query, shown)
    quotients = [value / ideal if ideal > 0.0 else 0.0 for value, ideal in zip(values, ideals, strict=True)]
    quotients[-1] *= factor
    total = 0.0
    for quotient in quotients:
        total += quotient
    return total / terms if terms else 0.0


def grade_levels(term, table, query):
    """The mean of nDCG at the ranks where the ideal gain falls, and at the end of a longer list (Rndcg of trec_eval).

    The end counts where the list has at least two more documents than have a gain.
    """
    shown, rank = [], 0
    for _, same in groupby((pair for pair in _judged_gains(term, table, query) if pair[0] > 0.0), lambda pair: pair[0]):
        rank += sum(count for _, count in same)
        shown.append(rank)
    if shown and query.returned > rank + 1:
        shown.append(UNLIMITED)
    return _mean_ndcg(term, table, query, shown, len(shown))


def relevant_ranks(term, table, query):
    """The mean of nDCG over all judged documents with a gain, at their ranks or, not returned, at the end of the list
    (ndcg_rel of trec_eval).

    In a tie group, which is to be best or worst for them, they take the first or the last ranks.
    """
    total = sum(count for gain, count in _judged_gains(term, table, query) if gain > 0.0)
    gains, shown = _hit_gains(term, table, query, UNLIMITED), []
    for i, j in query.groups():
        size = sum(gain > 0.0 for gain in gains[i:j])
        lowest = query.last[i] - size + 1 if query.ties == WORST else query.first[i]
        shown += range(lowest, lowest + size)
    return _mean_ndcg(term, table, query, [*shown, UNLIMITED], total, total - len(shown))


# a reader who stops

NEGLIGIBLE = 1e-17  # less than half of the last bit of what it would be added to
FAINT = 1e-40  # a chance so small that no sum shows it
MOST = 4096  # chances that are looked at together: what takes more would take minutes


def _stopping(stops, m, most):
    """Yield, for the first, second … of m documents in random order, among them some with a stop probability above 0,
    up to the one at `most`, the chance that a reader stops there, and that he goes on: Σ_u P(u of these are among those
    before) · (mean over u of them of Π (1 − q)), for stopping times (mean over the others of q).

    The chances are hypergeometric, the means elementary symmetric sums over their number of terms, and `drops` their
    differences; all come from those before without a subtraction that could lose digits.
    """
    h = len(stops)
    # Of the documents so far the mean of the products of u of them, and what it loses with one more factor.
    means, drops = [1.0], [0.0]
    for size, stop in enumerate(reversed(stops)):
        if len(means) == size + 1 <= most:
            means.append(0.0)
            drops.append(0.0)
        for u in range(len(means) - 1, -1, -1):
            drops[u] = (max(size - u, 0) * drops[u] + stop * means[u]) / (size + 1)
            if u:
                drops[u] += u * (1.0 - stop) * drops[u - 1] / (size + 1)
                means[u] = ((size + 1 - u) * means[u] + u * (1.0 - stop) * means[u - 1]) / (size + 1)
        while means[-1] < FAINT:
            means.pop()
            drops.pop()
        if len(means) > MOST:
            raise Refused(_codes.LARGE_GROUP, -1)
    chances = [1.0] + [0.0] * (len(means) - 1)
    for j in range(most):
        stopping = goes_on = 0.0
        for u in range(min(j, len(means) - 1) + 1):
            stopping += chances[u] * ((h - u) / (m - j)) * drops[u]
        for u in range(min(j + 1, len(means) - 1), 0, -1):
            chances[u] = chances[u] * ((m - j - h + u) / (m - j)) + chances[u - 1] * ((h - u + 1) / (m - j))
        chances[0] *= (m - j - h) / (m - j)
        for u in range(min(j + 1, len(means) - 1) + 1):
            goes_on += chances[u] * means[u]
        yield stopping, goes_on


def cascade(term, table, query):
    """Σ over the hits of the chance that the reader stops there, divided by the rank (ERR: Chapelle et al. 2009).

    A tie group gives under AVERAGE survival · Σ_j (V_{j−1} − V_j) / rank, V_j the chance to go on after j of its
    documents (DESIGN's table; derived here).
    """
    cutoffs = term.cutoffs
    _judged_gains(term, table, query)  # whether or not it was returned, a grade is one of the scale
    stop = _hit_gains(term, table, query, cutoffs[-1])

    def running():
        total, survival = 0.0, 1.0
        for i, j in query.groups(len(stop)):
            a, b = query.first[i], query.last[i]
            stops = [stop[index] for index in range(i, j) if stop[index] > 0.0]
            if query.ties == AVERAGE and stops and not (len(stops) == b - a + 1 and stops[0] == stops[-1]):
                most = min(b - a + 1, max(cutoffs[-1] - a + 1, 0))
                for rank, (stopping, goes_on) in enumerate(_stopping(stops, b - a + 1, most), a):
                    total += survival * stopping / rank
                    yield rank, total
                    if survival * goes_on <= total * NEGLIGIBLE:
                        break
                for chance in stops:
                    survival *= 1.0 - chance
            else:
                for rank, index in _resolved(i, j, a, b, query.ties):
                    total += survival * stop[index] / rank
                    survival *= 1.0 - stop[index]
                    yield rank, total

    return _at(cutoffs, running())


def ideal_cascade(term, table, query):
    """The cascade over the judged documents, highest stop probability first."""

    def running():
        total, survival, rank = 0.0, 1.0, 0
        for stop, count in _judged_gains(term, table, query):
            for _ in range(count):
                if stop == 0.0 or survival == 0.0:
                    return
                rank += 1
                total += survival * stop / rank
                survival *= 1.0 - stop
                yield rank, total

    return _at(term.cutoffs, running())


AT_CUTOFFS = {
    _codes.DISCOUNTED_SUM: discounted_sum,
    _codes.IDEAL_SUM: ideal_sum,
    _codes.FIRST_RELEVANT: first_relevant,
    _codes.ANY_RELEVANT: any_relevant,
    _codes.RANKS: ranks,
    _codes.PRECISION_SUM: precision_sum,
    _codes.CASCADE: cascade,
    _codes.IDEAL_CASCADE: ideal_cascade,
}
OF_WHOLE_LISTS = {
    _codes.JUDGED_ABOVE: judged_above,
    _codes.PRECISION_AT_RELEVANT: precision_at_relevant,
    _codes.PREFERENCE_SUM: preference_sum,
    _codes.INFERRED_SUM: inferred_sum,
    _codes.INTERPOLATED: interpolated,
    _codes.COST_SUM: cost_sum,
    _codes.GRADE_LEVELS: grade_levels,
    _codes.RELEVANT_RANKS: relevant_ranks,
}


# figures: the values of terms to that of a metric


def finite(total):
    return total if math.isfinite(total) else (_codes.NOT_FINITE, 0, -1)


def quotient(value, ideal, empty, bounded):
    """value / ideal, `empty` where the ideal is 0; `bounded`: a value above its ideal is an offence."""
    if bounded and value > ideal:
        return 1.0 if value <= ideal * (1.0 + TOLERANCE) + TINY else (_codes.ABOVE_IDEAL, 0, -1)
    return finite(value / ideal) if ideal != 0.0 else empty


def _over(value, total, empty=0.0):
    return value / total if total != 0.0 else empty


def _not_above(value, most):
    """A value to which each relevant document adds 1 at the most: more of them than are judged cannot be."""
    if value > most * (1.0 + TOLERANCE):
        raise Refused(_codes.ABOVE_IDEAL, -1)
    return value


def _ratio(empty, bounded, own, value, ideal):
    result = quotient(value, ideal, empty, bounded)
    if type(result) is tuple:
        raise Refused(result[0], -1)
    return result


def _by_capped(empty, bounded, own, value, relevant, shown):
    _not_above(value, relevant)
    return _over(value, min(relevant, shown)) if relevant > 0.0 else empty


def _by_hits(empty, bounded, own, value, relevant, hits):
    _not_above(hits, relevant)
    return _over(value, hits) if relevant > 0.0 else empty


def _bounded_mean(empty, bounded, own, value, relevant):
    value = _not_above(value, 1.0) if bounded else value
    return value if relevant > 0.0 else empty


def _f_measure(empty, bounded, own, hits, relevant, shown):
    """(1 + β²)·P·R / (β²·P + R), P and R having the same hits above them."""
    square = own[0] * own[0]
    _not_above(hits, relevant)
    return _over((1.0 + square) * hits, square * relevant + shown) if relevant > 0.0 else empty


def _set_ap(empty, bounded, own, hits, relevant, returned):
    _not_above(hits, relevant)
    return _over(hits * hits, returned * relevant) if relevant > 0.0 else empty


def _utility(empty, bounded, own, hits, relevant, returned):
    a, b, c, d, collection = own
    rest = collection + hits - returned - relevant
    value = a * hits + b * (returned - hits) + c * (relevant - hits) + d * rest
    return _finite([value])[0]


FIGURES = {
    _codes.AS_IS: lambda empty, bounded, own, value: value,
    _codes.RATIO: _ratio,
    _codes.QUOTIENT: lambda empty, bounded, own, value, total: _over(value, total, empty),
    _codes.BY_RELEVANT: lambda empty, bounded, own, value, total: _over(_not_above(value, total), total, empty),
    _codes.BY_CAPPED: _by_capped,
    _codes.BY_HITS: _by_hits,
    _codes.FILLED: lambda empty, bounded, own, value, relevant: value if relevant > 0.0 else empty,
    _codes.BOUNDED_MEAN: _bounded_mean,
    _codes.F_MEASURE: _f_measure,
    _codes.BIASED: lambda empty, bounded, own, total: min((1.0 - own[0]) * total, 1.0),
    _codes.RESIDUAL: lambda empty, bounded, own, total: max(1.0 - (1.0 - own[0]) * total, 0.0),
    _codes.UNJUDGED: lambda empty, bounded, own, judged, returned, shown: _over(returned - judged, shown),
    _codes.SET_AP: _set_ap,
    _codes.UTILITY: _utility,
    _codes.DIFFERENCE: lambda empty, bounded, own, value, other: value - other,
    _codes.ONE: lambda empty, bounded, own, value: 1.0,
}


def figure_query(program, query, asked=None):
    """The metrics of a query, or (code, position, number of the term or −1).

    `asked`: for each term the gains by grade that a callable gave, None where none was asked.
    """
    values, number = [], -1
    try:
        for number, term in enumerate(program.terms):
            table = program.tables[number] if asked is None or asked[number] is None else asked[number]
            if term.family in AT_CUTOFFS:
                values += AT_CUTOFFS[term.family](term, table, query)
            else:
                values += [OF_WHOLE_LISTS[term.family](term, table, query)] * len(term.cutoffs)
        number = -1
        return [
            FIGURES[how](empty, bounded, own, *(values[place] for place in places))
            for how, places, bounded, empty, own in program.figures
        ]
    except Refused as refused:
        return *refused.args, number
