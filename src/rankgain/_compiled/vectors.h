/* Everything that depends on the compiler or the CPU. Loops are written once, in terms of the operations at the end of
   this file; no other file uses attributes, builtins or SIMD intrinsics. x86-64 and arm64 use intrinsics that MSVC, GCC
   and Clang all compile; any other CPU uses plain C. The results are bit-identical everywhere. The NEON intrinsics need
   0.4 to 0.8 times as many instructions as plain C, and about as many as GCC's vector extensions (0.7 to 1.1 times).
   AVX-512 would require a third copy of the loops on x86-64. It is left out until the tests run on a machine that
   supports it. A prototype on Zen 4 gained nothing for top-k rankings, dicts and files. It was faster than AVX2 only
   when all documents are ranked (`ranks`): 1.7 to 2 times as fast on Zen 4, and 1.3 times according to LLVM's model of
   Ice Lake. */
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PLAIN_C 0
#define X86_VECTORS 1
#define NEON_VECTORS 2
#ifndef VECTORS /* may be set by tests */
#if defined(__x86_64__) || (defined(_M_X64) && !defined(_M_ARM64EC))
#define VECTORS X86_VECTORS
#elif defined(__AARCH64EL__) || defined(_M_ARM64)
#define VECTORS NEON_VECTORS
#else
#define VECTORS PLAIN_C
#endif
#endif

#if VECTORS == X86_VECTORS
#include <immintrin.h>
#elif VECTORS == NEON_VECTORS
#include <arm_neon.h>
#endif

/* Wrappers for compiler-specific features: inlining, bit and byte operations, prefetching and CPU detection. */
#if defined(__GNUC__) || defined(__clang__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define TARGET_AVX2 __attribute__((target("avx2")))
#define UNROLLED _Pragma("GCC unroll 16") /* keeps small arrays in registers */
#elif defined(_MSC_VER)
#include <intrin.h>
#define ALWAYS_INLINE __forceinline
#define TARGET_AVX2 /* not needed: MSVC compiles every intrinsic for every CPU */
#define UNROLLED
#else
#define ALWAYS_INLINE inline
#define TARGET_AVX2
#define UNROLLED
#endif

/* Return the index of the lowest set bit. `bits` must not be 0. */
static ALWAYS_INLINE int lowest_set_bit(uint64_t bits) {
#if defined(__GNUC__) || defined(__clang__)
  return __builtin_ctzll(bits);
#elif defined(_MSC_VER)
  unsigned long at;
  _BitScanForward64(&at, bits);
  return (int)at;
#else
  int at = 0;
  for (; !(bits & 1); bits >>= 1) at++;
  return at;
#endif
}

