"""Put advice that shows Python into words for a shell."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_WRITE = ": write what it holds as lines of TREC, CSV or JSON"
_SAME_KEYS = ": give the same keys in both files"
# Patterns of advice in errors and warnings, and what to write instead of the match.
IN_SHELL = (
    (r"pass pandas\.read_csv\(.*? names=\[(.*?)\]\).* from_frames", "separate the fields by tabs, under a header {}"),
    (r"pass \{user: items for .*", "write a line per user and item, under a header user_id, item_id, relevance"),
    (r"read it with sklearn\..*qid=qid\)", "write the labels as qrels, and the scores of your model as a run"),
    (r": pass (an array of )?numpy\.load\(path\)", _WRITE),
    (r": pass pickle\.load\(.*source", _WRITE),
    (r": pass pandas\.read_excel\(path\)", ": save it as CSV"),
    (r": pass it to rankgain\.evaluate or rankgain\.from_frames", ": rankgain eval reads it"),
    (r"; CSV files with a header are read by rankgain\..*?evaluate", "; rankgain eval reads CSV files with a header"),
    (r"write rankgain\.compare\(truth, .*metrics, run='(.*?)'\)", "write rankgain compare QRELS FILE --run {}"),
    (r"write rankgain\.compare\(truth, .*metrics\)", "write each to a file, and give the files to rankgain compare"),
    (r"evaluate needs truth and a run(.*?): rankgain\.evaluate\(.*\)", "give a qrels file and a run file{}"),
    (r"rankgain\.evaluate\(truth, run, '(.*?)'\)", "rankgain eval QRELS RUN -m {}"),
    (r"; convert numbers in text first, .*", ""),
    (r": pass truth by the same keys, as in dict\(.*", _SAME_KEYS),
    (r": give the keys of its rows as query_ids", _SAME_KEYS),
    (r"give a mapping from query to ids", "give the queries of both, or of neither"),
    (r"write run_df\[.*\+ 1", "add a column of ranks from 1"),
    (r"; convert those in (.*?) to text: (?:id\.decode\(\)|str\(id\)).*", "; write those in {} as text"),
    (r": for judgments without subtopics .*|: if the lists hold the documents of .*", ""),
    (r"leave out subtopic=", "leave out --subtopics"),
    (r"rankgain\.judgments\(qrels, subtopic=True\)", "--subtopics"),
    (r"positive integer or None", "positive integer"),
    (r"like='(.*?)': unknown tool", "unknown tool '{}'"),
    (r"such as threshold=\((.*?), (.*?)\)", "such as --threshold {},{}"),
    (r"\. To rank by score, write .* for each query", ""),
    (
        r"changes\(another run, '(.*?)', k=(\d+), truth=human\)\.to_judge\(\)",
        "rankgain diff OTHER {} -k {} --qrels HUMAN --to-judge FILE",
    ),
    (
        r"changes\(another run, '(.*?)', truth=human\)\.to_judge\(\)",
        "rankgain diff OTHER {} --qrels HUMAN --to-judge FILE",
    ),
    (r"frame\.to_json\(.*?\)", "a JSON object per line"),
)


def in_shell(message: str) -> str:
    """Return an error or a warning in words for a shell."""
    for pattern, words in IN_SHELL:
        if match := re.search(pattern, message):
            parts = (part.replace("'", "") for part in match.groups(""))
            message = message[: match.start()] + words.format(*parts) + message[match.end() :]
    return message


@contextmanager
def warnings_in_shell(reword: Callable[[str], str]) -> Iterator[None]:
    """Print each warning as a line, without a place in Python code."""

    def line(message: Warning | str, *_: object, **__: object) -> str:
        return f"rankgain: warning: {reword(str(message))}\n"

    before = warnings.formatwarning
    warnings.formatwarning = line
    try:
        yield
    finally:
        warnings.formatwarning = before
