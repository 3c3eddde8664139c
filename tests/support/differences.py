"""Say by metric and query how two results differ."""

import json

import numpy as np

import rankgain as rg

SHOWN = 3  # metrics
SIDES = "left", "right"


def bits(numbers):
    """Return numbers as texts that are equal only if their bits are, for asserts that show the first that differs."""
    return [f"{number.item()!r} ({number.tobytes().hex()})" for number in np.asarray(numbers).ravel()]


def vector_differences(one, other, labels=None, sides=SIDES):
    """Return a line for each of the first metrics whose vectors of float64 differ, with the first such query.

    `one` and `other` map metrics to vectors. Values are equal if their bits are.
    """
    lines = [f"{name}: only {sides[name in other]}" for name in [*one, *other] if (name in one) != (name in other)]
    for name in filter(other.__contains__, one):
        values, others = one[name], other[name]
        if len(values) != len(others):
            lines.append(f"{name}: {sides[0]} {len(values)} values, {sides[1]} {len(others)}")
        elif positions := np.flatnonzero(values.view(np.int64) != others.view(np.int64)).tolist():
            place = f"query {positions[0]}" if labels is None else labels[positions[0]]
            number, another = values[positions[0]], others[positions[0]]
            more = f"; {len(positions)} queries differ" if len(positions) > 1 else ""
            lines.append(f"{name}, {place}: {sides[0]} {number!s}, {sides[1]} {another!s}{more}")
    return lines[:SHOWN] + ([f"and {len(lines) - SHOWN} more metrics"] if len(lines) > SHOWN else [])


def _flat(state, name=""):
    """Return the entries of nested dicts by joined names."""
    if not isinstance(state, dict):
        return {name: state}
    parts = [_flat(part, f"{name}, {key}" if name else str(key)) for key, part in state.items()]
    return {key: value for part in parts for key, value in part.items()}


def differences(left, right):
    """Return lines about two Evaluations or two Summaries that differ, or none for other values."""
    if isinstance(left, rg.Evaluation) and isinstance(right, rg.Evaluation):
        lines = vector_differences(dict(left), dict(right), [f"query {query}" for query in left.query_ids])
        names, states = ("query_ids", "ties", "missing", "like"), (vars(left), vars(right))
    elif isinstance(left, rg.Summary) and isinstance(right, rg.Summary):
        means = ({key: np.array([mean]) for key, mean in summary.mean().items()} for summary in (left, right))
        lines = vector_differences(*means, ["mean"])
        states = [_flat(json.loads(summary.to_json())) for summary in (left, right)]
        names = [name for name in {**states[0], **states[1]} if not (lines and name.startswith("metrics"))]
    else:
        return []
    for name in names:
        one, other = (str(state.get(name, "absent")) for state in states)
        if one != other:
            lines.append(f"{name}: left {one:.60}, right {other:.60}")
    return lines
