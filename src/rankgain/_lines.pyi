# The signatures of `_reference_lines` too: arguments are positional, buffers one-dimensional and contiguous.
from rankgain.errors import Fault
from rankgain.ids import Bytes
from rankgain.lists import Floats, Ints

def scan_run(
    data: Bytes, document_start: Ints, document_end: Ints, value: Floats, runs: Ints, totals: Ints
) -> Fault: ...
def scan_qrels(
    data: Bytes, document_start: Ints, document_end: Ints, value: Floats, runs: Ints, totals: Ints
) -> Fault: ...
def number_queries(
    data: Bytes, runs: Ints, names: Bytes, bounds: Ints, slots: Ints, known: int, numbers: Ints
) -> tuple[int, int]: ...
def equal_hashes(hashes: Ints, offsets: Ints) -> int | None: ...
def match_lines(
    data: Bytes,
    starts: Ints,
    ends: Ints,
    values: Floats,
    runs: Ints,
    numbers: Ints,
    first: int,
    judged_of: Ints,
    sizes: Ints,
    judged_data: Bytes,
    judged_starts: Ints,
    judged_ends: Ints,
    offsets: Ints,
    grades: Floats,
    slots: Ints,
    scores: Floats,
    orders: Ints,
    held: Ints,
    hits: Ints,
    keys: Floats,
    above: Ints,
    equals: Ints,
    ties: int,
) -> None: ...
def count_lines(
    data: Bytes,
    starts: Ints,
    ends: Ints,
    values: Floats,
    runs: Ints,
    numbers: Ints,
    first: int,
    judged_of: Ints,
    places: Ints,
    hashes: Ints,
    judged_data: Bytes,
    judged_starts: Ints,
    judged_ends: Ints,
    offsets: Ints,
    grades: Floats,
    slots: Ints,
    scores: Floats,
    orders: Ints,
    held: Ints,
    hits: Ints,
    keys: Floats,
    above: Ints,
    equals: Ints,
    ties: int,
) -> bool: ...