/* Load eight bytes as a little-endian integer. */
static ALWAYS_INLINE uint64_t little(const unsigned char *at) {
  uint64_t eight;
  memcpy(&eight, at, sizeof eight);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  eight = __builtin_bswap64(eight);
#endif
  return eight;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOW_AT(WIDTH) ((WIDTH) - 2) /* byte offset of the lowest 16 bits of a number */
#else
#define LOW_AT(WIDTH) 0
#endif

static ALWAYS_INLINE void prefetch(const void *address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#elif VECTORS == X86_VECTORS
  _mm_prefetch((const char *)address, _MM_HINT_T0);
#else
  (void)address;
#endif
}

#if VECTORS == X86_VECTORS
#if defined(__GNUC__) || defined(__clang__)
#include <cpuid.h>
static inline int cpuid_leaf(unsigned leaf, unsigned registers[4]) {
  return __get_cpuid_count(leaf, 0, registers, registers + 1, registers + 2, registers + 3);
}
static inline unsigned enabled_registers(void) {
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}
#else
static inline int cpuid_leaf(unsigned leaf, unsigned registers[4]) {
  int last[4];
  __cpuidex(last, 0, 0);
  __cpuidex((int *)registers, (int)leaf, 0);
  return leaf <= (unsigned)last[0];
}
static inline unsigned enabled_registers(void) { return (unsigned)_xgetbv(0); }
#endif

/* Return whether the CPU supports AVX2 and the operating system saves the AVX registers. */
static inline int has_avx2(void) {
  unsigned registers[4]; /* the registers EAX, EBX, ECX and EDX */
  if (!cpuid_leaf(1, registers) || ~registers[2] & (1u << 27 | 1u << 28)) return 0;
  return (enabled_registers() & 6) == 6 && cpuid_leaf(7, registers) && registers[1] >> 5 & 1;
}
#endif

/* Operations on a single number, used for the remainder after whole registers and on CPUs that use plain C. A mask is
   either all ones or 0. */
#define OP_1 static ALWAYS_INLINE
typedef double doubles_1;
typedef uint64_t integers_1;
OP_1 doubles_1 load_1(const double *at) { return *at; }
OP_1 void store_1(double *at, doubles_1 a) { *at = a; }
OP_1 doubles_1 all_1(double number) { return number; }
OP_1 doubles_1 add_1(doubles_1 a, doubles_1 b) { return a + b; }
OP_1 doubles_1 sub_1(doubles_1 a, doubles_1 b) { return a - b; }
OP_1 doubles_1 mul_1(doubles_1 a, doubles_1 b) { return a * b; }
OP_1 doubles_1 div_1(doubles_1 a, doubles_1 b) { return a / b; }
OP_1 doubles_1 negated_1(doubles_1 a) { return -a; }
OP_1 doubles_1 higher_1(doubles_1 a, doubles_1 b) { return a > b ? a : b; }
OP_1 integers_1 more_1(doubles_1 a, doubles_1 b) { return 0 - (uint64_t)(a > b); }
OP_1 integers_1 at_least_1(doubles_1 a, doubles_1 b) { return 0 - (uint64_t)(a >= b); }
OP_1 integers_1 same_1(doubles_1 a, doubles_1 b) { return 0 - (uint64_t)(a == b); }
OP_1 integers_1 differ_1(doubles_1 a, doubles_1 b) { return 0 - (uint64_t)(a != b); }
OP_1 doubles_1 choose_1(integers_1 mask, doubles_1 a, doubles_1 b) { return mask ? a : b; }
OP_1 integers_1 bits_of_1(doubles_1 a) {
  uint64_t bits;
  memcpy(&bits, &a, sizeof bits);
  return bits;
}
OP_1 doubles_1 of_bits_1(integers_1 a) {
  double number;
  memcpy(&number, &a, sizeof number);
  return number;
}
OP_1 integers_1 load_bits_1(const void *at) {
  uint64_t bits;
  memcpy(&bits, at, sizeof bits);
  return bits;
}
OP_1 void store_bits_1(void *at, integers_1 a) { memcpy(at, &a, sizeof a); }
OP_1 integers_1 all_bits_1(uint64_t bits) { return bits; }
OP_1 integers_1 plus_1(integers_1 a, integers_1 b) { return a + b; }
OP_1 integers_1 minus_1(integers_1 a, integers_1 b) { return a - b; }
OP_1 integers_1 and_1(integers_1 a, integers_1 b) { return a & b; }
OP_1 integers_1 or_1(integers_1 a, integers_1 b) { return a | b; }
OP_1 integers_1 xor_1(integers_1 a, integers_1 b) { return a ^ b; }
OP_1 integers_1 left_1(integers_1 a, int bits) { return a << bits; }
OP_1 integers_1 right_1(integers_1 a, int bits) { return a >> bits; }
OP_1 integers_1 left_each_1(integers_1 a, integers_1 bits) { return a << bits; }
OP_1 integers_1 negative_1(integers_1 a) { return 0 - (a >> 63); }
OP_1 uint64_t signs_1(integers_1 a) { return a >> 63; }
OP_1 doubles_1 widened_1(const float *at) { return *at; }
OP_1 integers_1 unordered_1(doubles_1 a, doubles_1 b) { return 0 - (uint64_t)(a != a || b != b); }
typedef float floats_1;
OP_1 floats_1 load_float_1(const float *at) { return *at; }
OP_1 void store_float_1(float *at, floats_1 a) { *at = a; }
OP_1 floats_1 all_float_1(float number) { return number; }
OP_1 floats_1 higher_float_1(floats_1 a, floats_1 b) { return a > b ? a : b; }
OP_1 integers_1 more_float_1(floats_1 a, floats_1 b) { return 0 - (uint64_t)(a > b); }
OP_1 integers_1 at_least_float_1(floats_1 a, floats_1 b) { return 0 - (uint64_t)(a >= b); }
OP_1 integers_1 unordered_float_1(floats_1 a, floats_1 b) { return 0 - (uint64_t)(a != a || b != b); }

#if VECTORS == X86_VECTORS
#define OP_2 static ALWAYS_INLINE
typedef __m128d doubles_2;
typedef __m128i integers_2;
OP_2 doubles_2 load_2(const double *at) { return _mm_loadu_pd(at); }
OP_2 void store_2(double *at, doubles_2 a) { _mm_storeu_pd(at, a); }
OP_2 doubles_2 all_2(double number) { return _mm_set1_pd(number); }
OP_2 doubles_2 add_2(doubles_2 a, doubles_2 b) { return _mm_add_pd(a, b); }
OP_2 doubles_2 sub_2(doubles_2 a, doubles_2 b) { return _mm_sub_pd(a, b); }
OP_2 doubles_2 mul_2(doubles_2 a, doubles_2 b) { return _mm_mul_pd(a, b); }
OP_2 doubles_2 div_2(doubles_2 a, doubles_2 b) { return _mm_div_pd(a, b); }
OP_2 doubles_2 negated_2(doubles_2 a) { return _mm_xor_pd(a, _mm_set1_pd(-0.0)); }
OP_2 doubles_2 higher_2(doubles_2 a, doubles_2 b) { return _mm_max_pd(a, b); }
OP_2 integers_2 more_2(doubles_2 a, doubles_2 b) { return _mm_castpd_si128(_mm_cmpgt_pd(a, b)); }
OP_2 integers_2 at_least_2(doubles_2 a, doubles_2 b) { return _mm_castpd_si128(_mm_cmpge_pd(a, b)); }
OP_2 integers_2 same_2(doubles_2 a, doubles_2 b) { return _mm_castpd_si128(_mm_cmpeq_pd(a, b)); }
OP_2 integers_2 differ_2(doubles_2 a, doubles_2 b) { return _mm_castpd_si128(_mm_cmpneq_pd(a, b)); }
OP_2 doubles_2 choose_2(integers_2 mask, doubles_2 a, doubles_2 b) {
  const __m128d chosen = _mm_castsi128_pd(mask);
  return _mm_or_pd(_mm_and_pd(chosen, a), _mm_andnot_pd(chosen, b));
}
OP_2 integers_2 bits_of_2(doubles_2 a) { return _mm_castpd_si128(a); }
OP_2 doubles_2 of_bits_2(integers_2 a) { return _mm_castsi128_pd(a); }
OP_2 integers_2 load_bits_2(const void *at) { return _mm_loadu_si128((const __m128i *)at); }
OP_2 void store_bits_2(void *at, integers_2 a) { _mm_storeu_si128((__m128i *)at, a); }
OP_2 integers_2 all_bits_2(uint64_t bits) { return _mm_set1_epi64x((int64_t)bits); }
OP_2 integers_2 plus_2(integers_2 a, integers_2 b) { return _mm_add_epi64(a, b); }
OP_2 integers_2 minus_2(integers_2 a, integers_2 b) { return _mm_sub_epi64(a, b); }
OP_2 integers_2 and_2(integers_2 a, integers_2 b) { return _mm_and_si128(a, b); }
OP_2 integers_2 or_2(integers_2 a, integers_2 b) { return _mm_or_si128(a, b); }
OP_2 integers_2 xor_2(integers_2 a, integers_2 b) { return _mm_xor_si128(a, b); }
OP_2 integers_2 left_2(integers_2 a, int bits) { return _mm_slli_epi64(a, bits); }
OP_2 integers_2 right_2(integers_2 a, int bits) { return _mm_srli_epi64(a, bits); }
/* SSE2 shifts all lanes by the same count, the lowest lane of `bits` */
OP_2 integers_2 left_each_2(integers_2 a, integers_2 bits) {
  const __m128i low = _mm_sll_epi64(a, bits), high = _mm_sll_epi64(a, _mm_unpackhi_epi64(bits, bits));
  return _mm_castpd_si128(_mm_move_sd(_mm_castsi128_pd(high), _mm_castsi128_pd(low)));
}
OP_2 integers_2 negative_2(integers_2 a) { return _mm_shuffle_epi32(_mm_srai_epi32(a, 31), _MM_SHUFFLE(3, 3, 1, 1)); }
OP_2 uint64_t signs_2(integers_2 a) { return (uint64_t)_mm_movemask_pd(_mm_castsi128_pd(a)); }
OP_2 doubles_2 widened_2(const float *at) {
  return _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)at)));
}
OP_2 integers_2 unordered_2(doubles_2 a, doubles_2 b) { return _mm_castpd_si128(_mm_cmpunord_pd(a, b)); }
typedef __m128 floats_2;
OP_2 floats_2 load_float_2(const float *at) { return _mm_loadu_ps(at); }
OP_2 void store_float_2(float *at, floats_2 a) { _mm_storeu_ps(at, a); }
OP_2 floats_2 all_float_2(float number) { return _mm_set1_ps(number); }
OP_2 floats_2 higher_float_2(floats_2 a, floats_2 b) { return _mm_max_ps(a, b); }
OP_2 integers_2 more_float_2(floats_2 a, floats_2 b) { return _mm_castps_si128(_mm_cmpgt_ps(a, b)); }
OP_2 integers_2 at_least_float_2(floats_2 a, floats_2 b) { return _mm_castps_si128(_mm_cmpge_ps(a, b)); }
OP_2 integers_2 unordered_float_2(floats_2 a, floats_2 b) { return _mm_castps_si128(_mm_cmpunord_ps(a, b)); }
OP_2 integers_2 minus_32_2(integers_2 a, integers_2 b) { return _mm_sub_epi32(a, b); }
OP_2 integers_2 all_16_2(int16_t number) { return _mm_set1_epi16(number); }
OP_2 integers_2 all_32_2(uint32_t number) { return _mm_set1_epi32((int32_t)number); }
OP_2 integers_2 left_32_2(integers_2 a, int bits) { return _mm_slli_epi32(a, bits); }
OP_2 integers_2 equal_16_2(integers_2 a, integers_2 b) { return _mm_cmpeq_epi16(a, b); }
OP_2 integers_2 equal_32_2(integers_2 a, integers_2 b) { return _mm_cmpeq_epi32(a, b); }
OP_2 integers_2 equal_64_2(integers_2 a, integers_2 b) { /* two lanes are equal if both of their halves are equal */
  const __m128i halves = _mm_cmpeq_epi32(a, b);
  return _mm_and_si128(halves, _mm_shuffle_epi32(halves, _MM_SHUFFLE(2, 3, 0, 1)));
}
OP_2 uint64_t signs_32_2(integers_2 a) { return (uint64_t)_mm_movemask_ps(_mm_castsi128_ps(a)); }

