"""Corrections for many comparisons, from p-values alone; max-T needs the flips and stands with them."""

from __future__ import annotations

import numpy as np

from rankgain.scalars import Floats


def holm(p: Floats) -> Floats:
    """Holm's step-down correction (Holm 1979): it holds the chance of any false finding, whatever depends on what."""
    order = np.argsort(p, kind="stable")
    left = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(left * p[order]), 1.0)
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's step-up correction (1995): it holds the share of false findings among the findings."""
    order = np.argsort(p, kind="stable")[::-1]
    rank = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.minimum.accumulate(len(p) / rank * p[order]), 1.0)
    return adjusted
