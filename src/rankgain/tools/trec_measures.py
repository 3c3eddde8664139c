"""The measures of trec_eval, with their releases, their parameters and the equivalent rankgain metrics.

`rankgain.pytrec_eval` and the command `rankgain trec_eval` both parse measures with `columns` and compute them with
`values`, in one evaluation. Names, defaults and order follow trec_eval's measures.c, m_*.c and output.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import add
from typing import Any, NamedTuple

import numpy as np

from rankgain._codes import GEOMETRIC
from rankgain.choices import Rounding
from rankgain.errors import nearest
from rankgain.metrics.aggregators import LEAST
from rankgain.metrics.discounts import Discount
from rankgain.metrics.families import POOLED
from rankgain.metrics.metric import Metric, metric, parse
from rankgain.metrics.parameters import LARGEST_CUTOFF
from rankgain.metrics.program import Hits, Plan, chunk_hits
from rankgain.metrics.table import TABLE
from rankgain.metrics.trec_names import TREC_NAMES, TrecName
from rankgain.rankings import Rankings, parts_of, sizes_of, values_of
from rankgain.scalars import Bools, Floats, Ints, to_intp


class TrecOptions(NamedTuple):
    """The settings of trec_eval that affect its measures: the release, and the options -l and -N."""

    release: int
    level: int = 1
    collection: int = 0


Vector = list[Any]  # numbers or strings, one per query
Value = Callable[..., Floats]


class Formula(NamedTuple):
    """The metrics from which a column is computed, and the function that combines their values.

    The function is None for a single metric. `undefined` takes the number of relevant documents and the number of
    documents returned before -J is applied; it returns whether trec_eval computes 0 / 0 if -J removes all documents.
    `absent` is true if the value is 0 for a query that the run lacks.
    """

    metrics: tuple[Metric, ...]
    value: Value | None = None
    undefined: Callable[[Floats, Ints], Bools] | None = None
    absent: bool = False


@dataclass(frozen=True)
class Gains:
    """Gain function that is defined by (grade, gain) pairs. The gain of any other grade is the grade itself."""

    pairs: tuple[tuple[int, float], ...]

    def __call__(self, grades: Floats) -> Floats:
        gains = grades.copy()
        for level, gain in self.pairs:
            gains[grades == level] = gain
        return gains

    @property
    def highest(self) -> float:
        return max((gain for _, gain in self.pairs), default=0.0)


def _gain(gains: Gains) -> Any:
    return gains if gains.pairs else "linear"


def _points(options: TrecOptions, points: Sequence[float]) -> Formula:
    """Return the formula for the mean interpolated precision at the given recall points.

    For an empty list, it is undefined if one of the recall points requires no document.
    """
    rounding: Rounding
    rounding, addend = ("up", 0.9) if options.release == 9 else ("nearest", 0.5)
    metrics = tuple(metric("iprec", recall=recall, rel=options.level, rounding=rounding) for recall in points)
    lowest, bogus = min(points), options.release > 9

    def undefined(relevant: Floats, sizes: Ints) -> Bools:
        """Return whether trec_eval computes 0 / 0 for a query from which -J removes all documents.

        Release 10 adds one unknown document to queries that the run lacks, and -J removes this document.
        """
        return (lowest * relevant + addend < 1.0) & (bogus | (sizes > 0))

    return Formula(metrics, _mean_of if len(metrics) > 1 else None, undefined)


def _mean_of(*values: Floats) -> Floats:
    """Return the mean of several vectors, which are added from last to first, as in trec_eval."""
    sums = np.zeros(len(values[0]))
    for value in reversed(values):
        sums += value
    return sums / len(values)


def _set_f(options: TrecOptions, weights: Sequence[float]) -> Formula:
    """Return the formula for the F measure, in trec_eval's order of operations, so that the printed digits agree."""
    (x,) = weights

    def value(p: Floats, r: Floats) -> Floats:
        below = x * p + r
        return np.divide((x + 1.0) * p * r, below, out=np.zeros(len(p)), where=below != 0.0)

    return Formula((metric("precision", rel=options.level), metric("recall", rel=options.level)), value)


def _rbp(options: TrecOptions, parameters: tuple[float, Gains]) -> Formula:
    """Return the formula for release 10's graded RBP, which divides gains by a query's highest gain if it exceeds 1."""
    p, gains = parameters
    discount: Any = Discount(GEOMETRIC, p)
    sums, highest = metric("dcg", gain=_gain(gains), discount=discount), metric("idcg", k=1, gain=_gain(gains))
    least = max(1.0, gains.highest)
    return Formula((sums, highest), lambda value, most: (1.0 - p) * value / np.maximum(most, least))


