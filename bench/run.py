"""Run all benches, or only those named, one after another. The exit status is 1 if an answer differs."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import against
import harness

PAGE = Path(__file__).with_name("README.md")
BENCHES = re.findall(r"^\| `(\w+)\.py` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
ONLY_IF_NAMED = {"comparison", "gate", "judges", "spark"}  # the first three measure no times; `spark` needs Java
NOT_COMPARED = {"large", *ONLY_IF_NAMED}  # benches that --against leaves out
MOST = 1.05  # the highest acceptable ratio of this build's time to that of another build


def bench_of(name: str) -> Callable[[harness.Scale], None]:
    """Return the bench function of a file, or one of its cases, such as "large.files"."""
    file, _, case = name.partition(".")
    bench: Callable[..., None] = importlib.import_module(file).bench
    return partial(bench, only=case) if case else bench


def builds(folder: Path, names: list[str], scale: harness.Scale) -> int:
    """Compare another build of rankgain with this one on the work of each bench; return 1 if an answer differs."""
    status = 0
    for name in names:
        script = Path(__file__), name, f"--{scale}"
        with against.Worker(*script, folder=folder) as before, against.Worker(*script) as now:
            try:
                against.pit(before, now, scale)
            except harness.DifferentAnswer as error:
                print(error, file=sys.stderr)
                status = 1
                continue
            if before.failed or now.failed:
                print(f"{name}: the build {'here' if now.failed else 'there'} cannot do all of it", file=sys.stderr)
                status = status or int(now.failed)
    slower = [f"  {row.title}: {row.ratio:.3g}" for row in harness.ROWS if row.ratio and row.ratio > MOST]
    print(f"more than {MOST} of the time before: {len(slower)}", *slower, sep="\n")
    return status


def main() -> int:
    parser = harness.options(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}; or a case, as large.files")
    parser.add_argument("--write", action="store_true", help=f"put what was measured into {PAGE.name} beside this file")
    parser.add_argument(
        "--busy", action="store_true", help="with --write: do not wait for a machine at rest; show the load"
    )
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="another build: same bits, times as ratios")
    parser.add_argument("--work", action="store_true", help="serve a process that compares builds")
    arguments = parser.parse_args()
    if unknown := {name.partition(".")[0] for name in arguments.names} - set(BENCHES):
        parser.error(f"no bench {', '.join(sorted(unknown))}; there are: {', '.join(BENCHES)}")
    if arguments.write and (arguments.names or arguments.scale == "smoke" or arguments.against):
        parser.error("--write needs all benches and their times")
    if arguments.busy and not arguments.write:
        parser.error("--busy is only allowed with --write: without it, no bench waits")
    names = arguments.names or [name for name in BENCHES if name not in ONLY_IF_NAMED]
    if arguments.against:
        return builds(arguments.against, [name for name in names if name not in NOT_COMPARED], arguments.scale)
    if arguments.work:
        against.begin_to_serve()
    rest = arguments.write and not arguments.busy
    status = harness.main(*map(bench_of, names), scale=arguments.scale, rest=rest)
    if arguments.write and status == 0:
        harness.write(PAGE, " ".join(["python bench/run.py", *sys.argv[1:]]))
    return status


if __name__ == "__main__":
    sys.exit(main())
