"""The specification in plain Python, and the fallback where nothing is compiled.

To learn what a number is, read in this order:

- `forms`: which documents a query has in each form of input, and which are refused;
- `ranking`: `find` orders them into tie groups at ranks; `query` is the result, with the gains;
- `sums` (DCG, IDCG, RR, success), `precisions` (AP, Q-measure, bpref, AUC, infAP …), `cascade` (ERR): the sums of the
  metrics, one function per family, at all cut-offs;
- `program`: what is divided by what; `walk`: from query to query.

The others have kernels that not only the engine calls: `lists` (functions on relevance in rank order), `columns` and
`dicts` (checking, packing and numbering ids), `lines` (TREC files), `lambdas` (LambdaRank's gradients), `flips` (sign
flips of comparisons).
"""
