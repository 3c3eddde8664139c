# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The loops that c_calls.py times, written like a third-party extension; each row of a matrix is one list."""

from rankgain cimport RANKGAIN_LINEAR, rankgain_dcg


def dcg_inlined(const double[:, ::1] lists, Py_ssize_t k, const double[::1] discount, double[::1] out):
    """Compute the DCG of each row without calling rankgain and without any checks."""
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
