"""Scorers for scikit-learn's searches and cross-validations that know which rows belong to the same query.

scikit-learn is imported only if metadata routing is on, to return the metadata request.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Never, cast

import numpy as np

from rankgain.choices import ScoreTies
from rankgain.data.arrays import array_of, objects_of
from rankgain.data.ragged import flat_numbers
from rankgain.data.rules import check_ties
from rankgain.errors import short, warn
from rankgain.inputs.scores import rankings_of_scores
from rankgain.metrics.metric import Metric, better, parse_quality, refuse_by_subtopic
from rankgain.scalars import Array
from rankgain.tools.boosters import locals_of

RESPONSES = "predict_proba", "decision_function", "predict"
NO_GROUPS = (
    "qid: {0!r} does not know which query each row belongs to. Pass it a column of X, scorer(..., qid='query'), or a "
    "callable on X; or pass the ids, params={{'qid': ids}}, after sklearn.set_config(enable_metadata_routing=True)"
)

ONE_METRIC = "a scorer has one metric, not {}: pass a dict of scorers by name as scoring"

QidSource = str | int | Callable[[Any], Any]


def scorer(
    metric: str | Metric = "ndcg@10",
    *more: Never,
    qid: QidSource | None = None,
    response_method: str | Sequence[str] = RESPONSES,
    ties: ScoreTies = "average",
) -> Scorer:
    """Create a scorer for scikit-learn's ``scoring`` parameter that returns the mean of a metric over queries.

    Parameters
    ----------
    metric : str or Metric, default "ndcg@10"
        The metric, as in `Rankings.evaluate`. Higher values must be better.
    qid : str, int or callable, optional
        The name or number of the column of X that holds the query of each row, or a callable that takes X and returns
        the query ids. The model gets all columns of X. By default, the ids must be passed to each call as the keyword
        argument `qid`. A search or cross-validation passes them if metadata routing is on and its ``params`` have
        ``qid``.
    response_method : str or sequence of str, default ("predict_proba", "decision_function", "predict")
        The method of the model that returns the scores. If several are given, the first one that exists is used. With
        ``predict_proba``, the score is the expected grade of each document, so the classes must be grades; with two
        classes, documents are ordered by the probability of the higher one.
    ties : {"average", "stable", "best", "worst"}, default "average"
        The order of documents of equal score; see `rankgain.from_scores`.

    Returns
    -------
    Scorer
        A callable with the signature ``scorer(model, X, y, qid=ids)`` that returns a float. To pass ids under another
        name, use ``set_score_request(qid="groups")``. The scorer can be pickled if its arguments can.

    Raises
    ------
    ValueError
        If the metric is unknown or lower values of it are better, if it has several cut-offs, or if `ties` is unknown.
        When called, if there are no ids or not one per row, if the model does not return one score per row, or if
        `rankgain.from_scores` or `Rankings.evaluate` would raise it.
    TypeError
        If several metrics are given, or `qid` is neither a column nor a callable. When called, if the model has none of
        the methods, or if `rankgain.from_scores` or `Rankings.evaluate` would raise it. Raised in a search or
        cross-validation without ids; the message says how to pass them.

    Warns
    -----
    UserWarning
        If a search or cross-validation scores only part of a query. Use a splitter that keeps groups together.

    See Also
    --------
    rankgain.sklearn : Replace scikit-learn's ``ndcg_score`` and ``dcg_score``.

    Examples
    --------
    >>> import numpy as np
    >>> import rankgain as rg
    >>> class Model:
    ...     def predict(self, X):
    ...         return X[:, 1]
    >>> # The first column is the query; the second query has a single document. The gain is 2**grade - 1.
    >>> X, y = np.array([[7, 0.2], [7, 0.9], [7, 0.7], [8, 0.5]]), [3, 1, 2, 1]
    >>> scorer = rg.scorer("ndcg(gain=exponential)@10", qid=0)
    >>> round(scorer(Model(), X, y), 4)
    0.8403
    >>> round(rg.scorer("ndcg@10")(Model(), X, y, qid=["a", "a", "a", "b"]), 4)
    0.895
    """
    if more:
        raise TypeError(ONE_METRIC.format(1 + len(more)))
    return Scorer(metric, qid, response_method, ties)


class Scorer:
    """A scorer for scikit-learn, as returned by `scorer`."""

    def __init__(
        self, metric: str | Metric, qid: QidSource | None, response_method: str | Sequence[str], ties: ScoreTies
    ) -> None:
        refuse_by_subtopic([metric], "a scorer")
        requests = list(parse_quality(metric))
        if len(requests) != 1:
            raise ValueError(ONE_METRIC.format(len(requests)))
        if better(requests[0][1]) < 0:
            raise ValueError(f"a scorer is maximised, but lower values of {requests[0][1]} are better: choose another")
        if isinstance(qid, np.integer):
            qid = int(qid)
        if not (qid is None or isinstance(qid, (str, int)) or callable(qid)) or isinstance(qid, bool):
            raise TypeError(
                f"qid must be a column of X, by name or number, or a callable on X, not {type(qid).__name__}; "
                "pass ids to the call: scorer(model, X, y, qid=ids)"
            )
        self.metric = requests[0][1]
        self.qid = qid
        self.response_methods = (response_method,) if isinstance(response_method, str) else tuple(response_method)
        self.ties = check_ties(ties, ids=False)
        self._request: bool | str | None = qid is None

    def __call__(self, estimator: Any, X: Any, y: Any, *, qid: Any = None) -> float:
        if qid is None and self.qid is None:
            return self._refused(ValueError(NO_GROUPS.format(self)))
        try:
            ids = self._ids(X) if qid is None else qid
        except ValueError as error:
            return self._refused(error)
        self._check_split()
        scores = self._scores(estimator, X)
        result = rankings_of_scores(y, scores, qid=ids, ties=self.ties).evaluate(self.metric)
        return result.aggregate()[self.metric]

    def set_score_request(self, *, qid: bool | str | None) -> Scorer:
        """Set the name under which the query ids are passed if metadata routing is on.

        Parameters
        ----------
        qid : bool, str or None
            If True, the ids are passed as ``qid``. If a name, they are passed under that name, such as ``"groups"``,
            which GroupKFold also accepts. If False, they are not passed to this scorer. If None, passing them is an
            error.

        Returns
        -------
        Scorer
            The scorer itself.

        Raises
        ------
        ValueError
            If `qid` has another value.

        Examples
        --------
        >>> import rankgain as rg
        >>> rg.scorer("mrr").set_score_request(qid="groups")
        scorer('rr').set_score_request(qid='groups')
        """
        if not (qid is None or isinstance(qid, bool) or (isinstance(qid, str) and qid.isidentifier())):
            raise ValueError(f"qid must be True, False, None or a name, not {qid!r}")
        self._request = qid
        return self

    def get_metadata_routing(self) -> Any:
        """Return the MetadataRequest for `qid`, which scikit-learn requires if metadata routing is on."""
        routing = import_module("sklearn.utils.metadata_routing")
        request = routing.MetadataRequest(owner=repr(self))
        request.score.add_request(param="qid", alias=self._request)
        return request

    def _accept_sample_weight(self) -> bool:
        """Tell scikit-learn that the scorer takes no sample weights; used if metadata routing is off."""
        return False

    def _refused(self, error: ValueError) -> float:
        """Raise an error, or return a value that raises it later if scikit-learn would turn it into a warning now."""
        if sys._getframe(2).f_globals.get("__name__") in _CATCHERS:
            return cast(float, _Refusal(str(error)))
        raise error

    def _check_split(self) -> None:
        """Warn if scikit-learn scores only some rows of a query; the split is read from the caller's stack frame."""
        caller_locals = locals_of("_fit_and_score", _CATCHERS)
        if not caller_locals:
            return
        ids = self._ids_of_all(caller_locals.get("X"), caller_locals.get("score_params"))
        split_query = _split_query(ids, caller_locals.get("test"))
        if split_query:
            query = split_query[0]
            shown = short(query) if isinstance(query, float) else repr(query)
            warn(
                f"the split divides queries, such as {shown}, of which only some rows are scored: "
                "use GroupKFold, or another splitter by groups, with the ids as groups"
            )

    def _ids_of_all(self, X: Any, parameters: Any) -> Any:
        """Return the query of each row before the split, or None if it is unknown."""
        if self.qid is not None:
            return self._ids(X)
        return (parameters or {}).get(self._request if isinstance(self._request, str) else "qid")

    def _ids(self, X: Any) -> Any:
        assert self.qid is not None
        return self.qid(X) if callable(self.qid) else _column(X, self.qid)

    def _scores(self, estimator: Any, X: Any) -> Any:
        """Compute one score for each row."""
        method = next((name for name in self.response_methods if hasattr(estimator, name)), None)
        if method is None:
            raise TypeError(f"{type(estimator).__name__} has none of the methods {', '.join(self.response_methods)}")
        scores = array_of(getattr(estimator, method)(X), f"the result of {method}")
        if scores is not None and method == "predict_proba" and scores.ndim == 2:
            return scores @ _grades(estimator, scores.shape[1])
        if scores is None or scores.ndim != 1:
            shape = "rows of unequal length" if scores is None else f"the shape {scores.shape}"
            raise ValueError(
                f"{method} returned {shape} instead of one score per row: choose another response_method, "
                "such as 'predict_proba', from which the expected grade is computed"
            )
        return scores

    def __repr__(self) -> str:
        options = {"qid": self.qid, "response_method": self.response_methods, "ties": self.ties}
        defaults = {"qid": None, "response_method": RESPONSES, "ties": "average"}
        named = [f", {name}={_shown(value)}" for name, value in options.items() if value != defaults[name]]
        request = "" if self._request is (self.qid is None) else f".set_score_request(qid={self._request!r})"
        return f"scorer({str(self.metric)!r}{''.join(named)}){request}"


