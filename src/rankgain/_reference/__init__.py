"""The specification in plain Python, and the fallback where nothing is compiled.

To learn what a number is, read in this order:

- `forms`: which documents a query has, as each input gives them, and what is refused;
- `ranking`: `find` puts them in order, as tie groups at their ranks; `query` is the result, with the gains;
- `sums` (DCG, IDCG, RR, success), `precisions` (AP, Q-measure, bpref, AUC, infAP …), `cascade` (ERR): the sums of the
  metrics, one function per family, at all cut-offs;
- `program`: what is divided by what; `walk`: from query to query.

The others stand for compiled kernels that more than the engine calls: `lists` (functions on one list), `ordering`,
`columns` and `dicts` (checking, packing and numbering what callers pass), `lines` (TREC files), `lambdas` (LambdaRank's
gradients), `flips` (sign flips of comparisons).
"""
