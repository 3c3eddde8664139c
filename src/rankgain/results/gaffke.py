"""Gaffke's lower confidence bound for the mean of non-negative values.

A value 0 is appended to the sample. The bound is a quantile of the weighted means of these values whose weights are
independent standard exponential variables E, multiplied by the weights of the values, if there are any::

    P(t) = P(Σ w (y − t) E ≤ 0) = p

P is the integral of Π 1/(1 + w (y − t) s) / s along a vertical contour. It is computed by the trapezoidal rule on a
hyperbola through the saddle point, on which the rule converges exponentially.

Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable,
Mathematical Methods of Statistics 2005.
"""

from __future__ import annotations

import math

import numpy as np

from rankgain.scalars import Array, Floats

STEP = 0.2  # the distance between the nodes of the trapezoidal rule
NODES = 4  # maximum number of nodes per pass; with more, products may overflow before the last term is negligible
CACHED = 4096  # maximum number of factors per pass, if there is more than one node
_NEGLIGIBLE = 1e-13  # the last term of the sum
MANY_VALUES = 20_000  # above this number of values, they are rounded to multiples of 1 / GRID and counted
GRID = 2.0**14
PRECISE = 1e-9  # tolerance for √(−2 log P), so that the error of the bound is about 1e-9 of its distance from the mean
ITERATIONS = 100


def lower_bound(values: Floats, share: float, weights: Floats | None = None) -> float:
    """Return the bound for the mean of the distribution from which non-negative values were drawn.

    The bound exceeds the mean in at most the given share of samples, which is below 1/2. With weights, the bound is for
    the weighted mean, and the appended value has the weight Σw² / Σw.
    """
    top = float(values.max())
    if top <= 0.0:
        return 0.0
    return top * _Sample(values / top, weights).quantile(share)


class _Sample:
    """The values, from 0 to 1, with the appended 0; equal values of equal weight are stored once, with their count."""

    def __init__(self, values: Floats, weights: Floats | None) -> None:
        if len(values) > MANY_VALUES:
            values = np.floor(values * GRID) / GRID
        if weights is None:
            weights, appended = np.ones(len(values)), 1.0
        else:
            weights = weights * (len(weights) / math.fsum(weights.tolist()))
            appended = math.fsum((weights * weights).tolist()) / len(weights)
        pairs = np.append(values, 0.0) + 1j * np.append(weights, appended)
        pairs, counts = np.unique(pairs, return_counts=True)
        order = np.argsort(counts, kind="stable")
        self.values, self.weights, self.counts = pairs.real[order], pairs.imag[order], counts[order].astype(np.float64)
        self.powers, self.starts = np.unique(self.counts, return_index=True)
        self.size = len(values) + 1

    def sum(self, terms: Floats) -> float:
        """Return the sum over all values, given a term for each distinct one."""
        return float((self.counts * terms).sum())

    def product(self, factors: Array) -> Array:
        """Return the product over all values, given a row of factors for each distinct one."""
        product: Array = np.multiply.reduce(np.multiply.reduceat(factors, self.starts) ** self.powers[:, None])
        return product

    def quantile(self, share: float) -> float:
        """Return the t with P(t) = share, found by the Illinois method in the variable u of `at`."""
        target = math.sqrt(-2.0 * math.log(share))

        def distance(u: float) -> tuple[float, float]:
            t, log_share = self.at(u)
            return t, math.sqrt(max(-2.0 * log_share, 0.0)) - target

        mean = self.sum(self.weights * self.values) / self.sum(self.weights)
        spread = self.sum(np.square(self.weights * (self.values - mean)))
        last = math.log(target) - math.log(spread) / 2.0
        t, last_distance = distance(last)
        step = -0.3 if last_distance > 0.0 else 0.3
        while True:  # until the root is between `last` and `u`; the distance rises in u
            u = last + step
            t, error = distance(u)
            if last_distance * error <= 0.0:
                break
            last, last_distance, step = u, error, 2.0 * step
        for _ in range(ITERATIONS):
            if abs(error) <= PRECISE:
                break
            following = u - error * (u - last) / (error - last_distance)
            t, following_error = distance(following)
            if following_error * error < 0.0:
                last, last_distance = u, error
            else:
                last_distance /= 2.0
            u, error = following, following_error
        return t

    def at(self, u: float) -> tuple[float, float]:
        """Return t and log P(t) for a real number u. The larger u is, the smaller are both."""
        size, lam = self.size, math.exp(u)
        t = self.sum(self.weights) * (size + 1) / size / self.sum(self.weights / (1.0 + lam * self.values))
        t = (t - 1.0) / lam
        if t >= 1.0:
            return 1.0, 0.0
        slopes = self.weights * (self.values - t)
        saddle = self.saddle(slopes, lam / (1.0 + lam * t))
        factors = 1.0 / (1.0 + slopes * saddle)
        logs = self.sum(np.log(factors))
        return t, logs + math.log(self.integral(slopes * saddle * factors))

    def saddle(self, slopes: Floats, start: float) -> float:
        """Return an approximate solution g of Σ 1/(1 + slope · g) = size + 1.

        The sum is convex, and Newton's method converges from `right`, where the sum is too large. If all weights are
        equal, `start` is the solution. The integral does not depend on g; only its convergence does.
        """
        right = self.size / (self.size + 1) / -float(slopes.min())
        g = min(start, right)
        for _ in range(ITERATIONS):
            factors = 1.0 / (1.0 + slopes * g)
            excess = self.sum(factors) - (self.size + 1)
            if abs(excess) <= 1e-6:
                break
            g = g + excess / self.sum(slopes * factors * factors) if excess > 0.0 else right
        return g

    def integral(self, ratios: Floats) -> float:
        """Return the integral along the hyperbola, as a share of the integrand at the saddle point."""
        scale = math.sqrt(1.0 + self.sum(ratios * ratios))
        bend = -2.0 / 3.0 * (1.0 + self.sum(ratios**3)) / scale**3
        tilt = math.asin(2.0 * bend / (1.0 + math.sqrt(1.0 + 4.0 * bend * bend)))
        total, first, count = 0.5 * math.cos(tilt), 1, min(max(CACHED // len(ratios), 1), NODES)
        while True:
            nodes = STEP * np.arange(first, first + count) + 1j * tilt
            path = 1j * (np.sinh(nodes) - 1j * math.sin(tilt)) / scale
            terms = np.cosh(nodes) / ((1.0 - path) * self.product(1.0 - np.multiply.outer(ratios, path)))
            total += float(terms.real.sum())
            if abs(terms[-1]) <= _NEGLIGIBLE:
                return STEP * total / (math.pi * scale)
            first += count
