"""Reference implementation of ERR and the ideal ERR: the reader stops at the first satisfying document."""

from rankgain import _codes
from rankgain._codes import AVERAGE
from rankgain._reference.numbers import Refused
from rankgain._reference.query import at_cutoffs, cutoff_term, hit_gains, in_best_order, judged_gains, ranked_values

_NEGLIGIBLE = 1e-17  # terms below this fraction of the sum are less than half of its last bit
FAINT = 1e-40  # a probability that is too small to change any sum; see `_stopping`
MOST_PROBABILITIES = 4096  # maximum number of probabilities in a tie group; more would take minutes


def _stopping(stops, m, most):
    """Yield two probabilities for j = 1 … `most`: the reader stops at the j-th of m documents in random order with
    probability V_{j−1} − V_j, and reads on after it with probability V_j. `stops` lists the stop probabilities q of the
    h relevant documents in descending order.

    `means[u]` is the mean of Π_{i∈U} (1 − q_i) over all sets U of u relevant documents. `drops[u]` is the mean of
    Π_{i∈U} (1 − q_i)·q_v over all U and all relevant documents v outside of U; it equals means[u] − means[u+1], but is
    computed without a subtraction, to avoid cancellation:

        V_j           = Σ_u P(u of the first j are relevant) · means[u]
        V_{j−1} − V_j = Σ_u P(u of the first j − 1 are relevant) · P(then the j-th is, too) · drops[u]

    For two documents with probabilities q and r, means = 1, 1 − (q + r)/2, (1 − q)(1 − r): the reader stops at the
    first with probability drops[0] = (q + r)/2, at the second with drops[1] = ((1 − q)·r + (1 − r)·q)/2, and reads
    on after both with means[2].

    Means below FAINT are dropped, since fewer than one in 10⁴⁰ readers gets past that many relevant documents, and a
    sum has only 16 digits.
    """
    h = len(stops)
    # Documents are added one at a time in ascending order of q. In this order means[u] never rises, so a mean below
    # FAINT stays negligible.
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
        if len(means) > MOST_PROBABILITIES:
            raise Refused(_codes.LARGE_GROUP)
    # hypergeometric probabilities that u of the documents above are relevant
    chances = [1.0] + [0.0] * (len(means) - 1)
    for above in range(most):  # number of documents above: j − 1
        left = m - above
        stopping = goes_on = 0.0
        for u in range(min(above, len(means) - 1) + 1):
            stopping += chances[u] * ((h - u) / left) * drops[u]
        for u in range(min(above + 1, len(means) - 1), 0, -1):
            chances[u] = chances[u] * ((left - h + u) / left) + chances[u - 1] * ((h - u + 1) / left)
        chances[0] *= (left - h) / left
        for u in range(min(above + 1, len(means) - 1) + 1):
            goes_on += chances[u] * means[u]
        yield stopping, goes_on


@cutoff_term
def cascade(term, gain_table, query):
    """Return ERR@k = Σ_{i≤k} Π_{j<i} (1 − q_j)·q_i / i, where i and j are ranks. The reader stops at document i with
    probability q_i, which is the gain of the document (Chapelle et al. 2009).

    Under AVERAGE, a tie group adds Σ_j S·(V_{j−1} − V_j) / rank. S is the probability that the reader reaches the
    group, and V_j is the probability of reading on after j documents of the group (derived in `_stopping`).
    """
    cutoffs = term.cutoffs
    # rejects grades above the scale, even those of documents that were not returned
    judged_gains(term, gain_table, query)

    def running():
        total, survival = 0.0, 1.0
        for group, gains in hit_gains(term, gain_table, query, cutoffs[-1]):
            stops = [stop for stop in gains if stop > 0.0]
            if query.ties == AVERAGE and stops and not group.all_equal(stops):
                most = min(group.size, max(cutoffs[-1] - group.first + 1, 0))
                for rank, (stopping, goes_on) in enumerate(_stopping(stops, group.size, most), group.first):
                    total += survival * stopping / rank
                    yield rank, total
                    if survival * goes_on <= total * _NEGLIGIBLE:
                        break
                for stop in stops:
                    survival *= 1.0 - stop
            else:
                for rank, stop in ranked_values(group, gains, query.ties):
                    total += survival * stop / rank
                    survival *= 1.0 - stop
                    yield rank, total

    return at_cutoffs(cutoffs, running())


@cutoff_term
def ideal_cascade(term, gain_table, query):
    """Return the ERR of the judged documents in the best order, which is the descending order of stop probabilities."""

    def running():
        total, survival = 0.0, 1.0
        for rank, stop in in_best_order(judged_gains(term, gain_table, query)):
            if stop == 0.0 or survival == 0.0:
                return
            total += survival * stop / rank
            survival *= 1.0 - stop
            yield rank, total

    return at_cutoffs(term.cutoffs, running())
