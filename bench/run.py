"""Run the benches, or those named, one after the other; status 1 if an answer differs."""

from __future__ import annotations

import importlib
import sys

import contest

BENCHES = ("dense_scores", "small_calls", "dicts", "files", "frames", "recommendations")

if __name__ == "__main__":
    parser = contest.options(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHES)}")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(BENCHES):
        parser.error(f"no bench {', '.join(sorted(unknown))}; there are: {', '.join(BENCHES)}")
    modules = map(importlib.import_module, arguments.names or BENCHES)
    sys.exit(contest.main(None, *(module.bench for module in modules), scale=arguments.scale))
