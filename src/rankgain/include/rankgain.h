/* The C and C++ interface to rankgain's kernels. It needs no GIL, no Python objects and no NumPy headers.

       #include <rankgain.h>                        found in the folder `rankgain.get_include()`
       static const rankgain_api *rankgain;
       ...
       rankgain = rankgain_import();                call once, with the GIL, in the module's init function
       if (!rankgain) return NULL;                  an ImportError has been set
       ...
       status = rankgain->dcg(relevance, n, 1, 10, RANKGAIN_LINEAR, NULL, 0, &value);

   In Cython, write `from rankgain cimport rankgain_dcg, ...`. For Numba, SciPy, ctypes and cffi, `rankgain.capi` has
   the addresses of the functions.

   The following applies to every function:
   - It may be called from any number of threads, without the GIL. It allocates no memory, has no state, and writes only
     to its outputs and to the scratch memory that the caller passes.
   - It returns 0 after writing its outputs, or else a nonzero status. In that case, values that could not be computed
     are NaN, and document indices are -1. `message` describes a status. To find out which element of the data is
     invalid, call the Python function of the same name, or rg.from_scores(...).evaluate(...).
   - Values are bit for bit equal to those of the Python functions. The documentation of these functions has
     definitions and sources.
   - n is a number of documents, 0 or more. The sum over an empty list is 0. Pointers to empty arrays may be NULL.
   - A stride is a number of elements, not of bytes. It is 1 for contiguous numbers, and may be negative or 0.
   - Inputs may overlap each other. Outputs and scratch memory must not overlap anything else, except that `gains` may
     be the same array as `grades`. Arrays must be aligned as their type requires; scratch memory need not be aligned.
   - Grades (`relevance`, `judged` and `labels`) must be finite and not negative. With RANKGAIN_EXPONENTIAL, they must
     be below 1024. Grades in rank order are read down to rank k.
   - k is the cut-off, 1 or more. RANKGAIN_NO_CUTOFF, or any k greater than the length of every list, means no cut-off.
   - `gain` is RANKGAIN_LINEAR or RANKGAIN_EXPONENTIAL. For any other gain, compute the gains and pass them as grades.
   - `discount` is NULL, with n_discount 0, for 1 / log2(rank + 1), which is tabulated down to rank 65,536. Otherwise,
     it holds n_discount numbers in rank order, finite and not negative, with at least one for each rank down to k; the
     function `discount` can compute them. Numbers beyond these ranks only determine whether the discount ever rises. If
     it does not, a DCG above the ideal DCG gives the status RANKGAIN_ABOVE_IDEAL.
   - `empty` is the value of nDCG or RR if no document is relevant. It is usually 0 or NaN, and must not be infinite.
   - `scratch` points to `scratch_size(n, k)` bytes of memory, where n is the length of the longest list. Each thread
     needs separate scratch memory. Its contents need not be preserved between calls.
   - The machine must be a 64-bit machine, and only one interpreter per process may import rankgain. */
#ifndef RANKGAIN_NO_PYTHON /* define this in files that are passed a rankgain_api and do not include Python.h */
#include <Python.h>
#endif
#ifndef RANKGAIN_H
#define RANKGAIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ABI compatibility: new members are added only at the end of `rankgain_api`. Released members are never removed,
   reordered or changed in type or meaning; an improved function becomes a new member with the suffix _v2. A module
   compiled with an older header therefore runs with every later version of rankgain. A module compiled with a newer
   header is rejected by rankgain_import(), since the installed structure is shorter. Cython rejects functions that are
   missing or have different types. If this rule must ever be broken, RANKGAIN_ABI_VERSION will be increased, and
   rankgain_import() will reject modules compiled with another version. The version stays 0 until a release has users;
   until then, the rule may be broken without notice. */
#define RANKGAIN_ABI_VERSION 0

#define RANKGAIN_NO_CUTOFF PTRDIFF_MAX

/* No two options have the same value, so that swapped arguments can be rejected. */

enum { /* kinds of gain */
  RANKGAIN_LINEAR = 0,
  RANKGAIN_EXPONENTIAL = 1 /* 2^r - 1 */
};

enum { /* kinds of discount */
  RANKGAIN_LOG2 = 16,     /* 1 / log2(i + 1) */
  RANKGAIN_JARVELIN = 17, /* 1 for i < base, else 1 / log_base(i) */
  RANKGAIN_ZIPF = 18      /* 1 / i */
};

enum { /* kinds of ideal ranking */
  RANKGAIN_JUDGED = 32,
  RANKGAIN_RETURNED = 33 /* the ideal ranking is also cut at the length of the returned list */
};

