# The signatures of `_reference_ordering` too: arguments are positional, buffers one-dimensional and contiguous.
import numpy as np
import numpy.typing as npt

from rankgain.errors import Fault
from rankgain.lists import Floats, Ints

def grade_fault(grades: Floats, offsets: Ints) -> Fault: ...
def hits_ranked(
    grades: Floats, offsets: Ints, depth: int, zeros: bool, hit_offsets: Ints, hit_grade: Floats, hit_rank: Ints
) -> Fault: ...
def hits_scored_f64(
    scores: Floats,
    grades: Floats,
    offsets: Ints,
    depth: int,
    zeros: bool,
    stable: bool,
    hit_offsets: Ints,
    hit_grade: Floats,
    hit_first: Ints,
    hit_last: Ints,
) -> Fault: ...
def hits_scored_f32(
    scores: npt.NDArray[np.float32],
    grades: Floats,
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
    grades: Floats, offsets: Ints, depth: int, judged_offsets: Ints, judged_grade: Floats, judged_count: Ints
) -> Fault: ...
