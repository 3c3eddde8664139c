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
