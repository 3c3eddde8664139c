"""A faster drop-in replacement for pytrec_eval, with the same names, keys and values.

Write ``from rankgain import pytrec_eval`` instead; or, if other code imports pytrec_eval, call `install` before that
code is imported. Names, keys, values, their order and types equal those of pytrec_eval-terrier 0.5.11. The values are
therefore those of trec_eval 9: scores are compared in 32 bits, ties are broken by document id, the higher id first,
and the number of documents at a recall point is rounded in the same way. The value of a gm_ measure is a logarithm, and
runid and relstring are 0.0.

The differences:

- Scores and grades may be NumPy scalars or any other real numbers, and grades may have fractions; any mapping is
  accepted as a dict; and ids may also be bytes or integers.
- Gains, ``ndcg.1=3.5,2=9`` (also for G, ndcg_rel and Rndcg), abort the interpreter in pytrec_eval. trec_eval supports
  them, but sorts gains that differ by less than 1 wrongly; here they are sorted correctly.
- A list without documents sometimes crashes the interpreter in pytrec_eval. If it does not, or if
  judged_docs_only_flag removes every document, its interpolated precision is 0 / 0. Here it is 0.0.
- A query whose grades are all negative causes an endless loop in pytrec_eval. Here it has the values of a query without
  relevant documents.
- A NaN score raises a ValueError; in pytrec_eval, the order is undefined in this case.
- A cut-off that is not a positive integer (``ndcg_cut_0``, ``P_5.5``), parameters of a measure that has none
  (``ndcg.10``, ``recip_rank_10``), text after the parameters (``P_5abc``), and several parameters of a measure that
  takes one (``set_F_2`` with ``set_F_3``) raise a ValueError; pytrec_eval aborts the interpreter or ignores them.
- A document that occurs twice in a file raises a ValueError; pytrec_eval raises an AssertionError.
- ``release=10`` computes the numbers of trec_eval 10: scores are compared in 64 bits, the number of documents at a
  recall point is rounded to the nearest integer, and dcg, ideal_dcg, rbp, rbp_resid and unj exist as well.
"""

from __future__ import annotations

import math
import operator
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from rankgain import _backend
from rankgain.data.dicts import DictSource, dicts_of
from rankgain.data.judgments import Judgments, JudgmentSets, judgment_sets, of_dicts, types
from rankgain.data.rules import Rules
from rankgain.errors import quoted, warn
from rankgain.metrics.aggregators import LEAST
from rankgain.metrics.program import Plan
from rankgain.rankings import Rankings
from rankgain.scalars import paired
from rankgain.tools import trec_measures
from rankgain.tools.trec_measures import TrecMeasure, TrecOptions

__version__ = "0.5.11"

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "install",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

supported_measures: set[str] = set(trec_measures.measures(9))
supported_nicknames: dict[str, set[str]] = {
    nickname: set(names) for nickname, names in trec_measures.nicknames(9).items()
}


class _Planned(NamedTuple):
    """The plan for a choice of measures and options.

    It is cached for callers that create one evaluator per query. `keys` holds the keys of the columns if each column is
    exactly one metric of the plan, and is None otherwise.
    """

    columns: list[TrecMeasure]
    computed: list[TrecMeasure]
    plan: Plan
    rules: Rules
    keys: tuple[str, ...] | None
    rows: Callable[..., dict[Any, dict[str, float]] | None]
    program: Any
    most: int


_MOST_PLANS = 64
_plans: dict[tuple[Any, ...], _Planned] = {}


