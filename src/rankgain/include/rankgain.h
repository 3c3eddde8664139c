/* rankgain's kernels, for C and C++: no GIL, no Python object, no NumPy header.

       #include <rankgain.h>                        where `rankgain.get_include()` says
       static const rankgain_api *rankgain;
       ...
       rankgain = rankgain_import();                once, with the GIL, in the module's init function
       if (!rankgain) return NULL;                  an ImportError is set, and says what to do
       ...
       status = rankgain->dcg(relevance, n, 1, 10, RANKGAIN_LINEAR, NULL, 0, &value);

   In Cython the same functions are `from rankgain cimport rankgain_dcg, ...`; their addresses, for Numba, SciPy, ctypes
   and cffi, are those of `rankgain.capi`.

   What holds for every function:
   - It may be called from any number of threads, without the GIL. It allocates nothing, keeps nothing, and writes
     nothing but its outputs and the scratch it is given.
   - It returns 0, and has written its outputs; or a status, and the values that could not be computed are NaN (the
     documents of an order: -1). `message` puts a status into words. Where in the data something is wrong, the Python
     function of that name says, or rg.from_scores(...).evaluate(...).
   - The values have the bits of the Python functions, whose documentation has definitions and sources.
   - n is a number of documents, 0 or more; an empty list has the sum 0. Pointers to nothing may be NULL.
   - A stride is a number of elements, not bytes: 1 where numbers stand side by side. It may be negative, or 0.
   - Inputs may overlap each other. Outputs and scratch overlap nothing else; only `gains` may be `grades`. Numbers are
     aligned as their type asks for; scratch need not be.
   - Grades (`relevance`, `judged`, `labels`) are finite and not negative, and below 1024 for RANKGAIN_EXPONENTIAL.
     Those in rank order are read to rank k.
   - k is the cut-off, 1 or more; RANKGAIN_NO_CUTOFF, or any k beyond all lists of the call, stands for no cut-off.
   - `gain` is RANKGAIN_LINEAR or RANKGAIN_EXPONENTIAL. For another gain give gains of your own as grades.
   - `discount` is NULL, and n_discount 0, for 1 / log2(rank + 1), from a table to rank 65,536; else n_discount numbers
     by rank, finite and not negative, as many as there are ranks to k: see `discount`. More than these are looked at
     only to see whether the discount ever rises: if not, a DCG above the ideal is RANKGAIN_ABOVE_IDEAL.
   - `empty` is what nDCG or RR is where nothing is relevant: 0 by custom, or NaN; not infinite.
   - `scratch` is memory of `scratch_size(n, k)` bytes, for the longest list there is. Each thread has its own. What it
     holds between calls does not matter.
   - Machines have 64 bits, and a process has one interpreter that imports rankgain. */
#ifndef RANKGAIN_NO_PYTHON /* for sources that are handed the structure, and know nothing of Python */
#include <Python.h>
#endif
#ifndef RANKGAIN_H
#define RANKGAIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How this file grows. `rankgain_api` gets new members, at its end. Nothing that a release has had is removed,
   reordered or changed, in its type or its meaning: a better function is a new one, with _v2 behind its name. So what
   was compiled with an older file runs with every later rankgain; what was compiled with a newer one is refused by
   rankgain_import(), for the structure it finds is shorter than its own; Cython refuses a function that is not there,
   or has other types. Should the rule ever have to be broken, RANKGAIN_ABI_VERSION rises, and rankgain_import()
   refuses. It is 0 until a release has users; until then the rule may be broken without notice. */
#define RANKGAIN_ABI_VERSION 0

#define RANKGAIN_NO_CUTOFF PTRDIFF_MAX

/* No two options have a number in common, so that arguments which change places are refused. */

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
  RANKGAIN_AVERAGE = 48, /* the expected value over all their orders */
  RANKGAIN_BEST = 49,    /* the highest grade first */
  RANKGAIN_WORST = 50,   /* the lowest grade first */
  RANKGAIN_STABLE = 51   /* in input order */
};

enum { /* what a pair of documents counts, in gradients */
  RANKGAIN_DELTA_CUT = 64,  /* what their swap changes in nDCG@k */
  RANKGAIN_DELTA_FULL = 65, /* the same, but ranks beyond k have their discount, too */
  RANKGAIN_DELTA_ONE = 66   /* 1 */
};

enum { /* how gradients are normalized */
  RANKGAIN_NOT_NORMALIZED = 80,
  RANKGAIN_BY_SCORE = 81, /* a pair counts less the further apart its scores are */
  RANKGAIN_BY_QUERY = 82, /* those of a query by the logarithm of their sum */
  RANKGAIN_BY_SCORE_AND_QUERY = 83
};

enum { /* status */
  RANKGAIN_OK = 0,
  /* above 0: the data has no such value */
  RANKGAIN_NAN_GRADE = 1,
  RANKGAIN_INFINITE_GRADE = 2,
  RANKGAIN_NEGATIVE_GRADE = 3,
  RANKGAIN_LARGE_GRADE = 4, /* 1024 or more, with RANKGAIN_EXPONENTIAL */
  RANKGAIN_NAN_SCORE = 5,   /* infinite scores are legal */
  RANKGAIN_NOT_FINITE = 6,  /* the sum, or its ratio to the ideal */
  RANKGAIN_ABOVE_IDEAL = 7, /* judged lacks grades that relevance has */
  RANKGAIN_INFINITE_SCORE = 25, /* +inf, in gradients */
  /* below 0: the call is wrong */
  RANKGAIN_BAD_LENGTH = -1, /* a length below 0, or offsets that fall */
  RANKGAIN_BAD_CUTOFF = -2, /* k below 1 */
  RANKGAIN_BAD_OPTION = -3, /* an unknown gain, discount, ideal, ties, delta or normalize, or a base, rel, empty, sigma
                               or inverse_ideal that cannot be */
  RANKGAIN_NULL_POINTER = -4,
  RANKGAIN_SHORT_DISCOUNT = -5, /* n_discount is less than the ranks to k */
  RANKGAIN_BAD_DISCOUNT = -6    /* one of those is negative, infinite or NaN, or rises where it must not */
};

