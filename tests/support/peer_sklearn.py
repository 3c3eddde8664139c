"""A plugin of pytest that puts rankgain's functions, and their error, in the place of scikit-learn's.

It must come before scikit-learn's tests, which take them by name.
"""

import sklearn.metrics
from sklearn.metrics import _ranking
from sklearn.utils import _param_validation

from rankgain import sklearn as ours

_param_validation.InvalidParameterError = ours.InvalidParameterError
for name in ("ndcg_score", "dcg_score"):
    function = getattr(ours, name)
    function._skl_parameter_constraints = getattr(_ranking, name)._skl_parameter_constraints  # what its tests try
    setattr(_ranking, name, function)
    setattr(sklearn.metrics, name, function)
for name in ("_ndcg_sample_scores", "_dcg_sample_scores"):
    setattr(_ranking, name, getattr(ours, name))
