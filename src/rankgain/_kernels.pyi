# The signatures of `_reference` too: arguments are positional, buffers one-dimensional and contiguous.
from rankgain.errors import Fault
from rankgain.lists import Floats, Ints

def fill_discount(kind: int, base: float, out: Floats) -> None: ...
def fill_exponential(grades: Floats, out: Floats) -> int: ...
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
    below: float,
    ties: int,
    empty: float,
    cutoffs: Ints,
    out: Floats,
) -> None: ...
def normalise(values: Floats, ideals: Floats, empty: float, bounded: bool, out: Floats) -> Fault: ...
