# The signatures of `_reference_ordering` too: arguments are positional, buffers one-dimensional and contiguous. Scores
# and grades may be of any type that `lists.NATIVE` names.
from rankgain.arrays import Array
from rankgain.errors import Fault
from rankgain.lists import Floats, Ints

def use_cpu(level: str | None) -> str | None: ...
def grade_fault(grades: Array, offsets: Ints) -> Fault: ...
def hits_ranked(
    grades: Array, offsets: Ints, depth: int, zeros: bool, hit_offsets: Ints, hit_grade: Floats, hit_rank: Ints
) -> None: ...
def hits_scored(
    scores: Array,
    grades: Array,
    offsets: Ints,
    depth: int,
    zeros: bool,
    stable: bool,
    hit_offsets: Ints,
    hit_grade: Floats,
    hit_first: Ints,
    hit_last: Ints,
) -> Fault: ...
def judged_grades(
    grades: Array, offsets: Ints, depth: int, judged_offsets: Ints, judged_grade: Floats, judged_count: Ints
) -> Fault: ...
