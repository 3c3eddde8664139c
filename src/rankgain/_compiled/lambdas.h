/* The loops over pairs and exponentials, for every level of CPU. Sums run in four lanes, whatever the width of the
   registers, and nothing is fused: so the bits are the same at every level, and those of `_reference/lambdas.py`. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

#ifdef __GNUC__
#define UNROLLED _Pragma("GCC unroll 4")
#define ALWAYS inline __attribute__((always_inline))
#else
#define UNROLLED
#define ALWAYS inline
#endif
#define JOIN_(NAME, LANES) NAME##_##LANES
#define JOIN(NAME, LANES) JOIN_(NAME, LANES)
#define HERE(NAME) JOIN(NAME, LANES)
#define LOAD(AT) (*(const HERE(reals) *)(AT))
#define STORE(AT, VALUE) (*(HERE(reals) *)(AT) = (VALUE))
#define ALL(VALUE) ((VALUE) - (HERE(reals)){0})

#ifndef __GNUC__
#define LANES 1
#define VECTOR
#define TARGET
#include "lambda_loops.h"
static const struct PairLoops *const pair_loops_baseline = &pair_loops_1;
static const struct PairLoops *const pair_loops_wide = &pair_loops_1;
#else /* two numbers are what every CPU of the usual platforms has registers for */
#define VECTOR __attribute__((vector_size(8 * LANES), aligned(8), may_alias))
#define LANES 2
#define TARGET
#include "lambda_loops.h"
static const struct PairLoops *const pair_loops_baseline = &pair_loops_2;
#ifdef __x86_64__
#define LANES 4
#define TARGET __attribute__((target("avx2")))
#include "lambda_loops.h"
static const struct PairLoops *const pair_loops_wide = &pair_loops_4;
#else
static const struct PairLoops *const pair_loops_wide = &pair_loops_2;
#endif
#endif
