"""Helpers that read the arguments which LightGBM and XGBoost pass to metrics and objectives.

Neither library is imported; data sets are recognised by their methods.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection
from types import FrameType
from typing import Any

import numpy as np

from rankgain.data.ragged import offsets_of
from rankgain.scalars import Ints

FRAMES = 10  # maximum number of stack frames to search for a caller
IGNORED = {  # parameters that only LightGBM's own objective reads, and their replacements
    "label_gain": "metric=rankgain.metric('ndcg', k=10, gain=[0, 1, 3, 7, 15])",
    "lambdarank_norm": "normalize=('score', 'query') or None",
    "lambdarank_truncation_level": "the cut-off of metric='ndcg(gain=exponential)@10'",
    "sigmoid": "sigma=1.0",
}


def of_lightgbm(
    caller: str, y_true: Any, y_score: Any, weight: Any, group: Any, partial_queries: bool
) -> tuple[Any, Any, Any, Any]:
    """Return labels, scores, weights and group sizes from LightGBM's arguments.

    `lightgbm.train` and `cv` pass (scores, Dataset); estimators pass labels, scores, weights and group sizes.
    """
    if hasattr(y_score, "get_uint_info"):
        raise TypeError(f"{caller} is for LightGBM; for XGBoost use rankgain.{caller.replace('lightgbm', 'xgboost')}")
    if hasattr(y_score, "get_group"):
        y_score, data = y_true, y_score
        y_true, weight, group = data.get_label(), data.get_weight(), data.get_group()
        if group is not None and not partial_queries:
            _check_whole_queries(caller, data)
    if group is None:
        raise ValueError(
            f"{caller}: the data set has no groups, so its queries are unknown: pass "
            "them, lgb.Dataset(…, group=sizes), or group= and eval_group= of LGBMRanker.fit"
        )
    return y_true, y_score, weight, group


def of_xgboost(caller: str, data: Any) -> Ints:
    """Return the group sizes of XGBoost's DMatrix."""
    bounds = data.get_uint_info("group_ptr")
    if len(bounds) < 2:
        raise ValueError(
            f"{caller}: the DMatrix has no groups, so its queries are unknown: pass "
            "them, xgb.DMatrix(…, qid=ids) or DMatrix.set_group(sizes)"
        )
    sizes: Ints = np.diff(bounds.astype(np.int64))
    return sizes


def check_no_dataset(caller: str, data: Any) -> None:
    """Raise an error if `data` is LightGBM's Dataset instead of XGBoost's DMatrix."""
    if hasattr(data, "get_group") and not hasattr(data, "get_uint_info"):
        raise TypeError(f"{caller} is for XGBoost; for LightGBM use rankgain.{caller.replace('xgboost', 'lightgbm')}")


def _check_whole_queries(caller: str, data: Any) -> None:
    """Raise an error if a subset of a Dataset lacks some documents of one of its queries.

    `lightgbm.cv` keeps queries together only if the objective is given by name. For a callable objective, it splits the
    rows, so that a query may have documents in both the training set and the validation set.
    """
    while getattr(data, "used_indices", None) is not None and data.reference.get_group() is not None:
        sizes, full_sizes = (np.asarray(each.get_group(), dtype=np.int64) for each in (data, data.reference))
        sizes = sizes[sizes > 0]
        first_rows = [data.used_indices[start] for start in offsets_of(sizes)[:-1].tolist()]
        queries = np.searchsorted(np.cumsum(full_sizes), first_rows, side="right")
        split_queries = queries[sizes != full_sizes[queries]]
        if len(split_queries):
            raise ValueError(
                f"{caller}: this subset splits {len(split_queries)} of its {len(sizes)} queries, such as query "
                f"{split_queries[0]}: lgb.cv splits rows unless the objective is the name of a ranking objective. Pass "
                "folds=GroupKFold(5).split(X, groups=np.repeat(np.arange(len(sizes)), sizes)) to it, or the rows of "
                f"complete queries to Dataset.subset; to allow split queries, {caller}(…, partial_queries=True)"
            )
        data = data.reference


def check_lightgbm_parameters(caller: str, data: Any) -> None:
    """Warn or raise an error if a parameter is set that only LightGBM's own objective reads."""
    if getattr(data, "get_position", lambda: None)() is not None:
        raise ValueError(
            f"{caller}: the Dataset has position=, which only LightGBM's own objective reads: omit it, or train "
            "with objective='lambdarank'"
        )
    # Read the parameters from the calling Booster, since those of the Dataset may be from an earlier training run.
    caller_locals = locals_of("update", ("lightgbm.basic",))
    parameters = caller_locals["self"].params if caller_locals else {}
    if str(parameters.get("bagging_by_query")).lower() in ("true", "+"):
        raise ValueError(
            f"{caller}: with bagging_by_query=True and a callable objective LightGBM samples no documents and trains "
            "a constant model: omit it (bagging_fraction samples documents)"
        )
    for name, instead in IGNORED.items():
        if name in parameters:
            # With this stacklevel, the warning refers to the line that calls `lightgbm.train`.
            warnings.warn(f"{caller} does not read LightGBM's {name}: pass it {instead}", UserWarning, stacklevel=5)


def locals_of(function: str, modules: Collection[str]) -> dict[str, Any]:
    """Return the local variables of the nearest caller that is `function` in one of `modules`.

    If none of the last FRAMES callers is, the result is empty.
    """
    frame: FrameType | None = sys._getframe(1)
    for _ in range(FRAMES):
        if frame is None:
            break
        if frame.f_code.co_name == function and frame.f_globals.get("__name__") in modules:
            return frame.f_locals
        frame = frame.f_back
    return {}