# Measures that need a formula of their own.
_OWN: dict[str, Callable[[TrecOptions, Any], Formula]] = {
    "iprec_at_recall": lambda options, recall: _points(options, (recall,)),
    "Rprec_mult": lambda options, multiple: Formula((metric("r_precision", multiple=multiple, rel=options.level),)),
    "utility": lambda options, four: Formula(
        (metric("utility", coefficients=four, collection=options.collection, rel=options.level),), absent=True
    ),
    "11pt_avg": _points,
    "set_F": _set_f,
    "rbp": _rbp,
    # Release 10 computes the residual only if an unjudged document was returned.
    "rbp_resid": lambda *_: Formula(
        (metric("rbp_residual"), metric("unjudged")), lambda value, unjudged: np.where(unjudged > 0.0, value, 0.0)
    ),
}


def _formula(measure: TrecName, options: TrecOptions, parameter: Any) -> Formula:
    """Return the formula of a measure for one parameter or, for some kinds of measures, for all parameters."""
    if measure.name in _OWN:
        return _OWN[measure.name](options, parameter)
    if not measure.metric:
        return Formula(())
    given: dict[str, Any] = {"rel": options.level} if "rel" in TABLE[measure.metric].takes else {}
    given |= {"k": min(parameter, LARGEST_CUTOFF)} if measure.kind == "cut" else {}
    given |= {"gain": _gain(parameter)} if measure.kind == "gains" else {}
    name = measure.metric.removeprefix("gm_")  # the geometric mean is computed by `summary`
    return Formula((metric(name, **given),))


_PREFS = "simp pair avgjg avgjg_Rnonrel simp_ret pair_ret avgjg_ret avgjg_Rnonrel_ret simp_imp pair_imp avgjg_imp"


def measures(release: int) -> dict[str, TrecName]:
    """Return the measures of a release by name, in the order in which that release prints them."""
    return {measure.name: measure for measure in TREC_NAMES if measure.since <= release}


