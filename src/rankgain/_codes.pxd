# The numeric codes of `_codes.py`, declared for Cython.
from libc.stdint cimport int64_t

cdef enum:
    LONGEST_LIST = 1024

cdef enum:
    EMPTY_TEXT = 1
    SHORT_QUERY = 2
    REGULAR_SCORES = 4
    OTHER_FORM = 8
    ALL_SIGNS = 15

cdef enum:
    AVERAGE = 0
    BEST = 1
    WORST = 2
    STABLE = 3
    DOCID = 4

cdef enum:
    UNIT = 0
    LOG2 = 1
    JARVELIN = 2
    ZIPF = 3
    VECTOR = 4
    GEOMETRIC = 5

cdef enum:
    LISTS = 0
    DICTS = 1
    COLUMNS = 2
    MATRIX = 3

cdef enum:
    DISCOUNTED_SUM = 0
    IDEAL_SUM = 1
    FIRST_RELEVANT = 2
    ANY_RELEVANT = 3
    RANKS = 4
    JUDGED_ABOVE = 5
    PRECISION_AT_RELEVANT = 6
    PRECISION_SUM = 7
    PREFERENCE_SUM = 8
    INFERRED_SUM = 9
    INTERPOLATED = 10
    COST_SUM = 11
    CASCADE = 12
    IDEAL_CASCADE = 13
    GRADE_LEVELS = 14
    RELEVANT_RANKS = 15
    PAIRS = 16
    RETURNED_ABOVE = 17

cdef enum:
    NO_GAIN = 0
    LINEAR = 1
    EXPONENTIAL = 2
    RELEVANT = 3
    STOP = 4
    IRRELEVANT = 5
    TABLE = 6
    CALLABLE = 7

cdef enum:
    AS_IS = 0
    RATIO = 1
    QUOTIENT = 2
    BY_RELEVANT = 3
    BY_CAPPED = 4
    BY_HITS = 5
    FILLED = 6
    BOUNDED_MEAN = 7
    F_MEASURE = 8
    BIASED = 9
    RESIDUAL = 10
    UNJUDGED = 11
    SET_AP = 12
    UTILITY = 13
    ONE = 14
    FALLOUT = 15

cdef enum:
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
    IN_JUDGED = 64
