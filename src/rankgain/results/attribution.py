"""Attribute the difference between two tools to their rules.

The mean of a metric is computed with each rule of the other tool, alone and cumulatively.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from rankgain.choices import Handed, Ties
from rankgain.errors import counted, short
from rankgain.metrics.aggregators import mean
from rankgain.metrics.metric import Metric, is_share, parse, row_of
from rankgain.results.evaluation import Evaluation, same_ids
from rankgain.results.export import Columns, Frames
from rankgain.results.peers import OWN, PeerTool, parameters_in_words
from rankgain.results.text import Block, Form, Number, Printed, Table, number

WRAPPED = 17  # width in characters at which the text of a rule is wrapped

_Row = dict[str, Any]

# Names of rules, in the order of the rows, mapped to metric parameters and to fields of Setting. The rule "definition"
# covers all other parameters.
PARAMETERS_OF = {"gain": "gain", "discount": "discount", "ideal": "ideal", "relevant": "rel", "empty": "empty"}
_GIVEN = {"queries": "queries", "judged documents": "judged", "hits": "own_ids"}
OF_RANKINGS = _GIVEN | {"ties": "ties", "precision of scores": "score_bits"}
_RULES = (*_GIVEN, "definition", *PARAMETERS_OF, "ties", "precision of scores")
ROW_OF = {parameter: rule for rule, parameter in PARAMETERS_OF.items()}


class Setting(NamedTuple):
    """A metric and the rules that determine its values; a rule is None if it does not apply to the rankings.

    `queries`: which queries count, a key of `_QUERIES`. `judged`: which documents are judged. `own_ids`: what becomes
    of hits with the id of their query, a key of `OWN_IDS`.
    """

    metric: Metric
    queries: str | None
    judged: Handed
    ties: Ties | None
    score_bits: int | None
    own_ids: str = "kept"


_QUERIES = {
    "zero": "all judged ones; missing ones count 0",
    "skip": "those that the run has",
    "all": "all",
    "scored": "those with documents",
}
OWN_IDS = {"kept": "all", "removed": "all but those with the id of their query"}
JUDGED = {"files": "those of the truth", "scored": "the scored ones"}


@dataclass(frozen=True, slots=True, repr=False)
class Attribution(Frames, Printed):
    """The rules that make a metric's mean differ between rankgain and another tool, with their effects.

    Created by `Rankings.attribution`; prints as a table.

    Attributes
    ----------
    metric : str or Metric
        The metric, as requested.
    like : str
        The tool, or the other metric.
    mean : float
        The mean by the rules of the rankings.
    like_mean : float
        The mean by the rules of the tool, which equals that of ``evaluate(metric, like=like)``.
    rows : list of dict
        One per rule that differs for this metric, in the order queries, judged documents, hits, definition, gain,
        discount, ideal, relevant, empty, ties, precision of scores. ``rule`` is the name; ``rankgain`` and ``like`` are
        the two rules in words; ``only_this`` is the mean with only this rule changed, ``change`` the difference from
        `mean`; ``with_above`` is the mean with the rules of this row and of all rows above changed, and ``adds`` the
        difference from that of the row above, so that these sum to `like_mean` minus `mean`; ``changed`` is the number
        of queries whose value differs with only this rule changed, including queries that no longer count;
        ``counted`` is the number of queries that then count. A rule of the tool that cannot be applied has a row whose
        text ``like`` begins with "not applied" and that changes nothing.
    """

    __module__ = "rankgain"
    metric: str | Metric
    like: str
    mean: float
    like_mean: float
    rows: list[_Row]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dict.

        Returns
        -------
        dict of str
            The attributes by name, with the metric as text.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([[2, 1], [0, 2]]).attribution("ndcg", like="lightgbm").to_dict()["rows"][0]["rule"]
        'gain'
        """
        return {"metric": str(self.metric), **{name: getattr(self, name) for name in self.__slots__[1:]}}

    def columns(self) -> Columns:
        """Return the columns of a data frame with one row per rule.

        Returns
        -------
        dict of str to sequence
            The means and changes are float64 arrays.

        Examples
        --------
        >>> import rankgain as rg
        >>> list(rg.from_ranked([[2, 1], [0, 2]]).attribution("ndcg", like="lightgbm").columns())
        ['rule', 'rankgain', 'like', 'only_this', 'change', 'with_above', 'adds', 'changed', 'counted']
        """
        columns: dict[str, Any] = {name: [row[name] for row in self.rows] for name in _COLUMNS}
        return columns | {name: np.array(columns[name], dtype=np.float64) for name in _COLUMNS[3:7]}

    def _tables(self, form: Form) -> list[Block]:
        change = self.like_mean - self.mean
        means = f"{number(self.mean)} by rankgain, {number(self.like_mean)} like {self.like}"
        title = f"{self.metric!s}: {means} ({change:+.4f})"
        if not self.rows:
            return [[title, "No rule differs for this metric."]]
        head = ["rule", "rankgain", self.like, "only this", "change", "with above", "adds", "changed", "counted"]
        body = [cells for row in self.rows for cells in _cells(row, form, is_share(self.metric))]
        below = [
            "only this: the mean with only this rule changed; with above: with this rule and those above.",
            f"adds sums to {change:+.4f}; change need not, because rules interact.",
        ]
        return [[title], Table([head, *body], below, names=3)]


