"""Requests for metrics: `metric` creates them from arguments, and `parse` reads them from strings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NoReturn, Unpack

from rankgain._codes import UNLIMITED
from rankgain.choices import AnyIdeal, Rounding, ScoresOf
from rankgain.errors import LONGEST_SHOWN, NoKeywords, nearest, quoted, short, unexpected, without_unknown
from rankgain.metrics.aggregators import Aggregator
from rankgain.metrics.discounts import Discount, DiscountKind
from rankgain.metrics.gains import Gain, GainKind
from rankgain.metrics.parameters import LARGEST_CUTOFF, PARAMETERS, Parameters, cut_off
from rankgain.metrics.similarity import SIMILARITY_TABLE
from rankgain.metrics.subtopics import REFUSED, SUBTOPIC_TABLE
from rankgain.metrics.table import TABLE, Row
from rankgain.metrics.trec_names import CUTOFFS, TREC_NAMES
from rankgain.scalars import real

# The type of a metric in a result: str or Metric, as requested. It is declared as Any because the key type of dict is
# invariant: the means of metrics that were requested as strings must be assignable to dict[str, float].
MetricKey = Any


class Metric(Parameters):
    """A metric with its parameters, created by `rankgain.metric`.

    Metrics are immutable and hashable. Equal metrics are computed once.

    Attributes
    ----------
    name : str
        The name of the metric in the table of metrics, such as ``"ndcg"``; aliases are replaced by it.
    k : int or None
        The cut-off; None if the whole list counts.
    gain, discount, ideal, rel, empty, beta, p, max_grade, recall, rounding, multiple, coefficients, collection
    alpha, tolerance, scores
        The parameters, as in `rankgain.metric`; parameters that the metric does not take have their default values.
    """

    __module__ = "rankgain"
    __slots__ = "_hash", "k", "name"

    name: str
    k: int | None
    _hash: int

    def __init__(self, name: str, k: int | None = None, **parameters: Any) -> None:
        row = row_of(name)
        if k is not None and not row.cuts:
            raise TypeError(f"{row.name} has no cut-off k: it uses the whole list")
        object.__setattr__(self, "name", row.name)
        object.__setattr__(self, "k", None if k is None else cut_off(k))
        for field in parameters:
            if field not in row.takes:
                takes = ", ".join((*("k",) * row.cuts, *row.takes)) or "no parameters"
                advice = _gain_from(parameters[field]) if field == "rel" and "gain" in row.takes else ""
                raise TypeError(f"{row.name} does not take {field}; it takes {takes}{advice}")
        for field, (default, check, _) in row.parameters.items():
            object.__setattr__(self, field, check(parameters[field]) if field in parameters else default)
        # The hash is cached, since an evaluation looks up metrics repeatedly.
        object.__setattr__(self, "_hash", hash(self._key()))

    def __setattr__(self, field: str, value: object) -> NoReturn:
        raise AttributeError(f"a metric is immutable, so {field!r} cannot be set: make a new one with rankgain.metric")

    def __delattr__(self, field: str) -> NoReturn:
        self.__setattr__(field, None)

    def _key(self) -> tuple[Any, ...]:
        return self.name, self.k, *(getattr(self, name) for name in PARAMETERS)

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in row_of(self.name).takes}

    def __eq__(self, other: object) -> bool:
        """Compare all fields as tuples, in which ``empty=nan`` equals itself, since it is always `math.nan`."""
        return self._key() == other._key() if isinstance(other, Metric) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Callable[..., Metric], tuple[Any, ...]]:
        """Pickle only public names: the class, and its parameters as a user would write them."""
        defaults = row_of(self.name).parameters
        given = {name: value for name, value in self._parameters().items() if value != defaults[name].default}
        arguments = {n: value.argument if isinstance(value, (Gain, Discount)) else value for n, value in given.items()}
        return partial(Metric, self.name, self.k, **arguments), ()

    def __repr__(self) -> str:
        return f"<Metric {self}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>{escape(str(self))}</code>: {escape(row_of(self.name).title)}"

    def at(self, k: int | None) -> Metric:
        """Return the same metric with another cut-off.

        Parameters
        ----------
        k : int or None
            The cut-off, a positive integer up to 2**48, or None for no cut-off.

        Returns
        -------
        Metric
            With the same parameters.

        Raises
        ------
        ValueError
            If `k` is not positive.
        TypeError
            If `k` is not an integer, or the metric has no cut-off.

        Examples
        --------
        >>> import rankgain as rg
        >>> str(rg.metric("ndcg", k=10, gain="exponential").at(5))
        'ndcg(gain=exponential)@5'
        """
        return Metric(self.name, k, **self._parameters())

    @property
    def depth(self) -> int:
        """The deepest rank that counts: `k`, or a number larger than any list if there is no cut-off.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.metric("ndcg", k=10).depth
        10
        """
        return UNLIMITED if self.k is None else self.k

    def __str__(self) -> str:
        written = [
            f"{name}={_shown(getattr(self, name))}"
            for name, parameter in row_of(self.name).parameters.items()
            if getattr(self, name) != parameter.default
        ]
        return self.name + (f"({','.join(written)})" if written else "") + (f"@{self.k}" if self.k is not None else "")


_MOST_GRADES = 100  # a larger `rel` is not the grade of a scale


def _gain_from(rel: Any) -> str:
    """Return the advice to write a gain of 1 from the grade `rel` on."""
    lowest = real(rel, math.inf)
    if lowest is None or not 1.0 <= lowest <= _MOST_GRADES:
        return ""
    table = ", ".join(f"{grade}: {int(grade >= lowest)}" for grade in range(1, math.ceil(lowest) + 2))
    return f"; to count only grades from {short(lowest)} on, write gain={{{table}}}, with every grade that occurs"


def _shown(value: Any) -> str:
    return "/".join(map(short, value)) if type(value) is tuple else short(value)


class Score(str):
    """The key of a metric whose values were computed by another tool."""

    like: Metric  # a rankgain metric that is aggregated and compared in the same way

    @classmethod
    def of(cls, name: str, higher_is_better: bool | None) -> Score:
        score = cls(name)
        score.like = Metric({True: "cg", False: "unjudged", None: "idcg"}[higher_is_better])
        return score


# The tables of metrics, by name. Whatever reads a result asks `row_of`, which looks in all of them; the lists of
# metrics that need only relevance read the first.
TABLES = (TABLE, SUBTOPIC_TABLE, SIMILARITY_TABLE)
_NAMES = {alias: row for table in TABLES for row in table.values() for alias in (row.name, *row.aliases)}
# trec_eval's names that take cut-offs. Without a cut-off, names that end in _cut stand for several default cut-offs
# (see m_ndcg_cut.c).
_TREC_NAMES = {row.name.lower() for row in TREC_NAMES if row.kind == "cut"}
_TREC_LISTS = {name for name in _TREC_NAMES if name.endswith("_cut")}


@without_unknown
def metric(
    name: str,
    *,
    k: int | None = None,
    gain: GainKind | None = None,
    discount: DiscountKind | None = None,
    ideal: AnyIdeal | None = None,
    rel: float | None = None,
    empty: float | None = None,
    beta: float | None = None,
    p: float | None = None,
    max_grade: float | None = None,
    recall: float | None = None,
    rounding: Rounding | None = None,
    multiple: float | None = None,
    coefficients: Sequence[float] | None = None,
    collection: float | None = None,
    alpha: float | None = None,
    tolerance: float | None = None,
    scores: ScoresOf | None = None,
    **unknown: Unpack[NoKeywords],
) -> Metric:
    """Create a metric from arguments, including those that a string cannot express.

    Parameters
    ----------
    name : str
        One of the metrics that `rankgain metrics` lists, such as ``"ndcg"``, ``"rr"``, ``"ap"``, ``"precision"`` or
        ``"err"``, or an alias (``"mrr"``, ``"map"``, ``"P"``, ``"recip_rank"``). Case does not matter.
    k : int, optional
        The cut-off, a positive integer up to 2**48: ranks beyond it do not count. By default, the whole list counts.
        Metrics of whole lists, listed below, take none.
    gain : str, mapping, sequence or callable, optional
        How a grade becomes a gain; see `rankgain.gain`. By default ``"linear"``.
    discount : str or sequence of float, optional
        How much a rank counts; see `rankgain.discount`. By default ``"log2"``.
    ideal : {"judged", "returned", "docid"}, optional
        Whether the ideal ranking holds all judged documents, or is also cut at the length of the returned list. By
        default ``"judged"``. With ``"docid"``, the greedy ideal of alpha_ndcg, nerr_ia and nnrbp takes, of documents
        with equal gains, the one with the highest id, as ndeval does; values may then exceed 1.
    rel : float, optional
        The lowest grade that is relevant, inclusive. By default, every grade above 0 is relevant.
    empty : float, optional
        The value of a query without anything relevant, finite or NaN; NaN leaves the query out of the mean. By default
        0.
    beta : float, optional
        For f: how much more recall weighs than precision. For q_measure: the weight of the gains. From 0 to 1e6; by
        default 1. For nrbp and nnrbp: the probability with which a reader reads on, from 0 to below 1; by default 0.5.
    p : float, optional
        The persistence of the reader, the probability with which they read on: above 0 and below 1, by default 0.9.
    max_grade : float, optional
        The highest grade of the scale, the same for all runs and queries: above 0 and below 1024, by default 4. A
        larger grade is an error.
    recall : float, optional
        The lowest recall at which precisions count, from 0 (the default) to 1.
    rounding : {"up", "nearest"}, optional
        How recall · R becomes a number of documents: ``"up"``, the default, as in trec_eval up to release 9, or
        ``"nearest"``, as in release 10.
    multiple : float, optional
        Precision is computed at rank `multiple` · R; above 0, by default 1.
    coefficients : sequence of 4 floats, optional
        The values of a relevant document returned, a non-relevant one returned, a relevant one not returned and a
        non-relevant one not returned; by default (1, −1, 0, 0).
    collection : float, optional
        The number of documents in the collection, 0 or more; by default 0.
    alpha : float, optional
        For metrics of novelty: how much less a subtopic counts each time that it is repeated, from 0 to 1; by default
        0.5.
    tolerance : float, optional
        For knn_recall: how much below the k-th score of the exact run a document may be to count as right, 0 or more;
        by default 0.
    scores : {"old", "new"}, optional
        For knn_recall: whether a document that the old run does not list counts as wrong, ``"old"``, the default, or
        is judged by its score in the new run, which must be exact as well.

    Returns
    -------
    Metric
        A frozen, hashable record to be passed to `Rankings.evaluate`.

    Raises
    ------
    ValueError
        If the name is unknown (the message suggests a similar one), or a value is out of range.
    TypeError
        If the metric does not take a parameter that is given, or has no cut-off and `k` is given; or if a value is of
        the wrong type.

    See Also
    --------
    Rankings.evaluate : Accepts the result, and strings such as ``"ndcg(gain=exponential)@10"``.
    explain : The formula and the rules behind a metric.

    Notes
    -----
    Six metrics need judgments by subtopic: alpha_dcg, alpha_ndcg, err_ia, nerr_ia, nrbp and nnrbp. So do strecall, the
    share of the subtopics that a list covers, and ``NAME_ia``, the mean over the subtopics of a query of the metric
    NAME, whose parameters and `empty` it takes: ``ndcg_ia``, ``rr_ia``, ``recall_ia``, ``precision_ia``, ``ap_ia`` …

    Which metrics take which parameter::

        gain          cg, ncg, dcg, idcg, ndcg, g, ndcg_rel, r_ndcg
        discount      dcg, idcg, ndcg, ndcg_rel, r_ndcg
        ideal         ndcg, alpha_ndcg, nerr_ia, nnrbp
        rel           rr, success, precision, recall, capped_recall, f, ap, ap_capped, ap_hits, gm_ap,
                      r_precision, iprec, iprec_mean, bpref, gm_bpref, infap, fallout, auc, gauc, rbp,
                      q_measure, set_ap, utility, bin_g, r_ndcg, num_rel, num_rel_ret, num_nonrel_judged_ret,
                      alpha_dcg, alpha_ndcg, err_ia, nerr_ia, nrbp, nnrbp
        empty         ncg, ndcg, rr, success, recall, capped_recall, f, ap, ap_capped, ap_hits, gm_ap,
                      r_precision, iprec, iprec_mean, bpref, gm_bpref, infap, fallout, auc, gauc, nerr,
                      q_measure, set_ap, g, bin_g, ndcg_rel, r_ndcg, alpha_dcg, alpha_ndcg, err_ia, nerr_ia,
                      nrbp, nnrbp
        beta          f, q_measure, nrbp, nnrbp
        p             rbp, rbp_residual
        max_grade     err, nerr
        recall        iprec
        rounding      iprec, iprec_mean
        multiple      r_precision
        coefficients  utility
        collection    utility
        alpha         alpha_dcg, alpha_ndcg, err_ia, nerr_ia, nrbp, nnrbp

    Metrics of whole lists, which have no cut-off::

        gm_ap, r_precision, iprec, iprec_mean, bpref, gm_bpref, infap, auc, gauc, set_ap, utility, g, bin_g,
        ndcg_rel, r_ndcg, num_ret, num_rel, num_rel_ret, num_nonrel_judged_ret, num_q

    Metrics without an expected value over the orders of tied documents, refused under ``ties="average"``::

        ap_hits, iprec, iprec_mean, infap, g, bin_g, ndcg_rel

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
    if unknown:
        raise unexpected(metric, unknown)
    given = {field: value for field, value in locals().items() if field in PARAMETERS and value is not None}
    return Metric(name, k, **given)


