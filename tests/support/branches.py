"""Which branches of the compiled half the tests did not take: `python tests/support/branches.py FOLDER`.

`.ci/deep` runs it. The folder is a tree whose modules were compiled with `gcc --coverage -O0` and then tested. gcov
counts how often each conditional of the C went either way. Most of the C is Cython's own plumbing: references,
arguments, exceptions. A conditional of ours is one on a local variable, for Cython puts every condition of the source,
and every operand of `and` and `or`, into such a one first; comments in the C say which line it is made of. Functions
that are compiled several times, for each type or each level of CPU, count as one.

It fails if a branch is left that is not excused below, or an excuse that excuses no line.
"""

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path

EXCUSED = {
    "malloc() finds no memory": [
        ("columns.pxi", "return chains.heads != NULL and chains.before != NULL"),
        ("columns.pxi", "if not make_chains(&chains, longest(integers(offsets), queries)):"),
        ("columns.pxi", "if not made or scratch.seen == NULL or scratch.marks == NULL or scratch.members == NULL:"),
        ("columns.pxi", "if slots == NULL:"),
        ("columns.pxi", "if slots != NULL:"),
        ("columns.pxi", "return count if slots != NULL else -1"),
        ("columns.pxi", "if count < 0:"),
        ("columns.pxi", "if at == NULL or sizes == NULL:"),
        ("dicts.pxi", "if self.grades == NULL:"),
        ("flips.pyx", "if block == NULL:"),
        ("flips.pyx", "if found == NULL:"),
        ("dicts.pxi", "if grown == NULL:"),
        ("dicts.pxi", "if packed.data == NULL:"),
        ("lists.pxi", "if one.block == NULL:"),
        ("lists.pxi", "except MemoryError:"),
        ("lambdas.pyx", "if block == NULL:"),
        ("numbers.pxi", "if block == NULL:"),
        ("program.pxi", "if self.steps.terms == NULL or self.steps.figures == NULL:"),
        ("walk.pyx", "if memory.block == NULL:"),
        ("walk.pyx", "if reader.values == NULL:"),
        ("walk.pyx", "if kept.out == NULL:"),
        ("walk.pyx", "if tables == NULL:"),
    ],
    "without a GIL another thread changes a list or a dict in the middle": [
        ("lists.pxi", "except IndexError:"),
        ("lists.pxi", "if index >= len(lists):"),
        ("dicts.pxi", "if count < n:"),
        ("dicts.pxi", "return CHANGED if index < n else 0"),
        ("dicts.pxi", "error_code = (code, -1 if code == CHANGED else position) if code else None"),
        ("dicts.pxi", "position[0] = -1 if code == CHANGED else position[0]"),
        ("dicts.pxi", "if found != len(sought):"),
        ("dicts.pxi", "if index == n:"),
        ("dicts.pxi", "if places is None or len(places) != stop - start:"),
    ],
    "another thread writes to an array in the middle": [
        ("ranking.pxi", "at = min(at, n)"),
        ("ranking.pxi", "moved = moved or (not stable and entries[index].grade > entries[slots[at]].grade)"),
        ("ranking.pxi", "if score_at[part] < n:"),
        ("ranking.pxi", "last = min(above + tied, <int64_t>n)"),
        ("ranking.pxi", "stop = <Py_ssize_t>min(written + count, <int64_t>capacity)"),
        ("walk.pyx", "position[0] = min(first_nan(scores, n), n - 1)"),
        ("lambdas.pyx", "for index in range(n):"),
        ("lambdas.pyx", "if order_hits("),
        (
            "lambdas.pyx",
            "if not arrange(&documents, score, gains, inverse, n, options, &space) or documents.n < 2:",
        ),
        ("lambdas.pyx", "if scores[index] == edge and documents.n < n:"),
        ("lambdas.pyx", "if -INFINITY < scores[index] < edge and documents.n < n:"),
    ],
    "so many documents that a test would take minutes": [
        ("ranking.pxi", "count = min(m - index, <Py_ssize_t>FEW)"),
        ("ranking.pxi", "cdef Py_ssize_t count = max(min(n // PART, <Py_ssize_t>PARTS), 1), most = 0, kept = 0"),
        ("ranking.pxi", "if m > SPREAD_FEW and n <= PARTED and 4 * m > n:"),
        ("ranking.pxi", "if n > INT32_MAX or m <= FEW_KEYS or (m <= simd.few and n <= FEW_SCORES):"),
    ],
    "what calls it sees to that": [
        ("flips.pyx", "if queries == 0 or columns == 0 or stop <= start:"),
        ("flips.pyx", "if pairs == 0 or stop <= start:"),
        ("flips.pyx", "if stop <= start or sums.shape[1] == 0:"),
        (  # tables have 1024 discounts or more
            "lists.pxi",
            "usual = usual and most <= min(USUAL_LIST, discount.size) and "
            "count_usual(grades, offsets[query], n, counts)",
        ),
        ("query.pxi", "if table.n == 0:"),  # where a grade is looked up there is one at least
        ("query.pxi", "if at == table.n or table.grades[at] != grade:"),  # tables have a gain of 0
        ("sums.pxi", "while done < n_cutoffs and cutoffs[done] < a:"),  # no hit starts beyond the last cut-off
    ],
    "32 bits of two hashes are equal, by chance": [
        ("ids.pxd", "if length == other_length and equal_bytes(at, other, length):"),
    ],
    "another CPU: see `.ci/deep cpus`": [
        (
            "lambdas.pyx",
            "cdef const PairLoops* loops = pair_loops_avx2 if wide_registers() else pair_loops_baseline",
        ),
        ("ranking.pxi", "if simd_avx2() != NULL:"),
        ("simd.h", "static const struct Simd *simd_avx2(void) { return has_avx2() ? &simd_4 : NULL; }"),
        ("vectors.h", "if (!cpu_says(1, said) || ~said[2] & (1u << 27 | 1u << 28)) return 0;"),
        ("vectors.h", "return (kept_registers() & 6) == 6 && cpu_says(7, said) && said[1] >> 5 & 1;"),
    ],
    "another compiler, one without vectors": [
        ("vectors.h", "OP_1 doubles_1 higher_1(doubles_1 a, doubles_1 b) { return a > b ? a : b; }"),
        ("vectors.h", "OP_1 doubles_1 choose_1(integers_1 mask, doubles_1 a, doubles_1 b) { return mask ? a : b; }"),
        (
            "simd_loops.h",
            "for (; i < n && found < capacity; i++) near[found] = scores[i], place[found] = i, "
            "found += !(scores[i] < bound);",
        ),
        ("simd_loops.h", "UNROLLED for (int part = 0; part < parts; part++)"),
        ("simd_loops.h", "for (ptrdiff_t i = 0; i < n; i++) {"),
        ("simd_loops.h", "UNROLLED for (int part = 0; part < parts; part++) {"),
    ],
    "what is unsigned is not negative": [("simd_loops.h", "SUMS(uint8_t)")],
}

