"""The calculation of a metric of judgments by subtopic for one query."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankgain import _backend
from rankgain.data.documents import Documents, TieGroup
from rankgain.data.rules import Rules
from rankgain.data.source import Source
from rankgain.metrics.by_subtopic import (
    ROUNDING,
    Matched,
    Novelty,
    check_by_subtopic,
    counting,
    cover_sets,
    kinds_of,
    sum_of,
    values_by_subtopic,
)
from rankgain.metrics.metric import Metric, row_of
from rankgain.metrics.program import Plan, check_averaged
from rankgain.metrics.subtopics import NOVELTY
from rankgain.results.calculation import RANKS, Calculation, Cells, first_names
from rankgain.results.text import number, printable


def calculate_by_subtopic(
    source: Source, rules: Rules, metric: Metric, key: str | Metric, query: int, like: str | None, limit: int | None
) -> Calculation:
    """Calculate a metric for one query, as `rankgain.results.calculation.calculate` does."""
    check_by_subtopic([metric], source, rules)
    check_averaged(Plan([metric]), rules)
    worker = (_NoveltyCalculator if metric.name in NOVELTY else _MeanCalculator)(source, rules, metric, query, limit)
    quotient = f"{_amount(worker.dividend)} / {_amount(worker.divisor)}"
    equation = f" = {number(worker.value)}" if worker.divisor else f", {worker.row.empty_if}: {number(worker.value)}"
    name = printable(source.query_ids[query])
    title = f"{key!s} of query {name}{f', like {like}' if like else ''}: {quotient}{equation}"
    results = worker.value, worker.dividend, worker.divisor, worker.rows(), worker.ideal(), [*worker.notes()]
    return Calculation(key, source.query_ids[query], *results, like, title)


def _amount(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() else number(value)


class _Calculator:
    """What both kinds of metrics share: the documents of the query, and the subtopics that they cover."""

    value: float
    dividend: float
    divisor: float

    def __init__(self, source: Source, rules: Rules, metric: Metric, query: int, limit: int | None) -> None:
        assert source.covers is not None
        self.covers, self.metric, self.row = source.covers, metric, row_of(metric.name)
        documents = source.documents(query, rules)
        assert documents is not None
        assert documents.ids is not None
        self.documents: Documents = documents
        self.ids: list[Any] = documents.ids
        self.limit = limit or metric.k or RANKS
        self.number = int(source.judgment_numbers[query])
        self.sets = cover_sets(self.covers, metric.above)
        self.first_document = int(self.covers.document_offsets[self.number])
        judged = self.covers.documents[self.first_document : self.covers.document_offsets[self.number + 1]]
        self.numbers = {document: number for number, document in enumerate(judged, self.first_document)}

    def covered(self, document: int) -> list[int]:
        """Return the subtopics that a judged document covers."""
        covered: list[int] = self.sets.subtopics[self.sets.starts[document] : self.sets.starts[document + 1]].tolist()
        return covered

    def covered_at(self, position: int) -> list[int]:
        """Return the subtopics that a returned document covers."""
        document = self.numbers.get(self.ids[position])
        return [] if document is None else self.covered(document)

    def name(self, subtopic: int) -> str:
        return printable(self.covers.names[subtopic])

    def not_returned(self) -> Iterator[str]:
        returned = {self.ids[position] for group in self.documents.groups for position in group.positions}
        missing = [
            f"{printable(document)} ({' '.join(map(self.name, covered))})"
            for document, number in self.numbers.items()
            if document not in returned and (covered := self.covered(number))
        ]
        if missing:
            verb = "is relevant and was" if len(missing) == 1 else "are relevant and were"
            yield f"{first_names(missing)} {verb} not returned"


class _NoveltyCalculator(_Calculator):
    """The calculation of a metric of novelty."""

    def __init__(self, source: Source, rules: Rules, metric: Metric, query: int, limit: int | None) -> None:
        super().__init__(source, rules, metric, query, limit)
        self.sum = sum_of(metric)
        depth = min(self.limit, metric.depth)
        at = {k: metric.at(k) for k in range(1, depth + 1)}
        novelty = Novelty([*dict.fromkeys([*at.values(), metric])], self.covers, source.judgment_numbers[[query]])
        novelty.add(Matched(source, self.covers, rules, metric.depth, query, query + 1), rules, source, 0)
        values = {record: np.empty(1) for record in novelty.metrics}
        novelty.write({**values})
        self.value, self.dividend = float(values[metric][0]), float(novelty.sums(metric)[0])
        self.divisor = float(novelty.divisors(metric)[0])
        self.sums = [0.0, *(float(novelty.sums(record)[0]) for record in at.values())]
        self.powers: list[float] = self.sum.powers(self.sets.most).tolist()
        self.discounts: list[float] = self.sum.discount.table(depth)[:depth].tolist()
        self.depth = depth

    def gain(self, covered: list[int], seen: dict[int, int]) -> float:
        gain: float = _backend.greedy.added(
            float(self.covers.weight[subtopic]) * self.powers[seen.get(subtopic, 0)] for subtopic in covered
        )
        return gain

    def in_words(self, covered: list[int], seen: dict[int, int]) -> str:
        """Mark subtopics that are new, and say how often the others are covered now."""
        return " ".join(
            f"{self.name(subtopic)}({seen[subtopic] + 1})" if seen.get(subtopic) else f"+{self.name(subtopic)}"
            for subtopic in covered
        )

    def rows(self) -> list[Cells]:
        """Return a row per document or, if ties are averaged, per tie group."""
        rows: list[Cells] = []
        seen: dict[int, int] = {}
        for group in self.documents.groups:
            if group.first > self.limit:
                break
            rows.append(self._row(group, seen))
            for position in group.positions:
                _count(self.covered_at(position), seen)
        return rows

    def _row(self, group: TieGroup, seen: dict[int, int]) -> Cells:
        sets = [self.covered_at(position) for position in group.positions]
        counts = group.first <= self.depth
        row: Cells = {"rank": group.first, "last_rank": group.last}
        one = len(sets) == 1
        for name, column in (("document", self.ids), ("score", self.documents.scores)):
            if column is not None:
                cells = [column[position] for position in group.positions]
                row[name] = cells[0] if one or name == "score" else cells
        words = [self.in_words(covered, seen) for covered in sets]
        row["covers"] = words[0] if one else [word or "–" for word in words]
        row["gain"] = self.gain(sets[0], seen) if one and counts else None
        row["discount"] = self.discounts[group.first - 1] if one and counts else None
        total, above = (self.sums[min(rank, self.depth)] for rank in (group.last, group.first - 1))
        product = total - above if not one else row["gain"] * row["discount"] if counts else None
        return row | {"product": product if counts else None, "sum": total if counts else None}

    def ideal(self) -> list[Cells]:
        if not NOVELTY[self.metric.name].normalised:
            return []
        by_id = self.metric.ideal == "docid"
        kinds = kinds_of(self.covers, self.sets, by_id=by_id)
        of_query = range(*kinds.offsets[self.number : self.number + 2].tolist())
        sets = {kind: self.sets.subtopics[kinds.first[kind] : kinds.last[kind]].tolist() for kind in of_query}
        waiting = {
            kind: kinds.members[kinds.member_offsets[kind] : kinds.member_offsets[kind + 1]].tolist()
            for kind in of_query
        }
        judged = [*self.numbers]
        if by_id:
            judged.sort(reverse=True)
        subtopics = range(*self.covers.offsets[self.number : self.number + 2].tolist())
        counts = dict.fromkeys(subtopics, 0)
        chosen = _backend.greedy.ideal_list(sets, waiting, counts, self.covers.weight, self.powers, not by_id)
        rows: list[Cells] = []
        seen: dict[int, int] = {}
        total = 0.0
        for (member, gain), discount in zip(chosen, self.discounts, strict=False):
            covered = self.covered(self.numbers[judged[member]])
            total += gain * discount
            cells = {"document": judged[member], "covers": self.in_words(covered, seen), "gain": float(gain)}
            rows.append(cells | {"product": float(gain * discount), "sum": float(total)})
            _count(covered, seen)
        return rows

    def notes(self) -> Iterator[str]:
        yield "+: new; (2): covered for the second time"
        if self.covers.weights is not None:
            subtopics = range(*self.covers.offsets[self.number : self.number + 2].tolist())
            yield "weights: " + first_names([f"{self.name(s)} {self.covers.weights[s]:.6g}" for s in subtopics])
        if self.metric.ideal != "docid" and self.divisor and self.dividend > self.divisor * (1.0 + ROUNDING):
            yield "The list beats the greedy ideal: the value is 1."
        beyond = [
            f"{printable(self.ids[position])} at rank {group.first}"
            for group in self.documents.groups
            for position in group.positions
            if group.first > self.metric.depth and self.covered_at(position)
        ]
        if beyond:
            yield f"beyond rank {self.metric.depth}: {first_names(beyond)}"
        yield from self.not_returned()


def _count(covered: list[int], seen: dict[int, int]) -> None:
    for subtopic in covered:
        seen[subtopic] = seen.get(subtopic, 0) + 1


class _MeanCalculator(_Calculator):
    """The calculation of a mean over subtopics."""

    def __init__(self, source: Source, rules: Rules, metric: Metric, query: int, limit: int | None) -> None:
        super().__init__(source, rules, metric, query, limit)
        plan = Plan([metric])
        assert plan.bases is not None
        matched = Matched(source, self.covers, rules, plan.bases.needs.depth, query, query + 1)
        (values,) = values_by_subtopic(plan.bases, matched, rules, source)
        counts = counting(metric, matched)
        self.subtopics: list[int] = matched.subtopics[counts].tolist()
        self.values: list[float] = values[counts].tolist()
        weights = self.covers.weight[self.subtopics].tolist()
        self.dividend = math.fsum(weight * value for weight, value in zip(weights, self.values, strict=True))
        self.divisor = math.fsum(weights)
        self.value = self.dividend / self.divisor if self.divisor else metric.empty

    def rows(self) -> list[Cells]:
        rows: list[Cells] = []
        for subtopic, value in zip(self.subtopics, self.values, strict=True):
            row: Cells = {"subtopic": self.covers.names[subtopic]}
            if self.covers.weights is not None:
                row["weight"] = float(self.covers.weights[subtopic])
            if self.metric.name == "strecall":
                row |= self._first(subtopic)
            rows.append(row | {"value": value})
        return rows

    def _first(self, subtopic: int) -> Cells:
        """Return where a subtopic is covered for the first time."""
        for group in self.documents.groups:
            documents = [self.ids[at] for at in group.positions if subtopic in self.covered_at(at)]
            if documents:
                document = documents[0] if len(documents) == 1 else documents
                return {"rank": group.first, "last_rank": group.last, "document": document}
        return {"rank": None, "last_rank": None, "document": None}

    def ideal(self) -> list[Cells]:
        return []

    def notes(self) -> Iterator[str]:
        if self.metric.name != "strecall":
            yield f"formula: {self.row.formula}"
        yield from self.not_returned()