def each_of(metrics: Sequence[Any]) -> tuple[Any, ...]:
    """Return the requests as one tuple, with nested lists, tuples and sets of requests unpacked."""
    if _LISTS.isdisjoint(map(type, metrics)):
        return tuple(metrics)
    return tuple(each for item in metrics for each in (item if type(item) in _LISTS else (item,)))


_LISTS = frozenset((list, tuple, set, frozenset))


def stored_key(metric: MetricKey, keys: Iterable[MetricKey]) -> MetricKey:
    """Return the key of a result that equals a metric. It may be a Score, which also holds a direction."""
    known = [*keys]
    if metric not in known:
        raise KeyError(f"{metric!s} was not evaluated; there are: {', '.join(map(str, known))}")
    return known[known.index(metric)]


def aggregator(key: str | Metric) -> Aggregator:
    """Return the function that aggregates a metric's values over queries, given the metric's key in a result."""
    ((_, record),) = parse(key)
    return row_of(record.name).aggregator


def weighing(key: str | Metric) -> str:
    """Return the name of the metric that weights the queries in a metric's mean, or "" if all weights are equal."""
    ((_, record),) = parse(key)
    return row_of(record.name).weights


def better(key: str | Metric) -> int:
    """Return 1 if higher values of a metric are better, −1 if lower values are better, and 0 if neither is true."""
    ((_, record),) = parse(key)
    return row_of(record.name).better


