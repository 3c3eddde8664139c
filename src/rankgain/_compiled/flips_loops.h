/* The loops of flips.h, which process LANES numbers at once. This file is included once per CPU level. */

/* Draw a word of signs for each of m flips, starting with flip `first`, and add the number of set bits to the count of
   each flip. On CPUs without an instruction that counts bits, they are added up in fields of 2, 4 and 8 bits. */
TARGET static void HERE(draw)(uint64_t base, uint64_t mask, uint64_t first, ptrdiff_t m, uint64_t *words,
                              double *flipped) {
  for (ptrdiff_t b = 0; b < m; b++) {
    const uint64_t word = words[b] = splitmix64(base + GOLDEN * (first + (uint64_t)b + 1)) & mask;
#if LANES > 2
    flipped[b] += HERE(ones)(word);
#else
    const uint64_t twos = word - (word >> 1 & 0x5555555555555555ull);
    const uint64_t fours = (twos & 0x3333333333333333ull) + (twos >> 2 & 0x3333333333333333ull);
    flipped[b] += (double)(int)(((fours + (fours >> 4)) & 0x0F0F0F0F0F0F0F0Full) * 0x0101010101010101ull >> 56);
#endif
  }
}

TARGET static ALWAYS_INLINE void HERE(add_width)(const double *values, ptrdiff_t rows, ptrdiff_t stride,
                                                 ptrdiff_t columns, const int width, const uint64_t *words, ptrdiff_t m,
                                                 double *tables, double *sums) {
  const int entries = (int)((rows + QUERIES - 1) / QUERIES);
  for (int g = 0; g < entries; g++) {
    double *table = tables + (ptrdiff_t)g * 256 * width;
    for (int j = 0; j < width; j++) table[j] = 0.0;
    for (int r = 0; r < QUERIES && g * QUERIES + r < rows; r++) {
      double row[WIDEST] = {0};
      for (ptrdiff_t j = 0; j < columns; j++) row[j] = values[(g * QUERIES + r) * stride + j];
      for (int e = 0; e < 1 << r; e++) {
        const double *from = table + (ptrdiff_t)e * width;
        double *to = table + ((ptrdiff_t)e + (1 << r)) * width;
        if (width < LANES) to[0] = from[0] + row[0];
        else
          for (int j = 0; j < width; j += LANES) STORE(to + j, ADD(LOAD(from + j), LOAD(row + j)));
      }
    }
  }
  for (int g = entries; g < TABLES; g++) memset(tables + (ptrdiff_t)g * 256 * width, 0, sizeof(double) * (size_t)width);
  for (ptrdiff_t b = 0; b < m; b++) {
    const uint64_t word = words[b];
    double *sum = sums + b * width;
#define TWO(G, H) ADD(LOAD(entry[G] + j), LOAD(entry[H] + j))
#define ENTRY(G) (tables + ((ptrdiff_t)(G) * 256 + (ptrdiff_t)(word >> 8 * (G) & 255)) * width)
    if (width < LANES) {
      sum[0] += ((*ENTRY(0) + *ENTRY(1)) + (*ENTRY(2) + *ENTRY(3))) +
                ((*ENTRY(4) + *ENTRY(5)) + (*ENTRY(6) + *ENTRY(7)));
    } else {
      const double *const entry[TABLES] = {ENTRY(0), ENTRY(1), ENTRY(2), ENTRY(3),
                                           ENTRY(4), ENTRY(5), ENTRY(6), ENTRY(7)};
      for (int j = 0; j < width; j += LANES)
        STORE(sum + j, ADD(ADD(LOAD(sum + j), ADD(TWO(0, 1), TWO(2, 3))), ADD(TWO(4, 5), TWO(6, 7))));
    }
#undef ENTRY
#undef TWO
  }
}

/* Add the values of up to 64 queries to the sums of m flips. Table entries have `width` columns. */
TARGET static void HERE(add_flips)(const double *values, ptrdiff_t rows, ptrdiff_t stride, ptrdiff_t columns, int width,
                                   const uint64_t *words, ptrdiff_t m, double *tables, double *sums) {
  if (width == WIDEST) HERE(add_width)(values, rows, stride, columns, WIDEST, words, m, tables, sums);
  else if (width > 1) HERE(add_width)(values, rows, stride, columns, WIDEST / 2, words, m, tables, sums);
  else HERE(add_width)(values, rows, stride, columns, 1, words, m, tables, sums);
}

static const double HERE(no_sums)[FLIPS_BLOCK];

/* For each pair, count the flips whose sum is at least `reached`. Also count the flips for which the scaled sum of this
   pair or of any later pair is at least `limits`. With the pairs in descending order of the observed statistic, this is
   the max-T procedure. */
