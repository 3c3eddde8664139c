# The numbers of `_codes.py`, for Cython.
from libc.stdint cimport int64_t

cdef enum:
    LONGEST_LIST = 1024

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
    IN_JUDGED = 64
