/* The loops of the compiled half in plain C, without Python: each at every level of CPU against itself at level 1, one
   number at once; and what rankgain.h declares. Prints what agrees and a digest of all results, the same wherever it
   was compiled and runs.
       cc -O2 -ffp-contract=off -I src/rankgain/_compiled -I src/rankgain/include tests/backends/loops.c -lm */
#include <inttypes.h>
#include <stdio.h>

#include "flips.h"
#include "lambdas.h"
#include "simd.h"
#if VECTORS != PLAIN_C
#define LANES 1
#include "flips_loops.h"
#define LANES 1
#include "lambda_loops.h"
#endif
#define RANKGAIN_NO_PYTHON
#include "rankgain.h"

#define MOST 700 /* documents; beyond three times the 248 grades that a count of eight bits lasts for */
#define SPARE 32 /* numbers behind the last, which some loops write */

struct Level {
  int lanes;
  const struct Simd *simd;
  const struct FlipLoops *flips;
  const struct PairLoops *pairs;
};

static uint64_t seed;
static uint64_t drawn(void) { return splitmix64(seed += GOLDEN); }
static double uniform(void) { return (double)(drawn() >> 11) * 0x1p-53; }

static uint64_t digest;
static void digested(const void *at, size_t size) {
  const unsigned char *bytes = (const unsigned char *)at;
  for (size_t i = 0; i < size; i++) digest = (digest ^ bytes[i]) * 0x100000001B3ull;
}
#define DIGEST(ARRAY, N) digested(ARRAY, sizeof *(ARRAY) * (size_t)(N))

static double numbers[MOST + SPARE], table[MOST + SPARE], out[16 * (MOST + SPARE)], steps[16 * (MOST + SPARE)];
static int64_t grades[MOST + SPARE], counts[MOST + SPARE], more[MOST + SPARE];
static ptrdiff_t positions[MOST + SPARE];

/* Scores with ties, both zeros, infinities and, if requested, NaN. */
static void draw_scores(ptrdiff_t n, int nan) {
  static const double rare[] = {0.0, -0.0, INFINITY, -INFINITY, 1e-310, NAN};
  for (ptrdiff_t i = 0; i < n; i++) {
    const uint64_t kind = drawn() % 16;
    numbers[i] = kind < 5 + (uint64_t)nan ? rare[kind] : kind < 9 ? (double)(drawn() % 4) : uniform() * 8.0 - 4.0;
  }
}

static void tally(const struct Level *level, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; i++) grades[i] = (int64_t)(drawn() % (drawn() % 64 ? 8 : 1u << n % 5));
  if (n % 7 == 0 && n) grades[drawn() % (uint64_t)n] = n % 2 ? 8 : -1;
  memset(counts, 0, sizeof counts);
  const int whole = level->simd->tally(grades, n, counts);
  DIGEST(&whole, 1);
  if (whole) DIGEST(counts, 8);
}

static void whole(const struct Level *level, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < n; i++)
    numbers[i] = drawn() % 4 ? (double)(drawn() % 9) - 0.5 * (double)(drawn() % 8 == 0) : -1.0;
  level->simd->whole(numbers, n, grades);
  for (ptrdiff_t i = 0; i < n; i++) grades[i] = grades[i] >= 0 && grades[i] < 8 ? grades[i] : 8; /* all others are */
  DIGEST(grades, n);
}

static void maxima(const struct Level *level, ptrdiff_t n) {
  draw_scores(n, 1);
  level->simd->maxima(numbers, n, 32, out);
  if (n >= 32) DIGEST(out, 32);
}

static void collect(const struct Level *level, ptrdiff_t n) {
  ptrdiff_t count = 0;
  draw_scores(n, 1);
  const ptrdiff_t end = level->simd->collect(numbers, n / 3, n, 0.5, out, positions, &count, MOST + SPARE);
  DIGEST(&end, 1);
  DIGEST(out, count);
  DIGEST(positions, count);
}

static void count(const struct Level *level, ptrdiff_t n) {
  draw_scores(n, 0);
  for (int key = -1; key < 3; key++) level->simd->count(numbers, n, key, counts + 2 * key + 2, counts + 2 * key + 3);
  DIGEST(counts, 8);
}

