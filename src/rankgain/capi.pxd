# Cython declarations of the C functions, for `from rankgain cimport rankgain_ndcg`. They are documented in rankgain.h.
# Add new functions only at the end of both files. The struct in rankgain.h has them in the same order, without prefix.

cdef extern from *:
    const Py_ssize_t RANKGAIN_NO_CUTOFF "PY_SSIZE_T_MAX"

cpdef enum:
    RANKGAIN_LINEAR = 0
    RANKGAIN_EXPONENTIAL = 1

cpdef enum:
    RANKGAIN_LOG2 = 16
    RANKGAIN_JARVELIN = 17
    RANKGAIN_ZIPF = 18

cpdef enum:
    RANKGAIN_JUDGED = 32
    RANKGAIN_RETURNED = 33

cpdef enum:
    RANKGAIN_AVERAGE = 48
    RANKGAIN_BEST = 49
    RANKGAIN_WORST = 50
    RANKGAIN_STABLE = 51

cpdef enum:
    RANKGAIN_DELTA_CUT = 64
    RANKGAIN_DELTA_FULL = 65
    RANKGAIN_DELTA_ONE = 66

cpdef enum:
    RANKGAIN_NOT_NORMALIZED = 80
    RANKGAIN_BY_SCORE = 81
    RANKGAIN_BY_QUERY = 82
    RANKGAIN_BY_SCORE_AND_QUERY = 83

cpdef enum:
    RANKGAIN_OK = 0
    RANKGAIN_NAN_GRADE = 1
    RANKGAIN_INFINITE_GRADE = 2
    RANKGAIN_NEGATIVE_GRADE = 3
    RANKGAIN_LARGE_GRADE = 4
    RANKGAIN_NAN_SCORE = 5
    RANKGAIN_NOT_FINITE = 6
    RANKGAIN_ABOVE_IDEAL = 7
    RANKGAIN_INFINITE_SCORE = 25
    RANKGAIN_BAD_LENGTH = -1
    RANKGAIN_BAD_CUTOFF = -2
    RANKGAIN_BAD_OPTION = -3
    RANKGAIN_NULL_POINTER = -4
    RANKGAIN_SHORT_DISCOUNT = -5
    RANKGAIN_BAD_DISCOUNT = -6

cdef const char* rankgain_message(int status) noexcept nogil
cdef Py_ssize_t rankgain_scratch_size(Py_ssize_t n, Py_ssize_t k) noexcept nogil

cdef int rankgain_gain(int kind, const double* grades, Py_ssize_t n, double* gains) noexcept nogil
cdef int rankgain_discount(int kind, double base, Py_ssize_t n, double* discounts) noexcept nogil

cdef int rankgain_cg(
    const double* relevance, Py_ssize_t n, Py_ssize_t stride, Py_ssize_t k, int gain, double* value
) noexcept nogil
cdef int rankgain_dcg(
    const double* relevance, Py_ssize_t n, Py_ssize_t stride, Py_ssize_t k, int gain, const double* discount,
    Py_ssize_t n_discount, double* value
) noexcept nogil
cdef int rankgain_idcg(
    const double* judged, Py_ssize_t n, Py_ssize_t stride, Py_ssize_t k, int gain, const double* discount,
    Py_ssize_t n_discount, void* scratch, double* value
) noexcept nogil
cdef int rankgain_ndcg(
    const double* relevance, Py_ssize_t n, Py_ssize_t stride, const double* judged, Py_ssize_t n_judged,
    Py_ssize_t judged_stride, Py_ssize_t k, int gain, int ideal, const double* discount, Py_ssize_t n_discount,
    double empty, void* scratch, double* value
) noexcept nogil
cdef int rankgain_reciprocal_rank(
    const double* relevance, Py_ssize_t n, Py_ssize_t stride, Py_ssize_t k, double rel, double* value
) noexcept nogil