#define OP_4 TARGET_AVX2 static ALWAYS_INLINE
typedef __m256d doubles_4;
typedef __m256i integers_4;
OP_4 doubles_4 load_4(const double *at) { return _mm256_loadu_pd(at); }
OP_4 void store_4(double *at, doubles_4 a) { _mm256_storeu_pd(at, a); }
OP_4 doubles_4 all_4(double number) { return _mm256_set1_pd(number); }
OP_4 doubles_4 add_4(doubles_4 a, doubles_4 b) { return _mm256_add_pd(a, b); }
OP_4 doubles_4 sub_4(doubles_4 a, doubles_4 b) { return _mm256_sub_pd(a, b); }
OP_4 doubles_4 mul_4(doubles_4 a, doubles_4 b) { return _mm256_mul_pd(a, b); }
OP_4 doubles_4 div_4(doubles_4 a, doubles_4 b) { return _mm256_div_pd(a, b); }
OP_4 doubles_4 negated_4(doubles_4 a) { return _mm256_xor_pd(a, _mm256_set1_pd(-0.0)); }
OP_4 doubles_4 higher_4(doubles_4 a, doubles_4 b) { return _mm256_max_pd(a, b); }
OP_4 integers_4 more_4(doubles_4 a, doubles_4 b) { return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_GT_OQ)); }
OP_4 integers_4 at_least_4(doubles_4 a, doubles_4 b) { return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_GE_OQ)); }
OP_4 integers_4 same_4(doubles_4 a, doubles_4 b) { return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_EQ_OQ)); }
OP_4 integers_4 differ_4(doubles_4 a, doubles_4 b) { return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_NEQ_UQ)); }
OP_4 doubles_4 choose_4(integers_4 mask, doubles_4 a, doubles_4 b) {
  return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(mask));
}
OP_4 integers_4 bits_of_4(doubles_4 a) { return _mm256_castpd_si256(a); }
OP_4 doubles_4 of_bits_4(integers_4 a) { return _mm256_castsi256_pd(a); }
OP_4 integers_4 load_bits_4(const void *at) { return _mm256_loadu_si256((const __m256i *)at); }
OP_4 void store_bits_4(void *at, integers_4 a) { _mm256_storeu_si256((__m256i *)at, a); }
OP_4 integers_4 all_bits_4(uint64_t bits) { return _mm256_set1_epi64x((int64_t)bits); }
OP_4 integers_4 plus_4(integers_4 a, integers_4 b) { return _mm256_add_epi64(a, b); }
OP_4 integers_4 minus_4(integers_4 a, integers_4 b) { return _mm256_sub_epi64(a, b); }
OP_4 integers_4 and_4(integers_4 a, integers_4 b) { return _mm256_and_si256(a, b); }
OP_4 integers_4 or_4(integers_4 a, integers_4 b) { return _mm256_or_si256(a, b); }
OP_4 integers_4 xor_4(integers_4 a, integers_4 b) { return _mm256_xor_si256(a, b); }
OP_4 integers_4 left_4(integers_4 a, int bits) { return _mm256_slli_epi64(a, bits); }
OP_4 integers_4 right_4(integers_4 a, int bits) { return _mm256_srli_epi64(a, bits); }
OP_4 integers_4 left_each_4(integers_4 a, integers_4 bits) { return _mm256_sllv_epi64(a, bits); }
OP_4 integers_4 negative_4(integers_4 a) { return _mm256_cmpgt_epi64(_mm256_setzero_si256(), a); }
OP_4 uint64_t signs_4(integers_4 a) { return (uint64_t)_mm256_movemask_pd(_mm256_castsi256_pd(a)); }
OP_4 doubles_4 widened_4(const float *at) { return _mm256_cvtps_pd(_mm_loadu_ps(at)); }
OP_4 integers_4 unordered_4(doubles_4 a, doubles_4 b) { return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_UNORD_Q)); }
typedef __m256 floats_4;
OP_4 floats_4 load_float_4(const float *at) { return _mm256_loadu_ps(at); }
OP_4 void store_float_4(float *at, floats_4 a) { _mm256_storeu_ps(at, a); }
OP_4 floats_4 all_float_4(float number) { return _mm256_set1_ps(number); }
OP_4 floats_4 higher_float_4(floats_4 a, floats_4 b) { return _mm256_max_ps(a, b); }
OP_4 integers_4 more_float_4(floats_4 a, floats_4 b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_GT_OQ)); }
OP_4 integers_4 at_least_float_4(floats_4 a, floats_4 b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_GE_OQ)); }
OP_4 integers_4 unordered_float_4(floats_4 a, floats_4 b) {
  return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}