def refuse_by_subtopic(requests: Iterable[str | Metric], what: str) -> None:
    """Raise a ValueError if a requested metric needs judgments by subtopic, which `what` does not take."""
    for key, metric in (pair for request in requests for pair in parse_quality(request)):
        if metric.name in SUBTOPIC_TABLE:
            raise ValueError(f"{key!s} needs judgments by subtopic, and {what} takes none: use rankgain.evaluate")


def highest_value(metric: Metric) -> float:
    """Return the largest value that a query can have; infinite if there is no bound, as with ndeval's ideal list."""
    return math.inf if metric.ideal == "docid" else row_of(metric.name).highest


def is_share(key: str | Metric) -> bool:
    """Return whether the highest value of a metric is 1; if so, its values can be printed as percentages."""
    if isinstance(key, Score):
        return False
    try:
        ((_, metric),) = parse(key)
        name = metric.name
    except ValueError:
        # The key comes from a Summary and is the text of a metric whose gain is a callable.
        name = str(key).partition("(")[0]
    # A Summary may also hold values from other tools.
    return any(name in table and table[name].highest == 1.0 for table in TABLES)


def _bare(name: str) -> str:
    """Return a name in lower case and without separators."""
    return re.sub(r"[\s_-]", "", name).lower()


_BARE = {_bare(alias): row for alias, row in _NAMES.items()}