def _planned(measures: tuple[str, ...], release: int, level: Any, judged_only: bool) -> _Planned:
    key = measures, release, level, type(level), judged_only, _backend.name
    try:
        return _plans[key]
    except (KeyError, TypeError):  # the key is not cached yet or not hashable
        pass
    if release not in (9, 10):
        raise ValueError(f"release must be 9 or 10, not {release!r}")
    for name in measures:
        if not isinstance(name, str):
            raise TypeError(f"measures: a name must be a str, not {type(name).__name__} {name!r}")
    columns = trec_measures.columns(measures, TrecOptions(release, _level(level)), underscores=True)
    computed = [column for column in columns if column.formula.metrics]
    plan = trec_measures.plan_of(computed)
    one_to_one = [column.formula.metrics for column in columns] == [(metric,) for metric in plan.metrics] and not any(
        column.formula.value or column.measure.name.startswith("gm_") for column in columns
    )
    keys = tuple(column.key for column in columns) if one_to_one and not plan.has_callable_gain else None
    program = plan.program(0)
    rules = Rules("docid", 32 if release == 9 else 64, judged_only=judged_only)
    most = min(DictSource.most, plan.longest_tabled_list)
    planned = _Planned(columns, computed, plan, rules, keys, plan.engine.rows, program, most)
    if len(_plans) >= _MOST_PLANS:
        _plans.clear()
    _plans[key] = planned
    return planned


