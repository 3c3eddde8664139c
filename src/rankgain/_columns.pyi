# The signatures of `_reference_columns` too: arguments are positional, buffers one-dimensional and contiguous.
from collections.abc import Iterable
from typing import Any

from rankgain.errors import Fault
from rankgain.ids import Bytes
from rankgain.lists import Floats, Ints

def copy_integers(rows: Iterable[Iterable[Any]], numbers: Ints) -> bool: ...
def number_ids(
    data: Bytes, starts: Ints, ends: Ints, n: int, rows: Ints, numbers: Ints, firsts: Ints
) -> tuple[int, int]: ...
def copy_views(views: Bytes, buffers: list[Bytes], data: Bytes, starts: Ints, ends: Ints) -> int | None: ...
def repeated(data: Bytes, starts: Ints, ends: Ints, offsets: Ints) -> Fault: ...
def hits_in_columns(
    truth_data: Bytes,
    truth_starts: Ints,
    truth_ends: Ints,
    truth_offsets: Ints,
    grades: Floats,
    run_data: Bytes,
    run_starts: Ints,
    run_ends: Ints,
    run_offsets: Ints,
    scores: Floats,
    ranked: bool,
    depth: int,
    below: float,
    ties: int,
    whole: bool,
    hit_offsets: Ints,
    hit_grade: Floats,
    hit_first: Ints,
    hit_last: Ints,
) -> Fault: ...