_CATALOGUE = "it needs the catalogue or features of items, not only their relevance, which is out of scope"
_COVERAGE = f"{_CATALOGUE}; the share of the subtopics or nuggets that a list covers is strecall@k"
_AVERAGE_RECALL = "it averages recall over cut-offs; write 'recall@1,5,10', or 'ap@10' to count the order"
_INFERRED = "it needs the strata of the pool, which qrels lack; write 'infap', or 'ndcg@10' with judged_only=True"
_CORRELATION = "it correlates two orders, without truth; write scipy.stats.kendalltau(values, others)"
_ERRORS = "it is an error of predicted values, not a metric of rankings; see sklearn.metrics"
# Advice for names that are not rankgain metrics; the keys are in `_bare` form.
_ADVICE = {
    **dict.fromkeys(("ndcgexp", "expndcg", "ndcgexponential"), "write 'ndcg(gain=exponential)@10'"),
    **dict.fromkeys(("dcgexp", "expdcg", "dcgexponential"), "write 'dcg(gain=exponential)@10'"),
    **{_bare(name): f"it has no mean over subtopics, since {reason}" for name, reason in REFUSED.items()},
    **dict.fromkeys(("coverage", "novelty", "diversity"), _COVERAGE),
    **dict.fromkeys(("catalogcoverage", "itemcoverage", "serendipity"), _CATALOGUE),
    **dict.fromkeys(("intralistsimilarity", "ils", "ild", "intralistdiversity", "personalization", "arp"), _CATALOGUE),
    **dict.fromkeys(("mar", "meanaveragerecall", "mark"), _AVERAGE_RECALL),
    **dict.fromkeys(("infndcg", "inferredndcg"), _INFERRED),
    **dict.fromkeys(("tau", "kendall", "kendalltau"), _CORRELATION),
    **dict.fromkeys(("rbo50", "rbo90"), "write 'rbo(p=0.5)' or 'rbo(p=0.9)', of rankgain.similarity(old, new)"),
    "frequencyweighted": "rankgain.similarity(old, new) has 'overlap@10' and 'jaccard@10'",
    **dict.fromkeys(("rmse", "mae", "mse", "logloss"), _ERRORS),
}