def nicknames(release: int) -> dict[str, tuple[str, ...]]:
    """Return the measures that each nickname stands for; some of the measures are not supported."""
    names = measures(release)
    basic = "runid", "num_q"
    preferences = basic + tuple("prefs_num_prefs_" + name for name in ("poss", "ful", "ful_ret"))
    pairs = tuple("prefs_" + name for name in _PREFS.split())
    sets = tuple(name for name in names if name.startswith("set_") or name == "utility")
    return {
        "official": tuple(names)[: tuple(names).index("P") + 1],
        "set": tuple(names)[:5] + sets,
        "all_trec": tuple(name for name in names if name not in ("dcg", "ideal_dcg")),
        "all_prefs": preferences + pairs,
        "prefs": preferences + pairs[:3],
        "qrels_jg": (*basic, "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
    }


# Requests for measures


class TrecMeasure(NamedTuple):
    """A measure that is computed for each query, with its key in results, its printed name and its formula."""

    measure: TrecName
    key: str
    printed: str
    formula: Formula
    length: int = 0  # number of characters, for relstring


def columns(requests: Iterable[str], options: TrecOptions, *, underscores: bool = False) -> list[TrecMeasure]:
    """Return the columns for the requested measures, in trec_eval's order.

    A request is a nickname, the name of a measure, or ``name.p1,p2``; with `underscores` also ``name_p1,p2``.
    Parameters replace the defaults. The parameters of several requests for one measure are combined; cut-offs are
    sorted, and duplicates are removed. ValueError is raised for an invalid request.
    """
    known, groups = measures(options.release), nicknames(options.release)
    requested: dict[str, list[str]] = {}
    for request in chain.from_iterable(groups.get(text, (text,)) for text in requests):
        name, parameters = _split(request, known, underscores)
        if name not in known:
            raise ValueError(_unknown(request, options.release, underscores))
        given = requested.setdefault(name, [])
        given += [parameters] if parameters and parameters not in given else []
    return [column for name in known if name in requested for column in _columns(known[name], requested[name], options)]


def _split(request: str, known: dict[str, TrecName], underscores: bool) -> tuple[str, str]:
    name, dot, parameters = request.partition(".")
    if name in known:
        if dot and not parameters:
            raise ValueError(f"measure {request!r}: parameters must follow the dot")
        return name, parameters
    if underscores:
        for name in known:
            if re.fullmatch(re.escape(name) + r"_[0-9.,]+", request):
                return name, request[len(name) + 1 :]
    return request, ""


def _unknown(request: str, release: int, underscores: bool) -> str:
    """Return the error message for a request that is not a measure of the release."""
    problem = f"unsupported measure {request!r}"
    name = request.partition(".")[0]
    if name.startswith("prefs_") or name.endswith("_avgjg") or name == "yaap":
        return f"{problem}: preferences, several judges and yaap are not computed"
    later = next((measure for measure in TREC_NAMES if measure.name == name), None)
    if later is not None:
        return f"{problem}: release {later.since} has it, and release {release} was requested"
    measure, parameters = _split(request, measures(release), underscores=True)
    if parameters:  # the request has the printed form, with an underscore
        return f"{problem}; write {f'{measure}.{parameters}'!r}"
    equivalent = _measure_of(request, release, "_" if underscores else ".")
    if equivalent:
        return f"{problem}; write {equivalent!r}"
    near = nearest(name, [*measures(release), *nicknames(release)])
    return problem + (f"; did you mean {near!r}?" if near else "")


def _measure_of(request: str, release: int, separator: str) -> str:
    """Return trec_eval's name for a rankgain metric, such as ndcg_cut_10 for ndcg@10, or "" if there is none."""
    try:
        records = [record for _, record in parse(request)]
    except (ValueError, TypeError):
        return ""
    if len(records) > 1 or records[0] != metric(records[0].name, k=records[0].k):
        return ""
    k = records[0].k
    for measure in measures(release).values():
        if measure.metric == records[0].name and measure.kind == ("whole" if k is None else "cut"):
            return measure.name if k is None else f"{measure.name}{separator}{k}"
    return ""


def _columns(measure: TrecName, given: list[str], options: TrecOptions) -> list[TrecMeasure]:
    """Return the columns of a measure. `given` has the parameters of each request that specifies parameters."""
    name, kind = measure.name, measure.kind
    if kind == "whole" and given:
        raise ValueError(f"measure {name!r} takes no parameters, and {given[0]!r} was given")
    if kind in ("set", "gains", "rbp") and len(given) > 1:
        raise ValueError(f"measure {name!r} has one set of parameters, and {' and '.join(map(repr, given))} were given")
    texts = [text for part in given for text in part.split(",")] or list(measure.defaults)
    printed = f"{name}_{given[0]}" if given else name
    try:
        if kind == "cut":
            return [_column(measure, f"{name}_{k}", options, k) for k in sorted({_cutoff(text) for text in texts})]
        if kind == "points":
            points = sorted({_real(text) for text in texts})
            return [_column(measure, f"{name}_{point:3.2f}", options, point) for point in points]
        if name == "relstring":
            return [TrecMeasure(measure, name, printed, Formula(()), _cutoff(*texts))]
        reading: dict[str, Callable[[list[str]], Any]] = {"gains": _pairs, "rbp": _persistence}
        parameter = reading[kind](texts) if kind in reading else [_real(text) for text in texts]
        if name == "set_F" and len(texts) != 1:
            raise ValueError(f"there must be 1 number, not {len(texts)}")
        return [_column(measure, name, options, parameter)._replace(printed=printed)]
    except ValueError as error:
        raise ValueError(f"measure {name!r}: {error}") from None


def _column(measure: TrecName, key: str, options: TrecOptions, parameter: Any) -> TrecMeasure:
    return TrecMeasure(measure, key, key, _formula(measure, options, parameter))


def _cutoff(text: str, *others: str) -> int:
    if others or not re.fullmatch(r"\+?0*[1-9][0-9]{0,17}", text.strip()):
        raise ValueError(f"a cut-off must be a positive integer, not {','.join((text, *others))!r}")
    return int(text)


def _real(text: str) -> float:
    try:
        number = float(text.replace("_", "x"))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"a parameter must be a number, not {text!r}")
    return number


def _pairs(texts: Sequence[str]) -> Gains:
    pairs = {}
    for text in texts:
        level, equals, gain = text.partition("=")
        if not equals or not re.fullmatch(r"\s*\+?[0-9]{1,18}\s*", level) or _real(gain) < 0.0:
            hint = "; cut-offs are those of ndcg_cut" if text.strip().isdigit() else ""
            raise ValueError(
                f"parameters are pairs level=gain of a grade from 0 on and its gain, not negative; not {text!r}{hint}"
            )
        pairs[int(level)] = _real(gain)
    return Gains(tuple(sorted(pairs.items())))


