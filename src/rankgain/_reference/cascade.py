"""The specification: a reader who goes down the list and stops: ERR and its ideal."""

from rankgain import _codes
from rankgain._codes import AVERAGE
from rankgain._reference.numbers import Refused
from rankgain._reference.query import at_cutoffs, hit_gains, in_order, judged_gains

NEGLIGIBLE = 1e-17  # relative to the sum: less than half of its last bit
FAINT = 1e-40  # a probability too small to change any sum
MOST = 4096  # probabilities in a tie group: with more, it would take minutes


def _stopping(stops, m, most):
    """Yield for the j-th of m documents in random order, j = 1 … `most`, the probabilities that the reader stops at it,
    V_{j−1} − V_j, and goes on after it, V_j. `stops`: the stop probabilities q of the relevant documents.

    V_j = Σ_u P(u of the first j documents are relevant) · (mean over all choices of u relevant documents of Π (1 − q)).
    P is hypergeometric, the mean an elementary symmetric sum of 1 − q divided by its number of terms; `drops` are the
    differences of these means, computed without subtractions that could lose digits.
    """
    h = len(stops)
    # For the documents so far: the mean product of u of them, and what it loses by one more factor.
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
    """ERR@k = Σ over ranks i ≤ k of (1/i)·q_i·Π_{j<i} (1 − q_j): the reader stops at document i with probability q_i,
    which is its gain (Chapelle et al. 2009).

    A tie group gives under AVERAGE survival · Σ_j (V_{j−1} − V_j) / rank, V_j the probability to go on after j of its
    documents (derived here; see `_stopping`).
    """
    cutoffs = term.cutoffs
    judged_gains(term, table, query)  # refuses grades beyond the scale, even of documents that were not returned

    def running():
        total, survival = 0.0, 1.0
        for group, gains in hit_gains(term, table, query, cutoffs[-1]):
            stops = [stop for stop in gains if stop > 0.0]
            if query.ties == AVERAGE and stops and not group.all_equal(stops):
                most = min(group.size, max(cutoffs[-1] - group.first + 1, 0))
                for rank, (stopping, goes_on) in enumerate(_stopping(stops, group.size, most), group.first):
                    total += survival * stopping / rank
                    yield rank, total
                    if survival * goes_on <= total * NEGLIGIBLE:
                        break
                for stop in stops:
                    survival *= 1.0 - stop
            else:
                for rank, stop in in_order(group, gains, query.ties):
                    total += survival * stop / rank
                    survival *= 1.0 - stop
                    yield rank, total

    return at_cutoffs(cutoffs, running())


def ideal_cascade(term, table, query):
    """The ERR of the judged documents in the best order: highest stop probability first."""

    def running():
        total, survival, rank = 0.0, 1.0, 0
        for stop, count in judged_gains(term, table, query):
            for _ in range(count):
                if stop == 0.0 or survival == 0.0:
                    return
                rank += 1
                total += survival * stop / rank
                survival *= 1.0 - stop
                yield rank, total

    return at_cutoffs(term.cutoffs, running())
