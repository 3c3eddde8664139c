/* The loops of simd.h over LANES numbers at once: included once a level. What is left over goes to level 1. */
typedef double HERE(doubles) VECTOR;
typedef int64_t HERE(integers) VECTOR;

TARGET static uint64_t HERE(sum)(HERE(integers) numbers) {
  uint64_t each[LANES], total = 0;
  memcpy(each, &numbers, sizeof each);
  for (int lane = 0; lane < LANES; lane++) total += each[lane];
  return total;
}

/* Add how many grades there are of 0 to 7 to the counts; 0 where there are others: then the counts mean nothing.
   A word holds eight counts of up to 255, which are added up in halves of four of up to 65,535. */
TARGET static int HERE(tally)(const int64_t *grades, ptrdiff_t n, int64_t *counts) {
  const HERE(integers) one = NONE + 1;
  HERE(integers) others = NONE;
  ptrdiff_t i = 0;
  while (i + LANES <= n) {
    const ptrdiff_t stop = n - i > 248 * LANES ? i + 248 * LANES : n;
    HERE(integers) fields = NONE, more = NONE;
    for (; i + 4 * LANES <= stop; i += 4 * LANES) {
      const HERE(integers) a = LOAD(integers, grades + i), b = LOAD(integers, grades + i + LANES);
      const HERE(integers) c = LOAD(integers, grades + i + 2 * LANES), d = LOAD(integers, grades + i + 3 * LANES);
      others |= a | b | c | d;
      fields += (one << ((a & 7) << 3)) + (one << ((c & 7) << 3));
      more += (one << ((b & 7) << 3)) + (one << ((d & 7) << 3));
    }
    for (; i + LANES <= stop; i += LANES) {
      const HERE(integers) grade = LOAD(integers, grades + i);
      others |= grade;
      fields += one << ((grade & 7) << 3);
    }
    fields += more;
    const uint64_t even = HERE(sum)(fields & (NONE + 0x00FF00FF00FF00FF));
    const uint64_t odd = HERE(sum)((fields >> 8) & (NONE + 0x00FF00FF00FF00FF));
    for (int half = 0; half < 4; half++) {
      counts[2 * half] += even >> 16 * half & 0xFFFF;
      counts[2 * half + 1] += odd >> 16 * half & 0xFFFF;
    }
  }
  if (HERE(sum)(MASK((others & ~(NONE + 7)) != 0))) return 0;
  return i == n || tally_1(grades + i, n - i, counts);
}

/* Grades as integers, those that are not whole or not from 0 to 7 as others that are not. Added to 2^52, a number
   leaves its whole part in the lowest bits, below those of 2^52 itself. */
TARGET static void HERE(whole)(const double *grades, ptrdiff_t n, int64_t *out) {
  ptrdiff_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const HERE(doubles) grade = LOAD(doubles, grades + i), sum = grade + 0x1p52;
#if LANES > 1
    const HERE(integers) bits = (HERE(integers))sum;
#else
    int64_t bits;
    memcpy(&bits, &sum, sizeof bits);
#endif
    STORE(integers, out + i, (bits ^ 0x4330000000000000) | (MASK(sum - 0x1p52 != grade) & 8));
  }
  if (i < n) whole_1(grades + i, n - i, out + i);
}

/* The highest of every stride-th score, as far as they fill whole rows; NaN is none. The stride is a multiple of 16. */
TARGET static void HERE(maxima)(const double *scores, ptrdiff_t n, ptrdiff_t stride, double *maximum) {
  for (ptrdiff_t first = 0; first < stride; first += 16) {
    HERE(doubles) best[16 / LANES];
    UNROLLED for (int part = 0; part < 16 / LANES; part++) best[part] = ALL(-INFINITY);
    for (ptrdiff_t i = first; i - first + stride <= n; i += stride)
      UNROLLED for (int part = 0; part < 16 / LANES; part++)
        best[part] = HIGHER(LOAD(doubles, scores + i + part * LANES), best[part]);
    UNROLLED for (int part = 0; part < 16 / LANES; part++) STORE(doubles, maximum + first + part * LANES, best[part]);
  }
}

