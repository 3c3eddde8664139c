/* Loops that compute the ranks of some columns in a row of scores. The row is read about once; it is neither sorted nor
   copied. simd_loops.h includes this file twice per CPU level: for float32 (SINGLE is 1) and for float64 (SINGLE is 0).
   */

#if SINGLE
#define NUMBER float
#define TYPED(NAME) HERE(NAME##_float)
#define NUMBERS HERE(floats)
#define LOAD_N HERE(load_float)
#define STORE_N HERE(store_float)
#define ALL_N HERE(all_float)
#define HIGHER_N HERE(higher_float)
#define MORE_N HERE(more_float)
#define AT_LEAST_N HERE(at_least_float)
#define UNORDERED_N HERE(unordered_float)
#else
#define NUMBER double
#define TYPED(NAME) HERE(NAME##_double)
#define NUMBERS DOUBLES
#define LOAD_N LOAD
#define STORE_N STORE
#define ALL_N ALL
#define HIGHER_N HIGHER
#define MORE_N MORE
#define AT_LEAST_N AT_LEAST
#define UNORDERED_N HERE(unordered)
#endif
#if SINGLE && LANES > 1
#define WIDTH (2 * LANES) /* number of values in a register */
#define LANE uint32_t
#define MINUS_N HERE(minus_32)
#define SIGNS_N SIGNS_32
#else
#define WIDTH LANES
#define LANE uint64_t
#define MINUS_N MINUS
#define SIGNS_N SIGNS
#endif
#define STRIP (16 * WIDTH) /* number of scores in a strip, which has one peak per lane */

/* Write the peaks of a row. A peak is the maximum of one lane in a strip, ignoring NaN. Return whether any score is
   NaN. */
TARGET static int TYPED(peaks)(const NUMBER *scores, ptrdiff_t n, NUMBER *peaks) {
  const NUMBERS lowest = ALL_N(-(NUMBER)INFINITY); /* replaces NaN, which would hide all other scores */
  INTEGERS nan = NONE;
  int last_nan = 0;
  ptrdiff_t i = 0;
  for (; i + STRIP <= n; i += STRIP, peaks += WIDTH) {
    NUMBERS even = lowest, odd = lowest;
    UNROLLED for (int part = 0; part < 16; part += 2) {
      const NUMBERS a = LOAD_N(scores + i + part * WIDTH), b = LOAD_N(scores + i + (part + 1) * WIDTH);
      even = HIGHER_N(a, even), odd = HIGHER_N(b, odd);
      nan = OR(nan, UNORDERED_N(a, b));
    }
    STORE_N(peaks, HIGHER_N(even, odd));
  }
  if (i < n) {
    NUMBERS highest = lowest;
    for (; i + WIDTH <= n; i += WIDTH) {
      const NUMBERS a = LOAD_N(scores + i);
      highest = HIGHER_N(a, highest);
      nan = OR(nan, UNORDERED_N(a, a));
    }
    STORE_N(peaks, highest);
    for (; i < n; i++, peaks++) {
      last_nan |= scores[i] != scores[i];
      *peaks = scores[i] > *peaks ? scores[i] : *peaks;
    }
  }
  return last_nan || SIGNS_N(nan);
}

TARGET static int TYPED(has_nan)(const NUMBER *scores, ptrdiff_t n) {
  INTEGERS nan = NONE;
  ptrdiff_t i = 0;
  int last_nan = 0;
  for (; i + WIDTH <= n; i += WIDTH) nan = OR(nan, UNORDERED_N(LOAD_N(scores + i), LOAD_N(scores + i)));
  for (; i < n; i++) last_nan |= scores[i] != scores[i];
  return last_nan || SIGNS_N(nan);
}

TARGET static int64_t TYPED(total)(INTEGERS counts) {
  LANE each[WIDTH];
  int64_t total = 0;
  STORE_BITS(each, counts);
  for (int lane = 0; lane < WIDTH; lane++) total += (int64_t)each[lane];
  return total;
}

TARGET static ALWAYS_INLINE void TYPED(count_few)(const NUMBER *scores, ptrdiff_t n, const NUMBER *keys,
                                                  const int count, int64_t *above, int64_t *not_below) {
  NUMBERS key[4];
  INTEGERS higher[4], not_lower[4];
  ptrdiff_t i = 0;
  UNROLLED for (int part = 0; part < count; part++) key[part] = ALL_N(keys[part]), higher[part] = not_lower[part] = NONE;
  for (; i + WIDTH <= n; i += WIDTH) {
    const NUMBERS score = LOAD_N(scores + i);
    UNROLLED for (int part = 0; part < count; part++) {
      higher[part] = MINUS_N(higher[part], MORE_N(score, key[part]));
      not_lower[part] = MINUS_N(not_lower[part], AT_LEAST_N(score, key[part]));
    }
  }
  UNROLLED for (int part = 0; part < count; part++) {
    above[part] += TYPED(total)(higher[part]), not_below[part] += TYPED(total)(not_lower[part]);
    for (ptrdiff_t j = i; j < n; j++) above[part] += scores[j] > keys[part], not_below[part] += scores[j] >= keys[part];
  }
}

