/* The loops over pairs and exponentials, one version per level of CPU. Sums always use four lanes and nothing is
   fused, so the bits are the same at every level and equal those of `_reference/lambdas.py`. */
#pragma once
#include "vectors.h"

#define SUM_LANES 4

/* A document to be paired with lower-ranked ones, and the options of pairs. */
struct Row {
  double score;
  double gain;    /* divided by the ideal */
  double exp;     /* e^(sigma (score - top)) */
  double discount;   /* the discount of the document's rank */
  int by_score;   /* whether the weight of a pair decreases with the distance of the scores */
  int unit;       /* whether every pair has weight 1 */
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