/* The k-th highest of n scores, a multiple of 16: the highest that k of them reach. Without a branch on the data. */
TARGET static double HERE(kth)(const double *scores, ptrdiff_t n, ptrdiff_t k) {
  double each[LANES], kth = -INFINITY;
  HERE(doubles) best = ALL(-INFINITY);
  for (ptrdiff_t first = 0; first < n; first += 16) {
    HERE(doubles) own[16 / LANES];
    HERE(integers) short_of[16 / LANES];
    UNROLLED for (int part = 0; part < 16 / LANES; part++)
      own[part] = LOAD(doubles, scores + first + part * LANES), short_of[part] = NONE + k;
    for (ptrdiff_t other = 0; other < n; other++) {
      const HERE(doubles) score = ALL(scores[other]);
      UNROLLED for (int part = 0; part < 16 / LANES; part++) short_of[part] += MASK(score >= own[part]);
    }
    UNROLLED for (int part = 0; part < 16 / LANES; part++) {
      const HERE(integers) reached = MASK(short_of[part] <= NONE);
#if LANES > 1
      const HERE(integers) low = (HERE(integers))ALL(-INFINITY);
      best = HIGHER((HERE(doubles))(((HERE(integers))own[part] & reached) | (low & ~reached)), best);
#else
      best = reached && own[part] > best ? own[part] : best;
#endif
    }
  }
  memcpy(each, &best, sizeof each);
  for (int lane = 0; lane < LANES; lane++) kth = each[lane] > kth ? each[lane] : kth;
  return kth;
}

/* Append the scores not below the bound, NaN among them, and their places; stop, and say where, short of capacity for a
   block. What is to be taken of 64 scores is known before any is, so that one branch in 64 scores is mispredicted. */
TARGET static ptrdiff_t HERE(collect)(const double *scores, ptrdiff_t start, ptrdiff_t n, double bound, double *near,
                                      ptrdiff_t *place, ptrdiff_t *count, ptrdiff_t capacity) {
  ptrdiff_t found = *count, i = start;
#if LANES > 1
  while (i < n && found + (n - i < 64 ? n - i : 64) <= capacity) {
    const int size = n - i < 64 ? (int)(n - i) : 64;
    uint64_t below = 0, left;
    int part = 0;
    if (i >= 2048 && size == 64) { /* where hardly any is left to take: 0.10 instead of 0.15 ns a score */
      HERE(integers) all = NONE - 1;
      for (; part < 64; part += 16)
        UNROLLED for (int next = 0; next < 16; next += LANES)
          all &= LOAD(doubles, scores + i + part + next) < ALL(bound);
      if (BITS(all) == (1u << LANES) - 1) {
        i += 64;
        continue;
      }
      part = 0;
    }
    for (; part + 16 <= size; part += 16)
      UNROLLED for (int next = 0; next < 16; next += LANES)
        below |= BITS(LOAD(doubles, scores + i + part + next) < ALL(bound)) << (part + next);
    for (; part + LANES <= size; part += LANES) below |= BITS(LOAD(doubles, scores + i + part) < ALL(bound)) << part;
    for (; part < size; part++) below |= (uint64_t)(scores[i + part] < bound) << part;
    for (left = ~below & (~(uint64_t)0 >> (64 - size)); left; left &= left - 1) {
      const ptrdiff_t j = i + lowest(left);
      near[found] = scores[j], place[found++] = j;
    }
    i += size;
  }
#else
  for (; i < n && found < capacity; i++) near[found] = scores[i], place[found] = i, found += !(scores[i] < bound);
#endif
  *count = found;
  return i;
}

/* How many scores are higher than the key, and how many equal it. */
TARGET static void HERE(count)(const double *scores, ptrdiff_t n, double key, int64_t *higher, int64_t *equal) {
  HERE(integers) above = NONE, same = NONE;
  ptrdiff_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const HERE(doubles) score = LOAD(doubles, scores + i);
    above -= MASK(score > ALL(key));
    same -= MASK(score == ALL(key));
  }
  *higher = *equal = 0;
  if (i < n) count_1(scores + i, n - i, key, higher, equal);
  *higher += (int64_t)HERE(sum)(above), *equal += (int64_t)HERE(sum)(same);
}

