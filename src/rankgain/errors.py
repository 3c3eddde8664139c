"""Error messages for invalid input, and functions that format the values in messages.

Kernels and readers report an error as the tuple (code, query, position). An `InputError` carries this tuple to code
that knows the caller's query and document ids. There, `refusal` turns it into a ValueError or TypeError.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import Parameter, signature  # costs no import time: NumPy has already imported inspect
from typing import Any, Protocol, TypedDict, TypeVar

from rankgain import _codes
from rankgain._codes import IN_JUDGED

_IN_A_RUN = " (in a run, duplicates='first' does)"

_TEXTS: dict[int, tuple[type[Exception], str]] = {
    _codes.NAN_GRADE: (ValueError, "the grade is NaN; grades must be finite numbers"),
    _codes.INFINITE_GRADE: (ValueError, "the grade is infinite; grades must be finite numbers"),
    _codes.NEGATIVE_GRADE: (
        ValueError,
        "the grade is negative; give 0 to documents that are not relevant, and leave out padding (-1, -100 …) by a "
        "mask that is True for documents, mask=labels >= 0",
    ),
    _codes.LARGE_GRADE: (ValueError, "the grade is too large for gain='exponential', which needs grades below 1024"),
    _codes.NAN_SCORE: (ValueError, "the score is NaN; use -inf for a document that must come last"),
    _codes.NOT_FINITE: (
        ValueError,
        "the sum of the gains, or its ratio to the ideal, is not finite; use smaller gains",
    ),
    _codes.ABOVE_IDEAL: (
        ValueError,
        "judged lacks grades that the returned list has (DCG exceeds the ideal); it must hold the grades of all judged "
        "documents, returned or not",
    ),
    _codes.GRADE_TYPE: (TypeError, "the grade must be a number, not {detail}"),
    _codes.SCORE_TYPE: (TypeError, "the score must be a number, not {detail}"),
    _codes.MIXED_IDS: (
        TypeError,
        "documents of equal score are ordered by id, which needs ids that are all str, all bytes or all int; "
        "convert them, or choose ties='average' or 'stable'",
    ),
    _codes.OTHER_IDS: (ValueError, "no document was found in {detail}"),
    _codes.CHANGED: (ValueError, "the dict was changed while it was read; do not change it during evaluate"),
    _codes.FEW_FIELDS: (ValueError, "{detail}"),
    _codes.NOT_A_NUMBER: (ValueError, "{detail} is not a number"),
    _codes.DUPLICATE: (ValueError, "{detail} of the same query; keep one of them" + _IN_A_RUN),
    _codes.NULL_ID: (ValueError, "the value is null; drop such {detail}"),
    _codes.EMPTY_ID: (ValueError, "the id is an empty text; drop such {detail}"),
    _codes.ID_TYPE: (TypeError, "ids must be all str, all bytes or all int, and this one is {detail}"),
    _codes.LONE_SURROGATE: (ValueError, "the id {detail} is not valid text: it has a lone surrogate; encode it again"),
    _codes.LARGE_ID: (
        ValueError,
        "the id does not fit in a signed 64-bit integer; convert the ids of both sides to text",
    ),
    _codes.LARGE_GROUP: (
        ValueError,
        "there are too many relevant documents of equal score for the expected ERR with so large a max_grade; "
        "break ties another way, such as rankings.under(ties='stable')",
    ),
    _codes.MISSING_GAIN: (ValueError, "gain has no entry for the grade {detail}; add one (only grade 0 may be absent)"),
    _codes.BAD_GAIN: (ValueError, "gain returned {detail}; gains must be finite and not negative"),
    _codes.ABOVE_MAX_GRADE: (ValueError, "the grade is {detail}; give a larger max_grade, the same for all runs"),
    _codes.INFINITE_SCORE: (
        ValueError,
        "the score is infinite, so its gradient is undefined; only -inf is allowed, for a document to leave out",
    ),
    _codes.SHORT_DISCOUNT: (ValueError, "{detail}; give a longer discount or a smaller k"),
}


# A kernel returns None, or an error as (code, query, position). The engine appends the number of the term that failed.
ErrorCode = tuple[int, ...] | None


class Finder(Protocol):
    """An object that can find the first invalid grade, such as a `Gain`."""

    def first_error(self, grades: Any, /) -> tuple[int, int, object] | None: ...


class InputError(Exception):
    """Invalid input, identified by an error code, a query and a position; `refusal` creates the message.

    If the kernel has not recorded the position of a grade without a gain, `gain` finds it.
    """

    def __init__(
        self, code: int, query: int, position: int = -1, detail: object = "", *, gain: Finder | None = None
    ) -> None:
        super().__init__(code, query, position, detail)
        self.code = code
        self.query = query
        self.position = position
        self.detail = detail
        self.gain = gain


def located(error: InputError, grades: Any) -> InputError:
    """Return the error unchanged, or with the position of the invalid grade if `error.gain` can find it."""
    error_code = None if error.gain is None else error.gain.first_error(grades)
    return error if error_code is None else InputError(error.code, error.query, *error_code[1:])


BEYOND = "an int beyond float64"  # the `detail` of the error for an int that is too large for float64


def refusal(code: int, where: str, detail: object = "") -> Exception:
    """Return the exception for an error code. `where` names the argument, the query and the position."""
    if detail == BEYOND:
        return too_large(where)
    kind, text = _TEXTS[code & ~IN_JUDGED]
    if code & ~IN_JUDGED in (_codes.NULL_ID, _codes.EMPTY_ID):
        detail = detail or "rows"
    if code & IN_JUDGED:
        text = text.removesuffix(_IN_A_RUN)
    remedy = remedy_for(detail) if code & ~IN_JUDGED in (_codes.GRADE_TYPE, _codes.SCORE_TYPE) else ""
    if detail == "dict" and code & ~IN_JUDGED == _codes.GRADE_TYPE:
        remedy = f"; if they are judged by subtopic, write {BY_SUBTOPIC}"
    return kind(f"{where}: {text.format(detail=detail)}{remedy}")


BY_SUBTOPIC = "rankgain.judgments(qrels, subtopic=True)"


def too_large(where: str) -> ValueError:
    return ValueError(f"{where}: the number is too large for float64")


def remedy_for(kind: object) -> str:
    """Return the advice to append to the error for a value that is not a number.

    `kind` is the name of the value's type.
    """
    if kind in ("str", "bytes"):
        return (
            "; convert numbers in text first, float(value) or frame['grade'].astype(float), and names of grades by a "
            "mapping, frame['grade'].map({'E': 3, 'S': 2})"
        )
    return "; leave out documents without a value" if kind == "NoneType" else ""


def changed(error: RuntimeError, where: str) -> Exception:
    """Return the exception to raise if a dict changed during iteration, or any other RuntimeError unchanged."""
    return refusal(_codes.CHANGED, where) if "during iteration" in str(error) else error


# Keyword names from other tools

_Function = TypeVar("_Function", bound=Callable[..., Any])


class NoKeywords(TypedDict):
    """The type of ``**unknown``. It has no keys, so type checkers reject every unknown keyword.

    At run time, `unexpected` creates the error.
    """


# Each entry has three parts: keyword names from other tools, without underscores and without the suffix "col"; the
# parameter that a function must have for the entry to apply, or "" if it always applies; and the advice.
_ANSWERS = (
    ("k cutoff cutoffs topk topn at atk ks kvalues retrieverk", "k", "write k="),
    (
        "k cutoff cutoffs topk topn at atk ks kvalues retrieverk",
        "",
        "the cut-off belongs to the metric, as in evaluate(..., 'ndcg@10')",
    ),
    (
        "gain gains discount ideal rel relevancelevel minrel threshold beta empty",
        "",
        "it belongs to the metric, as in evaluate(..., 'ndcg(gain=exponential)@10') or rankgain.metric('rr', rel=2)",
    ),
    ("metric metrics measure measures", "", "metrics are positional, as in evaluate(..., 'ndcg@10', 'mrr')"),
    (
        "group groups groupid groupids index indexes query queries queryid qids user users userid",
        "group_sizes",
        "write qid= (an id per document) or group_sizes= (documents per query)",
    ),
    ("groupsize sizes lengths querysizes", "group_sizes", "write group_sizes="),
    ("query queries queryid qid group groups groupid user userid index indexes", "query", "write query="),
    ("doc docid docno document documentid item itemid", "doc", "write doc="),
    ("relevance label labels grade grades rating target ytrue", "relevance", "write relevance="),
    ("score scores pred preds prediction predictions yscore ypred", "score", "write score="),
    ("rank ranks ranking", "rank", "write rank="),
    (
        "rank ranks ranking",
        "group_sizes",
        "higher scores are better: write from_scores(y_true, -np.asarray({name}))",
    ),
    ("njobs numthreads nthreads workers numworkers", "threads", "write threads="),
    ("tie ignoreties tiebreak tiebreaking tiebreaker", "ties", "write ties="),
    ("makecomparable complete", "missing", "write missing='zero' or missing='skip'"),
    ("progress threads like", "query_ids", "pass it to evaluate, as in .evaluate('ndcg@10', {name}=...)"),
)


# The default of a required parameter, so that an unknown keyword in its place is answered with advice.
REQUIRED: Any = type("Required", (), {})()


def without_unknown(function: _Function) -> _Function:
    """Hide ``**unknown`` and the defaults of required parameters from a function's signature; return the function."""
    shown = signature(function)
    named = [
        parameter.replace(default=Parameter.empty) if parameter.default is REQUIRED else parameter
        for parameter in shown.parameters.values()
        if parameter.kind is not Parameter.VAR_KEYWORD
    ]
    function.__signature__ = shown.replace(parameters=named)  # type: ignore[attr-defined]
    return function


