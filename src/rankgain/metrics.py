"""What metrics there are, how one is asked for, and what it reads of a Batch.

A metric is a row of `TABLE`: it names the family that computes it and the family it is divided by. A new metric is a
new row; only a new family touches the backends.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

from rankgain._codes import UNLIMITED
from rankgain.aggregators import Aggregator, mean
from rankgain.discounts import LOGARITHMIC, NO_DISCOUNT, Discount, DiscountKind
from rankgain.families import DiscountedSum, Family, FirstRelevant, IdealSum
from rankgain.gains import LINEAR, Gain, GainKind
from rankgain.parameters import check_empty, check_ideal, check_rel, cut_off, highest_irrelevant
from rankgain.scalars import short


class Metric:
    """A metric with its parameters, made by `rankgain.metric`; equal metrics are computed once.

    A parameter that the metric does not have keeps its default.
    """

    __slots__ = "discount", "empty", "gain", "ideal", "k", "name", "rel"

    name: str
    k: int | None
    gain: Gain
    discount: Discount
    ideal: str
    rel: float | None
    empty: float

    def __init__(
        self,
        name: str,
        k: int | None = None,
        gain: GainKind | Gain = LINEAR,
        discount: DiscountKind | Discount = LOGARITHMIC,
        ideal: str = "judged",
        rel: float | None = None,
        empty: float = 0.0,
    ) -> None:
        checked = {
            "name": row_of(name).name,
            "k": None if k is None else cut_off(k),
            "gain": Gain.of(gain),
            "discount": Discount.of(discount),
            "ideal": check_ideal(ideal),
            "rel": check_rel(rel),
            "empty": check_empty(empty),
        }
        for field, value in checked.items():
            object.__setattr__(self, field, value)

    def __setattr__(self, field: str, value: object) -> NoReturn:
        raise AttributeError(f"a metric does not change, and {field!r} cannot be set: make another one")

    def __delattr__(self, field: str) -> NoReturn:
        self.__setattr__(field, None)

    def _key(self) -> tuple[Any, ...]:
        return self.name, self.k, self.gain, self.discount, self.ideal, self.rel, self.empty

    def __eq__(self, other: object) -> bool:
        """All fields at once, so that `empty=nan`, of which there is one, equals itself."""
        return self._key() == other._key() if isinstance(other, Metric) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[type[Metric], tuple[Any, ...]]:
        return Metric, self._key()

    def __repr__(self) -> str:
        fields = zip(("name", "k", *PARAMETERS), self._key(), strict=True)
        return f"Metric({', '.join(f'{name}={value!r}' for name, value in fields)})"

    def at(self, k: int | None) -> Metric:
        """The same metric at another cut-off."""
        return Metric(self.name, k, *self._key()[2:])

    @property
    def depth(self) -> int:
        return UNLIMITED if self.k is None else self.k

    def __str__(self) -> str:
        default = Metric(self.name)
        asked = [
            f"{name}={short(getattr(self, name))}"
            for name in PARAMETERS
            if getattr(self, name) != getattr(default, name)
        ]
        return self.name + (f"({','.join(asked)})" if asked else "") + (f"@{self.k}" if self.k is not None else "")


class Row(NamedTuple):
    """One metric of the table: what it is called, what it takes, which families compute it, what sums it up."""

    name: str
    title: str
    aliases: tuple[str, ...]
    parameters: tuple[str, ...]
    numerator: Callable[[Metric], Family]
    denominator: Callable[[Metric], Family] | None
    highest: float
    source: str
    aggregator: Aggregator = mean


TABLE: dict[str, Row] = {
    row.name: row
    for row in (
        Row(
            "cg",
            "cumulative gain: the sum of the gains to rank k",
            (),
            ("gain",),
            lambda m: DiscountedSum(m.gain, NO_DISCOUNT),
            None,
            math.inf,
            "Järvelin & Kekäläinen 2002",
        ),
        Row(
            "dcg",
            "discounted cumulative gain: the sum of gain times discount to rank k",
            (),
            ("gain", "discount"),
            lambda m: DiscountedSum(m.gain, m.discount),
            None,
            math.inf,
            "Järvelin & Kekäläinen 2002; gain=exponential: Burges et al. 2005",
        ),
        Row(
            "idcg",
            "ideal DCG: the DCG of the judged gains, highest first",
            ("ideal_dcg",),
            ("gain", "discount"),
            lambda m: IdealSum(m.gain, m.discount, returned=False),
            None,
            math.inf,
            "Järvelin & Kekäläinen 2002",
        ),
        Row(
            "ndcg",
            "normalised DCG: DCG / IDCG",
            ("ndcg_cut",),
            ("gain", "discount", "ideal", "empty"),
            lambda m: DiscountedSum(m.gain, m.discount),
            lambda m: IdealSum(m.gain, m.discount, returned=m.ideal == "returned"),
            1.0,
            "Järvelin & Kekäläinen 2002",
        ),
        Row(
            "rr",
            "reciprocal rank: 1 / rank of the first relevant document; its mean is MRR",
            ("mrr", "reciprocal_rank", "recip_rank"),
            ("rel", "empty"),
            lambda m: FirstRelevant(highest_irrelevant(m.rel), m.empty),
            None,
            1.0,
            "Voorhees 1999",
        ),
    )
}

PARAMETERS = ("gain", "discount", "ideal", "rel", "empty")
_NAMES = {alias: row for row in TABLE.values() for alias in (row.name, *row.aliases)}
# The cut-offs of trec_eval's ndcg_cut where none are given (m_ndcg_cut.c).
_TREC_CUTOFFS = {"ndcg_cut": (5, 10, 15, 20, 30, 100, 200, 500, 1000)}


def metric(
    name: str,
    *,
    k: int | None = None,
    gain: GainKind | None = None,
    discount: DiscountKind | None = None,
    ideal: str | None = None,
    rel: float | None = None,
    empty: float | None = None,
) -> Metric:
    """A metric to be evaluated, where a string is not enough.

    Parameters
    ----------
    name : str
        ``"cg"``, ``"dcg"``, ``"idcg"``, ``"ndcg"`` or ``"rr"``, or another name of these (``"mrr"``, ``"recip_rank"``).
    k : int, optional
        The cut-off: ranks beyond it do not count. None: no cut-off.
    gain : str, mapping, sequence or callable, optional
        For cg, dcg, idcg and ndcg: see `rankgain.gain`.
    discount : str or sequence, optional
        For dcg, idcg and ndcg: see `rankgain.discount`.
    ideal : {"judged", "returned"}, optional
        For ndcg: whether the ideal runs over all judged documents, or is also cut at the length of the returned list.
    rel : float, optional
        For rr: the lowest grade that is relevant. None: any above 0.
    empty : float, optional
        For ndcg and rr: the value of a query without anything relevant; NaN leaves it out of the mean.

    Returns
    -------
    Metric
        A frozen, hashable record; pass it to `Rankings.evaluate`.

    Raises
    ------
    ValueError, TypeError
        For a name that there is not, a parameter that the metric does not have, or a value out of its range.

    Examples
    --------
    >>> import rankgain as rg
    >>> str(rg.metric("ndcg", k=10, gain="exponential"))
    'ndcg(gain=exponential)@10'
    >>> str(rg.metric("ndcg", k=10, gain={1: 3, 2: 7}))
    'ndcg(gain={0: 0, 1: 3, 2: 7})@10'
    """
    row = row_of(name)
    given = {"gain": gain, "discount": discount, "ideal": ideal, "rel": rel, "empty": empty}
    given = {parameter: value for parameter, value in given.items() if value is not None}
    for parameter in given:
        if parameter not in row.parameters:
            raise TypeError(f"{row.name} has no {parameter}; it takes k, {', '.join(row.parameters)}")
    return Metric(row.name, k, **given)  # type: ignore[arg-type]  # of what type each is, Metric checks


def aggregator(asked: str | Metric) -> Aggregator:
    """What makes one number of the values of a metric, by the key that it has in a result."""
    ((_, record),) = parse(asked)
    return TABLE[record.name].aggregator


def row_of(name: Any) -> Row:
    if not isinstance(name, str):
        raise TypeError(f"a metric is a string or a rankgain.metric(...), not {type(name).__name__}")
    row = _NAMES.get(name.strip().lower())
    if row is None:
        import difflib  # not needed until something is wrong

        near = difflib.get_close_matches(name.strip().lower(), _NAMES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"there is no metric {name!r}{hint} There are: {', '.join(sorted(_NAMES))}")
    return row


# Compiled when they are first used.
_SHORT_FORM = r"""(?x)\s*(?P<name>[^\s(:@.]+?)            # ndcg
        (?:\s*\((?P<inside>[^)]*)\)|:(?P<after>[^@]*))?   # (gain=exponential) or :gain=exponential
        (?:\s*@(?P<k>[^@]*))?\s*"""
_TREC_FORM = r"(?i)\s*(?P<name>[a-z_]+?)(?:[._](?P<ks>\d+(?:,\d+)*))?\s*"


def parse(asked: str | Metric) -> Iterator[tuple[str | Metric, Metric]]:
    """Yield what one request asks for, each with the key it has in the result."""
    if isinstance(asked, Metric):
        yield asked, asked
        return
    if not isinstance(asked, str):
        raise TypeError(f"a metric is a string or a rankgain.metric(...), not {type(asked).__name__}")
    trec = re.fullmatch(_TREC_FORM, asked)
    if trec and trec["name"].lower() in _TREC_CUTOFFS:
        name = trec["name"].lower()
        ks = [_whole(asked, k) for k in trec["ks"].split(",")] if trec["ks"] else _TREC_CUTOFFS[name]
        for k in ks:
            yield (asked if len(ks) == 1 else f"{name}_{k}"), metric(name, k=k)
        return
    short = re.fullmatch(_SHORT_FORM, asked)
    if short is None:
        raise ValueError(f"{asked!r} is not a metric: write name@k, or name(parameter=value,...)@k")
    yield asked, _from_text(asked, short["name"], short["inside"] or short["after"] or "", short["k"])


def _from_text(asked: str, name: str, parameters: str, k: str | None) -> Metric:
    row_of(name)
    given: dict[str, Any] = {} if k is None else {"k": _whole(asked, k)}
    for pair in filter(None, map(str.strip, parameters.split(","))):
        key, equals, value = (part.strip() for part in pair.partition("="))
        key = key.lower()
        if not equals or key not in ("k", *PARAMETERS):
            raise ValueError(f"{asked!r}: {pair!r} is no parameter; write one of {', '.join(PARAMETERS)} = value")
        if key in given:
            raise ValueError(f"{asked!r}: {key} is given twice")
        if key == "k":
            given[key] = _whole(asked, value)
        elif key in ("rel", "empty"):
            given[key] = _real(asked, key, value)
        else:
            given[key] = value.lower()
    return metric(name, **given)


def _whole(asked: str, text: str) -> int:
    if not re.fullmatch(r"\s*[+-]?[0-9]+\s*", text):
        raise ValueError(f"{asked!r}: k must be a positive integer, not {text!r}")
    # What Python does not read as an int for its length is beyond every list as well.
    return int(text) if len(text) < 4000 else UNLIMITED


def _real(asked: str, key: str, text: str) -> float:
    try:
        return float(text.replace("_", "x"))
    except ValueError:
        raise ValueError(f"{asked!r}: {key} must be a number, not {text!r}") from None
