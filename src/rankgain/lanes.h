/* The loops that gain from wide registers, for every level of CPU, and the choice of a level at run time.

   They compare, count and copy, and compute nothing: so the bits are the same at every level. */
#ifndef RANKGAIN_LANES_H
#define RANKGAIN_LANES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct Lanes {
  int (*tally)(const int64_t *, ptrdiff_t, int64_t *);
  void (*whole)(const double *, ptrdiff_t, int64_t *);
  int (*has_nan)(const double *, ptrdiff_t);
  void (*maxima)(const double *, ptrdiff_t, ptrdiff_t, double *);
  ptrdiff_t (*collect)(const double *, ptrdiff_t, ptrdiff_t, double, double *, ptrdiff_t *, ptrdiff_t *, ptrdiff_t);
  void (*count)(const double *, ptrdiff_t, double, int64_t *, int64_t *);
};

#define JOIN_(NAME, LANES) NAME##_##LANES
#define JOIN(NAME, LANES) JOIN_(NAME, LANES)
#define HERE(NAME) JOIN(NAME, LANES)
#define NONE ((HERE(integers)){0})
#define ALL(VALUE) ((VALUE) - (HERE(doubles)){0})
#define LOAD(TYPE, AT) (*(const HERE(TYPE) *)(AT))

/* What every CPU of the platform can: two numbers at once, or one where the compiler has no vectors. */
#ifdef __GNUC__
#define MASK(CONDITION) (CONDITION)
#define SELECT(MASK, A, B) (HERE(doubles))(((HERE(integers))(A) & (MASK)) | ((HERE(integers))(B) & ~(MASK)))
#define LANES 2
#else
#define MASK(CONDITION) (-(int64_t)(CONDITION))
#define SELECT(MASK, A, B) ((MASK) ? (A) : (B))
#define LANES 1
#endif
#define TARGET
#include "lanes_loops.h"
static const struct Lanes *const lanes_baseline = &HERE(lanes);
#undef LANES
#undef TARGET

#if defined(__GNUC__) && defined(__x86_64__)
#include <cpuid.h>
#define LANES 4
#define TARGET __attribute__((target("avx2")))
#include "lanes_loops.h"
#undef LANES
#undef TARGET

/* Whether the CPU has AVX2, and the system keeps its registers. */
static int has_avx2(void) {
  unsigned a, b, c, d, kept, high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || ~c & (1u << 27 | 1u << 28)) return 0;
  __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
  return (kept & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 5;
}
static const struct Lanes *lanes_avx2(void) { return has_avx2() ? &lanes_4 : NULL; }
#else
static const struct Lanes *lanes_avx2(void) { return NULL; }
#endif

#endif
