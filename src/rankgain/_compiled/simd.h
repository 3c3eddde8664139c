/* The loops that gain from wide registers, for every level of CPU, and the choice of a level at run time.
   They compare, count and copy, and compute nothing that is kept: so the bits are the same at every level. */
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct Simd {
  ptrdiff_t few; /* up to so many entries of a short list are sooner compared with all than sorted */
  ptrdiff_t judged; /* up to so many judged ids are sooner compared with all returned ones than hashed, … */
  ptrdiff_t hits; /* … where up to so many may be equal */
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
  ptrdiff_t (*place)(const void *, ptrdiff_t, int, int64_t);
};

#ifdef __GNUC__ /* registers, not memory, for the few sums that a loop keeps */
#define UNROLLED _Pragma("GCC unroll 16")
#define ALWAYS inline __attribute__((always_inline))
#else
#define UNROLLED
#define ALWAYS inline
#endif

/* The lowest bit that is set, of some. */
static inline int lowest(uint64_t bits) {
#ifdef __GNUC__
  return __builtin_ctzll(bits);
#else
  int at = 0;
  for (; !(bits & 1); bits >>= 1) at++;
  return at;
#endif
}

#define JOIN_(NAME, LANES) NAME##_##LANES
#define JOIN(NAME, LANES) JOIN_(NAME, LANES)
#define HERE(NAME) JOIN(NAME, LANES)
#define NONE ((HERE(integers)){0})
#define ALL(VALUE) ((VALUE) - (HERE(doubles)){0})
#define LOAD(TYPE, AT) (*(const HERE(TYPE) *)(AT))
#define STORE(TYPE, AT, VALUE) (*(HERE(TYPE) *)(AT) = (VALUE))
#define MASK(CONDITION) (LANES > 1 ? (HERE(integers))(CONDITION) : -(HERE(integers))(CONDITION))
#define BITS JOIN(BITS, LANES) /* of a mask, a bit a lane */
#define SIGNS JOIN(SIGNS, LANES) /* a bit a lane of 32 bits, the highest */
#define HIGHER JOIN(HIGHER, LANES) /* of two numbers; the second where one is NaN */
#define WIDE JOIN(WIDE, LANES) /* as many float32 */
#define BITS_1(MASK) ((uint64_t)((MASK) & 1))
#define HIGHER_1(A, B) ((A) > (B) ? (A) : (B))
#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define BITS_2(MASK) ((uint64_t)_mm_movemask_pd((__m128d)(MASK)))
#define BITS_4(MASK) ((uint64_t)_mm256_movemask_pd((__m256d)(MASK)))
#define SIGNS_2(LANES_32) ((uint64_t)_mm_movemask_ps((__m128)(LANES_32)))
#define SIGNS_4(LANES_32) ((uint64_t)_mm256_movemask_ps((__m256)(LANES_32)))
#define HIGHER_2(A, B) ((HERE(doubles))_mm_max_pd((__m128d)(A), (__m128d)(B)))
#define HIGHER_4(A, B) ((HERE(doubles))_mm256_max_pd((__m256d)(A), (__m256d)(B)))
#define WIDE_2(AT) ((HERE(doubles))_mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(AT)))))
#define WIDE_4(AT) ((HERE(doubles))_mm256_cvtps_pd(_mm_loadu_ps(AT)))
#else
#define WIDE_2(AT) ((HERE(doubles)){(AT)[0], (AT)[1]})
#define BITS_2(MASK) ((uint64_t)((MASK)[0]) >> 63 | (uint64_t)((MASK)[1]) >> 63 << 1)
#define SIGN(LANES_32, LANE) ((uint64_t)(((HERE(words))(LANES_32))[LANE] >> 31) << (LANE))
#define SIGNS_2(LANES_32) (SIGN(LANES_32, 0) | SIGN(LANES_32, 1) | SIGN(LANES_32, 2) | SIGN(LANES_32, 3))
#define HIGHER_2(A, B) ((HERE(doubles))(((HERE(integers))(A) & ((A) > (B))) | ((HERE(integers))(B) & ~((A) > (B)))))
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOW_AT(WIDTH) ((WIDTH) - 2) /* where the lowest 16 bits of a number are */
#else
#define LOW_AT(WIDTH) 0
#endif

#define LANES 1
#define VECTOR
#define TARGET
#include "simd_loops.h"
#undef VECTOR
#define VECTOR __attribute__((vector_size(8 * LANES), aligned(8), may_alias))
#ifdef __GNUC__ /* which has vectors: two numbers are what every CPU of the usual platforms has registers for */
#define LANES 2
#define TARGET
#include "simd_loops.h"
static const struct Simd *const simd_baseline = &simd_2;
#else
static const struct Simd *const simd_baseline = &simd_1;
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#include <cpuid.h>
#define LANES 4
#define TARGET __attribute__((target("avx2")))
#include "simd_loops.h"

/* The copies for AVX2, where the CPU has it and the system keeps its registers. */
static const struct Simd *simd_avx2(void) {
  unsigned a, b, c, d, kept, high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || ~c & (1u << 27 | 1u << 28)) return NULL;
  __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
  return (kept & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 5 ? &simd_4 : NULL;
}
#else
static const struct Simd *simd_avx2(void) { return NULL; }
#endif
