/* rankgain's kernels, for C and C++: no GIL, no Python object, no NumPy header.

       #include <rankgain.h>                        in the folder `rankgain.get_include()`
       static const rankgain_api *rankgain;
       ...
       rankgain = rankgain_import();                once, with the GIL, in the module's init function
       if (!rankgain) return NULL;                  an ImportError is set
       ...
       status = rankgain->dcg(relevance, n, 1, 10, RANKGAIN_LINEAR, NULL, 0, &value);

   In Cython, write `from rankgain cimport rankgain_dcg, ...`. For Numba, SciPy, ctypes and cffi, `rankgain.capi` has the
   addresses of the functions.

   For every function:
   - It may be called from any number of threads, without the GIL. It allocates no memory, has no state, and writes
     only to its outputs and to the scratch memory that the caller passes.
   - It returns 0 after writing its outputs, or a status; values that could not be computed are then NaN (documents of
     an order: -1). `message` describes a status. To learn which element of the data is invalid, call the Python
     function of the same name, or rg.from_scores(...).evaluate(...).
   - Values are equal, bit for bit, to those of the Python functions, whose documentation has definitions and sources.
   - n is a number of documents, 0 or more; an empty list has the sum 0. Pointers to empty arrays may be NULL.
   - A stride is a number of elements, not bytes: 1 for contiguous numbers. It may be negative or 0.
   - Inputs may overlap each other. Outputs and scratch must not overlap anything, except that `gains` may be `grades`.
     Arrays are aligned as their type requires; scratch need not be.
   - Grades (`relevance`, `judged`, `labels`) are finite and not negative, and below 1024 for RANKGAIN_EXPONENTIAL.
     Grades in rank order are read up to rank k.
   - k is the cut-off, 1 or more; RANKGAIN_NO_CUTOFF, or any k larger than every list of the call, means no cut-off.
   - `gain` is RANKGAIN_LINEAR or RANKGAIN_EXPONENTIAL. For any other gain, compute the gains and pass them as grades.
   - `discount` is NULL, with n_discount 0, for 1 / log2(rank + 1), which is tabulated to rank 65,536; else n_discount
     numbers by rank, finite and not negative, at least one for each rank up to k: see `discount`. Numbers beyond these
     ranks only decide whether the discount ever rises: if not, a DCG above the ideal is RANKGAIN_ABOVE_IDEAL.
   - `empty` is the value of nDCG or RR if nothing is relevant: usually 0, or NaN; not infinite.
   - `scratch` is memory of `scratch_size(n, k)` bytes, n being the length of the longest list. Each thread needs separate
     scratch. The content need not be preserved between calls.
   - Machines have 64 bits, and one interpreter per process imports rankgain. */
#ifndef RANKGAIN_NO_PYTHON /* define it in sources that receive the structure and do not include Python.h */
#include <Python.h>
#endif
#ifndef RANKGAIN_H
#define RANKGAIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ABI compatibility: new members are added at the end of `rankgain_api`. No member of a release is removed, reordered
   or changed in type or meaning; an improved function is a new member with the suffix _v2. A module compiled with an
   older header therefore runs with every later rankgain. A module compiled with a newer header is refused by
   rankgain_import(), since the installed structure is shorter; Cython refuses a function that is missing or has other
   types. If this rule must ever be broken, RANKGAIN_ABI_VERSION increases and rankgain_import() refuses the module.
   The version is 0 until a release has users; until then the rule may be broken without notice. */
#define RANKGAIN_ABI_VERSION 0

#define RANKGAIN_NO_CUTOFF PTRDIFF_MAX

/* All options have different numbers, so that swapped arguments are refused. */

enum { /* gain */
  RANKGAIN_LINEAR = 0,
  RANKGAIN_EXPONENTIAL = 1 /* 2^r - 1 */
};

enum { /* kinds of discount */
  RANKGAIN_LOG2 = 16,     /* 1 / log2(i + 1) */
  RANKGAIN_JARVELIN = 17, /* 1 for i < base, else 1 / log_base(i) */
  RANKGAIN_ZIPF = 18      /* 1 / i */
};

enum { /* the ideal */
  RANKGAIN_JUDGED = 32,
  RANKGAIN_RETURNED = 33 /* cut at the length of the list as well */
};