def row_of(name: Any, request: str = "") -> Row:
    """Return the row of the metrics table for a metric's name or alias.

    `request` is the full request, for the error message.
    """
    if not isinstance(name, str):
        raise TypeError(f"a metric is a string or a rankgain.metric(...), not {type(name).__name__}")
    row = next((table[name] for table in TABLES if name in table), None)
    row = row or _NAMES.get(name.strip().lower()) or _BARE.get(_bare(name))
    if row is None:
        advice = _ADVICE.get(_bare(re.split("[@(:]", name)[0]))
        if advice:
            raise ValueError(f"unknown metric {quoted(request or name)}: {advice}")
        suggestion = "" if request else name if _is_request(name) else _suggestion(name)
        known = _BARE.get(_bare(re.split("[@(:]", suggestion)[0]))
        if known is not None and _bare(suggestion) not in _BARE:
            raise ValueError(
                f"metric takes the name and its parameters separately: metric({known.name!r}, k=10); "
                f"evaluate and others take {quoted(suggestion)} as it is"
            )
        hint = f"; did you mean {suggestion!r}?" if suggestion else ""
        raise ValueError(f"unknown metric {quoted(request or name)} (`rankgain metrics` lists all){hint}")
    return row


def _near(name: str) -> str:
    """Return the known name most similar to `name`, or "" if none is similar."""
    if name.lower() in _NAMES:
        return name
    if len(name) > 2 * max(map(len, _NAMES)):  # comparing long strings is slow
        return ""
    letters, over_subtopics = sorted(_bare(name)), _bare(name).endswith("ia")
    known = [bare for bare in _BARE if bare.endswith("ia") == over_subtopics]
    anagrams = sorted((bare for bare in known if sorted(bare) == letters), key=lambda bare: bare != _bare(name))
    near = anagrams[0] if anagrams else nearest(_bare(name), known)
    return next((alias for alias in _NAMES if near and _bare(alias) == near), "")