OP_4 integers_4 minus_32_4(integers_4 a, integers_4 b) { return _mm256_sub_epi32(a, b); }
OP_4 integers_4 all_16_4(int16_t number) { return _mm256_set1_epi16(number); }
OP_4 integers_4 all_32_4(uint32_t number) { return _mm256_set1_epi32((int32_t)number); }
OP_4 integers_4 left_32_4(integers_4 a, int bits) { return _mm256_slli_epi32(a, bits); }
OP_4 integers_4 equal_16_4(integers_4 a, integers_4 b) { return _mm256_cmpeq_epi16(a, b); }
OP_4 integers_4 equal_32_4(integers_4 a, integers_4 b) { return _mm256_cmpeq_epi32(a, b); }
OP_4 integers_4 equal_64_4(integers_4 a, integers_4 b) { return _mm256_cmpeq_epi64(a, b); }
OP_4 uint64_t signs_32_4(integers_4 a) { return (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(a)); }

/* Used only where four lists are summed at once. */
OP_4 doubles_4 of_int32_4(const int32_t *at) { return _mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i *)at)); }
OP_4 doubles_4 of_uint8_4(const uint8_t *at) {
  int32_t four;
  memcpy(&four, at, sizeof four);
  return _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)));
}
OP_4 void transpose_4(doubles_4 row[4]) {
  const __m256d even = _mm256_unpacklo_pd(row[0], row[1]), odd = _mm256_unpackhi_pd(row[0], row[1]);
  const __m256d even_2 = _mm256_unpacklo_pd(row[2], row[3]), odd_2 = _mm256_unpackhi_pd(row[2], row[3]);
  row[0] = _mm256_permute2f128_pd(even, even_2, 0x20), row[1] = _mm256_permute2f128_pd(odd, odd_2, 0x20);
  row[2] = _mm256_permute2f128_pd(even, even_2, 0x31), row[3] = _mm256_permute2f128_pd(odd, odd_2, 0x31);
}
OP_4 int ones_4(uint64_t bits) { return (int)_mm_popcnt_u64(bits); } /* every CPU with AVX2 also has POPCNT */