enum { /* ties: documents of equal score */
  RANKGAIN_AVERAGE = 48, /* the expected value over all orders */
  RANKGAIN_BEST = 49,    /* the highest grade first */
  RANKGAIN_WORST = 50,   /* the lowest grade first */
  RANKGAIN_STABLE = 51   /* in input order */
};

enum { /* the weight of a pair of documents in gradients */
  RANKGAIN_DELTA_CUT = 64,  /* the change of nDCG@k when the two are swapped */
  RANKGAIN_DELTA_FULL = 65, /* the same, with the discounts of ranks beyond k */
  RANKGAIN_DELTA_ONE = 66   /* 1 */
};

enum { /* how gradients are normalized */
  RANKGAIN_NOT_NORMALIZED = 80,
  RANKGAIN_BY_SCORE = 81, /* the weight of a pair decreases with the difference of scores */
  RANKGAIN_BY_QUERY = 82, /* the gradients of a query are scaled by the logarithm of their sum */
  RANKGAIN_BY_SCORE_AND_QUERY = 83
};

enum { /* status */
  RANKGAIN_OK = 0,
  /* above 0: invalid data, or an undefined value */
  RANKGAIN_NAN_GRADE = 1,
  RANKGAIN_INFINITE_GRADE = 2,
  RANKGAIN_NEGATIVE_GRADE = 3,
  RANKGAIN_LARGE_GRADE = 4, /* 1024 or more, with RANKGAIN_EXPONENTIAL */
  RANKGAIN_NAN_SCORE = 5,   /* infinite scores are legal */
  RANKGAIN_NOT_FINITE = 6,  /* the sum, or its ratio to the ideal */
  RANKGAIN_ABOVE_IDEAL = 7, /* judged lacks grades that relevance has */
  RANKGAIN_INFINITE_SCORE = 25, /* a score is +inf, in gradients */
  /* below 0: an invalid call */
  RANKGAIN_BAD_LENGTH = -1, /* a length below 0, or decreasing offsets */
  RANKGAIN_BAD_CUTOFF = -2, /* k below 1 */
  RANKGAIN_BAD_OPTION = -3, /* an unknown gain, discount, ideal, ties, delta or normalize, or a base, rel, empty, sigma
                               or inverse_ideal out of range */
  RANKGAIN_NULL_POINTER = -4,
  RANKGAIN_SHORT_DISCOUNT = -5, /* n_discount is less than the number of ranks up to k */
  RANKGAIN_BAD_DISCOUNT = -6    /* a discount is negative, infinite or NaN, or rises although it must not */
};