# Matches a request without quotes and brackets: a name, followed by a cut-off and parameters in either order.
_LOOSE_FORM = r"""(?x)\s*(?P<name>[^@(:]*?)\s*
        (?P<before>\([^)]*\)|:[^@]*)?\s*(?:@\s*(?P<k>[^@(]*?)\s*(?P<after>\([^)]*\))?)?\s*"""
_NAME_AND_DIGITS = r"(?i)(?!set_|f\d)(?P<name>.*?[a-z])[\W_]*(?P<k>\d+)"  # the 2 in set_F_2 or F2 is not a cut-off


# Pairs of patterns: a parameter in ranx's syntax, and its replacement in rankgain's syntax.
_RANX = (("_burges", "(gain=exponential)"), (r"-l(\d+)", r"(rel=\1)"), (r"(?<=rbp)\.(\d+)", r"(p=0.\1)"))


def _suggestion(request: str) -> str:
    """Return the valid request that was probably meant by an invalid one, or "" if there is none."""
    for theirs, ours in _RANX if len(request) <= LONGEST_SHOWN else ():
        request = re.sub(theirs, ours, request)
    loose = re.fullmatch(_LOOSE_FORM, re.sub(r"""['"\[\]]""", "", request)) if len(request) <= LONGEST_SHOWN else None
    if loose is None:
        return ""
    name, k, parameters = loose["name"], loose["k"], loose["before"] or loose["after"] or ""
    digits = re.fullmatch(_NAME_AND_DIGITS, name) if k is None else None
    if digits is not None:  # for example ndcg10 or ndcg-10
        name, k = digits["name"], digits["k"]
    near = _near(name)
    text = near + parameters + ("" if k is None else f"@{k}")
    return text if near and _is_request(text) else ""


def _is_request(text: str) -> bool:
    try:
        return bool([*_read(text)])
    except (ValueError, TypeError):
        return False


def _remedy(request: str) -> str:
    """Return the advice that ends the error message for an invalid request."""
    if _bare(re.split("[@(:]", request)[0]) in _ADVICE:
        return ""
    suggestion = _suggestion(request)
    if suggestion:
        return f"; did you mean {suggestion!r}?"
    parts = re.split(r"[,;\s]+(?![^(]*\))", request.strip()) if len(request) <= LONGEST_SHOWN else []
    if len(parts) > 1 and all(map(_is_request, parts)):
        return f"; request each metric by itself: {', '.join(map(repr, parts))}"
    return ""


# These patterns are compiled on first use.
_SHORT_FORM = r"""(?x)\s*(?P<name>[^\s(:@.]+?)            # ndcg
        (?:\s*\((?P<inside>[^)]*)\)|:(?P<after>[^@]*))?   # (gain=exponential) or :gain=exponential
        (?:\s*@(?P<k>[^@]*))?\s*"""
# Matches ndcg_10 and ndcg_at_10, but not trec_eval's set_F_2, where 2 is not a cut-off.
_UNDERSCORED = r"(?i)(?P<name>(?!set_).*?[^\W_])_(?:at_)?(?P<k>\d+(?:,\d+)*)"
_TREC_FORM = r"(?i)\s*(?P<name>[a-z_]+?)(?:[._](?P<ks>\d+(?:,\d+)*))?\s*"


def parse(request: str | Metric) -> Iterator[tuple[str | Metric, Metric]]:
    """Yield (key, metric) pairs for a request; each key identifies its metric in the result."""
    if isinstance(request, Metric):
        yield request, request
    elif isinstance(request, Score):
        yield request, request.like
    elif isinstance(request, str):
        try:
            yield from _pairs_of(request)
        except ValueError as error:
            raise ValueError(f"{error}{_remedy(request)}") from None
    else:
        cutoff = f": write a cut-off in it, 'ndcg@{request}'" if type(request) is int and request > 0 else ""
        raise TypeError(f"a metric is a string or a rankgain.metric(...), not {type(request).__name__}{cutoff}")