enum { /* how documents with equal scores are ordered */
  RANKGAIN_AVERAGE = 48, /* the expected value over all orders of the tied documents */
  RANKGAIN_BEST = 49,    /* the highest grade first */
  RANKGAIN_WORST = 50,   /* the lowest grade first */
  RANKGAIN_STABLE = 51   /* in input order */
};

enum { /* the weight of a pair of documents in the gradients */
  RANKGAIN_DELTA_CUT = 64,  /* the change in nDCG@k when the two documents are swapped */
  RANKGAIN_DELTA_FULL = 65, /* like RANKGAIN_DELTA_CUT, but ranks beyond k also have discounts */
  RANKGAIN_DELTA_ONE = 66   /* the constant 1 */
};

enum { /* how the gradients are normalized */
  RANKGAIN_NOT_NORMALIZED = 80,
  RANKGAIN_BY_SCORE = 81, /* the weight of a pair decreases as the difference between its scores increases */
  RANKGAIN_BY_QUERY = 82, /* the gradients of each query are scaled down logarithmically */
  RANKGAIN_BY_SCORE_AND_QUERY = 83
};

enum { /* status codes */
  RANKGAIN_OK = 0,
  /* positive: invalid data, or an undefined result */
  RANKGAIN_NAN_GRADE = 1,
  RANKGAIN_INFINITE_GRADE = 2,
  RANKGAIN_NEGATIVE_GRADE = 3,
  RANKGAIN_LARGE_GRADE = 4, /* a grade is 1024 or more, with RANKGAIN_EXPONENTIAL */
  RANKGAIN_NAN_SCORE = 5,   /* a score is NaN; infinite scores are allowed */
  RANKGAIN_NOT_FINITE = 6,  /* a sum, or its ratio to the ideal DCG, is not finite */
  RANKGAIN_ABOVE_IDEAL = 7, /* `judged` lacks grades that occur in `relevance` */
  RANKGAIN_INFINITE_SCORE = 25, /* a score is +inf; gradients allow only -inf */
  /* negative: an invalid call */
  RANKGAIN_BAD_LENGTH = -1, /* a length is negative, or offsets decrease */
  RANKGAIN_BAD_CUTOFF = -2, /* k is below 1 */
  RANKGAIN_BAD_OPTION = -3, /* gain, discount, ideal, ties, delta or normalize is unknown; or base, rel, empty, sigma or
                               inverse_ideal is out of range */
  RANKGAIN_NULL_POINTER = -4,
  RANKGAIN_SHORT_DISCOUNT = -5, /* n_discount is less than the number of ranks down to k */
  RANKGAIN_BAD_DISCOUNT = -6    /* a discount is negative, infinite or NaN, or the discount rises where it must not */
};

