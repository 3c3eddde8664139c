/* The loops over sign flips, for every level of CPU. Sums are integers below 2^53 in float64: each addition is exact,
   so that the bits do not depend on the order of additions or on the width of the registers. */
#pragma once
#include <float.h>

#include "vectors.h"

#define FLIPS_AT_ONCE 2048 /* flips per pass: the sums stay in the cache, and a table serves this many look-ups */
#define WIDEST 8 /* columns per entry of a table: one cache line */
#define QUERIES 8 /* per table, which has the sums of all 256 subsets */
#define TABLES 8 /* one for each byte of a word of signs */
#define TABLE_NUMBERS ((ptrdiff_t)TABLES * 256 * WIDEST)
#define FLIPS_BLOCK 128 /* flips for which all pairs are processed before the next flips */
#define SAMPLED 2048 /* flips from which the position of an order statistic is estimated */

/* SplitMix64 (Steele, Lea & Flood 2014) on counters: the signs of a block of 64 queries depend only on the seed, the
   number of the block and the number of the flip. */
#define GOLDEN 0x9E3779B97F4A7C15ull
static inline uint64_t splitmix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/* The sums of the flips, and pairs of columns (right − left; −1 is the first run, which has no column: all sums 0). */
struct Flips {
  const double *sums; /* one row per column */
  const double *flipped; /* the number, or the total weight, of the queries that each flip flips */
  ptrdiff_t stride, count; /* in flips: the length of a row, and the part in use */
  const int64_t *left, *right;
  const double *total; /* the sum of each pair over all queries */
  double queries; /* the largest error of a sum, in units */
  double whole; /* the number, or the weight, of all queries */
};

struct FlipLoops {
  void (*signs)(uint64_t, uint64_t, uint64_t, ptrdiff_t, uint64_t *, double *);
  void (*add)(const double *, ptrdiff_t, ptrdiff_t, ptrdiff_t, int, const uint64_t *, ptrdiff_t, double *, double *);
  void (*exceed)(const struct Flips *, ptrdiff_t, const double *, const double *, const double *, ptrdiff_t, ptrdiff_t,
                 int64_t *, int64_t *);
  ptrdiff_t (*collect)(const struct Flips *, ptrdiff_t, double, double, double *);
};

/* The k-th smallest of n > k numbers, k counted from 0; reorders them (Hoare's FIND in Wirth's version). */
static double kth_smallest(double *a, ptrdiff_t n, ptrdiff_t k) {
  ptrdiff_t low = 0, high = n - 1;
  while (low < high) {
    const double pivot = a[k];
    ptrdiff_t i = low, j = high;
    do {
      while (a[i] < pivot) i++;
      while (pivot < a[j]) j--;
      if (i <= j) {
        const double value = a[i];
        a[i++] = a[j];
        a[j--] = value;
      }
    } while (i <= j);
    if (j < k) low = i;
    if (k < i) high = j;
  }
  return a[k];
}

#define LANES BASELINE_LANES
#include "flips_loops.h"
static const struct FlipLoops *const flip_loops_baseline = &JOIN(flip_loops, BASELINE_LANES);

#if VECTORS == X86_VECTORS
#define LANES 4
#include "flips_loops.h"
static const struct FlipLoops *const flip_loops_avx2 = &flip_loops_4;
#else
#define flip_loops_avx2 flip_loops_baseline
#endif

/* Sum each column of n rows over the queries that each of the flips `start` to `stop` flips, and count these queries.
   `scratch` holds FLIPS_AT_ONCE words, the tables, and FLIPS_AT_ONCE sums of all columns, padded to whole entries. */
static void flip_sums(const struct FlipLoops *loops, const double *values, ptrdiff_t n, ptrdiff_t columns,
                      uint64_t seed, ptrdiff_t start, ptrdiff_t stop, double *out, double *flipped, ptrdiff_t stride,
                      uint64_t *words, double *tables, double *sums) {
  for (ptrdiff_t first = start; first < stop; first += FLIPS_AT_ONCE) {
    const ptrdiff_t m = stop - first < FLIPS_AT_ONCE ? stop - first : FLIPS_AT_ONCE;
    memset(sums, 0, sizeof(double) * (size_t)(m * ((columns + WIDEST - 1) / WIDEST * WIDEST)));
    for (ptrdiff_t b = 0; b < m; b++) flipped[first + b] = 0.0;
    for (ptrdiff_t block = 0; block * 64 < n; block++) {
      const ptrdiff_t left = n - block * 64, rows = left < 64 ? left : 64;
      const uint64_t mask = rows < 64 ? (1ull << rows) - 1 : ~0ull;
      const uint64_t base = splitmix64(seed + GOLDEN * ((uint64_t)block + 1));
      loops->signs(base, mask, (uint64_t)first, m, words, flipped + first);
      const double *at = values + block * 64 * columns;
      double *target = sums;
      for (ptrdiff_t column = 0; column < columns;) {
        const ptrdiff_t more = columns - column;
        const int width = more > WIDEST / 2 ? WIDEST : more > 1 ? WIDEST / 2 : 1;
        loops->add(at + column, rows, columns, more < width ? more : width, width, words, m, tables, target);
        target += m * width;
        column += width;
      }
    }
    const double *source = sums;
    for (ptrdiff_t column = 0; column < columns;) {
      const ptrdiff_t more = columns - column;
      const int width = more > WIDEST / 2 ? WIDEST : more > 1 ? WIDEST / 2 : 1;
      for (int j = 0; j < width && column + j < columns; j++)
        for (ptrdiff_t b = 0; b < m; b++) out[(column + j) * stride + first + b] = source[b * width + j];
      source += m * width;
      column += width;
    }
  }
}

/* With sign 1, the rank-th smallest of the means of flipped queries and of the others, minus one unit per query. With
   sign −1, the negative of the rank-th largest, plus one unit per query. `means` has space for two numbers per flip. */
static double flip_bound(const struct FlipLoops *loops, const struct Flips *flips, ptrdiff_t pair, double sign,
                         ptrdiff_t rank, double *means) {
  struct Flips sample = *flips;
  if (sample.count > SAMPLED) sample.count = SAMPLED;
  const ptrdiff_t sampled = loops->collect(&sample, pair, sign, INFINITY, means);
  /* The expected number of sampled means up to that rank; adding three standard deviations is nearly always enough. */
  const double expected = (double)rank * (double)sample.count / (double)flips->count;
  const ptrdiff_t guess = (ptrdiff_t)(expected + 3.0 * sqrt(expected)) + 4;
  double limits[2] = {INFINITY, INFINITY};
  if (guess < sampled) limits[0] = kth_smallest(means, sampled, guess);
  for (int turn = 0; turn < 2; turn++) {
    const ptrdiff_t count = loops->collect(flips, pair, sign, limits[turn], means);
    if (count >= rank) return kth_smallest(means, count, rank - 1);
  }
  return -INFINITY;
}
