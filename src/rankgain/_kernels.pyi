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
    spans: Ints | None,
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
    spans: Ints | None,
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
) -> None: ...
def inferred_sum(
    offsets: Ints, grade: Floats, first: Ints, last: Ints, below: float, ties: int, out: Floats
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
) -> Fault: ...
def ideal_cascade(offsets: Ints, stop: Floats, count: Ints, cutoffs: Ints, out: Floats) -> None: ...
def normalise(values: Floats, ideals: Floats, empty: float, bounded: bool, out: Floats) -> Fault: ...
