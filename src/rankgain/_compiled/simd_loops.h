/* The loops of simd.h, which process LANES numbers at once. This file is included once per CPU level. The version with
   one lane handles the remainders. */

TARGET static uint64_t HERE(sum)(INTEGERS numbers) {
  uint64_t each[LANES], total = 0;
  STORE_BITS(each, numbers);
  for (int lane = 0; lane < LANES; lane++) total += each[lane];
  return total;
}

/* Return whether any bit is set. */
TARGET static int HERE(any)(INTEGERS numbers) {
  uint64_t each[LANES], bits = 0;
  STORE_BITS(each, numbers);
  for (int lane = 0; lane < LANES; lane++) bits |= each[lane];
  return bits != 0;
}

/* Return a word with the value 1 in the eight-bit field that counts this grade. */
TARGET static ALWAYS_INLINE INTEGERS HERE(field)(INTEGERS grade) {
  return LEFT_EACH(ALL_BITS(1), LEFT(AND(grade, ALL_BITS(7)), 3));
}

/* Count how often each grade from 0 to 7 occurs, and add the numbers to `counts`. Return 0 if there is any other grade;
   the counts are then invalid. A word holds eight counts up to 255. Before these overflow, they are widened to counts
   up to 65,535, four per word. */
TARGET static int HERE(tally)(const int64_t *grades, ptrdiff_t n, int64_t *counts) {
  INTEGERS others = NONE;
  ptrdiff_t i = 0;
  while (i + LANES <= n) {
    const ptrdiff_t stop = n - i > 248 * LANES ? i + 248 * LANES : n;
    INTEGERS fields = NONE, more = NONE;
    for (; i + 4 * LANES <= stop; i += 4 * LANES) {
      const INTEGERS a = LOAD_BITS(grades + i), b = LOAD_BITS(grades + i + LANES);
      const INTEGERS c = LOAD_BITS(grades + i + 2 * LANES), d = LOAD_BITS(grades + i + 3 * LANES);
      others = OR(others, OR(OR(a, b), OR(c, d)));
      fields = PLUS(fields, PLUS(HERE(field)(a), HERE(field)(c)));
      more = PLUS(more, PLUS(HERE(field)(b), HERE(field)(d)));
    }
    for (; i + LANES <= stop; i += LANES) {
      const INTEGERS grade = LOAD_BITS(grades + i);
      others = OR(others, grade);
      fields = PLUS(fields, HERE(field)(grade));
    }
    fields = PLUS(fields, more);
    const uint64_t even = HERE(sum)(AND(fields, ALL_BITS(0x00FF00FF00FF00FF)));
    const uint64_t odd = HERE(sum)(AND(RIGHT(fields, 8), ALL_BITS(0x00FF00FF00FF00FF)));
    for (int half = 0; half < 4; half++) {
      counts[2 * half] += even >> 16 * half & 0xFFFF;
      counts[2 * half + 1] += odd >> 16 * half & 0xFFFF;
    }
  }
  if (HERE(any)(AND(others, ALL_BITS(~7ull)))) return 0;
  return i == n || tally_1(grades + i, n - i, counts);
}

/* Convert grades to integers. A grade that is not an integer from 0 to 7 becomes an integer outside that range. Adding
   2^52 moves the integer part of a number to its lowest bits. */
TARGET static void HERE(whole)(const double *grades, ptrdiff_t n, int64_t *out) {
  ptrdiff_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const DOUBLES grade = LOAD(grades + i), sum = ADD(grade, ALL(0x1p52));
    const INTEGERS other = AND(DIFFER(SUB(sum, ALL(0x1p52)), grade), ALL_BITS(8));
    STORE_BITS(out + i, OR(XOR(BITS_OF(sum), ALL_BITS(0x4330000000000000)), other));
  }
  if (i < n) whole_1(grades + i, n - i, out + i);
}

/* Write the maximum of each column of a matrix with `stride` columns, where `stride` is a multiple of 16. An incomplete
   last row and NaN are ignored. */
TARGET static void HERE(maxima)(const double *scores, ptrdiff_t n, ptrdiff_t stride, double *maximum) {
  for (ptrdiff_t first = 0; first < stride; first += 16) {
    DOUBLES best[16 / LANES];
    UNROLLED for (int part = 0; part < 16 / LANES; part++) best[part] = ALL(-INFINITY);
    for (ptrdiff_t i = first; i - first + stride <= n; i += stride)
      UNROLLED for (int part = 0; part < 16 / LANES; part++)
        best[part] = HIGHER(LOAD(scores + i + part * LANES), best[part]);
    UNROLLED for (int part = 0; part < 16 / LANES; part++) STORE(maximum + first + part * LANES, best[part]);
  }
}

