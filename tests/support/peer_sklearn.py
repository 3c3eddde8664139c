"""A pytest plugin that replaces functions and an exception class of scikit-learn with those of rankgain.

The plugin must be loaded before scikit-learn's tests, which import the functions by name.
"""

import sklearn.metrics
from sklearn.metrics import _ranking
from sklearn.utils import _param_validation

from rankgain import sklearn as ours

_param_validation.InvalidParameterError = ours.InvalidParameterError
for name in ("ndcg_score", "dcg_score"):
    function = getattr(ours, name)
    function._skl_parameter_constraints = getattr(_ranking, name)._skl_parameter_constraints  # for scikit-learn's tests
    setattr(_ranking, name, function)
    setattr(sklearn.metrics, name, function)
for name in ("_ndcg_sample_scores", "_dcg_sample_scores"):
    setattr(_ranking, name, getattr(ours, name))
