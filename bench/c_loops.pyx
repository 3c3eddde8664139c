# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The loops of c_calls.py: an extension of somebody's own, whose lists stand in the rows of a matrix."""

from cython.parallel cimport parallel, prange
from libc.math cimport NAN
from libc.stdlib cimport free, malloc

from rankgain cimport (
    RANKGAIN_AVERAGE, RANKGAIN_JUDGED, RANKGAIN_LINEAR, rankgain_dcg, rankgain_ndcg, rankgain_ndcg_from_scores_f64,
    rankgain_reciprocal_rank, rankgain_scratch_size,
)

cdef extern from "rankgain.h":
    ctypedef struct rankgain_api:
        int (*dcg)(
            const double* relevance, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t k, int gain, const double* discount,
            ptrdiff_t n_discount, double* value
        ) noexcept nogil
    const rankgain_api* rankgain_import() except NULL

cdef const rankgain_api* rankgain = rankgain_import()


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


def dcg_by_structure(const double[:, ::1] lists, Py_ssize_t k, double[::1] out):
    cdef Py_ssize_t query
    with nogil:
        for query in range(lists.shape[0]):
            rankgain.dcg(&lists[query, 0], lists.shape[1], 1, k, RANKGAIN_LINEAR, NULL, 0, &out[query])


def reciprocal_rank(const double[:, ::1] lists, Py_ssize_t k, double[::1] out):
    cdef Py_ssize_t query
    with nogil:
        for query in range(lists.shape[0]):
            rankgain_reciprocal_rank(&lists[query, 0], lists.shape[1], 1, k, NAN, &out[query])


def ndcg(const double[:, ::1] lists, Py_ssize_t k, double[::1] out):
    cdef Py_ssize_t query, n = lists.shape[1]
    cdef void* scratch = malloc(rankgain_scratch_size(n, k))
    with nogil:
        for query in range(lists.shape[0]):
            rankgain_ndcg(
                &lists[query, 0], n, 1, &lists[query, 0], n, 1, k, RANKGAIN_LINEAR, RANKGAIN_JUDGED, NULL, 0, 0.0,
                scratch, &out[query],
            )
    free(scratch)


def ndcg_from_scores(
    const double[:, ::1] labels, const double[:, ::1] scores, Py_ssize_t k, int threads, double[::1] out
):
    cdef Py_ssize_t query, n = labels.shape[1]
    cdef void* scratch = NULL
    with nogil, parallel(num_threads=threads):
        scratch = malloc(rankgain_scratch_size(n, k))  # each thread its own; without any the values are NaN
        for query in prange(labels.shape[0], schedule="static"):
            rankgain_ndcg_from_scores_f64(
                &scores[query, 0], n, 1, &labels[query, 0], 1, k, RANKGAIN_AVERAGE, RANKGAIN_LINEAR, NULL, 0, 0.0,
                scratch, &out[query],
            )
        free(scratch)
