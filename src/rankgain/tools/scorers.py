"""A scorer for scikit-learn's searches and cross-validations that knows which rows belong to one query.

scikit-learn asks a scorer for its metadata request only if routing is on; only then is it imported here.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from rankgain.choices import ScoreTies
from rankgain.data.arrays import array_of, objects_of
from rankgain.data.ragged import flat_numbers
from rankgain.data.rules import check_ties
from rankgain.inputs.scores import from_scores
from rankgain.metrics.metric import Metric, better, parse
from rankgain.scalars import Array

RESPONSES = "predict_proba", "decision_function", "predict"
NO_GROUPS = (
    "qid: {0!r} does not know which query each row belongs to. Give it a column of X, scorer(..., qid='query'), or a "
    "callable on X; or pass the ids, params={{'qid': ids}}, after sklearn.set_config(enable_metadata_routing=True)"
)

QidSource = str | int | Callable[[Any], Any]


def scorer(
    metric: str | Metric = "ndcg@10",
    *,
    qid: QidSource | None = None,
    response_method: str | Sequence[str] = RESPONSES,
    ties: ScoreTies = "average",
) -> Scorer:
    """Make a scorer for scikit-learn's ``scoring=``: the mean of a metric over the queries among the rows.

    Parameters
    ----------
    metric : str or Metric, default "ndcg@10"
        The metric, as in `Rankings.evaluate`; one for which higher is better.
    qid : str, int or callable, optional
        Where the query of each row is found: a column of X, by name or number, or a callable that takes X and returns
        the ids. X goes to the model with all its columns. By default, each call is given the ids as the keyword
        argument `qid`; a search or cross-validation does so if metadata routing is on and its ``params`` have ``qid``.
    response_method : str or sequence of str, default ("predict_proba", "decision_function", "predict")
        The method of the model that returns the scores; of several, the first that it has. The result of
        ``predict_proba`` for classes, which must be grades, becomes the expected grade of each document; with two
        classes that is the order of the probabilities of the higher one.
    ties : {"average", "stable", "best", "worst"}, default "average"
        The order of documents of equal score; see `rankgain.from_scores`.

    Returns
    -------
    Scorer
        Called as ``scorer(model, X, y, qid=ids)``, it returns a float. ``set_score_request(qid="groups")`` makes it
        accept ids that are passed under another name. It can be pickled if its parts can.

    Raises
    ------
    ValueError
        If the metric is unknown or lower values of it are better, if it stands for several cut-offs, or if `ties` is
        unknown. When called, if there are no ids or not one per row, if the model does not return one score per row, or
        if `rankgain.from_scores` or `Rankings.evaluate` would raise it.
    TypeError
        If `qid` is neither a column nor a callable. When called, if the model has none of the methods, or if
        `rankgain.from_scores` or `Rankings.evaluate` would raise it. If a search or
        cross-validation has no ids: it ends with this error, which says how to give them.

    Warns
    -----
    UserWarning
        If a search or cross-validation has scored a part of a query: its splitter must keep groups together.

    See Also
    --------
    rankgain.sklearn : scikit-learn's own ``ndcg_score`` and ``dcg_score``.

    Examples
    --------
    >>> import numpy as np
    >>> import rankgain as rg
    >>> class Model:
    ...     def predict(self, X):
    ...         return X[:, 1]
    >>> # The first column is the query, and one of them has a single document; the gain is 2**grade - 1.
    >>> X, y = np.array([[7, 0.2], [7, 0.9], [7, 0.7], [8, 0.5]]), [3, 1, 2, 1]
    >>> scorer = rg.scorer("ndcg(gain=exponential)@10", qid=0)
    >>> round(scorer(Model(), X, y), 4)
    0.8403
    >>> round(rg.scorer("ndcg@10")(Model(), X, y, qid=["a", "a", "a", "b"]), 4)
    0.895
    """
    return Scorer(metric, qid, response_method, ties)


class Scorer:
    """A scorer for scikit-learn, made by `scorer`."""

    def __init__(
        self, metric: str | Metric, qid: QidSource | None, response_method: str | Sequence[str], ties: ScoreTies
    ) -> None:
        requests = list(parse(metric))
        if len(requests) != 1:
            raise ValueError(f"a scorer has one metric, not {len(requests)}: give scoring a dict of scorers by name")
        if better(requests[0][1]) < 0:
            raise ValueError(f"a scorer is maximised, and lower values of {requests[0][1]} are better: choose another")
        if isinstance(qid, np.integer):
            qid = int(qid)
        if not (qid is None or isinstance(qid, (str, int)) or callable(qid)) or isinstance(qid, bool):
            raise TypeError(
                f"qid must be a column of X, by name or number, or a callable on X, not {type(qid).__name__}; "
                "ids go to the call: scorer(model, X, y, qid=ids)"
            )
        self.metric = requests[0][1]
        self.qid = qid
        self.response_methods = (response_method,) if isinstance(response_method, str) else tuple(response_method)
        self.ties = check_ties(ties, ids=False)
        self._request: bool | str | None = qid is None

    def __call__(self, estimator: Any, X: Any, y: Any, *, qid: Any = None) -> float:
        if qid is None and self.qid is None:
            refused: float = self._without_ids()
            return refused
        ids = self._ids(X) if qid is None else qid
        self._check_split()
        scores = self._scores(estimator, X)
        result = from_scores(y, scores, qid=ids, ties=self.ties).evaluate(self.metric)
        return result.aggregate()[self.metric]

    def set_score_request(self, *, qid: bool | str | None) -> Scorer:
        """Say under which name the ids are passed if metadata routing is on.

        Parameters
        ----------
        qid : bool, str or None
            True: as ``qid``. A name: as that, such as ``"groups"``, which GroupKFold takes too. False: they are not for
            this scorer. None: passing them is an error.

        Returns
        -------
        Scorer
            The scorer itself.

        Raises
        ------
        ValueError
            If `qid` is none of these.

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
        """Return the MetadataRequest for `qid`; scikit-learn asks for it if metadata routing is on."""
        routing = import_module("sklearn.utils.metadata_routing")
        request = routing.MetadataRequest(owner=repr(self))
        request.score.add_request(param="qid", alias=self._request)
        return request

    def _accept_sample_weight(self) -> bool:
        """Asked by scikit-learn if metadata routing is off and a model is fitted with weights."""
        return False

    def _without_ids(self) -> Any:
        """Refuse to score; where scikit-learn would turn the error into a warning, by a value that is not a number."""
        error = ValueError(NO_GROUPS.format(self))
        if sys._getframe(2).f_globals.get("__name__") in _CATCHERS:
            return _Refusal(str(error))
        raise error

    def _check_split(self) -> None:
        """Warn where scikit-learn validates this model on a part of a query: the scorer itself sees no other row."""
        frame = sys._getframe(2)
        for _ in range(FRAMES):
            if frame.f_code.co_name == "_fit_and_score" and frame.f_globals.get("__name__") in _CATCHERS:
                break
            if frame.f_back is None:
                return
            frame = frame.f_back
        else:
            return
        held = frame.f_locals
        cut = _cut_query(self._ids_of_all(held.get("X"), held.get("score_params")), held.get("test"))
        if cut:
            warnings.warn(
                f"the split cuts queries apart, such as {cut[0]!r}, of which some rows are scored and others are not: "
                "use GroupKFold, or another splitter by groups, with the ids as groups",
                UserWarning,
                stacklevel=3,
            )

    def _ids_of_all(self, X: Any, parameters: Any) -> Any:
        """The query of every row that is split; None where that is not known."""
        if self.qid is not None:
            return self._ids(X)
        return (parameters or {}).get(self._request if isinstance(self._request, str) else "qid")

    def _ids(self, X: Any) -> Any:
        assert self.qid is not None
        return self.qid(X) if callable(self.qid) else _column(X, self.qid)

    def _scores(self, estimator: Any, X: Any) -> Any:
        """One score for each row."""
        method = next((name for name in self.response_methods if hasattr(estimator, name)), None)
        if method is None:
            raise TypeError(f"{type(estimator).__name__} has none of the methods {', '.join(self.response_methods)}")
        scores = array_of(getattr(estimator, method)(X), f"what {method} gave")
        if scores is not None and method == "predict_proba" and scores.ndim == 2:
            return scores @ _grades(estimator, scores.shape[1])
        if scores is None or scores.ndim != 1:
            shape = "unequal rows" if scores is None else f"the shape {scores.shape}"
            raise ValueError(
                f"{method} gave {shape}, and there must be one score per row: choose another response_method, "
                "such as 'predict_proba', whose classes are turned into one score"
            )
        return scores

    def __repr__(self) -> str:
        given = {"qid": self.qid, "response_method": self.response_methods, "ties": self.ties}
        defaults = {"qid": None, "response_method": RESPONSES, "ties": "average"}
        named = [f", {name}={_shown(value)}" for name, value in given.items() if value != defaults[name]]
        request = "" if self._request is (self.qid is None) else f".set_score_request(qid={self._request!r})"
        return f"scorer({str(self.metric)!r}{''.join(named)}){request}"


