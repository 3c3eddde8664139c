/* The loops that profit from SIMD, one version per level of CPU, and the choice of the level at run time. They compare,
   count, copy and add in a fixed order, so the bits are the same at every level. */
#pragma once
#include "vectors.h"

enum {
  MOST_KEYS = 256,      /* keys: sorting the scores is faster than comparing more keys with all of them */
  FEW_COMPARISONS = 512 /* of registers: up to this many, comparing all scores is faster than copying the highest first */
};

/* Scratch for one row of scores, and the excluded columns. */
struct RowScratch {
  const int32_t *columns;
  ptrdiff_t n_excluded;
  void *keys, *excluded, *peaks, *near; /* numbers of the type of the scores */
  ptrdiff_t capacity; /* the capacity of `near`, in numbers */
  ptrdiff_t n_peaks;
  int64_t *above, *not_below;
};

struct Simd {
  int lanes; /* doubles per register */
  ptrdiff_t few; /* entries up to which comparing with all scores of a short list beats sorting */
  ptrdiff_t judged; /* judged ids up to which comparing all pairs beats hashing (-1: never), … */
  ptrdiff_t hits; /* … if at most this many may match */
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