static void kth(const struct Level *level, ptrdiff_t n) {
  const ptrdiff_t rows = n / 16 * 16;
  draw_scores(rows, 0);
  for (ptrdiff_t k = 1; k <= rows; k += 1 + k / 2) {
    out[0] = level->simd->kth(numbers, rows, k) + 0.0; /* of two zeros it may be either */
    DIGEST(out, 1);
  }
}

static void ranks(const struct Level *level, ptrdiff_t n) {
  const ptrdiff_t m = n < 80 ? n : 80;
  draw_scores(n, 0);
  memcpy(out, numbers, sizeof *out * (size_t)m);
  memset(out + m, 0, sizeof *out * SPARE);
  level->simd->ranks(numbers, n, out, m, counts, more);
  DIGEST(counts, m);
  DIGEST(more, m);
}

/* Ranks of some scores of a row without the excluded ones, to a depth and without one. */
static void ranks_in_row(const struct Level *level, ptrdiff_t n, int single) {
  static double memory[5][MOST + SPARE];
  static float narrow[MOST];
  static int32_t columns[MOST];
  static int64_t excluded[2][MOST + SPARE];
  struct RowScratch scratch = {.columns = columns,    .keys = memory[0],    .excluded = memory[1],
                               .peaks = memory[2],    .near = memory[3],    .capacity = MOST,
                               .above = excluded[0],  .not_below = excluded[1]};
  ptrdiff_t m = 0;
  draw_scores(n, 0);
  for (ptrdiff_t i = 0; i < n; i++) narrow[i] = (float)numbers[i], numbers[i] = narrow[i];
  for (ptrdiff_t i = 0; i < n; i += 5) columns[scratch.n_excluded++] = (int32_t)i;
  for (ptrdiff_t i = 1; i < n; i += n / 9 + 1) {
    ptrdiff_t at = m;
    while (at && memory[4][at - 1] < numbers[i]) at--;
    if (at && memory[4][at - 1] == numbers[i]) continue;
    memmove(memory[4] + at + 1, memory[4] + at, sizeof(double) * (size_t)(m++ - at));
    memory[4][at] = numbers[i];
  }
  for (int64_t depth = 1; depth <= 1000; depth *= 10) {
    const int nan = single ? level->simd->scan_float(narrow, n, depth, &scratch)
                           : level->simd->scan_double(numbers, n, depth, &scratch);
    const ptrdiff_t ranked = single ? level->simd->rank_float(narrow, n, memory[4], m, depth, &scratch, counts, more)
                                    : level->simd->rank_double(numbers, n, memory[4], m, depth, &scratch, counts, more);
    DIGEST(&nan, 1);
    DIGEST(&ranked, 1);
    DIGEST(counts, ranked);
    DIGEST(more, ranked);
  }
  if (n) counts[0] = single ? level->simd->equal_float(narrow, n / 3, n, narrow[0])
                            : level->simd->equal_double(numbers, n / 3, n, numbers[0]);
  DIGEST(counts, n != 0);
}

static void ranks_of_floats(const struct Level *level, ptrdiff_t n) { ranks_in_row(level, n, 1); }
static void ranks_of_doubles(const struct Level *level, ptrdiff_t n) { ranks_in_row(level, n, 0); }

static void all_numbers(const struct Level *level, ptrdiff_t n) {
  draw_scores(n, 0);
  int flags = level->simd->numbers(numbers, n);
  if (n) numbers[drawn() % (uint64_t)n] = NAN;
  flags |= level->simd->numbers(numbers, n) << 1;
  DIGEST(&flags, 1);
}

static void widen(const struct Level *level, ptrdiff_t n) {
  static float narrow[MOST];
  draw_scores(n, 0);
  for (ptrdiff_t i = 0; i < n; i++) narrow[i] = (float)numbers[i];
  level->simd->widen(narrow, n, out);
  DIGEST(out, n);
}

static void sum_steps(const struct Level *level, ptrdiff_t n) {
  memset(steps, 0, sizeof steps);
  for (ptrdiff_t i = 0; i < 16 * n; i++) steps[i] = drawn() % 3 ? 0.0 : (double)(drawn() % 5) - 2.0;
  level->simd->sum_steps(steps, n, table, out);
  DIGEST(out, 16);
  DIGEST(steps, 16 * n + 16);
}

