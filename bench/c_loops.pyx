# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The loops of c_calls.py: an extension of somebody's own, whose lists stand in the rows of a matrix."""

from libc.stdlib cimport free, malloc

from rankgain cimport (
    RANKGAIN_AVERAGE, RANKGAIN_LINEAR, rankgain_dcg, rankgain_ndcg_from_scores_f64, rankgain_scratch_size,
)


def dcg_inlined(const double[:, ::1] lists, Py_ssize_t k, const double[::1] discount, double[::1] out):
    """The work: what there would be without rankgain, nothing checked."""
    cdef Py_ssize_t query, rank
    cdef double total
    with nogil:
        for query in range(lists.shape[0]):
            total = 0.0
            for rank in range(min(lists.shape[1], k)):
                total += lists[query, rank] * discount[rank]
            out[query] = total


def dcg_cimported(const double[:, ::1] lists, Py_ssize_t k, double[::1] out):
    cdef Py_ssize_t query
    with nogil:
        for query in range(lists.shape[0]):
            rankgain_dcg(&lists[query, 0], lists.shape[1], 1, k, RANKGAIN_LINEAR, NULL, 0, &out[query])


def ndcg_from_scores(const double[:, ::1] labels, const double[:, ::1] scores, Py_ssize_t k, double[::1] out):
    cdef Py_ssize_t query, n = labels.shape[1]
    cdef void* scratch = malloc(rankgain_scratch_size(n, k))  # without any the values are NaN
    with nogil:
        for query in range(labels.shape[0]):
            rankgain_ndcg_from_scores_f64(
                &scores[query, 0], n, 1, &labels[query, 0], 1, k, RANKGAIN_AVERAGE, RANKGAIN_LINEAR, NULL, 0, 0.0,
                scratch, &out[query],
            )
        free(scratch)
