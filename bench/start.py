"""How long does a process take that imports rankgain, against one that imports NumPy?"""

from __future__ import annotations

import sys
from functools import partial

import contest


def bench(scale: contest.Scale) -> None:
    """The warm-up leaves the byte code behind."""

    def importing(statement: str) -> contest.Contender:
        return contest.Contender(partial(contest.process, sys.executable, "-c", statement), None)

    contenders = {
        "import numpy": importing("import numpy"),
        "rankgain, import rankgain": importing("import rankgain")._replace(at_most=1.1),
        "limit: a process that imports nothing": importing("pass"),
    }
    contest.hold("start of a process", contenders, scale, turn=0.5)


if __name__ == "__main__":
    sys.exit(contest.main(__doc__, bench))
