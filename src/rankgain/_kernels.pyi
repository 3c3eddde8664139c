# The signatures of the reference too (`_backend.PARTS` says which module stands for which): arguments are positional,
# buffers contiguous. Scores and grades that are arrays may be of any type that `lists.NATIVE` names.
from collections.abc import Iterable
from typing import Any, Self, TypeAlias, final

from rankgain.arrays import Array
from rankgain.errors import Fault
from rankgain.ids import Bytes
from rankgain.lists import Floats, Ints

# see `_reference_walk`
_Rules: TypeAlias = tuple[int, bool, int, bool, int]
_Chunk: TypeAlias = tuple[Any, ...]
_Table: TypeAlias = tuple[Ints, Floats, Floats]
_Answer: TypeAlias = float | Floats | None

def use_cpu(level: str | None, /) -> str | None: ...
def grade_fault(grades: Array, offsets: Ints, /) -> Fault: ...
def fill_discount(kind: int, base: float, out: Floats, /) -> None: ...
def fill_exponential(grades: Floats, out: Floats, /) -> int: ...

@final
class Program:
    def __new__(cls, terms: list[Any], figures: list[Any], depth: int, judged_depth: int, lowest: float, /) -> Self: ...

def run(program: Program, rules: _Rules, chunk: _Chunk, out: Floats, column: int, /) -> int | Fault: ...
def rows(
    program: Program,
    rules: _Rules,
    judged: Judged,
    numbers: dict[Any, int],
    scores: Any,
    keys: tuple[str, ...],
    most: int,
    /,
) -> dict[Any, dict[str, float]] | None: ...
def hits(
    program: Program,
    rules: _Rules,
    chunk: _Chunk,
    returned: Ints,
    offsets: Ints,
    grade: Floats,
    first: Ints,
    last: Ints,
    judged_offsets: Ints,
    judged_grade: Floats,
    judged_count: Ints,
    /,
) -> int | Fault: ...
def figure(
    program: Program,
    ties: int,
    queries: int,
    returned: Ints,
    offsets: Ints,
    grade: Floats,
    first: Ints,
    last: Ints,
    judged_offsets: Ints,
    judged_grade: Floats,
    judged_count: Ints,
    asked: list[_Table | None],
    out: Floats,
    column: int,
    /,
) -> int | Fault: ...

@final
class Judged:
    documents: list[Any]
    fault: Fault
    total: int
    def __new__(cls, truths: list[dict[Any, float]], /) -> Self: ...
    @staticmethod
    def of(documents: list[Any], offsets: Ints, grades: Floats, /) -> Judged: ...
    def arrays(self, /) -> tuple[bytes, bytes]: ...

def as_runs(
    recommended: list[Any], relevant: list[Any], most: int, /
) -> tuple[list[dict[Any, float]], list[dict[Any, float]]] | None: ...
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

@final
class Door:
    def __new__(
        cls,
        exponential: bool,
        table: Floats,
        kind: int,
        base: float,
        depth: int,
        returned: bool,
        empty: float,
        below: float,
        /,
    ) -> Self: ...
    def dcg(self, grades: Any, /) -> _Answer: ...
    def idcg(self, grades: Any, /) -> _Answer: ...
    def ndcg(self, grades: Any, /) -> _Answer: ...
    def rr(self, grades: Any, /) -> _Answer: ...
    def fill(self, wanted: str, given: _Chunk, out: Floats, /) -> Fault: ...
