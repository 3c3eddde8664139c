# The signatures of `_reference_readers` too: arguments are positional, buffers one-dimensional and contiguous.
from typing import Any

from rankgain.errors import Fault
from rankgain.lists import Floats, Ints

def hits_matched(
    truths: list[dict[Any, float]],
    runs: list[dict[Any, float]],
    depth: int,
    zeros: bool,
    ties: int,
    hit_offsets: Ints,
    hit_grade: Floats,
    hit_first: Ints,
    hit_last: Ints,
    grade_offsets: Ints,
    grades_out: Floats,
) -> Fault: ...
def scan_run(data: bytes, table: dict[bytes, dict[bytes, float]]) -> Fault: ...
def scan_qrels(data: bytes, table: dict[bytes, dict[bytes, float]]) -> Fault: ...
