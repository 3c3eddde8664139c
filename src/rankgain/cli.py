"""The command line: `rankgain eval QRELS RUN -m ndcg@10 -m mrr@10`."""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import sys
from collections.abc import Sequence

import rankgain
from rankgain import _backend
from rankgain.evaluation import Evaluation
from rankgain.metrics import TABLE, parse
from rankgain.rankings import TIES

DEFAULT_METRICS = ("ndcg@10", "mrr@10")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0 done, 1 the input cannot be evaluated, 2 the call is wrong."""
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):  # ids that are not UTF-8 go out as they came in
        sys.stdout.reconfigure(errors="surrogateescape")
    try:
        print(_evaluate(options), flush=True)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, TypeError) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.filename or 'standard output'}: {error.strerror}")
    return 0


def _fail(message: str) -> int:
    print(f"rankgain: error: {message}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rankgain", description="Ranking metrics from qrels and runs.")
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    evaluate = commands.add_parser(
        "eval",
        help="evaluate a run against qrels",
        description="Evaluate a TREC run against TREC qrels.",
        epilog="Metrics: "
        + "; ".join(f"{row.name} ({row.title})" for row in TABLE.values())
        + ". Parameters: 'ndcg:gain=exponential@10', 'mrr:rel=2@10'.",
    )
    evaluate.add_argument("files", nargs="*", metavar="QRELS RUN", help="the two files")
    evaluate.add_argument("--sample", action="store_true", help="evaluate the sample pair that ships with rankgain")
    evaluate.add_argument(
        "-m",
        "--metric",
        action="append",
        type=_metric,
        metavar="METRIC",
        help="a metric, such as ndcg@10; may be repeated (default: " + ", ".join(DEFAULT_METRICS) + ")",
    )
    evaluate.add_argument("--ties", choices=TIES, default="docid", help="how equal scores are ordered (default: docid)")
    evaluate.add_argument(
        "--missing",
        choices=("zero", "skip"),
        default="zero",
        help="queries that the run lacks count as 0, or are left out (default: zero)",
    )
    evaluate.add_argument("--per-query", action="store_true", help="a row for each query")
    evaluate.add_argument("--json", action="store_true", help="JSON instead of a table")
    evaluate.set_defaults(parser=evaluate)
    return parser


def _version() -> str:
    note = ""
    if _backend.name == "python":
        forced = os.environ.get("RANKGAIN_BACKEND") == "python"
        note = ", by RANKGAIN_BACKEND" if forced else ": no compiled extension is installed; same numbers, slower"
    return f"rankgain {rankgain.__version__} (backend: {_backend.name}{note})"


def _metric(text: str) -> str:
    try:
        list(parse(text))
    except (ValueError, TypeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _evaluate(options: argparse.Namespace) -> str:
    if options.sample == bool(options.files) or len(options.files) not in (0, 2):
        options.parser.error("give a qrels file and a run file, or --sample")
    qrels, run = rankgain.sample() if options.sample else options.files
    rankings = rankgain.read_trec(qrels, run, ties=options.ties, missing=options.missing)
    result = rankings.evaluate(*(options.metric or DEFAULT_METRICS))
    return as_json(result, options.per_query) if options.json else as_text(result, options.per_query)


def as_text(result: Evaluation, per_query: bool) -> str:
    """An aligned table of the means, and what to know about them."""
    if per_query:
        rows = [["query", *map(str, result)]]
        rows += [[str(query), *map(_number, row)] for query, row in zip(result.query_ids, _rows(result), strict=True)]
        rows += [["mean", *map(_number, result.mean().values())]]
    else:
        rows = [["metric", "mean"], *([str(name), _number(value)] for name, value in result.mean().items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) if column else cell.ljust(width) for column, (cell, width) in enumerate(cells))
        for cells in (list(zip(row, widths, strict=True)) for row in rows)
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, "", *_notes(result)])


def _notes(result: Evaluation) -> list[str]:
    counts = result.counts
    treated = "counted as 0" if result.missing == "zero" else "left out"
    return [
        f"queries evaluated: {counts['queries']}",
        f"missing from the run: {counts['missing']}" + (f" ({treated})" if counts["missing"] else ""),
        f"without judgements: {counts['unjudged']}" + (" (left out)" if counts["unjudged"] else ""),
        f"nothing relevant: {counts['empty']}",
        f"ties: {result.ties}   backend: {result.backend}",
    ]


def as_json(result: Evaluation, per_query: bool) -> str:
    """The same as one JSON object; NaN is null."""
    content: dict[str, object] = {
        "mean": {str(name): _finite(value) for name, value in result.mean().items()},
        "counts": result.counts,
        "ties": result.ties,
        "missing": result.missing,
        "backend": result.backend,
        "version": rankgain.__version__,
    }
    if per_query:
        content["queries"] = {
            str(query): {str(name): _finite(value) for name, value in zip(result, row, strict=True)}
            for query, row in zip(result.query_ids, _rows(result), strict=True)
        }
    return json.dumps(content, indent=2, allow_nan=False)


def _rows(result: Evaluation) -> list[tuple[float, ...]]:
    return list(zip(*(vector.tolist() for vector in result.values()), strict=True))


def _number(value: float) -> str:
    return f"{value:.4f}"


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value


if __name__ == "__main__":
    sys.exit(main())
