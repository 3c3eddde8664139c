"""Coefficients of agreement: Cohen's kappa, with an interval that leaves out one query at a time, and Kendall's tau-b.

A kappa is 1 − observed / expected disagreement. It is a function of sums over documents, and the last axis of an array
holds these sums: those of all documents, of one query, or of all queries but one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rankgain.results.intervals import student_quantile
from rankgain.scalars import Floats, Ints, to_intp

_FEWEST = 20  # an interval of kappa from fewer queries would be too wide, and would cover too rarely
_ROUNDING = 1e-12  # if no query changes kappa by more, all queries are alike
NO_INTERVAL = (math.nan, math.nan)


def count_grades(first: Ints, second: Ints, grades: int, query: Ints, queries: int) -> Floats:
    """Return for each query how many documents have each pair of grades, which are numbers below `grades`."""
    cells = grades * grades
    counts = np.bincount(to_intp((query * grades + first) * grades + second), minlength=queries * cells)
    return counts.reshape(queries, cells).astype(np.float64)


def kappa(counts: Floats) -> Floats:
    """Return Cohen's kappa (1960) from the counts of `count_grades`; NaN if all documents have one and the same grade.

    Any difference between two grades counts as 1.
    """
    grades = math.isqrt(counts.shape[-1])
    table = counts.reshape(*counts.shape[:-1], grades, grades)
    documents = counts.sum(axis=-1)
    by_chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1)
    same = np.trace(table, axis1=-2, axis2=-1)
    return _one_minus(documents * (documents - same), documents * documents - by_chance)


def moments(first: Floats, second: Floats, query: Ints, queries: int) -> Floats:
    """Return for each query the sums that `quadratic_kappa` needs; the lowest grade must be 0."""
    distances = first - second
    terms = np.ones_like(first), first, second, first * first + second * second, distances * distances
    return np.stack([np.bincount(to_intp(query), weights=term, minlength=queries) for term in terms], axis=-1)


def quadratic_kappa(sums: Floats) -> Floats:
    """Return the kappa in which a difference counts as its square (Cohen 1968), from the sums of `moments`.

    It equals Lin's concordance coefficient, so that grades may be fractions. For grades 0 and 1 it is Cohen's kappa.
    """
    documents, first, second, squares, distances = np.moveaxis(sums, -1, 0)
    return _one_minus(documents * distances, documents * squares - 2.0 * first * second)


def _one_minus(observed: Floats, expected: Floats) -> Floats:
    undefined = np.full(np.shape(expected), np.nan)
    values: Floats = 1.0 - np.divide(observed, expected, out=undefined, where=expected > 0.0)
    return values


def kappa_interval(parts: Floats, coefficient: Callable[[Floats], Floats], level: float) -> tuple[float, float]:
    """Return the confidence interval of a coefficient whose sums are given by query, or NaN if there is none.

    It is a jackknife over queries, since the documents of a query are not independent, on the scale of atanh, with
    Student's t. There is none for fewer than 20 queries, if kappa is ±1 or undefined, with all queries or without
    one of them, or if all queries are alike.
    """
    queries, whole = len(parts), float(coefficient(parts.sum(axis=0)))
    if queries < _FEWEST or not -1.0 < whole < 1.0:
        return NO_INTERVAL
    others = coefficient(parts.sum(axis=0) - parts)
    if not np.all(np.abs(others) < 1.0):
        return NO_INTERVAL
    scaled = np.arctanh(others)
    error = math.sqrt((queries - 1) / queries * float(((scaled - scaled.mean()) ** 2).sum()))
    half = student_quantile(level, queries - 1) * error
    if half < _ROUNDING:
        return NO_INTERVAL
    return math.tanh(math.atanh(whole) - half), math.tanh(math.atanh(whole) + half)


def tau_b(first: Floats, second: Floats) -> float:
    """Return Kendall's rank correlation with his correction for ties (1945); NaN if one side has only ties."""
    left, right = np.triu_indices(len(first), 1)
    one, other = np.sign(first[left] - first[right]), np.sign(second[left] - second[right])
    untied = math.sqrt(float(np.abs(one).sum()) * float(np.abs(other).sum()))
    return float((one * other).sum()) / untied if untied else math.nan
