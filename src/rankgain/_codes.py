"""Numeric codes and the term record, shared by the Python code and both backends.

`_codes.pxd` declares the codes for Cython; `tests/package/test_table_complete.py` checks that both files agree.
"""

from typing import Any, NamedTuple

# Stands for "no cut-off" or "no limit". It is the largest integer that fits the buffers of both backends.
UNLIMITED = 2**63 - 1

# The maximum length of a list that the single-list kernels process. For longer lists, releasing the GIL and using
# threads is worthwhile.
LONGEST_LIST = 1024

# What one look at a dict of dicts can see, as flags: an empty text as an id; a query with fewer than two documents; a
# query whose first two scores are equal or count up by 1. Where a sign is missing, the checks for what it may show are
# not needed. ALL_SIGNS is also the answer if the value may have another form.
EMPTY_TEXT = 1
SHORT_QUERY = 2
REGULAR_SCORES = 4
OTHER_FORM = 8
ALL_SIGNS = 15

# How documents with equal scores are ordered. Under the first three policies, they form a tie group with a first and a
# last rank, and the metric resolves the ties. Under the last two policies, they are sorted.
AVERAGE, BEST, WORST, STABLE, DOCID = range(5)

# The kinds of discount.
UNIT, LOG2, JARVELIN, ZIPF, VECTOR, GEOMETRIC = range(6)

# The forms in which a chunk of a `Source` can hold its data.
LISTS, DICTS, COLUMNS, MATRIX = range(4)

# The families of terms. A family is a function from the hits or judged grades of a query to one number per cut-off.
(
    DISCOUNTED_SUM,
    IDEAL_SUM,
    FIRST_RELEVANT,
    ANY_RELEVANT,
    RANKS,
    JUDGED_ABOVE,
    PRECISION_AT_RELEVANT,
    PRECISION_SUM,
    PREFERENCE_SUM,
    INFERRED_SUM,
    INTERPOLATED,
    COST_SUM,
    CASCADE,
    IDEAL_CASCADE,
    GRADE_LEVELS,
    RELEVANT_RANKS,
    PAIRS,
    RETURNED_ABOVE,
) = range(18)

# How a term maps grades to gains. CALLABLE stands for a Python function that is called for each query.
NO_GAIN, LINEAR, EXPONENTIAL, RELEVANT, STOP, IRRELEVANT, TABLE, CALLABLE = range(8)

# How the values of terms are combined into the value of a metric.
(
    AS_IS,
    RATIO,
    QUOTIENT,
    BY_RELEVANT,
    BY_CAPPED,
    BY_HITS,
    FILLED,
    BOUNDED_MEAN,
    F_MEASURE,
    BIASED,
    RESIDUAL,
    UNJUDGED,
    SET_AP,
    UTILITY,
    ONE,
    FALLOUT,
) = range(16)

# Error codes. An error is reported as a tuple (code, query, position).
NAN_GRADE = 1
INFINITE_GRADE = 2
NEGATIVE_GRADE = 3
LARGE_GRADE = 4
NAN_SCORE = 5
NOT_FINITE = 6
ABOVE_IDEAL = 7
GRADE_TYPE = 8
SCORE_TYPE = 9
MIXED_IDS = 10
OTHER_IDS = 11
CHANGED = 12
FEW_FIELDS = 13
NOT_A_NUMBER = 14
DUPLICATE = 15
NULL_ID = 16
ID_TYPE = 17
LONE_SURROGATE = 18
LARGE_ID = 19
LARGE_GROUP = 20
MISSING_GAIN = 21
BAD_GAIN = 22
SHORT_DISCOUNT = 23
ABOVE_MAX_GRADE = 24
INFINITE_SCORE = 25
EMPTY_ID = 26
# A flag added to an error code if the error is in the judged grades rather than in the list.
IN_JUDGED = 64


class KernelTerm(NamedTuple):
    """The engine's representation of a term from `rankgain.metrics.families`; its cut-offs are in ascending order.

    `grades` and `gains` form the table for a gain that is given by grade. `discount_table`, `kind` and `base` define
    the discount: see `_reference/sums.py`. A document is relevant if its grade exceeds `above`: by default 0, else the
    largest float below `rel`. The meaning of three fields depends on the family:

    - `level`: for the gains RELEVANT and IRRELEVANT, the threshold of relevance; for STOP, the highest grade of the
      scale; for PREFERENCE_SUM, `NON_RELEVANT`, the threshold of judged documents;
    - `factor`: for PRECISION_SUM, β; for PRECISION_AT_RELEVANT, the multiple of R;
    - `flag`: for IDEAL_SUM and RANKS, cut at the length of the list; for INTERPOLATED, round up.
    """

    family: int
    gain: int
    level: float
    grades: Any
    gains: Any
    above: float
    empty: float
    factor: float
    flag: bool
    kind: int
    base: float
    discount_table: Any
    cutoffs: Any
    points: Any
