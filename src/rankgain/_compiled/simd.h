/* The loops that benefit from SIMD, compiled for each CPU level, and the selection of the level at run time. The loops
   compare, count, copy and add in a fixed order, so every level gives the same bits. */
#pragma once
#include "vectors.h"

enum {
  /* maximum number of keys; with more keys, sorting the scores is faster than comparing each key with all scores */
  MOST_KEYS = 256,
  /* up to this number of register comparisons, comparing all scores is faster than copying the highest scores first */
  FEW_COMPARISONS = 512
};

/* Scratch memory for one row of scores, and the excluded columns of the row. */
struct RowScratch {
  const int32_t *columns;
  ptrdiff_t n_excluded;
  void *keys, *excluded, *peaks, *near; /* arrays with the same number type as the scores */
  ptrdiff_t capacity; /* number of scores that fit in `near` */
  ptrdiff_t n_peaks;
  int64_t *above, *not_below;
};

struct Simd {
  int lanes; /* number of doubles per register */
  /* maximum number of entries for which comparing with all scores of a short list is faster than sorting */
  ptrdiff_t few;
  ptrdiff_t judged; /* maximum number of judged ids for which comparing all pairs is faster than hashing (-1: never) */
  ptrdiff_t hits; /* maximum number of possible matches for which comparing all pairs is faster than hashing */
  int (*tally)(const int64_t *, ptrdiff_t, int64_t *);
  void (*whole)(const double *, ptrdiff_t, int64_t *);
  void (*maxima)(const double *, ptrdiff_t, ptrdiff_t, double *);
  ptrdiff_t (*collect)(const double *, ptrdiff_t, ptrdiff_t, double, double *, ptrdiff_t *, ptrdiff_t *, ptrdiff_t);
  void (*count)(const double *, ptrdiff_t, double, int64_t *, int64_t *);
  double (*kth)(const double *, ptrdiff_t, ptrdiff_t);
  void (*ranks)(const double *, ptrdiff_t, const double *, ptrdiff_t, int64_t *, int64_t *);
  int (*numbers)(const double *, ptrdiff_t);
  void (*widen)(const float *, ptrdiff_t, double *);
  void (*sum_steps)(double *, ptrdiff_t, const double *, double *);
  void (*sum_double)(const double *, const int64_t *, int, ptrdiff_t, const double *, double *);
  void (*sum_float)(const float *, const int64_t *, int, ptrdiff_t, const double *, double *);
  void (*sum_int64_t)(const int64_t *, const int64_t *, int, ptrdiff_t, const double *, double *);
  void (*sum_int32_t)(const int32_t *, const int64_t *, int, ptrdiff_t, const double *, double *);
  void (*sum_uint8_t)(const uint8_t *, const int64_t *, int, ptrdiff_t, const double *, double *);
  ptrdiff_t (*near)(const void *, ptrdiff_t, int, const void *, ptrdiff_t, int, int64_t *);
  ptrdiff_t (*position_of)(const void *, ptrdiff_t, int, int64_t);
  int (*scan_float)(const void *, ptrdiff_t, int64_t, struct RowScratch *);
  int (*scan_double)(const void *, ptrdiff_t, int64_t, struct RowScratch *);
  ptrdiff_t (*rank_float)(const void *, ptrdiff_t, const double *, ptrdiff_t, int64_t, struct RowScratch *, int64_t *,
                          int64_t *);
  ptrdiff_t (*rank_double)(const void *, ptrdiff_t, const double *, ptrdiff_t, int64_t, struct RowScratch *, int64_t *,
                           int64_t *);
  int64_t (*equal_float)(const void *, ptrdiff_t, ptrdiff_t, double);
  int64_t (*equal_double)(const void *, ptrdiff_t, ptrdiff_t, double);
};

#define LANES 1
#include "simd_loops.h"
#if VECTORS != PLAIN_C
#define LANES 2
#include "simd_loops.h"
#endif
static const struct Simd *const simd_baseline = &JOIN(simd, BASELINE_LANES);

#if VECTORS == X86_VECTORS
#define LANES 4
#include "simd_loops.h"
static const struct Simd *simd_avx2(void) { return has_avx2() ? &simd_4 : NULL; }
#else
static const struct Simd *simd_avx2(void) { return NULL; }
#endif