/* Return the k-th highest of n scores, where n is a multiple of 16. It is the highest score s such that at least k
   scores are ≥ s, and is found without branches. */
TARGET static double HERE(kth)(const double *scores, ptrdiff_t n, ptrdiff_t k) {
  double each[LANES], kth = -INFINITY;
  DOUBLES best = ALL(-INFINITY);
  for (ptrdiff_t first = 0; first < n; first += 16) {
    DOUBLES candidate[16 / LANES];
    INTEGERS short_of[16 / LANES]; /* k − 1 minus the number of scores at or above the candidate */
    UNROLLED for (int part = 0; part < 16 / LANES; part++)
      candidate[part] = LOAD(scores + first + part * LANES), short_of[part] = ALL_BITS((uint64_t)(k - 1));
    for (ptrdiff_t other = 0; other < n; other++) {
      const DOUBLES score = ALL(scores[other]);
      UNROLLED for (int part = 0; part < 16 / LANES; part++)
        short_of[part] = PLUS(short_of[part], AT_LEAST(score, candidate[part]));
    }
    UNROLLED for (int part = 0; part < 16 / LANES; part++)
      best = HIGHER(CHOOSE(NEGATIVE(short_of[part]), candidate[part], ALL(-INFINITY)), best);
  }
  STORE(each, best);
  for (int lane = 0; lane < LANES; lane++) kth = each[lane] > kth ? each[lane] : kth;
  return kth;
}

/* Append the scores that are not below the bound, including NaN, and their positions. Stop before the capacity could be
   exceeded, and return the position reached. Scores are compared 64 at a time, and the results are collected in a mask,
   so at most one branch per mask is mispredicted. */
TARGET static ptrdiff_t HERE(collect)(const double *scores, ptrdiff_t start, ptrdiff_t n, double bound, double *near,
                                      ptrdiff_t *positions, ptrdiff_t *count, ptrdiff_t capacity) {
  ptrdiff_t filled = *count, i = start;
#if LANES > 1
  while (i < n && filled + (n - i < 64 ? n - i : 64) <= capacity) {
    const int size = n - i < 64 ? (int)(n - i) : 64;
    uint64_t below = 0, left;
    int part = 0;
    /* from here on, hardly any score is above the bound, and this check takes 0.10 instead of 0.15 ns per score */
    if (i >= 2048 && size == 64) {
      INTEGERS all = ALL_BITS(~0ull);
      for (; part < 64; part += 16)
        UNROLLED for (int next = 0; next < 16; next += LANES)
          all = AND(all, MORE(ALL(bound), LOAD(scores + i + part + next)));
      if (SIGNS(all) == (1u << LANES) - 1) {
        i += 64;
        continue;
      }
      part = 0;
    }
    for (; part + 16 <= size; part += 16)
      UNROLLED for (int next = 0; next < 16; next += LANES)
        below |= SIGNS(MORE(ALL(bound), LOAD(scores + i + part + next))) << (part + next);
    for (; part + LANES <= size; part += LANES) below |= SIGNS(MORE(ALL(bound), LOAD(scores + i + part))) << part;
    for (; part < size; part++) below |= (uint64_t)(scores[i + part] < bound) << part;
    for (left = ~below & (~(uint64_t)0 >> (64 - size)); left; left &= left - 1) {
      const ptrdiff_t j = i + lowest_set_bit(left);
      near[filled] = scores[j], positions[filled++] = j;
    }
    i += size;
  }
#else
  for (; i < n && filled < capacity; i++) near[filled] = scores[i], positions[filled] = i, filled += !(scores[i] < bound);
#endif
  *count = filled;
  return i;
}

/* Count the scores above the key and the scores equal to it. */
TARGET static void HERE(count)(const double *scores, ptrdiff_t n, double key, int64_t *higher, int64_t *equal) {
  INTEGERS above = NONE, same = NONE;
  ptrdiff_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const DOUBLES score = LOAD(scores + i);
    above = MINUS(above, MORE(score, ALL(key)));
    same = MINUS(same, SAME(score, ALL(key)));
  }
  *higher = *equal = 0;
  if (i < n) count_1(scores + i, n - i, key, higher, equal);
  *higher += (int64_t)HERE(sum)(above), *equal += (int64_t)HERE(sum)(same);
}

