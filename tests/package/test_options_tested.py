"""Every option of a public function is named by the `options` mark of a test."""

import inspect
from operator import attrgetter

import pytest
from support.public_names import public_modules, public_objects

from rankgain import pytrec_eval

TESTED_ELSEWHERE = {
    ("Rankings.evaluate", "progress"): "test_progress.py",
    ("evaluate", "progress"): "test_progress.py",
    ("compare", "progress"): "test_progress.py",
    ("read_trec", "progress"): "test_progress.py",
    ("summarize_batches", "progress"): "test_progress.py",
    ("Curve.interval", "level"): "results/test_curves.py",
    ("explain", "like"): "results/test_peers.py",
    ("from_scores", "exclude"): "inputs/test_score_matrix.py",
    ("from_frames", "run_df"): "what is read, not an option",
    ("lightgbm_metric", "partial_queries"): "tools/test_lightgbm_objective.py",
    ("lightgbm_objective", "partial_queries"): "tools/test_lightgbm_objective.py",
    ("compare", "truth"): "what is compared, not an option",
    ("compare", "runs"): "what is compared, not an option",
    ("compare", "metrics"): "what is compared, not an option",
    ("compare", "values"): "comparison/test_compare.py",
    ("compare", "higher_is_better"): "comparison/test_compare.py",
    ("from_frames", "validate"): "inputs: what it rejects",
    ("from_recommendations", "validate"): "inputs: what it rejects",
    ("BatchOptions", "validate"): "batches/test_batches.py",
}


def public(call):
    """Return the public object with this name."""
    if call == "pytrec_eval":
        return pytrec_eval.RelevanceEvaluator
    homes = public_modules().values()
    return next(attrgetter(call)(home) for home in homes if hasattr(home, call.partition(".")[0]))


@pytest.mark.whole_run
@pytest.mark.needs("pandas", "polars", "pyarrow", "scipy", "sklearn")
def test_every_option_is_tested(request):
    tested = {
        (mark.args[0], option)
        for item in request.session.items
        for mark in item.iter_markers("options")
        for option in mark.args[1:]
    }
    # Of the functions of Spark, only those with a mark are examined, because their tests run in another environment.
    functions = {name for name, item in public_objects().items() if inspect.isfunction(item)}
    calls = {call for call, _ in tested} | {name.rpartition(".")[2] for name in functions if "spark" not in name}
    missing = [
        f"{call}({parameter.name})"
        for call in sorted(calls)
        for parameter in inspect.signature(public(call)).parameters.values()
        if parameter.default is not parameter.empty and not {(call, parameter.name)} & (tested | {*TESTED_ELSEWHERE})
    ]
    assert not missing, f"add a test with the mark options(call, option) for {', '.join(missing)}"
