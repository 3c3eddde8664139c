"""The specification: a reader who stops, ERR and its ideal, in plain Python."""

from rankgain import _codes
from rankgain._codes import AVERAGE
from rankgain._reference.numbers import Refused
from rankgain._reference.query import at_cutoffs, hit_gains, judged_gains, resolved

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
    judged_gains(term, table, query)  # whether or not it was returned, a grade is one of the scale
    stop = hit_gains(term, table, query, cutoffs[-1])

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
                for rank, index in resolved(i, j, a, b, query.ties):
                    total += survival * stop[index] / rank
                    survival *= 1.0 - stop[index]
                    yield rank, total

    return at_cutoffs(cutoffs, running())


def ideal_cascade(term, table, query):
    """The cascade over the judged documents, highest stop probability first."""

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
