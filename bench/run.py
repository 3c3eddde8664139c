"""Run the benches, or those named, one after the other; status 1 if an answer differs."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import contest

BENCHES = (
    "dense_scores",
    "dense_full",
    "ranked",
    "groups",
    "lambdarank",
    "dicts",
    "pytrec_eval_dropin",
    "files",
    "frames",
    "recommendations",
    "sklearn_dropin",
    "small_calls",
    "c_calls",
    "start",
    "ties",
    "many_metrics",
    "significance",
    "threads",
    "growth",
    "memory",
    "load",
)
PAGE = Path(__file__).with_name("README.md")

if __name__ == "__main__":
    parser = contest.options(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}")
    parser.add_argument("--write", action="store_true", help=f"put what was measured into {PAGE.name} beside this file")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHES):
        parser.error(f"no bench {', '.join(sorted(unknown))}; there are: {', '.join(BENCHES)}")
    if arguments.write and (arguments.names or arguments.scale == "smoke"):
        parser.error("--write needs all benches and their times")
    modules = map(importlib.import_module, arguments.names or BENCHES)
    status = contest.main(None, *(module.bench for module in modules), scale=arguments.scale)
    if arguments.write and status == 0:
        contest.write(PAGE, " ".join(["python bench/run.py", *sys.argv[1:]]))
    sys.exit(status)