class RelevanceEvaluator:
    """Judgments and measures, prepared once to evaluate any number of runs.

    Parameters
    ----------
    query_relevance : mapping of mappings
        Grades by query and document; a document with a negative grade was pooled but not judged. Queries without
        documents are left out.
    measures : iterable of str
        Names from `supported_measures`, with parameters as in ``"ndcg_cut.5,10"`` or ``"ndcg_cut_10"``, or from
        `supported_nicknames`.
    relevance_level : int, default 1
        The lowest grade that is relevant; a positive integer. Measures of gains ignore it.
    judged_docs_only_flag : bool, default False
        Whether unjudged documents are removed from the runs, so that those below them move up.
    release : {9, 10}, default 9
        The release of trec_eval whose numbers to compute.

    Raises
    ------
    ValueError
        If a measure is unknown or does not take the parameters given, `release` is unknown, or a grade is not finite.
    TypeError
        If `query_relevance` is not a mapping of mappings, `measures` is a single string or holds anything but strings,
        a grade is not a number, or `relevance_level` is not a positive integer.

    Examples
    --------
    >>> from rankgain import pytrec_eval
    >>> qrels = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d7": 1}}
    >>> evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut.5,10"})
    >>> result = evaluator.evaluate({"q1": {"d1": 1.4, "d2": 0.9, "d3": 0.3}})
    >>> {measure: round(value, 4) for measure, value in result["q1"].items()}
    {'map': 0.8333, 'ndcg_cut_5': 0.7602, 'ndcg_cut_10': 0.7602}
    """

    def __init__(
        self,
        query_relevance: Mapping[Any, Mapping[Any, float]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
        *,
        release: int = 9,
    ) -> None:
        self._arguments = _names(measures), release, relevance_level, bool(judged_docs_only_flag)
        self._planned = _planned(*self._arguments)
        grades, *_ = dicts_of(query_relevance, "query_relevance")
        queries, judged = paired(grades, "query_relevance")
        if not all(judged):
            queries = [query for query, grades in zip(queries, judged, strict=True) if len(grades)]
            judged = [grades for grades in judged if len(grades)]
        self._set_judgments(of_dicts(queries, judged, "query_relevance").check())

    def _set_judgments(self, judgments: JudgmentSets) -> None:
        """Set the judgments and the look-up tables that every call uses."""
        self._judgments = judgments
        self._judged = judgments.judged
        self._numbers = {query: number for number, query in enumerate(judgments.query_ids)}

    def evaluate(self, scores: Mapping[Any, Mapping[Any, float]]) -> dict[Any, dict[str, float]]:
        """Compute the measures for the judged queries of a run, in the order of the run.

        Parameters
        ----------
        scores : mapping of mappings
            Scores by query and document; higher is better.

        Returns
        -------
        dict of dict of str to float
            ``{query: {measure: value}}``; a measure with cut-offs has a key for each, such as ``"ndcg_cut_10"``.

        Raises
        ------
        ValueError
            If a score is NaN, or the ids have other types than those of the judgments.
        TypeError
            If `scores` is not a mapping of mappings, a score is not a number, or tied documents cannot be ordered
            because their ids are of mixed types.

        Examples
        --------
        >>> from rankgain import pytrec_eval
        >>> evaluator = pytrec_eval.RelevanceEvaluator({"q1": {"d1": 1}, "q2": {"d1": 1}}, {"recip_rank"})
        >>> evaluator.evaluate({"q2": {"d1": 0.1, "d2": 0.1}, "q1": {"d1": 0.1}, "other": {"d1": 1.0}})
        {'q2': {'recip_rank': 0.5}, 'q1': {'recip_rank': 1.0}}
        """
        _, _, _, rules, keys, rows, program, most = self._planned
        if keys is not None:  # fast path, for a dict of dicts
            result = rows(program, rules.codes, self._judged, self._numbers, scores, keys, most)
            if result is not None:
                return result
        return self._evaluate_general(scores)

    def _evaluate_general(self, scores: Mapping[Any, Mapping[Any, float]]) -> dict[Any, dict[str, float]]:
        """Compute the measures of a run that the fast path cannot handle.

        Such a run is not a dict of dicts, is too large for one call, or is invalid.
        """
        numbers = self._numbers
        scores, *_ = dicts_of(scores, "scores")
        queries = [query for query in paired(scores, "scores")[0] if query in numbers]
        if not queries:
            differ = (
                types(self._judgments.query_ids, scores, (self._judgments.name, "scores")) if scores and numbers else ""
            )
            if differ:
                raise ValueError(f"query_relevance and scores have no query in common: {differ}")
            return {}
        columns, computed, plan, rules, *_ = self._planned
        rankings = Rankings(DictSource(self._judgments, scores, "skip", name="scores"), rules)
        values = trec_measures.values(computed, rankings, plan=plan)
        return _by_query(columns, values, rankings.query_ids, queries)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the attributes that `__setstate__` rebuilds."""
        rebuilt = "_planned", "_judged", "_numbers", "_judgments"
        state = {name: value for name, value in vars(self).items() if name not in rebuilt}
        return state | {"judgments": Judgments(self._judgments)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        judgments = state.pop("judgments")
        vars(self).update(state)
        self._planned = _planned(*self._arguments)
        self._set_judgments(judgment_sets(judgments))


def _names(measures: Iterable[str]) -> tuple[str, ...]:
    if type(measures) is not set and (isinstance(measures, (str, bytes)) or not isinstance(measures, Iterable)):
        raise TypeError(f"measures must be a set of names, such as {{'map', 'ndcg_cut.10'}}, not {measures!r}")
    return tuple(measures)


def _level(level: Any) -> int:
    try:
        number = operator.index(level)
    except TypeError:
        number = 0
    if number < 1:
        raise TypeError(f"relevance_level must be a positive integer, not {level!r}")
    return number


def _by_query(
    columns: list[TrecMeasure], vectors: list[trec_measures.Vector], query_ids: Iterable[Any], run: Iterable[Any]
) -> dict[Any, dict[str, float]]:
    """Return ``{query: {measure: value}}``, with queries in the order of the run."""
    keys = [column.key for column in columns]
    computed, lists = iter(vectors), []
    for column in columns:
        vector = next(computed) if column.formula.metrics else repeat(0.0)  # runid and relstring are not computed
        logarithmic = column.measure.name.startswith("gm_")
        lists.append([math.log(max(value, LEAST)) for value in vector] if logarithmic else vector)
    rows = zip(*lists, strict=False) if lists else repeat(())
    values = {query: dict(zip(keys, row, strict=True)) for query, row in zip(query_ids, rows, strict=False)}
    return {query: values[query] for query in run if query in values}


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read scores by query and document from the lines of a TREC run: query, Q0, document, rank, score, run.

    Parameters
    ----------
    f_run : iterable of str
        The lines, for example an open text file.

    Returns
    -------
    defaultdict of dict of str to float
        ``{query: {document: score}}``.

    Raises
    ------
    ValueError
        If a line does not have six fields, a score is not a number, or a document appears twice under a query.

    See Also
    --------
    parse_qrel : Reads grades.
    rankgain.read_trec : Reads and evaluates files without dicts.

    Examples
    --------
    >>> from rankgain import pytrec_eval
    >>> dict(pytrec_eval.parse_run(["q1 Q0 d1 1 0.9 mine", "q1 Q0 d2 2 0.4 mine"]))
    {'q1': {'d1': 0.9, 'd2': 0.4}}
    """
    return _parse(f_run, "f_run", 6, 4, float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Read grades by query and document from the lines of TREC qrels: query, 0, document, grade.

    Parameters
    ----------
    f_qrel : iterable of str
        The lines, for example an open text file.

    Returns
    -------
    defaultdict of dict of str to int
        ``{query: {document: grade}}``.

    Raises
    ------
    ValueError
        If a line does not have four fields, a grade is not an integer, or a document appears twice under a query.

    See Also
    --------
    parse_run : Reads scores.

    Examples
    --------
    >>> from rankgain import pytrec_eval
    >>> dict(pytrec_eval.parse_qrel(["q1 0 d1 2", "q1 0 d2 0"]))
    {'q1': {'d1': 2, 'd2': 0}}
    """
    return _parse(f_qrel, "f_qrel", 4, 3, int)


_Number = TypeVar("_Number", int, float)


def _parse(
    lines: Iterable[str], name: str, count: int, field: int, number: Callable[[str], _Number]
) -> dict[str, dict[str, _Number]]:
    numbers: dict[str, dict[str, _Number]] = defaultdict(dict)
    for line_number, line in enumerate(lines, 1):
        fields = line.split()
        where = f"{name}: line {line_number}"
        if len(fields) != count:
            raise ValueError(f"{where}: there must be {count} fields, not {len(fields)}")
        query, document = fields[0], fields[2]
        if document in numbers[query]:
            raise ValueError(f"{where}: document {quoted(document)} appears twice under query {quoted(query)}")
        try:
            numbers[query][document] = number(fields[field])
        except ValueError:
            raise ValueError(f"{where}: {quoted(fields[field])} is not a valid {number.__name__}") from None
    return numbers


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """Aggregate the values of a measure over all queries into one number, as trec_eval does.

    Parameters
    ----------
    measure : str
        A key of the result of `RelevanceEvaluator.evaluate`.
    values : iterable of float
        The values of the measure, one per query.

    Returns
    -------
    float
        The sum for measures that begin with ``num_``, exp of the mean for those that begin with ``gm_``, else the mean.
        If there are no values, 0.0 for a sum and NaN for a mean.

    Examples
    --------
    >>> from rankgain import pytrec_eval
    >>> [pytrec_eval.compute_aggregated_measure(measure, [1.0, 2.0]) for measure in ("P_5", "num_rel")]
    [1.5, 3.0]
    """
    numbers = np.array([float(value) for value in values])
    with np.errstate(all="ignore"):
        if measure.startswith("num_"):
            return float(numbers.sum())
        average = numbers.mean() if len(numbers) else math.nan
        return float(np.exp(average) if measure.startswith("gm_") else average)


def install() -> None:
    """Make ``import pytrec_eval`` import this module from now on, anywhere in this process.

    Call it before other code imports pytrec_eval; modules that imported it earlier keep the original.

    Warns
    -----
    UserWarning
        If modules have already imported the other pytrec_eval; the message names them.

    Examples
    --------
    >>> import sys
    >>> before = sys.modules.get("pytrec_eval")
    >>> from rankgain.pytrec_eval import install
    >>> install()
    >>> import pytrec_eval
    >>> pytrec_eval.__name__
    'rankgain.pytrec_eval'
    >>> _ = sys.modules.pop("pytrec_eval") if before is None else sys.modules.update(pytrec_eval=before)
    """
    keepers = sorted(_keepers())
    sys.modules["pytrec_eval"] = sys.modules[__name__]
    if keepers:
        warn(
            f"pytrec_eval was imported before install() was called, and {', '.join(keepers)} "
            f"{'keep' if len(keepers) > 1 else 'keeps'} it: call install() before importing what uses it"
        )


def _keepers() -> Iterator[str]:
    """Yield the names of modules that refer to the original pytrec_eval or its members."""
    other = sys.modules.get("pytrec_eval")
    if other is None or other is sys.modules[__name__]:
        return
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("pytrec_eval", "pytrec_eval_ext") or module is None:
            continue
        for member in list(getattr(module, "__dict__", {}).values()):
            if member is other or (isinstance(member, (type, FunctionType)) and member.__module__ == "pytrec_eval"):
                yield name
                break