# scikit-learn's modules that catch errors raised by scorers.
_CATCHERS = "sklearn.model_selection._validation", "sklearn.metrics._scorer"


class _Refusal:
    """A value that is returned to scikit-learn instead of a number and raises an error when `item` is called."""

    def __init__(self, message: str) -> None:
        self._message = message

    def item(self) -> float:
        raise TypeError(self._message)

    def __repr__(self) -> str:
        return self._message


def _split_query(ids: Any, test: Any) -> list[Any]:
    """Return a list with the first query that has rows inside and outside the test set, or an empty list."""
    queries = None if ids is None else objects_of(ids, "qid")
    if queries is None or test is None or not isinstance(queries, (list, tuple)):
        return []
    rows = {*np.asarray(test).tolist()}
    if rows <= {True, False} and len(test) == len(queries):  # `test` is a mask
        rows = {*np.flatnonzero(test).tolist()}
    tested = {queries[row] for row in rows}
    return [query for row, query in enumerate(queries) if row not in rows and query in tested][:1]


def _shown(value: Any) -> str:
    if isinstance(value, tuple) and len(value) == 1:
        return repr(value[0])
    return str(getattr(value, "__qualname__", repr(value)))


def _column(X: Any, column: str | int) -> Any:
    """Return a column of X, which may be a data frame, a sparse matrix, an array or a list."""
    try:
        if isinstance(column, str):
            return X[column]
        if hasattr(X, "iloc"):
            return X.iloc[:, column]
        if hasattr(X, "tocsr"):
            return X.tocsr()[:, [column]].toarray().ravel()
        return (X if hasattr(X, "shape") else np.asarray(X))[:, column]
    except Exception as error:
        names = f"; there are: {', '.join(map(str, X.columns))}" if hasattr(X, "columns") else ""
        raise ValueError(f"qid: {type(X).__name__} X has no column {column!r} ({error}){names}") from None


def _grades(estimator: Any, count: int) -> Array:
    """Return the grade of each class: the class itself, or its index if the model has no `classes_`."""
    grades = flat_numbers(getattr(estimator, "classes_", range(count)), "classes_, which must be grades,")
    if len(grades) != count:
        raise ValueError(f"predict_proba returned {count} columns, but classes_ has {len(grades)}")
    return grades
