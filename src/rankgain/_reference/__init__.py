"""The specification in plain Python, and the fallback if no compiled modules are installed.

Terms are sums over the documents of a query, at cut-offs; a combination of terms is the value of a metric.
`rankgain.metrics.table` lists the terms and the combination of each metric: "ndcg" has the terms `discounted_sum` and
`ideal_sum`, and the combination RATIO divides them. To understand a metric, look up its row, then read in this order:

- `numbers`: the numbers of a list, and how invalid input is refused (`Refused`);
- `forms`: the documents of a query, for each form of input;
- `ranking`: `find` orders documents into tie groups at ranks; `query` defines the result and the gains;
- `sums` (DCG, IDCG, RR, success), `precisions` (AP, Q-measure, bpref, AUC, infAP …), `cascade` (ERR): the terms, one
  function per family, at all cut-offs;
- `program`: further terms, and the combinations; `walk`: the loop over queries; `parts`: the intermediate values of one
  query.

Formulas in docstrings are mathematics; the order of operations in the code defines the last bits of a value.

The remaining modules are not part of the engine: `lists` (functions on relevance in rank order), `columns` and `dicts`
(checking, packing and numbering ids), `lines` (TREC files), `lambdas` (LambdaRank's gradients), `flips` (sign flips of
comparisons).

Both backends have the same signatures. Arguments that only the compiled backend uses have no effect here: `walk.rows`,
the hash table `slots` and the buffer `keys` of `lines`.

`tests/support/textbook.py` defines the metrics independently, by enumerating the orders of tied documents.
`tests/metrics` compares both backends with it, and `tests/backends` compares the backends with each other.
"""
