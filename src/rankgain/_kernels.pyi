# The signatures of `_reference`, `_reference_ordering` and `_reference_doors` too: arguments are positional, buffers
# one-dimensional and contiguous. Scores and grades that are arrays may be of any type that `lists.NATIVE` names.
from typing import Any, Self, TypeAlias, final

from rankgain.arrays import Array
from rankgain.errors import Fault
from rankgain.lists import Floats, Ints

def use_cpu(level: str | None, /) -> str | None: ...
def grade_fault(grades: Array, offsets: Ints, /) -> Fault: ...
def hits_ranked(
    grades: Array,
    offsets: Ints,
    depth: int,
    zeros: bool,
    hit_offsets: Ints,
    hit_grade: Floats,
    hit_rank: Ints,
    /,
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
    /,
) -> Fault: ...
def judged_grades(
    grades: Array,
    offsets: Ints,
    depth: int,
    judged_offsets: Ints,
    judged_grade: Floats,
    judged_count: Ints,
    /,
) -> Fault: ...
def fill_discount(kind: int, base: float, out: Floats, /) -> None: ...
def fill_exponential(grades: Floats, out: Floats, /) -> int: ...
def discounted_sum(
    offsets: Ints,
    first: Ints,
    last: Ints,
    gain: Floats,
    ties: int,
    table: Floats,
    kind: int,
    base: float,
    cutoffs: Ints,
    spans: Ints | None,
    out: Floats,
    /,
) -> Fault: ...
def ideal_sum(
    offsets: Ints,
    gain: Floats,
    count: Ints,
    limits: Ints | None,
    table: Floats,
    kind: int,
    base: float,
    cutoffs: Ints,
    spans: Ints | None,
    out: Floats,
    /,
) -> Fault: ...
def first_relevant(
    offsets: Ints,
    grade: Floats,
    first: Ints,
    last: Ints,
    judged_offsets: Ints,
    judged_grade: Floats,
    below: float,
    ties: int,
    empty: float,
    cutoffs: Ints,
    out: Floats,
    /,
) -> None: ...
def any_relevant(
    offsets: Ints,
    grade: Floats,
    first: Ints,
    last: Ints,
    judged_offsets: Ints,
    judged_grade: Floats,
    below: float,
    ties: int,
    empty: float,
    cutoffs: Ints,
    out: Floats,
    /,
) -> None: ...
def precision_sum(
    offsets: Ints,
    grade: Floats,
    first: Ints,
    last: Ints,
    below: float,
    ties: int,
    beta: float,
    judged_offsets: Ints,
    judged_grade: Floats,
    judged_count: Ints,
    cutoffs: Ints,
    out: Floats,
    /,
) -> None: ...
def preference_sum(
    offsets: Ints,
    grade: Floats,
    first: Ints,
    last: Ints,
    below: float,
    ties: int,
    relevant: Ints,
    non_relevant: Ints,
    out: Floats,
    /,
) -> None: ...
def inferred_sum(
    offsets: Ints,
    grade: Floats,
    first: Ints,
    last: Ints,
    below: float,
    ties: int,
    out: Floats,
    /,
) -> None: ...
def interpolated(
    offsets: Ints,
    grade: Floats,
    first: Ints,
    last: Ints,
    below: float,
    ties: int,
    relevant: Ints,
    points: Floats,
    up: bool,
    out: Floats,
    /,
) -> None: ...
def cost_sum(
    offsets: Ints,
    first: Ints,
    last: Ints,
    gain: Floats,
    ties: int,
    judged_offsets: Ints,
    judged_gain: Floats,
    judged_count: Ints,
    out: Floats,
    /,
) -> Fault: ...
def cascade(
    offsets: Ints,
    first: Ints,
    last: Ints,
    stop: Floats,
    ties: int,
    scratch: Floats,
    cutoffs: Ints,
    out: Floats,
    /,
) -> Fault: ...
def ideal_cascade(offsets: Ints, stop: Floats, count: Ints, cutoffs: Ints, out: Floats, /) -> None: ...
def normalise(values: Floats, ideals: Floats, empty: float, bounded: bool, out: Floats, /) -> Fault: ...

# None for what takes the long way: no list, tuple or array, one that is long, unsound, or of other numbers than C has.
_Answer: TypeAlias = float | None

@final
class Door:
    """The functions on one list, with their settings."""

    def __new__(
        cls, exponential: bool, table: Floats, kind: int, base: float, depth: int, empty: float, below: float
    ) -> Self: ...
    def dcg(self, grades: Any, /) -> _Answer: ...
    def idcg(self, grades: Any, /) -> _Answer: ...
    def ndcg(self, grades: Any, /) -> _Answer: ...
    def rr(self, grades: Any, /) -> _Answer: ...

def dcg_lists(
    grades: Array,
    offsets: Ints,
    exponential: bool,
    table: Floats,
    kind: int,
    base: float,
    depth: int,
    out: Floats,
    /,
) -> Fault: ...
def idcg_lists(
    grades: Array,
    offsets: Ints,
    exponential: bool,
    table: Floats,
    kind: int,
    base: float,
    depth: int,
    out: Floats,
    /,
) -> Fault: ...
def ndcg_lists(
    grades: Array,
    offsets: Ints,
    judged: Array | None,
    judged_offsets: Ints | None,
    exponential: bool,
    table: Floats,
    kind: int,
    base: float,
    depth: int,
    returned: bool,
    bounded: bool,
    empty: float,
    out: Floats,
    /,
) -> Fault: ...
def rr_lists(grades: Array, offsets: Ints, depth: int, below: float, out: Floats, /) -> Fault: ...
