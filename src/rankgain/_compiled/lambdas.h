/* The loops over pairs and exponentials, for every level of CPU. Sums run in four lanes, whatever the width of the
   registers, and nothing is fused: so the bits are the same at every level, and those of `_reference/lambdas.py`. */
#pragma once
#include "vectors.h"

#define SUM_LANES 4

/* One document against those behind it, which stand side by side in rank order; and what is asked. */
struct Row {
  double score;
  double gain;    /* over the ideal */
  double exp;     /* e^(sigma (score - top)) */
  double worth;   /* of its rank: the discount */
  int by_score;   /* whether a pair counts the less the further apart its scores are */
  int unit;       /* whether all pairs count the same */
};

struct PairLoops {
  void (*exponentials)(const double *, ptrdiff_t, double, double, double *);
  void (*pairs)(const struct Row *, ptrdiff_t, ptrdiff_t, const double *, const double *, const double *,
                const double *, double *, double *, double *);
};

#define LANES BASELINE_LANES
#include "lambda_loops.h"
static const struct PairLoops *const pair_loops_baseline = &JOIN(pair_loops, BASELINE_LANES);

#if VECTORS == X86_VECTORS
#define LANES 4
#include "lambda_loops.h"
static const struct PairLoops *const pair_loops_avx2 = &pair_loops_4;
#else
#define pair_loops_avx2 pair_loops_baseline
#endif