def parse_quality(request: str | Metric) -> Iterator[tuple[str | Metric, Metric]]:
    """Yield the pairs of `parse`; raise a ValueError for a metric that compares two runs without judgments."""
    for key, metric in parse(request):
        if metric.name in SIMILARITY_TABLE:
            call = f"rankgain.similarity(old, new, '{metric}')"
            raise ValueError(f"{key!s} is a similarity of two runs, not a quality: {call}")
        yield key, metric


# The pairs of a string are kept, since the keys of a result are parsed each time that a comparison looks them up.
@lru_cache(maxsize=256, typed=True)
def _pairs_of(request: str) -> tuple[tuple[str, Metric], ...]:
    return tuple(_read(request))


def _read(request: str) -> Iterator[tuple[str, Metric]]:
    """Parse a string; error messages lack the advice that `parse` adds."""
    trec = re.fullmatch(_TREC_FORM, request)
    if trec and trec["name"].lower() in (_TREC_NAMES if trec["ks"] else _TREC_LISTS):
        name = trec["name"] if trec["ks"] else trec["name"].lower()
        ks = [_integer(request, k) for k in trec["ks"].split(",")] if trec["ks"] else [*map(int, CUTOFFS)]
        for cutoff in ks:
            yield (request if len(ks) == 1 else f"{name}_{cutoff}"), metric(name, k=cutoff)
        return
    short = re.fullmatch(_SHORT_FORM, request)
    if short is None:
        raise ValueError(f"{request!r} is not a metric: write name@k or name(parameter=value,...)@k")
    name, k = short["name"], short["k"]
    underscored = re.fullmatch(_UNDERSCORED, name) if k is None and _bare(name) not in _BARE else None
    if underscored is not None:
        name, k = underscored["name"], underscored["k"]
    parameters = short["inside"] or short["after"] or ""
    if k is None or "," not in k:
        yield request, _from_text(request, name, parameters, k)
        return
    before, _, after = request.rpartition(k)
    for text in k.split(","):
        yield f"{before}{text.strip()}{after}", _from_text(request, name, parameters, text)


def _from_text(request: str, name: str, parameters: str, k: str | None) -> Metric:
    row = row_of(name, request)
    given: dict[str, Any] = {} if k is None else {"k": _integer(request, k)}
    for pair in filter(None, map(str.strip, re.split(_OUTSIDE_BRACES, parameters))):
        key, equals, value = (part.strip() for part in pair.partition("="))
        key = key.lower()
        if not equals or key not in ("k", *PARAMETERS):
            takes = ", ".join(row.takes) or "k"
            if _bare(key) in _THRESHOLDS and "rel" in row.takes:
                raise ValueError(
                    f"{request!r}: {pair!r} is not a parameter; write rel={value}, the lowest relevant grade"
                )
            if _bare(key) in ("ytrue", "yscore", "ypred"):
                call = "rankgain.from_scores(y_true, y_score).evaluate('ndcg@10')"
                raise ValueError(f"{request!r}: {pair!r} is not a parameter; labels and scores are arguments: {call}")
            raise ValueError(f"{request!r}: {pair!r} is not a parameter; write one of {takes} = value")
        if key in given:
            raise ValueError(f"{request!r}: {key} is given twice")
        if key == "k":
            given[key] = _integer(request, value)
        else:
            try:
                given[key] = row.parameters[key].read(value)
            except ValueError:
                demand = "be numbers by grade, {4: 1, 5: 1}" if value.startswith("{") else "be a number"
                raise ValueError(f"{request!r}: {key} must {demand}, not {value!r}") from None
    return metric(name, **given)


_OUTSIDE_BRACES = r",(?![^{]*\})"  # matches the commas between parameters, not those of a gain by grade
_THRESHOLDS = {"threshold", "relevancethreshold", "relevancelevel", "minrel", "relthreshold", "positivethreshold"}


def _integer(request: str, text: str) -> int:
    digits = re.fullmatch(r"\s*\+?0*([1-9][0-9]*)\s*", text)
    if digits is None:
        raise ValueError(f"{quoted(request)}: k must be a positive integer, not {quoted(text)}")
    if len(digits[1]) > len(str(LARGEST_CUTOFF)) or int(digits[1]) > LARGEST_CUTOFF:
        raise ValueError(f"{quoted(request)}: k must be at most 2**48; leave it out for all ranks")
    return int(digits[1])
