"""Call the same function through each form of cimport."""

cimport rankgain
from rankgain cimport RANKGAIN_LINEAR, rankgain_dcg
from rankgain.capi cimport RANKGAIN_EXPONENTIAL, rankgain_dcg as same


def addresses():
    return <size_t>rankgain_dcg, <size_t>same, <size_t>rankgain.rankgain_dcg


def dcg(const double[:] grades):
    cdef Py_ssize_t n = grades.shape[0], stride = grades.strides[0] // sizeof(double)
    cdef double linear, exponential
    cdef int status
    with nogil:
        status = rankgain_dcg(&grades[0], n, stride, n, RANKGAIN_LINEAR, NULL, 0, &linear)
        status |= same(&grades[0], n, stride, 3, RANKGAIN_EXPONENTIAL, NULL, 0, &exponential)
    return status, linear, exponential