/* For each key, add the number of scores above it to `above`, and the number of scores at or above it to `not_below`.
   */
TARGET static void TYPED(count_keys)(const NUMBER *scores, ptrdiff_t n, const NUMBER *keys, ptrdiff_t m, int64_t *above,
                                     int64_t *not_below) {
  ptrdiff_t k = 0;
  for (; k + 4 <= m; k += 4) TYPED(count_few)(scores, n, keys + k, 4, above + k, not_below + k);
  if (m - k >= 2) TYPED(count_few)(scores, n, keys + k, 2, above + k, not_below + k), k += 2;
  if (k < m) TYPED(count_few)(scores, n, keys + k, 1, above + k, not_below + k);
}

/* Apply `count_keys` to a whole row, in parts that stay in the cache. */
TARGET static void TYPED(count_row)(const NUMBER *scores, ptrdiff_t n, const NUMBER *keys, ptrdiff_t m, int64_t *above,
                                    int64_t *not_below) {
  memset(above, 0, m * sizeof(int64_t));
  memset(not_below, 0, m * sizeof(int64_t));
  for (ptrdiff_t i = 0; i < n; i += 4096)
    TYPED(count_keys)(scores + i, n - i < 4096 ? n - i : 4096, keys, m, above, not_below);
}

/* Count the numbers above a key, and stop early once the count reaches `enough`. n must be a multiple of WIDTH. */
TARGET static int64_t TYPED(count_above)(const NUMBER *numbers, ptrdiff_t n, NUMBER key, int64_t enough) {
  int64_t total = 0;
  for (ptrdiff_t i = 0; i < n && total < enough;) {
    const ptrdiff_t stop = n - i > 256 * WIDTH ? i + 256 * WIDTH : n;
    INTEGERS even = NONE, odd = NONE; /* two independent chains of additions */
    for (; i + WIDTH < stop; i += 2 * WIDTH) {
      even = MINUS_N(even, MORE_N(LOAD_N(numbers + i), ALL_N(key)));
      odd = MINUS_N(odd, MORE_N(LOAD_N(numbers + i + WIDTH), ALL_N(key)));
    }
    if (i < stop) even = MINUS_N(even, MORE_N(LOAD_N(numbers + i), ALL_N(key))), i += WIDTH;
    total += TYPED(total)(MINUS_N(even, MINUS_N(NONE, odd))); /* the sum of both chains */
  }
  return total;
}

/* Copy the scores at or above a key to `near`, from the strips that have a peak at or above the key. Return the number
   of scores copied, or −1 if `near` may be too small. The indices of these strips overwrite the peaks. Few groups of 64
   scores contain more than one score to copy, so the first score is copied without a branch, to avoid mispredictions
   (300 × 20,000 trained scores: 1.2 instead of 1.5 ms). */
TARGET static ptrdiff_t TYPED(collect)(const NUMBER *scores, ptrdiff_t n, NUMBER *peaks, ptrdiff_t strips, NUMBER key,
                                       NUMBER *near, ptrdiff_t capacity) {
  const NUMBERS least = ALL_N(key);
  ptrdiff_t count = 0, reaching = 0;
  for (ptrdiff_t strip = 0; strip < strips; strip++) {
    const int32_t number = (int32_t)strip;
    const int reaches = SIGNS_N(AT_LEAST_N(LOAD_N(peaks + strip * WIDTH), least)) != 0;
    memcpy(peaks + reaching, &number, sizeof number);
    reaching += reaches;
  }
  for (ptrdiff_t index = 0; index < reaching; index++) {
    int32_t strip;
    memcpy(&strip, peaks + index, sizeof strip);
    const NUMBER *part = scores + (ptrdiff_t)strip * STRIP;
    const ptrdiff_t size = n - (part - scores);
    if (count + STRIP > capacity) return -1;
    for (int i = 0; i < STRIP && i < size; i += 64) {
      uint64_t left = 0;
      if (size >= STRIP) {
        UNROLLED for (int at = 0; at < (STRIP < 64 ? STRIP : 64); at += WIDTH)
          left |= (uint64_t)SIGNS_N(AT_LEAST_N(LOAD_N(part + i + at), least)) << at;
      } else {
        for (int at = 0; at < 64 && i + at < size; at++) left |= (uint64_t)(part[i + at] >= key) << at;
      }
      near[count] = part[i + (left ? lowest_set_bit(left) : 0)];
      count += left != 0;
      for (left &= left - 1; left; left &= left - 1) near[count++] = part[i + lowest_set_bit(left)];
    }
  }
  return count;
}

/* Implement `count_keys` for a short list. With one key per lane, nothing needs to be added up across lanes. Keys and
   counts are padded to whole registers. */
