"""The functions for other people's compiled code; see `rankgain.h`."""

from typing import Final

RANKGAIN_LINEAR: Final[int]
RANKGAIN_EXPONENTIAL: Final[int]
RANKGAIN_LOG2: Final[int]
RANKGAIN_JARVELIN: Final[int]
RANKGAIN_ZIPF: Final[int]
RANKGAIN_JUDGED: Final[int]
RANKGAIN_RETURNED: Final[int]
RANKGAIN_AVERAGE: Final[int]
RANKGAIN_BEST: Final[int]
RANKGAIN_WORST: Final[int]
RANKGAIN_STABLE: Final[int]
RANKGAIN_DELTA_CUT: Final[int]
RANKGAIN_DELTA_FULL: Final[int]
RANKGAIN_DELTA_ONE: Final[int]
RANKGAIN_NOT_NORMALIZED: Final[int]
RANKGAIN_BY_SCORE: Final[int]
RANKGAIN_BY_QUERY: Final[int]
RANKGAIN_BY_SCORE_AND_QUERY: Final[int]
RANKGAIN_OK: Final[int]
RANKGAIN_NAN_GRADE: Final[int]
RANKGAIN_INFINITE_GRADE: Final[int]
RANKGAIN_NEGATIVE_GRADE: Final[int]
RANKGAIN_LARGE_GRADE: Final[int]
RANKGAIN_NAN_SCORE: Final[int]
RANKGAIN_NOT_FINITE: Final[int]
RANKGAIN_ABOVE_IDEAL: Final[int]
RANKGAIN_INFINITE_SCORE: Final[int]
RANKGAIN_BAD_LENGTH: Final[int]
RANKGAIN_BAD_CUTOFF: Final[int]
RANKGAIN_BAD_OPTION: Final[int]
RANKGAIN_NULL_POINTER: Final[int]
RANKGAIN_SHORT_DISCOUNT: Final[int]
RANKGAIN_BAD_DISCOUNT: Final[int]
RANKGAIN_NO_CUTOFF: Final[int]

_C_API: object

def address(name: str) -> int: ...