#define SUM(TYPE)                                                                                                      \
  static void sum_##TYPE(const struct Level *level, ptrdiff_t n) {                                                     \
    static TYPE each[4 * MOST];                                                                                        \
    int64_t starts[16];                                                                                                \
    for (ptrdiff_t i = 0; i < 4 * MOST; i++) each[i] = (TYPE)(drawn() % 5);                                            \
    for (int list = 0; list < 16; list++) starts[list] = (int64_t)(drawn() % MOST);                                    \
    level->simd->sum_##TYPE(each, starts, 16, n, table, out);                                                          \
    level->simd->sum_##TYPE(each, starts, 4, n, table, out + 16);                                                      \
    DIGEST(out, 20);                                                                                                   \
    if (n) each[starts[1] + (ptrdiff_t)(drawn() % (uint64_t)n)] = (TYPE)-1; /* of a list of the first four */          \
    level->simd->sum_##TYPE(each, starts, 4, n, table, out);                                                           \
    for (int list = 0; list < 4; list++) out[list] = out[list] != out[list] ? -1.0 : out[list]; /* NaN has many bits */\
    DIGEST(out, 4);                                                                                                    \
  }
SUM(double)
SUM(float)
SUM(int64_t)
SUM(int32_t)
SUM(uint8_t)

/* Level 1 has neither of these two: a plain loop stands for it. */
static void near_and_position_of(const struct Level *level, ptrdiff_t n) {
  static int64_t ids[MOST], judged[MOST];
  static int32_t ids_32[MOST];
  const ptrdiff_t m = n % 37;
  for (ptrdiff_t i = 0; i < n; i++) ids[i] = ids_32[i] = (int32_t)(drawn() >> 40) - 4096;
  for (ptrdiff_t j = 0; j < m; j++) judged[j] = drawn() % 2 ? ids[drawn() % (uint64_t)n] : (int64_t)drawn() >> 20;
  for (int width = 4; width <= 8; width += 4) {
    const void *some = width == 4 ? (const void *)ids_32 : (const void *)ids;
    ptrdiff_t count = 0;
    if (level->simd->near) count = level->simd->near(some, n, width, judged, m, 8, counts);
    else
      for (ptrdiff_t i = 0; i < n; i++) {
        int match = 0;
        for (ptrdiff_t j = 0; j < m; j++) match |= (ids[i] & 0xFFFF) == (judged[j] & 0xFFFF);
        if (match) counts[count++] = i;
      }
    DIGEST(counts, count);
    for (ptrdiff_t j = 0; j < m && n <= 64; j++) {
      ptrdiff_t at = -1;
      if (level->simd->position_of) at = level->simd->position_of(some, n, width, judged[j]);
      else
        for (ptrdiff_t i = n - 1; i >= 0; i--)
          if (ids[i] == judged[j]) at = i;
      DIGEST(&at, 1);
    }
  }
}

static void flips(const struct Level *level, ptrdiff_t n) {
  enum { COLUMNS = 5, FLIPS = 300 };
  static double values[MOST * COLUMNS], tables[TABLE_NUMBERS], sums[FLIPS_AT_ONCE * WIDEST];
  static double sums_of_flips[COLUMNS * FLIPS], flipped[FLIPS], some[2 * FLIPS + 1];
  static uint64_t words[FLIPS_AT_ONCE];
  const int64_t left[] = {-1, 0, 1, 3}, right[] = {0, 1, 2, 4};
  const double reached[] = {900.0, 500.0, 300.0, 1.0}, limits[] = {90.0, 50.0, 9.0, 1.0};
  const double scales[] = {0.25, 0.5, 1.0, 1.5};
  double total[4] = {0};
  const ptrdiff_t stop = n % FLIPS;
  int64_t exceeding[4] = {0}, joint[4] = {0};
  for (ptrdiff_t i = 0; i < n * COLUMNS; i++) values[i] = (double)(drawn() % 4096) - 2048.0;
  for (ptrdiff_t i = 0; i < n; i++)
    for (int pair = 0; pair < 4; pair++)
      total[pair] += values[i * COLUMNS + right[pair]] - (left[pair] < 0 ? 0.0 : values[i * COLUMNS + left[pair]]);
  flip_sums(level->flips, values, n, COLUMNS, 42, 0, stop, sums_of_flips, flipped, FLIPS, words, tables, sums);
  for (int column = 0; column < COLUMNS; column++) DIGEST(sums_of_flips + column * FLIPS, stop);
  DIGEST(flipped, stop);
  const struct Flips flips = {sums_of_flips, flipped, FLIPS, stop, left, right, total, (double)n, (double)n};
  level->flips->exceed(&flips, 4, reached, scales, limits, 0, stop, exceeding, joint);
  DIGEST(exceeding, 4);
  DIGEST(joint, 4);
  for (int pair = 0; pair < 4 && stop; pair++) {
    out[0] = flip_bound(level->flips, &flips, pair, 1.0, 1 + stop / 9, some);
    out[1] = flip_bound(level->flips, &flips, pair, -1.0, 1 + stop / 9, some);
    DIGEST(out, 2);
  }
}

