"""Reference implementation of all metrics in pure Python, which is also used if no compiled modules are installed.

A term is a sum over the documents of a query at each cut-off. A combination of terms gives the value of a metric.
`rankgain.metrics.table` lists the terms and the combination of each metric: "ndcg" has the terms `discounted_sum` and
`ideal_sum`, and the combination RATIO divides them. To understand a metric, look up its row, then read in this order:

- `numbers`: reading the numbers of a list, and rejecting invalid input (`Refused`);
- `forms`: collecting the documents of a query from each form of input;
- `ranking`: `find_hits` ranks the documents and forms tie groups; `query` defines its result and the gains;
- `sums` (DCG, IDCG, RR, success), `precisions` (AP, Q-measure, bpref, AUC, infAP …), `cascade` (ERR): one function for
  each family of terms, which returns the values at all cut-offs;
- `program`: the remaining terms, and the combinations; `walk`: the loop over queries; `parts`: the intermediate values
  of a single query.

The formulas in docstrings define a value mathematically. The order of operations in the code defines its last bits.

The remaining modules are not part of the engine: `lists` (functions on relevance in rank order), `columns` and `dicts`
(checking, packing and numbering ids), `lines` (TREC files), `lambdas` (LambdaRank's gradients), `flips` (sign flips of
comparisons).

Both backends have the same signatures. Some arguments are used only by the compiled backend and have no effect here:
those of `walk.rows`, and the hash table `slots` and the buffer `keys` of `lines`.

`tests/support/textbook.py` defines the metrics independently, by enumerating the orders of tied documents.
`tests/metrics` compares both backends with it, and `tests/backends` compares the backends with each other.
"""
