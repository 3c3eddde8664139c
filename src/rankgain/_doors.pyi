# The signatures of `_reference_doors` too: arguments are positional, buffers one-dimensional and contiguous.
from typing import Any, Self, TypeAlias, final

from rankgain.arrays import Array
from rankgain.errors import Fault
from rankgain.lists import Floats, Ints

# None for what takes the long way: no list, tuple or array, one that is long, unsound, or of other numbers than C has.
_Answer: TypeAlias = float | None

@final
class Door:
    """The functions on one list, with their settings."""

    def __new__(
        cls, exponential: bool, table: Floats, kind: int, base: float, depth: int, empty: float, below: float
    ) -> Self: ...
    def dcg(self, grades: Any, /) -> _Answer: ...
    def idcg(self, grades: Any, /) -> _Answer: ...
    def ndcg(self, grades: Any, /) -> _Answer: ...
    def rr(self, grades: Any, /) -> _Answer: ...

def dcg_lists(
    grades: Array, offsets: Ints, exponential: bool, table: Floats, kind: int, base: float, depth: int, out: Floats
) -> Fault: ...
def idcg_lists(
    grades: Array, offsets: Ints, exponential: bool, table: Floats, kind: int, base: float, depth: int, out: Floats
) -> Fault: ...
def ndcg_lists(
    grades: Array,
    offsets: Ints,
    judged: Array | None,
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
def rr_lists(grades: Array, offsets: Ints, depth: int, below: float, out: Floats) -> Fault: ...
