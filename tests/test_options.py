"""Each option of each public call at a value that matters, on every way that it is read, on both backends.

A row is (call, option, value, expected, what else is given); the rows stand in `support/options`, a file per subject.
What is expected is worked by hand, by `textbook.py`, or by a call on data prepared for it; it differs from what the
call gives without the option, unless it is `SAME`: threads and their like change nothing.
"""

import inspect
import math
from importlib import import_module
from importlib.util import find_spec

import pytest
from support.cases import SAME, by_name
from support.public_calls import public

SUBJECTS = {  # and what they need
    "lists": (),
    "metrics": (),
    "inputs": (),
    "columns": ("pandas", "polars", "pyarrow"),
    "results": (),
    "training": ("sklearn",),
}
ROWS = [
    row
    for subject, needs in SUBJECTS.items()
    if all(map(find_spec, needs))
    for row in import_module(f"support.options.{subject}").rows()
]


def is_due(found, expected):
    """Equal to 1e-12, part by part."""
    if isinstance(found, dict):
        return [*found] == [*expected] and all(is_due(found[name], expected[name]) for name in found)
    if isinstance(found, list):
        return len(found) == len(expected) and all(map(is_due, found, expected))
    if isinstance(found, float):
        return math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-300) or repr(found) == repr(float(expected))
    return found == expected


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize("rows", by_name(ROWS))
def test_option(on_both, rows):
    faults = []
    for row in rows:
        (found, without), *python = on_both(lambda row=row: (row.with_it(), row.without_it()))
        alike = repr(found) == repr(without)
        if python and repr(python[0]) != repr((found, without)):
            faults.append(f"{row}: {(found, without)} compiled, {python[0]} in Python")
        elif row.expected is SAME and not alike:
            faults.append(f"{row}: {found}, but {without} without it")
        elif row.expected is not SAME and (alike or not is_due(found, row.expected)):
            faults.append(f"{row}: {found}, not {row.expected}; {without} without it")
    assert not faults, "\n".join(faults)


TESTED_ELSEWHERE = {
    **dict.fromkeys(
        [f"{call}(progress)" for call in ("Rankings.evaluate", "evaluate", "compare", "summarize_batches")],
        "test_progress.py",
    ),
    "from_scores(exclude)": "inputs/test_score_matrix.py",
    "Curve.interval(level)": "results/test_curves.py",
    "explain(like)": "results/test_peers.py",
    "from_frames(run_df)": "what is read, not an option",
    **dict.fromkeys(
        ["lightgbm_metric(partial_queries)", "lightgbm_objective(partial_queries)"], "tools/test_lightgbm_objective.py"
    ),
    **dict.fromkeys(["compare(truth)", "compare(runs)", "compare(metrics)"], "what is compared, not an option"),
    **dict.fromkeys(["compare(values)", "compare(higher_is_better)"], "comparison/test_compare.py"),
    **dict.fromkeys(
        [
            f"{call}(validate)"
            for call in ("from_frames", "from_recommendations", "evaluate_batches", "summarize_batches")
        ],
        "it refuses: see the table of refusals",
    ),
}


@pytest.mark.parametrize("call", sorted({row.name for row in ROWS}))
def test_each_option_has_a_row(call):
    found = {row.option for row in ROWS if row.name == call}
    for parameter in inspect.signature(public(call)).parameters.values():
        if parameter.default is not parameter.empty and parameter.name not in found:
            assert f"{call}({parameter.name})" in TESTED_ELSEWHERE
