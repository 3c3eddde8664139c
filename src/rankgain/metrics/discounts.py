"""Discount functions, which map ranks to weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgain import _backend
from rankgain._codes import GEOMETRIC, JARVELIN, LOG2, UNIT, VECTOR, ZIPF
from rankgain.data.ragged import flat_numbers, to_float64
from rankgain.errors import short
from rankgain.scalars import Floats

DiscountKind = str | Sequence[float] | Floats

# The number of ranks in the longest table; kernels compute the discounts of deeper ranks one by one.
LONGEST_TABLE = 1 << 16
MOST_TABLES = 64
_tables: dict[tuple[int, float], Floats] = {}


class Discount(NamedTuple):
    """A hashable discount function.

    `kind` is its code in `_codes`. `base` is the base of a "jarvelin" or "geometric" discount, and `vector` holds the
    discounts of ranks if the caller passed a vector.
    """

    kind: int
    base: float = 2.0
    vector: tuple[float, ...] = ()

    @staticmethod
    def of(kind: DiscountKind | Discount) -> Discount:
        if isinstance(kind, Discount):
            return kind
        if isinstance(kind, str):
            return _named(kind)
        vector = to_float64(flat_numbers(kind, "discount"))
        bad = np.flatnonzero(~(np.isfinite(vector) & (vector >= 0.0)))
        if len(bad):
            value = float(vector[bad[0]])
            raise ValueError(f"discount: position {bad[0]}: {value!r}; discounts must be finite and not negative")
        return Discount(VECTOR, vector=tuple(vector.tolist()))

    @property
    def argument(self) -> Any:
        """The value of the `discount` argument that creates this discount, or the discount itself if there is none."""
        if self.kind == VECTOR:
            return list(self.vector)
        if self.kind == JARVELIN:
            return f"jarvelin:{self.base!r}"
        return {LOG2: "log2", ZIPF: "zipf"}.get(self.kind, self)

    @property
    def non_increasing(self) -> bool:
        """Whether the discount never increases with the rank; if so, no ranking can score higher than the ideal."""
        return self.kind != VECTOR or all(a >= b for a, b in zip(self.vector, self.vector[1:], strict=False))

    def too_short(self, ranks: int) -> str:
        """Return the error message for a vector that has fewer ranks than needed."""
        return f"discount has {len(self.vector)} ranks, and {ranks} are needed"

    def table(self, depth: int) -> Floats:
        """Return the caller's vector, or a table of discounts for at least min(`depth`, `LONGEST_TABLE`) ranks."""
        if self.kind == VECTOR:
            return np.array(self.vector)
        table = _tables.get((self.kind, self.base))
        if table is None or len(table) < min(depth, LONGEST_TABLE):
            table = np.empty(max(1024, 1 << (min(depth, LONGEST_TABLE) - 1).bit_length()))
            _backend.sums.fill_discount(self.kind, self.base, table)
            if len(_tables) >= MOST_TABLES:
                _tables.clear()
            _tables[self.kind, self.base] = table
        return table

    def to_cutoff(self, ranks: int, depth: int) -> Floats:
        """Return the discounts of the first `ranks` ranks. They are 0 below rank `depth`."""
        discounts = np.zeros(ranks)
        table = self.table(ranks)[: min(ranks, depth)]
        discounts[: len(table)] = table
        return discounts

    def __str__(self) -> str:
        if self.kind == JARVELIN:
            return f"jarvelin:{short(self.base)}"
        if self.kind == VECTOR:
            return "[" + ", ".join(map(short, self.vector)) + "]"
        if self.kind == GEOMETRIC:
            return f"geometric:{short(self.base)}"
        return {LOG2: "log2", ZIPF: "zipf", UNIT: "none"}[self.kind]


def _named(text: str) -> Discount:
    name, colon, base_text = text.lower().partition(":")
    if name == "log2" and not colon:
        return LOGARITHMIC
    if name == "zipf" and not colon:
        return Discount(ZIPF)
    if name == "jarvelin":
        try:
            base = float(base_text.replace("_", "x")) if colon else 2.0
        except ValueError:
            base = math.nan
        if not 1.0 < base < math.inf:
            raise ValueError(f"discount 'jarvelin:b' needs a base b > 1, not {base_text!r}")
        return Discount(JARVELIN, base)
    raise ValueError(f"discount must be 'log2', 'zipf', 'jarvelin:b' or a vector by rank, not {text!r}")


LOGARITHMIC = Discount(LOG2)
NO_DISCOUNT = Discount(UNIT)
