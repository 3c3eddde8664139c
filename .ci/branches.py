"""Report the branches of the compiled half that the tests did not take: `python .ci/branches.py FOLDER`.

`.ci/deep` runs it. The folder is a tree whose modules were compiled with `gcc --coverage -O0` and then tested. gcov
counts how often each conditional of the C went either way. Most of the C is Cython's own plumbing: references,
arguments, exceptions. A conditional of ours is one on a local variable, for Cython puts every condition of the source,
and every operand of `and` and `or`, into such a one first; comments in the C say which line it is made of. Functions
that are compiled several times, for each type or each level of CPU, count as one.

Some branches no test can take: no memory, an input that another thread changes meanwhile, another CPU or compiler.
"""

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path

MARK = re.compile(r' */\* "(?:src/)?rankgain/(?:_compiled/)?([\w.]+)":(\d+)$')  # before the C of a line
OURS = re.compile(r" *(} else )?(if|for|while|switch) \((unlikely\()?!?__pyx_[tv]_")
PLUMBING = re.compile(r"unlikely\(!|__pyx_temp|Py_|__Pyx|__PYX")


def gcov(data):
    """The report of gcov on a module: the lines and branches of each source file."""
    command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", data.name]
    return json.loads(subprocess.run(command, cwd=data.parent, capture_output=True, check=True).stdout)["files"]


def conditionals(tree):
    """Yield ((file, line, index within the line), how often each branch was taken) for each conditional of ours."""
    package = tree / "src" / "rankgain"
    modules = [data for data in sorted(tree.glob("build/**/*.gcno")) if data.stem != "_cyutility"]
    for source in chain.from_iterable(map(gcov, modules)):
        path = tree / source["file"]
        if path.suffix == ".h" and (package / "_compiled" / path.name).exists():  # our header, copied to the build
            for line in source["lines"]:
                if line["branches"]:  # the number of branches of a macro may depend on the CPU level
                    counts = [branch["count"] for branch in line["branches"]]
                    yield (path.name, line["line_number"], len(counts)), counts
        elif path.suffix == ".c":
            yield from of_c(path.read_text().splitlines(), source["lines"])


def of_c(text, lines):
    origin, origins = None, []
    for line in text:
        mark = MARK.match(line)
        origin = (mark[1], int(mark[2])) if mark else None if line == "}" else origin
        origins.append(origin)
    seen = Counter()
    for line in lines:
        index = line["line_number"] - 1
        ours = OURS.match(text[index]) and not PLUMBING.search(text[index])
        if ours and line["branches"] and origins[index] and not line["function_name"].startswith("__pyx_pymod"):
            of = line["function_name"], *origins[index]
            yield (*origins[index], seen[of]), [branch["count"] for branch in line["branches"]]
            seen[of] += 1


def report(tree):
    """Yield a line for each conditional with a branch that was never taken, then the totals."""
    package = tree / "src" / "rankgain"
    taken = defaultdict(list)
    for conditional, counts in conditionals(tree):
        taken[conditional].append(counts)
    sources = {name: next(package.rglob(name)).read_text().splitlines() for name, _, _ in taken}
    left = branches = 0
    for (name, line, which), counts in sorted(taken.items()):
        text = sources[name][line - 1].split("  #")[0].strip()
        ways = list(map(sum, zip(*counts, strict=True)))
        branches += len(ways)
        # The first of two branches is the true one. The false branch of `except` is an unexpected exception.
        labels = ("true", "false") if len(ways) == 2 else [f"way {way}" for way in range(len(ways))]
        never = [label for label, count in zip(labels, ways, strict=True) if not count]
        if never and not (text.startswith("except ") and never == ["false"]):
            left += len(never)
            yield f"{name}:{line}: condition {which + 1} is never {' nor '.join(never)}: {text}"
    yield f"{branches} branches of {len(taken)} conditionals, {left} never taken"


if __name__ == "__main__":
    print(*report(Path(sys.argv[1]).resolve()), sep="\n")