cdef int rankgain_cg_lists(
    const double* relevance, const Py_ssize_t* offsets, Py_ssize_t queries, Py_ssize_t k, int gain, double* values
) noexcept nogil
cdef int rankgain_dcg_lists(
    const double* relevance, const Py_ssize_t* offsets, Py_ssize_t queries, Py_ssize_t k, int gain,
    const double* discount, Py_ssize_t n_discount, double* values
) noexcept nogil
cdef int rankgain_idcg_lists(
    const double* judged, const Py_ssize_t* offsets, Py_ssize_t queries, Py_ssize_t k, int gain,
    const double* discount, Py_ssize_t n_discount, void* scratch, double* values
) noexcept nogil
cdef int rankgain_ndcg_lists(
    const double* relevance, const Py_ssize_t* offsets, const double* judged, const Py_ssize_t* judged_offsets,
    Py_ssize_t queries, Py_ssize_t k, int gain, int ideal, const double* discount, Py_ssize_t n_discount,
    double empty, void* scratch, double* values
) noexcept nogil
cdef int rankgain_reciprocal_rank_lists(
    const double* relevance, const Py_ssize_t* offsets, Py_ssize_t queries, Py_ssize_t k, double rel, double* values
) noexcept nogil

cdef int rankgain_order_f64(
    const double* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, void* scratch, Py_ssize_t* order, Py_ssize_t* first, Py_ssize_t* last
) noexcept nogil
cdef int rankgain_order_f32(
    const float* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, void* scratch, Py_ssize_t* order, Py_ssize_t* first, Py_ssize_t* last
) noexcept nogil

cdef int rankgain_dcg_from_scores_f64(
    const double* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, int gain, const double* discount, Py_ssize_t n_discount, void* scratch, double* value
) noexcept nogil
cdef int rankgain_dcg_from_scores_f32(
    const float* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, int gain, const double* discount, Py_ssize_t n_discount, void* scratch, double* value
) noexcept nogil
cdef int rankgain_ndcg_from_scores_f64(
    const double* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, int gain, const double* discount, Py_ssize_t n_discount, double empty, void* scratch,
    double* value
) noexcept nogil
cdef int rankgain_ndcg_from_scores_f32(
    const float* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, int gain, const double* discount, Py_ssize_t n_discount, double empty, void* scratch,
    double* value
) noexcept nogil
cdef int rankgain_reciprocal_rank_from_scores_f64(
    const double* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, double rel, double empty, void* scratch, double* value
) noexcept nogil
cdef int rankgain_reciprocal_rank_from_scores_f32(
    const float* scores, Py_ssize_t n, Py_ssize_t stride, const double* labels, Py_ssize_t labels_stride,
    Py_ssize_t k, int ties, double rel, double empty, void* scratch, double* value
) noexcept nogil

cdef Py_ssize_t rankgain_lambda_scratch_size(Py_ssize_t n) noexcept nogil
cdef int rankgain_lambda_ndcg_f64(
    const double* scores, Py_ssize_t n, const double* gains, double inverse_ideal, Py_ssize_t k, const double* discount,
    Py_ssize_t n_discount, double sigma, int delta, int ties, int normalize, void* scratch, double* gradient,
    double* hessian
) noexcept nogil
cdef int rankgain_lambda_ndcg_f32(
    const float* scores, Py_ssize_t n, const double* gains, double inverse_ideal, Py_ssize_t k, const double* discount,
    Py_ssize_t n_discount, double sigma, int delta, int ties, int normalize, void* scratch, double* gradient,
    double* hessian
) noexcept nogil
cdef int rankgain_lambda_ndcg_lists_f64(
    const double* scores, const Py_ssize_t* offsets, Py_ssize_t queries, const double* gains,
    const double* inverse_ideals, Py_ssize_t k, const double* discount, Py_ssize_t n_discount, double sigma, int delta,
    int ties, int normalize, void* scratch, double* gradient, double* hessian
) noexcept nogil
cdef int rankgain_lambda_ndcg_lists_f32(
    const float* scores, const Py_ssize_t* offsets, Py_ssize_t queries, const double* gains,
    const double* inverse_ideals, Py_ssize_t k, const double* discount, Py_ssize_t n_discount, double sigma, int delta,
    int ties, int normalize, void* scratch, double* gradient, double* hessian
) noexcept nogil