def _persistence(texts: Sequence[str]) -> tuple[float, Gains]:
    """Read the parameters of RBP: p from the pair "p=…", and the gains from all other pairs."""
    given = [text for text in texts if text.partition("=")[0].strip() == "p"]
    p = _real(given[0].partition("=")[2]) if given else 0.9
    if len(given) > 1 or not 0.0 < p < 1.0:
        raise ValueError("p must be one number above 0 and below 1")
    return p, _pairs([text for text in texts if text not in given])


# Computation of values


def plan_of(columns: Iterable[TrecMeasure], *, undefined: bool = False) -> Plan:
    """Return the plan that computes the columns for any rankings. `undefined` is as in `values`."""
    required = dict.fromkeys(metric for column in columns for metric in column.formula.metrics)
    if undefined:
        required |= dict.fromkeys((_RETURNED, *map(_relevant, columns)))
    return Plan(list(required))


def values(
    columns: Sequence[TrecMeasure],
    rankings: Rankings,
    *,
    run_id: str = "",
    undefined: bool = False,
    plan: Plan | None = None,
) -> list[Vector]:
    """Compute the values of each column, one per query: numbers, or text for runid and relstring.

    If `undefined` is true, interpolated precision is NaN for lists from which -J removed all documents, as in
    trec_eval. `plan` is the result of `plan_of`, if the caller has cached it.
    """
    result = values_of(rankings, plan_of(columns, undefined=undefined) if plan is None else plan)
    return [_vector(column, rankings, result, run_id, undefined) for column in columns]


_RETURNED = metric("num_ret")


def _relevant(column: TrecMeasure) -> Metric:
    return metric("num_rel", rel=column.formula.metrics[0].rel if column.formula.metrics else None)


def _vector(
    column: TrecMeasure, rankings: Rankings, result: dict[Metric, Floats], run_id: str, undefined: bool
) -> Vector:
    metrics, value, undefined_for, absent = column.formula
    if not metrics:
        return relstrings(rankings, column.length) if column.length else [run_id] * len(rankings)
    vectors: list[Floats] = [result[metric] for metric in metrics]
    computed = vectors[0] if value is None else value(*vectors)
    if absent and rankings.missing == "zero":
        computed = np.where(sizes_of(rankings) > 0, computed, 0.0)
    if undefined and undefined_for is not None:
        emptied = (result[_RETURNED] == 0.0) & undefined_for(result[_relevant(column)], sizes_of(rankings))
        computed = np.where(emptied, np.nan, computed)
    numbers: Vector = computed.tolist()
    return numbers


def summary_value(column: TrecMeasure, vector: Vector) -> float | str:
    """Compute trec_eval's value for all queries: the sum of counts, the geometric mean of gm_ measures, or the mean.

    Values are added in the order of the vector, as in trec_eval, so that the last printed digit agrees. With -c,
    trec_eval's sum of num_rel counts all grades of at least 1, whatever level -l sets; pass the column at level 1.
    """
    if not column.formula.metrics:
        return str(vector[0])
    if column.measure.name.startswith("gm_"):
        return math.exp(reduce(add, (math.log(max(value, LEAST)) for value in vector), 0.0) / len(vector))
    total = reduce(add, vector, 0.0)
    return total if column.measure.counts else total / len(vector)


def relstrings(rankings: Rankings, length: int) -> list[str]:
    """Return the grades of each query's first documents as text, with one character per document.

    ``-`` stands for a document that is not in the qrels, ``.`` for a negative grade, ``0`` to ``9`` for the grade
    without its fraction, and ``>`` for a higher grade.
    """
    if rankings.ties not in (None, "stable", "docid"):
        raise ValueError(f"relstring: the order of tied documents is undefined with ties={rankings.ties!r}")
    return [text for hits in chunk_hits(*parts_of(rankings), length, POOLED) for text in _relstrings(hits, length)]


def _relstrings(chunk: Hits, length: int) -> list[str]:
    most = min(length, int(chunk.returned.max(initial=1)))
    hits = int(chunk.offsets[-1])
    query = np.repeat(np.arange(chunk.queries), to_intp(np.diff(chunk.offsets)))
    grade, first = chunk.grade[:hits], chunk.first[:hits]
    within = first <= most
    codes = np.full((chunk.queries, most), ord("-"), dtype=np.uint32)
    grades = np.clip(np.floor(grade[within]), -1.0, 10.0).astype(np.int64)
    codes[query[within], first[within] - 1] = _CHARACTERS[grades + 1]
    texts = codes.view(f"<U{most}").ravel().tolist()
    return [text[:returned] for text, returned in zip(texts, chunk.returned.tolist(), strict=True)]


_CHARACTERS = np.array([ord(character) for character in ".0123456789>"], dtype=np.uint32)
