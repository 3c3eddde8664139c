"""A program with mistakes that a type checker has to find; test_types.py counts them. It is never run."""

from typing import Any

import rankgain as rg

qrels = {"q": {"d": 1}}
runs = {"bm25": {"q": {"d": 1.0}}, "dense": {"q": {"d": 0.5}}}
run = runs["bm25"]
table = [{"query": "q", "relevant": ["a"], "retrieved": ["a"]}]
comparison = rg.compare(qrels, runs, ["rr"])
tests = comparison.test()

rg.evaluate(qrels, run, "rr", ties="random")  # wrong
rg.evaluate(qrels, run, "rr", tise="docid")  # wrong
rg.evaluate(qrels, run, "rr", missing="none")  # wrong
rg.evaluate("rr", truth=qrels, run=run, duplicates="last")  # wrong
rg.evaluate(table, "rr", retreived="retrieved")  # wrong
rg.compare(qrels, runs, ["rr"], ties="random")  # wrong
rg.compare(qrels, runs, ["rr"], mising="skip")  # wrong
comparison.test(correction="bonferroni")  # wrong
comparison.test(method="bootstrap")  # wrong
comparison.test(family="metrics")  # wrong
comparison.test(intervals="all")  # wrong
comparison.test(queries="all")  # wrong
rg.ndcg([1, 0], gain="exp")  # wrong
tests.to_latex(part="first")  # wrong
rg.agreement(qrels, qrels, runs, "rr", pairs="all")  # wrong

# These are right.
rules: dict[str, Any] = {"ties": "docid"}
options: dict[str, Any] = {"correction": None}
rg.evaluate(qrels, run, "rr", **rules)
rg.evaluate(qrels, run, "rr", ties="docid", missing="skip", query_ids=["q"], threads=2)
rg.evaluate(table, "rr", rg.metric("ndcg", k=10), query="query", retrieved="retrieved")
rg.evaluate("rr", truth=[[1, 0]], run=[[0.5, 0.1]], ties="average")
rg.compare(qrels, runs, ["rr"], **rules)
rg.compare(qrels, runs, "rr", ties="stable", missing="skip", queries="same", duplicates="first")
comparison.test(**options).to_markdown(part="matrix")
rg.ndcg([1, 0], gain={1: 3.0})
rg.metric("ndcg", gain="exponential")
height: int = tests.to_polars().height
