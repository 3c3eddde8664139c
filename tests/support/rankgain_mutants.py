"""Which of the mutants in a build acts, and which were come by: `mutants.py` puts this beside the package.

Both halves and all processes share a file of 32-bit integers: the number of the mutant that acts, then for each whether
its place was reached. `rankgain_mutants.h` is the same in C.
"""

import builtins
import mmap
import os


def board(path: str) -> memoryview:
    with open(path, "r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 0)).cast("i")


if "RANKGAIN_MUTANTS" in os.environ:
    _board = board(os.environ["RANKGAIN_MUTANTS"])

    def _is_chosen(number: int) -> bool:
        _board[number] = 1
        return _board[0] == number

else:

    def _is_chosen(number: int) -> bool:
        return False


builtins.rankgain_mutant = _is_chosen  # type: ignore[attr-defined]
