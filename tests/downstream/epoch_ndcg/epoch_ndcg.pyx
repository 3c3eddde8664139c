# cython: boundscheck=False, wraparound=False, freethreading_compatible=True
"""Compute the nDCG of every query after an epoch of training, from float32 scores and on several cores."""

from cython.parallel cimport prange, threadid
from libc.stdlib cimport free, malloc
from rankgain cimport (
    RANKGAIN_AVERAGE, RANKGAIN_LINEAR, rankgain_message, rankgain_ndcg_from_scores_f32, rankgain_scratch_size,
)

import numpy as np


def ndcg(const float[::1] scores, const double[::1] labels, const Py_ssize_t[::1] offsets, Py_ssize_t k=10,
         int threads=1):
    """Return nDCG@k for each query; query q has the documents offsets[q] to offsets[q + 1] - 1."""
    cdef Py_ssize_t queries = offsets.shape[0] - 1, longest = 0, size, start, q
    for q in range(queries):
        longest = max(longest, offsets[q + 1] - offsets[q])
        if not 0 <= offsets[q] <= offsets[q + 1] <= min(scores.shape[0], labels.shape[0]):
            raise ValueError(f"query {q} does not lie within scores and labels")

    size = rankgain_scratch_size(longest, k)
    if size < 0 or threads < 1:
        raise ValueError("k and threads must be 1 or more")
    cdef double[::1] values = np.empty(max(queries, 0))
    cdef char* scratch = <char*>malloc(size * threads + 1)  # each thread has its own part
    cdef int status
    if scratch is NULL:
        raise MemoryError()
    try:
        for q in prange(queries, nogil=True, num_threads=threads, schedule="dynamic", chunksize=64):
            start = offsets[q]
            status = rankgain_ndcg_from_scores_f32(
                &scores[start], offsets[q + 1] - start, 1, &labels[start], 1, k, RANKGAIN_AVERAGE, RANKGAIN_LINEAR,
                NULL, 0, 0.0, scratch + size * threadid(), &values[q],
            )
            if status:
                with gil:
                    raise ValueError(f"query {q}: {rankgain_message(status).decode()}")
    finally:
        free(scratch)
    return np.asarray(values)