#elif VECTORS == NEON_VECTORS
#define OP_2 static ALWAYS_INLINE
typedef float64x2_t doubles_2;
typedef uint64x2_t integers_2;
OP_2 doubles_2 load_2(const double *at) { return vld1q_f64(at); }
OP_2 void store_2(double *at, doubles_2 a) { vst1q_f64(at, a); }
OP_2 doubles_2 all_2(double number) { return vdupq_n_f64(number); }
OP_2 doubles_2 add_2(doubles_2 a, doubles_2 b) { return vaddq_f64(a, b); }
OP_2 doubles_2 sub_2(doubles_2 a, doubles_2 b) { return vsubq_f64(a, b); }
OP_2 doubles_2 mul_2(doubles_2 a, doubles_2 b) { return vmulq_f64(a, b); }
OP_2 doubles_2 div_2(doubles_2 a, doubles_2 b) { return vdivq_f64(a, b); }
OP_2 doubles_2 negated_2(doubles_2 a) { return vnegq_f64(a); }
OP_2 integers_2 more_2(doubles_2 a, doubles_2 b) { return vcgtq_f64(a, b); }
OP_2 integers_2 at_least_2(doubles_2 a, doubles_2 b) { return vcgeq_f64(a, b); }
OP_2 integers_2 same_2(doubles_2 a, doubles_2 b) { return vceqq_f64(a, b); }
OP_2 integers_2 differ_2(doubles_2 a, doubles_2 b) { return veorq_u64(vceqq_f64(a, b), vdupq_n_u64(~0ull)); }
OP_2 doubles_2 choose_2(integers_2 mask, doubles_2 a, doubles_2 b) { return vbslq_f64(mask, a, b); }
OP_2 doubles_2 higher_2(doubles_2 a, doubles_2 b) { return vbslq_f64(vcgtq_f64(a, b), a, b); }
OP_2 integers_2 bits_of_2(doubles_2 a) { return vreinterpretq_u64_f64(a); }
OP_2 doubles_2 of_bits_2(integers_2 a) { return vreinterpretq_f64_u64(a); }
OP_2 integers_2 load_bits_2(const void *at) { return vreinterpretq_u64_u8(vld1q_u8((const uint8_t *)at)); }
OP_2 void store_bits_2(void *at, integers_2 a) { vst1q_u8((uint8_t *)at, vreinterpretq_u8_u64(a)); }
OP_2 integers_2 all_bits_2(uint64_t bits) { return vdupq_n_u64(bits); }
OP_2 integers_2 plus_2(integers_2 a, integers_2 b) { return vaddq_u64(a, b); }
OP_2 integers_2 minus_2(integers_2 a, integers_2 b) { return vsubq_u64(a, b); }
OP_2 integers_2 and_2(integers_2 a, integers_2 b) { return vandq_u64(a, b); }
OP_2 integers_2 or_2(integers_2 a, integers_2 b) { return vorrq_u64(a, b); }
OP_2 integers_2 xor_2(integers_2 a, integers_2 b) { return veorq_u64(a, b); }
OP_2 integers_2 left_2(integers_2 a, int bits) { return vshlq_u64(a, vdupq_n_s64(bits)); }
OP_2 integers_2 right_2(integers_2 a, int bits) { return vshlq_u64(a, vdupq_n_s64(-bits)); }
OP_2 integers_2 left_each_2(integers_2 a, integers_2 bits) { return vshlq_u64(a, vreinterpretq_s64_u64(bits)); }
OP_2 integers_2 negative_2(integers_2 a) { return vcltq_s64(vreinterpretq_s64_u64(a), vdupq_n_s64(0)); }
OP_2 uint64_t signs_2(integers_2 a) { return vgetq_lane_u64(a, 0) >> 63 | vgetq_lane_u64(a, 1) >> 63 << 1; }
OP_2 doubles_2 widened_2(const float *at) { return vcvt_f64_f32(vld1_f32(at)); }
OP_2 integers_2 unordered_2(doubles_2 a, doubles_2 b) {
  return veorq_u64(vandq_u64(vceqq_f64(a, a), vceqq_f64(b, b)), vdupq_n_u64(~0ull));
}
typedef float32x4_t floats_2;
OP_2 floats_2 load_float_2(const float *at) { return vld1q_f32(at); }
OP_2 void store_float_2(float *at, floats_2 a) { vst1q_f32(at, a); }
OP_2 floats_2 all_float_2(float number) { return vdupq_n_f32(number); }
OP_2 floats_2 higher_float_2(floats_2 a, floats_2 b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
OP_2 integers_2 more_float_2(floats_2 a, floats_2 b) { return vreinterpretq_u64_u32(vcgtq_f32(a, b)); }
OP_2 integers_2 at_least_float_2(floats_2 a, floats_2 b) { return vreinterpretq_u64_u32(vcgeq_f32(a, b)); }
OP_2 integers_2 unordered_float_2(floats_2 a, floats_2 b) {
  return vreinterpretq_u64_u32(vmvnq_u32(vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b))));
}
OP_2 integers_2 minus_32_2(integers_2 a, integers_2 b) {
  return vreinterpretq_u64_u32(vsubq_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b)));
}
OP_2 integers_2 all_16_2(int16_t number) { return vreinterpretq_u64_s16(vdupq_n_s16(number)); }
OP_2 integers_2 all_32_2(uint32_t number) { return vreinterpretq_u64_u32(vdupq_n_u32(number)); }
OP_2 integers_2 left_32_2(integers_2 a, int bits) {
  return vreinterpretq_u64_u32(vshlq_u32(vreinterpretq_u32_u64(a), vdupq_n_s32(bits)));
}
OP_2 integers_2 equal_16_2(integers_2 a, integers_2 b) {
  return vreinterpretq_u64_u16(vceqq_u16(vreinterpretq_u16_u64(a), vreinterpretq_u16_u64(b)));
}
OP_2 integers_2 equal_32_2(integers_2 a, integers_2 b) {
  return vreinterpretq_u64_u32(vceqq_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b)));
}
OP_2 integers_2 equal_64_2(integers_2 a, integers_2 b) { return vceqq_u64(a, b); }
OP_2 uint64_t signs_32_2(integers_2 a) { /* shifts the sign of lane i to bit i, then adds the lanes */
  static const int32_t shifts[] = {0, 1, 2, 3};
  return vaddvq_u32(vshlq_u32(vshrq_n_u32(vreinterpretq_u32_u64(a), 31), vld1q_s32(shifts)));
}
#endif