TARGET static void TYPED(count_list)(const NUMBER *scores, ptrdiff_t n, NUMBER *keys, ptrdiff_t m, int64_t *above,
                                     int64_t *not_below) {
  for (ptrdiff_t k = 0; k < m; k += WIDTH) {
    const NUMBERS key = LOAD_N(keys + k);
    INTEGERS higher = NONE, not_lower = NONE;
    LANE each[2][WIDTH];
    for (ptrdiff_t i = 0; i < n; i++) {
      const NUMBERS score = ALL_N(scores[i]);
      higher = MINUS_N(higher, MORE_N(score, key));
      not_lower = MINUS_N(not_lower, AT_LEAST_N(score, key));
    }
    STORE_BITS(each[0], higher), STORE_BITS(each[1], not_lower);
    for (int lane = 0; lane < WIDTH; lane++) above[k + lane] = each[0][lane], not_below[k + lane] = each[1][lane];
  }
}

/* Count the scores that equal a key. */
TARGET static int64_t TYPED(count_equal)(const void *row, ptrdiff_t start, ptrdiff_t stop, double key) {
  const NUMBER number = (NUMBER)key;
  int64_t above = 0, not_below = 0;
  TYPED(count_few)((const NUMBER *)row + start, stop - start, &number, 1, &above, &not_below);
  return not_below - above;
}

/* Load the scores of the excluded columns. The last register is padded with NaN. */
TARGET static void TYPED(load_excluded)(const NUMBER *scores, ptrdiff_t n, struct RowScratch *scratch) {
  NUMBER *excluded = scratch->excluded;
  ptrdiff_t i = 0;
  for (; i < scratch->n_excluded; i++) { /* columns are checked, since another thread may write to them */
    const ptrdiff_t column = scratch->columns[i];
    excluded[i] = column >= 0 && column < n ? scores[column] : (NUMBER)NAN;
  }
  for (; i % WIDTH; i++) excluded[i] = (NUMBER)NAN;
}

/* Read a row once, and return whether any score is NaN, even in an excluded column. If there are more peaks than
   `depth`, write the peaks, which bound the ranks. */
TARGET static int TYPED(scan_row)(const void *row, ptrdiff_t n, int64_t depth, struct RowScratch *scratch) {
  const ptrdiff_t n_peaks = (n + STRIP - 1) / STRIP * WIDTH;
  scratch->n_peaks = depth < n_peaks ? n_peaks : 0;
  return scratch->n_peaks ? TYPED(peaks)(row, n, scratch->peaks) : TYPED(has_nan)(row, n);
}

/* For each of m distinct keys in descending order, count the allowed scores of a scanned row that are above the key,
   and those at or above it. Only keys with fewer than `depth` scores above them are counted. Return the number of these
   keys, or −1 if there are too many to compare each with all scores. */
TARGET static ptrdiff_t TYPED(rank_columns)(const void *row, ptrdiff_t n, const double *distinct, ptrdiff_t m,
                                            int64_t depth, struct RowScratch *scratch, int64_t *above,
                                            int64_t *not_below) {
  const NUMBER *scores = row;
  NUMBER *keys = scratch->keys, *excluded = scratch->excluded, *peaks = scratch->peaks, *near = scratch->near;
  const ptrdiff_t n_peaks = scratch->n_peaks, n_padded = (scratch->n_excluded + WIDTH - 1) / WIDTH * WIDTH;
  ptrdiff_t n_left = m, copied = -1;
  for (ptrdiff_t i = 0; i < m; i++) keys[i] = (NUMBER)distinct[i];
  for (ptrdiff_t i = m; i < m + WIDTH; i++) keys[i] = (NUMBER)NAN;
  TYPED(load_excluded)(scores, n, scratch);
  if (n_peaks) {
    ptrdiff_t low = 0;
    while (low < n_left) { /* the peaks above a key are distinct scores, some of which may be excluded */
      const ptrdiff_t middle = (low + n_left) / 2;
      const int64_t enough = depth + TYPED(count_above)(excluded, n_padded, keys[middle], n_padded);
      if (TYPED(count_above)(peaks, n_peaks, keys[middle], enough) >= enough) n_left = middle;
      else low = middle + 1;
    }
    if (n_left * (n / WIDTH) > FEW_COMPARISONS)
      copied = TYPED(collect)(scores, n, peaks, n_peaks / WIDTH, keys[n_left - 1], near, scratch->capacity);
  }
  if (copied >= 0) TYPED(count_list)(near, copied, keys, n_left, above, not_below);
  else if (n_left > MOST_KEYS) return -1;
  else TYPED(count_row)(scores, n, keys, n_left, above, not_below);
  if (n_padded && n_left) {
    TYPED(count_list)(excluded, n_padded, keys, n_left, scratch->above, scratch->not_below);
    for (ptrdiff_t i = 0; i < n_left; i++) above[i] -= scratch->above[i], not_below[i] -= scratch->not_below[i];
  }
  while (n_left && above[n_left - 1] >= depth) n_left--;
  return n_left;
}

#undef NUMBER
#undef TYPED
#undef NUMBERS
#undef LOAD_N
#undef STORE_N
#undef ALL_N
#undef HIGHER_N
#undef MORE_N
#undef AT_LEAST_N
#undef UNORDERED_N
#undef WIDTH
#undef LANE
#undef MINUS_N
#undef SIGNS_N
#undef STRIP
