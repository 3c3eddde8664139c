# The signatures of `_reference_readers`, `_reference_columns` and `_reference_lines` too: arguments are positional,
# buffers one-dimensional and contiguous.
from collections.abc import Iterable, Mapping
from typing import Any

from rankgain.errors import Fault
from rankgain.ids import Bytes
from rankgain.lists import Floats, Ints

def read_judged(truths: list[dict[Any, float]], documents: list[Any], grades: Floats, offsets: Ints, /) -> Fault: ...
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
    /,
) -> Fault: ...
def pack_integers(values: list[Any], numbers: Ints, /) -> Fault: ...
def pack_ids(values: list[Any], text: bool, ends: Ints, /) -> tuple[bytes, Fault]: ...
def copy_integers(rows: Iterable[Iterable[Any]], numbers: Ints, /) -> bool: ...
def number_ids(
    data: Bytes,
    starts: Ints,
    ends: Ints,
    n: int,
    rows: Ints,
    numbers: Ints,
    firsts: Ints,
    /,
) -> tuple[int, int]: ...
def copy_views(views: Bytes, buffers: list[Bytes], data: Bytes, starts: Ints, ends: Ints, /) -> int | None: ...
def repeated(data: Bytes, starts: Ints, ends: Ints, offsets: Ints, /) -> Fault: ...
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
    /,
) -> Fault: ...

# data, starts, ends, values, hashes, runs
_Block = tuple[Bytes, Ints, Ints, Floats, Ints, Ints]
# data, starts, ends, offsets, grades, slots, scores, orders, held, hits, keys, above, equals, ties
_Lists = tuple[Bytes, Ints, Ints, Ints, Floats, Ints, Floats, Ints, Ints, Ints, Floats, Ints, Ints, int]

def scan_run(block: _Block, totals: Ints, /) -> Fault: ...
def scan_qrels(block: _Block, totals: Ints, /) -> Fault: ...
def number_queries(
    data: Bytes,
    runs: Ints,
    names: Bytes,
    bounds: Ints,
    slots: Ints,
    known: int,
    numbers: Ints,
    /,
) -> tuple[int, int]: ...
def equal_hashes(hashes: Ints, offsets: Ints, /) -> int | None: ...
def match_lines(block: _Block, numbers: Ints, first: int, judged_of: Ints, sizes: Ints, lists: _Lists, /) -> None: ...
def count_lines(
    block: _Block,
    numbers: Ints,
    first: int,
    judged_of: Ints,
    places: Ints,
    hashes: Ints,
    lists: _Lists,
    /,
) -> bool: ...
