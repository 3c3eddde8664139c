"""The calculation of a metric for one query: what each rank adds, the ideal ranking, and what lowers the value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgain import _codes
from rankgain.data.documents import TieGroup, is_judged, judged_as_scored, tie_groups
from rankgain.data.rules import Rules
from rankgain.data.source import Source
from rankgain.metrics.metric import Metric, row_of
from rankgain.metrics.program import Plan, hits_of_query, parts_of_query
from rankgain.results.export import Columns, Frames
from rankgain.results.text import (
    Block,
    Form,
    Number,
    Table,
    Tables,
    below_table,
    fitted,
    number,
    printable,
    text_table,
    wrapped,
)

if TYPE_CHECKING:
    from rankgain import _backend

RANKS = 100  # number of ranks shown for a metric without a cut-off
NAMED = 5  # maximum number of documents named in a note
NAMED_MISSING = 50  # maximum number of those that were not returned, which are needed to debug retrieval
NAMES = "document", "term", "covers", "subtopic"  # columns of text

Cells = dict[str, Any]

# Families of terms that are sums over ranks, followed by families that are sums over the ideal ranking.
OVER_RANKS = {
    _codes.DISCOUNTED_SUM,
    _codes.FIRST_RELEVANT,
    _codes.ANY_RELEVANT,
    _codes.PRECISION_SUM,
    _codes.CASCADE,
}
OVER_IDEAL = {_codes.IDEAL_SUM, _codes.IDEAL_CASCADE}

# Descriptions of terms that are not sums over ranks.
TERMS = {
    _codes.IDEAL_SUM: "sum of the judged documents' gains, highest first",
    _codes.RANKS: "documents, n or k",
    _codes.JUDGED_ABOVE: "judged relevant documents, R",
    _codes.RETURNED_ABOVE: "returned relevant documents",
    _codes.PRECISION_AT_RELEVANT: "precision at rank R",
    _codes.PREFERENCE_SUM: "sum of the relevant documents' preferences",
    _codes.INFERRED_SUM: "sum of the inferred precisions",
    _codes.INTERPOLATED: "mean of the interpolated precisions",
    _codes.COST_SUM: "sum of the gains by cost",
    _codes.GRADE_LEVELS: "mean of nDCG over the levels of the ideal gain",
    _codes.RELEVANT_RANKS: "mean of nDCG over the documents with a gain",
    _codes.PAIRS: "share of the pairs in the right order",
}


@dataclass(frozen=True, slots=True, repr=False)
class Calculation(Frames, Tables):
    """The calculation of a metric for one query, created by `Rankings.calculation`; prints as a table.

    Attributes
    ----------
    metric : str or Metric
        The metric, as requested.
    query : object
        The id of the query.
    value : float
        The value of the query, as `Rankings.evaluate` returns it.
    dividend, divisor : float
        `value` is ``dividend / divisor``, but 1.0 if DCG exceeds the ideal only by rounding. If `divisor` is 0, it is
        the metric's `empty` if nothing is relevant, and else 0. `divisor` is None if the metric is not a quotient;
        `dividend` is then the sum over ranks.
    rows : list of dict
        The ranks from the first on: ``rank`` and ``last_rank``, which differ for tied documents; ``document`` or, if
        documents have no ids, ``position``; ``score``, if known; ``grade``, None for an unjudged document; ``gain``,
        ``relevant`` or another quantity; ``discount``; what the rank adds, ``product`` or ``adds``; and ``sum``, the
        sum up to this rank, which tied documents have only in the last row of the group. For metrics that are not sums
        over ranks, each row has a ``term`` and the ``value`` of the term. For metrics of novelty, ``covers`` has the
        subtopics of a document: ``+`` before one that no document above covers, else how often it is covered. For means
        over subtopics, each row has a ``subtopic``, its ``weight`` and ``value`` and, for strecall, the rank at which
        it is first covered.
    ideal : list of dict
        The same rows for the judged documents in the best order; empty if the metric has no ideal.
    notes : list of str
        Which documents are missing, and the value lost to low ranks.
    like : str or None
        The tool whose rules were followed.
    title : str
        The first line that is printed: the value, and how it follows from the sums.
    """

    __module__ = "rankgain"
    metric: str | Metric
    query: Any
    value: float
    dividend: float
    divisor: float | None
    rows: list[Cells]
    ideal: list[Cells]
    notes: list[str]
    like: str | None
    title: str

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dict.

        Returns
        -------
        dict of str
            The attributes by name, with the metric as text.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.from_ranked([0, 1]).calculation("rr", 0).to_dict()["rows"][1]
        {'rank': 2, 'last_rank': 2, 'position': 1, 'grade': 1.0, 'relevant': 1.0, 'adds': 0.5, 'sum': 0.5}
        """
        names = ("query", "value", "dividend", "divisor", "rows", "ideal", "notes", "like")
        return {"metric": str(self.metric), **{name: getattr(self, name) for name in names}}

    def columns(self) -> Columns:
        """Return the columns of a data frame with one row per rank.

        The names of columns of the ideal ranking begin with ``ideal_``.

        Returns
        -------
        dict of str to sequence
            Numbers are float64 arrays, with NaN for missing values. Where tied documents share a row, the columns of
            their values are text, as in the table.

        Examples
        --------
        >>> import rankgain as rg
        >>> list(rg.from_ranked([0, 1]).calculation("rr", 0).columns())
        ['rank', 'last_rank', 'position', 'grade', 'relevant', 'adds', 'sum']
        """
        length = max(len(self.rows), len(self.ideal))
        columns: dict[str, Any] = {}
        for prefix, rows in (("", self.rows), ("ideal_", self.ideal)):
            for name in rows[0] if rows else ():
                cells = [row[name] for row in rows] + [None] * (length - len(rows))
                if any(isinstance(cell, list) for cell in cells):  # tied documents share a row
                    columns[prefix + name] = [
                        None if cell is None else _listed(cell if isinstance(cell, list) else [cell]) for cell in cells
                    ]
                elif name in NAMES:
                    columns[prefix + name] = cells
                else:
                    columns[prefix + name] = np.array(
                        [math.nan if cell is None else cell for cell in cells], np.float64
                    )
        return columns

    @fitted()
    def __repr__(self) -> str:
        table = self._table()
        breaks = [len(_side(self.rows))]  # before the ideal ranking
        body = (
            text_table(table.rows, names=0, left=table.left, rule=False, breaks=breaks) if len(table.rows) > 1 else []
        )
        return "\n".join([*below_table([self.title]), *body, *(part for note in self.notes for part in wrapped(note))])

    def _tables(self, form: Form) -> list[Block]:
        table = self._table()
        return [[self.title], table if len(table.rows) > 1 else self.notes]

    def _table(self) -> Table:
        """Return a table of the ranks and the ideal ranking, side by side."""
        sides = [side for side in (_side(self.rows), _side(self.ideal, ideal=True)) if side]
        if len(self.ideal) > len(self.rows) > 0:
            sides[0][0] += map(str, range(len(self.rows) + 1, len(self.ideal) + 1))
        columns = [column for side in sides for column in side]
        left = [index for index, column in enumerate(columns) if column[0] in ("ideal", *NAMES)]
        return Table([*zip_longest(*columns, fillvalue="")], self.notes, names=0, left=left)