TARGET static ALWAYS void HERE(ranks_of)(const double *scores, ptrdiff_t n, const double *keys, const int parts,
                                         int64_t *above, int64_t *reach) {
  HERE(doubles) key[4];
  HERE(integers) higher[4], not_lower[4];
  UNROLLED for (int part = 0; part < parts; part++)
    key[part] = LOAD(doubles, keys + part * LANES), higher[part] = not_lower[part] = NONE;
  for (ptrdiff_t i = 0; i < n; i++) {
    const HERE(doubles) score = ALL(scores[i]);
    UNROLLED for (int part = 0; part < parts; part++)
      higher[part] -= MASK(score > key[part]), not_lower[part] -= MASK(score >= key[part]);
  }
  UNROLLED for (int part = 0; part < parts; part++) {
    STORE(integers, above + part * LANES, higher[part]);
    STORE(integers, reach + part * LANES, not_lower[part]);
  }
}

/* How many of n scores are higher than each of m keys, and how many are not lower: up to four rows of keys at once. The
   last row of keys, and of what is counted, is a whole one. */
TARGET static void HERE(ranks)(const double *scores, ptrdiff_t n, const double *keys, ptrdiff_t m, int64_t *above,
                               int64_t *reach) {
  for (ptrdiff_t k = 0; k < m; k += 4 * LANES) {
    if (m - k > 3 * LANES) HERE(ranks_of)(scores, n, keys + k, 4, above + k, reach + k);
    else if (m - k > 2 * LANES) HERE(ranks_of)(scores, n, keys + k, 3, above + k, reach + k);
    else if (m - k > LANES) HERE(ranks_of)(scores, n, keys + k, 2, above + k, reach + k);
    else HERE(ranks_of)(scores, n, keys + k, 1, above + k, reach + k);
  }
}

/* Whether none is NaN. */
TARGET static int HERE(numbers)(const double *scores, ptrdiff_t n) {
  HERE(integers) nan = NONE;
  ptrdiff_t i = 0;
  for (; i + LANES <= n; i += LANES) nan |= MASK(LOAD(doubles, scores + i) != LOAD(doubles, scores + i));
  return !HERE(sum)(nan) && (i == n || numbers_1(scores + i, n - i));
}

/* float32 as float64. */
TARGET static void HERE(widen)(const float *numbers, ptrdiff_t n, double *out) {
  ptrdiff_t i = 0;
#if LANES > 1
  for (; i + LANES <= n; i += LANES) STORE(doubles, out + i, WIDE(numbers + i));
#endif
  for (; i < n; i++) out[i] = numbers[i];
}

/* The sums of 16 lists of n gains, each times its discount, in the order of ranks. Of the gains the steps are given, by
   rank, small integers that add up to them; they are 0 afterwards, up to that behind the last rank. */
TARGET static void HERE(sum_steps)(double *steps, ptrdiff_t n, const double *table, double *out) {
  for (int first = 0; first < 16; first += 4 * LANES < 16 ? 4 * LANES : 16) {
    HERE(doubles) gain[4], total[4];
    double *step = steps + first;
    UNROLLED for (int part = 0; part < 4; part++) gain[part] = total[part] = ALL(0.0);
    for (ptrdiff_t i = 0; i <= n; i++, step += 16) {
      const HERE(doubles) discount = ALL(i < n ? table[i] : 0.0);
      UNROLLED for (int part = 0; part < 4; part++) {
        gain[part] += LOAD(doubles, step + part * LANES);
        STORE(doubles, step + part * LANES, ALL(0.0));
        total[part] += gain[part] * discount;
      }
    }
    UNROLLED for (int part = 0; part < 4; part++) STORE(doubles, out + first + part * LANES, total[part]);
  }
}

/* The sums of the first n grades of 16 or 4 lists, each times its discount, in the order of ranks: all lists at once,
   for each sum waits for its own additions. NaN for all of them if a grade may be no grade, or an integer beyond 2^52. */
