/* The loops of lanes.h over LANES numbers at once: included once a level. What is left over goes to level 1. */
typedef double HERE(doubles) VECTOR;
typedef int64_t HERE(integers) VECTOR;

TARGET static uint64_t HERE(sum)(HERE(integers) numbers) {
  uint64_t each[LANES], total = 0;
  memcpy(each, &numbers, sizeof each);
  for (int lane = 0; lane < LANES; lane++) total += each[lane];
  return total;
}

/* Add how many grades there are of 0 to 7 to the counts; 0 where there are others: then the counts mean nothing.
   A word holds eight counts of up to 255. */
TARGET static int HERE(tally)(const int64_t *grades, ptrdiff_t n, int64_t *counts) {
  ptrdiff_t i = 0;
  while (i + LANES <= n) {
    const ptrdiff_t stop = n - i > 248 ? i + 248 : n;
    HERE(integers) others = NONE, fields = NONE;
    for (; i + LANES <= stop; i += LANES) {
      const HERE(integers) grade = LOAD(integers, grades + i);
      others |= grade & ~(NONE + 7);
      fields += (NONE + 1) << ((grade & 7) << 3);
    }
    if (HERE(sum)(MASK(others != 0))) return 0;
    for (int grade = 0; grade < 8; grade++) counts[grade] += HERE(sum)(fields) >> 8 * grade & 255;
  }
  return i == n || tally_1(grades + i, n - i, counts);
}

/* Grades as integers, those that are not whole or not from 0 to 7 as others that are not. Added to 2^52, a number
   leaves its whole part in the lowest bits, below those of 2^52 itself. */
TARGET static void HERE(whole)(const double *grades, ptrdiff_t n, int64_t *out) {
  ptrdiff_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const HERE(doubles) grade = LOAD(doubles, grades + i), sum = grade + 0x1p52;
    HERE(integers) bits;
    memcpy(&bits, &sum, sizeof bits);
    bits = (bits ^ 0x4330000000000000) | (MASK(sum - 0x1p52 != grade) & 8);
    memcpy(out + i, &bits, sizeof bits);
  }
  if (i < n) whole_1(grades + i, n - i, out + i);
}

/* The highest of every stride-th score, as far as they fill whole rows; NaN is none. The stride is a multiple of 16. */
TARGET static void HERE(maxima)(const double *scores, ptrdiff_t n, ptrdiff_t stride, double *maximum) {
  for (ptrdiff_t first = 0; first < stride; first += 16) {
    HERE(doubles) best[16 / LANES];
    for (int part = 0; part < 16 / LANES; part++) best[part] = ALL(-INFINITY);
    for (ptrdiff_t i = first; i - first + stride <= n; i += stride)
      for (int part = 0; part < 16 / LANES; part++) {
        const HERE(doubles) score = LOAD(doubles, scores + i + part * LANES);
#if LANES > 1
        const HERE(integers) higher = score > best[part];
        best[part] = (HERE(doubles))(((HERE(integers))score & higher) | ((HERE(integers))best[part] & ~higher));
#else
        best[part] = score > best[part] ? score : best[part];
#endif
      }
    memcpy(maximum + first, best, sizeof best);
  }
}

/* Append the scores not below the bound, NaN among them, and their places; stop, and say where, short of room for 16. */
TARGET static ptrdiff_t HERE(collect)(const double *scores, ptrdiff_t start, ptrdiff_t n, double bound, double *near,
                                      ptrdiff_t *place, ptrdiff_t *count, ptrdiff_t room) {
  ptrdiff_t found = *count, i = start, stop;
  for (; i < n && found + 16 <= room; i = stop) {
    HERE(integers) below = NONE - 1;
    stop = n - i > 16 ? i + 16 : n;
    for (int part = 0; part < 16 && i + 16 <= n; part += LANES)
      below &= MASK(LOAD(doubles, scores + i + part) < ALL(bound));
    if (i + 16 <= n && HERE(sum)(below) == -(uint64_t)LANES) continue;
    for (ptrdiff_t j = i; j < stop; j++)
      near[found] = scores[j], place[found] = j, found += !(scores[j] < bound);
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
  *higher = *equal = 0;
  if (i < n) count_1(scores + i, n - i, key, higher, equal);
  *higher += (int64_t)HERE(sum)(above), *equal += (int64_t)HERE(sum)(same);
}

static const struct Lanes HERE(lanes) = {HERE(tally), HERE(whole), HERE(maxima), HERE(collect), HERE(count)};
#undef LANES
#undef TARGET
