/* The loops over sign flips, compiled for each CPU level. All sums are integers below 2^53 stored as float64, so each
   addition is exact. The result therefore depends neither on the order of additions nor on the register width. */
#pragma once
#include <float.h>

#include "vectors.h"

#define FLIPS_AT_ONCE 2048 /* flips per pass: their sums stay in the cache, and each table is used this many times */
#define WIDEST 8 /* columns per table entry, which is one cache line */
#define QUERIES 8 /* queries per table; a table holds the sums of all 256 subsets of them */
#define TABLES 8 /* number of tables: one for each byte of a 64-bit word of signs */
#define TABLE_NUMBERS ((ptrdiff_t)TABLES * 256 * WIDEST)
#define FLIPS_BLOCK 128 /* block size: all pairs are processed for this many flips before the next block */
#define SAMPLED 2048 /* number of flips used to estimate the position of an order statistic */

/* SplitMix64 (Steele, Lea & Flood 2014), applied to counters. The signs of a block of 64 queries depend only on the
   seed, the block number and the flip number. */
#define GOLDEN 0x9E3779B97F4A7C15ull
static inline uint64_t splitmix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

/* The sums of the flips, and the pairs of columns whose difference right − left is tested. Column −1 stands for the
   first run, whose sums are all 0. */
struct Flips {
  const double *sums; /* one row for each column of values, with one sum per flip */
  const double *flipped; /* for each flip, the number or the total weight of the flipped queries */
  ptrdiff_t stride, count; /* the length of a row of sums, and how many of its entries are in use */
  const int64_t *left, *right;
  const double *total; /* for each pair, the sum over all queries */
  double queries; /* the maximum error of a sum, in units: the number of queries */
  double whole; /* the number or the total weight of all queries */
};

struct FlipLoops {
  void (*signs)(uint64_t, uint64_t, uint64_t, ptrdiff_t, uint64_t *, double *);
  void (*add)(const double *, ptrdiff_t, ptrdiff_t, ptrdiff_t, int, const uint64_t *, ptrdiff_t, double *, double *);
  void (*exceed)(const struct Flips *, ptrdiff_t, const double *, const double *, const double *, ptrdiff_t, ptrdiff_t,
                 int64_t *, int64_t *);
  ptrdiff_t (*collect)(const struct Flips *, ptrdiff_t, double, double, double *);
};

/* Return the k-th smallest of n > k numbers, counting from 0. The numbers are reordered (Hoare's FIND in Wirth's
   version). */
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

/* For each flip from `start` to `stop`, sum each column over the flipped queries and count these queries. Scratch
   arrays: `words` has FLIPS_AT_ONCE entries, and `sums` has FLIPS_AT_ONCE rows of all columns, padded to whole table
   entries. */
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

/* Return a bound of a pair's confidence interval. Each flip gives two means: that of the flipped queries and that of
   the remaining queries. With sign 1, the bound is the rank-th smallest mean, minus one unit per query. With sign −1,
   it is the negative of the rank-th largest mean, plus one unit per query. `means` has space for two numbers per flip.
   */
static double flip_bound(const struct FlipLoops *loops, const struct Flips *flips, ptrdiff_t pair, double sign,
                         ptrdiff_t rank, double *means) {
  struct Flips sample = *flips;
  if (sample.count > SAMPLED) sample.count = SAMPLED;
  const ptrdiff_t sampled = loops->collect(&sample, pair, sign, INFINITY, means);
  /* The expected number of sampled means up to the given rank. Adding three standard deviations is nearly always
     enough. */
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
