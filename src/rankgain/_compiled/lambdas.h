/* The loops over pairs and exponentials, compiled for each CPU level. Sums always use four lanes, and no operations are
   fused. Every level therefore gives the same bits as `_reference/lambdas.py`. */
#pragma once
#include "vectors.h"

#define SUM_LANES 4

/* A document that is paired with lower-ranked documents, and the options for these pairs. */
struct Row {
  double score;
  double gain;    /* the gain divided by the ideal */
  double exp;     /* e^(sigma (score - top)) */
  double discount;   /* the discount of the document's rank */
  int by_score;   /* whether the weight of a pair decreases with the difference of its scores */
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