def _side(rows: list[Cells], ideal: bool = False) -> list[list[object]]:
    """Return the columns of the ranks or of the ideal ranking; each column begins with its header."""
    names = [name for name in (rows[0] if rows else ()) if name != "last_rank"]
    columns: list[list[object]] = [[name, *(_cell(name, row) for row in rows)] for name in names]
    if ideal and columns:
        columns[0][0] = "ideal" if names[0] in ("document", "position") else f"ideal {names[0]}"
    return columns


def _cell(name: str, row: Cells) -> object:
    value = row[name]
    if name == "rank":
        if value is None:
            return "–"
        return _ranks(value, row["last_rank"])
    if value is None:
        return "–" if name == "grade" else ""
    if name in ("discount", "product", "adds", "sum", "value"):
        return Number((value,))
    return _listed(value) if isinstance(value, list) else _plain(value)


def _ranks(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def _plain(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else printable(value)


def _listed(values: Sequence[Any]) -> str:
    """Return the values of tied documents as text, shortened if there are many."""
    more = [f"… {len(values)} in all"] if len(values) > NAMED else []
    return ", ".join(["–" if value is None else _plain(value) for value in values[:NAMED]] + more)


def first_names(documents: list[str], most: int = NAMED) -> str:
    more = f" and {len(documents) - most} more" if len(documents) > most else ""
    return ", ".join(documents[:most]) + more


def calculate(
    source: Source, rules: Rules, metric: Metric, key: str | Metric, query: int, like: str | None, limit: int | None
) -> Calculation:
    """Calculate a metric for one query.

    `key` is the metric as requested, and `query` is the position of the query.
    """
    worker = _Calculator(source, rules, metric, query, limit)
    parts = worker.parts
    name = printable(source.query_ids[query])
    equation = _equation(metric, parts, worker.why_empty())
    title = f"{key!s} of query {name}{f', like {like}' if like else ''}: {equation}"
    return Calculation(
        key,
        source.query_ids[query],
        parts.value,
        parts.dividend,
        parts.divisor,
        worker.rows(),
        worker.ideal(),
        [*worker.notes()],
        like,
        title,
    )


def _equation(metric: Metric, parts: _backend.parts.Parts, why_empty: str) -> str:
    """Return the equation that derives the value from the sums, as text.

    `why_empty`: why the divisor is 0, if it is.
    """
    value, kind = number(parts.value), row_of(metric.name).combination.kind
    if parts.divisor is None:
        amount, factor = number(parts.dividend), f"{1.0 - metric.p:.6g}"
        if kind == _codes.BIASED:
            return f"{factor} · {amount} = {value}"
        return f"1 − {factor} · {amount} = {value}" if kind == _codes.RESIDUAL else value
    show: Callable[[float], str] = number if kind == _codes.RATIO else _amount
    quotient = f"{show(parts.dividend)} / {show(parts.divisor)}"
    return f"{quotient} = {value}" if parts.divisor else f"{quotient}, {why_empty}: {value}"


def _amount(value: float) -> str:
    """Format a count as an integer, and any other number with four decimals."""
    return f"{value:.0f}" if value.is_integer() else number(value)


class _Calculator:
    """A builder for the calculation of a metric for one query."""

    def __init__(self, source: Source, rules: Rules, metric: Metric, query: int, limit: int | None) -> None:
        self._source, self._rules, self._metric, self._query = source, rules, metric, query
        self._plan = Plan([metric])
        self._used = hits_of_query(self._plan, source, rules, query)
        self._documents = judged_as_scored(source.documents(query, rules), rules)
        self._family = row_of(metric.name).terms(metric)[0].family
        self._limit = limit or metric.k or RANKS
        self._grades = {grade for grade in [*self._documents.grades, *self._documents.judged] if is_judged(grade)}
        self.parts = self._parts([], [])  # no ranks yet, since their order depends on the gains
        self._any_gain = any(map(self._gain, self._documents.judged)) or self._family == _codes.DISCOUNTED_SUM
        self._ideal_order = self._in_ideal_order()
        self._groups = [*self._ordered_groups()]
        ends = {min(rank, metric.depth) for group in self._groups for rank in (group.first - 1, group.last) if rank}
        ideal_ranks = [(rank, rank) for rank in range(1, len(self._ideal_order) + 1)]
        ranks = [(group.first, group.last) for group in self._groups] + ideal_ranks
        self.parts = self._parts([*ends, *range(1, len(ideal_ranks) + 1)], ranks)

    def _parts(self, cutoffs: list[int], ranks: list[tuple[int, int]]) -> _backend.parts.Parts:
        return parts_of_query(
            self._plan, self._source, self._rules, self._query, self._used, cutoffs, self._grades, ranks
        )

    def _gain(self, grade: float | None) -> float | None:
        """Return the gain of a grade, or None if the gain is unknown, e.g. beyond the cut-off."""
        return 0.0 if grade is None or grade < 0.0 else self.parts.gains[grade]

    def _order_key(self, grade: float | None) -> tuple[float, float]:
        """Return the key that sorts tied documents for the rule "best": the gain, then the grade."""
        return self._gain(grade) or 0.0, -math.inf if grade is None else grade

    def _ordered_groups(self) -> Iterator[TieGroup]:
        """Yield the tie groups to show; only if ties are averaged can a group have more than one document."""
        grades, last_rank = self._documents.grades, self._limit
        reverse = self._rules.ties != "worst"
        if self._plan.terms[0][0].gain is not None and self._plan.terms[0][0].gain.kind == "irrelevant":
            reverse = self._rules.ties != "best"
        for first, last, positions in self._documents.groups:
            if first > last_rank:
                return
            ordered = sorted(positions, key=lambda position: self._order_key(grades[position]), reverse=reverse)
            if self._rules.ties in ("best", "worst"):
                singles = (TieGroup(rank, rank, [position]) for rank, position in enumerate(ordered, first))
                yield from (single for single in singles if single.first <= last_rank)
            else:
                yield TieGroup(first, last, ordered)

    def why_empty(self) -> str:
        """Return the reason for a divisor of 0: nothing is relevant, or the list has nothing that is."""
        if not any(map(self._has_gain, self._documents.judged)):
            return row_of(self._metric.name).empty_if
        return "nothing relevant returned" if self._used.returned else "nothing returned"

    def _in_ideal_order(self) -> list[int]:
        """Return the indices of the judged documents with a gain, highest gain first."""
        if not any(term.family in OVER_IDEAL for term, _ in self._plan.terms) or self._family == _codes.COST_SUM:
            return []
        judged, metric = self._documents.judged, self._metric
        order = sorted(range(len(judged)), key=lambda index: self._order_key(judged[index]), reverse=True)
        most = max(self._used.returned, 1) if metric.ideal == "returned" else len(order)
        return [index for index in order if self._gain(judged[index])][: min(most, self._limit, metric.depth)]

    def rows(self) -> list[Cells]:
        if self._family not in OVER_RANKS:
            if self._family in OVER_IDEAL:
                return []
            values = ([*by_cutoff.values()][-1] for by_cutoff in self.parts.terms)
            terms = zip(self._plan.terms, values, strict=True)
            return [{"term": TERMS[term.family], "value": value} for (term, _), value in terms]
        rows: list[Cells] = []
        for group, discount in zip(self._groups, self.parts.discounts, strict=False):
            most = max(self._limit, RANKS) - len(rows)
            rows += self._rows_of_group(group, discount, most) if most > 0 else []
        return rows

    def _sum(self, rank: int) -> float:
        """Return the value of the first term at a rank; if nothing is relevant, it is 0 instead of `empty`."""
        return self.parts.terms[0][min(rank, self._metric.depth)] if rank and self._any_gain else 0.0

    def _rows_of_group(self, group: TieGroup, discount: float, most: int) -> Iterator[Cells]:
        """Yield the rows of a tie group; only the last row has the sum.

        If each document adds gain times discount, it has its own row; otherwise, the group has a single row.
        """
        counts = group.first <= self._metric.depth
        sum_to, above = (self._sum(rank) if counts else None for rank in (group.last, group.first - 1))
        by_document = self._family == _codes.DISCOUNTED_SUM
        discounted = by_document and self._plan.terms[0][0].discount.kind != _codes.UNIT
        members = [[position] for position in group.positions[:most]] if by_document else [group.positions]
        for positions in members:
            row: Cells = {"rank": group.first, "last_rank": group.last}
            for name, column in self._columns().items():
                cells = [column[position] for position in positions]
                row[name] = cells[0] if len(cells) == 1 or name == "score" else cells
            gains = [self._gain(self._documents.grades[position]) if counts else None for position in positions]
            row[self._quantity()] = gains[0] if len(gains) == 1 else gains
            if discounted:
                row["discount"] = discount if counts else None
            if by_document:
                row["product" if discounted else "adds"] = None if gains[0] is None else gains[0] * discount
            else:
                row["adds"] = None if sum_to is None or above is None else sum_to - above
            yield row | {"sum": sum_to if positions is members[-1] else None}

    def _columns(self) -> dict[str, Sequence[Any]]:
        """Return the known columns of the documents: their ids or positions, scores and grades."""
        documents = self._documents
        columns: dict[str, Sequence[Any] | None] = {
            "document": documents.ids,
            "position": documents.positions,
            "score": documents.scores,
            "grade": documents.grades,
        }
        return {name: column for name, column in columns.items() if column is not None}

    def _quantity(self) -> str:
        """Return the name of the gain column."""
        gain = self._plan.terms[0][0].gain
        if "gain" in row_of(self._metric.name).takes:
            return "gain"
        if gain is None:
            return "relevant"
        if gain.kind == "relevant" and gain.level < 0.0:
            return "judged"
        return {"relevant": "relevant", "irrelevant": "not relevant", "stop": "stops"}[gain.kind]

    def ideal(self) -> list[Cells]:
        documents, rows = self._documents, []
        discounts = self.parts.discounts[len(self._groups) :]
        terms = zip(self._plan.terms, self.parts.terms, strict=True)
        term, sums = next(((term, sums) for (term, _), sums in terms if term.family in OVER_IDEAL), (None, {}))
        by_product = term is not None and term.family == _codes.IDEAL_SUM and term.discount.kind != _codes.UNIT
        above = 0.0
        for rank, (index, discount) in enumerate(zip(self._ideal_order, discounts, strict=False), 1):
            row: Cells = {}
            if documents.judged_ids is not None:
                row["position" if documents.ids is None else "document"] = documents.judged_ids[index]
            row["grade"] = documents.judged[index]
            gain = self._gain(documents.judged[index]) or 0.0
            row |= {"product": gain * discount} if by_product else {"adds": sums[rank] - above}
            row["sum"] = above = sums[rank]
            rows.append(row)
        return rows

    # Notes on the calculation.

    def notes(self) -> Iterator[str]:
        parts, metric, row = self.parts, self._metric, row_of(self._metric.name)
        if "gain" not in row.takes or self._family not in OVER_RANKS | OVER_IDEAL:
            yield f"formula: {row.formula}"
        if row.combination.kind == _codes.RATIO and parts.divisor and parts.dividend > parts.divisor:
            yield "The sum exceeds the ideal only by rounding: the value is 1."
        yield from self._lacking()
        if self._family in OVER_RANKS:
            yield from self._costs()
        shown = max((group.last for group in self._groups), default=0)
        if shown < min(self._used.returned, metric.depth):
            yield f"The ranks after {shown} are not shown; a higher limit shows more."

    def _lacking(self) -> Iterator[str]:
        k, returned, parts = self._metric.k, self._used.returned, []
        if missing := self._not_returned():
            parts.append(f"not returned: {missing}.")
        if k is not None and returned < k and self._family in OVER_RANKS:
            parts.append(f"The list has {returned} of {k} documents.")
        if parts:
            yield " ".join(parts)

    def _costs(self) -> Iterator[str]:
        documents, metric, rules = self._documents, self._metric, self._rules
        depth, returned = metric.depth, self._used.returned
        beyond = [
            f"{self._name(position)} at rank {_ranks(group.first, group.last)}"
            for group in documents.groups
            if group.first > depth
            for position in group.positions
            if self._has_gain(documents.grades[position])
        ]
        if beyond:
            otherwise = self._otherwise("without a cut-off", rules, metric.at(None))
            yield f"beyond rank {depth}: {first_names(beyond)}{otherwise}."
        first_ranks = [group for group in documents.groups if group.first <= depth]
        unjudged = sum(
            not is_judged(documents.grades[position]) for group in first_ranks for position in group.positions
        )
        if unjudged:
            count = min(returned, depth)
            otherwise = self._otherwise("without unjudged documents", rules.limited(_codes.UNLIMITED, True), metric)
            yield f"unjudged: {unjudged} of the first {count} documents{otherwise}."
        if self._is_tied():
            values = [self._value(ties, metric) for ties in self._extremes()]
            if None not in values and len({*values}) > 1:
                worst, best = (number(value) for value in values if value is not None)
                yield f"tied: the value is {worst} in the worst order of the tied documents, and {best} in the best."

    def _has_gain(self, grade: float | None) -> bool:
        """Return whether a grade has a gain above 0 or, if its gain is unknown, is itself above 0."""
        gain = self._gain(grade)
        return bool(grade and grade > 0.0) if gain is None else gain > 0.0

    def _name(self, position: int) -> str:
        ids, positions = self._documents.ids, self._documents.positions
        name = (
            printable(ids[position])
            if ids is not None
            else f"position {positions[position] if positions else position}"
        )
        return f"{name} ({_plain(self._documents.grades[position])})"

    def _not_returned(self) -> str:
        """Return the names of relevant documents, which have a gain, that were not returned, as text."""
        documents = self._documents
        if documents.judged_ids is None or documents.ids is None or self._quantity() in ("judged", "not relevant"):
            return ""
        returned = {documents.ids[position] for group in documents.groups for position in group.positions}
        pairs = zip(documents.judged_ids, documents.judged, strict=True)
        missing = [(name, grade) for name, grade in pairs if name not in returned and self._has_gain(grade)]
        return first_names([f"{printable(name)} ({_plain(grade)})" for name, grade in missing], NAMED_MISSING)

    def _is_tied(self) -> bool:
        """Return whether any documents at ranks that count are tied."""
        rules, documents = self._rules, self._documents
        if documents.scores is None:
            return False
        averaged = Rules("average", rules.score_bits, judged_only=rules.judged_only)
        groups = tie_groups(averaged, documents.scores, documents.grades)
        return any(group.last > group.first for group in groups if group.first <= min(self._metric.depth, rules.depth))

    def _extremes(self) -> Iterator[Rules | None]:
        for ties in ("worst", "best"):
            try:
                yield self._rules.under(ties, None)
            except ValueError:  # under this rule, a depth cannot split a tie group
                yield None

    def _value(self, rules: Rules | None, metric: Metric) -> float | None:
        """Return the value under other rules or at another cut-off, or None if it is undefined."""
        if rules is None:
            return None
        try:
            plan, source = Plan([metric]), self._source.under(rules)
            used = hits_of_query(plan, source, rules, self._query)
            return parts_of_query(plan, source, rules, self._query, used, [], [], []).value
        except (ValueError, TypeError):
            return None

    def _otherwise(self, condition: str, rules: Rules, metric: Metric) -> str:
        value = self._value(rules, metric)
        return "" if value is None else f"; {condition} the value is {number(value)}"
