"""Numbers by which Python and both backends name the same things.

`_codes.pxd` says the same to Cython; `tests/test_table_complete.py` compares the two.
"""

# No cut-off, no limit: the largest rank that fits the buffers of both backends.
UNLIMITED = 2**63 - 1

# The most numbers of one list that a door takes; more of them gain by letting the GIL go, or by threads.
LONGEST_LIST = 1024

# How documents of equal score are ordered. The first three leave them together, as one tie group with its first and
# last rank, for the metric to resolve; the last two are resolved where the order is made.
AVERAGE, BEST, WORST, STABLE, DOCID = range(5)

# The discount of a rank.
UNIT, LOG2, JARVELIN, ZIPF, VECTOR, GEOMETRIC = range(6)

# What is wrong with the input: an offence is (code, query, position).
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
# Added to a code: the offender stands in the judged grades, not in the list itself.
IN_JUDGED = 64