typedef struct {
  uint32_t abi_version; /* RANKGAIN_ABI_VERSION in the installed rankgain */
  uint32_t struct_size; /* sizeof(rankgain_api) in the installed rankgain */

  /* Returns a description of a status in English. It is never NULL and must not be freed. */
  const char *(*message)(int status);

  /* Returns a scratch size in bytes that suffices for every function with lists of up to n documents and cut-offs up to
     k. Returns -1 if n is not a valid length, k is not a valid cut-off, or the size exceeds the address space. */
  ptrdiff_t (*scratch_size)(ptrdiff_t n, ptrdiff_t k);

  /* Computes the gains of n grades. `gains` may be the same array as `grades`. If a grade is invalid, the gains before
     it are written, and NaN is written at its index. */
  int (*gain)(int kind, const double *grades, ptrdiff_t n, double *gains);

  /* Computes the discounts for ranks 1 to n. Only RANKGAIN_JARVELIN uses `base`, which must be above 1. */
  int (*discount)(int kind, double base, ptrdiff_t n, double *discounts);

  /* Functions that take a single list of grades in rank order. */

  /* Computes CG, the sum of the gains down to rank k. */
  int (*cg)(const double *relevance, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t k, int gain, double *value);

  /* Computes DCG, the sum of gain times discount down to rank k. */
  int (*dcg)(const double *relevance, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t k, int gain, const double *discount,
             ptrdiff_t n_discount, double *value);

  /* Computes the ideal DCG, i.e. the DCG of the grades in descending order. */
  int (*idcg)(const double *judged, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t k, int gain, const double *discount,
              ptrdiff_t n_discount, void *scratch, double *value);

  /* Computes nDCG, which is DCG / IDCG. `judged` has the grades of all judged documents, returned or not; pass the
     same list twice if all judged documents were returned. `scratch` must be large enough for the longer list. */
  int (*ndcg)(const double *relevance, ptrdiff_t n, ptrdiff_t stride, const double *judged, ptrdiff_t n_judged,
              ptrdiff_t judged_stride, ptrdiff_t k, int gain, int ideal, const double *discount, ptrdiff_t n_discount,
              double empty, void *scratch, double *value);

  /* Computes the reciprocal of the rank of the first grade >= rel, or 0 if ranks 1 to k have no such grade. If rel is
     NaN, the first grade above 0 is used. */
  int (*reciprocal_rank)(const double *relevance, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t k, double rel,
                         double *value);

  /* Functions that take many lists and compute one value per list. Query q has the grades at offsets[q] to
     offsets[q + 1] - 1, so there are queries + 1 offsets. If the last offset is 0, the grades may be NULL. The value of
     an invalid list is NaN; the values of all other lists are computed, and the status is that of the first invalid
     list. If there are no lists, only lengths and pointers are checked. All lists share the discount, k and the scratch
     memory. */

  int (*cg_lists)(const double *relevance, const ptrdiff_t *offsets, ptrdiff_t queries, ptrdiff_t k, int gain,
                  double *values);
  int (*dcg_lists)(const double *relevance, const ptrdiff_t *offsets, ptrdiff_t queries, ptrdiff_t k, int gain,
                   const double *discount, ptrdiff_t n_discount, double *values);
  int (*idcg_lists)(const double *judged, const ptrdiff_t *offsets, ptrdiff_t queries, ptrdiff_t k, int gain,
                    const double *discount, ptrdiff_t n_discount, void *scratch, double *values);
  int (*ndcg_lists)(const double *relevance, const ptrdiff_t *offsets, const double *judged,
                    const ptrdiff_t *judged_offsets, ptrdiff_t queries, ptrdiff_t k, int gain, int ideal,
                    const double *discount, ptrdiff_t n_discount, double empty, void *scratch, double *values);
  int (*reciprocal_rank_lists)(const double *relevance, const ptrdiff_t *offsets, ptrdiff_t queries, ptrdiff_t k,
                               double rel, double *values);

  /* Functions that take the scores of one query, in any order. The document with the highest score has rank 1, and -0.0
     ties with 0.0. `labels` are the grades of the same documents. */

  /* Writes the documents at ranks 1 to min(n, k) to `order`, as indices into `scores`. If `ties` is RANKGAIN_BEST or
     RANKGAIN_WORST, `labels` are needed, and tied documents with equal grades stay in input order. For other values of
     `ties`, `labels` may be NULL. `first` and `last` receive a range of ranks for each document, unless they are NULL.
     RANKGAIN_AVERAGE leaves tied documents in input order and writes the first and last rank of the tie group, even if
     these are beyond k. For other values of `ties`, both are the rank of the document. */
  int (*order_f64)(const double *scores, ptrdiff_t n, ptrdiff_t stride, const double *labels, ptrdiff_t labels_stride,
                   ptrdiff_t k, int ties, void *scratch, ptrdiff_t *order, ptrdiff_t *first, ptrdiff_t *last);
  int (*order_f32)(const float *scores, ptrdiff_t n, ptrdiff_t stride, const double *labels, ptrdiff_t labels_stride,
                   ptrdiff_t k, int ties, void *scratch, ptrdiff_t *order, ptrdiff_t *first, ptrdiff_t *last);

  /* Compute DCG, nDCG and the reciprocal rank at k for documents in the order of their scores. The ideal DCG is
     computed from the labels. Labels do not change while a model is trained, so a cheaper way to get nDCG is to compute
     `idcg` once and divide dcg_from_scores by it. As in Python, dcg_from_scores rejects a label of 1024 or more only at
     ranks 1 to k. */
  int (*dcg_from_scores_f64)(const double *scores, ptrdiff_t n, ptrdiff_t stride, const double *labels,
                             ptrdiff_t labels_stride, ptrdiff_t k, int ties, int gain, const double *discount,
                             ptrdiff_t n_discount, void *scratch, double *value);
  int (*dcg_from_scores_f32)(const float *scores, ptrdiff_t n, ptrdiff_t stride, const double *labels,
                             ptrdiff_t labels_stride, ptrdiff_t k, int ties, int gain, const double *discount,
                             ptrdiff_t n_discount, void *scratch, double *value);
  int (*ndcg_from_scores_f64)(const double *scores, ptrdiff_t n, ptrdiff_t stride, const double *labels,
                              ptrdiff_t labels_stride, ptrdiff_t k, int ties, int gain, const double *discount,
                              ptrdiff_t n_discount, double empty, void *scratch, double *value);
  int (*ndcg_from_scores_f32)(const float *scores, ptrdiff_t n, ptrdiff_t stride, const double *labels,
                              ptrdiff_t labels_stride, ptrdiff_t k, int ties, int gain, const double *discount,
                              ptrdiff_t n_discount, double empty, void *scratch, double *value);
  int (*reciprocal_rank_from_scores_f64)(const double *scores, ptrdiff_t n, ptrdiff_t stride, const double *labels,
                                         ptrdiff_t labels_stride, ptrdiff_t k, int ties, double rel, double empty,
                                         void *scratch, double *value);
  int (*reciprocal_rank_from_scores_f32)(const float *scores, ptrdiff_t n, ptrdiff_t stride, const double *labels,
                                         ptrdiff_t labels_stride, ptrdiff_t k, int ties, double rel, double empty,
                                         void *scratch, double *value);

  /* Compute the LambdaRank gradient and hessian for each document of a query, for use in training. The documentation of
     rg.lambdarank has the definition. Higher scores are better; the score -inf leaves a document out, and +inf gives
     the status RANKGAIN_INFINITE_SCORE. `gains` are the gains of the same documents, and `inverse_ideal` is 1 / IDCG@k,
     or 0 if no document is relevant; in that case, all results are 0. Neither changes while a model is trained, so
     compute them once with `gain` and `idcg`. `discount` must not rise with the rank. RANKGAIN_DELTA_FULL needs it for
     all n ranks, and RANKGAIN_DELTA_ONE does not use it. `sigma` must be from 1e-100 to 1e100, and `ties` must be
     RANKGAIN_STABLE or RANKGAIN_AVERAGE. `scratch` has lambda_scratch_size(n) bytes. If the status is not 0, the
     gradients and hessians of all documents of the query are NaN. */
  ptrdiff_t (*lambda_scratch_size)(ptrdiff_t n);
  int (*lambda_ndcg_f64)(const double *scores, ptrdiff_t n, const double *gains, double inverse_ideal, ptrdiff_t k,
                         const double *discount, ptrdiff_t n_discount, double sigma, int delta, int ties,
                         int normalize, void *scratch, double *gradient, double *hessian);
  int (*lambda_ndcg_f32)(const float *scores, ptrdiff_t n, const double *gains, double inverse_ideal, ptrdiff_t k,
                         const double *discount, ptrdiff_t n_discount, double sigma, int delta, int ties,
                         int normalize, void *scratch, double *gradient, double *hessian);

  /* Compute the LambdaRank gradients and hessians for many lists, which `offsets` delimits as in cg_lists. The status
     is that of the first invalid list. `scratch` must be large enough for the longest list. */
  int (*lambda_ndcg_lists_f64)(const double *scores, const ptrdiff_t *offsets, ptrdiff_t queries, const double *gains,
                               const double *inverse_ideals, ptrdiff_t k, const double *discount,
                               ptrdiff_t n_discount, double sigma, int delta, int ties, int normalize, void *scratch,
                               double *gradient, double *hessian);
  int (*lambda_ndcg_lists_f32)(const float *scores, const ptrdiff_t *offsets, ptrdiff_t queries, const double *gains,
                               const double *inverse_ideals, ptrdiff_t k, const double *discount,
                               ptrdiff_t n_discount, double sigma, int delta, int ties, int normalize, void *scratch,
                               double *gradient, double *hessian);
} rankgain_api;