# The modules of scikit-learn that catch the errors of scorers.
_CATCHERS = "sklearn.model_selection._validation", "sklearn.metrics._scorer"
FRAMES = 8  # how far up the function that splits is looked for


class _Refusal:
    """What is returned to scikit-learn in place of a number: it asks for its value, and hears why there is none."""

    def __init__(self, message: str) -> None:
        self._message = message

    def item(self) -> float:
        raise TypeError(self._message)

    def __repr__(self) -> str:
        return self._message


def _cut_query(ids: Any, test: Any) -> list[Any]:
    """A query of which some rows, but not all, are among those that are tested."""
    held = None if ids is None else objects_of(ids, "qid")
    if held is None or test is None or not isinstance(held, (list, tuple)):
        return []
    rows = {*np.asarray(test).tolist()}
    if rows <= {True, False} and len(test) == len(held):  # a mask
        rows = {*np.flatnonzero(test).tolist()}
    tested = {held[row] for row in rows}
    return [query for row, query in enumerate(held) if row not in rows and query in tested][:1]


def _shown(value: Any) -> str:
    if isinstance(value, tuple) and len(value) == 1:
        return repr(value[0])
    return str(getattr(value, "__qualname__", repr(value)))


def _column(X: Any, column: str | int) -> Any:
    """A column of X, whatever holds the rows."""
    try:
        if isinstance(column, str):
            return X[column]
        if hasattr(X, "iloc"):
            return X.iloc[:, column]
        if hasattr(X, "tocsr"):
            return X.tocsr()[:, [column]].toarray().ravel()
        return (X if hasattr(X, "shape") else np.asarray(X))[:, column]
    except Exception as error:
        raise ValueError(f"qid: {type(X).__name__} X has no column {column!r} ({error})") from None


def _grades(estimator: Any, count: int) -> Array:
    """The grade of each class; its number if the model does not name its classes."""
    grades = flat_numbers(getattr(estimator, "classes_", range(count)), "classes_, which must be grades,")
    if len(grades) != count:
        raise ValueError(f"predict_proba gave {count} columns, and classes_ has {len(grades)}")
    return grades
