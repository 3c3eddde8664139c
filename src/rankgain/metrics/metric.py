"""How a metric is asked for: by `metric`, or by a string, which `parse` reads. What there are, `definitions` says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NoReturn

from rankgain._codes import UNLIMITED
from rankgain.metrics.aggregators import Aggregator
from rankgain.metrics.discounts import Discount, DiscountKind
from rankgain.metrics.gains import Gain, GainKind
from rankgain.metrics.parameters import PARAMETERS, Parameters, cut_off
from rankgain.metrics.table import TABLE, Row
from rankgain.scalars import quoted, short


class Metric(Parameters):
    """A metric with its parameters, made by `rankgain.metric`; equal metrics are computed once.

    A parameter that the metric does not have keeps its default.
    """

    __module__ = "rankgain"
    __slots__ = "_hash", "k", "name"

    name: str
    k: int | None
    _hash: int

    def __init__(self, name: str, k: int | None = None, **parameters: Any) -> None:
        row = row_of(name)
        if k is not None and not row.cuts:
            raise TypeError(f"{row.name} has no cut-off k: it looks at the whole list")
        object.__setattr__(self, "name", row.name)
        object.__setattr__(self, "k", None if k is None else cut_off(k))
        for field in parameters:
            if field not in row.takes:
                takes = ", ".join((*("k",) * row.cuts, *row.takes)) or "no parameters"
                raise TypeError(f"{row.name} has no {field}; it takes {takes}")
        for field, (default, checked, _) in PARAMETERS.items():
            object.__setattr__(self, field, checked(parameters[field]) if field in parameters else default)
        # Kept, for an evaluation looks metrics up again and again.
        object.__setattr__(self, "_hash", hash(self._key()))

    def __setattr__(self, field: str, value: object) -> NoReturn:
        raise AttributeError(f"a metric does not change, and {field!r} cannot be set: make another one")

    def __delattr__(self, field: str) -> NoReturn:
        self.__setattr__(field, None)

    def _key(self) -> tuple[Any, ...]:
        return self.name, self.k, *(getattr(self, name) for name in PARAMETERS)

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in row_of(self.name).takes}

    def __eq__(self, other: object) -> bool:
        """All fields at once, so that `empty=nan`, of which there is one, equals itself."""
        return self._key() == other._key() if isinstance(other, Metric) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Callable[..., Metric], tuple[Any, ...]]:
        """By public names: the class, and parameters as a user may write them."""
        given = {name: value for name, value in self._parameters().items() if value != PARAMETERS[name].default}
        plain = {name: value.plain if isinstance(value, (Gain, Discount)) else value for name, value in given.items()}
        return partial(Metric, self.name, self.k, **plain), ()

    def __repr__(self) -> str:
        fields = zip(("name", "k", *PARAMETERS), self._key(), strict=True)
        return f"Metric({', '.join(f'{name}={value!r}' for name, value in fields)})"

    def at(self, k: int | None) -> Metric:
        """The same metric at another cut-off."""
        return Metric(self.name, k, **self._parameters())

    @property
    def depth(self) -> int:
        return UNLIMITED if self.k is None else self.k

    def __str__(self) -> str:
        asked = [
            f"{name}={_shown(getattr(self, name))}"
            for name, parameter in PARAMETERS.items()
            if getattr(self, name) != parameter.default
        ]
        return self.name + (f"({','.join(asked)})" if asked else "") + (f"@{self.k}" if self.k is not None else "")


def _shown(value: Any) -> str:
    return "/".join(map(short, value)) if type(value) is tuple else short(value)


_NAMES = {alias: row for row in TABLE.values() for alias in (row.name, *row.aliases)}
# The names of trec_eval that stand for several cut-offs, and which these are where none are given (m_ndcg_cut.c …).
_TREC_LISTS = {"ndcg_cut", "map_cut"}
_TREC_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_TREC_NAMES = {*_TREC_LISTS, "p", "recall", "relative_p", "success", "unj"}


def metric(
    name: str,
    *,
    k: int | None = None,
    gain: GainKind | None = None,
    discount: DiscountKind | None = None,
    ideal: str | None = None,
    rel: float | None = None,
    empty: float | None = None,
    beta: float | None = None,
    p: float | None = None,
    max_grade: float | None = None,
    recall: float | None = None,
    rounding: str | None = None,
    multiple: float | None = None,
    coefficients: Sequence[float] | None = None,
    collection: float | None = None,
) -> Metric:
    """A metric to be evaluated, where a string is not enough.

    Parameters
    ----------
    name : str
        One of the metrics that README lists and `rankgain eval --help` prints, such as ``"ndcg"``, ``"rr"``, ``"ap"``,
        ``"precision"`` or ``"err"``, or another name of these (``"mrr"``, ``"map"``, ``"P"``, ``"recip_rank"``).
    k : int, optional
        The cut-off: ranks beyond it do not count. None: no cut-off. Metrics of whole lists, as bpref, have none.
    gain : str, mapping, sequence or callable, optional
        For cg, ncg, dcg, idcg, ndcg, g, ndcg_rel and r_ndcg: see `rankgain.gain`; ``"binary"`` gives 1 for any grade
        above 0.
    discount : str or sequence, optional
        For dcg, idcg, ndcg, ndcg_rel and r_ndcg: see `rankgain.discount`.
    ideal : {"judged", "returned"}, optional
        For ndcg: whether the ideal runs over all judged documents, or is also cut at the length of the returned list.
    rel : float, optional
        For metrics of relevant documents: the lowest grade that is relevant. None: any above 0.
    empty : float, optional
        For normalised and first-hit metrics: the value of a query without anything relevant; NaN leaves it out of the
        mean.
    beta : float, optional
        For f: how much more recall weighs than precision, 1 by default. For q_measure: the weight of the gains, 1.
    p : float, optional
        For rbp and rbp_residual: the reader's persistence, between 0 and 1; 0.9 by default.
    max_grade : float, optional
        For err and nerr: the highest grade of the scale, 4 by default, the same for all runs and queries. A larger
        grade is an error.
    recall : float, optional
        For iprec: the recall from which on precisions count, from 0, the default, to 1.
    rounding : {"up", "nearest"}, optional
        For iprec and iprec_mean: how recall × R becomes a number of documents: as in trec_eval up to release 9, or 10.
    multiple : float, optional
        For r_precision: the rank is this times R; 1 by default.
    coefficients : sequence of 4 floats, optional
        For utility: what a relevant document returned, another one returned, a relevant one not returned and another
        one not returned are worth; (1, −1, 0, 0) by default.
    collection : float, optional
        For utility: the number of documents in the collection.

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
    >>> rankings = rg.from_ranked([[2, 0, 1, 0, 0]], judged=[[2, 1, 1]])
    >>> result = rankings.evaluate("P@5", "ap", "f(beta=2)@5", "rbp(p=0.5)", "err")
    >>> {name: round(value, 4) for name, value in result.mean().items()}
    {'P@5': 0.4, 'ap': 0.5556, 'f(beta=2)@5': 0.5882, 'rbp(p=0.5)': 0.625, 'err': 0.2044}
    """
    given = {field: value for field, value in locals().items() if field in PARAMETERS and value is not None}
    return Metric(name, k, **given)


def aggregator(asked: str | Metric) -> Aggregator:
    """What makes one number of the values of a metric, by the key that it has in a result."""
    ((_, record),) = parse(asked)
    return TABLE[record.name].aggregator


def better(asked: str | Metric) -> int:
    """Whether higher values of a metric, by its key in a result, are better, 1, lower ones, −1, or neither, 0."""
    ((_, record),) = parse(asked)
    return TABLE[record.name].better


def row_of(name: Any) -> Row:
    if not isinstance(name, str):
        raise TypeError(f"a metric is a string or a rankgain.metric(...), not {type(name).__name__}")
    row = _NAMES.get(name.strip().lower())
    if row is None:
        import difflib  # not needed until something is wrong

        near = difflib.get_close_matches(name.strip().lower(), _NAMES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"there is no metric {quoted(name)}{hint} There are: {', '.join(TABLE)}")
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
    if trec and trec["name"].lower() in (_TREC_NAMES if trec["ks"] else _TREC_LISTS):
        name = trec["name"] if trec["ks"] else trec["name"].lower()
        ks = [_whole(asked, k) for k in trec["ks"].split(",")] if trec["ks"] else _TREC_CUTOFFS
        for k in ks:
            yield (asked if len(ks) == 1 else f"{name}_{k}"), metric(name, k=k)
        return
    short = re.fullmatch(_SHORT_FORM, asked)
    if short is None:
        raise ValueError(f"{asked!r} is not a metric: write name@k, or name(parameter=value,...)@k")
    yield asked, _from_text(asked, short["name"], short["inside"] or short["after"] or "", short["k"])


def _from_text(asked: str, name: str, parameters: str, k: str | None) -> Metric:
    row = row_of(name)
    given: dict[str, Any] = {} if k is None else {"k": _whole(asked, k)}
    for pair in filter(None, map(str.strip, parameters.split(","))):
        key, equals, value = (part.strip() for part in pair.partition("="))
        key = key.lower()
        if not equals or key not in ("k", *PARAMETERS):
            takes = ", ".join(row.takes) or "k"
            raise ValueError(f"{asked!r}: {pair!r} is no parameter; write one of {takes} = value")
        if key in given:
            raise ValueError(f"{asked!r}: {key} is given twice")
        if key == "k":
            given[key] = _whole(asked, value)
        else:
            try:
                given[key] = PARAMETERS[key].read(value)
            except ValueError:
                raise ValueError(f"{asked!r}: {key} must be a number, not {value!r}") from None
    return metric(name, **given)


def _whole(asked: str, text: str) -> int:
    if not re.fullmatch(r"\s*[+-]?[0-9]+\s*", text):
        raise ValueError(f"{asked!r}: k must be a positive integer, not {text!r}")
    # What Python does not read as an int for its length is beyond every list as well.
    return int(text) if len(text) < 4000 else UNLIMITED
