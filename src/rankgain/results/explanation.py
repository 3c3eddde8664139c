"""How a number comes about: the formula of a metric and the rules around it, here and elsewhere."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from rankgain._codes import JARVELIN, VECTOR
from rankgain.choices import PeerOrOwn
from rankgain.metrics.aggregators import LEAST, geometric_mean, mean, total
from rankgain.metrics.discounts import LOGARITHMIC, Discount
from rankgain.metrics.gains import Gain
from rankgain.metrics.metric import Metric
from rankgain.metrics.table import TABLE
from rankgain.results.presets import OWN, Followed, followed, peer_of
from rankgain.scalars import short

WIDTH = 100

SYMBOLS = {
    "r_i": "the grade of the document at rank i, from 1",
    "rel(": "1 where the document at rank i is relevant, else 0",
    "prec(": "the share of relevant documents among the first i",
    "above(": "the judged non-relevant documents above rank i",
    "n": "documents returned",
    "R": "relevant documents judged",
    "N": "non-relevant documents judged",
}

_SUMS: dict[Any, str] = {
    mean: "Σ values / number of queries; a value that is NaN does not count",
    total: "the sum over queries",
    geometric_mean: f"the geometric mean over queries, each value at least {LEAST:.5f}",
}


class Explanation(NamedTuple):
    """The formula and the rules behind a number, made by `explain`; prints as text.

    Attributes
    ----------
    metric : str
        The metric, as it was asked for.
    facts : mapping of str to mapping
        What each peer does, ``{peer: {label: text}}``; ``"rankgain"`` stands for rankgain's own rules.
    """

    metric: str
    facts: Mapping[str, Mapping[str, str]]

    def differences(self) -> dict[str, dict[str, str]]:
        """Return what the peers do not all do alike.

        Returns
        -------
        dict of dict
            ``{label: {peer: text}}``, with ``"-"`` where a peer has nothing of the kind.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.explain("ndcg@10", like=("lightgbm", "sklearn")).differences()["gain"]
        {'lightgbm': 'g(r) = 2^r − 1', 'sklearn': 'g(r) = r'}
        """
        labels = dict.fromkeys(label for facts in self.facts.values() for label in facts)
        found = {label: {name: facts.get(label, "-") for name, facts in self.facts.items()} for label in labels}
        return {label: texts for label, texts in found.items() if len({*texts.values()}) > 1}

    def __repr__(self) -> str:
        if len(self.facts) == 1:
            ((name, facts),) = self.facts.items()
            return "\n".join([f"{self.metric}, like {name}" if name != OWN.name else self.metric, *_aligned(facts)])
        apart = self.differences()
        alike = {label: text for label, text in next(iter(self.facts.values())).items() if label not in apart}
        lines = [f"{self.metric}: {' and '.join(self.facts)} differ in"]
        for label, texts in apart.items():
            lines += [f"  {label}", *("  " + line for line in _aligned(texts))]
        return "\n".join([*lines, "and agree in", *_aligned(alike)])


Explanation.__module__ = "rankgain"


def _aligned(texts: Mapping[str, str]) -> Iterator[str]:
    width = max(map(len, texts), default=0) + 4
    for label, text in texts.items():
        for place, line in enumerate(text.splitlines()):
            first = f"  {label}" if not place else ""
            yield from textwrap.wrap(
                line, WIDTH, initial_indent=first.ljust(width), subsequent_indent=" " * width, break_long_words=False
            )


def explain(metric: str | Metric, like: PeerOrOwn | Iterable[PeerOrOwn] | None = None) -> Explanation:
    """Explain the number of a metric: its formula, gain, discount, ideal, ties, empty and missing queries, and mean.

    Parameters
    ----------
    metric : str or Metric
        The metric, as in `Rankings.evaluate`; one that stands for a single cut-off.
    like : str or iterable of str, optional
        The name of a peer, as in `Rankings.evaluate`, or ``"rankgain"``. Of several, the differences come first. By
        default, rankgain's own rules.

    Returns
    -------
    Explanation
        Prints as text; `Explanation.facts` and `Explanation.differences` hold the same for programs.

    Raises
    ------
    ValueError
        If the metric or a peer is unknown, a peer has no such metric, `metric` stands for several cut-offs, or `like`
        is empty.
    TypeError
        If the metric does not take a parameter that is given, or `like` is not the name of a peer.

    See Also
    --------
    Rankings.evaluate : Computes by the rules of a peer with ``like=``.
    metric : Lists names and parameters.

    Examples
    --------
    >>> import rankgain as rg
    >>> print(rg.explain("rr@10"))
    rr@10
      is                rr@10: reciprocal rank: 1 / rank of the first relevant document; its mean is MRR
      formula           1 / i of the first i ≤ k with rel(i) = 1, else 0
      where             rel(i): 1 where the document at rank i is relevant, else 0
      k                 10
      relevant          judged, with a grade above 0
      nothing relevant  0
      ties              as asked for: by default by id (docid) where documents have ids, else averaged
      queries           all of the truth; those that the run lacks count 0 (missing='skip': are left
                        out)
      mean              Σ values / number of queries; a value that is NaN does not count
      source            Voorhees 1999
    """
    names = [like] if like is None or isinstance(like, str) else list(like)
    if not names:
        raise ValueError("like is empty: give the name of a peer, several, or None")
    facts: dict[str, dict[str, str]] = {}
    for name in names:
        peer = peer_of(name)
        found = list(followed(metric, peer))
        if len(found) > 1:
            raise ValueError(f"{metric!s} stands for {len(found)} metrics: explain one, such as {found[0].key!s}")
        facts[peer.name] = dict(_facts(found[0]))
    return Explanation(str(metric), facts)


def _facts(found: Followed) -> Iterator[tuple[str, str]]:
    metric, peer, rules = found.metric, found.peer, found.rules
    row = TABLE[metric.name]
    if peer is not OWN:
        yield "called", f"{found.measure.peer} in {peer.title}"
    yield "is", f"{metric!s}: {row.title}"
    yield "formula", row.formula
    where = [f"{symbol}: {text}" for symbol, text in _symbols(metric)]
    if where:
        yield "where", "; ".join(where)
    if row.cuts:
        yield "k", "none: the whole list" if metric.k is None else str(metric.k)
    yield from _parameters(metric)
    if "empty" in row.takes:
        empty = short(metric.empty)
        yield "nothing relevant", "NaN: the query does not count" if math.isnan(metric.empty) else empty
    yield "ties", peer.order + ("; there is no expected value here" if row.unaveraged and rules.ties is None else "")
    if rules.score_bits == 32:
        yield "scores", "compared in 32 bits: those that differ in less than about the seventh digit are tied"
    yield "queries", peer.queries
    yield "mean", _SUMS[row.aggregator]
    if peer.notes:
        yield "notes", "\n".join(f"{note}." for note in peer.notes)
    yield "source", "; ".join(filter(None, (row.source, peer.source * (peer is not OWN))))


def _symbols(metric: Metric) -> Iterator[tuple[str, str]]:
    """The symbols that the formula does not explain itself."""
    formula = TABLE[metric.name].formula
    words = {*re.split(r"[\s(),;·]+", formula)}
    for symbol, text in SYMBOLS.items():
        if symbol in words if symbol.isalpha() else symbol in formula:
            yield symbol + "i)" * symbol.endswith("("), text


def _parameters(metric: Metric) -> Iterator[tuple[str, str]]:
    for name in TABLE[metric.name].takes:
        value = getattr(metric, name)
        if name == "gain":
            yield name, _gain(value)
        elif name == "discount":
            yield name, _discount(value)
        elif name == "ideal":
            cut = " and at the length of the returned list" * (value == "returned")
            yield name, f"of all judged documents, highest gain first, cut at k{cut}"
        elif name == "rel":
            yield "relevant", _relevant(metric)
        elif name != "empty":
            yield name, str(value) if name == "coefficients" else short(value)


def _relevant(metric: Metric) -> str:
    """By the lowest grade that is relevant or the highest that is not, whichever is the rounder number."""
    if metric.rel is None:
        return "judged, with a grade above 0"
    at_least, above = short(metric.rel), short(metric.above)
    return "judged, with a grade " + (f"of at least {at_least}" if len(at_least) <= len(above) else f"above {above}")


def _gain(gain: Gain) -> str:
    formulas = {"linear": "g(r) = r", "exponential": "g(r) = 2^r − 1", "binary": "g(r) = 1 for r > 0, else 0"}
    return formulas.get(str(gain), f"g(r) by grade: {gain}" if gain.kind == "table" else f"g(r) = {gain}(r)")


def _discount(discount: Discount) -> str:
    if discount == LOGARITHMIC:
        return "d(i) = 1 / log2(i + 1)"
    if discount.kind == JARVELIN:
        return f"d(i) = 1 for i < {short(discount.base)}, else 1 / log_{short(discount.base)}(i)"
    if discount.kind == VECTOR:
        return "d(i) by rank: " + ", ".join(f"{weight:.4g}" for weight in discount.vector)
    return "d(i) = 1 / i"
