"""Each option of each public call at a value that matters, on every way that it is read, on both backends.

A row is (call, option, value, expected, what else is given). What is expected is worked by hand, and must differ from
what the call gives without the option; `SAME` stands for options that must not matter, such as threads.
"""

import math
from itertools import groupby

import numpy as np
import pytest
from support.cases import Option as option

SAME = object()
SECOND, THIRD = 1 / math.log2(3), 0.5  # discounts of ranks 2 and 3
nan = math.nan
GAIN = {1: 1, 2: 7, 0: 0}


def double(grades):
    return 2.0 * grades


def lists():
    """Functions on relevance in rank order: gains in kernels, tables, callables; named discounts and vectors."""
    # A table, a callable or a vector takes another way than gains and discounts that kernels know.
    for ways in ({}, {"gain": GAIN}, {"gain": double}, {"discount": [1.0, 0.5, 0.25]}):
        yield option("ndcg", "empty", 1.0, 1.0, relevance=[0, 0], **ways)
        yield option("ndcg", "empty", nan, [nan, 1.0], relevance=[[0, 0], [1, 0]], **ways)
        yield option("mean_ndcg", "empty", 0.5, 0.75, relevance=[[0, 0], [1, 0]], **ways)
        yield option("mean_ndcg", "empty", nan, 1.0, relevance=[[0, 0], [1, 0]], **ways)
        yield option("ndcg", "ideal", "returned", 1.0, relevance=[1], judged=[1, 1], **ways)
        yield option(
            "ndcg", "ideal", "returned", [1.0, 1.0], relevance=[[1], [0, 0]], judged=[[1, 1], []], empty=1.0, **ways
        )
        yield option("mean_ndcg", "ideal", "returned", 1.0, relevance=[[1], [1]], judged=[[1, 1], [1]], **ways)
        yield option("ndcg", "k", 1, 0.0, relevance=[0, 1], **ways)
        yield option("ndcg", "k", 1, [0.0, 1.0], relevance=[[0, 1], [1, 0, 1]], judged=[[0, 1], [1, 0, 1]], **ways)
        yield option("mean_ndcg", "k", 1, 0.5, relevance=[[0, 1], [1, 0, 1]], **ways)


ROWS = [*lists()]


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([*rows], id=call)
        for call, rows in groupby(sorted(ROWS, key=lambda row: row.call), key=lambda row: row.call)
    ],
)
def test_option(on_both, rows):
    faults = []
    for row in rows:
        compiled, *python = on_both(lambda row=row: (row.with_it(), row.without_it()))
        found, without = compiled
        if repr(python) not in ("[]", repr([compiled])):
            faults.append(f"{row}: the backends differ: {compiled}, {python}")
        if row.expected is SAME:
            if repr(found) != repr(without):
                faults.append(f"{row}: {found}, but {without} without it")
            continue
        try:
            np.testing.assert_allclose(found, row.expected, rtol=1e-12, atol=0)
        except AssertionError:
            faults.append(f"{row}: {found}, not {row.expected}")
        if repr(found) == repr(without):
            faults.append(f"{row}: the same without it")
    assert not faults, "\n".join(faults)
