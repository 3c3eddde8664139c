# The signatures of `_reference` too: arguments are positional, buffers one-dimensional and contiguous.
from typing import TypeAlias

from rankgain.errors import Fault
from rankgain.lists import Floats, Ints

# One list: a buffer, or a list or tuple of float and int; None where that holds anything else, or what is wrong.
_List: TypeAlias = Floats | list[float] | tuple[float, ...]
_Answer: TypeAlias = float | None

def fill_discount(kind: int, base: float, out: Floats) -> None: ...
def fill_exponential(grades: Floats, out: Floats) -> int: ...
def dcg_list(grades: _List, exponential: bool, table: Floats, kind: int, base: float, depth: int) -> _Answer: ...
def idcg_list(grades: _List, exponential: bool, table: Floats, kind: int, base: float, depth: int) -> _Answer: ...
def ndcg_list(
    grades: _List, exponential: bool, table: Floats, kind: int, base: float, depth: int, empty: float
) -> _Answer: ...
def rr_list(grades: _List, depth: int, rel: float) -> _Answer: ...
def dcg_lists(
    grades: Floats, offsets: Ints, exponential: bool, table: Floats, kind: int, base: float, depth: int, out: Floats
) -> Fault: ...
def idcg_lists(
    grades: Floats, offsets: Ints, exponential: bool, table: Floats, kind: int, base: float, depth: int, out: Floats
) -> Fault: ...
def ndcg_lists(
    grades: Floats,
    offsets: Ints,
    judged: Floats | None,
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
) -> Fault: ...
def rr_lists(grades: Floats, offsets: Ints, depth: int, rel: float, out: Floats) -> Fault: ...
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
    out: Floats,
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
    out: Floats,
) -> Fault: ...
def first_relevant(
    offsets: Ints,
    grade: Floats,
    first: Ints,
    last: Ints,
    judged_offsets: Ints,
    judged_grade: Floats,
    rel: float,
    ties: int,
    empty: float,
    cutoffs: Ints,
    out: Floats,
) -> None: ...
def normalise(values: Floats, ideals: Floats, empty: float, bounded: bool, out: Floats) -> Fault: ...