typedef struct {
  uint32_t abi_version; /* RANKGAIN_ABI_VERSION of the rankgain that is installed */
  uint32_t struct_size; /* sizeof(rankgain_api) there */

  /* What a status means, in English; never NULL, never to be freed. */
  const char *(*message)(int status);

  /* Bytes of scratch that every function finds enough for lists of up to n documents at cut-offs up to k; -1 for what
     is no length or no cut-off, or more than memory can be. */
  ptrdiff_t (*scratch_size)(ptrdiff_t n, ptrdiff_t k);

  /* The gains of n grades; `gains` may be `grades`. With a status the gains before the first bad grade are written, and
     NaN there. */
  int (*gain)(int kind, const double *grades, ptrdiff_t n, double *gains);

  /* What the ranks 1 to n are worth; `base`, above 1, is for RANKGAIN_JARVELIN only. */
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

  /* DCG / IDCG. `judged` has the grades of all judged documents, returned or not; a list that is its own judged set is
     given twice. Scratch is for the longer of both. */
  int (*ndcg)(const double *relevance, ptrdiff_t n, ptrdiff_t stride, const double *judged, ptrdiff_t n_judged,
              ptrdiff_t judged_stride, ptrdiff_t k, int gain, int ideal, const double *discount, ptrdiff_t n_discount,
              double empty, void *scratch, double *value);

  /* 1 / rank of the first grade >= rel if that rank <= k, else 0. NaN for rel: the first grade above 0. */
  int (*reciprocal_rank)(const double *relevance, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t k, double rel,
                         double *value);

  /* Many lists, one value each: query q has the grades offsets[q] to offsets[q + 1] - 1, so that there are queries + 1
     offsets (the grades may be NULL if the last of them is 0). A list that has no value gets NaN and the others theirs;
     the status is that of the first such list. Where there are no lists, nothing but lengths and pointers is looked at.
     The same discount, k and scratch serve all. */

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

  /* The documents of the ranks 1 to min(n, k), by their index in `scores`. `ties`: RANKGAIN_BEST and RANKGAIN_WORST
     need labels, which may else be NULL; equal grades, too, stand in input order. `first` and `last`, where they are
     not NULL, get the ranks of those that each document is tied with: for RANKGAIN_AVERAGE (whose documents stand in
     input order) those of its tie group, beyond k as well; for other policies both are its own rank. */
  int (*order_f64)(const double *scores, ptrdiff_t n, ptrdiff_t stride, const double *labels, ptrdiff_t labels_stride,
                   ptrdiff_t k, int ties, void *scratch, ptrdiff_t *order, ptrdiff_t *first, ptrdiff_t *last);
  int (*order_f32)(const float *scores, ptrdiff_t n, ptrdiff_t stride, const double *labels, ptrdiff_t labels_stride,
                   ptrdiff_t k, int ties, void *scratch, ptrdiff_t *order, ptrdiff_t *first, ptrdiff_t *last);

  /* DCG, nDCG (the ideal is that of the labels) and reciprocal rank at k of that order. Labels do not change while a
     model is trained: `idcg` of them once, and then dcg_from_scores, is nDCG for less. dcg_from_scores, as in Python,
     refuses a label of 1024 or more only where it counts. */
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
     the same documents and `inverse_ideal`, one over the ideal at k (0 where nothing is relevant: all results are 0),
     do not change while a model is trained: make them once, by `gain` and `idcg`. `discount`, as everywhere, must not
     rise; RANKGAIN_DELTA_FULL needs it for all n ranks, RANKGAIN_DELTA_ONE not at all. `sigma` is from 1e-100 to 1e100;
     `ties` RANKGAIN_STABLE or RANKGAIN_AVERAGE. `scratch` has lambda_scratch_size(n) bytes. With a status, both
     results are NaN for all documents of the query. */
  ptrdiff_t (*lambda_scratch_size)(ptrdiff_t n);
  int (*lambda_ndcg_f64)(const double *scores, ptrdiff_t n, const double *gains, double inverse_ideal, ptrdiff_t k,
                         const double *discount, ptrdiff_t n_discount, double sigma, int delta, int ties,
                         int normalize, void *scratch, double *gradient, double *hessian);
  int (*lambda_ndcg_f32)(const float *scores, ptrdiff_t n, const double *gains, double inverse_ideal, ptrdiff_t k,
                         const double *discount, ptrdiff_t n_discount, double sigma, int delta, int ties,
                         int normalize, void *scratch, double *gradient, double *hessian);

  /* Many lists, as above; the status is that of the first list with one. Scratch is for the longest. */
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

/* With a guard of its own, for the file may have been included before without it. */
#if !defined(RANKGAIN_NO_PYTHON) && !defined(RANKGAIN_IMPORT)
#define RANKGAIN_IMPORT

/* The functions of the rankgain that is installed; NULL and an exception set where there is none that fits. Call it
   with the GIL. The structure stays where it is until the process ends. */
static inline const rankgain_api *rankgain_import(void) {
  const rankgain_api *api;
  PyObject *module = PyImport_ImportModule("rankgain.capi"); /* which PyCapsule_Import alone would not */
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
