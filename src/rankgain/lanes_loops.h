/* The loops of lanes.h, over LANES numbers at once: included once a level. */

#ifdef __GNUC__
typedef double HERE(doubles) __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef int64_t HERE(integers) __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
#else
typedef double HERE(doubles);
typedef int64_t HERE(integers);
#endif

TARGET static uint64_t HERE(sum)(HERE(integers) numbers) {
  uint64_t each[LANES], total = 0;
  memcpy(each, &numbers, sizeof each);
  for (int lane = 0; lane < LANES; lane++) total += each[lane];
  return total;
}

/* Add how many grades there are of 0 to 7 to the counts; 0 where there are others: then the counts mean nothing.
   A word holds eight counts of up to 255. */
TARGET static int HERE(tally)(const int64_t *grades, ptrdiff_t n, int64_t *counts) {
  for (ptrdiff_t i = 0, stop; i < n;) {
    HERE(integers) others = NONE, fields = NONE;
    uint64_t other = 0, field;
    stop = n - i > 248 ? i + 248 : n;
    for (; i + LANES <= stop; i += LANES) {
      const HERE(integers) grade = LOAD(integers, grades + i);
      others |= grade & ~(NONE + 7);
      fields += (NONE + 1) << ((grade & 7) << 3);
    }
    field = HERE(sum)(fields);
    for (; i < stop; i++) {
      other |= (uint64_t)grades[i] & ~(uint64_t)7;
      field += (uint64_t)1 << ((grades[i] & 7) << 3);
    }
    if (other || HERE(sum)(MASK(others != 0))) return 0;
    for (int grade = 0; grade < 8; grade++) counts[grade] += field >> 8 * grade & 255;
  }
  return 1;
}

/* Grades as integers; what is not a whole number from 0 to 2^52 becomes another that is above 7, or below 0. Added to
   2^52, a number leaves its whole part in the lowest bits. */
TARGET static void HERE(whole)(const double *grades, ptrdiff_t n, int64_t *out) {
  const double shift = 4503599627370496.0;
  ptrdiff_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const HERE(doubles) grade = LOAD(doubles, grades + i), sum = grade + shift;
    const HERE(integers) other = MASK(sum - shift != grade) & 8;
    HERE(integers) bits;
    memcpy(&bits, &sum, sizeof bits);
    bits = (bits - 0x4330000000000000) | other;
    memcpy(out + i, &bits, sizeof bits);
  }
  for (; i < n; i++) {
    const double sum = grades[i] + shift;
    memcpy(out + i, &sum, sizeof sum);
    out[i] = (out[i] - 0x4330000000000000) | (sum - shift != grades[i]) << 3;
  }
}

TARGET static int HERE(has_nan)(const double *scores, ptrdiff_t n) {
  HERE(integers) found = NONE;
  ptrdiff_t i = 0;
  int other = 0;
  for (; i + LANES <= n; i += LANES) found |= MASK(LOAD(doubles, scores + i) != LOAD(doubles, scores + i));
  for (; i < n; i++) other |= scores[i] != scores[i];
  return other || HERE(sum)(found) != 0;
}

/* The highest of every stride-th score, as far as they fill whole rows; NaN is none. The stride is a multiple of 16. */
TARGET static void HERE(maxima)(const double *scores, ptrdiff_t n, ptrdiff_t stride, double *maximum) {
  for (ptrdiff_t first = 0; first < stride; first += 16) {
    HERE(doubles) best[16 / LANES];
    for (int part = 0; part < 16 / LANES; part++) best[part] = ALL(-INFINITY);
    for (ptrdiff_t i = first; i - first + stride <= n; i += stride)
      for (int part = 0; part < 16 / LANES; part++) {
        const HERE(doubles) score = LOAD(doubles, scores + i + part * LANES);
        best[part] = SELECT(MASK(score > best[part]), score, best[part]);
      }
    memcpy(maximum + first, best, sizeof best);
  }
}

/* Append the scores that are not below the bound, NaN among them, and their places. It stops where there might not be
   room for 16 more, and returns where. */
TARGET static ptrdiff_t HERE(collect)(const double *scores, ptrdiff_t start, ptrdiff_t n, double bound, double *near,
                                      ptrdiff_t *place, ptrdiff_t *count, ptrdiff_t room) {
  ptrdiff_t found = *count, i = start, stop;
  for (; i < n && found + 16 <= room; i = stop) {
    HERE(integers) below = MASK(ALL(0.0) == ALL(0.0));
    stop = n - i > 16 ? i + 16 : n;
    for (int part = 0; part < 16 && i + 16 <= n; part += LANES) below &= MASK(LOAD(doubles, scores + i + part) < ALL(bound));
    if (i + 16 <= n && HERE(sum)(below) == -(uint64_t)LANES) continue;
    for (ptrdiff_t j = i; j < stop; j++) {
      near[found] = scores[j];
      place[found] = j;
      found += !(scores[j] < bound);
    }
  }
  *count = found;
  return i;
}

/* How many scores are higher than the key, and how many equal it. */
TARGET static void HERE(count)(const double *scores, ptrdiff_t n, double key, int64_t *higher, int64_t *equal) {
  HERE(integers) above = NONE, same = NONE;
  ptrdiff_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    above -= MASK(LOAD(doubles, scores + i) > ALL(key));
    same -= MASK(LOAD(doubles, scores + i) == ALL(key));
  }
  *higher = (int64_t)HERE(sum)(above);
  *equal = (int64_t)HERE(sum)(same);
  for (; i < n; i++) {
    *higher += scores[i] > key;
    *equal += scores[i] == key;
  }
}

static const struct Lanes HERE(lanes) = {HERE(tally), HERE(whole), HERE(has_nan), HERE(maxima), HERE(collect), HERE(count)};