def unexpected(function: Callable[..., Any], unknown: Mapping[str, Any]) -> TypeError:
    """Return the error for an unknown keyword: Python's own message, followed by advice on what to write instead."""
    name = next(iter(unknown))
    takes = [
        parameter.name
        for parameter in signature(function).parameters.values()
        if parameter.kind is Parameter.KEYWORD_ONLY
    ]
    bare = re.sub(r"^col_|_(col|column)$", "", name.lower()).replace("_", "")
    answers = (answer for names, needed, answer in _ANSWERS if bare in names.split() and needed in ("", *takes))
    answer = next(answers, f"it takes {', '.join(takes)}").replace("{name}", name)
    return TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}: {answer}")


def import_extra(module: str, extra: str) -> Any:
    """Import an optional module. If it is missing, raise an ImportError that says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name not in (module, package):  # the module is installed, but one of its own imports fails
            raise
        raise ImportError(f"{package} is not installed: pip install 'rankgain[{extra}]'") from None


def warn(message: str) -> None:
    """Issue a warning that points at the caller's line, i.e. at the first frame outside this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "rankgain":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)


# Formatting of values in messages and tables

LONGEST_SHOWN = 200  # maximum number of characters of a value in a message


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, such as "1 query" or "2 queries"."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1] + 'ies' if noun.endswith('y') else noun + 's'}"


def quoted(value: Any) -> str:
    """Return the `repr` of a value for use in a message, truncated if it is long."""
    text = repr(value[:LONGEST_SHOWN] if isinstance(value, (str, bytes)) else value)
    length = len(value) if isinstance(value, (str, bytes)) else len(text)
    return text if length <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}… ({length} characters)"


def escaped(text: str) -> str:
    """Escape the control characters in a text, such as a file name, because a terminal would interpret them."""
    return text if text.isprintable() else "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def nearest(text: str, words: Iterable[str]) -> str:
    """Return the word that is most similar to the text, or "" if no word is similar."""
    import difflib  # imported here because only errors need it

    return next(iter(difflib.get_close_matches(text, words, n=1)), "")


def short(value: Any) -> str:
    """Format a float in full precision, but without a trailing ".0"; format any other value with `str`."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
