"""The specification in plain Python, and the fallback where nothing is compiled.

A query is worth terms, which are sums over its documents at cut-offs; a figure combines terms to the value of a metric.
`rankgain.metrics.table` says which: "ndcg" has the terms `discounted_sum` and `ideal_sum`, and the figure RATIO divides
them. To learn what a value is, look its metric up there, then read in this order:

- `numbers`: the numbers of a list, and how invalid input is refused (`Refused`);
- `forms`: which documents a query has in each form of input;
- `ranking`: `find` orders them into tie groups at ranks; `query` is the result, with the gains;
- `sums` (DCG, IDCG, RR, success), `precisions` (AP, Q-measure, bpref, AUC, infAP …), `cascade` (ERR): the terms, one
  function per family, at all cut-offs;
- `program`: further terms, and the figures; `walk`: from query to query; `parts`: the amounts of one query.

Formulas are mathematics. The order of operations, which decides the last bits, is that of the code.

The others are kernels with another caller than the engine: `lists` (functions on relevance in rank order), `columns`
and `dicts` (checking, packing and numbering ids), `lines` (TREC files), `lambdas` (LambdaRank's gradients), `flips`
(sign flips of comparisons).

Both backends have the same signatures. What only the compiled one needs has no effect here: `walk.rows`, the hash table
`slots` and the buffer `keys` of `lines`.

`tests/support/textbook.py` states the metrics once more, over all orders of tied documents. `tests/metrics` compares
both backends with it, and `tests/backends` compares them with each other.
"""
