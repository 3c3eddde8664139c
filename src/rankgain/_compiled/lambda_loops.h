/* The loops of lambdas.h over LANES numbers at once: included once a level. Every array has room for SUM_LANES numbers
   behind its last, and what stands there is finite. */
typedef double HERE(reals) VECTOR;
typedef int64_t HERE(bits) VECTOR;

#if LANES > 1
#define PICK(CONDITION, A, B)                                                                                          \
  ((HERE(reals))(((HERE(bits))(A) & (HERE(bits))(CONDITION)) | ((HERE(bits))(B) & ~(HERE(bits))(CONDITION))))
#else
#define PICK(CONDITION, A, B) ((CONDITION) ? (A) : (B))
#endif

/* e^x for x <= 0, by its series of 14 terms around the nearest multiple of ln 2; 0 below -708. */
TARGET static ALWAYS HERE(reals) HERE(exponential)(HERE(reals) x) {
  static const double inverse_factorial[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                             1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                             1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  const HERE(reals) shifted = x * 0x1.71547652b82fep+0 + 0x1.8p52; /* its lowest bits are the multiple */
  const HERE(reals) multiple = shifted - 0x1.8p52;
  const HERE(reals) rest = (x - multiple * 0x1.62e42feep-1) - multiple * 0x1.a39ef35793c76p-33;
  HERE(reals) sum = ALL(inverse_factorial[11]), power;
  HERE(bits) scale;
  for (int term = 10; term >= 0; term--) sum = sum * rest + inverse_factorial[term];
  sum = (sum * (rest * rest) + rest) + 1.0;
#if LANES > 1
  scale = ((HERE(bits))shifted << 52) + 0x3ff0000000000000;
  power = (HERE(reals))scale;
#else
  memcpy(&scale, &shifted, sizeof scale);
  scale = (int64_t)(((uint64_t)scale << 52) + 0x3ff0000000000000);
  memcpy(&power, &scale, sizeof power);
#endif
  return PICK(x >= ALL(-708.0), sum * power, ALL(0.0));
}

/* e^(sigma (score - top)) of n scores, none of them above the top. */
TARGET static void HERE(exponentials)(const double *scores, ptrdiff_t n, double top, double sigma, double *out) {
  for (ptrdiff_t i = 0; i < n; i += LANES) STORE(out + i, HERE(exponential)((LOAD(scores + i) - top) * sigma));
}

/* Pairs of one document with LANES of those behind it; `from` and `to`: which of these count. */
TARGET static ALWAYS void HERE(block)(const struct Row *row, int by_score, int unit, ptrdiff_t from, ptrdiff_t to,
                                      const double *scores, const double *gains, const double *exps,
                                      const double *worths, double *gradients, double *hessians,
                                      HERE(reals) *gradient, HERE(reals) *hessian, HERE(reals) *total) {
  const HERE(reals) other = LOAD(exps), none = ALL(0.0);
  const HERE(reals) gap = row->gain - LOAD(gains);
  const HERE(reals) sum = row->exp + other;
  HERE(reals) apart, change, inverse, size, slope;
  if (by_score) {
    apart = 0.01 + (row->score - LOAD(scores));
    apart = PICK(apart < ALL(1e300), apart, ALL(1e300));
    inverse = 1.0 / (sum * apart);
  } else
    inverse = 1.0 / sum;
  if (unit)
    change = PICK(gap > none, ALL(1.0), PICK(gap < none, ALL(-1.0), none));
  else
    change = gap * (row->worth - LOAD(worths));
  change = change * (PICK(gap > none, other, row->exp - none) * inverse);
  size = PICK(gap > none, change, -change);
  slope = PICK(gap > none, row->exp - none, other) * inverse;
  if (by_score) slope = slope * apart;
  slope = size * slope;
  if (from > 0 || to < LANES) {
#if LANES > 1
    HERE(bits) lane;
    for (int each = 0; each < LANES; each++) lane[each] = each;
    const HERE(bits) counts = (lane >= from) & (lane < to);
#else
    const int counts = from <= 0 && to > 0;
#endif
    change = PICK(counts, change, none);
    size = PICK(counts, size, none);
    slope = PICK(counts, slope, none);
  }
  STORE(gradients, LOAD(gradients) + change);
  STORE(hessians, LOAD(hessians) + slope);
  *gradient += change;
  *hessian += slope;
  *total += size;
}

/* Blocks begin at multiples of SUM_LANES whatever the row is: a row loads what the one before it has just stored, which
   is slow where it was stored in other pieces (8.2 instead of 7.0 us for 120 documents at k = 30). */
TARGET static ALWAYS void HERE(pairs_of)(const struct Row *row, int by_score, int unit, ptrdiff_t start,
                                         ptrdiff_t stop, const double *scores, const double *gains,
                                         const double *exps, const double *worths, double *gradients,
                                         double *hessians, double *sums) {
  HERE(reals) gradient[SUM_LANES / LANES], hessian[SUM_LANES / LANES], total[SUM_LANES / LANES];
  ptrdiff_t i = start - start % SUM_LANES;
  UNROLLED for (int part = 0; part < SUM_LANES / LANES; part++)
    gradient[part] = hessian[part] = total[part] = ALL(0.0);
  for (; i < stop; i += SUM_LANES) {
    const int whole = i >= start && i + SUM_LANES <= stop;
    UNROLLED for (int part = 0; part < SUM_LANES / LANES; part++) {
      const ptrdiff_t at = i + part * LANES;
      if (whole)
        HERE(block)(row, by_score, unit, 0, LANES, scores + at, gains + at, exps + at, worths + at, gradients + at,
                    hessians + at, gradient + part, hessian + part, total + part);
      else
        HERE(block)(row, by_score, unit, start - at, stop - at, scores + at, gains + at, exps + at, worths + at,
                    gradients + at, hessians + at, gradient + part, hessian + part, total + part);
    }
  }
  double each[3][SUM_LANES];
  memcpy(each[0], gradient, sizeof each[0]);
  memcpy(each[1], hessian, sizeof each[1]);
  memcpy(each[2], total, sizeof each[2]);
  for (int sum = 0; sum < 3; sum++) sums[sum] = (each[sum][0] + each[sum][1]) + (each[sum][2] + each[sum][3]);
}

/* Add what the pairs of a row with the documents from start to stop are worth to the gradients and hessians of these,
   not times sigma; write the sums of both, and that of the sizes of the gradients. */
TARGET static void HERE(pairs)(const struct Row *row, ptrdiff_t start, ptrdiff_t stop, const double *scores,
                               const double *gains, const double *exps, const double *worths, double *gradients,
                               double *hessians, double *sums) {
  if (row->unit && row->by_score)
    HERE(pairs_of)(row, 1, 1, start, stop, scores, gains, exps, worths, gradients, hessians, sums);
  else if (row->unit)
    HERE(pairs_of)(row, 0, 1, start, stop, scores, gains, exps, worths, gradients, hessians, sums);
  else if (row->by_score)
    HERE(pairs_of)(row, 1, 0, start, stop, scores, gains, exps, worths, gradients, hessians, sums);
  else
    HERE(pairs_of)(row, 0, 0, start, stop, scores, gains, exps, worths, gradients, hessians, sums);
}

static const struct PairLoops HERE(pair_loops) = {HERE(exponentials), HERE(pairs)};
#undef PICK
#undef LANES
#undef TARGET