#if LANES == 4
#define BITS_OF(ROW) (HERE(integers))(ROW)
#define UNSOUND_double INT64_MIN /* bits that no grade has: the sign, and of integers those beyond 2^52 */
#define UNSOUND_float INT64_MIN
#define UNSOUND_int64_t (INT64_MIN >> 11)
#define UNSOUND_int32_t INT64_MIN
#define UNSOUND_uint8_t INT64_MIN
TARGET static ALWAYS __m256d row_double(const double *at, HERE(integers) * signs) {
  const __m256d row = _mm256_loadu_pd(at);
  return *signs |= BITS_OF(row), row;
}
TARGET static ALWAYS __m256d row_float(const float *at, HERE(integers) * signs) {
  const __m256d row = _mm256_cvtps_pd(_mm_loadu_ps(at));
  return *signs |= BITS_OF(row), row;
}
TARGET static ALWAYS __m256d row_int64_t(const int64_t *at, HERE(integers) * signs) {
  const HERE(integers) row = LOAD(integers, at); /* in the lowest bits of 2^52 it is what is added to it */
  *signs |= row;
  return (__m256d)(row | (NONE + 0x4330000000000000)) - _mm256_set1_pd(0x1p52);
}
TARGET static ALWAYS __m256d row_int32_t(const int32_t *at, HERE(integers) * signs) {
  const __m256d row = _mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i *)at));
  return *signs |= BITS_OF(row), row;
}
TARGET static ALWAYS __m256d row_uint8_t(const uint8_t *at, HERE(integers) * signs) {
  int32_t four;
  memcpy(&four, at, sizeof four);
  return _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)));
}
#define SUMS(TYPE)                                                                                                     \
  TARGET static ALWAYS void sums_##TYPE(const TYPE *grades, const int64_t *starts, const int groups, ptrdiff_t n,      \
                                        const double *table, double *out) {                                            \
    __m256d total[4];                                                                                                  \
    HERE(integers) signs = NONE;                                                                                       \
    ptrdiff_t i = 0;                                                                                                   \
    UNROLLED for (int group = 0; group < groups; group++) total[group] = _mm256_setzero_pd();                          \
    for (; i + 4 <= n; i += 4)                                                                                         \
      UNROLLED for (int group = 0; group < groups; group++) {                                                          \
        const int64_t *start = starts + 4 * group;                                                                     \
        const __m256d a = row_##TYPE(grades + start[0] + i, &signs), b = row_##TYPE(grades + start[1] + i, &signs);    \
        const __m256d c = row_##TYPE(grades + start[2] + i, &signs), d = row_##TYPE(grades + start[3] + i, &signs);    \
        const __m256d even = _mm256_unpacklo_pd(a, b), odd = _mm256_unpackhi_pd(a, b);                                 \
        const __m256d even_2 = _mm256_unpacklo_pd(c, d), odd_2 = _mm256_unpackhi_pd(c, d);                             \
        total[group] += _mm256_permute2f128_pd(even, even_2, 0x20) * _mm256_broadcast_sd(table + i);                   \
        total[group] += _mm256_permute2f128_pd(odd, odd_2, 0x20) * _mm256_broadcast_sd(table + i + 1);                 \
        total[group] += _mm256_permute2f128_pd(even, even_2, 0x31) * _mm256_broadcast_sd(table + i + 2);               \
        total[group] += _mm256_permute2f128_pd(odd, odd_2, 0x31) * _mm256_broadcast_sd(table + i + 3);                 \
      }                                                                                                                \
    int negative = HERE(sum)(MASK((signs & (NONE + UNSOUND_##TYPE)) != 0)) != 0;                                      \
    UNROLLED for (int group = 0; group < groups; group++) _mm256_storeu_pd(out + 4 * group, total[group]);             \
    for (int list = 0; list < 4 * groups; list++) {                                                                    \
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

/* The lowest 16 bits of ids, BLOCK in a register. A lane of 32 bits holds those of two ids, of 64 bits those of four:
   the first ids in the lowest bits of all lanes, and so on, which costs less than to keep the ids in order. */
#if LANES > 1
#define BLOCK (4 * LANES)
typedef int16_t HERE(shorts) __attribute__((vector_size(8 * LANES), aligned(2), may_alias));
typedef uint32_t HERE(words) __attribute__((vector_size(8 * LANES), aligned(4), may_alias));
typedef uint64_t HERE(longs) __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

TARGET static ALWAYS HERE(shorts) HERE(lows)(const char *ids, const int width) {
  if (width == 4) {
    const uint32_t *id = (const uint32_t *)ids;
    return (HERE(shorts))((LOAD(words, id) & 0xFFFF) | LOAD(words, id + BLOCK / 2) << 16);
  }
  const uint64_t *id = (const uint64_t *)ids;
  return (HERE(shorts))((LOAD(longs, id) & 0xFFFF) | (LOAD(longs, id + LANES) & 0xFFFF) << 16 |
                        (LOAD(longs, id + 2 * LANES) & 0xFFFF) << 32 | LOAD(longs, id + 3 * LANES) << 48);
}

/* A bit an id. */
TARGET static ALWAYS uint64_t HERE(set)(HERE(shorts) lanes, const int width) {
  if (width == 4) return SIGNS((HERE(words))lanes << 16) | SIGNS(lanes) << BLOCK / 2;
  const HERE(longs) four = (HERE(longs))lanes;
  return BITS(four << 48) | BITS(four << 32) << LANES | BITS(four << 16) << 2 * LANES | BITS(four) << 3 * LANES;
}

/* Those of `near` from `start` on; the last of `parts` registers, if it would end behind n, ends there. */
TARGET static ALWAYS ptrdiff_t HERE(near_of)(const char *ids, ptrdiff_t start, ptrdiff_t n, const int width,
                                             const int parts, const char *judged, ptrdiff_t m, int judged_width,
                                             int64_t *out, ptrdiff_t count) {
  HERE(shorts) own[4], same[4], any = {0};
  uint64_t left = 0;
  UNROLLED for (int part = 0; part < parts; part++) {
    const ptrdiff_t at = start + part * BLOCK < n - BLOCK ? start + part * BLOCK : n - BLOCK;
    own[part] = HERE(lows)(ids + at * width, width), same[part] = any;
  }
  for (ptrdiff_t j = 0; j < m; j++, judged += judged_width) {
    int16_t low;
    memcpy(&low, judged, sizeof low);
    const HERE(shorts) id = low - (HERE(shorts)){0};
    UNROLLED for (int part = 0; part < parts; part++) same[part] |= own[part] == id;
  }
  UNROLLED for (int part = 0; part < parts; part++) any |= same[part];
  if (!SIGNS((HERE(words))any | (HERE(words))any << 16)) return count;
  UNROLLED for (int part = 0; part < parts; part++) {
    const ptrdiff_t known = start + (part + 1) * BLOCK - n; /* ids of the register before */
    left |= HERE(set)(same[part], width) >> (known > 0 ? known : 0) << part * BLOCK;
  }
  for (; left; left &= left - 1) out[count++] = start + lowest(left);
  return count;
}

TARGET static ALWAYS ptrdiff_t HERE(near_all)(const char *ids, ptrdiff_t n, const int width, const char *judged,
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

/* The places of ids whose lowest 16 bits are those of one of m judged ids, in order, and how many: all are compared with
   all. See `match_run`. */
TARGET static ptrdiff_t HERE(near)(const void *ids, ptrdiff_t n, int width, const void *judged, ptrdiff_t m,
                                   int judged_width, int64_t *out) {
  const char *lows = (const char *)judged + LOW_AT(judged_width);
  if (n < BLOCK) { /* fewer than a register holds: what is found among the zeros behind them is left out */
    uint64_t few[BLOCK] = {0};
    int64_t found[BLOCK];
    ptrdiff_t count, kept = 0;
    for (ptrdiff_t i = 0; i < n; i++)
      few[i] = width == 4 ? (uint64_t)((const int32_t *)ids)[i] : ((const uint64_t *)ids)[i];
    count = HERE(near_all)((const char *)few, BLOCK, 8, lows, m, judged_width, found);
    for (; kept < count && found[kept] < n; kept++) out[kept] = found[kept];
    return kept;
  }
  if (width == 4) return HERE(near_all)(ids, n, 4, lows, m, judged_width, out);
  return HERE(near_all)(ids, n, 8, lows, m, judged_width, out);
}

/* Where among up to 64 ids one stands that may be there once, or -1: all are looked at, so that no branch is
   mispredicted. */
TARGET static ptrdiff_t HERE(place)(const void *ids, ptrdiff_t n, int width, int64_t id) {
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
      if (width == 4) there |= SIGNS(LOAD(words, words + at) == (uint32_t)id) << at;
      else there |= BITS(LOAD(longs, longs + at) == (uint64_t)id) << at;
    }
  return there ? lowest(there) : -1;
}
#define NEAR HERE(near), HERE(place)
#undef BLOCK
#else
#define NEAR NULL, NULL
#endif

static const struct Simd HERE(simd) = {32 * LANES,
                                         LANES > 1 ? 16 * LANES : 0, 2 * LANES,
                                         HERE(tally),      HERE(whole),       HERE(maxima),      HERE(collect),
                                         HERE(count),      HERE(kth),         HERE(ranks),       HERE(numbers),
                                         HERE(widen),      HERE(sum_steps),   HERE(sum_double),  HERE(sum_float),
                                         HERE(sum_int64_t), HERE(sum_int32_t), HERE(sum_uint8_t), NEAR};
#undef NEAR
#undef LANES
#undef TARGET
