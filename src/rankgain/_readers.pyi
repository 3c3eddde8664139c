# The signatures of `_reference_lines` too: arguments are positional, buffers one-dimensional and contiguous.
from rankgain.errors import Fault
from rankgain.ids import Bytes
from rankgain.lists import Floats, Ints

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