#if VECTORS == PLAIN_C
#define BASELINE_LANES 1
#else
#define BASELINE_LANES 2 /* number of lanes that every CPU of the platform supports */
#endif

/* The operations used by the loops, each on LANES float64 values or 64-bit integers. A file of loops is included once
   per CPU level, after LANES has been defined. Comparisons return masks, in which either all bits of a lane are set or
   none. */
#define JOIN_(NAME, LANES) NAME##_##LANES
#define JOIN(NAME, LANES) JOIN_(NAME, LANES)
#define HERE(NAME) JOIN(NAME, LANES)
#define TARGET HERE(TARGET_OF) /* placed before each function that uses the operations */
#define TARGET_OF_1
#define TARGET_OF_2
#define TARGET_OF_4 TARGET_AVX2
#define DOUBLES HERE(doubles)
#define INTEGERS HERE(integers)
#define LOAD HERE(load)
#define STORE HERE(store)
#define ALL HERE(all) /* a register with the same number in all lanes */
#define ADD HERE(add)
#define SUB HERE(sub)
#define MUL HERE(mul)
#define DIV HERE(div)
#define NEGATED HERE(negated)
#define HIGHER HERE(higher) /* the higher of two numbers, or the second if either is NaN */
#define MORE HERE(more)
#define AT_LEAST HERE(at_least)
#define SAME HERE(same)
#define DIFFER HERE(differ)
#define CHOOSE HERE(choose) /* the first operand where the mask is set, otherwise the second */
#define WIDENED HERE(widened) /* converts LANES float32 values to float64 */
#define BITS_OF HERE(bits_of)
#define OF_BITS HERE(of_bits)
#define LOAD_BITS HERE(load_bits)
#define STORE_BITS HERE(store_bits)
#define ALL_BITS HERE(all_bits)
#define NONE ALL_BITS(0)
#define PLUS HERE(plus)
#define MINUS HERE(minus)
#define AND HERE(and)
#define OR HERE(or)
#define XOR HERE(xor)
#define LEFT HERE(left)
#define RIGHT HERE(right)
#define LEFT_EACH HERE(left_each)
#define NEGATIVE HERE(negative)
#define SIGNS HERE(signs) /* collects the highest bit of each lane */
#define ALL_16 HERE(all_16) /* the operations below treat registers as narrower integers */
#define ALL_32 HERE(all_32)
#define LEFT_32 HERE(left_32)
#define EQUAL_16 HERE(equal_16)
#define EQUAL_32 HERE(equal_32)
#define EQUAL_64 HERE(equal_64)
#define SIGNS_32 HERE(signs_32)
