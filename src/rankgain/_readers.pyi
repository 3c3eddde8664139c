# The signatures of `_reference_readers` too: arguments are positional, buffers one-dimensional and contiguous.
from collections.abc import Mapping
from typing import Any

from rankgain.errors import Fault
from rankgain.lists import Floats, Ints

def read_judged(truths: list[dict[Any, float]], documents: list[Any], grades: Floats, offsets: Ints) -> Fault: ...
def hits_matched(
    documents: list[Any],
    offsets: Ints,
    grades: Floats,
    runs: list[Mapping[Any, float]],
    depth: int,
    below: float,
    ties: int,
    single: bool,
    hit_offsets: Ints,
    hit_grade: Floats,
    hit_first: Ints,
    hit_last: Ints,
) -> Fault: ...
def pack_integers(values: list[Any], numbers: Ints) -> Fault: ...
def pack_ids(values: list[Any], text: bool, ends: Ints) -> tuple[bytes, Fault]: ...