TARGET static void HERE(exceed)(const struct Flips *flips, ptrdiff_t pairs, const double *reached, const double *scales,
                                const double *limits, ptrdiff_t start, ptrdiff_t stop, int64_t *counts,
                                int64_t *joint) {
  const double queries = flips->queries;
  for (ptrdiff_t first = start; first < stop; first += FLIPS_BLOCK) {
    const ptrdiff_t m = stop - first < FLIPS_BLOCK ? stop - first : FLIPS_BLOCK, whole = m - m % LANES;
    double highest[FLIPS_BLOCK];
    for (ptrdiff_t b = 0; b < m; b++) highest[b] = -1.0;
    for (ptrdiff_t pair = pairs - 1; pair >= 0; pair--) {
      const int64_t from = flips->left[pair], to = flips->right[pair];
      const double *left = from < 0 ? HERE(no_sums) : flips->sums + from * flips->stride + first;
      const double *right = to < 0 ? HERE(no_sums) : flips->sums + to * flips->stride + first;
      const double total = flips->total[pair], threshold = reached[pair], scale = scales[pair], limit = limits[pair];
      INTEGERS reached_counts = NONE, any = NONE;
      for (ptrdiff_t b = 0; b < whole; b += LANES) {
        const DOUBLES difference = SUB(LOAD(right + b), LOAD(left + b));
        const DOUBLES t = SUB(ALL(total), ADD(difference, difference));
        const DOUBLES size = OF_BITS(AND(BITS_OF(t), ALL_BITS(INT64_MAX)));
        const DOUBLES most = HIGHER(MUL(ADD(size, ALL(queries)), ALL(scale)), LOAD(highest + b));
        STORE(highest + b, most);
        reached_counts = MINUS(reached_counts, AT_LEAST(size, ALL(threshold)));
        any = MINUS(any, AT_LEAST(most, ALL(limit)));
      }
      int64_t sums[2][LANES];
      STORE_BITS(sums[0], reached_counts);
      STORE_BITS(sums[1], any);
      for (int lane = 0; lane < LANES; lane++) counts[pair] += sums[0][lane], joint[pair] += sums[1][lane];
      for (ptrdiff_t b = whole; b < m; b++) {
        const double difference = right[b] - left[b], size = fabs(total - (difference + difference));
        const double scaled = (size + queries) * scale;
        highest[b] = scaled > highest[b] ? scaled : highest[b];
        counts[pair] += size >= threshold;
        joint[pair] += highest[b] >= limit;
      }
    }
  }
}

/* Collect the means that do not exceed the limit, and return how many there are. See flip_bound. */
TARGET static ptrdiff_t HERE(small_means)(const struct Flips *flips, ptrdiff_t pair, double sign, double limit,
                                          double *means) {
  const int64_t from = flips->left[pair], to = flips->right[pair];
  const double total = sign * flips->total[pair], queries = flips->queries, whole = flips->whole;
  /* A value slightly above the limit, so that rounding the product never drops a mean that the comparison below
     accepts. It is at most DBL_MAX, since infinity times 0 would be NaN for a flip that flips no query. */
  const double near = limit < INFINITY ? limit + fabs(limit) * 1e-12 : DBL_MAX;
  ptrdiff_t count = 0;
  for (ptrdiff_t first = 0; first < flips->count; first += FLIPS_BLOCK) {
    const ptrdiff_t m = flips->count - first < FLIPS_BLOCK ? flips->count - first : FLIPS_BLOCK;
    const double *left = from < 0 ? HERE(no_sums) : flips->sums + from * flips->stride + first;
    const double *right = to < 0 ? HERE(no_sums) : flips->sums + to * flips->stride + first;
    const double *flipped = flips->flipped + first;
    /* First select the flips with a small mean, without branches. Then divide only for the selected flips. */
    int64_t small[FLIPS_BLOCK];
    int16_t chosen[FLIPS_BLOCK + 1];
    ptrdiff_t some = 0, b = 0;
    for (; b + LANES <= m; b += LANES) {
      const DOUBLES sum = MUL(ALL(sign), SUB(LOAD(right + b), LOAD(left + b))), k = LOAD(flipped + b);
      const DOUBLES part = SUB(sum, ALL(queries)), rest = SUB(SUB(ALL(total), sum), ALL(queries));
      STORE_BITS(small + b, OR(AT_LEAST(MUL(ALL(near), k), part), AT_LEAST(MUL(ALL(near), SUB(ALL(whole), k)), rest)));
    }
    for (; b < m; b++) small[b] = 1;
    for (b = 0; b < m; b++) {
      chosen[some] = (int16_t)b;
      some += small[b] != 0;
    }
    for (ptrdiff_t i = 0; i < some; i++) {
      const double k = flipped[chosen[i]], sum = sign * (right[chosen[i]] - left[chosen[i]]);
      /* all queries or none are flipped, so one of the two means does not exist */
      if (k == 0.0 || k == whole) continue;
      const double part = (sum - queries) / k, rest = ((total - sum) - queries) / (whole - k);
      means[count] = part;
      count += part <= limit;
      means[count] = rest;
      count += rest <= limit;
    }
  }
  return count;
}

static const struct FlipLoops HERE(flip_loops) = {HERE(draw), HERE(add_flips), HERE(exceed), HERE(small_means)};
#undef LANES