_COLUMNS = ("rule", "rankgain", "like", "only_this", "change", "with_above", "adds", "changed", "counted")
SIGNED = ("change", "adds")


def _cells(row: _Row, form: Form, share: bool) -> Iterator[list[object]]:
    """Yield the cells of a table row, line by line; in plain text, a long rule takes several lines."""
    import textwrap  # needed only for printing

    width = WRAPPED if form == "text" else 10_000
    rules = [textwrap.wrap(row[name], width, break_long_words=False) for name in _COLUMNS[:3]]
    numbers = [Number((row[name],), signed=name in SIGNED, share=share) for name in _COLUMNS[3:7]]
    for line, words in enumerate(zip_longest(*rules, fillvalue="")):
        yield [*words, *([*numbers, *map(str, _counts(row))] if not line else [""] * 6)]


def _counts(row: _Row) -> tuple[int, int]:
    return row["changed"], row["counted"]


def attribute(
    key: str | Metric,
    base: Setting,
    target: Setting,
    peer: PeerTool,
    evaluate: Callable[[Setting], Evaluation],
    unjudged: int,
) -> Attribution:
    """Attribute the difference between two settings to their rules; the second setting is a tool's.

    `unjudged`: the number of queries without judgments, if the tool is handed their documents.
    """
    before = last = evaluate(base)
    own_mean = with_above = before.aggregate(base.metric)
    rows, above = [], set[str]()
    for rules in _groups(base, target):
        above |= rules
        only = evaluate(_mixed(base, target, rules))
        last = evaluate(_mixed(base, target, above))
        previous, (with_above,), (only_this,) = with_above, last.aggregate().values(), only.aggregate().values()
        rows.append(
            {
                "rule": next(rule for rule in _RULES if rule in rules),
                "rankgain": _in_words(rules, base, target, OWN),
                "like": _in_words(rules, target, base, peer),
                "only_this": only_this,
                "change": only_this - own_mean,
                "with_above": with_above,
                "adds": with_above - previous,
                "changed": _changed(before, only),
                "counted": int(np.count_nonzero(~np.isnan(_vector(only)))),
            }
        )
    if unjudged:
        above_it = [row for row in rows if row["rule"] == "queries"]
        mean_above = above_it[0]["with_above"] if above_it else own_mean
        row: _Row = {"rule": "queries", "rankgain": "unjudged ones are left out", "like": _of_unjudged(unjudged, last)}
        row |= {"only_this": own_mean, "change": 0.0, "with_above": mean_above, "adds": 0.0, "changed": 0}
        rows.insert(len(above_it), row | {"counted": int(np.count_nonzero(~np.isnan(_vector(before))))})
    return Attribution(key, peer.name, own_mean, last.aggregate(target.metric), rows)


def _of_unjudged(count: int, result: Evaluation) -> str:
    """Say what the queries without judgments, which are not evaluated, would change in the tool."""
    ((metric, vector),) = result.items()
    ((_, record),) = parse(metric)
    row = row_of(record.name)
    text = f"not applied: {counted(count, 'query')} of the run {'has' if count == 1 else 'have'} no judgments"
    if row.better < 0 or record.above < 0.0:  # labels 0 have a value that depends on the length of the list
        return text
    value = record.empty if "empty" in row.takes else 0.0
    if math.isnan(value):
        return f"{text}; handed over with labels 0 they do not count"
    known = vector[~np.isnan(vector)].tolist()
    whole = mean(np.array([*known, *[value] * count]))
    return f"{text}; handed over with labels 0 they count {short(value)} each and the mean is {number(whole)}"