TARGET static ALWAYS_INLINE void HERE(ranks_of)(const double *scores, ptrdiff_t n, const double *keys, const int parts,
                                                int64_t *above, int64_t *not_below) {
  DOUBLES key[4];
  INTEGERS higher[4], not_lower[4];
  UNROLLED for (int part = 0; part < parts; part++)
    key[part] = LOAD(keys + part * LANES), higher[part] = not_lower[part] = NONE;
  for (ptrdiff_t i = 0; i < n; i++) {
    const DOUBLES score = ALL(scores[i]);
    UNROLLED for (int part = 0; part < parts; part++) {
      higher[part] = MINUS(higher[part], MORE(score, key[part]));
      not_lower[part] = MINUS(not_lower[part], AT_LEAST(score, key[part]));
    }
  }
  UNROLLED for (int part = 0; part < parts; part++) {
    STORE_BITS(above + part * LANES, higher[part]);
    STORE_BITS(not_below + part * LANES, not_lower[part]);
  }
}

/* For each of m keys, count how many of n scores are higher and how many are not lower. Four registers of keys are
   processed at a time. The arrays of keys and counts are padded to whole registers. */
TARGET static void HERE(ranks)(const double *scores, ptrdiff_t n, const double *keys, ptrdiff_t m, int64_t *above,
                               int64_t *not_below) {
  for (ptrdiff_t k = 0; k < m; k += 4 * LANES) {
    if (m - k > 3 * LANES) HERE(ranks_of)(scores, n, keys + k, 4, above + k, not_below + k);
    else if (m - k > 2 * LANES) HERE(ranks_of)(scores, n, keys + k, 3, above + k, not_below + k);
    else if (m - k > LANES) HERE(ranks_of)(scores, n, keys + k, 2, above + k, not_below + k);
    else HERE(ranks_of)(scores, n, keys + k, 1, above + k, not_below + k);
  }
}

/* Return whether all scores are numbers, that is, none is NaN. */
TARGET static int HERE(numbers)(const double *scores, ptrdiff_t n) {
  INTEGERS nan = NONE;
  ptrdiff_t i = 0;
  for (; i + LANES <= n; i += LANES) nan = OR(nan, DIFFER(LOAD(scores + i), LOAD(scores + i)));
  return !SIGNS(nan) && (i == n || numbers_1(scores + i, n - i));
}

/* Convert float32 to float64. */
TARGET static void HERE(widen)(const float *numbers, ptrdiff_t n, double *out) {
  ptrdiff_t i = 0;
  for (; i + LANES <= n; i += LANES) STORE(out + i, WIDENED(numbers + i));
  for (; i < n; i++) out[i] = numbers[i];
}

/* For each of 16 lists, sum gain times discount over n ranks in rank order. Gains are given as steps: the gain at a
   rank is the sum of the steps up to that rank. Steps are small integers. Afterwards all steps are reset to 0,
   including the step after the last rank. */
TARGET static void HERE(sum_steps)(double *steps, ptrdiff_t n, const double *table, double *out) {
  for (int first = 0; first < 16; first += 4 * LANES < 16 ? 4 * LANES : 16) {
    DOUBLES gain[4], total[4];
    double *step = steps + first;
    UNROLLED for (int part = 0; part < 4; part++) gain[part] = total[part] = ALL(0.0);
    for (ptrdiff_t i = 0; i <= n; i++, step += 16) {
      const DOUBLES discount = ALL(i < n ? table[i] : 0.0);
      UNROLLED for (int part = 0; part < 4; part++) {
        gain[part] = ADD(gain[part], LOAD(step + part * LANES));
        STORE(step + part * LANES, ALL(0.0));
        total[part] = ADD(total[part], MUL(gain[part], discount));
      }
    }
    UNROLLED for (int part = 0; part < 4; part++) STORE(out + first + part * LANES, total[part]);
  }
}

/* For each of 16 or 4 lists, sum grade times discount over the first n grades in rank order. The lists are summed in
   parallel, since each addition to a sum depends on the previous addition. All sums are NaN if any grade may be invalid
   or is an integer beyond 2^52. */