typedef struct {
  uint32_t abi_version; /* RANKGAIN_ABI_VERSION of the installed rankgain */
  uint32_t struct_size; /* sizeof(rankgain_api) of the installed rankgain */

  /* The meaning of a status, in English; never NULL; do not free it. */
  const char *(*message)(int status);

  /* Bytes of scratch, sufficient for every function, for lists of up to n documents and cut-offs up to k; -1 if n is
     not a valid length, k is not a valid cut-off, or the size exceeds the address space. */
  ptrdiff_t (*scratch_size)(ptrdiff_t n, ptrdiff_t k);

  /* The gains of n grades; `gains` may be `grades`. With a status, the gains before the first invalid grade are
     written, and NaN at its index. */
  int (*gain)(int kind, const double *grades, ptrdiff_t n, double *gains);

  /* The discounts of the ranks 1 to n; `base`, above 1, is used by RANKGAIN_JARVELIN only. */
  int (*discount)(int kind, double base, ptrdiff_t n, double *discounts);

  /* One list, grades in rank order. */

  /* The sum of the gains to rank k. */
  int (*cg)(const double *relevance, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t k, int gain, double *value);

  /* The sum of gain times discount to rank k. */
  int (*dcg)(const double *relevance, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t k, int gain, const double *discount,
             ptrdiff_t n_discount, double *value);

  /* The DCG of the grades, highest first. */
  int (*idcg)(const double *judged, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t k, int gain, const double *discount,
              ptrdiff_t n_discount, void *scratch, double *value);

  /* DCG / IDCG. `judged` has the grades of all judged documents, returned or not; pass the same list twice if all
     judged documents were returned. Scratch is sized for the longer of the two. */
  int (*ndcg)(const double *relevance, ptrdiff_t n, ptrdiff_t stride, const double *judged, ptrdiff_t n_judged,
              ptrdiff_t judged_stride, ptrdiff_t k, int gain, int ideal, const double *discount, ptrdiff_t n_discount,
              double empty, void *scratch, double *value);

  /* 1 / rank of the first grade >= rel if that rank <= k, else 0. NaN for rel: the first grade above 0. */
  int (*reciprocal_rank)(const double *relevance, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t k, double rel,
                         double *value);

  /* Many lists, one value each: query q has the grades offsets[q] to offsets[q + 1] - 1, so that there are queries + 1
     offsets (the grades may be NULL if the last of them is 0). The value of an invalid list is NaN, and the other
     values are computed; the status is that of the first invalid list. With no lists, only lengths and pointers are
     checked. Discount, k and scratch are shared by all lists. */

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

  /* Scores of one query, in any order; the document of the highest score has rank 1. -0.0 ties with 0.0. `labels` are
     the grades of the same documents. */

  /* The documents at ranks 1 to min(n, k), as indices into `scores`. `ties`: RANKGAIN_BEST and RANKGAIN_WORST need
     labels, which may be NULL for other policies; tied documents of equal grade are in input order. `first` and `last`,
     unless NULL, get a range of ranks per document: with RANKGAIN_AVERAGE, which leaves tied documents in input order,
     the first and last rank of the tie group, even if beyond k; with other policies both are the rank of the document.
   */
  int (*order_f64)(const double *scores, ptrdiff_t n, ptrdiff_t stride, const double *labels, ptrdiff_t labels_stride,
                   ptrdiff_t k, int ties, void *scratch, ptrdiff_t *order, ptrdiff_t *first, ptrdiff_t *last);
  int (*order_f32)(const float *scores, ptrdiff_t n, ptrdiff_t stride, const double *labels, ptrdiff_t labels_stride,
                   ptrdiff_t k, int ties, void *scratch, ptrdiff_t *order, ptrdiff_t *first, ptrdiff_t *last);

  /* DCG, nDCG (with the ideal of the labels) and reciprocal rank at k in that order. Labels do not change while a model
     is trained, so computing `idcg` once and dividing dcg_from_scores by it is a cheaper nDCG. As in Python,
     dcg_from_scores refuses a label of 1024 or more only at ranks up to k. */
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

  /* LambdaRank, for trainers: the gradient and the hessian of each document of a query; rg.lambdarank(...) has the
     definition. `scores`: higher is better; -inf leaves a document out, +inf is RANKGAIN_INFINITE_SCORE. `gains` of
     the same documents and `inverse_ideal`, 1 / IDCG@k (0 if nothing is relevant: all results are then 0), do not
     change while a model is trained: compute them once with `gain` and `idcg`. `discount` must not rise with the rank;
     RANKGAIN_DELTA_FULL needs it for all n ranks, RANKGAIN_DELTA_ONE does not use it. `sigma` is from 1e-100 to 1e100;
     `ties` is RANKGAIN_STABLE or RANKGAIN_AVERAGE. `scratch` has lambda_scratch_size(n) bytes. With a status, both
     results are NaN for all documents of the query. */
  ptrdiff_t (*lambda_scratch_size)(ptrdiff_t n);
  int (*lambda_ndcg_f64)(const double *scores, ptrdiff_t n, const double *gains, double inverse_ideal, ptrdiff_t k,
                         const double *discount, ptrdiff_t n_discount, double sigma, int delta, int ties,
                         int normalize, void *scratch, double *gradient, double *hessian);
  int (*lambda_ndcg_f32)(const float *scores, ptrdiff_t n, const double *gains, double inverse_ideal, ptrdiff_t k,
                         const double *discount, ptrdiff_t n_discount, double sigma, int delta, int ties,
                         int normalize, void *scratch, double *gradient, double *hessian);

  /* Many lists, as above; the status is that of the first invalid list. Scratch is sized for the longest list. */
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

/* A separate guard, since the file may have been included before with RANKGAIN_NO_PYTHON. */
#if !defined(RANKGAIN_NO_PYTHON) && !defined(RANKGAIN_IMPORT)
#define RANKGAIN_IMPORT

/* The functions of the installed rankgain; NULL, with an exception set, if it is missing or incompatible. Call it with
   the GIL. The structure is valid until the process ends. */
static inline const rankgain_api *rankgain_import(void) {
  const rankgain_api *api;
  PyObject *module = PyImport_ImportModule("rankgain.capi"); /* PyCapsule_Import imports only the package */
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