MARK = re.compile(r' */\* "(?:src/)?rankgain/(?:_compiled/)?([\w.]+)":(\d+)$')  # before the C of a line
OURS = re.compile(r" *(} else )?(if|for|while|switch) \((unlikely\()?!?__pyx_[tv]_")
PLUMBING = re.compile(r"unlikely\(!|__pyx_temp|Py_|__Pyx|__PYX")


def gcov(data):
    """What gcov knows of a module: of each file it is made of, the lines and their branches."""
    command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", data.name]
    return json.loads(subprocess.run(command, cwd=data.parent, capture_output=True, check=True).stdout)["files"]


def conditionals(tree):
    """Yield ((file, line, which of that line), how often each way was taken) for each conditional of ours."""
    package = tree / "src" / "rankgain"
    modules = [data for data in sorted(tree.glob("build/**/*.gcno")) if data.stem != "_cyutility"]
    for found in chain.from_iterable(map(gcov, modules)):
        path = tree / found["file"]
        if path.suffix == ".h" and (package / "_compiled" / path.name).exists():  # a copy of it
            for line in found["lines"]:
                if line["branches"]:  # a macro may have others at each level
                    counts = [branch["count"] for branch in line["branches"]]
                    yield (path.name, line["line_number"], len(counts)), counts
        elif path.suffix == ".c":
            yield from of_c(path.read_text().splitlines(), found["lines"])


def of_c(text, lines):
    origin, origins = None, []
    for line in text:
        mark = MARK.match(line)
        origin = (mark[1], int(mark[2])) if mark else None if line == "}" else origin
        origins.append(origin)
    seen = Counter()
    for line in lines:
        place = line["line_number"] - 1
        ours = OURS.match(text[place]) and not PLUMBING.search(text[place])
        if ours and line["branches"] and origins[place] and not line["function_name"].startswith("__pyx_pymod"):
            of = line["function_name"], *origins[place]
            yield (*origins[place], seen[of]), [branch["count"] for branch in line["branches"]]
            seen[of] += 1


def main(tree):
    package = tree / "src" / "rankgain"
    taken = defaultdict(list)
    for conditional, counts in conditionals(tree):
        taken[conditional].append(counts)
    sources = {name: next(package.rglob(name)).read_text().splitlines() for name, _, _ in taken}
    excuses = {pair: reason for reason, pairs in EXCUSED.items() for pair in pairs}
    left, branches, unused = [], 0, set(excuses)
    for (name, line, which), counts in sorted(taken.items()):
        text = sources[name][line - 1].split("  #")[0].strip()
        unused.discard((name, text))
        ways = list(map(sum, zip(*counts, strict=True)))
        branches += len(ways)
        # Of two the first is that where the condition holds. Nothing of what `except` does not catch was foreseen.
        called = ("true", "false") if len(ways) == 2 else [f"way {way}" for way in range(len(ways))]
        never = [way for way, count in zip(called, ways, strict=True) if not count]
        if never and (name, text) not in excuses and not (text.startswith("except ") and never == ["false"]):
            left.append(f"{name}:{line}: condition {which + 1} is never {' nor '.join(never)}: {text}")
    print(f"{branches} branches of {len(taken)} conditionals, {len(excuses)} lines excused, {len(left)} left")
    for name, text in sorted(unused):
        left.append(f"{name}: what is excused is not there: {text}")
    return left


if __name__ == "__main__":
    sys.exit("\n".join(main(Path(sys.argv[1]).resolve())) or 0)
