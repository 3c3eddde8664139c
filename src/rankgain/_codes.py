"""The numeric codes, and the record of a term, that Python and both backends share.

`_codes.pxd` declares them for Cython; `tests/package/test_table_complete.py` compares the two.
"""

from typing import Any, NamedTuple

# No cut-off, no limit: the largest integer that fits the buffers of both backends.
UNLIMITED = 2**63 - 1

# The longest list for the kernels of single lists; longer ones benefit from releasing the GIL, or from threads.
LONGEST_LIST = 1024

# How documents of equal score are ordered. Under the first three, they form a tie group with a first and a last rank,
# which the metric resolves; under the last two, they are sorted.
AVERAGE, BEST, WORST, STABLE, DOCID = range(5)

# The discount of a rank.
UNIT, LOG2, JARVELIN, ZIPF, VECTOR, GEOMETRIC = range(6)

# The form of a chunk of a Source.
LISTS, DICTS, COLUMNS, HITS, MATRIX = range(5)

# The family of a term: the function that maps the hits or judged grades of a query to one number per cut-off.
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

# How a term maps grades to gains; CALLABLE: a Python function, called for each query.
NO_GAIN, LINEAR, EXPONENTIAL, RELEVANT, STOP, IRRELEVANT, TABLE, CALLABLE = range(8)

# How the values of terms are combined to the value of a metric.
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

# Error codes: an error is (code, query, position).
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
# Flag added to an error code: the error is in the judged grades instead of the list.
IN_JUDGED = 64


class KernelTerm(NamedTuple):
    """A term of `rankgain.metrics.families` as the engine takes it, with cut-offs in ascending order.

    `grades` and `gains` are the table of a gain given by grade. `discount_table`, `kind` and `base` are the discount:
    see `_reference/sums.py`. A document is relevant if its grade is above `above`, the largest float below `rel`, by
    default 0. The meaning of three fields depends on the family:

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