#ifdef __cplusplus
}
#endif
#endif

/* A separate include guard, since this file may already have been included with RANKGAIN_NO_PYTHON defined. */
#if !defined(RANKGAIN_NO_PYTHON) && !defined(RANKGAIN_IMPORT)
#define RANKGAIN_IMPORT

/* Returns the functions of the installed rankgain, or NULL with an exception set if it is missing or incompatible. Must
   be called with the GIL held. The structure stays valid until the process ends. */
static inline const rankgain_api *rankgain_import(void) {
  const rankgain_api *api;
  /* PyCapsule_Import by itself would import only the package, not rankgain.capi. */
  PyObject *module = PyImport_ImportModule("rankgain.capi");
  if (!module) return NULL;
  Py_DECREF(module);
  api = (const rankgain_api *)PyCapsule_Import("rankgain.capi._C_API", 0);
  if (!api) return NULL;
  if (api->abi_version != RANKGAIN_ABI_VERSION) {
    PyErr_Format(PyExc_ImportError,
                 "this module was compiled for version %u of rankgain's C functions, and the installed rankgain has "
                 "version %u: compile the module again with the rankgain that is installed",
                 (unsigned)RANKGAIN_ABI_VERSION, (unsigned)api->abi_version);
    return NULL;
  }
  if (api->struct_size < sizeof(rankgain_api)) {
    PyErr_Format(PyExc_ImportError,
                 "this module was compiled with a newer rankgain, whose C functions take %u bytes, and the installed "
                 "one has %u: upgrade rankgain, or compile the module again with the rankgain that is installed",
                 (unsigned)sizeof(rankgain_api), (unsigned)api->struct_size);
    return NULL;
  }
  return api;
}
#endif