static void lambdas(const struct Level *level, ptrdiff_t n) {
  static double scores[MOST + SPARE], gains[MOST + SPARE], exps[MOST + SPARE], worths[MOST + SPARE];
  static double gradients[MOST + SPARE], hessians[MOST + SPARE];
  double sums[3];
  for (ptrdiff_t i = 0; i < n + SUM_LANES; i++) {
    scores[i] = i < n ? 8.0 - uniform() * 900.0 : 0.0;
    gains[i] = (double)(drawn() % 4) / 7.0, worths[i] = table[i], gradients[i] = hessians[i] = 0.0;
  }
  level->pairs->exponentials(scores, n, 8.0, 1.25, exps);
  DIGEST(exps, n);
  for (ptrdiff_t i = 0; i < n; i++) scores[i] = 8.0 - uniform() * 16.0; /* near, so that not both of a pair are 0 */
  level->pairs->exponentials(scores, n, 8.0, 1.25, exps);
  for (ptrdiff_t i = 0; i < n && i < 24; i++) {
    const struct Row row = {scores[i], gains[i], exps[i], worths[i], (int)(i & 1), (int)(i >> 1 & 1)};
    level->pairs->pairs(&row, i + 1, n, scores, gains, exps, worths, gradients, hessians, sums);
    DIGEST(sums, 3);
  }
  DIGEST(gradients, n);
  DIGEST(hessians, n);
}

static const struct {
  const char *name;
  void (*run)(const struct Level *, ptrdiff_t);
} loops[] = {{"tally", tally},           {"whole", whole},
             {"maxima", maxima},         {"collect", collect},
             {"count", count},           {"kth", kth},
             {"ranks", ranks},           {"numbers", all_numbers},
             {"widen", widen},           {"sum_steps", sum_steps},
             {"sum_double", sum_double}, {"sum_float", sum_float},
             {"sum_int64", sum_int64_t}, {"sum_int32", sum_int32_t},
             {"sum_uint8", sum_uint8_t}, {"near, position_of", near_and_position_of},
             {"flips", flips},           {"lambdas", lambdas},
             {"rank_float", ranks_of_floats}, {"rank_double", ranks_of_doubles}};

int main(void) {
  struct Level levels[3] = {{1, &simd_1, &flip_loops_1, &pair_loops_1}};
  const int known = (int)(sizeof loops / sizeof *loops);
  int n_levels = 1, wrong = 0;
  uint64_t all = 0;
#if VECTORS != PLAIN_C
  levels[n_levels++] = (struct Level){2, simd_baseline, flip_loops_baseline, pair_loops_baseline};
#endif
  if (simd_avx2()) levels[n_levels++] = (struct Level){4, simd_avx2(), flip_loops_avx2, pair_loops_avx2};
  for (ptrdiff_t i = 0; i < MOST + SPARE; i++) table[i] = 1.0 / (double)(i + 2);
  for (int loop = 0; loop < known; loop++) {
    uint64_t first = 0;
    int same = 1;
    for (int at = 0; at < n_levels; at++) {
      seed = (uint64_t)loop, digest = 0xCBF29CE484222325ull;
      for (ptrdiff_t n = 0; n <= MOST; n += n < 80 ? 1 : 31) loops[loop].run(levels + at, n);
      if (at == 0) first = digest;
      else if (digest != first) printf("%s: %d lanes differ from 1\n", loops[loop].name, levels[at].lanes), same = 0;
    }
    wrong += !same;
    all = splitmix64(all ^ first);
  }
  printf("lanes");
  for (int at = 0; at < n_levels; at++) printf(" %d", levels[at].lanes);
  printf("\n%d of %d loops differ, digest %016" PRIx64 ", rankgain_api %d bytes\n", wrong, known, all,
         (int)sizeof(rankgain_api));
  return wrong != 0;
}