def _differing(base: Setting, target: Setting) -> Iterator[str]:
    """Yield the rules that differ between two settings, in no particular order."""
    one, two = base.metric, target.metric
    common = {*row_of(one.name).takes} & {*row_of(two.name).takes}
    if (one.name, one.k) != (two.name, two.k):
        yield "definition"
    for parameter in common:
        if (getattr(one, parameter),) != (getattr(two, parameter),):  # in a tuple, a NaN object equals itself
            yield ROW_OF.get(parameter, "definition")
    for rule, field in OF_RANKINGS.items():
        before, after = getattr(base, field), getattr(target, field)
        if None not in (before, after) and before != after:
            yield rule


def _groups(base: Setting, target: Setting) -> list[set[str]]:
    """Return the rules that differ, in groups; rules that depend on each other share a group."""
    differing = {*_differing(base, target)}
    one, two = row_of(base.metric.name), row_of(target.metric.name)
    together = set[str]()
    if one.highest != two.highest:  # a new scale makes sense only with the new gain and discount
        together |= {"definition", "gain", "discount"} & differing
    if base.ties == "average" and two.unaveraged:
        together |= {"definition", "ties"} & differing
    groups = [{rule} if rule not in together else together for rule in _RULES if rule in differing]
    return [group for index, group in enumerate(groups) if group not in groups[:index]]


def _mixed(base: Setting, target: Setting, rules: set[str]) -> Setting:
    """Return the base setting with `rules` replaced by those of the target."""

    def side(rule: str) -> Setting:
        return target if rule in rules else base

    name = side("definition").metric.name
    known = row_of(base.metric.name).takes
    sides = {
        name: side(ROW_OF.get(name, "definition") if name in known else "definition") for name in row_of(name).takes
    }
    parameters = {parameter: getattr(setting.metric, parameter) for parameter, setting in sides.items()}
    metric = Metric(name, side("definition").metric.k, **parameters)
    changed = {field: getattr(target, field) for rule, field in OF_RANKINGS.items() if rule in rules}
    return base._replace(metric=metric, **changed)


def _in_words(rules: set[str], setting: Setting, other: Setting, peer: PeerTool) -> str:
    words = parameters_in_words(setting.metric, setting.judged)
    texts: list[str] = []
    for rule in (rule for rule in _RULES if rule in rules):
        if rule == "definition":
            texts += _definition(setting.metric, other.metric, words)
        elif rule == "ties":
            texts.append(str(setting.ties) if peer.rules.ties is None else peer.order)
        elif rule == "precision of scores":
            texts.append(f"{setting.score_bits} bits")
        elif rule == "queries":
            texts.append(_QUERIES[setting.queries or "all"])
        elif rule == "hits":
            texts.append(OWN_IDS[setting.own_ids])
        elif rule == "judged documents":
            texts.append(JUDGED[setting.judged])
        else:
            texts.append(words[rule])
    return "; ".join(texts)


def _definition(metric: Metric, other: Metric, words: dict[str, str]) -> Iterator[str]:
    """Yield what differs in the definition of a metric: its formula, cut-off and parameters."""
    if metric.name != other.name:
        yield row_of(metric.name).formula
    if metric.k != other.k:
        yield f"k = {metric.k}" if metric.k else "no k"
    for parameter in row_of(metric.name).takes:
        if parameter not in ROW_OF and (getattr(metric, parameter),) != (getattr(other, parameter),):
            yield f"{parameter} = {words[parameter]}"


def _vector(result: Evaluation) -> Any:
    (vector,) = result.values()
    return vector


def _changed(before: Evaluation, after: Evaluation) -> int:
    """Count the queries that have different values in two evaluations or are missing from one of them."""
    one, two = _vector(before), _vector(after)
    if same_ids(before.query_ids, after.query_ids):
        return int(np.count_nonzero((one != two) & ~(np.isnan(one) & np.isnan(two))))
    pairs = [dict(zip(side.query_ids, map(repr, _vector(side).tolist()), strict=True)) for side in (before, after)]
    return sum(pairs[0].get(query) != pairs[1].get(query) for query in {**pairs[0], **pairs[1]})