#if LANES == 4
/* bits that are not set in any valid grade: the sign bit and, in integers, the bits from 2^52 */
#define INVALID_double (1ull << 63)
#define INVALID_float (1ull << 63)
#define INVALID_int64_t (~0ull << 52)
#define INVALID_int32_t (1ull << 63)
#define INVALID_uint8_t (1ull << 63)
TARGET static ALWAYS_INLINE DOUBLES row_double(const double *at, INTEGERS *signs) {
  const DOUBLES row = LOAD(at);
  *signs = OR(*signs, BITS_OF(row));
  return row;
}
TARGET static ALWAYS_INLINE DOUBLES row_float(const float *at, INTEGERS *signs) {
  const DOUBLES row = WIDENED(at);
  *signs = OR(*signs, BITS_OF(row));
  return row;
}
TARGET static ALWAYS_INLINE DOUBLES row_int64_t(const int64_t *at, INTEGERS *signs) {
  /* an integer stored in the low bits of the float64 2^52 gives 2^52 plus that integer */
  const INTEGERS row = LOAD_BITS(at);
  *signs = OR(*signs, row);
  return SUB(OF_BITS(OR(row, ALL_BITS(0x4330000000000000))), ALL(0x1p52));
}
TARGET static ALWAYS_INLINE DOUBLES row_int32_t(const int32_t *at, INTEGERS *signs) {
  const DOUBLES row = HERE(of_int32)(at);
  *signs = OR(*signs, BITS_OF(row));
  return row;
}
TARGET static ALWAYS_INLINE DOUBLES row_uint8_t(const uint8_t *at, INTEGERS *signs) {
  (void)signs;
  return HERE(of_uint8)(at);
}
#define SUMS(TYPE)                                                                                                     \
  /* add four ranks from rank `i` to the sums, except for the first `skipped` of them */                               \
  TARGET static ALWAYS_INLINE void add_##TYPE(const TYPE *grades, const int64_t *starts, const int groups,             \
                                              ptrdiff_t i, ptrdiff_t skipped, const double *table, DOUBLES *total,     \
                                              INTEGERS *signs) {                                                       \
    UNROLLED for (int group = 0; group < groups; group++) {                                                            \
      DOUBLES row[4];                                                                                                  \
      UNROLLED for (int list = 0; list < 4; list++)                                                                    \
        row[list] = row_##TYPE(grades + starts[4 * group + list] + i, signs);                                          \
      HERE(transpose)(row);                                                                                            \
      UNROLLED for (int rank = 0; rank < 4; rank++)                                                                    \
        if (rank >= skipped) total[group] = ADD(total[group], MUL(row[rank], ALL(table[i + rank])));                   \
    }                                                                                                                  \
  }                                                                                                                    \
  TARGET static ALWAYS_INLINE void sums_##TYPE(const TYPE *grades, const int64_t *starts, const int groups,            \
                                               ptrdiff_t n, const double *table, double *out) {                        \
    DOUBLES total[4];                                                                                                  \
    INTEGERS signs = NONE;                                                                                             \
    ptrdiff_t i = 0;                                                                                                   \
    UNROLLED for (int group = 0; group < groups; group++) total[group] = ALL(0.0);                                     \
    for (; i + 4 <= n; i += 4) add_##TYPE(grades, starts, groups, i, 0, table, total, &signs);                         \
    if (i < n && n > 4) add_##TYPE(grades, starts, groups, n - 4, i - (n - 4), table, total, &signs), i = n;           \
    int negative = HERE(any)(AND(signs, ALL_BITS(INVALID_##TYPE)));                                                    \
    UNROLLED for (int group = 0; group < groups; group++) STORE(out + 4 * group, total[group]);                        \
    for (int list = 0; i < n && list < 4 * groups; list++) {                                                           \
      double sum = out[list];                                                                                          \
      for (ptrdiff_t rank = i; rank < n; rank++) {                                                                     \
        sum += (double)grades[starts[list] + rank] * table[rank];                                                      \
        negative |= grades[starts[list] + rank] < 0;                                                                   \
      }                                                                                                                \
      out[list] = sum;                                                                                                 \
    }                                                                                                                  \
    for (int list = 0; negative && list < 4 * groups; list++) out[list] = NAN;                                         \
  }                                                                                                                    \
  TARGET static void HERE(sum_##TYPE)(const TYPE *grades, const int64_t *starts, int lists, ptrdiff_t n,               \
                                      const double *table, double *out) {                                              \
    if (lists == 16) sums_##TYPE(grades, starts, 4, n, table, out);                                                    \
    else sums_##TYPE(grades, starts, 1, n, table, out);                                                                \
  }
#else
#define SUMS(TYPE)                                                                                                     \
  static void HERE(sum_##TYPE)(const TYPE *grades, const int64_t *starts, int lists, ptrdiff_t n, const double *table, \
                               double *out) {                                                                          \
    for (; lists >= 4; lists -= 4, starts += 4, out += 4) {                                                            \
      const TYPE *a = grades + starts[0], *b = grades + starts[1], *c = grades + starts[2], *d = grades + starts[3];   \
      double w = 0.0, x = 0.0, y = 0.0, z = 0.0;                                                                       \
      int negative = 0;                                                                                                \
      for (ptrdiff_t i = 0; i < n; i++) {                                                                              \
        w += (double)a[i] * table[i], x += (double)b[i] * table[i];                                                    \
        y += (double)c[i] * table[i], z += (double)d[i] * table[i];                                                    \
        negative |= (a[i] < 0) | (b[i] < 0) | (c[i] < 0) | (d[i] < 0);                                                 \
      }                                                                                                                \
      out[0] = negative ? NAN : w, out[1] = negative ? NAN : x;                                                        \
      out[2] = negative ? NAN : y, out[3] = negative ? NAN : z;                                                        \
    }                                                                                                                  \
  }
#endif
SUMS(double)
SUMS(float)
SUMS(int64_t)
SUMS(int32_t)
SUMS(uint8_t)
#undef SUMS

/* Pack the lowest 16 bits of BLOCK ids into one register, with two ids per 32-bit lane or four per 64-bit lane. The
   first ids fill the lowest bits of all lanes, the next ids fill the bits above, and so on. This is cheaper than
   keeping the ids in order. */
#if LANES > 1
#define BLOCK (4 * LANES)
TARGET static ALWAYS_INLINE INTEGERS HERE(lows)(const char *ids, const int width) {
  const ptrdiff_t next = 8 * LANES;
  if (width == 4) return OR(AND(LOAD_BITS(ids), ALL_32(0xFFFF)), LEFT_32(LOAD_BITS(ids + next), 16));
  const INTEGERS low = ALL_BITS(0xFFFF);
  return OR(OR(AND(LOAD_BITS(ids), low), LEFT(AND(LOAD_BITS(ids + next), low), 16)),
            OR(LEFT(AND(LOAD_BITS(ids + 2 * next), low), 32), LEFT(LOAD_BITS(ids + 3 * next), 48)));
}

/* Return one bit per id, in the order of the ids. `lanes` is a mask in the layout of `lows`. */
TARGET static ALWAYS_INLINE uint64_t HERE(set)(INTEGERS lanes, const int width) {
  if (width == 4) return SIGNS_32(LEFT_32(lanes, 16)) | SIGNS_32(lanes) << BLOCK / 2;
  return SIGNS(LEFT(lanes, 48)) | SIGNS(LEFT(lanes, 32)) << LANES | SIGNS(LEFT(lanes, 16)) << 2 * LANES |
         SIGNS(lanes) << 3 * LANES;
}

/* Implement `near` for `parts` registers of ids, beginning at `start`. The last register is shifted back so that it
   ends at n. */
TARGET static ALWAYS_INLINE ptrdiff_t HERE(near_of)(const char *ids, ptrdiff_t start, ptrdiff_t n, const int width,
                                                    const int parts, const char *judged, ptrdiff_t m, int judged_width,
                                                    int64_t *out, ptrdiff_t count) {
  INTEGERS low16[4], same[4], any = NONE;
  uint64_t left = 0;
  UNROLLED for (int part = 0; part < parts; part++) {
    const ptrdiff_t at = start + part * BLOCK < n - BLOCK ? start + part * BLOCK : n - BLOCK;
    low16[part] = HERE(lows)(ids + at * width, width), same[part] = any;
  }
  for (ptrdiff_t j = 0; j < m; j++, judged += judged_width) {
    int16_t low;
    memcpy(&low, judged, sizeof low);
    const INTEGERS id = ALL_16(low);
    UNROLLED for (int part = 0; part < parts; part++) same[part] = OR(same[part], EQUAL_16(low16[part], id));
  }
  UNROLLED for (int part = 0; part < parts; part++) any = OR(any, same[part]);
  if (!SIGNS_32(OR(any, LEFT_32(any, 16)))) return count;
  UNROLLED for (int part = 0; part < parts; part++) {
    const ptrdiff_t known = start + (part + 1) * BLOCK - n; /* number of ids that are also in the previous register */
    left |= HERE(set)(same[part], width) >> (known > 0 ? known : 0) << part * BLOCK;
  }
  for (; left; left &= left - 1) out[count++] = start + lowest_set_bit(left);
  return count;
}

TARGET static ALWAYS_INLINE ptrdiff_t HERE(near_all)(const char *ids, ptrdiff_t n, const int width, const char *judged,
                                                     ptrdiff_t m, int judged_width, int64_t *out) {
  ptrdiff_t count = 0;
  for (ptrdiff_t i = 0; i < n; i += 4 * BLOCK) {
    if (n - i > 3 * BLOCK) count = HERE(near_of)(ids, i, n, width, 4, judged, m, judged_width, out, count);
    else if (n - i > 2 * BLOCK) count = HERE(near_of)(ids, i, n, width, 3, judged, m, judged_width, out, count);
    else if (n - i > BLOCK) count = HERE(near_of)(ids, i, n, width, 2, judged, m, judged_width, out, count);
    else count = HERE(near_of)(ids, i, n, width, 1, judged, m, judged_width, out, count);
  }
  return count;
}

/* Write the positions of the ids whose lowest 16 bits equal those of any of m judged ids, in ascending order; return
   the number of positions. All pairs are compared. See `match_run`. */
TARGET static ptrdiff_t HERE(near)(const void *ids, ptrdiff_t n, int width, const void *judged, ptrdiff_t m,
                                   int judged_width, int64_t *out) {
  const char *lows = (const char *)judged + LOW_AT(judged_width);
  if (n < BLOCK) { /* fewer ids than a register holds: matches in the zero padding are dropped */
    uint64_t few[BLOCK] = {0};
    int64_t positions[BLOCK];
    ptrdiff_t count, written = 0;
    for (ptrdiff_t i = 0; i < n; i++)
      few[i] = width == 4 ? (uint64_t)((const int32_t *)ids)[i] : ((const uint64_t *)ids)[i];
    count = HERE(near_all)((const char *)few, BLOCK, 8, lows, m, judged_width, positions);
    for (; written < count && positions[written] < n; written++) out[written] = positions[written];
    return written;
  }
  if (width == 4) return HERE(near_all)(ids, n, 4, lows, m, judged_width, out);
  return HERE(near_all)(ids, n, 8, lows, m, judged_width, out);
}

/* Return the position of an id among up to 64 unique ids, or -1. All ids are compared, which avoids mispredicted
   branches. */
TARGET static ptrdiff_t HERE(position_of)(const void *ids, ptrdiff_t n, int width, int64_t id) {
  const uint64_t *longs = (const uint64_t *)ids;
  const uint32_t *words = (const uint32_t *)ids;
  const ptrdiff_t most = width == 4 ? 2 * LANES : LANES;
  uint64_t there = 0;
  if (width == 4 && id != (int32_t)id) return -1;
  if (n < most)
    for (ptrdiff_t i = 0; i < n; i++)
      there |= (uint64_t)(width == 4 ? words[i] == (uint32_t)id : longs[i] == (uint64_t)id) << i;
  else
    for (ptrdiff_t i = 0; i < n; i += most) {
      const ptrdiff_t at = i < n - most ? i : n - most;
      if (width == 4) there |= SIGNS_32(EQUAL_32(LOAD_BITS(words + at), ALL_32((uint32_t)id))) << at;
      else there |= SIGNS(EQUAL_64(LOAD_BITS(longs + at), ALL_BITS((uint64_t)id))) << at;
    }
  return there ? lowest_set_bit(there) : -1;
}
#define NEAR HERE(near), HERE(position_of)
#undef BLOCK
#else
#define NEAR NULL, NULL
#endif

#define SINGLE 1
#include "row_loops.h"
#undef SINGLE
#define SINGLE 0
#include "row_loops.h"
#undef SINGLE

static const struct Simd HERE(simd) = {LANES,             32 * LANES,        LANES > 1 ? 16 * LANES : -1,
                                       2 * LANES,         HERE(tally),       HERE(whole),
                                       HERE(maxima),      HERE(collect),     HERE(count),
                                       HERE(kth),         HERE(ranks),       HERE(numbers),
                                       HERE(widen),       HERE(sum_steps),   HERE(sum_double),
                                       HERE(sum_float),   HERE(sum_int64_t), HERE(sum_int32_t),
                                       HERE(sum_uint8_t), NEAR,
                                       HERE(scan_row_float),      HERE(scan_row_double),
                                       HERE(rank_columns_float),  HERE(rank_columns_double),
                                       HERE(count_equal_float),   HERE(count_equal_double)};
#undef NEAR
#undef LANES
